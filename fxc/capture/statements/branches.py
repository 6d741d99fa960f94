"""``if`` in staged code: one arm, or a ``cond`` of both. See Note [Structured statements]."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from fxc.ir.error_kinds import SEVERAL_KINDS
from fxc.ir.errors import CaptureError
from fxc.ir.graph import Literal, Value
from fxc.ir.later import import_later
from fxc.ir.size_guards import Guard, recorders

from ..forms.joining import carried_form, joint_form
from ..forms.truths import demand, truth
from ..forms.variables import is_constant
from ..numbers.python_numbers import logical_not
from ..numbers.varying import holds_here
from ..regions.cells import Cells, is_flag
from ..regions.needed import StatementDoor
from ..regions.recording import Recording
from ..regions.structured import Statement, Variables
from ..session.exceptions import check_no_bug
from ..session.locations import is_outermost
from ..session.refusing import How, Requests, Respecialise, constants, refusal
from ..session.session import Session
from ..staging.continuations import may_ask, request_for
from ..staging.jumps import RESULT
from ..staging.plans import BranchPlan
from ..values.maybe_set import UNBOUND
from ..values.operands import array_of, operand
from .arms import Either, JointForm, ask_one_pool, joined, may_differ, record_cond
from .kept_lists import is_list, is_variable, keep_lists
from .views import CarriedWindow, joint_window

# See Note [Rooms with one door].
ask = import_later("fxc.capture.statements.raised", "ask")
forget = import_later("fxc.capture.statements.raised", "forget")

# Note [Arms that raise]
# An arm may raise an exception when it is captured that it does not raise when it is run: a loop
# begins with ``start = None``, and ``if found: length = i - start`` stands in its body before
# ``start = i``. The capture begins again with a handler around each arm of the branch, which ends
# the arm there: a call that comes to it goes back to Python, as it does where the arm has a
# ``raise``. The variables behind the branch are those of the other arm, and the body is recorded
# again with what they become. What ``and``, ``or`` and ``a if test else b`` evaluate by a condition
# ends so at once.

# Note [Early returns]
# ``if not x.any(): return None`` in front of a function that returns, say, an array of a size that
# is counted, or a dict: what it gives is one thing or another, which cannot be told behind the
# branch. The arm that computes less is an exception, as a rule. The function is captured once more
# without it, and a call in which the test says otherwise is Python's.
_EXPECTED = How.HOLDS, How.FAILS


def end_arm(session: Session) -> None:
    """Note that the arm being captured raises: nobody sees its variables."""
    if session.statements and isinstance(session.statements[-1], Branch):
        session.statements[-1].end_arm()


def raises(door: StatementDoor, error: Any, cause: Any = None) -> None:
    """``raise error() from cause()`` in a branch.

    In one that is captured together with its other arm, a call that comes here goes back to Python.
    """
    if door.session.region:
        ask(door)
        door.session.record("try_demand", Literal(False))
        end_arm(door.session)
    elif cause is None:
        raise door.raising(error())
    else:
        raise door.raising(error()) from cause()


class Branch(Statement):
    """One ``if`` statement: gives ``(arm, *variables)`` for each arm that runs."""

    def __init__(
        self,
        door: StatementDoor,
        test: object,
        given: tuple[Any, ...],
        rebound: object,
        env: Mapping[str, object],
    ) -> None:
        plan = BranchPlan(*given)
        found = truth(test)  # a method that tells it may assign places
        self.cells = Cells(door, rebound)
        added = self.cells.names
        super().__init__(door, plan, added, self.cells.among(env))
        self._behind = frozenset((*plan.behind, *added))
        self._renamed = plan.renamed
        self._test = self._expected(found)
        self._start = self.values
        self._arms: list[tuple[Recording, Variables]] = []
        self._ended: set[int] = set()  # the arms that raise
        self._begun = False
        self._reason = ""  # why a result can only be returned
        self.depth = len(self.session.statements)
        if type(self._test) is not bool:
            self.session.statements.append(self)

    @property
    def ended(self) -> Requests:
        return frozenset({request_for(self.line, How.ENDED)})

    @property
    def fallback(self) -> Requests:
        if type(self._test) is bool:
            return frozenset()
        return constants(self.session.origins.get(self._test._value, ()))

    def advance(self) -> tuple[Any, ...] | None:
        if type(self._test) is bool:
            if self._begun:
                self.session.decided.remove(self)
                return None
            self._begun = True
            self.session.decided.append(self)
            return self._test, *self.handed(self._start)
        if len(self._arms) == 2 and self.make_room(1):
            self._arms, self._ended = [], set()
        if len(self._arms) == 2:
            self._join()
            return None
        beside = self._arms[0][0] if self._arms else None
        guards: dict[Guard, None] | None = {} if self._limits_counters else None
        region = Recording(self.session, guards=guards, beside=beside)
        region.enter()
        self._decided = len(self.session.decided)
        self._arms.append((region, self._start))
        return len(self._arms) == 1, *self.handed(self._start)

    def hands_on(self, name: str) -> bool:
        return name in self._behind

    def take(self, env: Mapping[str, object]) -> None:
        if type(self._test) is bool:
            self.values = self.of(env)
            return
        region, _ = self._arms[-1]
        after = self.of({name: env[name] for name in env if self.hands_on(name)})
        kept = self._keeping_lists(after, env)
        self._arms[-1] = region, self.cells.read_again(kept)
        taken = [each for each in region.guards or () if not holds_here(each)]
        region.leave()
        recorders()[-1].update(dict.fromkeys(taken))

    def _keeping_lists(self, after: Variables, env: Mapping[str, object]) -> Variables:
        """The variables at the end of an arm: see Note [Lists that replace one another]."""
        if not any(map(is_list, after.values())):
            return after
        gone = {*self.names, *self._renamed}
        others = [x for name, x in env.items() if name not in gone and is_variable(name)]
        return keep_lists(self.door, None, self._start, after, others)

    @property
    def recording(self) -> Recording | None:
        region = self._arms[-1][0] if self._arms else None
        return region if region is not None and region.is_open else None

    @property
    def arm(self) -> tuple[Value, bool] | None:  # type: ignore[override]
        return (self._test._value, len(self._arms) == 1) if self.recording is not None else None

    @property
    def _limits_counters(self) -> bool:
        """Whether the test says something of the counters of loops, in either arm."""
        said = (self.session.said_by(self._test._value, holds) for holds in (True, False))
        return any(map(any, said))

    def end_arm(self) -> None:
        """Note that this arm raises."""
        self._ended.add(len(self._arms) - 1)

    def end_raising(self) -> None:
        """End this arm where it has raised an exception. See Note [Arms that raise]."""
        error, session = sys.exception(), self.session
        assert error is not None
        if type(self._test) is bool or isinstance(error, CaptureError):
            raise error
        if not isinstance(error, Exception) or session.statements[-1] is not self:
            raise error
        check_no_bug(error, self.door.raised)
        if session.error is not None:
            raise session.error
        forget(self.door)
        del session.decided[self._decided :]
        session.record("try_demand", Literal(False))
        self.end_arm()

    def _join(self) -> None:
        """Record the node; what differs between the arms becomes a result of it."""
        (then, left), (orelse, right) = self._arms
        self.session.statements.remove(self)
        nothing = dict.fromkeys(self.names, UNBOUND)
        left, right = (nothing if arm in self._ended else x for arm, x in enumerate((left, right)))
        if len(self._ended) == 1:
            left, right = self._with_flags(left, right), self._with_flags(right, left)
        if len(self._ended) == 2:
            end_arm(self.session)
        values: list[Either] = []
        behind = joined(left, right, self._behind, self._form, values)
        test = operand(self._test)
        self.values = behind(record_cond(self.session, test, (then, orelse), values, self._reason))

    def _with_flags(self, values: Variables, others: Variables) -> Variables:
        """The variables behind an arm that raises: flags are what they are behind the other one."""
        flags = {name: y for name, y in others.items() if is_flag(name) and type(y) is bool}
        return {**values, **flags}

    def _form(self, name: str, left: object, right: object, item: str) -> JointForm:
        """The form of what a variable, or an item of it, becomes; None for what only differs."""
        if any(x is UNBOUND for x in (left, right)):
            found = right if left is UNBOUND else left
            if name == RESULT or self._ended or self.may_be_unbound(name):
                if is_constant(found):
                    return None
                left = right = found
        form = joint_form(left, right) or self._window(name, left, right)
        if form is not None:
            return form
        self._reason = self.difference(name, left, right, "if the condition holds, else")
        if name == RESULT and may_differ(left, right, item) and is_outermost("_attempt"):
            return None
        for each in self.session.statements:
            each.meets_difference(name)
        differ, found = may_differ(left, right, item), carried_form(left, right)
        # What follows is no help where a caller or the next iteration has the variable, nor needed
        # where one of the two is None.
        stays_open = (
            self._is_carried(name) or name.startswith(RESULT) or left is None or right is None
        )
        if not (stays_open and (differ or found)):
            self._ask_otherwise()
        if differ:
            return None
        if found is not None:
            return found
        ask_one_pool(self.door, left, right)
        if name == RESULT:
            self._ask_one_arm(refusal(SEVERAL_KINDS, self._reason))
        raise refusal(SEVERAL_KINDS, self._reason)

    def _window(self, name: str, left: object, right: object) -> CarriedWindow | None:
        """What two windows of one array are that a loop carries on."""
        one, other, around = array_of(left), array_of(right), self.session.statements[-1:]
        if one is None or other is None or not (around and around[0].carries(name)):
            return None
        return joint_window(self.session, one, other)

    def _is_carried(self, name: str) -> bool:
        """Whether the next iteration of a loop has a variable, which branches around hand on."""
        for each in reversed(self.session.statements):
            if not isinstance(each, Branch):
                return bool(each.carries(name))
            if not each.hands_on(name):
                return False
        return False

    def _ask_otherwise(self) -> None:
        """Ask for another way than joining what differs. See Note [What follows a branch]."""
        for line in (self.line, *self._lines_around()) if may_ask(self.session.requests) else ():
            if (request := request_for(line, How.WITH_REST)) not in self.session.requests:
                raise Respecialise(request, error=refusal(SEVERAL_KINDS, self._reason))

    def _ask_one_arm(self, error: CaptureError) -> None:
        """Ask to expect the arm that computes more. See Note [Early returns]."""
        few, more = sorted((region.steps, arm) for arm, (region, _) in enumerate(self._arms))
        if self.session.region or few[0] == more[0] or not self.door.outside.derives:
            return
        request = request_for(self.line, _EXPECTED[more[1]])
        if request not in self.session.requests:
            raise Respecialise(request, error=error)

    def _expected(self, test: object) -> Any:
        """The test; a known one where one arm is expected."""
        for how, holds in zip(_EXPECTED, (True, False), strict=True):
            if type(test) is not bool and request_for(self.line, how) in self.door.session.requests:
                demand(test if holds else logical_not(test))
                return holds
        return test

    def _lines_around(self) -> Iterator[str]:
        """The lines of the branches that this one stands in, up to a loop: those with a known test,
        too, for what follows them may be needed to tell two things apart.
        """
        statements = self.session.statements
        for depth in range(len(statements), -1, -1):
            known = (each for each in reversed(self.session.decided) if each.depth == depth)
            yield from (each.line for each in known)
            if not (depth and isinstance(statements[depth - 1], Branch)):
                return
            yield statements[depth - 1].line
