"""The usual call as one Python function: checks, memory, the code, the result.

It is written for a program when that is loaded, from numbers and names that have been looked at. It
takes a call only if all is as expected in the plainest way; what else may be right, and what is
wrong, goes to ``LoadedProgram.general``. Needs only NumPy.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .arguments import Arguments, ArrayInput, NumberInput
from .trees import LEAF
from .values import Shown, Size

_SIGNS = {"floordiv": "//", "mod": "%"}
_RELATIONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_SLOW = "return general(*args, **kwargs)"


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
    names["at"] = ctypes.c_void_p.from_address
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
                self.tests += [
                    f"a{place}.shape == {self.sizes(each.shape)}",
                    f"a{place}.strides == {self.sizes(each.strides)}",
                ]
        for left, relation, right in self.arguments.guards:
            if relation not in _RELATIONS:
                raise _Unusual
            self.tests.append(f"{self.size(left)} {relation} {self.size(right)}")
        for left, right in self.arguments.pairs:
            own = f"f{left}.owndata and f{right}.owndata and a{left} is not a{right}"
            self.tests.append(f"({own} or not may_share(a{left}, a{right}))")
        count = f"len(args) == {len(given)} and not kwargs"
        unpack = f"{', '.join(given)}, = args" if given else "pass"
        return "\n    ".join(
            [
                "def call(*args, **kwargs):",
                f"if not ({count}): {_SLOW}",
                unpack,
                f"if not ({' and '.join(kinds) or True}): {_SLOW}",
                *self.lines,
                f"if not ({' and '.join(self.tests) or True}): {_SLOW}",
                *self.body(),
                "",
            ]
        )

    def kind(self, place: int, each: ArrayInput | NumberInput) -> str:
        """Whether an input is of its kind, and of its rank."""
        a = f"a{place}"
        if isinstance(each, ArrayInput):
            self.names[f"d{place}"] = each.dtype
            flags = f"f{place}.c_contiguous" if place in self.arguments.written else "True"
            writeable = f"f{place}.writeable is {bool(each.writeable)}"
            return (
                f"type({a}) is ndarray and {a}.dtype is d{place} and {a}.ndim == {len(each.shape)} "
                f"and (f{place} := {a}.flags).aligned and {writeable} and {flags}"
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
        addresses = [f"at(id({name}) + {object.__basicsize__}).value" for name in arrays]
        if shown["arena"]:
            lines.append(f"m = arena({self.size(shown['arena'])})")
            addresses.append(f"at(id(m) + {object.__basicsize__}).value")
        else:
            addresses.append("0")
        numbers = [f"a{int(p)}.{part}" if part else f"a{int(p)}" for p, part, _ in shown["numbers"]]
        sizes = [self.symbols[name] for name in shown["sizes"]]
        given = f"pack_arrays({', '.join(addresses)}), pack_sizes({', '.join(sizes)})"
        lines.append(f"status = entry({given}, pack({', '.join(numbers)}), table)")
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
