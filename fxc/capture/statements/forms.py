"""What branches and loops join item by item: tuples, and dicts and objects that are returned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fxc.ir.records import frozen

from ..outside.objects import is_made_by_object, is_namedtuple, is_python_class, slots_of, vars_of
from ..outside.shadows import class_of, shadow_of
from ..session import current
from ..staging.jumps import RESULT


@frozen
class Form:
    """A class, and the keys of the items: numbers for those of a tuple."""

    kind: type
    keys: tuple[Any, ...]

    @property
    def text(self) -> str:
        """What a message calls it."""
        return f"a {self.kind.__name__} of {len(self.keys)} items"

    def of(self, items: Iterable[Any]) -> Any:
        """The same with these items, which nobody else has."""
        if issubclass(self.kind, tuple):
            return tuple.__new__(self.kind, items)
        made: Any = {} if self.kind is dict else object.__new__(shadow_of(self.kind))
        (made if self.kind is dict else vars(made)).update(zip(self.keys, items, strict=True))
        current().door.places.note_joined(made)
        return made


def form_of(x: Any, name: str) -> Form | None:
    """The form of what the variable of that name holds, if it may be joined item by item.

    A tuple may always be, and an object of a frozen dataclass that the program made; of a dict or
    another object nobody may have seen which one it is: it was made where it is returned.
    """
    kind, places = class_of(x), current().door.places
    if kind is tuple:
        return Form(kind, tuple(range(len(x))))
    if isinstance(x, tuple):
        plain = is_namedtuple(kind) and not vars_of(x)
        return Form(kind, tuple(range(len(x)))) if plain else None
    frozen_one = getattr(getattr(kind, "__dataclass_params__", None), "frozen", False)
    if not (frozen_one and places.is_made(x)) and not (
        name.startswith(RESULT) and places.is_new(x, name)
    ):
        return None
    if kind is dict:
        return Form(kind, tuple(x)) if all(type(key) is str for key in x) else None
    plain = is_made_by_object(kind) and is_python_class(kind) and not slots_of(x)
    return Form(kind, tuple(vars(x))) if plain else None


def names_of(name: str, form: Form) -> list[str]:
    """What the items are called, as variables of their own."""
    return [f"{name}.{k}" for k in range(len(form.keys))]


def items_of(x: Any) -> Sequence[Any]:
    """The items of what has a form."""
    if isinstance(x, tuple):
        return x
    return tuple((x if type(x) is dict else vars(x)).values())
