"""What every process has of its own, as references: functions, their code and globals, modules.

See Note [Stored compilations].
"""

from __future__ import annotations

import io
import pickle
import sys
from hashlib import sha256
from importlib import import_module
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np


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

    def persistent_id(self, value: object) -> Any:
        """References that are no calls: the root, what it finds by name, and dicts of such names.

        What is in the root's own module goes by the root: cloudpickle gives functions of
        ``__main__`` a module of their own.
        """
        if value is self._root:
            return "root", None
        if type(value) is dict and id(value) in self._globals:
            return "globals", self._globals[id(value)]
        if isinstance(value, FunctionType):
            name = value.__name__
            found = self._root.__globals__.get(name)
            if found is value:
                return "name", name
            if getattr(found, "__fxc_original__", None) is value:
                return "original", name
        return None

    def reducer_override(self, value: Any) -> Any:
        """How a reference is made of what pickle would copy or refuse."""
        kind = type(value)
        if kind is FunctionType:
            return self._function(value)
        if kind is CodeType:
            owner = self._codes.get(id(value))
            if owner is None:
                raise NotStored(f"the code of {value.co_name}")
            return _code_of, (owner, digest_of(value))
        if kind is ModuleType:
            return import_module, (value.__name__,)
        if kind is CellType:
            if id(value) not in self._cells:
                raise NotStored("a variable of an inner function")
            return _cell_of, self._cells[id(value)]
        if isinstance(value, np.dtype) and value.isbuiltin == 1 and value.isnative:
            return np.dtype, (value.str,)
        return NotImplemented

    def _function(self, function: FunctionType) -> Any:
        found = _named(function.__module__, function.__qualname__)
        if found is function:
            return NotImplemented
        if getattr(found, "__fxc_original__", None) is function:
            return _original_of, (function.__module__, function.__qualname__)
        if getattr(found, "_implementation", None) is function:
            return _implementation_of, (function.__module__, function.__qualname__)
        raise NotStored(f"the function {function.__qualname__}")


class ReferenceReader(pickle.Unpickler):
    """Reads what ``ReferenceWriter`` has written, for the function ``root``."""

    def __init__(self, file: io.BytesIO, root: FunctionType) -> None:
        super().__init__(file)
        self._root = root

    def persistent_load(self, reference: Any) -> Any:
        """What a reference is in this process."""
        what, said = reference
        if what == "root":
            return self._root
        if what == "globals":
            return said.__globals__
        found = self._root.__globals__[said]
        return found.__fxc_original__ if what == "original" else found


def digest_of(code: CodeType) -> bytes:
    """What a function does, as far as its code says: the same in every process."""
    told = sha256()

    def tell(code: CodeType) -> None:
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        told.update(repr((code.co_qualname, code.co_flags, code.co_firstlineno, names)).encode())
        told.update(code.co_code)
        for each in code.co_consts:
            if isinstance(each, CodeType):
                tell(each)
            else:
                told.update(
                    repr(sorted(each, key=repr) if type(each) is frozenset else each).encode()
                )

    tell(code)
    return told.digest()


def _named(module: str, qualname: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def _imported(module: str, qualname: str) -> Any:
    import_module(module)
    return _named(module, qualname)


def _original_of(module: str, qualname: str) -> Any:
    return _imported(module, qualname).__fxc_original__


def _implementation_of(module: str, qualname: str) -> Any:
    return _imported(module, qualname)._implementation


def _code_of(function: FunctionType, digest: bytes) -> CodeType:
    code = function.__code__
    if digest_of(code) != digest:
        raise NotStored(f"{function.__qualname__} is not what it was")
    return code


def _cell_of(function: FunctionType, place: int) -> CellType:
    assert function.__closure__ is not None
    return function.__closure__[place]
