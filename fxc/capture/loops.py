"""``for`` and ``while`` in staged code: run by Python, or captured once.

See Note [Structured statements].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.symbols import Dim, floordiv, guard, hint, symbol
from fxc.ir.types import ScalarType

from .choices import flag_of
from .counted import Bounded, Counted, counted
from .jumps import RESULT
from .loop_guards import check_guards
from .operands import operand, wrap
from .session import refuse
from .structured import (
    INT,
    UNBOUND,
    Recording,
    Statement,
    array_of,
    described,
    going_on,
    is_number,
    is_same,
    joint_kinds,
    kind_text,
    of_parts,
    parts_of,
    placeholder,
)
from .traced_int import TracedInt, decide_in_loops, wrap_dim

FEW = 4  # iterations that Python runs in any case
_MOST_RUNS = 5_000  # iterations that Python runs instead
_MOST_PASSES = 8
_MOST_NAMES = 4  # that go round


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
        stop: str | None,
        env: Mapping[str, Any],
    ) -> None:
        super().__init__(door, line, names, env)
        self._at_head = frozenset(at_head)
        self._behind = frozenset(behind)
        self._stop = stop
        self._label = f"loop {line}"
        self._arrays: set[str] = set()  # those that the loop carries
        self._region: Recording | None = None
        self._params: dict[str, list[Value]] = {}
        self._mixed: dict[str, tuple[Any, ...]] = {}  # types of numbers that become mixed
        self._kinds: dict[str, tuple[Any, ...]] = {}  # types of what the loop carries
        self._seen: list[Any] = []  # the variables at the begin of the body
        self._passes = 0
        self._began = self.session.now
        self._env = env

    @property
    def runs(self) -> bool:
        """Whether there is an iteration for sure."""
        raise NotImplementedError

    @property
    def by_python(self) -> bool:
        """Whether an attempt to capture the loop has failed."""
        return self._label in self.door.outside.static

    @property
    def wants_first(self) -> bool:
        """Whether the first iteration is to be run before the loop."""
        return f"{self._label} first" in self.door.outside.static

    @property
    def first_apart(self) -> frozenset[str]:
        """The request to do so, where it may help: numbers are mixed, or arrays carried."""
        helps = (self._mixed or self._arrays) and not self.wants_first
        return frozenset((f"{self._label} first",)) if helps else frozenset()

    def _begin(self, region: Recording) -> None:
        """Make parameters; the region is entered."""
        self._passes += 1
        if self._passes > _MOST_PASSES:
            raise refuse("the variables of this loop change their types again and again")
        self._region = region
        self._params, self._kinds = {}, {}
        self._seen = self._start = list(self.state)
        if not self.runs:  # without an iteration the variables are what they are before it
            bound = (
                name for name, x in zip(self.names, self.state, strict=True) if x is not UNBOUND
            )
            self._at_head |= self._behind.intersection(bound)
        for place, name in enumerate(self.names):
            start = self.state[place]
            if name not in self._at_head or not (is_number(start) or name in self._arrays):
                continue
            kinds = self._mixed.get(name) or joint_kinds(start, start)
            assert kinds is not None
            self._kinds[name] = kinds
            params = region.params(kinds, [name, *[None] * (len(kinds) - 1)])
            self._params[name] = params
            self._seen[place] = of_parts(params)
            before = array_of(start)
            if before is not None and not self._is_ours(name, before):
                self.session.may_be_one(params[0], before)

    def _is_ours(self, name: str, value: Value) -> bool:
        """Whether an array was made by an iteration before, and nobody else has it."""
        session = self.session
        made = session.made.get(value)
        if made is None or made.at < self._began or value in session.bases:
            return False
        others = (array_of(x) for each, x in self._env.items() if each != name)
        return all(other is None or session.root(other) is not value for other in others)

    def _forget(self) -> None:
        """The parameters are gone: their memory is nobody's."""
        for params in self._params.values():
            self.session.no_longer_one(params[0])

    def _kinds_differ(self, unstable: list[str], after: list[Any]) -> Exception:
        place = self.names.index(unstable[0])
        where = "before the loop, after an iteration"
        return self.differs(unstable[0], self._seen[place], after[place], where)

    def _changed(self, after: list[Any]) -> bool:
        """Whether the body has to be captured again: an array is another one afterwards."""
        found = False
        for name, before, x in zip(self.names, self._seen, after, strict=True):
            if name in self._params or name not in self._at_head or is_same(before, x):
                continue
            value = array_of(x)
            if value is not None and array_of(before) is not None and self._is_new(value):
                self._arrays.add(name)
                found = True
        return found

    def _is_new(self, value: Value) -> bool:
        """Whether an array was made by the body, or is a part of one."""
        assert self._region is not None
        return self.session.made_in(self.session.root(value)) >= self._region.number

    def _unstable(self, after: list[Any]) -> list[str]:
        """The variables that are of another kind at the begin of the second iteration."""
        return [
            name
            for name, before, x in zip(self.names, self._seen, after, strict=True)
            if name in self._at_head
            and not is_same(before, x)
            and not (before is UNBOUND and name == RESULT)
            and joint_kinds(before, before) != joint_kinds(before, x)
        ]

    def _mix(self, unstable: list[str], after: list[Any]) -> bool:
        """Make what is Python's number first and NumPy's later carry a flag that tells."""
        if self.wants_first:
            return False
        found = dict(zip(self.names, zip(self._seen, after, strict=True), strict=True))
        kinds = {name: joint_kinds(*found[name]) for name in unstable}
        if None in kinds.values():
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
        for name, x, start in zip(self.names, after, self.state, strict=True):
            carried = name in self._params
            if not carried and (name not in self._behind or is_same(x, start)):
                continue
            names.append(name)
            kinds = self._kinds.get(name) or joint_kinds(x, x)
            if kinds is None:
                raise refuse(
                    f"{described(name)} is {kind_text(x)} after an iteration of this loop, which "
                    "cannot be captured; use an array or a number"
                )
            self._kinds[name] = kinds
            with region:
                results += self._given(region, name, x, kinds, results)
                if not carried:
                    self._params[name] = region.params(kinds, [None] * len(kinds))
            if carried:
                init += parts_of(start, kinds)
            else:
                init += [placeholder(self.session, kind) for kind in kinds]
        return names, init, results

    def _given(
        self,
        region: Recording,
        name: str,
        x: Any,
        kinds: tuple[Any, ...],
        taken: list[Operand],
    ) -> list[Operand]:
        """What an iteration gives for a variable; the region is entered."""
        parts = parts_of(x, kinds)
        found = array_of(x)
        if found is None or found in self._params.get(name, ()):
            return parts
        if not region.is_fresh(found) or found in taken:
            raise refuse(
                f"{described(name)} is another array, or a part of one, after an iteration of this "
                "loop, which cannot be captured; write to an array in place, or use .copy()"
            )
        return parts

    def _finish(
        self, names: list[str], outputs: Sequence[Value], results: list[Operand], runs: bool
    ) -> None:
        """The variables behind the loop; ``runs`` says that there is an iteration for sure."""
        found = {}
        given = iter(zip(outputs, results, strict=True))
        for name in names:
            parts = [next(given) for _ in self._kinds[name]]
            operands: list[Operand] = [output for output, _ in parts]
            if runs and isinstance(parts[-1][1], Literal) and len(parts) == 2:
                operands[1] = parts[1][1]  # the same after each iteration
            found[name] = of_parts(operands)
        for name, start in zip(self.names, self.state, strict=True):
            if runs or name not in found or name not in self._behind:
                continue
            if start is UNBOUND and name != RESULT:
                raise refuse(
                    f"{name} has a value behind this loop only if there is an iteration; give it "
                    "one before"
                )
            before, behind = array_of(start), array_of(found[name])
            if before is not None and behind is not None:
                self.session.may_be_one(behind, before)
        self.state = [
            found.get(name, start) for name, start in zip(self.names, self.state, strict=True)
        ]
        self.session.statements.remove(self)


class ForLoop(CapturedLoop):
    """A ``for`` statement: gives ``(item, *variables)`` for each time that the body is run."""

    def __init__(
        self,
        door: Any,
        iterable: Any,
        line: str,
        names: tuple[str, ...],
        at_head: tuple[str, ...],
        behind: tuple[str, ...],
        stop: str | None,
        env: Mapping[str, Any],
    ) -> None:
        super().__init__(door, line, names, at_head, behind, stop, env)
        found = None if self.by_python else counted(iterable)
        if type(found) is Counted and type(found.count) is int and found.count <= FEW:
            found = None
        self._items: Any = iter(iterable) if found is None else None
        self._over: Any = found
        self._first = 0
        self._index: Any = None
        self._every = 1  # iterations that the body stands for: after so many all names are back
        self._run = 0
        self._peeling = False
        self._runs = False  # there is an iteration for sure
        if found is not None:
            self.session.statements.append(self)
            if type(found) is Counted:
                found.taken()
                self._look()
                self._peeling = self._runs and self.wants_first

    @property
    def runs(self) -> bool:
        return self._runs

    def _look(self) -> None:
        """Look whether there is another iteration."""
        left = self._over.count - self._first
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
    def fallback(self) -> frozenset[str]:
        if self.first_apart:
            return self.first_apart
        if type(self._over) is Counted and hint(self._over.count) <= _MOST_RUNS:
            return frozenset((self._label,))
        return frozenset()

    def __next__(self) -> tuple[Any, ...]:
        if self._items is not None:
            return next(self._items), *self.state
        if self._peeling:
            return self._over.item(self._first), *self.state
        if self._run:
            return self._item(), *self._seen
        region = Recording(self.session, loop=True)
        region.enter()
        (self._index,) = region.params([INT], ["i"])
        if type(self._over) is Counted:
            name, (low, high) = self._index.name, self._ends
            self.session.counters[name] = low, high
            middle = hint(low) + (hint(high) - hint(low)) // 2
            self._counter = symbol(name, hint=middle, lower=low if isinstance(low, int) else None)
        self._begin(region)
        return self._item(), *self._seen

    @property
    def _ends(self) -> tuple[Dim, Dim]:
        """The first number of the counter, and one past its last."""
        if self._every == 1:
            return self._first, self._over.count
        return 0, floordiv(self._over.count - self._first, self._every)

    def _item(self) -> Any:
        """What the target becomes in this run of the body."""
        if type(self._over) is Bounded:
            bounds = [operand(self._over.low), operand(self._over.high)]
            values = [each for each in bounds if isinstance(each, Value)]
            known = self.session.origins
            if all(value in known for value in values):  # Python may know the number, if need be
                known[self._index] = frozenset[str]().union(*(known[value] for value in values))
            return wrap(self._index)
        if self._every == 1:
            return self._over.item(TracedInt(self._counter))
        return self._over.item(wrap_dim(self._counter * self._every + (self._first + self._run)))

    def step(self, env: Mapping[str, Any]) -> None:
        """Take back the variables at the end of the body."""
        after = self.of(env)
        if self._items is not None:
            self.state = after
            if self._stop is not None and bool(env[self._stop]):
                self._items = iter(())
            return
        if self._peeling:
            self._peeled(after, env)
            return
        region = self._region
        assert region is not None
        self._run += 1
        if self._run < self._every:
            self._seen = after
            return
        self._run = 0
        region.leave()
        self._forget()
        self._seen = self._start
        if self._every == 1 and self._permuted(after):
            return
        if self._changed(after):
            return
        unstable = self._unstable(after)
        if unstable and self._mix(unstable, after):
            return
        if unstable:
            if not self._runs or self._every > 1:
                raise self._kinds_differ(unstable, after)
            self._peeling = True
            return
        self._record(region, after, env)

    def _permuted(self, after: list[Any]) -> bool:
        """Whether arrays have changed their names: then the body is run until they are back."""
        starts = [array_of(x) for x in self.state]
        source: dict[int, int] = {}
        for place, x in enumerate(after):
            value = array_of(x)
            if self.names[place] in self._at_head and value is not None and value in starts:
                source[place] = starts.index(value)
        moved = {place: other for place, other in source.items() if place != other}
        if not moved or set(moved) != set(moved.values()) or not self._runs:
            return False
        every, now = 1, dict(moved)
        while any(place != other for place, other in now.items()):
            now = {place: moved[other] for place, other in now.items()}
            every += 1
        if every > _MOST_NAMES or self._stop is not None:
            raise refuse("arrays that change their names in this way in a loop are not captured")
        if not guard(self._over.count - self._first, ">=", every):
            self._run_by_python(self._over.item(k) for k in self._indices(self._first))
            return True
        self._every = every
        return True

    def _indices(self, first: Dim) -> Iterator[Any]:
        """The numbers of the last iterations, as many as there are in this call."""
        number = self._over.count - first
        guard(number, "==", hint(number))
        return (wrap_dim(first + k) for k in range(hint(number)))

    def _peeled(self, after: list[Any], env: Mapping[str, Any]) -> None:
        """Go on behind an iteration that was run before the loop."""
        self.state, self._env = after, env
        self._peeling = False
        self._mixed.clear()
        self._first += 1
        stopped = self._stop is not None and bool(env[self._stop])
        if stopped:
            self._run_by_python(())
        else:
            self._look()

    def _record(self, region: Recording, after: list[Any], env: Mapping[str, Any]) -> None:
        names, init, results = self._results(after)
        options: dict[str, Any] = {}
        if self._stop is not None:
            results.append(operand(env[self._stop]))
            options["stops"] = True
        params = [self._index, *(each for name in names for each in self._params[name])]
        low, high = self._bounds()
        if type(self._over) is Counted:
            assert region.guards is not None
            check_guards(region.guards, self._index.name, *self._ends)
        body = region.finished(params, results)
        outputs = self.session.record("fori_loop", low, high, tuple(init), body=body, **options)
        self._finish(names, outputs, results[: len(outputs)], self._runs)
        self._items = iter(())
        if self._every > 1:
            done = self._first + self._ends[1] * self._every
            self._items = (self._over.item(k) for k in self._indices(done))

    def _bounds(self) -> tuple[Operand, Operand]:
        if type(self._over) is Bounded:
            return operand(self._over.low), operand(self._over.high)
        low, high = (
            Literal(dim) if isinstance(dim, int) else operand(TracedInt(dim)) for dim in self._ends
        )
        return low, high


class WhileLoop(CapturedLoop):
    """A ``while`` statement: gives the variables for each time that its test or body is run.

    The test is run before the loop and at the end of the body; the loop carries what it gave.
    """

    def __init__(self, door: Any, *args: Any) -> None:
        super().__init__(door, *args)
        self._phase = "python" if self.by_python else "first test"
        self._first: Any = None  # what the first test gave
        self._going: Any = None  # the parameter that says so in the body
        self._after: list[Any] = []
        self._apart = False
        self._stopped: Any = False
        self._unless: Recording | None = None  # where the test is run if the body has not stopped

    @property
    def runs(self) -> bool:
        return self._first is True

    @property
    def fallback(self) -> frozenset[str]:
        if self.first_apart:
            return self.first_apart
        if self._first is True:
            return frozenset((self._label,))
        if self._first is None:
            return frozenset()
        return self.session.origins.get(self._first._value, frozenset())

    def enters(self) -> bool:
        """Whether the body is run without another test."""
        return self._phase in ("body", "first iteration")

    def __next__(self) -> tuple[Any, ...]:
        if self._phase == "done":
            raise StopIteration
        if self._phase == "test":
            if type(self._stopped) is not bool:
                self._unless = Recording(self.session)
                self._unless.enter()
            return tuple(self._after)
        if self._phase != "body":
            return tuple(self.state)
        region = Recording(self.session, loop=True)
        region.enter()
        (self._going,) = region.params([ScalarType(np.dtype(bool))], ["going"])
        self._begin(region)
        return tuple(self._seen)

    def test(self, value: Any) -> bool:
        """Take what the test gave; whether the body is run now."""
        found = going_on(value)
        if self._phase == "python":
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

    def step(self, env: Mapping[str, Any]) -> None:
        """Take back the variables at the end of the body."""
        after = self.of(env)
        stopped = env[self._stop] if self._stop is not None else False
        if self._phase == "body":
            self._after, self._stopped, self._phase = after, going_on(stopped), "test"
            return
        self.state, self._env = after, env
        if bool(stopped):
            self._phase = "done"
        elif self._phase == "first iteration":
            self._phase = "first test"

    def _close(self, found: Any) -> None:
        """The end of the region, behind the second test."""
        region = self._region
        assert region is not None
        going = self._goes_on(found)
        region.leave()
        self._forget()
        if self._changed(self._after):
            self._phase = "body"
            return
        unstable = self._unstable(self._after)
        if unstable and self._mix(unstable, self._after):
            self._phase = "body"
            return
        if unstable:
            if self._first is not True:
                raise self._kinds_differ(unstable, self._after)
            self.session.statements.remove(self)
            self._phase = "first iteration"
            return
        names, init, results = self._results(self._after)
        params = [self._going, *(each for name in names for each in self._params[name])]
        tester = Recording(self.session)
        with tester:
            tested = tester.params([param.type for param in params], [None] * len(params))
        outputs = self.session.record(
            "while_loop",
            (flag_of(self._first), *init),
            test=tester.finished(tested, [tested[0]]),
            body=region.finished(params, [going, *results]),
        )
        assert region.guards is not None
        check_guards(region.guards, None, 0, 0)
        self._finish(names, outputs[1:], results, self._first is True)
        self._phase = "done"

    def _goes_on(self, found: Any) -> Operand:
        """Whether there is another iteration: the body has not stopped, and the test holds."""
        if self._unless is None:
            return Literal(np.bool_(False)) if self._stopped else flag_of(found)
        flag = flag_of(found)
        self._unless.leave()
        stopped = Recording(self.session)
        with stopped:
            pass
        (going,) = self.session.record(
            "cond",
            self._stopped._value,
            (),
            on_true=stopped.finished((), [Literal(np.bool_(False))]),
            on_false=self._unless.finished((), [flag]),
        )
        self._unless = None
        result: Operand = going
        return result
