"""How users call fxc, with the types that checkers have to find; `make types` runs mypy over this,
`make types-pyright` pyright. The tests import it: it runs, too.
"""

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np

import fxc


class Scaled:
    """A class with compiled methods."""

    @fxc.compile
    def twice(self, x: int) -> float:
        """Without options."""
        return x * 2.0

    @fxc.compile(fullgraph=True)
    def times(self, x: int, *, factor: float = 3.0) -> float:
        """With options."""
        return x * factor

    @staticmethod
    @fxc.compile
    def half(x: int) -> float:
        """Without an object."""
        return x / 2


@fxc.compile
def total(x: np.ndarray, shift: float) -> np.float64:
    """A function."""
    found: np.float64 = x.sum() + shift
    return found


def mean(x: np.ndarray) -> float:
    """A function that is compiled by a call."""
    return float(x.mean())


x = np.ones(3)
assert_type(Scaled().twice(3), float)
assert_type(Scaled().times(3, factor=2.0), float)
assert_type(Scaled.twice(Scaled(), 3), float)
assert_type(Scaled.half(3), float)
assert_type(total(x, 1.0), np.float64)
assert_type(fxc.compile(mean)(x), float)
assert_type(fxc.compile(fullgraph=True)(mean)(x), float)
assert_type(total.cache_info(), fxc.CacheInfo)
assert_type(fxc.functionalize(mean)(x)[0], float)
assert_type(fxc.export(mean, x), fxc.ExportedProgram)
assert_type(fxc.get_num_threads(), int)
bound: Callable[[int], float] = Scaled().twice
any_size: Callable[..., Any] = total

if __name__ == "__main__":  # what checkers have to find wrong: mypy names an ignore without a need
    Scaled().twice("3")  # type: ignore[arg-type]
    total("text", 1.0)  # type: ignore[arg-type]
    fxc.compile(mean, math="quick")  # type: ignore[call-overload]
