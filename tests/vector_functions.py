"""The functions of vector math alone: compiled for one lane and for a full vector, and run."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from fxc.ir.digesting import digest
from fxc.lowering import vector_math
from fxc.runtime import engine
from fxc.runtime.features import permutes

Floats = NDArray[Any]
Run = Callable[..., Floats]

LANES = {"f64": 8, "f32": 16}
DTYPES: dict[str, type[np.floating[Any]]] = {"f64": np.float64, "f32": np.float32}
_LESSER = {"AVX2": "x86-64-v3", "SSE2": "x86-64"}
"""Processors that have less than those with AVX-512, by the names that LLVM has for them."""

_LLVM_TYPES = {"f64": "double", "f32": "float"}


def _kernel(name: str, kind: str, lanes: int) -> str:
    """A loop that applies the function to whole vectors of its arguments."""
    outs = range(2 if name in vector_math.PAIRS else 1)
    scalar = _LLVM_TYPES[kind]
    vector = scalar if lanes == 1 else f"<{lanes} x {scalar}>"
    inputs = range(vector_math.FUNCTIONS[name])
    pointers = ", ".join(f"ptr %p{i}" for i in inputs)
    loads = "\n".join(
        f"  %g{i} = getelementptr {scalar}, ptr %p{i}, i64 %i\n"
        f"  %a{i} = load {vector}, ptr %g{i}, align 4"
        for i in inputs
    )
    arguments = ", ".join(f"{vector} %a{i}" for i in inputs)
    returned, results = vector, ["%r"]
    parts = ""
    if len(outs) > 1:
        returned, results = f"{{{', '.join(vector for _ in outs)}}}", [f"%r{i}" for i in outs]
        parts = "\n".join(f"  %r{i} = extractvalue {returned} %r, {i}" for i in outs)
    stores = "\n".join(
        f"  %s{i} = getelementptr {scalar}, ptr %out{i}, i64 %i\n"
        f"  store {vector} {result}, ptr %s{i}, align 4"
        for i, result in enumerate(results)
    )
    places = ", ".join(f"ptr %out{i}" for i in outs)
    return f"""
define void @run.{name}.{kind}.{lanes}(i64 %n, {pointers}, {places}) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{loads}
  %r = call {returned} @{vector_math.symbol(name, kind, lanes)}({arguments})
{parts}
{stores}
  %next = add i64 %i, {lanes}
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}
"""


@cache
def _engine(name: str, processor: str, lanes: int) -> Any:
    """The code of one function: for this processor, as where it is compiled once for many calls, or
    for a lesser one, as where it is inlined. For so many lanes; 0 is one lane and a full vector.
    """
    counts = {kind: (lanes,) if lanes else (1, LANES[kind]) for kind in LANES}
    wanted = {(name, kind, count): 1 for kind in LANES for count in counts[kind]}
    permuted = 32 if processor == "AVX2" else 0 if processor else permutes()
    built = vector_math.definitions(wanted, permuted)
    text = "\n".join(sorted(built.declares)) + built.text
    text += "".join(_kernel(*each) for each in wanted)
    key = digest(f"{processor}\n{text}".encode())
    code = engine.codes.get(key)
    if code is None:
        code = _object_code(text, processor)
        engine.codes.keep(key, code)
    # It has a module and a machine of its own: no code is made from them.
    module = llvm.parse_assembly("")
    loaded = llvm.create_mcjit_compiler(module, _machine(processor))
    loaded.remove_module(module)
    loaded.add_object_file(llvm.ObjectFileRef.from_data(code))
    loaded.finalize_object()
    return loaded


def _object_code(text: str, processor: str) -> bytes:
    machine, module = _machine(processor), llvm.parse_assembly(text)
    module.verify()
    engine.optimise(machine, module, "array" if processor else "scalar")
    return bytes(machine.emit_object(module))


def _machine(processor: str) -> llvm.TargetMachine:
    """A new one: an engine owns its machine."""
    engine.load_llvm()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=_LESSER[processor] if processor else llvm.get_host_cpu_name(),
        features="" if processor else llvm.get_host_cpu_features().flatten(),
        opt=2,
        jit=True,
    )


def runner(name: str, kind: str, lanes: int, processor: str = "") -> Run:
    """The function on arrays whose length is a multiple of the number of lanes; of a complex
    number, as two arrays, both parts of the result, as an array of two rows.
    """
    arity, parts = vector_math.FUNCTIONS[name], 2 if name in vector_math.PAIRS else 1
    signature = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (arity + parts))
    code = _engine(name, processor, 0 if lanes in (1, LANES[kind]) else lanes)
    call = signature(code.get_function_address(f"run.{name}.{kind}.{lanes}"))

    def run(*arguments: Floats) -> Floats:
        assert len(arguments[0]) % lanes == 0
        arguments = tuple(np.ascontiguousarray(each) for each in arguments)
        outs = np.empty((parts, len(arguments[0])), arguments[0].dtype)
        call(outs.shape[1], *(each.ctypes.data for each in (*arguments, *outs)))
        return outs if parts > 1 else outs[0]

    return run


def has_the_same_bits_everywhere(
    name: str, kind: str, arguments: Sequence[Floats], expected: Floats
) -> bool:
    """Whether one lane and a full vector, on lesser processors too, give what is expected."""
    lesser = _LESSER if llvm.get_host_cpu_features().get("avx2") else ("SSE2",)
    return all(
        same_bits(expected, runner(name, kind, lanes, processor)(*arguments)).all()
        for processor in ("", *lesser)
        for lanes in (1, LANES[kind])
    )


def over_all_exponents(dtype: Any, rng: np.random.Generator, count: int) -> Floats:
    """Numbers of both signs, as many of each exponent."""
    info = np.finfo(dtype)
    exponents = rng.uniform(np.log2(float(info.smallest_subnormal)), info.maxexp - 1e-3, count)
    return np.asarray(np.exp2(exponents) * rng.choice([-1, 1], count), dtype)


def special_values(dtype: Any) -> Floats:
    """Zeros, infinities, nan and numbers at which functions change."""
    info = np.finfo(dtype)
    positive = [0, 1, 0.5, 2, 3, 4, 2.5, 1e5, 1e-5, np.inf, np.nan, info.max, info.tiny,
                info.smallest_subnormal, 1 + info.eps, 1 - info.epsneg, 1 / info.eps,
                1 / info.eps + 1, 2 / info.eps, np.pi, np.pi / 2]  # fmt: skip
    return np.array(positive + [-value for value in positive], dtype)


def same_bits(left: Floats, right: Floats) -> Floats:
    """Where two arrays agree, all nans being alike."""
    equal = (left == right) & (np.signbit(left) == np.signbit(right))
    return np.asarray(equal | (np.isnan(left) & np.isnan(right)))
