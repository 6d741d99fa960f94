"""``for`` in staged code. See Note [Structured statements]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import islice
from typing import Any

from fxc.ir.error_kinds import CHANGE_IN_LOOP
from fxc.ir.graph import Operand, Value
from fxc.ir.size_functions import floordiv, hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, symbol, symbols_of
from fxc.ir.types import PY_INT

from ..arrays.counting import bound_size
from ..forms.truths import flag_of, going_on
from ..numbers.python_numbers import arithmetic, logical_not, to_bool, to_int
from ..numbers.traced_int import TracedInt, wrap_dim
from ..numbers.varying import decide_in_loops
from ..regions.counted import Bounded, Counted
from ..regions.loop_guards import check_guards
from ..regions.needed import StatementDoor
from ..regions.recording import Recording
from ..regions.structured import Variables
from ..session.refusing import How, Requests, Respecialise, constants, refusal
from ..staging.plans import LoopPlan
from ..values.maybe_set import UNBOUND
from ..values.operands import operand, record, wrap
from .few_iterations import NONE_TO_COPY, iterations_of
from .loops import CapturedLoop, Round
from .outcome import Outcome
from .views import Sliding

_MOST_ROUNDS = 8  # of them, one in the other, if each may end the loop
_MOST_RUNS = 5_000  # iterations that Python runs instead
_FEW_ITEMS = 16  # of a list, which are better known one by one


class ForLoop(CapturedLoop):
    """A ``for`` statement: gives ``(item, *variables)`` for each time that the body is run."""

    def __init__(
        self,
        door: StatementDoor,
        iterable: Any,
        given: tuple[Any, ...],
        rebound: object,
        env: Mapping[str, object],
    ) -> None:
        plan = LoopPlan(*given)
        super().__init__(door, plan, rebound, env)
        self._few = NONE_TO_COPY
        if not self.by_python:
            self._few = iterations_of(self.session, self._label, iterable, plan.deep)
        found = self._few.over
        self.session.retries |= self._few.otherwise
        self._items: Any = iter(iterable) if found is None else None
        self.over: Any = found
        self._first = 0
        self._index: Any = None
        self._ends_apart = False  # the iterations behind the last round are under conditions
        self._run = 0
        self._peeling = False
        self._runs = False  # there is an iteration for sure
        self._goes_on: Any = None  # 0 if the iteration before the loop has ended it, else 1
        self._rounds: list[Round] = []  # of those that Python runs, if the ones before did not stop
        if found is not None:
            if type(found) is Counted:
                self.session.door.lists.begin_to_grow(env.get(name) for name in plan.grows)
            self._spread_tuples(self._env)
            self.session.statements.append(self)
            found.taken()
            if type(found) is Counted:
                self._look()
                self._peeling = self._runs and self.wants_first

    @property
    def runs(self) -> bool:
        return self._runs

    def ran(self) -> Operand | None:
        if type(self.over) is not Bounded:
            return None
        return flag_of(record("py_less", *self._bounds()))

    @property
    def tells_first(self) -> bool:
        return True

    def is_first(self) -> Operand:
        return flag_of(record("py_equal", self._index, self._bounds()[0]))

    @property
    def elapsed(self) -> Dim | None:
        if type(self.over) is not Counted or self._every > 1:
            return None
        return self._counter - self._first

    @property
    def iterations(self) -> Dim | None:
        return self.over.count - self._first if type(self.over) is Counted else None

    def is_steady(self) -> bool:
        return self._stop is None and self._every == 1 and self.iterations is not None

    def _may_slide(self, found: Sliding) -> bool:
        return self._runs and self.elapsed is not None and not found.varies(self._index.name)

    @property
    def recording(self) -> Recording | None:
        if self._rounds and How.AS_A_WHOLE in self.session.asked(self._label):
            raise refusal(
                CHANGE_IN_LOOP,
                "a change to an object in the iterations of a loop that Python runs is not "
                "captured",
            )
        if self._rounds and self._ends_apart:
            raise Respecialise(*self._to(How.BY_LENGTH))
        if self._rounds:  # which are recorded once
            raise Respecialise(*self._to(How.AS_A_WHOLE))
        return super().recording

    @property
    def _most(self) -> Dim | None:
        """The most iterations that there may be; None if that is not known."""
        count = self.iterations
        return None if count is None or self.session.varies(count) else count

    def _look(self) -> None:
        """Look whether there is another iteration."""
        left = self.over.count - self._first
        if self.session.varies(left):
            found = decide_in_loops(left, ">", 0)
        else:
            found = guard(left, ">", 0)
        self._runs = found is True
        if found is False:
            self._run_by_python(())

    def _run_by_python(self, items: Any) -> None:
        self._items = iter(items)
        self.session.statements.remove(self)

    @property
    def fallback(self) -> Requests:
        if self._few.otherwise:
            return self._few.otherwise
        if self.first_apart:
            return self.first_apart
        if self._rounds and self._ends_apart:
            return self._to(How.BY_LENGTH)
        if type(self.over) is Counted and hint(self.over.count) <= _MOST_RUNS:
            return self._to(How.UNROLLED)
        return frozenset()

    def few(self, counters: Set[str]) -> Requests:
        is_its = self._index is not None and self._index.name in counters
        if is_its and type(self.over) is Counted and hint(self.over.count) <= _FEW_ITEMS:
            names = symbols_of(self.over.count).keys() - self.session.counters.keys()
            return self._to(How.UNROLLED) | constants(self.session.labels_of(names))
        return frozenset()

    @property
    def elsewhere(self) -> Requests:
        # The middle iteration may be unlike the others: ``for i in range(k + 1, n)`` has none if it
        # is the last. And when the body is recorded for the first time, an array that grows still
        # has the size of the first iteration.
        several = type(self.over) is Counted and hint(self.over.count) > 1
        return self._to(How.BY_FIRST) if several else frozenset()

    def advance(self) -> tuple[Any, ...] | None:
        if self._items is not None:
            item = self._next()
            return None if item is None else (*item, *self.state)
        if self._peeling:
            variables = self.state
            return self.over.item(self._first), *variables
        if not self._run:
            self._enter()
        variables = self.handed(self._seen)
        return self._item(), *variables  # a function that makes it may assign places

    def _enter(self) -> None:
        """Begin to record the body."""
        region = Recording(self.session, "loop", guards={})
        region.enter()
        (self._index,) = region.params([PY_INT], ["i"])
        if type(self.over) is Counted:
            name, (low, high) = self._index.name, self._ends
            self.session.counts(self._index, low, high)
            by_first = How.BY_FIRST in self.session.asked(self._label)
            middle = hint(low) + (0 if by_first else (hint(high) - hint(low)) // 2)
            self._counter = symbol(name, hint=middle, lower=low if isinstance(low, int) else None)
        for each in self.paces:
            each.begin_pass()
        self._begin(region)

    @property
    def _ends(self) -> tuple[Dim, Dim]:
        """The first number of the counter, and one past its last."""
        if self._every == 1:
            return self._first, self.over.count
        return 0, floordiv(self.over.count - self._first, self._every)

    def _item(self) -> object:
        """What the target becomes in this run of the body."""
        if type(self.over) is Bounded:
            if self.over.item is not None:
                return self.over.item(wrap(self._index))
            bounds = [operand(self.over.low), operand(self.over.high)]
            values = [each for each in bounds if isinstance(each, Value)]
            known = self.session.origins
            if all(value in known for value in values):  # Python may know the number, if need be
                known[self._index] = frozenset[str]().union(*(known[value] for value in values))
            return wrap(self._index)
        if self._every == 1:
            return self.over.item(TracedInt(self._counter))
        return self.over.item(wrap_dim(self._counter * self._every + (self._first + self._run)))

    def take(self, env: Mapping[str, object]) -> None:
        if self._region is not None and self._items is None:
            self._spread_tuples(env)
        if self._peeling:
            self._peeled(self._with_made(env))
            return
        after = self.of(env)
        if self._items is not None:
            self.values = after
            if self._few.is_too_much(self.session.operations - self._operations):
                raise Respecialise(*self._few.seen)
            self._few = NONE_TO_COPY
            if self._stop is not None:
                self._end_if(going_on(env[self._stop]))
            return
        region = self._region
        assert region is not None
        if self._every == 1:
            after = self._keeping_lists(after)
        after = self._as_before(after)
        self._run += 1
        if self._run < self._every:
            self._seen = after
            return
        self._run = 0
        region.leave()
        for each in self.paces:
            each.end_pass()
        self._seen = self._start
        if self._is_settled(after, self._most):
            self._record(region, after, env)

    def _begins_apart(self) -> bool:
        self._peeling = self._runs and self._every == 1
        return self._peeling

    def _next(self) -> tuple[Any] | None:
        """The item of the next of the iterations that are run by Python."""
        self._check_unrolled()
        before = self.cells.held()
        found = tuple(islice(self._items, 1))
        if any(x is not y for x, y in zip(before, self.cells.held(), strict=True)):
            self.values = self._read_again(self.values)  # a generator has assigned places
        if found:
            return found
        if self._rounds:
            self.session.statements.remove(self)
        while self._rounds:
            self.values, _ = self._joined_with(self._rounds.pop(), self.values)
        return None

    def _end_if(self, stopped: object) -> None:
        """Go on unless an iteration that was run by Python has ended the loop; what is not known
        now is the condition for the ones to come.
        """
        if type(stopped) is bool or len(self._rounds) == _MOST_ROUNDS:
            self._items = iter(()) if stopped else self._items
            return
        self._enter_if(logical_not(stopped))

    def _enter_if(self, test: object) -> None:
        """Capture what comes under a condition, up to the end of the loop."""
        if not self._rounds:
            self.session.statements.append(self)
        arm = Recording(self.session)
        self._rounds.append((flag_of(test), self.values, arm))
        arm.enter()

    def _permuted(self, after: Variables) -> bool:
        every, _ = self._order(after)
        if every == 1 or not self._runs or self._stop is not None:
            return False
        count = self.over.count - self._first
        if isinstance(count, int) or not self._may_end_apart:
            if not guard(count, ">=", every):
                self._run_by_python(self.over.item(k) for k in self._indices(self._first))
                return True
        else:  # there may be none of the rounds
            self._ends_apart, self._runs = True, False
        self._every = every
        return True

    @property
    def _may_end_apart(self) -> bool:
        """Whether the iterations behind the last round may be captured under conditions, so that
        one capture is for every number of them: what the loop makes is joined then.
        """
        session = self.session
        bound = all(x is not UNBOUND for name, x in self.values.items() if name in self.behind)
        return (
            not session.region
            and bound
            and How.BY_LENGTH not in self.session.asked(self._label)
            and not session.varies(self.over.count)
        )

    def _indices(self, first: Dim) -> Iterator[Any]:
        """The numbers of the last iterations, as many as there are in this call."""
        number = self.over.count - first
        guard(number, "==", hint(number))
        return (wrap_dim(first + k) for k in range(hint(number)))

    def _peeled(self, env: Mapping[str, object]) -> None:
        """Go on behind an iteration that was run before the loop."""
        self.values = self._turned(self.of(env))
        self._look_at(env)
        self._seen = self._start = {}
        self._spread_tuples(env)
        self._peeling = False
        self.carried.forget_first()
        self._first += 1
        self.begun_apart += 1
        stopped = going_on(env[self._stop]) if self._stop is not None else False
        if stopped is True:
            self._run_by_python(())
            return
        self._look()
        if stopped is not False:  # then there are no more iterations
            self._goes_on = to_int(logical_not(to_bool(stopped)))
            self._runs = False

    def _record(self, region: Recording, after: Variables, env: Mapping[str, object]) -> None:
        outcome = Outcome(self, region, after)
        results, options = outcome.results, dict[str, Any]()
        if self._stop is not None:
            results = [*results, operand(env[self._stop])]
            options["stops"] = True
        low, high = self._bounds()
        assert region.guards is not None
        name = self._index.name if type(self.over) is Counted else None
        begin, end = self._ends if type(self.over) is Counted else (0, 0)
        check_guards(region.guards, name, begin, end, self.session.varies)
        body = region.finished([self._index, *outcome.params], results)
        init = tuple(outcome.init)
        outputs = self.session.record("fori_loop", low, high, init, body=body, **options)
        outcome.finish(outputs, self.iterations)
        for each in self.paces:
            each.end()
        self._items = iter(())
        if self._every > 1:
            done = self._first + self._ends[1] * self._every
            if self._ends_apart:
                self._items = self._last_items(done)
            else:
                self._items = (self.over.item(k) for k in self._indices(done))

    def _last_items(self, first: Dim) -> Iterator[Any]:
        """The items behind the last round, each for an iteration under a condition. The place of an
        item is a number of the graph, as there is such an item under the condition alone.
        """
        left = self.over.count - first
        for k in range(self._every - 1):
            test = arithmetic("gt", wrap_dim(left), k)
            self._enter_if(test)
            place = self.session.size_operand(first + k)
            yield self.over.item(wrap_dim(bound_size(place, self.over.count - 1)))

    def _bounds(self) -> tuple[Operand, Operand]:
        if type(self.over) is Bounded:
            return operand(self.over.low), operand(self.over.high)
        first, last = self._ends
        if self._goes_on is None:
            return operand(wrap_dim(first)), operand(wrap_dim(last))
        end = operand(first + self._goes_on * wrap_dim(last - first))
        # A size that depends on the counter is no larger than it would be in the last one.
        return operand(wrap_dim(first)), operand(wrap_dim(bound_size(end, last)))
