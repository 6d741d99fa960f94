"""Writing LLVM IR as text: registers, types and constants at a given number of lanes."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.boxed_dtypes import is_boxed
from fxc.ir.flag_bits import FLAG_KINDS, HAS_FLAGS
from fxc.ir.graph import OF_PYTHON
from fxc.ir.location import Site

from ..vector_math import pair_type, symbol
from ..vector_math.comparisons import is_signaling, quiet

if TYPE_CHECKING:
    from .located import CodePlaces


_SCALAR = {
    "i": {1: "i8", 2: "i16", 4: "i32", 8: "i64"},
    "f": {2: "half", 4: "float", 8: "double"},
    "c": {8: "i64", 16: "i128"},  # only ever copied
}

FAILED = "failed"  # the block that a failed check jumps to
LEFT = "left"  # blocks before it, and among the functions of the pointer table
LIBRARY_PREFIX = "libm."  # of the names of the C library's functions, see runtime/engine.py


def scalar_type(dtype: np.dtype) -> str:
    """The LLVM type of one element in a register: bools are ``i1``."""
    if dtype.kind == "b":
        return "i1"
    if is_boxed(dtype):
        return f"i{8 * dtype.itemsize}"  # only ever copied
    return _SCALAR["i" if dtype.kind == "u" else dtype.kind][dtype.itemsize]


def memory_type(dtype: np.dtype) -> str:
    """The LLVM type of one element in memory: bools are ``i8``."""
    return "i8" if dtype.kind == "b" else scalar_type(dtype)


def kind_name(dtype: np.dtype) -> str:
    """``f32``, ``f64``, as vector math and intrinsics name them; ``c64``, ``c128``."""
    return f"{dtype.kind}{8 * dtype.itemsize}"


def constant(value: bool | int | float, dtype: np.dtype) -> str:
    """The scalar constant, bit for bit."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind == "f" and dtype.itemsize == 2:
        return f"0xH{int.from_bytes(dtype.type(value).tobytes(), 'little'):04X}"
    if dtype.kind == "f":
        bits = struct.unpack("<Q", struct.pack("<d", float(dtype.type(value))))[0]
        return f"0x{bits:016X}"
    return str(int(dtype.type(value)) if dtype.kind == "i" else _signed(int(value), dtype))


def _signed(value: int, dtype: np.dtype) -> int:
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


class ModuleText:
    """What all functions of one module share: declarations, constants, math functions used.

    Code that is ``careful`` sets no flag that NumPy would not: see Note [Floating-point flags].
    In ``fast`` code sums and products may be contracted and reordered. A module may be ``plain``,
    with a name: see Note [Plain entries]. With ``places`` its instructions bear marks, ``at`` is
    the present one: see ``located``.
    """

    def __init__(
        self,
        careful: bool = False,
        fast: bool = False,
        plain: str = "",
        places: CodePlaces | None = None,
    ) -> None:
        self.places = places
        self.at = ""
        self.careful = careful
        self.fast = fast
        self.plain = plain
        self.declares: dict[str, None] = {}
        self.math: Counter[tuple[str, str, int]] = Counter()  # how often each is called
        self.functions: list[str] = []
        self.support: dict[str, None] = {}  # modules of functions that many modules call
        self.globals: list[str] = []
        self.inner_loops: dict[tuple[str, str], int] = {}  # (ufunc, dtype) -> slot in the table
        self.sites: dict[Site, int] = {}  # numbers from 1 on, see Note [Leaves]
        self.calls: list[tuple[Any, ...]] = []  # objects, see Note [Calls of NumPy]
        self.notes: list[str] = []  # metadata

    def declare(self, line: str) -> None:
        self.declares[line] = None

    def library(self, name: str, count: int) -> str:
        """What a function of the C library's on so many doubles is called here. LLVM is not to
        compute it, nor to put something else in its place.
        """
        function = f"@{name if self.plain else LIBRARY_PREFIX + name}"
        builtin = " nobuiltin" if self.plain else ""
        self.declare(
            f"declare double {function}({', '.join(['double'] * count)}){builtin} nounwind"
        )
        return function

    def metadata(self, content: str) -> str:
        """The name of a new metadata node; ``SELF`` in its content is its own number."""
        number = len(self.notes)
        self.notes.append(f"!{number} = {content.replace('SELF', str(number))}")
        return f"!{number}"

    def seldom(self, condition: bool) -> str:
        """What a conditional branch bears whose condition is seldom this."""
        weights = "i32 1, i32 1000" if condition else "i32 1000, i32 1"
        content = f'!{{!"branch_weights", {weights}}}'
        return f", !prof {self.metadata(content)}"


# Note [Opaque values]
# LLVM's strength reduction looks, in each loop, for the best way to split up the sums that
# addresses and counters have in common. That takes time exponential in the number of their terms.
# So a value that is a sum or quotient of symbols and does not change in loops is hidden from it: it
# has come out of an (empty) assembler instruction. So is the place in memory where a row begins,
# along which an innermost loop over arrays goes: what is left of its addresses are the loop's
# variable and constants.


class FunctionText:
    """The lines of one function under construction."""

    def __init__(self, module: ModuleText) -> None:
        self.module = module
        self.lines: list[str] = []
        self._known: dict[str, str] = {}  # of this block: the register of an instruction
        self._registers = 0
        self._labels = 0
        self.block = "entry"
        self.stack_lines: list[str] = []  # belong at the start of the entry block

    def op(self, text: str) -> str:
        """Append ``%r = text`` and return ``%r``."""
        self._registers += 1
        register = f"%r{self._registers}"
        self.lines.append(f"  {register} = {text}{self.module.at}")
        return register

    def same(self, text: str) -> str:
        """Like ``op``, of an instruction that computes from registers alone: an equal one that this
        block has already serves as well. That is less for LLVM to find out.
        """
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self.op(text)
        return found

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}{self.module.at}")

    def opaque(self, register: str, kind: str) -> str:
        """The same value; see Note [Opaque values]."""
        return self.op(f'call {kind} asm "", "=r,0"({kind} {register})')

    def new_label(self, stem: str) -> str:
        self._labels += 1
        return f"{stem}{self._labels}"

    def start(self, label: str) -> None:
        """Begin the block ``label``; the block before must have ended."""
        self.lines.append(f"{label}:")
        self.block = label
        self._known.clear()

    def stack(self, kind: str, count: int, alignment: int = 8) -> str:
        """An array on the stack. It is of an array type, else SROA would leave it in memory."""
        register = self.reserve()
        self.stack_lines.append(f"  {register} = alloca [{count} x {kind}], align {alignment}")
        return register

    def null_slot(self) -> str:
        """A place on the stack for a pointer, null at first."""
        slot = self.stack("ptr", 1)
        self.stack_lines.append(f"  store ptr null, ptr {slot}, align 8")
        return slot

    def reserve(self) -> str:
        """A register name for a value that is defined later (a phi)."""
        self._registers += 1
        return f"%r{self._registers}"


_REPORT_DECLARES = (
    "declare void @llvm.x86.sse.stmxcsr(ptr)",
    "declare void @llvm.x86.sse.ldmxcsr(ptr)",
)


def _report(name: str, mask: str, some: str, flag: int) -> str:
    """A function that sets a flag if a lane is true; all but two instructions are cold."""
    reduced = ""
    if some != "%lanes":
        count = mask[1:].split()[0]
        reduced = f"  %some = call i1 @llvm.vector.reduce.or.v{count}i1({mask} %lanes)\n"
    return f"""\
define internal void {name}({mask} %lanes) alwaysinline nounwind {{
entry:
  %flags = alloca i32, align 4
{reduced}  br i1 {some}, label %set, label %on, !prof !{{!"branch_weights", i32 1, i32 1000}}
set:
  call void @llvm.x86.sse.stmxcsr(ptr %flags)
  %before = load i32, ptr %flags, align 4
  %after = or i32 %before, {flag}
  store i32 %after, ptr %flags, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr %flags)
  br label %on
on:
  ret void
}}"""


class Lanes:
    """Code for ``count`` elements at once; one lane is plain scalar code."""

    def __init__(self, function: FunctionText, count: int) -> None:
        self.function = function
        self.count = count
        self.quiet: frozenset[str] = frozenset()  # see ``SourceLocation``

    def type(self, dtype: np.dtype) -> str:
        return self.of(scalar_type(dtype))

    def of(self, scalar: str) -> str:
        return scalar if self.count == 1 else f"<{self.count} x {scalar}>"

    def const(self, value: bool | int | float, dtype: np.dtype) -> str:
        text = constant(value, dtype)
        return text if self.count == 1 else f"splat ({scalar_type(dtype)} {text})"

    def op(self, text: str) -> str:
        return self.function.op(text)

    def binary(self, name: str, dtype: np.dtype, left: str, right: str) -> str:
        return self.op(f"{name} {self.type(dtype)} {left}, {right}")

    def arithmetic(self, name: str, dtype: np.dtype, left: str, right: str) -> str:
        """A sum, difference or product of the user's program."""
        if self.function.module.fast and name[0] == "f":
            name += " reassoc contract"
        return self.binary(name, dtype, left, right)

    def compare(self, predicate: str, dtype: np.dtype, left: str, right: str) -> str:
        careful = self.function.module.careful
        if dtype.kind == "f" and is_signaling(predicate, self.count, careful=careful):
            return self._quiet(predicate, dtype, left, right)
        name = "fcmp" if dtype.kind == "f" else "icmp"
        return self.op(f"{name} {predicate} {self.type(dtype)} {left}, {right}")

    def signaling(self, predicate: str, dtype: np.dtype, left: str, right: str) -> str:
        """A comparison of floats that may report nan as an invalid operation, but where code is to
        be careful: LLVM makes one instruction of it and the choice.
        """
        if self.function.module.careful:
            return self._quiet(predicate, dtype, left, right)
        return self.op(f"fcmp {predicate} {self.type(dtype)} {left}, {right}")

    def _quiet(self, predicate: str, dtype: np.dtype, left: str, right: str) -> str:
        kind = f"{dtype.kind}{8 * dtype.itemsize}"
        text, declare = quiet(predicate, kind, self.type(dtype), self.count)
        self.function.module.declare(declare)
        return self.op(text.format(left, right))

    def report(self, lanes: str, flag: int) -> None:
        """Set a floating-point flag if this is so in any lane: what NumPy tells of, but the
        processor does not. See Note [Floating-point flags] in ``sticky.py``.
        """
        module, mask = self.function.module, self.of("i1")
        tells = HAS_FLAGS and not module.plain
        if tells and self.quiet.isdisjoint((FLAG_KINDS[flag], *OF_PYTHON)):
            name = f'@"fxc.report{flag}x{self.count}"'
            for line in _REPORT_DECLARES:
                module.declare(line)
            some = "%lanes"
            if self.count > 1:
                some = "%some"
                module.declare(f"declare i1 @llvm.vector.reduce.or.v{self.count}i1({mask})")
            text = _report(name, mask, some, flag)
            if text not in module.functions:
                module.functions.append(text)
            self.function.do(f"call void {name}({mask} {lanes})")

    def computed(self, register: str, dtype: np.dtype) -> str:
        """The same number, in all lanes: LLVM may leave out lanes that a ``select`` does not take,
        and NumPy tells of them.
        """
        is_computed = dtype.kind == "f" and register.startswith("%")
        return self.fenced(register, dtype) if is_computed else register

    def fenced(self, register: str, dtype: np.dtype) -> str:
        """The same float, of which LLVM does not know where it comes from."""
        kind = self.type(dtype)
        scalar = f"f{8 * dtype.itemsize}"
        name = f"@llvm.arithmetic.fence.{scalar if self.count == 1 else f'v{self.count}{scalar}'}"
        self.function.module.declare(f"declare {kind} {name}({kind})")
        return self.op(f"call {kind} {name}({kind} {register})")

    def reduced(self, name: str, lanes: str) -> str:
        """The truth values of all lanes as one."""
        function, mask = f"@llvm.vector.reduce.{name}.v{self.count}i1", self.of("i1")
        self.function.module.declare(f"declare i1 {function}({mask})")
        return self.op(f"call i1 {function}({mask} {lanes})")

    def select(self, condition: str, dtype: np.dtype, yes: str, no: str) -> str:
        kind = self.type(dtype)
        return self.op(f"select {self.of('i1')} {condition}, {kind} {yes}, {kind} {no}")

    def convert(self, name: str, value: str, source: np.dtype, dtype: np.dtype) -> str:
        return self.op(f"{name} {self.type(source)} {value} to {self.type(dtype)}")

    def intrinsic(self, name: str, dtype: np.dtype, args: Sequence[str]) -> str:
        """Call ``llvm.<name>`` on arguments of one dtype."""
        kind = self.type(dtype)
        scalar = kind_name(dtype) if dtype.kind == "f" else f"i{8 * dtype.itemsize}"
        suffix = scalar if self.count == 1 else f"v{self.count}{scalar}"
        declared = ", ".join(kind for _ in args)
        self.function.module.declare(f"declare {kind} @llvm.{name}.{suffix}({declared})")
        given = ", ".join(f"{kind} {arg}" for arg in args)
        return self.op(f"call {kind} @llvm.{name}.{suffix}({given})")

    def overflowing(self, name: str, args: Sequence[str]) -> tuple[str, str]:
        """An operation on signed 64-bit integers, and whether it overflows."""
        kind, flag = self.of("i64"), self.of("i1")
        suffix = "i64" if self.count == 1 else f"v{self.count}i64"
        function, pair = f"@llvm.s{name}.with.overflow.{suffix}", f"{{ {kind}, {flag} }}"
        self.function.module.declare(f"declare {pair} {function}({kind}, {kind})")
        found = self.op(f"call {pair} {function}({kind} {args[0]}, {kind} {args[1]})")
        value = self.op(f"extractvalue {pair} {found}, 0")
        return value, self.op(f"extractvalue {pair} {found}, 1")

    def library(self, name: str, args: Sequence[str]) -> str:
        """Call the C library's function of doubles, lane by lane."""
        function = self.function.module.library(name, len(args))
        if self.count == 1:
            return self.op(f"call double {function}({', '.join(f'double {x}' for x in args)})")
        kind, found = self.of("double"), "poison"
        for lane in range(self.count):
            each = [self.op(f"extractelement {kind} {x}, i32 {lane}") for x in args]
            one = self.op(f"call double {function}({', '.join(f'double {x}' for x in each)})")
            found = self.op(f"insertelement {kind} {found}, double {one}, i32 {lane}")
        return found

    def part(self, value: str, dtype: np.dtype, number: int, count: int) -> str:
        """The lanes ``number * count`` and following of ``value``, ``count`` of them."""
        kind = self.type(dtype)
        if count == 1:
            return self.op(f"extractelement {kind} {value}, i32 {number}")
        lanes = ", ".join(f"i32 {number * count + lane}" for lane in range(count))
        return self.op(f"shufflevector {kind} {value}, {kind} poison, <{count} x i32> <{lanes}>")

    def whole(self, memory: str, parts: Sequence[str], width: int) -> str:
        """All elements in one register, from some of ``width`` each, which are joined by twos."""
        numbers, size = [*parts], width
        numbers += ["poison"] * (2 ** (len(parts) - 1).bit_length() - len(parts))
        while len(numbers) > 1:
            kind, size = f"<{size} x {memory}>", 2 * size
            mask = f"<{size} x i32> <{', '.join(f'i32 {lane}' for lane in range(size))}>"
            pairs = zip(numbers[::2], numbers[1::2], strict=True)
            numbers = [self.op(f"shufflevector {kind} {a}, {kind} {b}, {mask}") for a, b in pairs]
        count = width * len(parts)
        if size == count:
            return numbers[0]
        mask = f"<{count} x i32> <{', '.join(f'i32 {lane}' for lane in range(count))}>"
        kind = f"<{size} x {memory}>"
        return self.op(f"shufflevector {kind} {numbers[0]}, {kind} poison, {mask}")

    def math(self, name: str, dtype: np.dtype, args: Sequence[str]) -> str:
        """Call a function of ``vector_math``."""
        kind, shape = kind_name(dtype), self.type(dtype)
        self.function.module.math[name, kind, self.count] += 1
        given = ", ".join(f"{shape} {arg}" for arg in args)
        return self.op(f"call {shape} @{symbol(name, kind, self.count)}({given})")

    def complex_math(self, name: str, dtype: np.dtype, args: Sequence[str], part: int) -> str:
        """One part of what a function of ``vector_math`` gives; both come from one call."""
        function, kind, shape = f"complex_{name}", kind_name(dtype), self.type(dtype)
        self.function.module.math[function, kind, self.count] += 1
        given = ", ".join(f"{shape} {arg}" for arg in args)
        both = pair_type(shape)
        call = f"call {both} @{symbol(function, kind, self.count)}({given})"
        return self.op(f"extractvalue {both} {self.function.same(call)}, {part}")
