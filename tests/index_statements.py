"""Statements of random programs with index arrays and masks."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.program_writer import Writer
from tests.statements import UFUNCS


def _places(writer: Writer, size: int, count: int) -> str:
    """Indices for an axis of this size, some twice: known, or made of what an array holds."""
    rng = writer.rng
    kind = rng.random()
    if kind < 0.4:
        return str([rng.randrange(-size, size) for _ in range(count)])
    if kind < 0.5:
        rows = [[rng.randrange(-size, size) for _ in range(count)] for _ in range(2)]
        return f"np.array({rows}, {rng.choice(('i8', 'i4', 'u1' if size > 128 else 'i2'))!r})"
    if kind < 0.6:
        return str(rng.randrange(-size, size))
    source = writer.some_array()
    kind_of_source = writer.space[source].dtype.kind
    if kind_of_source in "iu" and writer.space[source].ndim < 3 and rng.random() < 0.4:
        return f"{source} % {size}"
    if kind_of_source == "c":
        source = f"{source}.real"
    return f"{source}.astype(np.int64).ravel()[:{count}] % {size}"


def _key(writer: Writer, shape: tuple[int, ...]) -> str:
    """A key with an index array for at least one axis, slices and numbers for others."""
    rng = writer.rng
    count = rng.randint(0, 3)
    parts = [
        writer.slice(size) if rng.random() < 0.5 else _places(writer, size, count) for size in shape
    ]
    place = rng.randrange(len(shape))
    parts[place] = _places(writer, shape[place], count)
    if rng.random() < 0.1:
        parts.insert(rng.randrange(len(parts)), "None")
    parts = parts[: rng.randint(place + 1, len(parts))]
    if rng.random() < 0.2:
        parts.insert(rng.choice((0, len(parts))), "...")
    return ", ".join(parts)


def _at_places(writer: Writer) -> tuple[str, str, Any]:
    """An array, a key with index arrays for it, and what the key reads, or None."""
    name = writer.some_array() if writer.rng.random() < 0.8 else writer.view()
    x = writer.array_value(name)
    if x is None or not x.ndim or 0 in x.shape:
        return "", "", None
    key = _key(writer, x.shape)
    return name, key, writer.array_value(f"{name}[{key},]")


def read_at_places(writer: Writer) -> str:
    name, key, read = _at_places(writer)
    if read is None:
        return ""
    copy = "" if read.base is None else ".copy()"  # a view at a place that depends on data
    return f"{writer.new()} = {name}[{key},]{copy}"


def put_at_places(writer: Writer) -> str:
    name, key, read = _at_places(writer)
    if read is None:
        return ""
    rng, dtype = writer.rng, read.dtype
    if rng.random() < 0.5 or dtype.kind == "b":
        source = writer.source_for(read, dtype)
        y = writer.value(source)
        parts = [each for each in (*writer.value(f"np.s_[{key},]"), y) if np.ndim(each)]
        if _is_of_one_memory(writer.value(name), y) and not all(map(_is_in_c_order, parts)):
            source = f"{source}.copy()"  # NumPy walks copies of them, which is not captured
        return f"{name}[{key},] = {source}"
    return f"{name}[{key},] {rng.choice('+-*')}= {writer.operand(read.shape, dtype)}"


def _is_of_one_memory(x: np.ndarray, y: Any) -> bool:
    """Whether both show the memory of one array, be it different parts."""
    return isinstance(y, np.ndarray) and _root(x) is _root(y)


def _root(x: np.ndarray) -> Any:
    return x if x.base is None else x.base


def _is_in_c_order(x: Any) -> bool:
    steps = [s for s, size in zip(np.asarray(x).strides, np.shape(x), strict=True) if size > 1]
    return steps == sorted(map(abs, steps), reverse=True)


def update_at_places(writer: Writer) -> str:
    """``ufunc.at``, which counts an index that is there twice twice."""
    name, key, read = _at_places(writer)
    if read is None or not writer.value(name).flags.writeable:
        return ""  # NumPy 2.4 writes to read-only arrays here
    ufunc = "logical_or" if read.dtype.kind == "b" else writer.rng.choice(UFUNCS)
    key = re.sub(r"(-?\w*):(-?\w*)(:-?\w+)?", _slice_call, key)
    source = writer.source_for(read, read.dtype)
    if writer.value(name).ndim == 1 and read.ndim > np.ndim(writer.value(source)) > 0:
        return ""  # NumPy 2.4 reads beyond the source, which it does not broadcast
    return f"np.{ufunc}.at({name}, ({key},), {source})"


def _slice_call(found: re.Match[str]) -> str:
    """A slice as it is written outside of an index."""
    return f"slice({', '.join(part.lstrip(':') or 'None' for part in found.groups(''))})"


def _mask(writer: Writer, name: str) -> str:
    """A mask for an array, or for its first axes."""
    rng = writer.rng
    x = writer.space[name]
    masks = [m for m in writer.arrays() if writer.space[m].dtype.kind == "b"]
    fitting = [
        m
        for m in masks
        if x.shape[: writer.space[m].ndim] == writer.space[m].shape
        and not _is_read_while_written(x, writer.space[m])
    ]
    if fitting and rng.random() < 0.5:
        return rng.choice(fitting)
    if x.ndim > 1 and rng.random() < 0.3:
        return f"{name}[..., 0] > {writer.literal(x.dtype)}"
    return f"{name} {rng.choice(('>', '<', '!='))} {writer.literal(x.dtype)}"


def _is_read_while_written(x: np.ndarray, mask: np.ndarray) -> bool:
    """Whether NumPy reads elements of the mask that it has just written; not captured."""
    one_place = x.ctypes.data == mask.ctypes.data and x.strides == mask.strides
    return np.may_share_memory(x, mask) and not one_place


def put_by_mask(writer: Writer) -> str:
    """What an array has where a mask says so: changed, or from another array."""
    rng = writer.rng
    name = writer.some_array()
    x = writer.space[name]
    mask = _mask(writer, name)
    read = writer.array_value(f"{name}[{mask}]")
    if read is None:
        return ""
    kind = rng.random()
    if kind < 0.3:
        sign = rng.choice("&|^" if x.dtype.kind == "b" else "+-*")
        return f"{name}[{mask}] {sign}= {writer.literal(x.dtype)}"
    if kind < 0.6:
        alike = [o for o in writer.arrays() if writer.space[o].shape == x.shape]
        other = rng.choice([o for o in alike if writer.space[o].dtype == x.dtype])
        return f"{name}[{mask}] = {other}[{mask}] * {writer.literal(x.dtype)}"
    if kind < 0.7:
        return f"{name}[{mask}] = {writer.literal(x.dtype)}"
    values = ", ".join(writer.literal(x.dtype) for _ in range(len(read)))
    if read.ndim != 1 or len(read) > 8:
        return ""
    return f"{name}[{mask}] = np.array([{values}], {x.dtype.name!r})"


def write_found_row(writer: Writer) -> str:
    """A write to a row that is looked for."""
    rng = writer.rng
    name, source = writer.some_array(), writer.some_array()
    x = writer.space[name]
    if not x.ndim or 0 in x.shape or 0 in writer.space[source].shape:
        return ""
    rest = writer.index(x.shape[1:])
    row = f"{name}[{source}.argmax() % {len(x)}, {rest}]"
    read = writer.array_value(row)
    if read is None:
        return ""
    if rng.random() < 0.5 or x.dtype.kind == "b":
        source = writer.source_for(read, x.dtype)
        if np.ndim(read) and _is_of_one_memory(x, writer.value(source)):
            source = f"{source}.copy()"  # which of them overlap is not known, nor what is read then
        return f"{row} = {source}"
    return f"{row} {rng.choice('+-*')}= {writer.operand(read.shape, x.dtype)}"


def index_function(writer: Writer) -> str:
    """One of NumPy's functions that read or write by index arrays and masks."""
    rng = writer.rng
    name = writer.some_array()
    x = writer.space[name]
    if not x.ndim or not x.size:
        return ""
    axis = rng.randrange(x.ndim)
    literal, mask = writer.literal(x.dtype), f"{name} > {writer.literal(x.dtype)}"
    values = f"[{literal}, {writer.literal(x.dtype)}]"
    places = [rng.randrange(-x.size, x.size) for _ in range(rng.randint(0, 4))]
    along = [rng.randrange(-x.shape[axis], x.shape[axis]) for _ in range(rng.randint(0, 3))]
    choices = [
        f"np.put({name}, {places}, {literal})",
        f"{name}.put({places or [0]}, {values})",
        f"np.putmask({name}, {mask}, {writer.source_for(x, x.dtype)})",
        f"np.place({name}, {mask}, {values})",
        f"{writer.new()} = np.take({name}, {along}, axis={axis})",
        f"{writer.new()} = {name}.take({places})",
        f"np.put_along_axis({name}, {name}.argmax(axis={axis}, keepdims=True), {literal}, {axis})",
        f"{writer.new()} = np.take_along_axis({name}, {name}.argmin(axis={axis}, keepdims=True), {axis})",
        f"{name}.sort(axis={axis})",
        f"{name}.sort()",
    ]
    if x.ndim > 1:
        choices.append(f"np.fill_diagonal({name}, {literal})")
    if x.dtype.kind == "i" and x.ndim == 1:  # the target is the index, too
        choices.append(f"{name}[{name} % {len(x)}] = {literal}")
    return rng.choice(choices)
