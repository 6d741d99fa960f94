"""What comes from outside of the captured function: arguments, globals, attributes.

Everything that the program reads from outside passes ``Outside.admit`` once: arrays and numbers
become inputs of the graph, plain values are guarded, containers are shown as ones that refuse to
be changed, objects are remembered so that the reads of their attributes come here, too.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any, NoReturn

import numpy as np

from fxc.ir.graph import Value
from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, symbol
from fxc.ir.types import DTYPE_NAMES, ArrayType, ScalarType, array_type, c_strides, scalar_type_of

from .guards import GuardBuilder, Source
from .operands import Traced
from .session import Session, refuse
from .traced_array import TracedArray
from .traced_int import TracedInt
from .traced_scalar import TracedScalar

_C_CONTIGUOUS, _F_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x2, 0x100, 0x400
_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range})
_NUMBERS = frozenset({bool, int, float, complex})


@frozen
class GraphInput:
    """One input of the graph and where it comes from; hidden ones are no arguments."""

    value: Value
    text: str
    hidden: bool


@frozen
class SymbolSource:
    """What a symbol is: the size or stride of an axis of an input, or an int input itself."""

    input: int
    kind: str  # "size", "stride" or "value"
    axis: int = 0


class ExternalList(list[Any]):
    """A list from outside: the program may read it, and is refused when it changes it."""


class ExternalDict(dict[Any, Any]):
    """A dict from outside: the program may read it, and is refused when it changes it."""


def _refusing(kind: type, method: str) -> Callable[..., NoReturn]:
    what = kind.__name__.removeprefix("External").lower()

    def refused(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise refuse(
            f"{method} changes a {what} from outside of the compiled function and cannot be "
            "captured; return the new value instead"
        )

    return refused


_LIST_WRITES = (
    "append extend insert remove pop clear sort reverse __setitem__ __delitem__ __iadd__ __imul__"
)
_DICT_WRITES = "__setitem__ __delitem__ pop popitem clear update setdefault __ior__"
for _method in _LIST_WRITES.split():
    setattr(ExternalList, _method, _refusing(ExternalList, _method))
for _method in _DICT_WRITES.split():
    setattr(ExternalDict, _method, _refusing(ExternalDict, _method))


def is_namedtuple(kind: type) -> bool:
    """Whether a class is a named tuple's."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


@frozen
class Known:
    """An object from outside, kept alive, with what the program sees in its place."""

    object: Any
    seen: Any
    source: Source
    is_object: bool  # its attributes are read through the door
    is_fixed: bool = False  # guarded by identity


class Outside:
    """All that one capture has read from outside."""

    def __init__(self, session: Session, dynamic: bool, static: frozenset[str]) -> None:
        self.session = session
        self.dynamic = dynamic
        self.static = static
        self.guards = GuardBuilder()
        self.inputs: list[GraphInput] = []
        self.input_sources: list[Source] = []
        self.arrays: dict[Value, np.ndarray] = {}  # of the inputs that are arrays
        self.symbols: dict[str, SymbolSource] = {}
        self.known: dict[int, Known] = {}

    def guard_distinct(self, a: Any, b: Any) -> None:
        """Rely on two inputs being different objects, if both are inputs."""
        found = [
            source
            for x in (a, b)
            for each, source in zip(self.inputs, self.input_sources, strict=True)
            if isinstance(x, TracedArray) and x._value is each.value
        ]
        if len(found) == 2:
            left, right = found
            self.guards.check(f"{left.var} is not {right.var}", f"{left.text} is not {right.text}")

    # -------------------------------------------------------- the one way in

    def admit(self, value: Any, source: Source, name: str, *, argument: bool = False) -> Any:
        """What the program sees for ``value``; ``name`` is for inputs it becomes."""
        if isinstance(value, Traced):
            return value
        kind = type(value)
        if kind in _PLAIN:
            return self._plain(value, source, name, argument)
        known = self.known.get(id(value))
        if known is not None:
            self.guards.check(
                f"{source.var} is {known.source.var}", f"{source.text} is {known.source.text}"
            )
            return known.seen
        seen = self._admit_new(value, kind, source, name, argument)
        if id(value) not in self.known:
            self.known[id(value)] = Known(value, seen, source, False)
        return seen

    def _admit_new(self, value: Any, kind: type, source: Source, name: str, argument: bool) -> Any:
        if kind is np.ndarray:
            return self._array(value, source, name, hidden=not argument)
        if isinstance(value, np.generic):
            return self._numpy_scalar(value, source, name, argument)
        if isinstance(value, np.ndarray):
            raise refuse(f"{source.text} is a {kind.__name__}, a subclass of arrays, {_EAGER}")
        if isinstance(value, np.dtype):
            self.guards.check_value(source, value)
            return value
        if kind is frozenset or kind is set:
            return self._set(value, kind, source)
        if kind is tuple or kind is list or is_namedtuple(kind):
            return self._sequence(value, kind, source, name, argument)
        if kind is dict:
            return self._dict(value, source, name, argument)
        return self._object(value, kind, source)

    def _plain(self, value: Any, source: Source, name: str, argument: bool) -> Any:
        if argument and name not in self.static:
            if type(value) is int and abs(value) >= 2:
                return self._int(value, source, name)
            if type(value) in (float, complex):
                return self._scalar(value, source, name)
        self.guards.check_value(source, value)
        return value

    # -------------------------------------------------------- inputs of the graph

    def add_input(self, kind: Any, source: Source, name: str, hidden: bool) -> Value:
        """A new input of the graph."""
        value = self.session.builder.value(kind, name)
        self.inputs.append(GraphInput(value, source.text, hidden))
        self.input_sources.append(source)
        return value

    def _int(self, value: int, source: Source, name: str) -> Any:
        if not -(2**63) <= value < 2**63:
            raise refuse(f"{source.text} = {value} does not fit in 64 bits and cannot be captured")
        low = 2 if value >= 2 else None
        text = f"{source.text} is an int" + (", 2 or more" if low else "")
        bound = "2" if low else "-9223372036854775808"
        self.guards.check(
            f"type({source.var}) is int and {bound} <= {source.var} < 9223372036854775808", text
        )
        kind = ScalarType(np.dtype("i8"), weak=True)
        graph_value = self.add_input(kind, source, name, False)
        dim = symbol(graph_value.name, hint=value, lower=low)
        self.guards.symbols[graph_value.name] = source.var
        self.symbols[graph_value.name] = SymbolSource(len(self.inputs) - 1, "value")
        return TracedInt(dim)

    def _scalar(self, value: Any, source: Source, name: str) -> Any:
        self.guards.check(
            f"type({source.var}) is {type(value).__name__}",
            f"{source.text} is a {type(value).__name__}",
        )
        graph_value = self.add_input(scalar_type_of(value), source, name, False)
        self.session.origins[graph_value] = frozenset((name,))
        return TracedScalar(graph_value)

    def _numpy_scalar(self, value: np.generic, source: Source, name: str, argument: bool) -> Any:
        if value.dtype not in DTYPE_NAMES:
            raise refuse(f"{source.text} is a {type(value).__name__}, {_EAGER}")
        if not argument or name in self.static:
            self.guards.check_value(source, value)
            return value
        self.guards.check(
            f"type({source.var}) is {self.guards.constant(type(value))}",
            f"{source.text} is a {type(value).__name__}",
        )
        graph_value = self.add_input(scalar_type_of(value), source, name, False)
        self.session.origins[graph_value] = frozenset((name,))
        return TracedScalar(graph_value)

    def _array(self, array: np.ndarray, source: Source, name: str, hidden: bool) -> Any:
        if array.dtype not in DTYPE_NAMES:
            raise refuse(f"{source.text} has dtype {array.dtype}, {_EAGER}")
        if not array.flags.aligned:
            raise refuse(f"{source.text} is not aligned in memory, {_EAGER}")
        value = self.add_input(array_type(array.dtype, ()), source, name, hidden)
        value.type = self._array_type(array, source, value.name)
        self.arrays[value] = array
        return TracedArray(value)

    def _array_type(self, array: np.ndarray, source: Source, name: str) -> ArrayType:
        flags, var, guards = array.flags, source.var, self.guards
        mask, wanted = _ALIGNED | _WRITEABLE, _ALIGNED | (_WRITEABLE if flags.writeable else 0)
        if flags.c_contiguous:
            mask, wanted = mask | _C_CONTIGUOUS, wanted | _C_CONTIGUOUS
        elif flags.f_contiguous:
            mask, wanted = mask | _F_CONTIGUOUS, wanted | _F_CONTIGUOUS
        dtype = guards.constant(array.dtype)
        checks = [f"type({var}) is ndarray", f"({var}.dtype is {dtype} or {var}.dtype == {dtype})"]
        if not self.dynamic:
            checks.append(f"{var}.shape == {array.shape}")
        else:
            checks.append(f"{var}.ndim == {array.ndim}")
        if flags.carray:
            checks.append(f"{var}.flags.carray")
        else:
            checks.append(f"{var}.flags.num & {mask} == {wanted}")
        packed = flags.c_contiguous or flags.f_contiguous
        if not packed and not self.dynamic:
            checks.append(f"{var}.strides == {array.strides}")
        shown = f"{DTYPE_NAMES[array.dtype]}{list(array.shape)}"
        guards.check(" and ".join(checks), f"{source.text} is {shown} of this layout")
        shape = self._dims(array, source, name) if self.dynamic else array.shape
        strides = self._strides(array, shape, source, name)
        made = array_type(array.dtype, shape, strides)
        return ArrayType(made.dtype, made.shape, made.strides, bool(flags.writeable))

    def _dims(self, array: np.ndarray, source: Source, name: str) -> tuple[Dim, ...]:
        """A symbol for each size of 2 or more; other sizes are guarded."""
        if not array.ndim:
            return ()
        names = [self.guards.name("n") for _ in array.shape]
        self.guards.steps.append(_unpack(names, f"{source.var}.shape"))
        dims: list[Dim] = []
        for axis, (size, var) in enumerate(zip(array.shape, names, strict=True)):
            text = f"{name}.{axis}"
            if size < 2 or text in self.static:
                self.guards.check(f"{var} == {size}", f"size {axis} of {source.text} is {size}")
                dims.append(size)
                continue
            self.guards.check(f"{var} >= 2", f"size {axis} of {source.text} is 2 or more")
            self.guards.symbols[text] = var
            self.symbols[text] = SymbolSource(len(self.inputs) - 1, "size", axis)
            dims.append(symbol(text, hint=size, lower=2))
        return tuple(dims)

    def _strides(
        self, array: np.ndarray, shape: tuple[Dim, ...], source: Source, name: str
    ) -> tuple[Dim, ...]:
        itemsize = array.dtype.itemsize
        if array.flags.c_contiguous:
            return c_strides(shape, itemsize)
        if array.flags.f_contiguous:
            return tuple(reversed(c_strides(shape[::-1], itemsize)))
        if not self.dynamic:
            return array.strides
        names = [self.guards.name("s") for _ in shape]
        self.guards.steps.append(_unpack(names, f"{source.var}.strides"))
        strides: list[Dim] = []
        for axis, (stride, var) in enumerate(zip(array.strides, names, strict=True)):
            if shape[axis] == 1 or shape[axis] == 0:
                strides.append(stride)
            elif abs(stride) <= itemsize or f"{name}.s{axis}" in self.static:
                self.guards.check(f"{var} == {stride}", f"stride {axis} of {source.text}")
                strides.append(stride)
            else:
                text = f"{name}.s{axis}"
                self.guards.symbols[text] = var
                self.symbols[text] = SymbolSource(len(self.inputs) - 1, "stride", axis)
                low = itemsize if stride > 0 else None
                if low is not None:
                    self.guards.check(f"{var} >= {low}", f"stride {axis} of {source.text}")
                strides.append(symbol(text, hint=stride, lower=low))
        return tuple(strides)

    # -------------------------------------------------------- containers

    def _sequence(self, value: Any, kind: type, source: Source, name: str, argument: bool) -> Any:
        type_name = self.guards.constant(kind)
        if not argument and _is_plain(value):
            copy = tuple(value)
            self.guards.check(
                f"type({source.var}) is {type_name} and "
                f"same_items({source.var}, {self.guards.constant(copy)})",
                f"{source.text} holds the same values",
            )
            return ExternalList(value) if kind is list else value
        self.guards.check(
            f"type({source.var}) is {type_name} and len({source.var}) == {len(value)}",
            f"{source.text} is a {kind.__name__} of {len(value)}",
        )
        items = []
        for place, item in enumerate(value):
            part = self.guards.fetch(f"{source.var}[{place}]", f"{source.text}[{place}]")
            items.append(self.admit(item, part, f"{name}_{place}", argument=argument))
        if kind is list:
            return ExternalList(items)
        return tuple(items) if kind is tuple else kind(*items)

    def _set(self, value: Any, kind: type, source: Source) -> Any:
        """A set of plain values, as one that cannot be changed; the order counts, too."""
        if not _is_plain(value):
            raise refuse(f"{source.text} holds objects, {_EAGER}")
        items = self.guards.constant(tuple(value))
        self.guards.check(
            f"type({source.var}) is {kind.__name__} and same_items(tuple({source.var}), {items})",
            f"{source.text} holds the same values",
        )
        return frozenset(value)

    def _dict(self, value: dict[Any, Any], source: Source, name: str, argument: bool) -> Any:
        keys = tuple(value)
        for key in keys:
            if type(key) not in _PLAIN:
                raise refuse(f"{source.text} has a key of type {type(key).__name__}, {_EAGER}")
        self.guards.check(
            f"type({source.var}) is dict and {self.guards.same_keys(source.var, keys)}",
            f"{source.text} has the keys {list(keys)}",
        )
        items = {}
        for place, (key, item) in enumerate(value.items()):
            part = self.guards.fetch(f"{source.var}[{key!r}]", f"{source.text}[{key!r}]")
            label = key if isinstance(key, str) and key.isidentifier() else f"item{place}"
            items[key] = self.admit(item, part, f"{name}.{label}", argument=argument)
        return ExternalDict(items)

    # -------------------------------------------------------- objects

    def _object(self, value: Any, kind: type, source: Source) -> Any:
        if not isinstance(value, _BY_IDENTITY):
            check_class(kind)
        if isinstance(value, _BY_IDENTITY) or not _is_python_class(kind):
            self.guards.check_identity(source, value)
            self.known[id(value)] = Known(value, value, source, True, is_fixed=True)
            return value
        self.guards.check(
            f"type({source.var}) is {self.guards.constant(kind)}",
            f"{source.text} is a {kind.__name__}",
        )
        self.known[id(value)] = Known(value, value, source, True)
        return value

    def root(self, value: Any, text: str) -> Source:
        """The source of an object that the program itself keeps: a module, a namespace."""
        return Source(self.guards.constant(value), text)


_EAGER = "which runs as plain NumPy"
_BY_IDENTITY = (
    FunctionType,
    BuiltinFunctionType,
    MethodType,
    ModuleType,
    type,
    np.ufunc,
    staticmethod,
    classmethod,
)
# Methods with which Python code would run where the call door does not see it.
_UNSEEN_NAMES = (
    "add radd iadd sub rsub isub mul rmul imul truediv rtruediv itruediv floordiv mod pow matmul "
    "rmatmul and or xor lshift rshift neg abs invert getitem setitem delitem iter next len "
    "contains bool getattr getattribute setattr delattr array array_ufunc array_function float "
    "int index lt le gt ge enter exit"
)
_UNSEEN = frozenset(f"__{name}__" for name in _UNSEEN_NAMES.split())
_class_checked: weakref.WeakSet[type] = weakref.WeakSet()


def check_class(kind: type) -> None:
    """Refuse objects of a class whose operators are Python code."""
    if kind in _class_checked:
        return
    for each in kind.__mro__:
        if each.__module__ == "builtins" or is_namedtuple(each):
            continue
        unseen = sorted(name for name in _UNSEEN & set(vars(each)) if _is_code(vars(each)[name]))
        if unseen:
            raise refuse(
                f"{kind.__name__} defines {unseen[0]}, and objects with operators of their own "
                "cannot be captured; pass the arrays they hold"
            )
    _class_checked.add(kind)


def _is_code(attribute: Any) -> bool:
    # What dataclasses write has no file: it only compares fields.
    code = getattr(attribute, "__code__", None)
    return code is not None and code.co_filename != "<string>"


def _is_python_class(kind: type) -> bool:
    """Whether a class was made by Python code, and not by C."""
    return bool(kind.__flags__ & (1 << 9)) and "__module__" in vars(kind) and type(kind) is type


def _is_plain(value: Any) -> bool:
    return all(type(item) in _PLAIN or (type(item) is tuple and _is_plain(item)) for item in value)


def _unpack(names: list[str], expression: str) -> Any:
    from .guards import Fetch

    return Fetch("".join(f"{name}, " for name in names).rstrip(), expression)
