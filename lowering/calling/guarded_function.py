"""A native function that checks the guards of a call, and leaves what is not for it to another.

See Note [Native calls].
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from fxc.ir.records import frozen

from ..emission.llvm_text import FunctionText, ModuleText
from ..emission.object_code import ERROR, MISS, Code
from .finish import Finish
from .guard_things import ENTRY, Untranslated
from .native_guards import NativeGuards

FAILED = "failed"  # the block behind effects: an exception is set


@frozen
class Steps:
    """A guard program: (variable, expression) or ("", condition), and the objects in it."""

    steps: tuple[tuple[str, str], ...]
    constants: Mapping[str, Any]
    inputs: tuple[str, ...]


@frozen
class Spent:
    """Behind ``arguments`` a call may have objects that it may write its results into: those of the
    results at these ``places``, of so many. See Note [Spent arrays].
    """

    arguments: int
    places: tuple[int, ...]
    results: int
    is_second: bool  # whether the results are the second item of what is returned


@frozen
class CallText:
    """LLVM text; the table begins with ``FIXED`` pointers, then come ``objects``."""

    text: str
    objects: tuple[Any, ...]


# What the table begins with: a bytes object with the address and the own ``self`` of each piece of
# native code, NumPy's functions that make and resize an array, that make a scalar, that make an
# array of given memory and set its base, the counter, whom to call else.
ENTRIES, NEW, RESIZE, SCALAR, NEW_VIEW, SET_BASE, COUNTER, NEXT = FIXED = range(8)


class GuardedFunction:
    """A native function that has checked the guards."""

    def __init__(self, steps: Steps, spent: Spent | None, finish: Finish | None) -> None:
        self.finish = finish
        self.text = ModuleText()
        self.code = Code(FunctionText(self.text), len(FIXED))
        self.has_spent, count = "false", "%nargs"
        if spent is not None:
            more = spent.arguments + len(spent.places)
            self.has_spent = self.code.op(f"icmp eq i64 %nargs, {more}")
            given = f"i64 {spent.arguments}, i64 %nargs"
            count = self.code.op(f"select i1 {self.has_spent}, {given}")
        self.guards = NativeGuards(self.code, steps.constants, count)
        for var, expression in steps.steps:
            if var:
                self.guards.fetch(var, expression)
            else:
                self.guards.check(expression)

    def pointers(self, variables: Sequence[str]) -> list[str]:
        """The objects that variables of the guard program are."""
        return [self.guards.pointer(self.guards.names[var]) for var in variables]

    def count(self) -> None:
        """Count the call."""
        code = self.code
        counter = code.table(COUNTER)
        count = code.op(f"add i64 {code.load('i64', counter)}, 1")
        code.do(f"store i64 {count}, ptr {counter}, align 8")

    def result(self, leaves: Sequence[str], taken: Sequence[str]) -> str:
        """The pointer to the result. Here nothing is left to Python any more."""
        if self.finish is None:
            return leaves[0]
        plain = self.finish.plain
        if plain is not None:
            return self._container(plain, leaves)
        code = self.code
        return self.finished(code.sequence("List", leaves), taken)

    def finished(self, listed: str, taken: Sequence[str]) -> str:
        """The result as the function makes it of a list of the leaves, and of objects."""
        assert self.finish is not None
        code = self.code
        made = code.vectorcall(code.known(self.finish.function), [listed, *taken])
        return code.hold(code.present(made))

    @property
    def _globals(self) -> dict[str, Any]:
        return {} if self.finish is None else self.finish.function.__globals__

    def _container(self, node: ast.expr, leaves: Sequence[str]) -> str:
        match node:
            case ast.Constant(value):
                return self.code.known(value)
            case ast.Name(name):
                found = self._globals
                return self.code.known(found[name]) if name in found else leaves[int(name[1:])]
            case ast.Tuple(elements) if elements:
                items = [self._container(x, leaves) for x in elements]
                return self.code.sequence("Tuple", items)
            case ast.Call(function, args):
                called, *given = (self._container(x, leaves) for x in (function, *args))
                return self.code.hold(self.code.present(self.code.vectorcall(called, given)))
        raise Untranslated("a result")

    def end(self, result: str) -> CallText:
        """The function, which gives ``result``."""
        code, f = self.code, self.code.f
        code.call("void", "Py_IncRef", f"ptr {result}")
        code.release()
        code.do(f"ret ptr {result}")
        f.start(ERROR)
        code.call("void", "PyErr_Clear")
        code.do(f"br label %{MISS}")
        f.start(MISS)
        code.release()
        given = f"ptr {code.table(NEXT)}", "ptr %args", "i64 %nargs", "ptr %keywords"
        code.do(f"ret ptr {code.call('ptr', 'PyObject_Vectorcall', *given)}")
        f.start(FAILED)
        code.release()
        code.do("ret ptr null")
        arguments = "(ptr %self, ptr %args, i64 %nargs, ptr %keywords)"
        head = f'define ptr @"{ENTRY}"{arguments} nounwind {{'
        lines = [*self.text.declares, head, "entry:", *f.stack_lines, *f.lines, "}"]
        return CallText("\n".join(lines), code.objects)
