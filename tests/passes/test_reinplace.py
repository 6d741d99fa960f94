"""Which scatters may take over the memory of their base, and what lowering makes of that."""

from __future__ import annotations

from typing import Any

import numpy as np
from expecttest import assert_expected_inline

import fxc
from fxc.ir.graph import Graph, walk
from fxc.ir.parse import parse_graph
from fxc.ops.table import TABLE


def decomposed(fn: Any, *args: Any) -> Graph:
    graph = fxc.compile(fn, fullgraph=True).inspect(*args).decomposed
    assert isinstance(graph, Graph)
    return graph


def taken(graph: Graph) -> list[str]:
    return [f"{node.output} into {node.into}" for node in walk(graph.body) if node.into is not None]


def bump(x):
    x[1:3] += 1.0
    x[0] = 5.0


def test_a_chain_of_updates_of_an_input_stays_in_it():
    graph = decomposed(bump, np.zeros(4))
    text = "\n".join(line.split("  #")[0].rstrip() for line in str(graph).splitlines())
    assert_expected_inline(
        text,
        """\
decomposed bump(%x: f64[4])
  %0: f64[2] = slice_copy(%x, [1:3:1])
  %1: f64[2] = add(%0, 1.0)
  %2: f64[4] = slice_scatter(%x, %1, [1:3:1]) into %x
  %3: f64[] = broadcast_to_copy(5.0, ())
  %4: f64[4] = select_scatter(%2, %3, 0, 0) into %2
  return %4
  signature
    %x := result 0 in slice([1:3:1]) in select(0, 0)""",
    )
    assert str(parse_graph(str(graph), lambda name: TABLE[name].schema)) == str(graph)


def test_an_input_that_the_caller_sees_unchanged_is_not_taken():
    def updated(x):
        y = x.copy()
        y[0] = 1.0
        return y

    graph = decomposed(updated, np.zeros(4))
    assert all(node.into is not graph.inputs[0] for node in graph.nodes)


def test_a_base_that_is_read_later_is_not_taken():
    def both(x):
        old = x * 1.0
        new = old.copy()
        new[0] = 7.0
        return old, new

    x = np.arange(3.0)
    compiled = fxc.compile(both, fullgraph=True)
    old, new = compiled(x)
    assert old.tolist() == [0.0, 1.0, 2.0]
    assert new.tolist() == [7.0, 1.0, 2.0]


def test_updates_of_what_a_loop_carries_stay_in_it():
    def sweep(x):
        def body(k, y):
            y[1:] = y[:-1] + 1.0
            return y

        return fxc.fori_loop(0, 3, body, x)

    assert any("into" in line for line in taken(decomposed(sweep, np.zeros(5))))
