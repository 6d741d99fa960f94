"""Loops of the user's program, with other statements in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .accesses import Block
from .statements import For, Stmt, blocks_of, with_blocks

Change = Callable[[For], Sequence[Stmt] | None]  # None: the loop stays


def outermost_first(block: Block, change: Change) -> Block:
    """The statements after ``change``, which is asked for the loops inside of those that stay, too.
    Nests have no such loops.
    """
    made: list[Stmt] = []
    for stmt in block:
        found = change(stmt) if isinstance(stmt, For) else None
        if found is not None:
            made += found
        elif blocks := blocks_of(stmt, into_loops=False):
            inner = tuple([outermost_first(each, change) for each in blocks])
            made.append(with_blocks(stmt, inner))
        else:
            made.append(stmt)
    return tuple(made)


def innermost_first(block: Block, change: Change) -> Block:
    """The statements after ``change``, which is given loops whose inner ones have been changed."""
    made: list[Stmt] = []
    for stmt in block:
        if blocks := blocks_of(stmt, into_loops=False):
            inner = tuple([innermost_first(each, change) for each in blocks])
            stmt = with_blocks(stmt, inner)
        found = change(stmt) if isinstance(stmt, For) else None
        if found is None:
            made.append(stmt)
        else:
            made += found
    return tuple(made)
