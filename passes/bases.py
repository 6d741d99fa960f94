"""Arrays while functionalization runs: memory, and chains of views of it.

See Note [Bases and views].
"""

from __future__ import annotations

from collections.abc import Callable, Set
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar

from fxc.dispatch.keys import DispatchKey
from fxc.ir.graph import Value
from fxc.ir.later import import_later
from fxc.ir.records import field, frozen, mutable
from fxc.ir.signature import ViewStep
from fxc.ir.symbols import symbols_of
from fxc.ir.types import ArrayType

from .imported_later import Affine, steps_of

if TYPE_CHECKING:
    from .aliases import Other, Path

# See Note [Rooms with one door].
dims_of = import_later("fxc.ir.text", "dims_of")

MOST_REGIONS = 8  # that a mutation lists


@mutable
class Base:
    """Memory: its current value, and which value of which views have been derived from that."""

    value: Value
    input: int | None = None
    derived: dict[Path, Value] = field(default_factory=dict)
    written: dict[Path, None] = field(default_factory=dict)

    def hold(self, value: Value) -> None:
        """From now on the memory holds ``value``."""
        self.value = value
        self.derived = {}

    def update(self, value: Value, where: Path) -> None:
        """Hold ``value``, which is new in the part that the path leads to."""
        self.hold(value)
        self.written[tuple(takewhile(_is_region, where))] = None

    def forget_symbols(self, names: Set[str]) -> None:
        """Say what has been written without these symbols, which are not bound any more."""
        if names:
            self.written = {tuple(takewhile(_is_free(names), path)): None for path in self.written}

    def regions(self) -> tuple[tuple[ViewStep, ...], ...]:
        """What has been written, as views of the whole; empty if that is too many, or all of it."""
        paths = sorted(self.written, key=len)
        outer = [p for i, p in enumerate(paths) if not any(p[: len(q)] == q for q in paths[:i])]
        return tuple(map(steps_of, outer)) if () not in outer and len(outer) <= MOST_REGIONS else ()


def _is_region(segment: Affine | Other) -> bool:
    """Whether a view shows whole elements, and which ones is known."""
    return isinstance(segment, Affine) or segment.step.op == "reshape"


def _is_free(names: Set[str]) -> Callable[[Affine | Other], bool]:
    """Tells whether a view is the same one whatever these symbols are."""

    def is_free(segment: Affine | Other) -> bool:
        args = tuple(step.args for step in steps_of((segment,)))
        return all(names.isdisjoint(symbols_of(dim)) for dim in dims_of(args))

    return is_free


@frozen(eq=False)
class FunctionalArray:
    """An array while functionalization runs: a chain of views of a base.

    ``viewed`` is the array that the last step is taken of.
    """

    dispatch_key: ClassVar[DispatchKey] = DispatchKey.FUNCTIONALIZE

    base: Base
    steps: tuple[ViewStep, ...]
    path: Path
    type: ArrayType
    viewed: FunctionalArray | None = None
