"""Statements that become nodes with regions: what branches and loops of staged code share.

See Note [Structured statements].
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from operator import is_not
from typing import Any

from fxc.ir.error_kinds import SEVERAL_KINDS
from fxc.ir.errors import InternalError
from fxc.ir.graph import Value
from fxc.ir.symbols import Dim

from ..forms.joining import carried_form
from ..forms.options import graph_type
from ..forms.variables import described, kind_text
from ..session.refusing import Requests, refusal
from ..session.session import Session
from ..staging.plans import BranchPlan, LoopPlan
from ..values.identity import has_grown
from ..values.maybe_set import UNBOUND
from ..values.operands import Traced, TracedValue, settled
from .cells import Cells
from .given import check_kept
from .needed import StatementDoor
from .recording import Recording

# Note [Structured statements]
# Staged code has its branches and loops in this form (rewriting.py; jumps.py has replaced break,
# continue and return before):
#
#     part = __fxc__.branch(test, plan, …)                 part = __fxc__.loop(iterable, plan, …)
#     for arm, x, y in part:                               for item, x, y in part:
#         if arm: …                                            target = item
#         else: …                                              …
#         part.step(locals())                                  part.step(locals())
#     x, y = part.state                                    x, y = part.state
#
# ``x, y`` are the variables that the statement assigns and hands on (liveness.py), which the plan
# names (plans.py). The object decides what runs: one arm, or the iterations one by one, where the
# condition or the iterable is known to Python; otherwise both arms, or the body once, each in a
# region of its own. Then ``step`` looks at what became of the variables, and ``state`` holds them
# for the code behind: what differs is a result of the node. If that cannot be done,
# ``Respecialise`` starts the capture again with the loop run by Python, or with the numbers that
# the condition follows from as constants. A variable without a value is UNBOUND meanwhile.

Variables = dict[str, Any]  # of a statement, by their names


def values_of(names: Iterable[str], env: Mapping[str, object]) -> Variables:
    """Some variables among all of a function."""
    found = {name: env.get(name, UNBOUND) for name in names}
    return {name: _settled(x) for name, x in found.items()}


def _settled(x: object) -> object:
    """A variable, or the items of a tuple, as what they are from here on."""
    if type(x) is tuple:
        items = tuple(map(_settled, x))
        return items if any(map(is_not, items, x)) else x
    return x if has_grown(x) else settled(x)


class Wishes:
    """The lists for which a statement that is recorded has to make room, to be recorded again.

    See Note [Lists of counted length].
    """

    def __init__(self) -> None:
        self._wishes: dict[int, tuple[Any, list[Any], list[bool]]] = {}

    def __len__(self) -> int:
        return len(self._wishes)

    def note(self, wanted: object, samples: Sequence[object], *, once: bool = True) -> None:
        """Note items that a list is to hold: ``once`` in each run of the region, or more often."""
        _, known, times = self._wishes.setdefault(id(wanted), (wanted, [], []))
        known += samples
        times.append(once)

    def has(self, wanted: object) -> bool:
        """Whether there is to be room for a list."""
        return id(wanted) in self._wishes

    def samples(self, wanted: object) -> list[Any]:
        """The items that a list is to hold, as far as they are known."""
        _, found, _ = self._wishes.get(id(wanted), (wanted, [], []))
        return found

    def grant(self, owner: Statement, most: Dim | None) -> bool:
        """Make room, before the statement, whose region is run so many times at most; whether there
        is some: of what no list ever holds an item of, there is none.
        """
        wishes, self._wishes = self._wishes, {}
        found = False
        for wanted, samples, times in wishes.values():
            more = most * len(times) if most is not None and all(times) else None
            found |= wanted.make_room(samples, more, owner)
        return found


class Statement:
    """A branch or a loop while it runs: gives the variables, takes them back, hands them on."""

    cells: Cells
    arm: tuple[Value, bool] | None = None  # of a branch: its test, and what that is in its open arm

    # What each statement has of its own.
    hands_on: Callable[[str], bool]  # whether a variable, or an item, is read behind body or arm
    take: Callable[[Mapping[str, object]], None]  # ``step``, see Note [Assigned places]
    # What the next run of the body or an arm begins with, None behind the last.
    advance: Callable[[], tuple[Any, ...] | None]

    def __init__(
        self,
        door: StatementDoor,
        plan: BranchPlan | LoopPlan,
        added: Iterable[str],
        env: Mapping[str, object],
    ) -> None:
        self.door = door
        self._sure = frozenset(plan.sure)
        self.session = door.session
        self.line = plan.line
        self.wishes = Wishes()
        self.paces: list[Any] = []  # at which it appends to lists
        chosen: list[Any] = [x for x in env.values() if isinstance(x, Traced) and x._is_chosen]
        for each in chosen:
            each.settle()
        values = values_of((*plan.names, *added), env)
        self.values = {name: UNBOUND if self._is_gone(x) else x for name, x in values.items()}

    def _is_gone(self, x: object) -> bool:
        """Whether it was made in a region that has ended, which the frame still holds: nobody reads
        the variable before it is assigned, though a ``try`` hands on all that it names.
        """
        if type(x) is tuple:
            return any(map(self._is_gone, x))
        return isinstance(x, TracedValue) and not self.session.is_alive(x._value)

    def step(self, env: Mapping[str, object]) -> None:
        """Take back the variables at the end of the body, or of an arm."""
        if self.session.statements[:1] == [self]:
            self.door.places.check_wanted()
        variables = self.cells.among(env)
        is_recorded = self in self.session.statements  # else nothing leaves a region
        if self.session.aliases.given and self.session.region and is_recorded:
            both = self.of(variables).items()
            kept = [x for name, x in both if self.hands_on(name) and not self.takes_gift(name, x)]
            check_kept(self.session, self.session.region, kept)
        self.take(variables)

    def make_room(self, most: Dim | None) -> bool:
        """Make room for the lists that it changes, before this statement, which runs so many times
        at most; whether there is some. What is recorded there sees the places as they were then.
        """
        if not self.wishes:
            return False
        self.cells.put_back()
        return self.wishes.grant(self, most)

    def few(self, counters: Set[str]) -> Requests:
        """The request that Python runs it, if it is a short loop with such a counter."""
        return frozenset()

    def takes_gift(self, name: str, x: object) -> bool:
        """Whether it may hand on an array that a list took over: Note [Given arrays]."""
        return False

    @property
    def state(self) -> list[Any]:
        """The variables behind the statement."""
        return self.handed(self.values)

    def handed(self, values: Variables) -> list[Any]:
        """The variables as staged code takes them; places are assigned."""
        return self.cells.hand_on(values)

    @property
    def names(self) -> Collection[str]:
        return self.values.keys()

    def of(self, env: Mapping[str, object]) -> Variables:
        """The variables among all of a function."""
        return values_of(self.names, env)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> tuple[Any, ...]:
        try:
            found = self.advance()
        except StopIteration as error:  # it would end the statement, and nobody would know
            raise InternalError(f"an iterator of fxc has ended at {self.line}") from error
        if found is None:
            raise StopIteration
        return found

    def may_be_unbound(self, name: str) -> bool:
        """Whether it is read only where it has a value. See Note [Variables without a value]."""
        return name.partition(".")[0] in self._sure or self.cells.may_be_unbound(name)

    @property
    def recording(self) -> Recording | None:
        """The region of the statement that is open, if there is one; it may be recorded again."""
        raise NotImplementedError

    @property
    def fallback(self) -> Requests:
        """What must be constant, or run by Python, if the statement cannot be captured."""
        return frozenset()

    @property
    def elsewhere(self) -> Requests:
        """The request to decide as in another iteration, where that may help."""
        return frozenset()

    @property
    def ended(self) -> Requests:
        """The request to end what is recorded where it raises an exception."""
        return frozenset()

    @property
    def first_apart(self) -> Requests:
        """The request to run the first iteration before the loop, where it may help."""
        return frozenset()

    def is_steady(self) -> bool:
        """Whether this is a loop that runs all of as many iterations as are known before."""
        return False

    def carries(self, name: str) -> bool:
        """Whether this is a loop of which an iteration has a variable from the one before."""
        return False

    def meets_difference(self, name: str) -> None:
        """Note that a variable is one thing behind one arm in here, another behind the other."""

    def meets_unset(self, owner: object, part: object) -> None:
        """Note that the program needs an attribute that an object has not, or a key of a dict."""

    def meets_flag(self, flag: object) -> None:
        """Note that the program needs what is there only if a flag holds."""

    @property
    def may_begin_apart(self) -> bool:
        """Whether the first iteration of a loop may be run before it, and that may help."""
        return False

    def may_give(self, owner: object) -> bool:
        """Whether this may give an object new attributes."""
        return self.cells.may_set(owner)

    def differs(self, name: str, left: object, right: object, where: str) -> Exception:
        """A variable that is one thing here, another there."""
        return refusal(SEVERAL_KINDS, self.difference(name, left, right, where))

    def difference(self, name: str, left: object, right: object, where: str) -> str:
        """How a variable differs here and there; records may be captured: see Note [Records]."""
        if graph_type(left) != graph_type(right):
            self.door.arrays.ask()
        if carried_form(left, right) is None:
            self.door.places.ask_records(left, right)
        one, other = kind_text(left), kind_text(right)
        other = f"another {right.__class__.__name__}" if one == other else other
        return (
            f"{described(name)} is {one} {where} {other}, which cannot be captured; make it the "
            "same kind of value, an array or a number, in both cases"
        )


class _Part(Statement):
    """A part of an expression that is recorded by itself."""

    def may_give(self, owner: object) -> bool:
        return False

    def __init__(self, session: Session) -> None:
        self.session = session
        self.wishes = Wishes()
        self.paces = []
        self.region = Recording(session)

    @property
    def recording(self) -> Recording | None:
        return self.region if self.region.is_open else None


def recorded(session: Session, function: Callable[[], Any]) -> tuple[Recording, Any]:
    """A region, and what the function gives that is recorded in it."""
    ((region, found),) = recorded_each(session, function)
    return region, found


def recorded_each(session: Session, *functions: Callable[[], Any]) -> list[tuple[Recording, Any]]:
    """A region for each function, one of which is run, and what it gives; all are recorded once
    more if lists that one of them changes need room.
    """
    part = _Part(session)
    session.statements.append(part)
    try:
        while True:
            regions: list[tuple[Recording, Any]] = []
            for function in functions:
                part.region = Recording(session)
                with part.region:
                    regions.append((part.region, function()))
            if not part.wishes.grant(part, 1):
                return regions
    finally:
        session.statements.remove(part)
