"""How many calls have been compared with NumPy's in this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

COMPARED = "compared with NumPy"
WRONG = "that differ"
LEFT = "left to NumPy by compiled code"

COUNTS: Counter[str] = Counter()
"""Calls of compiled code; reasons not to compare one are keys, too."""


def as_text(counts: Mapping[str, int]) -> str:
    """``12 calls compared with NumPy, 0 that differ; 1 left to NumPy by compiled code``."""
    text = f"{counts.get(COMPARED, 0)} calls {COMPARED}, {counts.get(WRONG, 0)} {WRONG}"
    others = [f"{n} {why}" for why, n in counts.items() if why not in (COMPARED, WRONG)]
    return "; ".join((text, *others))
