"""What is said at the end of a script that was watched."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .hot import HotFunction

Place = tuple[str, int, str]
"""Of a function, or of the top level of a file: its file, first line and name."""

_TOP = "<module>"
_MOST = 4  # functions that are told of
_MUCH, _LOOKS = 0.4, 50  # of the time, and looks: where it was spent, if nothing was gained


Hot = Mapping[Place, Sequence["HotFunction"]]
Slow = Mapping[tuple[Place, int | None], int]  # not all code has a line


def say(lines: Sequence[str], stderr: os.stat_result) -> None:
    """Write lines on stderr, if that is still the same file."""
    stream = sys.__stderr__
    with suppress(OSError, ValueError):
        if stream is not None and os.path.samestat(stderr, os.fstat(2)):
            stream.write("".join(f"fxc run: {each}\n" for each in lines))
            stream.flush()


def summary(hot: Hot, slow: Slow, verdicts: Mapping[Place, str | None]) -> str:
    """One line; ``slow`` has how often each line of the program's was seen running, ``verdicts``
    why earlier runs have put functions back.
    """
    functions = [each for some in hot.values() for each in some]
    gained = [each for each in functions if each.gained > 0]
    if not gained:
        earlier = {place: why for place, why in verdicts.items() if why and place not in hot}
        why = _why(hot, slow) + _earlier(earlier)
        return f"nothing was gained{why or _too_short(functions)}"
    parts = []
    for each in sorted(gained, key=lambda one: -one.gained)[:_MOST]:
        times = each.times[0] / max(each.times[1], 1e-9)
        parts.append(f"{each.function.__qualname__} {times:.1f} times as fast")
    more = f" and {len(gained) - _MOST} more" if len(gained) > _MOST else ""
    saved = sum(each.gained for each in gained)
    return f"about {saved:.1f} s saved: {', '.join(parts)}{more}"


def _why(hot: Hot, slow: Slow) -> str:
    counts: dict[Place, int] = {}
    for (place, _), count in slow.items():
        counts[place] = counts.get(place, 0) + count
    most = max(counts, key=lambda place: counts[place], default=None)
    if most is None or counts[most] < max(_LOOKS, _MUCH * sum(counts.values())):
        return _reasons(hot)
    file, first, name = most
    lines = [(count, line) for (place, line), count in slow.items() if place == most and line]
    line = max(lines)[1] if lines else first
    where = f"at {os.path.basename(file)}:{line}"
    functions = hot.get(most, ())
    if name == _TOP:
        return f": most of the time was spent at the top level, {where}; functions are compiled"
    if functions and all(each.is_called_once for each in functions):
        told = f": most of the time was spent in one call of {name}, {where}"
        return f"{told}; functions that are called again are compiled"
    return _reasons(hot)


def _reasons(hot: Hot) -> str:
    found = {
        f"{each.function.__qualname__} was put back: {each.reason}"
        for some in hot.values()
        for each in some
        if each.reason
    }
    return "".join(f"; {each}" for each in sorted(found)[:_MOST])


def _too_short(functions: Sequence[HotFunction]) -> str:
    names = sorted({each.function.__qualname__ for each in functions})[:_MOST]
    if names:
        return f": the script ended before {' and '.join(names)} had been compared"
    return ": no function that uses NumPy took enough time"


def _earlier(verdicts: Mapping[Place, str]) -> str:
    told = (f"; {name} was left: {why} in an earlier run" for (*_, name), why in verdicts.items())
    return "".join(sorted(told)[:_MOST])
