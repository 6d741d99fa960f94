"""Running the text of a StableHLO module in XLA on the CPU, by jaxlib."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
from jax.extend.backend import get_backend, get_compile_options

import fxc
from fxc.exported.program import ExportedProgram
from fxc.exporters.stablehlo.module import size_symbols
from fxc.exporters.stablehlo.results import results_of, sizes_of
from fxc.ir.errors import ExportError
from fxc.ir.evaluate import deliver
from fxc.ir.graph import Graph
from fxc.ir.tree import flatten
from fxc.ops.kernels import kernel_of
from tests.exporters.corpus import Example, exported

# XLA's optimisation of machine code, and its newer way to make code of what it fuses, take most of the
# time of modules as small as these.
QUICK = {"xla_backend_optimization_level": "0", "xla_cpu_use_fusion_emitters": False}
# XLA contracts ``a * b + c``, and multiplies by the reciprocal of a constant instead of dividing
# by it. Not so with these options: what is no sum and no elementary function has NumPy's bits.
PLAIN = {"xla_disable_hlo_passes": "algsimp", **QUICK}


@cache
def compiled(text: str, plain: bool = False) -> Any:
    """XLA's executable of a module."""
    jax.config.update("jax_enable_x64", True)
    backend = get_backend("cpu")
    options = get_compile_options(1, 1, env_options_overrides=PLAIN if plain else QUICK)
    devices = backend.local_devices()[:1]
    return backend.compile_and_load(text, executable_devices=devices, compile_options=options)


def execute(text: str, inputs: Sequence[Any], plain: bool = False) -> list[np.ndarray]:
    """The results of the function ``main``."""
    run = compiled(text, plain)
    jax.config.update("jax_enable_x64", True)
    given = [jax.device_put(np.array(each)) for each in inputs]
    return [np.array(found) for found in run.execute(given)]


def refined(text: str, shapes: Sequence[tuple[int, ...]]) -> str:
    """The module for these shapes of its inputs: a function with them calls the one there is."""
    head = re.search(r"func\.func public @main\((.*)\) -> \((.*)\) \{$", text, re.M)
    assert head is not None
    asked = re.findall(r"%[^:]+: (tensor<[^, ]*>)", head[1])
    given = [_typed(kind, shape) for kind, shape in zip(asked, shapes, strict=True)]
    results = re.sub(r" \{[^}]*\}", "", head[2])
    lines = [
        f"%a{n} = stablehlo.convert %x{n} : ({kind}) -> {wanted}"
        for n, (kind, wanted) in enumerate(zip(given, asked, strict=True))
    ]
    names = [f"%r{n}" for n in range(results.count("tensor<"))]
    arguments = ", ".join(f"%a{n}" for n in range(len(given)))
    lines += [
        f"{', '.join(names)} = func.call @of_any({arguments}) : ({', '.join(asked)}) -> ({results})",
        f"return {', '.join(names)} : {results}",
    ]
    params = ", ".join(f"%x{n}: {kind}" for n, kind in enumerate(given))
    main = f"func.func public @main({params}) -> ({results}) {{\n" + "\n".join(lines) + "\n}\n"
    inner = text.replace("func.func public @main", main + "func.func private @of_any", 1)
    from jaxlib import _jax  # jax itself calls it for jax.export

    return _jax.mlir.refine_polymorphic_shapes(
        mlir_module=inner.encode(), enable_shape_assertions=True, validate_static_shapes=True
    )


def _typed(kind: str, shape: tuple[int, ...]) -> str:
    """``tensor<?xf64>`` with sizes."""
    element = re.sub(r"^tensor<([?\d]+x)*|>$", "", kind)
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def results_in(graph: Graph, text: str, inputs: Sequence[Any], plain: bool = False) -> list[Any]:
    """What the graph gives, by the module that it has become."""
    types = [value.type for value in graph.inputs]
    arrays = [np.asarray(x, kind.dtype) for x, kind in zip(inputs, types, strict=True)]
    return results_of(graph, text, execute(text, arrays, plain))


def call_in_xla(program: ExportedProgram, args: Sequence[Any], plain: bool = False) -> list[Any]:
    """What a caller sees: leaves of the result, with the arguments changed."""
    inputs = program._inputs(tuple(args), {})
    text = program.to_stablehlo(sizes=numbers_of(program, inputs))
    types = [value.type for value in program.graph.inputs]
    arrays = [np.asarray(x, kind.dtype) for x, kind in zip(inputs, types, strict=True)]
    found = execute(text, arrays, plain)
    results = results_of(program.graph, text, found)
    return deliver(program.graph, inputs, results, kernel_of, sizes_of(text, found))


def numbers_of(program: ExportedProgram, inputs: Sequence[Any]) -> Mapping[str, int]:
    """What XLA has to know of sizes before it can compile."""
    known = program._symbols(inputs)
    return {n: size for n, size in known.items() if n in size_symbols(program.graph)}


# ---------------------------------------------------------------- the corpus


def outcome(example: Example) -> str:
    """``equal``, or what the exporter refuses; anything else is what differs."""
    function = example.function
    try:
        for seed in (0, 1):
            args = example.arguments(seed)
            program = fxc.export(function, *args) if seed else exported(example)
            text = _differences(program, function, example.arguments(seed), args, example.rtol)
            if text:
                return text
    except ExportError as refusal:
        return str(refusal)
    return "equal"


def differences_of(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> str:
    """What XLA gives otherwise than NumPy for arguments that are made anew."""
    args = make()
    return _differences(fxc.export(function, *args), function, make(), args, 0.0)


def _differences(
    program: ExportedProgram,
    function: Callable[..., Any],
    expected_args: tuple[Any, ...],
    args: tuple[Any, ...],
    rtol: float,
) -> str:
    """What a program gives otherwise than the function does for the other arguments; or ''."""
    with np.errstate(all="ignore"):
        expected = flatten((function(*expected_args), expected_args))[0]
    result = call_in_xla(program, args)
    found = [*result, *flatten(args)[0]]
    if len(found) != len(expected):
        return f"{len(found)} leaves instead of {len(expected)}"
    for number, (left, right) in enumerate(zip(found, expected, strict=True)):
        text = differs(left, right, rtol)
        if text:
            return f"leaf {number}: {text}"
    return ""


# By the bits of the mantissa: of sums and products that XLA adds up in its order, and contracts.
_ROUNDING = {52: 2e-12, 23: 1e-5, 10: 2e-2}


def differs(found: Any, expected: Any, rtol: float) -> str:
    """How one leaf is another; floats may differ relative to the largest element."""
    if type(found) is not type(expected):
        return f"{type(found).__name__} instead of {type(expected).__name__}"
    left, right = np.asarray(found), np.asarray(expected)
    if left.dtype != right.dtype or left.shape != right.shape:
        return f"{left.dtype}{left.shape} instead of {right.dtype}{right.shape}"
    if right.dtype.kind not in "fc":
        return "" if np.array_equal(left, right) else f"{left} instead of {right}"
    finite = np.abs(right[np.isfinite(right)])
    scale = finite.max(initial=0.0)
    bound = max(rtol, _ROUNDING[np.finfo(right.dtype).nmant]) * scale
    with np.errstate(all="ignore"):
        near = np.abs(left - right) <= bound
    same = (left == right) | (np.isnan(left) & np.isnan(right)) | near
    return "" if same.all() else f"{left} instead of {right}"
