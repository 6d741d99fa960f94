"""Sample inputs of operators that make arrays of no other array."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fxc.ir.graph import ArrayConstant

from .arguments import Make, Source, chain, literally
from .arrays import BOOL, DTYPES, FLOAT64, INT64


def _shaped(*extra: object) -> Source:
    """Factories: shapes, dtypes, layouts, with what the operator wants between."""

    def arguments() -> Iterator[Make]:
        for dtype in DTYPES:
            yield lambda d=dtype: ((2, 3), *extra, d, None)  # type: ignore[misc]
        for shape, layout in (((), None), ((0, 2), None), ((2, 3), (1, 0)), ((2, 3, 4), (1, 2, 0))):
            yield lambda s=shape, o=layout: (s, *extra, FLOAT64, o)  # type: ignore[misc]

    return arguments


def _aranges() -> Iterator[Make]:
    for code in ("i8", "i4", "u1", "f8", "f4", "f2", "c16"):
        dtype = np.dtype(code)
        for start, step, length in ((0, 1, 5), (2, 3, 4), (1, 2, 0), (7, 1, 1)):
            yield lambda a=(start, step, length, dtype): a  # type: ignore[misc]
    yield lambda: (0.5, 0.1, 7, FLOAT64)
    yield lambda: (np.float64(-1.0), -0.25, 9, FLOAT64)


SAMPLES: dict[str, Source] = {
    "zeros": _shaped(),
    "ones": _shaped(),
    "empty": _shaped(),
    "full": chain(_shaped(1), literally(((2, 3), 2.5, FLOAT64, (1, 0)))),
    "arange": _aranges,
    "linspace": literally(
        *((a, b, n, e, d)
          for a, b in ((0.0, 1.0), (0, 7), (np.float64(-2.5), 3), (1.0, 1.0), (0.0, 5e-324))
          for n in (0, 1, 2, 7) for e in (True, False) for d in (FLOAT64, INT64)),
    ),
    "eye": literally(
        *((n, m, k, d)
          for n, m in ((3, 3), (2, 4), (4, 2), (0, 2), (1, 1)) for k in (0, 1, -1, 3, -5)
          for d in (FLOAT64, BOOL, INT64)),
    ),
    "constant": literally((ArrayConstant.of(np.arange(3.0)),), (ArrayConstant.of(np.array(1)),)),
    "int_value": literally((3,), (-7,)),
}  # fmt: skip
