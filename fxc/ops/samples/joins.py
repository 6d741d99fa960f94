"""Sample inputs of operators that join arrays."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from .arguments import Make, Source
from .arrays import BOOL, FLOAT64, INT64, filled


def _joins(axes: Sequence[int | None]) -> Source:
    def arguments() -> Iterator[Make]:
        for dtype, axis in itertools.product((FLOAT64, INT64, BOOL), axes):
            yield lambda d=dtype, a=axis: ((filled(d, (2, 3)), filled(d, (2, 3), 1)), a)  # type: ignore[misc]
        yield lambda: ((filled(FLOAT64, (2, 3)), filled(np.dtype("i4"), (2, 3))), axes[0])
        yield lambda: ((np.asfortranarray(filled(FLOAT64, (2, 3))),) * 3, axes[-1])
        yield lambda: ((filled(FLOAT64, (4, 6))[::2, ::-2],), axes[0])

    return arguments


SAMPLES: dict[str, Source] = {
    "concatenate": _joins((0, 1, None)),
    "stack": _joins((0, 1, 2, -1)),
}
