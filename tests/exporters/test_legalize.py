"""What a target lacks is named, all of it, before anything is written."""

import numpy as np
import pytest

import fxc
from fxc.exporters.legalize import legalize
from fxc.ir.errors import ExportError
from tests.exporters.corpus import EXAMPLES, exported


def program(x):
    y = np.sort(x)
    return np.mean(y), np.linalg.inv(np.outer(x, y))


def test_operators_without_a_composite_are_named_with_their_lines() -> None:
    graph = fxc.export(program, np.arange(3.0)).graph
    line = program.__code__.co_firstlineno + 1
    lacking = {"sort", "linalg_inv"}
    with pytest.raises(ExportError) as caught:
        legalize(graph, "toy", lambda op: None if op.name in lacking else op)
    text = caught.value.text
    assert text.startswith("program cannot be exported to toy:\n")
    assert f"sort (test_legalize.py:{line}): toy has no operator for it" in text
    assert f"linalg_inv (test_legalize.py:{line + 1}): toy has no operator for it" in text
    assert "mean" not in text


def test_composites_take_the_place_of_what_is_lacking() -> None:
    graph = fxc.export(program, np.arange(3.0)).graph
    legal = legalize(graph, "toy", lambda op: None if op.name == "mean" else op)
    assert "sum" in {node.op for node in legal.nodes}


def test_a_problem_of_a_node_is_named() -> None:
    graph = fxc.export(program, np.arange(3.0)).graph
    with pytest.raises(ExportError, match=r"sort \(.*\): no sorting today"):
        legalize(
            graph,
            "toy",
            lambda op: op,
            lambda node: "no sorting today" if node.op == "sort" else None,
        )


def test_all_examples_export() -> None:
    assert len(EXAMPLES) == 60
    mutating = 0
    for example in EXAMPLES:
        mutating += bool(exported(example).signature.mutations)
    assert mutating >= 8
