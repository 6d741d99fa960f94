"""Exported models in onnxruntime, compared with NumPy by what their metadata say."""

from __future__ import annotations

import inspect
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

import fxc
from fxc.exported.arguments import leaf_names
from fxc.exported.program import ExportedProgram
from fxc.exporters.onnx.export import legal_graph
from fxc.exporters.onnx.nodes import emitters
from fxc.ir.errors import ExportError
from fxc.ir.graph import walk
from fxc.ir.tree import flatten
from tests import outcomes
from tests.exporters.corpus import Example, exported

# Where sums are in other orders, or elementary functions are others: of the largest element.
ROUNDED = {"f": 4e-6, "d": 4e-13}


class Model:
    """A model in onnxruntime, called with arguments by the names that messages give them."""

    def __init__(self, path: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        providers = ["CPUExecutionProvider"]
        self.session = onnxruntime.InferenceSession(str(path), options, providers=providers)
        self.metadata = json.loads(self.session.get_modelmeta().custom_metadata_map["fxc"])

    def __call__(self, arguments: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The outputs by name."""
        feed = {
            each["name"]: np.asarray(arguments[each["argument"]])
            for each in self.metadata["inputs"]
        }
        names = [each.name for each in self.session.get_outputs()]
        return dict(zip(names, self.session.run(names, feed), strict=True))


def model_of(program: ExportedProgram) -> Model:
    """The model that ``to_onnx`` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        program.to_onnx(path)
        return Model(path)


def is_exact(program: ExportedProgram) -> bool:
    """Whether ONNX's operators promise NumPy's bits."""
    nodes = walk(legal_graph(program.graph).body)
    return all(emitters()[node.op].exact for node in nodes)


def by_name(program: ExportedProgram, function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """The leaves of arguments by their names."""
    parameters = tuple(inspect.signature(function).parameters)[: len(args)]
    leaves, _ = flatten((tuple(args), {}))
    return dict(zip(leaf_names(program.in_spec, parameters), leaves, strict=True))


def compare(
    program: ExportedProgram,
    model: Model,
    function: Callable[..., Any],
    make: Callable[[], Sequence[Any]],
    rtol: float = 0.0,
) -> str:
    """How a run of the model differs from a call of the function; '' if it does not."""
    found = model(by_name(program, function, make()))
    args = make()
    expected = outcomes.run(function, args)
    valid = model.metadata["valid"]
    if expected.error is not None or (valid and not found[valid]):
        is_told = expected.error is not None and valid and not found[valid]
        return "" if is_told else f"NumPy: {expected.error!r}; valid: {valid and found[valid]}"
    arguments = by_name(program, function, args)
    inputs = {each["name"]: each["argument"] for each in model.metadata["inputs"]}
    tolerance = 0.0 if is_exact(program) else rtol
    is_rounded = not is_exact(program)
    for each in model.metadata["updates"]:
        name = inputs[each["input"]]
        text = apart(arguments[name], found[each["output"]], tolerance, is_rounded)
        if text:
            return f"{name} afterwards: {text}"
    leaves, _ = flatten(expected.result)
    for leaf, each in zip(leaves, model.metadata["results"], strict=True):
        text = _leaf_differs(leaf, each, found, arguments, inputs)
        if not text and "output" in each:
            text = apart(leaf, found[each["output"]], tolerance, is_rounded)
        if text:
            return f"{each['place']}: {text}"
    return ""


def _leaf_differs(leaf: Any, said: Any, found: Any, arguments: Any, inputs: Any) -> str:
    """Whether a leaf of NumPy's result is not what the metadata say of it."""
    if "constant" in said:
        known = said["constant"]
        return "" if known in (leaf, repr(leaf)) else f"{leaf!r} is not {known!r}"
    if "is" in said and leaf is not arguments[inputs[said["is"]]]:
        return f"it is not {said['is']}"
    if "view_of" in said and said["view_of"] in inputs:
        base = arguments[inputs[said["view_of"]]]
        if leaf.size and not np.shares_memory(leaf, base):
            return f"it is no view of {said['view_of']}"
    return ""


def apart(expected: Any, found: np.ndarray, rtol: float, is_rounded: bool) -> str:
    """How an array of the model differs from NumPy's; '' if it does not."""
    wanted = np.asarray(expected)
    if wanted.dtype != found.dtype or wanted.shape != found.shape:
        return f"{found.dtype}{list(found.shape)} in place of {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype.kind != "f":
        wrong = wanted != found
    else:
        nans = np.isnan(wanted) & np.isnan(found)
        with np.errstate(all="ignore"):
            same = (wanted == found) & ((np.signbit(wanted) == np.signbit(found)) | is_rounded)
            if is_rounded and wanted.size:
                finite = np.abs(wanted[np.isfinite(wanted)])
                bound = max(rtol, ROUNDED.get(wanted.dtype.char, 2e-3)) * max(finite, default=0)
                same |= np.abs(wanted - found) <= bound
        wrong = ~(nans | same)
    if not wrong.any():
        return ""
    place = np.unravel_index(int(wrong.argmax()), wrong.shape)
    return f"at {place} {found[place]!r} in place of {wanted[place]!r}"


@cache
def outcome(example: Example) -> str:
    """What becomes of a program of the corpus: "equal", or the refusal, or how it differs."""
    known: list[tuple[ExportedProgram, Model]] = []
    for seed in range(3):
        args = example.arguments(seed)
        if not known or not _is_for(*known[-1], example.function, args):
            program = fxc.export(example.function, *args) if known else exported(example)
            try:
                known.append((program, model_of(program)))
            except ExportError as error:
                return str(error)
        text = compare(
            *known[-1], example.function, lambda s=seed: example.arguments(s), example.rtol
        )
        if text:
            return f"differs: {text}"
    return "equal"


def _is_for(program: ExportedProgram, model: Model, function: Any, args: Sequence[Any]) -> bool:
    """Whether a model is for arguments of these sizes and with these values."""
    leaves = by_name(program, function, args)
    inputs = zip(model.metadata["inputs"], program.graph.inputs, strict=True)
    return all(
        np.shape(leaves[each["argument"]]) == value.type.shape for each, value in inputs
    ) and all(repr(leaves[each["argument"]]) == each["value"] for each in model.metadata["fixed"])
