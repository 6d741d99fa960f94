"""The memory that a call takes, as ``inspect`` tells: its peak, by array, and over time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim

from ..nests.accesses import allocated
from ..nests.bounds import counter_ranges, most_elements
from .arena import Arena, plan_arena
from .native_module import Module


def memory_text(module: Module) -> str:
    """What is allocated for a call, and what of it is in use at each statement of the program.

    Results are there from the beginning. Sizes are bytes, those of temporaries whole cache lines;
    with symbols they are expressions, and the peak is that of the sizes that were compiled.
    """
    return "\n".join(_lines(module))


def memory_of(module: Module) -> tuple[Dim, Dim, int]:
    """Bytes of the arrays that a call makes and of its temporaries, and how many these are."""
    arena = plan_arena(module.program, module.given.arrays)
    own, buffers = _own(module), module.program.buffers
    given = [name for name in own if buffers[name].role == "temp"]
    count = len(given) + len(arena.sizes) + len(allocated(module.program.body))
    return _sum(own.values()), arena.size, count


def _own(module: Module) -> dict[str, Dim]:
    """Bytes of each array that is made outside of native code."""
    program = module.program
    ranges = counter_ranges(program)
    arrays = [n for n in module.given.arrays if program.buffers[n].role != "input"]
    return {
        n: program.buffers[n].dtype.itemsize * most_elements(program.buffers[n].shape, ranges)
        for n in arrays
    }


def _lines(module: Module) -> Iterator[str]:
    program = module.program
    arena = plan_arena(program, module.given.arrays)
    own = _own(module)
    where = "" if module.arena != 0 or not arena.offsets else ", in the stack frame"
    whole = _sum([*own.values(), arena.size])
    yield f"memory {whole}: arrays {_sum(own.values())}, temporaries {arena.size}{where}"
    for name, size in own.items():
        yield f"  {program.buffers[name].role} {name}: {size}"
    for name, size in arena.sizes.items():
        first, last = arena.lives[name]
        yield f"  temp {name}: {size} at {arena.offsets[name]}, statements {first} to {last}"
    for name in sorted(allocated(program.body)):
        yield f"  temp {name}: of a size that is known when it runs"
    used = [_in_use(arena, place) for place in range(len(program.body))]
    peak = max(used, key=hint, default=0)
    first = 0
    for size, run in groupby(used):
        last = first + len([*run]) - 1
        what = f"statement {first}" if first == last else f"statements {first} to {last}"
        mark = "  peak" if size == peak and peak != 0 else ""
        yield f"  {what}: temporaries {size}{mark}"
        first = last + 1


def _in_use(arena: Arena, place: int) -> Dim:
    there = [name for name, (first, last) in arena.lives.items() if first <= place <= last]
    return _sum(arena.sizes[name] for name in there)


def _sum(sizes: Iterable[Dim]) -> Dim:
    total: Dim = 0
    for size in sizes:
        total = total + size
    return total
