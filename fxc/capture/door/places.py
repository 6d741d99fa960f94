"""What a program assigns to that is no variable of a function, as branches and loops see it.

See Note [Assigned places].
"""

from __future__ import annotations

from ast import literal_eval
from collections import OrderedDict
from enum import Enum
from types import CellType
from typing import Any
from weakref import WeakValueDictionary

from fxc.ir.error_kinds import KEYS_BY_CONDITION
from fxc.ir.records import frozen

from ..dicts.made_dicts import OpenDict
from ..forms.options import is_member
from ..outside.dicts import ExternalDict
from ..outside.lists import ExternalList
from ..session.refusing import refuse
from ..values.maybe_set import UNBOUND, MaybeSet, contents_of
from ..values.objects import MISSING, put_attribute
from ..values.shadows import class_of
from .attributes import Attributes
from .outer import Outer

# Note [Assigned places]
# What ``self.t += dt`` assigns in a loop is no variable of the function, so that the statement does
# not show that the loop carries it; nor what ``n += 1`` does after ``nonlocal n``. The capture
# begins again when it is seen, with the place among the variables of each branch and each loop from
# its start on (``Cells``): each is given it with the others, and hands it on. What the caller can
# see is assigned to behind the outermost of them. Places are attributes, items of dicts that have
# the key before, items of lists (of those that the program makes, where they are arrays), variables
# that inner functions rebind, and those of enclosing functions and globals. They are known by a
# text from one attempt to the next: how an object from outside is come by, or the number of one
# among those that the program has made.
#
# Note [Places that are new]
# ``self.mask = x > 0`` in a loop makes an attribute; so does a key that a dict has not. Such a
# place has a flag beside it, a variable of each statement like the place itself: whether there is
# something. Where that is not known behind a statement, the place holds a ``MaybeSet``: a read
# goes back to Python where the flag does not hold (``hasattr`` gives the flag), the change of what
# is from outside is made if it holds. A dict of the program's is an ``OpenDict`` then, from the
# line on where it is made. What a class has under the name is what is read before. What the first
# iteration of a loop makes, if it is run before the loop, has its places in the others' body.
# The order in which attributes and keys come up is the one of the statements in the body or arm;
# where it would depend on the condition, or on the iteration, the program is refused. It does not
# where one is *ahead* of another: it is there for sure wherever the other one is assigned, as
# ``self.converged = True`` before ``self.count = i`` in one arm (``Places.is_ahead``).

_members: WeakValueDictionary[str, Enum] = WeakValueDictionary()  # by their texts


def _text_of_key(key: object) -> str | None:
    """A text for a constant that is a key; None for another key."""
    if not is_member(key) or isinstance(key, int | float | str):
        return repr(key) if type(key) in (str, int) else None
    text = stem = f"{type(key).__qualname__}.{key.name}"
    count = 1
    while _members.setdefault(text, key) is not key:
        text, count = f"{stem} ({count})", count + 1
    return text


def key_of_text(text: str) -> object:
    """The key that has a text."""
    return _members[text] if text in _members else literal_eval(text)


class _Part:
    """What an object holds."""

    __slots__ = ()
    door: Attributes
    owner: Any

    @property
    def base(self) -> object:
        return self.owner

    @property
    def home(self) -> int | None:
        return self.door.places.home_of(self.owner)


@frozen
class Attribute(_Part):
    """``owner.name``."""

    door: Attributes
    owner: Any
    name: str

    @property
    def text(self) -> str | None:
        owner = self.door.places.text_of(self.owner)
        return None if owner is None else f"{owner}.{self.name}"

    @property
    def part(self) -> str:
        return self.name

    def names_behind(self) -> list[str]:
        """The names that an object has behind this one; outer ones are changed in order."""
        if self.door.is_foreign(self.owner):
            return []
        return self.door.names_behind(self.owner, self.name)

    @property
    def flag(self) -> Any:
        return self.door.presence(self.owner, self.name)

    @property
    def may_begin(self) -> bool:
        return self.door.may_be_given(self.owner, self.name)

    def read(self) -> object:
        return self.door.attr(self.owner, self.name)

    def held(self) -> Any:
        return self.door.held_attribute(self.owner, self.name)

    def put(self, value: object, flag: object = True) -> None:
        if self.door.is_foreign(self.owner):
            self.door.see_attribute(self.owner, self.name, value, flag)
        elif flag is not False:
            value = (
                value if flag is True else self.door.maybe_set(flag, self.owner, self.name, value)
            )
            put_attribute(self.owner, self.name, value)
        elif self.flag is not False:
            object.__delattr__(self.owner, self.name)

    def store(self, value: object, flag: object = True) -> None:
        if not self.door.is_foreign(self.owner):
            self.put(value, flag)
        elif flag is True:
            self.door.store_attr(self.owner, self.name, value)
        else:
            self.door.store_attribute_if(flag, self.owner, self.name, value)


@frozen
class Item(_Part):
    """``owner[key]`` of a dict or a list."""

    door: Attributes
    owner: Any
    key: Any

    @property
    def text(self) -> str | None:
        owner = self.door.places.text_of(self.owner)
        key = self.key
        if isinstance(key, Enum) and isinstance(key, int | str) and self.flag is True:
            key = key.value  # the same item, whose key stays as it is
        key = _text_of_key(key)
        return None if owner is None or key is None else f"{owner}[{key}]"

    @property
    def part(self) -> Any:
        return self.key

    def names_behind(self) -> list[Any]:
        """As of attributes."""
        if type(self.owner) is not OpenDict:
            return []
        keys = list(dict.keys(self.owner))
        return keys[keys.index(self.key) + 1 :] if self.key in keys else []

    @property
    def flag(self) -> Any:
        if isinstance(self.owner, ExternalDict):
            return self.owner.presence(self.key)
        if isinstance(self.owner, dict):
            return self.key in self.owner
        return type(self.key) is int and 0 <= self.key < len(self.owner)

    @property
    def may_begin(self) -> bool:
        kind = self.owner.kind if isinstance(self.owner, ExternalDict) else type(self.owner)
        return kind is dict or kind is OrderedDict

    def read(self) -> object:
        return self.owner[self.key]

    def held(self) -> Any:
        if isinstance(self.owner, ExternalDict):
            return self.owner.held(self.key)
        return self.owner[self.key] if self.flag else UNBOUND

    def put(self, value: object, flag: object = True) -> None:
        if isinstance(self.owner, ExternalDict):
            maybe = value if type(flag) is bool else MaybeSet(flag, value)
            if flag is not False or self.flag is not False:
                self.owner.see(self.key, MISSING if flag is False else maybe)
        elif type(flag) is not bool:
            raise self._not_sure()
        elif isinstance(self.owner, ExternalList):
            self.owner.see(self.key, value)
        elif flag is not False:
            self.owner[self.key] = value
        elif self.key in self.owner:
            del self.owner[self.key]

    def store(self, value: object, flag: object = True) -> None:
        if flag is True:
            self.owner[self.key] = value
        elif isinstance(self.owner, ExternalDict):
            self.owner.store_if(flag, self.key, value)
        else:
            raise self._not_sure()

    def _not_sure(self) -> Exception:
        """What to raise for a key of a dict of Python's that is there by a condition; a loop whose
        first iteration is run before it has the key. Else the next attempt has a dict for it.
        """
        statements = self.door.session.statements
        for statement in statements:
            statement.meets_unset(self.owner, self.key)
        if not any(each.may_begin_apart for each in statements):
            self.door.dicts.ask_open(self.owner)
        return refuse(
            KEYS_BY_CONDITION,
            f"a key of a {class_of(self.owner).__name__} that is there by a condition",
            "give it a value in any case",
        )


@frozen
class Rebound:
    """A variable that inner functions rebind."""

    cell: CellType
    text: str
    home: int
    flag: bool = True
    may_begin: bool = False

    @property
    def base(self) -> object:
        return self.cell

    def read(self) -> object:
        return contents_of(self.cell)

    held = read

    def put(self, value: object, flag: object = True) -> None:
        if value is UNBOUND:
            del self.cell.cell_contents
        else:
            self.cell.cell_contents = value

    store = put


@frozen
class OuterPlace:
    """A global variable, or one of a function around a function from outside."""

    door: Attributes
    variable: Outer
    text: str
    home: int = 0
    may_begin: bool = False

    @property
    def base(self) -> object:
        return self.variable.holder

    @property
    def flag(self) -> bool:
        return self.door.has_outer(self.variable)

    def read(self) -> object:
        return self.door.outer_value(self.variable)

    held = read

    def put(self, value: object, flag: object = True) -> None:
        self.door.see_outer(self.variable, value)

    def store(self, value: object, flag: object = True) -> None:
        self.door.store_outer(self.variable, value)


Place = Attribute | Item | Rebound | OuterPlace
