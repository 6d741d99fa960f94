"""Loops that end after few iterations, whatever numbers they begin with.

``n //= 10`` until it is 0, ``n &= n - 1``, ``a, b = b, a % b``: a number has 64 bits.
"""

from __future__ import annotations

from fxc.ir.graph import Literal, Node, Operand, Region, Value, walk
from fxc.ops.operators import Tag
from fxc.ops.python_numbers import AS_TRUE, stem
from fxc.ops.table import TABLE


def is_brief(node: Node) -> bool:
    """Whether ``while_loop`` ends after about a hundred iterations."""
    test: Region = node.arg("test")
    body: Region = node.arg("body")
    (holds,) = test.results
    loops = any(TABLE[each.op].tag is Tag.LOOP for each in walk(body))
    if test.nodes or holds not in test.params or loops:
        return False
    makers = {value: each for each in body.nodes for value in each.outputs}
    going: Operand = body.results[test.params.index(holds)]
    while isinstance(going, Value) and going in makers and makers[going].op in AS_TRUE:
        going = makers[going].args[0]
    if not isinstance(going, Value):
        return False
    number: Operand = going
    only_positive = False
    if going in makers and stem(makers[going].op) in ("greater", "not_equal"):
        number, other = makers[going].args
        only_positive = stem(makers[going].op) == "greater"
        if not (isinstance(other, Literal) and other.value == 0):
            return False
    if number not in body.results or not isinstance(number, Value) or number not in makers:
        return False
    before = body.params[body.results.index(number)]
    return _shrinks(makers[number], before, only_positive, body, makers)


def _shrinks(
    made: Node, before: Value, only_positive: bool, body: Region, makers: dict[Value, Node]
) -> bool:
    """Whether a number that comes from ``before`` has fewer bits, while it is not 0."""
    match stem(made.op), *made.args:
        case ("natural_quotient" | "floor_divide") as name, x, Literal(int() as by):
            return x == before and by >= 2 and (only_positive or name == "natural_quotient")
        case "right_shift", x, Literal(int() as by):
            return x == before and by >= 1 and only_positive
        case (("and" | "bitwise_and"), x, y):
            return any(a == before and _is_less(b, before, makers) for a, b in ((x, y), (y, x)))
        case (("remainder" | "natural_remainder"), x, y):
            return y == before and any(
                x == param and result == before
                for param, result in zip(body.params, body.results, strict=True)
            )
    return False


def _is_less(x: Operand, before: Value, makers: dict[Value, Node]) -> bool:
    """Whether ``x`` is ``before - 1``."""
    made = makers.get(x) if isinstance(x, Value) else None
    if made is None or stem(made.op) != "subtract" or made.args[0] != before:
        return False
    return isinstance(made.args[1], Literal) and made.args[1].value == 1
