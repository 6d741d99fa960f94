"""What ``for`` and ``while`` in staged code have in common: a body that is captured once.

See Note [Structured statements].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxc.ir.graph import Operand, Value
from fxc.ir.replay import UNSET
from fxc.ir.symbols import Dim

from ..forms.form import Array, Form, Number, Union, types_of
from ..forms.joining import (
    carried_form,
    carried_without_arrays,
    form_of,
    hold_alike,
    joint_form,
)
from ..forms.options import arrays_of, sides_of
from ..forms.truths import flag_of
from ..forms.variables import is_constant, is_same, placeholder
from ..regions.needed import StatementDoor
from ..regions.recording import Recording, counted_inside, empty_region
from ..regions.structured import Variables
from ..staging.jumps import RESULT
from ..values.above import chosen_of
from ..values.maybe_set import UNBOUND
from ..values.operands import Traced, array_of, kind_of, variable_of, wrap
from .arms import Either, joined, may_differ, record_cond
from .carried_arrays import Resized
from .identities import is_private, is_turned, is_whole, rotation, sharing, staying
from .kept_lists import is_list, is_variable, keep_lists
from .loop_variables import MOST_APART, LoopVariables
from .views import CarriedView, CarriedWindow, Sliding, sliding

# An iteration that is captured under a condition: the condition, the variables before it, and
# where it is recorded.
Round = tuple[Operand, Variables, Recording]
# How arrays are carried that need not be what they were, and as copies.
_OF_VIEWS = Sliding | Resized | CarriedView | CarriedWindow
_COPIED = Resized | Union


def bound(door: StatementDoor, name: str, flag: object, read: Callable[[], Any]) -> Any:
    """A variable that may be without a value. See Note [Variables without a value]."""
    session = door.session
    try:
        value = read()
    except NameError:
        loop = next((x for x in reversed(session.statements) if isinstance(x, LoopVariables)), None)
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


def held(door: StatementDoor, name: str, flag: object, read: Callable[[], Any]) -> Any:
    """A variable that may be without a value, or ``UNSET``."""
    try:
        value = read()
    except NameError:
        return UNSET
    if not isinstance(flag, Traced):
        return value if flag else UNSET
    if joint_form(value, UNSET) is None and not may_differ(value, UNSET, name):
        return bound(door, name, flag, read)
    return chosen_of(door, flag, value, UNSET)


class CapturedLoop(LoopVariables):
    """What ``for`` and ``while`` have in common at the end of their body: whether it has to be
    captured again, as a variable has turned out to be another thing afterwards.
    """

    # Whether arrays have changed their names: then the body is run until they are back.
    _permuted: Callable[[Variables], bool]
    _begins_apart: Callable[[], bool]  # run the first iteration before, if there is one for sure
    _may_slide: Callable[[Sliding], bool]  # whether windows follow from the number of iterations
    _slides = True  # until the number of iterations turns out to be unknown

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
        kept = keep_lists(self.door, self._region.number, self._seen, used, others)
        return self._read_again(after | kept)

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
        return self._turned(found)

    def _turned(self, after: Variables) -> Variables:
        """The same: one that turns a new array round (``x = (a @ x.T).T``), which nobody else has,
        is a new array in that order itself.
        """
        found = dict(after)
        for name, x in after.items():
            now = array_of(x)
            if now is None or name not in self.values or not is_turned(self.session, now):
                continue
            others = (each for other, each in (dict(self._env) | after).items() if other != name)
            if is_private(self.session, self.session.aliases.root(now), self._began, others):
                found[name] = wrap(self.session.value("copy", now, order="K"))
        return found

    def _check_copied(self, after: Variables) -> None:
        """Refuse a write in the body to an array that is carried as a copy, or to one from outside
        that it may show: nobody would see it in the other.
        """
        assert self._region is not None
        aliases, inside = self.session.aliases, self._region.number
        for name, params in self.carried.params.items():
            if not isinstance(self.carried.ways.get(name), _COPIED):
                continue
            roots = {root for x in arrays_of(after[name]) for root in aliases.roots(x)} - {*params}
            roots.update(*(aliases.twins.get(root, ()) for root in tuple(roots)))
            outer = [root for root in roots if self.session.made_in(root) < inside]
            times = (aliases.written.get(each, 0) for each in (*outer, *params))
            if outer and max(times) > self._began:
                raise aliases.refuse_replaced()

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
        for params in filter(None, every.values()):
            self.session.aliases.no_longer_one(params[-1])

    def _kinds_differ(self, unstable: list[str], after: Variables) -> Exception:
        name, where = unstable[0], "before the loop, after an iteration"
        return self.differs(name, self._seen[name], after[name], where)

    def _is_settled(self, after: Variables, most: Dim | None) -> bool:
        """Whether another pass through the body, which is run so often at most, would leave the
        variables as this one has. If not, the body is captured again, if need be behind the first
        iteration.
        """
        self._check_copied(after)
        self._forget(after)
        if self.make_room(most) or (self._every == 1 and self._permuted(after)):
            return False
        if self._changed(after):
            return False
        unstable = self._unstable(after)
        if not unstable:
            return True
        if not (
            (not self._differ_in_layout(unstable, after) and self._mix(unstable, after))
            or self._begins_apart()
            or self._mix(unstable, after)
            or self._lay_out(unstable, after)
        ):
            raise self._kinds_differ(unstable, after)
        return False

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
            again |= self.carries(name) and carried.lends(name, x)
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
                carried.is_no_view(name)
                continue
            is_view = value in self.session.aliases.bases
            carried.slide(name, self._sliding(name, seen, value) if is_view else None)
            if (
                isinstance(carried.ways.get(name), Sliding)
                or carried.cuts(name, first, value)
                or carried.resizes(self._region, name, seen, value, self.iterations)
            ):
                continue
            if is_view:
                carried.moves(name, first, value)
            else:
                carried.exchange(self._region, name, first, value)
        self._pairs |= self.met
        return again or before != (carried.ways, self._pairs) or carried.has_new_gifts

    def _shows_more(self, name: str, after: object) -> bool:
        """Whether what differs or is made here may be more outer arrays than was known."""
        assert self._region is not None
        if name not in self._at_head:
            return False
        session, inside = self.session, self._region.number
        roots = [root for value in arrays_of(after) for root in session.aliases.roots(value)]
        if not sides_of(after):
            made = [root for root in roots if session.made_in(root) >= inside]
            twins = (twin for root in made for twin in session.aliases.twins.get(root, ()))
            roots = [twin for twin in twins if session.is_alive(twin)]  # not of a pass before
        outer = {root for root in roots if session.made_in(root) < inside}
        known = self._shown.setdefault(name, set())
        is_more = not outer <= known
        known |= outer
        return is_more

    def _is_read_if_set(self, name: str) -> bool:
        return self.hands_on(name) and (self.may_be_unbound(name) or name.startswith(RESULT))

    def _sliding(self, name: str, seen: object, after: Value) -> Sliding | None:
        """How a variable is a window of what it was; None if it may not slide."""
        before = array_of(seen)
        found = sliding(self.session, before, after) if before is not None else None
        is_free = self._stop is None or name not in self.behind
        slides = found is not None and is_free and self._slides and self._may_slide(found)
        return found if slides else None

    def _order(self, after: Variables) -> tuple[int, frozenset[str]]:
        """See ``rotation``, of the variables that the loop carries."""
        carried = {name: x for name, x in after.items() if name in self._at_head}
        return rotation(self.values, carried)

    def _unstable(self, after: Variables) -> list[str]:
        """The variables that another iteration begins with as another kind, or thing."""
        return [
            name
            for name, before in self._seen.items()
            if name in self._at_head
            and not is_same(before, after[name])
            and before is not UNBOUND  # the body assigns it before it reads it
            and not isinstance(self.carried.ways.get(name), _OF_VIEWS)
            and name not in self._round
            and (
                name not in self.carried.params
                or self._form_before(name, before) != carried_form(before, after[name])
            )
        ]

    def _form_before(self, name: str, before: object) -> Form | None:
        """The form of a variable at the begin; of arrays of several sizes what is carried."""
        found, way = carried_form(before, before), self.carried.now[name]
        return way if isinstance(found, Array) and isinstance(way, Union) else found

    def _differ_in_layout(self, unstable: list[str], after: Variables) -> bool:
        """Whether one of them is an array that differs in its layout alone."""
        pairs = ((array_of(self._seen[name]), array_of(after[name])) for name in unstable)
        return any(
            x is not None and y is not None and hold_alike(kind_of(x), kind_of(y)) for x, y in pairs
        )

    def _lay_out(self, unstable: list[str], after: Variables) -> bool:
        """Whether the arrays differ in their layout alone, and are carried as copies."""
        copies = self.carried.lay_out({name: self.values[name] for name in unstable}, after)
        self.values |= copies or {}
        return copies is not None

    def _mix(self, unstable: list[str], after: Variables) -> bool:
        """Make what is Python's number first and NumPy's later carry a flag that tells."""
        if self.wants_first and (self.runs or self._stop is None):
            return False
        forms = {name: carried_form(self._seen[name], after[name]) for name in unstable}
        more: dict[str, Form] = {}
        begins_apart = self._can_begin_apart and self.begun_apart < MOST_APART
        most = 2 if self._can_begin_apart else 3  # an int that becomes a float does so at once
        for name, each in forms.items():
            if each is None or isinstance(each, Number | Array):
                return False
            is_several = isinstance(each, Union) and len(each.options) > 1
            is_sized = isinstance(each, Union) and not is_several
            if begins_apart if is_several else len(types_of(each)) > most + is_sized:
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
        """The form of a variable, or an item, that is one of two after an iteration."""
        if any(x is UNBOUND for x in (left, right)) and self.may_be_unbound(name):
            left = right = right if left is UNBOUND else left
        form = joint_form(left, right) or carried_without_arrays(left, right)
        if form is None:
            raise self.differs(name, left, right, "after another iteration, else")
        return form
