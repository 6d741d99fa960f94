"""Pictures of so many boxes at most: what is more is one box for several operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import networkx

from fxc.ir.records import replace

from .picture import DrawnOperation, Picture

MOST_BOXES = 200


def bounded(picture: Picture, most: int = MOST_BOXES) -> Picture:
    """The picture with at most about so many boxes.

    As far as that is needed, regions are one box each, then each group, then operations that follow
    each other in the program.
    """
    shown = picture.operations
    if _count(shown) > most:
        shown = tuple(map(_closed, shown))
    if len(shown) > most:
        shown = tuple(_grouped(shown))
    if len(shown) > most:
        shown = tuple(_runs(shown, most))
    return replace(picture, operations=shown)


def _count(operations: Iterable[DrawnOperation]) -> int:
    return sum(1 + _count(x for part in each.parts for x in part.operations) for each in operations)


def _closed(each: DrawnOperation) -> DrawnOperation:
    """The operation as a box without those inside."""
    inside = _count(x for part in each.parts for x in part.operations)
    return replace(each, below=f"{inside} boxes inside", parts=()) if inside else each


def _grouped(operations: Sequence[DrawnOperation]) -> Iterator[DrawnOperation]:
    """Each group as one box, at its last operation."""
    groups = groups_that_hold(operations)
    members: dict[str, list[DrawnOperation]] = {}
    for each in operations:
        if each.group in groups:
            members.setdefault(each.group, []).append(each)
    for each in operations:
        if each.group not in members:
            yield each
        elif each is members[each.group][-1]:
            inside = members[each.group]
            yield _together(inside, each.group) if len(inside) > 1 else each


def _runs(operations: Sequence[DrawnOperation], most: int) -> Iterator[DrawnOperation]:
    """Operations that follow each other, in the order of the program, as one box."""
    ordered = _in_order(operations)
    length = -(-len(ordered) // most)
    for start in range(0, len(ordered), length):
        run = ordered[start : start + length]
        yield _together(run, "") if len(run) > 1 else run[0]


def _in_order(operations: Sequence[DrawnOperation]) -> list[DrawnOperation]:
    by_key = {each.key: each for each in operations}
    graph = networkx.DiGraph(edges_of(operations))
    graph.add_nodes_from(by_key)
    place = {key: number for number, key in enumerate(by_key)}
    ordered = networkx.lexicographical_topological_sort(graph, key=place.__getitem__)
    return [by_key[key] for key in ordered]


def _together(operations: Sequence[DrawnOperation], group: str) -> DrawnOperation:
    gives = tuple(name for each in operations for name in each.gives)
    reads = tuple(dict.fromkeys(name for each in operations for name in each.reads))
    keys = {each.key for each in operations}
    after = dict.fromkeys(key for each in operations for key in each.after if key not in keys)
    lines = [each.place[1] for each in operations if each.place is not None]
    span = f", lines {min(lines)} to {max(lines)}" if lines else ""
    labels = ", ".join(dict.fromkeys(each.label for each in operations))
    label = f"{group}: {labels}" if group else labels
    return DrawnOperation(
        "+".join(each.key for each in operations),
        label,
        f"{len(operations)} operations{span}",
        tuple(name for name in reads if name not in gives),
        gives,
        tuple(after),
        place=next((each.place for each in operations if each.place is not None), None),
        group=group,
    )


def edges_of(operations: Sequence[DrawnOperation]) -> list[tuple[str, str]]:
    """From key to key: who reads what another one gives, and who comes behind another one."""
    giver = {name: each.key for each in operations for name in each.gives}
    holder = {key: each.key for each in operations for key in each.key.split("+")}
    found: dict[tuple[str, str], None] = {}
    for each in operations:
        sources = [giver[name] for name in each.reads if name in giver]
        sources += [holder[key] for key in each.after if key in holder]
        found.update(((source, each.key), None) for source in sources if source != each.key)
    return list(found)


def is_drawable(operations: Sequence[DrawnOperation]) -> bool:
    """Whether each operation has a key of its own, and comes behind those that it reads."""
    levels, keys = [operations], list[str]()
    while levels:
        level = levels.pop()
        keys += (each.key for each in level)
        levels += (part.operations for each in level for part in each.parts)
        if not networkx.is_directed_acyclic_graph(networkx.DiGraph(edges_of(level))):
            return False
    return len(keys) == len(set(keys))


def groups_that_hold(operations: Sequence[DrawnOperation]) -> set[str]:
    """The groups that can be a box around their operations: no way leads out of it and back."""
    whole = {each.group for each in operations if each.group}
    while True:
        box = {
            each.key: each.group if each.group in whole else f"\0{each.key}" for each in operations
        }
        graph = networkx.DiGraph(
            (box[a], box[b]) for a, b in edges_of(operations) if box[a] != box[b]
        )
        circles = [each for each in networkx.strongly_connected_components(graph) if len(each) > 1]
        broken = {name for circle in circles for name in circle if name in whole}
        if not broken:
            return whole
        whole -= broken
