"""What the items of a list are: numbers, arrays, records. See Note [Records in lists]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.records import frozen
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.shapes import same_shape

from ..forms.structures import APART, Structure, item_structure, items_of, joint_structure
from ..outside.objects import is_python_class, vars_of
from ..outside.shadows import class_of
from ..session import current, refuse
from ..statements.differing import Differing
from ..statements.structured import (
    array_of,
    is_constant,
    is_number,
    joint_kinds,
    of_parts,
    parts_of,
)
from .late import Late
from .mixed import parts_for, scalar_kinds
from .operands import Traced, TracedValue, dtype_of, operand, record, wrap
from .several import FLAG, Items, SeveralKinds, keys_in, options_for, things_in
from .stored_items import demand_cast, is_a_cast, is_stored

# Note [Records in lists]
# An item of a list of the graph is a number, an array, one of several things (a text, None, a
# number, a tuple of numbers: Note [Several things]), or what has a *form*: a tuple, and a dict with
# texts as keys, a list or an object of a Python class that the program has made since the innermost
# loop began. Two things with forms, of which it is one by a flag (Note [Things that differ]), are a
# form of three items.
# Each number of it stands in an array, and an item that is read is a new one. So nobody may be
# able to tell which of these is which: an item is sealed (Note [Objects that are joined]), is in
# one list alone, and is not returned beside it. Lists that are made of one another, as by
# ``sorted``, are not returned both.


@frozen
class ItemKind:
    """A number of one of these ``kinds``, which stands in ``parts`` (see Note [Mixed scalars]), an
    array of the type that is the only part, what has a ``form`` with ``items`` of these kinds, or
    one of several things: Note [Records in lists].
    """

    kinds: frozenset[ScalarType]
    parts: tuple[ScalarType | ArrayType, ...]
    items: tuple[ItemKind, ...] | None = None
    form: Structure | None = None

    @property
    def pool(self) -> Any:
        """The pool of the records that the items are, or may be; None for none. See Note
        [Records].
        """
        if self.options is not None:
            return next(iter(self.options.pools), None)
        return None if self.form is None else self.form.pool

    def as_numbers(self) -> ItemKind:
        """The same with the numbers of records in their place; beside other numbers they cannot be
        told apart.
        """
        if self.options is None:
            return self.part(0)
        return ItemKind(self.kinds, self.options.as_numbers())

    def part(self, place: int) -> ItemKind:
        """The kind of a part of an item that consists of several."""
        assert self.items is not None
        return self.items[place]

    @property
    def is_array(self) -> bool:
        return self.items is None and isinstance(self.parts[0], ArrayType)

    @property
    def is_of_numbers(self) -> bool:
        """Whether the items are numbers, and not one of several things."""
        return self.items is None and self.options is None and not self.is_array

    @property
    def options(self) -> SeveralKinds | None:
        """What the items are of which each is one of several things."""
        return self.parts if type(self.parts) is SeveralKinds else None

    @property
    def keys(self) -> Iterable[Any]:
        """What tells apart what the items may be, of numbers, constants and records."""
        if self.options is not None:
            return self.options.keys
        return self.kinds if self.form is None else (self.key_of_form,)

    @property
    def key_of_form(self) -> Any:
        """What tells a record, a text or a tuple from other things that an item may be."""
        assert self.form is not None
        if self.form.kind is tuple:
            return "tuple", len(self.form.keys)
        if self.form.kind is not Late:
            return "record", self.form.pool
        return "text", self.form.keys[0], tuple(each.parts for each in self.items or ())

    @property
    def classes(self) -> frozenset[type]:
        """The classes of the dicts and objects that an item is, or holds."""
        if self.form is None or self.items is None:
            return frozenset()
        inner = frozenset[type]().union(*(each.classes for each in self.items))
        is_seen = issubclass(self.form.kind, tuple) or self.form.is_traced
        return inner if is_seen else inner | {self.form.kind}

    @property
    def of_objects(self) -> type | None:
        """The class of the items; None for numbers, and for tuples of them."""
        if self.form is None or issubclass(self.form.kind, tuple):
            return None
        pool = self.form.pool
        return self.form.kind if pool is None else getattr(pool.label, "kind", list)

    @property
    def _numbers(self) -> tuple[ScalarType, ...]:
        """The parts of a number."""
        return tuple(part for part in self.parts if isinstance(part, ScalarType))

    def takes(self, x: Any) -> bool:
        """Whether ``x`` is such an item."""
        if self.items is not None:
            assert self.form is not None
            same = item_structure(x) == self.form or self.form.takes(x)
            fields = zip(self.items, _fields_of(x, self.form), strict=True) if same else ()
            return same and all(k.takes(each) for k, each in fields)
        if self.options is not None:
            return keys_in(x) <= self.options.keys and _tuples_in((x,), self) is not None
        if self.is_array:
            value = array_of(x)
            return value is not None and _are_alike(self.parts[0], value.type)
        found = scalar_kinds(x)
        return found is not None and found <= self.kinds

    def parts_of(self, x: Any) -> list[Operand]:
        """The operands that stand for an item, recorded here."""
        if self.is_array:
            return [operand(x)]
        if self.items is None:
            return parts_of(x, self.parts)
        both = zip(self.items, items_of(x, self.form), strict=True)
        return [part for kind, each in both for part in kind.parts_of(each)]

    def filled(self, before: ItemKind, arrays: Sequence[Value]) -> list[Any]:
        """What to fill the arrays with, of a list that was of another kind."""
        given = [wrap(array) for array in arrays]
        if before == self:
            return given
        if self.items is not None:
            assert before.items is not None
            left = iter(given)
            both = zip(self.items, before.items, strict=True)
            of_items = (kind._filled(old, [next(left) for _ in old.parts]) for kind, old in both)
            return [part for parts in of_items for part in parts]
        return self._filled(before, given)

    def _filled(self, before: ItemKind, given: list[Any]) -> list[Any]:
        if before.parts == self.parts:
            return given
        if self.items is not None:
            return self.filled(before, [array._value for array in given])
        if self.options is not None:
            return self._options_filled(self.options, before, given)
        (array,), (kind,) = given, before._numbers
        first = (kind.dtype, kind.weak) == (self._numbers[0].dtype, self._numbers[0].weak)
        if len(self.parts) == 2:
            return [array, first]
        return [array, True, 0] if first else [0, False, array]

    def _options_filled(
        self, options: SeveralKinds, before: ItemKind, given: list[Any]
    ) -> list[Any]:
        """The same of what was a number, or fewer things."""
        left, old = iter(given), before.options
        known: dict[Any, list[Any]] = {}
        if old is not None:
            for key, each in zip(old.keys_in_order, old.options, strict=True):
                known[key] = [next(left) for _ in SeveralKinds((each,))]
        elif len(given) == 1 or before.form is not None:
            key = before._numbers[0] if before.form is None else before.key_of_form
            known[key] = [True, *given]
        else:
            first, (other,) = before._numbers[0], before.kinds - {before._numbers[0]}
            known[first] = [given[1], given[0]]
            known[other] = [~given[1], given[-1] if len(given) == 3 else given[0]]
        found: list[Any] = []
        for key, each in zip(options.keys_in_order, options.options, strict=True):
            zeros = [part.zero for part in SeveralKinds((each,))]
            found += known.get(key, zeros)
        return found

    def item(self, parts: Sequence[Operand]) -> Any:
        """The item for elements of the arrays."""
        return self._item(iter(parts))

    def _item(self, parts: Iterator[Operand]) -> Any:
        if self.form is not None and self.items is not None:
            return self.form.of([each._item(parts) for each in self.items])
        if self.is_array:
            return wrap(current().record("copy", next(parts), order="C"))
        found = [_as_kind(next(parts), kind) for kind in self._numbers]
        if self.options is None:
            return of_parts(found)
        return self._one_of(self.options, found)

    def _one_of(self, options: SeveralKinds, parts: list[Operand]) -> Any:
        """The item that is one of several things."""
        if len(options.options) == 1 and is_constant(options.options[0]):
            return options.options[0]
        flags = [part for part, kind in zip(parts, options, strict=True) if kind == FLAG]
        if all(isinstance(flag, Literal) and not flag.value for flag in flags):  # of a placeholder
            parts = [Literal(np.True_), *parts[1:]]
        return of_parts(parts, options)

    @property
    def changes(self) -> bool:
        """Whether the items are, or hold, dicts, objects or lists in pools, which may change."""
        return self.pool is not None or any(each.changes for each in self.items or ())

    @property
    def dtype_as_places(self) -> np.dtype | None:
        """Of which dtype an index of such items is, also of none of them; None for no ints."""
        is_int = self.is_of_numbers and all(kind.dtype.kind == "i" for kind in self.kinds)
        return np.dtype(np.intp) if is_int else None

    def array(self, arrays: Sequence[Value], dtype: Any) -> Any:
        """The array of items that stand in these arrays."""
        if self.form is not None and self.form.kind is Differing:
            return self._array_of_either(iter(arrays), dtype)
        if self.options is not None:
            return self._array_of_numbers(self.options, arrays, dtype)
        if self.form is not None and self.form.kind not in (tuple, list):
            raise _refused_as_array()
        if self.items is not None:
            if any(each.items is not None or each.is_array for each in self.items):
                raise refuse("an array of a list of tuples that hold more cannot be captured")
            given = iter(arrays)
            columns = [
                each.array([next(given) for _ in each.parts], dtype)._value for each in self.items
            ]
            wanted = np.result_type(*(column.type.dtype for column in columns))
            columns = [wrap(column).astype(wanted, copy=False)._value for column in columns]
            return record("stack", tuple(columns), axis=1)
        if dtype is None and len({kind.dtype for kind in self.kinds}) > 1:
            self._check_floats(arrays)
        dtypes = {kind.dtype for kind in self.parts if self.is_array or kind in self.kinds}
        found = wrap(arrays[0])
        if len(self.parts) == 3:
            found = record("where", arrays[1], arrays[0], arrays[2])
        wanted = found.dtype if dtype is None else dtype_of(dtype)
        is_one = len(dtypes) == 1 and not self.is_array and is_stored(found.dtype, wanted)
        if is_one:
            if found.dtype.kind == "f" or any(kind.weak for kind in self.kinds):
                demand_cast(found, found.dtype, wanted)
        elif not all(is_a_cast(each, wanted) or each.kind + wanted.kind == "if" for each in dtypes):
            raise refuse(f"a list of {found.dtype} as an array of {wanted} cannot be captured")
        return found if found.dtype == wanted else found.astype(wanted)

    def _array_of_either(self, arrays: Iterator[Value], dtype: Any) -> Any:
        """The same of items that are one thing or another by a flag."""
        flag, left, right = (
            each.array([next(arrays) for _ in each.parts], dtype) for each in self.items or ()
        )
        if left.dtype != right.dtype or left.shape[1:] != right.shape[1:]:
            raise refuse(
                "an array of a list of things that differ in their dtypes or lengths cannot be "
                "captured"
            )
        flags = flag.reshape(-1, *(1,) * (left.ndim - 1))
        return record("where", flags._value, left._value, right._value)

    def _array_of_numbers(self, options: SeveralKinds, arrays: Sequence[Value], dtype: Any) -> Any:
        """The array of items each of which is a number, or another thing: native code leaves where
        it is that.
        """
        left, found = iter(arrays), []
        for each in options.options:
            parts = [next(left) for _ in SeveralKinds((each,))]
            if isinstance(each, ScalarType):
                found.append((each, parts))
        if len(found) != 1:
            raise _refused_as_array()
        ((kind, (flags, numbers)),) = found
        current().record("try_demand", operand(wrap(flags).all()))
        return ItemKind(frozenset((kind,)), (kind,)).array([numbers], dtype)

    def _check_floats(self, arrays: Sequence[Value]) -> None:
        """Have native code leave where none of the numbers, floats or ints, is a float."""
        if len(self.parts) != 3 or self._numbers[0].dtype != np.float64:
            raise refuse(
                "an array of a list of numbers that are of several dtypes by conditions cannot be "
                "captured; begin with floats, or use np.array(list, dtype=float)"
            )
        flags = wrap(arrays[1])
        has_one = np.logical_or(flags.any(), flags.size == 0)
        current().record("try_demand", operand(has_one))


def _as_kind(x: Operand, kind: ScalarType) -> Operand:
    """An element of an array as the number that it stands for."""
    if not kind.weak:
        return x
    names = {"b": "py_bool", "i": "py_int", "f": "py_float"}
    found: Value = current().record(names[kind.dtype.kind], x)
    return found


def kind_of_items(items: Sequence[Any], before: ItemKind | None) -> ItemKind | None:
    """What all these items are, of a list that held items of a kind before; None if there are
    none.
    """
    if not items:
        return before
    if before is not None and all(map(before.takes, items)):
        return before
    arrays = [array_of(x) for x in items]
    if arrays[0] is not None:
        if not all(x is not None and _are_alike(arrays[0].type, x.type) for x in arrays):
            raise _refused(items[-1])
        if before is not None:
            raise _refused(items[0])
        return ItemKind(frozenset(), (arrays[0].type,))
    forms = {item_structure(x) for x in items} | ({before.form} if before is not None else set())
    form = joint_structure(items, forms)
    if form is None:
        _ask_for_one_pool(items, before)
    if None in forms and all(each is None or each.pool is not None for each in forms):
        return _kind_of_numbers(items, before)
    if len(forms) > 1 and all(each is None or each.kind in (Late, tuple) for each in forms):
        return _kind_of_numbers(items, before)  # texts of several templates, None or a tuple
    if form is None and len(forms) > 1:
        # With a default: StopIteration would end the statement that is being captured.
        raise _refused(next((x for x in reversed(items) if item_structure(x) is None), items[-1]))
    if form is not None and before is not None and before.form is None:
        raise _refused(items[-1])
    return _kind_of_numbers(items, before) if form is None else _kind_of_forms(form, items, before)


def _ask_for_one_pool(items: Sequence[Any], before: ItemKind | None) -> None:
    """Capture again with one pool for lists of several, see Note [Pools of lists]."""
    known = [] if before is None or before.pool is None else [before.pool.at(0)]
    found = [*known, *items]
    if any(isinstance(x, Traced) and x._in_pool for x in found):
        current().door.lists.ask_pool(*(x for x in found if isinstance(x, list)))


def _kind_of_forms(form: Structure, items: Sequence[Any], before: ItemKind | None) -> ItemKind:
    columns = list(zip(*(_fields_of(x, form) for x in items), strict=True))
    known = (None,) * len(columns) if before is None else before.items
    assert known is not None
    both = zip(columns, known, strict=True)
    found = tuple(
        kind for kind in (kind_of_items(column, old) for column, old in both) if kind is not None
    )
    parts = tuple(part for column in found for part in column.parts)
    if not parts:
        raise _refused(items[-1])
    return ItemKind(frozenset(), parts, found, form)


def _kind_of_numbers(items: Sequence[Any], before: ItemKind | None) -> ItemKind:
    """Of numbers, and of constants: what one kind of numbers does not hold is one of several
    things.
    """
    kinds = before.kinds if before is not None else frozenset[ScalarType]()
    known = [scalar_kinds(x) for x in items]
    for x, each in zip(items, known, strict=True):
        if each is not None and any(kind.weak and kind.dtype.kind == "c" for kind in each):
            raise _refused(x)
        kinds |= each or frozenset()
    found = None
    plain = before is None or (before.options is None and before.form is None)
    if None not in known and plain:
        found = parts_for(kinds)
    if found is None:
        keys = before.keys if before is not None else kinds
        tuples = _tuples_in(items, before)
        found = options_for([*keys, *(key for x in items for key in keys_in(x))], tuples)
    if found is None or (before is not None and before.is_array):
        both = zip(items, known, strict=True)
        raise _refused(next((x for x, each in both if each is None), items[-1]))
    return ItemKind(kinds, found)


def _tuples_in(items: Iterable[Any], before: ItemKind | None) -> dict[int, Items] | None:
    """The types of the tuples of numbers among items, or of the kind before, by their length; None
    if tuples of one length differ, or hold other things.
    """
    found: dict[int, Items] = {}
    if before is not None and before.options is not None:
        options = (each for each in before.options.options if type(each) is Items)
        found = {len(each): each for each in options if each.key[0] == "tuple"}
    elif before is not None and before.form is not None and before.form.kind is tuple:
        found = {len(before.items or ()): Items(each.parts for each in before.items or ())}
    for x in (each for item in items for each in things_in(item) if type(each) is tuple):
        kinds = [joint_kinds(each, each) if is_number(each) else None for each in x]
        if None in kinds or found.setdefault(len(x), Items(kinds)) != Items(kinds):
            return None
    return found


def _are_alike(left: Any, right: Any) -> bool:
    """Whether one list may hold arrays of these types; sizes that are equal are guarded to be."""
    if left.dtype != right.dtype or left.rank != right.rank:
        return False
    varies = current().varies
    return not any(map(varies, (*left.shape, *right.shape))) and same_shape(left.shape, right.shape)


def arrays_in(x: Any) -> Iterator[Value]:
    """The arrays that an item is, or holds."""
    if (form := item_structure(x)) is not None:
        for each in _fields_of(x, form):
            yield from arrays_in(each)
    elif (value := array_of(x)) is not None:
        yield value


def records_in(x: Any) -> Iterator[Any]:
    """The dicts and objects that an item is, or holds."""
    form = item_structure(x)
    if form is not None and (form.kind is Differing or not form.is_traced):
        if not isinstance(x, tuple | Differing):
            yield x
        for each in _fields_of(x, form):
            yield from records_in(each)


def _fields_of(x: Any, form: Structure) -> Sequence[Any]:
    if form.is_traced:
        return items_of(x, form)
    if isinstance(x, tuple | list):
        return x
    return tuple((x if type(x) is dict else vars_of(x)).values())


def _refused_as_array() -> Exception:
    return refuse(
        "an array of a list of other things than numbers, arrays and tuples, whose length depends "
        "on data, cannot be captured"
    )


def _refused(x: Any) -> Exception:
    current().door.lists.ask_pool(x)
    what = class_of(x).__name__
    is_apart = APART in current().static and not isinstance(x, Traced | str | None)
    if is_apart and (type(x) in (dict, list) or is_python_class(class_of(x))):
        return refuse(
            f"a list whose length depends on data, with a {what} among its items that changes "
            "afterwards, is compared by identity, or is returned beside it, cannot be captured"
        )
    if isinstance(x, TracedValue):
        what = str(operand(x).type)
    return refuse(
        f"a list whose length depends on data, with {what} among its items, cannot be captured; "
        "append things of one kind: numbers, arrays, tuples, or new dicts and objects"
    )
