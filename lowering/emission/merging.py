"""Functions of a module that are equal but for their names: one of them is enough.

Sums of arrays of one kind make such functions, and so do calls of one signature. Machine code of
each takes as long as of the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from fxc.ir.later import import_later

without_marks = import_later("fxc.lowering.emission.located", "without_marks")

_INTERNAL = re.compile(r'define internal .*?@("?[\w.]+"?)\(')
_NAMES = re.compile(r'@("?[\w.]+"?)')


def merged(functions: Iterable[str]) -> list[str]:
    """The functions without those that are equal to others, which are called in their stead.

    A function stands behind those that it calls, but for itself.
    """
    instead: dict[str, str] = {}
    known: dict[str, str] = {}
    kept = []
    for text in functions:
        if instead:
            text = _NAMES.sub(lambda found: f"@{instead.get(found[1], found[1])}", text)
        header = _INTERNAL.match(text)
        if header is None:
            kept.append(text)
            continue
        name = header[1]
        first = known.setdefault(without_marks(text).replace(f"@{name}(", "@("), name)
        if first == name:
            kept.append(text)
        else:
            instead[name] = first
    return kept
