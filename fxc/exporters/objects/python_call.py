"""The native function for calls of a program from Python: its guards, and its object file.

See Note [Calls of packages].
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from fxc.ir.graph import Graph
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, ScalarType, is_c_contiguous, stride_order
from fxc.lowering.calling import plain_call
from fxc.lowering.calling.guard_things import ENTRY, Untranslated
from fxc.lowering.calling.guarded_function import Steps
from fxc.lowering.calling.native_views import METHODS
from fxc.lowering.calling.plain_call import Plain, emit_plain_call
from fxc.ops.kernels import kernel_of
from fxc.package.trees import LEAF
from fxc.package.values import Shown, named, value_of
from fxc.package.views import VIEWS
from fxc.runtime.object_code import object_code

from .manifest import Code, Exported
from .showing import show_value

_C_ORDER, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400  # flags of arrays
_COMPARED = (int, float, str, bytes)
_LEFT_OUT = (np.ndarray, float, int, bool, complex)  # types of what nobody reads


def call_text(graph: Graph, code: Code, exported: Exported) -> tuple[str, list[Shown]] | None:
    """LLVM text for calls of the code of a level, and the objects behind the fixed part of its
    table, as a manifest has them. None where all calls are left to the loader.
    """
    try:
        guards = _Guards(graph, exported)
        steps = guards.steps()
        needs = *(need.guard for need in exported.needs), *guards.rows_apart
        plain = Plain(exported.entry, steps, needs, exported.result)
        made = emit_plain_call(graph, code.module, plain)
    except Untranslated:
        return None
    return made.text, [_show(each) for each in made.objects]


def call_object(text: str, code: Code) -> bytes:
    """The object file of such a text."""
    return object_code(text, (), (ENTRY,), "array", code.level.processor)


def _show(value: Any) -> Shown:
    if isinstance(value, plain_call.Shown):
        return value.content
    for op in VIEWS if callable(value) else ():
        if value in (METHODS.get(op), kernel_of(op)):
            return {"view": op}
    return show_value(value)


class _Guards:
    """What is asked of arguments before sizes are: see ``package.arguments``."""

    def __init__(self, graph: Graph, exported: Exported) -> None:
        assert graph.signature is not None
        self.kinds = [value.type for value in graph.inputs]
        self.written = graph.signature.mutated_inputs
        self.exported = exported
        self.leaves = iter(exported.leaves)
        self.found: list[tuple[str, str]] = []
        self.rows_apart: list[Guard] = []
        self.constants: dict[str, Any] = {"ndarray": np.ndarray, "may_share": np.may_share_memory}
        self.seen: set[int] = set()
        self.variables = 0

    def steps(self) -> Steps:
        positional, keywords = (each for each in self.exported.arguments["tuple"])
        positional, names = positional["tuple"], [value_of(x, {}) for x in keywords["keys"]]
        named = f"[*kwargs] == {names!r}" if names else "not kwargs"
        self.check(f"len(args) == {len(positional)} and {named}")
        for place, spec in enumerate(positional):
            self.argument(spec, f"args[{place}]")
        for name, spec in zip(names, keywords["dict"], strict=True):
            self.argument(spec, f"kwargs[{name!r}]")
        self.apart()
        inputs = tuple(f"a{place}" for place in range(len(self.kinds)))
        return Steps(tuple(self.found), self.constants, inputs)

    def check(self, condition: str) -> None:
        self.found.append(("", condition))

    def fetch(self, expression: str, variable: str = "") -> str:
        self.variables += 1
        variable = variable or f"v{self.variables}"
        self.found.append((variable, expression))
        return variable

    def constant(self, value: Any) -> str:
        name = f"k{len(self.constants)}"
        self.constants[name] = value
        return name

    def argument(self, spec: Shown, expression: str) -> None:
        """Containers and leaves."""
        match spec:
            case None:
                self.check(f"{expression} is None")
            case {"tuple": parts} | {"list": parts}:
                (kind,) = spec
                given = self.fetch(expression)
                self.check(f"type({given}) is {kind} and len({given}) == {len(parts)}")
                for place, part in enumerate(parts):
                    self.argument(part, f"{given}[{place}]")
            case {"dict": parts, "keys": shown}:
                given, keys = self.fetch(expression), [value_of(each, {}) for each in shown]
                self.check(f"type({given}) is dict and [*{given}] == {self.constant(keys)}")
                for key, part in zip(keys, parts, strict=True):
                    self.argument(part, f"{given}[{self.constant(key)}]")
            case {"class": name, "fields": fields, "items": parts}:
                given, kind = (
                    self.fetch(expression),
                    self.constant(plain_call.Shown({"class": name})),
                )
                self.check(f"type({given}) is {kind}")
                is_tuple = issubclass(named(name), tuple)
                for place, (field, part) in enumerate(zip(fields, parts, strict=True)):
                    self.argument(part, f"{given}[{place}]" if is_tuple else f"{given}.{field}")
            case _:
                assert spec == LEAF
                self.leaf(next(self.leaves), expression)

    def leaf(self, shown: dict[str, Any], expression: str) -> None:
        match shown:
            case {"input": int(place)} if place in self.seen:
                self.check(f"{self.fetch(expression)} is a{place}")
            case {"input": int(place)}:
                self.seen.add(place)
                self.fetch(expression, f"a{place}")
                kind = self.kinds[place]
                if isinstance(kind, ArrayType):
                    self.array(place, kind)
                else:
                    assert isinstance(kind, ScalarType)
                    wanted = kind.python_type if kind.weak else kind.dtype.type
                    self.check(f"type(a{place}) is {self.constant(wanted)}")
            case {"fixed": content}:
                value = value_of(content, {})
                if type(value) in _COMPARED:
                    self.check(f"same_value({self.fetch(expression)}, {self.constant(value)})")
                elif isinstance(value, bool):
                    self.check(f"{self.fetch(expression)} is {value}")
                else:
                    raise Untranslated("a fixed argument")
            case _:
                given = self.fetch(expression)
                kinds = (f"type({given}) is {self.constant(kind)}" for kind in _LEFT_OUT)
                self.check(" or ".join(kinds))

    def array(self, place: int, kind: ArrayType) -> None:
        given, dtype = f"a{place}", self.constant(kind.dtype)
        mask = _ALIGNED | _WRITEABLE
        wanted = _ALIGNED | (_WRITEABLE if kind.writeable else 0)
        if is_c_contiguous(kind):
            mask, wanted = mask | _C_ORDER, wanted | _C_ORDER
        self.check(
            f"type({given}) is ndarray and ({given}.dtype is {dtype} or {given}.dtype == {dtype})"
        )
        self.check(f"{given}.ndim == {len(kind.shape)}")
        self.fetch(f"{given}.flags", f"f{place}")
        self.check(f"f{place}.num & {mask} == {wanted}")
        if place in self.written and not is_c_contiguous(kind):
            self.rows_apart += _apart_from_itself(kind)

    def apart(self) -> None:
        """An array that is written has no element in common with another."""
        arrays = [place for place, kind in enumerate(self.kinds) if isinstance(kind, ArrayType)]
        for left, right in combinations(arrays, 2):
            if not self.written.isdisjoint((left, right)):
                own = f"a{left} is not a{right} and f{left}.owndata and f{right}.owndata"
                self.check(f"{own} or not may_share(a{left}, a{right})")


def _apart_from_itself(kind: ArrayType) -> Iterator[Guard]:
    """What has to hold of sizes and strides for each element to lie at a place of its own, as it
    does in slices of arrays: no row reaches into the next one.
    """
    reach: Dim = kind.dtype.itemsize
    for axis in reversed(stride_order(kind)):
        if kind.shape[axis] != 1:
            yield Guard(kind.strides[axis], ">=", reach)
            reach = kind.strides[axis] * kind.shape[axis]
