"""The bytes of a model; the only module that imports the library ``onnx``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NOT_INSTALLED
from fxc.ir.errors import ExportError, numbered
from fxc.ir.records import frozen

from .tensors import OnnxCall, SubGraph, Tensor

# What onnxruntime knows since 1.18, and onnx since 1.16.
OPSET, IR_VERSION = 20, 9


@frozen
class Port:
    """An input or a result of a model; its shape has numbers and names."""

    tensor: Tensor
    shape: tuple[int | str, ...]
    text: str


@frozen
class Model:
    """All that is written of a model."""

    name: str
    text: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    calls: tuple[OnnxCall, ...]
    initializers: Mapping[str, np.ndarray]
    metadata: Mapping[str, str]


def library() -> Any:
    """The library ``onnx``."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            numbered(
                NOT_INSTALLED,
                'to_onnx needs the package onnx, which is not installed: pip install "fxc[onnx]"',
            )
        ) from error
    return onnx


def model_bytes(model: Model) -> bytes:
    """The model, which onnx has checked.

    Raises ``ImportError`` without the package onnx, ``ExportError`` for what cannot be one file.
    """
    onnx = library()
    write = _Protos(onnx)
    graph = onnx.helper.make_graph(
        [write.node(call) for call in model.calls],
        model.name,
        [write.port(port) for port in model.inputs],
        [write.port(port) for port in model.outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in model.initializers.items()],
        doc_string=model.text,
    )
    made = onnx.helper.make_model(
        graph,
        producer_name="fxc",
        ir_version=IR_VERSION,
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
    )
    onnx.helper.set_model_props(made, dict(model.metadata))
    if made.ByteSize() >= 2**31 - 2**20:
        raise ExportError(f"{model.name} has constants of more than 2 GB, which no ONNX file holds")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        onnx.checker.check_model(made, full_check=True)
    data: bytes = made.SerializeToString()
    return data


class _Protos:
    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx

    def node(self, call: OnnxCall) -> Any:
        attributes = {name: self.attribute(x) for name, x in call.attributes.items()}
        return self.onnx.helper.make_node(
            call.kind, call.inputs, call.outputs, doc_string=call.place, **attributes
        )

    def attribute(self, value: object) -> object:
        match value:
            case SubGraph():
                return self.body(value)
            case np.ndarray():
                return self.onnx.numpy_helper.from_array(value)
            case np.dtype():
                return self.kind(value)
            case _:
                return value

    def body(self, body: SubGraph) -> Any:
        nodes = [self.node(call) for call in body.calls]
        inputs, outputs = (self._untold(each) for each in (body.inputs, body.outputs))
        return self.onnx.helper.make_graph(nodes, "body", inputs, outputs)

    def _untold(self, tensors: Sequence[Tensor]) -> list[Any]:
        make = self.onnx.helper.make_tensor_value_info
        return [make(x.name, self.kind(x.dtype), () if x.is_number else None) for x in tensors]

    def port(self, port: Port) -> Any:
        make = self.onnx.helper.make_tensor_value_info
        return make(port.tensor.name, self.kind(port.tensor.dtype), port.shape, port.text)

    def kind(self, dtype: np.dtype) -> int:
        found: int = self.onnx.helper.np_dtype_to_tensor_dtype(dtype)
        return found
