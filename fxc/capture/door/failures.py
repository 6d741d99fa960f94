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
from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, ScalarType, c_strides

from ..arrays.creation import CREATION
from ..numbers.traced_int import TracedInt
from ..outside import purity
from ..outside.containers import PLAIN, External
from ..session.exceptions import noted
from ..values.objects import Args, Kwargs
from ..values.operands import Traced, TracedValue

# Note [Handled failures]
# What an operation raises while it is being captured is meant to be what NumPy raises. A handler of
# the program may rely on that, so nobody takes it on trust: the operation is noted with the
# exception, and before a handler runs NumPy itself carries it out on arrays of the same types, of
# zeros. Only where NumPy raises an exception of the same class does the handler run, and with
# NumPy's text. What decides is types and sizes, which are guarded; what depends on elements is
# found at run time, and the call is then replayed.

# See Note [Rooms with one door].
is_listed = import_later("fxc.capture.numpy_api.protocol", "is_listed")


def is_confirmed(error: Exception) -> bool:
    """Whether NumPy raises such an exception, too; it has NumPy's text then."""
    if isinstance(error, AttributeError) and isinstance(error.obj, Traced):
        found = _raised(getattr, (error.obj, error.name), {})
    else:
        function, args, kwargs = noted(error)
        if function is None or not _may_be_tried(function, args):
            return False
        found = _raised(function, args, kwargs)
    if found is None or type(found) is not type(error):
        return False
    error.args = found.args
    return True


class _UnknownError(Exception):
    """There is nothing that NumPy could be given in place of a value."""


def _raised(function: Callable[..., object], args: Args, kwargs: Kwargs) -> Exception | None:
    try:
        args, kwargs = _real(args), _real(kwargs)
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
_OPERATORS = frozenset({operator.setitem, operator.getitem})


def _real(x: Any) -> Any:
    """What NumPy is given in place of what the program holds."""
    if isinstance(x, TracedInt):
        return _size(x._dim)
    if isinstance(x, TracedValue):
        kind = x._operand().type
        return kind.one if isinstance(kind, ScalarType) else _array(kind)
    if isinstance(x, Traced | External):
        raise _UnknownError
    if type(x) in (list, tuple):
        return type(x)(map(_real, x))
    if type(x) is dict:
        return {name: _real(value) for name, value in x.items()}
    if type(x) is slice:
        return slice(*map(_real, (x.start, x.stop, x.step)))
    if type(x) in PLAIN or isinstance(x, np.generic | np.dtype | np.ndarray | type):
        return x
    raise _UnknownError


def _size(dim: Dim) -> int:
    try:
        return hint(dim)
    except InternalError:  # a size that is counted at run time
        raise _UnknownError from None


def _array(kind: ArrayType) -> np.ndarray:
    shape = tuple(map(_size, kind.shape))
    if tuple(map(_size, kind.strides)) == c_strides(shape, kind.dtype.itemsize):
        made = np.zeros(shape, kind.dtype)
    else:
        made = np.lib.stride_tricks.as_strided(np.zeros(1, kind.dtype), shape, (0,) * len(shape))
    if not kind.writeable:
        made.flags.writeable = False
    return made
