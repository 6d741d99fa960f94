"""One line of a program's text: its words, numbers, dims and scalars."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Collection, Sequence
from typing import NoReturn

import numpy as np

from fxc.ir.boxed_dtypes import boxed_dtype
from fxc.ir.errors import ParseError
from fxc.ir.records import field, frozen, mutable
from fxc.ir.symbols import Dim, SymExpr, SymFunc, computed, symbol, symbols_of

from .buffers import I64, Atom, Buffer, Const
from .statements import Compute, Index, Load, Stmt
from .text_kinds import kind_beside, kind_of_result

_TOKEN = re.compile(r" *(\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+|[^\W\d][\w.]*|.)")
_STRING = re.compile(r""" *('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_NAME = re.compile(r" *[^\W\d][\w.]*")
_OPERATION = re.compile(r"(?: fails| of scalars)?(?::[a-z]\w*)?\(")
_ELEMENT_OR_OPERATION = re.compile(r"\[|" + _OPERATION.pattern)
_FUNCTIONS = ("floordiv", "mod", "min", "max")
_DTYPES = {np.dtype(code).name: np.dtype(code) for code in "?bhilBHILefdFD"}
_NUMBERS = {"inf": math.inf, "nan": math.nan}


@frozen
class Opaque:
    """Arguments of a call that are known by their text, and the buffers among them."""

    text: str
    buffers: tuple[object, ...]

    def __repr__(self) -> str:
        return self.text


@mutable
class Names:
    """What names mean at a place in the text, and the statements of its block so far."""

    buffers: dict[str, Buffer]
    sizes: dict[str, Dim]
    kinds: dict[str, np.dtype]
    block: list[Stmt] = field(default_factory=list)
    around: list[str] = field(default_factory=list)  # counters of loops
    over: dict[str, tuple[Dim, ...]] = field(default_factory=dict)  # scalars: what they depend on
    wanted: str = ""  # the name of what is read next
    fresh: int = 0

    def enter(self, var: str) -> None:
        self.around.append(var)
        self.kinds[var] = I64

    def leave(self) -> None:
        self.around.pop()

    def counter(self, var: str) -> Dim:
        return self.sizes.get(var, symbol(var, hint=0, lower=0))

    def define(self, name: str, dtype: np.dtype, *parts: Dim | Atom) -> None:
        """A scalar of a dtype depends on the loops around as these dims and scalars do."""
        self.kinds[name] = dtype
        on: set[str] = set()
        for part in parts:
            over = self.over.get(part, ()) if isinstance(part, str) else ()
            dims = (part,) if isinstance(part, int | SymExpr) else over
            on.update(*map(symbols_of, dims))
        self.over[name] = tuple(self.counter(var) for var in self.around if var in on)

    def named(self, wanted: str, dtype: np.dtype, *parts: Dim | Atom) -> str:
        """The name of such a scalar: the one that is ``wanted``, or a new one."""
        name = wanted
        if not name:
            name, self.fresh = f"t.{self.fresh}", self.fresh + 1
        self.define(name, dtype, *parts)
        return name

    def kind(self, atom: Atom) -> np.dtype:
        return atom.dtype if isinstance(atom, Const) else self.kinds[atom]

    def dim(self, name: str) -> Dim:
        """What a name in an index stands for."""
        if name in self.around:
            return self.counter(name)
        if name in self.over and name not in self.sizes:
            return computed(name, self.over[name])
        return self.sizes.setdefault(name, symbol(name, hint=0))


def lines_of(text: str) -> list[LoopLine]:
    """The lines with something in them."""
    found = []
    for number, source in enumerate(text.split("\n"), 1):
        before, _, remark = source.partition("  # ")
        stripped = before.strip()
        if stripped:
            found.append(LoopLine(number, source, stripped, remark))
    return found


class LoopLine:
    """A line and a place in it."""

    def __init__(self, number: int, source: str, text: str, remark: str) -> None:
        self.place, self.source, self.text, self.remark = number, source, text, remark
        indent = len(source) - len(source.lstrip())
        self.depth = indent // 2
        self.at, self.indent = 0, indent
        if indent % 2:
            self.refuse("indented by an odd number of blanks")

    @property
    def word(self) -> str:
        """The first word."""
        found = re.match(r"[\w.]*", self.text)
        return found[0] if found else ""

    @property
    def ended(self) -> bool:
        return self.at >= len(self.text)

    def refuse(self, message: str) -> NoReturn:
        column = self.indent + self.at + 1
        mark = " " * (column - 1) + "^"
        raise ParseError(f"line {self.place}, column {column}: {message}\n{self.source}\n{mark}")

    def fail(self, expected: str) -> NoReturn:
        found = self.peek()
        self.at += len(self.text[self.at :]) - len(self.text[self.at :].lstrip())
        self.refuse(f"expected {expected}, found {found!r}" if found else f"expected {expected}")

    def peek(self) -> str:
        found = _TOKEN.match(self.text, self.at)
        return found[1] if found else ""

    def take(self) -> str:
        found = _TOKEN.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[1] if found else ""

    def accept(self, token: str) -> bool:
        if self.peek() != token:
            return False
        self.take()
        return True

    def expect(self, *tokens: str, any_of: bool = False) -> str:
        """These tokens, one after the other, or one of them."""
        if any_of:
            if self.peek() not in tokens:
                self.fail(" or ".join(map(repr, tokens)))
            return self.take()
        for token in tokens:
            for part in [each[1] for each in _TOKEN.finditer(token)]:
                if self.peek() != part:
                    self.fail(repr(token))
                self.take()
        return ""

    def name(self, what: str) -> str:
        if not re.fullmatch(r"[^\W\d][\w.]*", self.peek()):
            self.fail(what)
        return self.take()

    def integer(self) -> int:
        if not self.peek().isdigit():
            self.fail("a number")
        return int(self.take())

    def end(self) -> None:
        if not self.ended:
            self.fail("the end of the line")

    def buffer_in(self, buffers: Collection[str]) -> Callable[[str], str]:
        """What gives back the names of buffers, and refuses others."""

        def named(name: str) -> str:
            if name not in buffers:
                self.refuse(f"there is no buffer {name}")
            return name

        return named

    # -- dims

    def listed(self, names: Names, close: str) -> tuple[Dim, ...]:
        """Dims up to ``close``, which is passed."""
        found: list[Dim] = []
        while not self.accept(close):
            found.append(self.dim(names))
            if not self.accept(","):
                self.expect(close)
                break
        return tuple(found)

    def dim(self, names: Names) -> Dim:
        """A sum of products, as it is written."""
        total: Dim = 0
        sign = -1 if self.accept("-") else 1
        while True:
            total = total + sign * self.product(names)
            if self.peek() not in ("+", "-"):
                return total
            sign = 1 if self.take() == "+" else -1

    def product(self, names: Names) -> Dim:
        found = self.factor(names)
        while self.accept("*"):
            found = found * self.factor(names)
        return found

    def factor(self, names: Names) -> Dim:
        token = self.peek()
        if token.isdigit():
            return int(self.take())
        if token in _FUNCTIONS and self.text.startswith("(", self.at + len(token) + self.blanks):
            self.take()
            self.expect("(")
            left = self.dim(names)
            self.expect(",")
            right = self.dim(names)
            self.expect(")")
            return SymExpr((((SymFunc(token, left, right),), 1),))
        plain = _NAME.match(self.text, self.at)
        if plain is not None and not _ELEMENT_OR_OPERATION.match(self.text, plain.end()):
            return names.dim(self.take())
        atom = self.atom(names)
        if isinstance(atom, Const):
            self.refuse("a constant of an index is an int")
        return computed(atom, names.over[atom])

    @property
    def blanks(self) -> int:
        return len(self.text[self.at :]) - len(self.text[self.at :].lstrip(" "))

    # -- scalars

    def only(self, names: Names, standard: np.dtype) -> Atom:
        """The scalar that the rest of the line is."""
        found = self.atom(names, standard)
        self.end()
        return found

    def atom(self, names: Names, standard: np.dtype | None = None) -> Atom:
        """A scalar, which may have to be computed; ``standard`` is the dtype of a constant."""
        wanted, names.wanted = names.wanted, ""
        token = self.peek()
        if token == "(":
            return self.index(names, wanted)
        value = self.number()
        if value is not None:
            dtype = kind_beside(value, () if standard is None else (standard,))
            return Const(value, dtype)
        name = self.name("a scalar")
        if self.text.startswith("[", self.at):
            if name not in names.buffers:
                self.at -= len(name)
                self.refuse(f"there is no buffer {name}")
            self.take()
            buffer = names.buffers[name]
            index = self.listed(names, "]")
            if len(index) != len(buffer.shape):
                self.refuse(f"{len(index)} indices into {name}, which has {len(buffer.shape)} axes")
            made = names.named(wanted, buffer.dtype, *index)
            ahead = self.integer() if self.accept("ahead") else 0
            names.block.append(Load(made, buffer.dtype, name, index, ahead))
            return made
        found = _OPERATION.match(self.text, self.at)
        if found is None:
            if name not in names.kinds:
                self.at -= len(name)
                self.refuse(f"{name} is not known here")
            return name
        self.at = found.end()
        rest, _, kind = found[0][:-1].partition(":")
        if name in _DTYPES and not rest and not kind:
            return self.constant(_DTYPES[name])
        if kind and kind not in _DTYPES:
            self.refuse(f"{kind} is not a dtype")
        return self.operation(names, name + rest, kind, wanted)

    def constant(self, dtype: np.dtype) -> Const:
        value = self.number()
        if value is None:
            self.fail("a number")
        self.expect(")")
        return Const(value, dtype)

    def operation(self, names: Names, op: str, kind: str, wanted: str) -> str:
        args: list[Atom] = []
        plain: set[int] = set()  # places of constants that take the dtype of what is beside
        while not self.accept(")"):
            is_plain = self.peek() not in _DTYPES
            args.append(self.atom(names))
            if is_plain and isinstance(args[-1], Const):
                plain.add(len(args) - 1)
            if not self.accept(","):
                self.expect(")")
                break
        beside = [names.kind(each) for each in args if not isinstance(each, Const)]
        given = tuple(_settled(x, n in plain, beside) for n, x in enumerate(args))
        kinds = tuple(map(names.kind, given))
        dtype = _DTYPES[kind] if kind else kind_of_result(op, kinds)
        name = names.named(wanted, dtype, *given)
        names.block.append(Compute(name, dtype, op, given, kinds))
        return name

    def index(self, names: Names, wanted: str) -> str:
        self.expect("(")
        value = self.dim(names)
        dtype = I64
        if self.accept(":"):
            word = self.name("a dtype")
            if word not in _DTYPES:
                self.refuse(f"{word} is not a dtype")
            dtype = _DTYPES[word]
        self.expect(")")
        name = names.named(wanted, dtype, value)
        names.block.append(Index(name, dtype, value))
        return name

    def number(self) -> bool | int | float | None:
        """A constant, if the next is one."""
        start, sign = self.at, -1 if self.accept("-") else 1
        token = self.peek()
        if sign == 1 and token in ("True", "False"):
            return self.take() == "True"
        if token in _NUMBERS:
            self.take()
            return sign * _NUMBERS[token]
        if token[:1].isdigit():
            self.take()
            return sign * (int(token) if token.isdigit() else float(token))
        self.at = start
        return None


def _settled(atom: Atom, is_plain: bool, beside: Sequence[np.dtype]) -> Atom:
    if isinstance(atom, Const) and is_plain:
        return Const(atom.value, kind_beside(atom.value, beside))
    return atom


def known_dtype(line: LoopLine) -> np.dtype:
    """The dtype whose name is next, or the text of a boxed one."""
    found = _STRING.match(line.text, line.at)
    if found is not None:
        try:
            line.at, dtype = found.end(), boxed_dtype(ast.literal_eval(found[1]))
        except ValueError as error:
            line.refuse(str(error))
        return dtype
    if line.peek() not in _DTYPES:
        line.fail("a dtype")
    return _DTYPES[line.take()]
