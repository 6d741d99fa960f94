"""Which of several object files is for this processor: the last one whose features it has.

Needs only the standard library.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_NAMES = {"AMD64": "x86_64", "arm64": "aarch64"}
_ENOUGH = 1 << 16  # bytes of what Linux says of its processors: of the first of them


class NoCode(RuntimeError):
    """There is no code for this processor."""


def machine() -> str:
    """What this processor understands: ``x86_64``, say."""
    name = platform.machine()
    return _NAMES.get(name, name)


def features() -> frozenset[str]:
    """What this processor can do, as Linux calls it; nothing elsewhere."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            text = file.read(_ENOUGH).decode("utf-8", "replace")
    except OSError:
        return frozenset()
    for line in text.splitlines():
        name, _, words = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return frozenset(words.split())
    return frozenset()


def chosen(
    levels: Sequence[Mapping[str, Any]], own: str, has: Iterable[str], wanted: str | None = None
) -> Mapping[str, Any]:
    """The best level for a processor that has these features, or the ``wanted`` one.

    Raises ``NoCode`` if there is none.
    """
    has = frozenset(has)
    usable = [x for x in levels if x["machine"] == own and has.issuperset(x["features"])]
    if wanted is not None:
        usable = [x for x in usable if x["name"] == wanted]
    if not usable:
        names = ", ".join(x["name"] for x in levels)
        which = "this processor" if wanted is None else f"the level {wanted} and this processor"
        raise NoCode(f"the package has no code for {which} ({own}); it has {names}")
    return usable[-1]
