"""The steps of a compilation, for who listens to them: a trace.

A step is told by what does it, when it is done, with what it has made: a graph, a program of loop
nests, a module. Where nobody listens that costs nothing that can be measured.
"""

from __future__ import annotations

from _thread import _local
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str, object], None]


class _Here(_local):
    """Who listens in this thread."""

    listeners: tuple[Listener, ...] = ()


_here = _Here()


def done(step: str, made: object) -> None:
    """Tell who listens that a step is done."""
    for each in _here.listeners:
        each(step, made)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let the listener know of the steps that this thread does in the block."""
    before = _here.listeners
    _here.listeners = (*before, listener)
    try:
        yield
    finally:
        _here.listeners = before
