"""Graphs built operator by operator, and their native code against NumPy's kernels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from fxc.dispatch.default import default_dispatcher
from fxc.dispatch.ops_handle import Ops
from fxc.dispatch.trace import recording_into
from fxc.ir.builder import GraphBuilder
from fxc.ir.errors import WouldRaise
from fxc.ir.evaluate import call
from fxc.ir.graph import Graph, Region, Value
from fxc.ir.signature import Mutation, ResultLeaf, Signature
from fxc.ir.symbols import Dim, symbol
from fxc.ir.types import Type, array_type, c_strides
from fxc.ops.kernels import kernel_of
from fxc.pipeline.stages import Native, native

OPS = Ops(default_dispatcher())

Build = Callable[..., dict[str, Value] | Value]


def functional(types: list[Type], body: Callable[..., Any]) -> Graph:
    """The functional graph of a function over operators."""
    builder = GraphBuilder()
    inputs = tuple(builder.value(kind, f"x{place}") for place, kind in enumerate(types))
    with recording_into(builder):
        results = body(OPS, *inputs)
    results = results if isinstance(results, tuple) else (results,)
    return Graph("f", "functional", builder.finish(inputs, results))


def graph_of(build: Build, arrays: Sequence[np.ndarray], *, dynamic: bool = False) -> Graph:
    """The functional graph of ``build(x, y, …)``.

    It gives one result, or new contents of inputs by name, with ``result`` for the result.
    """
    builder = GraphBuilder()
    values = []
    for name, array in zip("xyzuvw", arrays, strict=False):
        shape: tuple[Dim, ...] = array.shape
        if dynamic:
            shape = tuple(
                symbol(f"{name}.{axis}", hint=dim, lower=2) if dim > 1 else dim
                for axis, dim in enumerate(shape)
            )
        strides = c_strides(shape, array.itemsize) if dynamic else array.strides
        values.append(builder.value(array_type(array.dtype, shape, strides), name))
    with recording_into(builder):
        made = build(*values)
    results = made if isinstance(made, dict) else {"result": made}
    names = [value.name for value in values]
    mutations, outputs = [], []
    for place, (name, value) in enumerate(results.items()):
        if name in names:
            mutations.append(Mutation(names.index(name), place))
        else:
            outputs.append(ResultLeaf(place, value.type))
    body = Region(tuple(values), builder.nodes, tuple(results.values()))
    return Graph("f", "functional", body, (), Signature(tuple(mutations), tuple(outputs)))


def same_layout(array: np.ndarray) -> np.ndarray:
    """A copy with the same strides."""
    base = array
    while base.base is not None:
        base = base.base  # type: ignore[assignment]
    start = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    copy = base.copy(order="K")
    return np.ndarray(array.shape, array.dtype, copy, start, array.strides)


def check_native(
    build: Build, *arrays: np.ndarray, dynamic: bool = False, boxed: Sequence[str] = ()
) -> Native:
    """Native code against NumPy's kernels: results, and the inputs afterwards."""
    graph = graph_of(build, arrays, dynamic=dynamic)
    made = native(graph)
    assert made.assembled.fallbacks == tuple(boxed)
    ours, theirs = list(map(same_layout, arrays)), list(map(same_layout, arrays))
    found = made.assembled.plan.run(*ours)
    wanted = call(graph, theirs, kernel_of)
    for a, b in zip((*found, *ours), (*wanted, *theirs), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    return made


def check_raises(
    build: Build,
    *arrays: np.ndarray,
    error: type[Exception] = IndexError,
    match: str = "is out of bounds",
) -> None:
    """NumPy raises, native code says that it would, and no input has changed."""
    graph = graph_of(build, arrays)
    made = native(graph)
    with pytest.raises(error, match=match):
        call(graph, list(map(same_layout, arrays)), kernel_of)
    ours = list(map(same_layout, arrays))
    with pytest.raises((WouldRaise, error)):
        made.assembled.plan.run(*ours)
    for a, b in zip(ours, arrays, strict=True):
        np.testing.assert_array_equal(a, b)


def loops(build: Build, *arrays: np.ndarray, dynamic: bool = False) -> str:
    program = native(graph_of(build, arrays, dynamic=dynamic)).assembled.module.program
    return re.sub(r"( +#.*)|(?<=copy: )\S+\.py:\d+ ", "", str(program))


def filled(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """An array of numbers from 0 to 20, the same ones in each run."""
    rng = np.random.default_rng(seed)
    return (rng.random(shape) * 20).astype(dtype) if dtype != "?" else rng.random(shape) > 0.5
