"""Reductions, scans and sorts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fxc.ir.graph import Node
from fxc.ir.types import PART_DTYPES
from fxc.ops.table import TABLE

from .builder import BOOL, I64, Val, separated, signature_of
from .emission import Emission
from .problems import Unsayable, no_number
from .signs import is_nan


def _least(dtype: np.dtype) -> object:
    """What no number is below."""
    return -np.inf if dtype.kind == "f" else False if dtype == BOOL else np.iinfo(dtype).min


def _greatest(dtype: np.dtype) -> object:
    return np.inf if dtype.kind == "f" else True if dtype == BOOL else np.iinfo(dtype).max


# Operator: the operation for numbers, that for bools, and what it starts from.
_REDUCERS: dict[str, tuple[str, str, Callable[[np.dtype], object]]] = {
    "sum": ("add", "or", lambda dtype: 0),
    "prod": ("multiply", "and", lambda dtype: 1),
    "min": ("minimum", "and", _greatest),
    "max": ("maximum", "or", _least),
    "any": ("or", "or", lambda dtype: 0),
    "all": ("and", "and", lambda dtype: 1),
}


def _axes(node: Node) -> list[int]:
    axis, rank = node.arg("axis"), node.args[0].type.rank
    if axis is None:
        return list(range(rank))
    return sorted({each % rank for each in (axis if isinstance(axis, tuple) else (axis,))})


def reduction(e: Emission, node: Node) -> list[Val]:
    """Along some axes. In which order, XLA decides."""
    operand, kind = node.args[0], node.output.type
    numbers, bools, start = _REDUCERS[TABLE[node.op].group]
    if kind.dtype in PART_DTYPES and node.op in ("min", "max"):
        raise Unsayable("the larger of complex numbers")
    x = e.cast(operand, kind.dtype)
    axes = _axes(node)
    if not axes:
        return [x]
    x = e.filled(x, operand.type, axes, start(kind.dtype))
    name = bools if kind.dtype == BOOL else numbers
    found = e.b.reduce(x, e.b.scalar(start(kind.dtype), kind.dtype), name, axes)
    if node.op in ("min", "max") and kind.dtype.kind == "f":
        found = _or_nan(e, x, found, axes)
    return [e.reshape(found, e.held(kind))]


def _or_nan(e: Emission, x: Val, found: Val, axes: Sequence[int]) -> Val:
    """Where one of the numbers is nan, the result is: StableHLO's says so, too, but not of all
    that run it.
    """
    has_nan = e.b.reduce(is_nan(e, x), e.b.scalar(False, BOOL), "or", axes)
    return e.b.select(has_nan, e.like(found, np.nan), found)


def argument(e: Emission, node: Node) -> list[Val]:
    """The first place of the least or greatest element: nan is beyond all."""
    operand, kind = node.args[0], node.output.type
    x = e.read(operand)
    if x.dtype in PART_DTYPES:
        raise Unsayable("the larger of complex numbers")
    start = _least(x.dtype) if node.op == "argmax" else _greatest(x.dtype)
    x = e.filled(x, operand.type, range(x.rank), start)
    axes = _axes(node)
    if len(axes) != 1:  # over all elements in C order
        if len(e.changing(operand.type)) > (0 in e.changing(operand.type)):
            raise Unsayable("a place among elements of which the number changes")
        total = e.sizes.held(operand.type.size)
        x, axes = e.reshape(x, [total]), [0]
    found = first_place(e, x, axes[0], node.op == "argmax")
    return [e.reshape(found, e.held(kind))]


def first_place(e: Emission, x: Val, axis: int, is_max: bool) -> Val:
    """The first place of the extreme element along an axis."""
    start = _least(x.dtype) if is_max else _greatest(x.dtype)
    places = e.iota(x.shape, axis)
    rest = [size for a, size in enumerate(x.shape) if a != axis]
    # Of what it starts from the place is beyond all: an element with the same number comes first.
    starts = [e.b.scalar(start, x.dtype), e.b.scalar(np.iinfo(I64).max, I64)]
    results = [Val(x.dtype, rest), Val(I64, rest)]
    params = [Val(value.dtype, ()) for value in (*starts, *starts)]
    region = e.b.region(params, lambda *pairs: _better(e, "GT" if is_max else "LT", pairs))
    given = [x, places, *starts]
    e.b.line(
        *separated(results), ' = "stablehlo.reduce"(', *separated(given),
        f") <{{dimensions = array<i64: {axis}>}}> (", region, f") : {signature_of(given, results)}",
    )  # fmt: skip
    return results[1]


def _better(e: Emission, direction: str, pairs: Sequence[Val]) -> list[Val]:
    """Of two elements with their places the one beyond the other, or else the first."""
    x, i, y, j = pairs
    b = e.b
    beyond, equal = b.compare(direction, x, y), b.compare("EQ", x, y)
    if x.dtype.kind == "f":
        x_is, y_is = is_nan(e, x), is_nan(e, y)
        beyond = b.same("or", b.same("and", x_is, b.same("not", y_is)), beyond)
        equal = b.same("or", equal, b.same("and", x_is, y_is))
    first = b.same("and", equal, b.compare("LT", i, j))
    chosen = b.same("or", beyond, first)
    return [b.select(chosen, x, y), b.select(chosen, i, j)]


# ---------------------------------------------------------------- scans


def scan(e: Emission, node: Node) -> list[Val]:
    kind = node.output.type
    x = e.cast(node.args[0], kind.dtype)
    axis = node.arg("axis")
    if axis is None:
        if x.rank > 1 and e.changing(node.args[0].type):
            raise Unsayable("a running sum of elements of which the number changes")
        x, axis = e.reshape(x, e.held(kind)), 0
    name = "add" if node.op == "cumsum" else "multiply"
    if kind.dtype == BOOL:
        name = "or" if node.op == "cumsum" else "and"
    start = 0 if node.op == "cumsum" else 1
    return [running(e, x, axis % max(x.rank, 1), name, start)]


def running(e: Emission, x: Val, axis: int, name: str, start: object) -> Val:
    """The reductions of the first 1, 2, 3, … elements along an axis."""
    size = x.shape[axis] if x.rank else 1
    if not isinstance(size, int):
        raise no_number("a running sum along an axis")
    if size <= 1:
        return x
    windows = [size if a == axis else 1 for a in range(x.rank)]
    before = [[size - 1, 0] if a == axis else [0, 0] for a in range(x.rank)]
    found = Val(x.dtype, x.shape)
    first = e.b.scalar(start, x.dtype)
    params = [Val(x.dtype, ()), Val(x.dtype, ())]
    region = e.b.region(params, lambda left, right: [e.b.same(name, left, right)])
    e.b.line(
        found, ' = "stablehlo.reduce_window"(', x, ", ", first,
        f") <{{window_dimensions = array<i64: {', '.join(map(str, windows))}>, padding = "
        f"dense<{before}> : tensor<{x.rank}x2xi64>}}> (", region,
        f") : ({x.type}, {first.type}) -> {found.type}",
    )  # fmt: skip
    return found


# ---------------------------------------------------------------- transforms


def fourier(e: Emission, node: Node) -> list[Val]:
    """Transforms of complex numbers, and of real ones to half of their spectrum."""
    kind, norm, n = node.output.type, node.arg("norm"), node.arg("n")
    name = node.arg("kind")
    operand = node.args[0].type
    axis = node.arg("axis") % operand.rank
    size, n = e.sizes.plain(operand.shape[axis]), n and e.sizes.plain(n)
    if name not in ("fft", "ifft", "rfft") or n not in (None, size) or not isinstance(size, int):
        raise Unsayable(f"{name} of another number of points, or of one that is no number")
    part = np.dtype(f"f{kind.dtype.itemsize // 2}")
    x = e.cast(node.args[0], part if name == "rfft" else kind.dtype)
    order = [*(a for a in range(x.rank) if a != axis), axis]
    x = e.transpose(x, order)
    shape = [*x.shape[:-1], size // 2 + 1 if name == "rfft" else size]
    rest = f"type = {name.upper()}, length = [{size}]"
    found = e.b.op("fft", [x], kind.dtype, shape, rest)
    exponent = {"ortho": 0.5, "forward": 1.0}.get(norm, 0.0)
    if name == "ifft" and norm is not None:  # StableHLO divides by the number of points
        exponent = {"ortho": -0.5, "forward": -1.0}.get(norm, 0.0)
    if exponent:
        found = e.b.same("multiply", found, e.like(found, float(size) ** -exponent))
    return [e.transpose(found, [order.index(a) for a in range(x.rank)])]


# ---------------------------------------------------------------- sorts


def sort(e: Emission, node: Node) -> list[Val]:
    """Ascending, nan at the end."""
    operand = node.args[0]
    x, axis = _in_line(e, node)
    if e.changing(operand.type):
        x = e.filled(x, operand.type, range(x.rank), _last(x.dtype))
    return [_sorted(e, [x], axis)[0]]


def argsort(e: Emission, node: Node) -> list[Val]:
    if node.arg("kind") not in ("stable", "mergesort"):
        raise Unsayable("the order of equal elements, which only kind='stable' tells")
    x, axis = _in_line(e, node)
    if e.changing(node.args[0].type):
        raise Unsayable("an order of elements of which the number changes")
    return [_sorted(e, [x, e.iota(x.shape, axis)], axis)[1]]


def _last(dtype: np.dtype) -> object:
    return np.nan if dtype.kind == "f" else _greatest(dtype)


def _in_line(e: Emission, node: Node) -> tuple[Val, int]:
    """The operand of a sort, and its axis."""
    x, axis = e.read(node.args[0]), node.arg("axis")
    if x.dtype in PART_DTYPES:
        raise Unsayable("an order of complex numbers")
    if axis is None:
        if e.changing(node.args[0].type):
            raise Unsayable("an order of elements of which the number changes")
        return e.reshape(x, e.held(node.output.type)), 0
    return x, axis % x.rank


def _sorted(e: Emission, xs: list[Val], axis: int) -> list[Val]:
    results = [Val(x.dtype, x.shape) for x in xs]
    params = [Val(x.dtype, ()) for x in xs for _ in range(2)]
    region = e.b.region(params, lambda left, right, *rest: [_comes_before(e, left, right)])
    e.b.line(
        *separated(results), ' = "stablehlo.sort"(', *separated(xs),
        f") <{{dimension = {axis} : i64, is_stable = true}}> (", region,
        f") : {signature_of(xs, results)}",
    )  # fmt: skip
    return results


def _comes_before(e: Emission, left: Val, right: Val) -> Val:
    less = e.b.compare("LT", left, right)
    if left.dtype.kind != "f":
        return less
    only = e.b.same("and", is_nan(e, right), e.b.same("not", is_nan(e, left)))
    return e.b.same("or", less, only)


EMITTERS = {
    **dict.fromkeys(_REDUCERS, reduction),
    "argmin": argument,
    "argmax": argument,
    "cumsum": scan,
    "cumprod": scan,
    "fourier": fourier,
    "sort": sort,
    "argsort": argsort,
}
