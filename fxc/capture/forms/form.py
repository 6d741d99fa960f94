"""The closed set of forms, and what follows from a form alone. See Note [Forms]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

import numpy as np

from fxc.ir.error_kinds import NO_RESULT
from fxc.ir.records import frozen
from fxc.ir.symbols import Dim
from fxc.ir.types import PY_INT, ArrayType, ScalarType
from fxc.ops.metas.layout import is_by_columns

from ..session.refusing import refusal
from ..values.operands import Traced
from .structures import Structure

# Note [Forms]
# What branches join, loops carry and lists of the graph hold has a form: it says of which types the
# operands are that stand for it. That is one for a number or an array; two or three for a number of
# one type or another (Note [Mixed scalars]); those of its items for a tuple, a record, or a text of
# numbers that are not known; for one of several things (Note [Several things]) a flag for each of
# them, and then what that consists of. Arrays that differ in a size, which loops carry, are the
# first elements of a flat one that has room for the largest, beside that size. A constant is no
# operand.
#
# ``joint_form`` joins two values of a variable, ``form_of_items`` those that a list is to hold.
# ``pack`` makes the operands of a value, ``enter`` the value of operands, ``Lists`` the expression
# by which an epilogue makes the items of a list. Each is a ``match`` over this set. Options of a
# union that have one ``Key`` are one option; ``one_of_two`` makes one value of two such. Who is
# elsewhere does not ask which of many it is: a function here, or a method of the classes, answers
# the question that is behind that.

FLAG = ScalarType(np.dtype(bool))
Types = tuple[ScalarType | ArrayType, ...]


@frozen
class Number:
    """A number of one type."""

    kind: ScalarType


@frozen
class MixedNumber:
    """A number that is ``given`` if a flag holds, else Python's ``other``."""

    given: ScalarType
    other: ScalarType

    @property
    def has_whole(self) -> bool:
        """Whether it is a float or an int, which are both carried."""
        return self.given.dtype.kind == "f" and self.other.dtype.kind == "i"


@frozen
class Array:
    """An array."""

    kind: ArrayType


@frozen
class Sized:
    """An array of one size or another along an axis, and of the ``rest`` along the others, as the
    first elements of a flat one.
    """

    axis: int
    rest: tuple[Dim, ...]
    flat: ArrayType


@frozen(eq=False)
class Constant:
    """None, a text or a member of an enum, which is the same in each call. A member that is equal
    to a text or a number is another one.
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        if type(other) is not Constant or type(self.value) is not type(other.value):
            return False
        return bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(self.value)


@frozen
class Items:
    """What has items: a tuple, a record, which has its number, a text of such numbers, and so on.
    One that differs by a flag (Note [Things that differ]) has three.
    """

    structure: Structure
    items: tuple[Form, ...]


@frozen
class Union:
    """One of several things."""

    options: tuple[Form, ...]


OfNumbers = Number | MixedNumber
Form = OfNumbers | Array | Sized | Constant | Items | Union


# What things have in common that are one option of a union: their form, or one of these two.


@frozen
class Arrays:
    """Arrays of one dtype and rank, in C order or in Fortran order."""

    dtype: str
    rank: int
    by_columns: bool


@frozen
class Alike:
    """Tuples of as many items, dicts of the same keys, objects of one class."""

    structure: Structure


Key = Number | Constant | Items | Arrays | Alike


def plain_form(kind: ScalarType | ArrayType) -> Form:
    """The form of what one operand of this type stands for."""
    return Array(kind) if isinstance(kind, ArrayType) else Number(kind)


def types_of(form: Form) -> Types:
    """The types of the operands."""
    match form:
        case Number(kind) | Array(kind):
            return (kind,)
        case MixedNumber(given, other):
            return (given, FLAG, other) if form.has_whole else (given, FLAG)
        case Sized():
            return (PY_INT, form.flat)
        case Constant():
            return ()
        case Items(_, items):
            return tuple(kind for each in items for kind in types_of(each))
        case Union(options):
            return tuple(kind for each in options for kind in types_of_option(each))
        case _:
            assert_never(form)


def types_of_option(form: Form) -> Types:
    """The types of the operands of a form that is an option: a flag comes first."""
    return FLAG, *types_of(form)


def numbers_in(form: Form) -> frozenset[ScalarType]:
    """The numbers that it may be."""
    match form:
        case Number(kind):
            return frozenset((kind,))
        case MixedNumber(given, other):
            return frozenset((given, other))
        case Union(options):
            return frozenset[ScalarType]().union(*map(numbers_in, options))
        case Array() | Sized() | Constant() | Items():
            return frozenset()
        case _:
            assert_never(form)


def key_of(form: Form) -> Key:
    """What tells the options of a union apart."""
    match form:
        case Array(kind):
            return Arrays(kind.dtype.str, kind.rank, is_by_columns(kind))
        case Sized(_, rest, flat):
            return Arrays(flat.dtype.str, len(rest) + 1, by_columns=False)
        case Items(structure, _) if not structure.is_traced:
            return Alike(structure)
        case Number() | Constant() | Items():
            return form
        case MixedNumber() | Union():
            raise AssertionError(f"{form} is no option of a union")
        case _:
            assert_never(form)


def keys_of(form: Form) -> set[Key]:
    """The keys of all that it may be."""
    match form:
        case Number() | MixedNumber():
            return set(map(Number, numbers_in(form)))
        case Union(options):
            return set(map(key_of, options))
        case Array() | Sized() | Constant() | Items():
            return {key_of(form)}
        case _:
            assert_never(form)


def key_shape(form: Form) -> object:
    """What tells keys apart that are never equal: texts, characters, ints, and tuples of these."""
    match form:
        case Union(options):
            names = (isinstance(x, Constant) and x.value is not None for x in options)
            return "text" if all(names) else form
        case Items(structure, items):
            return True if structure.is_traced else tuple(map(key_shape, items))
        case Number() | MixedNumber() | Array() | Sized() | Constant():
            return False
        case _:
            assert_never(form)


def pool_of(form: Form) -> Any:
    """The pool of the records that it is, or may be; None for none. See Note [Records]."""
    match form:
        case Items(structure, _):
            return structure.pool
        case Union(options):
            return next((pool for each in options if (pool := pool_of(each)) is not None), None)
        case _:
            return None


def as_numbers(form: Form) -> Form:
    """The same with numbers for records, which cannot be told apart from other numbers."""
    match form:
        case Items(_, (number,)):
            return number
        case Union(options):
            if sum(isinstance(each, Number | Items) for each in options) > 1:
                raise refusal(
                    NO_RESULT,
                    "an attribute that is one of several things, two of them objects or numbers, "
                    "cannot be captured as a result",
                )
            return Union(tuple(x if pool_of(x) is None else Number(PY_INT) for x in options))
        case _:
            return form


def is_of_arrays(form: Form) -> bool:
    """Whether an operand that stands for it is an array."""
    return any(isinstance(kind, ArrayType) for kind in types_of(form))


def differ(forms: Sequence[Form]) -> bool:
    """Whether what is of one of these forms is a thing that differs: there are arrays, what a
    program may change, or tuples of several lengths. See Note [Things that differ].
    """
    found = [each.structure for each in forms if isinstance(each, Items)]
    others = [each for each in found if not issubclass(each.kind, Traced)]
    lengths = {len(each.keys) if issubclass(each.kind, tuple) else -1 for each in others}
    return len(lengths) > 1 or -1 in lengths or any(map(is_of_arrays, forms))


def columns_of(form: Form) -> tuple[Form, ...]:
    """The forms of the items of a tuple, or of what has items; of anything else its own."""
    return form.items if isinstance(form, Items) else (form,)


def are_numbers(form: Form) -> bool:
    """Whether it is a number of one type, or has such items alone."""
    return all(isinstance(each, Number) for each in columns_of(form))


def of_tuple(items: Iterable[Form]) -> Items:
    """The form of a tuple of such items."""
    found = tuple(items)
    return Items(Structure(tuple, tuple(range(len(found)))), found)
