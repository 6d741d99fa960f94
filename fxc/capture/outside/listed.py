"""The expressions by which an epilogue makes a list of the items that stand in arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from fxc.ir.types import ScalarType

from ..statements.differing import Differing
from ..values.kinds import ItemKind
from ..values.late import Late
from ..values.several import Items, SeveralKinds


def listed(
    kind: ItemKind,
    arrays: Iterator[str],
    constant: Callable[[object], str],
    pool: Callable[[Any], str],
) -> str:
    """The expression for the list of items of a kind that stand in arrays of these names;
    ``constant`` names an object in it, ``pool`` the list of all records, or lists, of a pool.
    """
    if kind.form is not None and kind.items is not None:
        columns = ", ".join(listed(each, arrays, constant, pool) for each in kind.items)
        if kind.form.pool is not None:
            return f"[{pool(kind.form.pool)}[x] for x in {columns}]"
        if kind.form.kind is Late:
            made = constant(kind.form.keys[0].made)
            return f"[{made}(*x) for x in zip({columns})]"
        if kind.form.kind is Differing:
            return f"[x if f else y for f, x, y in zip({columns})]"
        if kind.form.is_traced:
            of_item = constant(kind.form.kind._of_item)  # type: ignore[attr-defined]
            return f"[{of_item}(x) for x in {columns}]"
        if kind.form.kind is tuple:
            return f"list(zip({columns}))"
        if issubclass(kind.form.kind, tuple):
            return f"[new_tuple({constant(kind.form.kind)}, x) for x in zip({columns})]"
        if kind.form.kind is list:
            return f"[list(x) for x in zip({columns})]"
        names = [f"x{place}" for place in range(len(kind.items))]
        keys = map(repr, kind.form.keys)
        held = ", ".join(f"{key}: {name}" for key, name in zip(keys, names, strict=True))
        of_class = "" if kind.form.kind is dict else f"rebuild({constant(kind.form.kind)}, "
        made = f"{of_class}{{{held}}}{')' if of_class else ''}"
        return f"[{made} for {', '.join(names)}, in zip({columns})]"
    if kind.is_array:
        return f"[row.copy() for row in {next(arrays)}]"
    if kind.options is not None:
        return _one_of(kind.options, arrays, constant, pool)
    numbers = [part for part in kind.parts if isinstance(part, ScalarType)]
    texts = [
        f"{next(arrays)}.tolist()" if each.weak or k else f"list({next(arrays)})"
        for k, each in enumerate(numbers)
    ]
    if len(texts) == 1:
        return texts[0]
    other = "x.item()" if len(texts) == 2 else "w"
    names = list("xfw"[: len(texts)])
    return f"[x if f else {other} for {', '.join(names)} in zip({', '.join(texts)})]"


def _one_of(
    options: SeveralKinds,
    arrays: Iterator[str],
    constant: Callable[[object], str],
    pool: Callable[[Any], str],
) -> str:
    """The list of items of which each is one of several things."""
    names: list[str] = []
    columns: list[str] = []
    cases: list[str] = []
    for place, each in enumerate(options.options):
        names.append(f"f{place}")
        columns.append(f"{next(arrays)}.tolist()")
        value = repr(each)
        if isinstance(each, ScalarType):
            value = f"x{place}"
            names.append(value)
            column = next(arrays)
            columns.append(f"{column}.tolist()" if each.weak else f"list({column})")
        elif type(each) is Items:
            parts = [f"x{place}_{k}" for k in range(len(each))]
            names += parts
            columns += [
                listed(ItemKind(frozenset(), kinds), arrays, constant, pool) for kinds in each
            ]
            if each.template is not None:
                value = f"{constant(each.template.made)}({', '.join(parts)})"
            elif each.pool is not None:
                value = f"{pool(each.pool)}[{parts[0]}]"
            else:
                value = f"({', '.join(parts)}, )"
        cases.append(f"{value} if f{place} else ")
    cases[-1] = cases[-1].partition(" if ")[0]
    return f"[{''.join(cases)} for {', '.join(names)}, in zip({', '.join(columns)})]"


def arena_places(begins: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Where in the arena of a pool the items of its lists are, list by list; called by epilogues.

    See Note [Pools of lists].
    """
    before = np.cumsum(counts) - counts
    return np.repeat(begins - before, counts) + np.arange(counts.sum())


def rows_of(items: list[Any], count: int, size: int) -> list[list[Any]]:
    """So many lists of that many items each."""
    return [items[row * size : (row + 1) * size] for row in range(count)]


def share_out(lists: list[list[Any]], counts: np.ndarray, items: list[Any]) -> None:
    """Give so many of the items to each of these lists; called by epilogues."""
    rest = iter(items)
    for place in np.flatnonzero(counts).tolist():
        lists[place].extend(islice(rest, int(counts[place])))
