"""Stores and other uses of objects in a staged function, see Note [Effects]."""

from __future__ import annotations

import dataclasses
import importlib.util
import operator
import os
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from functools import partial
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.errors import FxcError
from fxc.ir.tree import children_of, registration

from ..bugs import check_no_bug
from ..guards import Source
from ..locations import OURS, Ignoring
from ..outside.containers import External, Held, is_number, settle_all
from ..outside.dicts import ExternalDict
from ..outside.lists import ExternalList
from ..outside.namespaces import Namespace
from ..outside.objects import (
    INDEX_TRICKS,
    MISSING,
    class_attribute,
    has_c_method,
    has_setter,
    is_data_descriptor,
    is_dict_class,
    is_frozen,
    is_python_class,
    is_slot,
    put_attribute,
    sets_by_python,
    slot_names,
    slots_of,
    vars_of,
)
from ..outside.outside import Known, Outside
from ..outside.shadows import class_of, has_method
from ..session import Session, label_of, refuse
from ..statements.choices import negated
from ..statements.counted import Bounded
from ..statements.differing import Differing
from ..statements.structured import UNBOUND, array_of, is_same
from ..values.grown_texts import GrownTexts
from ..values.late import formatted, late
from ..values.made_lists import MadeLists
from ..values.maybe_set import MaybeSet, check_sure, given
from ..values.mixed import Mixed
from ..values.operands import Traced, has_traced, settled
from ..values.records import Pools, Record
from ..values.several import Several
from ..values.tables import KeyedTable, Table
from ..values.texts import UnknownText, refused
from ..values.traced_array import TracedArray
from ..values.traced_dicts import MadeDicts
from ..values.traced_int import TracedInt, known_ints
from ..values.traced_scalar import TracedScalar
from ..values.unknown_items import OneOfItems, store_by_key
from ..values.unknown_keys import is_unknown_key
from . import purity
from .failures import is_confirmed
from .numpy_source import IndexTrick
from .ordering import compared, equal_fields, in_order_by, is_same_item
from .places import Attribute, Enclosing, Global, Places
from .reads import DELETED, Reads, name_of, no_attribute

_TABLES = (tuple, list, str, ExternalList)
_KEYED = (dict, OrderedDict)
_ONE_OBJECT = range(-5, 257)  # the ints of which CPython has one object each


class Stores(Reads):
    """What one capture stores, and what else it does with objects."""

    def __init__(self, session: Session, outside: Outside) -> None:
        super().__init__(session, outside)
        self.raised: list[Any] = []  # what the program has raised itself
        self.lists = MadeLists(session)
        self.dicts = MadeDicts()
        self.texts = GrownTexts()
        self.pools = Pools()
        self.places = Places(self)

    # -------------------------------------------------------- names

    def store_global(self, space: dict[str, Any], name: str, value: Any, text: str = "") -> None:
        """``global name; name = value``."""
        module = str(space.get("__name__"))
        place = Global(self, space, name, self.places.outer_text(name, module, space))
        if self.places.takes(place):
            self.see_global(space, name, value)
            return
        self._store_name(space, name, value)
        owner = Source(self.outside.guards.constant(space, "globals"), text or name)
        self.outside.effects.store(owner, "setitem", name, value)

    def delete_global(self, space: dict[str, Any], name: str) -> None:
        """``global name; del name``."""
        root = self.outside.guards.constant(space, "globals")
        known = (id(space), name) in self._names
        if self._names.get((id(space), name), space.get(name, DELETED)) is DELETED:
            raise NameError(f"name {name!r} is not defined", name=name)
        if not known:
            self.outside.guards.check(f"{name!r} in {root}", f"{name} is a global")
        self._store_name(space, name, DELETED)
        self.outside.effects.add(Source(root, name), "delitem", name)

    def _store_name(self, space: dict[str, Any], name: str, value: Any) -> None:
        self.outside.effects.check_allowed("global")
        self.outside.stored(name)
        self._names[id(space), name] = value

    def store_cell(self, function: FunctionType, name: str, value: Any) -> None:
        """``nonlocal name; name = value``."""
        self.store_in_cell(self._cell(function, name), name, value)

    def store_in_cell(self, cell: CellType, name: str, value: Any) -> None:
        """Assign a variable of a function around one from outside."""
        place = Enclosing(self, cell, self.places.outer_text(name, "an enclosing function", cell))
        if self.places.takes(place):
            self.see_cell(cell, value)
            return
        self.outside.effects.check_allowed("variable of an enclosing function")
        self.outside.stored(name)
        self.see_cell(cell, value)
        owner = Source(self.outside.guards.constant(cell, "cell"), name)
        self.outside.effects.store(owner, "setattr", "cell_contents", value)

    def rebinding(self, variables: Any) -> None:
        """At the begin of a function that rebinds variables, which ``variables`` reads."""
        self.places.rebinding(variables.__closure__)

    def sharing(self, function: str, variables: Any) -> None:
        """At the begin of a function of which inner functions rebind these variables."""
        names = variables.__code__.co_freevars
        self.places.note_variables(function, variables.__closure__, names)

    # -------------------------------------------------------- attributes

    def check_not_replaced(self, owner: Any) -> None:
        self.places.check_not_replaced(owner)

    def owned(self, owner: Any) -> Any:
        """``owner`` in ``owner.name = value``."""
        owner = owner.record() if type(owner) is Several else owner
        plain = isinstance(owner, Traced) and type(owner) is not Record
        return owner if plain else _Storing(self, owner)

    def store_attr(self, owner: Any, name: str, value: Any) -> None:
        """``owner.name = value``."""
        if type(owner) is Record:
            owner.store(self, name, value)
            return
        if isinstance(owner, Traced):
            setattr(owner, name, value)
            return
        text = f"an assignment to .{name} of a {name_of(owner)}"
        if isinstance(owner, ModuleType):
            self._store_in_module(owner, name, value)
            return
        if isinstance(owner, External):
            raise no_attribute(owner.original, name)
        known = self.outside.shown.get(id(owner))
        foreign = known is not None and known.is_object
        if name == "__dict__" and value is owner and is_dict_class(class_of(owner)) and not foreign:
            self.check_change(owner)
            owner.__dict__ = owner  # the items are the attributes
            return
        if isinstance(owner, type) or name in _OF_PYTHON or (foreign and name.startswith("__")):
            raise refuse(f"{text} cannot be captured; return the new value instead")
        kind = class_of(owner)
        if sets_by_python(kind):
            self.special(owner, "__setattr__", name, value)
            return
        if is_frozen(kind, name):
            self.guard_class_attribute(kind, "__setattr__", class_attribute(kind, "__setattr__"))
            text = f"cannot assign to field {name!r}"
            raise self.raising(dataclasses.FrozenInstanceError(text))
        self.store_plain_attr(owner, name, value)

    def store_plain_attr(self, owner: Any, name: str, value: Any) -> None:
        """``object.__setattr__(owner, name, value)``."""
        self.places.check_apart(owner)
        known = self.outside.shown.get(id(owner))
        text = f"an assignment to .{name} of a {name_of(owner)}"
        foreign = known is not None and known.is_object
        kind = class_of(owner)
        found = class_attribute(kind, name)
        if isinstance(found, property) and found.fset is not None:
            self.guard_class_attribute(kind, name, found)
            self.call(found.fset, owner, value)
            return
        if isinstance(class_attribute(type(found), "__set__"), FunctionType):
            self.guard_class_attribute(kind, name, found)
            root = self.outside.guards.constant(found)
            descriptor = self.read(found, root, f"{kind.__name__}.{name}")
            self.special(descriptor, "__set__", owner, value)
            return
        if not foreign:
            if not self.places.takes(Attribute(self, owner, name)):
                self.check_change(owner)
                if self._is_unsure(owner, name) and self.names_behind(owner, name):
                    raise refuse(
                        f"{text}, which is there by a condition and would come up before others or "
                        "behind them, cannot be captured; give it a value before"
                    )
            if is_data_descriptor(found) and not is_slot(found):
                raise refuse(f"{text}, which a {type(found).__name__} watches, cannot be captured")
            put_attribute(owner, name, value)
            return
        assert known is not None
        watched = is_data_descriptor(found) and not is_slot(found)
        if watched or not (has_setter(kind) or has_c_method(kind, "__setattr__")):
            raise refuse(
                f"{text} from outside of the compiled function, whose class watches assignments, "
                "cannot be captured; return the new value instead"
            )
        self._store_in_object(owner, name, value, known, found)

    def _store_in_object(self, owner: Any, name: str, value: Any, known: Known, found: Any) -> None:
        held = vars_of(known.object)
        if not is_slot(found) and not hasattr(known.object, "__dict__"):
            raise no_attribute(known.object, name)
        if self.places.takes(Attribute(self, owner, name)):
            self.see_attribute(owner, name, value)
            return
        self.outside.effects.check_allowed(name_of(owner))
        before = self._attributes.get((id(owner), name), MISSING)
        if value is before and not is_number(value):
            if is_slot(found):
                return
            if name in held:  # the end of ``self.u += du``; that it is there already is guarded
                self._check_own(known, name)
                return
        self.outside.stored(label_of(f"{known.source.text}.{name}"))
        self._note_order(owner, name)
        self.see_attribute(owner, name, value)
        action = "put" if has_setter(class_of(owner)) else "setattr"
        self.outside.effects.store(known.source, action, name, value)

    def namespace(self, owner: Any, known: Known) -> Any:
        """``owner.__dict__`` of an object from outside."""
        real, source = vars(known.object), known.source
        found = self.outside.known.get(id(real))
        if found is None:
            text = f"{source.text}.__dict__"
            fetched = self.outside.guards.fetch(f"{source.var}.__dict__", text)
            held = Held(self.outside, real, fetched, label_of(text), False)
            found = Known(real, Namespace(held, self, owner, known), fetched, False)
            self.outside.remember(found)
        if type(found.seen) is not Namespace:
            raise refuse(f"{source.text}.__dict__, which is an argument, too, cannot be captured")
        return found.seen

    def own_item(self, owner: Any, name: str, known: Known) -> Any:
        """An attribute that an object from outside has of its own; MISSING for none."""
        here = self._present.get((id(owner), name))
        if here is not None:
            return MISSING if here is False else given(self._attributes[id(owner), name])
        held = vars_of(known.object)
        if name in held:
            self._check_own(known, name)
            return self._plain_attr(owner, name, known.source, held[name])
        condition = f"{name!r} not in {known.source.var}.__dict__"
        self.outside.guards.check(condition, f"{known.source.text} has no {name} of its own")
        return MISSING

    def store_own_item(self, owner: Any, name: str, value: Any, known: Known) -> None:
        """``owner.__dict__[name] = value`` of an object from outside."""
        self._store_in_object(owner, name, value, known, MISSING)

    def presence(self, owner: Any, name: str) -> Any:
        """Whether an object has an attribute of its own, as the program sees it: a bool, or one
        that is known at run time.
        """
        known = self.outside.shown.get(id(owner))
        if known is None:
            found = vars_of(owner).get(name, MISSING)
            found = slots_of(owner).get(name, MISSING) if found is MISSING else found
            return found.flag if type(found) is MaybeSet else found is not MISSING
        if (id(owner), name) in self._present:
            return self._present[id(owner), name]
        of_class = class_attribute(class_of(owner), name)
        if is_slot(of_class):
            return hasattr(known.object, name)
        if name in vars_of(known.object) and of_class is not MISSING:
            self._check_own(known, name)
        return name in vars_of(known.object)

    def _check_own(self, known: Known, name: str) -> None:
        condition = f"{name!r} in {known.source.var}.__dict__"
        self.outside.guards.check(condition, f"{known.source.text} has a {name} of its own")

    def may_be_given(self, owner: Any, name: str) -> bool:
        """Whether an object may be given an attribute that it has not, and nobody watches."""
        kind = class_of(owner)
        found = class_attribute(kind, name)
        watched = is_data_descriptor(found) and not is_slot(found)
        computed = any(
            class_attribute(kind, each) is not vars(object).get(each, MISSING)
            for each in ("__getattr__", "__getattribute__", "__setattr__", "__delattr__")
        )
        known = self.outside.shown.get(id(owner))
        has_room = is_slot(found) or hasattr(owner if known is None else known.object, "__dict__")
        deleted = self._attributes.get((id(owner), name)) is DELETED
        seen = deleted or id(owner) in self._opened
        return has_room and not (watched or computed or seen) and is_python_class(kind)

    def maybe_set(self, flag: Any, owner: Any, name: str, value: Any) -> MaybeSet:
        """What an attribute holds if the flag holds."""
        found = class_attribute(class_of(owner), name)
        return MaybeSet(flag, value, by_class=found is not MISSING and not is_slot(found))

    def given_if(self, owner: Any, name: Any) -> Any:
        """By which condition an object has an attribute, if it is one; else None."""
        seen = self._seen(owner, name)
        return seen.flag if type(seen) is MaybeSet and not seen.by_class else None

    def _seen(self, owner: Any, name: Any) -> Any:
        """What the program has stored in an attribute, or MISSING."""
        seen = self._attributes.get((id(owner), name), MISSING)
        return vars_of(owner).get(name, MISSING) if seen is MISSING else seen

    def _is_unsure(self, owner: Any, name: str) -> bool:
        return type(self._seen(owner, name)) is MaybeSet

    def names_behind(self, owner: Any, name: str) -> list[str]:
        """The names of the attributes of an object that stand behind one."""
        names = list(vars_of(owner))
        return names[names.index(name) + 1 :] if name in names else []

    def held_attribute(self, owner: Any, name: str) -> Any:
        """What an attribute holds, or the class has of that name; UNBOUND for nothing."""
        seen = self._seen(owner, name)
        if type(seen) is MaybeSet:
            return seen.value
        if seen is not MISSING and seen is not DELETED:
            return seen
        try:
            return self.attr(owner, name)
        except AttributeError:
            return UNBOUND

    def store_attribute_if(self, flag: Any, owner: Any, name: str, value: Any) -> None:
        """``owner.name = value`` of an object from outside, if the flag holds."""
        known = self.outside.shown[id(owner)]
        self.outside.stored(label_of(f"{known.source.text}.{name}"))
        self._note_order(owner, name)
        self.see_attribute(owner, name, value, flag)
        self.outside.effects.store(known.source, "setattr", name, value, flag)

    def held_by(self, owner: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """What an object holds in its namespace, and in slots, as the program sees it."""
        known = self.outside.shown.get(id(owner))
        if known is None:
            check_sure(vars_of(owner).values())
            check_sure(slots_of(owner).values())
            return dict(vars_of(owner)), slots_of(owner)
        real, source = known.object, known.source
        if id(owner) in self._unordered:
            raise refuse(
                f"the attributes of a {name_of(owner)}, which come up in an order that depends on "
                "conditions, cannot be captured; give them values before"
            )
        held = list(vars_of(real))
        if hasattr(real, "__dict__"):
            names = self.outside.guards.same_keys(f"{source.var}.__dict__", tuple(held))
            self.outside.guards.check(names, f"{source.text} has the same attributes")
        for effect in self.outside.effects.entries:
            if effect.owner.var == source.var and effect.action in ("setattr", "put"):
                held += [effect.key] if effect.key not in held else []  # type: ignore[list-item]
            elif effect.owner.var == source.var and effect.action == "delattr":
                raise refuse(f"a copy of a {name_of(owner)} after 'del' cannot be captured")
        slots = dict.fromkeys(slot_names(type(real)))
        found: dict[str, Any] = {}
        for name in (*held, *slots):
            seen = self._attributes.get((id(owner), name), MISSING)
            if seen is MISSING and name in vars_of(real):
                seen = self._plain_attr(owner, name, source, vars_of(real)[name])
            elif seen is MISSING:
                try:
                    seen = self.attr(owner, name)
                except AttributeError:
                    continue
            found[name] = seen
        check_sure(found.values())
        plain = {name: value for name, value in found.items() if name not in slots}
        return plain, {name: value for name, value in found.items() if name in slots}

    def _note_order(self, owner: Any, name: str) -> None:
        """Note an object from outside whose attributes come up in an order that is not known."""
        if self._is_unsure(owner, name):
            self._unordered.add(id(owner))

    def see_attribute(self, owner: Any, name: str, value: Any, flag: Any = True) -> None:
        """Let the program see an attribute of an object from outside, and nobody else. It is there
        if the flag holds.
        """
        key = id(owner), name
        self._present[key] = flag
        if flag is False:
            self._attributes.pop(key, None)
        else:
            maybe = type(flag) is not bool
            self._attributes[key] = self.maybe_set(flag, owner, name, value) if maybe else value

    def _store_in_module(self, module: ModuleType, name: str, value: Any) -> None:
        if module.__name__.partition(".")[0] in purity.TRUSTED_MODULES:
            raise refuse(f"an assignment to {module.__name__}.{name} cannot be captured")
        self.outside.stored(label_of(f"{module.__name__}.{name}"))
        self.store_global(vars(module), name, value, module.__name__)

    def delete_attr(self, owner: Any, name: str) -> None:
        """``del owner.name``."""
        if type(owner) is Record:
            raise owner.refused("del")
        self.places.check_apart(owner)
        seen = self._seen(owner, name)
        if type(seen) is MaybeSet and seen.by_class:
            raise seen.unclear()
        known = self.outside.shown.get(id(owner))
        if known is None and not isinstance(owner, type | ModuleType | External):
            self.check_change(owner)
            given(vars_of(owner).get(name))
            delattr(owner, name)
            return
        plain = has_c_method(class_of(owner), "__delattr__")
        found = class_attribute(class_of(owner), name)
        watched = is_data_descriptor(found) and not is_slot(found)
        if known is None or not known.is_object or not plain or watched:
            raise refuse(f"'del' of .{name} of a {name_of(owner)} from outside cannot be captured")
        self.outside.effects.check_allowed(name_of(owner))
        own = name in vars_of(known.object) or is_slot(found)
        if not own and (id(owner), name) not in self._attributes:
            raise no_attribute(known.object, name)
        self.attr(owner, name)  # guards that it is there
        self._attributes[id(owner), name] = DELETED
        self._present[id(owner), name] = False
        self.outside.effects.add(known.source, "delattr", name)

    # -------------------------------------------------------- items, iteration, identity

    def is_foreign(self, owner: Any) -> bool:
        """Whether this stands for an object from outside, or is one."""
        known = self.outside.shown.get(id(owner))
        return known is not None and known.is_object

    def indexed(self, owner: Any) -> Any:
        """``owner`` in ``owner[key]``."""
        if isinstance(owner, INDEX_TRICKS):
            return IndexTrick(owner)
        if type(owner) in _TABLES:
            return Table(owner)
        found = self.container(owner)
        return KeyedTable.of(found)

    def container(self, owner: Any) -> Any:
        """``owner`` itself, if its items may be read."""
        if type(owner) is defaultdict and self.session.region:
            return _Items(self, owner)
        if not isinstance(owner, Traced | type) and self._is_closed(owner):
            raise refuse(
                f"reading items of a {name_of(owner)} cannot be captured; read them outside"
            )
        return owner

    def _is_closed(self, owner: Any) -> bool:
        """Whether this is an object of C from outside, in which code of C would look."""
        known = self.outside.shown.get(id(owner))
        return known is not None and known.is_object and known.is_fixed

    def stored(self, owner: Any) -> Any:
        """``owner`` in ``owner[key] = value``."""
        if isinstance(owner, ExternalDict) and owner.kind in _KEYED:
            return _Items(self, owner)
        if isinstance(owner, Traced | External) or has_method(owner, "__setitem__"):
            return owner
        if type(owner) is list and self.session.region:
            return _Items(self, owner)
        self.lists.note_change(owner)
        if isinstance(owner, dict) and (self.session.region or type(owner) in _KEYED):
            return _Items(self, owner)
        if self.is_foreign(owner):
            raise refuse(
                f"a store into a {name_of(owner)} from outside of the compiled function "
                "cannot be captured; return the new value instead"
            )
        self.check_change(owner)
        return owner

    def store_item(self, owner: Any, key: Any, value: Any) -> None:
        """``owner[key] = value`` of a dict or a list that the program has made."""
        self.places.check_apart(owner)
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

    def check_change(self, owner: Any) -> None:
        """Refuse changes to Python objects in regions, but for objects that were made there."""
        self.places.check_apart(owner)
        if (self.places.home_of(owner) or 0) != self.session.region:
            if isinstance(owner, dict) and not isinstance(owner, Traced):
                self.dicts.ask(owner)
            self.outside.effects.check_allowed(name_of(owner))

    def iterable(self, x: Any) -> Any:
        """``x`` in ``for _ in x``, which takes the items of an iterator away."""
        if isinstance(x, Traced | External | Bounded | type):
            return x
        if has_method(x, "__iter__"):
            found = self.special(x, "__iter__")
            if not (isinstance(found, Traced | Bounded) or hasattr(type(found), "__next__")):
                raise TypeError(f"iter() returned non-iterator of type {name_of(found)!r}")
            return self.iterated(found)
        return self.iterated(x)

    def iterated(self, x: Any) -> Any:
        """``x``, over which code of C may iterate."""
        if isinstance(x, Traced | External | Bounded | type):
            return x
        if hasattr(type(x), "__next__"):
            self.check_change(x)
        if self._is_closed(x) and not callable(x):
            raise refuse(
                f"iterating over a {name_of(x)} from outside of the compiled function "
                "cannot be captured; make it a list or a tuple"
            )
        return x

    def changing(self, x: Any) -> None:
        """``x`` in ``x += …``, which changes a list, a set or a dict."""
        if isinstance(x, (*purity.OWN_CONTAINERS, bytearray)) and not isinstance(x, Traced):
            self.lists.note_change(x)
            if isinstance(x, set) and self.session.region:
                self.dicts.ask(x)
            self.check_change(x)

    def made(self, x: Any) -> Any:
        """An iterator, a dict or a set that the program makes here."""
        x = self.dicts.made(x)
        if not isinstance(x, Traced) and (isinstance(x, dict) or hasattr(type(x), "__next__")):
            self.places.note_made(x)
        return self.pools.taken(x) if type(x) is dict else x

    def set_of(self, *items: Any) -> Any:
        """``{a, b}``."""
        known = all(not is_unknown_key(x) for x in items)
        made = self.made(set(items) if known else set())
        if not known:
            self.dicts.ask(made)  # no more, where it is one of the graph
            for x in items:
                made.add(x)
        return made

    def item_list(self, x: Any, place: str) -> Any:
        """A list that the program makes as the item of another one, or of a dict."""
        made = self.held_list(x, place)
        if type(made) is list:
            self.places.note_item_list(made)
        return made

    def new_item(self, owner: Any, x: Any, how: str, place: str) -> Any:
        """What the program makes of ``owner`` for a list or a dict: a new list if that is one."""
        if owner.__class__ is not list or x.__class__ is not list:
            return x
        return self.item_list(x, place) if how == "item_list" else self.held_list(x, place)

    def held_list(self, x: Any, place: str) -> Any:
        """A list that the program makes, and that others may hold besides."""
        return self.lists.pooled(x, place)

    def same(self, a: Any, b: Any) -> Any:
        """``a is b``; what is two objects now may be one in another call."""
        if type(a) is Differing or type(b) is Differing:
            return a.is_(b) if type(a) is Differing else b.is_(a)
        if b is None:
            return a.is_(None) if type(a) is Several else a is None
        if isinstance(a, Traced) and isinstance(b, Traced) and a._in_pool and b._in_pool:
            return a.is_(b)  # type: ignore[attr-defined]
        for one, other in ((a, b), (b, a)):
            if type(one) is Several and one.may_be_record:
                return one.is_one(other)
        if type(a) is Several or type(b) is Several:
            raise refuse("'is' of one of several things cannot be captured; use ==")
        if isinstance(a, bool) and isinstance(b, bool):
            return bool(a) is bool(b)
        if TracedInt in (type(a), type(b)) and a is not b:
            left, right = known_ints((a, b))
            if type(left) is not type(right) or left != right:
                return False
            if left not in _ONE_OBJECT:
                raise refuse("'is' of two equal ints cannot be captured; use ==")
            return True
        if a is b or (isinstance(a, TracedArray) and is_same(a, b)):
            return True
        if isinstance(a, UnknownText) or isinstance(b, UnknownText):
            raise refused("'is'")
        if self.outside.real(a) is self.outside.real(b):
            return True  # NumPy's code, say, has the object itself
        if isinstance(a, TracedArray) and isinstance(b, TracedArray):
            self.session.aliases.check_distinct(a._value, b._value)
        kinds = {type(a), type(b)}
        if OneOfItems in kinds:
            for x in (a, b):
                self.lists.ask_pool(*(x._holds() if type(x) is OneOfItems else (x,)))
            raise refuse("'is' of one of several objects cannot be captured; compare the places")
        if Mixed in kinds or (TracedScalar in kinds and a.__class__ is b.__class__):
            raise refuse("'is' of two numbers that are not known cannot be captured; use ==")
        are_tuples = isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)
        are_made = any(self.outside.real(x) is x for x in (a, b))
        if are_tuples and are_made and has_traced((a, b)):
            # Lists of counted length and loops hold what is in a tuple, not the tuple: so do parts.
            error = refuse("'is' of two tuples of numbers that are not known cannot be captured")
            error.is_of_whole = True
            raise error
        self.places.check_apart(a, b)
        self.outside.guard_distinct(a, b)
        return False

    def equal(self, a: Any, b: Any) -> Any:
        """``a == b``; the ``__eq__`` of a class of the user's goes through the door."""
        if not (self._has_own_equality(a) or self._has_own_equality(b)):
            return compared(self, "eq", a, b)
        found = class_attribute(class_of(a), "__eq__")
        if not isinstance(found, FunctionType):
            raise refuse(f"a comparison with a {name_of(b)} cannot be captured")
        self.guard_class_attribute(class_of(a), "__eq__", found)
        if type(a) is not type(b):
            raise refuse(f"a comparison with a {name_of(b)} cannot be captured")
        names = [field.name for field in dataclasses.fields(a) if field.compare]
        if a is b:
            return True
        self.outside.guard_distinct(a, b)
        left, right = (tuple(self.attr(x, name) for name in names) for x in (a, b))
        return equal_fields(self, left, right)

    def unequal(self, a: Any, b: Any) -> Any:
        """``a != b``."""
        own = self._has_own_equality(a) or self._has_own_equality(b)
        is_asked = has_method(a, "__eq__") and not has_method(a, "__ne__")
        if is_asked and (not has_method(b, "__eq__") or type(a) is type(b)):  # else b may go first
            found = self.special(a, "__eq__", b)
            if found is not NotImplemented:
                return negated(self, found)
        if not own or has_method(a, "__ne__"):
            return compared(self, "ne", a, b)
        return negated(self, self.equal(a, b))

    def is_same_item(self, x: Any, y: Any) -> Any:
        """Whether two items of containers are equal, or one object."""
        return is_same_item(self, x, y)

    def in_order_by(self, kind: type) -> Callable[[Any], Any]:
        """The key by which ``sorted`` orders objects of a class."""
        return in_order_by(self, kind)

    def _has_own_equality(self, x: Any) -> bool:
        """Whether a dataclass has written the ``__eq__`` of an object: it reads the fields."""
        if isinstance(x, Traced | External | type) or has_method(x, "__eq__"):
            return False
        found = class_attribute(class_of(x), "__eq__")
        watched = self.outside.is_stand_in(x) and found is not vars(object)["__eq__"]
        return watched or (isinstance(found, FunctionType) and dataclasses.is_dataclass(x))

    def text(self, *parts: Any) -> Any:
        """An f-string of texts and of parts, each a value, a conversion and a format."""
        self.check_text(tuple(part[0] for part in parts if type(part) is tuple))
        return late(str, formatted, *map(self._formatted, parts))

    def _formatted(self, part: Any) -> Any:
        if type(part) is str:
            return part
        value, conversion, spec = part
        if conversion == -1 and has_method(value, "__format__"):
            return self.special(value, "__format__", spec), -1, ""
        made = self.as_text(value, "__str__" if conversion in (-1, ord("s")) else "__repr__")
        return made, conversion if made is value else -1, spec

    def as_text(self, x: Any, name: str = "__str__") -> Any:
        """``x``, or the text of an object whose class makes it in Python."""
        for each in (name, "__repr__"):
            if has_method(x, each):
                return self.special(x, each)
        return x

    def percent(self, text: Any, given: Any) -> Any:
        """``text % given`` of a text that stands in the program."""
        self.check_text((given,))
        return late(str, operator.mod, text, given)

    def check_text(self, parts: Any) -> None:
        """Refuse objects whose text is where they lie in memory, or code that we do not see."""
        if isinstance(parts, dict):
            parts = (*parts, *parts.values())
        for x in parts:
            if isinstance(x, Traced | External):
                continue
            if any(has_method(x, name) for name in ("__repr__", "__str__", "__format__")):
                continue
            if self.outside.is_stand_in(x):
                raise refuse(f"the text of a {name_of(x)} from outside cannot be captured")
            if isinstance(x, tuple | list | dict | set | frozenset):
                self.check_text(x)
            elif not isinstance(x, type) and type(x).__module__ != "builtins":
                if isinstance(x, Exception) and type(x).__module__.partition(".")[0] == "numpy":
                    continue
                texts = [class_attribute(class_of(x), name) for name in ("__repr__", "__str__")]
                if texts[0] is object.__repr__ or any(isinstance(t, FunctionType) for t in texts):
                    raise refuse(f"the text of a {name_of(x)} cannot be captured")

    def parts_of(self, tree: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
        """Keys and children of a container of a pytree, read by the door; None for a leaf."""
        kind = class_of(tree)
        registered = registration(kind)
        if registered is not None:
            children, rest = self.call(registered[0], tree)[:2]
            return (rest,), list(children)
        if not dataclasses.is_dataclass(kind):
            return children_of(tree)
        names = tuple(field.name for field in dataclasses.fields(kind))
        return names, [self.attr(tree, name) for name in names]

    def settled(self, x: Any) -> Any:
        """``x``, which code of C is about to look into."""
        settle_all((x,))
        return x

    # -------------------------------------------------------- statements

    def context(self, manager: Any) -> Any:
        """``manager`` in ``with manager:``."""
        if type(manager) is Ignoring:
            return manager
        if isinstance(class_attribute(class_of(manager), "__enter__"), FunctionType):
            return Manager(self, manager, self.trying())
        raise refuse(f"a with statement over a {name_of(manager)} cannot be captured")

    def trying(self) -> int:
        """Before a try statement: how many branches and loops around it are being captured."""
        self.session.handles = True
        return self._depth()

    def _depth(self) -> int:
        return len(self.session.regions) + len(self.session.statements)

    def caught(self, around: int) -> None:
        """At the begin of a handler."""
        error = sys.exception()
        if error is not None:
            self.check_caught(error, around)

    def raising(self, error: Any) -> Any:
        """``error`` in ``raise error``."""
        if isinstance(error, type) and issubclass(error, BaseException):
            error = self.call(error)
        self.raised.append(error)
        return error

    def check_caught(self, error: BaseException | None, around: int) -> None:
        """Refuse to handle what NumPy might not have raised, or not in this way."""
        if error is not None:
            check_no_bug(error, self.raised)
        if self.session.error is not None:
            raise self.session.error
        if not isinstance(error, Exception) or isinstance(error, FxcError):
            raise error or AssertionError("no exception is being handled")
        if self._depth() != around:
            raise refuse(
                f"a handler for a {type(error).__name__} around a branch or loop that is captured "
                "as a whole, and in which it is raised, cannot be captured; handle it inside"
            )
        own = any(error is each for each in self.raised)
        if own or is_from_program(error) or is_confirmed(error):
            return
        raise refuse(
            f"a handler for a {type(error).__name__} of an operation that is being captured "
            "cannot be captured; check before the operation"
        )

    def importing(self, module: str) -> None:
        """``import module``: it must have been imported before."""
        if module not in sys.modules:
            raise refuse(f"an import of {module} cannot be captured; import it outside")

    def imported(self, module: str, package: str, name: str) -> Any:
        """``from module import name``."""
        module = importlib.util.resolve_name(module, package)
        self.importing(module)
        try:
            return self.attr(sys.modules[module], name)
        except AttributeError:
            raise refuse(f"an import of {module}.{name} cannot be captured") from None


class Manager:
    """A context manager whose methods are Python functions, called through the door."""

    def __init__(self, door: Stores, manager: Any, around: int) -> None:
        self._door = door
        self._manager = manager
        self._around = around

    def __enter__(self) -> Any:
        return self._door.call(self._door.attr(self._manager, "__enter__"))

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        if error is not None and (self._door.session.error or not isinstance(error, Exception)):
            return False
        leave = self._door.attr(self._manager, "__exit__")
        handled = bool(self._door.call(leave, kind, error, traceback))
        if handled:
            self._door.check_caught(error, self._around)
        return handled


class _Storing:
    """Takes the place of an object in ``object.name = value``."""

    def __init__(self, door: Reads, owner: Any) -> None:
        object.__setattr__(self, "_parts", (door, owner))

    def __getattribute__(self, name: str) -> Any:
        door, owner = object.__getattribute__(self, "_parts")
        return door.attr(owner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        door, owner = object.__getattribute__(self, "_parts")
        door.store_attr(owner, name, value)

    def __delattr__(self, name: str) -> None:
        door, owner = object.__getattribute__(self, "_parts")
        door.delete_attr(owner, name)


class _Items:
    """Takes the place of a dict or a list, which the program has made, in ``owner[key]`` and stores
    to it.
    """

    def __init__(self, door: Stores, owner: Any) -> None:
        self._door = door
        self._owner = owner

    def __getitem__(self, key: Any) -> Any:
        if type(self._owner) is list and type(key) is not int:
            self._door.lists.note_change(self._owner)
        if is_unknown_key(key):
            self._door.dicts.ask(self._owner)
        if type(self._owner) is defaultdict and key not in self._owner:
            self._door.check_change(self._owner)
        return KeyedTable.of(self._owner)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._door.store_item(self._owner, key, value)

    def __delitem__(self, key: Any) -> None:
        self._door.lists.note_change(self._owner)
        self._door.check_change(self._owner)
        del self._owner[key]


class Names:
    """Takes the place of global or free variables in stores: ``__fxc__.globals.name = value``."""

    def __init__(
        self,
        read: Callable[[str], Any],
        store: Callable[[str, Any], None],
        delete: Callable[[str], None],
    ) -> None:
        object.__setattr__(self, "_parts", (read, store, delete))

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, "_parts")[0](name)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__getattribute__(self, "_parts")[1](name, value)

    def __delattr__(self, name: str) -> None:
        object.__getattribute__(self, "_parts")[2](name)


_OF_PYTHON = ("__class__", "__dict__", "__code__", "__defaults__", "__kwdefaults__")
_NUMPYS = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
# In these, the program's own Python operations are carried out as they are.
_DOORS = (
    *("door/door", "door/reads", "door/stores", "door/special", "values/traced_int"),
    *("outside/dicts", "outside/lists", "outside/sets", "values/tables", "statements/unpacking"),
)
_DOOR_FILES = frozenset(os.path.join(OURS, "capture", *f"{name}.py".split("/")) for name in _DOORS)
_PLAIN_ERRORS = (
    *(KeyError, IndexError, StopIteration, ZeroDivisionError, OverflowError, AssertionError),
    *(AttributeError, ValueError, UnboundLocalError),
)


def _is_array(x: Any) -> bool:
    return array_of(settled(x)) is not None


def is_from_program(error: BaseException) -> bool:
    """Whether Python raised it for an operation on plain values, and will raise it again."""
    if type(error) not in _PLAIN_ERRORS:
        return False
    if isinstance(error, AttributeError) and isinstance(error.obj, Traced):
        return False
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return False
    file = traceback.tb_frame.f_code.co_filename
    return file in _DOOR_FILES or not file.startswith((OURS, _NUMPYS, "<"))
