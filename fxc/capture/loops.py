"""What ``for`` and ``while`` in staged code have in common: a body that is captured once.

See Note [Structured statements].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fxc.ir.graph import Literal, Operand, Value

from .jumps import RESULT
from .session import refuse
from .structured import (
    UNBOUND,
    Recording,
    Statement,
    array_of,
    described,
    is_number,
    is_same,
    joint_kinds,
    kind_text,
    of_parts,
    parts_of,
    placeholder,
)

_MOST_PASSES = 8


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
        """The variables that are something else at the begin of the second iteration: of another
        kind, or another thing that the loop does not carry.
        """
        return [
            name
            for name, before, x in zip(self.names, self._seen, after, strict=True)
            if name in self._at_head
            and not is_same(before, x)
            and before is not UNBOUND  # the body assigns it before it reads it
            and (name not in self._params or joint_kinds(before, before) != joint_kinds(before, x))
        ]

    def _mix(self, unstable: list[str], after: list[Any]) -> bool:
        """Make what is Python's number first and NumPy's later carry a flag that tells."""
        if self.wants_first:
            return False
        found = dict(zip(self.names, zip(self._seen, after, strict=True), strict=True))
        kinds = {name: joint_kinds(*found[name]) for name in unstable}
        if any(each is None or len(each) == 1 for each in kinds.values()):
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
