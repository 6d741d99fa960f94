"""Views that move along in a loop, such as ``x = x[1:]``, and those that it leaves behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fxc.ir.bounds import decide
from fxc.ir.graph import Literal, Operand, SliceSpec, Value
from fxc.ir.records import frozen
from fxc.ir.size_functions import floordiv, substitute
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, SymExpr, symbols_of
from fxc.ir.types import PY_INT, ArrayType, ScalarType

from ..arrays.counting import bound_size
from ..numbers.python_numbers import to_int
from ..numbers.traced_int import wrap_dim
from ..session.recorder import Call
from ..session.session import Session
from ..values.operands import kind_of, operand, variable_of, wrap

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


# ------------------------------------------------------------------ behind loops


# Note [Views behind loops]
# ``return x[:i]`` in a loop, or ``row = a[i]`` that is read behind it, is a part of an array from
# outside of the loop. No array is carried for it, but the numbers that say where the part lies:
# behind the loop it is made again, as a window (Note [Windows]) of the array itself. Of a part as
# long in each iteration, such as ``x[i : i + 3]``, that is the place where it begins.


@frozen
class CarriedView:
    """What a chain of slices and selections shows of an array."""

    root: Value
    calls: tuple[Call, ...]
    kinds: tuple[ScalarType, ...]  # of the numbers that differ between iterations

    def numbers(self, session: Session) -> list[Operand]:
        """The numbers that differ between iterations, recorded here."""
        return [
            operand(to_int(wrap(place)) if isinstance(place, Value) else wrap_dim(place))
            for place in _numbers(session, self.calls)
        ]

    def behind(self, session: Session, numbers: Sequence[Operand]) -> Any:
        """The view, where these are the numbers."""
        given = iter(numbers)
        found: Any = wrap(self.root)
        for call in self.calls:
            places: list[Any] = [
                wrap_dim(place)
                if isinstance(place, int | SymExpr) and not session.varies(place)
                else variable_of(next(given))
                for place in _places(session, call)
            ]
            if call.name == "slice":
                found = found[tuple(_slices(session, call, kind_of(found._value), places))]
            elif _varies(session, *_places(session, call)):
                (place,), axis = places, _axis(call)
                place = place + (place < 0) * found.shape[axis]
                found = found[(*[slice(None)] * axis, slice(place, place + 1))]
                found = wrap(session.record("select", found._value, axis, 0))
            else:
                found = wrap(session.record(call.name, found._value, *call.args[1:], **call.kwargs))
        return found


def carried_view(session: Session, value: Value) -> CarriedView | None:
    """How a view can be made again behind the loop that is being left; None if it cannot."""
    calls: list[Call] = []

    def is_root(x: Value) -> bool:
        return session.is_alive(x) and not any(session.aliases.dynamic_indices(x))

    while value in session.aliases.bases and not is_root(value):
        call = session.made[value]
        if call.name == "slice":
            if any(not isinstance(spec.step, int) or spec.step < 0 for spec in call.args[1]):
                return None
        elif call.name not in _SELECTIONS:
            others = (*call.args[1:], *call.kwargs.values())
            if call.name not in _TURNS or not all(map(_is_constant, others)):
                return None
        calls.insert(0, call)
        value = call.args[0]
    known = calls and is_root(value) and value not in session.alternatives
    if not known:
        return None
    kinds = (PY_INT,) * len(_numbers(session, calls))
    return CarriedView(value, tuple(calls), kinds)


_SELECTIONS = {"select": (1, 2), "dynamic_select": (2, 1)}  # where the axis and the index stand
_TURNS = ("transpose", "expand_dims", "squeeze")


def _axis(call: Call) -> int:
    axis: int = call.args[_SELECTIONS[call.name][0]]
    return axis


def _places(session: Session, call: Call) -> Iterator[Dim | Value]:
    """What says where a view lies."""
    if call.name == "slice":
        for spec in call.args[1]:
            assert isinstance(spec, SliceSpec)
            yield spec.start
            if not _is_moved(session, spec):
                yield spec.stop
    elif call.name in _SELECTIONS:
        yield call.args[_SELECTIONS[call.name][1]]


def _numbers(session: Session, calls: Sequence[Call]) -> list[Dim | Value]:
    """The places that differ between iterations."""
    places = (place for call in calls for place in _places(session, call))
    return [place for place in places if _varies(session, place)]


def _is_moved(session: Session, spec: SliceSpec) -> bool:
    """Whether a part is as long in each iteration, at another place."""
    return session.varies(spec.start) and not session.varies(spec.stop - spec.start)


def _slices(
    session: Session, call: Call, kind: ArrayType, places: Sequence[object]
) -> Iterator[slice]:
    """The parts of the axes that begin at ``places``, and end there unless they are moved."""
    given = iter(places)
    for spec, size in zip(call.args[1], kind.shape, strict=True):
        low = next(given)
        if not _is_moved(session, spec):
            yield slice(low, next(given), spec.step)
            continue
        span = spec.stop - spec.start
        if guard(size - span, ">=", 0):  # it was there; without an iteration nobody reads it
            last = session.size_operand(size - span)
            number = session.record("py_minimum", operand(low), last)
            number = session.record("py_maximum", number, Literal(0))
            low = wrap_dim(bound_size(number, size - span))
        yield slice(low, low + wrap_dim(span), spec.step)


def _varies(session: Session, *places: Dim | Value) -> bool:
    return any(isinstance(place, Value) or session.varies(place) for place in places)


def _is_constant(x: object) -> bool:
    return isinstance(x, int) or (isinstance(x, tuple) and all(isinstance(y, int) for y in x))
