"""One file of a package's tests, run by pytest in this process; what was found is written as JSON.

A script, run by its path: the tests of a package may be called ``tests``, too. ::

    python one_file.py OPTIONS, as JSON
"""

from __future__ import annotations

import importlib.machinery
import inspect
import json
import math
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import fxc
from fxc.compilations import trials
from fxc.ir import warned
from fxc.verifying.calls import Difference, hearers
from fxc.verifying.counts import COUNTS

# Python and fxc itself call other methods of that form, in the midst of a capture.
_SPECIAL = frozenset(
    f"__{name}__" for name in ("init", "call", "getitem", "setitem", "add", "sub", "mul", "matmul")
)

_ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
_MORE = 10  # seconds for a file to end that ran out of time
_LONGEST = 4000  # characters of how a test failed, the last ones


class Compiling:
    """Replaces the functions of a package's modules, when these are imported, by compiled ones."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.compiled: list[tuple[str, Any]] = []

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Of a module of the package, with a loader that compiles its functions."""
        if name != self.package and not name.startswith(f"{self.package}."):
            return None
        others = [each for each in sys.meta_path if each is not self]
        found = (each.find_spec(name, path, target) for each in others)
        spec = next(filter(None, found), None)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            loader: Any = spec.loader
            loader.exec_module = partial(self._run, loader.exec_module)
        return spec

    def _run(self, run: Callable[[ModuleType], None], module: ModuleType) -> None:
        run(module)
        if "tests" not in module.__name__.split("."):
            self._compile_all(module)

    def _compile_all(self, module: ModuleType) -> None:
        for name, x in [*vars(module).items()]:
            if isinstance(x, type) and x.__module__ == module.__name__:
                for own, method in [*vars(x).items()]:
                    made = self._made(method, module)
                    if made is not method and (not own.startswith("__") or own in _SPECIAL):
                        setattr(x, own, made)
            elif isinstance(x, FunctionType):
                setattr(module, name, self._made(x, module))

    def _made(self, x: Any, module: ModuleType) -> Any:
        if isinstance(x, staticmethod | classmethod):
            inner = self._made(x.__func__, module)
            return x if inner is x.__func__ else type(x)(inner)
        if type(x) is property:
            get, put, delete = (self._made(each, module) for each in (x.fget, x.fset, x.fdel))
            return property(get, put, delete, x.__doc__)
        is_own = isinstance(x, FunctionType) and x.__code__.co_filename == module.__file__
        if not is_own or inspect.iscoroutinefunction(x) or hasattr(x, "__wrapped__"):
            return x
        if "_getframe" in x.__code__.co_names:  # see docs/limits.md
            return x
        compiled = fxc.compile(x)
        self.compiled.append((_place(x), compiled))
        return compiled


def _place(function: Any) -> str:
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", type(function).__name__)
    return name if code is None else f"{name} ({code.co_filename}:{code.co_firstlineno})"


class Recording:
    """A plugin for pytest: outcomes of tests, each of which has its time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.late: list[str] = []
        self.outcomes: dict[str, str] = {}
        self.texts: dict[str, str] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Interrupt what takes too long."""

        def stop(*_: object) -> None:
            self.late.append(item.nodeid)
            pytest.fail(f"took more than {self.seconds} s of the processor")

        signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, self.seconds)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def end_file(self, file: str, seconds: float) -> None:
        """Interrupt all tests after so much time of the processor; code that hangs is killed."""

        def stop(*_: object) -> None:
            signal.signal(signal.SIGXCPU, signal.SIG_IGN)
            self.late.append(file)
            raise KeyboardInterrupt  # pytest.exit() raises an Exception, which programs may handle

        signal.signal(signal.SIGXCPU, stop)
        first = math.ceil(time.process_time() + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (first, first + _MORE))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what failed, and how."""
        if report.failed or report.when == "call":
            self.outcomes[report.nodeid] = report.outcome
        if report.failed:
            self.texts[report.nodeid] = report.longreprtext[-_LONGEST:]


@contextmanager
def noting(found: dict[str, Any]) -> Iterator[None]:
    """Note differences, and what fxc warns of: a test that fails for a warning is no news."""

    def hear(difference: Difference) -> None:
        found["differences"].append((_place(difference.call.function), difference.text))

    def warn(text: str) -> None:
        found["warnings"].append(text)

    hearers.append(hear)
    before, warned.warn = warned.warn, warn
    try:
        yield
    finally:
        warned.warn = before
        hearers.remove(hear)


def main(given: dict[str, Any]) -> None:
    """Run a file, with options of ``tests.packages``, compiled or plainly."""
    sys.path[:] = [each for each in sys.path if each != str(Path(__file__).parent)]
    resource.setrlimit(resource.RLIMIT_DATA, (given["bytes"], given["bytes"]))
    found: dict[str, Any] = {"differences": [], "warnings": []}
    recording, hook = Recording(given["seconds"]), Compiling(given["package"])
    recording.end_file(given["file"], given["file_seconds"])
    if given["compiled"]:
        trials.ENABLED = False
        fxc.config.verify = given["verify"]
        sys.meta_path.insert(0, hook)
        warnings.simplefilter("ignore", fxc.CaptureWarning)
    usual = ["-q", "-p", "no:cacheprovider", "--tb=short", "-c", "/dev/null"]
    usual.append(f"--rootdir={Path(given['file']).parent}")
    with noting(found):
        status = pytest.main([*usual, *given["options"], given["file"]], [recording])
    if status not in _ENDED and given["file"] not in recording.late:
        raise SystemExit(status)
    found |= {"outcomes": recording.outcomes, "texts": recording.texts, "late": recording.late}
    found["counts"] = dict(COUNTS)
    found["functions"] = {place: _became(each) for place, each in hook.compiled}
    Path(given["out"]).write_text(json.dumps(found))


def _became(compiled: Any) -> str:
    info = compiled.cache_info()
    if info.parts:
        return "split"
    if info.variants:
        return "compiled"
    return "left" if info.eager_calls else "not called"


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
