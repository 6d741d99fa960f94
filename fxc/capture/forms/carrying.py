"""Operands of values, and values of operands. See Note [Forms]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, assert_never

import numpy as np

from fxc.ir.graph import Literal, Operand, Value

from ..session import current
from ..values.alternatives import content_of
from ..values.mixed import mixed, mixed_parts
from ..values.operands import operand, variable_of
from ..values.options import Option, arrays_of, flag_operand, options_in
from ..values.several import Several, options_by_key, united
from ..values.variables import one_by_flags, placeholder
from .form import Array, Constant, Form, Items, MixedNumber, Number, Union, key_of, types_of
from .structures import items_of


def pack(form: Form, x: object) -> list[Operand]:
    """The operands that stand for a value of this form, recorded here."""
    match form:
        case Number() | Array():
            return [operand(x)]
        case MixedNumber():
            return mixed_parts(x, form)
        case Constant():
            return []
        case Items(structure, items):
            both = zip(items, items_of(x, structure), strict=True)
            return [part for each, item in both for part in pack(each, item)]
        case Union(options):
            given = options_by_key(options_in(x))
            assert given.keys() <= set(map(key_of, options))
            return [part for each in options for part in _option(each, given.get(key_of(each)))]
        case _:
            assert_never(form)


def _option(form: Form, given: Option | None) -> Iterator[Operand]:
    """The operands for one of several things: a flag, and what it consists of."""
    if given is None:
        yield Literal(np.False_)
        yield from nothing(form)
        return
    flag, x = given
    yield flag_operand(flag)
    yield from [_elements_of(x._value)] if isinstance(form, Array) else pack(form, x)


def nothing(form: Form) -> list[Operand]:
    """Operands that nobody reads."""
    return [placeholder(current(), kind) for kind in types_of(form)]


def _elements_of(value: Value) -> Value:
    """An array that holds what this one does, and that nobody else has."""
    session = current()
    is_ours = session.aliases.homes.get(value, 0) == session.region
    if is_ours and value not in session.alternatives and value not in session.aliases.bases:
        return value
    return content_of(session, value)


def enter(form: Form, operands: Iterable[Operand]) -> Any:
    """The value that operands stand for."""
    return _entered(form, iter(operands))


def _entered(form: Form, given: Iterator[Operand]) -> Any:
    match form:
        case Number() | Array():
            return variable_of(next(given))
        case MixedNumber():
            return mixed(*islice(given, len(types_of(form))))
        case Constant(value):
            return value
        case Items(structure, items):
            return structure.of([_entered(each, given) for each in items])
        case Union(options):
            return _one_of(options, list(islice(given, len(types_of(form)))))
        case _:
            assert_never(form)


def _one_of(forms: tuple[Form, ...], operands: list[Operand]) -> Any:
    """What is one of several things."""
    given = iter(operands)
    options = [(variable_of(next(given)), _entered(each, given)) for each in forms]
    known = [flag for flag, _ in options if type(flag) in (bool, np.bool_)]
    if len(options) == 1 or (len(known) == len(options) and not any(known)):  # of a placeholder
        return options[0][1]
    if known:
        return united(options)
    if not any(map(arrays_of, (x for _, x in options))):
        return Several(options)
    return one_by_flags(options)
