"""A layout as SVG: an element that stands for itself, in light or dark, with no other file."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from html import escape

from .layers import Point
from .layout import Box, Edge, Frame, LaidOut, shortened
from .picture import DrawnOperation, Picture

_MARGIN = 12.0
_STYLE = """\
.fxc-drawing{--paper:#fff;--ink:#1c1f23;--soft:#697079;--line:#b9bfc7;--fill:#f6f7f8;--accent:#b4460f;\
font-family:system-ui,-apple-system,"Segoe UI",sans-serif}
@media(prefers-color-scheme:dark){.fxc-drawing{--paper:#16181b;--ink:#e4e6e9;--soft:#9aa1aa;\
--line:#4a5058;--fill:#1f2226;--accent:#ff9a5c}}
"""
SHAPES = """\
.fxc-drawing .paper{fill:var(--paper)}
.fxc-drawing text{fill:var(--ink);font-size:12px;text-anchor:middle}
.fxc-drawing .label{font-weight:600}
.fxc-drawing .below{fill:var(--soft);font-size:10.5px}
.fxc-drawing .box{fill:var(--fill);stroke:var(--line)}
.fxc-drawing .view .box{stroke-dasharray:4 3;fill:none}
.fxc-drawing .input .box,.fxc-drawing .result .box{rx:17px;fill:none}
.fxc-drawing .write .box{stroke:var(--accent);stroke-width:2}
.fxc-drawing .write .label{fill:var(--accent)}
.fxc-drawing .edge{fill:none;stroke:var(--line)}
.fxc-drawing .order{stroke:var(--accent);stroke-dasharray:2 3}
.fxc-drawing .frame{fill:none;stroke:var(--line)}
.fxc-drawing .group{stroke:var(--soft);fill:var(--soft);fill-opacity:.07}
.fxc-drawing .title{fill:var(--soft);font-size:10.5px;text-anchor:start}
"""

Attributes = Callable[[DrawnOperation], str]


def svg(
    picture: Picture, layout: LaidOut, *, attributes: Attributes | None = None, style: str = ""
) -> str:
    """The drawing. ``attributes`` gives more of an operation's element; ``style`` stands in the
    place of its own, whose rules are ``SHAPES`` with colours.
    """
    around = [each for each in layout.boxes if each.operation.parts]
    boxes = [each for each in layout.boxes if not each.operation.parts]
    width, height = (side + 2 * _MARGIN for side in layout.size)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="fxc-drawing" role="img" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<title>{escape(picture.title)}</title>",
        style or f"<style>{_STYLE}{SHAPES}</style>",
        f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
        f'<g transform="translate({_MARGIN:g} {_MARGIN:g})">',
        *(line for each in around for line in _box(each, attributes)),
        *(_frame(each, picture) for each in layout.frames),
        *map(_edge, layout.edges),
        *(line for each in boxes for line in _box(each, attributes)),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines)


def _rect(kind: str, corner: Point, size: Point, radius: float) -> str:
    (x, y), (width, height) = corner, size
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" rx="{radius:g}"/>'
    )


def _frame(frame: Frame, picture: Picture) -> str:
    kind = "frame group" if frame.is_group else "frame"
    x, y = frame.corner
    how = picture.groups.get(frame.title, "")
    told = f"<title>{escape(how)}</title>" if how else ""
    return (
        f"<g>{told}{_rect(kind, frame.corner, frame.size, 6)}"
        f'<text class="title" x="{x + 8:.1f}" y="{y + 14:.1f}">{escape(frame.title)}</text></g>'
    )


def _edge(edge: Edge) -> str:
    points = edge.points
    path = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x, y), (to_x, to_y) in itertools.pairwise(points):
        if abs(x - to_x) < 0.5:
            path.append(f"V{to_y:.1f}")
        else:
            bend = (to_y - y) / 2
            path.append(
                f"C{x:.1f} {y + bend:.1f} {to_x:.1f} {to_y - bend:.1f} {to_x:.1f} {to_y:.1f}"
            )
    kind = "edge order" if edge.is_order else "edge"
    return f'<path class="{kind}" d="{"".join(path)}"/>'


def _box(box: Box, attributes: Attributes | None) -> Iterator[str]:
    operation, (x, y) = box.operation, box.corner
    middle = x + box.size[0] / 2
    more = f" {attributes(operation)}" if attributes is not None else ""
    yield f'<g class="{operation.kind}"{more}><title>{escape(_whole(operation))}</title>'
    yield _rect("box", box.corner, box.size, 4)
    label, below = shortened(operation.label), shortened(operation.below)
    first = y + (14 if below else 21)
    yield f'<text class="label" x="{middle:.1f}" y="{first:.1f}">{escape(label)}</text>'
    if below:
        yield f'<text class="below" x="{middle:.1f}" y="{y + 27:.1f}">{escape(below)}</text>'
    yield "</g>"


def _whole(operation: DrawnOperation) -> str:
    """What a pointer that rests on the box is told."""
    names = ", ".join(f"%{name}" for name in operation.gives)
    head = (
        f"{names} = {operation.label}" if names and operation.kind != "input" else operation.label
    )
    where = "" if operation.place is None else f"line {operation.place[1]}"
    return "\n".join(filter(None, (head, operation.below, where)))
