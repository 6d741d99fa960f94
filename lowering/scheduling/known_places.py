"""Indices that have been checked are not looked at once more.

::

    for i in 0:n                                   …
      t = logical_or out_of_bounds(y[i], 10)  [any]  →  …
    raise if t                                     …
    for i in 0:n                                   for i in 0:n
      x[wrap_index(y[i], 10)] = v[i]                 x[count_from_front(y[i], 10)] = v[i]

``wrap_index`` is 0 for what is out of bounds, so that a loop may read by it before it is known
whether any is. Behind the check of all elements of an array none is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fxc.ir.records import replace
from fxc.ir.symbols import Dim

from ..nests.accesses import stored
from ..nests.buffers import Atom, Const
from ..nests.program import Program
from ..nests.statements import (
    Accumulate,
    Check,
    Compute,
    Index,
    Load,
    Loop,
    Stmt,
    blocks_of,
    with_blocks,
)

Place = tuple[str, Dim]  # a buffer that holds indices, and the size of the axis that they are for
Made = Mapping[str, Stmt]


def known_places(program: Program) -> Program:
    """The program with such indices.

    Requires: nothing moves in front of a check afterwards. Ensures: the same results.
    """
    if not any(isinstance(stmt, Check) for stmt in program.body):
        return program
    places = _Places(program)
    return replace(program, body=places.block(program.body, set(), outside=True))


class _Places:
    def __init__(self, program: Program) -> None:
        self.buffers = program.buffers
        self.written = stored(program, program.body)

    def block(self, block: Sequence[Stmt], known: set[Place], *, outside: bool) -> tuple[Stmt, ...]:
        """The statements, where these indices are in bounds; ``outside`` of branches and of the
        user's loops a check that fails leaves at once, so more are then.
        """
        totals: dict[Atom, Place] = {}
        made: list[Stmt] = []
        for stmt in block:
            if isinstance(stmt, Loop):
                totals.update(self.checked(stmt.body, (stmt,)))
                made.append(self.loop(stmt, known, {}))
                continue
            if outside and isinstance(stmt, Check) and stmt.failed in totals:
                known.add(totals[stmt.failed])
            inner = tuple(self.block(each, known, outside=False) for each in blocks_of(stmt))
            made.append(with_blocks(stmt, inner))
        return tuple(made)

    def checked(
        self, body: Sequence[Stmt], loops: tuple[Loop, ...]
    ) -> Iterator[tuple[Atom, Place]]:
        """By the totals of a nest the indices that it looks at, all of a buffer's."""
        made = _made(body)
        for stmt in body:
            if isinstance(stmt, Loop):
                yield from self.checked(stmt.body, (*loops, stmt))
            if not isinstance(stmt, Accumulate) or stmt.levels != len(loops):
                continue
            test = made.get(str(stmt.value))
            if stmt.combine != "logical_or" or not isinstance(test, Compute):
                continue
            place = self.place(test, made) if test.op == "out_of_bounds" else None
            if place is not None and self.is_all(made[str(test.args[0])], loops):
                yield stmt.name, place

    def place(self, stmt: Compute, made: Made) -> Place | None:
        """What an index is loaded from, if that stays as it is, and the size."""
        index, size = stmt.args
        load = made.get(str(index))
        if not isinstance(load, Load) or self.buffers[load.buffer].storage in self.written:
            return None
        if isinstance(size, Const):
            return load.buffer, int(size.value)
        found = made.get(size)
        return (load.buffer, found.value) if isinstance(found, Index) else None

    def is_all(self, load: Stmt, loops: tuple[Loop, ...]) -> bool:
        """Whether loops go through a whole buffer."""
        assert isinstance(load, Load)
        sizes = {str(each.var): each.size for each in loops}
        shape = self.buffers[load.buffer].shape
        return len(shape) == len(sizes) and all(
            sizes.pop(str(dim), None) == size for dim, size in zip(load.index, shape, strict=True)
        )

    def loop(self, stmt: Loop, known: set[Place], outside: Made) -> Loop:
        made = {**outside, **_made(stmt.body)}

        def changed(each: Stmt) -> Stmt:
            match each:
                case Loop():
                    return self.loop(each, known, made)
                case Compute(op="wrap_index") if self.place(each, made) in known:
                    return replace(each, op="count_from_front")
                case _:
                    return each

        return replace(stmt, body=tuple(map(changed, stmt.body)))


def _made(body: Sequence[Stmt]) -> dict[str, Stmt]:
    return {each.name: each for each in body if isinstance(each, Load | Compute | Index)}
