"""Sample inputs of writes that are rows of their own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from .arguments import Make, Source
from .arrays import DTYPES, FLOAT64, INT64, LAYOUTS, array, filled


def _copy_() -> Iterator[Make]:
    for source, target in itertools.product(DTYPES, DTYPES):
        for casting in ("same_kind", "unsafe"):
            yield lambda s=source, t=target, c=casting: (filled(t, (2, 3)), filled(s, (3,)), c)  # type: ignore[misc]
    for number in range(1, LAYOUTS):
        yield lambda n=number: (array(FLOAT64, n), array(FLOAT64, n, 1), "same_kind")  # type: ignore[misc]
        yield lambda n=number: (array(INT64, n), 7, "unsafe")  # type: ignore[misc]

    def overlapping(forward: bool) -> Make:
        def arguments() -> tuple[Any, ...]:
            base = filled(FLOAT64, (6,))
            left, right = base[1:], base[:-1]
            return (left, right, "unsafe") if forward else (right, left, "unsafe")

        return arguments

    yield overlapping(True)
    yield overlapping(False)


SAMPLES: dict[str, Source] = {
    "copy_": _copy_,
}
