"""What lists of the graph hold: the forms of items. See Notes [Forms], [Records in lists]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, assert_never

import numpy as np

from fxc.ir.error_kinds import COUNTED_LIST
from fxc.ir.graph import Operand, Value
from fxc.ir.types import ArrayType, ScalarType

from ..session.refusing import OBJECTS_APART, refuse
from ..session.session import current
from ..values.late import Late
from ..values.objects import is_python_class
from ..values.operands import Traced, TracedValue, array_of, kind_of, operand, wrap
from ..values.shadows import class_of
from .carrying import enter
from .differing import Differing
from .form import (
    Array,
    Constant,
    Form,
    Items,
    Key,
    MixedNumber,
    Number,
    Sized,
    Union,
    key_of,
    keys_of,
    numbers_in,
    of_tuple,
    pool_of,
    types_of,
    types_of_option,
)
from .joining import form_of, hold_alike, keys_in, union_of
from .mixed import number_form, scalar_kinds
from .options import things_in
from .structures import Structure, fields_of, item_structure, joint_structure
from .variables import is_number

# Note [Records in lists]
# An item of a list of the graph is a number, an array, one of several things (a text, None, a
# number, a tuple of numbers: Note [Several things]), or what has a *structure*: a tuple, and a dict
# with texts as keys, a list or an object of a Python class that the program has made since the
# innermost loop began. Two things with structures, of which it is one by a flag (Note [Things that
# differ]), are a structure of three items.
# Each number of it stands in an array, and an item that is read is a new one. So nobody may be
# able to tell which of these is which: an item is sealed (Note [Objects that are joined]), is in
# one list alone, and is not returned beside it. Lists that are made of one another, as by
# ``sorted``, are not returned both.


# ------------------------------------------------------------------ in and out of arrays


def takes(form: Form, *items: object) -> bool:
    """Whether these are items of this form."""
    return all(_takes(form, x) for x in items)


def _takes(form: Form, x: object) -> bool:
    match form:
        case Number() | MixedNumber():
            found = scalar_kinds(x)
            return found is not None and found <= numbers_in(form)
        case Array(kind):
            value = array_of(x)
            return value is not None and hold_alike(kind, kind_of(value))
        case Constant(value):
            return x is value
        case Sized():  # which loops carry, and no list holds
            return False
        case Items(structure, items):
            same = item_structure(x) == structure or structure.takes(x)
            return same and all(map(_takes, items, fields_of(x, structure)))
        case Union():
            return keys_in(x) <= keys_of(form) and _tuples_in((x,), form) is not None
        case _:
            assert_never(form)


def item_of(form: Form, operands: Iterable[Operand]) -> Any:
    """The item for elements of the arrays that hold it."""
    return enter(form, map(_element, operands, types_of(form)))


def _element(x: Operand, kind: ScalarType | ArrayType) -> Operand:
    """An element of an array as the number that it stands for, or as an array of its own."""
    session, letter = current(), kind.dtype.kind
    if isinstance(kind, ArrayType):
        return session.value("copy", x, order="C")
    if not kind.weak:
        return x
    if letter == "c":
        real = session.value("real_number", x)
        return session.value("py_complex", real, session.value("imaginary_number", x))
    return session.value({"b": "py_bool", "i": "py_int", "f": "py_float"}[letter], x)


def widened(form: Form, before: Form, arrays: Sequence[Value]) -> list[Any]:
    """What to fill the arrays of a list with that held items of another form."""
    return _widened(form, before, list(map(wrap, arrays)))


def _widened(form: Form, before: Form, given: list[object]) -> list[Any]:
    match form, before:
        case _ if form == before:
            return given
        case Items(_, items), Items(_, old):
            left = iter(given)
            columns = ([next(left) for _ in types_of(each)] for each in old)
            return [x for each in map(_widened, items, old, columns) for x in each]
        case Union(options), _:
            known = dict(_options_of(before, given))
            return [
                part
                for each in options
                for part in known.get(key_of(each)) or map(_zero, types_of_option(each))
            ]
        case MixedNumber(), Number(kind):
            (array,), first = given, kind == form.given
            if not form.has_whole:
                return [array, first]
            return [array, True, 0] if first else [0, False, array]
        case _:
            raise AssertionError(f"{before} does not become {form}")


def _zero(kind: ScalarType | ArrayType) -> object:
    if isinstance(kind, ArrayType):
        what = "a list whose length depends on data, of texts of arrays and others,"
        raise refuse(COUNTED_LIST, what, "append things of one kind")
    return kind.zero


def _options_of(form: Form, given: list[Any]) -> Iterator[tuple[Key, list[Any]]]:
    """What a list held, by the keys of what may stand beside it now, with flags."""
    match form:
        case Union(options):
            left = iter(given)
            for each in options:
                yield key_of(each), [next(left) for _ in types_of_option(each)]
        case MixedNumber(first, other):
            number, flag, *whole = given
            yield Number(first), [flag, number]
            yield Number(other), [~flag, *(whole or [number])]
        case _:
            yield key_of(form), [True, *given]


# ------------------------------------------------------------------ what is alike


def form_of_items(items: Sequence[object], before: Form | None) -> Form | None:
    """The form of these items, of a list that held some of a form before; None for none."""
    if not items:
        return before
    if before is not None and takes(before, *items):
        return before
    arrays = [array_of(x) for x in items]
    if arrays[0] is not None:
        of_arrays = Array(kind_of(arrays[0]))
        if not takes(of_arrays, *items):
            raise _refused(items[-1])
        if before is not None:
            raise _refused(items[0])
        return of_arrays
    known = before.structure if isinstance(before, Items) else None
    structures = {item_structure(x) for x in items} | ({known} if before is not None else set())
    structure = joint_structure(items, structures)
    if structure is None:
        _ask_for_one_pool(items, before)
    found = [each for each in structures if each is not None]
    are_records = None in structures and all(each.pool is not None for each in found)
    # Texts of several templates, None or a tuple.
    are_options = len(structures) > 1 and all(each.kind in (Late, tuple) for each in found)
    if are_records or are_options:
        return _form_of_numbers(items, before)
    if structure is None:
        # With a default: StopIteration would end the statement that is being captured.
        raise _refused(next((x for x in reversed(items) if item_structure(x) is None), items[-1]))
    if before is not None and known is None:
        raise _refused(items[-1])
    return _form_of_structure(structure, items, before)


def _ask_for_one_pool(items: Sequence[object], before: Form | None) -> None:
    """Capture again with one pool for lists of several, see Note [Pools of lists]."""
    pool = None if before is None else pool_of(before)
    known = [] if pool is None else [pool.at(0)]
    found = [*known, *items]
    if any(isinstance(x, Traced) and x._in_pool for x in found):
        lists = current().door.lists
        lists.ask_pool(*(x for x in found if isinstance(x, list)), structured=pool is None)


def _form_of_structure(structure: Structure, items: Sequence[object], before: Form | None) -> Form:
    columns = list(zip(*(fields_of(x, structure) for x in items), strict=True))
    known = before.items if isinstance(before, Items) else (None,) * len(columns)
    if structure.kind is list:
        current().door.lists.note_structured(items)
    forms = map(form_of_items, columns, known)
    found = Items(structure, tuple(form for form in forms if form is not None))
    if not types_of(found):
        raise _refused(items[-1])
    return found


def _form_of_numbers(items: Sequence[object], before: Form | None) -> Form:
    """Of numbers and constants: what one kind of numbers does not hold is one of several things."""
    kinds = frozenset[ScalarType]() if before is None else numbers_in(before)
    known = [scalar_kinds(x) for x in items]
    for each in known:
        kinds |= each or frozenset()
    found: Form | None = None
    if None not in known and not isinstance(before, Union | Items):
        found = number_form(kinds)
        if isinstance(found, MixedNumber) and not _holds_both(found):
            found = None
    if found is None:
        keys = () if before is None else keys_of(before)
        tuples = _tuples_in(items, before)
        found = union_of([*keys, *(key for x in items for key in keys_in(x))], tuples)
    if found is None or isinstance(before, Array):
        both = zip(items, known, strict=True)
        raise _refused(next((x for x, each in both if each is None), items[-1]))
    return found


def _holds_both(form: MixedNumber) -> bool:
    """Whether one array can hold all numbers of both kinds: those that a list held already are cast
    to its dtype without a look at them.
    """
    return form.has_whole or np.can_cast(form.other.dtype, form.given.dtype)


def _tuples_in(items: Iterable[object], before: Form | None) -> dict[Structure, Items] | None:
    """The forms of the tuples of numbers among items, or before, by their structure; None if tuples
    of one length differ, or hold other things.
    """
    known = before.options if isinstance(before, Union) else (before,)
    found = {
        each.structure: each
        for each in known
        if isinstance(each, Items) and each.structure.kind is tuple
    }
    for x in (each for item in items for each in things_in(item) if type(each) is tuple):
        forms = [form_of(each) if is_number(each) else None for each in x]
        plain = [each for each in forms if each is not None]
        form = of_tuple(plain)
        if len(plain) < len(forms) or found.setdefault(form.structure, form) != form:
            return None
    return found


def arrays_in(x: object) -> Iterator[Value]:
    """The arrays that an item is, or holds."""
    if (structure := item_structure(x)) is not None:
        for each in fields_of(x, structure):
            yield from arrays_in(each)
    elif (value := array_of(x)) is not None:
        yield value


def records_in(x: object) -> Iterator[Any]:
    """The dicts and objects that an item is, or holds."""
    structure = item_structure(x)
    if structure is not None and (structure.kind is Differing or not structure.is_traced):
        if not isinstance(x, tuple | Differing):
            yield x
        for each in fields_of(x, structure):
            yield from records_in(each)


def _refused(x: object) -> Exception:
    current().door.lists.ask_pool(x)
    what = class_of(x).__name__
    is_apart = OBJECTS_APART in current().requests and not isinstance(x, Traced | str | None)
    if is_apart and (type(x) in (dict, list) or is_python_class(class_of(x))):
        return refuse(
            COUNTED_LIST,
            f"a list whose length depends on data, with a {what} among its items that changes "
            "afterwards, is compared by identity, or is returned beside it,",
        )
    if isinstance(x, TracedValue):
        what = str(operand(x).type)
    return refuse(
        COUNTED_LIST,
        f"a list whose length depends on data, with {what} among its items,",
        "append things of one kind: numbers, arrays, tuples, or new dicts and objects",
    )
