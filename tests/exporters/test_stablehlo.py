"""Programs as StableHLO, run in XLA: what the caller sees is NumPy's."""

import numpy as np
import pytest

import fxc
from fxc.ir.errors import ExportError
from tests.exporters.corpus import EXAMPLES, Example
from tests.exporters.in_xla import outcome

# Of the corpus those that the exporter refuses, with the operator that it names.
REFUSED = {
    "columns.book_risk": "call_cdf",
    "finance.greeks": "call_cdf",
    "particles.lbm_cavity": "call_roll",
    "physics.heat_implicit": "call_solve_banded",
    "walsh_hadamard_with_reshapes": "reshape_copy",
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_programs_are_equal_in_xla(example: Example) -> None:
    found = outcome(example)
    if example.name in REFUSED:
        assert found.startswith(f"{example.function.__name__} cannot be exported to StableHLO:\n  ")
        assert f"\n  {REFUSED[example.name]} (" in found
    else:
        assert found == "equal"


def test_most_programs_are_taken() -> None:
    assert len(EXAMPLES) - len(REFUSED) >= 54


def smooth(u, f):
    v = u[1:-1]
    new = 0.5 * (u[:-2] + u[2:]) - f
    v += new - v
    return u[0]


def test_the_text_of_a_short_program() -> None:
    line = smooth.__code__.co_firstlineno + 1
    text = fxc.export(smooth, np.zeros(6, np.float32), np.zeros(4, np.float32)).to_stablehlo()
    at = [f' loc("test_stablehlo.py":{line + number}:0)' for number in range(4)]
    assert text == EXPECTED.format(*at)


EXPECTED = """\
module @smooth attributes {{fxc.outputs = ["result 0"]}} {{
  func.func public @main(%u: tensor<6xf32> {{tf.aliasing_output = 1 : i32}}, %f: tensor<4xf32>) -> (tensor<f32>, tensor<6xf32> {{fxc.updates = "u"}}) {{
    %0 = stablehlo.slice %u [0:4] : (tensor<6xf32>) -> tensor<4xf32>{1}
    %1 = stablehlo.slice %u [2:6] : (tensor<6xf32>) -> tensor<4xf32>{1}
    %2 = stablehlo.add %0, %1 : tensor<4xf32>{1}
    %t.1 = stablehlo.constant dense<0.5> : tensor<4xf32>{1}
    %3 = stablehlo.multiply %t.1, %2 : tensor<4xf32>{1}
    %4 = stablehlo.subtract %3, %f : tensor<4xf32>{1}
    %5 = stablehlo.slice %u [1:5] : (tensor<6xf32>) -> tensor<4xf32>{2}
    %6 = stablehlo.subtract %4, %5 : tensor<4xf32>{2}
    %7 = stablehlo.add %5, %6 : tensor<4xf32>{2}
    %t.2 = stablehlo.constant dense<1> : tensor<i64>{2}
    %8 = stablehlo.dynamic_update_slice %u, %7, %t.2 : (tensor<6xf32>, tensor<4xf32>, tensor<i64>) -> tensor<6xf32>{2}
    %t.3 = stablehlo.slice %8 [0:1] : (tensor<6xf32>) -> tensor<1xf32>{3}
    %9 = stablehlo.reshape %t.3 : (tensor<1xf32>) -> tensor<f32>{3}
    return %9, %8 : tensor<f32>, tensor<6xf32>
  }}
}}
"""


def test_what_is_refused_is_named_with_its_line() -> None:
    def program(x):
        y = np.gcd(x, 6)
        return np.linalg.svdvals(x[None]), y

    line = program.__code__.co_firstlineno
    with pytest.raises(ExportError) as caught:
        fxc.export(program, np.arange(5)).to_stablehlo()
    assert str(caught.value).splitlines() == [
        "program cannot be exported to StableHLO:",
        f"  gcd (test_stablehlo.py:{line + 1}): StableHLO has no operator for it",
        f"  linalg_svdvals (test_stablehlo.py:{line + 2}): StableHLO has no operator for it",
    ]
