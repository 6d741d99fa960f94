"""Operands of values, and values of operands. See Note [Forms]."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, assert_never

import numpy as np

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.later import import_later
from fxc.ir.types import PY_INT

from ..session.alternatives import content_of
from ..session.session import current
from ..values.operands import operand, variable_of
from .form import (
    Array,
    Constant,
    Form,
    Items,
    MixedNumber,
    Number,
    Sized,
    Union,
    differ,
    key_of,
    types_of,
)
from .joining import key
from .mixed import Mixed, fitting, is_weak
from .options import Option, flag_operand, one_holds, options_in
from .several import Several, options_by_key, united
from .structures import items_of
from .variables import one_by_flags, placeholder

# See Note [Rooms with one door].
entered = import_later("fxc.capture.forms.sized", "entered")
packed = import_later("fxc.capture.forms.sized", "packed")


def pack(form: Form, x: object) -> list[Operand]:
    """The operands that stand for a value of this form, recorded here."""
    match form:
        case Number():
            return [operand(x)]
        case Array():  # of one or another array, which no region can give, what it holds
            found: Any = operand(x)
            is_one = found not in current().alternatives
            return [found if is_one else content_of(current(), found)]
        case MixedNumber():
            return _parts_of_mixed(x, form)
        case Constant():
            return []
        case Sized():
            return [*packed(form, [(True, x)])]
        case Items(structure, items):
            both = zip(items, items_of(x, structure), strict=True)
            return [part for each, item in both for part in pack(each, item)]
        case Union(options):
            return _parts_of_union(options, options_in(x))
        case _:
            assert_never(form)


def _parts_of_union(forms: Sequence[Form], options: Sequence[Option]) -> list[Operand]:
    """The operands for what is one of several things."""
    sized = {key_of(form): list[Option]() for form in forms if isinstance(form, Sized)}
    others = list[Option]()
    for each in options:
        sized.get(key(each[1]), others).append(each)  # type: ignore[arg-type]
    given = options_by_key(others)
    assert given.keys() <= set(map(key_of, forms))
    parts: list[Operand] = []
    for form in forms:
        arrays = sized.get(key_of(form))
        if isinstance(form, Sized) and arrays:
            flag = one_holds([flag for flag, _ in arrays])
            parts += [flag_operand(flag), *packed(form, arrays)]
        else:
            parts += _option(form, given.get(key_of(form)))
    return parts


def _parts_of_mixed(x: object, form: MixedNumber) -> list[Operand]:
    """The parts of what may be mixed, recorded here."""
    if type(x) is Mixed:
        return [operand(part) for part in (x.given, x.flag, x.whole) if part is not None]
    if form.has_whole:
        if operand(x).type == PY_INT:
            return [Literal(form.given.zero), Literal(np.False_), operand(x)]
        return [operand(x), Literal(np.True_), Literal(0)]
    weak = is_weak(x)
    given = fitting(operand(x), form.given.dtype) if weak else operand(x)
    return [given, Literal(np.bool_(not weak))]


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


def enter(form: Form, operands: Iterable[Operand]) -> object:
    """The value that operands stand for."""
    return _entered(form, iter(operands))


def _entered(form: Form, given: Iterator[Operand]) -> object:
    match form:
        case Number() | Array():
            return variable_of(next(given))
        case MixedNumber():
            return _mixed(*islice(given, len(types_of(form))))
        case Constant(value):
            return value
        case Items(structure, items):
            return structure.of([_entered(each, given) for each in items])
        case Sized():
            return variable_of(entered(form, next(given), next(given)))
        case Union(options):
            return _one_of(options, list(islice(given, len(types_of(form)))))
        case _:
            assert_never(form)


def _mixed(given: Operand, flag: Operand, whole: Operand | None = None) -> object:
    """The variable for these parts."""
    if isinstance(flag, Literal) and (flag.value or whole is not None):
        return variable_of(given if flag.value or whole is None else whole)
    return Mixed(
        variable_of(given),
        variable_of(flag),
        None if whole is None else variable_of(whole),
    )


def _one_of(forms: tuple[Form, ...], operands: list[Operand]) -> object:
    """What is one of several things."""
    given = iter(operands)
    options = [(variable_of(next(given)), _entered(each, given)) for each in forms]
    known = [flag for flag, _ in options if type(flag) in (bool, np.bool_)]
    if len(options) == 1 or (len(known) == len(options) and not any(known)):  # of a placeholder
        return options[0][1]
    if known:
        return united(options)
    if not differ(forms):
        return Several(options)
    return one_by_flags(options)
