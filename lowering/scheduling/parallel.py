"""Outermost loops that take long, and whose iterations are independent, become parallel.

::

    for i0 in 0:1000000               →     for i0 in 0:1000000 parallel 65536
      b1[i0] = exp(x[i0])                     b1[i0] = exp(x[i0])

See Note [Parallel loops]. Loops of symbolic size are parallel, too: when it is known, one that is
no longer than a chunk is run as it is.
"""

from __future__ import annotations

from dataclasses import replace

from fxc.ir.size_functions import floordiv
from fxc.ir.symbols import Dim, symbols_of

from ..nests.accesses import Block
from ..nests.buffers import Buffer
from ..nests.independence import private_to, why_dependent
from ..nests.program import Program
from ..nests.statements import Loop, Stmt, blocks_of, with_blocks
from .target import Target, cost

_MULTIPLE = 64  # of iterations, where a chunk has many: whole cache lines


def parallel(program: Program, target: Target) -> Program:
    """The program with parallel loops, if the machine has threads for them.

    Requires: nothing is changed in the nests afterwards. Ensures: the same results, bit for bit,
    for any number of threads up to that of the target.
    """
    if target.threads <= 1:
        return program
    buffers = dict(program.buffers)
    body = _block(program, program.body, target, buffers)
    return replace(program, body=body, buffers=buffers)


def _block(program: Program, block: Block, target: Target, buffers: dict[str, Buffer]) -> Block:
    made: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, Loop):
            made.append(_looked_at(program, stmt, target, buffers))
        else:
            inner = tuple(_block(program, each, target, buffers) for each in blocks_of(stmt))
            made.append(with_blocks(stmt, inner))
    return tuple(made)


def _looked_at(program: Program, loop: Loop, target: Target, buffers: dict[str, Buffer]) -> Loop:
    """The loop, parallel if that is right and pays; then ``buffers`` have the copies it needs."""
    chunk = _chunk(loop, target)
    if chunk is None:
        return loop
    shared = why_dependent(program, loop)
    private = private_to(program, loop) if shared else frozenset[str]()
    if shared and (not private or why_dependent(program, loop, private)):
        return loop
    for name in private:
        buffers[name] = replace(buffers[name], copies=target.threads)
    return replace(loop, parallel=chunk)


def _chunk(loop: Loop, target: Target) -> Dim | None:
    """How many iterations to run at once; None if the loop is too short for more than one chunk, or
    nobody knows how long it takes.
    """
    each = cost(target, loop.body)
    if each is None or loop.var in symbols_of(each):
        return None
    if not isinstance(each, int):
        return 1 + floordiv(target.chunk, each + 1)
    if isinstance(loop.size, int) and loop.size * each < target.least:
        return None
    number = max(1, target.chunk // max(1, each))
    chunk = -(-number // _MULTIPLE) * _MULTIPLE if number >= _MULTIPLE else number
    return chunk if not isinstance(loop.size, int) or loop.size > chunk else None
