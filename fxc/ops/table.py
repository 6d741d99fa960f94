"""The one table of operators, found by name and by the NumPy callable that they mean.

>>> [str(op.schema) for op in TABLE.group("negative")]  # doctest: +NORMALIZE_WHITESPACE
['negative(Array x) -> Array', 'negative_(Array(a!) x) -> ()',
 'negative.out(Array x, *, Array(a!) out) -> ()']
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

from fxc.ir.forking import table_lock
from fxc.ir.schema import Schema

from .operators import Operator, Row, operators_of
from .rows import ROWS

_SUFFIXES = (
    "",
    "_",
    ".out",
    "_copy",
    "_scatter",
    ".functional",
)  # from the name of a row to those of its group


class Table:
    """All operators by name, and by the NumPy callable they mean.

    A row is parsed, and its group derived, when one of the group is asked for.
    """

    def __init__(self, rows: tuple[Row, ...]) -> None:
        self._rows = {row.name: row for row in rows}
        self._by_callable = {row.numpy: row.name for row in rows if row.numpy is not None}
        self._groups: dict[str, dict[str, Operator]] = {}  # those derived so far, by role
        self._operators: dict[str, Operator] = {}  # the operators in them
        self._adopting = table_lock()

    def _derive(self, row: Row) -> dict[str, Operator]:
        group = {op.role: op for op in operators_of(row)}
        for op in group.values():
            if self._operators.setdefault(op.name, op).group != row.name:
                raise ValueError(f"operator {op.name!r} exists already")
        self._operators.update((op.name, op) for op in group.values())
        self._groups[row.name] = group
        return group

    def _group(self, name: str) -> dict[str, Operator]:
        found = self._groups.get(name)
        return self._derive(self._rows[name]) if found is None else found

    def schema_of(self, name: str) -> Schema:
        """The schema of the operator ``name``.

        Raises ``KeyError`` if there is none.
        """
        return self[name].schema

    def add(self, row: Row) -> Operator:
        """Add a row and what follows from it.

        Raises ``ValueError`` if a name is taken.
        """
        with self._adopting:
            for op in operators_of(row):
                if op.name in self:
                    raise ValueError(f"operator {op.name!r} exists already")
            self._rows[row.name] = row
            if row.numpy is not None:
                self._by_callable[row.numpy] = row.name
            return self._derive(row)[""]

    def adopt(self, function: Callable[..., Any], written: Callable[[str], Row]) -> Operator:
        """The operator that means ``function``, of which the table knows nothing: ``written``
        makes its row, given a name that is free.

        The operator is found by its name and by its callable, but it is not one of those that the
        table lists.
        """
        with self._adopting:
            known = self._by_callable.get(function)
            if known is None:
                stem = re.sub(r"\W+", "_", getattr(function, "__name__", "function")).strip("_")
                names = (f"call_{stem}{number or ''}" for number in itertools.count())
                row = written(next(name for name in names if name not in self))
                self._derive(row)
                known = self._by_callable[function] = row.name
            return self[known]

    def lists(self, name: str) -> bool:
        """Whether an operator is one of the table's own: every process has those."""
        return self[name].group in self._rows

    def remove(self, name: str) -> None:
        """Undo ``add`` of the row ``name``."""
        row = self._rows.pop(name)
        for op in self._groups.pop(name, {}).values():
            self._operators.pop(op.name, None)
        if row.numpy is not None and self._by_callable.get(row.numpy) == name:
            del self._by_callable[row.numpy]

    def __getitem__(self, name: str) -> Operator:
        found = self._operators.get(name)
        if found is not None:
            return found
        for suffix in _SUFFIXES:
            stem = name.removesuffix(suffix)
            if stem in self._rows:
                self._group(stem)
        return self._operators[name]

    def __contains__(self, name: str) -> bool:
        try:
            return self[name] is not None
        except KeyError:
            return False

    def __iter__(self) -> Iterator[Operator]:
        for name in tuple(self._rows):
            yield from self.group(name)

    def group(self, name: str) -> tuple[Operator, ...]:
        """The row ``name`` and what follows from it, in order."""
        return tuple(self._group(name).values())

    def partner(self, name: str, role: str) -> Operator:
        """The operator with the given role in the group of ``name``; see ``Operator.role``.

        Raises ``KeyError`` if the group has none.
        """
        return self._group(self[name].group)[role]

    def for_callable(self, function: Any) -> Operator | None:
        """The row whose NumPy spelling is ``function``, if there is one."""
        try:
            name = self._by_callable.get(function)
        except TypeError:  # unhashable callables mean no operator
            return None
        return None if name is None else self[name]


TABLE = Table(ROWS)
