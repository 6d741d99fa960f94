"""``fxc.draw``: a graph as a drawing."""

from __future__ import annotations

from pathlib import Path

from fxc.ir.graph import Graph

from .bounded import MOST_BOXES, bounded
from .layout import layout
from .picture import picture_of
from .svg import svg


class Drawing:
    """A graph as SVG: a notebook shows it, ``str()`` is its text, ``save`` writes a file."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<fxc drawing, {len(self._text)} characters of SVG>"

    def _repr_svg_(self) -> str:
        return self._text

    def save(self, path: str | Path) -> None:
        """Write the SVG to a file."""
        Path(path).write_text(self._text, encoding="utf-8")


def draw(graph: Graph, *, most: int = MOST_BOXES) -> Drawing:
    """A drawing of a graph: what is read stands above who reads it. Views are dashed; writes are
    marked, and what has to come behind them is joined by dots; regions are frames.

    With more than ``most`` boxes, several operations are one box.

    >>> import numpy as np, fxc
    >>> stages = fxc.compile(lambda u: 2 * u[1:]).inspect(np.ones(8))
    >>> str(fxc.draw(stages.captured)).count('class="view"')
    1
    """
    if not isinstance(graph, Graph):
        raise TypeError(
            f"fxc.draw takes a graph, such as inspect(…).captured, not a {type(graph).__name__}"
        )
    picture = bounded(picture_of(graph), most)
    return Drawing(svg(picture, layout(picture)))
