"""Exceptions of NumPy's, and of Python's builtins, that the program handles.

See Note [Handled failures].
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from types import BuiltinFunctionType, MethodType
from typing import Any

import numpy as np

from fxc.ir.errors import InternalError
from fxc.ir.later import import_later
from fxc.ir.size_functions import evaluate, hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, SymExpr
from fxc.ir.types import ArrayType, ScalarType, c_strides

from ..arrays.creation import CREATION
from ..numbers.traced_int import TracedInt
from ..outside import purity
from ..outside.containers import PLAIN, External
from ..session.exceptions import CHANGES, noted
from ..values.objects import Args, Kwargs
from ..values.operands import Traced, TracedValue

# Note [Handled failures]
# What an operation raises while it is being captured is meant to be what NumPy raises. A handler of
# the program may rely on that, so nobody takes it on trust: the operation is noted with the
# exception, and before a handler runs NumPy itself carries it out on arrays of the same types, of
# zeros. Only where NumPy raises an exception of the same class does the handler run, and with
# NumPy's text. What decides is types and sizes, which are guarded; what depends on elements is
# found at run time, and the call is then replayed. The text may also tell sizes that decided
# nothing: if the program has a name for the exception, and other sizes give another text, these
# are constants of the capture.

# See Note [Rooms with one door].
is_listed = import_later("fxc.capture.numpy_api.protocol", "is_listed")

_Sizes = Callable[[Dim], int]


def is_confirmed(error: Exception) -> bool:
    """Whether NumPy raises such an exception, too; it has NumPy's text then."""
    function, args, kwargs = noted(error)
    is_store = function in CHANGES
    if not is_store and isinstance(error, AttributeError) and isinstance(error.obj, Traced):
        found = _raised(getattr, (error.obj, error.name), {})
    elif function is None or not _may_be_tried(function, args):
        return False
    else:
        found = _raised(function, args, kwargs)
    if found is None or type(found) is not type(error):
        return False
    error.args = found.args
    return True


class _UnknownError(Exception):
    """There is nothing that NumPy could be given in place of a value."""


def rely_on_text(error: Exception) -> None:
    """Guard the sizes that the text of such an exception may tell."""
    function, args, kwargs = noted(error)
    dims: dict[SymExpr, int] = {}

    def larger(dim: Dim) -> int:
        if isinstance(dim, int):
            return dim
        dims[dim] = hint(dim)
        return evaluate(dim, {name: (each.hint or 0) + 1 for name, each in dim.symbols.items()})

    found = error if function is None else _raised(function, args, kwargs, larger)
    if repr(found) != repr(error):
        for dim, value in dims.items():
            guard(dim, "==", value)


def _raised(
    function: Callable[..., object], args: Args, kwargs: Kwargs, size: _Sizes = hint
) -> Exception | None:
    try:
        args, kwargs = _real(args, size), _real(kwargs, size)
    except _UnknownError:
        return None
    if isinstance(function, MethodType):  # of a traced value
        function, args = operator.methodcaller(function.__name__, *args[1:], **kwargs), args[:1]
        kwargs = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            function(*args, **kwargs)
        except Exception as error:
            return error.with_traceback(None)  # it holds this frame, and who asks holds it
    return None


def _may_be_tried(function: object, args: Args) -> bool:
    """Whether a call does nothing but compute, and writes nothing before it raises."""
    if isinstance(function, MethodType):
        return bool(args) and isinstance(args[0], np.ndarray) and function.__name__ not in _WRITING
    if function is np.put or function in purity.NUMPY_WITH_EFFECTS:
        return False
    known = (CREATION, purity.PURE_BUILTINS, purity.PURE_NUMPY, _PLAIN)
    is_operator = isinstance(function, BuiltinFunctionType) and function in _OPERATORS
    is_numpys = isinstance(function, np.ufunc | type(np.sum))
    return (
        is_operator or is_numpys or any(function in each for each in known) or is_listed(function)
    )


_WRITING = frozenset({"put", "resize", "tofile", "dump", "setfield", "partition", "sort"})
_PLAIN = frozenset({len, int, float, complex, bool, min, max, list, tuple, range, np.dtype})
_OPERATORS = frozenset({operator.setitem, operator.getitem, operator.delitem, *CHANGES})


def _real(x: Any, size: _Sizes) -> Any:
    """What NumPy is given in place of what the program holds."""
    if isinstance(x, TracedInt):
        return _size(x._dim, size)
    if isinstance(x, TracedValue):
        kind = x._operand().type
        return kind.one if isinstance(kind, ScalarType) else _array(kind, size)
    if isinstance(x, Traced | External):
        raise _UnknownError
    if type(x) in (list, tuple):
        return type(x)(_real(each, size) for each in x)
    if type(x) is dict:
        return {name: _real(value, size) for name, value in x.items()}
    if type(x) is slice:
        return slice(*_real((x.start, x.stop, x.step), size))
    if type(x) in PLAIN or isinstance(x, np.generic | np.dtype | np.ndarray | type):
        return x
    raise _UnknownError


def _size(dim: Dim, size: _Sizes) -> int:
    try:
        return size(dim)
    except InternalError:  # a size that is counted at run time
        raise _UnknownError from None


def _array(kind: ArrayType, size: _Sizes) -> np.ndarray:
    shape = tuple(_size(dim, size) for dim in kind.shape)
    if tuple(_size(dim, size) for dim in kind.strides) == c_strides(shape, kind.dtype.itemsize):
        made = np.zeros(shape, kind.dtype)
    else:
        made = np.lib.stride_tricks.as_strided(np.zeros(1, kind.dtype), shape, (0,) * len(shape))
    if not kind.writeable:
        made.flags.writeable = False
    return made
