"""Which calls of a function may run more of the program: its functions, by whatever way."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Sequence
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.capture.session.locations import OURS, is_of_program
from fxc.capture.staging.nodes import walk

from .function_plan import FunctionPlan
from .statement_syntax import KEPT, METHOD, TAKEN, Names, Span, is_within, span_of

if TYPE_CHECKING:
    from fxc.capture.refusals import SourcePlace

# Functions of these call what they are given many times, and neither keep nor compare it.
TAKING_CALLBACKS = "scipy."
# Methods of Python's and NumPy's types, which hardly are functions of the program.
OF_PYTHON = frozenset(name for kind in (list, dict, set, str, deque) for name in dir(kind))
OF_NUMPY = frozenset(name for kind in (np.ndarray, np.random.Generator) for name in dir(kind))


class ProgramCalls:
    """The calls in one function, as far as its globals and its plan tell what they call."""

    def __init__(self, function: FunctionType, plan: FunctionPlan) -> None:
        self.function = function
        self.plan = plan

    def may_run(
        self, nodes: Sequence[ast.AST], methods: Names, but: FunctionType | None = None
    ) -> bool:
        """Whether something in the nodes may call a function of the program, but for one. Those of
        these ``methods`` are taken for no functions of the program.
        """
        if self.plan.seen_by:
            return False
        calls = (each for each in walk(*nodes) if isinstance(each, ast.Call))
        return any(self.is_of_program(each.func, methods, but) for each in calls)

    def hands_on(self, call: ast.Call) -> bool:
        """Whether it may be a call of a library that is given a function of the program."""
        plan, known = self.plan, self.function.__globals__
        if not str(getattr(self.known(call.func), "__module__", "")).startswith(TAKING_CALLBACKS):
            return False
        for each in (*call.args, *(each.value for each in call.keywords)):
            match each:
                case ast.Lambda() | ast.Attribute():
                    return True
                case ast.Name(name) if name in plan.variables | plan.free:
                    if name in plan.defined or name.startswith(TAKEN):
                        return True
                case ast.Name(name) if is_of_program(known.get(name)):
                    return True
        return False

    def known(self, called: ast.expr) -> Any:
        """What an expression gives, as far as the function's globals say; else None."""
        variables, known = self.plan.variables | self.plan.free, self.function.__globals__
        match called:
            case ast.Name(name) if name not in variables:
                return known.get(name)
            case ast.Attribute(value, name):
                module = self.known(value)
                return vars(module).get(name) if isinstance(module, ModuleType) else None
            case _:
                return None

    def is_of_program(
        self, called: ast.expr, methods: Names = OF_PYTHON, but: FunctionType | None = None
    ) -> bool:
        """Whether what is called may be a function of the program's own."""
        found = self.known(called)
        match called:
            case ast.Name(name) if name in self.plan.variables | self.plan.free:
                return not name.startswith(TAKEN) or name.startswith((METHOD, KEPT))
            case ast.Attribute(value, name) if not isinstance(self.known(value), ModuleType):
                return name not in methods
            case ast.Subscript():
                return True
        return found is not but and is_of_program(_run_by(found))


def _run_by(called: object) -> Any:
    return vars(called).get("__init__") if isinstance(called, type) else called


def calls_alike(body: Iterable[ast.stmt], place: Span) -> list[Span]:
    """Where else some statements call what they call at a place."""
    calls = [each for each in walk(*body) if isinstance(each, ast.Call)]
    there = {ast.unparse(each.func) for each in calls if span_of(each) == place}
    alike = (each for each in calls if ast.unparse(each.func) in there)
    return [span for span in map(span_of, alike) if span != place]


def own_places(
    places: tuple[SourcePlace, ...],
) -> tuple[list[SourcePlace], tuple[SourcePlace, ...]]:
    """Those of the places that are a function's own, each in an expression of the one before, and
    those in functions that it calls.
    """
    own, count = [*places[:1]], 1
    for each in places[1:]:
        outer = own[-1]
        is_own = each.is_inner and each.function is outer.function and each.span is not None
        if is_own and (outer.span is None or is_within(each.span or outer.span, outer.span)):
            own.append(each)
        elif not is_own and not each.location.file.startswith(OURS):
            break
        count += 1
    return own, places[count:]
