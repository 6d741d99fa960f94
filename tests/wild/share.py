"""How much of NumPy's time a function that is split spends in its compiled parts.

A call is made in which Python runs the statements of all parts, with a clock around those that have
compiled code, and around functions called in between that have.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fxc.calling import called_functions, parts
from fxc.calling.serving import Serving
from fxc.ir.replay import REPLAY
from fxc.split import splits


class _Clock:
    def __init__(self) -> None:
        self.taken = 0.0
        self._running = 0
        self._start = 0.0

    def start(self) -> None:
        if not self._running:
            self._start = time.process_time()
        self._running += 1

    def stop(self) -> None:
        if self._running:
            self._running -= 1
            if not self._running:
                self.taken += time.process_time() - self._start


def share_in_parts(compiled: Any, call: Callable[[], float]) -> float:
    """The part, from 0 to 1, of the seconds that ``call`` gives; it calls ``compiled`` once."""
    split = compiled._state.split
    if split is None:
        return 0.0
    clock = _Clock()
    helpers = splits.helpers.values()
    all_splits = [
        split,
        *(made._state.split for made in helpers),
        *called_functions._inner.values(),
    ]
    timed = [part for each in all_splits if each for part in each.parts.values()]
    with _timed(timed, [made for made in helpers if made is not compiled], clock):
        taken = call()
    return clock.taken / taken


@contextmanager
def _timed(all_parts: list[Any], helpers: list[Any], clock: _Clock) -> Iterator[None]:
    class Timed(parts.Part):
        __slots__ = ()

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            clock.start()
            return REPLAY

        def replayed(self) -> None:
            clock.stop()

    class TimedWhole(Serving[..., Any]):
        __slots__ = ()

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            clock.start()
            try:
                return self.__fxc_original__(*args, **kwargs)
            finally:
                clock.stop()

    kinds = [(part, type(part)) for part in all_parts]
    kinds_of_helpers = [(made, type(made)) for made in helpers]
    for made in helpers:
        if made._state.variants and not made._state.turns:
            made.__class__ = TimedWhole
    for part in all_parts:
        if part.is_compiled and not isinstance(part, parts._GivenUp):
            part._become(Timed)
    try:
        yield
    finally:
        for part, kind in kinds:
            part._become(kind)
        for made, kind in kinds_of_helpers:
            made.__class__ = kind
