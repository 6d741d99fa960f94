"""Canonical arguments: every argument at the place of its parameter, every default filled in."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from fxc.ir.schema import Param
from fxc.ops.operators import Operator

_MISSING: Any = object()

# What NumPy's methods take by default where no signature says so.
_OTHERWISE = {"casting": "unsafe", "order": "K"}
_C_FUNCTIONS: dict[tuple[Any, str], Any] = {
    (np.copyto, "casting"): "same_kind",
    (np.concatenate, "axis"): 0,
}


@lru_cache(maxsize=1024)
def defaults_of(op: Operator) -> tuple[Any, ...]:
    """The default of each parameter, asked of NumPy where it has one."""
    try:
        known: Mapping[str, inspect.Parameter] = (
            inspect.signature(op.numpy).parameters if op.numpy is not None else {}
        )
    except (TypeError, ValueError):  # a function of C without a text signature
        known = {}
    return tuple(_default(op, param, known) for param in op.schema.params)


def _default(op: Operator, param: Param, known: Mapping[str, inspect.Parameter]) -> object:
    stated = _C_FUNCTIONS.get((op.numpy, param.name), _MISSING)
    if stated is not _MISSING:
        return stated
    if param.keyword and param.name in known and not param.is_written:
        default = known[param.name].default
        if type(default) in (int, bool, str) or (default is None and param.optional):
            return default
    if param.optional:
        return None
    if param.keyword and param.kind == "bool":
        return False
    if param.kind == "str":
        return _OTHERWISE.get(param.name, _MISSING)
    return _MISSING


def bind(op: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments in schema order. A lone int becomes a tuple where a tuple is wanted.

    Raises ``TypeError`` for arguments that do not fit the schema.

    >>> from fxc.ops.table import TABLE
    >>> bind(TABLE["sum"], ["x"], {"axis": 1})
    ('x', (1,), False, None)
    """
    schema = op.schema
    params = schema.params
    if len(args) > len(params):
        raise TypeError(f"{schema.name}: {len(args)} arguments for {len(params)} parameters")
    bound = list(args)
    if kwargs or len(args) < len(params):
        bound += defaults_of(op)[len(args) :]
        for name, value in kwargs.items():
            place = schema.index_of.get(name)
            if place is None or place < len(args):
                problem = "unknown" if place is None else "given twice"
                raise TypeError(f"{schema.name}: argument {name!r} is {problem}")
            bound[place] = value
    for place, value in enumerate(bound):
        if value is _MISSING:
            raise TypeError(f"{schema.name}: argument {params[place].name!r} is missing")
        bound[place] = _canonical(params[place], value)
    return tuple(bound)


def _canonical(param: Param, value: Any) -> object:
    if value is None or (param.is_value and not param.is_list):
        return value
    if param.is_list:
        return tuple(value) if isinstance(value, tuple | list) else (value,)
    if param.kind == "DType" and not isinstance(value, np.dtype):
        return np.dtype(value)
    return value
