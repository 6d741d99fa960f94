"""The namespaces of objects from outside, ``x.__dict__``, as the captured program sees them."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterator
from typing import Any

from ..refusing import refuse
from .containers import ExternalMapping, Held, give_reads, plain_key
from .objects import MISSING, class_attribute, is_data_descriptor


class Namespace(ExternalMapping, dict[str, Any]):
    """The dict of an object's attributes: its items are read and stored as those are, but for what
    the class has to say.
    """

    def __init__(
        self,
        held: Held,
        kind: type,
        items: Callable[[], dict[str, Any]],
        find: Callable[[str], Any],
        store: Callable[[str, Any], None],
    ) -> None:
        super().__init__()
        self._held = held
        self._kind = kind  # of the object
        self._items = items
        self._found = find  # by the name; it gives MISSING for none
        self._store = store

    def settle(self) -> None:
        items = self._items()
        dict.clear(self)
        dict.update(self, items)

    def _checked(self, key: Any) -> str:
        key = plain_key(key)
        found = class_attribute(self._kind, key) if type(key) is str else None
        plain = type(key) is str and key.isidentifier() and not keyword.iskeyword(key)
        if not plain or is_data_descriptor(found):
            raise refuse(
                f"the item {key!r} of {self._held.source.text}, which is no plain attribute, "
                "cannot be captured; read and store attributes"
            )
        return str(key)

    def _find(self, key: Any) -> Any:
        return self._found(self._checked(key))

    def __getitem__(self, key: Any) -> Any:
        value = self._find(key)
        if value is MISSING:
            raise KeyError(key)
        return value

    def get(self, key: Any, default: Any = None, /) -> Any:
        """As ``dict.get``."""
        value = self._find(key)
        return default if value is MISSING else value

    def __contains__(self, key: object) -> bool:
        return self._find(key) is not MISSING

    def __setitem__(self, key: Any, value: Any, /) -> None:
        self._store(self._checked(key), value)

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        """As ``dict.setdefault``."""
        if key not in self:
            self[key] = default
        return self[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items())

    def __len__(self) -> int:
        return len(self._items())

    def keys(self) -> Any:
        """As ``dict.keys``, of what is there now."""
        return self._items().keys()

    def values(self) -> Any:
        """As ``dict.values``, likewise."""
        return self._items().values()

    def items(self) -> Any:
        """As ``dict.items``, likewise."""
        return self._items().items()

    def __delitem__(self, key: Any, /) -> None:
        raise refuse(
            f"'del' of an item of {self._held.source.text} cannot be captured; use delattr"
        )

    def __ror__(self, other: Any) -> Any:
        return {**other, **self._items()} if type(other) is dict else NotImplemented

    def copy(self) -> dict[str, Any]:
        """As ``dict.copy``."""
        return self._items()


give_reads(Namespace, "__reversed__ __eq__ __ne__ __or__ __repr__")
