"""What a command is at, in one line that the next one takes the place of; on a terminal alone."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
_CLEAR = "\r\x1b[K"


def with_progress(items: Iterable[T], what: str) -> Iterator[T]:
    """The items, each shown while it is worked on: ``checking threads``."""
    is_shown = sys.stderr.isatty()
    for item in items:
        if is_shown:
            name = getattr(item, "__name__", item)
            print(f"{_CLEAR}{what} {name} …{_CLEAR[:1]}", end="", file=sys.stderr, flush=True)
        yield item
        if is_shown:
            print(_CLEAR, end="", file=sys.stderr, flush=True)
