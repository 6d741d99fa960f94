"""What an operator is: a row of the table, and the operators that follow from it by rule.

From a functional row ``add`` follow ``add_`` (in place) and ``add.out``; from a view row ``slice``
follow ``slice_copy`` (functional) and ``slice_scatter`` (its inverse). From one of the user's that
writes, ``mylib::fill_``, follows ``mylib::fill_.functional``, which gives what the other writes.
See ``operators_of``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from typing import Any

from fxc.ir.records import frozen, replace
from fxc.ir.schema import Alias, Param, Return, Schema, parse_schema

from .python_numbers import PYTHON_OPERATORS


class Tag(enum.Enum):
    """The shape behaviour of an operator; generic code keys on this first."""

    __hash__ = object.__hash__  # that of an Enum is written in Python, and asked for at each node

    POINTWISE = "pointwise"
    REDUCTION = "reduction"
    SCAN = "scan"
    VIEW = "view"
    SCATTER = "scatter"
    GATHER = "gather"
    INDEX_PUT = "index_put"
    FACTORY = "factory"
    JOIN = "join"
    CONTRACTION = "contraction"
    BRANCH = "branch"
    LOOP = "loop"
    COMPOSITE = "composite"
    OPAQUE = "opaque"
    WRITE = "write"
    SIZE = "size"
    EFFECT = "effect"
    CUSTOM = "custom"  # of the user's own, see ``custom``
    CLOCK = "clock"  # an effect behind which nothing is computed that stands before it


CONTROL = frozenset({Tag.BRANCH, Tag.LOOP})  # operators with regions
EFFECTS = frozenset({Tag.EFFECT, Tag.CLOCK})  # see Note [Operators with effects]
ROUNDED = frozenset({"multiply", "square"})  # see Note [Products among what is read]


@frozen
class Row:
    """What is written down of an operator; ``row(…)`` in the table. See ``Operator``."""

    text: str
    tag: Tag
    numpy: Callable[..., Any] | None
    raises: bool

    @property
    def name(self) -> str:
        return self.text[: self.text.index("(")]


def row(
    text: str, tag: Tag, numpy: Callable[..., Any] | None = None, *, raises: bool = False
) -> Row:
    """A row of the table."""
    return Row(text, tag, numpy, raises)


@frozen
class Operator:
    """One operator: its schema, tag, the NumPy callable it means, and the row it follows from.

    ``role`` says how it follows from the row ``group``: ``""`` (the row itself), ``"inplace"``,
    ``"out"``, ``"copy"``, ``"scatter"`` or ``"functional"``. ``raises`` marks an operator that can
    raise at run time on arguments whose types are right (see Note [Raising ops]).
    """

    schema: Schema
    tag: Tag
    numpy: Callable[..., Any] | None
    group: str
    role: str = ""
    raises: bool = False

    @property
    def name(self) -> str:
        return self.schema.name


# Operators that compute elements of their results, of which NumPy may warn.
COMPUTING = frozenset({Tag.POINTWISE, Tag.REDUCTION, Tag.SCAN, Tag.CONTRACTION, Tag.COMPOSITE})
_OUT_TAGS = COMPUTING | {Tag.OPAQUE}
_INPLACE_TAGS = frozenset({Tag.POINTWISE, Tag.INDEX_PUT})
_WRITTEN = Alias("a", written=True)


def operators_of(row: Row) -> Iterator[Operator]:
    """The operator that a row describes, and those that follow from it by rule."""
    schema = parse_schema(row.text)
    name, tag, numpy, raises = row.name, row.tag, row.numpy, row.raises
    yield Operator(schema, tag, numpy, name, raises=raises)
    if tag is Tag.VIEW:
        rest = schema.params[1:]
        copied = Schema(f"{name}_copy", (Param("x", "Array"), *rest), (Return(),))
        yield Operator(copied, Tag.VIEW, None, name, "copy")
        params = (Param("x", "Array"), Param("source", "Array"), *rest)
        scatter = Schema(f"{name}_scatter", params, (Return(),))
        yield Operator(scatter, Tag.SCATTER, None, name, "scatter")
        return
    if tag is Tag.CUSTOM:
        yield from _partners(schema)
        return
    if tag in EFFECTS:
        params = (replace(schema.params[0], alias=_WRITTEN), *schema.params[1:])
        written = Schema(f"{name}_", params, schema.returns[1:])
        yield Operator(written, Tag.WRITE, numpy, name, "inplace", raises)
        return
    if tag not in _OUT_TAGS | _INPLACE_TAGS or schema.returns != (Return(),):
        return
    if name in PYTHON_OPERATORS:  # nobody writes a number
        return
    first = schema.params[0]
    if tag in _INPLACE_TAGS and first.kind == "Array" and not first.is_list:
        params = (replace(first, alias=_WRITTEN), *schema.params[1:])
        inplace = Schema(f"{name}_", params, ())
        if name != "copy":  # ``copy_`` is a row of its own: a write, not a copy in place
            yield Operator(inplace, Tag.WRITE, numpy, name, "inplace", raises)
    if tag not in _OUT_TAGS or first.is_list:  # NumPy joins arrays into an out one by one
        return
    out = Param("out", "Array", _WRITTEN, keyword=True)
    written = Schema(f"{name}.out", (*schema.params, out), ())
    yield Operator(written, Tag.WRITE, numpy, name, "out", raises)


def _partners(schema: Schema) -> Iterator[Operator]:
    """What follows from an operator of the user's: without its writes, or without its view."""
    name = schema.name
    params = tuple(replace(param, alias=None) for param in schema.params)
    if schema.writes:
        returns = (Return(),) * len(schema.written_params) + schema.returns
        pure = Schema(f"{name}.functional", params, returns)
        yield Operator(pure, Tag.CUSTOM, None, name, "functional", True)
    if schema.is_view:
        copied = Schema(f"{name}_copy", params, (Return(),))
        yield Operator(copied, Tag.CUSTOM, None, name, "copy", True)
        first, *rest = params
        scatter = Schema(f"{name}_scatter", (first, Param("source", "Array"), *rest), (Return(),))
        yield Operator(scatter, Tag.CUSTOM, None, name, "scatter", True)
