"""Views that move along in a loop, such as ``x = x[1:]``."""

from __future__ import annotations

from fxc.ir.bounds import decide
from fxc.ir.graph import SliceSpec, Value
from fxc.ir.records import frozen
from fxc.ir.size_functions import floordiv, substitute
from fxc.ir.symbols import Dim, symbols_of
from fxc.ir.types import ArrayType

from ..session.session import Session
from ..values.operands import kind_of

# Note [Sliding views]
# A variable that is, after an iteration, a window of what it was before, is no value that the loop
# carries. Where the window begins and ends moves by the same numbers each time, so that it follows
# from the number of iterations: the body takes a slice of the array outside, with bounds in the
# loop's counter, and so does the code behind the loop. For that a ``while`` becomes a loop with a
# counter: its test must compare a number that falls by a constant, such as ``len(x) > 1``.


@frozen
class Sliding:
    """By how much a window's begin moves, and its size shrinks, in an iteration: by axis."""

    moves: tuple[Dim, ...]
    shrinks: tuple[Dim, ...]

    def view(self, session: Session, base: Value, count: Dim) -> Value:
        """The window of ``base`` after so many iterations."""
        specs = tuple(
            SliceSpec(count * move, dim + count * (move - shrink), 1)
            for dim, move, shrink in zip(kind_of(base).shape, self.moves, self.shrinks, strict=True)
        )
        return session.value("slice", base, specs)

    def varies(self, counter: str) -> bool:
        """Whether the window moves otherwise in another iteration."""
        return any(counter in symbols_of(dim) for dim in (*self.moves, *self.shrinks))


def sliding(session: Session, before: Value, after: Value) -> Sliding | None:
    """How ``after`` is a window of ``before``, without steps; None if it is none."""
    kind = before.type
    assert isinstance(kind, ArrayType)
    moves: list[Dim] = [0] * kind.rank
    value = after
    while value is not before:
        call = session.made.get(value)
        if value not in session.aliases.bases or call is None or call.name != "slice":
            return None
        value, specs = call.args
        for axis, spec in enumerate(specs):
            if spec.step != 1:
                return None
            moves[axis] = moves[axis] + spec.start
    sizes = zip(kind.shape, kind_of(after).shape, strict=True)
    return Sliding(tuple(moves), tuple(size - rest for size, rest in sizes))


def trips(relation: tuple[Dim, str, Dim], counter: str) -> Dim | None:
    """The iterations of a ``while`` whose test has held once and then, after the iteration of that
    number, says this; None if that does not tell.
    """
    left, sign, right = relation
    if sign in ("<", "<="):
        left, sign, right = right, {"<": ">", "<=": ">="}[sign], left
    first = substitute(left - right, {counter: -1})
    step = first - substitute(left - right, {counter: 0})
    if counter in symbols_of(step) or not isinstance(step, int) or step < 1:
        return None
    match sign:
        case ">":
            return floordiv(first + (step - 1), step)
        case ">=":
            return floordiv(first, step) + 1
        case "!=" if step == 1 and decide(first, ">", 0):
            return first
        case _:
            return None
