"""Where everything of a picture is: boxes, frames around groups and regions, edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fxc.ir.records import frozen

from .bounded import edges_of, groups_that_hold
from .layers import Point, Size, arranged
from .picture import DrawnOperation, Picture

BOX_HEIGHT, LINE = 34.0, 18.0
_PADDING, _HEAD = 12.0, 20.0
_LABEL_CHARACTER, _BELOW_CHARACTER = 7.2, 6.2
LONGEST = 34  # characters that are shown of a line in a box


@frozen
class Box:
    """An operation at its place. If there are operations inside, its frames are around them."""

    operation: DrawnOperation
    corner: Point
    size: Size


@frozen
class Frame:
    """A frame around what belongs together: a loop nest, or a region of an operation."""

    title: str
    corner: Point
    size: Size
    is_group: bool


@frozen
class Edge:
    """A line from one place to another by way of others; ``is_order`` if no value goes along it."""

    points: tuple[Point, ...]
    is_order: bool


@frozen
class LaidOut:
    """All of it, what lies behind first, and the size."""

    frames: tuple[Frame, ...]
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    size: Size


def layout(picture: Picture) -> LaidOut:
    """The layout of a picture."""
    return _level(picture.operations, picture.groups)


def shortened(text: str) -> str:
    """As much of a line as is shown."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _level(
    operations: Sequence[DrawnOperation], groups: Mapping[str, str], whole: set[str] | None = None
) -> LaidOut:
    """Operations of one region. Those of a group that is ``whole`` are laid out in a frame."""
    whole = groups_that_hold(operations) if whole is None else whole
    members: dict[str, list[DrawnOperation]] = {}
    for each in operations:
        box = each.group if each.group in whole else f"\0{each.key}"
        members.setdefault(box, []).append(each)
    inner = {box: _inside(box, inside, groups) for box, inside in members.items()}
    box_of = {each.key: box for box, inside in members.items() for each in inside}
    edges = edges_of(operations)
    outer = [(box_of[a], box_of[b]) for a, b in edges if box_of[a] != box_of[b]]
    found = arranged({box: each.size for box, each in inner.items()}, outer)
    moved = [_moved(each, found.corners[box]) for box, each in inner.items()]
    ends = {each.operation.key: each for one in moved for each in one.boxes}
    orders = {(key, each.key) for each in operations for key in each.after}
    drawn = [
        Edge(
            (_bottom(ends[a]), *found.routes[box_of[a], box_of[b]], _top(ends[b])),
            (a, b) in orders and not _gives(ends[a], ends[b]),
        )
        for a, b in edges
        if box_of[a] != box_of[b]
    ]
    return LaidOut(
        tuple(frame for one in moved for frame in one.frames),
        tuple(box for one in moved for box in one.boxes),
        (*(edge for one in moved for edge in one.edges), *drawn),
        found.size,
    )


def _gives(source: Box, target: Box) -> bool:
    return not set(source.operation.gives).isdisjoint(target.operation.reads)


def _bottom(box: Box) -> Point:
    return box.corner[0] + box.size[0] / 2, box.corner[1] + box.size[1]


def _top(box: Box) -> Point:
    return box.corner[0] + box.size[0] / 2, box.corner[1]


def _inside(box: str, members: Sequence[DrawnOperation], groups: Mapping[str, str]) -> LaidOut:
    """A group in its frame; or an operation that is in none."""
    if box.startswith("\0"):
        return _single(members[0], groups)
    if len(members) == 1 and not members[0].parts:
        return _framed([_single(members[0], groups)], [box], is_group=True)
    return _framed([_level(members, groups, set())], [box], is_group=True)


def _single(operation: DrawnOperation, groups: Mapping[str, str]) -> LaidOut:
    label, below = shortened(operation.label), shortened(operation.below)
    width = max(len(label) * _LABEL_CHARACTER, len(below) * _BELOW_CHARACTER) + 18
    size = (max(width, 46.0), BOX_HEIGHT)
    if not operation.parts:
        return LaidOut((), (Box(operation, (0.0, 0.0), size),), (), size)
    parts = [_level(part.operations, groups) for part in operation.parts]
    framed = _framed(parts, [part.name for part in operation.parts], is_group=False)
    width = max(size[0] + 2 * _PADDING, framed.size[0] + 2 * _PADDING)
    height = BOX_HEIGHT + 4 + framed.size[1] + _PADDING
    moved = _moved(framed, ((width - framed.size[0]) / 2, BOX_HEIGHT + 4))
    boxes = (Box(operation, (0.0, 0.0), (width, height)), *moved.boxes)
    return LaidOut(moved.frames, boxes, moved.edges, (width, height))


def _framed(parts: Sequence[LaidOut], titles: Sequence[str], *, is_group: bool) -> LaidOut:
    """Layouts beside each other, each in a frame with a title."""
    frames: list[Frame] = []
    boxes: list[Box] = []
    edges: list[Edge] = []
    x = height = 0.0
    for part, title in zip(parts, titles, strict=True):
        width = max(part.size[0] + 2 * _PADDING, len(title) * _BELOW_CHARACTER + 2 * _PADDING)
        size = (width, part.size[1] + _PADDING + _HEAD)
        moved = _moved(part, (x + (width - part.size[0]) / 2, _HEAD))
        frames += [Frame(title, (x, 0.0), size, is_group), *moved.frames]
        boxes += moved.boxes
        edges += moved.edges
        x, height = x + width + _PADDING, max(height, size[1])
    return LaidOut(tuple(frames), tuple(boxes), tuple(edges), (max(x - _PADDING, 0.0), height))


def _moved(given: LaidOut, by: Point) -> LaidOut:
    def at(point: Point) -> Point:
        return point[0] + by[0], point[1] + by[1]

    return LaidOut(
        tuple(Frame(f.title, at(f.corner), f.size, f.is_group) for f in given.frames),
        tuple(Box(b.operation, at(b.corner), b.size) for b in given.boxes),
        tuple(Edge(tuple(map(at, e.points)), e.is_order) for e in given.edges),
        given.size,
    )
