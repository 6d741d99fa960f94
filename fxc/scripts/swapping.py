"""Functions of a program that ask for a faster way before they run their own statements.

See Note [Unchanged scripts].
"""

from __future__ import annotations

import ast
import gc
import linecache
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, Protocol

_PLACE, _NOTHING, _NAME = "fxc: what to ask", "fxc: no answer", ".fxc"
_FRAMES = frozenset({"locals", "vars", "dir", "exec", "eval", "_getframe", "currentframe"})


class Answers(Protocol):
    """What answers the calls of a function."""

    answer: Callable[..., Any]


class _NoAnswer:
    """See ``NO_ANSWER``."""

    def __reduce__(self) -> tuple[object, ...]:
        return eval, ("...",)


NO_ANSWER: Any = _NoAnswer()
"""What makes a function run its own statements."""


def pickled_place() -> tuple[object, ...]:
    """What stands for a place where code is pickled, as some packages do: the function runs its
    own statements wherever that is read, without fxc.
    """
    return eval, ("type('', (), {'answer': staticmethod(lambda *_, **__: ...)})",)


def asking(code: CodeType) -> CodeType | None:
    """The code of a function with a prologue: ``r = PLACE.answer(*its arguments)``, which is
    returned unless it is ``NO_ANSWER``; then come its own statements, at their lines. None if it
    cannot be.

    The prologue asks what ``answering`` puts in its place.
    """
    if code.co_name.startswith("<") or not _FRAMES.isdisjoint(code.co_names):
        return None
    source = "".join(linecache.getlines(code.co_filename))
    try:
        tree = ast.parse(source)
        plain = _inner(compile(tree, code.co_filename, "exec", dont_inherit=True), code)
    except (SyntaxError, ValueError):
        return None
    if plain is None or (plain.co_code, plain.co_names) != (code.co_code, code.co_names):
        return None  # the file has changed, or there are two of them in a line
    function = _function(tree, code)
    if function is None:
        return None
    place = int(ast.get_docstring(function, clean=False) is not None)
    at = function.body[min(place, len(function.body) - 1)]
    function.body[place:place] = _prologue(function, at)
    found = _inner(compile(tree, code.co_filename, "exec", dont_inherit=True), code)
    if found is None or found.co_freevars != code.co_freevars:
        return None
    return found


def answering(asking: CodeType, place: Answers) -> CodeType:
    """The code of a function that asks ``place``: one code, whatever its ``answer`` is by then."""
    known = {_PLACE: place, _NOTHING: NO_ANSWER}
    consts = (known.get(each, each) if type(each) is str else each for each in asking.co_consts)
    return asking.replace(co_consts=tuple(consts))


def functions_of(code: CodeType, names: dict[str, Any]) -> list[FunctionType]:
    """The functions that run this code: the one that has its name in a module with these variables,
    or else all that can be found, which takes time where there are many objects.
    """
    named = _named(code.co_qualname, names)
    if named is not None and named.__code__ is code:
        return [named]
    found = (each for each in gc.get_referrers(code) if type(each) is FunctionType)
    return [each for each in found if each.__code__ is code]


def _named(qualname: str, names: dict[str, Any]) -> FunctionType | None:
    """The function behind a name, and behind what wraps it."""
    first, *rest = qualname.split(".")
    found = names.get(first)
    for name in rest:
        found = vars(found).get(name) if isinstance(found, type) else None
    if isinstance(found, property):
        found = found.fget
    while not isinstance(found, FunctionType) or "__wrapped__" in vars(found):
        found = getattr(found, "__wrapped__", None)
        if found is None:
            return None
    return found


def _inner(code: CodeType, like: CodeType) -> CodeType | None:
    """The code within another that begins at the same line, by the same name."""
    found = [
        each
        for each in _codes_in(code)
        if (each.co_name, each.co_firstlineno) == (like.co_name, like.co_firstlineno)
    ]
    return found[0] if len(found) == 1 else None


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes_in(each)


def _function(tree: ast.Module, code: CodeType) -> ast.FunctionDef | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


def _prologue(function: ast.FunctionDef, at: ast.stmt) -> list[ast.stmt]:
    given = function.args
    load = ast.Load()
    args: list[ast.expr] = [ast.Name(each.arg, load) for each in (*given.posonlyargs, *given.args)]
    if given.vararg is not None:
        args.append(ast.Starred(ast.Name(given.vararg.arg, load), load))
    names: list[str | None] = [each.arg for each in given.kwonlyargs]
    keywords = [ast.keyword(name, ast.Name(str(name), load)) for name in names]
    if given.kwarg is not None:
        keywords.append(ast.keyword(None, ast.Name(given.kwarg.arg, load)))
    asked = ast.Call(ast.Attribute(_constant(_PLACE), "answer", load), args, keywords)
    is_answer = ast.Compare(ast.Name(_NAME, load), [ast.IsNot()], [_constant(_NOTHING)])
    made: list[ast.stmt] = [
        ast.Assign([ast.Name(_NAME, ast.Store())], asked),
        ast.If(is_answer, [ast.Return(ast.Name(_NAME, load))], []),
        ast.Delete([ast.Name(_NAME, ast.Del())]),
    ]
    for statement in made:
        for node in ast.walk(statement):
            if "lineno" in node._attributes:
                ast.copy_location(node, at)
    return made


def _constant(name: str) -> ast.expr:
    """A constant of which the compiler does not know that it makes no sense there."""
    return ast.BoolOp(ast.Or(), [ast.Constant(name), ast.Constant(None)])
