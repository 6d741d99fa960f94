"""Builtins that mean something of their own on traced values: ``len``, ``int``, ``getattr``."""

from __future__ import annotations

import copy
import functools
import itertools
import math
import operator
import os
import struct
import warnings
from collections import Counter, deque, namedtuple
from collections.abc import Callable, Iterable
from functools import partial
from types import BuiltinFunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import ITERATOR, NUMPY_OPTION, OBJECT
from fxc.ir.later import import_later

from ..arrays.creation import is_array
from ..forms.truths import flag_of
from ..lists.list_room import WithLength
from ..lists.traced_lists import TracedList
from ..numbers.traced_int import int_dim, largest, smallest, wrap_dim
from ..outside import purity
from ..outside.containers import External, ExternalMapping, class_seen, plain_key
from ..regions.counted import Bounded, Counted, range_of
from ..session.locations import OURS, Ignoring
from ..session.refusing import refusal, refuse
from ..staging.continuations import note_run
from ..statements.comprehensions import is_filtered, itself
from ..statements.itertools_in_python import IN_PYTHON, accumulate, accumulate_items
from ..statements.runs import runs_of
from ..values.identity import Identity
from ..values.objects import MISSING, has_by_class
from ..values.operands import Traced, TracedValue, is_scalar, kind_of, record_of, settled
from ..values.shadows import has_method, seen_class
from .containers import (
    counter_of,
    deque_of,
    dict_from_keys,
    dict_or_set,
    dtype_of,
    iterator_of,
    list_of,
    run_over,
    sorted_of,
    tuple_of,
)
from .conversions import (
    bool_of,
    chr_of,
    complex_of,
    distance_of,
    float_of,
    int_of,
    is_close,
    of_number,
    ord_of,
    pow_of,
    text_of,
)
from .copies import deep, shallow
from .extremes import extreme, of_items
from .filters import FILTERS
from .plain_calls import PlainCalls
from .shows import show_print, show_warning

keyed = import_later("fxc.capture.dicts.tables", "keyed")
is_text = import_later("fxc.capture.dicts.unknown_keys", "is_text")
is_open_int = import_later("fxc.capture.forms.options", "is_open_int")
frozen = import_later("fxc.capture.door.comparisons", "frozen")
hash_of = import_later("fxc.capture.door.comparisons", "hash_of")

# See Note [Rooms with one door].
_OF_BYTES = "fxc.capture.door.byte_conversions"
new_class = import_later("fxc.capture.door.instances", "new_class")
new_object = import_later("fxc.capture.door.instances", "new_object")
vectorized = import_later("fxc.capture.numpy_api.vectorized", "vectorized")
chosen = import_later("fxc.capture.statements.choices", "chosen")
fold = import_later("fxc.capture.statements.folds", "fold")
_ITERATORS = "fxc.capture.statements.iterators"
accumulated = import_later(_ITERATORS, "accumulated")
backwards = import_later(_ITERATORS, "backwards")
counts = import_later(_ITERATORS, "counts")
elements_of = import_later(_ITERATORS, "elements_of")
enumerated = import_later(_ITERATORS, "enumerated")
filtering = import_later(_ITERATORS, "filtering")
mapped = import_later(_ITERATORS, "mapped")
pairs = import_later(_ITERATORS, "pairs")
pairs_of_two = import_later(_ITERATORS, "pairs_of_two")
places_of = import_later(_ITERATORS, "places_of")
products = import_later(_ITERATORS, "products")
zipped = import_later(_ITERATORS, "zipped")
_ELEMENTS = "fxc.capture.statements.element_iterators"
element_iterator = import_later(_ELEMENTS, "element_iterator")
broadcast_together = import_later(_ELEMENTS, "broadcast_together")


def _len(door: PlainCalls, x: Any) -> Any:
    x = record_of(x)
    if isinstance(x, Traced) and is_text(x):
        return x.of_each(len)  # type: ignore[attr-defined]
    if isinstance(x, TracedValue) and x._later is not None:
        return wrap_dim(kind_of(x._later.array).shape[0])
    if is_array(x) and x.ndim:
        return x.shape[0]
    if isinstance(x, Counted | Bounded) and x.once:
        raise TypeError("object of type 'zip' has no len()")
    if isinstance(x, External | WithLength | Counted | Bounded):
        return x.length()
    if has_method(x, "__len__"):
        return _length_by_python(door, x)
    found = x._counted() if isinstance(x, Traced) and x._is_row else None
    return len(door.container(x)) if found is None else found.length()


def _length_by_python(door: PlainCalls, x: object) -> object:
    found: Any = door.special(x, "__len__")
    kind: Any = found.__class__
    if is_scalar(found) and kind is int:
        door.session.record("try_demand", flag_of(operator.ge(found, 0)))
        return found
    if type(found) is bool or int_dim(found) is None:
        return len(_Sized(found))
    if operator.lt(found, 0):
        raise ValueError("__len__() should return >= 0")
    return found


class _Sized:
    """Has the length that a method of the program has given: Python says what is wrong with it."""

    def __init__(self, length: Any) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length  # type: ignore[no-any-return]


def _type(door: PlainCalls, x: Any, *rest: object) -> Any:
    if rest:
        raise refuse(OBJECT, "making a class with type()")
    kind = class_seen(x)
    if kind is MethodType and isinstance(x.__self__, Traced):
        return BuiltinFunctionType
    if type(x) is GeneratorType and x.gi_code.co_filename.startswith(OURS):
        raise refuse(ITERATOR, "type() of an iterator of unknown numbers")
    return seen_class(kind)


def _vars(door: PlainCalls, *args: object) -> Any:
    if len(args) != 1 or isinstance(args[0], type | ModuleType | External):
        raise refuse(OBJECT, "vars() of anything but an object")
    try:
        return door.attr(args[0], "__dict__")
    except AttributeError:
        raise TypeError("vars() argument must have __dict__ attribute") from None


def _getattr(door: PlainCalls, owner: object, name: str, *default: object) -> Any:
    if default and (flag := door.given_if(owner, name)) is not None:
        return chosen(door, flag, lambda: door.held_attribute(owner, name), lambda: default[0])
    try:
        if isinstance(owner, WithLength):
            owner.check_attribute(plain_key(name))
        return door.attr(owner, plain_key(name))
    except AttributeError:
        if default:
            return default[0]
        raise


def _hasattr(door: PlainCalls, owner: object, name: str) -> Any:
    if (flag := door.given_if(owner, name)) is not None:
        return flag
    if isinstance(owner, Traced) and (found := has_by_class(owner, name)) is not None:
        return found
    return _getattr(door, owner, name, MISSING) is not MISSING


def _isinstance(door: PlainCalls, x: Any, kinds: Any) -> bool:
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if getattr(kind, "_is_protocol", False) or not _is_plain_check(type(kind)):
            raise refusal(
                OBJECT, f"isinstance of {kind} runs code of its own and cannot be captured"
            )
    return x._is_instance(kinds) if isinstance(x, Traced | Bounded) else isinstance(x, kinds)


def _is_plain_check(metaclass: type) -> bool:
    found = getattr(metaclass, "__instancecheck__", None)
    return metaclass.__module__ in ("builtins", "abc", "types", "enum", "typing") or (
        found is type.__instancecheck__
    )


def _accumulate(door: Any, x: Any, func: object = None, **kwargs: object) -> Any:
    found = accumulated(door, x) if func is None and not kwargs else None
    if found is None:
        by_places = not kwargs and _has_places(x) and _len(door, x)
        given = x, operator.add if func is None else func
        found = door.begun(accumulate_items if by_places else accumulate, given, kwargs)
    return door.made(found)


def _in_python(function: object) -> Callable[..., Any]:
    return lambda door, *args, **kwargs: door.made(door.begun(function, args, kwargs))


def _permutations(door: PlainCalls, x: object, r: Any = None) -> object:
    """Their length has to be an int of Python's own: one that may vary becomes a constant."""
    length = operator.index(r) if is_open_int(r) else settled(r)
    return door.made(door.run_plain(itertools.permutations, (x, length), {}))


def _groupby(door: PlainCalls, *args: object, **kwargs: object) -> Any:
    options = dict(zip(("iterable", "key"), args, strict=False)) | kwargs
    found = None
    if "iterable" in options and options.keys() <= {"iterable", "key"}:
        found = runs_of(door, options["iterable"], options.get("key"))
    if found is None:
        found = door.run_plain(itertools.groupby, args, kwargs)
    return door.made(found)


def _reduce(door: PlainCalls, function: Callable[..., Any], items: Any, *initial: object) -> object:
    if initial:
        return door.staged(_reduced)(function, items, *initial)
    if _has_places(items):
        if not _len(door, items):
            raise TypeError("reduce() of empty iterable with no initial value")
        return door.staged(_reduced)(function, items[1:], items[0])
    return functools.reduce(*door.runnables((function, items)))


def _has_places(x: object) -> bool:
    return is_array(x) or type(x) in (list, tuple, TracedList)


def _reduced(
    function: Callable[[object, object], object], items: Iterable[object], so_far: object
) -> Any:
    """What ``functools.reduce`` does; it is staged like the user's own code."""
    for item in items:
        so_far = function(so_far, item)
    return so_far


def _next(door: PlainCalls, iterator: Any, *default: object) -> Any:
    if is_filtered(iterator):
        return fold(door, next, False, iterator.for_next(), *default)
    if has_method(iterator, "__next__") and not default:
        return door.special(iterator, "__next__")
    return next(door.iterable(iterator), *default)


def _filter(door: PlainCalls, test: object, x: object) -> Any:
    (items,) = run_over(door, (x,))
    return door.made(filtering(itself if test is None else partial(door.call, test), items))


def _enumerate(door: PlainCalls, *args: object, **kwargs: object) -> Any:
    if args and type(args[0]) is GeneratorType and note_run(door.session, args[0]):
        return door.made(Numbered(*args, **kwargs))
    return door.made(enumerated(*run_over(door, args), **kwargs))


def _errstate(door: PlainCalls, **options: Any) -> Ignoring:
    if any(value != "ignore" for value in options.values()):
        error = refuse(NUMPY_OPTION, "np.errstate with anything but 'ignore'")
        # What nobody reads of a part raises nothing: see "What only NumPy computes" in numerics.md.
        error.is_of_block = any(value not in ("ignore", "warn") for value in options.values())
        raise error
    np.errstate(**options)  # its own exception for other names
    kinds = ("divide", "over", "under", "invalid")
    return Ignoring(*(kind for kind in kinds if kind in options or "all" in options))


# See Note [Rooms with one door].
Numbered = import_later("fxc.capture.statements.driven", "Numbered")


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(door: PlainCalls, x: object, *args: object) -> object:
        return function(door.to_change(x), *args)

    return called


SPECIAL: dict[Any, Callable[..., Any]] = {
    print: show_print,
    warnings.warn: show_warning,
    copy.copy: shallow,
    copy.deepcopy: deep,
    np.errstate: _errstate,
    **FILTERS,
    np.frombuffer: import_later(_OF_BYTES, "from_buffer"),
    int.from_bytes: import_later(_OF_BYTES, "int_from_bytes"),
    struct.unpack: import_later(_OF_BYTES, "unpack"),
    struct.unpack_from: import_later(_OF_BYTES, "unpack_from"),
    bytearray: import_later(_OF_BYTES, "byte_array_of"),
    bytes: import_later(_OF_BYTES, "bytes_of"),
    functools.reduce: _reduce,
    **{function: _in_place(function) for function in purity.IN_PLACE_OPERATORS},
    len: _len,
    int: of_number("__int__", int_of),
    float: of_number("__float__", float_of),
    type: _type,
    object.__new__: new_object,
    namedtuple: new_class,
    bool: bool_of,
    complex: of_number("__complex__", complex_of),
    min: extreme("minimum", min, smallest, "lt"),
    max: extreme("maximum", max, largest, "gt"),
    **{function: of_items(function) for function in (sum, any, all, math.prod)},
    pow: pow_of,
    math.isclose: is_close,
    math.dist: distance_of,
    getattr: _getattr,
    vars: _vars,
    hasattr: _hasattr,
    setattr: lambda door, owner, name, x: door.store_attr(owner, plain_key(name), x),
    delattr: lambda door, owner, name: door.delete_attr(owner, name),
    isinstance: _isinstance,
    id: lambda door, x: Identity(settled(x)),
    hash: lambda door, x: hash_of(x),
    frozenset: lambda door, *args: frozen(*door.runnables(args)) if args else frozenset(),
    **{kind: text_of(kind) for kind in (str, repr, ascii, format, hex, oct, bin)},
    iter: iterator_of,
    next: _next,
    range: lambda door, *args: range_of(*args),
    enumerate: _enumerate,
    zip: lambda door, *args, **kwargs: door.made(zipped(*run_over(door, args), **kwargs)),
    map: lambda door, f, *args: door.made(mapped(partial(door.call, f), *run_over(door, args))),
    filter: _filter,
    vars(np.vectorize)["_call_as_normal"]: vectorized,
    np.ndindex: lambda door, *args: door.made(places_of(*args)),
    np.ndenumerate: lambda door, array: door.made(elements_of(array)),
    np.nditer: element_iterator,
    np.broadcast: broadcast_together,
    itertools.pairwise: lambda door, *args: door.made(pairs(*door.runnables(args))),
    itertools.count: lambda door, *args, **kwargs: door.made(counts(*args, **kwargs)),
    itertools.repeat: lambda door, object, *times, **options: door.made(
        itertools.repeat(object, *door.runnables(times), **options)
    ),
    itertools.product: lambda door, *parts, repeat=1: door.made(
        products(*door.runnables(parts), repeat=repeat)
    ),
    itertools.accumulate: _accumulate,
    **{getattr(itertools, f.__name__): _in_python(f) for f in IN_PYTHON},
    itertools.groupby: _groupby,
    itertools.combinations: lambda door, x, r: door.made(pairs_of_two(door.runnables((x,))[0], r)),
    itertools.permutations: _permutations,
    list: list_of,
    tuple: tuple_of,
    os.fspath: lambda door, x: x if isinstance(x, str) else door.unknown(os.fspath, (x,), {}),
    ord: ord_of,
    chr: chr_of,
    deque: deque_of,
    Counter: counter_of,
    ExternalMapping.get: lambda door, owner, *args: keyed(owner).get(*args),
    np.dtype: dtype_of,
    dict: dict_or_set(dict),
    dict.fromkeys: dict_from_keys,
    set: dict_or_set(set),
    sorted: sorted_of,
    reversed: lambda door, *args: door.made(backwards(*run_over(door, args))),
}


def special_of(f: object) -> Callable[..., Any] | None:
    """What is done instead of calling ``f``, if it is one of these."""
    return SPECIAL.get(f)
