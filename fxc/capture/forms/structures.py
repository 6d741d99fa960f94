"""What branches and loops join item by item: tuples, lists, dicts and objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.records import frozen

from ..outside.containers import External
from ..session.refusing import OBJECTS_APART, RECORDS_APART
from ..session.session import current
from ..staging.jumps import RESULT
from ..values.maybe_set import UNBOUND, MaybeSet
from ..values.objects import (
    is_made_by_object,
    is_namedtuple,
    is_python_class,
    slot_names,
    slots_of,
    vars_of,
)
from ..values.operands import Traced
from ..values.shadows import class_of, shadow_of, tuple_of


@frozen
class Structure:
    """A class, and the keys of the items: numbers for those of a tuple."""

    kind: type
    keys: tuple[Any, ...]
    joined: bool = False  # see Note [Objects that are joined]

    @staticmethod
    def of_row(kind: type, x: Sequence[object], joined: bool = False) -> Structure:
        """The structure of a tuple or a list."""
        return Structure(kind, tuple(range(len(x))), joined)

    @property
    def text(self) -> str:
        """What a message calls it."""
        return f"a {self.kind.__name__} of {len(self.keys)} items"

    @property
    def is_traced(self) -> bool:
        """Whether it is one of values that are not known: see ``Traced._structure_keys``."""
        return issubclass(self.kind, Traced)

    @property
    def pool(self) -> Any:
        """Of records the pool, see Note [Records]; None for other things."""
        return self.keys[0] if self.is_traced and self.kind._in_pool else None  # type: ignore[attr-defined]

    @property
    def otherwise(self) -> Any:
        """What to ask for where a loop does not carry it; None for nothing."""
        asks = self.kind._otherwise if self.is_traced else None  # type: ignore[attr-defined]
        return None if asks is None else asks(self.keys)

    def takes(self, x: object) -> bool:
        """Whether something else may stand for what has this structure."""
        return self.is_traced and self.kind._has_structure(x)  # type: ignore[attr-defined]

    def of(self, items: Iterable[object]) -> Any:
        """The same with these items, which nobody else has."""
        if self.is_traced:
            return self.kind._of_structure(self.keys, items)  # type: ignore[attr-defined]
        if issubclass(self.kind, tuple):
            return tuple_of(self.kind, items)
        if self.kind is list:
            row = list(items)
            if self.joined:
                current().door.places.seal(row)
            current().door.places.note_item_list(row)
            return row
        if self.kind is dict:
            made: Any = {}
        else:
            made = object.__new__(shadow_of(self.kind, always=self.joined))
        if self.joined:
            current().door.places.seal(made)
        (made if self.kind is dict else vars(made)).update(zip(self.keys, items, strict=True))
        current().door.places.note_joined(made)
        return made

    def standing_for(self, left: object, right: object, items: Iterable[object]) -> Any:
        """The same, which stands for one of two."""
        made = self.of(items)
        if self.joined:
            known = [x for x in (left, right) if x is not UNBOUND]
            current().door.places.note_kin(*known, made=made)
        return made


def structure_of(x: object, name: str) -> Structure | None:
    """As ``_structure_of``; an item of a list that has none may have one as a record."""
    found = _structure_of(x, name)
    if found is None:
        current().door.places.ask_records(x)
    return found


def _structure_of(x: Any, name: str = "") -> Structure | None:
    """The structure of what the variable of that name holds, if it may be joined item by item.

    A tuple may always be, and an object of a frozen dataclass that the program made; of a dict or
    another object nobody may have seen which one it is: it was made where it is returned. Lists and
    objects may be joined where nobody changes them, see Note [Objects that are joined].
    """
    if isinstance(x, Traced):
        return _of_keys(x, x._structure_keys())
    kind, places = class_of(x), current().door.places
    if isinstance(x, tuple):
        return _tuple_structure(x, kind)
    if kind is list:
        return _list_structure(x, name)
    frozen_one = getattr(getattr(kind, "__dataclass_params__", None), "frozen", False)
    if not (frozen_one and places.is_made(x)) and not (
        name.startswith(RESULT) and places.is_new(x, name)
    ):
        deep = name.startswith(RESULT) or name.count(".") > DEEPEST
        # What is returned may be stored at a place, too.
        is_apart = deep or not (name.isidentifier() or places.is_alone(x, name))
        return None if is_apart else _joined_structure(x, kind)
    if kind is dict:
        return _dict_structure(x)
    plain = is_made_by_object(kind) and is_python_class(kind) and not slots_of(x)
    return Structure(kind, tuple(vars(x))) if plain else None


def _tuple_structure(x: tuple[object, ...], kind: type) -> Structure | None:
    plain = kind is tuple or (is_namedtuple(kind) and not vars_of(x))
    return Structure.of_row(kind, x) if plain else None


def _dict_structure(x: dict[object, object], joined: bool = False) -> Structure | None:
    """The structure of a dict with texts as keys, or ints if it is only returned; else None."""
    kinds = (str,) if joined else (str, int)
    return Structure(dict, tuple(x), joined) if all(type(key) in kinds for key in x) else None


def _of_keys(x: Traced, keys: tuple[object, ...] | None) -> Structure | None:
    return None if keys is None else Structure(type(x), keys)


def joint_structure(
    items: Iterable[object], structures: Iterable[Structure | None]
) -> Structure | None:
    """The structure that all of these have or may stand for; None if there is none."""
    found = set(structures)
    plain = found - {None}
    if len(plain) == 1 and len(found) == 2:
        (structure,) = plain
        assert structure is not None
        others = (x for x in items if not (isinstance(x, Traced) and _structure_of(x) == structure))
        return structure if all(map(structure.takes, others)) else None
    return found.pop() if len(found) == 1 else None


# Note [Objects that are joined]
# ``if far: p = p + step`` makes p one of two objects. Where nobody changes either of them later, or
# asks which one it is, an object that holds what the two hold stands for both; so it is with lists
# of the same length, and with dicts of the same texts as keys. They are *sealed*: a store to one,
# ``is``, ``==`` by identity, a hash, or two of a class among the results start the capture again
# without that (``APART``). Lists that the arms have made, and that one variable alone has, may be
# changed as well.


_LONGEST = 32  # items of a list that is joined, or an item
DEEPEST = 4  # objects in objects; what holds itself has no end


def _list_structure(x: object, name: str) -> Structure | None:
    """The structure of a list: it is joined as objects are, whoever made it."""
    if OBJECTS_APART in current().requests or type(x) is not list:
        return None
    if current().door.places.is_assigned(x):
        return None
    if len(x) > _LONGEST or name.count(".") > DEEPEST:
        return None
    is_ours = current().door.places.is_ours(x, name)
    return Structure.of_row(list, x, joined=not is_ours)


def common_structure(x: object, y: object, name: str) -> Structure | None:
    """The structure of what two arms give to a variable; None if it has none that is theirs."""
    both = [each for each in (x, y) if each is not UNBOUND]
    structures = {structure_of(each, name) for each in both}
    if None in structures:
        return joint_structure(both, structures)
    if len({(each.kind, each.keys) for each in structures if each is not None}) > 1:
        if RECORDS_APART in current().requests:
            return None
        wider, *others = {each._wider_keys() if isinstance(each, Traced) else None for each in both}
        return None if wider is None or others else Structure(type(both[0]), wider)
    return max(structures, key=lambda each: each is not None and each.joined, default=None)


def _joined_structure(x: Any, kind: type) -> Structure | None:
    door = current().door
    if OBJECTS_APART in current().requests or isinstance(x, Traced | External):
        return None
    if kind is dict:
        joins = door.places.is_made(x) and not door.places.is_assigned(x)
        is_set = all(type(item) is not MaybeSet for item in x.values())
        return _dict_structure(x, joined=True) if joins and is_set else None
    if not is_python_class(kind):
        return None
    known = door.places.is_made(x) or door.outside.is_stand_in(x)
    if not known or not is_made_by_object(kind) or slot_names(kind) or hasattr(kind, "__del__"):
        return None
    if door.places.is_assigned(x):
        return None
    if not all(map(_may_be_read, vars_of(door.outside.real(x)).values())):
        return None
    return Structure(kind, tuple(door.held_by(x)[0]), joined=True)


def item_structure(x: Any) -> Structure | None:
    """The structure of an item of a list of the graph; None for numbers, arrays and what can be no
    item. See Note [Records in lists].
    """
    if isinstance(x, Traced):
        return _of_keys(x, x._item_keys())
    if isinstance(x, External):
        return None
    kind, places = class_of(x), current().door.places
    if isinstance(x, tuple):
        return _tuple_structure(x, kind)
    if OBJECTS_APART in current().requests:
        return None
    if type(x) is list:
        is_row = 0 < len(x) <= _LONGEST and places.home_of(x) is not None
        return Structure.of_row(list, x, joined=True) if is_row else None
    if not places.is_made(x):
        return None
    if kind is dict:
        return _dict_structure(x, joined=True)
    plain = is_python_class(kind) and is_made_by_object(kind) and not slot_names(kind)
    return Structure(kind, tuple(vars_of(x)), joined=True) if plain and vars_of(x) else None


def _may_be_read(x: object) -> bool:
    """Whether an attribute is of a kind that may be joined, and read for that."""
    kind = type(x)
    plain = kind is np.ndarray or kind is tuple or x is None or kind in (str, bytes)
    return (
        plain
        or isinstance(x, Traced | bool | int | float | complex | np.generic)
        or (is_python_class(class_of(x)))
    )


def names_of(name: str, structure: Structure) -> list[str]:
    """What the items are called, as variables of their own."""
    return [f"{name}.{k}" for k in range(len(structure.keys))]


def items_of(x: object, structure: Structure) -> Sequence[Any]:
    """The items of what has a structure; ``x`` is sealed, if it is joined."""
    if structure.joined and x is not UNBOUND:
        current().door.places.seal(x)
        if type(x) is not dict and type(x) is not list:
            return tuple(current().door.held_by(x)[0].values())
    return fields_of(x, structure)


def fields_of(x: object, structure: Structure) -> Sequence[Any]:
    """The same, only looked at; of a variable that has no value, so have none of the items."""
    if x is UNBOUND:
        return (UNBOUND,) * len(structure.keys)
    if structure.is_traced:
        return structure.kind._items_by(structure.keys, x)  # type: ignore[attr-defined,no-any-return]
    if isinstance(x, tuple | list):
        return x
    return tuple((x if type(x) is dict else vars_of(x)).values())


# ------------------------------------------------------------------ parts


_Parts = Sequence[tuple[Any, str]]  # with the names of where they stand


def _consists_of(x: object, name: str) -> tuple[_Parts, Callable[[Sequence[Any]], Any]] | None:
    """What the variable of that name is made of, and what makes such a thing of other parts."""
    structure = structure_of(x, name)
    if structure is not None:
        both = zip(items_of(x, structure), names_of(name, structure), strict=True)
        return list(both), structure.of
    if isinstance(x, Traced) and (parts := x._parts()):
        return [(part, name) for part in parts], x._with_parts
    return None


def parts_in(x: object, name: str) -> Iterator[Any]:
    """What a result is made of: the items of tuples and their like, both sides of what differs, and
    what a mixed number holds. ``name`` says where it stands.
    """
    found = _consists_of(x, name)
    if found is None:
        yield x
        return
    for part, each in found[0]:
        yield from parts_in(part, each)


def rebuilt(x: object, parts: Iterator[object], name: str) -> object:
    """The same with other parts, in the order of ``parts_in``."""
    found = _consists_of(x, name)
    if found is None:
        return next(parts)
    old, make = found
    return make([rebuilt(part, parts, each) for part, each in old])
