"""What leaves the function, one by one: arrays, scalars, sizes and constants."""

from __future__ import annotations

from enum import Enum
from types import (
    BuiltinFunctionType,
    EllipsisType,
    FunctionType,
    ModuleType,
    NoneType,
    NotImplementedType,
)
from typing import TYPE_CHECKING

import numpy as np

from fxc.ir.error_kinds import NO_RESULT
from fxc.ir.graph import Operand, Value
from fxc.ir.later import import_class_later, import_later
from fxc.ir.location import SourceLocation
from fxc.ir.records import frozen
from fxc.ir.signature import ConstantLeaf, DimLeaf
from fxc.ir.symbols import counted_in
from fxc.ir.types import ArrayType

from ..numbers.traced_int import TracedInt
from ..outside.outside import Outside
from ..session.refusing import refusal
from ..values.operands import Traced, TracedValue, constant, has_traced, settled
from ..values.shadows import class_name

if TYPE_CHECKING:
    from ..forms.mixed import Mixed
    from ..forms.several import Several
else:
    Mixed = import_class_later("fxc.capture.forms.mixed", "Mixed")
    Several = import_class_later("fxc.capture.forms.several", "Several")

if TYPE_CHECKING:
    from ..statements.views import CarriedView

# See Note [Rooms with one door].
carried_view = import_later("fxc.capture.statements.views", "carried_view")


@frozen
class ArrayLeaf:
    """An array that leaves the function. Leaves with the same Value are the same object.

    A Value that is an input of the graph is the input's own object; one that a view operator made
    is a view.
    """

    value: Value


@frozen
class ScalarLeaf:
    """A Python or NumPy scalar that leaves the function, by the operand's type."""

    operand: Operand


CapturedLeaf = ArrayLeaf | ScalarLeaf | DimLeaf | ConstantLeaf
_CONSTANTS = (
    *(str, bytes, int, float, complex, range, np.generic, np.dtype, np.ufunc, type),
    *(NoneType, EllipsisType, NotImplementedType),
)
_IDENTIFIED = (BuiltinFunctionType, ModuleType, FunctionType, Enum, type(np.sum))


def _placed(outside: Outside, value: Value, view: CarriedView) -> Value:
    """A view at places that depend on data, in the form in which it can be returned."""
    session = outside.session
    made: Value = view.behind(session, view.numbers(session))._value
    outside.placed[value] = made
    return made


def output_leaf(outside: Outside, leaf: object) -> CapturedLeaf:
    """The leaf for something that leaves the function.

    Raises ``CaptureError`` for what cannot.
    """
    if isinstance(leaf, TracedInt):
        return ScalarLeaf(leaf._operand()) if counted_in(leaf._dim) else DimLeaf(leaf._dim)
    leaf = settled(leaf)
    if isinstance(leaf, TracedValue):
        value = leaf._object
        outside.session.check_alive(value)
        if value in outside.session.alternatives:
            raise refusal(
                NO_RESULT,
                "a result that is one array in one case and another in the other cannot be "
                "captured here; return a copy",
            )
        indices = list(outside.session.aliases.dynamic_indices(value))
        view = carried_view(outside.session, value) if indices else None
        if view is not None:
            value = outside.placed.get(value) or _placed(outside, value, view)
        else:
            for index in indices:
                outside.session.specialise(index, "the place of a view that is returned")
        return ArrayLeaf(value) if isinstance(value.type, ArrayType) else ScalarLeaf(value)
    if isinstance(leaf, (Mixed, Several)):
        raise refusal(NO_RESULT, "a result that is Python's number in one case, NumPy's in another")
    if isinstance(leaf, Traced):
        if type(leaf)._operand is Traced._operand or isinstance(leaf, str | bytes | int):
            raise refusal(
                NO_RESULT,
                "a text, or another object that is no array and no number, which is not known "
                "before the program runs, cannot be a result here; return what it is made of",
            )
        leaf._operand()  # says why there is none
    if isinstance(leaf, np.ndarray):
        return ArrayLeaf(constant(leaf))
    if isinstance(leaf, _CONSTANTS):
        return ConstantLeaf(leaf)
    if isinstance(leaf, slice | frozenset) and not has_traced(leaf):
        return ConstantLeaf(leaf)
    known, door = outside.shown.get(id(leaf)), outside.session.door
    is_given = isinstance(leaf, _IDENTIFIED) and not door.is_made_inside(leaf)
    if is_given if known is None else known.is_fixed:
        return ConstantLeaf(leaf)
    text = f"a {class_name(leaf)} in the result cannot be captured; return arrays"
    raise refusal(NO_RESULT, text, made_at(outside, leaf))


def made_at(outside: Outside, leaf: object) -> SourceLocation | None:
    """Where the program makes a function that leaves it; None for anything else."""
    if not isinstance(leaf, FunctionType) or not outside.session.door.is_made_inside(leaf):
        return None
    code = leaf.__code__
    around = code.co_qualname.removesuffix(f".<locals>.{code.co_name}").rpartition(".")[2]
    return SourceLocation(code.co_filename, code.co_firstlineno, around)
