"""What is said of operators, and the code that is written for them, are of the same operators."""

from __future__ import annotations

from fxc.lowering.emission.operator_code import SCALAR_CODE
from fxc.lowering.operators.python_rules import SCALAR_RULES


def test_each_operator_with_a_rule_has_code() -> None:
    assert SCALAR_RULES.keys() == SCALAR_CODE.keys()
