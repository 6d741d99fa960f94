"""The lines of a program's text that come before its statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from fxc.ir.boxed_dtypes import boxed_name, is_boxed
from fxc.ir.symbols import Dim, Symbol, symbols_of
from fxc.ir.types import c_strides

from .buffers import Buffer
from .program import Param, Program
from .statements import Bind, Index, Loop, Store, walk

MOST_DATA = 64  # bytes of a constant that are written down


def header_lines(program: Program, moved: Dim) -> Iterator[str]:
    """The name, sizes, parameters, buffers."""
    yield f"loops {' '.join(program.name.split())}"
    known = [text for each in _symbols(program, moved) if (text := _show_symbol(each))]
    if known:
        yield f"  symbols {', '.join(known)}"
    for param in program.params:
        yield f"  param {_show_param(param)}"
    for buffer in program.buffers.values():
        undone = "  # stores are undone if a check fails" * (buffer.name in program.undone)
        yield f"  {buffer.role} {buffer.name}: {_show_buffer(buffer)}{undone}"
    if program.inputs != standard_inputs(program.params, program.buffers.values()):
        yield f"  inputs {', '.join(program.inputs)}"
    stored = {stmt.buffer for stmt in walk(program.body) if isinstance(stmt, Store)}
    if program.results != standard_results(program.buffers.values(), stored):
        yield f"  results {', '.join(program.results)}".rstrip()
    for name, place in program.sizes.items():
        yield f"  size {name} in {place}"


def _show_symbol(each: Symbol) -> str:
    if each.hint is None:
        return f"{each.name} >= {each.lower}" if each.lower is not None else ""
    bounds = [] if each.lower is None else [f">= {each.lower}"]
    bounds += [] if each.most is None else [f"<= {each.most}"]
    return f"{each.name} = {each.hint}" + (f" ({', '.join(bounds)})" if bounds else "")


def _show_param(param: Param) -> str:
    part = f" {param.part}" if param.part else ""
    return f"{param.name}: {_show_dtype(param.dtype)} = input {param.input}{part}"


def _show_dtype(dtype: np.dtype) -> str:
    """Its name, or the text of one that is boxed."""
    return repr(boxed_name(dtype)) if is_boxed(dtype) else str(dtype)


def _show_buffer(buffer: Buffer) -> str:
    text = f"{_show_dtype(buffer.dtype)}[{', '.join(map(str, buffer.shape))}]"
    if buffer.strides != c_strides(buffer.shape, buffer.dtype.itemsize):
        text += f"{{{', '.join(map(str, buffer.strides))}}}"
    text += " parts" * buffer.parts
    text += "" if buffer.field is None else f" field {buffer.field[0]}:{buffer.field[1]}"
    text += f" for each of {buffer.copies} threads" if buffer.copies > 1 else ""
    text += f" = {buffer.storage}" if buffer.storage != buffer.name else ""
    text += f" at {buffer.offset}" if buffer.offset != 0 else ""
    if buffer.role == "constant":
        data = buffer.data
        is_short = data is not None and len(data) <= MOST_DATA
        text += f" data {data.hex()}" if data is not None and is_short else " data left out"
    return text


def standard_inputs(params: tuple[Param, ...], buffers: Iterable[Buffer]) -> tuple[str, ...]:
    """The names of the inputs: parameters at their places, between them arrays in their order."""
    arrays = [each.name for each in buffers if each.role == "input" and each.storage == each.name]
    scalars = {param.input: param.name for param in params}
    names: list[str] = []
    while arrays or len(names) in scalars:
        names.append(scalars[len(names)] if len(names) in scalars else arrays.pop(0))
    return tuple(names)


def standard_results(buffers: Iterable[Buffer], stored: set[str]) -> tuple[str, ...]:
    """The names of the results: outputs, then inputs that are stored to."""
    each = tuple(buffers)
    written = [x.name for x in each if x.role == "input" and x.name in stored]
    return (*(x.name for x in each if x.role == "output"), *written)


def _symbols(program: Program, moved: Dim) -> list[Symbol]:
    """The sizes that shapes, strides and loops depend on, and the bytes that are ``moved``."""
    found: dict[str, Symbol] = {}
    given: dict[str, Symbol] = {}
    counters: set[str] = set()
    dims: list[Dim] = [moved]
    for buffer in program.buffers.values():
        dims += [*buffer.shape, *buffer.strides, buffer.offset]
    for stmt in walk(program.body):
        match stmt:
            case Loop(var, size):
                dims.append(size)
                counters.add(var)
            case Bind(most=most):
                dims.append(most)
            case Index(value=value):
                given |= symbols_of(value)
            case _:
                pass
    for dim in dims:
        found |= {name: each for name, each in symbols_of(dim).items() if name not in counters}
    found |= {param.name: given[param.name] for param in program.params if param.name in given}
    return list(found.values())
