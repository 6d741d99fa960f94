"""Methods of texts, tuples and containers of Python's, and containers that the program makes."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.error_kinds import OPERAND
from fxc.ir.later import import_class_later, import_later
from fxc.ir.symbols import counted_in

from ..arrays.creation import is_array
from ..dicts.unknown_keys import is_text, is_unknown_key
from ..forms.mixed import scalar_kinds
from ..lists.byte_strings import is_unknown_bytes, joined_bytes, searchable
from ..lists.list_changes import is_list
from ..lists.sized_lists import in_order, of_elements, of_ints
from ..lists.texts import Text, is_char, is_unknown_text, joined, refused
from ..lists.traced_lists import is_in_arrays, is_in_graph
from ..numbers.traced_int import known_ints
from ..outside import purity
from ..outside.containers import settle_all, settle_deeply
from ..regions.counted import Bounded, Counted, counted, of_one_thing
from ..session.refusing import Respecialise, refuse
from ..staging.nodes import KEEPERS
from ..statements.comprehensions import is_long, list_of_items
from ..statements.folds import fold_items
from ..values.late import is_unknown, late, used_up
from ..values.objects import Args, Kwargs
from ..values.operands import Traced, has_traced, settled
from .plain_calls import PlainCalls

is_compared = import_later("fxc.capture.door.comparisons", "is_compared")

if TYPE_CHECKING:
    from ..dicts.tables import KeyedTable
    from ..dicts.traced_dicts import Keyed
else:
    KeyedTable = import_class_later("fxc.capture.dicts.tables", "KeyedTable")
    Keyed = import_class_later("fxc.capture.dicts.traced_dicts", "Keyed")

list_behind = import_later("fxc.capture.lists.counted_tuples", "list_behind")
tuple_before = import_later("fxc.capture.lists.counted_tuples", "tuple_before")
deciding = import_later("fxc.capture.dicts.tables", "deciding")
few_in_order = import_later("fxc.capture.dicts.tables", "few_in_order")
with_ranks = import_later("fxc.capture.dicts.tables", "with_ranks")
any_order = import_later("fxc.capture.dicts.traced_dicts", "any_order")
made_of = import_later("fxc.capture.dicts.traced_sets", "made_of")
searched = import_later("fxc.capture.statements.choices", "searched")
searched_text = import_later("fxc.capture.statements.choices", "searched_text")

_OF_KEYS = ("add", "setdefault", "pop", "remove", "discard", "move_to_end")
_WITH_DEFAULT = ("setdefault", "pop")  # which comes after a key
_CALLING = ("sort", "sub", "subn")  # all other ones call nothing that they are given


def is_plain_owner(door: PlainCalls, owner: object) -> bool:
    """Whether this is a constant, or a container of Python's that the program may change."""
    if type(owner) in purity.PURE_OWNERS:
        return True
    return isinstance(owner, purity.OWN_CONTAINERS) and not door.is_foreign(owner)


def call_method(door: PlainCalls, f: BuiltinFunctionType, args: Args, kwargs: Kwargs) -> Any:
    """Call a method of such an owner."""
    owner, name = f.__self__, f.__name__
    writes = name in purity.CONTAINER_WRITES
    if type(owner) is str:
        door.check_text((args, kwargs))
    if writes:
        door.places.check_apart(owner)
    if _has_open_members(door, owner, name, args):
        door.dicts.ask(owner)
    owner = searchable(args[0], owner) if args else owner
    if is_unknown_bytes(owner):
        return getattr(owner, name)(*args, **kwargs)
    special = _SPECIAL.get((type(owner), name))
    found = NotImplemented if special is None else special(door, owner, *args, **kwargs)
    if found is not NotImplemented:
        return found
    if type(owner) is str and any(map(is_unknown_text, args)):
        raise refused(f"{name}()")
    if type(owner) is str and (texts := [x for x in args if isinstance(x, Traced) and is_text(x)]):
        return _of_each_text(door, f, args, kwargs, texts[0])
    if type(owner) is str and any(isinstance(x, tuple | dict) and is_unknown(x) for x in args):
        raise refused(f"{name}()")  # startswith, translate
    door.lists.note_change(owner)
    if writes and type(owner) not in purity.PURE_OWNERS:
        door.check_change(owner, goes_on=True)
    if name in KEEPERS or name in _WITH_DEFAULT:
        settle_all(args)
        first = args[:1] if name in KEEPERS else door.kept(args[:1])
        return f(*map(door.iterated, (*first, *args[1:])), **kwargs)
    if name in _CALLING:
        return door.made(door.run_plain(f, args, kwargs))
    found = f(*door.kept(args), **door.kept_options(kwargs))
    return found if writes else door.made(found)  # what is taken out is not made here


def _of_each_text(
    door: PlainCalls, f: BuiltinFunctionType, args: Args, kwargs: Kwargs, text: Any
) -> Any:
    """A method of a text, for each thing that an argument may be."""

    def given(known: object) -> Any:
        return call_method(door, f, tuple(known if x is text else x for x in args), kwargs)

    return text.of_each(given)


def _has_open_members(door: PlainCalls, owner: object, name: str, args: Args) -> bool:
    """Whether a method is given keys, which are not known, of a dict or a set."""
    if name in _OF_KEYS and isinstance(owner, set | dict):
        return any(map(is_unknown_key, args[:1]))
    takes_more = name == "update" and isinstance(owner, set)
    return takes_more and bool(door.session.region or any(map(is_run_over, args)))


# What follows gives NotImplemented where Python's own method does.


def _join(door: PlainCalls, between: str | bytes, *args: object, **kwargs: object) -> object:
    if between == "" and len(args) == 1:
        items = settled(args[0])
        if type(items) in (Counted, Bounded):
            (items,) = args = (list_of_items(door, items),)
        found = joined(items)
        if found is not None:
            return found
    is_plain = between == b"" and len(args) == 1
    if is_plain and (found := joined_bytes(args[0])) is not None:  # type: ignore[arg-type]
        return found
    args = used_up(args)
    if is_unknown((args, kwargs)):
        return late(type(between), type(between).join, between, *args, **kwargs)
    return door.run_plain(between.join, args, kwargs)


def _format(door: PlainCalls, text: str, *args: object, **kwargs: object) -> Any:
    if is_unknown((args, kwargs)):
        return late(str, str.format, text, *args, **kwargs)
    return NotImplemented


def _searched(name: str) -> Callable[..., Any]:
    def of_one(door: PlainCalls, owner: object, *args: Any, **kwargs: object) -> object:
        return searched(door, owner, name, *args) if len(args) == 1 else NotImplemented

    return of_one


def _searched_text(name: str) -> Callable[..., Any]:
    def searched(door: PlainCalls, text: str, *args: object, **kwargs: object) -> Any:
        if len(args) == 1 and is_unknown_text(args[0]) and is_char(args[0]):
            return searched_text(door, text, name, *args)
        return NotImplemented

    return searched


def _get(door: PlainCalls, owner: dict[object, object], *args: object, **kwargs: object) -> Any:
    return NotImplemented if kwargs else KeyedTable(owner).get(*args)


def _sort(door: PlainCalls, owner: list[object], *args: object, **kwargs: object) -> None:
    items = sorted_of(door, owner, *args, **kwargs)
    door.lists.note_change(owner)
    door.check_change(owner)
    owner[:] = items


def _extend(door: PlainCalls, owner: object, *args: object, **kwargs: object) -> Any:
    """Of more items than Python knows there are: of a list of the graph then."""
    if len(args) == 1 and _has_unknown_length(args[0]):
        wanted = door.lists.to_change(owner)
        if wanted is not None:
            raise Respecialise(wanted)
    return NotImplemented


def _setdefault(
    door: PlainCalls, owner: dict[object, object], key: object, default: object = None
) -> Any:
    if not door.session.region or is_unknown_key(key):
        return NotImplemented
    if key not in owner:
        door.stored(owner)[key] = default
    return owner[key]


def _update(door: PlainCalls, owner: dict[object, object], *args: object, **kwargs: object) -> Any:
    if any(map(_has_unknown_length, args)):
        door.dicts.ask(owner)
    if not door.session.region:
        return NotImplemented
    if len(args) == 1 and isinstance(args[0], Iterator):
        for pair in args[0]:
            _update(door, owner, (pair,))
        args = ()
    for key, value in dict(*args, **kwargs).items():
        door.store_item(owner, key, value)
    return None


_SPECIAL: dict[tuple[type, str], Callable[..., Any]] = {
    **{(kind, "join"): _join for kind in (str, bytes)},
    (str, "format"): _format,
    **{(str, each): _searched_text(each) for each in ("index", "find", "count")},
    **{(kind, each): _searched(each) for kind in (list, tuple) for each in ("index", "count")},
    (dict, "get"): _get,
    (dict, "setdefault"): _setdefault,
    (dict, "update"): _update,
    (list, "sort"): _sort,
    **{(kind, "extend"): _extend for kind in (list, deque)},
}

# ------------------------------------------------------------------ new containers


def list_of(door: PlainCalls, *args: object) -> Any:
    made = _list_of_graph(door, args)
    return list(*door.runnables(args)) if made is None else made


def tuple_of(door: PlainCalls, *args: object) -> Any:
    if len(args) == 1:
        x = settled(args[0])
        if list_behind(x) is not x:
            return x
        if _has_unknown_length(x) or (type(x) is Counted and is_long(x)):
            made = list_of(door, x)  # a loop computes what Python takes one by one then
            if is_in_graph(made):
                return tuple_before(made)
            args = (made,)
    return door.made(door.run_plain(tuple, args, {}))


def deque_of(door: PlainCalls, *args: object, **kwargs: object) -> Any:
    made = None if kwargs else _list_of_graph(door, args)
    if type(made) is list:
        return deque(made)
    if made is None:
        bound = known_ints((args[1:], kwargs))
        return deque(*door.runnables((*args[:1], *bound[0])), **door.runnable_options(bound[1]))
    made.of = deque
    return made


def _list_of_graph(door: PlainCalls, args: Args) -> Any:
    """A new list of the graph with the items of the only argument; None if it is to be none."""
    if len(args) != 1:
        return None
    x = settled(args[0])
    x = x._counted() if isinstance(x, Keyed) else list_behind(x)
    if is_in_graph(x):
        return x.as_list()
    if is_long(x):
        return list_of_items(door, x)
    return of_ints(x) if type(x) is Counted else of_elements(x) if is_array(x) else None


def dict_or_set(kind: type) -> Any:
    """``dict`` or ``set``."""

    def made(door: PlainCalls, *args: object, **kwargs: object) -> object:
        (x,) = args if len(args) == 1 and not kwargs else (None,)
        if isinstance(x, Keyed) and issubclass(x.of, kind):
            return x.renewed()
        if kind is set and x is not None and is_run_over(x) and type(settled(x)) is not Text:
            return made_of(fold_items(door, set, settled(x)), x)
        if kind is set and x is not None:
            return door.set_of(*door.runnables(args)[0])
        if kind is dict and x is not None and _has_unknown_length(x):
            return _dict_of_graph(door, x)
        return door.made(kind(*door.kept(args), **door.kept_options(kwargs)))

    return made


def _dict_of_graph(door: PlainCalls, pairs: object) -> Any:
    made = door.made({})
    if not isinstance(made, Keyed):
        door.dicts.ask(made)
    made.update(pairs)
    return made


def dict_from_keys(door: PlainCalls, keys: Any, value: object = None) -> Any:
    """``dict.fromkeys``; of keys that the graph has only with one number for all."""
    found, is_number = settled(keys), bool(scalar_kinds(value))
    if is_number and type(keys) in (list, tuple):
        return door.dict_of(*(part for key in keys for part in (key, value)))
    is_run = isinstance(found, Traced) and is_run_over(found) and type(found) not in (Text, Counted)
    if not (is_number and (is_run or isinstance(keys, Keyed))):
        return door.made(dict.fromkeys(keys, value))
    made = door.made({})
    if not isinstance(made, Keyed):
        door.dicts.ask(made)
    door.staged(_store_for_each)(made, keys, value)
    return made


def _store_for_each(into: dict[object, object], keys: Iterable[object], value: object) -> None:
    """What ``dict.fromkeys`` does; it is staged like the user's own code."""
    for key in keys:
        into[key] = value


def iterator_of(door: PlainCalls, *args: object) -> Any:
    """``iter``: of a dict of the graph it gives the first key."""
    if len(args) == 1 and isinstance(args[0], Keyed) and issubclass(args[0].of, dict):
        return door.made(args[0].first_alone())
    return door.builtin(iter, args, {})


def dtype_of(door: PlainCalls, *args: object, **kwargs: object) -> Any:
    """``np.dtype``: of a list of fields, which may be lists of fields."""
    if "metadata" in kwargs:
        raise refuse(OPERAND, "making a dtype with metadata")  # they leave with it, as they are
    settle_deeply(args)
    return door.run_plain(np.dtype, args, kwargs)


def counter_of(door: PlainCalls, *args: object, **kwargs: object) -> Any:
    if kwargs or len(args) != 1 or not (_is_late(args[0]) or is_run_over(args[0])):
        return door.made(door.run_plain(Counter, args, kwargs))
    made = door.made(Counter())
    if not isinstance(made, Keyed):
        door.dicts.ask(made)
    made.update(list_of(door, args[0]) if args[0].__class__ is set else args[0])
    return made


def sorted_of(door: PlainCalls, *args: Any, key: Any = None, reverse: object = False) -> Any:
    args = tuple(map(list_behind, args))
    if len(args) == 1 and _is_late(args[0]):
        made = _list_of_graph(door, (any_order(args[0]),))
        args = args if made is None else (made,)
    if len(args) == 1 and is_in_arrays(args[0]):
        return args[0].in_order(key, reverse)
    if len(args) == 1 and key is None and is_array(x := settled(args[0])):
        found = in_order(x, reverse)
        if found is not None:
            return found
    if len(args) == 1 and type(reverse) is bool:
        return _few_sorted(door, list(*door.runnables(args)), key, reverse)
    return door.builtin(sorted, args, {"key": key, "reverse": reverse})


def _few_sorted(door: PlainCalls, items: list[Any], key: object, reverse: bool) -> list[Any]:
    """``sorted`` of a list that Python knows."""
    keys = [x if key is None else door.call(key, x) for x in items]
    ranks = deciding([door.as_tuple(x) if is_compared(x) else x for x in keys])
    is_open = len(items) > 1 and has_traced(ranks)
    found = few_in_order(items, with_ranks(ranks), reverse) if is_open else None
    if found is None:
        places = sorted(range(len(items)), key=ranks.__getitem__, reverse=reverse)
        found = [items[place] for place in places]
    return found


def _is_late(x: object) -> bool:
    """Whether this is no list yet, and one of the graph if it becomes one."""
    is_pooled = is_in_graph(x) and not is_in_arrays(x)
    return isinstance(x, Keyed) or is_pooled or is_long(x)


def run_over(door: PlainCalls, args: Args) -> list[Any]:
    """What an iterator runs over; it sees changes to a list of the program's."""
    settle_all(args)
    return [door.iterated(door.runnable(of_one_thing(arg))) for arg in args]


def is_counted(x: Any) -> bool:
    x = settled(x)
    if is_list(x):
        return x.is_run_over  # type: ignore[no-any-return]
    if isinstance(x, Traced) and x._is_row:
        return x._counted() is not None
    return type(x) in (Counted, Bounded) or is_long(x) or (is_array(x) and x.ndim == 1)


def is_run_over(x: object) -> bool:
    """Whether this has items that a loop of the graph would run over."""
    return is_counted(x) or (isinstance(x, Traced) and x._counted() is not None)


def _has_unknown_length(x: object) -> bool:
    """Whether a loop of the graph would run over it, whose trip count depends on data."""
    found = counted(settled(x))
    if type(found) is Counted:
        return bool(counted_in(found.count))
    return type(found) is Bounded
