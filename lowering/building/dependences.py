"""How a read of a buffer stands to a write of it in the loops around them."""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.bounds import decide
from fxc.ir.symbols import Dim, computed_in, symbols_of

from ..nests.addressing import step_of, varies
from ..nests.buffers import Idx


def distance(read: Idx, written: Idx, loops: Sequence[str]) -> dict[str, int] | None:
    """By how many iterations of each loop the element read is written later; None if that varies.

    Empty if no iteration writes it.
    """
    found: dict[str, int] = {}
    for r, w in zip(read, written, strict=True):
        gap, step = r - w, _single_loop(w, loops)
        if step is None:
            if gap != 0 or any(name in loops for name in symbols_of(w)):
                return None
            continue
        name, factor = step
        if not isinstance(gap, int) or not isinstance(factor, int) or name in found:
            return None
        if gap % factor:
            return {}
        found[name] = gap // factor
    return found if set(found) == set(loops) else None


def relation(read: Idx, written: Idx, loops: Sequence[str]) -> str:
    """How a read of a buffer stands to the write in the same iteration of ``loops``.

    ``same``: an element that no other iteration writes; ``apart``: never an element that
    any iteration writes;
    ``ascending`` / ``descending``: if the loops run that way, only elements written later;
    ``clash``: none of these is known.
    """
    if any(_disjoint(r, w, loops) for r, w in zip(read, written, strict=True)):
        return "apart"
    if any(_is_computed_in(dim, loops) for dim in (*read, *written)):
        return "clash"  # the same element may be written in several iterations
    if tuple(read) == tuple(written) or _is_own(read, written, loops):
        return "same"
    distance: dict[str, Dim] = {}
    for r, w in zip(read, written, strict=True):
        gap = r - w
        step = _single_loop(w, loops)
        if gap == 0:
            continue
        if step is None or not isinstance(gap, int) or not isinstance(step[1], int):
            return "clash"
        if gap % step[1]:
            return "apart"
        distance[step[0]] = gap // step[1]
    used = {loop for w in written for loop in symbols_of(w) if loop in loops}
    if used != set(loops):
        return "clash"
    for loop in loops:
        gap = distance.get(loop, 0)
        if isinstance(gap, int) and gap:
            return "ascending" if gap > 0 else "descending"
    return "clash"


def _is_own(read: Idx, written: Idx, loops: Sequence[str]) -> bool:
    """Whether an iteration meets only its own elements: of row ``k``, stored to row ``i``."""
    own = [_single_loop(w, loops) for r, w in zip(read, written, strict=True) if r == w]
    return {step[0] for step in own if step is not None and step[1] != 0} == set(loops)


def _is_computed_in(dim: Dim, loops: Sequence[str]) -> bool:
    """Whether ``dim`` holds an integer that is computed anew in iterations of ``loops``."""
    atoms = computed_in(dim).values()
    return any(varies(atom, loop) for atom in atoms for loop in loops)


def _single_loop(dim: Dim, loops: Sequence[str]) -> tuple[str, Dim] | None:
    """The one loop variable in ``dim`` and its factor, if ``dim`` is factor * loop + constant."""
    used = [name for name in symbols_of(dim) if name in loops]
    factor = step_of(dim, used[0]) if len(used) == 1 else None
    if factor is None or any(name in loops for name in symbols_of(factor)):
        return None
    return used[0], factor


def _disjoint(read: Dim, written: Dim, loops: Sequence[str]) -> bool:
    """Whether the two never agree, whatever the loop variables are (each on its own)."""
    if any(name in loops for dim in (read, written) for name in symbols_of(dim)):
        return False
    return decide(read, "!=", written) is True
