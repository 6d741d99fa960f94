"""Damaged cache files: what was stored is not used, and what a call gives is right.

``python -m tests.cache.mutated 10000`` tries so many.
"""

import os
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import fxc
from fxc.cache import entries
from fxc.calling.compiling import captures_begun
from fxc.ir.settings import config
from fxc.runtime import engine, kept_codes, linking
from tests.damages import damaged


def program(u: np.ndarray, k: float) -> np.ndarray:
    u[1:-1] += k * (u[2:] + u[:-2] - 2 * u[1:-1])
    return np.sqrt(u).sum() + u[:3]


def call() -> tuple[bytes, bool]:
    """What a call gives in a process that has compiled nothing yet, and whether it is captured."""
    engine.codes = kept_codes.KeptCode(0)
    linking._supports.clear()
    before, u = captures_begun(), np.arange(20.0) ** 2
    found = fxc.compile(program)(u, 0.1)
    return found.tobytes() + u.tobytes(), captures_begun() > before


def problems_of(folder: Path, count: int, seed: int) -> Iterator[str]:
    """What is wrong with calls after such damages."""
    r = random.Random(seed)
    entries._begun = float("inf")
    with config.override(cache=True, cache_dir=str(folder)):
        expected, _ = call()
        files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        if not files or call() != (expected, False):
            yield "nothing is restored of what is whole"
        for number in range(count):
            path, data = r.choice([*files.items()])
            found = damaged(data, [*files.values()], r)
            path.write_bytes(found)
            result, is_captured = call()
            if result != expected:
                yield f"{number}: a wrong result with {path.name[:8]} {found[:60]!r}"
            if found != data and not is_captured:
                yield f"{number}: {path.name[:8]} is used as {found[:60]!r}"
            for other, whole in files.items():
                other.write_bytes(whole)


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        problems = 0
        for problem in problems_of(Path(folder), count, seed=os.getpid()):
            print(problem)
            problems += 1
    print(f"{count} damaged files, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
