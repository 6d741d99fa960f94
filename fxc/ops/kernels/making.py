"""The eager NumPy kernel of each operator, by its row or by its name.

``kernel_of(name)`` gives a callable that takes the canonical arguments of the schema as real
arrays, scalars and ints, regions as Python functions from a tuple of arrays to a tuple of arrays.
It returns what NumPy returns, scalars included; kernels that write return None.

Most kernels follow by rule from the row's NumPy callable and its schema; ``_KERNELS`` holds the
rest, by operator name.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.errors import WouldRaise
from fxc.ir.later import import_class_later

from .. import ufunc_methods
from ..foreign_ufuncs import guarded
from ..library import plain
from ..operators import Operator, Tag
from ..table import TABLE
from . import control, factories, indices, views
from .copies import strided_copy, unshared

if TYPE_CHECKING:
    from ..foreign_calls import ForeignCall
else:
    ForeignCall = import_class_later("fxc.ops.foreign_calls", "ForeignCall")

Kernel = Callable[..., Any]


def kernel_of(name: str) -> Kernel:
    """The eager NumPy kernel of the operator ``name``.

    Raises ``KeyError`` if there is no such operator, or nothing says what it means in NumPy.

    >>> kernel_of("add")(np.arange(3), 1)
    array([1, 2, 3])
    """
    op = TABLE[name]
    found = _cache.get(name)
    if found is None or found[0] is not op:
        found = _cache[name] = (op, _told(op, _make_kernel(op), "kernel_of"))
    return found[1]


_cache: dict[str, tuple[Operator, Kernel]] = {}


def writing_kernel_of(name: str) -> Kernel | None:
    """A kernel that takes the array for the result, or a tuple of those, too, as ``out``."""
    op = TABLE[name]
    if op.name == "ufunc_accumulate":
        return ufunc_methods.accumulate_into
    if op.name in _KERNELS or op.role or not isinstance(op.numpy, np.ufunc):
        return None
    return guarded(op.numpy)


def compiled_kernel_of(name: str) -> Kernel:
    """The kernel that compiled code calls: where NumPy would warn at the program's line, the call
    is left to it.
    """
    function, names = called_by(name)
    return _told(TABLE[name], _by_name(TABLE[name], function)) if names else function


_AVERAGES = frozenset({"mean", "var", "std"})
_WARNS = _AVERAGES | {"median", "nanmedian"}


def _warned(name: str, kernel: Kernel) -> Kernel:
    if name == "nanmedian":
        return _warned_of_nans(kernel)
    has_ddof = name in ("var", "std")

    def average(x: Any, axis: Any, *rest: Any) -> Any:
        is_array = type(x) is np.ndarray
        if axis is None:
            count = x.size if is_array else np.size(x)
        else:
            shape = x.shape if is_array else np.shape(x)
            along = axis if type(axis) is tuple else (axis,)
            count = math.prod([shape[each] for each in along])
        if count <= (rest[-1] if has_ddof else 0):
            raise WouldRaise(f"NumPy warns of the {name} of too few elements")
        return kernel(x, axis, *rest)

    return average


def _warned_of_nans(kernel: Kernel) -> Kernel:
    def median(given: Any, axis: int | None, *rest: Any) -> Any:
        x = given if type(given) is np.ndarray else np.asarray(given)
        if not (x.size if axis is None else x.shape[axis]):
            raise WouldRaise("NumPy warns of the median of no elements")
        if x.dtype.kind in "fc" and _starts_with_nan(x, axis) and _is_all_nan(x, axis):
            raise WouldRaise("NumPy warns of the median of nothing but nans")
        return kernel(given, axis, *rest)

    return median


def _starts_with_nan(x: np.ndarray, axis: int | None) -> bool:
    """Whether the first element of what one of the medians is of is nan: mostly none is."""
    if axis is None:
        number = x.item(0)
        return bool(number != number)
    first = x[(slice(None),) * (axis % x.ndim) + (0, ...)]
    return 1 in (first != first).tobytes()


def _is_all_nan(x: np.ndarray, axis: int | None) -> bool:
    return 1 in np.logical_and.reduce(x != x, axis).tobytes()


def _is_method(op: Operator) -> bool:
    """Whether NumPy's function does to an array what its method of that name does."""
    is_one = op.tag in (Tag.REDUCTION, Tag.SCAN) or op.name in _AVERAGES
    return is_one and hasattr(np.ndarray, op.name)


def _of_arrays(op: Operator) -> Kernel:
    """NumPy's function, and for arrays the method of its name: it takes less time. With a dtype it
    is the function: NumPy warns of parts that this drops at the line that computes.
    """
    function = _by_name(op, plain(guarded(op.numpy)))
    if not _is_method(op):
        return function
    called = _by_name(op, getattr(np.ndarray, op.name))
    params = [param.name for param in op.schema.params]
    names, usual = ", ".join(params), f"type({params[0]}) is ndarray"
    if "dtype" in params:
        usual += " and dtype is None"
    source = f"lambda {names}: called({names}) if {usual} else function({names})"
    known = {"called": called, "function": function, "ndarray": np.ndarray, "__name__": __name__}
    kernel: Kernel = eval(source, known)
    return kernel


def called_by(name: str) -> tuple[Kernel, tuple[str, ...]]:
    """What compiled code calls for plain arrays, and the names of the last arguments."""
    op = TABLE[name]
    found = _called.get(name)
    if found is None or found[0] is not op:
        found = _called[name] = (op, _called_by(op))
    return found[1]


_called: dict[str, tuple[Operator, tuple[Kernel, tuple[str, ...]]]] = {}


def made_by(maker: str, name: str) -> Kernel:
    """The kernel that a function of this module makes: so compilations on disk refer to it."""
    makers = {"kernel_of": kernel_of, "compiled_kernel_of": compiled_kernel_of}
    return makers[maker](name)


def _called_by(op: Operator) -> tuple[Kernel, tuple[str, ...]]:
    if op.name in _WARNS and op.numpy is not None:
        return _told(op, _warned(op.name, _of_arrays(op))), ()
    function, names = function_of(op.name)
    return (_told(op, _of_arrays(op)), ()) if names and _is_method(op) else (function, names)


def _told(op: Operator, kernel: Kernel, maker: str = "compiled_kernel_of") -> Kernel:
    """The kernel; if it is a function that is made here, it says so, for ``made_by``."""
    if isinstance(kernel, FunctionType) and _is_nameless(kernel):
        vars(kernel).setdefault("__fxc_made_by__", (maker, op.name))
    return kernel


def _is_nameless(kernel: FunctionType) -> bool:
    """Whether it is of fxc, and no module has it."""
    return "<" in kernel.__qualname__ and (kernel.__module__ or "").startswith("fxc.")


def function_of(name: str) -> tuple[Kernel, tuple[str, ...]]:
    """What ``kernel_of(name)`` calls for plain arrays, and the names of the last arguments."""
    op = TABLE[name]
    if isinstance(op.numpy, ForeignCall):
        return op.numpy.kernel(), ()
    if op.name in _KERNELS or op.role or op.numpy is None or name in _WARNS:
        return kernel_of(name), ()
    names = tuple(param.name for param in op.schema.params[op.schema.positional :])
    return plain(guarded(op.numpy)), names


def _make_kernel(op: Operator) -> Kernel:
    if op.name in _KERNELS:
        return _KERNELS[op.name]
    match op.role:
        case "inplace":
            return _in_place(op)
        case "out":
            return _with_out(op)
        case "copy":
            return _copying(kernel_of(op.group))
        case "scatter":
            return _scattering(kernel_of(op.group))
    if op.tag is Tag.CUSTOM:
        from ..custom_kernels import kernel_for

        return kernel_for(op, unshared)
    if op.numpy is None:
        raise KeyError(f"no eager kernel says what {op.name!r} means")
    return _by_name(op, guarded(op.numpy))


def _by_name(op: Operator, function: Kernel) -> Kernel:
    """Call ``function`` with the keyword parameters of the schema by name."""
    count = op.schema.positional
    names = tuple(param.name for param in op.schema.params[count:])
    if not names:
        return function

    first = [f"_{place}" for place in range(count)]
    given = ", ".join([*first, *(f"{name}={name}" for name in names)])
    source = f"lambda {', '.join([*first, *names])}: _function({given})"
    known = {"_function": function, "__name__": __name__}
    kernel: Kernel = eval(source, known)  # a third of the time of **kwargs
    return kernel


# ---------------------------------------------------------------- writers

# Functions of C that take ``out`` and have no signature to say so in every NumPy 2.
_TAKE_OUT = frozenset({np.dot})


def _takes_out(function: Kernel | None) -> bool:
    if isinstance(function, np.ufunc) or function in _TAKE_OUT:
        return True
    try:
        return function is not None and "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _in_place(op: Operator) -> Kernel:
    function = op.numpy
    if isinstance(function, np.ufunc):

        def kernel(x: np.ndarray, *rest: object) -> None:
            function(x, *rest, out=x)

        return kernel
    compute = kernel_of(op.group)
    if op.tag is Tag.WRITE and op.schema.returns:

        def run(*args: object) -> Any:
            _, found = compute(*args)  # the first operand has been written
            return found

        return run

    def write_back(x: np.ndarray, *rest: object) -> None:
        np.copyto(x, compute(x, *rest), casting="same_kind")

    return write_back


def _with_out(op: Operator) -> Kernel:
    if op.group not in _KERNELS and _takes_out(op.numpy):
        call = _by_name(op, op.numpy)  # type: ignore[arg-type]

        def kernel(*args: object) -> None:
            call(*args)

        return kernel
    compute = kernel_of(op.group)

    def write_out(*args: Any) -> None:
        np.copyto(args[-1], compute(*args[:-1]), casting="same_kind")

    return write_out


def _copy_(x: np.ndarray, y: object, casting: str) -> None:
    # 'unsafe' is what an assignment does, and an assignment is not quite a copyto: it takes
    # sequences, and casts Python scalars as Python's item assignment does.
    if casting == "unsafe":
        x[...] = y
    else:
        np.copyto(x, y, casting=casting)  # type: ignore[arg-type]


def _copying(view: Kernel) -> Kernel:
    def kernel(x: object, *rest: object) -> np.ndarray:
        return strided_copy(view(np.asarray(x), *rest))

    return kernel


def _scattering(view: Kernel) -> Kernel:
    def kernel(x: Any, source: object, *rest: object) -> np.ndarray:
        result = unshared(x)
        region = view(result, *rest)
        if not region.flags.writeable:
            region.flags.writeable = True  # the inverse of a read-only view writes all the same
        region[...] = source
        return result

    return kernel


# ---------------------------------------------------------------- the rest


def _astype(x: Any, dtype: np.dtype, casting: str, order: str) -> Any:
    if not isinstance(x, np.ndarray | np.generic):
        x = np.asarray(x)[()]  # a Python scalar
    return x.astype(dtype, casting=casting, order=order)


def _bind_size(number: Any, symbol: str, most: int) -> int:
    return int(number)


def _nonzero(mask: np.ndarray, count: int) -> np.ndarray:
    return np.stack(np.nonzero(mask), 1)


def _unique(
    x: np.ndarray,
    index: bool,
    inverse: bool,
    counts: bool,
    equal_nan: bool,
    ordered: bool,
    rows: bool,
    symbol: str,
    most: int,
) -> tuple[np.ndarray, ...]:
    """There are so many parameters because they are those of the operator."""
    along = 0 if rows else None
    x = x if rows else x.reshape(-1)  # for the inverse, to which the program gives the shape
    if ordered:
        found = _find_unique(x, index, inverse, counts, along, equal_nan=equal_nan)
    else:  # older versions of NumPy know it not
        found = _find_unique(x, index, inverse, counts, along, equal_nan=equal_nan, sorted=False)
    return found if isinstance(found, tuple) else (found,)


_find_unique: Any = plain(np.unique)


def _power(x: Any, y: Any) -> Any:
    """Of two scalars the operator: see Note [Powers that NumPy computes otherwise]."""
    kinds = type(x), type(y)
    if any(issubclass(kind, np.generic) for kind in kinds) and all(
        issubclass(kind, (np.generic, int, float, complex)) for kind in kinds
    ):
        return x**y
    return np.power(x, y)


_KERNELS: dict[str, Kernel] = {
    "power": _power,
    "bind_size": _bind_size,
    "nonzero": _nonzero,
    "unique": _unique,
    "copy_": _copy_,
    "astype": _astype,
    "int_value": int,
    **views.KERNELS,
    **indices.KERNELS,
    **factories.KERNELS,
    **control.KERNELS,
    **ufunc_methods.KERNELS,
}
