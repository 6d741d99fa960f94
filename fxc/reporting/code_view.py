"""The program beside the stages of a compilation: lines that know which lines of the program they
are for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from fxc.drawing.bounded import bounded
from fxc.drawing.layout import layout
from fxc.drawing.picture import DrawnOperation, Picture
from fxc.drawing.svg import svg

from .html import Html, element, joined
from .traced import Place, TracedCompilation, TracedText

STAGES = {
    "captured": (
        "Captured",
        "What your function asks for, operator by operator, views and writes included.",
    ),
    "functional": (
        "Functional",
        "The same without views and writes: a write is a new value, and the signature says which "
        "input becomes it.",
    ),
    "decomposed": (
        "Decomposed",
        "In operators that there is native code for. “into” proposes memory that a result may "
        "take.",
    ),
    "loops": (
        "Loops",
        "Loop nests over arrays, operators fused. Lanes are elements at a time; parallel is how "
        "many iterations a thread takes at once.",
    ),
    "llvm": ("LLVM", "What LLVM is given. It makes few changes of its own."),
    "asm": ("Assembly", "The machine code, for this processor."),
}
_REMARK = re.compile(r"\s+# [\w.<>-]+:\d+$")  # where a node comes from: shown by what is marked


class Lines:
    """A number for each line of the program that something is for."""

    def __init__(self, made: TracedCompilation) -> None:
        places = {each for text in made.stages.values() for of in text.of for each in of}
        self._numbers = {place: number for number, place in enumerate(sorted(places), 1)}

    def of(self, places: Iterable[Place | None]) -> str | None:
        """The numbers of places, as an attribute has them."""
        numbers = {self._numbers[p] for p in places if p is not None and p in self._numbers}
        return " ".join(map(str, sorted(numbers))) or None


def program(made: TracedCompilation, lines: Lines) -> Html:
    """The functions that the compilation comes from."""
    failed = made.failure.place if made.failure is not None else None
    parts = []
    for (file, first), text in sorted(made.sources.items(), key=lambda x: x[0] != made.place):
        parts.append(element("h4", os.path.basename(file), title=file))
        parts.append(_source((file, first), text, lines, failed))
    if not parts:
        parts = [element("p", "The source could not be read.", class_="none")]
    return joined(parts)


def _source(start: Place, text: tuple[str, ...], lines: Lines, failed: Place | None) -> Html:
    """Lines of a file from a place on; what a compilation failed at says so."""
    file, first = start
    width = len(str(first + len(text)))
    shown = []
    for number, line in enumerate(text, first):
        of = lines.of([(file, number)])
        head = element("b", str(number).rjust(width))
        here = element("em", "  ← here") if (file, number) == failed else Html("")
        shown.append(element("span", head, line or " ", here, data_p=of, data_line=str(number)))
    return element("pre", joined(shown), class_="code")


def stage(text: TracedText, lines: Lines) -> Html:
    """A stage line by line."""
    shown = (
        element("span", _REMARK.sub("", line) or " ", data_p=lines.of(of))
        for line, of in zip(text.lines, text.of, strict=True)
    )
    return element("pre", joined(shown), class_="code")


def drawings(made: TracedCompilation, lines: Lines) -> Iterator[tuple[str, Html]]:
    """The drawings: of what is written, and of what is computed."""
    for name, picture in made.drawings.items():
        yield name, _drawing(picture, lines)


def _drawing(picture: Picture, lines: Lines) -> Html:
    def attributes(operation: DrawnOperation) -> str:
        of = lines.of([operation.place])
        return "" if of is None else f'data-p="{of}"'

    small = bounded(picture)
    drawn = svg(small, layout(small), attributes=attributes, style=" ")
    note = ""
    if small != picture:
        note = element("p", "Large: several operations are one box.", class_="none")
    return joined([note, element("div", Html(drawn), class_="drawing")])
