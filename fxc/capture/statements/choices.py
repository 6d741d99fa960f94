"""``and``, ``or``, ``not`` and ``a if test else b`` in staged code.

What is not computed in Python is computed in a region of its own, or beside the rest if it is
cheap. See Note [Structured statements].
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from types import NoneType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import EXCEPTION, SEVERAL_KINDS
from fxc.ir.errors import CaptureError
from fxc.ir.graph import Literal
from fxc.ir.later import import_later
from fxc.ir.types import ArrayType, ScalarType

from ..arrays.creation import asarray
from ..dicts.unknown_keys import (
    has_names,
    has_place,
    is_text,
    is_unknown_key,
    keys_of,
    place_of_key,
)
from ..forms.differing import Differing, demand, each_way
from ..forms.form import Form
from ..forms.joining import joint_form
from ..forms.options import graph_type, is_named
from ..forms.several import Several
from ..forms.truths import demand_or_raise, flag_of, number_of, truth
from ..forms.variables import is_same
from ..lists.traced_lists import plain_list
from ..numbers.python_numbers import logical_not, to_bool, to_python
from ..outside.containers import PLAIN, External
from ..outside.dicts import ExternalDict
from ..outside.lists import ExternalList
from ..outside.sets import ExternalSet
from ..regions.counted import Bounded, both_hold, int_to_find
from ..regions.given import hand_on
from ..regions.needed import StatementDoor
from ..regions.recording import Recording
from ..regions.structured import recorded, recorded_each
from ..session.exceptions import check_no_bug
from ..session.refusing import refusal, refuse
from ..session.session import current
from ..values.late import known_text, of_this_call
from ..values.maybe_set import UNBOUND
from ..values.operands import (
    Traced,
    constant,
    has_traced,
    operand,
    record,
    record_of,
    variable_of,
    wrap,
)
from ..values.shadows import has_method
from .arms import Arms, Either, ask_one_pool, may_differ, paired, record_cond, why_not_one

code_of = import_later("fxc.capture.lists.texts", "code_of")
searchable = import_later("fxc.capture.lists.byte_strings", "searchable")

Later = Callable[[], Any]


def both(door: StatementDoor, left: object, right: Later) -> Any:
    """``left and right()``."""
    test = truth(left)
    if type(test) is bool:
        return right() if test else left
    return _one_of(door, test, right, lambda: left, "and")


def either(door: StatementDoor, left: object, right: Later) -> Any:
    """``left or right()``."""
    test = truth(left)
    if type(test) is bool:
        return left if test else right()
    return _one_of(door, test, lambda: left, right, "or")


def both_true(door: StatementDoor, left: object, right: Later) -> Any:
    """Whether ``left and right()`` counts as true."""
    return _joined(door, left, right, True)


def either_true(door: StatementDoor, left: object, right: Later) -> Any:
    """Whether ``left or right()`` counts as true."""
    return _joined(door, left, right, False)


def negated(door: StatementDoor, x: object) -> Any:
    test = truth(x)
    return not test if type(test) is bool else logical_not(test)


def contained(door: StatementDoor, x: object, items: Any) -> Any:
    """``x in items``; a number that is not known is compared with one item after the other."""
    items = searchable(x, record_of(items))
    if has_method(items, "__contains__"):
        test = truth(door.special(items, "__contains__", x))
        return test if type(test) is bool else to_bool(test)
    if type(items) is Differing:
        return each_way(partial(contained, door, x), items)
    is_there = items._has(x) if isinstance(items, Traced | Bounded) else NotImplemented
    if is_there is not NotImplemented:
        return is_there
    if has_place(x) and _may_hold(items):
        return x.is_one_of(items)
    has_keys = isinstance(items, dict | frozenset | ExternalSet)
    if has_keys and (is_there := _has_key(items, x)) is not None:
        return is_there
    if type(x) is Several and (x.is_late or has_names(x)) and _may_hold(items):
        return x.of_each(lambda text: contained(door, text, items))
    if isinstance(items, ExternalDict):
        return items.presence(x)
    if type(items) is str or (type(items) is bytes and isinstance(x, bytes)):
        return of_this_call(known_text(x)) in items
    x = number_of(x)
    items = plain_list(_read(x, items))
    are_numbers = isinstance(graph_type(items), ArrayType)
    compared = str if items.__class__ is np.ndarray and items.dtype.kind == "U" else Traced
    if are_numbers and isinstance(x, compared | Traced | bool | int | float | complex):
        return to_bool((items == x).any())
    if type(items) is range and isinstance(x, Traced) and (number := int_to_find(x)) is not None:
        return _in_range(number, items)
    if type(items) is set and is_unknown_key(x):
        door.dicts.ask(items)
    found: Any = False
    if type(items) in (tuple, list) and isinstance(x, tuple | list) and has_traced((x, items)):
        for each in items:
            found = either_true(door, found, partial(door.is_same_item, x, each))
        return found if type(found) is bool else to_bool(found)
    if type(items) not in (tuple, list, set, frozenset) or not _are_compared(x, items):
        return x.of_each(items.__contains__) if type(x) is Several and x.is_known else x in items
    dtype = operand(x).type.dtype
    if (array := _known_array(dtype, items)) is not None:
        return to_bool((array == x).any())
    for each in items:
        if type(each) in (str, bytes, NoneType):
            continue
        if (isinstance(each, Traced) or each != each) and dtype.kind in "fc":
            _demand_no_nan(x)
        found = either_true(door, found, partial(operator.eq, x, each))
    return found if type(found) is bool else to_bool(found)


def _read(x: object, items: Any) -> Any:
    """What holds all items of a list or a set from outside, among which a number that is not known
    is looked for; others themselves.
    """
    is_open = isinstance(x, Traced) and _is_traced_number(x) and x._is_open()
    if not is_open or type(items) not in (ExternalList, ExternalSet):
        return items
    if type(items) is ExternalSet:
        return frozenset([*items])
    made = items.as_list()
    kind = graph_type(made)
    if not isinstance(kind, ArrayType):
        return list(items)
    if kind.dtype.kind == "f":
        _demand_no_nan(x)
    return made


def _demand_no_nan(x: object) -> None:
    """Leave native code where ``x`` is nan: one object is in what holds it."""
    record("try_demand", flag_of(x == x))


_MANY = 8  # items that are compared at once
_EXACT = range(-(2**53), 2**53 + 1)  # the ints that float64 has


def _known_array(dtype: np.dtype, items: Any) -> Any:
    """Many known ints or floats as an array that compares with this dtype as they do, or None."""
    kinds = set(map(type, items))
    if len(items) <= _MANY or len(kinds) > 1:
        return None
    if kinds == {int}:
        exact = dtype.kind in "ib" or dtype == np.float64
        within = exact and all(each in _EXACT for each in items)
        return wrap(constant(np.array([*items]))) if within else None
    if kinds == {float} and dtype == np.float64 and all(each == each for each in items):
        return wrap(constant(np.array([*items])))
    return None


def _has_key(items: Any, key: object) -> object:
    """Whether a dict has a key that is not known, or a set a tuple; None where that is not
    computed.
    """
    is_dict = isinstance(items, dict)
    if not is_unknown_key(key) or not (is_dict or type(key) is tuple):
        return None
    if is_dict and isinstance(items, External):
        items.settle()
    place = place_of_key(keys_of(items) if is_dict else [*items], key)
    if place is None and is_dict:
        current().door.dicts.ask(items)
    return None if place is None else place[1]


def _may_hold(items: Any) -> bool:
    """Whether it is known which constants are among these."""
    if isinstance(items, ExternalDict):
        return True
    plain = type(items) in (tuple, list, set, frozenset, dict, str)
    return plain and all(is_named(each) or type(each) is bytes for each in items)


def searched(door: StatementDoor, items: Sequence[object], name: str, x: object) -> Any:
    """``items.index(x)`` or ``items.count(x)``, by ``name``; what Python says of known numbers."""
    if type(x) is str and any(isinstance(each, Traced) and is_text(each) for each in items):
        same: Any = asarray([each == x for each in items])
    elif not items or not _are_compared(x, items):
        return getattr(items, name)(x)
    else:
        _demand_no_nan(x)
        same = asarray([type(y) not in (str, bytes, NoneType) and y == x for y in items])
    if name == "count":
        return to_python(same.sum())
    demand_or_raise(to_bool(same.any()), ValueError)
    return to_python(same.argmax())


def searched_text(door: StatementDoor, text: str, name: str, char: object) -> Any:
    """``text.index(char)``, ``find`` or ``count``, by ``name``, of a character."""
    codes = np.array([ord(each) for each in text], "i4")
    if not text:
        return NotImplemented
    same: Any = wrap(constant(codes)) == code_of(char)
    if name == "count":
        return to_python(same.sum())
    found = same.any()
    if name == "index":
        door.session.record("try_demand", flag_of(to_bool(found)))  # else it raises ValueError
        return to_python(same.argmax())
    return to_python(same.argmax() - ~found)  # -1 where it is not found


def _in_range(number: Any, items: range) -> Any:
    if not items:
        return False
    inside = both_hold(number >= min(items), number <= max(items))
    if items.step in (1, -1):
        return inside
    return both_hold(inside, (number - items.start) % items.step == 0)


def _are_compared(x: object, items: Any) -> bool:
    """Whether ``x`` is a number and the items are, and one of them is not known."""
    numbers = [each for each in items if type(each) not in (str, bytes, NoneType)]
    if not all(type(each) in PLAIN or _is_traced_number(each) for each in (x, *numbers)):
        return False
    if type(x) in (str, bytes, NoneType) or not any(
        isinstance(each, Traced) for each in (x, *numbers)
    ):
        return False
    kind = operand(x).type.dtype  # sets go by hashes
    return type(items) in (tuple, list) or kind.kind in "iub" or kind == np.float64


def _is_traced_number(x: object) -> bool:
    return isinstance(x, Traced) and isinstance(x._graph_type(), ScalarType)


def chosen(door: StatementDoor, test: object, then: Later, orelse: Later, line: int = 0) -> Any:
    """``then() if test else orelse()``, which may be written as a branch if it has a ``line``."""
    found = truth(test)
    if type(found) is bool:
        return then() if found else orelse()
    return _one_of(door, found, then, orelse, "if", line)


def _recorded(door: StatementDoor, *functions: Later) -> list[tuple[Recording, Any]]:
    """As ``recorded_each``; what raises need not run: it is UNBOUND. See Note [Arms that raise]."""
    return recorded_each(door.session, *(partial(_attempted, door, each) for each in functions))


def _joined(door: StatementDoor, left: object, right: Later, wanted: bool) -> Any:
    """``and`` if True is ``wanted`` of both, ``or`` if False is."""
    test = truth(left)
    if type(test) is bool:
        return truth(right()) if test is wanted else test
    first = flag_of(test)

    def computed_flag() -> Any:
        found = truth(right())
        return found, flag_of(found)

    ((region, found),) = _recorded(door, computed_flag)
    other, second = (wanted, Literal(np.bool_(wanted))) if found is UNBOUND else found
    if region.is_harmless():
        region.spill()
        if type(other) is bool:
            return variable_of(first) if other is wanted else other
        both = door.session.record("logical_and" if wanted else "logical_or", first, second)
    else:
        known = Recording(door.session).finished((), [Literal(np.bool_(not wanted))])
        no, yes = (known, region.finished((), [second]))[:: 1 if wanted else -1]
        (both,) = door.session.record("cond", first, (), on_true=yes, on_false=no)
    door.session.joined[both] = wanted, operand(test), operand(other)
    return wrap(both)


def _one_of(
    door: StatementDoor, test: object, then: Later, orelse: Later, what: str, line: int = 0
) -> Any:
    """One of two values, by a test that is not known."""
    (first, left), (second, right) = _recorded(door, then, orelse)
    if left is UNBOUND and right is UNBOUND:
        raise refuse(EXCEPTION, f"an {what!r} of which both sides raise an exception")
    reason = partial(why_not_one, what, line)
    return _joined_arms(door, test, (first, second), left, right, reason)


def _joined_arms(
    door: StatementDoor,
    test: object,
    arms: Arms,
    left: object,
    right: object,
    reason: Callable[[Any, Any], str],
) -> Any:
    """What two arms give as one value."""
    if is_same(left, right) and all(region.is_empty for region in arms):
        return left
    reasons: list[str] = []

    def form(one: object, other: object, item: str) -> Form | None:
        if one is UNBOUND or other is UNBOUND:
            one = other = other if one is UNBOUND else one
        found = joint_form(one, other)
        if found is None:
            ask_one_pool(door, one, other)
            reasons.append(reason(one, other))
            if not may_differ(one, other, item):
                raise refusal(SEVERAL_KINDS, reasons[-1])
        return found

    values: list[Either] = []
    joined = paired(left, right, form, values)
    found = joined(record_cond(door.session, flag_of(test), arms, values, "".join(reasons[:1])))
    hand_on(door.session, (left, right), found)
    return found


def one_way(door: StatementDoor, found: Differing, then: Later, orelse: Later) -> Any:
    """What is to be done with what ``found`` is if its flag holds, else with what it is else.

    See Note [Things that differ].
    """
    ways = [(found.left, then), (found.right, orelse)]
    for place, (x, way) in enumerate(ways):
        if not isinstance(x, Traced) and _raises(door, x, way):
            demand(found.flag, place == 1)
            return ways[1 - place][1]()
    both = (partial(_attempted, door, way) for _, way in ways)
    (first, left), (second, right) = recorded_each(door.session, *both)
    if left is UNBOUND and right is UNBOUND:
        raise refusal(SEVERAL_KINDS, found.reason)
    return _joined_arms(
        door, found.flag, (first, second), left, right, lambda one, other: found.reason
    )


def _attempted(door: StatementDoor, way: Later) -> Any:
    """What one way gives; UNBOUND if it raises: then a call that comes here goes back to Python."""
    try:
        return way()
    except CaptureError:
        raise
    except Exception as error:
        check_no_bug(error, door.raised)
        door.session.record("try_demand", Literal(False))
        return UNBOUND


def _raises(door: StatementDoor, x: object, way: Later) -> bool:
    """Whether nothing but an exception comes of what is to be done with ``x``. What arrays do with
    None is of no use to anybody, and is not captured.
    """
    before = door.session.error
    try:
        _, found = recorded(door.session, partial(_attempted, door, way))
    except CaptureError:
        if x is not None:
            raise
        door.session.error = before
        return True
    return found is UNBOUND
