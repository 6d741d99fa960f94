"""Texts to which loops of the graph add. See Note [Texts of the graph]."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays.traced_array import TracedArray
from ..forms.truths import demand
from ..session.locations import user_location
from ..session.session import current
from ..values.operands import constant, wrap
from .list_buffers import Buffer, ToGrow
from .list_room import Int
from .texts import Text, code_of, codes_in, is_char, refused


class GrownTexts(ToGrow):
    """The texts of a capture to which loops may add, by the place where they begin."""

    def made(self, text: str, place: int, front: bool) -> object:
        """A text that a variable begins with."""
        if not self.grows(f"text at {user_location()}:{place}"):
            return text
        codes = [ord(x) for x in text]
        return Grown(Codes(codes[::-1] if front else codes, front), len(text))


class Codes(Buffer):
    """The code points of texts, each the start of the next or, if ``front``, its end, backwards."""

    __slots__ = ("front",)

    def __init__(self, codes: list[int], front: bool) -> None:
        super().__init__(codes)
        self.front = front


class Grown(Text):
    """The first ``count`` code points of a buffer as a text."""

    __slots__ = _held = ("_buffer", "_count")
    _of_item = None  # type: ignore[assignment]

    def __init__(self, buffer: Codes, count: Int) -> None:
        self._buffer = buffer
        self._count = count

    @classmethod
    def _of_structure(cls, keys: tuple[Any, ...], items: Any) -> Grown:
        (buffer,), (count,) = keys, items
        return cls(buffer, count)

    def _structure_keys(self) -> tuple[Any, ...]:
        return (self._buffer,)

    @staticmethod
    def _has_structure(x: object) -> bool:
        return type(x) is str and not x

    @staticmethod
    def _structure_items(x: object) -> tuple[Any, ...]:
        return (x._count if type(x) is Grown else 0,)

    @property
    def grows_at_begin(self) -> bool:  # type: ignore[override]
        return self._buffer.front

    def length(self) -> object:
        return self._count

    def codes(self) -> TracedArray:
        codes = self._buffer
        if codes.items is not None:
            found = wrap(constant(np.array(codes.items, np.int32)))
        else:
            _, (array,) = codes.arrays()
            found = wrap(array).astype(np.int32)[: self._count]
        return found[::-1] if self._buffer.front else found  # type: ignore[no-any-return]

    def __add__(self, other: object) -> Any:
        return self._longer(other) if not self._buffer.front else super().__add__(other)

    def __radd__(self, other: object) -> Any:
        return self._longer(other) if self._buffer.front else super().__radd__(other)

    def _longer(self, other: Any) -> object:
        """This with another text at its end, or begin."""
        buffer, door = self._buffer, current().door
        if not is_char(other) and codes_in(other) is None:
            raise refused("'+'")
        demand(self._count == buffer.next_place())
        if is_char(other) or type(other) is str:
            added = [other] if is_char(other) else list(other)
            for each in reversed(added) if buffer.front else added:
                buffer.append(code_of(each))
            return Grown(buffer, self._count + len(added))
        codes: Any = codes_in(other)
        door.staged(_append_all)(buffer, codes[::-1] if buffer.front else codes)
        return Grown(buffer, self._count + codes.shape[0])

    def __getitem__(self, key: object) -> Any:
        if isinstance(key, slice) or self._buffer.items is not None or not current().region:
            return super().__getitem__(key)
        raise refused("an item, in a loop that adds to it,")


def _append_all(items: Codes, codes: Iterable[int]) -> None:
    for code in codes:
        items.append(int(code))
