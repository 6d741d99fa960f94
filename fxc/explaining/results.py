"""What the caller sees of a call: arguments that it writes, results, changes of objects."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from fxc.capture.epilogue.finishing import Epilogue
from fxc.ir.graph import Graph
from fxc.ir.signature import ConstantLeaf, DimLeaf, InputLeaf, OutputLeaf, ResultLeaf, ViewStep
from fxc.ir.types import ArrayType

_MOST_SHOWN = 60  # characters of a constant
_LEAF = re.compile(r"\br(\d+)\b")
_OBJECT = re.compile(r"\bv\d+\b")


def written(functional: Graph, names: list[str]) -> Iterator[str]:
    """The arrays of the caller's that a call writes, as the program would write them."""
    assert functional.signature is not None
    for each in functional.signature.mutations:
        name = names[each.input]
        yield ", ".join(_indexed(name, region) for region in each.regions) or name


def returned(
    functional: Graph, names: list[str], epilogue: Epilogue | None
) -> tuple[list[str], list[str]]:
    """What a call returns, and what it changes of objects."""
    assert functional.signature is not None
    leaves = [_leaf(leaf, names) for leaf in functional.signature.outputs]
    if epilogue is None:
        return leaves[:1], []
    shown, changes = _told(epilogue)
    used = [int(number) for number in _LEAF.findall(shown)]
    if shown in {f"r{n}" for n in used} or shown == f"({', '.join(f'r{n}' for n in used)})":
        return [leaves[n] for n in used], [_with_leaves(each, leaves) for each in changes]
    text = [] if shown == "None" else [shown, *(f"  r{n}: {leaves[n]}" for n in used)]
    return text, [_with_leaves(each, leaves) for each in changes]


def _told(epilogue: Epilogue) -> tuple[str, list[str]]:
    """The expression that an epilogue returns, and the changes that it makes, in its words, but
    with the names that the program has for its constants.
    """
    source = epilogue.source
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    made: dict[str, ast.expr] = {
        name: ast.Name(_name_of(constant)) for name, constant in epilogue.constants.items()
    }
    lines, changes, result = source.splitlines(), list[str](), "None"
    for each in function.body:
        match each:
            case ast.Assign([ast.Name(name)], value):
                made[name] = _Inlined(made).visit(value)
            case ast.Assign([ast.Tuple()]):
                pass  # of the leaves
            case ast.Return(value) if value is not None:
                result = ast.unparse(_Inlined(made).visit(value))
            case _:
                about = lines[each.lineno - 1].partition("  # ")[2]
                text = ast.unparse(_Inlined(made).visit(each))
                changes.append(_OBJECT.sub(about.replace("\\", ""), text) if about else text)
    return result, changes


def _name_of(constant: object) -> str:
    """What a program calls a constant of an epilogue, where a name is shorter than the value."""
    if callable(constant):
        return getattr(constant, "__name__", type(constant).__name__).lstrip("_")
    return _shortened(repr(constant))


class _Inlined(ast.NodeTransformer):
    """Puts what was made in the place of its names."""

    def __init__(self, made: dict[str, ast.expr]) -> None:
        self.made = made

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.made.get(node.id, node)


def _with_leaves(change: str, leaves: list[str]) -> str:
    target, equals, value = change.partition(" = ")
    how = f"{target} becomes {value}" if equals else change
    return _LEAF.sub(lambda found: leaves[int(found[1])], how)


def _leaf(leaf: OutputLeaf, names: list[str]) -> str:
    match leaf:
        case InputLeaf(place):
            return f"{names[place]} itself"
        case ResultLeaf(_, kind):
            return f"a new array, {kind}" if isinstance(kind, ArrayType) else f"a number, {kind}"
        case DimLeaf(value):
            return f"a number, {value}"
        case ConstantLeaf(value):
            return _shortened(repr(value))
        case _:
            if isinstance(leaf.base, ResultLeaf):
                return f"a view of a new array, {_indexed('', leaf.steps)}"
            return f"a view, {_indexed(names[leaf.base.input], leaf.steps)}"


def _shortened(text: str) -> str:
    """The beginning of a long text: a constant may be as large as any array."""
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _indexed(name: str, steps: tuple[ViewStep, ...]) -> str:
    """A view as a program writes it: ``u[1:9][:, 0]``."""
    for step in steps:
        match step:
            case ViewStep("slice", (specs,)):
                name += f"[{', '.join(_slice(str(each)) for each in specs)}]"
            case ViewStep("select", (int(axis), place)):
                name += f"[{':, ' * axis}{place}]"
            case _:
                name += f".{step.op}({', '.join(map(_argument, step.args))})"
    return name


def _slice(text: str) -> str:
    return text.removesuffix(":1")


def _argument(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_argument, value))})"
    return str(value)
