"""`python -m benchmarks.page FILE`: docs/performance.md and its pictures, of one run of the suites.

FILE is what `python -m benchmarks.suites --json FILE` wrote, kept in `benchmarks/history`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from .measure import quantity
from .suites import SUITES
from .suites.results import OURS, Result, RunOfSuites, mean, read

ROOT = Path(__file__).resolve().parents[1]
HISTORY = ROOT / "benchmarks" / "history"
PAGE = ROOT / "docs" / "performance.md"
PICTURES = ROOT / "docs" / "pictures"

OPENING = """\
# Performance

Programs in plain NumPy, as users write them, by NumPy, by fxc and by compilers of NumPy programs.
This page is made by `python -m benchmarks.page` from
[{file}](../benchmarks/history/{file}); nothing in it is typed by hand. `make bench` measures anew,
[numerics.md](numerics.md) says which bits one gets, [threads.md](threads.md) what threads do.
"""

READING = """\
Times are medians of {repeats} samples taken in turns in one process, fewer for what takes seconds;
each result is compared with NumPy's before it is timed. On one thread they are processor time. A
number with a × says how many times less than NumPy's a time is. `–`: the peer does not take the
program, and was given no other text for it. The first call is that of a function in a process that
has compiled others: it includes compiling. In the roofline, what stays in the caches lies above the
roof of memory.
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__)
    parser.add_argument("file", type=Path)
    path = parser.parse_args().file
    run = read(path)
    from .pictures import draw

    PICTURES.mkdir(exist_ok=True)
    for name, rows in pictures_of(run).items():
        draw(name, rows, run, PICTURES / f"{name}.svg", source=path.name)
    PAGE.write_text(page(run, path.name), encoding="utf-8")
    return 0


def newest() -> Path:
    """Of the files of the history, whose names begin with dates."""
    return max(HISTORY.glob("*.json"))


def pictures_of(run: RunOfSuites) -> dict[str, tuple[Result, ...]]:
    """The rows of each picture that there is to draw."""
    one, more = by_threads(run, one=True), by_threads(run, one=False)
    with_work = tuple(row for row in one if row.flops and row.bytes and row.suite != "calls")
    found = {"one-thread": one, "all-threads": more, "roofline": with_work}
    return {name: rows for name, rows in found.items() if rows}


def by_threads(run: RunOfSuites, *, one: bool) -> tuple[Result, ...]:
    return tuple(row for row in run.rows if (row.threads == 1) == one)


def page(run: RunOfSuites, file: str) -> str:
    parts = [OPENING.format(file=file), *conditions(run), READING.format(**run.about)]
    parts += ["## In all", *means(run)]
    for name in pictures_of(run):
        parts.append(f"![{name.replace('-', ' ')}](pictures/{name}.svg)\n")
    for one, title in ((True, "One thread"), (False, "All threads")):
        rows = by_threads(run, one=one)
        if rows:
            parts.append(f"## {title}\n")
            parts += [part for suite in SUITES for part in suite_table(suite, rows)]
    parts += shortfalls(run)
    return "\n".join(parts).rstrip() + "\n"


def conditions(run: RunOfSuites) -> Iterator[str]:
    about = run.about
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    yield (
        f"Measured {about['date'][:10]} at commit {about['commit']} on {about['processor']} "
        f"({about['system']}, {about['processors']} processors) with {versions}."
    )
    if about["load"] > 0.5:
        yield (
            f"\nThe machine was not idle: {about['load']} processes were running on its "
            f"{about['processors']} processors before the first row was measured. So times on "
            "several threads are too long, and caches and memory were shared on one thread, too."
        )
    if all(row.best_peer() is None for row in run.rows):
        yield "\nNo peers were timed in this run."
    yield ""


def means(run: RunOfSuites) -> Iterator[str]:
    yield "\nGeometric means: how many times as fast as NumPy, and as the best peer of each row.\n"
    yield "| suite | rows | threads | over NumPy | over the best peer |"
    yield "|---|---:|---:|---:|---:|"
    for threads in sorted({row.threads for row in run.rows}):
        for suite in (*SUITES, "all"):
            rows = [x for x in run.rows if x.threads == threads and suite in (x.suite, "all")]
            if rows:
                found = mean(rows, Result.over_numpy), mean(rows, Result.over_best_peer)
                cells = " | ".join(times(value) for value in found)
                yield f"| {suite.replace('-', ' ')} | {len(rows)} | {threads} | {cells} |"
    yield ""


def suite_table(suite: str, rows: Sequence[Result]) -> Iterator[str]:
    own = [row for row in rows if row.suite == suite]
    if not own:
        return
    peers = list(dict.fromkeys(name for row in own for name in row.seconds if name not in OURS))
    yield f"### {suite.replace('-', ' ').capitalize()}\n"
    yield f"| program | NumPy | fxc | | {' | '.join((*peers, 'first call', 'goal'))} |"
    yield "|---|" + "---:|" * (len(peers) + 5)
    for row in own:
        seconds = [quantity(row.seconds[name], "s") for name in OURS]
        others = [times(_ratio(row, name)) for name in peers]
        ends = [quantity(row.first_call["fxc"], "s"), goal(row)]
        yield f"| {' | '.join((row.name, *seconds, times(row.over_numpy()), *others, *ends))} |"
    yield ""


def _ratio(row: Result, name: str) -> float | None:
    return row.seconds["numpy"] / row.seconds[name] if name in row.seconds else None


def goal(row: Result) -> str:
    if row.goal is None:
        return ""
    if row.goal["seconds"] is not None:
        return f"{quantity(row.goal['seconds'], 's')}"
    return f"{row.goal['times']:g}×"


def shortfalls(run: RunOfSuites) -> Iterator[str]:
    """What one should know before relying on it."""
    kinds = (
        ("Slower than NumPy (below 0.97×)", Result.over_numpy, 0.97),
        ("Below the goal", Result.over_goal, 1.0),
        ("Slower than the best peer", Result.over_best_peer, 1.0),
    )
    yield "## Where fxc falls short\n"
    for title, ratio, least in kinds:
        found = [(value, row) for row in run.rows if (value := ratio(row)) is not None]
        if not found:
            continue
        below = sorted((pair for pair in found if pair[0] < least), key=lambda pair: pair[0])
        yield f"{title}: {len(below)} of {len(found)} rows.\n"
        if not below:
            continue
        yield "| part of it | suite | program | threads | best peer |"
        yield "|---:|---|---|---:|---|"
        for value, row in below:
            peer = row.best_peer() or "–"
            yield f"| {value:.2f} | {row.suite} | {row.name} | {row.threads} | {peer} |"
        yield ""


def times(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}×" if value >= 100 else f"{value:.3g}×"


if __name__ == "__main__":
    sys.exit(main())
