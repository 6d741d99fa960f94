"""The text of a module: what it imports, the functions that it takes along, and the program."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from fxc.dispatch.default import default_dispatcher
from fxc.ir.errors import ExportError
from fxc.ir.graph import Graph, walk
from fxc.ir.tree import TreeSpec
from fxc.ir.types import ScalarType
from fxc.ops.foreign_calls import ForeignCall
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import EFFECTS, Operator, Tag

from ..legalize import legalize, place_of
from .arguments import Argument, GuardTexts, Head
from .body import SourceBody
from .boundary import Boundary
from .constants import table_lines
from .helpers import Helpers
from .lines import WIDTH
from .memory import plan_memory
from .naming import Names
from .operators import public_name


def numpy_source(
    graph: Graph,
    parameters: Sequence[str],
    arguments: Sequence[Argument],
    out_spec: TreeSpec,
    guard_texts: GuardTexts,
) -> str:
    """A functional graph as a module of Python that needs NumPy alone.

    ``parameters`` are those of the function, with a ``*`` before those by keyword; messages say the
    guards as ``guard_texts`` does.

    Raises ``ExportError``, which names what NumPy alone does not have.
    """
    legal = legalize(graph, "NumPy", _kernel, has_all_dtypes=True)
    try:
        return _written(legal, parameters, arguments, out_spec, guard_texts)
    except ExportError as error:
        raise ExportError(f"{graph.name} cannot be exported to NumPy: {error.text}") from None


def _written(
    legal: Graph,
    parameters: Sequence[str],
    arguments: Sequence[Argument],
    out_spec: TreeSpec,
    guard_texts: GuardTexts,
) -> str:
    graph = legal
    memory = plan_memory(legal)
    name = graph.name if graph.name.isidentifier() else "function"
    names = Names({name, *(each.lstrip("*") for each in parameters)})
    helpers = Helpers()
    body = SourceBody(legal, memory, names, helpers)
    head = Head(body, arguments, guard_texts)
    head.write()
    try:
        body.region(legal.body)
    except ExportError as error:
        raise ExportError(f"{error.text} ({place_of(body.written)})") from None
    assert legal.signature is not None
    Boundary(body, legal.signature).write(out_spec)
    body.lines = body.lines or ["    pass"]
    function = _header(name, parameters)
    blocks = [
        *("\n".join(table_lines(value, table)) for value, table in body.tables.items()),
    ]
    sources = [*head.used.values(), *helpers.sources.values()]
    program = "\n".join([*function, *body.lines])
    text = "\n\n\n".join([*sources, program])
    imports = _imports(text, "\n".join(blocks), helpers)
    first = [_docstring(graph, arguments), *([imports] if imports else [])]
    return "\n\n".join([*first, *blocks]) + "\n\n\n" + text + "\n"


def _header(name: str, parameters: Sequence[str]) -> list[str]:
    line = f"def {name}({', '.join(parameters)}):"
    if len(line) <= WIDTH:
        return [line]
    inner = f"    {', '.join(parameters)}"
    if len(inner) <= WIDTH:
        return [f"def {name}(", inner, "):"]
    return [f"def {name}(", *[f"    {each}," for each in parameters], "):"]


def _kernel(op: Operator) -> Any:
    """What NumPy has for an operator: a function of its own, or what fxc's kernel is made of."""
    if op.tag in EFFECTS or op.tag is Tag.CUSTOM:  # its impl is the user's
        return None
    if not default_dispatcher().table.lists(op.name):
        called = op.numpy.function if isinstance(op.numpy, ForeignCall) else op.numpy
        return called if public_name(called) is not None else None
    try:
        return kernel_of(op.name)
    except KeyError:
        return None


def _docstring(graph: Graph, arguments: Sequence[Argument]) -> str:
    assert graph.signature is not None
    written = graph.signature.mutated_inputs
    rows = []
    for argument in arguments:
        if argument.input is not None:
            kind = graph.inputs[argument.input].type
            plain = isinstance(kind, ScalarType) and kind.weak
            shown = kind.python_type.__name__ if plain else str(kind)  # type: ignore[union-attr]
            also = ", which it writes" * (argument.input in written)
            rows.append(f"    {argument.path}: {shown}{also}")
        elif argument.is_fixed:
            rows.append(f"    {argument.path}: {str(argument.fixed)!r} alone"[:88])
    files = Counter(os.path.basename(n.loc.file) for n in walk(graph.body) if n.loc is not None)
    source = f" of {files.most_common(1)[0][0]}" if files else ""
    head = f'"""``{graph.name}``{source} in NumPy alone.'
    if not rows:
        return f'{head}\n\nfxc wrote it.\n"""'
    listed = "\n".join(rows).replace("\\", "\\\\").replace('"""', "'''")
    return f'{head}\n\nfxc wrote it for calls with these arguments:\n\n{listed}\n"""'


def _imports(text: str, tables: str, helpers: Helpers) -> str:
    standard = []
    if tables:
        standard.append("import base64")
    if re.search(r"\bmath\.", text):
        standard.append("import math")
    for home in sorted(home for home in helpers.imports if not home.startswith("numpy")):
        standard.append(f"from {home} import {', '.join(sorted(helpers.imports[home]))}")
    blocks = ["from __future__ import annotations"] if helpers.sources else []
    if standard:
        blocks.append("\n".join(standard))
    others = ["import numpy as np"] if re.search(r"\bnp\.", tables + text) else []
    for home in sorted(home for home in helpers.imports if home.startswith("numpy")):
        others.append(f"from {home} import {', '.join(sorted(helpers.imports[home]))}")
    return "\n\n".join([*blocks, *(["\n".join(others)] if others else [])])
