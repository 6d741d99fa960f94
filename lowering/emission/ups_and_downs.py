"""Branches by which a float goes up, goes down or stays as it is.

::

    for i in 0:n
      if greater(d, 3.14)                   a jump that a processor guesses
        turns[] = subtract(turns[], 6.28)
      else
        if less(d, -3.14)                   and another one
          turns[] = add(turns[], 6.28)

LLVM would rather compute all that it may become, and choose twice, in each iteration. The next one
would wait for an operation and two choices, where a guess lets it go on with what there was.
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.records import frozen

from ..nests.accesses import read_early
from ..nests.buffers import Atom
from ..nests.program import Program
from ..nests.statements import Compute, For, If, Load, Stmt, Store, While
from .bests import is_short
from .registers import Record


@frozen
class _Origin:
    """How a number follows from what a place held when the iteration began: whether it may be that
    very number, and the branches that else compute it from that, with the arm that does so.
    """

    kept: bool
    branches: frozenset[tuple[int, bool]] = frozenset()


_Origins = dict[str, _Origin]  # by storage
_COMPUTED = _Origin(kept=False)


def moving(program: Program, loop: For | While) -> dict[int, Record]:
    """The branches of a loop by which a float that it carries is changed in several ways, or is
    kept, by ``id``.
    """
    if is_short(program, loop):
        return {}
    found = _Found(program)
    early = read_early(program, loop.body, set())
    found.block(loop.body, {each: {each: _Origin(kept=True)} for each in early})
    return found.records


class _Found:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.values: dict[Atom, _Origins] = {}
        self.records: dict[int, Record] = {}

    def block(self, stmts: Sequence[Stmt], places: dict[str, _Origins]) -> None:
        """Go through statements; ``places`` says what is in the storages of single numbers."""
        for stmt in stmts:
            match stmt:
                case Load(index=()) if stmt.dtype.kind == "f":
                    self.values[stmt.name] = places.get(self.storage(stmt), {})
                case Compute() if stmt.dtype.kind == "f":
                    origins = {each for arg in stmt.args for each in self.values.get(arg, {})}
                    self.values[stmt.name] = dict.fromkeys(origins, _COMPUTED)
                case Store(index=()):
                    places[self.storage(stmt)] = self.values.get(stmt.value, {})
                case If():
                    self.branch(stmt, places)
                case _:
                    pass

    def storage(self, stmt: Load | Store) -> str:
        return self.program.buffers[stmt.buffer].storage

    def branch(self, stmt: If, places: dict[str, _Origins]) -> None:
        then, orelse = places.copy(), places.copy()
        self.block(stmt.then, then)
        self.block(stmt.orelse, orelse)
        for storage in then.keys() | orelse.keys():
            left, right = then.get(storage, {}), orelse.get(storage, {})
            places[storage] = {
                origin: self.either(stmt, left[origin], right[origin])
                for origin in left.keys() & right.keys()
            }

    def either(self, stmt: If, then: _Origin, orelse: _Origin) -> _Origin:
        """What the arms of a branch leave."""
        branches = then.branches | orelse.branches
        if then.kept != orelse.kept and _COMPUTED in (then, orelse):
            branches |= {(id(stmt), then == _COMPUTED)}
            if len(branches) > 1:
                self.records |= {name: Record(first, None) for name, first in branches}
        return _Origin(then.kept or orelse.kept, branches)
