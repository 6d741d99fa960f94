"""Variables of a loop that hold tuples: each item is a variable of its own. See ``Spread``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..session import refuse
from .structured import UNBOUND, described


class Spread:
    """Which variables are tuples, and of what length: ``best`` stands for ``best.0, best.1``.

    Lists of values have one for each of ``names``, which are the items' where there are some.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.outer = tuple(names)
        self._sizes: dict[str, int] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.within(self.outer))

    def within(self, names: Iterable[str]) -> Iterator[str]:
        """The variables and items that these variables stand for."""
        for name in names:
            if name in self._sizes:
                yield from self.within(_items(name, self._sizes[name]))
            else:
                yield name

    def learn(self, before: Sequence[Any], after: Sequence[Any]) -> bool:
        """Look which variables are tuples, at first and after an iteration; whether some are that
        have not been before.
        """
        found = dict(self._sizes)
        for name, left, right in zip(self.outer, before, after, strict=True):
            self._learn(name, left, right)
        return found != self._sizes

    def _learn(self, name: str, left: Any, right: Any) -> None:
        sizes = {len(x) for x in (left, right) if type(x) is tuple}
        if len(sizes) != 1 or not all(type(x) is tuple or x is UNBOUND for x in (left, right)):
            return
        (size,) = sizes
        if not size or self._sizes.setdefault(name, size) != size:
            return
        parts = [(UNBOUND,) * size if x is UNBOUND else x for x in (left, right)]
        for item, one, other in zip(_items(name, size), *parts, strict=True):
            self._learn(item, one, other)

    def open(self, values: Sequence[Any]) -> list[Any]:
        """One value for each of ``names``."""
        return [
            part for name, x in zip(self.outer, values, strict=True) for part in self._open(name, x)
        ]

    def _open(self, name: str, x: Any) -> Iterator[Any]:
        size = self._sizes.get(name)
        if size is None:
            yield x
            return
        if x is not UNBOUND and (type(x) is not tuple or len(x) != size):
            raise refuse(
                f"{described(name)} is a tuple of {size} items in one iteration of this loop, and "
                "something else in another, which cannot be captured"
            )
        parts = (UNBOUND,) * size if x is UNBOUND else x
        for item, part in zip(_items(name, size), parts, strict=True):
            yield from self._open(item, part)

    def close(self, values: Iterable[Any]) -> list[Any]:
        """The values of the variables."""
        given = iter(values)
        return [self._close(name, given) for name in self.outer]

    def _close(self, name: str, given: Iterator[Any]) -> Any:
        if name not in self._sizes:
            return next(given)
        items = tuple(self._close(item, given) for item in _items(name, self._sizes[name]))
        return UNBOUND if all(item is UNBOUND for item in items) else items


def _items(name: str, size: int) -> list[str]:
    return [f"{name}.{k}" for k in range(size)]
