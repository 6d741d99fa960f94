"""Run the tests that compare bits (``pytest -m bits``) as other processors would.

    python -m tests.processors [options of pytest]

Each processor is this one with less: OpenBLAS takes the routines of another core
(``OPENBLAS_CORETYPE``), NumPy those loops that are left (``NPY_DISABLE_CPU_FEATURES``), and fxc
makes code without the instructions (``FXC_CPU_FEATURES``). Nothing is added: where this processor
has no AVX-512 itself, that row is not run, and neither is one that is this processor as it is, which has
run all tests. The output says so. One that has all instructions of this one, and other routines of
OpenBLAS alone, runs what these have an influence on (``-m products``). Those with fewer instructions
take the cases of a test in turns, each every third one, or every second where a test has no three; with
``--thorough`` each takes all.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from numpy._core import _multiarray_umath as numpy_core


@dataclass(frozen=True)
class Processor:
    """``needs`` is the feature that NumPy must find in this one; ``lacks`` those it must not use."""

    name: str
    core: str
    needs: str
    lacks: tuple[str, ...]
    without: str


# By parts of the names that NumPy has for sets of instructions: they differ between its versions.
_AVX512 = ("AVX512", "X86_V4")
_AVX2 = (*_AVX512, "X86_V3", "AVX2", "FMA", "F16C", "AVX", "XOP")

PROCESSORS = (
    Processor("AVX-512", "SkylakeX", "AVX512F", (), ""),
    Processor("AVX2", "Haswell", "AVX2", _AVX512, "-avx512f"),
    Processor("SSE2", "Nehalem", "SSE2", _AVX2, "-sse3"),
)


def disabled(lacks: tuple[str, ...]) -> Iterator[str]:
    """The features of NumPy's that have one of these parts in their names, as far as it may use
    them: it warns about others.
    """
    for name in numpy_core.__cpu_dispatch__:
        if any(part in name for part in lacks) and numpy_core.__cpu_features__.get(name):
            yield name


def files(mark: str) -> list[str]:
    """The modules with tests that have the mark: to import all of them takes longer than to run it."""
    found = sorted(Path("tests").rglob("test_*.py"))
    return [str(path) for path in found if f"mark.{mark}" in path.read_text(encoding="utf-8")]


def environment(processor: Processor) -> dict[str, str]:
    """The settings that make this processor the other one."""
    return {
        "OPENBLAS_CORETYPE": processor.core,
        "NPY_DISABLE_CPU_FEATURES": " ".join(disabled(processor.lacks)),
        "FXC_CPU_FEATURES": processor.without,
    }


def core(settings: Mapping[str, str]) -> str:
    """Whose routines OpenBLAS takes, as it says itself; '' if NumPy has another BLAS."""
    found = subprocess.run(
        [sys.executable, "-c", "import numpy"],
        env={**os.environ, **settings, "OPENBLAS_VERBOSE": "2"},
        check=True,
        capture_output=True,
        text=True,
    )
    name = re.search(r"^Core: (\w+)$", found.stdout + found.stderr, re.MULTILINE)
    return name[1] if name else ""


def lacks_instructions(settings: Mapping[str, str]) -> bool:
    """Whether NumPy or fxc do without some that this processor has."""
    return bool(settings["NPY_DISABLE_CPU_FEATURES"] or settings["FXC_CPU_FEATURES"])


def is_this_one(settings: Mapping[str, str]) -> bool:
    """Whether nothing is taken away by these settings."""
    return not lacks_instructions(settings) and core(settings) == core({}) != ""


def run(processor: Processor, options: list[str]) -> tuple[bool, str]:
    """Whether its tests pass, and what is to be shown; True if they need not or cannot be run."""
    if not numpy_core.__cpu_features__.get(processor.needs):
        return True, f"== {processor.name}: not run, this processor has no {processor.needs}\n"
    settings = environment(processor)
    if is_this_one(settings):
        return True, f"== {processor.name}: not run, that is this processor as it is\n"
    shown = " ".join(f"{name}={value!r}" for name, value in settings.items() if value)
    mark = "bits" if lacks_instructions(settings) else "products"
    turns = [f"--turn={int('FMA' in processor.lacks)}"] if mark == "bits" else []
    command = [sys.executable, "-m", "pytest", "-q", "-m", mark, *turns, *options, *files(mark)]
    found = subprocess.run(
        command,
        env={**os.environ, **settings},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return found.returncode == 0, f"== {processor.name}: {shown}\n{found.stdout}"


def main() -> int:
    """All of them at once, each in one process."""
    with ThreadPoolExecutor(len(PROCESSORS)) as pool:
        runs = [pool.submit(run, processor, sys.argv[1:]) for processor in PROCESSORS]
        for each in runs:
            print(each.result()[1], flush=True)
    return 0 if all(each.result()[0] for each in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
