"""Expressions of Python: their text, how tightly they bind, what they read; numbers and sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from fxc.ir.boxed_dtypes import is_boxed
from fxc.ir.errors import ExportError
from fxc.ir.graph import Value
from fxc.ir.records import frozen
from fxc.ir.symbols import Computed, Dim, Symbol, SymFunc, terms_of
from fxc.ir.types import DTYPE_NAMES

# How tightly operators of Python bind, from the loosest on.
TERNARY, EITHER, BOTH, NOT, COMPARE, OR, XOR, AND, SHIFT, ADD, MULTIPLY, UNARY, POWER, ATOM = range(
    14
)
NO_VALUES: frozenset[Value] = frozenset()


@frozen
class Code:
    """An expression, and the values whose variables stand in it.

    ``parts`` are head, arguments and tail of a call, for lines that are too long.
    """

    text: str
    binds: int = ATOM
    reads: frozenset[Value] = NO_VALUES
    parts: tuple[str, tuple[str, ...], str] | None = None

    def within(self, binds: int) -> str:
        """The text as an operand of something that binds so tightly."""
        return self.text if self.binds >= binds else f"({self.text})"


def all_reads(codes: Iterable[Code]) -> frozenset[Value]:
    return NO_VALUES.union(*(code.reads for code in codes))


def call(function: str, args: Iterable[Code], keywords: Mapping[str, str] | None = None) -> Code:
    """``function(args, name=…)``."""
    given = tuple(args)
    items = (*(a.text for a in given), *(f"{k}={v}" for k, v in (keywords or {}).items()))
    text = f"{function}({', '.join(items)})"
    return Code(text, ATOM, all_reads(given), (f"{function}(", items, ")"))


def binary(left: Code, sign: str, right: Code, binds: int) -> Code:
    """``left sign right``; operators of one kind stand from left to right."""
    sides = (left.within(binds), right.within(binds + 1))
    if binds == COMPARE:
        sides = (left.within(binds + 1), sides[1])
    if binds == POWER:
        sides = (left.within(binds + 1), right.within(UNARY))
        space = "" if all(map(_is_simple, sides)) else " "
        return Code(f"{sides[0]}{space}**{space}{sides[1]}", binds, left.reads | right.reads)
    return Code(f"{sides[0]} {sign} {sides[1]}", binds, left.reads | right.reads)


def unary(sign: str, operand: Code) -> Code:
    """``-x`` or ``~x``."""
    return Code(f"{sign}{operand.within(UNARY)}", UNARY, operand.reads)


def _is_simple(text: str) -> bool:
    """Whether formatters put no spaces around a power of, or a slice from, this."""
    text = text.removeprefix("-")
    return text.isidentifier() or text.replace(".", "", 1).replace("e-", "", 1).isdigit()


def is_simple(text: str) -> bool:
    return _is_simple(text)


# ---------------------------------------------------------------- numbers


def number(value: object) -> Code:
    """A scalar constant, of Python's kind or NumPy's as it is."""
    if isinstance(value, np.generic):
        return _numpy_number(value)
    text = _python_number(value)
    return Code(text, UNARY if text.startswith("-") else ATOM)


def _python_number(value: object) -> str:
    if isinstance(value, complex):
        return f"complex({_float(value.real)}, {_float(value.imag)})"
    return _float(value) if isinstance(value, float) else repr(value)


def _float(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    if math.isinf(value):
        return "np.inf" if value > 0 else "-np.inf"
    if np.float64(value).tobytes() != np.float64(np.nan).tobytes():
        raise ExportError("a NaN with other bits than the usual one cannot be written in NumPy")
    return "np.nan"


def _numpy_number(value: np.generic) -> Code:
    if is_boxed(value.dtype) and _reads_as(text := repr(value), value):
        return Code(text.replace(",'", ", '").replace("'", '"'))
    if value.dtype not in DTYPE_NAMES:
        raise ExportError(f"a constant of dtype {value.dtype} cannot be written in NumPy")
    if isinstance(value, np.bool_):
        return Code("np.True_" if value else "np.False_")
    return Code(f"{dtype_name(value.dtype)}({_shortest(value)})")


def _reads_as(text: str, value: np.generic) -> bool:
    """Whether NumPy reads the text of a date, a string or a long double as what it is."""
    if value.dtype.kind not in "MmfUS" or '"' in text or "\\" in text:
        return False
    found = eval(text, {"np": np})
    return bool(found == value or found != found) and np.asarray(found).dtype == value.dtype


def _shortest(value: np.generic) -> str:
    """The number in as few digits as give it back."""
    if isinstance(value, np.floating) and np.isfinite(value) and value.itemsize < 8:
        text = np.format_float_scientific(value, trim="0")
        text = repr(float(text))
        if value.dtype.type(float(text)).tobytes() == value.tobytes():
            return text
    return _python_number(value.item())


def plain_number(value: np.generic) -> Code:
    """A NumPy scalar as the number of Python's that is it beside arrays of its dtype."""
    if is_boxed(value.dtype):
        return _numpy_number(value)
    text = _shortest(value)
    return Code(text, UNARY if text.startswith("-") else ATOM)


def dtype_name(dtype: np.dtype) -> str:
    """``np.float64``; ``np.dtype(">f8")`` of what has no name."""
    if is_boxed(dtype) and dtype.char not in "gG":
        text = repr(np.dtype(dtype)).removesuffix(", align=True)").replace("'", '"')
        return f"np.{text}" if not dtype.isalignedstruct else f"np.{text}, align=True)"
    return "np.bool_" if dtype.kind == "b" else f"np.{dtype.name}"


def quoted(text: str) -> str:
    """A string in the quotes that formatters leave."""
    shown = repr(text)
    if '"' in shown or "\\" in shown:
        return shown
    return f'"{shown[1:-1]}"'


# ---------------------------------------------------------------- sizes


def dim_code(dim: Dim, known: Callable[[str], Code]) -> Code:
    """A size as an expression, given that of each symbol."""
    terms = sorted(terms_of(dim), key=lambda term: (term[1] < 0, not term[0]))
    if isinstance(dim, int) or not terms:
        return Code(str(int(dim)) if isinstance(dim, int) else "0", UNARY if dim < 0 else ATOM)  # type: ignore[operator]
    result: Code | None = None
    for factors, count in terms:
        term = _product([_atom_code(atom, known) for atom in factors], abs(count))
        if result is None:
            result = term if count > 0 else unary("-", term)
        else:
            result = binary(result, "+" if count > 0 else "-", term, ADD)
    assert result is not None
    return result


def _product(factors: list[Code], count: int) -> Code:
    codes = ([Code(str(count))] if count != 1 or not factors else []) + factors
    result = codes[0]
    for code in codes[1:]:
        result = binary(result, "*", code, MULTIPLY)
    return result


def _atom_code(atom: Symbol | SymFunc | Computed, known: Callable[[str], Code]) -> Code:
    match atom:
        case SymFunc("floordiv", left, right):
            return binary(dim_code(left, known), "//", dim_code(right, known), MULTIPLY)
        case SymFunc("mod", left, right):
            return binary(dim_code(left, known), "%", dim_code(right, known), MULTIPLY)
        case SymFunc(name, left, right):
            return call(name, [dim_code(left, known), dim_code(right, known)])
        case _:
            return known(atom.name)
