"""Object code that is kept, for who makes it again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from fxc.ir.likened import Likened, Models


class MoreCode(Protocol):
    """Where there is more machine code: of other processes."""

    def get(self, key: bytes) -> bytes | None: ...
    def keep(self, key: bytes, code: bytes) -> None: ...


class KeptCode:
    """The object code that was made last, by a digest of its source: variants of a function, and
    what is compiled again, often come to the same loops. Requires: one thread at a time.
    """

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0  # bytes
        self.behind: MoreCode | None = None
        self._kept: OrderedDict[bytes, Likened] = OrderedDict()
        self._models = Models()

    def get(self, key: bytes) -> bytes | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found.content()
        code = None if self.behind is None else self.behind.get(key)
        if code is not None:
            self._hold(key, code)
        return code

    def keep(self, key: bytes, code: bytes, lasts: bool = True) -> None:
        """Keep code, which another process may use if it ``lasts``."""
        self._hold(key, code)
        if lasts and self.behind is not None:
            self.behind.keep(key, code)

    def _hold(self, key: bytes, code: bytes) -> None:
        if key in self._kept:
            self._size -= self._kept.pop(key).size
        self._kept[key] = self._models.likened(code)
        self._size += len(code)
        while self._size > self._most:
            self._size -= self._kept.popitem(last=False)[1].size
