"""Sample inputs of every operator: dtypes, layouts, overlaps.

``samples(op)`` gives canonical arguments on real arrays, each sample with arrays of its own, so
that an operator may write them. Regions are Python functions from a tuple to a tuple. What NumPy
refuses (a dtype without a loop, an unsafe cast in place) is left out.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.errors import WouldRaise
from fxc.ir.graph import ArrayConstant, SliceSpec
from fxc.ir.records import frozen
from fxc.ir.schema import Param
from fxc.ir.types import DTYPES_BY_NAME

from .kernels import kernel_of
from .python_numbers import PYTHON_OPERATORS
from .table import TABLE, Operator, Tag

DTYPES = tuple(DTYPES_BY_NAME.values())
_FLOAT64 = np.dtype("f8")
_INT64 = np.dtype("i8")
_BOOL = np.dtype("?")


@frozen
class Sample:
    """Canonical arguments of one call, in the order of the schema."""

    args: tuple[Any, ...]


def samples(op: Operator) -> Iterator[Sample]:
    """Sample inputs of an operator, the same at each call."""
    for make in _candidates(op):
        if _runs(op, make):
            yield Sample(make())


Make = Callable[[], tuple[Any, ...]]


def _runs(op: Operator, make: Make) -> bool:
    """Whether NumPy takes these arguments."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            kernel_of(op.name)(*make())
    except (TypeError, ValueError, IndexError, ArithmeticError, AttributeError, WouldRaise):
        return False
    return True


def _candidates(op: Operator) -> Iterator[Make]:
    base = TABLE[op.group]
    match op.role:
        case "inplace":
            yield from _in_place(base)
        case "out":
            yield from _with_out(base)
        case "scatter":
            yield from _scatters(base)
        case "copy":
            yield from _rows(base)
        case _:
            yield from _rows(base)


def _rows(op: Operator) -> Iterator[Make]:
    """Arguments of a row of the table, by its name or else by its tag."""
    own = _BY_NAME.get(op.name)
    if own is not None:
        yield from own()
        return
    operands = [param for param in op.schema.params if param.is_value]
    rest = op.schema.params[len(operands) :]
    for make in _operands(len(operands), scalars=op.tag is Tag.POINTWISE):
        rank = max((x.ndim for x in make() if isinstance(x, np.ndarray)), default=0)
        for attributes in itertools.product(*(_attribute(param, rank) for param in rest)):
            yield _with(make, attributes)


def _with(make: Make, attributes: Sequence[Any]) -> Make:
    return lambda: (*make(), *attributes)


def _attribute(param: Param, rank: int) -> list[Any]:
    """Values of a static parameter of an operator on arrays of this rank."""
    match param.kind, param.is_list:
        case "int", True:
            every: list[Any] = [None, (0,), (1,), tuple(range(rank))]
            return every if rank > 1 else every[: rank + 1]
        case "int", False if param.name == "axis":
            return [None, *range(rank)]
        case "bool", _:
            return [False, True]
        case "DType", _ if param.optional:
            return [None, _FLOAT64]
        case "str", _ if param.name == "kind":
            return [None, "stable"]
        case "int", _:
            return [0, 1]
        case _:
            raise KeyError(f"no samples for a parameter {param}")


# ---------------------------------------------------------------- arrays

_PLAIN = (3, -2, 0, 1, 5, -1, 2, 7, 4, -3, 6, 11)
_SPECIAL = (0.5, -2.5, 0.0, -0.0, np.inf, 1.0, -np.inf, np.nan, 3.25, -1.0, 1e-3, 1e4)


def filled(dtype: np.dtype, shape: tuple[int, ...], shift: int = 0) -> np.ndarray:
    """A C-ordered array of sample values, special ones among them."""
    size = int(np.prod(shape))
    places = (np.arange(size) * 5 + shift) % 12
    if dtype.kind in "iub":
        values: np.ndarray = np.array(_PLAIN)
        values = np.abs(values) if dtype.kind == "u" else values
        return values[places].astype(dtype).reshape(shape)
    values = np.array(_SPECIAL)[places]
    with np.errstate(all="ignore"):
        if dtype.kind == "c":
            values = values + 1j * values[::-1]
        return values.astype(dtype).reshape(shape)


def layouts(dtype: np.dtype, shift: int = 0) -> Iterator[np.ndarray]:
    """Arrays of one dtype in every layout: C, F, strided, negative, zero-size, rank 0."""
    yield filled(dtype, (2, 3), shift)
    yield np.asfortranarray(filled(dtype, (3, 4), shift))
    yield filled(dtype, (4, 6), shift)[::2, 1::2]
    yield filled(dtype, (5,), shift)[::-1]
    yield filled(dtype, (2, 3, 4), shift).transpose(2, 0, 1)[::-1]
    yield filled(dtype, (0, 3), shift)
    yield filled(dtype, (), shift)


def _array(dtype: np.dtype, number: int, shift: int = 0) -> np.ndarray:
    return next(itertools.islice(layouts(dtype, shift), number, None))


_LAYOUTS = 7


def _operands(count: int, scalars: bool) -> Iterator[Make]:
    """Operands: every dtype in C order, every layout in a few dtypes, scalars, broadcasts."""
    for dtype in DTYPES:
        yield _same(dtype, 0, count)
    for dtype in (_FLOAT64, _INT64, _BOOL):
        for number in range(1, _LAYOUTS):
            yield _same(dtype, number, count)
    if not scalars:
        return
    yield from (_scalars(kind, count) for kind in (np.float64, np.int32, np.bool_, float, int))
    if count > 1:
        yield from _mixed(count)


def _same(dtype: np.dtype, number: int, count: int) -> Make:
    return lambda: tuple(_array(dtype, number, shift) for shift in range(count))


def _scalars(kind: type, count: int) -> Make:
    return lambda: tuple(kind(value) for value in (1, 2, 3)[:count])


def _mixed(count: int) -> Iterator[Make]:
    """Operands that differ in dtype, shape or kind."""
    tail = count - 2

    def rest() -> tuple[Any, ...]:
        return tuple(filled(_FLOAT64, (3,)) for _ in range(tail))

    for left, right in itertools.permutations(map(np.dtype, ("f4", "i8", "u1")), 2):
        yield lambda a=left, b=right: (filled(a, (2, 3)), filled(b, (3,)), *rest())  # type: ignore[misc]
    for scalar in (2, 0.5, True, np.float32(0.5), np.int64(2), np.array(2.0)):
        for dtype in (np.dtype("f4"), _INT64):
            yield lambda d=dtype, s=scalar: (filled(d, (2, 3)), s, *rest())  # type: ignore[misc]
            yield lambda d=dtype, s=scalar: (s, filled(d, (2, 3)), *rest())  # type: ignore[misc]
    yield lambda: (filled(_FLOAT64, (2, 1)), filled(_FLOAT64, (1, 3)), *rest())

    def overlapping() -> tuple[Any, ...]:
        base = filled(_FLOAT64, (4,))
        return (base[1:], base[:-1], *rest())

    yield overlapping


# ---------------------------------------------------------------- writers


def _in_place(base: Operator) -> Iterator[Make]:
    """The arguments of the row, where the first is an array to write to."""
    for make in _rows(base):
        if isinstance(make()[0], np.ndarray):
            yield make


def _with_out(base: Operator) -> Iterator[Make]:
    """The arguments of the row with a fitting output: new, in Fortran order, or an operand."""
    for make in _rows(base):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                result = np.asarray(kernel_of(base.name)(*make()))
        except Exception:  # NumPy refuses these arguments, and says why elsewhere
            continue
        yield _and_out(make, result, "C")
        if result.ndim == 2:
            yield _and_out(make, result, "F")
        first = make()[0]
        if isinstance(first, np.ndarray) and first.shape == result.shape:
            yield _into_first(make)


def _and_out(make: Make, result: np.ndarray, order: str) -> Make:
    def arguments() -> tuple[Any, ...]:
        return (*make(), _unlike(result, order))

    return arguments


def _unlike(result: np.ndarray, order: str) -> np.ndarray:
    """An array for this result, whose elements differ from it in every byte."""
    out = np.empty(result.shape, result.dtype, order)  # type: ignore[call-overload]
    flipped = np.frombuffer(result.tobytes(), np.uint8) ^ 255
    if result.dtype == _BOOL:
        flipped &= 1
    out[...] = np.frombuffer(flipped.tobytes(), result.dtype).reshape(result.shape)
    return out  # type: ignore[no-any-return]


def _into_first(make: Make) -> Make:
    def arguments() -> tuple[Any, ...]:
        args = make()
        return (*args, args[0])

    return arguments


def _scatters(base: Operator) -> Iterator[Make]:
    """The arguments of the view, with a source of the view's shape, an array or a scalar."""
    for make in _rows(base):
        yield _with_source(make, base)


def _with_source(make: Make, base: Operator) -> Make:
    def arguments() -> tuple[Any, ...]:
        x, *rest = make()
        view = kernel_of(base.name)(x, *rest)
        return (x, filled(view.dtype, view.shape, shift=3), *rest)

    return arguments


# ---------------------------------------------------------------- by name


def _where() -> Iterator[Make]:
    for make in _operands(2, scalars=True):
        yield lambda m=make: (filled(_BOOL, np.broadcast_shapes(*map(np.shape, m()))), *m())  # type: ignore[misc]
    yield lambda: (True, 1.0, 2)
    yield lambda: (filled(_FLOAT64, (2, 3)), 1, filled(_FLOAT64, (3,)))


def _clip() -> Iterator[Make]:
    for dtype in DTYPES:
        yield lambda d=dtype: (filled(d, (2, 3)), d.type(1), d.type(4))  # type: ignore[misc]
    for number in range(_LAYOUTS):
        yield lambda n=number: (_array(_FLOAT64, n), -1.0, 2)  # type: ignore[misc]
        yield lambda n=number: (_array(_INT64, n), None, 3)  # type: ignore[misc]
        yield lambda n=number: (_array(_FLOAT64, n), 0.0, None)  # type: ignore[misc]
    yield lambda: (filled(_FLOAT64, (2, 3)), None, None)
    yield lambda: (filled(np.dtype("f4"), (2, 3)), filled(_FLOAT64, (3,)), np.inf)


def _astype() -> Iterator[Make]:
    for source, target in itertools.product(DTYPES, DTYPES):
        yield lambda s=source, t=target: (filled(s, (2, 3)), t, "unsafe", "K")  # type: ignore[misc]
    for number in range(1, _LAYOUTS):
        for order in "KCFA":
            yield lambda n=number, o=order: (_array(_INT64, n), _FLOAT64, "safe", o)  # type: ignore[misc]
    yield lambda: (np.float64(2.5), np.dtype("f4"), "same_kind", "K")
    yield lambda: (2, _INT64, "unsafe", "K")


def _copy() -> Iterator[Make]:
    for dtype in DTYPES:
        yield lambda d=dtype: (filled(d, (2, 3)), "K")  # type: ignore[misc]
    for number, order in itertools.product(range(1, _LAYOUTS), "KCFA"):
        yield lambda n=number, o=order: (_array(_FLOAT64, n), o)  # type: ignore[misc]


def _copy_() -> Iterator[Make]:
    for source, target in itertools.product(DTYPES, DTYPES):
        for casting in ("same_kind", "unsafe"):
            yield lambda s=source, t=target, c=casting: (filled(t, (2, 3)), filled(s, (3,)), c)  # type: ignore[misc]
    for number in range(1, _LAYOUTS):
        yield lambda n=number: (_array(_FLOAT64, n), _array(_FLOAT64, n, 1), "same_kind")  # type: ignore[misc]
        yield lambda n=number: (_array(_INT64, n), 7, "unsafe")  # type: ignore[misc]

    def overlapping(forward: bool) -> Make:
        def arguments() -> tuple[Any, ...]:
            base = filled(_FLOAT64, (6,))
            left, right = base[1:], base[:-1]
            return (left, right, "unsafe") if forward else (right, left, "unsafe")

        return arguments

    yield overlapping(True)
    yield overlapping(False)


_NUMBERS: tuple[tuple[Any, Any], ...] = (
    *((1.5, 2.0), (-0.0, 3.0), (1 + 2j, 2.0), (True, 2.5), (7, 3), (-8, 2), (0.5, -2.0)),
    *((2**40, 2**20), (5, -1), (2.5, 4), (3, 0.5), (True, False), (0, 0)),
)


def _python_numbers(count: int) -> Callable[[], Iterator[Make]]:
    def numbers() -> Iterator[Make]:
        for values in _NUMBERS:
            yield lambda v=(*values, 9): v[:count]  # type: ignore[misc]

    return numbers


def _over(*attributes: tuple[Any, ...], shape: tuple[int, ...]) -> Callable[[], Iterator[Make]]:
    """Arrays of one shape, C, F, strided and reversed, with each of the static arguments."""

    def arguments() -> Iterator[Make]:
        for dtype, attribute in itertools.product((_FLOAT64, np.dtype("i2")), attributes):
            for vary in (np.asarray, _fortran, _spread, _turned):
                yield lambda d=dtype, a=attribute, v=vary: (v(filled(d, shape)), *a)  # type: ignore[misc]

    return arguments


def _parts() -> Iterator[Make]:
    for code in ("c8", "c16"):
        for shape in ((4,), (3, 4), (), (0, 2)):
            for vary in (np.asarray, _fortran, _spread, _turned):
                yield lambda c=code, s=shape, v=vary: (v(filled(np.dtype(c), s)),)  # type: ignore[misc]


def _recast(has_room: Callable[[int, int], bool]) -> Callable[[], Iterator[Make]]:
    """Arrays with each dtype to take their bytes for, of fitting sizes."""

    def arguments() -> Iterator[Make]:
        for old, new in itertools.product(DTYPES, DTYPES):
            if _BOOL not in (old, new) and has_room(old.itemsize, new.itemsize):
                for vary in (np.asarray, _fortran, _spread, _turned):
                    yield lambda o=old, n=new, v=vary: (v(filled(o, (3, 16))), n)  # type: ignore[misc]

    return arguments


_same_sizes = _recast(lambda old, new: old == new)
_other_sizes = _recast(lambda old, new: old != new)


def _numbers_with_parts() -> Iterator[Make]:
    for value in (1 - 2j, np.complex64(1 - 2j), np.complex128(complex(-0.0, np.nan))):
        yield lambda v=value: (v,)  # type: ignore[misc]
    yield lambda: (filled(np.dtype("c16"), (2, 3)),)


def _fortran(x: np.ndarray) -> np.ndarray:
    """``x`` in Fortran order; rank 0 stays rank 0."""
    return np.array(x, order="F")


def _spread(x: np.ndarray) -> np.ndarray:
    """The elements of ``x`` with gaps between them."""
    wide = np.repeat(x, 2, axis=-1) if x.ndim else x
    return wide[..., ::2] if x.ndim else wide


def _turned(x: np.ndarray) -> np.ndarray:
    """``x`` with its first axis reversed in memory."""
    return x[::-1].copy()[::-1] if x.ndim else x


def _chain(*parts: Callable[[], Iterator[Make]]) -> Callable[[], Iterator[Make]]:
    return lambda: itertools.chain.from_iterable(part() for part in parts)


def _index(*axes: tuple[int, int, int]) -> tuple[tuple[SliceSpec, ...]]:
    return (tuple(SliceSpec(*axis) for axis in axes),)


def _reshapes() -> Iterator[Make]:
    for dtype in (_FLOAT64, np.dtype("u1")):
        for old, new in (
            ((2, 6), (3, 4)), ((2, 6), (12,)), ((12,), (2, 2, 3)), ((), (1, 1)), ((1,), ()),
            ((0, 3), (3, 0)), ((2, 6), (2, 1, 6)),
        ):  # fmt: skip
            yield lambda d=dtype, o=old, n=new: (filled(d, o), n)  # type: ignore[misc]
        yield lambda d=dtype: (filled(d, (4, 6))[::2], (2, 2, 3))  # type: ignore[misc]
        yield lambda d=dtype: (filled(d, (4, 6))[::-1], (4, 3, 2))  # type: ignore[misc]


def _shaped(*extra: Any) -> Callable[[], Iterator[Make]]:
    """Factories: shapes, dtypes, layouts, with what the operator wants between."""

    def arguments() -> Iterator[Make]:
        for dtype in DTYPES:
            yield lambda d=dtype: ((2, 3), *extra, d, None)  # type: ignore[misc]
        for shape, layout in (((), None), ((0, 2), None), ((2, 3), (1, 0)), ((2, 3, 4), (1, 2, 0))):
            yield lambda s=shape, o=layout: (s, *extra, _FLOAT64, o)  # type: ignore[misc]

    return arguments


def _literally(*calls: tuple[Any, ...]) -> Callable[[], Iterator[Make]]:
    """These arguments; arrays are copied for each sample."""

    def fresh(arg: Any) -> Any:
        if isinstance(arg, np.ndarray):
            return arg.copy(order="K")
        return tuple(map(fresh, arg)) if type(arg) is tuple else arg

    def arguments() -> Iterator[Make]:
        for call in calls:
            yield lambda c=call: tuple(map(fresh, c))  # type: ignore[misc]

    return arguments


def _products(vectors: bool) -> Iterator[Make]:
    shapes = [((2, 3), (3, 4)), ((3,), (3, 2)), ((2, 3), (3,)), ((3,), (3,)), ((0, 3), (3, 2))]
    if vectors:
        shapes = [((3,), (2,)), ((2, 2), (3,)), ((0,), (2,)), ((1,), (1,)), ((), (2,))]
    for dtype in map(np.dtype, ("f8", "f4", "i8", "u1", "?", "c16")):
        for left, right in shapes:
            yield lambda d=dtype, a=left, b=right: (filled(d, a), filled(d, b, 1))  # type: ignore[misc]
    yield lambda: (filled(_FLOAT64, (3, 2)).T, filled(np.dtype("f4"), (2, 3)).T)


def _index_arrays() -> Iterator[tuple[tuple[Any, ...], tuple[int, ...], int]]:
    """Index arrays for an array of shape (2, 3, 4), their axes, and where their axes go."""
    rows, columns = np.array([[1, 0, 1], [0, 0, 1]]), np.array([2, 0, 2])
    yield (rows,), (0,), 0
    yield (columns.astype("u2")[::-1],), (1,), 1
    yield (_fortran(rows),), (2,), 2
    yield (rows, columns), (0, 1), 0
    yield (rows[:1], columns), (0, 2), 0
    yield (rows.astype("i4"), 1, columns), (0, 1, 2), 0
    yield (np.zeros((0,), np.int64),), (0,), 0
    yield (np.int64(1), np.int64(2)), (1, 2), 1


def _wraps() -> Iterator[Make]:
    for dtype in map(np.dtype, ("i8", "i4", "u1", "u8")):
        for number in range(_LAYOUTS):
            yield lambda d=dtype, n=number: (_array(d, n) % 9, 9, 0)  # type: ignore[misc]
    yield from _literally((np.array([-3, 0, 2, -1]), 3, 1), (np.int32(-4), 4, 0), (3, 4, 0))()


def _gathers() -> Iterator[Make]:
    for indices, axes, place in _index_arrays():
        rank = 3 - len(axes) + np.broadcast(*indices).ndim
        for dtype, layout in ((_FLOAT64, None), (_BOOL, tuple(reversed(range(rank))))):
            for vary in (np.asarray, _fortran, _spread, _turned):
                yield lambda d=dtype, i=indices, a=axes, p=place, o=layout, v=vary: (  # type: ignore[misc]
                    v(filled(d, _CUBE)), i, a, p, o
                )  # fmt: skip


def _with_sources(targets: np.ndarray, indices: Any, axes: Any, place: int) -> Iterator[Any]:
    """Sources for what the index arrays choose: as large, broadcast, one element."""
    shape = kernel_of("gather")(targets, indices, axes, place, None).shape
    yield filled(targets.dtype, shape, 3)
    yield _fortran(filled(np.dtype("i2"), shape, 4))
    if shape:
        yield filled(np.dtype("u1"), shape[-1:], 5)
    yield from (filled(targets.dtype, (), 7), targets.dtype.type(1), 1)


def _index_puts(*more: Any) -> Callable[[], Iterator[Make]]:
    def arguments() -> Iterator[Make]:
        for indices, axes, place in _index_arrays():
            for dtype, vary in ((_FLOAT64, np.asarray), (_INT64, _fortran), (_BOOL, _spread)):
                target = filled(dtype, _CUBE)
                for source in _with_sources(target, indices, axes, place):
                    call = (vary(target), source, indices, axes, place, *more)
                    yield from _literally(call)()

    return arguments


def _negated() -> Iterator[Make]:
    for indices, axes, place in _index_arrays():
        call = (filled(_FLOAT64, _CUBE), None, indices, axes, place, "negative")
        yield from _literally(call)()


def _masked_puts() -> Iterator[Make]:
    for dtype, vary in itertools.product((_FLOAT64, _INT64), (np.asarray, _fortran, _turned)):
        for rank in (1, 2, 3):
            mask = filled(_BOOL, _CUBE[:rank])
            for kind in (dtype, np.dtype("f4")):
                source = filled(kind, (int(mask.sum()), *_CUBE[rank:]), 3)
                yield from _literally((vary(filled(dtype, _CUBE)), mask, source))()


def _joins(axes: Sequence[int | None]) -> Callable[[], Iterator[Make]]:
    def arguments() -> Iterator[Make]:
        for dtype, axis in itertools.product((_FLOAT64, _INT64, _BOOL), axes):
            yield lambda d=dtype, a=axis: ((filled(d, (2, 3)), filled(d, (2, 3), 1)), a)  # type: ignore[misc]
        yield lambda: ((filled(_FLOAT64, (2, 3)), filled(np.dtype("i4"), (2, 3))), axes[0])
        yield lambda: ((np.asfortranarray(filled(_FLOAT64, (2, 3))),) * 3, axes[-1])
        yield lambda: ((filled(_FLOAT64, (4, 6))[::2, ::-2],), axes[0])

    return arguments


def _aranges() -> Iterator[Make]:
    for code in ("i8", "i4", "u1", "f8", "f4", "f2", "c16"):
        dtype = np.dtype(code)
        for start, step, length in ((0, 1, 5), (2, 3, 4), (1, 2, 0), (7, 1, 1)):
            yield lambda a=(start, step, length, dtype): a  # type: ignore[misc]
    yield lambda: (0.5, 0.1, 7, _FLOAT64)
    yield lambda: (np.float64(-1.0), -0.25, 9, _FLOAT64)


def _partitions() -> Iterator[Make]:
    for dtype in (_FLOAT64, np.dtype("u1"), np.dtype("c8")):
        for kth, axis in itertools.product(((1,), (0, 2), (-1,)), (None, 0, 1)):
            yield lambda d=dtype, k=kth, a=axis: (filled(d, (3, 4)), k, a)  # type: ignore[misc]
    for number in range(1, _LAYOUTS):
        yield lambda n=number: (_array(_FLOAT64, n), (1,), 0)  # type: ignore[misc]


def _ufunc_reductions() -> Iterator[Make]:
    def with_parts(number: int, start: Any, masked: bool) -> tuple[Any, Any, Any]:
        x = _array(_FLOAT64, number)
        return x, start, x > 0 if masked else None

    options = (
        (None, False, None, None),
        ((0,), True, None, None),
        ((0,), False, np.dtype("f4"), None),
    )
    ufuncs = ("add", "multiply", "hypot", "logical_xor")
    for number, ufunc, (axis, keepdims, *dtypes) in itertools.product(
        range(_LAYOUTS), ufuncs, options
    ):
        rest = (ufunc, axis, keepdims, *dtypes)
        yield lambda n=number, r=rest: (*with_parts(n, None, False), *r)  # type: ignore[misc]
        yield lambda n=number, r=rest: (*with_parts(n, 1, True), *r)  # type: ignore[misc]
    for name in ("add", "maximum"):
        rest = (name, (0,), False, None, np.dtype("f4"))
        yield lambda r=rest: (filled(_FLOAT64, (2, 3)), None, None, *r)  # type: ignore[misc]


def _ufunc_scans() -> Iterator[Make]:
    for number, ufunc in itertools.product(range(_LAYOUTS), ("maximum", "hypot", "logical_or")):
        yield lambda n=number, u=ufunc: (_array(_FLOAT64, n), u, 0, None, None)  # type: ignore[misc]
    yield lambda: (filled(_INT64, (2, 3)), "add", 1, _FLOAT64, None)
    yield lambda: (filled(_FLOAT64, (2, 3)), "add", 1, None, np.dtype("f4"))


def _ufunc_segments() -> Iterator[Make]:
    for ufunc, axis in itertools.product(("add", "minimum", "hypot"), (0, 1)):
        yield lambda u=ufunc, a=axis: (filled(_FLOAT64, (4, 3)), np.array([0, 2, 1]), u, a, None)  # type: ignore[misc]
    yield lambda: (filled(_INT64, (5,)), np.array([1, 3]), "add", 0, _FLOAT64)


_MATRIX = np.array([[2.0, 1.0], [1.0, 3.0]])


def _plus_one(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.add(x, 1) for x in args)


def _doubled(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.multiply(x, 2) for x in args)


def _add_place(args: tuple[Any, ...]) -> tuple[Any, ...]:
    place, *state = args
    return tuple(np.add(x, place) for x in state)


def _is_small(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return (np.less(np.max(args[0]), 20),)


_CUBE = (2, 3, 4)
_STATE = (np.arange(3.0), np.array(2.0))

_BY_NAME: dict[str, Callable[[], Iterator[Make]]] = {
    "where": _where,
    "clip": _clip,
    "astype": _astype,
    "copy": _copy,
    "copy_": _copy_,
    **{name: _python_numbers(count) for name, (count, _, _) in PYTHON_OPERATORS.items()},
    "real_number": _numbers_with_parts,
    "imaginary_number": _numbers_with_parts,
    "slice": _chain(
        _over(_index((0, 4, 1)), _index((1, 4, 2)), _index((3, -1, -1)), shape=(4,)),
        _over(_index((0, 3, 1), (3, 0, -2)), _index((1, 1, 1), (0, 4, 1)), shape=(3, 4)),
        _over(_index(), shape=()),
    ),
    "select": _chain(
        _over((0, 1), (0, 0), shape=(4,)), _over((0, 1), (1, 2), (2, 3), shape=_CUBE)
    ),
    "dynamic_select": _chain(
        _over((np.int64(1), 0), (np.int64(3), -1), shape=(4,)),
        _over((np.int64(1), 0), (np.int64(2), 1), (np.int32(3), 2), shape=_CUBE),
    ),
    "transpose": _chain(
        _over(((1, 0),), ((0, 1),), shape=(2, 3)),
        _over(((2, 0, 1),), shape=_CUBE),
        _over(((),), shape=()),
    ),
    "reshape": _reshapes,
    "expand_dims": _chain(_over(((0,),), ((1, 3),), shape=(2, 3)), _over(((0,),), shape=())),
    "squeeze": _over(((1,),), ((1, 3),), shape=(2, 1, 3, 1)),
    "broadcast_to": _chain(
        _over(((2, 3),), ((3,),), shape=(3,)),
        _over(((2, 3, 4),), shape=(3, 1)),
        _over(((2,),), shape=()),
    ),
    "broadcast": _chain(
        _over(((2, 3),), ((3,),), shape=(3,)),
        _over(((2, 3, 4),), shape=(3, 1)),
        _over(((2,),), shape=()),
    ),
    "diagonal": _chain(
        _over((0, 0, 1), (1, 0, 1), (-1, 1, 0), shape=(3, 4)), _over((1, 2, 0), shape=_CUBE)
    ),
    "wrap_index": _wraps,
    "gather": _gathers,
    "index_put": _index_puts(),
    "index_reduce": _chain(*(_index_puts(n) for n in ("add", "maximum", "divide")), _negated),
    "masked_put": _masked_puts,
    "bind_size": _literally((np.int64(3), "count", 7)),
    "nonzero": _literally((np.array([True, False, True]), 2), (np.array([[0, 2], [3, 0]]), 2)),
    "unique": _literally(
        (np.array([3, 1, 3]), False, False, False, True, "count", 3),
        (np.array([[2.0, np.nan], [np.nan, 2.0]]), True, True, True, False, "count", 4),
    ),
    **{
        name: _literally((np.array([3.0, 1.0]), None), (np.array([[1, 2], [4, 8]]), 0))
        for name in ("median", "nanmedian")
    },
    **{
        name: _literally(
            (np.array([3.0, 1.0, 2.0]), 0.25, None, "linear"),
            (np.array([[3, 1, 2], [5, 9, 4]]), np.array([0.5, 1.0]), 1, "lower"),
        )
        for name in ("quantile", "percentile")
    },
    **{
        name: _literally(
            (np.array([3.0, np.nan, 2.0]), np.array([0.25, 1.0]), None, "linear"),
            (np.array([[3, 1, 2], [5, 9, 4]]), 0.5, 1, "lower"),
        )
        for name in ("nanquantile", "nanpercentile")
    },
    "digitize": _literally(
        (np.array([0.5, 2.0]), np.array([0.0, 1.0, 2.0]), False),
        (np.array([[0, 2]]), np.array([2, 1, 0]), True), (1.0, np.array([0.0, 1.0]), False),
    ),
    "isin": _literally(
        (np.array([[1, 2], [3, 4]]), np.array([2, 9]), False, False),
        (np.array([0.5, np.nan]), np.array([0.5]), True, True),
        (np.array(3), np.array([3]), False, False),
    ),
    "lexsort": _literally(
        ((np.array([2, 1, 2]), np.array([1.0, 1.0, 0.5])), -1), ((np.array([[2, 1], [0, 3]]),), 0),
    ),
    "histogram": _literally(
        (np.array([0.5, 1.0, 2.0]), None, None, None, 4, False),
        (np.array([[0, 3], [2, 1]]), np.array([[1, 2], [3, 4]]), 0, 3, 3, False),
        (np.array([0.5, 1.0, 2.0], "f4"), None, 0.0, 1.0, 2, True),
    ),
    "histogram_of_edges": _literally(
        (np.array([0.5, 1.0, 2.0]), np.array([0.0, 1.0, 3.0]), None, False),
        (np.array([0, 3, 1]), np.array([0, 1, 4]), np.array([0.5, 1.0, 2.0]), True),
    ),
    "searchsorted": _literally(
        (np.array([1.0, 2.0, 2.0]), 2.0, "left"),
        (np.array([1, 2, 5]), np.array([[0, 2], [5, 9]]), "right"),
    ),
    "interp": _literally(
        (0.5, np.array([0.0, 1.0]), np.array([2.0, 4.0]), None, None, None),
        (np.array([[-1.0, 0.25]]), np.array([0.0, 1.0]), np.array([2.0, 4.0]), None, -1.0, None),
        (np.array([-1.0, 0.25]), np.array([0.0, 1.0]), np.array([2.0, 4.0]), None, None, 1.5),
    ),
    **{
        name: _literally(
            *((np.arange(n + 1.0), np.arange(m + 1), mode)
              for n in (0, 3, 5) for m in (1, 4) for mode in ("full", "same", "valid"))
        )
        for name in ("convolve", "correlate")
    },
    "bincount": _literally(
        (np.array([1, 3, 1]), None, 4), (np.array([1, 0]), np.array([0.5, 1.0]), 3)
    ),
    "bincount_all": _literally(
        (np.array([1, 3, 1]), None, "count", 9),
        (np.array([1, 0]), np.array([0.5, 1.0]), "count", 9),
    ),
    "fourier": _literally(
        *((np.arange(12.0).reshape(3, 4) ** 2, kind, axis, norm)
          for kind in ("fft", "ifft", "rfft", "irfft") for axis in (0, -1)
          for norm in (None, "ortho"))
    ),
    "einsum": _literally(
        ((np.arange(3.0), np.arange(3)), "i,i->", False),
        ((np.arange(6.0).reshape(2, 3), np.arange(3.0)), "ij,j->i", False),
        ((np.arange(6.0).reshape(2, 3), np.ones((3, 4))), "ij,jk->ik", True),
    ),
    "real": _parts,
    "bitcast": _same_sizes,
    "reinterpret": _same_sizes,
    "regroup_bytes": _other_sizes,
    "as_strided": _chain(
        _over(((2, 3), (1, 1), True), ((3,), (1,), False), ((2, 2), (2, 1), True), shape=(4,)),
        _over(((2, 3, 2, 2), (1, 0, 1, 0, 0, 1, 0, 1), False), shape=(3, 4)),
    ),
    "imag": _parts,
    "zeros": _shaped(),
    "ones": _shaped(),
    "empty": _shaped(),
    "full": _chain(_shaped(1), _literally(((2, 3), 2.5, _FLOAT64, (1, 0)))),
    "arange": _aranges,
    "linspace": _literally(
        *((a, b, n, e, d)
          for a, b in ((0.0, 1.0), (0, 7), (np.float64(-2.5), 3), (1.0, 1.0), (0.0, 5e-324))
          for n in (0, 1, 2, 7) for e in (True, False) for d in (_FLOAT64, _INT64)),
    ),
    "eye": _literally(
        *((n, m, k, d)
          for n, m in ((3, 3), (2, 4), (4, 2), (0, 2), (1, 1)) for k in (0, 1, -1, 3, -5)
          for d in (_FLOAT64, _BOOL, _INT64)),
    ),
    "constant": _literally((ArrayConstant.of(np.arange(3.0)),), (ArrayConstant.of(np.array(1)),)),
    "int_value": _literally((3,), (-7,)),
    "matmul": lambda: _products(vectors=False),
    "dot": lambda: _products(vectors=False),
    "outer": lambda: _products(vectors=True),
    "concatenate": _joins((0, 1, None)),
    "stack": _joins((0, 1, 2, -1)),
    "partition": _partitions,
    "argpartition": _partitions,
    "ufunc_reduce": _ufunc_reductions,
    "ufunc_accumulate": _ufunc_scans,
    "ufunc_reduceat": _ufunc_segments,
    "linalg_inv": _literally((_MATRIX,), (np.stack([_MATRIX, 2 * _MATRIX]),)),
    **{
        f"linalg_{name}": _literally((_MATRIX, *more), (np.stack([_MATRIX, 2 * _MATRIX]), *more))
        for name, more in (
            ("det", ()), ("slogdet", ()), ("cholesky", (False,)), ("eigvalsh", ("L",)),
            ("eigh", ("U",)), ("eig", ()), ("eigvals", ()), ("svd", (True,)), ("svdvals", ()),
            ("qr", ("reduced",)), ("qr_r", ()),
        )
    },
    "linalg_lstsq": _literally(
        (_MATRIX, np.array([1.0, 2.0]), None),
        (np.array([[2.0, 1.0], [1.0, 3.0], [0.0, 1.0]]), np.ones((3, 2)), 1e-9),
    ),
    "linalg_solve": _literally((_MATRIX, np.array([1.0, 2.0])), (_MATRIX.T, _MATRIX)),
    "cond": _literally(
        (True, _STATE, _plus_one, _doubled), (np.False_, _STATE, _plus_one, _doubled),
        (np.array(1), _STATE, _plus_one, _doubled),
    ),
    "fori_loop": _literally(
        (0, 4, _STATE, _add_place, False), (3, 3, _STATE, _add_place, False)
    ),
    "while_loop": _literally(
        (_STATE, _is_small, _doubled), ((20 * _STATE[0], _STATE[1]), _is_small, _doubled),
    ),
}  # fmt: skip
