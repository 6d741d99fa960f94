"""``while`` in staged code. See Note [Structured statements]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fxc.ir.error_kinds import LOOP_VARIABLE
from fxc.ir.graph import Literal, Operand
from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim, symbol
from fxc.ir.types import PY_INT

from ..arrays.traced_scalar import TracedScalar
from ..forms.form import FLAG, Number
from ..forms.truths import flag_of, going_on
from ..numbers.traced_int import wrap_dim
from ..regions.loop_guards import check_guards
from ..regions.needed import StatementDoor
from ..regions.recording import Recording, empty_region
from ..regions.structured import Variables
from ..session.refusing import How, Requests, constants, refusal
from ..staging.plans import LoopPlan
from ..values.operands import operand, variable_of
from .arms import Either
from .loops import CapturedLoop, Round
from .outcome import Outcome
from .views import Sliding, trips


class WhileLoop(CapturedLoop):
    """A ``while`` statement: gives the variables for each time that its test or body is run.

    The test is run before the loop and at the end of the body; the loop carries what it gave.
    """

    def __init__(
        self,
        door: StatementDoor,
        given: tuple[Any, ...],
        rebound: object,
        env: Mapping[str, object],
    ) -> None:
        super().__init__(door, LoopPlan(*given), rebound, env)
        self._phase = "python" if self.by_python else "first test"
        if not self.by_python:
            self._spread_tuples(self._env)
        self._first: Any = None  # what the first test gave
        self._going: Any = None  # the parameter that says so in the body
        self._count: Dim | None = None  # of the iterations, if arrays slide and it is known
        self._index: Any = None
        self._after: Variables = {}
        self._apart = False
        self._stopped: Any = False
        self._unless: Recording | None = None  # where the test is run if the body has not stopped
        # Those that have been recorded: whether there is a next one, the variables then, and where
        # the next one is recorded.
        self._rounds: list[Round] = []

    @property
    def runs(self) -> bool:
        return self._first is True

    def ran(self) -> Operand | None:
        return flag_of(self._first)

    @property
    def elapsed(self) -> Dim | None:
        return None if self._index is None else self._counter

    def _may_slide(self, found: Sliding) -> bool:
        return self._first is True and self._stop is None and self._every == 1

    @property
    def fallback(self) -> Requests:
        if self.first_apart:
            return self.first_apart
        if self._first is True:
            return self._to(How.UNROLLED)
        if self._first is None:
            return frozenset()
        return constants(self.session.origins.get(self._first._value, ()))

    def enters(self) -> bool:
        """Whether the body is run without another test."""
        return self._phase in ("body", "first iteration")

    def advance(self) -> tuple[Any, ...] | None:
        if self._phase == "test" and self._stopped is True:
            self._close(False)  # nothing asks for the test behind a body that always stops
        if self._phase == "done":
            return None
        if self._phase in ("test", "first test") and type(self._stopped) is not bool:
            self._unless = Recording(self.session)
            self._unless.enter()
        if self._phase == "test":
            return tuple(self.handed(self._after))
        if self._phase == "next round":
            self._phase = "body"
            return tuple(self.handed(self._after))
        if self._phase != "body":
            return tuple(self.state)
        region = Recording(self.session, "loop", guards={})
        region.enter()
        (self._going,) = region.params([FLAG], ["going"])
        if self.carried.of(Sliding):
            (self._index,) = region.params([PY_INT], ["i"])
            name, count = self._index.name, self._count
            self.session.counts(self._index, 0, count)
            middle = 0 if count is None else (hint(count) - 1) // 2
            self._counter = symbol(name, hint=middle, lower=0)
        self._begin(region)
        return tuple(self.handed(self._seen))

    def test(self, value: object) -> bool:
        """Take what the test gave; whether the body is run now."""
        found = going_on(value)
        if self._phase == "first test" and self._unless is not None:
            found, self._stopped = variable_of(self._goes_on(found)), False
        if self._phase == "test":
            self._after = self._read_again(self._after)
        else:
            self.values = self._read_again(self.values)
        if self._phase == "python":
            self._check_unrolled()
            if not found:
                self._phase = "done"
            return bool(found)
        if self._phase == "test":
            self._close(found)
        elif found is False:
            self._phase = "done"
        else:
            self._first = found
            self._phase = "body"
            if self.wants_first and found is True and not self._apart:
                self._phase, self._apart = "first iteration", True
                return False
            self.session.statements.append(self)
        return False

    def take(self, env: Mapping[str, object]) -> None:
        if self._phase == "body":
            self._spread_tuples(env)
        if self._phase == "first iteration":
            env = self._with_made(env)
        after = self.of(env)
        stopped = env[self._stop] if self._stop is not None else False
        if self._phase == "body":
            if self._every == 1:
                after = self._keeping_lists(after)
            after = self._as_before(after)
            self._after, self._stopped, self._phase = after, going_on(stopped), "test"
            return
        self.values = self._turned(after) if self._phase == "first iteration" else after
        self._look_at(env)
        if self._phase != "python":
            self._spread_tuples(env)
        stopped = going_on(stopped)
        if self._phase == "first iteration":
            self._stopped = stopped
            self._phase = "done" if stopped is True else "first test"
        elif bool(stopped):
            self._phase = "done"

    def _close(self, found: object) -> None:
        """The end of the region, behind the second test."""
        region = self._region
        assert region is not None
        going = self._goes_on(found)
        if self._has_new_tuples and self._every > 1:
            raise refusal(
                LOOP_VARIABLE,
                "tuples beside arrays that change their names in a loop are not captured",
            )
        if len(self._rounds) + 1 < self._every:
            self._rounds.append((going, self._after, Recording(self.session)))
            self._rounds[-1][-1].enter()
            self._phase = "next round"
            return
        while self._rounds:
            going = self._joined(going)
        region.leave()
        self._phase = "body"
        if not self._is_settled(self._after, None):
            return
        if self.carried.of(Sliding):
            self._close_counted(region, found)
            return
        outcome = Outcome(self, region, self._after)
        params = [self._going, *outcome.params]
        tester = Recording(self.session)
        with tester:
            tested = tester.params([param.type for param in params], [None] * len(params))
        outputs = self.session.record(
            "while_loop",
            (flag_of(self._first), *outcome.init),
            test=tester.finished(tested, [tested[0]]),
            body=region.finished(params, [going, *outcome.results]),
        )
        assert region.guards is not None
        check_guards(region.guards, None, 0, 0, self.session.varies)
        outcome.finish(outputs[1:], None)
        self._phase = "done"

    def _permuted(self, after: Variables) -> bool:
        self._every, self._round = self._order(after)
        return self._every > 1

    def _begins_apart(self) -> bool:
        if self._first is True:
            self.session.statements.remove(self)
            self._phase = "first iteration"
        return self._first is True

    def _joined(self, going: Operand) -> Operand:
        """End the region of the last round, which is run only if there was a next iteration.

        Gives whether there is another one behind it.
        """
        goes_on: Either = Number(FLAG), variable_of(going), np.False_, ""
        self._after, (flag,) = self._joined_with(self._rounds.pop(), self._after, goes_on)
        return operand(flag)

    def _close_counted(self, region: Recording, found: object) -> None:
        """The end of a loop in which arrays slide. See Note [Sliding views]."""
        name = self._index.name
        if self._count is None:
            if type(found) is TracedScalar and found._value in self.session.relations:
                self._count = trips(self.session.relations[found._value], name)
            self._slides = self._count is not None
            if not self._slides:
                self.carried.stop_sliding()
            self._phase = "body"
            return
        outcome = Outcome(self, region, self._after)
        assert region.guards is not None
        check_guards(region.guards, name, 0, self._count, self.session.varies)
        ends = Literal(0), operand(wrap_dim(self._count))
        body = region.finished([self._index, *outcome.params], outcome.results)
        outputs = self.session.record("fori_loop", *ends, tuple(outcome.init), body=body)
        outcome.finish(outputs, self._count)
        self._phase = "done"

    def _goes_on(self, found: object) -> Operand:
        """Whether there is another iteration: the body has not stopped, and the test holds."""
        if self._unless is None:
            return Literal(np.bool_(False)) if self._stopped else flag_of(found)
        flag = flag_of(found)
        self._unless.leave()
        (going,) = self.session.record(
            "cond",
            self._stopped._value,
            (),
            on_true=empty_region(self.session).finished((), [Literal(np.bool_(False))]),
            on_false=self._unless.finished((), [flag]),
        )
        self._unless = None
        result: Operand = going
        return result
