"""Tokens of the text form, and a cursor over them that says what it expected."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NoReturn

from .errors import ParseError
from .location import SourceLocation
from .records import frozen

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+)
    |(?P<comment>\#[^\n]*)
    |(?P<line>\n)
    |(?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
    |(?P<number>0x[0-9a-f]+|\d+(?:\.\d*)?(?:e[+-]?\d+)?)
    |(?P<value>%[\w.]+)
    |(?P<name>[^\W\d][\w.]*(?:::[^\W\d][\w.]*)?)
    |(?P<mark>:=|[=!<>]=|[()\[\]{}<>=,:+\-*])
    """,
    re.VERBOSE,
)
_LOCATION = re.compile(r"#\s*(.*):(\d+)\s*")


@frozen
class Token:
    kind: str
    text: str
    start: int
    line: int


def _line_of(text: str, place: int) -> tuple[int, int, str]:
    line = text.count("\n", 0, place) + 1
    begin = text.rfind("\n", 0, place) + 1
    return line, place - begin + 1, text[begin:].split("\n", 1)[0]


def _error(text: str, place: int, message: str) -> ParseError:
    line, column, source = _line_of(text, place)
    mark = " " * (column - 1) + "^"
    return ParseError(f"line {line}, column {column}: {message}\n{source}\n{mark}")


def _tokens(text: str) -> tuple[list[Token], dict[int, SourceLocation]]:
    tokens: list[Token] = []
    places: dict[int, SourceLocation] = {}
    start, line = 0, 1
    while start < len(text):
        found = _TOKEN.match(text, start)
        if found is None:
            raise _error(text, start, f"unexpected character {text[start]!r}")
        kind = str(found.lastgroup)
        if kind == "comment":
            location = _LOCATION.fullmatch(found[0])
            if location is not None:
                places[line] = SourceLocation(location[1], int(location[2]), "")
        elif kind == "line":
            if tokens and tokens[-1].kind != "line":
                tokens.append(Token(kind, "\n", start, line))
            line += 1
        elif kind != "blank":
            tokens.append(Token(kind, found[0], start, line))
        start = found.end()
    if tokens and tokens[-1].kind != "line":
        tokens.append(Token("line", "\n", start, line))
    tokens.append(Token("end", "", start, line))
    return tokens, places


class Cursor:
    """A place in a text, token by token."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens, self.locations = _tokens(text)
        self.at = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def fail(self, expected: str) -> NoReturn:
        found = {"line": "the end of the line", "end": "the end of the text"}.get(
            self.next.kind, repr(self.next.text)
        )
        raise _error(self.text, self.next.start, f"expected {expected}, found {found}")

    def refuse(self, token: Token, message: str) -> NoReturn:
        raise _error(self.text, token.start, message)

    def take(self, kind: str, expected: str) -> Token:
        token = self.next
        if token.kind != kind:
            self.fail(expected)
        self.at += 1
        return token

    def accept(self, *texts: str) -> str | None:
        """The next token's text if it is one of these (names and marks), and go past it."""
        token = self.next
        if token.text in texts and token.kind in ("mark", "name"):
            self.at += 1
            return token.text
        return None

    def expect(self, *texts: str) -> str:
        found = self.accept(*texts)
        if found is None:
            self.fail(" or ".join(map(repr, texts)))
        return found

    def end_line(self) -> None:
        self.take("line", "the end of the line")

    def listed(self, close: str) -> Iterator[None]:
        """Once for each item up to ``close``; items are parted by commas, one may be last."""
        while not self.accept(close):
            yield
            if not self.accept(","):
                self.expect(close)
                return

    def string(self) -> str:
        return str(ast.literal_eval(self.take("string", "a string").text))
