"""Graphs: values, nodes, regions. Immutable; a pass builds a new graph and shares nodes.

A node holds its arguments in the order of its schema's parameters, with every default filled in.
An argument is a Value or a Literal (for ``Array`` parameters; a tuple of them for ``Array[]``),
a Region, None, or a static attribute: int or Dim, bool, str, ``np.dtype``, ArrayConstant, tuples
of these, or a tuple of SliceSpec.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from typing import Literal as OneOf

import numpy as np

from .location import SourceLocation
from .records import computed_once, field, frozen, replace
from .signature import Signature
from .size_guards import Guard
from .symbols import Dim
from .types import ScalarType, Type, scalar_type_of
from .upward import UPWARD

if TYPE_CHECKING:
    from .schema import Schema

Stage = OneOf["captured", "functional", "decomposed"]
STAGES: tuple[Stage, ...] = ("captured", "functional", "decomposed")


class Value:
    """One result of a node, or a parameter of a region; compared by identity."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type: Type) -> None:
        self.name = name
        self.type = type

    def __repr__(self) -> str:
        return f"%{self.name}"


@frozen(eq=False)
class Literal:
    """A scalar constant among a node's arguments; equal if kind and bits are."""

    value: bool | int | float | complex | np.generic
    type: ScalarType = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", scalar_type_of(self.value))

    @property
    def _key(self) -> tuple[ScalarType, object]:
        value = self.value
        bits = value if isinstance(value, int) else np.asarray(value).tobytes()
        return (self.type, bits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        if self.type.weak:
            return repr(self.value)
        return f"{self.type}({self.value.item()!r})"  # type: ignore[union-attr]


Operand = Value | Literal


@frozen
class SliceSpec:
    """One axis of a slice, normalised as by ``slice.indices``: stop is -1 for 'past the start'."""

    start: Dim
    stop: Dim
    step: Dim

    def __str__(self) -> str:
        return f"{self.start}:{self.stop}:{self.step}"


@frozen
class ArrayConstant:
    """An array that is part of the program, as C-ordered bytes; equal by dtype, shape and bits."""

    dtype: np.dtype
    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, array: np.ndarray) -> ArrayConstant:
        """The constant with this array's elements."""
        return cls(array.dtype, array.shape, array.tobytes())

    def array(self) -> np.ndarray:
        """A fresh array with the elements."""
        return np.frombuffer(self.data, self.dtype).reshape(self.shape).copy()


Arg = Any  # Operand, Region, None, a static attribute, or a tuple of them: see the module docstring


def operands_of(arg: Arg) -> Iterator[Operand]:
    """The values and literals in one argument."""
    if isinstance(arg, Value | Literal):
        yield arg
    elif isinstance(arg, tuple):
        for item in arg:
            if isinstance(item, Value | Literal):
                yield item


OF_PYTHON = frozenset(("python",))


@frozen(eq=False)
class Node:
    """One call of an operator.

    ``into`` is an argument whose memory the result may take over: nobody reads it afterwards. It is
    a proposal of the pass ``reinplace``; what a node computes does not depend on it.
    """

    schema: Schema
    args: tuple[Arg, ...]
    outputs: tuple[Value, ...]
    loc: SourceLocation | None = None
    into: Value | None = None

    @property
    def op(self) -> str:
        return self.schema.name

    @computed_once
    def inputs(self) -> tuple[Value, ...]:
        """The values this node reads (or writes through), in order."""
        found: list[Value] = []
        for arg in self.args:
            if isinstance(arg, Value):
                found.append(arg)
            elif isinstance(arg, tuple):
                found += [item for item in arg if isinstance(item, Value)]
        return tuple(found)

    @computed_once
    def regions(self) -> tuple[Region, ...]:
        if not self.schema.has_regions:
            return ()
        return tuple(arg for arg in self.args if isinstance(arg, Region))

    @property
    def quiet(self) -> frozenset[str]:
        """The floating-point errors that ``np.errstate`` around the line says to ignore; where the
        numbers are Python's own, which have no such errors, ``OF_PYTHON``.
        """
        kinds = [value.type for value in self.outputs]
        if kinds and all(isinstance(kind, ScalarType) and kind.weak for kind in kinds):
            return OF_PYTHON
        return self.loc.quiet if self.loc is not None else frozenset()

    @property
    def bound(self) -> str | None:
        """The symbol that the node gives a value to: its first result, if that is a number, or the
        size of it. See Note [Counted sizes].
        """
        place = self.schema.index_of.get("symbol")
        return None if place is None else str(self.args[place])

    @property
    def output(self) -> Value:
        """The only result."""
        (single,) = self.outputs
        return single

    def arg(self, name: str) -> Arg:
        """The argument for the parameter ``name``."""
        return self.args[self.schema.index_of[name]]

    def __repr__(self) -> str:
        return f"<{', '.join(map(str, self.outputs))} = {self.op}>"


@frozen(eq=False)
class Region:
    """A sub-graph: parameters, nodes in order, results. It may read values of outer regions."""

    params: tuple[Value, ...]
    nodes: tuple[Node, ...]
    results: tuple[Operand, ...]


@frozen(eq=False)
class Graph:
    """A function: a region whose parameters are the inputs, and what the boundary needs to know.

    ``guards`` are the relations between symbols that the graph relies on. ``signature`` says how
    inputs and results map to the caller's objects; it is filled in by functionalization.
    """

    name: str
    stage: Stage
    body: Region
    guards: tuple[Guard, ...] = ()
    signature: Signature | None = None

    @property
    def inputs(self) -> tuple[Value, ...]:
        return self.body.params

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.body.nodes

    @property
    def outputs(self) -> tuple[Operand, ...]:
        return self.body.results

    def with_body(self, body: Region, **changes: Any) -> Graph:
        """This graph with another body."""
        return replace(self, body=body, **changes)

    def __str__(self) -> str:
        return str(UPWARD["str(graph)"](self))


def walk(region: Region) -> list[Node]:
    """Every node of ``region`` and of the regions inside it, in order."""
    found: list[Node] = []
    _walk_into(found, region)
    return found


def _walk_into(found: list[Node], region: Region) -> None:
    for node in region.nodes:
        found.append(node)
        for inner in node.regions:
            _walk_into(found, inner)
