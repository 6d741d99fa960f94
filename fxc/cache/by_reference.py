"""What every process has of its own, as references: functions, their globals, classes, modules.

See Note [Stored compilations].
"""

from __future__ import annotations

import enum
import functools
import io
import pickle
import sys
from collections.abc import Mapping
from importlib import import_module
from types import (
    CellType,
    CodeType,
    DynamicClassAttribute,
    FunctionType,
    MappingProxyType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy._core import umath

from fxc.ir.later import import_later

from .by_name import imported, loaded
from .digests import digest_of, functions_of, is_made_by_python

if TYPE_CHECKING:
    from dataclasses import Field  # takes long to import

# See Note [Rooms with one door]. The first one is for constants that are arrays.
strided_empty = import_later("fxc.ir.types", "strided_empty")
made_by = import_later("fxc.ops.kernels.making", "made_by")

_ATTRIBUTES = (staticmethod, classmethod, property, DynamicClassAttribute, enum.property)
_Cached = type(functools.cache(len))


class NotStored(Exception):
    """Something has no name that it could be found by, or is another thing in this process."""


class ReferenceWriter(pickle.Pickler):
    """Writes objects; what belongs to a process becomes a reference, from ``root`` if need be."""

    def __init__(
        self,
        file: io.BytesIO,
        root: FunctionType,
        functions: list[FunctionType],
        late: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """``late``: what the reader is told by name, by its address."""
        super().__init__(file, protocol=5)
        self._root, self._late = root, late
        # What several of them have goes by the last one: by one that has a name, or by the root.
        first = [*reversed(functions), root, *filter(_has_name, functions)]
        self._codes = {id(each.__code__): each for each in first}
        self._globals = {id(each.__globals__): each for each in first}
        self._cells = {
            id(cell): (each, place)
            for each in (root, *functions)
            for place, cell in enumerate(each.__closure__ or ())
        }
        self._files = {each.__code__.co_filename: each for each in (*functions, root)}
        self._digests = dict[int, bytes]()
        self.met = dict[int, FunctionType | type]()  # what is compared where it is read

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
        if id(value) in self._late:
            return "late", self._late[id(value)]
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
        if kind is object:  # one that stands for something, and that is told by its identity
            return _object_of, _name_of(value)
        if kind is ModuleType:
            return import_module, (value.__name__,)
        if kind is CellType:
            if id(value) not in self._cells:
                raise NotStored("a variable of an inner function")
            return _cell_of, self._cells[id(value)]
        if kind in _ATTRIBUTES:
            return _same_attribute, self._attribute(value)
        if kind.__module__ == "dataclasses" and kind.__name__ == "Field":
            return _field_of, self._field(value)
        if hasattr(kind, "__fxc_original__"):
            return self._compiled(value)
        if kind is np.ndarray and not (value.flags.forc and value.flags.writeable):
            layout = value.shape, value.strides, value.flags.writeable
            return _array_of, (value.copy(), *layout)
        if isinstance(value, np.dtype) and value.isbuiltin == 1 and value.isnative:
            return np.dtype, (value.str,)
        if isinstance(value, type) and is_made_by_python(value):
            if loaded(value.__module__, value.__qualname__) is not value:
                raise NotStored(f"the class {value.__qualname__}")
            return _same, (value.__module__, value.__qualname__, "", self._digest(value))
        return NotImplemented

    def _function(self, function: FunctionType) -> Any:
        made = getattr(function, "__fxc_made_by__", None)
        if made is not None:
            return _made_by, made
        found = loaded(function.__module__, function.__qualname__)
        for part in ("", "__fxc_original__", "_implementation"):
            if (getattr(found, part, None) if part else found) is function:
                is_known = function.__module__.partition(".")[0] == "fxc"
                digest = b"" if is_known else self._digest(function)
                return _same, (function.__module__, function.__qualname__, part, digest)
        inside = _in_class(function)
        if inside is not None:
            return _same_in_class, (*inside, self._digest(function))
        raise NotStored(f"the function {function.__qualname__}")

    def _attribute(self, value: object) -> tuple[str, str, str, tuple[bytes, ...]]:
        """A property or method as it stands in a class."""
        functions = [*functions_of(value)]
        inside = _in_class(functions[0]) if functions else None
        if inside is None:
            raise NotStored(f"the {type(value).__name__} of a class")
        return (*inside[:3], tuple(map(self._digest, functions)))

    def _compiled(self, value: Any) -> Any:
        """A compiled function, without what was compiled of it."""
        if loaded(value.__module__, value.__qualname__) is not value:
            raise NotStored(f"the compiled function {value.__qualname__}")
        original, options = value.__fxc_original__, repr(value._options)
        digest = self._digest(original) if isinstance(original, FunctionType) else b""
        return _same_compiled, (value.__module__, value.__qualname__, options, digest)

    def _field(self, field: Field[Any]) -> tuple[type, str]:
        """The class that a field of a dataclass is of, and its name."""
        for function in self._codes.values():
            owner = function.__qualname__.rpartition(".")[0]
            kind = loaded(function.__module__, owner)
            if getattr(kind, "__dataclass_fields__", {}).get(field.name) is field:
                return kind, field.name
        raise NotStored(f"the field {field.name}")

    def _digest(self, value: FunctionType | type) -> bytes:
        """That of a function or a class, which is asked for often."""
        if id(value) not in self._digests:
            self._digests[id(value)] = digest_of(value)
            self.met[id(value)] = value
        return self._digests[id(value)]


class ReferenceReader(pickle.Unpickler):
    """Reads what ``ReferenceWriter`` has written, for the function ``root``."""

    def __init__(
        self,
        file: io.BytesIO,
        root: FunctionType,
        late: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        super().__init__(file)
        self._root, self._late = root, late
        self._known = set[bytes]()  # digests of the root

    def find_class(self, module: str, name: str) -> Any:
        """What pickle finds by its name, which may be another thing there in this process."""
        found = super().find_class(module, name)
        if not module.startswith("fxc.") and not is_itself(found, module, name):
            raise NotStored(f"{module}.{name} is not what it was")
        return found

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
        if what == "late":
            return self._late[said]
        if what == "file":
            return said.__code__.co_filename
        name, digest = said
        found = self._root.__globals__[name]
        return _checked(found.__fxc_original__ if what == "original" else found, digest)


def is_itself(found: Any, module: str, name: str) -> bool:
    """Whether something with a name, which Python did not make, has not come in the place of what
    the name stands for: it says its name itself.
    """
    if isinstance(found, np.ufunc):  # SciPy's say that they are NumPy's
        return getattr(umath, name, None) is found
    if isinstance(found, FunctionType | _Cached) or is_made_by_python(type(found)):
        return False  # they say what they are told to
    said = getattr(found, "__qualname__", None) or getattr(found, "__name__", None)
    return said in (name, None) and getattr(found, "__module__", None) in (module, None)


def _same(module: str, qualname: str, part: str, digest: bytes) -> Any:
    """What has this name, or a part of it."""
    found = imported(module, qualname)
    return _checked(getattr(found, part) if part else found, digest)


def _made_by(maker: str, operator: str) -> Any:
    return made_by(maker, operator)


def _has_name(function: FunctionType) -> bool:
    return loaded(function.__module__, function.__qualname__) is function


def _in_class(function: FunctionType) -> tuple[str, str, str, int] | None:
    """Where a function stands that is called by way of something in a class: a property, say."""
    owner, _, name = function.__qualname__.rpartition(".")
    attribute = getattr(loaded(function.__module__, owner), "__dict__", {}).get(name)
    for place, each in enumerate(functions_of(attribute)):
        if each is function:
            return function.__module__, owner, name, place
    return None


def _same_in_class(module: str, owner: str, name: str, place: int, digest: bytes) -> Any:
    found = [*functions_of(vars(imported(module, owner))[name])]
    return _checked(found[place], digest)


def _same_attribute(module: str, owner: str, name: str, digests: tuple[bytes, ...]) -> Any:
    found = vars(imported(module, owner))[name]
    for function, digest in zip(functions_of(found), digests, strict=True):
        _checked(function, digest)
    return found


def _same_compiled(module: str, qualname: str, options: str, digest: bytes) -> Any:
    found = imported(module, qualname)
    if repr(found._options) != options:
        raise NotStored(f"{qualname} is compiled with other options")
    if digest:
        _checked(found.__fxc_original__, digest)
    return found


def _field_of(kind: Any, name: str) -> Field[Any]:
    found: Field[Any] = kind.__dataclass_fields__[name]
    return found


def _checked(found: Any, digest: bytes) -> Any:
    """A function or a class, if it is what it was where it was written; of fxc's own functions
    nothing is known, as they are of one version.
    """
    if not digest and isinstance(found, FunctionType):
        return found
    if not isinstance(found, FunctionType | type) or digest_of(found) != digest:
        raise NotStored(f"{getattr(found, '__qualname__', found)} is not what it was")
    return found


def _array_of(
    values: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...], is_writeable: bool
) -> np.ndarray:
    """An array that lies in memory as it did: pickle leaves no gaps."""
    made: np.ndarray = strided_empty(values.dtype, shape, strides)
    made[...] = values
    made.setflags(write=is_writeable)
    return made


def _name_of(value: object) -> tuple[str, str]:
    """The module that has an object, and its name there."""
    for module, found in list(sys.modules.items()):
        for name, each in getattr(found, "__dict__", {}).items():
            if each is value:
                return module, name
    raise NotStored("an object that no module has")


def _object_of(module: str, name: str) -> object:
    found = imported(module, name)
    if type(found) is not object:
        raise NotStored(f"{module}.{name} is not what it was")
    return found


def _code_of(function: FunctionType) -> CodeType:
    return function.__code__


def _cell_of(function: FunctionType, place: int) -> CellType:
    assert function.__closure__ is not None
    return function.__closure__[place]
