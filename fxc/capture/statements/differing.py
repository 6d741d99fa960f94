"""What a function returns that is one thing by a condition and another thing otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fxc.ir.graph import Operand

from ..session import refuse
from ..staging.jumps import RESULT
from ..values.mixed import Mixed
from ..values.operands import Traced
from ..values.several import Several
from .forms import form_of, items_of, names_of

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


def parts_in(x: Any, name: str = RESULT) -> Iterator[Any]:
    """What a result is made of: the items of tuples and their like, both sides of what differs, and
    what a mixed number holds. ``name`` says where it stands.
    """
    form = form_of(x, name)
    if form is not None:
        for item, each in zip(names_of(name, form), items_of(x, form), strict=True):
            yield from parts_in(each, item)
    elif type(x) is Differing:
        for each in (x.flag, x.left, x.right):
            yield from parts_in(each, name)
    elif type(x) is Mixed:
        yield from (x.given, x.flag, x.whole)
    elif type(x) is Several:
        yield from parts_in(x.options, name)
    else:
        yield x


def rebuilt(x: Any, parts: Iterator[Any], name: str = RESULT) -> Any:
    """The same with other parts, in the order of ``parts_in``."""
    form = form_of(x, name)
    if form is not None:
        both = zip(names_of(name, form), items_of(x, form), strict=True)
        return form.of([rebuilt(each, parts, item) for item, each in both])
    if type(x) is Differing:
        flag, left, right = (rebuilt(each, parts, name) for each in (x.flag, x.left, x.right))
        return Differing(flag, left, right, x.reason)
    if type(x) is Mixed:
        return Mixed(next(parts), next(parts), next(parts))
    if type(x) is Several:
        return Several(rebuilt(x.options, parts, name))
    return next(parts)
