"""Check the installation, and say what to do about each problem."""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version

from fxc.ir.errors import UsageError
from fxc.ir.records import frozen

from .progress import with_progress

_HELP = """\
Check the installation: versions, processor, threads, settings, the cache on disk, and whether a
small function is compiled, equals NumPy, and goes through native code.

    python -m fxc doctor

A line for each check; `!` before what is wrong or slows fxc down, with what to do below it. Please
put what it prints into a bug report: it names no file of yours but the folders of settings and of
the cache.

The status is 0 if all is well, 1 if something is wrong. What only slows fxc down is no error.
"""
_SLOW_START = 1.0  # seconds that the first call may take


@frozen
class Finding:
    """What a check has found; ``advice`` is what to do if it is wrong, or only not good."""

    what: str
    found: str
    advice: str = ""
    is_wrong: bool = False

    def __str__(self) -> str:
        mark = "!" if self.advice else " "
        line = f"{mark} {self.what:<10} {self.found}"
        return f"{line}\n             → {self.advice}" if self.advice else line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare that there are no options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP


def run(options: argparse.Namespace) -> int:
    """Print what the checks find; the exit status."""
    is_wrong = False
    for each in findings():
        print(each, flush=True)
        is_wrong |= each.is_wrong
    print("something is wrong: see the lines with a !" if is_wrong else "all is well")
    return int(is_wrong)


def findings() -> Iterator[Finding]:
    """What all checks find."""
    is_wrong = False
    for check in with_progress(_CHECKS, "checking"):
        found = [*_found_by(check)]
        yield from found
        is_wrong |= any(each.is_wrong for each in found)
        if check is settings and is_wrong:
            return  # nothing else can be said before


def _found_by(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """What a check finds; that it fails is a finding, too."""
    try:
        yield from check()
    except UsageError as error:
        yield Finding(check.__name__, error.text, "change that setting: docs/settings.md", True)
    except Exception as error:
        advice = "please report it, with all of this text"
        yield Finding(check.__name__, f"fails: {type(error).__name__}: {error}", advice, True)


def versions() -> Iterator[Finding]:
    """Python, NumPy and llvmlite, and whether they are new enough."""
    yield Finding("fxc", version_of("fxc") or "a checkout, not installed")
    implementation = platform.python_implementation()
    is_known = implementation == "CPython" and sys.version_info >= (3, 11)
    advice = "" if is_known else "fxc is for CPython 3.11 and newer"
    yield Finding("Python", f"{implementation} {platform.python_version()}", advice, not is_known)
    for name, least in (("numpy", (2, 0)), ("llvmlite", (0, 45)), ("networkx", (3, 0))):
        found = version_of(name)
        parts = tuple(int(part) for part in found.split(".")[:2] if part.isdecimal())
        advice = "" if found and parts >= least else f"pip install -U {name}"
        yield Finding(name, found or "is not installed", advice, bool(advice))


def version_of(name: str) -> str:
    """The version of an installed package; empty if there is none."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def processor() -> Iterator[Finding]:
    """The processor, and the vectors that it has."""
    from fxc.package.processors import features

    machine, has = platform.machine(), features()
    known = [name for name in ("avx512f", "avx2", "fma", "sse4.1", "neon") if name in has]
    advice = ""
    if machine not in ("x86_64", "AMD64", "aarch64", "arm64"):
        advice = "fxc is tested on x86-64 and AArch64 alone; compare results with FXC_VERIFY=1"
    yield Finding("processor", f"{machine} {' '.join(known)}".rstrip(), advice)


def threads() -> Iterator[Finding]:
    """How many threads loops use, and how many processors there are for them."""
    import fxc
    from fxc.runtime.processors import usable_processors

    count, there = fxc.get_num_threads(), usable_processors()
    advice = ""
    if count > there:
        advice = f"more threads than processors; unset FXC_NUM_THREADS, or set it to {there}"
    yield Finding("threads", f"{count}, of {there} processors for this process", advice)


def settings() -> Iterator[Finding]:
    """Settings that differ from the default, and those that contradict one another."""
    from fxc.ir.settings import SETTINGS

    given = [each for each in SETTINGS.values() if each.origin != "default"]
    shown = ", ".join(f"{each.variable}={each.value}" for each in given)
    yield Finding("settings", shown or "all are the default")
    known = {each.variable for each in SETTINGS.values()}
    for name in sorted(set(filter(_IS_OURS, os.environ)) - known):
        yield Finding("settings", f"{name} is no setting", "see docs/settings.md, or unset it")
    for name, why in _SLOW.items():
        if SETTINGS[name].value:
            what = f"{SETTINGS[name].variable} is on"
            yield Finding("settings", what, f"{why}; unset it for speed")
    if SETTINGS["cache_dir"].value and not SETTINGS["cache"].value:
        yield Finding("settings", "FXC_CACHE_DIR counts for nothing", "unset FXC_CACHE=0")


_IS_OURS = re.compile("FXC_").match
_SLOW = {
    "verify": "each call runs twice",
    "verify_graphs": "each graph is checked after each pass",
    "trace": "each compilation is written to disk",
}


def cache() -> Iterator[Finding]:
    """The folder of the cache, and whether files can be kept there."""
    from fxc.cache import folder
    from fxc.ir.settings import cache_folder, config

    place, problem = cache_folder(), folder.problem()
    if not config.cache:
        yield Finding("cache", "is turned off", "each process compiles anew; unset FXC_CACHE")
    elif place is None or problem:
        advice = "each process compiles anew; FXC_CACHE_DIR names a folder that is yours alone"
        yield Finding("cache", f"nothing is kept: {problem}", advice)
    else:
        yield Finding("cache", f"{place}, {folder.contents().files} files")


def first_call() -> Iterator[Finding]:
    """A small function is compiled, and gives what NumPy gives."""
    import numpy as np

    import fxc

    def relax(u: np.ndarray) -> np.float64:
        u[1:-1] += 0.5 * (u[:-2] - 2 * u[1:-1] + u[2:])
        found: np.float64 = np.sqrt(u).sum()
        return found

    one, other = np.arange(1000.0), np.arange(1000.0)
    compiled, begin = fxc.compile(relax, fullgraph=True), time.perf_counter()
    with fxc.config.override(cache=False):
        found = compiled(one)
    took = time.perf_counter() - begin
    same = found == relax(other) and np.array_equal(one, other)
    advice = "" if same else "please report it, with all of this text"
    yield Finding("result", "equals NumPy's" if same else "differs from NumPy's", advice, not same)
    slow = took > _SLOW_START
    advice = ""
    if slow:
        advice = (
            "Python compiles fxc's modules when they are first imported: ask again. "
            "If it stays slow, the machine is busy, or the disk is slow"
        )
    yield Finding("first call", f"{1000 * took:.0f} ms, compiled anew", advice)


def native_calls() -> Iterator[Finding]:
    """Calls are entered without Python's help after some of them."""
    import numpy as np

    import fxc

    def step(a: np.ndarray, b: float) -> np.ndarray:
        return a * b + 1

    x, compiled = np.ones(8), fxc.compile(step, fullgraph=True)
    for _ in range(3000):
        compiled(x, 2.0)
    ours, numpys = (min(_seconds_a_call(each, x) for _ in range(5)) for each in (compiled, step))
    times = f"{1e6 * ours:.2f} µs for a * b + 1 of 8 numbers, by NumPy {1e6 * numpys:.2f}"
    advice = "calls are not entered natively; please report it, with all of this text"
    yield Finding("calls", times, "" if ours < numpys else advice)


def _seconds_a_call(run: Callable[..., object], x: object) -> float:
    repeats = 1000
    begin = time.perf_counter()
    for _ in range(repeats):
        run(x, 2.0)
    return (time.perf_counter() - begin) / repeats


_CHECKS = (versions, settings, processor, threads, cache, first_call, native_calls)
