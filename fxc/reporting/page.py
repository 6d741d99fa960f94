"""The page of a report: one file of HTML, with its styles and its script, that loads nothing."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files

from fxc.drawing.svg import SHAPES

from .cards import cards, time_of
from .code_view import STAGES, Lines, drawings, program, stage
from .html import Html, element, joined
from .traced import TraceContent, TracedCompilation

MOST_SHOWN = 100  # compilations that are shown in full
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_CHOOSE = "Choose a line: what it became is marked everywhere."
_DRAWING_HELP = (
    "What is read stands above what reads it. Dashed: a view. Strong: a write, and dots lead to "
    "what has to come behind it. Frames: loop nests, bodies of loops and branches."
)


def page(traced: TraceContent, title: str) -> str:
    """The report of what was read."""
    shown = traced.compilations[:MOST_SHOWN]
    body = [_header(traced, title), _problems(traced), _contents(traced)]
    body.append(element("main", *(_compilation(n, each) for n, each in enumerate(shown, 1))))
    body.append(element("p", class_="spoken", role="status", aria_live="polite"))
    body.append(Html(f"<script>{_resource('page.js')}</script>"))
    head = [
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        element("title", f"{title} – fxc report"),
        Html(f"<style>{_resource('page.css')}{SHAPES}</style>"),
        Html("<noscript><style>[hidden]{display:block!important}</style></noscript>"),
    ]
    html = element("html", element("head", *head), element("body", *body), lang="en")
    return f"<!doctype html>\n{html}\n"


def _resource(name: str) -> str:
    return files("fxc.reporting").joinpath(name).read_text(encoding="utf-8")


def _header(traced: TraceContent, title: str) -> Html:
    made = traced.compilations
    functions = len({(each.place, each.function) for each in made})
    whole = sum(each.took for each in made)
    counts = Counter(each.outcome for each in made)
    facts = [
        f"{_count(len(made), 'compilation')} of {_count(functions, 'function')}",
        f"{time_of(whole)} of compiling" if made else "",
        *(f"{counts[kind]} {kind}" for kind in ("not compiled", "cut off") if counts[kind]),
    ]
    versions = ""
    if traced.heads:
        head = traced.heads[0]
        parts = [f"{name} {head[name]}" for name in ("fxc", "numpy", "python") if name in head]
        versions = " · ".join([*parts, head.get("system", ""), _when(head.get("started", ""))])
    return element(
        "header",
        element("h1", title),
        element("p", " · ".join(filter(None, facts))),
        element("p", versions, class_="none"),
    )


def _when(started: str) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(float(started)))
    except (ValueError, OverflowError, OSError):
        return ""


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + "s" * (number != 1)


def _problems(traced: TraceContent) -> Html:
    if not traced.problems:
        return Html("")
    items = (element("li", each) for each in traced.problems)
    return element(
        "details",
        element("summary", f"Not all could be read: {_count(len(traced.problems), 'remark')}"),
        element("ul", *items),
        class_="problems",
        open=True,
    )


def _contents(traced: TraceContent) -> Html:
    """The list of compilations, each a link to its part of the page."""
    rows = []
    has_several = len({each.process for each in traced.compilations}) > 1
    for number, each in enumerate(traced.compilations, 1):
        name: str = each.function or "a function"
        is_shown = number <= MOST_SHOWN
        link = element("a", name, href=f"#c{number}") if is_shown else element("span", name)
        cells = (link, ", ".join(each.arguments), time_of(each.took), _outcome(each, has_several))
        rows.append(element("tr", *(element("td", cell) for cell in cells)))
    if not rows:
        return element("p", "No compilation was traced.", class_="none")
    heads = ("function", "arguments", "time", "")
    head = element("tr", *(element("th", each, scope="col") for each in heads))
    table = element("table", element("thead", head), element("tbody", *rows))
    return element("nav", element("div", table, class_="wide"), aria_label="Compilations")


def _outcome(made: TracedCompilation, has_several: bool) -> Html:
    """What is to be said of a compilation in the list; of which process, if there are several."""
    if made.outcome != "compiled":
        return element("strong", made.outcome)
    variant = f"variant {made.variant}" if made.variant > 1 else ""
    process = f"process {made.process + 1}" if has_several else ""
    return joined([", ".join(filter(None, ("part" if made.is_part else "", variant, process)))])


def _compilation(number: int, made: TracedCompilation) -> Html:
    lines = Lines(made)
    where = f"{os.path.basename(made.place[0])}:{made.place[1]}" if made.place else ""
    variant = element("small", f"variant {made.variant}") if made.variant > 1 else Html("")
    parts = [element("h2", made.function or "a function", " ", variant, tabindex="-1")]
    options = ", ".join(f"{name}={value}" for name, value in made.options.items())
    facts = " · ".join(filter(None, (where, options)))
    arguments = element("code", f"({', '.join(made.arguments)})")
    parts.append(element("p", arguments, f" {facts}", class_="facts"))
    parts += [element("p", each, class_="remark") for each in _remarks(made)]
    told = [element("p", _CHOOSE, class_="none")] if made.stages else []
    views = element(
        "div",
        element("div", element("h3", "Program"), *told, program(made, lines), class_="program"),
        _panels(number, made, lines),
        class_="pair",
    )
    return element(
        "section",
        *parts,
        views,
        element("div", *cards(made, lines), class_="cards"),
        class_="compilation",
        id=f"c{number}",
        hidden=number > 1,
    )


def _remarks(made: TracedCompilation) -> Iterator[str]:
    """What is to be known before one reads on."""
    if made.is_part:
        yield "A part of a function that is split: Python runs what stands around it."
    if made.reason:
        yield f"Compiled again: {made.reason}."
    if made.failure is not None:
        why = made.failure
        behind = f" after the step “{why.after}”" if why.after else ""
        where = f" ({os.path.basename(why.place[0])}:{why.place[1]})" if why.place else ""
        yield f"Not compiled{behind}: {why.error}: {why.message}{where}"
    if made.outcome == "cut off":
        last = made.steps[-1].name if made.steps else "start"
        yield f"The trace ends in this compilation, after the step “{last}”."
    if made.fallbacks:
        yield f"Run by NumPy itself: {', '.join(made.fallbacks)}."
    for each in made.problems:
        yield f"Of this the trace could not tell all: {each}"


def _panels(number: int, made: TracedCompilation, lines: Lines) -> Html:
    """The stages, one behind the other as tabs."""
    found: list[tuple[str, str, Html]] = [
        (label, help_text, stage(made.stages[name], lines))
        for name, (label, help_text) in STAGES.items()
        if name in made.stages
    ]
    if pictures := list(drawings(made, lines)):
        shown = (joined([element("h4", name), drawn]) for name, drawn in pictures[::-1])
        found.append(("Drawing", _DRAWING_HELP, joined(shown)))
    if not found:
        return element("p", "No stage was reached.", class_="none")
    tabs, panels = [], []
    for place, (label, help_text, content) in enumerate(found):
        key = f"c{number}-{place}"
        tab = element(
            "button",
            label,
            element("span", class_="count"),
            type="button",
            role="tab",
            id=f"{key}-tab",
            aria_controls=key,
            aria_selected="true" if place == 0 else "false",
            tabindex="0" if place == 0 else "-1",
        )
        tabs.append(tab)
        told = element("p", help_text, class_="none")
        panel = element(
            "div",
            told,
            content,
            role="tabpanel",
            id=key,
            aria_labelledby=f"{key}-tab",
            hidden=place > 0,
        )
        panels.append(panel)
    bar = element("div", *tabs, role="tablist", aria_label="Stages")
    return element("div", bar, *panels, class_="stages")
