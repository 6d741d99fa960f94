"""Guards as Python, and what has changed where one does not hold: "x: shape was (8,), is (9,)"."""

from __future__ import annotations

import keyword
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.errors import a_kind
from fxc.ir.objects import is_writeable
from fxc.ir.symbols import Dim, Symbol, symbols_of
from fxc.ir.types import ArrayType, array_type, is_known

if TYPE_CHECKING:
    from fxc.ir.size_guards import Guard


def expression_of(dim: Dim, variables: Mapping[str, str]) -> str:
    """The Python expression of a dim; symbols are the values of ``variables``."""
    if isinstance(dim, int):
        return str(dim)
    terms = []
    for monomial, coefficient in dim.terms:
        factors = [_factor(atom, variables) for atom in monomial]
        if coefficient != 1 or not factors:
            factors.insert(0, str(coefficient))
        terms.append("*".join(factors))
    return f"({' + '.join(terms)})"


def _factor(atom: Any, variables: Mapping[str, str]) -> str:
    if isinstance(atom, Symbol):
        return variables[atom.name]
    left, right = expression_of(atom.left, variables), expression_of(atom.right, variables)
    match atom.name:
        case "floordiv":
            return f"({left} // {right})"
        case "mod":
            return f"({left} % {right})"
        case name:
            return f"{name}({left}, {right})"


def label_of_place(guard: Guard) -> str:
    """The label of an int that is one number by this relation, as the place of an item is; '' for
    other relations. See Note [Numbers from outside].
    """
    names = [*symbols_of(guard.left), *symbols_of(guard.right)]
    return as_place(names[0]) if guard.relation == "==" and len(names) == 1 else ""


def as_place(symbol: str) -> str:
    """The label of a symbol where its value is a place."""
    return f"{symbol} as a place"


def attribute_of(owner: str, name: str) -> str:
    """An attribute of what an expression gives, of whatever name: any text is one."""
    is_plain = name.isidentifier() and not keyword.iskeyword(name)
    return f"{owner}.{name}" if is_plain else f"getattr({owner}, {name!r})"


# ------------------------------------------------------------------ in words


def difference(text: str, now: Sequence[object], array: ArrayType | None, any_shape: bool) -> str:
    """What is not as it was: ``text`` says what held, of an ``array`` with any or with its shape,
    ``now`` are the values that were looked at.
    """
    subject, verb, was = text.partition(" is ")
    if array is not None:
        return f"{subject}: {'; '.join(_of_array(array, now[0], any_shape))}"
    if len(now) == 2 and isinstance(now[0], tuple) and isinstance(now[1], dict):
        return f"{subject}: was {was}, is with {arguments_text(now[0], now[1])}"
    shown = ", ".join(dict.fromkeys(map(_shown, now)))
    if not verb or not shown:
        return f"not so any more: {text}" + (f"; now {shown}" if shown else "")
    return f"{subject}: was {was}, is {shown}"


def _of_array(was: ArrayType, now: object, any_shape: bool) -> Iterator[str]:
    """What differs between an array and the one that it was."""
    if type(now) is not np.ndarray:
        yield f"was an array, {was}, is {_shown(now)}"
        return
    shape = tuple(was.shape)
    if now.dtype != was.dtype:
        yield f"dtype was {was.dtype}, is {now.dtype}"
    if now.ndim != len(shape):
        yield f"had {_number(len(shape), 'dimension')}, has {now.ndim}"
    elif now.shape != shape and not any_shape:
        yield f"shape was {shape}, is {now.shape}"
    elif now.dtype == was.dtype and is_writeable(now) == was.writeable:
        yield f"strides were {was.strides}, are {now.strides}"
    if is_writeable(now) != was.writeable:
        kinds = ("read-only", "writeable")
        yield f"was {kinds[was.writeable]}, is {kinds[is_writeable(now)]}"


def arguments_text(args: Sequence[object], kwargs: Iterable[str]) -> str:
    """How many arguments a call has, and which by keyword."""
    names = list(kwargs)
    return _number(len(args), "positional argument") + (f", keywords {names}" if names else "")


def _number(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")


def _shown(x: object) -> str:
    """A value of a guard's variable, for people."""
    match x:
        case np.ndarray() if is_known(x.dtype):
            return str(array_type(x.dtype, x.shape, x.strides))
        case None | bool() | int() | float() | complex() | str() | bytes() | np.generic():
            text = repr(x)
            return text if len(text) <= 40 else f"{text[:37]}..."
        case FunctionType(__code__=code, __qualname__=name):
            where = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
            return f"another function, {name} of {where}"
        case dict() if type(x) is dict:
            return f"a dict with {len(x)} {'key' if len(x) == 1 else 'keys'}"
        case _:
            return a_kind(x)
