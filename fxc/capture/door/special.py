"""Builtins that mean something of their own on traced values: ``len``, ``int``, ``getattr``."""

from __future__ import annotations

import functools
import itertools
import math
import operator
import warnings
from collections import Counter, deque
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, ValuesView
from functools import partial
from types import BuiltinFunctionType, GeneratorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.types import ScalarType

from ..locations import OURS
from ..numpy_api.creation import is_array
from ..outside.containers import External, plain_key, settle_all
from ..outside.objects import MISSING
from ..outside.shadows import class_of, has_method
from ..session import refuse
from ..statements.choices import chosen
from ..statements.counted import (
    Bounded,
    Counted,
    backwards,
    enumerated,
    mapped,
    of_one_thing,
    range_of,
    zipped,
)
from ..statements.folds import fold_few, fold_items, list_of_items
from ..statements.iterators import (
    accumulated,
    counts,
    elements_of,
    pairs,
    pairs_of_two,
    places_of,
    products,
)
from ..statements.rows import list_array_of
from ..statements.runs import runs_of
from ..statements.sums import CORRECTS, sum_of_known
from ..values import list_parts
from ..values.grown_texts import Grown
from ..values.identity import Identity
from ..values.late import Late, is_unknown, late
from ..values.list_pools import PooledList
from ..values.lists_of_lists import ListOfLists, ListRow
from ..values.mixed import Mixed, number_of
from ..values.operands import Traced, has_traced, operand, record, settled
from ..values.python_numbers import extremum, scalar_of, to_bool, to_complex, to_float, to_int
from ..values.several import Several, arrays_of
from ..values.sized_lists import in_order, of_elements, of_ints
from ..values.texts import Char, Text, char_of
from ..values.traced_dicts import TracedDict
from ..values.traced_int import TracedInt, known_ints, largest, scalar_of_int, smallest, wrap_dim
from ..values.traced_lists import TracedList, plain_list
from ..values.traced_scalar import TracedScalar
from ..values.variables import flag_of, going_on
from .hashes import frozen, hash_of
from .ordering import as_tuple, compared, is_compared
from .shows import show_print, show_warning

if TYPE_CHECKING:
    from .door import Door


def _len(door: Door, x: Any) -> Any:
    if type(x) is Several:
        x = x._plain() if arrays_of(x) else x
        if type(x) is Several and x.is_text:
            return x.of_each(len)
    if list_array_of(x) is not None:
        return x.size
    if is_array(x) and x.ndim:
        return x.shape[0]
    if isinstance(x, External) or type(x) in _WITH_LENGTH:
        return x.length()
    if type(x) is Counted and not x.once:
        return wrap_dim(x.count)
    if type(x) is Bounded and not x.once:
        return x.length()
    if has_method(x, "__len__"):
        return _length_by_python(door, x)
    return len(door.container(x))


_WITH_LENGTH = (TracedList, PooledList, TracedDict, ListOfLists, ListRow, Text, Grown, Char)


def _length_by_python(door: Door, x: object) -> Any:
    found: Any = door.special(x, "__len__")
    kind: Any = found.__class__
    if type(found) is TracedScalar and kind is int:
        door.session.record("try_demand", flag_of(operator.ge(found, 0)))
        return found
    if type(found) is not TracedInt:
        return operator.index(found) if type(found) is int and found >= 0 else len(_Sized(found))
    if operator.lt(found, 0):
        raise ValueError("__len__() should return >= 0")
    return found


class _Sized:
    """Has the length that a method of the program has given: Python says what is wrong with it."""

    def __init__(self, length: Any) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length  # type: ignore[no-any-return]


def _of_number(name: str, convert: Callable[..., Any]) -> Callable[..., Any]:
    """``int(x)`` and its like, of an object that says itself which number it is."""

    def of_number(door: Door, *args: object, **kwargs: object) -> Any:
        if len(args) == 1 and not kwargs and has_method(args[0], name):
            found = door.special(args[0], name)
            if isinstance(found, Traced) and f"__{found.__class__.__name__}__" != name:
                raise refuse(f"{name} that gives a {found.__class__.__name__} cannot be captured")
            return convert(door, found) if isinstance(found, Traced) else convert(door, *args)
        return convert(door, *args, **kwargs)

    return of_number


def _int(door: Door, *args: Any, **kwargs: object) -> Any:
    if len(args) == 1 and not kwargs:
        if type(args[0]) is TracedInt:
            return args[0]
        if type(args[0]) is Several:
            return args[0].converted(partial(_int, door))
        if type(args[0]) is Mixed:
            return args[0].to_int()
        x = scalar_of(args[0])
        if x is not None and x._type.dtype.kind != "c":
            return to_int(x)
    return int(*args, **kwargs)


def _float(door: Door, *args: Any) -> Any:
    if len(args) == 1 and type(args[0]) is Several:
        return args[0].converted(partial(_float, door))
    if len(args) == 1:
        x = number_of(args[0])
        if type(x) is TracedInt:
            return record("py_float", operand(x))
        scalar = scalar_of(x)
        if scalar is not None and scalar._type.dtype.kind != "c":
            return to_float(scalar)
    return float(*args)


def _complex(door: Door, *args: Any, **kwargs: Any) -> Any:
    parts = [number_of(x) for x in args] if not kwargs else []
    numbers = [x if type(x) is TracedInt else scalar_of(x) for x in parts]
    if not any(x is not None for x in numbers):
        return complex(*args, **kwargs)
    if len(parts) == 1:
        return to_complex(parts[0].real, parts[0].imag)
    if len(parts) != 2 or any(operand(x).type.dtype.kind == "c" for x in parts):
        raise refuse("complex() of a complex number and another cannot be captured; use x + y * 1j")
    return to_complex(*parts)


def _bool(door: Door, *args: object) -> Any:
    if len(args) == 1 and has_method(args[0], "__bool__"):
        return going_on(args[0])
    if len(args) == 1 and type(args[0]) is Several:
        test = args[0]._is_filled()
        return test if type(test) is bool else to_bool(test)
    x = scalar_of(number_of(args[0])) if len(args) == 1 else None
    return bool(*args) if x is None else to_bool(x)


def _type(door: Door, x: Any, *rest: Any) -> Any:
    if rest:
        raise refuse("making a class with type() cannot be captured")
    if type(x) is Several:
        raise refuse("type() of one of several things cannot be captured")
    if type(x) is Mixed:
        raise x.unclear("type()")
    if isinstance(x, Traced):
        kind: Any = x.__class__
    else:
        kind = x.kind if isinstance(x, External) else class_of(x)
    if kind is MethodType and isinstance(x.__self__, Traced):
        return BuiltinFunctionType
    ours = kind is GeneratorType and x.gi_code.co_filename.startswith(OURS)
    if ours or kind.__module__.startswith(_OWN):
        raise refuse("type() of a range or an iterator of unknown numbers cannot be captured")
    return kind


_OWN = "fxc.capture."  # modules with classes of which no program may know


def _vars(door: Door, *args: object) -> Any:
    if len(args) != 1 or isinstance(args[0], type | ModuleType | External):
        raise refuse("vars() of anything but an object cannot be captured")
    try:
        return door.attr(args[0], "__dict__")
    except AttributeError:
        raise TypeError("vars() argument must have __dict__ attribute") from None


def _text(kind: Any) -> Any:
    def text(door: Door, *args: Any, **kwargs: object) -> Any:
        door.check_text(args)
        if len(args) == 1 and kind in (str, repr):
            made = door.as_text(args[0], f"__{kind.__name__}__")
            if made is not args[0]:
                return made
        if args and not kwargs and is_unknown(args):
            return args[0] if kind is str and type(args[0]) is Late else late(str, kind, *args)
        return kind(*door.runnables(args), **kwargs)

    return text


def _ord(door: Door, *args: Any) -> Any:
    if len(args) == 1 and type(args[0]) is Char:
        return args[0].code
    if len(args) == 1 and type(args[0]) is Several and args[0].is_text:
        return args[0].of_each(ord)
    return ord(*args)


def _chr(door: Door, *args: Any) -> Any:
    x = scalar_of(number_of(args[0])) if len(args) == 1 else None
    is_open = x is not None or (len(args) == 1 and type(args[0]) is TracedInt)
    return char_of(args[0] if x is None else x) if is_open else chr(*args)


def _list(door: Door, *args: object) -> Any:
    made = _list_of_graph(door, args)
    return list(*door.runnables(args)) if made is None else made


def _deque(door: Door, *args: object, **kwargs: object) -> Any:
    made = None if kwargs else _list_of_graph(door, args)
    if type(made) is list:
        return deque(made)
    if made is None:
        bound = known_ints((args[1:], kwargs))
        return deque(*door.runnables((*args[:1], *bound[0])), **door.runnable_options(bound[1]))
    made.of = deque
    return made


def _list_of_graph(door: Door, args: tuple[Any, ...]) -> Any:
    """A new list of the graph with the items of the only argument; None if it is to be none."""
    if len(args) != 1:
        return None
    x = settled(args[0])
    x = x._counted() if type(x) is TracedDict else x
    if type(x) is PooledList:
        return x.copy()
    if type(x) is TracedList and x.items is None:
        return list_parts.part_of(x, slice(None))
    is_late = type(x) is Counted and x.steps is None and not isinstance(x.count, int)
    if is_late or type(x) is Bounded:
        return list_of_items(door, x)
    return of_ints(x) if type(x) is Counted else of_elements(x) if is_array(x) else None


def _of_dict(kind: Any) -> Any:
    """``dict`` or ``set``."""

    def made(door: Door, *args: Any, **kwargs: object) -> Any:
        (x,) = args if len(args) == 1 and not kwargs else (None,)
        if type(x) is TracedDict and kind is (set if x.of is set else dict):
            return x.copy() if kind is set else x.as_dict()
        if kind is set and x is not None and is_run_over(x) and type(settled(x)) is not Text:
            return fold_items(door, set, settled(x))
        if kind is set and x is not None:
            return door.set_of(*door.runnables(args)[0])
        return door.made(kind(*door.runnables(args), **door.runnable_options(kwargs)))

    return made


def _counter(door: Door, *args: object, **kwargs: object) -> Any:
    if kwargs or len(args) != 1 or not (_is_late(args[0]) or is_run_over(args[0])):
        return door.made(Counter(*door.runnables(args), **door.runnable_options(kwargs)))
    made = door.made(Counter())
    if type(made) is not TracedDict:
        door.dicts.ask(made)
    made.update(args[0])
    return made


def _sorted(door: Door, *args: object, key: object = None, reverse: object = False) -> Any:
    if len(args) == 1 and _is_late(args[0]):
        x = args[0].in_any_order() if type(args[0]) is TracedDict else args[0]
        made = _list_of_graph(door, (x,))
        args = args if made is None else (made,)
    if len(args) == 1 and type(args[0]) is TracedList and args[0].items is None:
        return list_parts.in_order(args[0], key, reverse)
    if len(args) == 1 and key is None and is_array(x := settled(args[0])):
        found = in_order(x, reverse)
        if found is not None:
            return found
    if len(args) == 1 and type(reverse) is bool:
        return _few_sorted(door, list(*door.runnables(args)), key, reverse)
    return door.builtin(sorted, args, {"key": key, "reverse": reverse})


def _few_sorted(door: Door, items: list[Any], key: object, reverse: bool) -> list[Any]:
    """``sorted`` of a list that Python knows."""
    keys = [x if key is None else door.call(key, x) for x in items]
    keys = [as_tuple(door, x) if is_compared(x) else x for x in keys]
    found = list_parts.few_in_order(items, keys, reverse) if has_traced(keys) else None
    if found is None:
        places = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
        found = [items[place] for place in places]
    return found


def _is_late(x: object) -> bool:
    """Whether this is no list yet, of as many items as data say."""
    return type(x) in (TracedDict, PooledList) or (
        type(x) is Counted and not isinstance(x.count, int)
    )


def _over(door: Door, args: tuple[Any, ...]) -> list[Any]:
    """What an iterator runs over; it sees changes to a list of the program's."""
    settle_all(args)
    return [door.iterated(door.runnable(of_one_thing(arg))) for arg in args]


def _of_items(function: Any) -> Any:
    def of_items(door: Door, *args: Any, **kwargs: object) -> Any:
        if len(args) == 1 and not kwargs and _is_counted(args[0]):
            return fold_items(door, function, settled(args[0]))
        if function in (any, all) and len(args) == 1 and not kwargs and _has_open(args[0]):
            return fold_few(door, function, args[0])
        if CORRECTS and function is sum and args and not kwargs:
            return _sum(door, *args)
        return door.builtin(function, args, kwargs)

    return of_items


def _sum(door: Door, items: object, *start: object) -> Any:
    """``sum`` of what Python runs over, where it corrects sums of its floats."""
    if isinstance(items, Iterable) and not isinstance(items, Traced | np.ndarray):
        items = [*items]
        numbers = (*items, *start)
        if any(isinstance(x, Traced) and getattr(x, "__class__", None) is float for x in numbers):
            return sum_of_known(items, *start)
    return door.builtin(sum, (items, *start), {})


def _is_counted(x: Any) -> bool:
    x = settled(x)
    if type(x) is TracedList:
        return x.is_run_over
    return type(x) in (Counted, Bounded, PooledList) or (is_array(x) and x.ndim == 1)


def _has_open(x: Any) -> bool:
    """Whether a tuple or list of Python's has an item that is not known."""
    return type(x) in (tuple, list) and any(isinstance(item, Traced) for item in x)


def is_run_over(x: object) -> bool:
    """Whether this has items that a loop of the graph would run over."""
    return _is_counted(x) or (isinstance(x, Traced) and x._counted() is not None)


def _extreme(name: str, plain: Any, symbolic: Any, order: str) -> Any:
    def extreme(door: Door, *args: Any, **kwargs: Any) -> Any:
        sooner = partial(compared, door, order)
        if len(args) == 1 and type(args[0]) is TracedDict:
            if kwargs.keys() == {"key"} and kwargs["key"] is not None:
                return args[0].best(kwargs["key"], name == "maximum")
            args = (args[0].in_any_order(),)
        if len(args) == 1 and kwargs.keys() <= _OF_EXTREMES and _is_counted(args[0]):
            return fold_items(door, plain, settled(args[0]), **kwargs)
        args = tuple(map(plain_list, args))
        if len(args) == 1 and isinstance(args[0], _ONCE):
            args = ([*door.runnables(args)[0]],)
        if kwargs.get("key") is not None and kwargs.keys() <= _OF_EXTREMES:
            given = list(door.iterable(args[0])) if len(args) == 1 else list(args)
            key = kwargs["key"]
            return _first_by(door, sooner, given, key) if given else plain(given, **kwargs)
        is_given = len(args) == 1 and isinstance(args[0], tuple | list | deque)
        items = list(args[0]) if is_given else args
        if items and kwargs.keys() == {"default"}:
            kwargs = {}
        kinds = set(map(type, items))
        if not kwargs and TracedInt in kinds and kinds <= {int, TracedInt}:
            return symbolic(list(items))
        if not kwargs and kinds & _TRACED and kinds <= _NUMBERS:
            found = NotImplemented if kinds & {Mixed, Several} else extremum(name, list(items))
            return _one_of(door, sooner, items) if found is NotImplemented else found
        if not kwargs and len(items) > 1 and any(map(is_compared, items)):
            return _one_of(door, sooner, items)
        return plain(*door.runnables(args), **door.runnable_options(kwargs))

    return extreme


_OF_EXTREMES = frozenset({"key", "default"})
_ONCE = (Iterator, KeysView, ValuesView, ItemsView)  # whose items are taken up, in this order
_TRACED = {TracedScalar, TracedInt, Mixed, Several}
_NUMBERS = _TRACED.union((bool, int, float), (np.dtype(code).type for code in "?bhilBHILfd"))


def _one_of(door: Door, sooner: Any, items: Iterable[Any]) -> Any:
    """The first of the items than which none is ``sooner``, of the type that it has."""
    found, *rest = items
    for x in rest:
        test = sooner(x, found)
        found = chosen(door, test, partial(_itself, x), partial(_itself, found))
    return found


def _first_by(door: Door, sooner: Any, items: Iterable[Any], key: object) -> Any:
    """The first item for which ``key`` gives the number than which none is ``sooner``."""
    found, *rest = items
    best = door.call(key, found)
    for x in rest:
        rank = door.call(key, x)
        test = sooner(rank, best)
        found = chosen(door, test, partial(_itself, x), partial(_itself, found))
        best = chosen(door, test, partial(_itself, rank), partial(_itself, best))
    return found


def _itself(x: object) -> Any:
    return x


def _pow(door: Door, *args: object, **kwargs: object) -> Any:
    args = tuple(map(number_of, args))
    if len(args) != 3 or kwargs or not any(isinstance(x, Traced) for x in args):
        return door.builtin(pow, args, kwargs)
    if not all(map(_is_python_int, args)):
        raise TypeError("pow() with a modulus takes Python's ints")
    x, n, modulus = map(scalar_of_int, args)
    if type(args[1]) is int and args[1] < 0:
        found, divisor = door.staged(_inverse)(x, modulus)
        for test in (modulus > 1, divisor == 1):  # else Python has rules of its own, or raises
            door.session.record("try_demand", flag_of(test))
        return door.staged(_power_modulo)(found, -args[1], modulus)
    door.session.record("try_demand", flag_of(n >= 0))
    return door.staged(_power_modulo)(x, n, modulus)


def _is_python_int(x: object) -> bool:
    kind = operand(x).type
    return isinstance(kind, ScalarType) and kind.weak and kind.dtype.kind in "bi"


def _power_modulo(x: Any, n: Any, modulus: Any) -> Any:
    result, x = 1 % modulus, x % modulus
    while n > 0:
        if n & 1:
            result = result * x % modulus
        n >>= 1
        if n:
            x = x * x % modulus
    return result


def _inverse(x: Any, modulus: Any) -> Any:
    """By what to multiply for a remainder of 1, and the greatest common divisor."""
    left, right, one, other = modulus, x % modulus, 0, 1
    while right > 0:
        times = left // right
        left, right = right, left - times * right
        one, other = other, one - times * other
    return one % modulus, left


def _isclose(
    door: Door, a: object, b: object, *, rel_tol: object = 1e-9, abs_tol: object = 0.0
) -> Any:
    tolerances = {"rel_tol": rel_tol, "abs_tol": abs_tol}
    if not any(isinstance(x, Traced) for x in (a, b, rel_tol, abs_tol)):
        return door.builtin(math.isclose, (a, b), tolerances)
    return door.staged(_is_close)(*(_float(door, x) for x in (a, b, rel_tol, abs_tol)))


def _is_close(a: Any, b: Any, rel_tol: Any, abs_tol: Any) -> Any:
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    apart = abs(b - a)
    return apart <= abs(rel_tol * b) or apart <= abs(rel_tol * a) or apart <= abs_tol


def _getattr(door: Door, owner: object, name: str, *default: object) -> Any:
    if default and (flag := door.given_if(owner, name)) is not None:
        return chosen(door, flag, lambda: door.held_attribute(owner, name), lambda: default[0])
    try:
        return door.attr(owner, plain_key(name))
    except AttributeError:
        if default:
            return default[0]
        raise


def _hasattr(door: Door, owner: object, name: str) -> Any:
    if (flag := door.given_if(owner, name)) is not None:
        return flag
    return _getattr(door, owner, name, MISSING) is not MISSING


def _setattr(door: Door, owner: object, name: str, value: object) -> None:
    door.store_attr(owner, plain_key(name), value)


def _delattr(door: Door, owner: object, name: str) -> None:
    door.delete_attr(owner, name)


def _isinstance(door: Door, x: Any, kinds: Any) -> bool:
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if getattr(kind, "_is_protocol", False) or not _is_plain_check(type(kind)):
            raise refuse(f"isinstance of {kind} runs code of its own and cannot be captured")
    if type(x) is Several:
        raise refuse("isinstance() of one of several things cannot be captured")
    if type(x) is Mixed:
        return x.is_instance(kinds)
    if type(x) in (Counted, Bounded):
        if x.once or not _is_range(x):
            raise refuse("isinstance() of an iterator of unknown numbers cannot be captured")
        return issubclass(range, kinds)
    return isinstance(x, kinds)


def _is_range(x: Counted | Bounded) -> bool:
    """Whether this stands for a range."""
    return x.steps is not None if isinstance(x, Counted) else x.item is None


def _is_plain_check(metaclass: type) -> bool:
    found = getattr(metaclass, "__instancecheck__", None)
    return metaclass.__module__ in ("builtins", "abc", "types", "enum", "typing") or (
        found is type.__instancecheck__
    )


def _accumulate(door: Door, *args: object, **kwargs: object) -> Any:
    found = accumulated(door, args[0]) if len(args) == 1 and not kwargs else None
    if found is None:
        given = door.runnables(args), door.runnable_options(kwargs)
        found = itertools.accumulate(*given[0], **given[1])
    return door.made(found)


def _groupby(door: Door, *args: object, **kwargs: object) -> Any:
    options = dict(zip(("iterable", "key"), args, strict=False)) | kwargs
    found = None
    if "iterable" in options and options.keys() <= {"iterable", "key"}:
        found = runs_of(door, options["iterable"], options.get("key"))
    if found is None:
        found = itertools.groupby(*door.runnables(args), **door.runnable_options(kwargs))
    return door.made(found)


def _product(door: Door, *parts: object, repeat: object = 1) -> Any:
    return door.made(products(*door.runnables(parts), repeat=repeat))


def _next(door: Door, iterator: object, *default: object) -> Any:
    return next(door.iterable(iterator), *default)


def _reduce(door: Door, function: Any, items: Any, *initial: Any) -> Any:
    if initial:
        return door.staged(_reduced)(function, items, *initial)
    if is_array(items) or type(items) in (list, tuple, TracedList):
        if not _len(door, items):
            raise TypeError("reduce() of empty iterable with no initial value")
        return door.staged(_reduced)(function, items[1:], items[0])
    return functools.reduce(*door.runnables((function, items)))


def _reduced(function: Any, items: Any, so_far: Any) -> Any:
    """What ``functools.reduce`` does; it is staged like the user's own code."""
    for item in items:
        so_far = function(so_far, item)
    return so_far


SPECIAL: dict[Any, Callable[..., Any]] = {
    print: show_print,
    warnings.warn: show_warning,
    functools.reduce: _reduce,
    len: _len,
    int: _of_number("__int__", _int),
    float: _of_number("__float__", _float),
    type: _type,
    bool: _bool,
    complex: _of_number("__complex__", _complex),
    min: _extreme("minimum", min, smallest, "lt"),
    max: _extreme("maximum", max, largest, "gt"),
    **{function: _of_items(function) for function in (sum, any, all)},
    pow: _pow,
    math.isclose: _isclose,
    getattr: _getattr,
    vars: _vars,
    hasattr: _hasattr,
    setattr: _setattr,
    delattr: _delattr,
    isinstance: _isinstance,
    id: lambda door, x: Identity(settled(x)),
    hash: lambda door, x: hash_of(x),
    frozenset: lambda door, *args: frozen(*door.runnables(args)) if args else frozenset(),
    **{kind: _text(kind) for kind in (str, repr, ascii, format)},
    next: _next,
    range: lambda door, *args: range_of(*args),
    enumerate: lambda door, *args, **kwargs: door.made(enumerated(*_over(door, args), **kwargs)),
    zip: lambda door, *args, **kwargs: door.made(zipped(*_over(door, args), **kwargs)),
    map: lambda door, f, *args: door.made(mapped(partial(door.call, f), *_over(door, args))),
    np.ndindex: lambda door, *args: door.made(places_of(*args)),
    np.ndenumerate: lambda door, array: door.made(elements_of(array)),
    itertools.pairwise: lambda door, *args: door.made(pairs(*door.runnables(args))),
    itertools.count: lambda door, *args, **kwargs: door.made(counts(*args, **kwargs)),
    itertools.product: _product,
    itertools.accumulate: _accumulate,
    itertools.groupby: _groupby,
    itertools.combinations: lambda door, x, r: door.made(pairs_of_two(door.runnables((x,))[0], r)),
    list: _list,
    ord: _ord,
    chr: _chr,
    deque: _deque,
    Counter: _counter,
    dict: _of_dict(dict),
    set: _of_dict(set),
    sorted: _sorted,
    reversed: lambda door, *args: door.made(backwards(*_over(door, args))),
}
