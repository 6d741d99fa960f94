"""The pictures of docs/performance.md, as SVG: how many times as fast as NumPy, and a roofline."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "fxc"  # the same numbers, the same file
matplotlib.rcParams["svg.fonttype"] = "none"

from matplotlib import pyplot  # noqa: E402

from .suites import SUITES  # noqa: E402
from .suites.results import OURS, Result, RunOfSuites  # noqa: E402

COLOURS = {
    "fxc": "#b30000",
    "numba": "#1f78b4",
    "numba-parallel": "#6baed6",
    "numba-checked": "#9ecae1",
    "numexpr": "#7f7f7f",
    "jax": "#33a02c",
}
MARKS = dict(zip(SUITES, "osD^vPX*", strict=True))


def draw(name: str, rows: Sequence[Result], run: RunOfSuites, path: Path, *, source: str) -> None:
    if name == "roofline":
        figure = roofline(rows, run.about["roofs"]["one"])
    else:
        figure = ratios(rows, name.replace("-", " "))
    # Dates would make each file another one.
    metadata = {"Date": None, "Source": source}
    figure.savefig(path, format="svg", metadata=metadata, bbox_inches="tight")
    pyplot.close(figure)
    text = path.read_text(encoding="utf-8")
    path.write_text("\n".join(x.rstrip() for x in text.splitlines()) + "\n", encoding="utf-8")


def ratios(rows: Sequence[Result], title: str) -> Any:
    """A line for each program, a point for each contender; NumPy is the line at 1."""
    figure, axes = pyplot.subplots(figsize=(9, 0.6 + 0.155 * len(rows)))
    places = range(len(rows))
    for name in dict.fromkeys(x for row in rows for x in row.seconds if x not in OURS):
        own = [(row, y) for row, y in zip(rows, places, strict=True) if name in row.seconds]
        values = [row.seconds["numpy"] / row.seconds[name] for row, _ in own]
        axes.scatter(values, [y for _, y in own], s=14, label=name, color=COLOURS[name])
    values = [row.over_numpy() for row in rows]
    axes.scatter(values, places, s=26, label="fxc", color=COLOURS["fxc"], zorder=3)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    ticks = [10.0**k for k in range(-2, 4) if min(values) / 10 < 10.0**k < max(values) * 10]
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.set_yticks(places, [row.name for row in rows], fontsize=6.5)
    axes.set_ylim(len(rows) - 0.3, -0.7)
    axes.grid(axis="both", color="#e8e8e8")
    axes.set_axisbelow(True)
    for y, (above, below) in enumerate(pairwise(rows)):
        if above.suite != below.suite:
            axes.axhline(y + 0.5, color="#bbbbbb", linewidth=0.8)
    axes.set_title(f"Times as fast as NumPy, {title}", fontsize=10)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)
    return figure


def roofline(rows: Sequence[Result], roofs: dict[str, float]) -> Any:
    """Operations a second over operations a byte, under what the machine can do."""
    figure, axes = pyplot.subplots(figsize=(9, 6))
    most = max(row.flops / row.bytes for row in rows) * 2
    least = min(row.flops / row.bytes for row in rows) / 2
    for name in ("float64", "float32"):
        peak = roofs[f"flops_{name}"]
        knee = peak / roofs["bytes_per_second"]
        line = [min(x * roofs["bytes_per_second"], peak) / 1e9 for x in (least, knee, most)]
        axes.plot([least, knee, most], line, color="black", linewidth=1)
        axes.annotate(
            f"products of matrices, {name}", (most, peak / 1e9), ha="right", va="bottom", fontsize=8
        )
    start = (least, least * roofs["bytes_per_second"] / 1e9)
    label = f"memory, {roofs['bytes_per_second'] / 1e9:.1f} GB/s"
    axes.annotate(
        label, start, ha="left", va="center", fontsize=8, xytext=(14, 0), textcoords="offset points"
    )
    for suite in dict.fromkeys(row.suite for row in rows):
        own = [row for row in rows if row.suite == suite]
        x = [row.flops / row.bytes for row in own]
        y = [row.flops / row.seconds["fxc"] / 1e9 for row in own]
        axes.scatter(x, y, s=22, marker=MARKS[suite], label=suite.replace("-", " "), alpha=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("operations on numbers a byte of arguments and results")
    axes.set_ylabel("10⁹ operations a second")
    axes.grid(color="#e8e8e8")
    axes.set_axisbelow(True)
    axes.set_title("fxc on one thread, under the roofs of memory and BLAS", fontsize=10)
    axes.legend(fontsize=8, loc="lower right")
    return figure
