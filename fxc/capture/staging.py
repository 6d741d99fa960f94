"""Rewriting a function so that its calls and its reads from outside go through the call door.

::

    def step(x):                         def step(x):
        y = np.zeros(n)                      y = __fxc__.call(__fxc__.attr(
        self.u[1:-1] += y                        __fxc__.outer("np", np), "zeros"), …)
                                             __fxc__.stored(__fxc__.attr(self, "u"))[1:-1] += y

It is done once for each code object. Lines and the file's name stay those of the source, so that
tracebacks and node locations point to what the user wrote.
"""

from __future__ import annotations

import ast
import copy
import linecache
import opcode
import weakref
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from fxc.ir.location import SourceLocation
from fxc.ir.records import frozen

from .session import refuse

DOOR = "__fxc__"
_GENERATOR_FLAGS = 0x20 | 0x80 | 0x200
_FUTURES = 0x1FF0000  # the bits of ``from __future__`` imports
FunctionNode = ast.FunctionDef | ast.Lambda


@frozen
class Staged:
    """The rewritten code, and every code object in it."""

    code: CodeType
    inner: frozenset[CodeType]


class _NoSource(Exception):
    """The source of a function is not to be had."""


_staged: weakref.WeakKeyDictionary[CodeType, Staged] = weakref.WeakKeyDictionary()


def stage(function: FunctionType) -> Staged | None:
    """The rewritten code of a function; None if there is no source.

    Raises ``CaptureError`` for code that cannot be captured whatever it does.
    """
    code = function.__code__
    known = _staged.get(code)
    if known is not None and known.code.co_filename == code.co_filename:  # equal codes may differ
        return known
    if code.co_flags & _GENERATOR_FLAGS:
        raise refuse(
            f"{code.co_name} is a generator or a coroutine and cannot be captured",
            SourceLocation(code.co_filename, code.co_firstlineno, code.co_name),
        )
    try:
        node = _source_node(function)
        rewritten = _rewrite(node, code)
    except _NoSource:
        return None
    staged = _staged[code] = Staged(rewritten, frozenset(codes_in(rewritten)))
    return staged


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """A code object and all those in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


# ------------------------------------------------------------------ finding the source


def _source_node(function: FunctionType) -> FunctionNode:
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    first = code.co_firstlineno
    if not lines or first > len(lines):
        raise _NoSource
    candidates = _from_block(lines, code)
    if not candidates:
        candidates = _candidates(_parsed("".join(lines), 0), code)
    if not candidates:
        raise _NoSource
    return candidates[0]  # several on one line: their code is the same


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


def _last_line(code: CodeType) -> int:
    return max((end for _, end, _, _ in code.co_positions() if end is not None), default=0)


def _parsed(text: str, offset: int) -> ast.Module:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        raise _NoSource from None
    return ast.increment_lineno(tree, offset) if offset else tree


def _candidates(tree: ast.Module, code: CodeType) -> list[FunctionNode]:
    found: list[FunctionNode] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if node.name == code.co_name and first == code.co_firstlineno:
                found.append(node)
        elif isinstance(node, ast.Lambda) and code.co_name == "<lambda>":
            found += [node] if node.lineno == code.co_firstlineno else []
    return [
        node
        for node in found
        if _parameters(node.args) == _given(code) and _is_source_of(node, code)
    ]


def _is_source_of(node: FunctionNode, code: CodeType) -> bool:
    """Whether the node compiles to the code: the file may have changed since it was imported."""
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = []
    # Nested in a factory, and without defaults, parameters compile to the same code.
    node.args.defaults = []
    node.args.kw_defaults = [None] * len(node.args.kwonlyargs)
    try:
        compiled = _compiled(node, code)
    except (SyntaxError, _NoSource):
        return False
    if _fingerprint(compiled) == _fingerprint(code):
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


def _fingerprint(code: CodeType) -> tuple[Any, ...]:
    text = code.co_code
    operations = [
        (number, argument)
        for number, argument in zip(text[::2], text[1::2], strict=True)
        if number in _COMPARED
    ]
    return operations, _plain_constants(code), code.co_names, code.co_varnames


def _plain_constants(code: CodeType) -> list[str]:
    return [repr(each) for each in code.co_consts if not isinstance(each, CodeType)]


def _parameters(args: ast.arguments) -> list[str]:
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return names + [arg.arg for arg in (args.vararg, args.kwarg) if arg is not None]


def _given(code: CodeType) -> list[str]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return list(code.co_varnames[:count])


# ------------------------------------------------------------------ rewriting


def _rewrite(node: FunctionNode, code: CodeType) -> CodeType:
    made = _compiled(_Rewriter(code).function(node), code)
    return made.replace(co_qualname=code.co_qualname)


def _compiled(node: FunctionNode, code: CodeType) -> CodeType:
    """The code of a function, made inside of a factory that has its free variables."""
    body: ast.stmt
    if isinstance(node, ast.FunctionDef):  # under its own name, calls of itself would be local
        body = copy.copy(node)
        body.name = _STAGED
    else:
        body = ast.copy_location(ast.Return(value=node), node)
    name = _STAGED if isinstance(node, ast.FunctionDef) else code.co_name
    names = [ast.arg(arg=name) for name in (DOOR, *code.co_freevars)]
    factory = ast.FunctionDef(
        name="__fxc_factory__",
        args=ast.arguments(posonlyargs=[], args=names, kwonlyargs=[], kw_defaults=[], defaults=[]),
        body=[body],
        decorator_list=[],
    )
    for made in (factory, *names):  # the nodes inside have theirs
        ast.copy_location(made, node)
    if hasattr(factory, "type_params"):
        factory.type_params = []
    module = ast.Module(body=[factory], type_ignores=[])
    flags = code.co_flags & _FUTURES
    compiled = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    for found in codes_in(compiled):
        if found.co_name == name and _given(found) == _given(code):
            return found.replace(co_name=code.co_name)
    raise _NoSource


_STAGED = "__fxc_staged__"


class _Rewriter(ast.NodeTransformer):
    """Rewrites one function; knows which names are its own."""

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._scopes: list[set[str]] = []
        self._owner = _class_of(code)

    def function(self, node: FunctionNode) -> Any:
        """The outermost function, which is without decorators and defaults by now."""
        return self._inside(node)

    def _inside(self, node: FunctionNode) -> Any:
        self._scopes.append(_bound_names(node))
        for arg in ast.walk(node.args):
            if isinstance(arg, ast.arg):
                arg.annotation = None
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.returns = None
            node.body = [self.visit(statement) for statement in node.body]
        self._scopes.pop()
        return node

    # -------------------------------------------------------- scopes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if node.decorator_list:
            raise self._refuse(node, f"{node.name}, a decorated function in a function,")
        self._visit_defaults(node.args)
        return self._inside(node)

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        self._visit_defaults(node.args)
        return self._inside(node)

    def _visit_defaults(self, args: ast.arguments) -> None:
        args.defaults = [self.visit(default) for default in args.defaults]
        args.kw_defaults = [None if d is None else self.visit(d) for d in args.kw_defaults]

    def _comprehension(self, node: Any) -> Any:
        first = node.generators[0]
        first.iter = self._door("iterable", first.iter, self.visit(first.iter))
        names = {
            name.id
            for generator in node.generators
            for name in ast.walk(generator.target)
            if isinstance(name, ast.Name)
        }
        self._scopes.append(names)
        for place, generator in enumerate(node.generators):
            if place:
                generator.iter = self._door("iterable", generator.iter, self.visit(generator.iter))
            generator.target = self.visit(generator.target)
            generator.ifs = [self.visit(test) for test in generator.ifs]
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        self._scopes.pop()
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    # -------------------------------------------------------- doors

    def _door(self, method: str, place: ast.AST, *args: ast.expr) -> ast.Call:
        door = ast.Attribute(ast.Name(DOOR, ast.Load()), method, ast.Load())
        call = ast.Call(door, list(args), [])
        for node in (call, door, door.value):
            ast.copy_location(node, place)
        return call

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = self._mangled(node.id)
        if not isinstance(node.ctx, ast.Load) or node.id in ("__class__", DOOR):
            return node
        if any(node.id in scope for scope in self._scopes):
            return node
        method = "free" if node.id in self._code.co_freevars else "outer"
        return self._door(method, node, ast.copy_location(ast.Constant(node.id), node), node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.value = self.visit(node.value)
        node.attr = self._mangled(node.attr)
        if isinstance(node.ctx, ast.Load):
            name = ast.copy_location(ast.Constant(node.attr), node)
            return self._door("attr", node, node.value, name)
        node.value = self._door("owned", node.value, node.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        node.value = self.visit(node.value)
        node.slice = self.visit(node.slice)
        method = "indexed" if isinstance(node.ctx, ast.Load) else "stored"
        node.value = self._door(method, node.value, node.value)
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            first = _given(self._code)[0] if _given(self._code) else "self"
            node.args = [
                ast.copy_location(ast.Name(name, ast.Load()), node) for name in ("__class__", first)
            ]
        self.generic_visit(node)
        call = self._door("call", node, node.func, *node.args)
        call.keywords = node.keywords
        return call

    def visit_Compare(self, node: ast.Compare) -> Any:
        """``a is b`` depends on the objects of a call: the door guards it."""
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Is | ast.IsNot):
            return node
        right = node.comparators[0]
        if isinstance(node.left, ast.Constant) or isinstance(right, ast.Constant):
            return node
        same = self._door("same", node, node.left, right)
        if isinstance(node.ops[0], ast.Is):
            return same
        return ast.copy_location(ast.UnaryOp(ast.Not(), same), node)

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        node.iter = self._door("iterable", node.iter, node.iter)
        return node

    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = self._door("context", item.context_expr, item.context_expr)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        node.annotation = ast.copy_location(ast.Constant(None), node.annotation)
        node.target = self.visit(node.target)
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    # -------------------------------------------------------- what is refused at sight

    def visit_Global(self, node: ast.Global) -> Any:
        raise self._refuse(node, f"'global {node.names[0]}', a write to a global,")

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:
        raise self._refuse(node, f"'nonlocal {node.names[0]}', a write outside of the function,")

    def visit_Try(self, node: ast.Try) -> Any:
        raise self._refuse(node, "a try statement")

    def visit_TryStar(self, node: Any) -> Any:
        raise self._refuse(node, "a try statement")

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        raise self._refuse(node, f"a class in a function ({node.name})")

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        raise self._refuse(node, f"a coroutine ({node.name})")

    def _refuse(self, node: ast.stmt, what: str) -> Exception:
        code = self._code
        location = SourceLocation(code.co_filename, node.lineno, code.co_name)
        return refuse(f"{what} cannot be captured", location)

    def _mangled(self, name: str) -> str:
        if self._owner and name.startswith("__") and not name.endswith("__"):
            return f"_{self._owner.lstrip('_')}{name}"
        return name


def _class_of(code: CodeType) -> str:
    """The class in whose body the function stands, for names that begin with two underscores."""
    parts = code.co_qualname.split(".")
    return parts[-2] if len(parts) > 1 and parts[-2] != "<locals>" else ""


_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _bound_names(function: FunctionNode) -> set[str]:
    """The names that are local to a function."""
    names = set(_parameters(function.args))
    declared: set[str] = set()
    todo: list[tuple[ast.AST, bool]] = [
        (child, False)
        for child in (function.body if isinstance(function.body, list) else [function.body])
    ]
    while todo:
        node, comprehended = todo.pop()
        match node:
            case ast.Name(id, ast.Store() | ast.Del()):
                if not comprehended:
                    names.add(id)
            case ast.NamedExpr(ast.Name(id)):
                names.add(id)
            case ast.Import(aliases) | ast.ImportFrom(_, aliases):
                names.update((a.asname or a.name).split(".")[0] for a in aliases)
            case ast.ExceptHandler(_, str(name)) | ast.MatchAs(_, str(name)):
                names.add(name)
            case ast.MatchStar(str(name)):
                names.add(name)
            case ast.MatchMapping(_, _, str(name)):
                names.add(name)
            case ast.Nonlocal(found) | ast.Global(found):
                declared.update(found)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                names.add(name)
        if isinstance(node, _INNER):
            continue
        inside = comprehended or isinstance(node, _COMPREHENSIONS)
        todo.extend((child, inside) for child in ast.iter_child_nodes(node))
    return names - declared
