"""Dicts from outside, and namespaces of objects: the stand-ins of ``containers``."""

from __future__ import annotations

import keyword
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from fxc.ir.error_kinds import ARGUMENT_KIND, CHANGE_OUTSIDE, KEYS_BY_CONDITION

from ..session.refusing import refusal, refuse
from ..values.maybe_set import UNBOUND, MaybeSet, check_sure, given
from ..values.objects import (
    MISSING,
    class_attribute,
    is_data_descriptor,
    is_dict_class,
    vars_of,
)
from .containers import (
    MAPPING_READS,
    ExternalMapping,
    Held,
    clear,
    give_reads,
    is_key,
    is_number,
    is_numpys_int,
    plain_key,
)
from .outside import Known


class ExternalDict(ExternalMapping, dict[Any, Any]):
    """A dict from outside, or an OrderedDict or defaultdict.

    Until all of it is read, ``_seen`` holds what it had by key when the call began (MISSING for
    keys that it had not), ``_now`` what was stored or deleted since, ``_changes`` the
    same in order.
    """

    def __init__(self, held: Held) -> None:
        super().__init__()
        self._held = held
        self._is_unordered = False  # keys come up in an order that is not known
        self._seen: dict[Any, Any] = {}
        self._now: dict[Any, Any] = {}
        self._changes: list[tuple[Any, Any]] = []

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.kind  # for isinstance, and class patterns

    def settle(self) -> None:
        check_sure(dict.values(self) if self._whole else self._now.values())
        self.check_ordered()
        if self._whole:
            return
        self._whole = True
        held = self._held
        keys = tuple(held.real)
        for key in keys:
            self._check_key(key)
        condition = held.outside.guards.same_keys(held.source.var, keys)
        text = held.source.text
        held.outside.guards.check(condition, f"{text} has the keys {list(keys)}", value_of=text)
        for key in keys:
            dict.__setitem__(self, key, self._original(key))
        for key, value in self._changes:
            self.see(key, value)

    def check_ordered(self) -> None:
        """Refuse what needs the order of the keys where that is not known."""
        if self._is_unordered:
            raise refuse(
                KEYS_BY_CONDITION,
                "the keys of a dict that come up in an order which depends on conditions",
                "give them values before",
            )

    def _check_key(self, key: object) -> None:
        if not (is_key(key) or is_numpys_int(key)):
            raise refusal(
                ARGUMENT_KIND,
                f"{self._held.source.text} has a key of type {type(key).__name__}, which runs as "
                "plain NumPy",
            )

    def _label(self, key: object) -> str:
        if isinstance(key, str) and key.isidentifier():
            return key
        real = self._held.real
        return f"item{list(real).index(key) if key in real else ''}"

    def _original(self, key: object) -> object:
        """What the dict had at a key when the call began, or MISSING."""
        seen = self._seen.get(key, MISSING)
        if seen is not MISSING or key in self._seen:
            return seen
        held, real = self._held, self._held.real
        self._check_key(key)
        where = repr(key) if type(key) in (str, int, bool) else held.constant(key)
        if key in real:
            value = dict.__getitem__(real, key)
            seen = held.part(value, f"[{where}]", f"{held.name}.{self._label(key)}", where)
        else:
            held.check(f"{where} not in {held.source.var}", f"has no key {key!r}")
        self._seen[key] = seen
        return seen

    def _find(self, key: object) -> object:
        """What the program sees at a key, or MISSING."""
        key = plain_key(key)
        if self._whole:
            return dict.get(self, key, MISSING)
        return self._now[key] if key in self._now else self._original(key)

    def _when_missing(self, key: object) -> object:
        if self.kind is not defaultdict or self.default_factory is None:
            raise KeyError(key)
        self[key] = value = self._held.door.call(self.default_factory)
        return value

    def attribute(self, name: str) -> object:
        kind = self.kind
        found = class_attribute(kind, name)
        if not is_dict_class(kind) or name == "__class__":
            return super().attribute(name)
        held = self._held
        if name == "__dict__":
            raise refuse(ARGUMENT_KIND, f"the __dict__ of a {kind.__name__} from outside")
        getter: Any = class_attribute(kind, "__getattr__")
        is_own = name in vars_of(held.real) and not is_data_descriptor(found)
        is_item = found is MISSING and getter in vars(dict).values()
        is_of_dict = found is not MISSING and found is class_attribute(dict, name)
        if is_own or not (is_item or is_of_dict):
            known = Known(held.real, self, held.source, is_object=True)
            return held.door.object_attr(self, name, known)
        held.check(f"{name!r} not in {held.source.var}.__dict__", f"has no {name} of its own")
        if is_item:
            held.door.guard_class_attribute(kind, "__getattr__", getter)
            return getattr(self, getter.__name__)(name)
        return super().attribute(name)

    @property
    def default_factory(self) -> Any:
        """Of a defaultdict."""
        name = "default_factory"
        return self._held.part(self._held.real.default_factory, f".{name}", name)

    def copied(self) -> Any:
        items = super().copied()
        if self.kind is defaultdict:
            return defaultdict(self.default_factory, items)
        return OrderedDict(items) if self.kind is OrderedDict else items

    copy = copied

    def presence(self, key: object) -> object:
        """Whether it has a key, as the program sees it: a bool, or known at run time."""
        found = self._find(key)
        return found.flag if type(found) is MaybeSet else found is not MISSING

    def held(self, key: object) -> Any:
        """What it has at a key, or may have; UNBOUND for nothing."""
        found = self._find(key)
        if type(found) is MaybeSet:
            return found.value
        return UNBOUND if found is MISSING else found

    # -------------------------------------------------------- changes

    def see(self, key: object, value: object) -> None:
        """Let the program see a change, and nobody else."""
        if not self._whole:
            self._now[key] = value
            self._changes.append((key, value))
        elif value is MISSING:
            dict.pop(self, key, None)
        else:
            dict.__setitem__(self, key, value)

    def __setitem__(self, key: object, value: object, /) -> None:
        held, key = self._held, plain_key(key)
        self._check_key(key)
        if held.door.places.takes_item(self, key):
            self.see(key, value)
            return
        held.check_allowed()
        now = self if self._whole else self._seen | self._now
        before = dict.get(now, key, MISSING)
        self._is_unordered |= type(before) is MaybeSet
        self.see(key, value)
        if value is not before or is_number(value):
            held.store(key, value, f".{self._label(key)}")

    def store_if(self, flag: object, key: object, value: object) -> None:
        """Set an item if the flag holds."""
        self._check_key(key)
        self._is_unordered |= type(self._find(key)) is MaybeSet
        self.see(key, MaybeSet(flag, value))
        self._held.store(key, value, f".{self._label(key)}", flag)

    def __delitem__(self, key: object, /) -> None:
        if given(self._find(key)) is MISSING:
            raise KeyError(key)
        self._change("delitem", plain_key(key))
        self.see(plain_key(key), MISSING)

    def pop(self, key: object, *default: object) -> object:
        value = given(self._find(key))
        if value is MISSING:
            if default:
                return default[0]
            raise KeyError(key)
        del self[key]
        return value

    def popitem(self, last: object = MISSING) -> Any:
        if last is not MISSING and self.kind is not OrderedDict:
            raise TypeError("dict.popitem() takes no arguments")
        self.settle()
        if not dict.__len__(self):
            raise KeyError("popitem(): dictionary is empty")
        keys = dict.keys(self)
        key = next(reversed(keys) if last else iter(keys))
        return key, self.pop(key)

    def move_to_end(self, key: object, last: object = True) -> None:
        """Of an OrderedDict."""
        if not last:
            raise refuse(CHANGE_OUTSIDE, "move_to_end() to the start of a dict from outside")
        self[key] = self.pop(key)

    clear = clear


give_reads(ExternalDict, MAPPING_READS)

# ------------------------------------------------------------------ namespaces


class Namespace(ExternalMapping, dict[str, Any]):
    """The dict of an object's attributes: its items are these, but for what the class says."""

    def __init__(
        self,
        held: Held,
        kind: type,
        items: Callable[[], dict[str, object]],
        find: Callable[[str], object],
        store: Callable[[str, object], None],
    ) -> None:
        super().__init__()
        self._held = held
        self._kind = kind  # of the object
        self._items = items
        self._found = find  # by the name; it gives MISSING for none
        self._store = store

    def settle(self) -> None:
        dict.update(self, self._items())

    def _checked(self, key: object) -> str:
        key = plain_key(key)
        found = class_attribute(self._kind, key) if type(key) is str else None
        plain = type(key) is str and key.isidentifier() and not keyword.iskeyword(key)
        if not plain or is_data_descriptor(found):
            raise refuse(
                CHANGE_OUTSIDE,
                f"the item {key!r} of {self._held.source.text}, which is no plain attribute,",
                "read and store attributes",
            )
        return str(key)

    def _find(self, key: object) -> object:
        return self._found(self._checked(key))

    def copy(self) -> dict[str, Any]:
        return self._items()

    def __setitem__(self, key: object, value: object, /) -> None:
        self._store(self._checked(key), value)

    def __delitem__(self, key: object, /) -> None:
        raise refuse(CHANGE_OUTSIDE, f"'del' of an item of {self._held.source.text}", "use delattr")


give_reads(Namespace, MAPPING_READS)
