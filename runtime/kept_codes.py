"""Object code that is kept, for who makes it again.

It is compressed by what it has in common with other code: thousands of pieces may live at once.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from typing import Protocol

_ALIKE = 8  # times smaller: what is like the bytes that it is compressed by
_UNLIKE = 4  # in a row that are not: the next ones are compressed by this one
_LEVEL = 3
_TABLES = 5  # zlib's size of them: with the usual 8 it takes longer to get them than to use them


class Likened:
    """So many bytes that are compressed, by others as ``by`` if that is not empty."""

    __slots__ = ("_by", "_packed", "size")

    def __init__(self, by: bytes, packed: bytes, size: int) -> None:
        self._by, self._packed, self.size = by, packed, size

    def content(self) -> bytes:
        """The bytes as they were."""
        return _unpacked(self._packed, _unpacked(self._by, b"") if self._by else b"")


class Models:
    """The bytes that others of their kind are compressed by just now.

    >>> models = Models()
    >>> first, second = (models.likened(bytes(range(n, 200))) for n in (0, 1))
    >>> second.content() == bytes(range(1, 200)), len(second._packed) < 30
    (True, True)
    """

    def __init__(self) -> None:
        self._model = b"", b""  # as it is, and compressed; at once, for threads
        self._unlike = _UNLIKE

    def likened(self, content: bytes) -> Likened:
        """Bytes, compressed."""
        model, by = self._model
        if self._unlike < _UNLIKE:
            packed = _packed(content, model)
            is_like = len(packed) * _ALIKE <= len(content)
            self._unlike = 0 if is_like else self._unlike + 1
            return Likened(by, packed, len(content))
        packed = _packed(content, b"")
        self._model, self._unlike = (content, packed), 0
        return Likened(b"", packed, len(content))


def _packed(content: bytes, by: bytes) -> bytes:
    making = zlib.compressobj(_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS, _TABLES, 0, by)
    return making.compress(content) + making.flush()


def _unpacked(packed: bytes, by: bytes) -> bytes:
    return (zlib.decompressobj(zdict=by) if by else zlib.decompressobj()).decompress(packed)


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
