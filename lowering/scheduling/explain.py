"""The schedule of a program, short enough to read: a line for each nest, and why it is no faster.

::

    heat.py:9   0:998 lanes 8: f, u → b2  [one thread: it takes 0.4 µs]
    heat.py:10  0:998 lanes 8 ends first aligned to u: b2, u → u  [one thread: it takes 0.1 µs]
"""

from __future__ import annotations

from collections.abc import Iterator

from fxc.ir.size_functions import hint
from fxc.ir.symbols import computed_in

from ..nests.accesses import Block
from ..nests.independence import why_dependent
from ..nests.program import Program
from ..nests.statements import Accumulate, For, If, Loop, While, blocks_of, touched, walk
from ..nests.text import how_it_runs
from .cost import cost
from .lanes import as_written
from .survey import why_no_lanes


def schedule(program: Program) -> str:
    """How the nests of a program run."""
    lines = [*_lines(program, program.body, "")]
    width = max((len(place) for place, _ in lines), default=0)
    return "\n".join(f"{place:{width}}  {how}".rstrip() for place, how in lines)


def _lines(program: Program, block: Block, indent: str) -> Iterator[tuple[str, str]]:
    """The places in the user's program, and what is done there."""
    for stmt in block:
        match stmt:
            case Loop():
                yield str(stmt.loc or ""), indent + _nest(program, stmt)
            case For() | While() as loop:
                head = f"loop {loop.var}" if isinstance(loop, For) else "while"
                yield str(loop.loc or ""), indent + head
                for inner in blocks_of(loop):
                    yield from _lines(program, inner, indent + "  ")
            case If():
                for inner in blocks_of(stmt):
                    yield from _lines(program, inner, indent + "  ")
            case _:
                pass


def _nest(program: Program, nest: Loop) -> str:
    """The loops of a nest, what it reads and writes, and why it does not run faster."""
    read, written = touched((nest,))
    reads, writes = (", ".join(sorted(names)) for names in (read, written))
    whys = "; ".join(reasons(program, nest))
    why = f"  [{whys}]" if whys else ""
    return f"{loops_text(nest)}: {reads or 'nothing'} → {writes or 'totals'}{why}"


def loops_text(loop: Loop) -> str:
    """The loops of a nest, and how they run: ``0:998 lanes 8``."""
    inner = [loops_text(stmt) for stmt in loop.body if isinstance(stmt, Loop)]
    inside = f" ({'; '.join(inner)})" if len(inner) > 1 else "".join(f", {each}" for each in inner)
    return f"0:{loop.size}{how_it_runs(loop)}{inside}"


def reasons(program: Program, nest: Loop) -> Iterator[str]:
    """Why a nest does not run faster: in lanes, or on more threads."""
    loops = [stmt for stmt in walk((nest,)) if isinstance(stmt, Loop)]
    if all(each.lanes == 1 and not each.moved for each in loops):
        innermost = loops[-1]
        is_sum = any(isinstance(stmt, Accumulate) and stmt.is_pairwise for stmt in innermost.body)
        if not is_sum:
            yield f"no lanes: {why_no_lanes(program, as_written(program, innermost))}"
    if program.target.threads > 1 and nest.parallel is None:
        why = why_dependent(program, nest)
        yield f"one thread: {why or _time(program, nest)}"


def _time(program: Program, nest: Loop) -> str:
    """About how long a nest takes."""
    each = cost(program.target, nest.body)
    if each is None or computed_in(nest.size):
        return "nobody knows how long it takes"
    return f"it takes {hint(nest.size * each) / 1e6:.1f} µs"
