"""Positions of extremes (argmin, argmax): the extreme of each block first, then its place in one.

::

    for i in 0:n                            for b in 0:n // 1024
      t1 = argmax x[i]                 →      for i in 0:1024: t2 = maximum x[1024*b + i]
                                              t3 = argmax t2          # at b
                                            the first i from 1024*t3 on where x[i] is the extreme

To carry the position of each lane's extreme takes several times the operations. The first nan is
the extreme, so it is looked for as well: there is none unless it is.
"""

from __future__ import annotations

from fxc.ir.records import replace

from .addressing import step_of
from .statements import Accumulate, Compute, Index, Load, Loop


def extreme_of(loop: Loop) -> Accumulate | None:
    """The position that the loop finds, if it does nothing else."""
    found = [stmt for stmt in loop.body if isinstance(stmt, Accumulate)]
    others = all(isinstance(s, Load | Compute | Index | Accumulate) for s in loop.body)
    if len(found) != 1 or not others or loop.ordered or loop.descending:
        return None
    (stmt,) = found
    if stmt.position is None or stmt.levels > 1 or step_of(stmt.position, loop.var) is None:
        return None
    return stmt


def without_position(loop: Loop, stmt: Accumulate) -> Loop:
    """The loop without the position."""
    plain = replace(stmt, position=None)
    return replace(loop, body=tuple(plain if each is stmt else each for each in loop.body))
