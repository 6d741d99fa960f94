"""What a compilation says in numbers: nests and what is fused, memory, time, guards."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from .code_view import Lines
from .html import Html, element, joined
from .traced import Place, TracedCompilation, TracedMemory, TracedStep

_SHARE = 0.01  # of the time: steps that take less are told together


def cards(made: TracedCompilation, lines: Lines) -> Iterator[Html]:
    """A card for each thing there is something to say of."""
    if made.nests or made.calls:
        yield card(
            "Loop nests",
            "Operators that are computed in one nest are fused: their intermediate values stay in "
            "registers. In brackets stands why a nest has no lanes, or runs on one thread.",
            _nests(made, lines),
        )
    if made.memory is not None:
        yield card(
            "Memory over time",
            "What a call allocates. Temporaries share one block: a bar goes from the first "
            "statement that uses one to the last. Sizes are those of the call that was compiled.",
            _memory(made.memory, lines),
        )
    if made.steps:
        yield card(
            "Time by step",
            "Where the compilation spent its time. The first of a process also imports the "
            "compiler.",
            _steps(made.steps),
        )
    if made.checks:
        yield card(
            "Guards",
            "What has to hold for a later call to be served by this code. Where something does "
            "not, the function is compiled again.",
            _guards(made),
        )


def card(title: str, help_text: str, content: Html) -> Html:
    """A part of the page with a heading, and help that is opened where it stands."""
    tell = element("summary", "?", aria_label=f"What is this: {title}")
    told = element("details", tell, element("p", help_text), class_="help")
    head = element("div", element("h3", title), told, class_="head")
    return element("section", head, content, class_="card")


def _where(place: Place | None, lines: Lines) -> Html:
    if place is None:
        return Html("")
    text, of = f"{os.path.basename(place[0])}:{place[1]}", lines.of([place])
    if of is None:
        return element("span", text, class_="place")
    return element("button", text, type="button", class_="place", data_p=of)


def _nests(made: TracedCompilation, lines: Lines) -> Html:
    rows = []
    for number, nest in enumerate(made.nests, 1):
        fused = f"{nest.operators} operator" + "s" * (nest.operators != 1)
        fused = fused if nest.operators else "none: it copies"
        head = f"{os.path.basename(nest.place[0])}:{nest.place[1]}" if nest.place else ""
        how = "\n".join(each.removeprefix(head).strip() for each in nest.how.split("\n"))
        cells = (str(number), _where(nest.place, lines), fused, element("code", how))
        rows.append(element("tr", *(element("td", each) for each in cells)))
    head = element(
        "tr", *(element("th", x, scope="col") for x in ("", "line", "fused", "how it runs"))
    )
    table = element("table", element("thead", head), element("tbody", *rows))
    parts = [element("div", table, class_="wide")] if rows else []
    for op, place in made.calls:
        parts.append(
            element("p", element("code", op), " is run by NumPy itself ", _where(place, lines))
        )
    parts += [element("p", f"A copy: {each}") for each in made.copies]
    return joined(parts)


def _memory(memory: TracedMemory, lines: Lines) -> Html:
    parts = []
    if memory.arrays:
        told = ", ".join(f"{role} {name} {size_of(size)}" for name, role, size in memory.arrays)
        parts.append(element("p", f"Arrays: {told}.", class_="several"))
    if not memory.temporaries:
        parts.append(element("p", "No temporary array.", class_="none"))
        return joined(parts)
    parts.append(element("p", f"Temporaries take {size_of(memory.arena)} together."))
    count = max(len(memory.statements), 1)
    used = [
        sum(t.size for t in memory.temporaries if t.first <= place <= t.last)
        for place in range(count)
    ]
    parts.append(_profile(used))
    bars = []
    for each in sorted(memory.temporaries, key=lambda t: (t.first, t.last)):
        left, width = 100 * each.first / count, 100 * (each.last + 1 - each.first) / count
        bar = element(
            "i", style=f"left:{left:.2f}%;width:{width:.2f}%", title=_life(each.first, each.last)
        )
        label = element("span", element("code", each.name), f" {size_of(each.size)}")
        bars.append(element("div", label, element("span", bar, class_="track"), class_="bar"))
    return joined([*parts, element("div", *bars, class_="bars")])


def _life(first: int, last: int) -> str:
    return f"statement {first}" if first == last else f"statements {first} to {last}"


def _profile(used: Sequence[int]) -> Html:
    """Bytes in use from the first statement to the last."""
    most = max(used)
    if not most:
        return Html("")
    points = ["0,40"]
    for place, size in enumerate(used):
        y = 40 - 38 * size / most
        points += [f"{place},{y:.1f}", f"{place + 1},{y:.1f}"]
    points.append(f"{len(used)},40")
    shape = f'<polygon points="{" ".join(points)}"/>'
    drawn = Html(
        f'<svg class="profile" viewBox="0 0 {len(used)} 40" preserveAspectRatio="none" '
        f'role="img" aria-label="bytes in use, at most {most}">{shape}</svg>'
    )
    label = element("span", f"in use: {size_of(most)}")
    return element("span", label, drawn, class_="bar tall")


def _steps(steps: Sequence[TracedStep]) -> Html:
    whole = sum(each.seconds for each in steps) or 1.0
    large = [each for each in steps if each.seconds >= _SHARE * whole]
    rest = [each for each in steps if each.seconds < _SHARE * whole]
    rows = [_step(each.name, each.seconds, each.size, whole) for each in large]
    if rest:
        names = ", ".join(dict.fromkeys(each.name for each in rest))
        row = _step(
            f"{len(rest)} brief step{'s' * (len(rest) != 1)}",
            sum(each.seconds for each in rest),
            "",
            whole,
        )
        rows.append(element("details", element("summary", row), element("p", names)))
    return joined([*rows, element("p", f"{time_of(whole)} in all.")])


def _step(name: str, seconds: float, size: str, whole: float) -> Html:
    bar = element("i", style=f"left:0;width:{100 * seconds / whole:.2f}%")
    label = element("span", name.replace("_", " "), title=size or None)
    return element(
        "span",
        label,
        element("span", bar, class_="track"),
        element("em", time_of(seconds)),
        class_="bar",
    )


def _guards(made: TracedCompilation) -> Html:
    checks = element("ul", *(element("li", each) for each in made.checks))
    if not made.guards:
        return checks
    source = element("pre", made.guards, class_="code plain")
    return joined([checks, element("details", element("summary", "As Python runs it"), source)])


def size_of(count: int) -> str:
    """Bytes for people: 8 kB, 1.5 MB."""
    if count < 1000:
        return f"{count} bytes"
    for unit, factor in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        if count < 1000 * factor or unit == "GB":
            return f"{count / factor:.3g} {unit}"
    raise AssertionError(count)


def time_of(seconds: float) -> str:
    """Seconds for people: 12 µs, 3.4 ms, 1.2 s."""
    for unit, factor in (("µs", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds:.3g} s"
