"""Assignments to the variables that loops and branches have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fxc.ir.graph import Literal, Node, Operand, Value
from fxc.ir.types import ScalarType

from .code import TERNARY, Code
from .lines import INDENT, WIDTH
from .operators import is_array
from .writer import Writer


def assign_all(body: Writer, pairs: Sequence[tuple[str, Operand]], node: Node) -> None:
    """Assign operands to variables, all at the same time as it seems."""
    left = [(name, operand) for name, operand in pairs if text_of(body, operand) != name]
    while left:
        ready = next(
            (
                pair
                for pair in left
                if not any(
                    pair[0] in _names_in(body, other) for _, other in left if other is not pair[1]
                )
            ),
            None,
        )
        if ready is None:
            break
        left.remove(ready)
        _assign(body, ready[0], ready[1], node)
    if left:
        codes = [value_code(body, operand) for _, operand in left]
        names = ", ".join(name for name, _ in left)
        text = ", ".join(code.within(TERNARY) for code in codes)
        body.statement(f"{names} = ", Code(text), node.loc)
        body.consume(operand for _, operand in left)


def _assign(body: Writer, name: str, operand: Operand, node: Node) -> None:
    found = body.uses.resolve(operand)
    parts = body.sums.get(found)
    if parts is not None and parts[0].text == name and not is_array(found):
        body.statement(f"{name} {parts[1]} ", parts[2], body.uses.makers[found].loc)
    else:
        maker = body.uses.makers.get(found)
        loc = maker.loc if maker is not None and found in body.pending else node.loc
        room = WIDTH - len(INDENT) * body.level - len(name) - 3
        code = body.fitted(lambda: value_code(body, operand), [operand], room)
        assert code is not None
        body.statement(f"{name} = ", code, loc)
    body.consume([operand])


def value_code(body: Writer, operand: Operand) -> Code:
    """An operand as the value of a variable; True and False where only the truth matters."""
    found = body.uses.resolve(operand)
    if isinstance(found, Literal) and body.is_truth(operand):
        return Code(repr(bool(found.value)))
    return body.operand(operand)


def text_of(body: Writer, operand: Operand) -> str:
    return value_code(body, operand).text


def _names_in(body: Writer, operand: Operand) -> set[str]:
    return set(re.findall(r"[^\W\d]\w*", value_code(body, operand).text))


def spare_variable(body: Writer, operand: Operand, node: Node) -> str | None:
    """The variable of an operand that nobody but this node reads: it may get another value."""
    found = body.uses.resolve(operand)
    if not body.is_variable(found) or not isinstance(found, Value):
        return None
    name = body.code_of[found].text
    if any(user is not node for user, _ in body.uses.uses[found]):
        return None
    if name in body.input_names:
        return None
    if isinstance(found.type, ScalarType) and body.symbol_is_read(name, node):
        return None
    holder = body.held[name]
    if body.uses.is_repeated(node, found) or body.uses.is_repeated(node, holder):
        return None
    if any(user is not node and user not in body.done for user, _ in body.uses.uses[holder]):
        return None
    return name
