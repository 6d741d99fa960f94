"""Every operator that has words in StableHLO, on its samples: XLA against NumPy."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fxc.dispatch.default import default_dispatcher
from fxc.dispatch.trace import recording_into
from fxc.exporters.stablehlo import elementary
from fxc.exporters.stablehlo.module import has_words, stablehlo_module
from fxc.ir.builder import GraphBuilder
from fxc.ir.errors import ExportError
from fxc.ir.graph import Graph, Region, Value
from fxc.ir.records import frozen
from fxc.ir.signature import ResultLeaf, Signature
from fxc.ir.types import DTYPE_NAMES, array_type, scalar_type_of
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import CONTROL, Operator
from fxc.ops.samples import samples
from fxc.ops.table import TABLE
from tests.covering import some
from tests.exporters.in_xla import results_in
from tests.ops.test_differential import CODES, UFUNCS, corners
from tests.outcomes import agreement

AT_ONCE = 6  # samples in one module; each operator takes other ones
ULPS = 16  # of elementary functions, beside what NumPy errs
# Their results depend on the order in which XLA adds and multiplies; relative to the largest.
ROUNDED = {
    "sum", "prod", "cumsum", "cumprod", "matmul", "dot", "linalg_solve", "linalg_inv", "linalg_det",
    "linalg_cholesky", "index_reduce", "arange", "einsum", "fourier",
}  # fmt: skip
# NumPy's own err by more than an ulp: of small complex numbers it adds 1 first.
NUMPY_ERRS = {("log1p", "c"), ("expm1", "c")}


# Of two zeros either may be NumPy's result, or its order turned around by its vectors.
EITHER_ZERO = {"sort", "fmax", "fmin", "min", "max"}  # and of float16 maximum and minimum


@frozen
class Made:
    """Samples of an operator as one graph, its inputs, and what NumPy gives."""

    graph: Graph
    inputs: list[Any]
    expected: list[Any]


def made_of(op: Operator, chosen: Sequence[Sequence[Any]]) -> Made:
    builder = GraphBuilder()
    values: list[Value] = []
    inputs: list[Any] = []
    results: list[Any] = []
    expected: list[Any] = []

    def given(x: Any) -> Any:
        is_array = isinstance(x, np.ndarray)
        kind = array_type(x.dtype, x.shape, x.strides) if is_array else scalar_type_of(x)
        values.append(builder.value(kind, f"x{len(values)}"))
        inputs.append(x)
        return values[-1]

    for args in chosen:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = kernel_of(op.name)(*args)
        call = [
            x if param.kind != "Array" or x is None
            else tuple(map(given, x)) if param.is_list else given(x)
            for param, x in zip(op.schema.params, args, strict=True)
        ]  # fmt: skip
        with recording_into(builder):
            made = default_dispatcher().call(op.name, *call)
        results += made if isinstance(found, tuple) else [made]
        expected += found if isinstance(found, tuple) else [found]
    leaves = tuple(ResultLeaf(number, x.type) for number, x in enumerate(results))
    body = Region(tuple(values), builder.nodes, tuple(results))
    graph = Graph(op.name, "functional", body, signature=Signature((), leaves))
    return Made(graph, inputs, expected)


def is_known(x: Any) -> bool:
    if isinstance(x, tuple):
        return all(map(is_known, x))
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype in DTYPE_NAMES
    return not (type(x) is int and abs(x) >= 2**63)


def fits(op: Operator, args: Sequence[Any]) -> bool:
    """Whether the result is one that graphs hold: no int of more than 64 bits."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return is_known(kernel_of(op.name)(*args))


def is_taken(op: Operator, args: Sequence[Any], refusals: set[str]) -> bool:
    """Whether the exporter takes the sample; else why not is among ``refusals``."""
    try:
        made = made_of(op, [args])
        stablehlo_module(made.graph, {})
    except ExportError as refusal:
        refusals.add(refusal.text.split(": ", 1)[1])
        return False
    return True


def allowed(op: Operator, right: np.ndarray, is_complex: bool) -> Any:
    """By how much XLA's result may be another one than NumPy's."""
    if right.dtype.kind not in "fc":
        return 0.0
    eps = np.finfo(right.dtype).eps
    size = np.maximum(np.abs(right), np.finfo(right.dtype).tiny)
    if op.name in ROUNDED or (op.name, right.dtype.kind) in NUMPY_ERRS:
        return 256 * eps * size[np.isfinite(size)].max(initial=1.0)
    is_rounded = op.name in elementary.RULES or op.name.startswith("math_") or "power" in op.name
    return ULPS * eps * size if is_rounded or is_complex else 0.0


def difference(op: Operator, found: Any, expected: Any, is_complex: bool) -> str:
    left, right = np.asarray(found), np.asarray(expected)
    if type(found) is not type(expected) or left.dtype != right.dtype or left.shape != right.shape:
        return f"{type(found)} {left.dtype}{left.shape} instead of {type(expected)} {right.dtype}"
    same = agreement(left, right)
    bound = allowed(op, right, is_complex)
    with np.errstate(all="ignore"):
        if np.any(bound):
            same |= (left == right) | (np.abs(left - right) <= bound)
        same |= is_subnormal(right) & (left == 0)
        if op.name in EITHER_ZERO or right.dtype == np.float16:
            same |= left == right
    if same.all() or op.name == "empty":
        return ""
    at = np.argwhere(~same)[0]
    return f"{left[tuple(at)]} instead of {right[tuple(at)]} at {at}"


OPERATORS = [op.name for op in TABLE if has_words(op) and op.tag not in CONTROL]


@pytest.mark.parametrize("name", OPERATORS)
def test_samples_in_xla(name: str) -> None:
    op = TABLE[name]
    known = [args for args in (s.args for s in samples(op)) if is_known(args) and fits(op, args)]
    refusals: set[str] = set()
    turn = OPERATORS.index(name)
    chosen = [args for args in some(known, AT_ONCE, turn) if is_taken(op, args, refusals)]
    chosen = chosen or [args for args in known if is_taken(op, args, refusals)]
    assert chosen or not known, refusals
    compare(op, chosen)


def compare(op: Operator, chosen: Sequence[Sequence[Any]]) -> None:
    made = made_of(op, chosen)
    found = results_in(made.graph, stablehlo_module(made.graph, {}), made.inputs, plain=True)
    is_complex = any(np.iscomplexobj(x) for x in made.inputs)
    several = len(found) // len(chosen)
    texts = [
        f"{text}, of {chosen[number // several]}"
        for number, (left, right) in enumerate(zip(found, made.expected, strict=True))
        if (text := difference(op, left, right, is_complex))
    ]
    assert not texts, "\n".join(texts)


def is_subnormal(x: np.ndarray) -> np.ndarray:
    """XLA takes these numbers for zeros."""
    if x.dtype.kind != "f":
        return np.zeros(x.shape, bool)
    return (x != 0) & (np.abs(x) < np.finfo(x.dtype).tiny)


@pytest.mark.parametrize("name", [op.name for op in UFUNCS if has_words(op)])
def test_corner_values_in_xla(name: str) -> None:
    """Each value with each other one of its dtype."""
    op = TABLE[name]
    count = len(op.schema.params)
    cases = []
    for code in CODES:
        values = corners(code)
        values = values[np.isfinite(values) if code in "c8 c16" else ~is_subnormal(values)]
        args = [x.ravel() for x in np.meshgrid(*[values] * count)]
        with contextlib.suppress(TypeError, ValueError):
            fits(op, args)
            cases.append(args)
    refusals: set[str] = set()
    turn = OPERATORS.index(name)
    chosen = [args for args in some(cases, AT_ONCE, turn) if is_taken(op, args, refusals)]
    compare(op, chosen or [args for args in cases if is_taken(op, args, refusals)])
