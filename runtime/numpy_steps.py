"""Calls of NumPy's kernels in the source of a plan, and what becomes of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .recipe import NumpyStep, SlotArg
from .taking import Taken, Wanted

if TYPE_CHECKING:
    from .plan_writer import PlanWriter


def call_numpy(writer: PlanWriter, step: NumpyStep) -> None:
    """Write the call of a kernel."""
    kernel = writer.constant(step.op, step.kernel)
    given = ", ".join(writer.argument(arg) for arg in step.args)
    match step.outs:
        case ():
            writer.add(f"{kernel}({given})")
        case (single,) if single in writer.given:
            writer.slot_names[single] = writer.new_name()
            writer.add(f"{writer.slot_names[single]} = {kernel}({given})")
        case outs if step.into:
            slots = ", ".join(writer.exact(writer.slots[out]) for out in outs)
            slots = slots if len(outs) == 1 else f"({slots})"
            writer.add(f"{kernel}({given}, out={slots})")
        case (single,) if step.size is None and _wanted(writer, single).kind != "any":
            name, wanted = writer.new_name(), _wanted(writer, single)
            writer.slot_names[single] = name
            writer.add(f"{name} = {kernel}({given})")
            _take(writer, Taken((wanted,), is_single=True), name, name, step)
        case (single,) if step.size is None:
            writer.add(f"{writer.exact(writer.slots[single])}[...] = {kernel}({given})")
        case _:
            writer.add(f"parts = {kernel}({given})")
            if step.size is not None:
                symbol, slot = step.size
                writer.symbols[symbol] = f"s{len(writer.symbols)}"
                writer.add(f"{writer.symbols[symbol]} = len(parts[0])")
                if slot not in writer.unread:
                    writer.add(f"{writer.slot_names[slot]}[...] = {writer.symbols[symbol]}")
            _take_apart(writer, step)


def _take_apart(writer: PlanWriter, step: NumpyStep) -> None:
    """Give the results in ``parts`` names, or copy them into arrays."""
    wanted = tuple(_wanted(writer, out) for out in step.outs)
    names, stored = list[str](), dict[str, str]()
    for out, each in zip(step.outs, wanted, strict=True):
        if each.kind == "none":
            continue
        names.append(writer.new_name())
        if each.kind != "any" or out in writer.given:
            writer.slot_names[out] = names[-1]
        else:
            stored[out] = names[-1]
    if all(each.kind == "any" for each in wanted):
        writer.add(f"[{', '.join(names)}] = parts")
    elif names:
        _take(writer, Taken(wanted, is_single=False), ", ".join(names), "parts", step)
    for out, name in stored.items():
        writer.add(f"{writer.exact(writer.slots[out])}[...] = {name}")


def _wanted(writer: PlanWriter, out: str) -> Wanted:
    """What becomes of a result."""
    if out in writer.unread:
        return Wanted("none")
    if out in writer.given:
        return Wanted("any")
    dtype = writer.slots[out].dtype
    if out in writer.perhaps_given:
        return Wanted("array", dtype)
    if out in writer.numbers:
        return Wanted("python" if writer.numbers[out] else "scalar", dtype)
    return Wanted("any")


def _take(writer: PlanWriter, taken: Taken, names: str, found: str, step: NumpyStep) -> None:
    given = [writer.slot_names[arg.name] for arg in step.args if isinstance(arg, SlotArg)]
    operands = ", ".join([found, *dict.fromkeys(given)])
    writer.add(f"{names} = {writer.constant('take', taken)}({operands})")
