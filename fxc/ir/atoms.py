"""Reading dims, types, scalars and constant arrays: what nodes are made of."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

import numpy as np

from .boxed_dtypes import boxed_dtype, is_boxed
from .graph import ArrayConstant
from .size_functions import apply_function
from .symbols import Dim, symbol
from .tokens import Cursor
from .types import DTYPES_BY_NAME, PYTHON_KINDS, ArrayType, ScalarType, Type, c_strides

_FUNCTIONS = ("floordiv", "mod", "min", "max")
_WORDS = {kind.__name__: dtype for kind, dtype in PYTHON_KINDS.items()}


class AtomParser(Cursor):
    """Reads the parts that need no schema; ``symbols`` holds what is known of symbols."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.symbols: dict[str, Dim] = {}

    def integer(self) -> int:
        token = self.next
        found = self.dim()
        if not isinstance(found, int):
            self.refuse(token, f"expected an int, found {found}")
        return found

    # Types

    def dtype(self) -> np.dtype:
        if self.next.kind == "string":
            return self.boxed_dtype()
        if self.next.text not in DTYPES_BY_NAME:
            self.fail("a dtype")
        return DTYPES_BY_NAME[self.take("name", "a dtype").text]

    def boxed_dtype(self) -> np.dtype:
        """See Note [Boxed dtypes]."""
        token = self.next
        try:
            found = boxed_dtype(self.string())
        except ValueError as error:
            self.refuse(token, str(error))
        if not is_boxed(found):
            self.refuse(token, f"{found} is no such dtype")
        return found

    def type(self) -> Type:
        if self.next.kind == "name" and self.next.text.startswith("py."):
            dtype = _WORDS.get(self.next.text[3:])
            if dtype is None:
                self.fail("a type")
            self.at += 1
            return ScalarType(dtype, weak=True)
        dtype = self.dtype()
        if not self.accept("["):
            return ScalarType(dtype)
        shape = tuple(self.dim() for _ in self.listed("]"))
        strides = c_strides(shape, dtype.itemsize)
        token = self.next
        if self.accept("{"):
            strides = tuple(self.dim() for _ in self.listed("}"))
            if len(strides) != len(shape):
                self.refuse(token, f"{len(strides)} strides for {len(shape)} dims")
        writeable = self.accept("ro") is None
        return ArrayType(dtype, shape, strides, writeable, self.accept("unaligned") is None)

    # Dims

    def dim(self) -> Dim:
        negative = self.accept("-") is not None
        total = self.term()
        if negative:
            total = -total
        while sign := self.accept("+", "-"):
            term = self.term()
            total = total + term if sign == "+" else total - term
        return total

    def term(self) -> Dim:
        total = self.factor()
        while self.accept("*"):
            total = total * self.factor()
        return total

    def factor(self) -> Dim:
        token = self.next
        if token.kind == "number" and token.text.isdecimal():
            self.at += 1
            return int(token.text)
        name = self.take("name", "a dim").text
        if not self.accept("("):
            return self.symbols.setdefault(name, symbol(name))
        if name not in _FUNCTIONS:
            self.refuse(token, f"expected {', '.join(_FUNCTIONS)}, found {name!r}")
        left = self.dim()
        self.expect(",")
        right = self.dim()
        self.expect(")")
        return apply_function(name, left, right)

    # Scalars and constants

    def scalar(self) -> Any:
        """A Python or NumPy scalar."""
        if self.next.kind == "string":
            return self.constant().array()[()]
        name = self.next.text
        weak = name == "complex"
        if weak or name in DTYPES_BY_NAME:
            self.at += 1
            self.expect("(")
            found = self.element(_WORDS[name] if weak else DTYPES_BY_NAME[name])
            self.expect(")")
            return found.item() if weak else found
        if word := self.accept("True", "False"):
            return word == "True"
        begin = self.at
        negative = self.accept("-") is not None
        token = self.next
        if token.kind == "number" and token.text.isdecimal():
            self.at += 1
            return -int(token.text) if negative else int(token.text)
        self.at = begin
        return self.real(_WORDS["float"]).item()

    def element(self, dtype: np.dtype) -> Any:
        """An element of an array, as it stands in parentheses or in a list."""
        if dtype.kind == "b":
            return np.bool_(self.expect("True", "False") == "True")
        if dtype.kind == "f":
            return self.real(dtype)
        if dtype.kind == "c":
            part = np.dtype(f"f{dtype.itemsize // 2}")
            real = self.real(part)
            self.expect(",")
            pair = np.array([real, self.real(part)], part)
            return pair.view(dtype)[0]
        token = self.next
        number = self.integer()
        info = np.iinfo(dtype)
        if not info.min <= number <= info.max:
            self.refuse(token, f"{number} does not fit")
        return dtype.type(number)

    def real(self, dtype: np.dtype) -> Any:
        sign = -1.0 if self.accept("-") else 1.0
        if self.accept("inf"):
            return dtype.type(sign * np.inf)
        if self.accept("nan"):
            if not self.accept("("):
                return dtype.type(np.nan)
            token = self.take("number", "bits")
            self.expect(")")
            bits = int(token.text, 0) if token.text.startswith("0x") else -1
            if not 0 <= bits < 1 << 8 * dtype.itemsize:
                self.refuse(token, "expected the bits of a NaN, as in 0x7ff8000000000000")
            return np.frombuffer(bits.to_bytes(dtype.itemsize, "little"), dtype)[0]
        if self.next.text.startswith("0x"):
            self.fail("a number")
        return dtype.type(sign * float(self.take("number", "an operand or a number").text))

    def constant(self) -> ArrayConstant:
        dtype = self.dtype()
        self.expect("[")
        shape = tuple(self.integer() for _ in self.listed("]"))
        token = self.next
        if self.accept("base64"):
            token = self.next
            try:
                data = base64.b64decode(self.string(), validate=True)
            except binascii.Error as error:
                self.refuse(token, f"not base64: {error}")
        elif 0 in shape:
            data = b""
        else:
            data = b"".join(element.tobytes() for element in self.elements(dtype, shape))
        if len(data) != dtype.itemsize * int(np.prod(shape, dtype=object)):
            self.refuse(token, f"these are {len(data)} bytes")
        return ArrayConstant(dtype, shape, data)

    def elements(self, dtype: np.dtype, shape: tuple[int, ...]) -> Iterator[Any]:
        if not shape:
            paired = dtype.kind == "c" and self.expect("(")
            yield self.element(dtype)
            if paired:
                self.expect(")")
            return
        self.expect("[")
        for _ in self.listed("]"):
            yield from self.elements(dtype, shape[1:])
