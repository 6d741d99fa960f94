"""Stores into names and attributes in a staged function, see Note [Effects]."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any

from ..guards import Source
from ..outside.containers import External, Held, is_number
from ..outside.namespaces import Namespace
from ..outside.objects import (
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
from ..outside.shadows import class_of
from ..session import Session, label_of, refuse
from ..values.maybe_set import MaybeSet, check_sure, given
from ..values.operands import Traced
from ..values.records import Record
from ..values.several import Several
from ..values.unbound import UNBOUND
from . import purity
from .comparisons import Comparisons
from .places import Attribute, Enclosing, Global, Places
from .reads import DELETED, Reads, name_of, no_attribute

_OF_PYTHON = ("__class__", "__dict__", "__code__", "__defaults__", "__kwdefaults__")


class Stores(Comparisons):
    """What one capture stores."""

    def __init__(self, session: Session, outside: Outside) -> None:
        super().__init__(session, outside)
        self.places = Places(self)

    # -------------------------------------------------------- names

    def store_global(self, space: dict[str, Any], name: str, value: object, text: str = "") -> None:
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

    def _store_name(self, space: dict[str, Any], name: str, value: object) -> None:
        self.outside.effects.check_allowed("global")
        self.outside.stored(name)
        self._names[id(space), name] = value

    def store_cell(self, function: FunctionType, name: str, value: object) -> None:
        """``nonlocal name; name = value``."""
        self.store_in_cell(self._cell(function, name), name, value)

    def store_in_cell(self, cell: CellType, name: str, value: object) -> None:
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

    def check_not_replaced(self, owner: object) -> None:
        self.places.check_not_replaced(owner)

    def owned(self, owner: object) -> Any:
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

    def store_plain_attr(self, owner: object, name: str, value: object) -> None:
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

    def _store_in_object(
        self, owner: object, name: str, value: object, known: Known, found: object
    ) -> None:
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

    def namespace(self, owner: object, known: Known) -> Any:
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

    def own_item(self, owner: object, name: str, known: Known) -> Any:
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

    def store_own_item(self, owner: object, name: str, value: object, known: Known) -> None:
        """``owner.__dict__[name] = value`` of an object from outside."""
        self._store_in_object(owner, name, value, known, MISSING)

    def presence(self, owner: object, name: str) -> Any:
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

    def may_be_given(self, owner: object, name: str) -> bool:
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

    def maybe_set(self, flag: object, owner: object, name: str, value: object) -> MaybeSet:
        """What an attribute holds if the flag holds."""
        found = class_attribute(class_of(owner), name)
        return MaybeSet(flag, value, by_class=found is not MISSING and not is_slot(found))

    def given_if(self, owner: object, name: object) -> Any:
        """By which condition an object has an attribute, if it is one; else None."""
        seen = self._seen(owner, name)
        return seen.flag if type(seen) is MaybeSet and not seen.by_class else None

    def _seen(self, owner: Any, name: Any) -> Any:
        """What the program has stored in an attribute, or MISSING."""
        seen = self._attributes.get((id(owner), name), MISSING)
        return vars_of(owner).get(name, MISSING) if seen is MISSING else seen

    def _is_unsure(self, owner: object, name: str) -> bool:
        return type(self._seen(owner, name)) is MaybeSet

    def names_behind(self, owner: object, name: str) -> list[str]:
        """The names of the attributes of an object that stand behind one."""
        names = list(vars_of(owner))
        return names[names.index(name) + 1 :] if name in names else []

    def held_attribute(self, owner: object, name: str) -> Any:
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

    def store_attribute_if(self, flag: object, owner: object, name: str, value: object) -> None:
        """``owner.name = value`` of an object from outside, if the flag holds."""
        known = self.outside.shown[id(owner)]
        self.outside.stored(label_of(f"{known.source.text}.{name}"))
        self._note_order(owner, name)
        self.see_attribute(owner, name, value, flag)
        self.outside.effects.store(known.source, "setattr", name, value, flag)

    def held_by(self, owner: object) -> tuple[dict[str, Any], dict[str, Any]]:
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

    def _note_order(self, owner: object, name: str) -> None:
        """Note an object from outside whose attributes come up in an order that is not known."""
        if self._is_unsure(owner, name):
            self._unordered.add(id(owner))

    def see_attribute(self, owner: object, name: str, value: object, flag: object = True) -> None:
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

    def _store_in_module(self, module: ModuleType, name: str, value: object) -> None:
        if module.__name__.partition(".")[0] in purity.TRUSTED_MODULES:
            raise refuse(f"an assignment to {module.__name__}.{name} cannot be captured")
        self.outside.stored(label_of(f"{module.__name__}.{name}"))
        self.store_global(vars(module), name, value, module.__name__)

    def delete_attr(self, owner: object, name: str) -> None:
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


class _Storing:
    """Takes the place of an object in ``object.name = value``."""

    def __init__(self, door: Reads, owner: Any) -> None:
        object.__setattr__(self, "_parts", (door, owner))

    def __getattribute__(self, name: str) -> Any:
        door, owner = object.__getattribute__(self, "_parts")
        return door.attr(owner, name)

    def __setattr__(self, name: str, value: object) -> None:
        door, owner = object.__getattribute__(self, "_parts")
        door.store_attr(owner, name, value)

    def __delattr__(self, name: str) -> None:
        door, owner = object.__getattribute__(self, "_parts")
        door.delete_attr(owner, name)


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

    def __setattr__(self, name: str, value: object) -> None:
        object.__getattribute__(self, "_parts")[1](name, value)

    def __delattr__(self, name: str) -> None:
        object.__getattribute__(self, "_parts")[2](name)
