"""Variables that are another list, dict or set after an iteration, or an arm: ``frontier = found``.

See Note [Lists that replace one another].
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import FrameType, FunctionType, ModuleType
from typing import Any

from ..dicts.traced_dicts import Keyed
from ..forms.form import is_of_arrays
from ..forms.items import arrays_in
from ..lists.traced_lists import TracedList
from ..outside.containers import External
from ..regions.needed import StatementDoor
from ..regions.structured import Variables
from ..session.locations import is_users, runs_ours
from ..session.refusing import How, Request, Respecialise
from ..session.session import Session
from ..values.operands import Traced

# Note [Lists that replace one another]
# A list that a variable holds before an iteration, and another list behind it, is gone then if
# nobody else has it; so it is with the arms of a branch. It takes over the items of the new one,
# which nobody else has either, and is what the variable holds in all iterations: what a loop
# carries is arrays, not lists. Who has a list is found by going through all that the program's
# functions can reach. It is the same with dicts and sets of the graph. A list of a known length
# whose places statements assign, or that has arrays in the graph, is given the items one by one;
# Python's lists of arrays are joined item by item if they are as long.

_OPAQUE = (type, ModuleType, External, FrameType, Session)
# The door itself, and what NumPy's Python code has in place of NumPy's modules.
_DOOR = ("fxc.capture.door.", "fxc.capture.numpy_api.")
_MOST_LOOKED_AT = 10_000


def keep_lists(
    door: StatementDoor,
    region: int | None,
    before: Variables,
    after: Variables,
    others: Iterable[object],
) -> Variables:
    """What variables are after an iteration, or an arm of a branch, in whose region this is
    recorded: lists stay what they were ``before``. ``others`` are what the function has that the
    statement does not assign, and that somebody may read. New lists are made in a ``region``, if
    there is one.
    """
    found = dict(after)
    others = [*others, *_outer_variables(), *_stored(door)]
    changed = [name for name, x in after.items() if _is_another(door, before[name], x)]
    for _ in range(len(changed)):  # one may be free when another has taken over what it held
        for name in changed:
            old, x = before[name], found[name]
            held = [*others, *(value for other, value in found.items() if other != name)]
            if old is x or not (region is None or _is_made_in(door, x, region)):
                continue
            if not _reach(held, (old, x)) and _takes_items(door, old, x):
                found[name] = old
    return found


def _is_made_in(door: StatementDoor, x: Any, region: int) -> bool:
    return bool(door.places.home_of(x) == region if type(x) is list else x.is_made_in(region))


def _takes_items(door: StatementDoor, old: Any, x: Any) -> bool:
    """Have a list, a dict or a set hold what another one holds; False if that cannot be had."""
    if not _are_of_arrays(old, x):
        return type(old) is type(x) and bool(old.take_items(x))
    items = x if type(x) is list else x.few_items()
    if items is None:
        return False
    if type(old) is TracedList and (owner := old.awaited_by()) is not None:
        owner.wishes.note(old, items, once=False)
        return True
    places = door.stored(old)
    for place, item in enumerate(tuple(items)):
        places[place] = item
    return True


def _are_of_arrays(old: object, x: object) -> bool:
    """Whether two lists hold arrays, and are as long as Python knows, or as far as it will."""
    if not all(type(each) in (list, TracedList) and _holds_arrays(each) for each in (old, x)):
        return False
    if type(old) is TracedList and old.awaited_by() is not None:
        return True
    length = _length(old)
    return length is not None and length == _length(x)


def _holds_arrays(x: Any) -> bool:
    if type(x) is TracedList and x.of is not list:
        return False
    if type(x) is TracedList and x.form is not None:
        return is_of_arrays(x.form)
    items = x if type(x) is list else x.items
    return any(True for each in items for _ in arrays_in(each))


def _length(x: Any) -> int | None:
    found: int | None = len(x) if type(x) is list else x.length_in_python
    return found


def _is_another(door: StatementDoor, old: object, x: object) -> bool:
    """Whether these are two lists, dicts or sets of the graph, which are asked for if need be."""
    if old is x or not (is_list(old) and is_list(x)):
        return False
    if isinstance(old, Keyed) or isinstance(x, Keyed):
        for each in (old, x):
            if not isinstance(each, Keyed):
                door.dicts.ask(each)
        return type(old) is type(x)
    if _are_of_arrays(old, x):
        return type(old) is TracedList or bool(door.places.is_assigned(old))
    if type(old) is list or type(x) is list:
        _ask_for(door, old, x)
    return type(old) is type(x) is TracedList


def _stored(door: StatementDoor) -> Iterator[Any]:
    """What the program has stored outside."""
    return (effect.value for effect in door.outside.effects.entries)


def is_list(x: object) -> bool:
    """Whether this is a list that the program makes, or a dict or a set."""
    return type(x) in (list, dict, set, TracedList) or isinstance(x, Keyed)


def is_variable(name: str) -> bool:
    """Whether a name is the program's, or that of what a loop of it runs over."""
    return not name.startswith("__fxc") or name.startswith("__fxc_over")


def _ask_for(door: StatementDoor, *lists: object) -> None:
    """Ask for lists of the graph in place of Python's, if there may be some."""
    labels = {door.lists.label_of(x) for x in lists if type(x) is list}
    wanted = {Request(label, How.IN_GRAPH) for label in labels if label is not None}
    if len(wanted) == len(labels) and not wanted <= door.session.requests:
        raise Respecialise(*wanted)


def _outer_variables() -> Iterator[Any]:
    """The variables of the functions of the program that have called the one that is run."""
    frame: FrameType | None = sys._getframe(1)
    inside = False
    while frame is not None and not runs_ours(frame, "_attempt"):
        if is_users(frame):
            if inside:
                yield from (x for name, x in frame.f_locals.items() if is_variable(name))
            inside = True
        frame = frame.f_back


def _reach(roots: Iterable[object], wanted: Sequence[object]) -> bool:
    """Whether something holds one of these, or may do so."""
    todo, seen = list(roots), set[int]()
    while todo:
        x = todo.pop()
        if any(x is each for each in wanted):
            return True
        kind = type(x)  # what stands for names says of any attribute that it is the program's
        if id(x) in seen or not gc.is_tracked(x) or issubclass(kind, _OPAQUE) or _is_door(kind):
            continue
        seen.add(id(x))
        if len(seen) > _MOST_LOOKED_AT:
            return True
        todo += _held_by(x)
    return False


def _is_door(kind: type) -> bool:
    """Whether objects of a class are a part of the door, which no variable of the program shows."""
    return kind.__module__.startswith(_DOOR)


def _held_by(x: Any) -> Iterable[Any]:
    if type(x) is FunctionType:
        given = (x.__defaults__ or (), (x.__kwdefaults__ or {}).values(), x.__closure__ or ())
        return [each for some in given for each in some]
    return x._holds() if issubclass(type(x), Traced) else gc.get_referents(x)
