"""From a functional graph to a model of ONNX, with what a user has to know about it as metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from fxc.ir.errors import ExportError
from fxc.ir.graph import Graph, Value
from fxc.ir.records import frozen
from fxc.ir.signature import ConstantLeaf, InputLeaf, OutputLeaf, ResultLeaf, ViewLeaf
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import counted_in, symbol, symbols_of
from fxc.ir.text import show_steps
from fxc.ir.types import ArrayType, Type

from ..legalize import legalize
from .control import enter
from .kernels import is_known
from .model import Model, Port, library, model_bytes
from .nodes import emitter_of, new_writer, problem
from .tensors import Tensor
from .visible import Visible, with_all_visible

FORMAT = 1  # of the metadata


@frozen
class Names:
    """What people call things: each input of the graph by the argument, each leaf of the result by
    its place in it, and the arguments that are a part of the program, with their values.
    """

    inputs: tuple[str, ...]
    results: tuple[str, ...]
    fixed: tuple[tuple[str, str], ...]


def onnx_model(graph: Graph, names: Names, at_least: dict[int, int]) -> bytes:
    """A functional graph as a model of ONNX. ``at_least`` bounds inputs that are ints.

    Raises ``ExportError``, which names all that ONNX has no operators for, and ``ImportError`` if
    the package onnx is not installed.
    """
    library()
    return model_bytes(_Export(graph, names, at_least).model())


def legal_graph(graph: Graph) -> Graph:
    """The graph in operators that can be written."""
    return legalize(graph, "ONNX", emitter_of, problem, has_dtype=is_known)


class _Export:
    def __init__(self, graph: Graph, names: Names, at_least: dict[int, int]) -> None:
        self.graph, self.names, self.at_least = graph, names, at_least
        self.visible: Visible = with_all_visible(graph)
        self.legal = legal_graph(self.visible.graph)
        if not self.legal.outputs:
            why = "it gives nothing, and changes nothing"
            raise ExportError(f"{graph.name} cannot be exported to ONNX: {why}")
        self.w = new_writer()
        self.inputs = [
            self.w.tensor(_identifier(name), value.type.dtype)
            for name, value in zip(names.inputs, graph.inputs, strict=True)
        ]

    def model(self) -> Model:
        w, graph = self.w, self.graph
        enter(w, graph.inputs, self.inputs)
        self._require_sizes()
        w.write(self.legal.nodes)
        w.place = ""
        names = self._output_names()
        outputs = [
            self._output(name, w.value(operand), operand.type)
            for name, operand in zip(names, self.legal.outputs, strict=True)
        ]
        valid = w.scopes[0].valid
        if valid is not None:
            outputs.append(self._valid(valid))
        ports = [
            Port(x, _shape(value.type), f"{name}, an argument of {graph.name}")
            for x, value, name in zip(self.inputs, graph.inputs, self.names.inputs, strict=True)
        ]
        metadata = self._metadata([port.tensor.name for port in outputs])
        return Model(
            graph.name,
            f"The Python function {graph.name}, exported by fxc",
            tuple(ports),
            tuple(outputs),
            tuple(w.scopes[0].calls),
            w.initializers,
            {"fxc": json.dumps(metadata, indent=1)},
        )

    # -- what arguments the model is for

    def _require_sizes(self) -> None:
        """See Note [The flag of a model]: what the graph takes for granted about its inputs."""
        lower: dict[str, int] = {}
        for place, value in enumerate(self.graph.inputs):
            if place in self.at_least:
                self.w.require(self.inputs[place] >= self.at_least[place])
            if isinstance(value.type, ArrayType):
                self._require_shape(value, self.inputs[place], lower)
        for name, least in lower.items():
            self.w.require(self.w.size(symbol(name)) >= least)
        for guard in self._guards():
            left, right = self.w.size(guard.left), self.w.size(guard.right)
            self.w.require(_RELATIONS[guard.relation](left, right))

    def _require_shape(self, value: Value, x: Tensor, lower: dict[str, int]) -> None:
        for axis, dim in enumerate(value.type.shape):
            if isinstance(dim, int):
                continue  # a part of the type
            size = self.w.size_of(x, axis)
            expected = self.w.size(dim)
            if size is not expected:
                self.w.require(size.equal(expected))
            for name, each in symbols_of(dim).items():
                if each.lower:
                    lower[name] = each.lower

    def _guards(self) -> list[Guard]:
        """Those that are about values; how arrays lie in memory is nothing to ONNX."""
        found = []
        for guard in self.legal.guards:
            names = {**symbols_of(guard.left), **symbols_of(guard.right)}
            if all(map(self.w.knows, names)) and not counted_in(guard.left - guard.right):
                found.append(guard)
        return found

    # -- what comes out

    def _output_names(self) -> list[str]:
        names: dict[int, str] = {}
        for place, number in self.visible.updates.items():
            names.setdefault(number, f"{_identifier(self.names.inputs[place])}_after")
        for text, leaf in zip(self.names.results, self.visible.leaves, strict=True):
            if leaf is not None:
                names.setdefault(leaf, _identifier(text))
        return [names[number] for number in range(len(self.legal.outputs))]

    def _output(self, name: str, x: Tensor, kind: Type) -> Port:
        made = self.w.tensor(name, x.dtype)
        self.w.copy(x, made)
        return Port(made, _shape(kind), "")

    def _valid(self, valid: Tensor) -> Port:
        made = self.w.tensor("valid", valid.dtype)
        self.w.copy(valid, made)
        return Port(made, (), "False where Python would have raised: nothing else counts then")

    def _metadata(self, outputs: Sequence[str]) -> dict[str, Any]:
        signature = self.graph.signature
        assert signature is not None
        pairs = zip(self.names.results, self.visible.leaves, signature.outputs, strict=True)
        given = zip(self.inputs, self.names.inputs, strict=True)
        return {
            "format": FORMAT,
            "function": self.graph.name,
            "inputs": [{"name": x.name, "argument": name} for x, name in given],
            "fixed": [{"argument": name, "value": value} for name, value in self.names.fixed],
            "updates": [
                {"input": self.inputs[place].name, "output": outputs[number]}
                for place, number in self.visible.updates.items()
            ],
            "results": [
                {"place": text, **self._result(None if n is None else outputs[n], leaf)}
                for text, n, leaf in pairs
            ],
            "valid": outputs[-1] if len(outputs) > len(self.legal.outputs) else None,
            "sizes": [str(guard) for guard in self._guards()],
        }

    def _result(self, output: str | None, leaf: OutputLeaf) -> dict[str, Any]:
        match leaf:
            case ConstantLeaf(value):
                is_plain = value is None or isinstance(value, bool | int | float | str)
                return {"constant": value if is_plain else repr(value)}
            case InputLeaf(place):
                return {"output": output, "is": self.inputs[place].name}
            case ViewLeaf(base, steps, identity):
                if isinstance(base, InputLeaf):
                    of = self.inputs[base.input].name
                else:
                    of = f"result {base.result}"
                view = {"view_of": of, "by": show_steps(steps), "object": identity}
                return {"output": output, **view}
            case ResultLeaf(number, _):
                return {"output": output, "new": f"result {number}"}
            case _:
                return {"output": output}


_RELATIONS = {
    "==": lambda x, y: x.equal(y),
    "!=": lambda x, y: ~x.equal(y),
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


def _identifier(text: str) -> str:
    """A name as ONNX wants it, for ``opts['tol']`` say ``opts_tol``."""
    found = re.sub(r"\W+", "_", text).strip("_")
    return f"_{found}" if not found or found[0].isdigit() else found


def _shape(kind: Type) -> tuple[int | str, ...]:
    return tuple(dim if isinstance(dim, int) else str(dim) for dim in kind.shape)
