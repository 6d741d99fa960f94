"""Which constants of a capture have other values at another call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from types import CodeType
from typing import Any

import numpy as np

from fxc.ir.records import frozen


@frozen
class Fact:
    """Code of a guard program that is run by itself, and the variables it names: it ``binds`` some,
    or is the condition of a ``check``. If that is not ``wanted`` it is about the kind of things.
    """

    code: CodeType
    names: list[str]
    binds: list[str]
    check: Any
    wanted: bool


def changed_labels(facts: Iterable[Fact], namespace: dict[str, Any]) -> Iterator[str]:
    """The labels of constants that are others; those of its axes for an array of another shape."""
    for check in _failing(facts, namespace):
        if not check.label:
            continue
        if check.array is None or not check.part:
            yield check.label
            continue
        now = eval(check.part.partition(".")[0], namespace)
        if isinstance(now, np.ndarray):  # a class has a shape, too: np.float64
            yield check.label
            for axis, (size, other) in enumerate(zip(check.array.shape, now.shape, strict=False)):
                if size != other:
                    yield f"{check.label}.{axis}"


def other_values(facts: Iterable[Fact], namespace: dict[str, Any]) -> set[str]:
    """What has another value, as the program calls it."""
    return {check.value_of for check in _failing(facts, namespace)} - {""}


def _failing(facts: Iterable[Fact], namespace: dict[str, Any]) -> Iterator[Any]:
    """The checks that do not hold, or whose ``part`` does not."""
    others: set[str] = set()  # variables of another kind, and what would be fetched from them
    for fact in facts:
        if not others.isdisjoint(fact.names):
            others.update(fact.binds)
            continue
        with suppress(Exception), np.errstate(all="ignore"):  # other parts may be missing, or zero
            if fact.binds:
                exec(fact.code, namespace)
            elif not eval(fact.code, namespace):
                if fact.wanted:
                    yield fact.check
                else:
                    others.update(fact.names)
