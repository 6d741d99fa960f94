"""The variables of ``for`` and ``while`` in staged code, from before the loop into its body.

See Note [Structured statements].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from fxc.ir.error_kinds import LOOP_VARIABLE, TOO_LARGE
from fxc.ir.graph import Operand, Value
from fxc.ir.symbols import Dim

from ..forms.options import arrays_of
from ..regions.cells import Cells, is_flag
from ..regions.needed import StatementDoor
from ..regions.recording import Recording
from ..regions.structured import Statement, Variables, values_of
from ..session.refusing import How, Request, Requests, Respecialise, refusal
from ..session.session import MOST_UNROLLED
from ..staging.plans import LoopPlan
from ..values.maybe_set import UNBOUND
from ..values.operands import array_of, wrap
from .carried import Carried
from .carried_arrays import Resized
from .identities import is_private
from .spread import Spread
from .views import CarriedView, CarriedWindow, Sliding

_MOST_PASSES = 8
MOST_APART = 2  # iterations before a loop, for what they may make another thing of


class LoopVariables(Statement):
    """What ``for`` and ``while`` have in common: the variables of a body that is captured once.

    Numbers that the body assigns are parameters of its region. Arrays are taken for what they are
    outside: written in place, they stay the same. Where one turns out to be another array after the
    body, it becomes a parameter, too, and the body is captured again. Where a variable is another
    kind of thing after the first iteration, that one is run before the loop.
    """

    # What each kind of loop has of its own.
    ran: Callable[[], Operand | None]  # whether there was an iteration; None if that is not known
    is_first: Callable[[], Operand]  # whether the iteration that is recorded is the first

    def __init__(
        self,
        door: StatementDoor,
        plan: LoopPlan,
        rebound: object,
        env: Mapping[str, object],
    ) -> None:
        self.cells = Cells(door, rebound, self)
        added, env = self.cells.names, self.cells.among(env)
        self._spread = Spread((*plan.names, *added))
        super().__init__(door, plan, added, env)
        self._read = (*plan.at_head, *added), (*plan.behind, *added)  # before they are spread
        self._at_head, self.behind = map(frozenset, self._read)
        self._overwritten = plan.overwritten
        self._stop = plan.stop
        self._label = f"loop {plan.line}"
        self.carried = Carried(self.session)
        self._pairs: set[tuple[str, str]] = set()  # which may hold one array of an iteration
        self._shown: dict[str, set[Value]] = {}  # of outer arrays, by names of what differs
        self.met: set[tuple[str, str]] = set()  # those of this pass
        self.stays: dict[str, set[str]] = {}  # of this pass, see ``staying``
        self._round = frozenset[str]()  # names that arrays change, to be back after some rounds
        self._region: Recording | None = None
        self._seen: Variables = {}  # the variables at the beginning of the body
        self._start: Variables = {}
        self._passes = 0
        self.begun_apart = 0  # iterations that were run before the loop
        self._every = 1  # iterations that the body stands for: after so many all names are back
        self._began = self.session.now
        self._operations = self.session.operations  # of the program before
        self._look_at(env)
        self._known = {name: id(x) for name, x in env.items()}
        self._has_new_tuples = False
        self._unbound = False
        self._differs_in_arms = False
        alone, again = plan.by_turns
        # Have a value behind the loop only if there is an iteration.
        self.by_turns = frozenset((*alone, *(name for name in again if name not in env)))

    def _look_at(self, env: Mapping[str, object]) -> None:
        """Take the variables before the loop. What they are given changes with the frame, which
        holds what the last pass through the body has left; what they are before does not. What is
        assigned before it is read is not there.
        """
        self._env = env
        self._before = {name: x for name, x in env.items() if name not in self._overwritten}

    def _with_made(self, env: Mapping[str, object]) -> Mapping[str, object]:
        """The variables behind an iteration before the loop, with the places that it has made."""
        made = self.cells.look_again()
        if made:
            self._spread.outer = (*self._spread.outer, *made)
            at_head, behind = self._read
            self._read = (*at_head, *made), (*behind, *made)
            self._at_head, self.behind = (frozenset(self._spread.within(x)) for x in self._read)
        return self.cells.read_again(env)

    def of(self, env: Mapping[str, object]) -> Variables:
        return self._spread.open(values_of(self._spread.outer, env))

    def seen(self, name: str) -> Any:
        """What a variable is at the beginning of the body."""
        return self._seen.get(name)

    def hands_on(self, name: str) -> bool:
        return name in self._at_head or name in self.behind

    def takes_gift(self, name: str, x: object) -> bool:
        value, given = array_of(x), self.session.aliases.given
        if value is None or value not in given or name not in self.values or given[value].leaves:
            return False
        self.carried.gifts[name] = given[value]
        return True

    def start_of(self, value: Value) -> Value | None:
        """The array that a variable is before the loop, if the variable is this one at the start of
        an iteration. If it has not been seen to change, note that it has to.
        """
        for name, start in self.values.items():
            if self.carried.params.get(name, ())[-1:] == [value] and self.carried.is_pure(name):
                return array_of(start)
            if name in self._at_head and array_of(start) is value:
                self.carried.awaited.append(value)
                return value
        return None

    def handed(self, values: Variables) -> list[Any]:
        return self.cells.hand_on(self._spread.close(values))

    def _read_again(self, values: Variables) -> Variables:
        """The variables behind a test, which may have assigned places."""
        return self._spread.open(self.cells.read_again(self._spread.close(values)))

    def _spread_tuples(self, env: Mapping[str, object]) -> None:
        """Make variables of the items of tuples, if some are new."""
        spread = self._spread
        every = self.values, self._seen, self._start
        before, *starts = closed = [spread.close(x) if x else {} for x in every]
        now = values_of(spread.outer, env)
        self._has_new_tuples = spread.learn(before, now, filter(None, starts))
        if self._has_new_tuples:
            self._at_head, self.behind = (frozenset(spread.within(x)) for x in self._read)
            self.values, self._seen, self._start = map(spread.open, closed)

    @property
    def runs(self) -> bool:
        """Whether there is an iteration for sure."""
        raise NotImplementedError

    @property
    def tells_first(self) -> bool:
        """Whether ``is_first`` can be said."""
        return False

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
        return How.UNROLLED in self.session.asked(self._label)

    def _to(self, how: How) -> Requests:
        """The request to capture the loop so."""
        return frozenset((Request(self._label, how),))

    def _check_unrolled(self) -> None:
        """Refuse a loop that Python runs instead, if its iterations come to too much."""
        if self.by_python and self.session.operations - self._operations > MOST_UNROLLED:
            raise refusal(
                TOO_LARGE,
                f"a loop that cannot be captured as a whole, and unrolled has more than "
                f"{MOST_UNROLLED} operations, is not captured; use fxc.fori_loop",
            )

    @property
    def recording(self) -> Recording | None:
        return self._region if self._region is not None and self._region.is_open else None

    @property
    def wants_first(self) -> bool:
        """Whether the first iteration is to be run before the loop."""
        return How.FIRST_APART in self.session.asked(self._label)

    @property
    def first_apart(self) -> Requests:
        """The request to do so, where it may help: numbers are mixed, or arrays carried, or what a
        variable is before the loop does not go with what an arm makes of it.
        """
        found = self.carried.differs_at_first or self._unbound or self._differs_in_arms
        helps = found and not self.wants_first
        return self._to(How.FIRST_APART) if helps else frozenset()

    def retry_from_second(self) -> None:
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
            self.door.arrays.ask()
            raise refusal(
                LOOP_VARIABLE, "the variables of this loop change their types again and again"
            )
        self._region = region
        self.carried.begin()
        if not self.runs:  # without an iteration the variables are what they are before it
            bound = (name for name, x in self.values.items() if x is not UNBOUND)
            self._at_head |= self.behind.intersection(bound)
        self._seen = self._start = {
            name: self._at_begin(region, name, start) for name, start in self.values.items()
        }
        params = self.carried.params
        for one, other in self._pairs:
            if params.get(one) and params.get(other):  # a view may need no numbers
                self.session.aliases.may_be_one(params[one][-1], params[other][-1])

    def _at_begin(self, region: Recording, name: str, start: object) -> object:
        """What a variable is at the beginning of the body."""
        carried, aliases, before = self.carried, self.session.aliases, array_of(start)
        way = carried.ways.get(name)
        if isinstance(way, Sliding):
            elapsed = self.elapsed
            assert elapsed is not None
            assert before is not None
            return wrap(way.view(self.session, before, elapsed))
        if isinstance(way, CarriedWindow | CarriedView):
            return carried.enter_part(region, name, way)
        if isinstance(way, Resized) and before is not None:
            seen = carried.enter_part(region, name, way)
            if not self._is_ours(name, before):
                aliases.may_be_one(carried.params[name][-1], before)
            return seen
        if name not in self._at_head or not carried.takes(name, start):
            return start
        seen = carried.enter(region, name, start)
        if carried.is_open(name, seen):
            self.follow(name, seen, start)
        shown = arrays_of(seen) if array_of(seen) is None else carried.params[name][-1:]
        for one, other in product(shown, self._shown.get(name, ())):
            aliases.may_be_one(one, other)
        given = carried.given.get(name, before)
        if given is not None and carried.is_pure(name) and not self._is_ours(name, given):
            aliases.may_be_one(carried.params[name][0], given)
        return seen

    def _is_ours(self, name: str, value: Value) -> bool:
        """Whether an array was made by an iteration before, and nobody else has it."""
        tuples, items = self._spread.outer, self.of(self._before)
        before = {each: x for each, x in self._before.items() if each not in tuples} | items
        others = (x for each, x in before.items() if each != name)
        return is_private(self.session, value, self._began, others)

    def follow(self, name: str, now: object, start: object) -> None:
        """Note that what is None or an array may be the array that it began with."""
        for one, other in product(arrays_of(now), arrays_of(start)):
            if not self._is_ours(name, other):
                self.session.aliases.may_be_one(one, other)

    def reads_unbound(self) -> None:
        """Note that the body reads a variable that an iteration before may give a value."""
        self._unbound = True

    def meets_unset(self, owner: object, part: object) -> None:
        self._unbound |= self.cells.may_set(owner, part)

    def meets_flag(self, flag: Any) -> None:
        """Note that a flag which an iteration leaves as it is does not hold in the first one."""
        region = self._region
        if region is None or not region.is_open or region.number != self.session.region:
            return
        flags = [x for name, x in self.carried.params.items() if is_flag(name)]
        if any(flag._value in each for each in flags):
            self.needs_first()

    def needs_first(self) -> None:
        """Ask for the first iteration to be run before the loop, if there is one."""
        self._unbound = True
        if self.runs and self.first_apart:
            raise Respecialise(*self.first_apart)

    @property
    def may_begin_apart(self) -> bool:
        return self._can_begin_apart and bool(self.first_apart)

    @property
    def _can_begin_apart(self) -> bool:
        """Whether the first iteration may be run before the loop: it does not end it."""
        return self.runs and self._stop is None

    def carries(self, name: str) -> bool:
        return name in self._at_head

    def meets_difference(self, name: str) -> None:
        self._differs_in_arms |= name in self._at_head
