"""Schemas: one line an operator, with alias annotations, parsed to frozen values.

::

    add(Array x, Array y) -> Array
    sum(Array x, *, int[]? axis, bool keepdims, DType? dtype) -> Array
    slice(Array(a) x, Slice[] index) -> Array(a)
    copy_(Array(a!) x, Array y) -> ()
    mylib::blur(Array x, float width) -> Array

``Array`` takes an array or a scalar, ``float`` a scalar; a letter names an alias set, ``!`` says
that it is written; ``?`` admits None and ``[]`` a tuple. Parameters after ``*`` are given by
keyword in NumPy's API.
``str(parse_schema(text)) == text`` for every well-formed text.
"""

from __future__ import annotations

import re

from .errors import ParseError
from .records import computed_once, field, frozen

# The closed set of kinds a parameter may have. ``Sym`` is an int or a symbolic one, ``Slice`` a
# (start, stop, step) triple as of ``slice.indices``, ``Constant`` an array that is part of the
# program, ``Region`` a sub-graph.
VALUE_KINDS = frozenset({"Array", "float"})
STATIC_KINDS = frozenset({"int", "bool", "str", "DType", "Sym", "Slice", "Constant"})
KINDS = VALUE_KINDS | STATIC_KINDS | {"Region"}


@frozen
class Alias:
    """Membership in an alias set, and whether the operator writes through it."""

    letter: str
    written: bool = False

    def __str__(self) -> str:
        return f"({self.letter}{'!' if self.written else ''})"


@frozen
class Param:
    """One parameter of an operator."""

    name: str
    kind: str
    alias: Alias | None = None
    is_list: bool = False
    optional: bool = False
    keyword: bool = False
    is_value: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_value", self.kind in VALUE_KINDS)
        if self.kind not in KINDS:
            known = ", ".join(sorted(KINDS))
            raise ParseError(
                f"unknown kind {self.kind!r} of parameter {self.name!r}; there are {known}"
            )
        if self.alias is not None and self.kind != "Array":
            raise ParseError(f"parameter {self.name!r}: only arrays can have an alias set")

    @property
    def is_written(self) -> bool:
        return self.alias is not None and self.alias.written

    def __str__(self) -> str:
        alias = str(self.alias) if self.alias else ""
        suffix = ("[]" if self.is_list else "") + ("?" if self.optional else "")
        return f"{self.kind}{alias}{suffix} {self.name}"


@frozen
class Return:
    """One result of an operator."""

    alias: Alias | None = None
    is_list: bool = False

    def __str__(self) -> str:
        return f"Array{self.alias or ''}{'[]' if self.is_list else ''}"


@frozen
class Schema:
    """What an operator takes and gives, and which of it shares memory or is written."""

    name: str
    params: tuple[Param, ...]
    returns: tuple[Return, ...]

    def __post_init__(self) -> None:
        names = [param.name for param in self.params]
        if len(set(names)) != len(names):
            raise ParseError(f"{self.name}: a parameter name occurs twice")
        if self.writes != (self.name.endswith("_") or self.name.endswith(".out")):
            raise ParseError(f"{self.name}: it writes, or its name says that it does, but not both")
        given = {param.alias.letter for param in self.params if param.alias}
        if any(r.alias and r.alias.letter not in given for r in self.returns):
            raise ParseError(f"{self.name}: a result aliases nothing that is given")

    @computed_once
    def writes(self) -> bool:
        """Whether some argument is written."""
        return any(param.is_written for param in self.params)

    @computed_once
    def is_view(self) -> bool:
        """Whether the result shares memory with an argument that is not written."""
        return any(r.alias is not None for r in self.returns) and not self.writes

    @computed_once
    def is_functional(self) -> bool:
        """Whether the operator neither writes nor aliases."""
        return not self.writes and not self.is_view

    @computed_once
    def index_of(self) -> dict[str, int]:
        """The place of each parameter, by name."""
        return {param.name: place for place, param in enumerate(self.params)}

    @computed_once
    def written_params(self) -> tuple[int, ...]:
        """The places of the parameters that are written."""
        return tuple(i for i, param in enumerate(self.params) if param.is_written)

    @computed_once
    def attributes(self) -> tuple[int, ...]:
        """The places of the parameters that are neither values nor regions."""
        return tuple(
            i
            for i, p in enumerate(self.params)
            if not p.is_value and p.kind != "Region"
            for i, param in enumerate(self.params)
            if not param.is_value and param.kind != "Region"
        )

    @computed_once
    def has_regions(self) -> bool:
        """Whether the operator takes regions."""
        return any(param.kind == "Region" for param in self.params)

    @computed_once
    def positional(self) -> int:
        """How many parameters may be given by position."""
        return sum(not param.keyword for param in self.params)

    def __str__(self) -> str:
        parts, starred = [], False
        for param in self.params:
            if param.keyword and not starred:
                parts.append("*")
                starred = True
            parts.append(str(param))
        match self.returns:
            case (single,):
                returns = str(single)
            case _:
                returns = f"({', '.join(map(str, self.returns))})"
        return f"{self.name}({', '.join(parts)}) -> {returns}"


_HEAD = re.compile(r"((?:[A-Za-z]\w*::)?[a-z][\w.]*)\((.*)\) -> (.+)")
_PARAM = re.compile(r"([A-Za-z]+)(?:\(([a-z])(!?)\))?(\[\])?(\?)? (\w+)")
_RETURN = re.compile(r"Array(?:\(([a-z])\))?(\[\])?")


def parse_schema(text: str) -> Schema:
    """Parse one line of the schema language.

    Raises ``ParseError`` for text that is not well formed.

    >>> schema = parse_schema("slice(Array(a) x, Slice[] index) -> Array(a)")
    >>> schema.is_view, schema.writes, str(schema)
    (True, False, 'slice(Array(a) x, Slice[] index) -> Array(a)')
    """
    head = _HEAD.fullmatch(text)
    if head is None:
        raise ParseError(
            f"not a schema: {text!r}; write it as in add(Array x, int n) -> Array; "
            "the name begins with a small letter"
        )
    name, inside, result = head.groups()
    params: list[Param] = []
    keyword = False
    for part in inside.split(", ") if inside else ():
        if part == "*":
            keyword = True
            continue
        found = _PARAM.fullmatch(part)
        if found is None:
            raise ParseError(f"{name}: not a parameter: {part!r}")
        kind, letter, written, is_list, optional, param = found.groups()
        alias = Alias(letter, bool(written)) if letter else None
        params.append(Param(param, kind, alias, bool(is_list), bool(optional), keyword))
    return Schema(name, tuple(params), _parse_returns(name, result))


def _parse_returns(name: str, text: str) -> tuple[Return, ...]:
    if text == "()":
        return ()
    inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    returns = []
    for part in inner.split(", "):
        found = _RETURN.fullmatch(part)
        if found is None:
            raise ParseError(f"{name}: not a result: {part!r}")
        letter, is_list = found.groups()
        returns.append(Return(Alias(letter) if letter else None, bool(is_list)))
    return tuple(returns)
