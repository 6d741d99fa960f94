"""The bytecode of fxc's modules in one file.

Python looks for, opens and checks a file for each module. A first call takes hundreds of modules,
and a fifth of its time for that.
"""

from __future__ import annotations

import atexit
import marshal
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source, spec_from_file_location
from types import CodeType, ModuleType
from typing import Any

# Note [Bytecode in one file]
# The file stands in ``__pycache__``, and what is true of Python's own files there is true of it: it
# is for one version of Python, it is not written where Python is told to write none, and where it
# is not there, modules are imported as ever. A module is taken from it if its source is as it was:
# in the same place, of the same size, changed at the same time. A process that has imported many
# modules in Python's way writes the file anew when it ends, with those, too.

_MANY = 16
_WORD = 8  # bytes: Python's number of its bytecode is the first word, the length of a list the next
_MAGIC = MAGIC_NUMBER.ljust(_WORD)

# Of a module: its file in the folder, the size and time of that, and where its bytecode is.
Entry = tuple[str, int, int, int, int]


def import_from_one_file(package: str, folder: str) -> None:
    """Let modules of a package, which is in this folder, be imported from the file."""
    known = any(isinstance(finder, OneFile) for finder in sys.meta_path)
    if not known and PathFinder in sys.meta_path and sys.implementation.cache_tag is not None:
        file = OneFile(package, folder)
        sys.meta_path.insert(sys.meta_path.index(PathFinder), file)
        atexit.register(file.keep)


class OneFile:
    """Finds those modules of a package of which there is bytecode in the file."""

    def __init__(self, package: str, folder: str) -> None:
        self._package, self._folder = package, folder
        self.path = cache_from_source(os.path.join(folder, "modules.py")) + "s"
        self._begin = 0  # of the bytecode, behind the list of modules
        self._state: tuple[int, ...] = ()  # of the file when the list was read
        self._entries = self._read() or {}

    def _read(self) -> dict[str, Entry] | None:
        with suppress(OSError, ValueError, EOFError, TypeError), open(self.path, "rb") as file:
            head = file.read(2 * _WORD)
            listed = file.read(int.from_bytes(head[_WORD:], "little"))
            self._begin, self._state = file.tell(), _state(file.fileno())
            if head[:_WORD] == _MAGIC:
                folder, length, entries = marshal.loads(listed)
                if folder == self._folder and length == self._state[0] - self._begin:
                    return entries  # type: ignore[no-any-return]
        return None

    def _bytes(self, begin: int, end: int) -> bytes | None:
        """A part of the bytecode; None if the file is another one now.

        The file is opened for each: a program may close what it has not opened, and what is mapped
        into memory ends the process if somebody cuts it off.
        """
        try:
            place = os.open(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except OSError:
            return None
        try:
            if _state(place) != self._state:
                return None
            os.lseek(place, self._begin + begin, os.SEEK_SET)
            code = os.read(place, end - begin)
            return code if len(code) == end - begin else None
        except OSError:
            return None
        finally:
            os.close(place)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As Python asks what is in ``sys.meta_path``."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        inside, size, changed, *place = entry
        source = f"{self._folder}{os.sep}{inside}"  # quicker than ``join``
        code = self._bytes(*place) if _stamp(source) == (size, changed) else None
        if code is None:
            return None
        loader = _Loader(name, source, code)
        folders = [os.path.dirname(source)] if inside.endswith("__init__.py") else None
        spec = spec_from_file_location(
            name, source, loader=loader, submodule_search_locations=folders
        )
        if spec is not None:
            spec.cached = self.path
        return spec

    def keep(self) -> None:
        """Write the file anew if many modules were not in it."""
        if sys.dont_write_bytecode:
            return
        own = [module for name, module in sys.modules.items() if self._is_own(name)]
        others = [each for each in own if type(each.__loader__) is SourceFileLoader]
        if len(others) >= _MANY:
            with suppress(OSError, SyntaxError, ValueError):  # of the folder, or of a new source
                self._write({each.__name__: each.__loader__ for each in others})

    def _is_own(self, name: str) -> bool:
        return name == self._package or name.startswith(self._package + ".")

    def _write(self, others: dict[str, Any]) -> None:
        """Write what is in the file and what these loaders give."""
        codes = dict[str, tuple[tuple[str, int, int], bytes]]()
        for name, (inside, size, changed, *place) in self._entries.items():
            code = self._bytes(*place)
            if code is not None:
                codes[name] = (inside, size, changed), code
        for name, loader in others.items():
            stamp = _stamp(loader.path)  # before it is read: of what is edited now, nothing is used
            code = marshal.dumps(loader.get_code(name))
            codes[name] = (os.path.relpath(loader.path, self._folder), *stamp), code
        entries, length = dict[str, Entry](), 0
        for name, (told, each) in codes.items():
            entries[name] = (*told, length, length + len(each))
            length += len(each)
        listed = marshal.dumps((self._folder, length, entries))
        head = (_MAGIC, len(listed).to_bytes(_WORD, "little"), listed)
        own = f"{self.path}.{os.getpid()}"
        try:
            with open(own, "xb") as file:
                file.write(b"".join((*head, *(each for _, each in codes.values()))))
                file.flush()
                os.fsync(file.fileno())  # what is cut off would be read as bytecode
            os.replace(own, self.path)
        except FileExistsError:  # of a process of another machine, say
            raise
        except OSError:
            with suppress(FileNotFoundError):
                os.remove(own)
            raise


class _Loader(SourceFileLoader):
    """A module whose bytecode is known."""

    def __init__(self, name: str, path: str, code: bytes) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType | None:
        """As Python asks once, and others may later."""
        code, self._code = self._code, b""
        return marshal.loads(code) if code else super().get_code(fullname)


def _state(place: int) -> tuple[int, ...]:
    told = os.fstat(place)
    return told.st_size, told.st_mtime_ns, told.st_ino, told.st_dev


def _stamp(source: str) -> tuple[int, int]:
    """The size of a file and when it was changed; nothing that a file has if it is not there."""
    try:
        told = os.stat(source)
    except OSError:
        return -1, -1
    return told.st_size, told.st_mtime_ns
