"""Calls of NumPy's kernels in the source of a plan, and what becomes of their results."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.objects import HELD_ONCE, OWN_ARRAY, OWN_DATA

from .recipe import NumpyStep, SlotArg

if TYPE_CHECKING:
    from .plan_writer import PlanWriter

_PYTHONS = {"b": bool, "i": int, "f": float, "c": complex}


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
        case (single,) if step.size is None and single in writer.perhaps_given:
            _take(writer, single, f"{kernel}({given})", step.args)
        case outs if step.into:
            slots = ", ".join(writer.exact(writer.slots[out]) for out in outs)
            slots = slots if len(outs) == 1 else f"({slots})"
            writer.add(f"{kernel}({given}, out={slots})")
        case (single,) if single in writer.numbers:
            _hold(writer, single, f"{kernel}({given})")
        case (single,) if step.size is None:
            writer.add(f"{writer.exact(writer.slots[single])}[...] = {kernel}({given})")
        case outs:
            writer.add(f"parts = {kernel}({given})")
            if step.size is not None:
                symbol, slot = step.size
                writer.symbols[symbol] = f"s{len(writer.symbols)}"
                writer.add(f"{writer.symbols[symbol]} = len(parts[0])")
                if slot not in writer.unread:
                    writer.add(f"{writer.slot_names[slot]}[...] = {writer.symbols[symbol]}")
            for place, out in enumerate(outs):
                if out in writer.unread:
                    continue
                if out in writer.given:
                    writer.slot_names[out] = writer.new_name()
                    writer.add(f"{writer.slot_names[out]} = parts[{place}]")
                elif out in writer.perhaps_given:
                    _take(writer, out, f"parts[{place}]", step.args)
                elif out in writer.numbers:
                    _hold(writer, out, f"parts[{place}]")
                else:
                    writer.add(f"{writer.exact(writer.slots[out])}[...] = parts[{place}]")


def _take(writer: PlanWriter, out: str, found: str, args: Sequence[object]) -> None:
    """Take an array that NumPy has made, or a copy where it is not one of its own."""
    name = writer.slot_names[out] = writer.new_name()
    dtype = writer.constant("dtype", writer.slots[out].dtype)
    writer.constants["own_array"] = own_array
    given = [writer.slot_names[arg.name] for arg in args if isinstance(arg, SlotArg)]
    is_given = " or ".join(f"{name} is {each}" for each in dict.fromkeys(given)) or "False"
    writer.add(f"{name} = {found}")
    own = f"{name}.flags.num & {OWN_ARRAY} == {OWN_ARRAY}"
    writer.add(f"if not ({own}) or {name}.dtype is not {dtype} or {is_given}:")
    writer.add(f"    {name} = own_array({name}, {dtype}, {is_given})")


def own_array(found: np.ndarray, dtype: np.dtype, is_given: bool) -> np.ndarray:
    """An array in C order that nobody else knows: a view of memory that is its own, or a copy."""
    base = found.base
    if (
        type(base) is np.ndarray
        and base.flags.num & OWN_DATA
        and sys.getrefcount(base) == HELD_ONCE
        and base.nbytes == found.nbytes
        and found.flags.carray
        and found.dtype is dtype
        and not is_given
    ):
        return found
    return np.array(found, dtype, order="C")


def _hold(writer: PlanWriter, out: str, found: str) -> None:
    """Keep a number that NumPy gives as it is, of the type that it is read as."""
    name = writer.slot_names[out] = writer.new_name()
    dtype, weak = writer.slots[out].dtype, writer.numbers[out]
    kind = writer.constant("kind", _number_type(dtype, weak))
    writer.add(f"{name} = {found}")
    writer.add(f"if not ({_is_settled(name, dtype, weak, kind)}):")
    settle = writer.constant("settle", partial(settled, dtype, weak))
    writer.add(f"    {name} = {settle}({name})")


def _is_settled(name: str, dtype: np.dtype, weak: bool, kind: str) -> str:
    """What holds of a number that is already one of that dtype; ``kind`` names ``_number_type``."""
    is_long = f" and {-(2**63)} <= {name} < {2**63}" if weak and dtype.kind == "i" else ""
    return f"type({name}) is {kind}{is_long}"


def _number_type(dtype: np.dtype, weak: bool) -> type | None:
    """The type of NumPy's numbers of that dtype, or of Python's if they are ``weak``; None if it
    does not say all: dates have units.
    """
    if weak:
        return _PYTHONS.get(dtype.kind)
    return dtype.type if dtype.kind in "biufc" else None


def settled(dtype: np.dtype, weak: bool, found: object) -> Any:
    """The number of that dtype that another one, or an array without axes, is."""
    slot = np.empty((), dtype)
    slot[...] = found
    return slot.item() if weak else slot[()]
