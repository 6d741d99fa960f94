"""What ``for`` and ``while`` in staged code have in common: a body that is captured once.

See Note [Structured statements].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.symbols import Dim
from fxc.ir.types import PY_INT

from ..session import MOST_UNROLLED, Session, refuse
from ..staging.jumps import RESULT
from ..values.alternatives import Alternative, options_of
from ..values.given import give, refuse_kept
from ..values.operands import Traced, kind_of, wrap
from ..values.several import SeveralKinds, arrays_of
from .arms import Either, Kinds, paired, record_cond
from .carried_views import CarriedView, carried_view
from .cells import Cells
from .held import Held, held
from .identities import is_private, rotation, sharing, staying
from .resizing import Resized, resized
from .sliding import Sliding, sliding
from .spread import Spread
from .structured import (
    UNBOUND,
    Recording,
    Statement,
    array_of,
    described,
    flag_of,
    is_constant,
    is_number,
    is_same,
    joint_kinds,
    kind_text,
    of_parts,
    parts_of,
    placeholder,
    values_of,
)

_MOST_PASSES = 8


# An iteration that is captured under a condition: the condition, the variables before it, and
# where it is recorded.
Round = tuple[Operand, list[Any], Recording]


def bound(door: Any, name: str, flag: Any, read: Callable[[], Any]) -> Any:
    """A variable that may be without a value. See Note [Variables without a value]."""
    session: Session = door.session
    try:
        value = read()
    except NameError:
        loop = next((x for x in reversed(session.statements) if isinstance(x, CapturedLoop)), None)
        if loop is not None:
            loop.reads_unbound()
        raise
    if isinstance(flag, Traced):
        session.record("try_demand", flag_of(flag))
    elif not flag:
        raise UnboundLocalError(
            f"cannot access local variable {name!r} where it is not associated with a value"
        )
    return value


class CapturedLoop(Statement):
    """What ``for`` and ``while`` have in common: the variables of a body that is captured once.

    Numbers that the body assigns are parameters of its region. Arrays are taken for what they are
    outside: written in place, they stay the same. Where one turns out to be another array after the
    body, it becomes a parameter, too, and the body is captured again. Where a variable is another
    kind of thing after the first iteration, that one is run before the loop.
    """

    def __init__(
        self,
        door: Any,
        line: str,
        names: tuple[str, ...],
        at_head: tuple[str, ...],
        behind: tuple[str, ...],
        sure: tuple[str, ...],
        by_turns: tuple[str, ...],
        stop: str | None,
        rebound: Any,
        env: Mapping[str, Any],
    ) -> None:
        self.cells = Cells(door, rebound)
        added, env = self.cells.names, self.cells.among(env)
        self._spread = Spread((*names, *added))
        super().__init__(door, line, (*names, *added), sure, env)
        self._at_head = frozenset((*at_head, *added))
        self._behind = frozenset((*behind, *added))
        self._stop = stop
        self._label = f"loop {line}"
        self._held: dict[str, Held] = {}  # of the arrays that the loop carries
        self._pairs: set[tuple[str, str]] = set()  # which may hold one array of an iteration
        self._met: set[tuple[str, str]] = set()  # those of this pass
        self._at_first: dict[str, Value] = {}  # see _taken_over
        self._stays: dict[str, set[str]] = {}  # likewise, see _staying
        self._sliding: dict[str, Sliding] = {}
        self._resized: dict[str, Resized] = {}
        self._views: dict[str, CarriedView] = {}
        self._gifts: dict[str, Any] = {}  # lists that have taken over what is carried
        self._known_gifts = frozenset[str]()  # at the begin of this pass
        self._given: dict[str, Value] = {}  # what a copy in another layout is carried for
        self._round = frozenset[str]()  # names that arrays change, to be back after some rounds
        self._region: Recording | None = None
        self._params: dict[str, list[Value]] = {}
        self._mixed: dict[str, tuple[Any, ...]] = {}  # types of numbers that become mixed
        self._kinds: dict[str, tuple[Any, ...]] = {}  # types of what the loop carries
        self._seen: list[Any] = []  # the variables at the begin of the body
        self._start: list[Any] = []
        self._passes = 0
        self._began = self.session.now
        self._operations = self.session.operations  # of the program before
        self._env = env
        self._has_new_tuples = False
        self._unbound = False
        self._by_turns = by_turns  # have a value behind the loop only if there is an iteration

    def of(self, env: Mapping[str, Any]) -> list[Any]:
        return self._spread.open(values_of(self._spread.outer, env))

    def hands_on(self, name: str) -> bool:
        return name in self._at_head or name in self._behind

    def takes_gift(self, name: str, x: Any) -> bool:
        value, given = array_of(x), self.session.aliases.given
        if value is None or value not in given or name not in self.names:
            return False
        self._gifts[name] = given[value]
        return True

    @property
    def state(self) -> list[Any]:
        return self._handed(self.values)

    def _handed(self, values: Sequence[Any]) -> list[Any]:
        """The variables of the function; places are assigned."""
        return self.cells.hand_on(self._spread.close(values))

    def _read_again(self, values: Sequence[Any]) -> list[Any]:
        """The variables behind a test, which may have assigned places."""
        return self._spread.open(self.cells.read_again(self._spread.close(values)))

    def _spread_tuples(self, env: Mapping[str, Any]) -> None:
        """Make variables of the items of tuples, if some are new."""
        spread = self._spread
        lists = [spread.close(x) if x else [] for x in (self.values, self._seen, self._start)]
        self._has_new_tuples = spread.learn(lists[0], values_of(spread.outer, env))
        if self._has_new_tuples:
            self.names = spread.names
            self._at_head = frozenset(spread.within(self._at_head))
            self._behind = frozenset(spread.within(self._behind))
            self.values, self._seen, self._start = (spread.open(x) if x else [] for x in lists)

    @property
    def runs(self) -> bool:
        """Whether there is an iteration for sure."""
        raise NotImplementedError

    def ran(self) -> Operand | None:
        """Whether there was an iteration, as NumPy's bool; None if that is not known."""
        raise NotImplementedError

    @property
    def tells_first(self) -> bool:
        """Whether ``is_first`` can be said."""
        return False

    def is_first(self) -> Operand:
        """Whether the iteration that is recorded is the first, as NumPy's bool."""
        raise NotImplementedError

    @property
    def elapsed(self) -> Dim | None:
        """The iterations before the one that is recorded; None if they are not counted."""
        raise NotImplementedError

    @property
    def iterations(self) -> Dim | None:
        """How many there are, if that is known before the loop."""
        return None

    @property
    def by_python(self) -> bool:
        """Whether an attempt to capture the loop has failed."""
        return self._label in self.session.static

    def _check_unrolled(self) -> None:
        """Refuse a loop that Python runs instead, if its iterations come to too much."""
        if self.by_python and self.session.operations - self._operations > MOST_UNROLLED:
            raise refuse(
                f"a loop that cannot be captured as a whole, and unrolled has more than "
                f"{MOST_UNROLLED} operations, is not captured; use fxc.fori_loop"
            )

    @property
    def recording(self) -> Recording | None:
        return self._region if self._region is not None and self._region.is_open else None

    @property
    def wants_first(self) -> bool:
        """Whether the first iteration is to be run before the loop."""
        return f"{self._label} first" in self.session.static

    @property
    def first_apart(self) -> frozenset[str]:
        """The request to do so, where it may help: numbers are mixed, or arrays carried."""
        found = self._mixed or self._held or self._resized or self._unbound
        helps = found and not self.wants_first
        return frozenset((f"{self._label} first",)) if helps else frozenset()

    def _retry_from_second(self) -> None:
        """If the program cannot be captured: run the first iteration before the loop. Behind it the
        variables are no more what they are before the loop, and nobody can return the one as the
        other.
        """
        if self.runs:
            self.session.retries |= self.first_apart

    def _begin(self, region: Recording) -> None:
        """Make parameters; the region is entered."""
        self._passes += 1
        if self._passes > _MOST_PASSES:
            raise refuse("the variables of this loop change their types again and again")
        self._region = region
        self._params, self._kinds = {}, {}
        self._known_gifts = frozenset(self._gifts)
        self._seen = self._start = list(self.values)
        if not self.runs:  # without an iteration the variables are what they are before it
            bound = (
                name for name, x in zip(self.names, self.values, strict=True) if x is not UNBOUND
            )
            self._at_head |= self._behind.intersection(bound)
        for place, name in enumerate(self.names):
            start = self.values[place]
            if name in self._sliding:
                elapsed, base = self.elapsed, array_of(start)
                assert elapsed is not None
                assert base is not None
                self._seen[place] = wrap(self._sliding[name].view(self.session, base, elapsed))
                continue
            before = array_of(start)
            if name in self._resized and before is not None:
                self._begin_resized(region, place, name, before)
                continue
            if name not in self._at_head or not (
                is_number(start) or name in self._held or name in self._mixed
            ):
                continue
            if before is not None:
                self._held[name] = self._held[name].begun_with(self.session, before)
                kinds: Any = self._held[name].kinds
            else:
                kinds = self._mixed.get(name) or joint_kinds(start, start)
            assert kinds is not None
            self._kinds[name] = kinds
            others = [None] * (len(kinds) - 1)
            params = region.params(kinds, [*others, name] if before else [name, *others])
            self._params[name] = params
            if name in self._gifts:
                give(self.session, self._gifts[name], params[-1])
            self._seen[place] = self._variable(name, params)
            if before is None:
                self._follow(name, self._seen[place], start)
            given = self._given.get(name, before)
            if given is not None and self._is_pure(name) and not self._is_ours(name, given):
                self.session.aliases.may_be_one(params[0], given)
        for one, other in self._pairs:
            if one in self._params and other in self._params:
                self.session.aliases.may_be_one(self._params[one][-1], self._params[other][-1])

    def _begin_resized(self, region: Recording, place: int, name: str, start: Value) -> None:
        """Make the parameters of an array that changes its shape."""
        change = self._resized[name]
        if name in self._gifts:
            raise refuse_kept()
        self._kinds[name] = change.kinds
        params = region.params(change.kinds, [*[None] * (len(change.kinds) - 1), name])
        self._params[name] = params
        self._seen[place] = wrap(change.inside(self.session, params))
        if not self._is_ours(name, start):
            self.session.aliases.may_be_one(params[-1], start)

    def _behind_resized(self, name: str, outputs: Sequence[Value]) -> Value:
        """The array that changes its shape, behind the loop."""
        change, start = self._resized[name], array_of(self.values[self.names.index(name)])
        found = change.behind(self.session, outputs)
        if start is not None and not (self.runs and change.is_new):
            self.session.aliases.may_be_one(found, start)
        for other in self._stays.get(name, ()):
            before = array_of(self.values[self.names.index(other)])
            if before is not None:
                self.session.aliases.may_be_one(found, before)
        return found

    def _is_pure(self, name: str) -> bool:
        """Whether a variable is carried as an array alone."""
        return name in self._held and not self._held[name].options

    def _variable(self, name: str, parts: Sequence[Operand]) -> Any:
        """The variable that is carried in these parts."""
        if name in self._held:
            return self._held[name].variable(self.session, parts)
        return of_parts(parts, self._kinds[name])

    def _is_ours(self, name: str, value: Value) -> bool:
        """Whether an array was made by an iteration before, and nobody else has it."""
        others = (x for each, x in self._env.items() if each != name)
        return is_private(self.session, value, self._began, others)

    def _follow(self, name: str, now: Any, start: Any) -> None:
        """Note that what is None or an array may be the array that it began with."""
        for one, other in product(arrays_of(now), arrays_of(start)):
            if not self._is_ours(name, other):
                self.session.aliases.may_be_one(one, other)

    def _forget(self, after: list[Any]) -> None:
        """The parameters are gone: their memory is nobody's."""
        region, now = self._region, dict(zip(self.names, after, strict=True))
        assert region is not None
        used = self._at_head | self._behind
        handed_on = {name: x for name, x in now.items() if name in used}
        self._met = sharing(self.session, region.number, handed_on)
        carried = {name: x[-1] for name, x in self._params.items() if self._is_pure(name)}
        resized = {name: x for name, x in self._params.items() if name in self._resized}
        self._stays = staying(self.session, now, carried, resized)
        for params in self._params.values():
            self.session.aliases.no_longer_one(params[-1])

    def _kinds_differ(self, unstable: list[str], after: list[Any]) -> Exception:
        place = self.names.index(unstable[0])
        where = "before the loop, after an iteration"
        return self.differs(unstable[0], self._seen[place], after[place], where)

    def _changed(self, after: list[Any]) -> bool:
        """Whether the body has to be captured again: an array is another one afterwards."""
        assert self._region is not None
        if self._has_new_tuples:
            return True
        before = dict(self._held), set(self._pairs), set(self._sliding), dict(self._resized)
        again = False
        both = zip(self.names, list(self.values), self._seen, after, strict=True)
        for place, (name, start, seen, x) in enumerate(both):
            value, first = array_of(x), array_of(start)
            if start is UNBOUND and is_constant(x) and self._is_read_if_set(name):
                self.values[place] = x
                again = True
                continue
            if name not in self._at_head or is_same(seen, x) or name in self._round:
                continue
            if start is UNBOUND and self.may_be_unbound(name):
                kinds = joint_kinds(x, x)
                if kinds is not None:  # see Note [Variables without a value]
                    self.values[place] = of_parts([placeholder(self.session, kinds[0])])
                    again = True
            if value is None or first is None:
                continue
            if value in self.session.aliases.bases:
                self._slide(name, seen, value)
            if name in self._sliding or self._resizes(name, seen, value):
                continue
            if value in self.session.aliases.bases:
                continue
            number, known = self._region.number, self._held.get(name)
            self._held[name] = held(self.session, number, known, first, value)
        self._pairs |= self._met
        now = self._held, self._pairs, set(self._sliding), self._resized
        return again or before != now or self._known_gifts != frozenset(self._gifts)

    def _is_read_if_set(self, name: str) -> bool:
        return self.hands_on(name) and (self.may_be_unbound(name) or name.startswith(RESULT))

    def reads_unbound(self) -> None:
        """Note that the body reads a variable that an iteration before may give a value."""
        self._unbound = True

    def _slide(self, name: str, seen: Any, after: Value) -> None:
        """Take note of a variable that is a window of what it was. See Note [Sliding views]."""
        before = array_of(seen)
        found = sliding(self.session, before, after) if before is not None else None
        is_free = self._stop is None or name not in self._behind
        if found is None or not is_free or not self._may_slide(found):
            self._sliding.pop(name, None)
        elif self._sliding.setdefault(name, found) != found:
            del self._sliding[name]

    def _resizes(self, name: str, seen: Any, after: Value) -> bool:
        """Take note of a variable that is an array of another shape than it was, or a view of a new
        one, if it is one. See Note [Arrays that change their shape].
        """
        before, region = array_of(seen), self._region
        assert region is not None
        known = self._resized.pop(name, None)
        if before is None:
            return False
        is_same_kind = joint_kinds(seen, wrap(after)) is not None
        if known is None and is_same_kind and after not in self.session.aliases.bases:
            return False
        params = {param for each in self._params.values() for param in each}
        number, count = region.number, self.iterations
        found = resized(self.session, number, params, known, before, after, count)
        if found is None:
            return False
        self._held.pop(name, None)
        self._resized[name] = found
        return True

    def _may_slide(self, found: Sliding) -> bool:
        """Whether the position of a window follows from the number of iterations."""
        raise NotImplementedError

    def _order(self, after: list[Any]) -> tuple[int, frozenset[str]]:
        """After how many iterations the arrays that change their names are back, and the names; 1
        if there are none, or too many, or that is not all they do.
        """
        both = zip(self.names, after, strict=True)
        handed_on = [x if name in self._at_head else None for name, x in both]
        order, places = rotation(self.values, handed_on)
        return order, frozenset(self.names[place] for place in places)

    def _unstable(self, after: list[Any]) -> list[str]:
        """The variables that are something else at the begin of the second iteration: of another
        kind, or another thing that the loop does not carry.
        """
        return [
            name
            for name, before, x in zip(self.names, self._seen, after, strict=True)
            if name in self._at_head
            and not is_same(before, x)
            and before is not UNBOUND  # the body assigns it before it reads it
            and name not in self._sliding
            and name not in self._resized
            and name not in self._round
            and (name not in self._params or joint_kinds(before, before) != joint_kinds(before, x))
        ]

    def _lay_out(self, unstable: list[str], after: list[Any]) -> bool:
        """Carry arrays that differ in their layout alone as copies in the layout that they have
        after an iteration: nobody may write to them, or return them, as they may be what they were.
        """
        session, copies = self.session, dict[str, tuple[Value, Any]]()
        for name in unstable:
            place = self.names.index(name)
            start, value = array_of(self.values[place]), array_of(after[place])
            if start is None or value is None or not self._is_pure(name) or name in self._given:
                return False
            copies[name] = start, wrap(session.record("copy", start, order="C"))
            if joint_kinds(copies[name][1], after[place]) is None:
                return False
        for name, (start, copy) in copies.items():
            self._given[name] = start
            self.values[self.names.index(name)] = copy
        return True

    @property
    def _can_begin_apart(self) -> bool:
        """Whether the first iteration may be run before the loop: it does not end it."""
        return self.runs and self._stop is None

    def _mix(self, unstable: list[str], after: list[Any]) -> bool:
        """Make what is Python's number first and NumPy's later carry a flag that tells."""
        if self.wants_first:
            return False
        found = dict(zip(self.names, zip(self._seen, after, strict=True), strict=True))
        kinds = {name: joint_kinds(*found[name]) for name in unstable}
        most = 2 if self._can_begin_apart else 3  # an int that becomes a float does so at once
        for each in kinds.values():
            if each is None or len(each) == 1:
                return False
            if self._can_begin_apart if type(each) is SeveralKinds else len(each) > most:
                return False
        self._mixed.update((name, each) for name, each in kinds.items() if each is not None)
        return True

    def _results(self, after: list[Any]) -> tuple[list[str], list[Operand], list[Operand]]:
        """Names, first values and results of what the loop carries; the region is left."""
        region = self._region
        assert region is not None
        names: list[str] = []
        init: list[Operand] = []
        results: list[Operand] = []
        for name, x, start in zip(self.names, after, self.values, strict=True):
            carried = name in self._params
            if not carried and (name not in self._behind or is_same(x, start)):
                continue
            if name in self._sliding:
                continue
            names.append(name)
            value = array_of(x)
            if name in self._resized:
                change, first = self._resized[name], array_of(start)
                assert value is not None
                assert first is not None
                with region:
                    results += change.next_parts(self.session, value, self._params[name])
                init += change.first_parts(self.session, first)
                continue
            view = carried_view(self.session, value) if value is not None and not carried else None
            if view is not None:
                with region:
                    numbers = view.numbers(self.session)
                    self._params[name] = region.params(
                        [PY_INT] * len(numbers), [None] * len(numbers)
                    )
                self._views[name], self._kinds[name] = view, (PY_INT,) * len(numbers)
                results += numbers
                init += [placeholder(self.session, PY_INT)] * len(numbers)
                continue
            if value is not None and name not in self._held:
                self._held[name] = self._held_behind(name, value)
            kinds = self._held[name].kinds if name in self._held else joint_kinds(x, x)
            kinds = self._kinds.get(name) or kinds
            if kinds is None:
                raise refuse(
                    f"{described(name)} is {kind_text(x)} after an iteration of this loop, which "
                    "cannot be captured; use an array or a number"
                )
            self._kinds[name] = kinds
            with region:
                results += self._given_on(region, name, x, kinds, results)
                if not carried:
                    self._params[name] = region.params(kinds, [None] * len(kinds))
            before = array_of(start)
            if before is not None and name in self._held:
                init += self._held[name].first_parts(self.session, before)
            elif carried:
                init += parts_of(start, kinds)
            else:
                init += [placeholder(self.session, kind) for kind in kinds]
        return names, init, results

    def _held_behind(self, name: str, value: Value) -> Held:
        """How to carry an array that is read behind the loop only."""
        region, taken = self._region, self._taken_over(name, value)
        assert region is not None
        before = array_of(self.values[self.names.index(name)])
        if taken is None or self.session.region:
            return held(self.session, region.number, None, None, value)
        options = () if before is None else options_of(self.session, before)
        return Held(tuple(dict.fromkeys((*options, taken))), kind_of(value))

    def _taken_over(self, name: str, value: Value) -> Value | None:
        """What ``name`` is after the first iteration, and after no other: the array before the loop
        of another variable, which it takes over from that.
        """
        for other, params in self._params.items():
            if other == name or not self._is_pure(other) or params[-1] is not value:
                continue
            start = array_of(self.values[self.names.index(other)])
            changes = not self._stays.get(other) and other not in self._given
            # What is written is the parameter.
            is_read = params[-1] not in self.session.aliases.changed
            if start is not None and changes and is_read and self.tells_first:
                return start
        return None

    def _given_on(
        self,
        region: Recording,
        name: str,
        x: Any,
        kinds: tuple[Any, ...],
        taken: list[Operand],
    ) -> list[Operand]:
        """What an iteration gives for a variable; the region is entered."""
        found = array_of(x)
        if found is None:
            return parts_of(x, kinds)
        parts = self._held[name].next_parts(region, found, self._params.get(name, ()), taken)
        start = self._taken_over(name, found)
        if parts is not None and start in self._held[name].flagged:
            parts[self._held[name].flagged.index(start)] = self.is_first()
            self._at_first[name] = start
        if parts is None:
            raise refuse(
                f"{described(name)} is a part of another array after an iteration of this loop, "
                "which cannot be captured; write to an array in place, or use .copy()"
            )
        return parts

    def _joined_with(self, last: Round, after: list[Any], *also: Either) -> list[Any]:
        """The variables behind an iteration that was captured under a condition, which were
        ``after`` it: together with what they are if there is none. Then what ``also`` becomes.
        """
        test, before, arm = last
        arm.leave()
        other = Recording(self.session)
        with other:
            pass
        values = list(also)
        joined = [
            paired(left, right, partial(self._kinds_after, name), values, name)
            if name in self._at_head | self._behind
            else lambda made: UNBOUND
            for name, left, right in zip(self.names, after, before, strict=True)
        ]
        made = record_cond(self.session, test, (arm, other), values)
        return [[each(made) for each in joined], *made[: len(also)]]

    def _kinds_after(self, name: str, left: Any, right: Any) -> Kinds:
        """The types of what a variable is after an iteration, or if there is none."""
        kinds = joint_kinds(left, right)
        if kinds is None:
            raise self.differs(name, left, right, "after another iteration, else")
        return kinds

    def _finish(
        self, names: list[str], outputs: Sequence[Value], results: list[Operand], count: Dim | None
    ) -> None:
        """The variables behind the loop, of ``count`` iterations, if they are counted."""
        runs = self.runs
        found: dict[str, Any] = {}
        for name, slide in self._sliding.items():
            base = array_of(self.values[self.names.index(name)])
            if name in self._behind and base is not None and count is not None:
                found[name] = wrap(slide.view(self.session, base, count))
        arrays: dict[str, Any] = {}
        resized: dict[str, Any] = {}
        given = iter(zip(outputs, results, strict=True))
        for name in names:
            parts = [next(given) for _ in self._kinds[name]]
            operands: list[Operand] = [output for output, _ in parts]
            is_mixed = len(parts) == 2 and type(self._kinds[name]) is not SeveralKinds
            if runs and is_mixed and isinstance(parts[-1][1], Literal):
                operands[1] = parts[1][1]  # the same after each iteration
            if name in self._views:
                found[name] = self._views[name].behind(self.session, [each for each, _ in parts])
                continue
            if name in self._resized:
                resized[name] = self._behind_resized(name, [output for output, _ in parts])
                found[name] = wrap(resized[name])
                continue
            found[name] = self._variable(name, operands)
            if name in self._held and self._held[name].kind is not None:
                arrays[name] = operands[-1]
                if name in self._gifts:
                    give(self.session, self._gifts[name], arrays[name])
        starts = dict(zip(self.names, self.values, strict=True))
        for name, start in starts.items():
            unset = start is UNBOUND and name in found and not self.may_be_unbound(name)
            unset = unset or name.partition(".")[0] in self._by_turns
            if unset and name in self._behind and not runs and not name.startswith(RESULT):
                raise refuse(
                    f"{name} has a value behind this loop only if there is an iteration; give it "
                    "one before"
                )
            if name not in found or name not in self._behind or name in self._sliding:
                continue
            behind = array_of(found[name])
            if behind is None:
                self._follow(name, found[name], start)
            for other in self._stays.get(name, ()) if name in arrays else ():
                before = array_of(starts[other])
                if before is not None and before is not self._at_first.get(name):
                    self.session.aliases.may_be_one(arrays[name], before)
                    self._retry_from_second()
            if runs:
                continue
            before = self._given.get(name, array_of(start))
            if before is None or behind is None or not self._is_pure(name):
                continue
            self.session.aliases.may_be_one(behind, before)
            ran = None if self.session.region or self._stays.get(name) else self.ran()
            if isinstance(ran, Value) and before.type == behind.type:
                self.session.aliases.replaced[behind] = Alternative(ran, behind, before)
        arrays |= resized
        for one, other in self._met:
            if one in arrays and other in arrays:
                self.session.aliases.may_be_one(arrays[one], arrays[other])
        self.values = [
            found.get(name, start) for name, start in zip(self.names, self.values, strict=True)
        ]
        self.session.statements.remove(self)
