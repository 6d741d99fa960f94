"""The manifest of a package: what its Python module needs to know of a program and its code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fxc.dispatch.backend import BackendIndex
from fxc.ir.errors import ExportError
from fxc.ir.graph import Graph, Node, Value, walk
from fxc.ir.location import Site
from fxc.ir.records import frozen
from fxc.ir.signature import (
    ConstantLeaf,
    DimLeaf,
    InputLeaf,
    OutputLeaf,
    ResultLeaf,
    Slot,
    ViewLeaf,
)
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Dim, plain_symbol, symbol, symbols_of
from fxc.ir.types import ArrayType, ScalarType
from fxc.lowering.emission.native_module import Module
from fxc.lowering.operators.inner_loops import has_inner_loop
from fxc.ops.operators import EFFECTS
from fxc.ops.table import TABLE
from fxc.runtime.recipe import Recipe

from .levels import Level
from .needs import Need
from .numpy_table import show_table
from .showing import show_size, show_steps, show_value


@frozen
class Exported:
    """What the caller of a program sees of it; ``entry`` is its name in C.

    ``guards`` and the ``bounds`` of sizes and ints stand with their texts.
    """

    name: str
    entry: str
    parameters: tuple[str, ...]
    arguments: Any
    result: Any
    leaves: tuple[dict[str, Any], ...]
    guards: tuple[Need, ...]
    bounds: tuple[Need, ...]
    shown_shape: Callable[[tuple[Dim, ...]], str]

    @property
    def needs(self) -> tuple[Need, ...]:
        """All that sizes and ints must keep."""
        return self.bounds + self.guards


@frozen
class Code:
    """A program as it is lowered for one level."""

    level: Level
    module: Module
    recipe: Recipe


def problems_of(graph: Graph, index: BackendIndex[Any]) -> list[str]:
    """What of a decomposed graph object code cannot have, with the lines it comes from."""
    found: dict[str, None] = {}
    for node in walk(graph.body):
        why = _problem(node, index)
        if why is not None:
            place = str(node.loc) if node.loc is not None else "made by fxc"
            found[f"{node.op} ({place}): {why}"] = None
    return [*found]


def _problem(node: Node, index: BackendIndex[Any]) -> str | None:
    op = TABLE[node.op]
    if op.tag in EFFECTS:
        return "it has an effect beside what it gives"
    if index.has_kernel(op):
        return None
    if node.regions:
        return "it stands around an operator that has no native code"
    if node.bound is not None:
        return "NumPy gives an array of a size that is not known before"
    return "it calls a ufunc that is not NumPy's" if has_inner_loop(node) else None


def manifest_of(graph: Graph, exported: Exported) -> dict[str, Any]:
    """What is so for all levels. Raises ``ExportError`` for what a package cannot have."""
    assert graph.signature is not None
    return {
        "name": exported.name,
        "entry": exported.entry,
        "parameters": list(exported.parameters),
        "arguments": exported.arguments,
        "result": exported.result,
        "leaves": list(exported.leaves),
        "inputs": [_show_input(value, exported) for value in graph.inputs],
        "symbols": _symbols(graph),
        "guards": [_show_guard(each) for each in exported.guards],
        "written": sorted(graph.signature.mutated_inputs),
    }


def _show_input(value: Value, exported: Exported) -> dict[str, Any]:
    kind = value.type
    if isinstance(kind, ArrayType):
        return {
            "dtype": kind.dtype.str,
            "shape": [show_size(dim) for dim in kind.shape],
            "strides": [show_size(dim) for dim in kind.strides],
            "writeable": kind.writeable,
            "shown": exported.shown_shape(kind.shape),
        }
    assert isinstance(kind, ScalarType)
    return {"kind": kind.python_type.__name__} if kind.weak else {"dtype": kind.dtype.str}


def lows_of(graph: Graph, leaves: Sequence[Mapping[str, Any]]) -> Iterator[Guard]:
    """The least that sizes and ints are."""
    for place, _, _, name, low in _symbols(graph):
        least = [leaf.get("at_least") for leaf in leaves if leaf.get("input") == place]
        bound = low if isinstance(graph.inputs[place].type, ArrayType) else least[0]
        if bound is not None:
            yield Guard(symbol(name), ">=", bound)


def _symbols(graph: Graph) -> list[Any]:
    """Where the value of each symbol stands: input, axis (of strides?), name, the least it is."""
    found: dict[str, list[Any]] = {}
    for place, value in enumerate(graph.inputs):
        kind = value.type
        if isinstance(kind, ScalarType):
            if kind.weak and kind.dtype.kind == "i":
                found.setdefault(value.name, [place, None, False, value.name, None])
            continue
        assert isinstance(kind, ArrayType)
        for is_stride, dims in ((False, kind.shape), (True, kind.strides)):
            for axis, dim in enumerate(dims):
                name = plain_symbol(dim)
                if name is not None:
                    low = symbols_of(dim)[name].lower
                    found.setdefault(name, [place, axis, is_stride, name, low])
    return [*found.values()]


def _show_guard(need: Need) -> dict[str, Any]:
    guard = need.guard
    return {
        "left": show_size(guard.left),
        "relation": guard.relation,
        "right": show_size(guard.right),
        "text": need.text,
        "given": [[shown, name] for name, shown in need.names.items()],
    }


def level_of(code: Code, file: str) -> dict[str, Any]:
    """What is so for the code of one level."""
    level, module, recipe = code.level, code.module, code.recipe
    places = {slot.name: place for place, slot in enumerate(recipe.slots)}
    return {
        "name": level.name,
        "machine": level.machine,
        "features": list(level.features),
        "file": file,
        "slots": [_show_slot(slot) for slot in recipe.slots],
        "arena": show_size(recipe.arena),
        "sizes": list(module.given.symbols),
        "numbers": [[place, part, code] for place, part, code in recipe.packed],
        "counted": [[name, places[slot]] for name, slot in recipe.sizes.items() if slot in places],
        "table": show_table(module),
        "sites": [_show_site(site) for site in module.sites],
        "outputs": [_show_leaf(leaf, recipe, places) for leaf in recipe.signature.outputs],
    }


def _show_site(site: Site) -> str:
    return f"{site.op} ({site.loc})" if site.loc is not None else site.op


def _show_slot(slot: Slot) -> dict[str, Any]:
    if slot.input is not None:
        return {"input": slot.input}
    shape = slot.shape if slot.room is None else (slot.room,)
    order = slot.order if slot.room is None else (0,)
    if slot.gaps or (slot.room is not None and slot.order != tuple(range(len(slot.shape)))):
        raise ExportError("object code gives no array with gaps between its elements")
    return {
        "dtype": slot.dtype.str,
        "shape": [show_size(dim) for dim in shape],
        "order": list(order),
    }


def _show_leaf(leaf: OutputLeaf, recipe: Recipe, places: dict[str, int]) -> dict[str, Any]:
    match leaf:
        case InputLeaf(place):
            return {"input": place}
        case ResultLeaf(result, kind):
            name = recipe.results[result]
            slot = recipe.slots[places[name]]
            shown: dict[str, Any] = {"slot": places[name]}
            if isinstance(kind, ScalarType):
                shown["number"] = "python" if kind.weak else "numpy"
            elif slot.room is not None:
                shown["shape"] = [show_size(dim) for dim in slot.shape]
                shown["keeps_strides"] = slot.keeps_strides
            return shown
        case ViewLeaf(base, steps, identity):
            shown_base = _show_leaf(base, recipe, places)
            return {"view": identity, "base": shown_base, "steps": show_steps(steps)}
        case DimLeaf(value):
            return {"value": {"size": show_size(value)}}
        case ConstantLeaf(value):
            return {"value": show_value(value)}
