"""How many bytes a program moves, as its text and ``inspect`` tell."""

from __future__ import annotations

from collections.abc import Mapping

from fxc.ir.records import frozen
from fxc.ir.size_functions import floordiv, hint, maximum, substitute
from fxc.ir.symbols import Dim, Symbol, product, symbols_of, terms_of

from .accesses import Block
from .bounds import Range, counter_bounds
from .program import Program
from .statements import Apply, For, If, Load, Loop, Matmul, Stmt, Store, While, blocks_of

# The places that an access meets along each axis of its buffer, both ends included.
Box = tuple[tuple[int, int], ...]


@frozen
class _Access:
    elements: Dim
    box: Box | None  # None if it is not known


def traffic(program: Program) -> Dim:
    """Bytes of memory that the loop nests move.

    For each nest, the elements of each buffer that it loads and that it stores. Accesses that may
    meet the same elements are counted once: what is read again comes from the cache. A loop of the
    user's program moves what its iterations move, all taken to be like the first or the last; if
    nobody knows how many there are, it counts as one. Its single numbers are in registers. Of the
    arms of a branch the one that moves more counts.
    """
    return _block_traffic(program, program.body, counter_bounds(program))


def _block_traffic(program: Program, body: Block, loops: Mapping[str, Range]) -> Dim:
    total: Dim = 0
    for stmt in body:
        match stmt:
            case For(var=var, body=inner):
                once = _block_traffic(program, inner, loops)
                first, last = loops.get(var, (0, 1))
                trips = maximum(last - first, 0)
                if var in symbols_of(once):
                    ends = [substitute(once, {var: place}) for place in (first, last - 1)]
                    total = total + floordiv(trips * (ends[0] + ends[1]), 2)
                else:
                    total = total + trips * once
            case If() | While():
                blocks = [_block_traffic(program, block, loops) for block in blocks_of(stmt)]
                total = total + (max(blocks, key=hint) if isinstance(stmt, If) else sum(blocks))
            case Load(buffer=name) | Store(buffer=name) if body is not program.body:
                if program.buffers[name].shape:
                    total = total + nest_traffic(program, stmt)
            case _:
                total = total + nest_traffic(program, stmt)
    return total


def nest_traffic(program: Program, nest: Stmt) -> Dim:
    """Bytes that one statement moves."""
    loads: dict[str, list[_Access]] = {}
    stores: dict[str, list[_Access]] = {}
    _count(program, (nest,), {}, loads, stores)
    total: Dim = 0
    for found in (loads, stores):
        for name, accesses in found.items():
            for access in accesses:
                total = total + access.elements * program.buffers[name].dtype.itemsize
    return total


def _count(
    program: Program,
    body: tuple[Stmt, ...],
    sizes: dict[str, Dim],
    loads: dict[str, list[_Access]],
    stores: dict[str, list[_Access]],
) -> None:
    for stmt in body:
        match stmt:
            case Load(buffer=buffer, index=index):
                _note(loads.setdefault(buffer, []), _access(program, buffer, index, sizes))
            case Store(buffer=buffer, index=index):
                _note(stores.setdefault(buffer, []), _access(program, buffer, index, sizes))
            case Matmul(out, x, y):
                for name, found in ((x, loads), (y, loads), (out, stores)):
                    whole = product(program.buffers[name].shape)
                    found.setdefault(name, []).append(_Access(whole, None))
            case Apply(out=out, keys=keys):
                whole = product(program.buffers[out].shape)
                for found in (loads, stores):
                    found.setdefault(out, []).append(_Access(whole, None))
                if keys is not None:
                    loads.setdefault(keys, []).append(_Access(whole, None))
            case Loop(var=var, size=size, body=inner):
                _count(program, inner, {**sizes, var: _most(size, sizes)}, loads, stores)
            case _:
                for block in blocks_of(stmt):
                    _count(program, block, sizes, loads, stores)


def _most(size: Dim, outer: Mapping[str, Dim]) -> Dim:
    """The longest that a loop gets inside others: in their first, middle or last iteration."""
    if isinstance(size, int) or not any(name in outer for name in symbols_of(size)):
        return size
    places = (
        dict.fromkeys(outer, 0),
        {name: floordiv(count, 2) for name, count in outer.items()},
        {name: count - 1 for name, count in outer.items()},
    )
    return max((substitute(size, at) for at in places), key=hint)


def _access(
    program: Program, buffer: str, index: tuple[Dim, ...], sizes: Mapping[str, Dim]
) -> _Access:
    used = {name for dim in index for name in symbols_of(dim) if name in sizes}
    met, held = product([sizes[name] for name in used]), product(program.buffers[buffer].shape)
    elements = held if hint(held) < hint(met) else met
    ends = [_range(dim, sizes) for dim in index]
    box = tuple(pair for pair in ends if pair is not None)
    return _Access(elements, box if len(box) == len(ends) else None)


def _range(dim: Dim, sizes: Mapping[str, Dim]) -> tuple[int, int] | None:
    """The least and the largest value of an index that is a sum of multiples of loop variables."""
    low = high = 0
    for monomial, step in terms_of(dim):
        match monomial:
            case ():
                low, high = low + step, high + step
            case (Symbol(name),) if isinstance(size := sizes.get(name), int):
                across = step * (size - 1)
                low, high = low + min(across, 0), high + max(across, 0)
            case _:
                return _range_of_function(dim, sizes)
    return low, high


def _range_of_function(dim: Dim, sizes: Mapping[str, Dim]) -> tuple[int, int] | None:
    """The same, of a dim that is not plainly such a sum, which it may be nevertheless."""
    zero = substitute(dim, dict.fromkeys(sizes, 0))
    if not isinstance(zero, int):
        return None
    low = high = linear = zero
    for name in symbols_of(dim):
        size = sizes.get(name)
        if not isinstance(size, int):
            return None
        step = substitute(dim, {**dict.fromkeys(sizes, 0), name: 1}) - zero
        if not isinstance(step, int):
            return None
        across = step * (size - 1)
        low, high, linear = low + min(across, 0), high + max(across, 0), linear + across
    last = {name: size - 1 for name, size in sizes.items() if isinstance(size, int)}
    return (low, high) if substitute(dim, last) == linear else None


def _note(found: list[_Access], access: _Access) -> None:
    """Add an access, or let it join one that it may have elements in common with."""
    for place, other in enumerate(found):
        if access.box is None or other.box is None or _overlap(access.box, other.box):
            if hint(other.elements) < hint(access.elements):
                found[place] = access
            return
    found.append(access)


def _overlap(left: Box, right: Box) -> bool:
    return all(a <= d and c <= b for (a, b), (c, d) in zip(left, right, strict=True))
