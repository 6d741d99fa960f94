"""The attributes of objects as the program sees them: read, stored, there by a condition or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import KEYS_BY_CONDITION, OBJECT
from fxc.ir.later import import_class_later
from fxc.ir.records import computed_once

from ..outside.outside import Known
from ..session.refusing import refuse
from ..session.session import label_of
from ..values.maybe_set import UNBOUND, MaybeSet, check_sure, given
from ..values.objects import (
    MISSING,
    class_attribute,
    is_python_class,
    is_slot,
    is_watched,
    slot_names,
    slots_of,
    vars_of,
)
from ..values.shadows import class_of
from .outer import DELETED
from .reads import Reads, name_of

if TYPE_CHECKING:
    from ..dicts.made_dicts import MadeDicts
    from ..lists.made_lists import MadeLists
else:
    MadeDicts = import_class_later("fxc.capture.dicts.made_dicts", "MadeDicts")
    MadeLists = import_class_later("fxc.capture.lists.made_lists", "MadeLists")


class Attributes(Reads):
    """What one capture knows of attributes."""

    @computed_once
    def lists(self) -> MadeLists:
        """The lists of programs that make some."""
        return MadeLists(self.session)

    @computed_once
    def dicts(self) -> MadeDicts:
        """The dicts of programs that make some."""
        return MadeDicts()

    def is_foreign(self, owner: object) -> bool:
        """Whether this stands for an object from outside, or is one."""
        return self.outside.object_of(owner) is not None

    def _seen(self, owner: object, name: str) -> object:
        """What the program has stored in an attribute, or MISSING."""
        seen = self._attributes.get((id(owner), name), MISSING)
        return vars_of(owner).get(name, MISSING) if seen is MISSING else seen

    def _is_unsure(self, owner: object, name: str) -> bool:
        return type(self._seen(owner, name)) is MaybeSet

    def presence(self, owner: object, name: str) -> object:
        """Whether an object has an attribute of its own to the program: a bool, or traced."""
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
        self.outside.guards.check(condition, f"{known.source.text} has its own {name}")

    def own_item(self, owner: object, name: str, known: Known) -> object:
        """An attribute that an object from outside has of its own; MISSING for none."""
        here = self._present.get((id(owner), name))
        if here is not None:
            return MISSING if here is False else given(self._attributes[id(owner), name])
        held = vars_of(known.object)
        if name in held:
            self._check_own(known, name)
            return self._plain_attr(owner, name, known.source, held[name])
        condition = f"{name!r} not in {known.source.var}.__dict__"
        self.outside.guards.check(condition, f"{known.source.text} has no own {name}")
        return MISSING

    def held_attribute(self, owner: object, name: str) -> object:
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
                KEYS_BY_CONDITION,
                f"the attributes of a {name_of(owner)}, which come up in an order that depends on "
                "conditions,",
                "give them values before",
            )
        held = list(vars_of(real))
        if hasattr(real, "__dict__"):
            names = self.outside.guards.same_keys(f"{source.var}.__dict__", tuple(held))
            self.outside.guards.check(names, f"{source.text} has the same attributes")
        for effect in self.outside.effects.entries:
            if effect.owner.var == source.var and effect.action in ("setattr", "put"):
                held += [effect.key] if effect.key not in held else []  # type: ignore[list-item]
            elif effect.owner.var == source.var and effect.action == "delattr":
                raise refuse(OBJECT, f"a copy of a {name_of(owner)} after 'del'")
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

    def given_if(self, owner: object, name: str) -> object:
        """By which condition an object has an attribute, if it is one; else None."""
        seen = self._seen(owner, name)
        return seen.flag if type(seen) is MaybeSet and not seen.by_class else None

    def maybe_set(self, flag: object, owner: object, name: str, value: object) -> MaybeSet:
        """What an attribute holds if the flag holds."""
        found = class_attribute(class_of(owner), name)
        return MaybeSet(flag, value, by_class=found is not MISSING and not is_slot(found))

    def may_be_given(self, owner: object, name: str) -> bool:
        """Whether an object may be given an attribute that it has not, and nobody watches."""
        kind = class_of(owner)
        found = class_attribute(kind, name)
        computed = any(
            class_attribute(kind, each) is not vars(object).get(each, MISSING)
            for each in ("__getattr__", "__getattribute__", "__setattr__", "__delattr__")
        )
        known = self.outside.shown.get(id(owner))
        has_room = is_slot(found) or hasattr(owner if known is None else known.object, "__dict__")
        deleted = self._attributes.get((id(owner), name)) is DELETED
        seen = deleted or id(owner) in self._opened
        return has_room and not (is_watched(found) or computed or seen) and is_python_class(kind)

    def names_behind(self, owner: object, name: str) -> list[str]:
        """The names of the attributes of an object that stand behind one."""
        names = list(vars_of(owner))
        return names[names.index(name) + 1 :] if name in names else []

    def see_attribute(self, owner: object, name: str, value: object, flag: object = True) -> None:
        """Let the program alone see an attribute of an outer object, there if the flag holds."""
        key = id(owner), name
        self._present[key] = flag
        if flag is False:
            self._attributes.pop(key, None)
        else:
            maybe = type(flag) is not bool
            self._attributes[key] = self.maybe_set(flag, owner, name, value) if maybe else value

    def store_attribute_if(self, flag: object, owner: object, name: str, value: object) -> None:
        """``owner.name = value`` of an object from outside, if the flag holds."""
        known = self.outside.shown[id(owner)]
        self.outside.stored(label_of(f"{known.source.text}.{name}"))
        self._note_order(owner, name)
        self.see_attribute(owner, name, value, flag)
        self.outside.effects.store(known.source, "setattr", name, value, flag)

    def _note_order(self, owner: object, name: str) -> None:
        """Note an object from outside whose attributes come up in an order that is not known."""
        if self._is_unsure(owner, name):
            self._unordered.add(id(owner))
