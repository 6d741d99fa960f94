"""NumPy's functions that are Python code, run by that code on traced arrays.

``np.rot90``, ``np.tile`` and their kin are written in terms of other functions of NumPy. Their own
code runs here, with the globals of its module in which the functions that make arrays are ours.
What such code computes from known numbers alone stays a NumPy array, computed once, while the
program is captured.
"""

from __future__ import annotations

import math
import operator
import sys
import warnings
from collections.abc import Callable
from functools import cache
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import COUNTED_SIZE, NUMPY_CALL, OPERAND, WARNS
from fxc.ir.errors import CaptureError
from fxc.ops.metas.shapes import broadcast_shapes

from ..arrays import creation, shaping
from ..arrays.creation import CREATION
from ..arrays.dtypes import result_type
from ..arrays.traced_scalar import TracedScalar, astype
from ..forms.mixed import Mixed
from ..numbers.python_functions import call_function
from ..numbers.traced_int import TracedInt, known_ints
from ..outside.purity import REMEMBERING, only_computes
from ..session.refusing import refusal, refuse
from ..session.session import current
from ..values.objects import Args, Kwargs
from ..values.operands import has_traced, operand
from ..values.snapshots import as_constants

# Functions that do nothing but compute their result, or write to the array they are given.
_NAMES = """
    angle append apply_over_axes argwhere array_split astype atleast_1d atleast_2d atleast_3d block
    column_stack corrcoef cov cross cumulative_prod cumulative_sum delete diag diag_indices diagflat
    diff dsplit dstack ediff1d expand_dims extract fft.fft2 fft.fftn fft.fftshift fft.hfft fft.ifft2
    fft.ifftn fft.ifftshift fft.ihfft fft.irfft2 fft.irfftn fft.rfft2 fft.rfftfreq fft.rfftn fix
    flatnonzero flip fliplr flipud fromfunction geomspace gradient hsplit hstack imag indices insert
    intersect1d isclose iscomplex iscomplexobj isneginf isposinf isreal isrealobj ix_ linalg.cond
    linalg.cross linalg.diagonal linalg.matmul linalg.matrix_norm linalg.matrix_power
    linalg.matrix_rank linalg.matrix_transpose linalg.multi_dot linalg.norm linalg.outer linalg.pinv
    linalg.svdvals linalg.tensorinv linalg.trace linalg.vector_norm logspace matrix_transpose median
    meshgrid moveaxis nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin
    nanprod nansum nanvar pad permute_dims piecewise polyadd polyder polyfit polyint polymul polysub
    polyval ptp real require resize rollaxis rot90 select setdiff1d setxor1d sinc sort_complex split
    tensordot tile trapezoid tri tril tril_indices triu triu_indices union1d unstack unwrap vander
    vsplit vstack
"""
# Those whose decisions by elements are for what they raise, or warn of.
_CAREFUL_NAMES = """
    _core._methods._mean _core._methods._std _core._methods._var average corrcoef cov geomspace
    isclose linalg.cond nanargmax nanargmin nanmax nanmean nanmin nanvar polyfit
"""


def _named(name: str) -> Any:
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


SOURCES: frozenset[Any] = frozenset(map(_named, _NAMES.split())) - {None}
_OF_KNOWN_INTS: frozenset[Any] = frozenset({np.pad})  # which look at their ints as at elements
_CAREFUL: frozenset[Any] = frozenset(map(_named, _CAREFUL_NAMES.split()))


def has_source(function: object) -> bool:
    """Whether a function of NumPy's is Python code that only computes, or writes its arguments."""
    inner = getattr(function, "__wrapped__", function)
    return isinstance(inner, FunctionType) and only_computes(function)


def run_source(function: Callable[..., Any], args: Args, kwargs: Kwargs, name: str = "") -> Any:
    """What NumPy's own code of ``function`` makes of traced arguments.

    Raises ``CaptureError`` where it needs the elements of an array. Where it asks them only for
    what it raises or warns of, it is found at run time whether it does. It raises it, too, where
    the code warns now: nobody knows whether it would warn of other arguments.
    """
    session = current()
    name = name or f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)
    if function in _OF_KNOWN_INTS:
        args, kwargs = known_ints((args, kwargs))
    session.sources += 1
    session.careful += function in _CAREFUL
    try:
        given = [_callable(session.door, x) for x in args]
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            result = _ours(getattr(function, "__wrapped__", function))(*given, **kwargs)
        if shown:
            raise refusal(
                WARNS, f"{name} cannot be captured: it gives a {shown[0].category.__name__}"
            )
    except CaptureError as error:
        if not error.text.startswith("np."):
            error.args = (f"{name} cannot be captured: {error.text}",)
        raise
    finally:
        session.sources -= 1
        session.careful -= function in _CAREFUL
    return as_constants(result)


def run_unlisted(function: Callable[..., Any], args: Args, kwargs: Kwargs) -> object:
    """As ``run_source``, for a function that nobody has looked at.

    Its code may ask for sizes that depend on data, where one answer is taken to be the usual one
    and the call goes back to NumPy otherwise. Which one is usual is not known here.
    """
    session = current()
    before = len(session.assumed)
    try:
        found = run_source(function, args, kwargs)
    except (AttributeError, TypeError) as error:  # C code may not know what to do with ours
        raise refusal(
            NUMPY_CALL, f"np.{function.__name__} cannot be captured: it raises {error!r}"
        ) from None
    if len(session.assumed) > before:
        raise refusal(
            COUNTED_SIZE,
            f"np.{function.__name__} cannot be captured: it decides by a size that depends on data",
        )
    return found


def _callable(door: Any, x: Any) -> object:
    """An argument of NumPy's code, in which functions of the program go through the door."""
    if type(x) in (list, tuple):
        return type(x)([_callable(door, each) for each in x])
    return door.runnable(x)


class IndexTrick:
    """``np.mgrid``, ``np.r_`` or one of their kin."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def __getitem__(self, key: Any) -> Any:
        first = key[0] if type(key) is tuple and key else key
        if isinstance(key, str) or (isinstance(first, str) and first in ("r", "c")):
            raise refuse(OPERAND, "an np.matrix", "use an array")
        kind = type(self._owner)
        names = (f"np.{each}" for each in _TRICKS if type(getattr(np, each)) is kind)
        return run_source(kind.__getitem__, (self._owner, key), {}, next(names, kind.__name__))


_TRICKS = ("mgrid", "ogrid", "r_", "c_")


@cache
def _ours(function: FunctionType) -> Callable[..., Any]:
    """NumPy's function with our globals."""
    made = FunctionType(
        function.__code__,
        _globals(function.__globals__["__name__"]),
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


# ------------------------------------------------------------------ what the code sees

_FILLED = (np.empty, np.zeros, np.ones, np.full)  # what it makes it fills, perhaps with the traced


@cache
def _globals(module: str) -> dict[str, Any]:
    """The names of a module of NumPy's as its functions see them here."""
    found = {name: _seen(value) for name, value in vars(sys.modules[module]).items()}
    ours = {name: f for name, f in _OURS.items() if name in found}
    return {**found, "len": _length, "type": operator.attrgetter("__class__"), **ours}


def _length(x: Any) -> object:
    return x.shape[0] if creation.is_array(x) and x.ndim else len(x)


def _divide_by_count(a: Any, b: Any, out: Any = None) -> object:
    """NumPy's helper; it makes scalars of ``a / b`` that have its dtype already, or are made so."""
    if creation.is_array(a) or out is not None:
        return np.divide(a, b, out=a if out is None else out, casting="unsafe")
    return astype(a / b, a.dtype)


def _isin(
    ar1: np.ndarray, ar2: np.ndarray, assume_unique: bool = False, invert: bool = False
) -> object:
    return np.isin(ar1, ar2, assume_unique=assume_unique, invert=invert)


def _makearray(a: object) -> tuple[Any, Callable[[Any], Any]]:
    return creation.asarray(a), creation.asarray


def _modes() -> object:
    """``np.geterr``, which is asked for before a warning."""
    raise refuse(WARNS, "a warning that depends on how NumPy handles errors")


def _equal_to(number: float) -> Callable[[Any], Any]:
    """``np.isposinf`` or ``np.isneginf``, which take more steps to say so."""
    return lambda x: np.equal(x, x.dtype.type(number))


def _taken(a: Any, indices: Any, *args: Any, **kwargs: Any) -> object:
    """``np.take``, for which sizes would become the elements of an array."""
    if type(a) is tuple:
        return [a[place] for place in indices]
    return np.take(a, indices, *args, **kwargs)


# Helpers of NumPy's that need more than an array to be asked for.
_OURS = {
    "_divide_by_count": _divide_by_count,
    "_isin": _isin,
    "_makearray": _makearray,
    "c_einsum": np.einsum,
    "isneginf": _equal_to(-math.inf),
    "isposinf": _equal_to(math.inf),
    "take": _taken,
}


def _seen(value: object) -> object:
    """What stands for an object of NumPy's in its own code."""
    if isinstance(value, ModuleType):
        is_seen = _is_numpys(value.__name__) or value in (warnings, *_OF_NUMBERS)
        return _Module(value) if is_seen else value
    if value is np.geterr:
        return _modes
    inner = getattr(value, "__wrapped__", None) if type(value) is REMEMBERING else None
    if isinstance(inner, FunctionType) and _is_numpys(inner.__module__):
        return _helper(inner)  # the memory is NumPy's, which must not see what is ours
    if isinstance(value, FunctionType) and value not in CREATION:
        return _helper(value) if _is_numpys(value.__module__) else value
    if isinstance(value, BuiltinFunctionType):
        value = _dispatched().get(value, value)
        if isinstance(getattr(value, "__self__", None), np.ufunc):  # umr_maximum, say
            return _taking_lists(value)
    if value is np.result_type:
        return result_type
    if type(value) is _DISPATCHER and value not in CREATION:
        return _taking_lists(value)
    if value is np.broadcast:
        return _Broadcast
    if value is np.ScalarType:
        return _ScalarTypes()
    if getattr(value, "__name__", "") == "_array_converter":
        return _ArrayConverter
    return _making(value) if callable(value) and value in CREATION else value


@cache
def _dispatched() -> dict[Any, Any]:
    """The public functions by the builtins behind them, which take no traced arrays."""
    found = (getattr(f, "_implementation", None) for f in vars(np).values())
    return {f: getattr(np, f.__name__) for f in found if isinstance(f, BuiltinFunctionType)}


def _is_numpys(module: str) -> bool:
    return module.partition(".")[0] == "numpy"


_OF_NUMBERS = (math, operator)  # modules with functions of Python's numbers


class _Module:
    """A module of NumPy's, or one that it uses, whose functions are those that our globals hold."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> object:
        if self._module is warnings:
            raise refuse(WARNS, "a warning that depends on the arrays")
        found = getattr(self._module, name)
        if isinstance(found, np.ufunc):
            return _UFunc(found)
        return _of_numbers(found) if self._module in _OF_NUMBERS else _seen(found)


class _UFunc:
    """A ufunc that gives an array for ``out=...``, of which ``__array_ufunc__`` is not told."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self._ufunc = ufunc

    def __call__(self, *args: object, **kwargs: object) -> Any:
        found = self._ufunc(*args, **kwargs)
        return creation.asarray(found) if kwargs.get("out") is ... else found

    def __getattr__(self, name: str) -> object:
        return getattr(self._ufunc, name)


def _of_numbers(function: object) -> Any:
    """A function of Python's that takes traced numbers, too."""
    if not callable(function):
        return function

    def call(*args: object) -> object:
        found = call_function(function, args, {})
        return function(*args) if found is NotImplemented else found

    return call


_DISPATCHER: type = type(np.sum)  # of functions that ask their arguments for __array_function__


def _taking_lists(function: Any) -> Callable[..., Any]:
    """A function of NumPy's, which does not see traced ints, nor traced numbers in a list."""

    def call(*args: object, **kwargs: Any) -> object:
        is_list = bool(args) and isinstance(args[0], list | tuple)
        if (is_list or TracedInt in map(type, args)) and has_traced(args):
            return current().door.call(function, *args, **kwargs)
        return function(*args, **kwargs)

    return call


def _helper(function: FunctionType) -> Callable[..., Any]:
    def call(*args: object, **kwargs: object) -> object:
        return _ours(function)(*args, **kwargs)

    return call


def _making(function: Callable[..., Any]) -> Callable[..., Any]:
    ours = CREATION[function]

    def make(*args: object, **kwargs: Any) -> object:
        traced = function in _FILLED or has_traced((args, kwargs))
        return (ours if traced else function)(*args, **kwargs)

    return make


class _Broadcast:
    """``np.broadcast``, of which only the shape is asked for."""

    def __init__(self, *arrays: object) -> None:
        shapes = (operand(x).type.shape for x in arrays)
        self.shape = shaping.wrap_dims(broadcast_shapes(*shapes))
        self.ndim = self.nd = len(self.shape)


class _ScalarTypes:
    """``np.ScalarType``, with the types that stand for them here."""

    def __contains__(self, kind: type) -> bool:
        return kind in np.ScalarType or kind in (TracedInt, TracedScalar, Mixed)


class _ArrayConverter:
    """NumPy's helper that gives arrays for arguments, and results in the arguments' class."""

    def __init__(self, *arrays: object) -> None:
        self._arrays = tuple(map(creation.asarray, arrays))

    def __getitem__(self, place: int) -> Any:
        return self._arrays[place]

    def as_arrays(self, **options: object) -> tuple[Any, ...]:
        return self._arrays

    def wrap(self, array: object, to_scalar: object = None) -> Any:
        return array
