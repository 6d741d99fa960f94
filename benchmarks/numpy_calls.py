"""``python -m benchmarks.numpy_calls [NAME …]``: what calls that NumPy runs in a graph take beyond
plain ones.

A row for each function of ``docs/coverage.md`` for which compiled code calls NumPy, with the
arguments of that page. Five calls on arrays of their own are compared with one: what is left is the
call, its result and the check of its arguments. Functions that NumPy writes in Python may be more
calls in the graph; a row has the time by their number. Processor time, in turns, medians.
"""

from __future__ import annotations

import argparse
import inspect
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import fxc
from tests.coverage import (
    ARGUMENTS,
    DTYPES,
    MODULES,
    NAMES,
    OTHER_WORK,
    SPECIAL,
    as_dtype,
    defined,
    is_function,
    method,
    program_of,
    takes,
)

from .measure import samples_of

_CALLS = 5  # in the longer one of two functions
_USUAL = 3000  # calls after which a function is what it stays
_HIGH = 1e-6  # seconds, what is printed


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module, members in MODULES.items():
        for name in sorted(dir(members)):
            function = getattr(members, name)
            if not name.startswith("_") and name not in OTHER_WORK and is_function(function):
                yield f"{module}.{name}", function
    for name in dir(np.ndarray):
        if (
            not name.startswith("_")
            and name not in OTHER_WORK
            and callable(getattr(np.ndarray, name))
        ):
            yield f"numpy.ndarray.{name}", method(name)


def calls_of(function: Callable[..., Any], name: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The arguments of ``docs/coverage.md`` that NumPy takes, by dtype."""
    tried = (SPECIAL[name],) if name in SPECIAL else ARGUMENTS
    args = next((each for each in tried if takes(function, each)), None)
    for dtype in DTYPES if args is not None else ():
        given = as_dtype(args, dtype)
        if takes(function, given):
            yield NAMES[dtype], given


def programs(
    function: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[Any, Any, list[np.ndarray]]:
    """A function that makes the call once, one that makes it often, and arrays for the latter."""
    single, arrays = program_of(function, args, {})
    parameters = inspect.signature(single).parameters
    given = [[f"{each}_{call}" for each in parameters] for call in range(_CALLS)]
    called = ", ".join(f"program({', '.join(names)})" for names in given)
    header = ", ".join(each for names in given for each in names)
    text = f"def often({header}):\n    return {called}\n"
    often = defined(text, "often", {"program": single})
    return single, often, [x.copy() for _ in range(_CALLS) for x in arrays]


def extra(
    function: Callable[..., Any], args: tuple[Any, ...], repeats: int
) -> tuple[float, int, float] | None:
    """Seconds of a call in the graph beyond the plain one, how many calls of NumPy's it is, and
    seconds of the plain one; None if NumPy does not run it.
    """
    single, often, arrays = programs(function, args)
    few = arrays[: len(arrays) // _CALLS]
    once, many = (fxc.compile(each, fullgraph=True) for each in (single, often))
    try:
        once(*few)
        many(*map(np.copy, arrays))
    except fxc.CaptureError:
        return None
    calls = sum(once.cache_info().fallbacks.values())
    if not calls:
        return None
    runs = {("numpy", 1): partial(single, *few), ("numpy", _CALLS): partial(often, *arrays)}
    runs |= {("fxc", 1): partial(once, *few), ("fxc", _CALLS): partial(many, *arrays)}
    for who in ("fxc", 1), ("fxc", _CALLS):
        for _ in range(_USUAL):
            runs[who]()
    found = samples_of(runs, repeats, time.thread_time)
    took = {who: statistics.median(times) for who, times in found.items()}
    of = {who: (took[who, _CALLS] - took[who, 1]) / (_CALLS - 1) for who in ("numpy", "fxc")}
    return of["fxc"] - of["numpy"], calls, of["numpy"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.numpy_calls")
    parser.add_argument("names", nargs="*", help="parts of names of functions")
    parser.add_argument("--dtypes", default="f64 i64 c128", help="those of the coverage page")
    parser.add_argument("--repeats", type=int, default=9)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = high = 0
    with np.errstate(all="ignore"):
        for name, function in functions():
            if chosen.names and not any(each in name for each in chosen.names):
                continue
            for dtype, args in calls_of(function, name.rpartition(".")[2]):
                if dtype not in chosen.dtypes.split():
                    continue
                found = extra(function, args, chosen.repeats)
                if found is None:
                    continue
                more, calls, plain = found
                rows, high = rows + 1, high + (more / calls > _HIGH)
                text = f"{more / calls * 1e6:7.2f} us a call, {calls} in {plain * 1e6:.2f} us"
                print(f"{name:36} {dtype:5}{text}{' *' * (more / calls > _HIGH)}", flush=True)
    print(f"{rows} rows, {high} above {_HIGH * 1e6:.0f} us")


if __name__ == "__main__":
    main()
