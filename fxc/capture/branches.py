"""``if`` in staged code: one arm, or a ``cond`` of both. See Note [Structured statements]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .jumps import RESULT
from .operands import operand
from .structured import (
    UNBOUND,
    Either,
    Recording,
    Statement,
    is_same,
    joint_kinds,
    record_cond,
    truth,
)


class Branch(Statement):
    """One ``if`` statement: gives ``(arm, *variables)`` for each arm that runs."""

    def __init__(
        self,
        door: Any,
        test: Any,
        line: str,
        names: tuple[str, ...],
        behind: tuple[str, ...],
        env: Mapping[str, Any],
    ) -> None:
        super().__init__(door, line, names, env)
        self._behind = frozenset(behind)
        self._test = truth(test)
        self._start = self.state
        self._arms: list[tuple[Recording, list[Any]]] = []
        self._begun = False
        if type(self._test) is not bool:
            self.session.statements.append(self)

    @property
    def fallback(self) -> frozenset[str]:
        if type(self._test) is bool:
            return frozenset()
        return self.session.origins.get(self._test._value, frozenset())

    def __next__(self) -> tuple[Any, ...]:
        if type(self._test) is bool:
            if self._begun:
                raise StopIteration
            self._begun = True
            return self._test, *self._start
        if len(self._arms) == 2:
            self._join()
            raise StopIteration
        region = Recording(self.session)
        region.enter()
        self._arms.append((region, self._start))
        return len(self._arms) == 1, *self._start

    def step(self, env: Mapping[str, Any]) -> None:
        """Take back the variables at the end of an arm."""
        if type(self._test) is bool:
            self.state = self.of(env)
            return
        region, _ = self._arms[-1]
        region.leave()
        self._arms[-1] = (region, self.of(env))

    def _join(self) -> None:
        """Record the node; what differs between the arms becomes a result of it."""
        (then, left), (orelse, right) = self._arms
        values: dict[int, Either] = {}
        state = list(left)
        for place, name in enumerate(self.names):
            if name not in self._behind:
                state[place] = UNBOUND
            elif not is_same(left[place], right[place]):
                kinds = self._kinds(name, left[place], right[place])
                values[place] = kinds, left[place], right[place]
        made = record_cond(self.session, operand(self._test), (then, orelse), list(values.values()))
        for place, x in zip(values, made, strict=True):
            state[place] = x
        self.session.statements.remove(self)
        self.state = state

    def _kinds(self, name: str, left: Any, right: Any) -> tuple[Any, ...]:
        """The types of what a variable becomes."""
        if name == RESULT and UNBOUND in (left, right):
            left = right = right if left is UNBOUND else left
        kinds = joint_kinds(left, right)
        if kinds is None:
            raise self.differs(name, left, right, "if the condition holds, else")
        return kinds
