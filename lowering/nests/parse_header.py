"""The lines of a program's text that declare what its statements are about."""

from __future__ import annotations

import re
from typing import get_args

from fxc.ir.symbols import Dim, symbol
from fxc.ir.types import c_strides

from .buffers import I64, Buffer, Role
from .parse_line import LoopLine, Names, known_dtype
from .program import Param

_DATA = re.compile(r" data ?([0-9a-f]*|left out)$")


class Header:
    """What is declared: the lines up to ``end``, and those behind the statements."""

    def __init__(self, lines: list[LoopLine]) -> None:
        self.params: list[Param] = []
        self.buffers: dict[str, Buffer] = {}
        self.inputs: tuple[str, ...] | None = None
        self.results: tuple[str, ...] | None = None
        self.sizes: dict[str, str] = {}
        self.undone: set[str] = set()
        self.copies: list[str] = []
        self.symbols: dict[str, Dim] = {}
        self._names = Names(self.buffers, self.symbols, {})
        if not lines or lines[0].word != "loops":
            (lines[0] if lines else LoopLine(1, "", "", "")).fail("'loops' and a name")
        self.name = lines[0].text.removeprefix("loops").strip()
        while lines and re.match(r"bytes moved |copy: ", lines[-1].text):
            last = lines.pop()
            if last.word == "copy":
                text = last.source.strip().removeprefix("copy: ")
                self.copies.insert(0, text)
        self.end = 1
        while self.end < len(lines) and self.declares(lines[self.end]):
            self.end += 1

    def names(self) -> Names:
        """What names mean before the first statement."""
        self._names.kinds |= {param.name: param.dtype for param in self.params}
        self._names.over |= {param.name: () for param in self.params}
        self._names.kinds |= dict.fromkeys(self.symbols, I64)
        return self._names

    def declares(self, line: LoopLine) -> bool:
        """Read a line, if it declares something."""
        word = line.word
        if word in get_args(Role):
            self.buffer(line)
        elif word == "symbols":
            self.known(line)
        elif word == "param":
            self.param(line)
        elif word == "inputs":
            self.inputs = _listed(line)
        elif word == "results":
            self.results = _listed(line)
        elif word == "size" and (found := re.fullmatch(r"size ([\w.]+) in ([\w.]+)", line.text)):
            self.sizes[found[1]] = found[2]
        else:
            return False
        return True

    def known(self, line: LoopLine) -> None:
        line.expect("symbols")
        while not line.ended:
            name = line.name("a size")
            hint, lower = None, None
            most: Dim | None = None
            if line.accept(">"):
                line.expect("=")
                lower = self.number(line)
            else:
                line.expect("=")
                hint = self.number(line)
            if line.accept("("):
                while not line.accept(")"):
                    sign = line.expect(">", "<", any_of=True)
                    line.expect("=")
                    if sign == ">":
                        lower = self.number(line)
                    else:
                        most = line.dim(self._names)
                    line.accept(",")
            self.symbols[name] = symbol(name, hint=hint, lower=lower, most=most)
            line.accept(",")

    def number(self, line: LoopLine) -> int:
        sign = -1 if line.accept("-") else 1
        return sign * line.integer()

    def param(self, line: LoopLine) -> None:
        line.expect("param")
        name = line.name("a parameter")
        line.expect(":")
        dtype = known_dtype(line)
        line.expect("=", "input")
        place = line.integer()
        part = "" if line.ended else line.expect("real", "imag", any_of=True)
        self.params.append(Param(name, dtype, place, part))

    def buffer(self, line: LoopLine) -> None:
        data = _DATA.search(line.text)
        if data is not None:
            line.text = line.text[: data.start()]
        role: Role = line.take()  # type: ignore[assignment]
        name = line.name("a buffer")
        line.expect(":")
        dtype = known_dtype(line)
        line.expect("[")
        shape = line.listed(self._names, "]")
        strides = c_strides(shape, dtype.itemsize)
        if line.accept("{"):
            strides = line.listed(self._names, "}")
            if len(strides) != len(shape):
                line.refuse(f"{len(strides)} strides for {len(shape)} dims")
        parts, copies, storage = line.accept("parts"), 1, name
        field = None
        if line.accept("field"):
            begin = line.integer()
            line.expect(":")
            field = (begin, line.integer())
        if line.accept("for"):
            line.expect("each", "of")
            copies = line.integer()
            line.expect("threads")
        if line.accept("="):
            storage = line.name("a buffer")
        offset = line.dim(self._names) if line.accept("at") else 0
        line.end()
        if line.remark.startswith("stores are undone"):
            self.undone.add(name)
        content = bytes.fromhex(data[1]) if data and data[1] != "left out" else None
        self.buffers[name] = Buffer(
            name, dtype, shape, strides, role, storage, offset, content, parts, copies, field
        )


def _listed(line: LoopLine) -> tuple[str, ...]:
    rest = line.text[len(line.word) :].strip()
    return tuple(rest.split(", ")) if rest else ()
