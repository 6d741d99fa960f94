"""What the items of a list are: numbers, arrays, tuples. See Note [Lists of counted length]."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.graph import Operand, Value
from fxc.ir.records import frozen
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.shapes import same_shape

from ..session import current, refuse
from ..statements.structured import array_of, of_parts, parts_of
from .mixed import parts_for, scalar_kinds
from .operands import TracedValue, dtype_of, operand, record, wrap


@frozen
class ItemKind:
    """A number of one of these ``kinds``, which stands in ``parts`` (see Note [Mixed scalars]), a
    tuple of ``items``, or an array of the type that is the only part.
    """

    kinds: frozenset[ScalarType]
    parts: tuple[ScalarType | ArrayType, ...]
    items: tuple[ItemKind, ...] | None = None

    @property
    def is_array(self) -> bool:
        return self.items is None and isinstance(self.parts[0], ArrayType)

    @property
    def _numbers(self) -> tuple[ScalarType, ...]:
        """The parts of a number."""
        return tuple(part for part in self.parts if isinstance(part, ScalarType))

    def takes(self, x: Any) -> bool:
        """Whether ``x`` is such an item."""
        if self.items is not None:
            same = type(x) is tuple and len(x) == len(self.items)
            return same and all(k.takes(each) for k, each in zip(self.items, x, strict=True))
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
        both = zip(self.items, x, strict=True)
        return [part for kind, each in both for part in kind.parts_of(each)]

    def filled(self, before: ItemKind, arrays: Sequence[Value]) -> list[Any]:
        """What to fill the arrays with, of a list that was of another kind."""
        found = [wrap(array) for array in arrays]
        if before.parts == self.parts:
            return found
        (array,), (kind,) = found, before._numbers
        first = (kind.dtype, kind.weak) == (self._numbers[0].dtype, self._numbers[0].weak)
        if len(self.parts) == 2:
            return [array, first]
        return [array, True, 0] if first else [0, False, array]

    def item(self, parts: Sequence[Operand]) -> Any:
        """The item for elements of the arrays."""
        return self._item(iter(parts))

    def _item(self, parts: Iterator[Operand]) -> Any:
        if self.items is not None:
            return tuple([each._item(parts) for each in self.items])
        if self.is_array:
            return wrap(current().record("copy", next(parts), order="C"))
        return of_parts([_as_kind(next(parts), kind) for kind in self._numbers])

    def array(self, arrays: Sequence[Value], dtype: Any) -> Any:
        """The array of items that stand in these arrays."""
        if self.items is not None:
            if any(each.items is not None or each.is_array for each in self.items):
                raise refuse("an array of a list of tuples that hold more cannot be captured")
            given = iter(arrays)
            columns = [
                each.array([next(given) for _ in each.parts], dtype)._value for each in self.items
            ]
            if len({column.type.dtype for column in columns}) > 1:
                raise refuse(
                    "an array of a list of tuples with numbers of several dtypes cannot be "
                    "captured; use np.array(list, dtype=float)"
                )
            return record("stack", tuple(columns), axis=1)
        if dtype is None and len({kind.dtype for kind in self.kinds}) > 1:
            raise refuse(
                "an array of a list of numbers that are of several dtypes by conditions cannot be "
                "captured; begin with floats, or use np.array(list, dtype=float)"
            )
        dtypes = {kind.dtype for kind in self.parts if self.is_array or kind in self.kinds}
        found = wrap(arrays[0])
        if len(self.parts) == 3:
            found = record("where", arrays[1], arrays[0], arrays[2])
        wanted = found.dtype if dtype is None else dtype_of(dtype)
        if not all(np.can_cast(each, wanted) or each.kind + wanted.kind == "if" for each in dtypes):
            raise refuse(f"a list of {found.dtype} as an array of {wanted} cannot be captured")
        return found if found.dtype == wanted else found.astype(wanted)

    def listed(self, arrays: Iterator[str]) -> str:
        """The expression for the list of the items that stand in arrays of these names."""
        if self.items is not None:
            columns = [each.listed(arrays) for each in self.items]
            return f"list(zip({', '.join(columns)}))"
        if self.is_array:
            return f"[row.copy() for row in {next(arrays)}]"
        texts = [
            f"{next(arrays)}.tolist()" if kind.weak or k else f"list({next(arrays)})"
            for k, kind in enumerate(self._numbers)
        ]
        if len(texts) == 1:
            return texts[0]
        other = "x.item()" if len(texts) == 2 else "w"
        names = "x, f, w"[: 3 * len(texts) - 2]
        return f"[x if f else {other} for {names} in zip({', '.join(texts)})]"


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
    if before is not None and len(before.parts) > 1:
        raise _refused(next(x for x in items if not before.takes(x)))
    arrays = [array_of(x) for x in items]
    if arrays[0] is not None:
        if not all(x is not None and _are_alike(arrays[0].type, x.type) for x in arrays):
            raise _refused(items[-1])
        if before is not None:
            raise _refused(items[0])
        return ItemKind(frozenset(), (arrays[0].type,))
    sizes = {len(x) if type(x) is tuple else None for x in items}
    if len(sizes) > 1:
        raise _refused(items[-1])
    (size,) = sizes
    if size is not None:
        columns = [kind_of_items(column, None) for column in zip(*items, strict=True)]
        found = tuple(column for column in columns if column is not None)
        parts = tuple(part for column in found for part in column.parts)
        if not parts:
            raise _refused(items[-1])
        return ItemKind(frozenset(), parts, found)
    kinds = before.kinds if before is not None else frozenset[ScalarType]()
    for x in items:
        each = scalar_kinds(x)
        if each is None or any(kind.weak and kind.dtype.kind == "c" for kind in each):
            raise _refused(x)
        kinds |= each
    parts_of_all = parts_for(kinds)
    if parts_of_all is None:
        raise _refused(items[-1])
    return ItemKind(kinds, parts_of_all)


def _are_alike(left: Any, right: Any) -> bool:
    """Whether one list may hold arrays of these types; sizes that are equal are guarded to be."""
    if left.dtype != right.dtype or left.rank != right.rank:
        return False
    varies = current().varies
    return not any(map(varies, (*left.shape, *right.shape))) and same_shape(left.shape, right.shape)


def arrays_in(x: Any) -> Iterator[Value]:
    """The arrays that an item is, or holds."""
    if type(x) is tuple:
        for each in x:
            yield from arrays_in(each)
    elif (value := array_of(x)) is not None:
        yield value


def _refused(x: Any) -> Exception:
    what = x.__class__.__name__
    if isinstance(x, TracedValue):
        what = str(operand(x).type)
    return refuse(
        f"a list whose length depends on data, with {what} among its items, cannot be captured; "
        "append numbers or arrays of one kind, or tuples of them"
    )
