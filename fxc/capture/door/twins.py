"""Functions of the standard library that are C code and Python code.

``heapq.heappush`` is C; the same function stands in ``heapq.py``, for interpreters without that C
code. What it does is then known from there, and it is staged like a function of the program.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from types import FunctionType, ModuleType


def twin_of(f: object) -> FunctionType | None:
    """The Python function that a C function of the standard library stands for, if there is one."""
    module, name = getattr(f, "__module__", None), getattr(f, "__name__", "")
    if not isinstance(module, str) or module[:1] != "_" or module[1:] not in _LIBRARY:
        return None
    public = sys.modules.get(module[1:])
    if public is None or getattr(public, name, None) is not f:
        return None
    return _functions(public).get(name)


_LIBRARY = sys.stdlib_module_names


@cache
def _functions(module: ModuleType) -> dict[str, FunctionType]:
    """The functions that a module's text defines, also those that C code has taken over."""
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return {}
    tree.body = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    space = dict(vars(module))
    exec(compile(tree, module.__file__ or "", "exec"), space)
    names = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    return {name: space[name] for name in names if isinstance(space[name], FunctionType)}
