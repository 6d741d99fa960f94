"""``fxc.draw``: a graph as a drawing."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from fxc.ir.graph import Graph

from .bounded import MOST_BOXES, bounded
from .layout import layout
from .picture import Picture, picture_of
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


class _Stages(Protocol):
    """What ``inspect`` gives."""

    @property
    def decomposed(self) -> Graph:
        """The graph of which loop nests were made."""

    @property
    def loops(self) -> object:
        """The loop nests, if there are any."""


def draw(what: Graph | _Stages, *, most: int = MOST_BOXES) -> Drawing:
    """A drawing of a graph, or of all stages: then of the decomposed graph, with a frame around
    what is fused in each loop nest.

    What is read stands above who reads it. Views are dashed; writes are marked, and dots lead to
    what has to come behind them; regions are frames. With more than ``most`` boxes, several
    operations are one box.

    >>> import numpy as np, fxc
    >>> stages = fxc.compile(lambda u: 2 * u[1:] + 1).inspect(np.ones(8))
    >>> str(fxc.draw(stages.captured)).count('class="view"')
    1
    >>> str(fxc.draw(stages)).count('class="frame group"')
    1
    """
    if isinstance(what, Graph):
        picture = picture_of(what)
    elif isinstance(getattr(what, "decomposed", None), Graph):
        picture = _fused_picture(what)
    else:
        raise TypeError(
            f"fxc.draw takes what inspect(…) gives, or a graph of it, such as inspect(…).captured, "
            f"not {type(what).__name__}"
        )
    picture = bounded(picture, most)
    return Drawing(svg(picture, layout(picture)))


def _fused_picture(stages: _Stages) -> Picture:
    from fxc.lowering.nests.program import Program

    from .fused import fused, groups

    nests = fused(stages.loops) if isinstance(stages.loops, Program) else ()
    return picture_of(stages.decomposed, *groups(nests))
