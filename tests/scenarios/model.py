"""What a scenario is, and what fxc is expected to do with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

LAYOUTS = ("C", "F", "strided", "negative", "zero-size", "rank-0", "overlapping")
EVERYWHERE = "everywhere"


@dataclass(frozen=True)
class Refused:
    """The call cannot be captured: a ``CaptureError`` that has these words, or plain NumPy."""

    says: str


@dataclass(frozen=True)
class Eager:
    """The call runs as plain NumPy, also with ``fullgraph=True``, for this reason."""

    reason: str


@dataclass(frozen=True)
class Absent:
    """There is no such case, for this reason."""

    reason: str


Difference = Refused | Eager | Absent
Arguments = Callable[[np.ndarray], tuple[Any, ...]]


@dataclass(frozen=True)
class Scenario:
    """A function as a user would write it, run on arrays of one shape in every layout.

    The function takes one array, or two of one shape, or what ``arguments`` makes of one. In the
    layout "overlapping" two arrays share part of their memory: the two that the function takes, or
    its array and one that its caller reads before the call and writes after it. ``differs`` says in which layouts
    fxc does not compile the whole call. Where nothing is said, it does.
    """

    name: str
    group: str
    title: str  # Markdown
    program: Callable[..., Any]
    shape: tuple[int, ...] = (4, 6)
    empty: tuple[int, ...] | None = None  # of size 0; if None, the shape with no rows
    dtype: str = "float64"
    arguments: Arguments | None = None
    differs: Mapping[str, Difference | None] = field(default_factory=lambda: MappingProxyType({}))

    def expected(self, layout: str) -> Difference | None:
        """How fxc is expected to treat this layout; None if as one graph."""
        if layout == "F" and len(self.shape) < 2:
            return Absent("an array of one dimension has no Fortran order")
        return self.differs.get(layout, self.differs.get(EVERYWHERE))

    @property
    def takes_two_arrays(self) -> bool:
        """Whether the function takes two arrays of one shape."""
        return self.arguments is None and len(inspect.signature(self.program).parameters) == 2


class Group:
    """Scenarios that belong together, in the order of the page; used as a decorator."""

    def __init__(self, title: str, **common: Any) -> None:
        self.title = title
        self.common = common
        self.scenarios: list[Scenario] = []

    def __call__(
        self, title: str, **options: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def register(program: Callable[..., Any]) -> Callable[..., Any]:
            name = program.__name__
            chosen = self.common | options
            self.scenarios.append(Scenario(name, self.title, title, program, **chosen))
            return program

        return register

    def __iter__(self) -> Iterator[Scenario]:
        return iter(self.scenarios)
