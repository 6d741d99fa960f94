"""Items of containers and of iterators: reads, stores, and containers that the program makes."""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import ARGUMENT_KIND, CHANGE_OUTSIDE
from fxc.ir.later import import_class_later, import_later
from fxc.ir.records import computed_once

from ..outside import purity
from ..outside.containers import External
from ..outside.outside import Outside
from ..session.exceptions import note
from ..session.refusing import refuse
from ..session.session import Session
from ..staging.continuations import note_run
from ..values.objects import INDEX_TRICKS
from ..values.operands import Traced
from ..values.shadows import has_method
from .assigned import Places
from .formats import Formats
from .imported_later import ExternalDict, ExternalList
from .reads import name_of

if TYPE_CHECKING:
    from ..dicts.tables import Table
    from ..lists.byte_strings import ReadBytes
    from ..lists.grown_texts import GrownTexts
    from ..lists.records import Pools
    from ..regions.counted import Bounded
else:
    Table = import_class_later("fxc.capture.dicts.tables", "Table")
    ReadBytes = import_class_later("fxc.capture.lists.byte_strings", "ReadBytes")
    GrownTexts = import_class_later("fxc.capture.lists.grown_texts", "GrownTexts")
    Pools = import_class_later("fxc.capture.lists.records", "Pools")
    Bounded = import_class_later("fxc.capture.regions.counted", "Bounded")

store_by_key = import_later("fxc.capture.dicts.unknown_items", "store_by_key")

_TABLES = (tuple, list, str)
_KEYED = (dict, OrderedDict)
_OWN = (*_KEYED, Counter, defaultdict)

# See Note [Rooms with one door].
keyed = import_later("fxc.capture.dicts.tables", "keyed")
index_trick = import_later("fxc.capture.numpy_api.numpy_source", "IndexTrick")
grown_arrays = import_later("fxc.capture.lists.grown_arrays", "GrownArrays")
is_unknown_key = import_later("fxc.capture.dicts.unknown_keys", "is_unknown_key")
one_key = import_later("fxc.capture.dicts.unknown_keys", "one_key")


class ItemAccess(Formats):
    """Containers in one capture."""

    def __init__(self, session: Session, outside: Outside) -> None:
        super().__init__(session, outside)
        self.places: Places = Places(self)

    @computed_once
    def texts(self) -> GrownTexts:
        """The texts that may grow, of programs that have some."""
        return GrownTexts()

    @computed_once
    def pools(self) -> Pools:
        """The records of programs that have some."""
        return Pools()

    @computed_once
    def arrays(self) -> Any:
        """The arrays that may grow, of programs that have some."""
        return grown_arrays()

    def indexed(self, owner: object) -> Any:
        """``owner`` in ``owner[key]``."""
        if isinstance(owner, INDEX_TRICKS):
            return index_trick(owner)
        if type(owner) in (str, bytes):
            self.outside.note_characters(owner, 1)
        if isinstance(owner, ExternalList) and (grown := owner.as_grown()) is not None:
            owner = grown
        if type(owner) is bytes:
            return ReadBytes(self.outside, owner)
        if type(owner) in _TABLES or isinstance(owner, ExternalList):
            return Table(owner)
        found = self.container(owner)
        return keyed(found)

    def container(self, owner: object) -> Any:
        """``owner`` itself, if its items may be read."""
        if type(owner) is defaultdict and self.session.region:
            return _Items(self, owner)
        if not isinstance(owner, Traced | type) and self._is_closed(owner):
            raise refuse(ARGUMENT_KIND, f"reading items of a {name_of(owner)}", "read them outside")
        return owner

    def _is_closed(self, owner: object) -> bool:
        """Whether this is an object of C from outside, in which code of C would look."""
        known = self.outside.object_of(owner)
        return known is not None and known.is_fixed

    def stored(self, owner: object) -> Any:
        """``owner`` in ``owner[key] = value``."""
        if isinstance(owner, ExternalDict) and owner.kind in _KEYED:
            return _Items(self, owner)
        if not hasattr(type(owner), "__setitem__"):
            return _WithoutStores(self, owner)
        if isinstance(owner, Traced | External) or has_method(owner, "__setitem__"):
            return owner
        if type(owner) is list and self.session.region:
            return _Items(self, owner)
        self.lists.note_change(owner)
        if isinstance(owner, dict) and (self.session.region or type(owner) in _OWN):
            return _Items(self, owner)
        if self.is_foreign(owner):
            raise refuse(
                CHANGE_OUTSIDE,
                f"a store into a {name_of(owner)} from outside of the compiled function",
                "return the new value instead",
            )
        self.check_change(owner)
        return owner

    def augmented(self, owner: object) -> object:
        """``owner`` in ``owner[key] += value``."""
        found = self.stored(owner)
        return found if isinstance(found, Traced) else _Augmented(self, found)

    def store_item(self, owner: Any, key: object, value: object) -> None:
        """``owner[key] = value`` of a dict or a list that the program has made."""
        self.places.check_apart(owner)
        key = one_key(key) if isinstance(owner, dict) else key
        if isinstance(owner, dict) and is_unknown_key(key):
            if isinstance(owner, ExternalDict):
                owner.settle()
            self.dicts.ask(owner)
            if store_by_key(owner, key, value, partial(self.store_item, owner)):
                return
        if isinstance(owner, ExternalDict):
            owner[key] = value
            return
        if type(owner) is list:
            key = key + len(owner) if type(key) is int and key < 0 else key
            if not (type(key) is int and self.places.takes_item(owner, key)):
                self.lists.note_change(owner)
                self.check_change(owner)
        elif not self.places.takes_item(owner, key):
            self.check_change(owner)
        owner[key] = value

    def check_change(self, owner: object, *, goes_on: bool = False) -> None:
        """Refuse changes to Python objects in regions, but for objects that were made there. Of a
        list that is to be one of the graph the attempt may go on, see ``Places.goes_on``.
        """
        self.places.check_apart(owner)
        if (self.places.home_of(owner) or 0) != self.session.region:
            if isinstance(owner, dict | set) and not isinstance(owner, Traced):
                self.dicts.ask(owner)
            wanted = self.lists.to_change(owner) if goes_on else None
            if wanted is not None and self.places.goes_on(wanted):
                return
            self.outside.effects.check_allowed(name_of(owner))

    def iterable(self, x: object) -> Any:
        """``x`` in ``for _ in x``, which takes the items of an iterator away."""
        if isinstance(x, (Traced, External, Bounded, type)):
            return x
        if type(x) is GeneratorType:
            note_run(self.session, x)
        if has_method(x, "__iter__"):
            found = self.special(x, "__iter__")
            if not (isinstance(found, (Traced, Bounded)) or hasattr(type(found), "__next__")):
                raise TypeError(f"iter() returned non-iterator of type {name_of(found)!r}")
            return self.iterated(found)
        return self.iterated(x)

    def iterated(self, x: object) -> object:
        """``x``, over which code of C may iterate."""
        if isinstance(x, (Traced, External, Bounded, type)):
            return x
        if hasattr(type(x), "__next__"):
            self.check_change(x)
        if self._is_closed(x) and not callable(x):
            raise refuse(
                ARGUMENT_KIND,
                f"iterating over a {name_of(x)} from outside of the compiled function",
                "make it a list or a tuple",
            )
        return x

    def changing(self, x: object) -> None:
        """``x`` in ``x += …``, which changes a list, a set or a dict."""
        if isinstance(x, (*purity.OWN_CONTAINERS, bytearray)) and not isinstance(x, Traced):
            self.lists.note_change(x)
            if isinstance(x, set) and self.session.region:
                self.dicts.ask(x)
            self.check_change(x)

    def to_change(self, x: object) -> object:
        """``x``, which an augmented assignment reads; what is from outside sees to itself."""
        if not isinstance(x, External):
            self.changing(x)
        return x

    def made(self, x: object) -> Any:
        """An iterator, a dict or a set that the program makes here."""
        x = self.dicts.made(x)
        if not isinstance(x, Traced) and (isinstance(x, dict) or hasattr(type(x), "__next__")):
            self.places.note_made(x)
        return self.pools.taken(x) if type(x) is dict else x

    def set_of(self, *items: object) -> object:
        """``{a, b}``."""
        known = self.dicts.are_known(items)
        made = self.made(set(items) if known else set())
        if not known:
            self.dicts.ask(made)  # no more, where it is one of the graph
            for x in items:
                made.add(x)
        return made

    def dict_of(self, *parts: object) -> object:
        """``{key: value, …}``, with a key and its value after the other."""
        keys, values = parts[::2], parts[1::2]
        known = self.dicts.are_known(keys)
        made = self.made(dict(zip(keys, values, strict=True)) if known else {})
        if not known:
            self.dicts.ask(made)  # no more, where it is one of the graph
            for key, value in zip(keys, values, strict=True):
                made[key] = value
        return made

    def item_list(self, x: object, place: str) -> object:
        """A list that the program makes as the item of another one, or of a dict."""
        made = self.held_list(x, place)
        if type(made) is list:
            self.places.note_item_list(made)
        return made

    def new_item(self, owner: object, x: object, how: str, place: str) -> object:
        """What the program makes of ``owner`` for a list or a dict: a new list if that is one."""
        if owner.__class__ is not list or x.__class__ is not list:
            return x
        return self.item_list(x, place) if how == "item_list" else self.held_list(x, place)

    def held_list(self, x: object, place: str) -> object:
        """A list that the program makes, and that others may hold besides."""
        return self.lists.pooled(x, place)


class _Items:
    """Stands for a dict or list that the program has made in ``owner[key]`` and stores to it."""

    def __init__(self, door: ItemAccess, owner: Any) -> None:
        self._door = door
        self._owner = owner

    def __getitem__(self, key: object) -> Any:
        if type(self._owner) is list and type(key) is not int:
            self._door.lists.note_change(self._owner)
        if is_unknown_key(key):
            self._door.dicts.ask(self._owner)
        if type(self._owner) is defaultdict and key not in self._owner:
            self._door.check_change(self._owner)
        return keyed(self._owner)[key]

    def __setitem__(self, key: object, value: object) -> None:
        self._door.store_item(self._owner, key, value)

    def __delitem__(self, key: Any) -> None:
        if is_unknown_key(key):
            self._door.dicts.ask(self._owner)
        self._door.lists.note_change(self._owner)
        self._door.check_change(self._owner)
        del self._owner[key]


class _Augmented:
    """Stands for what holds the list, the set or the dict that an augmented assignment changes."""

    def __init__(self, door: ItemAccess, owner: Any) -> None:
        self._door = door
        self._owner = owner

    def __getitem__(self, key: object) -> Any:
        return self._door.to_change(self._owner[key])

    def __setitem__(self, key: object, value: object) -> None:
        self._owner[key] = value


class _WithoutStores:
    """Stands for what has no items to store, as numbers and tuples, in ``x[key] = value``, and in
    ``del x[key]``.
    """

    def __init__(self, door: ItemAccess, owner: Any) -> None:
        self._door = door
        self._owner = owner

    def __getitem__(self, key: object) -> Any:
        return self._owner[key]

    def __setitem__(self, key: object, value: object) -> None:
        raise self._error("assignment", operator.setitem, key, None)  # whatever is stored

    def __delitem__(self, key: object) -> None:
        if not hasattr(type(self._owner), "__delitem__"):
            raise self._error("deletion", operator.delitem, key)
        self._door.check_change(self._owner)
        del self._owner[key]

    def _error(self, what: str, change: Callable[..., None], *args: object) -> Any:
        owner = self._owner
        if isinstance(owner, Traced | External):
            error = TypeError(f"{name_of(owner)!r} object does not support item {what}")
            note(error, change, (owner, *(None for _ in args)), {})
            return error
        try:
            return change(owner, *args)
        except Exception as error:
            return self._door.raising(error)
