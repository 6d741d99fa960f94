"""Variables of a loop that hold tuples and their like: each item is a variable of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..session import refuse
from ..staging.jumps import RESULT
from ..values.operands import Traced
from ..values.texts import UnknownText, refused
from .forms import Form, form_of, items_of, joint_form, names_of
from .structured import UNBOUND, described


class Spread:
    """Which variables are tuples, and of what form: ``best`` stands for ``best.0, best.1``.

    Lists of values have one for each of ``names``, which are the items' where there are some.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.outer = tuple(names)
        self._forms: dict[str, Form] = {}
        self._whole: set[str] = set()  # those that are not, though they may hold records

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.within(self.outer))

    def within(self, names: Iterable[str]) -> Iterator[str]:
        """The variables and items that these variables stand for."""
        for name in names:
            if name in self._forms:
                yield from self.within(names_of(name, self._forms[name]))
            else:
                yield name

    def learn(
        self, before: Sequence[Any], after: Sequence[Any], starts: Sequence[Sequence[Any]] = ()
    ) -> bool:
        """Look which variables are tuples, at first and after an iteration; whether some are that
        have not been before. ``starts`` are what else they have been.
        """
        found = dict(self._forms)
        for given in starts:
            for name, x, y in zip(self.outer, given, after, strict=True):
                if x is None and isinstance(y, Traced) and y._in_pool:
                    self._forms.pop(name, None)
                    self._whole.add(name)
        for name, left, right in zip(self.outer, before, after, strict=True):
            self._learn(name, left, right)
        return found != self._forms

    def _learn(self, name: str, left: Any, right: Any) -> None:
        both = [x for x in (left, right) if x is not UNBOUND]
        form = joint_form(both, (form_of(x, name) for x in both))
        known = self._forms.get(name)
        if form is None and known is not None and known.pool is not None:
            del self._forms[name]  # it is a record or None, as one of several things
            self._whole.add(name)
        if name in self._whole or form is None or not (form.keys or name.startswith(RESULT)):
            return
        if form.joined and left is right:
            return
        if self._forms.setdefault(name, form) != form:
            return
        items = (_items_of(x, form) for x in (left, right))
        for item, one, other in zip(names_of(name, form), *items, strict=True):
            self._learn(item, one, other)

    def open(self, values: Sequence[Any]) -> list[Any]:
        """One value for each of ``names``."""
        return [
            part for name, x in zip(self.outer, values, strict=True) for part in self._open(name, x)
        ]

    def _open(self, name: str, x: Any) -> Iterator[Any]:
        form = self._forms.get(name)
        if form is None:
            yield x
            return
        if x is not UNBOUND and form_of(x, name) != form and not form.takes(x):
            if isinstance(x, UnknownText) or issubclass(form.kind, UnknownText):
                raise refused("another one in the next iteration")
            raise refuse(
                f"{described(name)} is {form.text} in one iteration of this loop, and something "
                "else in another, which cannot be captured"
            )
        for item, part in zip(names_of(name, form), _items_of(x, form), strict=True):
            yield from self._open(item, part)

    def close(self, values: Iterable[Any]) -> list[Any]:
        """The values of the variables."""
        given = iter(values)
        return [self._close(name, given) for name in self.outer]

    def _close(self, name: str, given: Iterator[Any]) -> Any:
        form = self._forms.get(name)
        if form is None:
            return next(given)
        items = [self._close(item, given) for item in names_of(name, form)]
        return UNBOUND if items and all(x is UNBOUND for x in items) else form.of(items)


def _items_of(x: Any, form: Form) -> Sequence[Any]:
    return (UNBOUND,) * len(form.keys) if x is UNBOUND else items_of(x, form)
