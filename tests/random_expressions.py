"""Random expressions with calls that no graph holds: what runs when, and what it sees."""

from __future__ import annotations

import linecache
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import fxc

FORMS = (
    "({a} + {b})", "({a} * {b} - {c})", "np.sqrt(np.abs({a}))", "np.maximum({a}, {b})",
    "np.add({a}, {b}, dtype={c}.dtype)", "mixed({a}, y={b}, z={c})", "({a}).clip({b}, {c})",
    "seen({a})", "seen({a})", "seen({a}, {b})", "grown({a}, u)", "grown({a}, v)",
    "(u * 2 + grown({a}, u))", "(v * {a} + grown({b}, v))",
    "[{a}, {b}][{k}]", "({a}, {b}, {c})[{k}]", "{{'a': {a}, 'b': {b}}}['ab'[{k}]]",
    "({a} if {k} else {b})", "(-{a})", "({a})[::2].sum()", "({a} + u[{i} : {i} + 1])",
    "np.where({a} > {b}, {c}, {b})", "(lambda w: w * {a})({b})", "sum([w for w in [{a}, {b}]])",
    "box.get({a}, {b})", "box.scale(seen({k}) + {k}) * {a}", "mixed(*[{a}, {b}], **{{'z': {c}}})",
    "failing({a}, {k})", "u[seen({i}) : seen({j}) + 6].sum()", "mixed(seen({a}), {b}, z=seen({c}))",
)  # fmt: skip
LEAVES = ("u", "v", "n", "2.0", "w", "box.x", "late")
STATEMENTS = (
    "w = {}", "w += {}", "u[seen(0)] = np.sum({})", "box.x = {}", "u[1:3], w = 1.0, {}",
    "if np.sum({}) > seen(2.0): w = w * 2 + v", "w: object = {}", "late = {}",
    "for k in range(int(np.sum(seen(2.0) + 0 * np.sum({})))): w = w * 0.5 + k + v",
    "table[seen(n)] = {}",
)  # fmt: skip


def random_source(seed: int) -> str:
    """A function of arrays ``u`` and ``v``, a number ``n`` and an object ``box``."""
    rng = random.Random(seed)

    def expression(depth: int) -> str:
        if depth == 0 or rng.random() < 0.15:
            return rng.choice(LEAVES[:-1] if rng.random() < 0.98 else LEAVES)
        names = {name: expression(depth - 1) for name in "abc"}
        return rng.choice(FORMS).format(k=rng.randrange(2), i=rng.randrange(3), j=1, **names)

    lines = ["def program(u, v, n, box):", "    w = u * 2 + v", "    table = {}"]
    lines += ["    if n > 4: late = v * 2"]
    for _ in range(rng.choice((1, 2, 3))):
        lines.append("    " + rng.choice(STATEMENTS).format(expression(rng.choice((2, 3)))))
    return "\n".join([*lines, "    return w * 2 + v, u, box.x, table", ""])


class Seen:
    """The calls of a program, in order, with what they were given."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def seen(self, x: Any, *others: Any) -> Any:
        """What fxc cannot capture."""
        eval("calls.append(repr((x, others)))", {"calls": self.calls, "x": x, "others": others})
        return x

    def grown(self, x: Any, array: Any) -> Any:
        """What changes something else, and cannot be captured."""
        eval("array.__iadd__(1.0)", {"array": array})
        return self.seen(x, array)

    def failing(self, x: Any, fails: int) -> Any:
        """What raises sometimes."""
        self.seen(x, fails)
        return [x][3 * fails]


class Box:
    """An object that notes what is asked of it; ``get`` is looked up anew each time."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self.x = np.arange(6.0)

    def __getattr__(self, name: str) -> Any:
        self._seen.seen(name)
        if name == "get":
            return lambda a, b: self._seen.seen(a) + b
        return {"scale": lambda k: k * 3.0}[name]


def mixed(x: Any, y: Any = 1.0, z: Any = 2.0) -> Any:
    return x * 2 + y * z


def outcome(function: Callable[..., Any], seen: Seen, n: int) -> list[Any]:
    """What a call returns or raises, all that it has called, and its arguments afterwards."""
    seen.calls.clear()
    u, v, box = np.linspace(0.0, 1.0, 6), np.arange(6.0) * 0.5, Box(seen)
    try:
        result = repr(function(u, v, n, box))
    except Exception as error:
        result = repr(error)
    return [result, [*seen.calls], repr((u, v, vars(box)["x"]))]


def failure(seed: int) -> str:
    """How the compiled program of a seed differs from Python, or ''."""
    source, name = random_source(seed), f"<expressions {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for wrap in (lambda function: function, fxc.compile):
            seen = Seen()
            calls = {"seen": seen.seen, "grown": seen.grown, "failing": seen.failing}
            space = {"np": np, "mixed": mixed, **calls}
            exec(compile(source, name, "exec"), space)
            function: Any = wrap(space["program"])  # type: ignore[operator]
            found.append([outcome(function, seen, n) for n in (5, 5, 3, 5)])
    plain, compiled = found
    return "" if plain == compiled else f"{source}\n{_first(plain, compiled)}"


def _first(plain: list[Any], compiled: list[Any]) -> str:
    for one, other in zip(plain, compiled, strict=True):
        for what, x, y in zip(("result", "calls", "arguments"), one, other, strict=True):
            if x != y:
                return f"{what}: {y}\nPython: {x}"
    return ""
