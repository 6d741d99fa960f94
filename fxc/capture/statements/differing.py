"""What a function returns that is one thing by a condition and another thing otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fxc.ir.graph import Operand

from ..session import refuse
from ..values.mixed import Mixed
from ..values.operands import Traced
from ..values.several import Several

# Note [Results that differ]
# ``return i, j`` in a loop and ``return None`` behind it: which of the two the caller gets is known
# when the call ends. The result of the outermost function may therefore be two things with a flag;
# the epilogue makes both and gives one. Nothing else may be done with them: the caller of a helper
# function needs to know what it got.


class Differing(Traced):
    """``left`` if ``flag`` holds, else ``right``; ``reason`` says why it can only be returned."""

    __slots__ = ("flag", "left", "reason", "right")

    def __init__(self, flag: Any, left: Any, right: Any, reason: str) -> None:
        self.flag = flag
        self.left = left
        self.right = right
        self.reason = reason

    def _operand(self) -> Operand:
        raise refuse(self.reason)


def parts_in(x: Any) -> Iterator[Any]:
    """What a result is made of: the items of tuples, both sides of what differs, and what a mixed
    number holds.
    """
    if type(x) is tuple:
        for item in x:
            yield from parts_in(item)
    elif type(x) is Differing:
        yield from parts_in((x.flag, x.left, x.right))
    elif type(x) is Mixed:
        yield from (x.given, x.flag, x.whole)
    elif type(x) is Several:
        yield from parts_in(x.options)
    else:
        yield x


def rebuilt(x: Any, parts: Iterator[Any]) -> Any:
    """The same with other parts, in the order of ``parts_in``."""
    if type(x) is tuple:
        return tuple([rebuilt(item, parts) for item in x])
    if type(x) is Differing:
        flag, left, right = rebuilt((x.flag, x.left, x.right), parts)
        return Differing(flag, left, right, x.reason)
    if type(x) is Mixed:
        return Mixed(next(parts), next(parts), next(parts))
    if type(x) is Several:
        return Several(rebuilt(x.options, parts))
    return next(parts)
