"""Staging: a function is rewritten, so that its calls and reads from outside go through the door.

::

    def step(x):                         def step(x):
        y = np.zeros(n)                      y = __fxc__.call(__fxc__.attr(
        self.u[1:-1] += y                        __fxc__.outer("np"), "zeros"), …)
                                             __fxc__.stored(__fxc__.attr(self, "u"))[1:-1] += y

It is done once for each code object. Lines and the file's name stay those of the source, so that
tracebacks and node locations point to what the user wrote.
"""

from __future__ import annotations

import ast
import copy
import linecache
import opcode
import re
import warnings
import weakref
from collections.abc import Iterable
from enum import IntEnum
from types import CodeType, FunctionType
from typing import Any

from fxc.ir.error_kinds import STATEMENT
from fxc.ir.later import import_later
from fxc.ir.location import SourceLocation
from fxc.ir.made_functions import code_as_written, codes_in
from fxc.ir.records import frozen

from ..session.refusing import How, refusal
from .continuations import Asked, rewrite
from .names import FunctionNode, given, parameters, spell_out
from .nodes import DOOR, copied, walk
from .rewriting import Rewriter

# See Note [Rooms with one door].
hand_out = import_later("fxc.capture.staging.driving", "hand_out")

Named = ast.FunctionDef | ast.AsyncFunctionDef
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef)
_COROUTINE_FLAGS = 0x80 | 0x100 | 0x200
_OPTIMIZED = 0x1  # what a function is, and the body of a class is not
_FUTURES = 0x1FF0000  # the bits of ``from __future__`` imports


@frozen
class StagedCode:
    """The rewritten code, and every code object in it."""

    code: CodeType
    inner: frozenset[CodeType]


class Driven(IntEnum):
    """How a generator is driven; as lines, at which no loop stands."""

    TO_ITS_END = 0
    LEFT = -1


class _NoSource(Exception):
    """The source of a function cannot be read."""


_staged: weakref.WeakKeyDictionary[CodeType, dict[Asked, StagedCode]] = weakref.WeakKeyDictionary()


def stage(
    function: FunctionType, asked: Asked = frozenset(), driven: Driven | None = None
) -> StagedCode | None:
    """The rewritten code of a function; None if there is no source, or if it is a generator to be
    ``driven``, and perhaps left, that cannot be: see Note [Generators that are driven].

    Branches are written otherwise where it is asked, see Note [What follows a branch].

    Raises ``CaptureError`` for code that cannot be captured whatever it does.
    """
    code = function.__code__
    if asked:
        first, last = code.co_firstlineno, max(map(_last_line, codes_in(code)))
        asked = frozenset(each for each in asked if first <= each[0] <= last)
    asked |= {(driven, How.DRIVEN)} if driven is not None else set()
    known = _staged.get(code, {}).get(asked)
    if known is not None and known.code.co_filename == code.co_filename:  # equal codes may differ
        return known
    if code.co_flags & _COROUTINE_FLAGS:
        raise refusal(
            STATEMENT,
            f"{code.co_name} is a coroutine and cannot be captured",
            SourceLocation(code.co_filename, code.co_firstlineno, code.co_name),
        )
    try:
        node = _source_node(function)
        if driven is not None and not hand_out(node, driven is Driven.LEFT):
            return None
        if asked:
            rewrite(node, asked)
        rewritten = _qualified(_compiled(Rewriter(code).function(node), code), code.co_qualname)
    except _NoSource:
        return None
    staged = StagedCode(rewritten, frozenset(codes_in(rewritten)))
    if next(iter(_staged.get(code, {}).values()), staged).code.co_filename != code.co_filename:
        del _staged[code]  # an equal code of another file
    _staged.setdefault(code, {})[asked] = staged
    return staged


# ------------------------------------------------------------------ finding the source


def _source_node(function: FunctionType) -> FunctionNode:
    code = code_as_written(function.__code__)
    kept = _kept.get(id(code))
    if kept is not None:
        return copied(kept[1])
    file = code.co_filename
    if file.startswith("<frozen "):  # into Python: _collections_abc, posixpath
        file = function.__globals__.get("__file__", file)
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    first = code.co_firstlineno
    if not lines or first > len(lines):
        raise _NoSource
    candidates = _from_block(lines, code)
    if not candidates and code.co_name == "<lambda>":
        candidates = _from_brackets(lines, code)
    if not candidates:
        candidates = _candidates(_parsed("".join(lines), 0), code)
    if not candidates:
        raise _NoSource
    if len(candidates) == 1:
        return candidates[0]
    return max(candidates, key=lambda node: _places_in_common(node, code))


def _places_in_common(node: FunctionNode, code: CodeType) -> int:
    """How many instructions are for a part of a function that stands where they say: of several
    functions on one line what is compared may be alike, as in ``x and y`` and ``x or y``.
    """
    parts = {
        (each.lineno, each.end_lineno, each.col_offset, each.end_col_offset)
        for each in walk(node)
        if isinstance(each, ast.expr | ast.stmt)
    }
    return sum(place in parts for place in code.co_positions())


def _from_block(lines: list[str], code: CodeType) -> list[FunctionNode]:
    """The function in the lines that its bytecode spans; cheap, and nearly always enough."""
    last = max((_last_line(each) for each in codes_in(code)), default=0)
    first = code.co_firstlineno
    block = "".join(lines[first - 1 : last])
    if block[:1] in " \t":
        block, first = "if True:\n" + block, first - 1
    try:
        return _candidates(_parsed(block, first - 1), code)
    except _NoSource:
        return []


def _from_brackets(lines: list[str], code: CodeType) -> list[FunctionNode]:
    """A lambda in brackets that are not closed where it ends: an item of a dict, an argument. To
    parse a long file for each of them takes longer than all else.
    """
    first = code.co_firstlineno
    last, end = max(filter(None, map(_last_place, codes_in(code))), default=(first, 0))
    encoded = [line.encode() for line in lines[first - 1 : last]]
    tail = encoded[-1][end:].lstrip(b") \n\\")
    stop = len(encoded[-1]) - len(tail)
    for begin in (found.start() for found in re.finditer(rb"\blambda\b", encoded[0])):
        for at in range(end, stop + 1):  # behind brackets that close in the lambda
            if at > end and encoded[-1][at - 1 : at] != b")":
                continue
            cut = [*encoded[:-1], encoded[-1][:at]]
            cut[0] = b" " * begin + cut[0][begin:]
            try:
                found = _candidates(_parsed(f"(\n{b''.join(cut).decode()}\n)", first - 2), code)
            except (_NoSource, UnicodeDecodeError):
                continue
            if found:
                return found
    return []


def _last_place(code: CodeType) -> tuple[int, int] | None:
    """The line and the column at which the last of a function ends."""
    ends = [(line, column) for _, line, _, column in code.co_positions() if line and column]
    return max(ends, default=None)


def _last_line(code: CodeType) -> int:
    return max((end for _, end, _, _ in code.co_positions() if end is not None), default=0)


def _parsed(text: str, offset: int) -> ast.Module:
    try:
        with warnings.catch_warnings(action="ignore"):  # Python has warned of this source
            tree = ast.parse("\n" * offset + text)  # in a fraction of the time to change each line
    except SyntaxError:
        raise _NoSource from None
    return ast.increment_lineno(tree, offset) if offset < 0 else tree


def _candidates(tree: ast.Module, code: CodeType) -> list[FunctionNode]:
    found: list[FunctionNode] = []
    for node in walk(tree):
        if isinstance(node, _NAMED):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if node.name == code.co_name and first == code.co_firstlineno:
                found.append(node)
        elif isinstance(node, ast.Lambda) and code.co_name == "<lambda>":
            found += [node] if node.lineno == code.co_firstlineno else []
    for node in found:
        spell_out(node, code)
    return [
        node for node in found if parameters(node.args) == given(code) and _is_source_of(node, code)
    ]


def _is_source_of(node: FunctionNode, code: CodeType) -> bool:
    """Whether the node compiles to the code: the file may have changed since it was imported."""
    if isinstance(node, _NAMED):
        node.decorator_list = []
    # Nested in a factory, and without defaults, parameters compile to the same code.
    node.args.defaults = []
    node.args.kw_defaults = [None] * len(node.args.kwonlyargs)
    try:
        compiled = _compiled(node, code)
    except (SyntaxError, _NoSource):
        return False
    if fingerprint(compiled) == fingerprint(code):
        return True
    # pytest rewrites assert statements, and nothing else.
    if not any(name.startswith("@py_") for name in code.co_varnames):
        return False
    return set(_plain_constants(compiled)) <= set(_plain_constants(code))


# The bytecode of one text differs with what its module imports (calls of methods), so only what
# no context changes is compared: arithmetic, comparisons, constants and variables, in order.
_COMPARED = frozenset(
    number
    for name, number in opcode.opmap.items()
    if name.startswith(("BINARY_", "COMPARE_", "UNARY_", "BUILD_", "LOAD_FAST", "STORE_FAST"))
    or name in ("LOAD_CONST", "CONTAINS_OP", "IS_OP", "LOAD_DEREF", "STORE_SUBSCR")
)


def fingerprint(code: CodeType) -> tuple[Any, ...]:
    """What a code does, apart from the functions in it and from what its module imports."""
    text = code.co_code
    operations = [
        (number, argument)
        for number, argument in zip(text[::2], text[1::2], strict=True)
        if number in _COMPARED
    ]
    return operations, _plain_constants(code), code.co_names, code.co_varnames


def _plain_constants(code: CodeType) -> list[str]:
    return [repr(each) for each in code.co_consts if not isinstance(each, CodeType)]


# ------------------------------------------------------------------ rewriting


def _compiled(node: FunctionNode, code: CodeType) -> CodeType:
    """The code of a function, made inside of a factory that has its free variables."""
    body: ast.stmt
    if isinstance(node, _NAMED):  # under its own name, calls of itself would be local
        body = copy.copy(node)
        body.name = _STAGED
    else:
        body = ast.copy_location(ast.Return(value=node), node)
    name = _STAGED if isinstance(node, _NAMED) else code.co_name
    return _from_factory(body, (DOOR, *code.co_freevars), name, given(code), code)


def _from_factory(
    body: ast.stmt, cells: Iterable[str], name: str, names: list[str], code: CodeType
) -> CodeType:
    """The code of that function, with these parameters, which sees the variables ``cells``."""
    args = [ast.arg(arg=name) for name in cells]
    factory = ast.FunctionDef(
        name="__fxc_factory__",
        args=ast.arguments(posonlyargs=[], args=args, kwonlyargs=[], kw_defaults=[], defaults=[]),
        body=[body],
        decorator_list=[],
    )
    for made in (factory, *args):  # the nodes inside have theirs
        ast.copy_location(made, body)
    if hasattr(factory, "type_params"):
        factory.type_params = []
    module = ast.Module(body=[factory], type_ignores=[])
    flags = code.co_flags & _FUTURES
    with warnings.catch_warnings(action="ignore"):  # as above
        compiled = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    for found in codes_in(compiled):
        if found.co_name == name and given(found) == names:
            return found.replace(co_name=code.co_name)
    raise _NoSource


_STAGED = "__fxc_staged__"


def _qualified(code: CodeType, name: str) -> CodeType:
    """The code under this qualified name, and what it defines under those that follow from it."""
    old = code.co_qualname

    def renamed(constant: object) -> object:
        if isinstance(constant, CodeType) and constant.co_qualname.startswith(old):
            return _qualified(constant, name + constant.co_qualname[len(old) :])
        is_own = constant == old and not code.co_flags & _OPTIMIZED
        return name if is_own else constant  # the body of a class stores its own

    return code.replace(co_qualname=name, co_consts=tuple(map(renamed, code.co_consts)))


# ------------------------------------------------------------------ other functions of a source


def source_of(function: FunctionType) -> FunctionNode | None:
    """The syntax tree of a function, without decorators and defaults; None if there is no source.

    The tree is the caller's own.
    """
    try:
        return _source_node(function)
    except _NoSource:
        return None


def rebound_around(code: CodeType) -> frozenset[str] | None:
    """The variables that functions inside of each other bind for one another, in the outermost one
    that has some code in it; None if that is not known, or if it may go on while the code runs.
    """
    lines = linecache.getlines(code.co_filename)
    try:
        tree = _parsed("".join(lines), 0)
    except _NoSource:
        return None
    todo: list[ast.AST] = [tree]
    for node in todo:
        if not isinstance(node, _NAMED):
            todo += [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)]
        elif node.lineno <= code.co_firstlineno <= (node.end_lineno or 0):
            inside = walk(node)
            if any(isinstance(x, ast.Yield | ast.YieldFrom | ast.Await) for x in inside):
                return None
            found = (each.names for each in inside if isinstance(each, ast.Nonlocal))
            return frozenset(name for names in found for name in names)
    return None


def code_like(node: Named, cells: Iterable[str], code: CodeType) -> CodeType:
    """The code of another function at the place of ``code``, which sees ``cells`` besides."""
    body = copy.copy(node)
    body.name = _STAGED
    if hasattr(body, "type_params"):
        body.type_params = []
    made = _from_factory(body, (*code.co_freevars, *cells), _STAGED, parameters(node.args), code)
    return _qualified(made, code.co_qualname).replace(co_firstlineno=code.co_firstlineno)


def keep_source(code: CodeType, node: ast.FunctionDef) -> None:
    """Note the syntax tree of code that stands in no file, as long as there is that code object:
    an equal one may live longer.
    """
    place = id(code)
    _kept[place] = weakref.ref(code, lambda _: _kept.pop(place, None)), node


_kept: dict[int, tuple[weakref.ref[CodeType], ast.FunctionDef]] = {}
