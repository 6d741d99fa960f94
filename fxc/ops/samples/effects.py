"""Sample inputs of operators with effects."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.ir.handles import handle

from .arguments import Source, literally


class _Steady:
    """A generator that gives the same numbers at each draw."""

    def normal(self, *args: Any) -> Any:
        return np.random.default_rng(5).normal(*args)

    def integers(self, *args: Any) -> Any:
        return np.random.default_rng(5).integers(*args)


_STEADY = handle(_Steady())
_LOG = handle([])

SAMPLES: dict[str, Source] = {
    "draw": literally(
        (_STEADY, (), None, None, "g.normal()", "Generator"),
        (_STEADY, (2.0,), (3, 2), (3, 2), "g.normal(x0, 1.0, size)", "Generator"),
        (_STEADY, (np.arange(3.0), 2.0), None, (3,), "g.normal(x0, x1)", "Generator"),
        (_STEADY, (9,), None, None, "g.integers(x0)", "Generator"),
    ),
    "clock": literally((_LOG, "time")),
    "note": literally((_LOG, (), 0), (_LOG, (2.0, np.arange(3)), 1)),
}
