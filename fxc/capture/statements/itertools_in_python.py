"""What iterators of ``itertools`` do, in Python: generators, which are driven as the program's own,
and functions, which are staged like it.

See Note [Generators that are driven].
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any


def accumulate(
    iterable: Iterable[Any], func: Callable[..., Any], *, initial: object = None
) -> Iterator[Any]:
    """As ``itertools.accumulate``."""
    begun, so_far = initial is not None, initial
    if begun:
        yield so_far
    for item in iterable:
        if begun:
            so_far = func(so_far, item)
        else:
            so_far, begun = item, True
        yield so_far


def accumulate_items(items: Sequence[Any], func: Callable[..., Any]) -> Iterator[Any]:
    """The same of an array or a list with items: what has been taken is one of these at once."""
    so_far, place = items[0], 1
    yield so_far
    while place < len(items):
        so_far = func(so_far, items[place])
        yield so_far
        place += 1


def counting(start: object) -> dict[str, object]:
    """What ``itertools.count`` holds."""
    return {"next": start}


def taken_from(held: dict[str, Any], step: object) -> object:
    """As ``next`` of ``itertools.count``."""
    number = held["next"]
    held["next"] = number + step
    return number


def takewhile(predicate: Callable[[Any], Any], iterable: Iterable[Any], /) -> Iterator[Any]:
    """As ``itertools.takewhile``."""
    for item in iterable:
        if not predicate(item):
            return
        yield item


def dropwhile(predicate: Callable[[Any], Any], iterable: Iterable[Any], /) -> Iterator[Any]:
    """As ``itertools.dropwhile``."""
    drops = True
    for item in iterable:
        if drops and predicate(item):
            continue
        drops = False
        yield item


def filterfalse(
    predicate: Callable[[Any], Any] | None, iterable: Iterable[Any], /
) -> Iterator[Any]:
    """As ``itertools.filterfalse``."""
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


def compress(data: Iterable[Any], selectors: Iterable[Any]) -> Iterator[Any]:
    """As ``itertools.compress``."""
    for item, is_chosen in zip(data, selectors, strict=False):
        if is_chosen:
            yield item


def starmap(function: Callable[..., Any], iterable: Iterable[Any], /) -> Iterator[Any]:
    """As ``itertools.starmap``."""
    for args in iterable:
        yield function(*args)


def chain(*iterables: Iterable[Any]) -> Iterator[Any]:
    """As ``itertools.chain``."""
    for each in iterables:
        yield from each


IN_PYTHON = (takewhile, dropwhile, filterfalse, compress, starmap, chain)
