"""Reading traces. What can be read is given, and what cannot is said: nothing is raised for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from fxc.drawing.bounded import is_drawable
from fxc.drawing.json_form import from_json
from fxc.tracing.form import FORMAT

from .traced import (
    Place,
    TraceContent,
    TracedCompilation,
    TracedFailure,
    TracedMemory,
    TracedNest,
    TracedStep,
    TracedTemporary,
    TracedText,
)

_MOST_PROBLEMS = 20  # of one file that are told one by one


def read(path: Path) -> TraceContent:
    """The traces in a folder, or in one file. Raises ``OSError`` if it cannot be looked into."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    traced = TraceContent()
    for number, file in enumerate(files):
        try:
            content = file.read_bytes()
        except OSError as error:
            if not path.is_dir():
                raise
            traced.problems.append(f"{file.name}: {error.strerror}")
            continue
        _File(traced, file.name, number).read(content)
    return traced


def parsed(name: str, content: bytes) -> TraceContent:
    """What one trace tells, by its content."""
    traced = TraceContent()
    _File(traced, name, 0).read(content)
    return traced


class _File:
    """Reads one file into what is known so far."""

    def __init__(self, traced: TraceContent, name: str, number: int) -> None:
        self._traced, self._name, self._number = traced, name, number
        self._by_number: dict[int, TracedCompilation] = {}
        self._problems: list[str] = []
        self._has_head = False

    def read(self, content: bytes) -> None:
        lines = content.split(b"\n")
        for number, line in enumerate(lines, 1):
            if line.strip():
                self._line(line, f"line {number}", is_last=number == len(lines))
        if not self._has_head:
            self._problems.insert(0, "this is no trace, or its beginning is lost")
        shown = self._problems[:_MOST_PROBLEMS]
        more = len(self._problems) - len(shown)
        shown += [f"{more} more such lines"] if more else []
        self._traced.problems += [f"{self._name}: {each}" for each in shown]

    def _line(self, line: bytes, where: str, is_last: bool) -> None:
        try:
            event = json.loads(line)
            name, known = event["event"], _EVENTS.get(event["event"])
        except (ValueError, TypeError, KeyError, RecursionError):
            cut = (
                "is cut off: the process ended, or there was no room" if is_last else "is no event"
            )
            self._problems.append(f"{where} {cut}")
            return
        try:
            if name == "trace":
                self._head(event)
            elif known is not None:
                known(self._compilation(event), event)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError):
            self._problems.append(f"{where} is an event {name!r} that is not understood")

    def _head(self, event: dict[str, Any]) -> None:
        self._has_head = True
        self._traced.heads.append({str(key): str(value) for key, value in event.items()})
        if event.get("format") != FORMAT:
            self._problems.append(
                f"it has the format {event.get('format')!r} of fxc {event.get('fxc')}, and this is "
                f"for {FORMAT}: what is understood is shown"
            )

    def _compilation(self, event: dict[str, Any]) -> TracedCompilation:
        number = _int(event["compile"])
        found = self._by_number.get(number)
        if found is None:
            found = self._by_number[number] = TracedCompilation(self._number, number)
            self._traced.compilations.append(found)
        return found


# ---------------------------------------------------------------- events


def _start(made: TracedCompilation, event: dict[str, Any]) -> None:
    made.function = str(event["function"])
    made.place = _place(event.get("place"))
    made.arguments = _texts(event.get("arguments", ()))
    made.variant = _int(event.get("variant", 0))
    made.reason = str(event.get("reason", ""))
    made.is_part = event.get("part") is True
    made.options = {str(k): str(v) for k, v in event.get("options", {}).items()}


def _source(made: TracedCompilation, event: dict[str, Any]) -> None:
    made.sources[str(event["file"]), _int(event["first"])] = _texts(event["lines"])


def _step(made: TracedCompilation, event: dict[str, Any]) -> None:
    sizes = [f"{_int(event[kind])} {kind}" for kind in ("operators", "nests") if kind in event]
    made.steps.append(TracedStep(str(event["name"]), float(event["seconds"]), ", ".join(sizes)))


def _stage(made: TracedCompilation, event: dict[str, Any]) -> None:
    places = [_some_place(each) for each in event["places"]]
    lines = _texts(event["lines"])
    of = tuple(tuple(places[number] for number in each) for each in event["of"])
    if len(of) != len(lines):
        raise ValueError("places are not those of the lines")
    made.stages[str(event["stage"])] = TracedText(lines, of)


def _drawing(made: TracedCompilation, event: dict[str, Any]) -> None:
    picture = from_json(event["picture"])
    if not is_drawable(picture.operations):
        raise ValueError("operations read what they give")
    made.drawings[str(event["stage"])] = picture


def _schedule(made: TracedCompilation, event: dict[str, Any]) -> None:
    made.nests = tuple(
        TracedNest(
            _place(each.get("place")),
            str(each["how"]),
            len(each.get("values", ())),
            _texts(each.get("reads", ())),
            _texts(each.get("writes", ())),
        )
        for each in event["nests"]
    )
    made.calls = tuple((str(x["op"]), _place(x.get("place"))) for x in event.get("calls", ()))
    made.copies = _texts(event.get("copies", ()))


def _guards(made: TracedCompilation, event: dict[str, Any]) -> None:
    made.checks, made.guards = _texts(event["checks"]), str(event.get("source", ""))


def _memory(made: TracedCompilation, event: dict[str, Any]) -> None:
    made.memory = TracedMemory(
        tuple((str(x["name"]), str(x["role"]), _int(x["bytes"])) for x in event["arrays"]),
        tuple(
            TracedTemporary(str(x["name"]), _int(x["bytes"]), _int(x["first"]), _int(x["last"]))
            for x in event["temporaries"]
        ),
        _int(event["arena"]),
        tuple(_place(x.get("place")) for x in event["statements"]),
    )


def _end(made: TracedCompilation, event: dict[str, Any]) -> None:
    made.seconds = float(event["seconds"])
    made.fallbacks = _texts(event.get("fallbacks", ()))


def _failure(made: TracedCompilation, event: dict[str, Any]) -> None:
    error, message, after = (str(event.get(name, "")) for name in ("error", "message", "after"))
    made.failure = TracedFailure(
        error, message, _place(event.get("place")), after, _texts(event.get("frames", ()))
    )
    made.seconds = float(event.get("seconds", 0))


def _problem(made: TracedCompilation, event: dict[str, Any]) -> None:
    made.problems.append(str(event["message"]))


_EVENTS: dict[str, Callable[[TracedCompilation, dict[str, Any]], None]] = {
    "start": _start,
    "source": _source,
    "step": _step,
    "stage": _stage,
    "drawing": _drawing,
    "schedule": _schedule,
    "guards": _guards,
    "memory": _memory,
    "end": _end,
    "failure": _failure,
    "problem": _problem,
}


def _texts(given: Iterable[object]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError("a text stands where there should be several")
    return tuple(map(str, given))


def _int(given: Any) -> int:
    found = int(given)
    if abs(found) >= 2**63:
        raise OverflowError("no number of anything")
    return found


def _place(given: object) -> Place | None:
    return None if given is None else _some_place(given)


def _some_place(given: Any) -> Place:
    file, line = given
    return str(file), _int(line)
