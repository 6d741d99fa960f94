"""Exported models in onnxruntime: values, dtypes, shapes, updated inputs, aliases, the flag."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import fxc
from tests.exporters.corpus import EXAMPLES, Example
from tests.exporters.onnx_runs import compare, model_of, outcome

# What of the corpus ONNX has no operators for, and the words in which it is said.
REFUSED = {
    "columns.book_risk": "call_cdf",
    "finance.greeks": "call_cdf",
    "oceans.tidal_basis": "complex128",
    "particles.lbm_cavity": "call_roll",
    "physics.heat_implicit": "call_solve_banded",
    "mandelbrot_with_masks": "complex128",
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_programs_of_the_corpus(example: Example) -> None:
    found = outcome(example)
    if example.name not in REFUSED:
        assert found == "equal"
    else:
        assert REFUSED[example.name] in found
        assert "cannot be exported to ONNX" in found


def test_most_of_the_corpus_is_equal() -> None:
    assert len(EXAMPLES) - len(REFUSED) >= 54


def check(function: Any, *calls: tuple[Any, ...], dynamic: bool = False) -> None:
    """Export for the first arguments, and compare with NumPy for all."""
    program = fxc.export(function, *calls[0], dynamic=dynamic)
    model = model_of(program)
    for args in calls:

        def make(args: tuple[Any, ...] = args) -> tuple[Any, ...]:
            return tuple(np.copy(x) if isinstance(x, np.ndarray) else x for x in args)

        text = compare(program, model, function, make)
        assert not text, text


def step(u: Any, v: Any, dt: float) -> Any:
    v -= dt * u
    u[1:] += dt * v[:-1]
    return u[::2], v, (u + v).astype(np.float32)


def test_updated_inputs_are_outputs_that_say_what_they_are(tmp_path: Path) -> None:
    u, v = np.arange(6.0), np.ones(6)
    check(step, (u, v, 0.5), (-u, v, 2.25))
    fxc.export(step, u, v, 0.5).to_onnx(tmp_path / "step.onnx")
    model = onnx.load(tmp_path / "step.onnx")
    assert [each.name for each in model.graph.input] == ["u", "v", "dt"]
    assert [each.name for each in model.graph.output] == [
        "result_0",
        "v_after",
        "result_2",
        "u_after",
    ]


def test_metadata_say_what_results_are() -> None:
    model = model_of(fxc.export(step, np.arange(6.0), np.ones(6), 0.5))
    assert model.metadata["updates"] == [
        {"input": "u", "output": "u_after"},
        {"input": "v", "output": "v_after"},
    ]
    first, second, third = model.metadata["results"]
    assert (first["place"], first["output"], first["view_of"]) == ("result[0]", "result_0", "u")
    assert first["by"] == "slice([0:6:2])"
    assert (second["output"], second["is"]) == ("v_after", "v")
    assert third["output"] == "result_2"
    assert model.metadata["valid"] is None
