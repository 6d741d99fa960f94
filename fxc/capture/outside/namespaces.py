"""The namespaces of objects from outside, ``x.__dict__``, as the captured program sees them."""

from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import Any

from fxc.ir.error_kinds import CHANGE_OUTSIDE

from ..session.refusing import refuse
from ..values.objects import class_attribute, is_data_descriptor
from .containers import MAPPING_READS, ExternalMapping, Held, give_reads, plain_key


class Namespace(ExternalMapping, dict[str, Any]):
    """The dict of an object's attributes: its items are read and stored as those are, but for what
    the class has to say.
    """

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

    def _find(self, key: object) -> Any:
        return self._found(self._checked(key))

    def copy(self) -> dict[str, Any]:
        return self._items()

    def __setitem__(self, key: object, value: object, /) -> None:
        self._store(self._checked(key), value)

    def __delitem__(self, key: object, /) -> None:
        raise refuse(CHANGE_OUTSIDE, f"'del' of an item of {self._held.source.text}", "use delattr")


give_reads(Namespace, MAPPING_READS)
