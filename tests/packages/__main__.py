"""`python -m tests.packages`: a package's tests, with each function of the package compiled. ::

    python -m tests.packages fluids                             # tests that are installed with it
    python -m tests.packages statsmodels statsmodels.tsa.tests  # those of a module
    python -m tests.packages filterpy SDIST/filterpy -- -k kalman   # at a path; options of pytest

All functions and methods of the package's modules are compiled as the modules are imported, and
each compiled call is compared with NumPy (docs/verifying.md). Each file of tests has a process of
its own; tests that fail are run plainly, too. What is listed: calls that differ, tests that fail
compiled and not plainly, and bugs of fxc that it warns of. The status is 1 if there is one. Files
and tests that ran out of processor time, of which a busy machine takes none, are listed apart.
``--python`` is an environment with the package, pytest and what fxc needs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WHERE = """
import importlib, sys
module = importlib.import_module(sys.argv[1])
print([*getattr(module, "__path__", [module.__file__])][0])
"""
Found = dict[str, Any]
EMPTY: Found = {"crashed": "", "late": [], "differences": [], "warnings": []} | {
    each: {} for each in ("outcomes", "texts", "counts", "functions")
}
_WAITING = 20  # how many times its processor time a file may last: it waits for something


def main() -> int:
    options = _options()
    if "--" in sys.argv:
        options.pytest = sys.argv[sys.argv.index("--") + 1 :]
    files = [file for each in options.tests or [options.package] for file in _files(options, each)]
    if not files:
        raise SystemExit("there are no files of tests")
    summary = Summary()
    for file in files:
        print(file, flush=True)
        found = _run(options, file, compiled=True)
        failed = [test for test, outcome in found["outcomes"].items() if outcome == "failed"]
        failed = [test for test in failed if test not in found["late"]]
        plain = _run(options, file, compiled=False) if failed or found["crashed"] else found
        summary.add(file, found, plain, options.refusals)
    return summary.show()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.packages", description=__doc__)
    parser.add_argument("package", help="the functions of its modules are compiled")
    parser.add_argument("tests", nargs="*", help="modules or paths; by default the package's")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=60.0, help="of the processor, for a test")
    parser.add_argument("--file-seconds", type=float, default=900.0, help="… for a file")
    parser.add_argument("--gigabytes", type=float, default=3.0, help="of data in a process")
    parser.add_argument("--no-verify", action="store_true", help="only run the tests compiled")
    parser.add_argument("--refusals", action="store_true", help="list what is left to Python, too")
    parser.set_defaults(pytest=[])
    end = sys.argv.index("--") if "--" in sys.argv else None
    return parser.parse_args(sys.argv[1:end])


def _files(options: argparse.Namespace, tests: str) -> Iterator[Path]:
    path = Path(tests)
    if not path.exists():
        told = subprocess.run(
            [options.python, "-c", WHERE, tests], capture_output=True, text=True, check=True
        )
        path = Path(told.stdout.split()[-1])
    if path.is_file():
        yield path.resolve()
    else:
        found = {*path.rglob("test_*.py"), *path.rglob("*_test.py")}
        yield from sorted(each.resolve() for each in found)


def _run(options: argparse.Namespace, file: Path, *, compiled: bool) -> Found:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        given = {
            "package": options.package.partition(".")[0],
            "file": str(file),
            "options": options.pytest,
            "compiled": compiled,
            "verify": not options.no_verify,
            "seconds": options.seconds,
            "file_seconds": options.file_seconds,
            "bytes": int(options.gigabytes * 2**30),
            "out": str(out),
        }
        command = [options.python, str(HERE / "one_file.py"), json.dumps(given)]
        paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
        log, why, is_late = Path(folder) / "log", "", False
        with log.open("w") as stream:
            try:
                status = subprocess.run(
                    command,
                    env={**os.environ, "PYTHONPATH": paths},
                    stdout=stream,
                    stderr=stream,
                    timeout=_WAITING * options.file_seconds,
                    cwd=folder,
                ).returncode
                is_late = status == -signal.SIGKILL
                why = "" if out.exists() else f"status {status}"
            except subprocess.TimeoutExpired:
                is_late = True
        if is_late:
            return {**EMPTY, "late": [str(file)]}
        if why:
            text = log.read_text(errors="replace")[-2000:]
            return {**EMPTY, "crashed": f"{why}\n{text}"}
        return {**json.loads(out.read_text()), "crashed": ""}


class Summary:
    """What was found in all files."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.functions: dict[str, set[str]] = defaultdict(set)
        self.differences: dict[str, Counter[str]] = defaultdict(Counter)
        self.failures: dict[str, str] = {}
        self.late: list[str] = []
        self.outcomes: Counter[str] = Counter()
        self.warnings: Counter[str] = Counter()

    def add(self, file: Path, found: Found, plain: Found, refusals: bool) -> None:
        """Add what was found in a file, compiled and plainly."""
        if found["crashed"]:
            if not plain["crashed"]:
                self._fails(str(file), found["crashed"])
            return
        self.late += dict.fromkeys([*found["late"], *plain["late"]])
        self.counts.update(found["counts"])
        self.outcomes.update(found["outcomes"].values())
        for place, became in found["functions"].items():
            self.functions[place].add(became)
        for place, text in found["differences"]:
            if not self.differences[place]:
                print(f"=== differs: {place}: {text}")
            self.differences[place][text] += 1
        for text in found["warnings"]:
            if refusals or "please report" in text:
                if not self.warnings[text]:
                    print(f"=== {text}")
                self.warnings[text] += 1
        for test, text in found["texts"].items():
            is_known = test in plain["outcomes"] or not plain["late"]
            if test not in found["late"] and is_known and plain["outcomes"].get(test) != "failed":
                self._fails(test, text)

    def _fails(self, test: str, text: str) -> None:
        print(f"=== fails compiled and not plainly: {test}\n{text}")
        self.failures[test] = text

    def show(self) -> int:
        """Print totals, and all differences by function; a status."""
        for place, texts in self.differences.items():
            print(f"\n=== differs: {place}")
            for text, count in texts.items():
                print(f"    {count} times: {text}")
        for each in self.late:
            print(f"\n=== ran out of time: {each}")
        print(
            f"\ntests: {_told(self.outcomes)}; {len(self.failures)} fail compiled and not plainly"
        )
        print(f"calls: {_told(self.counts)}")
        states = ("split", "compiled", "left", "not called")
        became = Counter(
            next(each for each in states if each in found) for found in self.functions.values()
        )
        print(f"functions: {_told(became)}; {len(self.differences)} with calls that differ")
        return int(bool(self.failures or self.differences or self.warnings))


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items()) or "none"


if __name__ == "__main__":
    raise SystemExit(main())
