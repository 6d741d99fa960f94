"""The expressions of an epilogue for the items of lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, assert_never

import numpy as np

from fxc.ir.error_kinds import COUNTED_LIST
from fxc.ir.types import ScalarType

from ..arrays.elements import TracedVoid
from ..forms.differing import Differing
from ..forms.form import Array, Constant, Form, Items, MixedNumber, Number, Sized, Union, columns_of
from ..forms.structures import Structure
from ..session.refusing import refuse
from ..values.late import Late


class Lists:
    """The text of lists of items that stand in arrays: ``constant`` names an object in it, ``pool``
    the list of all records, or lists, of a pool.
    """

    def __init__(self, constant: Callable[[object], str], pool: Callable[[Any], str]) -> None:
        self._constant = constant
        self._pool = pool

    def of(self, form: Form, arrays: Iterator[str]) -> str:
        """The expression for the list of items of a form that stand in arrays of these names."""
        match form:
            case Number(kind):
                return _numbers(kind, next(arrays))
            case MixedNumber(kind, _):
                columns = [_numbers(kind, next(arrays)), f"{next(arrays)}.tolist()"]
                if not form.has_whole:
                    return f"[x if f else x.item() for x, f in zip({', '.join(columns)})]"
                columns.append(f"{next(arrays)}.tolist()")
                return f"[x if f else w for x, f, w in zip({', '.join(columns)})]"
            case Array():
                return f"[row.copy() for row in {next(arrays)}]"
            case Items(structure, items):
                return self._made(structure, [self.of(each, arrays) for each in items])
            case Union(options):
                return self._one_of(options, arrays)
            case Constant() | Sized():
                raise AssertionError(f"{form} in a list by itself")
            case _:
                assert_never(form)

    def _made(self, structure: Structure, columns: Sequence[str]) -> str:
        """The list of things of a structure, whose items stand in these lists."""
        kind, rows = structure.kind, f"zip({', '.join(columns)})"
        if structure.pool is not None:
            return f"[{self._pool(structure.pool)}[x] for x in {columns[0]}]"
        if kind is TracedVoid:
            raise _of_records()
        if issubclass(kind, Late):
            return f"[{self._constant(structure.keys[0].made)}(*x) for x in {rows}]"
        if kind is Differing:
            return f"[x if f else y for f, x, y in {rows}]"
        if structure.is_traced:
            return f"[{self._constant(kind._of_item)}(x) for x in {columns[0]}]"  # type: ignore[attr-defined]
        if kind is tuple:
            return f"list({rows})"
        if issubclass(kind, tuple):
            return f"[new_tuple({self._constant(kind)}, x) for x in {rows}]"
        if kind is list:
            return f"[list(x) for x in {rows}]"
        names = [f"x{place}" for place in range(len(columns))]
        keys = map(repr, structure.keys)
        held = ", ".join(f"{key}: {name}" for key, name in zip(keys, names, strict=True))
        made = f"{{{held}}}" if kind is dict else f"rebuild({self._constant(kind)}, {{{held}}})"
        return f"[{made} for {', '.join(names)}, in {rows}]"

    def _one_of(self, options: Sequence[Form], arrays: Iterator[str]) -> str:
        """The list of items of which each is one of several things."""
        names: list[str] = []
        columns: list[str] = []
        cases: list[str] = []
        for place, form in enumerate(options):
            columns.append(f"{next(arrays)}.tolist()")
            parts = [] if isinstance(form, Constant) else columns_of(form)
            is_one = not isinstance(form, Items)
            given = [f"x{place}" if is_one else f"x{place}_{k}" for k in range(len(parts))]
            names += [f"f{place}", *given]
            columns += [self.of(each, arrays) for each in parts]
            match form:
                case Constant(value):
                    made = repr(value) if type(value) is str else self._constant(value)
                case Items(structure, _) if structure.kind is TracedVoid:
                    raise _of_records()
                case Items(structure, _) if issubclass(structure.kind, Late):
                    made = f"{self._constant(structure.keys[0].made)}({', '.join(given)})"
                case Items(structure, _) if structure.pool is not None:
                    made = f"{self._pool(structure.pool)}[{given[0]}]"
                case Items():
                    made = f"({', '.join(given)}, )"
                case _:
                    made = given[0]
            cases.append(f"{made} if f{place} else ")
        cases[-1] = cases[-1].partition(" if ")[0]
        return f"[{''.join(cases)} for {', '.join(names)}, in zip({', '.join(columns)})]"


def _of_records() -> Exception:
    what = "a list of records of an array, whose length depends on data, as a result"
    return refuse(COUNTED_LIST, what, "return np.array of it, or their places")


def _numbers(kind: ScalarType, array: str) -> str:
    return f"{array}.tolist()" if kind.weak else f"scalars({array})"


def scalars(array: np.ndarray) -> list[Any]:
    """The elements; called by epilogues. Without an end ``list`` asks for one more, in vain: to
    raise ``IndexError`` takes as long as twenty elements.
    """
    return list(islice(array, len(array)))


def arena_places(begins: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Where in the arena of a pool the items of its lists are, list by list; called by epilogues.

    See Note [Pools of lists].
    """
    before = np.cumsum(counts) - counts
    return np.repeat(begins - before, counts) + np.arange(counts.sum())


def rows_of(items: list[object], count: int, size: int) -> list[list[Any]]:
    """So many lists of that many items each."""
    return [items[row * size : (row + 1) * size] for row in range(count)]


def share_out(lists: list[list[object]], counts: np.ndarray, items: list[object]) -> None:
    """Give so many of the items to each of these lists; called by epilogues."""
    rest = iter(items)
    for place in np.flatnonzero(counts).tolist():
        lists[place].extend(islice(rest, int(counts[place])))
