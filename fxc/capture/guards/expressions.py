"""Dims and attributes as expressions of Python, for guards."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Any

from fxc.ir.symbols import Dim, Symbol


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


def attribute_of(owner: str, name: str) -> str:
    """An attribute of what an expression gives, of whatever name: any text is one."""
    is_plain = name.isidentifier() and not keyword.iskeyword(name)
    return f"{owner}.{name}" if is_plain else f"getattr({owner}, {name!r})"
