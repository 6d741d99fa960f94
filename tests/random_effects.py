"""Random programs that show something and draw numbers: those of ``random_loops`` with more lines.

python -c "from tests.random_effects import random_effects; print(random_effects(17))"
"""

from __future__ import annotations

import random
import re
from dataclasses import replace

from tests.random_loops import LoopProgram, random_loops

_SHOWN = (
    "print({0}, {1})",
    "print(f'{{{0}}} and {{{1}}}')",
    "print('%s' % ({0},), str({1}))",
    "text = f'{{{0}!r:>9}}'; print(text + str({1}))",
    "OUT.write(f'{{{0}}}\\n')",
    "LOG.warning('%s %s', {0}, {1})",
)
_DRAWN = (
    "c = c + RNG.normal()",
    "x[0] += RNG.random()",
    "x += RNG.normal(0.0, 0.5, len(x))",
    "n = n + int(RNG.integers(2))",
    "y = y * RNG.uniform(0.5, 1.5)",
    "x[:] = RNG.permutation(x)",
    "RNG.shuffle(y)",
    "A += RNG.random(A.shape)",
    "c = PY.random() * 2",
    "if RNG.random() < 0.5: print('less', {0})",
    "c = c + np.random.rand()",
    "RNG.random()",
    "c = c + np.random.exponential(c)",  # which may refuse it
    "c = RNG.normal(c, 0.5) + np.random.randn()",
    "n = n + RNG.binomial(5, 0.5) - np.random.randint(3)",
)
_UNKNOWN = ("exec('pass')", "c = c + eval('0.5')", "print(eval('1'), {1})")  # they are split
_ASSIGNED = re.compile(r"\s*(\w+)(?:\[.*\])? [-+*]?= ")
_GOES_ON = re.compile(r"\s*(else|elif|except|finally|case)\b")


def random_effects(seed: int) -> LoopProgram:
    """The program of a seed."""
    rng = random.Random(seed)
    program = random_loops(seed, short=rng.random() < 0.7)
    names = ["x", "c", "n", "x[0]", "y.sum()", "A", "v", "None"]
    unknown = _UNKNOWN if rng.random() < 0.4 else _SHOWN
    body: list[str] = []
    for line in program.body:
        indent = line[: len(line) - len(line.lstrip())]
        if line.strip() and not _GOES_ON.match(line) and rng.random() < 0.35:
            templates = rng.choices((_SHOWN, _DRAWN, unknown), (5, 5, 1))[0]
            shown = rng.choice(names[-4:]), rng.choice(names)
            body.append(indent + rng.choice(templates).format(*shown))
        body.append(line)
        found = _ASSIGNED.match(line)
        if found is not None:
            names.append(found[1])
    return replace(program, seed=seed, body=tuple(body))
