"""What a trace says of compiled code beside its texts: nests and what is fused in them, memory."""

from __future__ import annotations

from fxc.drawing.fused import Fused
from fxc.ir.size_functions import hint
from fxc.lowering.emission.arena import plan_arena
from fxc.lowering.emission.native_module import Module
from fxc.lowering.nests.bounds import counter_ranges, most_elements
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Boxed, For, If, Loop, Stmt, While, touched, walk

Facts = dict[str, object]


def of_nest(fused: Fused) -> Facts:
    """A nest: where it comes from, how it runs, the values of the graph that are computed in it,
    the arrays that it reads and writes.
    """
    read, written = touched((fused.nest,))
    return {
        "place": _place(fused.nest),
        "how": fused.how,
        "values": list(fused.values),
        "reads": sorted(read),
        "writes": sorted(written),
    }


def _place(stmt: Stmt) -> list[object] | None:
    loc = getattr(stmt, "loc", None)
    return None if loc is None else [loc.file, loc.line]


def calls_of_numpy(program: Program) -> list[Facts]:
    """The operators that NumPy itself runs."""
    found = (stmt for stmt in walk(program.body) if isinstance(stmt, Boxed))
    return [{"op": stmt.op, "place": _place(stmt)} for stmt in found]


def memory(module: Module) -> Facts:
    """What a call allocates: arrays, and temporaries with the statements during which each is in
    use. Sizes are bytes; where they depend on symbols, those for the sizes that were compiled.
    """
    program = module.program
    arena = plan_arena(program, module.given.arrays)
    ranges = counter_ranges(program)
    made = [n for n in module.given.arrays if program.buffers[n].role != "input"]
    sizes = {
        n: program.buffers[n].dtype.itemsize * most_elements(program.buffers[n].shape, ranges)
        for n in made
    }
    return {
        "arrays": [
            {"name": n, "role": program.buffers[n].role, "bytes": hint(size)}
            for n, size in sizes.items()
        ],
        "temporaries": [
            {
                "name": n,
                "bytes": hint(size),
                "offset": hint(arena.offsets[n]),
                "first": arena.lives[n][0],
                "last": arena.lives[n][1],
            }
            for n, size in arena.sizes.items()
        ],
        "arena": hint(arena.size),
        "statements": [_statement(stmt) for stmt in program.body],
    }


def _statement(stmt: Stmt) -> Facts:
    kind = "loop" if isinstance(stmt, Loop | For | While | If) else type(stmt).__name__.lower()
    return {"kind": kind, "place": _place(stmt)}
