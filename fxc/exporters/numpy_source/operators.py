"""What a node is in NumPy: an infix operator, a function by its public name, a helper."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from fxc.dispatch.bind import defaults_of
from fxc.ir.graph import ArrayConstant, Literal, Node, Operand, Value
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, ScalarType, is_c_contiguous
from fxc.ops.foreign_calls import ForeignCall, Hole
from fxc.ops.operators import Operator, Tag
from fxc.ops.python_numbers import OF_COMPLEX_SCALARS, PYTHON_OPERATORS, stem
from fxc.ops.table import TABLE

from . import code
from .code import Code, binary, call, dim_code, dtype_name, number, plain_number, quoted, unary


class Surroundings(Protocol):
    """What expressions are made of."""

    def operand(self, operand: Operand) -> Code: ...
    def known(self, symbol: str) -> Code: ...
    def helper(self, node: Node) -> str: ...
    def constant(self, value: ArrayConstant) -> Code: ...
    def gather(self, node: Node) -> Code | None: ...
    def is_truth(self, value: Operand) -> bool: ...


_INFIX = {
    "add": ("+", code.ADD),
    "subtract": ("-", code.ADD),
    "multiply": ("*", code.MULTIPLY),
    "divide": ("/", code.MULTIPLY),
    "floor_divide": ("//", code.MULTIPLY),
    "natural_quotient": ("//", code.MULTIPLY),
    "remainder": ("%", code.MULTIPLY),
    "natural_remainder": ("%", code.MULTIPLY),
    "power": ("**", code.POWER),
    "bitwise_and": ("&", code.AND),
    "and": ("&", code.AND),
    "bitwise_or": ("|", code.OR),
    "or": ("|", code.OR),
    "bitwise_xor": ("^", code.XOR),
    "xor": ("^", code.XOR),
    "left_shift": ("<<", code.SHIFT),
    "right_shift": (">>", code.SHIFT),
    "equal": ("==", code.COMPARE),
    "not_equal": ("!=", code.COMPARE),
    "less": ("<", code.COMPARE),
    "less_equal": ("<=", code.COMPARE),
    "greater": (">", code.COMPARE),
    "greater_equal": (">=", code.COMPARE),
    "matmul": ("@", code.MULTIPLY),
}
_SIGNS = {"negative": "-", "invert": "~"}
# Functions of Python's numbers.
_OF_PYTHON = {
    "maximum": "max",
    "minimum": "min",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "complex": "complex",
    "round": "round",
    "absolute": "abs",
    "root": "math.sqrt",
}
# Dtypes of arrays of Python's numbers.
NATURAL = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(bool), np.dtype(np.complex128))
# Powers that ``x**y`` of an array computes by other functions.
_OTHER_POWERS = (-1, 0, 0.5, 1, 2)


@cache
def public_name(function: Any) -> str | None:
    """By which name of NumPy's a function is found."""
    places = (("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft))
    for prefix, module in places:
        name = getattr(function, "__name__", None)
        if name and getattr(module, name, None) is function:
            return f"{prefix}.{name}"
    return None


def augmented(op: str) -> str | None:
    """The sign of ``x += y`` for an operator."""
    infix = _INFIX.get(stem(op))
    return f"{infix[0]}=" if infix and infix[1] != code.COMPARE else None


def is_array(operand: Operand) -> bool:
    return isinstance(operand.type, ArrayType)


def is_python(operand: Operand) -> bool:
    return isinstance(operand.type, ScalarType) and operand.type.weak


def plain_beside(literal: Literal, others: Sequence[Operand]) -> bool:
    """Whether Python's number does for a NumPy scalar: beside what has its dtype anyway."""
    value = literal.value
    return (
        isinstance(value, np.generic)
        and value.dtype.kind in "iufc"
        and any(
            not is_python(other) and other.type.dtype == value.dtype
            for other in others
            if other is not literal and not isinstance(other, Literal)
        )
    )


class Rules:
    """Expressions of nodes by what their operators have in common."""

    def __init__(self, context: Surroundings) -> None:
        self.context = context

    def of(self, node: Node) -> Code | None:
        """The node as an expression; None if NumPy has none."""
        special = getattr(self, f"op_{node.op}", None)
        if special is not None:
            found: Code | None = special(node)
            return found if found is not None else self.helped(node)
        op = TABLE[node.op]
        if isinstance(op.numpy, ForeignCall):
            return self.foreign(op.numpy, node)
        if node.op in PYTHON_OPERATORS:
            return self.of_python(node)
        if op.tag is Tag.POINTWISE and op.numpy is not None:
            return self.pointwise(node, op)
        name = public_name(op.numpy) if op.numpy is not None and not op.role else None
        return self.named(node, name) if name else self.helped(node)

    # ------------------------------------------------------------ operands

    def all(self, operands: Sequence[Operand]) -> list[Code]:
        """The operands of a function that looks at their dtypes together."""
        return [
            plain_number(each.value)  # type: ignore[arg-type]
            if isinstance(each, Literal) and plain_beside(each, operands)
            else self.context.operand(each)
            for each in operands
        ]

    def argument(self, arg: Any) -> Code:
        """Any argument of a node as an argument of a call."""
        match arg:
            case Value() | Literal():
                return self.context.operand(arg)
            case tuple():
                items = [self.argument(item) for item in arg]
                texts = [item.text for item in items]
                text = f"({', '.join(texts)}{',' * (len(texts) == 1)})"
                return Code(text, reads=code.all_reads(items))
            case np.dtype():
                return Code(dtype_name(arg))
            case ArrayConstant():
                return self.context.constant(arg)
            case bool() | str() | None:
                return Code(quoted(arg) if isinstance(arg, str) else repr(arg))
            case _:
                return dim_code(arg, self.context.known)

    def known(self, dim: Dim) -> Code:
        return dim_code(dim, self.context.known)

    # ------------------------------------------------------------ by rule

    def pointwise(self, node: Node, op: Operator) -> Code | None:
        operands = [arg for arg in node.args if isinstance(arg, Value | Literal)]
        codes = self.all(operands)
        strong = any(not is_python(each) for each in operands)
        if strong and node.op in _INFIX and _is_same_power(node) and _is_same_of_complex(node):
            sign, binds = _INFIX[node.op]
            return binary(codes[0], sign, codes[1], binds)
        if strong and node.op in _SIGNS:
            return unary(_SIGNS[node.op], codes[0])
        if strong and node.op == "absolute":
            return call("np.abs", codes)
        if op.numpy is np.power and not any(map(is_array, operands)):
            return (
                binary(codes[0], "**", codes[1], code.POWER) if strong else call("np.power", codes)
            )
        name = public_name(op.numpy)
        return call(name, codes) if name else None

    def of_python(self, node: Node) -> Code | None:
        codes = [self.context.operand(arg) for arg in node.args]
        name = stem(node.op)
        if node.op.startswith("math_"):
            return call(f"math.{node.op.removeprefix('math_')}", codes)
        if name in _INFIX:
            sign, binds = _INFIX[name]
            return binary(codes[0], sign, codes[1], binds)
        if name in _SIGNS:
            return unary(_SIGNS[name], codes[0])
        if name == "not":
            return Code(f"not {codes[0].within(code.NOT)}", code.NOT, codes[0].reads)
        if name == "fit":
            return codes[0]
        if name == "bit_length":
            return Code(f"{codes[0].within(code.ATOM)}.bit_length()", reads=codes[0].reads)
        return call(_OF_PYTHON[name], codes) if name in _OF_PYTHON else None

    def named(self, node: Node, name: str) -> Code:
        """A function of NumPy's with the arguments that are not its defaults."""
        positional = node.schema.positional
        first = [arg for arg in node.args[:positional] if arg is not None]
        keywords = {}
        for param, arg in zip(node.schema.params[positional:], node.args[positional:], strict=True):
            if not self.is_default(node, param.name, arg):
                keywords[param.name] = keyword(self.argument(arg).text, arg)
        given = [self.argument(arg) for arg in first]
        if any(isinstance(arg, tuple) for arg in first):
            given = [
                Code(f"[{each.text[1:-1].removesuffix(',')}]", reads=each.reads)
                if isinstance(arg, tuple)
                else each
                for arg, each in zip(first, given, strict=True)
            ]
        return call(name, given, keywords)

    def foreign(self, made: ForeignCall, node: Node) -> Code | None:
        """A function of NumPy's that fxc knows nothing more of."""
        name = public_name(made.function)
        if name is None or made.container is not None:
            return None
        args = [self.filled(arg, node) for arg in made.args]
        options = {key: self.filled(arg, node) for key, arg in made.kwargs.items()}
        found = call(name, args, {key: each.text for key, each in options.items()})
        reads = code.all_reads([*args, *options.values()])
        return Code(found.text, found.binds, reads, found.parts)

    def filled(self, arg: Any, node: Node) -> Code:
        if isinstance(arg, Hole):
            return self.context.operand(node.args[arg.operand])
        if isinstance(arg, list | tuple):
            items = [self.filled(each, node) for each in arg]
            text = ", ".join(each.text for each in items)
            shown = f"[{text}]" if isinstance(arg, list) else f"({text}{',' * (len(items) == 1)})"
            return Code(shown, reads=code.all_reads(items))
        if isinstance(arg, np.dtype | str | bool | None):
            return self.argument(arg)
        return number(arg)

    def is_default(self, node: Node, name: str, arg: Any) -> bool:
        """Whether NumPy takes this anyway."""
        if name == "dtype" and arg is not None:
            return _same_without_dtype(node, arg)
        default = defaults_of(TABLE[node.op])[node.schema.index_of[name]]
        return type(default) is type(arg) and bool(default == arg)

    def helped(self, node: Node) -> Code | None:
        """A call of fxc's own kernel, which becomes a function of the module."""
        name = self.context.helper(node)
        return call(
            name,
            [
                Code(f"np.dtype({dtype_name(arg)})")
                if isinstance(arg, np.dtype)
                else self.argument(arg)
                for arg in node.args
            ],
        )


def _same_without_dtype(node: Node, dtype: np.dtype) -> bool:
    """Whether a reduction or scan gives this dtype by itself."""
    function, x = TABLE[node.op].numpy, node.args[0]
    if function not in (np.sum, np.prod, np.cumsum, np.cumprod) or is_python(x):
        return False
    return bool(function(np.zeros(1, x.type.dtype)).dtype == dtype)


def _is_same_power(node: Node) -> bool:
    """Whether ``x**y`` is what ``np.power(x, y)`` gives."""
    if node.op != "power":
        return True
    exponent = node.args[1]
    if not any(map(is_array, node.args)):
        return False
    value = exponent.value if isinstance(exponent, Literal) else None
    return value is not None and value not in _OTHER_POWERS and value == value


def _is_same_of_complex(node: Node) -> bool:
    """Whether Python's operator is what the ufunc gives, where a complex scalar is its operand."""
    operands = [arg for arg in node.args if isinstance(arg, Value | Literal)]
    if node.op not in OF_COMPLEX_SCALARS or any(map(is_array, operands)):
        return True
    return all(x.type.dtype.kind != "c" for x in operands)


def is_c(x: Operand) -> bool:
    return isinstance(x.type, ArrayType) and is_c_contiguous(x.type)


def keyword(text: str, arg: Any) -> str:
    """An axis alone stands without parentheses."""
    if isinstance(arg, tuple) and len(arg) == 1 and not isinstance(arg[0], Value | Literal):
        return text[1:-2]
    return text
