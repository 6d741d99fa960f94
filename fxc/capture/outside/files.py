"""Open files from outside."""

from __future__ import annotations

from typing import Any

from fxc.ir.error_kinds import TEXT

from ..guards.program import Source
from ..session.refusing import refuse
from ..values.late import late
from ..values.operands import Traced


class TracedFile(Traced):
    """An open file from outside."""

    __slots__ = ("_door", "_real", "_source")
    _written_by = "_file"

    def __init__(self, real: object, source: Source, door: Any) -> None:
        self._real = real
        self._source = source
        self._door = door

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._real)

    def __getattr__(self, name: str) -> object:
        if name == "write":
            return self._write
        if name == "flush":
            return self._flush
        if name.startswith("__"):
            raise AttributeError(name)
        raise refuse(TEXT, f"{name} of an open file")

    def _write(self, text: object) -> object:
        if not isinstance(text, str):
            raise refuse(TEXT, "writing anything but a text to a file")
        self._door.show("write", _write, self, text)
        return late(int, len, text)

    def _flush(self) -> None:
        self._door.show("flush", _flush, self)


def _write(file: Any, text: str) -> None:
    file.write(text)


def _flush(file: Any) -> None:
    file.flush()
