"""How a short random program differs from Python once it is compiled."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import fxc
from tests.random_short import ShortProgram
from tests.short_world import LOG, World
from tests.worlds import seen

Aspects = dict[str, str]


def failure(program: ShortProgram, counts: Counter[str] | None = None) -> str:
    """How the compiled program differs from Python, or ''."""
    worlds = World(), World()
    try:
        (fn, calls), (other, others) = (program.load_in(world) for world in worlds)
    except SyntaxError:
        return ""  # no program: one that is being shrunk
    compiled = fxc.compile(other)
    for place, (call, same) in enumerate(zip(calls, others, strict=True)):
        expected = outcome(program, fn, call(), worlds[0])
        found = outcome(program, compiled, same(), worlds[1])
        for aspect, text in expected.items():
            if text != found[aspect]:
                return f"{aspect}: call {place}: {_from_difference(found[aspect], text)}"
    if counts is not None:
        _count(compiled, counts)
    return ""


def _from_difference(found: str, expected: str) -> str:
    """The texts, from shortly before they begin to differ."""
    pairs = enumerate(zip(found, expected, strict=False))
    first = next((place for place, (x, y) in pairs if x != y), min(len(found), len(expected)))
    at = max(first - 40, 0)
    return f"…{found[at : at + 300]}\nPython: …{expected[at : at + 300]}"


def _count(compiled: Any, counts: Counter[str]) -> None:
    info = compiled.cache_info()
    counts["programs"] += 1
    kind = "split" if info.part_calls else "native" if info.native_calls else "eager"
    counts[kind] += 1
    counts.update(parts=info.parts, native_calls=info.native_calls, part_calls=info.part_calls)


def outcome(program: ShortProgram, fn: Any, args: tuple[Any, ...], world: World) -> Aspects:
    """All that can be seen of a call."""
    world.begin()
    records: list[str] = []
    handler = _Records(records)
    LOG.addHandler(handler)
    result, error = None, None
    stdout = io.StringIO()
    with (
        warnings.catch_warnings(record=True) as caught,
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(stdout),
    ):
        warnings.simplefilter("always")
        try:
            result = DRIVEN[program.driven](fn(*args)) if program.kind != "function" else fn(*args)
        except Exception as raised:
            error = raised
    LOG.removeHandler(handler)
    # One text for both: they may share objects.
    return {
        "report": " ".join(x for x in _texts(caught, ours=True) if "please report" in x),
        "exception": _raised(error, program),
        "result": seen((result, args)),
        "left": world.left(),
        "shown": f"{stdout.getvalue()!r} {records} {_texts(caught, ours=False)}",
    }


def _texts(caught: list[warnings.WarningMessage], *, ours: bool) -> list[str]:
    return [
        f"{each.category.__name__} {each.lineno}: {each.message}"
        for each in caught
        if issubclass(each.category, fxc.CaptureWarning) == ours
    ]


# One that is taken apart has no frame of its own, as in Python from 3.12 on: see docs/limits.md.
_INLINED = ("<listcomp>", "<setcomp>", "<dictcomp>")

# A function that is warm stores and loads in one instruction, which has the line of the store.
_IS_LINE_BEFORE = sys.version_info < (3, 12)


def _raised(error: BaseException | None, program: ShortProgram) -> str:
    """An exception, those behind it, and where the program was."""
    found = []
    while error is not None:
        frames = [
            f"{frame.f_code.co_name}:{line}"
            for frame, line in traceback.walk_tb(error.__traceback__)
            if frame.f_code.co_filename.startswith(f"<loops {program.seed}")
            and frame.f_code.co_name not in _INLINED
        ]
        if program.kind != "function":
            # Of a part that is split in its turn there is a frame more: see docs/limits.md.
            own = [place for place, each in enumerate(frames) if each.startswith("program:")]
            frames = [each for place, each in enumerate(frames) if place not in own[:-1]]
        if isinstance(error, UnboundLocalError) and _IS_LINE_BEFORE:
            frames[-1:] = [each.partition(":")[0] for each in frames[-1:]]
        found.append(f"{error!r} at {' '.join(frames)}")
        if error.__cause__ is not None:
            found.append(f"from {error.__cause__!r}")
        error = error.__context__
    return "\n".join(found)


class _Records(logging.Handler):
    def __init__(self, records: list[str]) -> None:
        super().__init__()
        self.records = records

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record.getMessage())


# ---------------------------------------------------------------- what is entered again


def _all(made: Any) -> list[Any]:
    """What a generator or a coroutine gives, to its end."""
    return [*_until_the_end(made, lambda number: made.send(None))]


def _sent(made: Any) -> list[Any]:
    return [*_until_the_end(made, lambda number: made.send(number * 0.5 if number else None))]


def _thrown(made: Any) -> list[Any]:
    def turn(number: int) -> Any:
        return made.throw(ValueError("thrown")) if number == 2 else made.send(None)

    return [*_until_the_end(made, turn)]


def _closed(made: Any) -> list[Any]:
    found = [
        each for each, _ in zip(_until_the_end(made, lambda n: made.send(None)), "ab", strict=False)
    ]
    try:
        made.close()
    finally:
        made = None  # which is collected now, and not when the garbage is whose traceback holds it
    return found


def _until_the_end(made: Any, turn: Callable[[int], Any]) -> Iterator[Any]:
    for number in range(60):
        try:
            yield turn(number)
        except StopIteration as end:
            yield "ended", end.value
            return


DRIVEN = {"on": _all, "send": _sent, "throw": _thrown, "close": _closed}
