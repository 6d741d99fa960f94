"""Lists as arrays, and what can be said of their items. See Note [Forms]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, assert_never

import numpy as np

from fxc.ir.error_kinds import COUNTED_LIST
from fxc.ir.graph import Operand, Value
from fxc.ir.records import frozen
from fxc.ir.types import ArrayType, ScalarType

from ..arrays.dtypes import dtype_of
from ..arrays.elements import TracedVoid
from ..arrays.sequences import demand_cast, is_a_cast, is_stored, records_of
from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import operand, record, wrap
from .differing import Differing
from .form import (
    Array,
    Constant,
    Form,
    Items,
    MixedNumber,
    Number,
    OfNumbers,
    Sized,
    Union,
    numbers_in,
    pool_of,
    types_of,
    types_of_option,
)
from .structures import Structure
from .truths import flag_of


def classes_in(form: Form) -> frozenset[type]:
    """The classes of the dicts and objects that an item is, or holds."""
    if not isinstance(form, Items):
        return frozenset()
    kind = form.structure.kind
    is_seen = issubclass(kind, tuple) or form.structure.is_traced
    return frozenset(() if is_seen else (kind,)).union(*map(classes_in, form.items))


def class_of_objects(form: Form) -> type | None:
    """The class of the items; None for numbers, and for tuples of them."""
    if not isinstance(form, Items) or issubclass(form.structure.kind, tuple):
        return None
    pool = form.structure.pool
    return form.structure.kind if pool is None else getattr(pool.label, "kind", list)


def may_change(form: Form) -> bool:
    """Whether the items are, or hold, dicts, objects or lists in pools, which may change."""
    inner = form.items if isinstance(form, Items) else ()
    return pool_of(form) is not None or any(map(may_change, inner))


def are_fixed(form: Form) -> bool:
    """Whether nothing can change the items: numbers, constants, or tuples of these."""
    match form:
        case Number() | MixedNumber() | Constant():
            return True
        case Items(structure, inner):
            return structure.kind is tuple and all(map(are_fixed, inner))
        case Union(options):
            return all(map(are_fixed, options))
        case Array() | Sized():
            return False
        case _:
            assert_never(form)


def dtype_as_places(form: Form) -> np.dtype | None:
    """Of which dtype an index of such items is, also of none of them; None for no ints."""
    is_number = isinstance(form, OfNumbers)
    is_int = is_number and all(kind.dtype.kind == "i" for kind in numbers_in(form))
    return np.dtype(np.intp) if is_int else None


def as_array(form: Form, arrays: Sequence[Value], dtype: object) -> Any:
    """The array of items that stand in these arrays."""
    match form:
        case Items(structure, items) if structure.kind is tuple and _is_of_records(dtype):
            return _array_of_records(items, iter(arrays), dtype_of(dtype))
        case Items(structure, _) if structure.kind is TracedVoid:
            return _cast(_elements_at(structure, arrays), (), dtype)
        case Items(structure, items) if structure.kind in (tuple, list):
            return _array_of_rows(items, arrays, dtype)
        case Items(structure, items) if structure.kind is Differing:
            return _array_of_either(items, iter(arrays), dtype)
        case Union((Items() as each,)):
            return as_array(each, arrays[1:], dtype)
        case Union(options):
            return _array_of_numbers(options, iter(arrays), dtype)
        case Items() | Constant() | Sized():
            raise _refused()
        case Array(kind):
            return _cast(wrap(arrays[0]), (kind,), dtype)
        case Number() | MixedNumber():
            return _array_of_kinds(form, arrays, dtype)
        case _:
            assert_never(form)


def codes_of_items(form: Form, arrays: Sequence[Any]) -> Any:
    """The code points of items that stand in these arrays; None if they are no characters."""
    match form:
        case Items(structure, _) if structure.is_traced and structure.kind._of_item is chr:  # type: ignore[attr-defined]
            return arrays[0].astype(np.int32)
        case Union(options):
            texts = [each.value for each in options if isinstance(each, Constant) and each.value]
            if len(texts) < len(options) or any(len(text) > 1 for text in texts):
                return None
            *rest, last = zip(arrays, texts, strict=True)
            found: Any = ord(last[1])
            for flag, text in rest:
                found = np.where(flag, ord(text), found)
            return None if type(found) is int else found.astype(np.int32)
        case Number() | MixedNumber() | Array() | Sized() | Constant() | Items():
            return None
        case _:
            assert_never(form)


def columns_in_order(form: Form, arrays: Iterator[Any]) -> list[Any] | None:
    """Numbers by which items in these arrays are in Python's order, the first ones first; None if
    no order is known. Texts that are known have their ranks.
    """
    match form:
        case Number():
            return [next(arrays)]
        case Items(structure, items) if structure.pool is None and (
            structure.kind is list or issubclass(structure.kind, tuple)
        ):
            parts = [columns_in_order(each, arrays) for each in items]
            known = [columns for columns in parts if columns is not None]
            return list(chain.from_iterable(known)) if len(known) == len(parts) else None
        case Constant(str()):
            return []
        case Union(options):
            flags = [(next(arrays), each) for each in options if isinstance(each, Constant)]
            texts = sorted(each.value for _, each in flags if type(each.value) is str)
            if len(texts) < len(options):
                return None
            ranks: Any = 0
            for flag, each in flags:
                ranks = np.where(flag, texts.index(each.value), ranks)
            return [ranks]
        case Constant() | MixedNumber() | Array() | Sized() | Items():
            return None
        case _:
            assert_never(form)


def holds_texts(form: Form) -> bool:
    """Whether items are tuples or lists that hold one known text or another."""
    parts = form.items if isinstance(form, Items) else ()
    unions = [each.options for each in parts if isinstance(each, Union)]
    kinds = [[type(getattr(x, "value", None)) for x in each] for each in unions]
    are_texts = any(len(each) > 1 and set(each) == {str} for each in kinds)
    return are_texts or any(map(holds_texts, parts))


@frozen(eq=False)
class ListArray:
    """The array of a list, which is one of floats, or of the ``asked`` dtype, and has one axis if
    the list is empty: where that makes a difference, the call goes back to Python.
    """

    array: Value
    filled: Operand
    asked: np.dtype | None = None

    def read(self) -> Value:
        """The array, which has elements from here on."""
        current().record("try_demand", self.filled)
        return self.array


def array_of_list(
    form: Form, arrays: Sequence[Value], dtype: object, is_filled: Callable[[], object]
) -> Any:
    """The same of a list that may be empty, whose array would be one of floats, with one axis."""
    found = as_array(form, arrays, dtype)
    if not isinstance(form, Items | Array) and (dtype is not None or found.dtype == np.float64):
        return found
    test = is_filled()
    if test is True:
        return found
    made = ListArray(found._value, flag_of(test), None if dtype is None else dtype_of(dtype))
    return type(found)._later_read(made) if not current().region else wrap(made.read())


def _is_of_records(dtype: object) -> bool:
    return dtype is not None and dtype_of(dtype).names is not None


def _array_of_records(items: Sequence[Form], arrays: Iterator[Value], dtype: np.dtype) -> Any:
    """The same of tuples as records."""
    names = dtype.names or ()
    if len(names) != len(items) or any(dtype[name].shape for name in names):
        raise _refused()
    columns = [
        as_array(each, [next(arrays) for _ in types_of(each)], dtype[name])
        for name, each in zip(names, items, strict=True)
    ]
    return records_of(columns[0]._value.type.shape, dtype, columns)


def _elements_at(structure: Structure, places: Sequence[Value]) -> Any:
    """The same of records that stand in one array, at these places."""
    array = structure.keys[0][0]
    if len(places) != 1 or array.type.rank != 1:
        raise _refused()
    return wrap(array)[wrap(places[0])]


def _array_of_rows(items: Sequence[Form], arrays: Sequence[Value], dtype: object) -> object:
    """The same of tuples or lists."""
    if dtype is None and _are_floats(items, arrays):
        dtype = np.float64
    rest = iter(arrays)
    columns = [as_array(each, [next(rest) for _ in types_of(each)], dtype)._value for each in items]
    if any(column.type.shape[1:] != columns[0].type.shape[1:] for column in columns):
        raise refuse(COUNTED_LIST, "an array of a list of tuples that hold more")
    wanted = np.result_type(*(column.type.dtype for column in columns))
    columns = [wrap(column).astype(wanted, copy=False)._value for column in columns]
    return record("stack", tuple(columns), axis=1)


def _are_floats(items: Sequence[Form], arrays: Sequence[Value]) -> bool:
    """Whether an array of such tuples is one of floats, wherever the floats among them are: native
    code leaves where there are none.
    """
    leaves, rest = [*_leaves(items)], iter(arrays)
    flags, surely = [], False
    for each in leaves:
        dtypes = "" if each is None else {kind.dtype.char for kind in numbers_in(each)}
        if each is None or not {*dtypes} <= {*"?qld"}:
            return False
        parts = [next(rest) for _ in types_of(each)]
        if isinstance(each, MixedNumber) and each.has_whole:
            flags.append(wrap(parts[1]))
        elif len(dtypes) > 1:
            return False
        else:
            surely = surely or "d" in dtypes
    if flags and not surely:
        _demand_one(flags)
    return bool(flags)


def _leaves(items: Sequence[Form]) -> Iterator[OfNumbers | None]:
    """The numbers of tuples, and of those in them; None for what is neither."""
    for each in items:
        if isinstance(each, Items) and each.structure.kind in (tuple, list):
            yield from _leaves(each.items)
        else:
            yield each if isinstance(each, OfNumbers) else None


def _array_of_either(items: Sequence[Form], arrays: Iterator[Value], dtype: object) -> object:
    """The same of items that are one thing or another by a flag."""
    flag, left, right = (
        as_array(each, [next(arrays) for _ in types_of(each)], dtype) for each in items
    )
    if left.dtype != right.dtype or left.shape[1:] != right.shape[1:]:
        raise refuse(
            COUNTED_LIST, "an array of a list of things that differ in their dtypes or lengths"
        )
    flags = flag.reshape(-1, *(1,) * (left.ndim - 1))
    return record("where", flags._value, left._value, right._value)


def _array_of_numbers(options: Sequence[Form], arrays: Iterator[Value], dtype: object) -> Any:
    """The same of items that are a number or another thing, where native code leaves."""
    found: list[tuple[Number, Value, Value]] = []
    for each in options:
        flags, *parts = [next(arrays) for _ in types_of_option(each)]
        if isinstance(each, Number):
            found.append((each, flags, parts[0]))
    if len(found) != 1:
        raise _refused()
    ((number, flags, values),) = found
    current().record("try_demand", operand(wrap(flags).all()))
    return as_array(number, [values], dtype)


def _array_of_kinds(form: OfNumbers, arrays: Sequence[Value], dtype: object) -> Any:
    """The same of numbers of one type or two."""
    dtypes = {kind.dtype for kind in numbers_in(form)}
    if isinstance(form, Number) or not form.has_whole:
        if dtype is None and len(dtypes) > 1:
            raise _refused_dtypes()
        found = wrap(arrays[0])
        made = _stored(found, numbers_in(form), dtype)
        return _cast(found, types_of(form)[:1], dtype) if made is None else made
    if dtype is None:
        _check_floats(form.given, arrays[1])
    return _cast(record("where", arrays[1], arrays[0], arrays[2]), numbers_in(form), dtype)


def _stored(found: Any, kinds: Iterable[ScalarType], dtype: Any) -> Any:
    """Numbers of one type as an array of that dtype; None where native code cannot cast."""
    wanted = found.dtype if dtype is None else dtype_of(dtype)
    if not is_stored(found.dtype, wanted):
        return None
    if found.dtype.kind == "f" or any(kind.weak for kind in kinds):
        demand_cast(found, found.dtype, wanted)
    return found if found.dtype == wanted else found.astype(wanted)


def _cast(found: Any, kinds: Iterable[ScalarType | ArrayType], dtype: Any) -> Any:
    """An array of items of these types as the array that is asked for."""
    wanted, dtypes = found.dtype if dtype is None else dtype_of(dtype), {x.dtype for x in kinds}
    if not all(is_a_cast(each, wanted) or each.kind + wanted.kind == "if" for each in dtypes):
        raise refuse(COUNTED_LIST, f"a list of {found.dtype} as an array of {wanted}")
    return found if found.dtype == wanted else found.astype(wanted)


def _check_floats(given: ScalarType, flags: Value) -> None:
    """Have native code leave where none of the numbers, floats or ints, is a float."""
    if given.dtype != np.float64:
        raise _refused_dtypes()
    _demand_one([wrap(flags)])


def _demand_one(flags: Sequence[Any]) -> None:
    """Have native code leave where there are flags, of which none holds."""
    has_one = flags[0].size == 0
    for each in flags:
        has_one = np.logical_or(each.any(), has_one)
    current().record("try_demand", operand(has_one))


def _refused_dtypes() -> Exception:
    return refuse(
        COUNTED_LIST,
        "an array of a list of numbers that are of several dtypes by conditions",
        "begin with floats, or use np.array(list, dtype=float)",
    )


def _refused() -> Exception:
    return refuse(
        COUNTED_LIST,
        "an array of a list of other things than numbers, arrays and tuples, whose length depends "
        "on data,",
    )
