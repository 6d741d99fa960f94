"""The program of a package: maps its code, and calls it.

Needs only NumPy.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import elf, processors
from .arguments import Arguments
from .files import BadPackage
from .mapping import Mapped, library
from .trees import LEAF, unflatten
from .values import size_of, sizes_of, value_of
from .views import VIEWS

if TYPE_CHECKING:
    from .numpy_calls import NumpyTable

_STOPPED = -1
_TYPES = (ctypes.c_int32, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)
# Without the interpreter lock, or with it: the code gives it up itself. What a signal's handler has
# raised is raised.
_ALONE, _LOOKING = ctypes.CFUNCTYPE, ctypes.PYFUNCTYPE
_DATA = object.__basicsize__  # where an array has the address of its first element
_ALIGNED = 64  # bytes, of temporaries
_MOST_KEPT = 1 << 26  # bytes


def program_of(
    place: str, manifest: dict[str, Any], files: dict[str, bytes], level: str | None
) -> LoadedProgram:
    """The program of a package whose files have been compared with their checksums."""
    found = processors.chosen(
        manifest["levels"], processors.machine(), processors.features(), level
    )
    try:
        code = Mapped(elf.read(files[found["file"]]), library)
        calls = None
        if "calls" in found:
            from .native_calls import map_calls

            calls = map_calls(files[found["calls"]["file"]], manifest["entry"], code)
        return LoadedProgram(manifest, found, code, calls)
    except elf.BadObject as error:
        raise BadPackage(f"{place} cannot be loaded: {error}") from None


class LoadedProgram:
    """A compiled program: it is called as the function that it was made from.

    Arrays that it writes are changed, views and arguments that it returns are views of the caller's
    arrays and the caller's own objects. A call with arguments that it is not for raises
    ``TypeError`` or ``ValueError`` before anything is changed; where NumPy would raise, so does it,
    what NumPy has raised or a ``ValueError`` that names the operator and the line.
    """

    def __init__(
        self,
        manifest: Mapping[str, Any],
        shown: Mapping[str, Any],
        code: Mapped,
        calls: Mapped | None = None,
    ) -> None:
        """``shown`` is what the manifest says of the code; ``calls`` is code for whole calls."""
        self.level: str = shown["name"]
        self.__name__ = self.__qualname__ = manifest["name"]
        self._arguments = Arguments(manifest)
        self._result = manifest["result"]
        self._code, self._calls = code, calls
        looks = any("ask" in each for each in shown["table"])
        self._kind = _LOOKING if looks else _ALONE
        self._entry = self._kind(*_TYPES)(code.address(manifest["entry"]))
        self._slots = [_slot(shown) for shown in shown["slots"]]
        self._arena = shown["arena"]
        self._room = _Room()
        self._sizes: list[str] = shown["sizes"]
        numbers = shown["numbers"]
        self._numbers = [(place, part) for place, part, _ in numbers]
        self._pack = struct.Struct("=" + "".join(code for _, _, code in numbers)).pack
        self._pack_sizes = struct.Struct(f"={len(self._sizes)}q").pack
        self._pack_arrays = struct.Struct(f"={len(self._slots) + 1}Q").pack
        self._counted = [(name, place) for name, place in shown["counted"]]
        self._outputs = shown["outputs"]
        self._sites = shown["sites"]
        self._table: NumpyTable | None = None
        self._pointers = (ctypes.c_void_p * 1)()
        if shown["table"]:
            from .numpy_calls import NumpyTable

            self._table = NumpyTable(shown["table"])
            self._pointers = self._table.pointers
        self._shown = shown

    def __repr__(self) -> str:
        return f"<object code of {self.__name__}, {self.level}>"

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Run the program; from the second time on, by native code, if there is any for calls."""
        call = self.general
        if self._calls is not None:
            from .native_calls import native_call

            own = {
                "arena": self._room.take,
                "keep": self._room.keep,
                "fail": self._raise,
            }
            objects = self._shown["calls"]["objects"]
            call = native_call(self._calls, self._pointers, objects, own, self.general)
        kind = type(self)
        self.__class__ = type(kind.__name__, (kind,), {"__call__": staticmethod(call)})
        return call(*args, **kwargs)

    def general(self, *args: object, **kwargs: object) -> Any:
        """A call of any kind that the program takes, or that it refuses."""
        inputs, known = self._arguments.inputs_of(args, kwargs)
        arrays = [slot(inputs, known) for slot in self._slots]
        arena = self._room.take(size_of(self._arena, known)) if self._arena else None
        addresses = [*map(_address, arrays), 0 if arena is None else _address(arena)]
        status = self._entry(
            self._pack_arrays(*addresses),
            self._pack_sizes(*[known[name] for name in self._sizes]),
            self._pack(*[_part(inputs[place], part) for place, part in self._numbers]),
            self._pointers,
        )
        if arena is not None:
            self._room.keep(arena)
        if status:
            self._raise(status)
        for name, place in self._counted:
            known[name] = arrays[place].item()
        leaves = self._leaves(inputs, arrays, known)
        return leaves[0] if self._result == LEAF else unflatten(self._result, iter(leaves))

    def _raise(self, status: int) -> None:
        raised = None if self._table is None else self._table.raised()
        if raised is not None:
            raise raised
        if status == _STOPPED:
            raise KeyboardInterrupt
        where = self._sites[status - 1] if status <= len(self._sites) else "it"
        raise ValueError(
            f"{where} in {self.__name__}() is not defined for these arguments: NumPy raises an "
            "exception here, or warns; nothing has been changed"
        )

    def _leaves(
        self, inputs: list[Any], arrays: list[np.ndarray], known: dict[str, int]
    ) -> list[Any]:
        made: dict[Any, Any] = {}
        return [_leaf(shown, inputs, arrays, known, made) for shown in self._outputs]


def _leaf(
    shown: Mapping[str, Any],
    inputs: list[Any],
    arrays: list[np.ndarray],
    known: Mapping[str, int],
    made: dict[Any, Any],
) -> Any:
    if "input" in shown:
        return inputs[shown["input"]]
    if "slot" in shown:
        key = shown["slot"]
        if key not in made:
            made[key] = _settled(arrays[key], shown, known)
        return made[key]
    if "view" in shown:
        key = ("view", shown["view"])
        if key not in made:
            array = _leaf(shown["base"], inputs, arrays, known, made)
            for op, args in shown["steps"]:
                array = VIEWS[op](array, *[value_of(each, known) for each in args])
            made[key] = array
        return made[key]
    return value_of(shown["value"], known)


def _settled(array: np.ndarray, shown: Mapping[str, Any], known: Mapping[str, int]) -> Any:
    """A result as the caller sees it: a number, or an array of the size that was counted."""
    if "number" in shown:
        return array.item() if shown["number"] == "python" else array[()]
    if "shape" in shown:
        array.resize(sizes_of(shown["shape"], known), refcheck=False)
        if not array.size and not shown["keeps_strides"]:
            return np.empty(array.shape, array.dtype)
    return array


Slot = Callable[[list[Any], Mapping[str, int]], np.ndarray]


def _slot(shown: Mapping[str, Any]) -> Slot:
    """What gives an array argument of the code: an input, or a new array."""
    if "input" in shown:
        place = shown["input"]
        return lambda inputs, known: inputs[place]
    dtype, shape, order = np.dtype(shown["dtype"]), shown["shape"], shown["order"]
    empty, empty_like = np.empty, np.empty_like
    if order == [*range(len(shape))]:
        if all(type(each) is int for each in shape):
            fixed = tuple(shape)
            return lambda inputs, known: empty(fixed, dtype)
        return lambda inputs, known: empty(sizes_of(shape, known), dtype)
    model = _model(dtype, order)
    return lambda inputs, known: empty_like(model, shape=sizes_of(shape, known))


def _model(dtype: np.dtype, order: list[int]) -> np.ndarray:
    """An array for ``empty_like``, which makes one whose axes lie in memory in this order."""
    strides = [0] * len(order)
    for place, axis in enumerate(order):  # with gaps: NumPy looks at the strides then
        strides[axis] = (len(order) + 1 - place) * dtype.itemsize
    shape = (2, *(1,) * (len(order) - 1))
    return np.lib.stride_tricks.as_strided(np.empty(1, dtype), shape, strides)


class _Room:
    """Memory for temporaries, which begins at a cache line. That of a call is kept for the next
    one: new memory may take longer than the program.
    """

    def __init__(self) -> None:
        self._kept: list[np.ndarray] = []

    def take(self, size: int) -> np.ndarray:
        """Memory of so many bytes, or more, which nobody else has."""
        try:
            kept = self._kept.pop()
        except IndexError:  # it is the first call, or another thread has it
            kept = np.empty(0, np.uint8)
        if len(kept) >= size:
            return kept
        whole = np.empty(size + _ALIGNED, np.uint8)
        skip = -_address(whole) % _ALIGNED
        return whole[skip : skip + size]

    def keep(self, arena: np.ndarray) -> None:
        if not self._kept and len(arena) <= _MOST_KEPT:
            self._kept.append(arena)


def _part(number: Any, part: str) -> Any:
    return getattr(number, part) if part else number


def _address(array: np.ndarray) -> int:
    return ctypes.c_void_p.from_address(id(array) + _DATA).value or 0


def _slow_address(array: np.ndarray) -> int:
    found: int = array.__array_interface__["data"][0]
    return found


_sample = np.empty(3)
if _address(_sample) != _slow_address(_sample):  # another Python, or another NumPy
    _address = _slow_address
