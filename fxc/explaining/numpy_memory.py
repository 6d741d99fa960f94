"""The memory that a captured program takes if NumPy runs it, as far as a graph tells."""

from __future__ import annotations

from fxc.ir.graph import Graph, Region, Value
from fxc.ir.size_functions import hint
from fxc.ir.types import ArrayType


def numpy_memory(captured: Graph) -> tuple[int, int]:
    """Bytes of the arrays that are there at once, at the sizes of the call, and how many arrays are
    made and do not leave the function.

    Each is taken to be let go of behind its last use: the variables of a program keep some for
    longer. What NumPy makes inside of one function does not count, nor do Python's objects.
    """
    return _peak(captured.body), _made(captured.body) - _results(captured)


def _results(captured: Graph) -> int:
    bases = _bases(captured.body)
    return len({bases[x] for x in captured.outputs if isinstance(x, Value) and x in bases})


def _bases(region: Region) -> dict[Value, Value]:
    """For each array that the region makes, and each view of one, the array that has the memory."""
    found: dict[Value, Value] = {}
    for node in region.nodes:
        for value in node.outputs:
            if not isinstance(value.type, ArrayType):
                continue
            if not node.schema.is_view:
                found[value] = value
            elif (base := node.inputs[0]) in found:
                found[value] = found[base]
    return found


def _made(region: Region) -> int:
    bases = _bases(region)
    inside = sum(_made(each) for node in region.nodes for each in node.regions)
    return sum(value is base for value, base in bases.items()) + inside


def _peak(region: Region) -> int:
    bases = _bases(region)
    last: dict[Value, int] = {}
    for place, node in enumerate(region.nodes):
        for value in (*node.outputs, *_read(node.inputs, node.regions)):
            if value in bases:
                last[bases[value]] = place
    for result in region.results:
        if isinstance(result, Value) and result in bases:
            last[bases[result]] = len(region.nodes)
    ends: dict[int, list[Value]] = {}
    for value, place in last.items():
        ends.setdefault(place, []).append(value)
    now = most = 0
    for place, node in enumerate(region.nodes):
        now += sum(_bytes(value) for value in node.outputs if bases.get(value) is value)
        most = max(most, now + max(map(_peak, node.regions), default=0))
        now -= sum(map(_bytes, ends.get(place, ())))
    return most


def _read(inputs: tuple[Value, ...], regions: tuple[Region, ...]) -> list[Value]:
    """What a node reads, in its regions, too."""
    found = [*inputs]
    for region in regions:
        found += [value for value in region.results if isinstance(value, Value)]
        for node in region.nodes:
            found += _read(node.inputs, node.regions)
    return found


def _bytes(value: Value) -> int:
    kind = value.type
    return hint(kind.size) * kind.dtype.itemsize if isinstance(kind, ArrayType) else 0
