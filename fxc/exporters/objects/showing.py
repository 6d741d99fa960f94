"""Values, sizes and views as a manifest shows them: what ``package.values`` reads."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.errors import ExportError
from fxc.ir.graph import SliceSpec
from fxc.ir.signature import ViewStep
from fxc.ir.symbols import Atom, Computed, Dim, SymExpr, SymFunc
from fxc.package.values import Shown, named
from fxc.package.views import VIEWS


def show_size(size: Dim) -> Shown:
    """A size as JSON."""
    if isinstance(size, int):
        return int(size)
    terms = []
    for monomial, coefficient in size.terms:
        atoms = [_show_atom(atom) for atom in monomial]
        terms.append(
            atoms[0] if coefficient == 1 and len(atoms) == 1 else ["*", coefficient, *atoms]
        )
    return terms[0] if len(terms) == 1 else ["+", *terms]


def _show_atom(atom: Atom) -> Shown:
    if isinstance(atom, SymFunc):
        return [atom.name, show_size(atom.left), show_size(atom.right)]
    if isinstance(atom, Computed):
        raise ExportError(f"object code has no size {atom.name} that is computed on the way")
    return atom.name


def show_value(value: object) -> Shown:
    """An object as JSON. Raises ``ExportError`` for one that has no such form."""
    match value:
        case None | bool() | str():
            return value
        case np.generic():
            return {"scalar": [value.dtype.str, value.tobytes().hex()]}
        case int():
            return int(value)
        case float():
            return {"float": value.hex()}
        case complex():
            return {"complex": [value.real.hex(), value.imag.hex()]}
        case bytes():
            return {"bytes": base64.b64encode(value).decode()}
        case SliceSpec(start, stop, step):
            return {"tuple": [show_value(each) for each in (start, stop, step)]}
        case SymExpr():
            return {"size": show_size(value)}
        case tuple() | list():
            return {type(value).__name__: [show_value(each) for each in value]}
        case range() | slice():
            parts = (value.start, value.stop, value.step)
            return {type(value).__name__: [show_value(each) for each in parts]}
        case np.dtype() if value.fields is None and np.dtype(value.str) == value:
            return {"dtype": value.str}
        case np.ndarray():
            content = base64.b64encode(value.tobytes()).decode()
            return {"array": [value.dtype.str, list(value.shape), content]}
        case _ if value is Ellipsis:
            return {"ellipsis": True}
        case _:
            return {"object": name_of(value)}


def name_of(thing: object) -> str:
    """``module:name``, by which it is found again. Raises ``ExportError`` if it is not."""
    module = "numpy" if isinstance(thing, np.ufunc) else getattr(thing, "__module__", None)
    name = f"{module}:{getattr(thing, '__qualname__', getattr(thing, '__name__', ''))}"
    try:
        found = named(name)
    except Exception:
        found = None
    if found is not thing:
        raise ExportError(f"{name} is not the name by which it would be found again")
    return name


def show_steps(steps: Sequence[ViewStep]) -> list[Any]:
    """The steps of a view as JSON."""
    for step in steps:
        if step.op not in VIEWS:
            raise ExportError(f"object code gives no views that are made by {step.op}")
    return [[step.op, [show_value(each) for each in step.args]] for step in steps]
