"""Tests of NumPy, SciPy and Python, each compiled: what they say must hold of compiled code. ::

    python -m tests.foreign_tests                     # much of NumPy's
    python -m tests.foreign_tests numpy/lib/tests/test_histograms.py -k density
    python -m tests.foreign_tests scipy/linalg test/test_itertools.py

Each test function is compiled and called in place of itself, so that its calls of NumPy, with all
that NumPy writes in Python, are captured or split. What is called a bug in fxc fails, too. After
folders or files of installed packages, arguments are pytest's.
"""

from __future__ import annotations

import inspect
import sys
import unittest
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy.testing
import pytest

import fxc
from fxc.compilations import trials

FOLDERS = tuple(
    f"numpy/{each}" for each in ("lib", "linalg", "fft", "polynomial", "ma", "matrixlib")
)

# What a compiled function does not promise: see docs/limits.md.
numpy.testing.HAS_REFCOUNT = False  # type: ignore[misc]
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
        names = pyfuncitem._fixtureinfo.argnames
        given = {name: pyfuncitem.funcargs[name] for name in names}
        return self._call(pyfuncitem.obj, given)

    def pytest_sessionstart(self) -> None:
        """Call the methods of test cases compiled."""
        usual = unittest.TestCase._callTestMethod  # type: ignore[attr-defined]

        def call_test_method(case: unittest.TestCase, method: Callable[..., Any]) -> None:
            if not self._call(method, {}):
                usual(case, method)

        unittest.TestCase._callTestMethod = call_test_method  # type: ignore[attr-defined]

    def _call(self, test: Callable[..., Any], given: dict[str, Any]) -> bool | None:
        function = getattr(test, "__func__", test)
        if inspect.iscoroutinefunction(function) or hasattr(function, "__wrapped__"):
            return None
        compiled = self._compiled.setdefault(function, fxc.compile(function))
        owner = getattr(test, "__self__", None)
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
    for each in args:
        package, _, rest = each.partition("/")
        path = Path(import_module(package).__path__[0]) / rest
        yield str(path / "tests" if (path / "tests").is_dir() else path)


def main(args: list[str]) -> int:
    """Run tests, named by folders or files of packages, and options of pytest."""
    first = next((place for place, x in enumerate(args) if x.startswith("-")), len(args))
    places, options = list(_places(args[:first] or list(FOLDERS))), args[first:]
    trials.ENABLED = False
    root = str(Path(places[0]).parent)
    usual = [
        "-q",
        "-W",
        "ignore::pytest.PytestRemovedIn10Warning",
        "-p",
        "no:cacheprovider",
        "--assert=plain",
        "--tb=short",
        f"--rootdir={root}",
    ]
    if places[0].startswith(str(import_module("test").__path__[0])):
        usual += ["-o", "python_classes="]  # test cases alone are tests there
    return int(pytest.main([*usual, "-c", "/dev/null", *places, *options], [Compiling()]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
