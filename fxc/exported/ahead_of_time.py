"""Object code of an exported program: lowered once for each kind of processor, then written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Any

from fxc.dispatch.backend import BackendIndex
from fxc.exporters.legalize import refuse_boxed
from fxc.exporters.objects.levels import LEVELS, Level
from fxc.exporters.objects.manifest import Code, Exported, lows_of, problems_of
from fxc.exporters.objects.needs import Need
from fxc.exporters.objects.showing import show_value
from fxc.exporters.objects.write import write
from fxc.ir.error_kinds import ARGUMENT
from fxc.ir.errors import ExportError, Unchecked, UsageError
from fxc.ir.graph import Graph
from fxc.ir.records import frozen
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Dim, counted_in
from fxc.ir.tree import TreeSpec
from fxc.lowering.building.context import NativeKernel
from fxc.lowering.lower import lower
from fxc.pipeline.assemble import recipe_of
from fxc.pipeline.stages import lowered

from .file import ArgumentLeaf, Fixed, GivenInput, SavedProgram
from .objects import show_spec


@frozen
class Texts:
    """What messages call the shape of an input, and a guard with its symbols."""

    shape: Callable[[tuple[Dim, ...]], str]
    guard: Callable[[Guard], tuple[str, dict[str, str]]]


def write_objects(
    program: SavedProgram,
    texts: Texts,
    folder: str | os.PathLike[str],
    levels: Sequence[str] | None,
) -> None:
    """Write a package: see ``ExportedProgram.to_object``."""
    graph = program.graph
    refuse_boxed(graph, "object code")
    chosen = _levels(levels)
    name = _identifier(graph.name)

    def make(decomposed: Graph, index: BackendIndex[NativeKernel]) -> list[Code]:
        wrong = problems_of(decomposed, index)
        if wrong:
            raise ExportError("\n  ".join(("", *wrong)))
        found = []
        for level in chosen:
            module = lower(decomposed, index.get_kernel, target=level.target, plain=name)
            if len(module.segments) > 1:
                raise ExportError("a result has a size that is known only while it runs")
            found.append(Code(level, module, recipe_of(decomposed, module)))
        return found

    try:
        _, codes, guards = lowered(graph, make)
        leaves = tuple(map(_show_leaf, program.leaves))
        exported = Exported(
            graph.name,
            name,
            program.parameters,
            _show_spec(program.in_spec),
            _show_spec(program.out_spec),
            leaves,
            tuple(
                Need(each, *texts.guard(each))
                for each in (*graph.guards, *guards)
                if _is_free(each)
            ),
            tuple(Need(each, *texts.guard(each)) for each in lows_of(graph, leaves)),
            texts.shape,
        )
        write(graph, exported, codes, folder)
    except (ExportError, Unchecked) as error:
        raise ExportError(f"{graph.name} cannot be exported to object code: {error.text}") from None


def _is_free(guard: Guard) -> bool:
    """Whether a guard is on the arguments: the code itself looks at sizes that it counts."""
    return not counted_in(guard.left - guard.right)


def _levels(names: Sequence[str] | None) -> list[Level]:
    known = {level.name: level for level in LEVELS}
    for name in names or ():
        if name not in known:
            raise UsageError(ARGUMENT, f"there is no level {name}; there are {', '.join(known)}")
    return [level for name, level in known.items() if names is None or name in names]


def _identifier(name: str) -> str:
    """A name for C."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    return found if re.match("[A-Za-z]", found) else f"program{found}"


def _show_spec(spec: TreeSpec) -> Any:
    """A TreeSpec as ``package.trees`` reads it."""
    try:
        return show_spec(spec, show_value)
    except UsageError as error:
        raise ExportError(error.text) from None


def _show_leaf(leaf: ArgumentLeaf) -> dict[str, Any]:
    match leaf:
        case GivenInput(place, at_least):
            return {"input": place} | ({} if at_least is None else {"at_least": at_least})
        case Fixed(value):
            return {"fixed": show_value(value)}
        case _:
            return {}
