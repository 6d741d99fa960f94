"""A captured call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fxc.ir.graph import Graph
from fxc.ir.records import frozen
from fxc.ir.tree import TreeSpec

from .epilogue.finishing import Epilogue
from .epilogue.leaves import CapturedLeaf
from .guards.program import GuardProgram
from .outside.inputs import GraphInput, SymbolSource
from .outside.overlaps import Overlaps
from .session.refusing import Requests


@frozen
class Captured:
    """A captured call: the graph, what the caller gets, and when it may be used again.

    ``outputs`` are the leaves that leave the function; the graph's results are the operands of its
    ArrayLeafs and ScalarLeafs, in order. ``epilogue`` makes the result of them, and the effects;
    if it is None, the result is the one leaf. ``guards.check(args, kwargs)`` gives the graph's
    inputs (arrays, scalars and ints, in the order of ``inputs``) and then the objects that the
    epilogue takes, or None. ``overlaps`` says what became of inputs that share memory. ``requests``
    are those of the attempts before, ``varying`` names the numbers from outside that are no
    constants, see Note [Numbers from outside]. ``need_not_raise`` says that the program itself may
    take what native code leaves to it: it handles exceptions, or has Python numbers that grow.
    ``drawn`` are the inputs that are handles of random generators.

    Captured with ``effects=False``, there is no epilogue: the leaves are in the order of
    ``out_spec``.
    """

    graph: Graph
    inputs: tuple[GraphInput, ...]
    outputs: tuple[CapturedLeaf, ...]
    out_spec: TreeSpec
    epilogue: Epilogue | None
    guards: GuardProgram
    symbols: Mapping[str, SymbolSource]
    overlaps: Overlaps
    requests: Requests
    varying: frozenset[str]
    need_not_raise: bool
    drawn: tuple[int, ...] = ()

    def finish(self, leaves: list[object], objects: tuple[object, ...]) -> Any:
        """The result from its leaves; makes the effects."""
        return leaves[0] if self.epilogue is None else self.epilogue.finish(leaves, *objects)
