"""Run the example programs with and without fxc, compare what they compute, and time them."""

from __future__ import annotations

import argparse
import copy
import importlib.util
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import fxc
from fxc.ir.records import frozen

from .progress import with_progress

_HELP = """\
Run the five programs of examples/ with and without fxc, compare what they compute, and time them.

    python -m fxc demo
    python -m fxc demo --quick --only nbody photo

Pictures and the stages of one program go to a folder. The status is 0 if all are as with NumPy, 1
if one differs, 2 if there are no examples, as outside of a checkout, or no libraries for pictures.
"""

PROGRAMS = ("gray_scott", "black_scholes", "photo", "transformer_block", "nbody")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PAIRS = 7
STAGES = ("captured", "functional", "decomposed", "loops", "llvm", "asm")
SHOWN = "gray_scott"  # the program whose stages are written out


class DemoError(Exception):
    """The demo cannot start; the message says what to do about it."""


@frozen
class Timing:
    """What was found out about one program."""

    program: str
    size: str
    difference: float  # in ulps; 0 is bit for bit, infinity is another shape or dtype
    max_ulps: int
    numpy_seconds: float
    fxc_seconds: float
    first_call_seconds: float
    variants: int
    eager_calls: int
    fallbacks: tuple[str, ...]
    listed_fallbacks: tuple[str, ...]

    def problems(self) -> Iterator[str]:
        if self.difference > self.max_ulps:
            yield f"results differ by {self.difference:.3g} ulp, allowed are {self.max_ulps}"
        if self.eager_calls:
            yield f"{self.eager_calls} calls ran as plain NumPy"
        if unlisted := sorted(set(self.fallbacks) - set(self.listed_fallbacks)):
            yield f"operators without a kernel: {', '.join(unlisted)}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    parser.add_argument("--out", type=Path, default=Path("demo-output"), metavar="FOLDER")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does everything work?")
    parser.add_argument("--only", choices=PROGRAMS, nargs="+", default=PROGRAMS, metavar="PROGRAM")


def run(options: argparse.Namespace) -> int:
    """Print the table and write the files; the exit status is 0 if every program passed."""
    try:
        modules = {name: load_example(name) for name in options.only}
        require_picture_libraries()
        options.out.mkdir(parents=True, exist_ok=True)
    except (DemoError, OSError) as error:
        print(f"python -m fxc demo: {error}", file=sys.stderr)
        return 2
    print(heading())
    rows: list[Timing] = []
    written: list[Path] = []
    with fxc.config.override(cache=False):  # first calls are those that compile
        for name in with_progress(modules, "timing"):
            module = modules[name]
            compiled = fxc.compile(module.PROGRAM, fullgraph=True)
            rows.append(examine(name, module, compiled, options.quick))
            print(table_line(rows[-1]), flush=True)
            written += write_files(name, module, compiled, options.out, options.quick)
    print(footer(written))
    failures = [f"{row.program}: {problem}" for row in rows for problem in row.problems()]
    for failure in failures:
        print(f"FAILED  {failure}", file=sys.stderr)
    return 1 if failures else 0


def load_example(name: str) -> ModuleType:
    """Load a program from the examples folder, which is no package."""
    path = EXAMPLES / f"{name}.py"
    if not path.is_file():
        raise DemoError(
            f"{path} is missing: the programs live in the folder `examples` of fxc's repository; "
            "clone it and run the demo from there"
        )
    spec = importlib.util.spec_from_file_location(f"fxc_examples_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def require_picture_libraries() -> None:
    missing = [name for name in ("matplotlib", "PIL") if importlib.util.find_spec(name) is None]
    if missing:
        raise DemoError(
            f"the demo reads and draws pictures with matplotlib and pillow, and "
            f'{" and ".join(missing)} cannot be imported: pip install "fxc[examples]"'
        )


def examine(name: str, module: ModuleType, compiled: Any, quick: bool) -> Timing:
    size = module.QUICK_SIZE if quick else module.SIZE
    inputs = module.make_inputs(size)
    first_call = seconds(compiled, copy.deepcopy(inputs), calls=1)
    expected, actual = (
        outcome(program, copy.deepcopy(inputs), module.CALLS)
        for program in (module.PROGRAM, compiled)
    )
    numpy_seconds, fxc_seconds = interleaved_medians(
        lambda: seconds(module.PROGRAM, copy.deepcopy(inputs), module.CALLS),
        lambda: seconds(compiled, copy.deepcopy(inputs), module.CALLS),
    )
    info = compiled.cache_info()
    return Timing(
        program=name,
        size=module.describe(size),
        difference=max_ulps(expected, actual),
        max_ulps=module.MAX_ULPS,
        numpy_seconds=numpy_seconds,
        fxc_seconds=fxc_seconds,
        first_call_seconds=first_call,
        variants=info.variants,
        eager_calls=info.eager_calls,
        fallbacks=tuple(info.fallbacks),
        listed_fallbacks=module.FALLBACKS,
    )


def seconds(program: Callable[..., Any], inputs: tuple[Any, ...], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        program(*inputs)
    return time.perf_counter() - start


def interleaved_medians(*measure: Callable[[], float], repeats: int = PAIRS) -> list[float]:
    """Take the measurements in turns, so that a slow spell of the machine hits all alike."""
    times: list[list[float]] = [[] for _ in measure]
    order = list(range(len(measure)))
    for _ in range(repeats):
        for i in order:
            times[i].append(measure[i]())
        order.reverse()
    return [statistics.median(samples) for samples in times]


def outcome(program: Callable[..., Any], inputs: tuple[Any, ...], calls: int) -> tuple[Any, ...]:
    """The last result of `calls` calls, and the inputs as they are afterwards."""
    result = None
    for _ in range(calls):
        result = program(*inputs)
    return result, inputs


def leaves(tree: object) -> Iterator[Any]:
    """The arrays and numbers in nested tuples, lists and dicts."""
    match tree:
        case dict():
            for key in tree:
                yield from leaves(tree[key])
        case tuple() | list():
            for item in tree:
                yield from leaves(item)
        case _:
            yield tree


def max_ulps(expected: object, actual: object) -> float:
    """The largest difference between two results, in ulps; 0 means bit for bit.

    An ulp is that of the largest finite value in the same array: a small value that is the
    difference of large ones cannot be better than they are. For integers it is 1.
    """
    pairs = list(zip(leaves(expected), leaves(actual), strict=False))
    if len(pairs) != len(list(leaves(expected))) or len(pairs) != len(list(leaves(actual))):
        return float("inf")
    return max((array_ulps(left, right) for left, right in pairs), default=0.0)


def array_ulps(expected: object, actual: object) -> float:
    if type(expected) is not type(actual):
        return float("inf")
    left, right = np.asarray(expected), np.asarray(actual)
    if left.shape != right.shape or left.dtype != right.dtype:
        return float("inf")
    if left.tobytes() == right.tobytes():
        return 0.0
    finite = np.isfinite(left)
    if not np.array_equal(finite, np.isfinite(right)) or not np.array_equal(
        left[~finite], right[~finite], equal_nan=True
    ):
        return float("inf")
    distance = np.abs(left[finite].astype(np.float64) - right[finite].astype(np.float64))
    if left.dtype.kind != "f":
        return float(distance.max(initial=0))
    ulp = np.spacing(np.abs(left[finite]).max(initial=np.finfo(left.dtype).tiny))
    # Zeros of other signs have no distance, and are other bits all the same.
    return max(float(distance.max(initial=0) / ulp), 0.5)


def write_files(
    name: str, module: ModuleType, compiled: object, folder: Path, quick: bool
) -> Iterator[Path]:
    size = module.QUICK_SIZE if quick else module.SIZE
    if hasattr(module, "save_picture"):
        path = folder / f"{name}.png"
        module.save_picture(path, compiled, size)
        yield path
    if name == SHOWN:
        path = folder / f"{name}-stages.txt"
        path.write_text(stages(compiled, module.make_inputs(size)), encoding="utf-8")
        yield path


def stages(compiled: Any, inputs: tuple[Any, ...]) -> str:
    """Everything the compiler made of a program, one stage after the other."""
    report = compiled.inspect(*inputs)
    parts = (f"{f' {name} ':=^100}\n\n{getattr(report, name)}\n" for name in STAGES)
    return "\n".join(parts)


def heading() -> str:
    columns = (
        f"{'program':<17} {'input':<38} {'same as NumPy':<13} "
        f"{'NumPy':>7} {'fxc':>7} {'faster':>6} {'first':>6}"
    )
    return f"{columns}\n{'':<70} {'ms':>7} {'ms':>7} {'':>6} {'ms':>6}\n{'-' * 100}"


def table_line(row: Timing) -> str:
    same = "bit for bit" if row.difference == 0 else f"≤ {row.difference:.2g} ulp"
    ran = f"variants {row.variants}, eager calls {row.eager_calls}, fallbacks"
    return (
        f"{row.program:<17} {row.size:<38} {same:<13} "
        f"{1e3 * row.numpy_seconds:7.2f} {1e3 * row.fxc_seconds:7.2f} "
        f"{row.numpy_seconds / row.fxc_seconds:5.1f}x {1e3 * row.first_call_seconds:6.0f}\n"
        f"{'':<17} {ran}: {', '.join(row.fallbacks) or 'none'}"
    )


def footer(written: list[Path]) -> str:
    notes = (
        f"Medians of {PAIRS} runs with and {PAIRS} without fxc, in turns; first: the first call, "
        "which compiles.",
        "Compared are the results and the inputs afterwards; an ulp is that of the largest value.",
        f"fxc has {fxc.get_num_threads()} threads; products of matrices are those of NumPy's BLAS.",
        f"NumPy {np.__version__}, Python {platform.python_version()}, {platform.machine()}.",
        "",
        "Written:",
        *(f"  {path}" for path in written),
    )
    return "\n".join(["-" * 100, *notes])
