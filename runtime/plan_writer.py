"""The Python source of a call plan, line by line."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.errors import Flagged, Interrupted, WouldRaise
from fxc.ir.graph import SliceSpec
from fxc.ir.location import Site
from fxc.ir.signature import (
    ConstantLeaf,
    DimLeaf,
    InputLeaf,
    OutputLeaf,
    ResultLeaf,
    Slot,
    ViewLeaf,
    ViewStep,
)
from fxc.ir.symbols import Dim, SymExpr, SymFunc, dims_in, product, symbols_of
from fxc.ir.types import ScalarType, layout_model

from .recipe import (
    LARGE,
    GivenArg,
    NativeStep,
    NumpyStep,
    Recipe,
    SlotArg,
    numbers_of,
    unread_slots,
)

_FIRST_LINE = 2  # of the body in the source of a plan


class PlanWriter:
    """Writes the function of one recipe: ``write`` gives its source, and fills ``constants``, the
    names that this mentions, and ``sites``, the operators that NumPy runs by their lines.
    ``call_numpy`` writes a step that is NumPy's.
    """

    def __init__(self, recipe: Recipe, call_numpy: Callable[[PlanWriter, NumpyStep], None]) -> None:
        self.recipe = recipe
        self._call_numpy = call_numpy
        self.constants: dict[str, Any] = {"empty": np.empty, "empty_like": np.empty_like}
        self.lines: list[str] = []
        self.sites: dict[int, Site] = {}
        self.slot_names: dict[str, str] = {}
        self._count = 0
        self.symbols: dict[str, str] = {}
        self.slots = {slot.name: slot for slot in recipe.slots}
        numpy_steps = [step for step in recipe.steps if isinstance(step, NumpyStep)]
        self.reused = {step.outs[0]: step.reuses for step in numpy_steps if step.reuses}
        self.given = {  # the slots that are arrays which NumPy makes
            name
            for step in recipe.steps
            if isinstance(step, NumpyStep) and step.fresh
            for name in step.outs
            if self._may_be_given(self.slots[name])
        }
        self.perhaps_given = {
            name
            for step in numpy_steps
            for name in step.may_give
            if self._is_new(self.slots[name]) and _in_order(self.slots[name])
        }
        self.unread = unread_slots(recipe)
        self.numbers = numbers_of(recipe)

    def _may_be_given(self, slot: Slot) -> bool:
        return self._is_new(slot) and slot.room is None and (slot.gaps or _in_order(slot))

    def _is_new(self, slot: Slot) -> bool:
        return bool(slot.shape) and slot.input is None

    def constant(self, stem: str, value: object) -> str:
        if not stem.isidentifier():  # the name of an operator
            stem = stem.replace(".", "_").replace("::", "_")
        name = f"{stem}{len(self.constants)}"
        self.constants[name] = value
        return name

    def add(self, line: str) -> None:
        self.lines.append(f"    {line}")

    def write(self) -> str:
        recipe = self.recipe
        self._bind_symbols()
        self._allocate_known()
        if recipe.arena != 0:
            new, dtype = self._function_for((recipe.arena,), 1), np.dtype(np.uint8)
            self.add(f"arena = {new}({self.dim(recipe.arena)}, {self.constant('dtype', dtype)})")
        packed = self._packed()
        for step in recipe.steps:
            match step:
                case NativeStep():
                    self._call_native(step, packed)
                    self._bind_sizes(step.binds)
                case NumpyStep():
                    before = len(self.lines)
                    self._call_numpy(self, step)
                    if step.site is not None:
                        lines = range(before, len(self.lines))
                        self.sites |= {line + _FIRST_LINE: step.site for line in lines}
        names = {name: f"n{place}" for place, name in enumerate(recipe.returned)}
        if len(names) > 1:
            self.add(f"{', '.join(names.values())} = found")
        self.slot_names |= names if len(names) > 1 else dict.fromkeys(names, "found")
        self._settle_all()
        leaves = [self._leaf(leaf) for leaf in recipe.signature.outputs]
        self.add(f"return [{', '.join(leaves)}]")
        given = ", ".join(f"a{place}" for place in range(len(recipe.inputs)))
        return "\n".join([f"def run({given}):", *self.lines, ""])

    def _packed(self) -> str:
        """The scalars that native code is given in bytes, as a Python expression."""
        packed = self.recipe.packed
        if not packed:
            return "b''"
        pack = self.constant("pack", struct.Struct("=" + "".join(x for _, _, x in packed)).pack)
        values = [f"a{i}.{part}" if part else f"a{i}" for i, part, _ in packed]
        return f"{pack}({', '.join(values)})"

    def _call_native(self, step: NativeStep, packed: str) -> None:
        entry = self.constant("entry", step.function)
        given = ", ".join((entry, packed, *self._arguments()))
        call = f"{entry}({given})"
        if step.checks or step.flags or self.recipe.returned:
            call = f"found = {call}"
        if step.looks or step.flags:
            self.constants["Interrupted"] = Interrupted
            self.add(f"try: {call}")
            self.add("except Exception as error: raise Interrupted from error")
        else:
            self.add(call)
        if step.checks:
            self.add(f"if found is {entry}:")
            self.add(f"    raise {self.constant('WouldRaise', WouldRaise)}")
        if step.flags:
            owner = self.constant("flagged", getattr(step.function, "__self__", None))
            self.add(f"if found is {owner}: raise {self.constant('Flagged', Flagged)}")
        if step.calls:
            self.add("if isinstance(found, Exception): raise found")

    def _bind_symbols(self) -> None:
        recipe = self.recipe
        given = [step.args for step in recipe.steps if isinstance(step, NumpyStep)]
        dims = dims_in((recipe.arena, recipe.slots, recipe.signature.outputs, *given))
        self.needed = needed = {name for dim in dims for name in symbols_of(dim)}
        for place, value in enumerate(recipe.inputs):
            kind = value.type
            if isinstance(kind, ScalarType):
                if value.name in needed:
                    self.symbols[value.name] = f"a{place}"
                continue
            for field, found in (("shape", kind.shape), ("strides", kind.strides)):
                for axis, dim in enumerate(found):
                    name = str(dim)
                    if name in needed and name not in self.symbols and name in symbols_of(dim):
                        self.symbols[name] = f"s{len(self.symbols)}"
                        self.add(f"{self.symbols[name]} = a{place}.{field}[{axis}]")

    def dim(self, dim: Dim) -> str:
        """A dim as a Python expression."""
        if isinstance(dim, int):
            return str(dim)
        terms = []
        for monomial, coefficient in dim.terms:
            factors = [str(coefficient)] if coefficient != 1 or not monomial else []
            for atom in monomial:
                factors.append(
                    self._function(atom) if isinstance(atom, SymFunc) else self.symbols[atom.name]
                )
            terms.append("*".join(factors))
        return f"({' + '.join(terms)})"

    def _function(self, atom: SymFunc) -> str:
        left, right = self.dim(atom.left), self.dim(atom.right)
        signs = {"floordiv": "//", "mod": "%"}
        if atom.name in signs:
            return f"({left} {signs[atom.name]} {right})"
        return f"{atom.name}({left}, {right})"

    def shape(self, shape: Sequence[Dim]) -> str:
        return f"({''.join(f'{self.dim(d)}, ' for d in shape)})"

    def _arguments(self) -> Iterator[str]:
        """What native code is given; None for arrays whose sizes it has not found yet."""
        yield from (f"a{place}" for place in self.recipe.objects)
        yield from (self.slot_names.get(slot.name, "None") for slot in self.recipe.slots)
        if self.recipe.arena != 0:
            yield "arena"

    def new_name(self) -> str:
        """A name that no array has: several slots may be one, or get another array later."""
        self._count += 1
        return f"m{self._count}"

    def _allocate_known(self) -> None:
        """Allocate what is of known size, and has not been."""
        for slot in self.recipe.slots:
            shape = slot.shape if slot.room is None else (slot.room,)
            sizes = {name for dim in shape for name in symbols_of(dim)}
            is_known = slot.input is not None or sizes <= self.symbols.keys()
            is_given = slot.name in self.given | self.perhaps_given | self.unread | {*self.numbers}
            if is_known and slot.name not in self.slot_names and not is_given:
                self._allocate(slot)

    def _allocate(self, slot: Slot) -> None:
        if slot.input is not None:
            self.slot_names[slot.name] = f"a{slot.input}"
            return
        other = self.slots[self.reused.get(slot.name, slot.name)]
        if other is not slot and slot.room is other.room is None:
            if other.name not in self.slot_names:
                self._allocate(other)
            self.slot_names[slot.name] = self.slot_names[other.name]
            return
        name = self.new_name()
        self.slot_names[slot.name] = name
        shape = slot.shape if slot.room is None else (slot.room,)
        if slot.room is None and not _in_order(slot):
            new = self._function_for(shape, slot.dtype.itemsize, "empty_like")
            like = self.constant("layout", layout_model(slot.dtype, slot.order))
            self.add(f"{name} = {new}({like}, shape={self.shape(shape)})")
            return
        new, dtype = self._function_for(shape, slot.dtype.itemsize), slot.dtype
        size = self.shape(shape) if slot.room is None else self.dim(slot.room)
        self.add(f"{name} = {new}({size}, {self.constant('dtype', dtype)})")

    def _function_for(self, shape: Sequence[Dim], itemsize: int, name: str = "empty") -> str:
        """What makes an array: NumPy's own function, unless it may be a large one."""
        size = itemsize * product(tuple(shape))
        if isinstance(size, int) and size < LARGE:
            return name
        self.constants[f"large_{name}"] = self.recipe.large(name)
        return f"large_{name}"

    def _bind_sizes(self, symbols: Sequence[str]) -> None:
        for symbol in symbols:
            if symbol in self.needed and symbol not in self.symbols:
                self.symbols[symbol] = f"s{len(self.symbols)}"
                slot = self.slot_names[self.recipe.sizes[symbol]]
                self.add(f"{self.symbols[symbol]} = {slot}.item()")
        self._allocate_known()

    def _settle_all(self) -> None:
        """Settle the results. Native code has written into inputs: Python cannot run it again."""
        before = len(self.lines)
        for name in dict.fromkeys(self.recipe.results):
            if name in self.slots:
                self._settle(self.slots[name])
        if len(self.lines) > before:
            self.lines[before:] = ["    try:", *(f"    {line}" for line in self.lines[before:])]
            self.constants["Interrupted"] = Interrupted
            self.add("except MemoryError as error: raise Interrupted from error")

    def _settle(self, slot: Slot) -> None:
        """Give a result the size that has been counted: an array of its own, in its own memory."""
        if slot.room is None or slot.name in self.perhaps_given:
            return
        name = self.slot_names[slot.name]
        if slot.order == tuple(range(len(slot.shape))):
            shape, dtype = self.shape(slot.shape), self.constant("dtype", slot.dtype)
            self.add(f"{name}.resize({shape}, refcheck=False)")
            if not slot.keeps_strides:
                self.add(f"if not {name}.size: {name} = empty({shape}, {dtype})")
            return
        like = self.constant("layout", layout_model(slot.dtype, slot.order))
        self.add(f"new = empty_like({like}, shape={self.shape(slot.shape)})")
        self.add(f"new[...] = {self.exact(slot)}")
        self.add(f"{name} = new")

    def exact(self, slot: Slot) -> str:
        """The array of a slot, for NumPy: of the size that has been counted."""
        name = self.slot_names[slot.name]
        if slot.room is None or slot.name in self.perhaps_given:
            return name
        shape = [slot.shape[axis] for axis in slot.order]
        found = f"{name}[:{self.dim(product(shape))}].reshape({self.shape(shape)})"
        if slot.order == tuple(range(len(shape))):
            return found
        return f"{found}.transpose({tuple(map(slot.order.index, range(len(shape))))})"

    def argument(self, arg: object) -> str:
        match arg:
            case SlotArg(name, kind, steps):
                suffix = {"array": "", "scalar": "[()]", "python": ".item()"}[kind]
                suffix = "" if name in self.numbers else suffix
                return self._viewed(self.exact(self.slots[name]) + suffix, steps)
            case GivenArg(place):
                return f"a{place}"
            case tuple():
                return f"({''.join(self.argument(item) + ', ' for item in arg)})"
            case SliceSpec(start, stop, step):
                made = self.constant("SliceSpec", SliceSpec)
                return f"{made}({self.dim(start)}, {self.dim(stop)}, {self.dim(step)})"
            case _ if isinstance(arg, int) and not isinstance(arg, bool):
                return repr(arg)
            case _ if isinstance(arg, SymExpr):
                return self.dim(arg)
            case _:
                return self.constant("value", arg)

    def _leaf(self, leaf: OutputLeaf) -> str:
        match leaf:
            case ResultLeaf(result, kind):
                slot = self.recipe.results[result]
                name = self.slot_names[slot]
                is_held = slot in self.numbers or slot in self.recipe.returned
                if isinstance(kind, ScalarType) and not is_held:
                    return f"{name}.item()" if kind.weak else f"{name}[()]"
                return name
            case InputLeaf(place):
                return f"a{place}"
            case ViewLeaf():
                return self._view(leaf)
            case DimLeaf(value):
                return self.dim(value)
            case ConstantLeaf(value):
                return self.constant("value", value)

    def _view(self, leaf: ViewLeaf) -> str:
        name = f"view{leaf.identity}"
        if f"    {name} = " in "\n".join(self.lines):
            return name
        self.add(f"{name} = {self._leaf(leaf.base)}")
        for step in leaf.steps:
            self.add(f"{name} = {self._viewed(name, (step,))}")
        return name

    def _viewed(self, array: str, steps: Sequence[ViewStep]) -> str:
        """A view of an array as a Python expression."""
        for step in steps:
            if step.op == "slice" and all(map(_is_plain, step.args[0])):
                array = f"{array}[{', '.join((*map(self._slice, step.args[0]), '...'))}]"
                continue
            if step.op in ("real", "imag"):
                array = f"{array}.{step.op}"
                continue
            given = [self.argument(arg) for arg in step.args]
            if step.op in ("reshape", "transpose"):  # in a fifth of the time of NumPy's functions
                array = f"{array}.{step.op}({', '.join(given)})"
                continue
            kernel = self.constant(step.op, self.recipe.view_kernels[step.op])
            array = f"{kernel}({', '.join([array, *given])})"
        return array

    def _slice(self, part: SliceSpec) -> str:
        stop = "" if type(part.stop) is int and part.stop < 0 else self.dim(part.stop)
        return f"{self.dim(part.start)}:{stop}:{part.step}"


def _is_plain(part: SliceSpec) -> bool:
    """Whether a Python slice says the same, but for a stop before the first element."""
    match part:
        case SliceSpec(_, _, int(step)) if step > 0:
            return True
        case SliceSpec(int(start), int(), int()):
            return start >= 0
        case _:
            return False


def _in_order(slot: Slot) -> bool:
    return slot.order == tuple(range(len(slot.shape)))
