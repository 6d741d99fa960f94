"""NumPy's own tests, each compiled: what they say of NumPy they must say of compiled code. ::

    python -m tests.numpys_tests                     # lib, linalg, fft, polynomial, ma, matrixlib
    python -m tests.numpys_tests lib/tests/test_histograms.py -k density

Each test function is compiled and called in place of itself, so that its calls of NumPy, with all
that NumPy writes in Python, are captured or split. What is called a bug in fxc fails, too. After
folders or files of NumPy, arguments are pytest's.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc import trials

FOLDERS = ("lib", "linalg", "fft", "polynomial", "ma", "matrixlib")

# Tests of what a compiled function does not promise: see docs/limits.md.
COUNTS_REFERENCES = ("test_frompyfunc_leaks", "test_dtype_reference_leaks")
LOOKS_AT_FRAMES = ("test_bmat_nondefault_str",)  # np.bmat reads the variables of its caller


class Compiling:
    """A plugin for pytest that compiles test functions."""

    def __init__(self) -> None:
        self._compiled: dict[Callable[..., Any], Any] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave tests out of which nothing can be said."""
        left = (*COUNTS_REFERENCES, *LOOKS_AT_FRAMES)
        items[:] = [each for each in items if each.name.partition("[")[0] not in left]

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Call the test compiled."""
        function = getattr(pyfuncitem.obj, "__func__", pyfuncitem.obj)
        if inspect.iscoroutinefunction(function) or hasattr(function, "__wrapped__"):
            return None
        compiled = self._compiled.setdefault(function, fxc.compile(function))
        owner = getattr(pyfuncitem.obj, "__self__", None)
        names = pyfuncitem._fixtureinfo.argnames
        given = {name: pyfuncitem.funcargs[name] for name in names}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fxc.CaptureWarning)
            warnings.filterwarnings("error", "(?s).*please report", fxc.CaptureWarning)
            compiled(*(() if owner is None else (owner,)), **given)
        return True

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say how much ran natively."""
        infos = [each.cache_info() for each in self._compiled.values()]
        native = sum(info.native_calls > 0 for info in infos)
        split = sum(info.part_calls > 0 for info in infos)
        terminalreporter.write_line(
            f"{len(infos)} test functions: {native} captured, {split} split"
        )


def _places(args: list[str]) -> Iterator[str]:
    home = Path(np.__file__).parent
    for each in args:
        path = home / each
        yield str(path / "tests" if (path / "tests").is_dir() else path)


def main(args: list[str]) -> int:
    """Run tests of NumPy's, named by folders or files of its package, and options of pytest."""
    first = next((place for place, x in enumerate(args) if x.startswith("-")), len(args))
    places, options = args[:first] or list(FOLDERS), args[first:]
    trials.ENABLED = False
    root = str(Path(np.__file__).parent.parent)
    usual = ["-q", "-p", "no:cacheprovider", "--assert=plain", "--tb=short", f"--rootdir={root}"]
    return int(pytest.main([*usual, "-c", "/dev/null", *_places(places), *options], [Compiling()]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
