"""What ``for`` and ``while`` in staged code have in common: a body that is captured once.

See Note [Structured statements].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from fxc.ir.graph import Operand, Value
from fxc.ir.symbols import Dim

from ..forms.form import Array, Form, Number, Union, types_of
from ..forms.joining import carried_form, form_of, joint_form
from ..refusing import How, Request, Requests, Respecialise, refuse
from ..session import MOST_UNROLLED
from ..staging.jumps import RESULT
from ..staging.plans import LoopPlan
from ..values.operands import Traced, array_of, variable_of, wrap
from ..values.options import arrays_of, sides_of
from ..values.truths import flag_of
from ..values.unbound import UNBOUND
from ..values.variables import is_constant, is_same, placeholder
from .arms import Either, joined, record_cond
from .carried import Carried
from .cells import Cells, is_flag
from .identities import is_private, is_whole, rotation, sharing, staying
from .kept_lists import is_list, is_variable, keep_lists
from .needed import Door
from .resizing import Resized
from .sliding import Sliding, sliding
from .spread import Spread
from .structured import Recording, Statement, Variables, counted_inside, empty_region, values_of

_MOST_PASSES = 8


# An iteration that is captured under a condition: the condition, the variables before it, and
# where it is recorded.
Round = tuple[Operand, Variables, Recording]


def bound(door: Door, name: str, flag: object, read: Callable[[], Any]) -> Any:
    """A variable that may be without a value. See Note [Variables without a value]."""
    session = door.session
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
        door: Door,
        plan: LoopPlan,
        rebound: object,
        env: Mapping[str, Any],
    ) -> None:
        self.cells = Cells(door, rebound, self)
        added, env = self.cells.names, self.cells.among(env)
        self._spread = Spread((*plan.names, *added))
        super().__init__(door, plan, added, env)
        self._read = (*plan.at_head, *added), (*plan.behind, *added)  # before they are spread
        self._at_head, self.behind = map(frozenset, self._read)
        self._stop = plan.stop
        self._label = f"loop {plan.line}"
        self.carried = Carried(self.session)
        self._pairs: set[tuple[str, str]] = set()  # which may hold one array of an iteration
        self._shown: dict[str, set[Value]] = {}  # of outer arrays, by names of what differs
        self.met: set[tuple[str, str]] = set()  # those of this pass
        self.stays: dict[str, set[str]] = {}  # of this pass, see ``staying``
        self._round = frozenset[str]()  # names that arrays change, to be back after some rounds
        self._region: Recording | None = None
        self._seen: Variables = {}  # the variables at the begin of the body
        self._start: Variables = {}
        self._passes = 0
        self._every = 1  # iterations that the body stands for: after so many all names are back
        self._began = self.session.now
        self._operations = self.session.operations  # of the program before
        self._env = env
        self._known = {name: id(x) for name, x in env.items()}  # ``env`` changes with the frame
        self._has_new_tuples = False
        self._unbound = False
        self._differs_in_arms = False
        alone, again = plan.by_turns
        # Have a value behind the loop only if there is an iteration.
        self.by_turns = frozenset((*alone, *(name for name in again if name not in env)))

    def of(self, env: Mapping[str, Any]) -> Variables:
        return self._spread.open(values_of(self._spread.outer, env))

    def hands_on(self, name: str) -> bool:
        return name in self._at_head or name in self.behind

    def takes_gift(self, name: str, x: object) -> bool:
        value, given = array_of(x), self.session.aliases.given
        if value is None or value not in given or name not in self.values:
            return False
        self.carried.gifts[name] = given[value]
        return True

    def start_of(self, value: Value) -> Value | None:
        """What a variable is before the loop that is this array before an iteration. One that has
        not been seen to change is awaited to.
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

    def _spread_tuples(self, env: Mapping[str, Any]) -> None:
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
        return How.UNROLLED in self.session.asked(self._label)

    def _to(self, how: How) -> Requests:
        """The request to capture the loop so."""
        return frozenset((Request(self._label, how),))

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
            raise refuse("the variables of this loop change their types again and again")
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
            if one in params and other in params:
                self.session.aliases.may_be_one(params[one][-1], params[other][-1])

    def _at_begin(self, region: Recording, name: str, start: object) -> Any:
        """What a variable is at the begin of the body."""
        carried, aliases, before = self.carried, self.session.aliases, array_of(start)
        way = carried.ways.get(name)
        if isinstance(way, Sliding):
            elapsed = self.elapsed
            assert elapsed is not None
            assert before is not None
            return wrap(way.view(self.session, before, elapsed))
        if isinstance(way, Resized) and before is not None:
            seen = carried.enter_resized(region, name, way)
            if not self._is_ours(name, before):
                aliases.may_be_one(carried.params[name][-1], before)
            return seen
        if name not in self._at_head or not carried.takes(name, start):
            return start
        seen = carried.enter(region, name, start)
        if array_of(seen) is None:
            self.follow(name, seen, start)
            for one, other in product(arrays_of(seen), self._shown.get(name, ())):
                aliases.may_be_one(one, other)
        given = carried.given.get(name, before)
        if given is not None and carried.is_pure(name) and not self._is_ours(name, given):
            aliases.may_be_one(carried.params[name][0], given)
        return seen

    def _keeping_lists(self, after: Variables) -> Variables:
        """The variables at the end of the body: see Note [Lists that replace one another]."""
        assert self._region is not None
        if not any(map(is_list, after.values())):
            return after
        used = {name: x for name, x in after.items() if self.hands_on(name)}
        others = [
            x
            for name, x in self._env.items()
            if id(x) == self._known.get(name) and name not in after and is_variable(name)
        ]
        return after | keep_lists(self.door, self._region.number, self._seen, used, others)

    def _is_ours(self, name: str, value: Value) -> bool:
        """Whether an array was made by an iteration before, and nobody else has it."""
        others = (x for each, x in self._env.items() if each != name)
        return is_private(self.session, value, self._began, others)

    def _as_before(self, after: Variables) -> Variables:
        """The variables after an iteration: one that shows all of the array that it was, in the
        same shape, after ``x = x.reshape(…)`` and back, is that array, if nobody else has it.
        """
        found = dict(after)
        for name, seen in self._seen.items():
            before, now, start = map(array_of, (seen, after[name], self.values[name]))
            if before is None or now is None or start is None or now is before:
                continue
            if is_whole(self.session, before, now):
                others = (each for other, each in self._env.items() if other != name)
                if is_private(self.session, start, 0, others):
                    found[name] = seen
        return found

    def follow(self, name: str, now: object, start: object) -> None:
        """Note that what is None or an array may be the array that it began with."""
        for one, other in product(arrays_of(now), arrays_of(start)):
            if not self._is_ours(name, other):
                self.session.aliases.may_be_one(one, other)

    def _forget(self, after: Variables) -> None:
        """The parameters are gone: their memory is nobody's."""
        region = self._region
        assert region is not None
        handed_on = {name: x for name, x in after.items() if self.hands_on(name)}
        self.met = sharing(self.session, region.number, handed_on)
        carried, every = self.carried, self.carried.params
        pure = {name: x[-1] for name, x in every.items() if carried.is_pure(name)}
        resized = {name: x for name, x in every.items() if name in carried.of(Resized)}
        self.stays = staying(self.session, after, pure, resized)
        for params in every.values():
            self.session.aliases.no_longer_one(params[-1])

    def _kinds_differ(self, unstable: list[str], after: Variables) -> Exception:
        name, where = unstable[0], "before the loop, after an iteration"
        return self.differs(name, self._seen[name], after[name], where)

    def _is_settled(self, after: Variables, most: Dim | None) -> bool:
        """Whether another pass through the body, which is run so often at most, would leave the
        variables as this one has. If not, the body is captured again, if need be behind the first
        iteration.
        """
        self._forget(after)
        if self.wishes.grant(self, most) or (self._every == 1 and self._permuted(after)):
            return False
        if self._changed(after) or self._makes_room():
            return False
        unstable = self._unstable(after)
        if not unstable:
            return True
        again = self._mix(unstable, after) or self._begins_apart()
        if not again and not self._lay_out(unstable, after):
            raise self._kinds_differ(unstable, after)
        return False

    def _permuted(self, after: Variables) -> bool:
        """Whether arrays have changed their names: then the body is run until they are back."""
        raise NotImplementedError

    def _makes_room(self) -> bool:
        """Make arrays for what is appended; whether there are new ones, for another pass."""
        return False

    def _begins_apart(self) -> bool:
        """Run the first iteration before the loop, if there is one for sure; whether that is so."""
        raise NotImplementedError

    def _changed(self, after: Variables) -> bool:
        """Whether the body has to be captured again: an array is another one afterwards."""
        assert self._region is not None
        if self._has_new_tuples:
            return True
        carried = self.carried
        before = dict(carried.ways), set(self._pairs)
        again = False
        for name, x in after.items():
            start, seen = self.values[name], self._seen[name]
            value, first = array_of(x), array_of(start)
            again |= self._shows_more(name, x)
            if start is UNBOUND and is_constant(x) and self._is_read_if_set(name):
                self.values[name] = x
                again = True
                continue
            if name not in self._at_head or is_same(seen, x) or name in self._round:
                continue
            if start is UNBOUND and self.may_be_unbound(name):
                form = form_of(x)
                if form is not None:  # see Note [Variables without a value]
                    kind, *_ = types_of(form)
                    if not self.session.has_sizes(kind):
                        raise counted_inside()
                    self.values[name] = variable_of(placeholder(self.session, kind))
                    again = True
            if value is None or first is None or carried.is_widened(name):
                continue
            is_view = value in self.session.aliases.bases
            if is_view:
                carried.slide(name, self._sliding(name, seen, value))
            if isinstance(carried.ways.get(name), Sliding) or carried.resizes(
                self._region, name, seen, value, self.iterations
            ):
                continue
            if not is_view:
                carried.exchange(self._region, name, first, value)
        self._pairs |= self.met
        return again or before != (carried.ways, self._pairs) or carried.has_new_gifts

    def _shows_more(self, name: str, after: object) -> bool:
        """Whether what differs may show other arrays from outside than has been known."""
        assert self._region is not None
        if name not in self._at_head or not sides_of(after):
            return False
        session, inside = self.session, self._region.number
        roots = [root for value in arrays_of(after) for root in session.aliases.roots(value)]
        outer = {root for root in roots if session.made_in(root) < inside}
        known = self._shown.setdefault(name, set())
        is_more = not outer <= known
        known |= outer
        return is_more

    def _is_read_if_set(self, name: str) -> bool:
        return self.hands_on(name) and (self.may_be_unbound(name) or name.startswith(RESULT))

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

    def carries(self, name: str) -> bool:
        return name in self._at_head

    def meets_difference(self, name: str) -> None:
        self._differs_in_arms |= name in self._at_head

    def _sliding(self, name: str, seen: object, after: Value) -> Sliding | None:
        """How a variable is a window of what it was; None if it may not slide."""
        before = array_of(seen)
        found = sliding(self.session, before, after) if before is not None else None
        is_free = self._stop is None or name not in self.behind
        return found if found is not None and is_free and self._may_slide(found) else None

    def _may_slide(self, found: Sliding) -> bool:
        """Whether the position of a window follows from the number of iterations."""
        raise NotImplementedError

    def _order(self, after: Variables) -> tuple[int, frozenset[str]]:
        """After how many iterations the arrays that change their names are back, and the names; 1
        if there are none, or too many, or that is not all they do.
        """
        carried = {name: x for name, x in after.items() if name in self._at_head}
        return rotation(self.values, carried)

    def _unstable(self, after: Variables) -> list[str]:
        """The variables that are something else at the begin of the second iteration: of another
        kind, or another thing that the loop does not carry.
        """
        return [
            name
            for name, before in self._seen.items()
            if name in self._at_head
            and not is_same(before, after[name])
            and before is not UNBOUND  # the body assigns it before it reads it
            and not isinstance(self.carried.ways.get(name), Sliding | Resized)
            and name not in self._round
            and (
                name not in self.carried.params
                or carried_form(before, before) != carried_form(before, after[name])
            )
        ]

    def _lay_out(self, unstable: list[str], after: Variables) -> bool:
        """Whether the arrays differ in their layout alone, and are carried as copies."""
        copies = self.carried.lay_out({name: self.values[name] for name in unstable}, after)
        self.values |= copies or {}
        return copies is not None

    @property
    def _can_begin_apart(self) -> bool:
        """Whether the first iteration may be run before the loop: it does not end it."""
        return self.runs and self._stop is None

    def _mix(self, unstable: list[str], after: Variables) -> bool:
        """Make what is Python's number first and NumPy's later carry a flag that tells."""
        if self.wants_first and (self.runs or self._stop is None):
            return False
        forms = {name: carried_form(self._seen[name], after[name]) for name in unstable}
        more: dict[str, Form] = {}
        most = 2 if self._can_begin_apart else 3  # an int that becomes a float does so at once
        for name, each in forms.items():
            if each is None or isinstance(each, Number | Array):
                return False
            is_several = isinstance(each, Union) and len(each.options) > 1
            if self._can_begin_apart if is_several else len(types_of(each)) > most:
                return False
            more[name] = each
        self.carried.ways |= more
        return True

    def _joined_with(
        self, last: Round, after: Variables, *also: Either
    ) -> tuple[Variables, list[Any]]:
        """The variables behind an iteration that was captured under a condition, which were
        ``after`` it: together with what they are if there is none. Then what ``also`` becomes.
        """
        test, before, arm = last
        arm.leave()
        values = list(also)
        behind = joined(after, before, self._at_head | self.behind, self._form_after, values)
        made = record_cond(self.session, test, (arm, empty_region(self.session)), values)
        return behind(made), made[: len(also)]

    def _form_after(self, name: str, left: object, right: object, item: str) -> Form:
        """The form of what a variable, or an item of it, is after an iteration, or if there is
        none.
        """
        if any(x is UNBOUND for x in (left, right)) and self.may_be_unbound(name):
            left = right = right if left is UNBOUND else left
        form = joint_form(left, right)
        if form is None:
            raise self.differs(name, left, right, "after another iteration, else")
        return form
