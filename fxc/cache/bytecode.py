"""The bytecode of fxc's modules in one file.

Python looks for, opens and checks a file for each module. A first call takes hundreds of modules,
and a fifth of its time for that.
"""

from __future__ import annotations

import atexit
import marshal
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.machinery import (
    BuiltinImporter,
    FrozenImporter,
    ModuleSpec,
    PathFinder,
    SourceFileLoader,
)
from importlib.util import MAGIC_NUMBER, cache_from_source
from io import FileIO
from types import CodeType, ModuleType
from typing import Any, TypeVar
from zlib import crc32

T = TypeVar("T")

# Note [Bytecode in one file]
# The file stands in ``__pycache__``, and what is true of Python's own files there is true of it: it
# is for one version of Python, it is not written where Python is told to write none, and where it
# is not there, modules are imported as ever. A module is taken from it if its source is as it was:
# in the same place, of the same size, changed at the same time, and if the bytecode is what was
# written there. A process that has imported many
# modules in Python's way writes the file anew when it ends, with those, too.

_MANY = 8  # three are always imported in that way, before the file is asked
_PYTHON = (BuiltinImporter, FrozenImporter, PathFinder)  # finders: none has our modules
_AHEAD = 1 << 17  # bytes that are read where one module is asked for behind another
_WORD = 8  # bytes: Python's number of its bytecode is the first word, the length of a list the next
_MAGIC = MAGIC_NUMBER.ljust(_WORD)

_SUM = 4  # bytes

# Of a module: its file in the folder, the size and time of that, and where its bytecode is, with a
# sum of it behind.
Entry = tuple[str, int, int, int, int]


def import_from_one_file(package: str, folder: str) -> None:
    """Let modules of a package, which is in this folder, be imported from the file."""
    known = any(isinstance(finder, OneFile) for finder in sys.meta_path)
    if not known and PathFinder in sys.meta_path and sys.implementation.cache_tag is not None:
        file = OneFile(package, folder)
        python = (place for place, finder in enumerate(sys.meta_path) if finder in _PYTHON)
        sys.meta_path.insert(next(python), file)
        atexit.register(file.keep)


class _Window:
    """The part of a file that was read last. Its memory is used again: pages that are new take
    longer than what is read into them.
    """

    def __init__(self) -> None:
        self.begin = self.end = 0
        self.content = bytearray()


class OneFile:
    """Finds those modules of a package of which there is bytecode in the file."""

    def __init__(self, package: str, folder: str) -> None:
        self._package, self._folder = package, folder
        self.path = cache_from_source(os.path.join(folder, "modules.py")) + "s"
        self._begin = 0  # of the bytecode, behind the list of modules
        self._state: tuple[int, ...] = ()  # of the file when the list was read
        self._windows = list[_Window]()  # one, unless a thread is about to read
        self._end = 0  # of what was asked for last
        self._asked: dict[str, None] = {}  # which modules, in the order in which they began
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

    def _made_of(
        self, name: str, place: Sequence[int], make: Callable[[memoryview], T]
    ) -> T | None:
        """What is made of the bytecode of a module, which is copied nowhere; None if it is not what
        was written, or the file is another one now.

        The file is not kept open: a program may close what it has not opened, and what is mapped
        into memory ends the process if somebody cuts it off.
        """
        begin, end = place
        window = self._windows.pop() if self._windows else _Window()  # this thread's meanwhile
        if not window.begin <= begin <= end <= window.end:
            length = max(end - begin, _AHEAD if begin == self._end else 0)
            window.begin, window.end = begin, begin + self._read_into(window, begin, length)
        self._end, made = end, None
        if end <= window.end:
            found = memoryview(window.content)[begin - window.begin : end - window.begin]
            code = found[:-_SUM]
            made = make(code) if found[-_SUM:] == _sum(name, code) else None
        self._windows[:] = [window]
        return made

    def _read_into(self, window: _Window, begin: int, length: int) -> int:
        """Read so many bytes of the bytecode, or as many as there are; none of another file."""
        if len(window.content) < length:
            window.content = bytearray(length)
        with suppress(OSError), FileIO(self.path) as file:
            if _state(file.fileno()) == self._state:
                file.seek(self._begin + begin)
                return file.readinto(memoryview(window.content)[:length])
        return 0

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """As Python asks what is in ``sys.meta_path``."""
        entry = self._entries.get(name)
        if self._is_own(name):
            self._asked[name] = None
        if entry is None:
            return None
        inside, size, changed, *place = entry
        source = f"{self._folder}{os.sep}{inside}"  # quicker than ``join``
        if _stamp(source) != (size, changed):
            return None
        code = self._made_of(name, place, marshal.loads)
        if code is None:
            return None
        spec = ModuleSpec(name, _Loader(name, source, code), origin=source)
        spec.has_location, spec.cached = True, self.path
        if inside.endswith("__init__.py"):
            spec.submodule_search_locations = [os.path.dirname(source)]
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
            code = self._made_of(name, place, bytes)
            if code is not None:
                codes[name] = (inside, size, changed), code
        for name, loader in others.items():
            stamp = _stamp(loader.path)  # before it is read: of what is edited now, nothing is used
            told = os.path.relpath(loader.path, self._folder), *stamp
            codes[name] = told, marshal.dumps(loader.get_code(name))
        entries, length = dict[str, Entry](), 0
        codes = {name: codes[name] for name in (*self._asked, *codes) if name in codes}
        parts = list[bytes]()
        for name, (told, each) in codes.items():
            parts += each, _sum(name, each)
            end = length + len(each) + _SUM
            entries[name], length = (*told, length, end), end
        listed = marshal.dumps((self._folder, length, entries))
        head = (_MAGIC, len(listed).to_bytes(_WORD, "little"), listed)
        own = f"{self.path}.{os.getpid()}"
        try:
            with open(own, "xb") as file:
                file.write(b"".join((*head, *parts)))
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

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code: CodeType | None = code

    def get_code(self, fullname: str) -> CodeType | None:
        """As Python asks once, and others may later."""
        code, self._code = self._code, None
        return code or super().get_code(fullname)


def _sum(name: str, code: bytes | memoryview) -> bytes:
    """What tells whether bytecode is damaged, or another module's."""
    return crc32(code, crc32(name.encode())).to_bytes(_SUM, "little")


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
