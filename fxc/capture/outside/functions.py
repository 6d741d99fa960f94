"""Functions from outside that a program makes anew for each call, such as lambdas it hands on."""

from __future__ import annotations

import dis
from inspect import CO_NESTED
from types import CellType, FunctionType, NoneType

from fxc.ir.made_functions import codes_in
from fxc.ir.records import frozen

from ..guards.builder import GuardBuilder
from ..guards.program import Source

# Note [Functions made anew]
# ``solve(lambda t, y: -k * y, y0)`` hands on another function each time, of the same code. A
# function that was made in another one is guarded to be the very same at first. If a call finds
# another one, the next capture relies on its code, and reads the variables of the functions around
# it from its cells, which each call fetches. The program sees a copy of the function in its place,
# which is called as the function is, but is no constant of the guards or of the epilogue.
# Functions share cells. What is one cell now is guarded to be one in each call, and what is two to
# be two: then it does not matter by which of the functions a variable is read.

_PLAIN = (bool, int, float, str, NoneType)
_REBINDS = ("STORE_DEREF", "DELETE_DEREF")


def is_made_anew(function: FunctionType) -> bool:
    """Whether a function may be another one in the next call: it was made in a function."""
    return bool(function.__code__.co_flags & CO_NESTED)


def is_known_by_code(function: FunctionType) -> bool:
    """Whether its code, and what its variables are, say all of a function."""
    return (
        not function.__dict__
        and function.__kwdefaults__ is None
        and all(type(x) in _PLAIN for x in function.__defaults__ or ())
        and not _rebinds(function)
    )


def _rebinds(function: FunctionType) -> bool:
    """Whether a function, or one in it, assigns variables of the functions around it."""
    free = frozenset(function.__code__.co_freevars)
    return any(
        step.opname in _REBINDS and step.argval in free and step.argval in code.co_freevars
        for code in codes_in(function.__code__)
        for step in dis.get_instructions(code)
    )


@frozen
class _Cell:
    cell: CellType  # kept alive
    var: str


class Functions:
    """The functions of one capture that are known by their code, and the cells of all."""

    def __init__(self, guards: GuardBuilder) -> None:
        self._guards = guards
        self._fetched: dict[int, _Cell] = {}  # of functions that are known by their code
        self._constant: dict[int, _Cell] = {}  # of other ones

    def copied(self, function: FunctionType, source: Source) -> FunctionType:
        """What the program sees of a function that is known by its code."""
        var, constant = source.var, self._guards.constant
        code, space = constant(function.__code__), constant(function.__globals__, "globals")
        has_defaults = (
            f"same_items({var}.__defaults__, {constant(function.__defaults__)})"
            if function.__defaults__
            else f"not {var}.__defaults__"
        )
        self._guards.check(
            f"type({var}) is {constant(FunctionType)} and {var}.__code__ is {code} and "
            f"{var}.__globals__ is {space} and {has_defaults} and {var}.__kwdefaults__ is None and "
            f"not {var}.__dict__ and {var}.__name__ == {function.__name__!r} and "
            f"{var}.__qualname__ == {function.__qualname__!r}",
            f"{source.text} has the code of this {function.__name__}",
        )
        cells = function.__closure__ or ()
        for place, (name, cell) in enumerate(
            zip(function.__code__.co_freevars, cells, strict=True)
        ):
            text = f"{name} of {source.text}"
            self._fetch(cell, self._guards.fetch(f"{var}.__closure__[{place}]", text).var)
        found = FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, cells
        )
        found.__qualname__ = function.__qualname__
        self._guards.no_constant(found)
        return found

    def _fetch(self, cell: CellType, var: str) -> None:
        self._relate(cell, var, self._fetched, self._constant)
        self._fetched.setdefault(id(cell), _Cell(cell, var))

    def uses(self, function: FunctionType) -> None:
        """Note the cells of a function that is the same in each call."""
        for cell in function.__closure__ or ():
            if id(cell) not in self._constant:
                var = self._guards.constant(cell, "cell")
                self._relate(cell, var, self._fetched)
                self._constant[id(cell)] = _Cell(cell, var)

    def _relate(self, cell: CellType, var: str, *others: dict[int, _Cell]) -> None:
        for each in others:
            for other in each.values():
                is_one = other.cell is cell
                self._guards.check(
                    f"{var} is {'' if is_one else 'not '}{other.var}",
                    f"variables of functions are {'one' if is_one else 'two'}",
                )

    def holder(self, holder: object, stem: str) -> str:
        """What the guard program calls a namespace, or a cell, which it may have fetched."""
        known = self._fetched.get(id(holder))
        return self._guards.constant(holder, stem) if known is None else known.var
