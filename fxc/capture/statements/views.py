"""Views that move along in a loop, such as ``x = x[1:]``, and those that it leaves behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    moves = _offsets(session, before, after)
    if moves is None:
        return None
    sizes = zip(kind_of(before).shape, kind_of(after).shape, strict=True)
    return Sliding(tuple(moves), tuple(size - rest for size, rest in sizes))


def _offsets(session: Session, base: Value, window: Value) -> list[Dim] | None:
    """Where a window of an array begins along each axis; None if it is none, or has steps."""
    found: list[Dim] = [0] * kind_of(base).rank
    while window is not base:
        call = session.made.get(window)
        if window not in session.aliases.bases or call is None or call.name != "slice":
            return None
        window, specs = call.args
        for axis, spec in enumerate(specs):
            if spec.step != 1:
                return None
            found[axis] = found[axis] + spec.start
    return found


# Note [Windows that loops carry]
# Where the number of iterations does not say where such a window lies (``while x[-1] == 0: x =
# x[:-1]``), the loop carries its bounds, and the body and the code behind the loop take it of the
# array outside. So does a branch in a loop that leaves one window or another. It may be that array
# itself, the same object, as before the first iteration: ``Aliases.wholes``.


@frozen(eq=False)
class CarriedWindow:
    """A window of an array outside of the loop or branch, cut along these axes."""

    base: Value
    axes: tuple[int, ...]

    @property
    def kinds(self) -> tuple[ScalarType, ...]:
        """The types of what is carried: along each axis the bounds."""
        return (PY_INT,) * (2 * len(self.axes))

    def parts(self, session: Session, window: Value) -> list[Operand]:
        """The bounds of such a window, recorded here."""
        lows, sizes = _offsets(session, self.base, window), kind_of(window).shape
        assert lows is not None
        bounds = ((lows[axis], lows[axis] + sizes[axis]) for axis in self.axes)
        return [operand(wrap_dim(each)) for pair in bounds for each in pair]

    def view(self, session: Session, parts: Sequence[Operand]) -> Value:
        """The window between these bounds."""
        bounds = iter(map(variable_of, parts))
        key = [slice(None)] * kind_of(self.base).rank
        for axis in self.axes:
            key[axis] = slice(next(bounds), next(bounds))
        found: Value = wrap(self.base)[tuple(key)]._value
        session.aliases.wholes[found] = self.base
        return found

    def behind(self, session: Session, parts: Sequence[Operand]) -> Any:
        """The same as a variable."""
        return wrap(self.view(session, parts))

    inside = behind


def carried_window(
    session: Session, base: Value, after: Value, known: CarriedWindow | None
) -> CarriedWindow | None:
    """How to carry a variable that is ``base`` before a loop and ``after`` behind an iteration, a
    window of it; None if it is none. ``known`` is how it has been carried.
    """
    axes = _axes(session, base, after)
    if axes is None or after is base:
        return None
    if known is not None and axes <= set(known.axes):
        return known
    return CarriedWindow(base, tuple(sorted(axes.union(known.axes if known else ()))))


def joint_window(session: Session, left: Value, right: Value) -> CarriedWindow | None:
    """What two windows of one array are that two arms leave; None if they are none."""
    bases = [each for each in _wider(session, right) if session.is_alive(each)]
    base = next((each for each in _wider(session, left) if each in bases), None)
    if base is None or left is right:
        return None
    axes = [_axes(session, base, each) for each in (left, right)]
    found = frozenset[int]().union(*(each for each in axes if each is not None))
    return None if None in axes else CarriedWindow(base, tuple(sorted(found)))


def _axes(session: Session, base: Value, window: Value) -> set[int] | None:
    """The axes along which a window is not the whole array; None if it is none."""
    lows = _offsets(session, base, window)
    if lows is None:
        return None
    sizes = zip(lows, kind_of(base).shape, kind_of(window).shape, strict=True)
    return {axis for axis, (low, old, new) in enumerate(sizes) if (low, old) != (0, new)}


def _wider(session: Session, window: Value) -> Iterator[Value]:
    """An array, and what it is a window of."""
    yield window
    while window in session.aliases.bases and window in session.made:
        call = session.made[window]
        if call.name != "slice":
            return
        window = call.args[0]
        yield window


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
# What an iteration reads of the one before (``last = a[i]`` at its end) is carried likewise: the
# numbers are parameters of the body, which makes the part again at its start. The first iteration
# is run before the loop unless the variable is such a part before, too.


@frozen
class CarriedView:
    """What a chain of slices and selections shows of an array."""

    root: Value
    calls: tuple[Call, ...]
    kinds: tuple[ScalarType, ...]  # of the numbers that differ between iterations

    def numbers(self, session: Session) -> list[Operand]:
        """The numbers that differ between iterations, recorded here."""
        return _recorded(_numbers(session, self.calls))

    def numbers_of(self, session: Session, value: Value) -> list[Operand] | None:
        """The numbers of another part, which the same steps show, recorded here; else None."""
        places = self._places_of(session, value)
        return None if places is None else _recorded(places)

    def shows(self, session: Session, value: Value) -> bool:
        """Whether the same steps, at other places, show this part of the array."""
        return self._places_of(session, value) is not None

    def _places_of(self, session: Session, value: Value) -> list[Dim | Value] | None:
        steps: list[Call] = []
        for _ in self.calls:
            if value not in session.aliases.bases or value not in session.made:
                return None
            steps.insert(0, _step_of(session, value))
            value = steps[0].args[0]
        if value is not self.root:
            return None
        found: list[Dim | Value] = []
        for call, other in zip(self.calls, steps, strict=True):
            if not _is_alike(session, call, other):
                return None
            pairs = zip(_places(session, call), _places_like(session, call, other), strict=True)
            for place, its in pairs:
                if _varies(session, place):
                    found.append(its)
                elif place != its:
                    return None
        return found

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

    inside = behind


def carried_view(session: Session, value: Value) -> CarriedView | None:
    """How a view can be made again behind the loop that is being left; None if it cannot."""
    calls: list[Call] = []
    if value in session.aliases.wholes:
        return None

    def is_root(x: Value) -> bool:
        return session.is_alive(x) and not any(session.aliases.dynamic_indices(x))

    while value in session.aliases.bases and not is_root(value):
        call = _step_of(session, value)
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


def _step_of(session: Session, view: Value) -> Call:
    """What makes a view; a row of some rows of an array (``x[1:][i]``) is one of the array."""
    call = session.made[view]
    while call.name == "select" and not isinstance(call.args[2], Value):
        rows, axis, place = call.args
        outer = session.made.get(rows)
        if rows not in session.aliases.bases or outer is None or outer.name != "slice":
            break
        base, specs = outer.args
        sizes = zip(specs, kind_of(base).shape, strict=True)
        if any(k != axis and each != SliceSpec(0, n, 1) for k, (each, n) in enumerate(sizes)):
            break
        spec = specs[axis]
        call = Call(call.at, "select", (base, axis, spec.start + spec.step * place), {})
    return call


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


def _is_alike(session: Session, call: Call, other: Call) -> bool:
    """Whether a step shows a part like another one does, perhaps at another place."""
    if call.name in _SELECTIONS and other.name in _SELECTIONS:
        return _axis(call) == _axis(other)
    if call.name != other.name:
        return False
    if call.name != "slice":
        return (call.args[1:], call.kwargs) == (other.args[1:], other.kwargs)
    return all(
        spec.step == its.step
        and (not _is_moved(session, spec) or spec.stop - spec.start == its.stop - its.start)
        for spec, its in zip(call.args[1], other.args[1], strict=True)
    )


def _places_like(session: Session, call: Call, other: Call) -> Iterator[Dim | Value]:
    """What says of a step where it is, as ``_places`` says it of one that is alike."""
    if call.name != "slice":
        yield from _places(session, other)
        return
    for spec, its in zip(call.args[1], other.args[1], strict=True):
        yield its.start
        if not _is_moved(session, spec):
            yield its.stop


def _recorded(places: Iterable[Dim | Value]) -> list[Operand]:
    return [
        operand(to_int(wrap(place)) if isinstance(place, Value) else wrap_dim(place))
        for place in places
    ]


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
