"""Random loops in which arrays change their size, plain and compiled, for sizes with which NumPy raises,
too: everything a caller sees is equal.

``FXC_FUZZ_PROGRAMS`` sets how many there are.
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) // 10 or 4
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on
PARTS = (
    *("x[0::2]", "x[1::2]", "x[: x.size // 2]", "x[x.size // 2 :]", "x[1:]", "x[:-1]", "x[::-1]"),
    *(
        "x",
        "x[:h]",
        "x[h:]",
        "x[h : 2 * h]",
        "y[: x.size]",
        "np.ones(h)",
        "np.arange(x.size) * 1.0",
    ),
)
NEW = (
    *("{0} + {1}", "{0} * {1} - 1", "np.where({0} > 0, {0}, {1})", "{0}.copy()", "{0}"),
    *("np.concatenate([{0}, [0.5]])", "np.append(1.5, {0})", "np.stack([{0}, {1}]).reshape(-1)"),
    *("np.vstack([{0}, {1}]).T.ravel()", "({0} + 1.5)[::2]", "{0}.reshape(2, -1)[1] + 0"),
    *("{0}[{0} > 0]", "x.reshape(-1, h)[:, 0] + 1", "np.sqrt(np.abs({0}))"),
)
ALSO = (
    *("h *= 2", "h += 1", "h = max(h // 2, 1)", "total += x.sum()", "total += x.size", "y = x"),
    *("y[: x.size] = x[: y.size]", "x[0] = total", "total += x[-1]", "x = x.copy(); x[:h] += 1"),
    *("if x[0] > 0: h += 1", "total += (np.arange(h) * 0.5).sum()"),
)
HEADS = (
    *("while steps < 9 and x.size > {0}:", "for i in range({0} + 3):", "while h < n:"),
    "while steps < 9 and x.size > 1 and total < 40:",
)
RESULTS = ("x", "x, total", "total, h", "y, x.size", "x.copy(), y.copy(), h", "x.sum(), x.shape")


def program(seed: int) -> tuple[str, Callable[..., Any]]:
    """A program as text and as a function of an array."""
    rng = np.random.default_rng(seed)

    def one_of(texts: tuple[str, ...]) -> str:
        return texts[rng.integers(len(texts))]

    name = "x" if rng.random() < 0.85 else "y"
    body = [f"{name} = {one_of(NEW).format(one_of(PARTS), one_of(PARTS))}"]
    for _ in range(rng.integers(4)):
        body.insert(rng.integers(len(body) + 1), one_of(ALSO))
    lines = [
        "def program(x):",
        f"    n, h, total, steps = x.size, {rng.integers(1, 4)}, 0.0, 0",
        f"    y = x{' * 2' if rng.random() < 0.7 else ''}",
        f"    {one_of(HEADS).format(rng.integers(1, 5))}",
        *(f"        {line}" for line in (*body, "steps += 1", "if steps > 9: break")),
        f"    return {one_of(RESULTS)}",
    ]
    text = "\n".join(lines) + "\n"
    file = f"<sizes {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), space)
    return text, space["program"]


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_random_sizes(seed: int) -> None:
    text, fn = program(seed)
    compiled = fxc.compile(fn, dynamic=bool(seed % 2))
    for n in (8, *np.random.default_rng(seed).permutation(np.arange(1, 21))[:4]):
        x = np.random.default_rng(n).normal(size=n)
        expected, found = run(fn, (x.copy(),)), run(compiled, (x.copy(),))
        assert difference(expected, found) == "", f"{n}:\n{text}"
