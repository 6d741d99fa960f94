"""Machine code of earlier processes, by what it was made of."""

from __future__ import annotations

import zlib

from fxc.runtime import engine

from . import folder
from .keys import key_of_code


class CodesOnDisk:
    """What is behind the machine code that a process keeps."""

    def get(self, key: bytes) -> bytes | None:
        found = folder.read(key_of_code(key)) if folder.is_on() else None
        return None if found is None else zlib.decompress(found)

    def keep(self, key: bytes, code: bytes) -> None:
        if folder.is_on():
            folder.write(key_of_code(key), zlib.compress(code, 1))


def keep_codes_on_disk() -> None:
    """Let the engine take machine code from the cache, and put it there."""
    if engine.codes.behind is None:
        engine.codes.behind = CodesOnDisk()
