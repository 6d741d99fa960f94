"""Regions of the graph while they are recorded: the arms of branches, the bodies of loops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from fxc.ir.error_kinds import COUNTED_SIZE
from fxc.ir.graph import Node, Operand, Region, Value
from fxc.ir.size_guards import Guard, recorders
from fxc.ir.types import Type
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

from ..session.recorder import OpenRegion, RegionKind
from ..session.refusing import refusal
from ..session.session import Session, label_of

_LITTLE = 16  # nodes
_CHEAP = frozenset({Tag.POINTWISE, Tag.VIEW})


@cache
def _may_fail(name: str) -> bool:
    """Whether an operator may raise, or NumPy warns of it for numbers as usual as 0 and -1."""
    op = TABLE[name]
    if op.raises or op.tag is not Tag.POINTWISE:
        return op.raises
    numbers = np.array([-1.0, 0.0, 1.0])
    samples = (numbers,) if len(op.schema.params) == 1 else (numbers[:, None], numbers)
    with np.errstate(all="raise"):
        try:
            kernel_of(name)(*samples)
        except FloatingPointError:
            return True
        except Exception:  # an operator of other things than two floats
            return False
    return False


def _is_scalar(node: Node) -> bool:
    return all(output.type.rank == 0 for output in node.outputs)


class Recording:
    """A region that is being recorded; it may be left and entered again."""

    def __init__(
        self,
        session: Session,
        kind: RegionKind = "arm",
        *,
        guards: dict[Guard, None] | None = None,
        beside: Recording | None = None,
    ) -> None:
        self.session = session
        self._beside = beside  # the first arm of a branch, if this is the other
        self.guards = guards  # those that are taken in it, if they are kept apart
        self.number = 0
        self._kind = kind
        self._region: OpenRegion | None = None
        self._nodes: tuple[Node, ...] = ()

    def enter(self) -> None:
        session = self.session
        if self._region is not None:
            session.reenter_region(self._region)
        else:
            other = None if self._beside is None else self._beside._region
            session.enter_region(self._kind, session.now if other is None else other.began)
            self._region = session.innermost
            self.number = session.region
        session.builder.open(self._nodes)
        if self.guards is not None:
            recorders().append(self.guards)

    def leave(self) -> None:
        if self.guards is not None:
            recorders().pop()
        self._nodes = self.session.builder.close()
        self.session.leave_region()

    @property
    def is_open(self) -> bool:
        """Whether it, or a region in it, is being recorded."""
        return self._region is not None and self.session.is_open(self.number)

    def __enter__(self) -> Recording:
        self.enter()
        self.session.expressions += 1
        return self

    def __exit__(self, *error: object) -> None:
        self.session.expressions -= 1
        self.leave()

    def params(self, kinds: Sequence[Type], names: Sequence[str | None]) -> list[Value]:
        """Parameters of the region, which is entered."""
        session = self.session
        texts = (name and label_of(name) for name in names)
        values = [session.builder.value(k, n) for k, n in zip(kinds, texts, strict=True)]
        session.made_here(values)
        for value in values:
            session.aliases.homes[value] = self.number
        return values

    def finished(self, params: Sequence[Value], results: Sequence[Operand]) -> Region:
        for result in results:
            if isinstance(result, Value):
                self.session.aliases.check_given_up(result)
                if not self.session.has_sizes(result.type):
                    raise counted_inside()
        return Region(tuple(params), self._nodes, tuple(results))

    @property
    def steps(self) -> int:
        """How much is computed here, one for a branch or a loop in it."""
        return len(self._nodes)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is computed here."""
        return not self._nodes

    def is_harmless(self) -> bool:
        """Whether all that is computed here may as well be computed in any case: it cannot raise,
        NumPy has nothing to tell of it, and there is little of it.
        """
        return len(self._nodes) <= _LITTLE and all(
            TABLE[node.op].tag in _CHEAP and _is_scalar(node) and not _may_fail(node.op)
            for node in self._nodes
        )

    def spill(self) -> None:
        """Make what is computed here a part of the region around, which is entered."""
        for node in self._nodes:
            self.session.builder.append(node)
            self.session.made_here(node.outputs)

    def is_fresh(self, value: Value) -> bool:
        """Whether an array was made in this region and is no view."""
        session = self.session
        if value in session.aliases.bases or value in session.alternatives:
            return False
        return session.aliases.homes.get(value, 0) == self.number


def empty_region(session: Session) -> Recording:
    """A region in which nothing is computed."""
    with Recording(session) as region:
        return region


def counted_inside() -> Exception:
    """The refusal of an array behind the branch or loop in which its size has been counted."""
    return refusal(
        COUNTED_SIZE,
        "an array whose size is counted in a branch or a loop cannot be captured behind it; count "
        "the size before, or fill an array of the largest size",
    )
