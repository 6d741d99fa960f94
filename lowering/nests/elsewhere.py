"""Statements of a loop for other iterations, with the buffers that the counter moves or sizes.

What follows is `loop j` with `v3: float64[j] = a at 8*j`, and its last iteration, where ``j`` is
``i``: there the operand is another buffer, of another size, in another place::

    loop j in 0:(i + 1)                 loop j in 0:(i)
      b4 = matmul(v2, v3)          →      b4 = matmul(v2, v3)
                                        b4 = matmul(v2, v3.1)
"""

from __future__ import annotations

from collections.abc import Mapping

from fxc.ir.records import replace
from fxc.ir.size_functions import substitute
from fxc.ir.symbols import Dim, symbols_of

from .accesses import Block, rename
from .buffers import Buffer
from .statements import Apply, Load, Matmul, Stmt, Store, blocks_of, touched, with_blocks


def elsewhere(buffers: dict[str, Buffer], block: Block, dims: dict[str, Dim], suffix: str) -> Block:
    """The statements with counters replaced by ``dims``; ``buffers`` gets those that they are given
    instead of those that depend on these counters, with ``suffix`` behind their names.

    Requires: no call of NumPy's kernels, no allocation and no product in two parts is among the
    statements.
    """
    met = frozenset().union(*touched(block))
    storages = {buffers[name].storage for name in met}
    moved = [n for n in sorted(met | storages) if _depends(buffers[n], dims)]
    names = {name: name + suffix for name in moved}
    names |= {name: name + suffix for name in sorted(met) if buffers[name].storage in names}
    for name, new in names.items():
        old = buffers[name]
        buffers[new] = replace(
            old,
            name=new,
            shape=tuple(substitute(dim, dims) for dim in old.shape),
            strides=tuple(substitute(dim, dims) for dim in old.strides),
            offset=substitute(old.offset, dims),
            storage=names.get(old.storage, old.storage),
        )
    return tuple(_given(rename(stmt, dims), names) for stmt in block)


def _depends(buffer: Buffer, dims: Mapping[str, Dim]) -> bool:
    found = (buffer.offset, *buffer.shape, *buffer.strides)
    return any(not dims.keys().isdisjoint(symbols_of(dim)) for dim in found)


def _given(stmt: Stmt, names: Mapping[str, str]) -> Stmt:
    """The statement on buffers of other names."""
    match stmt:
        case _ if not names:
            return stmt
        case Load(buffer=name) | Store(buffer=name):
            return replace(stmt, buffer=names.get(name, name))
        case Matmul(out=out, x=x, y=y):
            out, x, y = (names.get(name, name) for name in (out, x, y))
            return replace(stmt, out=out, x=x, y=y)
        case Apply(out=out, keys=keys):
            keys = None if keys is None else names.get(keys, keys)
            return replace(stmt, out=names.get(out, out), keys=keys)
        case _:
            blocks = (tuple(_given(each, names) for each in block) for block in blocks_of(stmt))
            return with_blocks(stmt, tuple(blocks))
