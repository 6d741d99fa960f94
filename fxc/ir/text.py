"""The text form of graphs: one node a line, a type with every value, the user's line in a comment.

::

    functional relax(%u: f64[n, m], %steps: py.int)
      symbols n = 4 (>= 2), m = 5 (>= 2)
      guards n >= 3
      %0: f64[n, m] = fori_loop(0, %steps, (%u,), body={                        # heat.py:4
        (%k: py.int, %a: f64[n, m])
        %1: f64[n, m] = multiply(%a, 0.5)                                       # heat.py:5
        yield %1
      }, stops=False)
      return %0
      signature
        %u := result 0
        output 0 = view 0 of input %u by select(0, 0)

Parameters that NumPy takes by keyword are printed as ``name=value``. ``symbols`` lists what is
known of symbols: the hint and the bounds. A type has its strides in braces when they are not
those of C order, and ``ro`` when the array is read-only. All of it parses back, see
``fxc.ir.parse``; of locations, the base name of the file and the line do.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from typing import assert_never

import numpy as np

from .boxed_dtypes import is_boxed
from .graph import (
    Arg,
    ArrayConstant,
    Graph,
    Literal,
    Node,
    Operand,
    Region,
    SliceSpec,
    Value,
)
from .records import frozen
from .schema import Schema
from .signature import (
    ConstantLeaf,
    DimLeaf,
    InputLeaf,
    OutputLeaf,
    ResultLeaf,
    Signature,
    ViewLeaf,
    ViewStep,
)
from .symbols import Symbol, SymExpr, symbols_of
from .types import DTYPE_NAMES, ArrayType, Type, dtype_name, is_known

_NAME = r"[^\W\d][\w.]*"
COMMENT_COLUMN = 80
LISTED_ELEMENTS = 16  # constants with more elements are printed as base64


@frozen
class Line:
    """One line of the text form, and the object it is the first or only line of."""

    text: str
    subject: object = None


def print_graph(graph: Graph) -> str:
    """The text form of a graph; also of one that breaks the rules."""
    return "\n".join(line.text for line in graph_lines(graph))


def graph_lines(graph: Graph) -> list[Line]:
    """The lines of the text form, each with the object that it shows.

    That is the graph for the head, a Guards tuple, a Node, a Region for its ``return`` or
    ``yield``, a Signature, a Mutation or an output leaf.
    """
    name = graph.name if re.fullmatch(_NAME, graph.name) else repr(graph.name)
    lines = [Line(f"{graph.stage} {name}({_declared(graph.inputs)})", graph)]
    known = [_show_known(symbol) for symbol in known_symbols(graph)]
    if known:
        lines.append(Line(f"  symbols {', '.join(known)}"))
    if graph.guards:
        lines.append(Line(f"  guards {', '.join(map(str, graph.guards))}", graph.guards))
    _add_body(lines, graph.body, "return", "  ")
    if graph.signature is not None:
        lines += _signature_lines(graph.signature, graph.inputs)
    return lines


# Nodes and regions


def _declared(values: tuple[Value, ...]) -> str:
    return ", ".join(f"%{value.name}: {show_type(value.type)}" for value in values)


def show_type(type: Type) -> str:
    """A type as text; dtypes that fxc has no name for are shown by NumPy's."""
    if is_known(type.dtype):
        return str(type)
    shape = f"[{', '.join(map(str, type.shape))}]" if isinstance(type, ArrayType) else ""
    return f"{type.dtype}{shape}"


def _add_body(lines: list[Line], region: Region, keyword: str, indent: str) -> None:
    for node in region.nodes:
        _add_node(lines, node, indent)
    results = ", ".join(map(show_operand, region.results))
    lines.append(Line(f"{indent}{keyword} {results}".rstrip(), region))


def _add_node(lines: list[Line], node: Node, indent: str) -> None:
    results = f"{_declared(node.outputs)} = " if node.outputs else ""
    text = f"{indent}{results}{node.op}("
    first = len(lines)
    subject: Node | None = node
    for place, arg in enumerate(node.args):
        text += (", " if place else "") + _keyword(node.schema, place)
        if not isinstance(arg, Region):
            text += show_argument(arg)
            continue
        lines.append(Line(text + "{", subject))
        lines.append(Line(f"{indent}  ({_declared(arg.params)})"))
        _add_body(lines, arg, "yield", indent + "  ")
        text, subject = indent + "}", None
    into = f" into {node.into}" if node.into is not None else ""
    lines.append(Line(f"{text}){into}", subject))
    if node.loc is not None:
        head = lines[first].text.ljust(COMMENT_COLUMN - 2)
        lines[first] = Line(f"{head}  # {node.loc}", node)


def _keyword(schema: Schema, place: int) -> str:
    named = place < len(schema.params) and schema.params[place].keyword
    return f"{schema.params[place].name}=" if named else ""


# Arguments


def show_operand(operand: Operand) -> str:
    """``%x``, or a scalar constant."""
    return show_scalar(operand.value) if isinstance(operand, Literal) else repr(operand)


def show_argument(arg: Arg) -> str:
    """An argument that is not a region: ``%0``, ``(0, 1)``, ``[0:n:1]``, ``f64``, ``'C'``."""
    match arg:
        case Value() | Literal():
            return show_operand(arg)
        case tuple():
            items = ", ".join(show_argument(item) for item in arg)
            if any(isinstance(item, SliceSpec) for item in arg):
                return f"[{items}]"
            return f"({items},)" if len(arg) == 1 else f"({items})"
        case np.dtype():
            return dtype_name(arg) if is_known(arg) else str(arg)
        case ArrayConstant():
            return show_constant(arg)
        case str():
            return repr(arg)
        case _:
            return str(arg)


def show_scalar(value: object) -> str:
    """A Python or NumPy scalar: ``1``, ``0.5``, ``-inf``, ``complex(0.0, 1.0)``, ``f32(0.1)``.

    Bits are kept: a NaN other than the usual one is printed as ``nan(0xfff8000000000000)``.
    """
    if isinstance(value, np.generic) and is_boxed(value.dtype):
        return show_constant(ArrayConstant.of(np.asarray(value)))
    if isinstance(value, np.generic):
        return f"{DTYPE_NAMES.get(value.dtype, value.dtype)}({_show_element(value)})"
    if isinstance(value, complex):
        return f"complex({_show_element(np.complex128(value))})"
    return _show_float(np.float64(value)) if isinstance(value, float) else repr(value)


def _show_element(value: np.generic) -> str:
    if isinstance(value, np.complexfloating):
        return f"{_show_float(value.real)}, {_show_float(value.imag)}"
    return _show_float(value) if isinstance(value, np.floating) else repr(value.item())


def _show_float(value: np.floating) -> str:
    if np.isnan(value):
        usual = value.tobytes() == value.dtype.type(np.nan).tobytes()
        bits = int.from_bytes(value.tobytes(), "little")
        return "nan" if usual else f"nan(0x{bits:x})"
    if value.itemsize == 8 or np.isinf(value):
        return repr(float(value))
    if value == 0 or 1e-4 <= abs(float(value)) < 1e16:
        return np.format_float_positional(value, unique=True, trim="0")
    return np.format_float_scientific(value, unique=True, trim="0")


def show_constant(constant: ArrayConstant) -> str:
    """``i64[2] [1, 2]``; large constants are ``f64[512] base64 '…'``."""
    dtype = constant.dtype
    head = (
        f"{dtype_name(dtype) if is_known(dtype) else dtype}[{', '.join(map(str, constant.shape))}]"
    )
    listed = len(constant.data) <= LISTED_ELEMENTS * dtype.itemsize
    if dtype.kind == "b" and any(byte > 1 for byte in constant.data):
        listed = False
    if not listed or dtype not in DTYPE_NAMES:
        return f"{head} base64 '{binascii.b2a_base64(constant.data, newline=False).decode()}'"
    return f"{head} {_show_nested(constant.array())}" if constant.data else head


def _show_nested(array: np.ndarray) -> str:
    if array.ndim:
        return f"[{', '.join(map(_show_nested, array))}]"  # rows; of a vector, its elements
    element = _show_element(array.reshape(1)[0])
    return f"({element})" if array.dtype.kind == "c" else element


# The boundary


def _signature_lines(signature: Signature, inputs: tuple[Value, ...]) -> Iterator[Line]:
    yield Line("  signature", signature)
    for mutation in signature.mutations:
        name = _input_name(inputs, mutation.input)
        regions = "".join(f" in {show_steps(steps)}" for steps in mutation.regions)
        yield Line(f"    {name} := result {mutation.result}{regions}", mutation)
    for number, leaf in enumerate(signature.outputs):
        yield Line(f"    output {number} = {_show_leaf(leaf, inputs)}", leaf)


def _input_name(inputs: tuple[Value, ...], number: int) -> str:
    return f"%{inputs[number].name}" if 0 <= number < len(inputs) else f"<{number}>"


def _show_leaf(leaf: OutputLeaf, inputs: tuple[Value, ...]) -> str:
    match leaf:
        case ResultLeaf(result, type):
            return f"result {result}: {show_type(type)}"
        case InputLeaf(number):
            return f"input {_input_name(inputs, number)}"
        case ViewLeaf(base, steps, identity):
            text = f"view {identity} of {_show_leaf(base, inputs)}"
            return f"{text} by {show_steps(steps)}" if steps else text
        case DimLeaf(value):
            return f"dim {value}"
        case ConstantLeaf(value):
            return f"constant {_show_object(value)}"
        case _:
            assert_never(leaf)


def show_steps(steps: tuple[ViewStep, ...]) -> str:
    """Views one behind the other: ``select(1, 0), slice([1:6:1])``."""
    return ", ".join(
        f"{step.op}({', '.join(show_argument(arg) for arg in step.args)})" for step in steps
    )


def _show_object(value: object) -> str:
    if value is None or isinstance(value, str):
        return repr(value)
    if type(value) in (bool, int, float, complex) or isinstance(value, np.generic):
        return show_scalar(value)
    return f"<{type(value).__qualname__}>"


# Symbols


def known_symbols(graph: Graph) -> list[Symbol]:
    """The symbols of a graph that have a hint or a lower bound, in order of appearance."""
    found: dict[str, Symbol] = {}
    for dim in dims_of(graph):
        for name, symbol in symbols_of(dim).items():
            known = found.setdefault(name, symbol)
            if (known.hint, known.lower, known.most) != (symbol.hint, symbol.lower, symbol.most):
                found[name] = Symbol(
                    name,
                    symbol.hint if known.hint is None else known.hint,
                    symbol.lower if known.lower is None else known.lower,
                    symbol.most if known.most is None else known.most,
                )
    return [s for s in found.values() if s.hint is not None or s.lower is not None]


def inputs_text(graph: Graph) -> str:
    """What the graph takes, in a line: ``x: f64[x.0], n: py.int with x.0 >= 2``."""
    types = tuple(value.type for value in graph.inputs)
    known = dict(item for dim in dims_of(types) for item in symbols_of(dim).items())
    bounds = [f"{name} >= {each.lower}" for name, each in known.items() if each.lower is not None]
    shown = ", ".join(f"{value.name}: {value.type}" for value in graph.inputs)
    return shown + (f" with {', '.join(bounds)}" if bounds else "")


def _show_known(symbol: Symbol) -> str:
    if symbol.hint is None:
        return f"{symbol.name} >= {symbol.lower}"
    bounds = [] if symbol.lower is None else [f">= {symbol.lower}"]
    bounds += [] if symbol.most is None else [f"<= {symbol.most}"]
    known = f" ({', '.join(bounds)})" if bounds else ""
    return f"{symbol.name} = {symbol.hint}{known}"


def dims_of(part: object) -> Iterator[SymExpr]:
    """Every symbolic dim in a graph, node, type, leaf or argument, in the order of the text."""
    match part:
        case SymExpr():
            yield part
        case tuple():
            for item in part:
                if not isinstance(item, int):  # most are
                    yield from dims_of(item)
        case SliceSpec(start, stop, step):
            yield from dims_of((start, stop, step))
        case ArrayType():
            yield from dims_of(part.shape + part.strides)
        case Value():
            yield from dims_of(part.type)
        case Region():
            yield from dims_of(part.params)
            yield from dims_of(part.nodes)
        case Node():
            yield from dims_of(part.outputs)
            yield from dims_of(tuple(arg for arg in part.args if not _is_operand(arg)))
        case Graph():
            yield from dims_of(part.inputs)
            for guard in part.guards:
                yield from dims_of((guard.left, guard.right))
            yield from dims_of(part.nodes)
            yield from dims_of(part.signature.outputs if part.signature else ())
        case ResultLeaf(_, type):
            yield from dims_of(type)
        case ViewLeaf(base, steps):
            yield from dims_of((base, *(step.args for step in steps)))
        case DimLeaf(value):
            yield from dims_of(value)


def _is_operand(arg: Arg) -> bool:
    items = arg if isinstance(arg, tuple) else (arg,)
    return any(isinstance(item, Value | Literal) for item in items)
