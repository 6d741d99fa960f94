"""Methods of texts, tuples and containers that are Python's own."""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

from ..dicts.tables import KeyedTable
from ..dicts.unknown_keys import is_unknown_key
from ..lists.texts import joined
from ..lists.traced_lists import plain_list
from ..outside import purity
from ..outside.containers import settle_all
from ..regions.counted import Bounded, Counted
from ..staging.nodes import KEEPERS
from ..statements import choices
from ..statements.comprehensions import list_of_items
from ..statements.for_loops import ForLoop
from ..values.late import is_unknown, late, used_up
from ..values.objects import Args, Kwargs
from ..values.operands import settled
from .new_containers import is_run_over, sorted_of
from .plain_calls import PlainCalls


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
    special = _SPECIAL.get((type(owner), name))
    found = NotImplemented if special is None else special(door, owner, *args, **kwargs)
    if found is not NotImplemented:
        return found
    door.lists.note_change(owner)
    if writes and type(owner) not in purity.PURE_OWNERS:
        door.check_change(owner)
    if name in KEEPERS:
        settle_all(args)
        return f(*(door.iterated(plain_list(arg)) for arg in args), **kwargs)
    return door.made(door.run_plain(f, args, kwargs))


def _has_open_members(door: PlainCalls, owner: object, name: str, args: Args) -> bool:
    """Whether a method gives a dict or a set keys that are not known."""
    if name in ("add", "setdefault") and isinstance(owner, set | dict):
        return any(map(is_unknown_key, args[:1]))
    takes_more = name == "update" and isinstance(owner, set)
    return takes_more and bool(door.session.region or any(map(is_run_over, args)))


# What follows gives NotImplemented where Python's own method does.


def _join(door: PlainCalls, between: str, *args: object, **kwargs: object) -> Any:
    if not between and len(args) == 1:
        items = settled(args[0])
        if type(items) in (Counted, Bounded):
            items = list_of_items(door, items)
        found = joined(items)
        if found is not None:
            return found
    args = used_up(args)
    if is_unknown((args, kwargs)):
        return late(str, str.join, between, *args, **kwargs)
    return door.run_plain(between.join, args, kwargs)


def _format(door: PlainCalls, text: str, *args: object, **kwargs: object) -> Any:
    if is_unknown((args, kwargs)):
        return late(str, str.format, text, *args, **kwargs)
    return NotImplemented


def _searched(name: str) -> Callable[..., Any]:
    def searched(door: PlainCalls, owner: Any, *args: Any, **kwargs: object) -> Any:
        return choices.searched(door, owner, name, *args) if len(args) == 1 else NotImplemented

    return searched


def _get(door: PlainCalls, owner: dict[object, object], *args: object, **kwargs: object) -> Any:
    return NotImplemented if kwargs else KeyedTable(owner).get(*args)


def _sort(door: PlainCalls, owner: list[object], *args: object, **kwargs: object) -> None:
    items = sorted_of(door, owner, *args, **kwargs)
    door.lists.note_change(owner)
    door.check_change(owner)
    owner[:] = items


def _append(door: PlainCalls, owner: list[object], *args: object, **kwargs: object) -> Any:
    """In a loop that is being captured, see Note [Lists that grow]."""
    if not door.session.region or not door.session.statements or len(args) != 1:
        return NotImplemented
    loop = door.session.statements[-1]
    is_taken = isinstance(loop, ForLoop) and loop.takes(owner, args[0])
    return None if is_taken else NotImplemented


def _update(door: PlainCalls, owner: dict[object, object], *args: object, **kwargs: object) -> Any:
    if not door.session.region:
        return NotImplemented
    for key, value in dict(*args, **kwargs).items():
        door.store_item(owner, key, value)
    return None


_SPECIAL: dict[tuple[type, str], Callable[..., Any]] = {
    (str, "join"): _join,
    (str, "format"): _format,
    **{(kind, each): _searched(each) for kind in (list, tuple) for each in ("index", "count")},
    (dict, "get"): _get,
    (dict, "update"): _update,
    (list, "sort"): _sort,
    (list, "append"): _append,
}
