"""The corpus of captured graphs: what capture makes of every program of the tests.

    python -m tests.graphs write FILE [ARGUMENTS OF PYTEST]
    python -m tests.graphs compare OLD NEW

The first runs the tests and keeps, by test, the text of all that they capture: graphs, guards,
epilogues, and the messages of refusals. The second shows what differs between two such files, and
fails if anything does. A change of capture that shall change no behaviour leaves the corpus as it is.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import gzip
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from fxc.capture import capture as capturing
from fxc.capture.captured import Captured
from fxc.ir.errors import FxcError

Corpus = Mapping[str, list[str]]  # the texts of what each test has captured

_FOLDER = "FXC_GRAPHS"  # where the processes that run tests leave what they have found
_SHOWN = 8  # differences that are shown whole
_ROOT = f"{Path(__file__).resolve().parent.parent}{os.sep}"
# What differs from run to run, or with any change of fxc, and what it becomes.
_BY_CHANCE = (
    (re.compile(re.escape(_ROOT)), ""),
    (re.compile(r"0x[0-9a-f]{6,}"), "0x"),  # addresses
    (re.compile(r"(fxc/[\w/]+\.py|\bfolds\.py)(:\d+)+"), r"\1"),  # lines of fxc's own
    (re.compile(r"<(\w+) (\d+), \d+>"), r"<\1 \2>"),  # files of random programs
    (re.compile(r"\b(call_[a-z_]+?)\d*\("), r"\1("),  # foreign calls are numbered as they come
    (re.compile(r" +#"), " #"),  # where comments are aligned to those
)
_of_this_test: list[str] = []


def without_chance(text: str) -> str:
    """A text that is the same in each run, and in each tree."""
    for pattern, instead in _BY_CHANCE:
        text = pattern.sub(instead, text)
    return text


def text_of(captured: Captured) -> str:
    """All of what was captured that the rest of the compiler sees."""
    settings = f"asked {sorted(map(str, captured.requests))} varying {sorted(captured.varying)}"
    guards, epilogue = captured.guards.source, captured.epilogue
    parts = captured.graph, guards, epilogue, captured.overlaps, settings
    return without_chance("\n".join(map(str, parts)))


def _keep_what_is_captured() -> None:
    """Let ``capture`` take note of what it gives, wherever its name was imported."""
    original = capturing.capture

    @functools.wraps(original)
    def capture(*args: Any, **kwargs: Any) -> Captured:
        try:
            captured = original(*args, **kwargs)
        except FxcError as error:
            _of_this_test.append(without_chance(f"{type(error).__name__}: {error}"))
            raise
        _of_this_test.append(text_of(captured))
        return captured

    for module in list(sys.modules.values()):
        if vars(module).get("capture") is original:
            vars(module)["capture"] = capture


# -------------------------------------------------------- the plugin of pytest


def pytest_configure(config: pytest.Config) -> None:
    _keep_what_is_captured()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _of_this_test.clear()
    result = yield
    if _of_this_test:
        line = json.dumps([item.nodeid, sorted(_of_this_test)])  # threads have no order
        with Path(os.environ[_FOLDER], str(os.getpid())).open("a") as file:
            file.write(line + "\n")
    return result


# ---------------------------------------------------------------- the commands


def write(path: Path, arguments: list[str]) -> int:
    """Run the tests; keep what they capture in a file."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[_FOLDER] = folder
        code = pytest.main(["-p", "tests.graphs", "-q", *arguments])
        lines = sorted(line for part in Path(folder).iterdir() for line in part.open())
    with gzip.open(path, "wt", compresslevel=4) as file:
        file.writelines(lines)
    print(f"{path}: what {len(lines)} tests capture")
    return int(code)


def read(path: Path) -> Corpus:
    """What ``write`` has written."""
    with gzip.open(path, "rt") as file:
        return dict(json.loads(line) for line in file)


def compare(old: Corpus, new: Corpus) -> int:
    """Print how two corpora differ; returns in how many tests."""
    both = old.keys() & new.keys()
    differing = sorted(each for each in both if old[each] != new[each])
    for place, test in enumerate(differing):
        print(test)
        if place < _SHOWN:
            texts = ("\n\n".join(corpus[test]).splitlines() for corpus in (old, new))
            print(*difflib.unified_diff(*texts, lineterm="", n=2), sep="\n")
    captures = sum(len(old[each]) for each in both)
    print(f"{captures} captures in {len(both)} tests: {len(differing)} tests differ")
    for name, corpus in ("old", old), ("new", new):
        alone = sorted(corpus.keys() - both)
        print(f"only in the {name}: {len(alone)} tests", *alone[:_SHOWN], sep="\n  ")
    return len(differing)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.graphs")
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("file", type=Path)
    comparing = commands.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    options, arguments = parser.parse_known_args()
    if options.command == "write":
        return write(options.file, arguments)
    return int(compare(read(options.old), read(options.new)) > 0)


if __name__ == "__main__":
    sys.exit(main())
