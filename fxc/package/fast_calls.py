"""The usual call as one Python function: checks, memory, the code, the result.

It is written for a program when that is loaded, from numbers and names that have been looked at. It
takes a call only if all is as expected in the plainest way; what else may be right, and what is
wrong, goes to ``LoadedProgram.general``. Needs only NumPy.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .arguments import Arguments, ArrayInput, NumberInput
from .trees import LEAF
from .values import Shown, Size

_SIGNS = {"floordiv": "//", "mod": "%"}
_RELATIONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_C_ORDER, _OWN, _ALIGNED, _WRITEABLE = 0x1, 0x4, 0x100, 0x400  # flags
_missing = object()


def fast_call(
    arguments: Arguments,
    shown: Mapping[str, Any],
    result: Shown,
    names: dict[str, Any],
) -> Callable[..., Any]:
    """A function for calls of a program, or ``general``, where there is no quicker way.

    ``names`` has what it calls: ``general`` and the like.
    """
    general: Callable[..., Any] = names["general"]
    if not arguments.is_plain:
        return general
    try:
        source = _Writer(arguments, shown, result, names).source()
    except _Unusual:
        return general
    names |= {"ndarray": np.ndarray, "may_share": np.may_share_memory, "empty": np.empty}
    names["missing"] = _missing
    exec(source, names)
    found: Callable[..., Any] = names["call"]
    return found


class _Unusual(Exception):
    """There is no quicker way."""


class _Writer:
    def __init__(
        self,
        arguments: Arguments,
        shown: Mapping[str, Any],
        result: Shown,
        names: dict[str, Any],
    ) -> None:
        self.arguments, self.shown, self.result, self.names = arguments, shown, result, names
        self.symbols: dict[str, str] = {}
        self.lows = {symbol: low for _, _, _, symbol, low in arguments.symbols}
        self.tests: list[str] = []
        self.lines: list[str] = []

    def source(self) -> str:
        inputs = self.arguments.inputs
        given = [f"a{place}" for place in range(len(inputs))]
        for place, axis, is_stride, symbol, low in self.arguments.symbols:
            if is_stride:
                raise _Unusual
            name = self.symbols[symbol] = f"s{len(self.symbols)}"
            value = given[place] if axis is None else f"a{place}.shape[{int(axis)}]"
            self.lines.append(f"{name} = {value}")
            if low is not None:
                self.tests.append(f"{name} >= {int(low)}")
        kinds = [self.kind(place, each) for place, each in enumerate(inputs)]
        for place, each in enumerate(inputs):
            if isinstance(each, ArrayInput):
                self.tests.append(f"a{place}.shape == {self.sizes(each.shape)}")
                if not self.is_in_order(each):
                    self.tests.append(f"a{place}.strides == {self.sizes(each.strides)}")
        for left, relation, right in self.arguments.guards:
            if relation not in _RELATIONS:
                raise _Unusual
            self.tests.append(f"{self.size(left)} {relation} {self.size(right)}")
        for left, right in self.arguments.pairs:
            own = f"f{left} & f{right} & {_OWN} and a{left} is not a{right}"
            self.tests.append(f"({own} or not may_share(a{left}, a{right}))")
        head = f"{', '.join(f'{name}=missing' for name in given)}, /, " if given else ""
        same, more = "", "args or kwargs"
        if given:
            same = f"*[each for each in ({', '.join(given)},) if each is not missing], "
            more += f" or {given[-1]} is missing"
        slow = f"return general({same}*args, **kwargs)"
        return "\n    ".join(
            [
                f"def call({head}*args, **kwargs):",
                f"if {more} or not ({' and '.join(kinds) or True}): {slow}",
                *self.lines,
                f"if not ({' and '.join(self.tests) or True}): {slow}",
                *self.body(),
                "",
            ]
        )

    def is_in_order(self, each: ArrayInput) -> bool:
        """Whether the flag of C order says all of the strides: no axis can have one element."""
        strides, lows = each.dtype.itemsize, self.lows
        if len(each.shape) == 1 and isinstance(each.shape[0], str):
            return each.strides == [strides] and (lows.get(each.shape[0]) or 0) >= 2
        for size, stride in zip(reversed(each.shape), reversed(each.strides), strict=True):
            if type(size) is not int or size < 2 or stride != strides:
                return False
            strides *= size
        return True

    def kind(self, place: int, each: ArrayInput | NumberInput) -> str:
        """Whether an input is of its kind, and of its rank."""
        a = f"a{place}"
        if isinstance(each, ArrayInput):
            self.names[f"d{place}"] = each.dtype
            mask = expected = _ALIGNED
            mask |= _WRITEABLE
            expected |= _WRITEABLE if each.writeable else 0
            if place in self.arguments.written or self.is_in_order(each):
                mask, expected = mask | _C_ORDER, expected | _C_ORDER
            is_fixed = all(type(size) is int for size in each.shape)
            rank = "" if is_fixed else f" and {a}.ndim == {len(each.shape)}"
            return (
                f"type({a}) is ndarray and {a}.dtype is d{place}{rank} "
                f"and (f{place} := {a}.flags.num) & {mask} == {expected}"
            )
        self.names[f"d{place}"] = each.kind if each.dtype is None else each.dtype.type
        tests = [f"type({a}) is d{place}"]
        if each.kind is int:
            tests.append(f"{max(-(2**63), int(each.at_least or -(2**63)))} <= {a} < {2**63}")
        return " and ".join(tests)

    def size(self, size: Size) -> str:
        """A size as an expression."""
        match size:
            case int():
                return f"{int(size)}"
            case str():
                return self.symbols[size]
            case ["+" | "*" as sign, *operands]:
                return f"({f' {sign} '.join(map(self.size, operands))})"
            case [str(name), left, right] if name in _SIGNS:
                return f"({self.size(left)} {_SIGNS[name]} {self.size(right)})"
        raise _Unusual

    def sizes(self, sizes: list[Size]) -> str:
        return f"({''.join(f'{self.size(each)}, ' for each in sizes)})"

    def body(self) -> list[str]:
        """Memory, the call, and the result."""
        shown, lines, arrays = self.shown, [], []
        for number, slot in enumerate(shown["slots"]):
            if "input" in slot:
                arrays.append(f"a{int(slot['input'])}")
                continue
            if slot["order"] != [*range(len(slot["shape"]))]:
                raise _Unusual
            self.names[f"e{number}"] = np.dtype(slot["dtype"])
            lines.append(f"r{number} = empty({self.sizes(slot['shape'])}, e{number})")
            arrays.append(f"r{number}")
        given = [f"id({name})" for name in arrays]
        if shown["arena"]:
            lines.append(f"m = arena({self.size(shown['arena'])})")
        given.append("id(m)" if shown["arena"] else "0")
        numbers = [f"a{int(p)}.{part}" if part else f"a{int(p)}" for p, part, _ in shown["numbers"]]
        sizes = [self.symbols[name] for name in shown["sizes"]]
        codes = "".join(code for _, _, code in shown["numbers"])
        self.names["pack"] = struct.Struct(f"={len(given)}Q{len(sizes)}q{codes}Q").pack
        lines.append(f"status = entry(pack({', '.join([*given, *sizes, *numbers, 'table'])}))")
        lines += ["keep(m)"] if shown["arena"] else []
        lines.append("if status: fail(status)")
        leaves = [self.leaf(leaf, arrays) for leaf in shown["outputs"]]
        if shown["counted"]:
            raise _Unusual
        return [*lines, f"return {self.tree(self.result, leaves)}"]

    def leaf(self, shown: Mapping[str, Any], arrays: list[str]) -> str:
        if "input" in shown:
            return f"a{int(shown['input'])}"
        if "slot" not in shown or "shape" in shown:
            raise _Unusual
        name: str = arrays[shown["slot"]]
        if "number" in shown:
            return f"{name}.item()" if shown["number"] == "python" else f"{name}[()]"
        return name

    def tree(self, spec: Shown, leaves: list[str]) -> str:
        if spec == LEAF:
            return leaves.pop(0)
        if spec is None:
            return "None"
        if [*spec] not in (["tuple"], ["list"]):
            raise _Unusual
        (kind,) = spec
        parts = ", ".join(self.tree(each, leaves) for each in spec[kind])
        if kind == "list":
            return f"[{parts}]"
        return f"({parts},)" if parts else "()"
