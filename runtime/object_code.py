"""LLVM text → relocatable object files, for this kind of processor or for another one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from fxc.ir.records import frozen

from .engine import IN_VECTORS, generation, llvm_lock, load_llvm, optimisation_level, optimise

if TYPE_CHECKING:
    import llvmlite.binding as llvm


@frozen
class Processor:
    """What code is made for, as LLVM calls it."""

    triple: str
    cpu: str
    features: str = ""


def object_code(
    text: str, support: Sequence[str], entries: Sequence[str], loops: str, processor: Processor
) -> bytes:
    """The object file of a module with what it calls of ``support``; it shows ``entries`` alone.

    Its code is position-independent. Raises ``RuntimeError`` for text that LLVM rejects.
    """
    with llvm_lock:
        llvm = _all_targets()
        lines = text.count("\n")
        level = optimisation_level(lines)
        machine = _machine(processor, level)
        module = _parsed(text, machine)
        for each in support:
            other = _parsed(each, machine)
            optimise(machine, other, "array" if each.startswith(IN_VECTORS) else "scalar")
            module.link_in(other)
        for function in module.functions:
            if not function.is_declaration and function.name not in entries:
                function.linkage = llvm.Linkage.internal
        optimise(machine, module, loops, lines)
        with generation(llvm, text):
            return bytes(machine.emit_object(module))


@cache
def _machine(processor: Processor, level: int) -> llvm.TargetMachine:
    llvm = _all_targets()
    target = llvm.Target.from_triple(processor.triple)
    return target.create_target_machine(
        cpu=processor.cpu,
        features=processor.features,
        opt=level,
        reloc="pic",
        codemodel="small",
    )


@cache
def _all_targets() -> Any:
    load_llvm()
    import llvmlite.binding as llvm  # all of it: modules are looked into, and linked

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


def _parsed(text: str, machine: llvm.TargetMachine) -> Any:
    module = _all_targets().parse_assembly(text)
    module.verify()
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return module
