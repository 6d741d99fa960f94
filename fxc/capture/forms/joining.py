"""The form of what is one of two values. See Note [Forms]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, assert_never

from fxc.ir.error_kinds import EITHER_ARRAY
from fxc.ir.later import import_later
from fxc.ir.types import PY_INT, ArrayType, ScalarType
from fxc.ops.metas.layout import is_by_columns, is_c_ordered
from fxc.ops.metas.shapes import same_shape

from ..arrays.elements import TracedVoid
from ..numbers.python_numbers import number_of_kind
from ..numbers.traced_int import TracedInt
from ..session.alternatives import either
from ..session.refusing import refuse
from ..session.session import current
from ..values.late import Late
from ..values.operands import Traced, array_of, kind_of, operand, wrap
from .form import (
    Alike,
    Array,
    Arrays,
    Constant,
    Form,
    Items,
    Key,
    Number,
    Sized,
    Union,
    is_of_arrays,
    key_of,
    plain_form,
)
from .mixed import mixed_form
from .options import (
    Option,
    flag_operand,
    graph_type,
    holds_not,
    is_named,
    is_of_one_type,
    is_record,
    things_in,
)
from .structures import DEEPEST, Structure, fields_of, item_structure, items_of

# See Note [Rooms with one door].
sized_form = import_later("fxc.capture.forms.sized", "sized_form")

_MOST = 6  # things that a variable may be
_MOST_IN_LISTS = 12  # that an item of a list may be
_Unite = Callable[[Sequence[Option]], Any]
_Join = Callable[[Any, Any], Form | None]


def joint_form(left: object, right: object) -> Form | None:
    """The form of a variable that is either value, an array being one or the other, if any."""
    kind, other = graph_type(left), graph_type(right)
    if kind is not None and other is not None and _are_alike(kind, other):
        return plain_form(kind)
    return mixed_form(left, right) or _union(left, right, joint_form)


def carried_form(left: object, right: object) -> Form | None:
    """As ``joint_form``, of what a loop carries: arrays by their elements."""
    found = joint_form(left, right)
    return found or _union(left, right, carried_form, arrays=True)


def carried_without_arrays(left: object, right: object) -> Union | None:
    """The form of one of several things that a loop carries, if none of them holds an array: where
    it is copied nobody can tell.
    """
    found = carried_form(left, right)
    return found if isinstance(found, Union) and not is_of_arrays(found) else None


def form_of(x: object) -> Form | None:
    """The form of a value; None if it has none."""
    return joint_form(x, x)


def _are_alike(left: ArrayType | ScalarType, right: ArrayType | ScalarType) -> bool:
    """Whether types are the same; sizes that are equal in this call are guarded to be."""
    if left == right or isinstance(left, ScalarType) or isinstance(right, ScalarType):
        return left == right
    dims = (*left.shape, *left.strides), (*right.shape, *right.strides)
    return (
        (left.dtype, left.writeable) == (right.dtype, right.writeable)
        and not any(map(current().varies, (*dims[0], *dims[1])))
        and same_shape(*dims)
    )


def hold_alike(left: ArrayType, right: ArrayType) -> bool:
    """Whether such arrays hold as many elements of one dtype by axis; sizes are guarded."""
    if (left.dtype, left.rank) != (right.dtype, right.rank):
        return False
    varies = current().varies
    return not any(map(varies, (*left.shape, *right.shape))) and same_shape(left.shape, right.shape)


def _union(left: object, right: object, joint: _Join, *, arrays: bool = False) -> Form | None:
    """The form of what is one of several things; ``joint`` gives that of two items of tuples.
    Arrays may be among them if asked for.
    """
    found: dict[Key | None, list[Any]] = {}
    for each in (*things_in(left), *things_in(right)):
        found.setdefault(key(each), []).append(each)
    if all(type(x) is str for x in (left, right)):
        current().door.texts.ask()
    has_items = any(isinstance(each, Items) for each in found)
    is_one = not has_items and len(found) < 2
    if (is_one and not arrays) or len(found) > _MOST:
        return None
    options = [_option(each, found[each], joint, arrays) for each in sorted(found, key=repr)]
    known = tuple(each for each in options if each is not None)
    if is_one and not any(isinstance(each, Sized) for each in known):
        return None
    return Union(known) if len(known) == len(options) else None


def _option(what: Key | None, alike: list[Any], joint: _Join, arrays: bool) -> Form | None:
    """The form of values with one key; None for what can be no option."""
    match what:
        case Number() | Constant() | Items() | None:
            return what
        case Arrays():
            kinds = [each._value.type for each in alike]
            if not arrays:
                return None
            return Array(kinds[0]) if _may_be_carried(kinds) else sized_form(kinds)
        case Alike(structure):
            if not (arrays or structure.kind is tuple):
                return None
            found = _of_alike(structure, alike, joint)
            return None if found is None or (is_of_arrays(found) and not arrays) else found
        case _:
            assert_never(what)


def _of_alike(
    structure: Structure, alike: Sequence[Any], joint: _Join, depth: int = 0
) -> Items | None:
    """The form of things of one structure, that ``joint`` gives of their items."""
    if depth > DEEPEST:
        return None

    def form_of_column(column: Sequence[Any]) -> Form | None:
        what, *others = set(map(key, column))
        if isinstance(what, Alike) and not others:
            return _of_alike(what.structure, column, joint, depth + 1)
        return what if isinstance(what, Constant) and not others else joint(column[0], column[-1])

    columns = zip(*(fields_of(x, structure) for x in alike), strict=True)
    forms = [form_of_column(column) for column in columns]
    items = tuple(each for each in forms if each is not None)
    return Items(structure, items) if len(items) == len(forms) else None


def union_of(
    keys: Iterable[Key | None], tuples: Mapping[Structure, Items] | None = None
) -> Union | None:
    """The form of what is one of these numbers, constants, records, texts and ``tuples`` by their
    structures, as an item of a list; None if that cannot be.
    """
    found: list[Form] = []
    known = tuples or {}
    for each in sorted(set(keys), key=repr):
        match each:
            case Number() | Constant() | Items():
                found.append(each)
            case Alike(structure) if structure in known:
                found.append(known[structure])
            case _:
                return None
    return Union(tuple(found)) if len(found) <= _MOST_IN_LISTS else None


def _of_traced(x: Any) -> Structure:
    """The structure of a record or a text."""
    return Structure(type(x), tuple(x._structure_keys()))


def _may_be_carried(kinds: Iterable[ArrayType]) -> bool:
    """Whether new arrays of these types are of one type."""
    first, *_ = kinds
    return all(
        kind.writeable and (is_by_columns(kind) or is_c_ordered(kind)) and hold_alike(first, kind)
        for kind in kinds
    )


def key(x: object) -> Key | None:
    """What two options have in common that are one option; None for what cannot be one."""
    if is_named(x):
        return Constant(x)
    if type(x) is TracedInt:
        return Number(PY_INT)
    if is_of_one_type(x):
        kind = operand(x).type
        assert isinstance(kind, ScalarType)
        return None if kind.weak and kind.dtype.kind == "c" else Number(kind)
    if (value := array_of(x)) is not None:
        return key_of(Array(kind_of(value)))
    if is_record(x):
        return Items(_of_traced(x), (Number(PY_INT),))
    if type(x) is TracedVoid:
        numbers = tuple(Number(PY_INT) for _ in x._structure_keys())
        return Items(_of_traced(x), numbers) if x.has_place else None
    if isinstance(x, Late) and x.has_template:
        forms = tuple(map(form_of, x.template.parts_of(x)))
        known = tuple(each for each in forms if each is not None and not is_of_arrays(each))
        return Items(_of_traced(x), known) if len(known) == len(forms) else None
    structure = None if isinstance(x, Traced | list) else item_structure(x)
    return None if structure is None else Alike(structure)


def keys_in(x: object) -> set[Key | None]:
    """The keys of what ``x`` may be; None for what cannot be one of several things."""
    return set(map(key, things_in(x)))


def one_of_two(what: Key | None, flag: object, x: Any, y: Any, united: _Unite) -> object:
    """``x`` if the flag holds, else ``y``, of one key; ``united`` makes one value of two."""
    match what:
        case Number(kind):
            chosen = current().value("where", operand(flag), operand(x), operand(y))
            return number_of_kind(chosen, kind)
        case Constant():
            return x
        case Arrays():
            return wrap(either(current(), flag_operand(flag), x._value, y._value))
        case Items(structure) | Alike(structure):
            both = zip(items_of(x, structure), items_of(y, structure), strict=True)
            return structure.of(united([(flag, a), (holds_not(flag), b)]) for a, b in both)
        case None:
            raise refuse(EITHER_ARRAY, "a variable that is one array or another here")
        case _:
            assert_never(what)
