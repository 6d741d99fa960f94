"""What every process has of its own, as references: functions, their globals, classes, modules.

See Note [Stored compilations].
"""

from __future__ import annotations

import io
import pickle
from importlib import import_module
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .by_name import imported, loaded
from .digests import digest_of, is_made_by_python


class NotStored(Exception):
    """Something has no name that it could be found by, or is another thing in this process."""


class ReferenceWriter(pickle.Pickler):
    """Writes objects; what belongs to a process becomes a reference, from ``root`` if need be."""

    def __init__(self, file: io.BytesIO, root: FunctionType, functions: list[FunctionType]) -> None:
        super().__init__(file, protocol=5)
        self._root = root
        self._codes = {id(each.__code__): each for each in (root, *functions)}
        self._globals = {id(each.__globals__): each for each in (root, *functions)}
        self._cells = {
            id(cell): (each, place)
            for each in (root, *functions)
            for place, cell in enumerate(each.__closure__ or ())
        }
        self._files = {each.__code__.co_filename: each for each in (*functions, root)}
        self._digests = dict[int, bytes]()

    def persistent_id(self, value: object) -> Any:
        """References that are no calls: the root, what it finds by name, and dicts of such names.

        What is in the root's own module goes by the root: cloudpickle gives functions of
        ``__main__`` a module of their own.
        """
        if type(value) is str:  # where the functions are, as logs and warnings tell it
            return ("file", self._files[value]) if value in self._files else None
        if value is self._root:
            return "root", self._digest(value)
        if type(value) is dict and id(value) in self._globals:
            return "globals", self._globals[id(value)]
        if isinstance(value, FunctionType):
            name = value.__name__
            reference = name, self._digest(value)
            found = self._root.__globals__.get(name)
            if found is value:
                return "name", reference
            if getattr(found, "__fxc_original__", None) is value:
                return "original", reference
        return None

    def reducer_override(self, value: Any) -> Any:
        """How a reference is made of what pickle would copy or refuse."""
        kind = type(value)
        if kind is FunctionType and value is not _same:
            return self._function(value)
        if kind is CodeType:
            owner = self._codes.get(id(value))
            if owner is None:
                raise NotStored(f"the code of {value.co_name}")
            return _code_of, (owner,)
        if kind is ModuleType:
            return import_module, (value.__name__,)
        if kind is CellType:
            if id(value) not in self._cells:
                raise NotStored("a variable of an inner function")
            return _cell_of, self._cells[id(value)]
        if isinstance(value, np.dtype) and value.isbuiltin == 1 and value.isnative:
            return np.dtype, (value.str,)
        if isinstance(value, type) and is_made_by_python(value):
            if loaded(value.__module__, value.__qualname__) is not value:
                raise NotStored(f"the class {value.__qualname__}")
            return _same, (value.__module__, value.__qualname__, "", self._digest(value))
        return NotImplemented

    def _function(self, function: FunctionType) -> Any:
        found = loaded(function.__module__, function.__qualname__)
        for part in ("", "__fxc_original__", "_implementation"):
            if (getattr(found, part, None) if part else found) is function:
                digest = self._digest(function)
                return _same, (function.__module__, function.__qualname__, part, digest)
        raise NotStored(f"the function {function.__qualname__}")

    def _digest(self, value: FunctionType | type) -> bytes:
        """That of a function or a class, which is asked for often."""
        if id(value) not in self._digests:
            self._digests[id(value)] = digest_of(value)
        return self._digests[id(value)]


class ReferenceReader(pickle.Unpickler):
    """Reads what ``ReferenceWriter`` has written, for the function ``root``."""

    def __init__(self, file: io.BytesIO, root: FunctionType) -> None:
        super().__init__(file)
        self._root = root
        self._known = set[bytes]()  # digests of the root

    def persistent_load(self, reference: Any) -> Any:
        """What a reference is in this process."""
        what, said = reference
        if what == "root":
            if said not in self._known:
                _checked(self._root, said)
                self._known.add(said)
            return self._root
        if what == "globals":
            return said.__globals__
        if what == "file":
            return said.__code__.co_filename
        name, digest = said
        found = self._root.__globals__[name]
        return _checked(found.__fxc_original__ if what == "original" else found, digest)


def _same(module: str, qualname: str, part: str, digest: bytes) -> Any:
    """What has this name, or a part of it."""
    found = imported(module, qualname)
    return _checked(getattr(found, part) if part else found, digest)


def _checked(found: Any, digest: bytes) -> Any:
    """A function or a class, if it is what it was where it was written."""
    if not isinstance(found, FunctionType | type) or digest_of(found) != digest:
        raise NotStored(f"{getattr(found, '__qualname__', found)} is not what it was")
    return found


def _code_of(function: FunctionType) -> CodeType:
    return function.__code__


def _cell_of(function: FunctionType, place: int) -> CellType:
    assert function.__closure__ is not None
    return function.__closure__[place]
