"""Native functions for whole calls, and chains of them. See Note [Native calls]."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any

from fxc.ir.objects import (
    HAS_VECTORCALL,
    IS_BASE,
    IS_METHOD,
    TYPE_FLAGS,
    TYPE_GET,
    TYPE_VECTORCALL,
    objects_are_as_known,
    types_are_as_known,
)
from fxc.ir.records import frozen
from fxc.lowering.calling.forward import FORWARD, emit_forward
from fxc.lowering.calling.guard_things import ENTRY
from fxc.lowering.calling.vectorcall import BIND, REST, RESTING, VECTORCALL, VECTORCALL_TEXT
from fxc.native.large_arrays import new_array_function
from fxc.package.builtins import (
    NEW_ARRAY,
    RESIZE,
    SCALAR_MAKER,
    SET_BASE,
    numpy_function,
    pointers,
)
from fxc.runtime.engine import Engine, llvm_lock

from .turns import FOR_EVER

if TYPE_CHECKING:
    from .turns import Handed, Rested


@frozen
class NativeCall:
    """The machine code of one compilation's calls, and how many it has served by itself."""

    text: str
    engine: Engine
    entries: Engine  # of the compilation
    objects: tuple[Any, ...]
    counter: ctypes.Array[ctypes.c_int64]  # calls, and after how many one is left to Python

    @property
    def calls(self) -> int:
        return self.counter[0]

    def leave_after(self, calls: int) -> None:
        """Leave calls to Python after so many."""
        self.counter[1] = self.counter[0] + calls

    def builtin(self, otherwise: object) -> Any:
        """A builtin that runs a call, or calls ``otherwise`` in the same way."""
        engine = self.entries
        entries = pointers(
            *(
                address
                for entry, function in zip(engine.entries, engine.functions, strict=True)
                for address in (engine.address(entry), id(function.__self__))
            )
        )
        table = pointers(
            id(entries),
            new_array_function(),
            *map(numpy_function, (RESIZE, SCALAR_MAKER, NEW_ARRAY, SET_BASE)),
            ctypes.addressof(self.counter),
            id(otherwise),
            *map(id, self.objects),
        )
        keeps = (engine.functions, self.counter, otherwise, self.objects, entries)
        return self.engine.function(ENTRY, table, *keeps, keywords=True)


def new_counter() -> ctypes.Array[ctypes.c_int64]:
    """That of a native call that leaves none to Python."""
    return (ctypes.c_int64 * 2)(0, FOR_EVER)


def forward(turn: Handed, otherwise: object, over: object, most: int = FOR_EVER) -> Any:
    """A builtin that hands calls on as long as the turn lasts; then it calls ``over``, and for
    calls of another kind ``otherwise``. No more than so many arguments count. See Note [Turns].
    """
    kinds, names = turn.key
    table = pointers(
        ctypes.addressof(turn.cells),
        id(turn.run),
        id(otherwise),
        id(over),
        len(kinds),
        len(names),
        most,
        *map(id, kinds),
        *map(id, names),
    )
    return _forwarder().function(FORWARD, table, turn, otherwise, over, keywords=True)


@cache
def _forwarder() -> Engine:
    return Engine(emit_forward(FOR_EVER), b"", ())


def chain(
    turns: Sequence[Handed], calls: Sequence[NativeCall], last: object, most: int = FOR_EVER
) -> Any:
    """A builtin that is each of these in turn, and in the end ``last``; ``last`` itself if there
    are none. No more than so many arguments count for the turns.
    """
    made = last
    for call in reversed(calls):
        made = call.builtin(made)
    for turn in turns if objects_are_as_known() else ():
        made = forward(turn, made, last, most)
    return made


def resting(rest: Rested, over: object) -> BuiltinFunctionType:
    """A builtin that hands all calls on as long as the rest lasts; then it calls ``over``."""
    table = pointers(ctypes.addressof(rest.more), id(rest.run), id(over))
    with llvm_lock:
        engine = _vectorcall()
    made: BuiltinFunctionType = engine.function(RESTING, table, rest, over, keywords=True)
    return made


def class_for(
    owner: object, kind: type, builtin: BuiltinFunctionType, is_method: bool = False
) -> type:
    """A subclass of ``kind`` for this object alone, whose calls are those of the builtin. If the
    object ``is_method``, CPython calls it as the attribute of a class without binding it first.

    See Note [Vectorcall].
    """

    def new(_: object, *args: object, **kwargs: object) -> object:
        return kind(*args, **kwargs)

    members: dict[str, object] = {"__slots__": (), "__call__": builtin, "__new__": new}
    members |= {"__module__": kind.__module__, "__doc__": kind.__doc__}
    if not types_are_as_known():
        return type(kind)(kind.__name__, (kind,), members)
    call = _address(REST if builtin.__name__ == RESTING else VECTORCALL)
    code = _function_of(builtin)
    cell = (ctypes.c_void_p * 4)(call, code, id(builtin.__self__), id(builtin))
    made = type(kind)(kind.__name__, (kind,), {**members, "_cell": cell})
    flags = ctypes.c_ssize_t.from_address(id(made) + TYPE_FLAGS)
    place = ctypes.c_ssize_t.from_address(id(made) + TYPE_VECTORCALL)
    place.value = ctypes.addressof(cell) - id(owner)
    flags.value = (flags.value | HAS_VECTORCALL) & ~IS_BASE
    if is_method:
        flags.value |= IS_METHOD
        get = ctypes.c_void_p.from_address(id(made) + TYPE_GET)
        get.value = _address(BIND)
    return made


def _function_of(builtin: BuiltinFunctionType) -> int:
    """The address of what runs the calls of a builtin."""
    find = ctypes.pythonapi.PyCFunction_GetFunction
    find.restype, find.argtypes = ctypes.c_void_p, (ctypes.py_object,)
    return int(find(builtin))


def vectorcall_address() -> int:
    """Where the code is that CPython calls."""
    return _address(VECTORCALL)


def _address(name: str) -> int:
    """Where a function for CPython is. It stays: classes have nothing but its address."""
    with llvm_lock:  # of two threads each would make one, and only one of them stays
        return _vectorcall().address(name)


@cache
def _vectorcall() -> Engine:
    return Engine(VECTORCALL_TEXT, b"", (), quick=True)
