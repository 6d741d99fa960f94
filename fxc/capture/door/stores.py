"""Stores into names and attributes in a staged function, see Note [Effects]."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import CHANGE_OUTSIDE
from fxc.ir.later import import_class_later, import_later

from ..guards.program import Source
from ..outside import purity
from ..outside.containers import External, Held, is_number
from ..outside.outside import Known
from ..session.exceptions import note
from ..session.refusing import refuse
from ..session.session import label_of
from ..values.maybe_set import MaybeSet, given
from ..values.objects import (
    MISSING,
    class_attribute,
    has_c_method,
    has_python_method,
    is_dict_class,
    is_frozen,
    is_slot,
    is_watched,
    put_attribute,
    sets_by_python,
    vars_of,
)
from ..values.operands import Traced, record_of
from ..values.shadows import class_of
from .imported_later import Namespace, Record
from .items import ItemAccess
from .outer import DELETED, Outer, may_be_stored
from .reads import check_not_ours, name_of, no_attribute

if TYPE_CHECKING:
    from .places import Attribute, OuterPlace
else:
    Attribute = import_class_later("fxc.capture.door.places", "Attribute")
    OuterPlace = import_class_later("fxc.capture.door.places", "OuterPlace")

_OF_PYTHON = ("__class__", "__dict__", "__code__", "__defaults__", "__kwdefaults__")


class Stores(ItemAccess):
    """What one capture stores."""

    # See Note [Rooms with one door].
    same = import_later("fxc.capture.door.comparisons", "same")
    equal = import_later("fxc.capture.door.comparisons", "equal")
    unequal = import_later("fxc.capture.door.comparisons", "unequal")
    compared = import_later("fxc.capture.door.comparisons", "compared")
    is_same_item = import_later("fxc.capture.door.comparisons", "is_same_item")
    as_tuple = import_later("fxc.capture.door.comparisons", "as_tuple")
    in_order_by = import_later("fxc.capture.door.comparisons", "in_order_by")

    # -------------------------------------------------------- names

    def store_outer(self, variable: Outer, value: object, text: str = "") -> None:
        """``global name; name = value``, or of a variable of a function around."""
        place = OuterPlace(self, variable, self.places.outer_text(variable))
        if self.places.takes(place):
            self.see_outer(variable, value)
            return
        self._store_name(variable, value)
        owner = Source(self.root_of(variable), text or variable.name)
        action = "setitem" if variable.is_global else "setattr"
        self.outside.effects.store(owner, action, variable.part, value)

    def _is_variable(self, kind: type, name: str, value: object) -> bool:
        """Whether an attribute of a class can be stored: nobody has read it in another way."""
        seen = (owner for owner, each in self._attributes if each == name)
        return may_be_stored(kind, name, value) and all(owner == id(kind) for owner in seen)

    def delete_global(self, space: dict[str, object], name: str) -> None:
        """``global name; del name``."""
        variable = Outer(space, name)
        root = self.root_of(variable)
        if not self.has_outer(variable):
            raise variable.unset()
        if variable.key not in self._names:
            self.outside.guards.check(f"{name!r} in {root}", f"{name} is a global")
        self._store_name(variable, DELETED)
        self.outside.effects.add(Source(root, name), "delitem", name)

    def _store_name(self, variable: Outer, value: object) -> None:
        kind = "global" if variable.is_global else "variable of an enclosing function"
        self.outside.effects.check_allowed(kind)
        self.outside.stored(label_of(variable.label))
        self.see_outer(variable, value)

    def rebinding(self, variables: FunctionType) -> None:
        """At the start of a function that rebinds variables, which ``variables`` reads."""
        self.places.rebinding(variables.__closure__ or ())

    def sharing(self, function: str, variables: FunctionType) -> None:
        """At the start of a function of which inner functions rebind these variables."""
        names = variables.__code__.co_freevars
        self.places.note_variables(function, variables.__closure__ or (), names)

    # -------------------------------------------------------- attributes

    def owned(self, owner: object) -> Names:
        """``owner`` in ``owner.name = value``."""
        owner = record_of(owner)

        def read(name: str) -> object:
            return self.to_change(self.attr(owner, name))

        return Names(read, partial(self.store_attr, owner), partial(self.delete_attr, owner))

    def store_attr(self, owner: Any, name: str, value: Any) -> None:
        """``owner.name = value``."""
        if isinstance(owner, Record):
            owner.store(self, name, value)
            return
        if isinstance(owner, Traced):
            _change(setattr, owner, name, value)
            return
        text = f"an assignment to .{name} of a {name_of(owner)}"
        if isinstance(owner, ModuleType):
            self._store_in_module(owner, name, value)
            return
        if isinstance(owner, External):
            self._store_in_container(owner, name, value)
            return
        foreign = self.is_foreign(owner)
        if isinstance(owner, tuple) and hasattr(owner, "__dict__"):
            raise refuse(CHANGE_OUTSIDE, f"{text}, which has fields,")
        if name == "__dict__" and value is owner and is_dict_class(class_of(owner)) and not foreign:
            self.check_change(owner)
            owner.__dict__ = owner  # the items are the attributes
            return
        if isinstance(owner, type) and self._is_variable(owner, name, value):
            self.store_outer(Outer(owner, name), value)
            return
        if isinstance(owner, type) or name in _OF_PYTHON or (foreign and name.startswith("__")):
            raise refuse(CHANGE_OUTSIDE, f"{text}", "return the new value instead")
        kind = class_of(owner)
        if sets_by_python(kind):
            self.special(owner, "__setattr__", name, value)
            return
        if is_frozen(kind, name):
            self.guard_class_attribute(kind, "__setattr__", class_attribute(kind, "__setattr__"))
            text = f"cannot assign to field {name!r}"
            raise self.raising(dataclasses.FrozenInstanceError(text))
        self.store_plain_attr(owner, name, value)

    def _store_in_container(self, owner: Any, name: str, value: object) -> None:
        """An assignment to an attribute of a container from outside, which its class may take."""
        kind = owner.kind
        method = class_attribute(kind, "__setattr__")
        if not is_dict_class(kind):
            raise no_attribute(owner.original, name)
        self.guard_class_attribute(kind, "__setattr__", method)
        if method is vars(dict)["__setitem__"]:
            owner[name] = value
        elif sets_by_python(kind):
            self.special(owner, "__setattr__", name, value)
        else:
            self.store_plain_attr(owner, name, value)

    def store_plain_attr(self, owner: object, name: str, value: object) -> None:
        """``object.__setattr__(owner, name, value)``."""
        self.places.check_apart(owner)
        known = self.outside.object_of(owner)
        text = f"an assignment to .{name} of a {name_of(owner)}"
        if isinstance(owner, External):
            raise refuse(CHANGE_OUTSIDE, f"an assignment to .{name} of a {owner.kind.__name__}")
        kind = class_of(owner)
        found = class_attribute(kind, name)
        if has_python_method(type(found), "__set__"):
            self.guard_class_attribute(kind, name, found)
            root = self.outside.guards.constant(found)
            descriptor = self.read(found, root, f"{kind.__name__}.{name}")
            self.special(descriptor, "__set__", owner, value)
            return
        if isinstance(found, property) and found.fset is not None:
            self.guard_class_attribute(kind, name, found)
            self.call(found.fset, owner, value)
            return
        if known is None:
            if not self.places.takes(Attribute(self, owner, name)):
                self.check_change(owner)
                if self._is_unsure(owner, name) and self.names_behind(owner, name):
                    raise refuse(
                        CHANGE_OUTSIDE,
                        f"{text}, which is there by a condition and would come up before others "
                        "or behind them,",
                        "give it a value before",
                    )
            if is_watched(found):
                raise refuse(CHANGE_OUTSIDE, f"{text}, which a {type(found).__name__} watches,")
            put_attribute(owner, name, value)
            return
        is_set = has_python_method(kind, "__setattr__") or has_c_method(kind, "__setattr__")
        if is_watched(found) or not is_set:
            raise refuse(
                CHANGE_OUTSIDE,
                f"{text} from outside of the compiled function, whose class watches assignments,",
                "return the new value instead",
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
        action = "put" if has_python_method(class_of(owner), "__setattr__") else "setattr"
        self.outside.effects.store(known.source, action, name, value)

    def namespace(self, owner: object, known: Known) -> Namespace:
        """``owner.__dict__`` of an object from outside."""
        real, source = vars(known.object), known.source
        found = self.outside.known.get(id(real))
        if found is None:
            text = f"{source.text}.__dict__"
            fetched = self.outside.guards.fetch(f"{source.var}.__dict__", text)
            held = Held(self.outside, real, fetched, label_of(text), False)
            made = Namespace(
                held,
                type(known.object),
                items=lambda: self.held_by(owner)[0],
                find=lambda name: self.own_item(owner, name, known),
                store=lambda name, x: self._store_in_object(owner, name, x, known, MISSING),
            )
            found = Known(real, made, fetched, False)
            self.outside.remember(found)
        if not isinstance(found.seen, Namespace):
            raise refuse(CHANGE_OUTSIDE, f"{source.text}.__dict__, which is an argument, too,")
        return found.seen

    def _store_in_module(self, module: ModuleType, name: str, value: object) -> None:
        if module.__name__.partition(".")[0] in purity.TRUSTED_MODULES:
            raise refuse(CHANGE_OUTSIDE, f"an assignment to {module.__name__}.{name}")
        self.outside.stored(label_of(f"{module.__name__}.{name}"))
        self.store_outer(Outer(vars(module), name), value, module.__name__)

    def delete_attr(self, owner: object, name: str) -> None:
        """``del owner.name``."""
        if isinstance(owner, Record):
            raise owner.refused("del")
        if isinstance(owner, Traced):
            _change(delattr, owner, name)
            return
        self.places.check_apart(owner)
        seen = self._seen(owner, name)
        if type(seen) is MaybeSet and seen.by_class:
            raise seen.unclear()
        is_own = id(owner) not in self.outside.shown
        if is_own and not isinstance(owner, type | ModuleType | External):
            self.check_change(owner)
            given(vars_of(owner).get(name))
            delattr(owner, name)
            return
        known, kind = self.outside.object_of(owner), class_of(owner)
        found = class_attribute(kind, name)
        is_class = isinstance(owner, type)
        if known is None or is_class or not has_c_method(kind, "__delattr__") or is_watched(found):
            raise refuse(CHANGE_OUTSIDE, f"'del' of .{name} of a {name_of(owner)} from outside")
        self.outside.effects.check_allowed(name_of(owner))
        own = name in vars_of(known.object) or is_slot(found)
        if not own and (id(owner), name) not in self._attributes:
            raise no_attribute(known.object, name)
        self.attr(owner, name)  # guards that it is there
        self._attributes[id(owner), name] = DELETED
        self._present[id(owner), name] = False
        self.outside.effects.add(known.source, "delattr", name)


def _change(change: Callable[..., None], owner: Traced, name: str, *value: object) -> None:
    """Store or delete an attribute of a traced value."""
    try:
        check_not_ours(owner, name)
        change(owner, name, *value)
    except AttributeError as error:
        note(error, change, (owner, name, *value), {})
        raise


class Names:
    """Stands for variables, or an object, in stores: ``__fxc__.globals.name = value``. Augmented
    assignments read them.
    """

    def __init__(
        self,
        read: Callable[[str], object],
        store: Callable[[str, object], None],
        delete: Callable[[str], None],
    ) -> None:
        object.__setattr__(self, "_parts", (read, store, delete))

    def __getattribute__(self, name: str) -> object:
        return object.__getattribute__(self, "_parts")[0](name)

    def __setattr__(self, name: str, value: object) -> None:
        object.__getattribute__(self, "_parts")[1](name, value)

    def __delattr__(self, name: str) -> None:
        object.__getattribute__(self, "_parts")[2](name)
