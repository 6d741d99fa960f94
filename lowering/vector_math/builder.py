"""A small writer of LLVM text whose values behave like numbers.

`Code` collects the instructions of one function for a lane count; `Value` is one SSA value of it.
Arithmetic, comparisons and bit operations on values emit one instruction each, for all lanes, so
that polynomials and argument reductions read like the formulas they implement:

    code = Code(lanes=8)
    x = code.argument("f64", "%x")
    y = fma(x, 2.0, 1.0)                # %v0 = call <8 x double> @llvm.fma.v8f64(...)
    y = where(x < 0.0, -y, y)           # fcmp, fneg, select
"""

import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from .comparisons import is_signaling, quiet, suffix

_SCALARS = {"f64": "double", "f32": "float", "i64": "i64", "i32": "i32", "i1": "i1"}
_INTEGER_OF = {"f64": "i64", "f32": "i32"}
_FLOAT_OF = {"i64": "f64", "i32": "f32"}


class Value:
    """One SSA value: its function, its element kind (f64, f32, i64, i32 or i1) and its name.

    Python numbers are accepted as right-hand operands and become constants of the same kind.
    Integer operations wrap around. Comparisons of floats are ordered (false on nan), those of
    integers signed; `equals` replaces `==`, which keeps its usual meaning.
    """

    __slots__ = ("code", "kind", "name", "typed")

    def __init__(self, code: "Code", kind: str, name: str) -> None:
        self.code = code
        self.kind = kind
        self.name = name
        self.typed = f"{code.types[kind]} {name}"  # the LLVM operand with its type

    def _binary(self, float_op: str, integer_op: str, other: "Operand") -> "Value":
        op = float_op if self.kind[0] == "f" else integer_op
        right = self.code.operand(self.kind, other)
        return self.code.emit(self.kind, f"{op} {self.typed}, {right.name}")

    def _compare(self, float_op: str, integer_op: str, other: "Operand") -> "Value":
        right = self.code.operand(self.kind, other)
        if self.kind[0] == "f" and is_signaling(float_op, self.code.lanes):
            text, declare = quiet(float_op, self.kind, self.code.type(self.kind), self.code.lanes)
            self.code.declares.add(declare)
            return self.code.emit("i1", text.format(self.name, right.name))
        op = f"fcmp {float_op}" if self.kind[0] == "f" else f"icmp {integer_op}"
        return self.code.emit("i1", f"{op} {self.typed}, {right.name}")

    def __add__(self, other: "Operand") -> "Value":
        return self._binary("fadd", "add", other)

    def __sub__(self, other: "Operand") -> "Value":
        return self._binary("fsub", "sub", other)

    def __mul__(self, other: "Operand") -> "Value":
        return self._binary("fmul", "mul", other)

    def __truediv__(self, other: "Operand") -> "Value":
        return self._binary("fdiv", "sdiv", other)

    def __radd__(self, other: float) -> "Value":
        return self.code.operand(self.kind, other) + self

    def __rsub__(self, other: float) -> "Value":
        return self.code.operand(self.kind, other) - self

    def __rmul__(self, other: float) -> "Value":
        return self.code.operand(self.kind, other) * self

    def __rtruediv__(self, other: float) -> "Value":
        return self.code.operand(self.kind, other) / self

    def __and__(self, other: "Operand") -> "Value":
        return self._binary("", "and", other)

    def __or__(self, other: "Operand") -> "Value":
        return self._binary("", "or", other)

    def __xor__(self, other: "Operand") -> "Value":
        return self._binary("", "xor", other)

    def __lshift__(self, count: int) -> "Value":
        return self._binary("", "shl", count)

    def __rshift__(self, count: int) -> "Value":
        """Arithmetic shift."""
        return self._binary("", "ashr", count)

    def logical_shift(self, count: int) -> "Value":
        """Shift to the right, filling with zeros."""
        return self._binary("", "lshr", count)

    def __neg__(self) -> "Value":
        if self.kind[0] == "f":
            return self.code.emit(self.kind, f"fneg {self.typed}")
        return self.code.operand(self.kind, 0) - self

    def __invert__(self) -> "Value":
        return self ^ (1 if self.kind == "i1" else -1)

    def __abs__(self) -> "Value":
        return self.code.intrinsic("fabs", self)

    def __lt__(self, other: "Operand") -> "Value":
        return self._compare("olt", "slt", other)

    def __le__(self, other: "Operand") -> "Value":
        return self._compare("ole", "sle", other)

    def __gt__(self, other: "Operand") -> "Value":
        return self._compare("ogt", "sgt", other)

    def __ge__(self, other: "Operand") -> "Value":
        return self._compare("oge", "sge", other)

    def equals(self, other: "Operand") -> "Value":
        """Ordered equality."""
        return self._compare("oeq", "eq", other)

    def differs(self, other: "Operand") -> "Value":
        """Unordered inequality: true where either side is nan."""
        return self._compare("une", "ne", other)

    def at_least_unsigned(self, other: "Operand") -> "Value":
        """Unsigned `>=` of integers."""
        return self._compare("", "uge", other)

    def below_unsigned(self, other: "Operand") -> "Value":
        """Unsigned `<` of integers."""
        return self._compare("", "ult", other)

    def is_nan(self) -> "Value":
        """True where the value is nan."""
        return self._compare("uno", "", self)

    @property
    def bits(self) -> "Value":
        """The float's bit pattern as an integer."""
        return self._cast("bitcast", _INTEGER_OF[self.kind])

    @property
    def from_bits(self) -> "Value":
        """The float with this integer as its bit pattern."""
        return self._cast("bitcast", _FLOAT_OF[self.kind])

    def widen(self) -> "Value":
        """The float32 value as float64."""
        return self._cast("fpext", "f64")

    def narrow(self) -> "Value":
        """The float64 value rounded to float32."""
        return self._cast("fptrunc", "f32")

    def _cast(self, op: str, kind: str) -> "Value":
        return self.code.emit(kind, f"{op} {self.typed} to {self.code.type(kind)}")


Operand = Value | float | int


class Code:
    """The body of one function under construction, and what it needs around it."""

    def __init__(self, lanes: int, permutes: int = 0) -> None:
        self.lanes = lanes
        self.permutes = permutes
        self.types = {kind: type_name(kind, lanes) for kind in _SCALARS}
        self.lines: list[str] = []
        self.declares: set[str] = set()
        self.helpers: dict[str, str] = {}
        self._block = "entry"
        self._count = 0

    def type(self, kind: str) -> str:
        """The LLVM type of a value of this kind."""
        return self.types[kind]

    def argument(self, kind: str, name: str) -> Value:
        """A parameter of the function."""
        return Value(self, kind, name)

    def constant(self, kind: str, number: float) -> Value:
        """A number in all lanes."""
        return Value(self, kind, _constant(kind, number, self.lanes))

    def operand(self, kind: str, operand: Operand) -> Value:
        """The value itself, or a number as a constant of this kind."""
        return operand if isinstance(operand, Value) else self.constant(kind, operand)

    def emit(self, kind: str, text: str) -> Value:
        """Append an instruction that yields a value."""
        name = f"%v{self._count}"
        self._count += 1
        self.lines.append(f"  {name} = {text}")
        return Value(self, kind, name)

    def intrinsic(self, name: str, *arguments: Value) -> Value:
        """Call the LLVM intrinsic of this name on values of one float kind."""
        kind = arguments[0].kind
        symbol, declare = _intrinsic(name, kind, self.lanes, len(arguments))
        self.declares.add(declare)
        return self.call(kind, symbol, arguments)

    def call(self, kind: str, symbol: str, arguments: Sequence[Value]) -> Value:
        """Call a function on lanes of this function's width."""
        typed = ", ".join([argument.typed for argument in arguments])
        return self.emit(kind, f"call {self.type(kind)} {symbol}({typed})")

    def unless_rare(
        self, rare: Value, usual: Sequence[Value], remedy: Callable[[], Sequence[Value]]
    ) -> list[Value]:
        """`where(rare, remedy(), usual)`, but `remedy` is run only if some lane needs it."""
        chosen = rare.name
        if self.lanes > 1:
            vector = self.type("i1")
            symbol = f"@llvm.vector.reduce.or.{suffix('i1', self.lanes)}"
            self.declares.add(f"declare i1 {symbol}({vector})")
            chosen = self.emit("i1", f"call i1 {symbol}({rare.typed})").name
        before, cold, done = self._block, f"cold{self._count}", f"done{self._count}"
        self.lines += [f"  br i1 {chosen}, label %{cold}, label %{done}", f"{cold}:"]
        self._block = cold
        repaired = [where(rare, new, old) for new, old in zip(remedy(), usual, strict=True)]
        self.lines += [f"  br label %{done}", f"{done}:"]
        after, self._block = self._block, done
        return [
            self.emit(
                old.kind,
                f"phi {self.type(old.kind)} [ {old.name}, %{before} ], [ {new.name}, %{after} ]",
            )
            for old, new in zip(usual, repaired, strict=True)
        ]

    def function(
        self, symbol: str, parameters: Iterable[Value], result: Value, attributes: str
    ) -> str:
        """The LLVM definition of the function, returning `result`."""
        header = ", ".join([parameter.typed for parameter in parameters])
        lines = "\n".join(self.lines)
        return (
            f"define internal {self.type(result.kind)} @{symbol}({header}) {attributes} {{\n"
            f"entry:\n{lines}\n  ret {result.typed}\n}}\n"
        )


def type_name(kind: str, lanes: int) -> str:
    """The LLVM type of `lanes` elements of this kind; a scalar for one lane."""
    scalar = _SCALARS[kind]
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


@cache
def _intrinsic(name: str, kind: str, lanes: int, arity: int) -> tuple[str, str]:
    """The symbol of an intrinsic on one float or integer type, and its declaration."""
    result = type_name(kind, lanes)
    symbol = f"@llvm.{name}.{suffix(kind, lanes)}"
    return symbol, f"declare {result} {symbol}({', '.join([result] * arity)})"


@cache
def _constant(kind: str, number: float, lanes: int) -> str:
    if kind[0] == "f":
        (pattern,) = struct.unpack("<Q", struct.pack("<d", rounded(kind, number)))
        text = f"0x{pattern:016X}"
    else:
        text = str(int(number)) if kind != "i1" else str(bool(number)).lower()
    return text if lanes == 1 else f"splat ({_SCALARS[kind]} {text})"


def rounded(kind: str, number: float) -> float:
    """The nearest number of this kind, as a Python float."""
    if kind == "f64":
        return float(number)
    (single,) = struct.unpack("<f", struct.pack("<f", number))
    return float(single)


def fma(x: Value, y: Operand, z: Operand) -> Value:
    """`x * y + z`, rounded once."""
    code = x.code
    return code.intrinsic("fma", x, code.operand(x.kind, y), code.operand(x.kind, z))


def where(mask: Value, x: Operand, y: Operand) -> Value:
    """`x` in the lanes where the mask is set, `y` elsewhere; one of the two must be a value."""
    kind = x.kind if isinstance(x, Value) else y.kind if isinstance(y, Value) else ""
    left, right = mask.code.operand(kind, x), mask.code.operand(kind, y)
    return mask.code.emit(kind, f"select {mask.typed}, {left.typed}, {right.typed}")


def copysign(magnitude: Value, sign: Value) -> Value:
    """The magnitude of the one with the sign of the other."""
    return magnitude.code.intrinsic("copysign", magnitude, sign)


def sqrt(x: Value) -> Value:
    """The correctly rounded square root."""
    return x.code.intrinsic("sqrt", x)


def pattern(kind: str, number: float) -> int:
    """The bits of a float of this kind, read as a signed integer."""
    form = ("<q", "<d") if kind == "f64" else ("<i", "<f")
    (bits,) = struct.unpack(form[0], struct.pack(form[1], number))
    return int(bits)


def capped(x: Value, low: float | None, high: float) -> Value:
    """`x` moved into [low, high], where low < 0 < high; nan becomes a bound.

    Works on the bits: `<` on floats would report a nan as an invalid operation.
    """
    code, bits = x.code, x.bits
    bits = code.intrinsic("smin", bits, code.constant(bits.kind, pattern(x.kind, high)))
    if low is not None:
        lowest = code.constant(bits.kind, pattern(x.kind, low))
        bits = code.intrinsic("umin", bits, lowest)
    return bits.from_bits


def at_most(a: Value, limit: float) -> Value:
    """The smaller of a number that is not negative and a limit; nan stays nan, and sets no flag."""
    first = pattern(a.kind, limit)
    beyond = (a.bits - first).below_unsigned(pattern(a.kind, float("inf")) + 1 - first)
    return where(beyond, limit, a)


def magnitude(x: Value) -> Value:
    """The bits of `abs(x)`. They compare, as integers, like the numbers; nan is above infinity."""
    return abs(x).bits


def tiny_or_nan(x: Value, bound: float) -> Value:
    """Where abs(x) < bound, or x is nan, by a single comparison."""
    first = pattern(x.kind, bound)
    beyond = pattern(x.kind, float("inf")) + 1
    return (magnitude(x) - first).at_least_unsigned(beyond - first)


def polynomial(x: Value, coefficients: Sequence[float], square: Value | None = None) -> Value:
    """The polynomial with these coefficients, lowest first.

    Even and odd powers are summed in two interleaved Horner chains: one operation more than one
    chain and half its latency.
    """
    if len(coefficients) < 5:
        return horner(x, coefficients)
    square = square or x * x
    return fma(x, horner(square, coefficients[1::2]), horner(square, coefficients[0::2]))


def horner(x: Value, coefficients: Sequence[float]) -> Value:
    """The polynomial with these coefficients, lowest first, in one chain."""
    total = x.code.constant(x.kind, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = fma(x, total, coefficient)
    return total
