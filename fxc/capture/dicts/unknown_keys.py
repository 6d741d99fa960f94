"""Keys of dicts that are known at run time only, among those that Python knows.

See Note [Tables].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeGuard

import numpy as np

from fxc.ir.symbols import counted_in

from ..forms.mixed import scalar_kinds
from ..forms.options import is_named, things_in
from ..forms.several import Several, united
from ..numbers.python_numbers import scalar_of, to_int, to_python
from ..numbers.traced_int import int_dim
from ..outside.containers import is_numpys_int
from ..values.maybe_set import MaybeSet
from ..values.operands import Traced, constant, wrap

_MOST = 512  # keys


class HasPlace(Protocol):
    """A text that is looked for among known ones."""

    def is_one_of(self, texts: Iterable[object]) -> object: ...

    def place_among(self, keys: Sequence[Any]) -> tuple[object, object]: ...


def is_unknown_key(key: object) -> bool:
    """Whether a key is an int that is not known, or one text or another, or a tuple with such."""
    parts = key if type(key) is tuple else (key,)

    def is_open(x: object) -> bool:
        return isinstance(x, Traced) and (x._is_open() or bool(counted_in(int_dim(x) or 0)))

    known = all(is_int(x) or has_place(x) or has_names(x) for x in parts)
    return known and any(map(is_open, parts))


def one_key(key: object) -> object:
    """A key that is None or a number by a condition as the number; it is checked that it is one."""
    if type(key) is Several and not has_names(key) and key.is_(None) is not False:
        return key.only(lambda x: x is not None)
    return key


def has_place(x: object) -> TypeGuard[HasPlace]:
    """Whether this is a character, or an element of an array of texts."""
    return hasattr(type(x), "place_among")


def has_names(x: object) -> bool:
    """Whether this is a constant, or one of several."""
    return all(map(is_named, things_in(x)))


def is_text(x: object) -> bool:
    """Whether this is a text that is known, or one of several."""
    return type(x) is str or (type(x) is Several and x.is_text)


def is_name(x: object) -> bool:
    """Whether this is a text or a member of an enum, or one of several."""
    return all(x is not None and is_named(x) for x in things_in(x))


def is_int(x: object) -> bool:
    if type(x) is int:
        return True
    kinds = scalar_kinds(x)
    return kinds is not None and all(each.dtype.kind in "iu" for each in kinds)


def keys_of(items: dict[object, object]) -> list[Any]:
    """The keys that a dict has in any case; none if it has some by a condition."""
    by_condition = any(type(x) is MaybeSet for x in dict.values(items))
    return [] if by_condition else list(dict.keys(items))


def place_of_key(keys: Sequence[Any], key: object) -> tuple[Any, Any] | None:
    """The place of an unknown key of a dict, and whether it is there; else None."""
    if type(key) is Several:
        return _place_of_name(keys, key) if all(map(is_named, keys)) else None
    if has_place(key):
        of_bytes = isinstance(key, bytes)
        are_texts = bool(keys) and all(type(x) is (bytes if of_bytes else str) for x in keys)
        return key.place_among(keys) if are_texts else None
    parts = key if type(key) is tuple else (key,)
    kind = tuple if type(key) is tuple else int
    kinds = (int if is_numpys_int(each) else type(each) for each in keys)
    if not 0 < len(keys) <= _MOST or {*kinds} != {kind}:
        return None
    rows = [each if type(each) is tuple else (each,) for each in keys]
    if any(len(row) != len(parts) for row in rows):
        return None
    same: Any = None
    for column, part in zip(zip(*rows, strict=True), parts, strict=True):
        test = _equal(column, part)
        if test is None:
            return None
        same = test if same is None else np.logical_and(same, test)
    return to_python(same.argmax()), to_python(same.any())


def _equal(column: Sequence[Any], part: object) -> Any:
    """Where a number or a text stands among others of its kind; None if some are of another."""
    if not all(map(_is_small, column)):
        return _equal_name(column, part) if all(map(is_named, column)) else None
    if has_names(part) or has_place(part):
        return None
    scalar = scalar_of(part)
    known: Any = wrap(constant(np.array([*map(int, column)])))
    return known == (part if scalar is None else to_int(scalar))


def _equal_name(column: Sequence[Any], part: object) -> object:
    """The same of constants, which are numbered for that."""
    texts = {text: number for number, text in enumerate(dict.fromkeys(column))}
    numbers: Any = wrap(constant(np.array([texts[text] for text in column])))
    if is_named(part):
        return numbers == texts.get(part, -1)
    found = place_of_key([*texts], part)
    return None if found is None else np.logical_and(numbers == found[0], found[1])


def _place_of_name(keys: Sequence[object], key: Several) -> tuple[Any, Any]:
    """The same of one constant or another, of which the flags are known at run time."""
    places = {each: place for place, each in enumerate(keys)}
    found = [(flag, places.get(text, 0)) for flag, text in key.options]
    return united(found), united([(flag, text in places) for flag, text in key.options])


def _is_small(x: Any) -> bool:
    return (type(x) is int or is_numpys_int(x)) and abs(int(x)) < 2**62
