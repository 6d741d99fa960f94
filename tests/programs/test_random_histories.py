"""Random loops that append arrays to a list while other variables have them, compared with Python.

A list of the graph holds copies (Note [Given arrays] in capture/regions/given.py): writes, results
and ``is`` may tell. ``FXC_FUZZ_PROGRAMS`` sets how many programs there are.
"""

from __future__ import annotations

import os
import random
import warnings

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run
from tests.written_programs import defined

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "0")) // 10 or 6
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))  # seeds from here on

STARTS = ("x0", "x0.copy()", "x0 * 2")
STATEMENTS = (
    "x = x + s",
    "x = y",
    "y = x",
    "x, y = y, x",
    "x[0] += 1",
    "y[1] = s",
    "y = m[1]",
    "m = m + s",
    "m[0, 1] = s",
    "t = t + x.sum()",
    "if s > 0: x = y * s",
    "if s > 0.3: x = x + 1",
    "if s > 0.2: m = m * s",
    "if s > 0: y[2] = t",
    "if h and s > 0: y = h[-1]",
    "if s > 1 and h: h.pop()",
    "k = h[1:]",
    "k = k + h[:1]",
)
APPENDS = (
    "h.append(x)",
    "h.append(y)",
    "h.append(x * s)",
    "h.append(m[0])",
    "if s < 0: h.append(y)",
    "if s < 0.5: x = x * 2; h.append(x)",
    "if s > 0: x = x + s; k.append(x)",
)
BEHIND = ("pass", "x[0] = 5", "y[0] = 7", "m[0, 0] = 8", "h.append(x)", "h.append(y)")
RESULTS = (
    "np.array(h)",
    "np.array(h), x",
    "x, y, np.array(h), m",
    "h",
    "h, x",
    "len(h), x, y",
    "len(h) > 2 and h[0] is x, t",
    "len(h) > 3 and h[1] is h[2], t",
    "x is y, np.array(h)",
    "sum(h)",
    "k, x",
    "k, np.array(h), y",
)


def random_history(seed: int) -> str:
    """A function ``f(x0, d)``."""
    choose = random.Random(seed)
    body = [choose.choice(STATEMENTS) for _ in range(choose.randint(1, 5))]
    for _ in range(choose.randint(1, 2)):
        body.insert(choose.randint(0, len(body)), choose.choice(APPENDS))
    return "\n".join(
        (
            "def f(x0, d):",
            f"    x = {choose.choice(STARTS)}",
            f"    y = {choose.choice(('x', 'x * 3', 'x0'))}",
            f"    h = {choose.choice(('[]', '[]', '[x]', '[y]'))}",
            f"    k = {choose.choice(('[]', 'h[:1]', '[x * 2]'))}",
            "    m, t = np.outer(np.arange(1.0, 3.0), x0), 0.0",
            "    for s in d:",
            *(f"        {each}" for each in body),
            f"    {choose.choice(BEHIND)}",
            f"    return {choose.choice(RESULTS)}",
        )
    )


def failure(seed: int) -> str:
    """How the compiled program differs from Python, or ''."""
    source = random_history(seed)
    f = defined(f"history {seed}", source, {"np": np})["f"]
    compiled, rng = fxc.compile(f), np.random.default_rng(seed)
    for n in (40, 7):
        x, d = np.full(3, 2.0), rng.normal(size=n)
        expected = run(f, (x.copy(), d.copy()))
        text = difference(expected, run(compiled, (x.copy(), d.copy())))
        if text:
            return f"{text}, with {n} numbers:\n{source}"
    return ""


@pytest.mark.parametrize("chunk", range(2))
def test_random_histories(chunk: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        for seed in range(FIRST + chunk, FIRST + COUNT, 2):
            text = failure(seed)
            if text:
                pytest.fail(text, pytrace=False)
