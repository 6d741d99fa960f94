"""Functions that native code calls where NumPy has to run. See Note [Calls of NumPy]."""

from __future__ import annotations

import ctypes
import signal
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from fxc.ir.symbols import Dim, SymExpr
from fxc.lowering.emission.calls import CallSite
from fxc.lowering.loops import Buffer, BufferArg
from fxc.ops.kernels import kernel_of

_MEMORY = ctypes.c_char * (2**62)  # from some address on
_MOST_KNOWN = 64  # sizes for which a layout is kept


def numpy_call(site: CallSite) -> Callable[[bytes], bool]:
    """The function of a call: from the words that native code gives to whether NumPy has run."""
    kernel = kernel_of(site.stmt.op)
    layouts: dict[bytes, _Layout] = {}
    is_single = len(site.stmt.outs) == 1
    last: tuple[bytes, _Arguments, list[np.ndarray]] = (b"", list, [])

    def call(words: bytes) -> bool:
        nonlocal last
        try:
            found = last
            if found[0] != words:
                found = last = _prepared(site, words, layouts)
            _, given, outs = found
            results = kernel(*(given if isinstance(given, list) else given()))
            if is_single:
                outs[0][...] = results
            else:
                for out, result in zip(outs, results, strict=True):
                    out[...] = result
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)  # for Python, to which the call goes back
            return False
        except Exception:
            return False
        return True

    return call


def _prepared(
    site: CallSite, words: bytes, layouts: dict[bytes, _Layout]
) -> tuple[bytes, _Arguments, list[np.ndarray]]:
    """The arguments of a call, or what gives them, and where its results go."""
    count = len(site.buffers)
    sizes = words[8 * count :]
    layout = layouts.get(sizes)
    if layout is None:
        if len(layouts) == _MOST_KNOWN:
            layouts.clear()
        layout = layouts[sizes] = _Layout(site, _numbers(sizes))
    arrays = [each.at(place) for each, place in zip(layout.arrays, _numbers(words), strict=False)]
    outs = [arrays[place] for place in layout.outs]
    if layout.has_scalars:
        return words, lambda: [read(arrays) for read in layout.readers], outs
    return words, [read(arrays) for read in layout.readers], outs


def _numbers(words: bytes) -> tuple[int, ...]:
    return struct.unpack(f"{len(words) // 8}q", words)


_Reader = Callable[[list[np.ndarray]], Any]
_Arguments = list[Any] | Callable[[], list[Any]]
_Values = Mapping[SymExpr, int]  # of what depends on symbols


def _number(dim: Dim, values: _Values) -> int:
    return values[dim] if isinstance(dim, SymExpr) else dim


class _Layout:
    """What a call is given, but for where it stands: for sizes of these values."""

    def __init__(self, site: CallSite, sizes: Sequence[int]) -> None:
        values = dict(zip(site.dims, sizes, strict=True))
        places = {buffer.name: place for place, buffer in enumerate(site.buffers)}
        self.arrays = [_Placed(buffer, values) for buffer in site.buffers]
        self.readers = [_reader(arg, places, values) for arg in site.stmt.args]
        self.outs = [places[name] for name in site.stmt.outs]
        self.has_scalars = _has_scalars(site.stmt.args)


class _Placed:
    """Arrays over memory, of one layout."""

    def __init__(self, buffer: Buffer, values: _Values) -> None:
        self._shape = tuple(_number(dim, values) for dim in buffer.shape)
        self._strides = tuple(_number(dim, values) for dim in buffer.strides)
        self._dtype = buffer.dtype
        steps = [(size - 1) * step for size, step in zip(self._shape, self._strides, strict=True)]
        self._before = 0 if 0 in self._shape else -sum(step for step in steps if step < 0)
        self._last: tuple[int, np.ndarray] | None = None

    def at(self, address: int) -> np.ndarray:
        """The array whose first element is there."""
        found = self._last  # another thread may replace it
        if found is None or found[0] != address:
            memory = _MEMORY.from_address(address - self._before)
            made: Any = np.ndarray  # takes any buffer
            array = made(self._shape, self._dtype, memory, self._before, self._strides)
            found = self._last = address, array
        return found[1]


def _has_scalars(arg: Any) -> bool:
    if isinstance(arg, tuple):
        return any(map(_has_scalars, arg))
    return isinstance(arg, BufferArg) and arg.scalar


def _reader(arg: Any, places: Mapping[str, int], values: _Values) -> _Reader:
    """The argument, from the arrays of a call."""
    if isinstance(arg, BufferArg):
        place = places[arg.buffer]
        if not arg.scalar:
            return lambda arrays: arrays[place]
        return lambda arrays: arrays[place].item() if arg.weak else arrays[place][()]
    if isinstance(arg, tuple):
        items = [_reader(item, places, values) for item in arg]
        return lambda arrays: tuple([read(arrays) for read in items])
    known = _known(arg, values)
    return lambda arrays: known


def _known(arg: Any, values: _Values) -> Any:
    """An argument with numbers in place of its symbols."""
    if isinstance(arg, SymExpr):
        return values[arg]
    if is_dataclass(arg) and not isinstance(arg, type):
        found = {each.name: getattr(arg, each.name) for each in fields(arg)}
        return replace(arg, **{name: _known(x, values) for name, x in found.items()})
    return arg
