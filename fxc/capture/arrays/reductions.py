"""Reductions and scans of traced arrays, by NumPy's functions and by the methods of ufuncs.

What the table has no operator for (another ufunc, ``initial=``, ``where=``, an ``out`` whose dtype
decides how NumPy adds up) is one of ``ufunc_reduce`` and ``ufunc_accumulate``, which NumPy runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.error_kinds import NUMPY_OPTION, OVERLAPPING_WRITE
from fxc.ir.graph import Operand, Value
from fxc.ir.records import frozen, replace
from fxc.ir.size_functions import hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import counted_in, product, symbols_of
from fxc.ir.types import ArrayType
from fxc.ops.foreign_ufuncs import is_foreign
from fxc.ops.metas.layout import is_c_ordered
from fxc.ops.metas.shapes import hints, is_known_one, is_zero, same_shape

from ..numbers.dims import axis_number
from ..numbers.traced_int import wrap_dim
from ..session.refusing import Respecialise, constants, refuse
from ..session.session import current
from ..values.operands import Traced, array_of, array_value, operand, record, wrap
from .dtypes import dtype_of
from .ufunc_options import single_out
from .ufuncs import adopted, writable

_REDUCTIONS: dict[np.ufunc, str] = {
    np.add: "sum",
    np.multiply: "prod",
    np.minimum: "min",
    np.maximum: "max",
    np.logical_and: "all",
    np.logical_or: "any",
}
_SCANS: dict[np.ufunc, str] = {np.add: "cumsum", np.multiply: "cumprod"}
_UFUNCS = {name: ufunc for each in (_REDUCTIONS, _SCANS) for ufunc, name in each.items()}
_TAKES_DTYPE = {"sum", "prod", "mean", "var", "std"}
# With ``out=``: a reversed array, whose sum NumPy begins at the end of it
_BEGINS_AT_THE_END = np.lib.NumpyVersion(np.__version__) < "2.3.0"
_OF_TWO = frozenset({"var", "std"})  # sums, of which the second is of a new array
_COMPOSED = frozenset({"mean", "var", "std"})  # Python functions, which check their axis


@frozen
class Asked:
    """What NumPy's reductions are asked for, beside the array."""

    axis: Any = None
    dtype: Any = None
    out: Any = None
    keepdims: Any = False
    initial: Any = np._NoValue
    where: Any = True
    ddof: Any = 0
    mean: object = None  # one that is given is NumPy's code's: ``statistics.averaging``

    @property
    def is_of_all(self) -> bool:
        """Whether every element, and nothing else, is reduced."""
        everywhere = self.where is True or self.where is np._NoValue
        return everywhere and self.initial is np._NoValue


# ------------------------------------------------------------------ methods of ufuncs


def ufunc_reduce(
    ufunc: np.ufunc, array: object, axis: object = 0, *args: object, **options: object
) -> object:
    """As ``ufunc.reduce``."""
    name, asked = _REDUCTIONS.get(ufunc), Asked(axis, *args, **options)
    if name is not None and (asked.dtype is None or name in _TAKES_DTYPE):
        return reduce(name, array, asked)
    return _reduced_by_numpy(ufunc, reducible(array), asked)


def ufunc_accumulate(
    ufunc: np.ufunc, array: object, axis: object = 0, dtype: object = None, out: object = None
) -> object:
    """As ``ufunc.accumulate``."""
    name, out, axis = _SCANS.get(ufunc), single_out(out), _one_axis(axis, array)
    if name is not None:
        return scan(name, array, axis, dtype, out)
    return _accumulated_by_numpy(ufunc, array, axis, dtype, out)


def ufunc_reduceat(
    ufunc: np.ufunc,
    array: object,
    indices: object,
    axis: object = 0,
    dtype: object = None,
) -> object:
    """As ``ufunc.reduceat`` without ``out``."""
    value, places, place = array_value(array), array_value(indices), _one_axis(axis, array)
    options = {"ufunc": _name_of(ufunc), "axis": place, "dtype": _dtype(dtype)}
    return record("ufunc_reduceat", value, places, **options)


def _one_axis(axis: object, array: object) -> int:
    """The axis of a method of a ufunc that walks along one: None and tuples are so many axes."""
    rank, axes = array_value(array).type.rank, _axes(axis)
    if axes is None:
        axes = tuple(range(rank))
    if rank == 0:
        raise TypeError("a method of a ufunc walks along an axis, a number has none")
    if len(axes) != 1:
        raise ValueError("a method of a ufunc walks along one axis")
    return axes[0]


def _name_of(ufunc: np.ufunc) -> str:
    """The attribute that names a ufunc, see ``ufunc_named``."""
    if is_foreign(ufunc):
        return adopted(ufunc)
    name: str = ufunc.__name__
    return name


def _reduced_by_numpy(ufunc: np.ufunc, x: Operand, asked: Asked) -> object:
    if asked.initial is None:
        raise refuse(NUMPY_OPTION, f"np.{ufunc.__name__}.reduce with initial=None")
    start = None if asked.initial is np._NoValue else operand(asked.initial)
    mask = None if asked.where is True or asked.where is np._NoValue else operand(asked.where)
    out = single_out(asked.out)
    options = {
        "ufunc": _name_of(ufunc),
        "axis": _axes(_axis_of_rank_0(asked.axis, x)),
        "keepdims": _flag(asked.keepdims),
        "dtype": _dtype(asked.dtype),
        "result": None if out is None else writable(out).type.dtype,
    }
    return _into(out, "ufunc_reduce", x, start, mask, **options)


def _accumulated_by_numpy(
    ufunc: np.ufunc, array: object, axis: object, dtype: object, out: object
) -> object:
    x = array_value(array)
    options = {
        "ufunc": _name_of(ufunc),
        "axis": axis_number(axis),
        "dtype": _dtype(dtype),
        "result": None if out is None else writable(out).type.dtype,
    }
    return _into(out, "ufunc_accumulate", x, **options)


def _into(out: object, name: str, *operands: object, **options: object) -> object:
    """What the operator gives, or ``out`` with it inside."""
    if out is None or out is np._NoValue:
        return record(name, *operands, **options)
    if "result" in options:  # a method of a ufunc
        shape = current().dispatcher.meta(name, *operands, **options).shape
        if not same_shape(shape, writable(out).type.shape):  # an error to NumPy, but for some
            raise refuse(NUMPY_OPTION, f"{options['ufunc']} into an array of another shape")
    current().record(f"{name}.out", *operands, **options, out=writable(out))
    return out


# ------------------------------------------------------------------ reductions


def reduce(name: str, x: object, asked: Asked) -> Any:
    """Record a reduction over an axis: None, an int or a tuple, as NumPy takes it."""
    if asked.is_of_all and isinstance(x, Traced) and x._reduce is not None:
        return x._reduce(name, asked)
    value, out = reducible(x), single_out(asked.out)
    if name in _TAKES_DTYPE:
        _check_direction(value)
    if name not in _COMPOSED:
        asked = replace(asked, axis=_axis_of_rank_0(asked.axis, value))
    options = _options(name, asked)
    if name in _COMPOSED and isinstance(value.type, ArrayType):
        demand_more(value.type, options["axis"], options.get("ddof", 0))
    if asked.is_of_all and out is None:
        return record(name, value, **options)
    if asked.is_of_all and name in _TAKES_DTYPE:
        value = _as_out_has_it(name, value, options["axis"], out)
    halves = name == "mean" and asked.dtype is None and value.type.dtype == np.float16  # in float32
    if asked.is_of_all and not halves and out.dtype == _result_dtype(name, value, options):
        return _into(out, name, value, **options)
    if name in _COMPOSED:
        raise refuse(
            NUMPY_OPTION,
            f"np.{name} with an out= of another dtype,",
            "assign the result",
        )
    if name in ("any", "all"):
        asked = replace(asked, dtype=np.dtype(bool))
    return _reduced_by_numpy(_UFUNCS[name], value, asked)


def _options(name: str, asked: Asked) -> dict[str, Any]:
    """The attributes of a reduction."""
    options: dict[str, Any] = {"axis": _axes(asked.axis), "keepdims": _flag(asked.keepdims)}
    if name in _TAKES_DTYPE:
        options["dtype"] = _dtype(asked.dtype)
    if name in ("var", "std"):
        options["ddof"] = _whole(asked.ddof, f"np.{name} with ddof=")
    return options


def reducing(name: str) -> Callable[..., Any]:
    """NumPy's function of that name."""

    def call(a: object, axis: object = None, *args: object, **options: object) -> object:
        given = args if name in _TAKES_DTYPE else (None, *args)
        return reduce(name, a, Asked(axis, *given, **options))

    return call


def deviating(name: str) -> Callable[..., Any]:
    """``np.var`` or ``np.std``, which call ``ddof`` by another name, too."""

    def call(a: object, *args: object, **options: object) -> object:
        return reduce(name, a, Asked(**named(name, args, options)))

    return call


_OF_MEANS = ("axis", "dtype", "out", "keepdims")
_OF_VARIANCES = ("axis", "dtype", "out", "ddof", "keepdims")


def named(name: str, args: Sequence[object], options: Mapping[str, Any]) -> dict[str, Any]:
    """What is given to ``np.mean``, ``np.var`` or ``np.std`` behind the array, by names."""
    names = _OF_MEANS if name == "mean" else _OF_VARIANCES
    given = {**dict(zip(names, args, strict=False)), **options}
    correction = given.pop("correction", np._NoValue)
    if correction is not np._NoValue:
        if given.get("ddof", 0) != 0:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        given["ddof"] = correction
    return given


def demand_more(kind: ArrayType, axis: tuple[int, ...] | None, least: int) -> None:
    """Have a call left to NumPy where it takes no more than so many elements together: it warns."""
    if counted_in(kind.size) and hint(kind.size) > least:
        guard(kind.size, ">", least)
        return
    axes = range(kind.rank) if axis is None else axis
    if any(not -kind.rank <= each < kind.rank for each in axes):
        return  # NumPy raises
    count = product([kind.shape[each] for each in axes])
    if decide(count, ">", least) is not True:
        more = wrap_dim(count) > least
        current().record("try_demand", operand(np.bool_(more) if type(more) is bool else more))


def _as_out_has_it(name: str, value: Operand, axis: tuple[int, ...] | None, out: Any) -> Operand:
    """What NumPy walks through where ``out`` has a say in the order in which it adds floats: it is
    refused if that is the order of two axes that are left, unless all others lie inside of them.
    """
    kind = value.type
    if not (isinstance(value, Value) and isinstance(kind, ArrayType)):
        return value
    if is_c_ordered(kind) or out.dtype.kind not in "fc":
        return value
    steps = [-stride if hint(stride) < 0 else stride for stride in kind.strides]
    axes = [each for each, dim in enumerate(kind.shape) if not is_known_one(dim)]
    taken = axes if axis is None else {each % kind.rank for each in axis}
    kept = [each for each in axes if each not in taken]
    reduced = [each for each in axes if each in taken]
    apart = all(decide(steps[one], "<", steps[other]) for one in reduced for other in kept)
    backwards = [each for each in reduced if hint(kind.strides[each]) < 0]
    if (len(kept) > 1 and not apart) or (backwards and _BEGINS_AT_THE_END and name in _OF_TWO):
        raise refuse(
            NUMPY_OPTION,
            "a sum with out= of an array that is not in C order",
            "assign the result instead",
        )
    if not (backwards and _BEGINS_AT_THE_END):
        return value
    turned = (slice(None, None, -1 if each in backwards else None) for each in range(kind.rank))
    return array_value(wrap(value)[tuple(turned)])


def _check_direction(value: Operand) -> None:
    """Make the sizes of a reversed array constants: NumPy adds up its floats as they lie in memory,
    and left to NumPy as symbols they would lie in another way.
    """
    kind, session = value.type, current()
    if not isinstance(kind, ArrayType) or all(stride >= 0 for stride in hints(kind.strides)):
        return
    symbols = [name for dim in (*kind.shape, *kind.strides) for name in symbols_of(dim)]
    if any(session.varies(dim) for dim in (*kind.shape, *kind.strides)):
        raise refuse(
            NUMPY_OPTION,
            "a sum of a reversed array whose size differs between the iterations of a loop",
            "use a copy of it",
        )
    if sizes := constants(session.labels_of(symbols)):
        raise Respecialise(*sizes)


def _result_dtype(name: str, value: Operand, options: dict[str, Any]) -> np.dtype:
    """The dtype of the result if no ``out`` is given."""
    found: np.dtype = current().dispatcher.meta(name, value, **options).dtype
    return found


def _axes(axis: object) -> tuple[int, ...] | None:
    if axis is None:
        return None
    if isinstance(axis, tuple | list):
        return tuple(axis_number(each) for each in axis)
    return (axis_number(axis),)


def _dtype(dtype: object) -> np.dtype | None:
    return None if dtype is None else dtype_of(dtype)


def _flag(value: object) -> bool:
    return bool(value) if value is not np._NoValue else False


def _whole(value: object, what: str) -> int:
    if isinstance(value, int | np.integer):
        return int(value)
    raise refuse(NUMPY_OPTION, f"{what}{value!r}, which is no integer,")


def reducible(x: object) -> Operand:
    """The operand for a function of an array: a scalar stays one, a list becomes an array."""
    return x._operand() if isinstance(x, Traced) else array_value(x)


def _axis_of_rank_0(axis: object, value: Operand) -> Any:
    """NumPy's reductions take axis 0 and -1 of an array without axes for all of its axes."""
    if value.type.rank or not isinstance(axis, int | np.integer) or type(axis) is bool:
        return axis
    return None if axis in (0, -1) else axis


def find(
    name: str, x: object, axis: object = None, out: object = None, keepdims: object = False
) -> Any:
    """Record ``argmin`` or ``argmax``."""
    value = reducible(x)
    axis = _axis_of_rank_0(axis, value)
    place = None if axis is None else axis_number(axis)
    source, into = array_of(x), array_of(single_out(out))
    if source and into and current().aliases.may_share_memory(source, into):
        # NumPy stores a place before it looks at the next row.
        raise refuse(OVERLAPPING_WRITE, f"np.{name} into an array that it reads", "copy it first")
    return _into(out, name, value, axis=place, keepdims=_flag(keepdims))


# ------------------------------------------------------------------ scans


def scan(name: str, x: object, axis: object = None, dtype: Any = None, out: Any = None) -> object:
    """Record ``cumsum`` or ``cumprod``."""
    place = None if axis is None else axis_number(axis)
    options = {"axis": place, "dtype": _dtype(dtype)}
    value, out = reducible(x), single_out(out)
    if out is not None and isinstance(value.type, ArrayType):
        shape = (value.type.size,) if place is None else value.type.shape
        sizes = (value.type.size, *out._value.type.shape)
        if out.ndim != len(shape) or (out.shape != shape and any(map(is_zero, sizes))):
            raise refuse(NUMPY_OPTION, f"np.{name} with an out= of another shape")
    if out is None or out.dtype == _result_dtype(name, value, options):
        return _into(out, name, value, **options)
    array = wrap(array_value(x))
    flat = array.reshape(-1) if place is None else array
    return _accumulated_by_numpy(_UFUNCS[name], flat, place or 0, dtype, out)
