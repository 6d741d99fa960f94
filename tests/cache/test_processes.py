"""Compilations in processes that follow each other: what they import, capture and compile."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys, numpy as np, fxc
from fxc.calling import compiling

@fxc.compile
def step(u, k):
    u[1:-1] += k * (u[2:] + u[:-2])
    return u[:2], np.sqrt(u).mean()

print(step(np.arange(8.0), 0.5))
print(step(np.arange(9.0), 0.5))
print(compiling.captures_begun(), "fxc.runtime.llvm_library" in sys.modules,
      "llvmlite" in sys.modules, "networkx" in sys.modules,
      "fxc.lowering.nests" in sys.modules, "fxc.capture.capture" in sys.modules)
"""

NUMPYS = """
import sys, warnings, numpy as np, fxc
from fxc.calling import compiling

programs = [
    lambda x: np.argsort(x * 1j),
    lambda x: np.lexsort((x, x)),
    lambda x: np.linalg.svd(x),
    lambda x: (np.linalg.det(x), x[1:]),
]
for program in map(lambda each: fxc.compile(each, fullgraph=True), programs):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2100):
            program(np.eye(2))
        print(program(np.eye(2)), program(np.eye(2) * 1e200), *(each.message for each in told))
    assert program._state.variants[0].native.calls
print(compiling.captures_begun(), "fxc.compilations.native_texts" in sys.modules)
"""

EDITED = """
import os, fxc
from fxc.calling import compiling

@fxc.compile
def double(x):
    return x * 2

os.utime(__file__)
double(2.0)
print(compiling.captures_begun())
"""


def output(path: Path) -> list[str]:
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="LLVM loads the code elsewhere")
def test_a_later_process_neither_captures_nor_compiles(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    os.utime(path, (0, 0))  # it was there before the process began
    first, second = output(path), output(path)
    assert first[:-1] == second[:-1]
    assert first[-1].split()[1] == "True"
    assert second[-1] == "0 False False False False False"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="LLVM loads the code elsewhere")
def test_calls_of_numpy_are_kept(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(NUMPYS)
    os.utime(path, (0, 0))
    first, second = output(path), output(path)
    assert first[:-1] == second[:-1]
    assert "overflow encountered in det" in first[-2]
    assert second[-1] == "0 False"


def test_a_file_that_changes_before_the_first_call_has_changed(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(EDITED)
    assert [output(path), output(path)] == [["1"], ["1"]]
