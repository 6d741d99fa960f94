"""What the caller sees: new contents of inputs, and what is returned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, assert_never

import numpy as np

from fxc.ir.errors import ExportError
from fxc.ir.graph import Operand
from fxc.ir.signature import (
    ConstantLeaf,
    DimLeaf,
    InputLeaf,
    Mutation,
    OutputLeaf,
    ResultLeaf,
    Signature,
    ViewLeaf,
    ViewStep,
)
from fxc.ir.tree import LEAF, TreeSpec
from fxc.ir.types import is_c_contiguous
from fxc.ops.metas import meta_of
from fxc.ops.table import TABLE

from .body import SourceBody
from .code import ATOM, Code, dim_code, number, quoted
from .lines import laid_out
from .memory import shares
from .operators import is_array
from .parts import part_of
from .views import View, whole


class Boundary:
    """Writes what stands behind the body of a function."""

    def __init__(self, body: SourceBody, signature: Signature) -> None:
        self.body = body
        self.signature = signature
        self.fresh: dict[int, Code] = {}
        self.views: dict[int, str] = {}

    def write(self, out_spec: TreeSpec) -> None:
        """New arrays first, as the old contents make them; then the inputs; then views of both."""
        body = self.body
        leaves = self.signature.outputs
        for leaf in leaves:
            base = leaf.base if isinstance(leaf, ViewLeaf) else leaf
            if isinstance(base, ResultLeaf) and base.result not in self.fresh:
                self.fresh[base.result] = self.own(base)
        for mutation in self.signature.mutations:
            self.update(mutation)
        counts = [leaf.identity for leaf in leaves if isinstance(leaf, ViewLeaf)]
        for leaf in leaves:
            if isinstance(leaf, ViewLeaf) and leaf.identity not in self.views:
                code = self.view(leaf)
                if counts.count(leaf.identity) > 1:
                    name = body.names.free("view")
                    body.statement(f"{name} = ", code, None)
                    code = Code(name)
                self.views[leaf.identity] = code.text
        if out_spec.container is type(None):
            return
        texts = iter([self.leaf(leaf) for leaf in leaves])
        self.returned(out_spec, texts)

    # ------------------------------------------------------------ results

    def own(self, leaf: ResultLeaf) -> Code:
        """A result that is nobody else's array."""
        body, operand = self.body, self.body.graph.outputs[leaf.result]
        found = body.uses.resolve(operand)
        if not is_array(operand):
            if body.uses.count(operand) > 1 or found not in body.pending:
                return Code(body.variable(operand, "result"))
            return Code("", reads=frozenset())
        if self.is_own(leaf, operand):
            leaves = [x for x in self.signature.outputs if _base(x) == leaf]
            if found in body.pending and len(leaves) == 1 and leaves[0] == leaf:
                return Code("")
            return Code(body.variable(operand, "result"))
        kind: Any = leaf.type
        order = "" if is_c_contiguous(kind) or kind.rank < 2 else 'order="K"'
        code = body.operand(operand)
        name = body.names.free(body.wishes.get(found, "result"))  # type: ignore[arg-type]
        body.consume([operand])
        body.statement(f"{name} = ", Code(f"{code.within(ATOM)}.copy({order})"), None)
        return Code(name)

    def is_own(self, leaf: ResultLeaf, operand: Operand) -> bool:
        """Whether a result lies in memory of its own, and is no view there."""
        memory = self.body.memory
        stores = memory.of(operand)
        if operand in memory.views or any(s.input is not None for e in stores for s in e.sources()):
            return False
        others = {
            base.result
            for base in map(_base, self.signature.outputs)
            if isinstance(base, ResultLeaf) and base.result < leaf.result
        }
        return not any(shares(memory.of(self.body.graph.outputs[n]), stores) for n in others)

    def leaf(self, leaf: OutputLeaf) -> Code:
        match leaf:
            case InputLeaf(number_):
                return self.body.code_of[self.body.graph.inputs[number_]]
            case ResultLeaf(result, _):
                code = self.fresh[result]
                return code if code.text else self.body.operand(self.body.graph.outputs[result])
            case ViewLeaf(_, _, identity):
                return Code(self.views[identity])
            case DimLeaf(value):
                return dim_code(value, self.body.known)
            case ConstantLeaf(None):
                return Code("None")
            case ConstantLeaf(str() as text):
                return Code(quoted(text))
            case ConstantLeaf(value):
                if isinstance(value, np.generic) or type(value) in (bool, int, float, complex):
                    return number(value)
                raise ExportError(f"its result holds {value!r}, which is no part of NumPy")
            case _:
                assert_never(leaf)

    def view(self, leaf: ViewLeaf) -> Code:
        base = self.leaf(leaf.base)
        if isinstance(leaf.base, InputLeaf):
            kind: Any = self.body.graph.inputs[leaf.base.input].type
        else:
            kind = leaf.base.type
        return self.viewed(base, kind, leaf.steps)

    def viewed(self, base: Code, kind: Any, steps: Sequence[ViewStep]) -> Code:
        """The view of an array by steps."""
        view: View | Code = whole(base, kind.rank)
        if not steps:
            return Code(f"{base.within(ATOM)}[...]", reads=base.reads)
        for step in steps:
            if not isinstance(view, View):
                view = whole(view, kind.rank)
            found = part_of(self.body, view, kind.shape, TABLE[step.op].group, step.args)
            if found is None:
                raise ExportError(f"a view by {step.op} cannot be written in NumPy")
            view = found
            kind = meta_of(step.op)(kind, *step.args)
        code = view.code() if isinstance(view, View) else view
        if code.text == base.text:  # all of it, as another object
            return Code(f"{base.within(ATOM)}[...]", reads=base.reads)
        return code

    # ------------------------------------------------------------ inputs

    def update(self, mutation: Mutation) -> None:
        """Bring the new content of an input into it, unless it is there."""
        body = self.body
        given, new = body.graph.inputs[mutation.input], body.graph.outputs[mutation.result]
        target = body.code_of[given].text
        if body.operand(new).text == target:
            return
        stores = body.memory.of(given)
        written = [body.graph.inputs[n] for n in self.signature.mutated_inputs - {mutation.input}]
        if any(shares(body.memory.of(new), body.memory.of(other)) for other in written):
            code = body.operand(new)
            name = body.names.free("new")
            body.consume([new])
            body.statement(f"{name} = ", Code(f"{code.within(ATOM)}.copy()"), None)
            source = Code(name)
        elif mutation.regions or body.uses.count(new) > 1:
            source = Code(body.variable(new, "new"))
        else:
            source = body.operand(new)
        body.settle(lambda value: shares(body.memory.of(value), stores), [new])
        kind: Any = given.type
        for steps in mutation.regions or ((),):
            left = self.viewed(Code(target), kind, steps).text.removesuffix(", ...]")
            left += "]" if left.count("[") > left.count("]") else ""
            fill = body.fills.get(body.uses.resolve(new), source)
            right = self.viewed(source, kind, steps) if steps else fill
            left = left if left.endswith("]") else f"{left}[...]"
            body.statement(f"{left} = ", right, None)
        body.consume([new])

    # ------------------------------------------------------------ what is returned

    def returned(self, spec: TreeSpec, leaves: Iterator[Code]) -> None:
        body = self.body
        if spec.container is tuple and len(spec.children) > 1:
            items = [_tree(child, leaves).text for child in spec.children]
            text = ", ".join(items)
            if len(text) + 11 <= 88:
                body.emit([f"    return {text}"], None)
            else:
                body.lines += laid_out(1, "return ", ("(", items, ",)"), f"({text})")
            return
        body.statement("return ", _tree(spec, leaves), None)


def _base(leaf: OutputLeaf) -> OutputLeaf:
    return leaf.base if isinstance(leaf, ViewLeaf) else leaf


def _tree(spec: TreeSpec, leaves: Iterator[Code]) -> Code:
    """The text of a pytree."""
    if spec == LEAF:
        return next(leaves)
    if spec.container is type(None):
        return Code("None")
    items = [_tree(child, leaves).text for child in spec.children]
    kind = spec.container
    if kind is tuple:
        text = f"({', '.join(items)}{',' * (len(items) == 1)})"
        return Code(text, parts=("(", tuple(items), ",)"))
    if kind is list:
        return Code(f"[{', '.join(items)}]", parts=("[", tuple(items), "]"))
    if kind is dict and all(isinstance(key, (str, int)) for key in spec.keys):
        shown = [f"{_key(key)}: {item}" for key, item in zip(spec.keys, items, strict=True)]
        return Code(f"{{{', '.join(shown)}}}", parts=("{", tuple(shown), "}"))
    assert kind is not None
    raise ExportError(f"its result is a {kind.__name__}, which needs more than NumPy")


def _key(key: object) -> str:
    return f'"{key}"' if isinstance(key, str) and '"' not in repr(key) else repr(key)
