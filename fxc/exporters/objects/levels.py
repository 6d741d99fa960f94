"""The kinds of processors that a package has object code for, from the least to the best."""

from __future__ import annotations

from fxc.ir.records import frozen
from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import Target
from fxc.runtime.object_code import Processor


@frozen
class Level:
    """Code for processors of one ``machine`` that have these ``features``, as Linux calls them."""

    name: str
    machine: str
    features: tuple[str, ...]
    processor: Processor
    target: Target


# Between two looks for signals are some milliseconds: each takes the interpreter lock.
_COSTS = Costs(looks=1 << 22)
_LINUX = "unknown-linux-gnu"
_V3 = (
    *("cx16", "lahf_lm", "popcnt", "pni", "ssse3", "sse4_1", "sse4_2"),
    *("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"),
)
_V4 = (*_V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")


def _x86(cpu: str, features: tuple[str, ...], vector: int, registers: int) -> Level:
    # LLVM would rather have half of the widest registers.
    processor = Processor(f"x86_64-{_LINUX}", cpu, "-prefer-256-bit")
    target = Target(
        vector=vector,
        registers=registers,
        plan=False,
        halves="f16c" in features,
        permutes=vector if "avx2" in features else 0,
        costs=_COSTS,
    )
    return Level(cpu, "x86_64", features, processor, target)


LEVELS = (
    _x86("x86-64", (), 16, 16),
    _x86("x86-64-v3", _V3, 32, 16),
    _x86("x86-64-v4", _V4, 64, 32),
    Level(
        "aarch64",
        "aarch64",
        (),
        Processor(f"aarch64-{_LINUX}", "generic"),
        Target(vector=16, plan=False, halves=True, costs=_COSTS),
    ),
)
