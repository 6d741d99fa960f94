"""What compiled code calls of NumPy and of Python: the pairs of pointers that it is given.

Inner loops of ufuncs are called as they are, by their addresses in the ufunc, whose layout is
NumPy's ABI. Other functions are called through small functions of ctypes, which make arrays over
the memory of operands and results. Needs only NumPy.
"""

from __future__ import annotations

import ctypes
import sys
from _thread import get_ident
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .ufuncs import layout_of, lies_as_known
from .values import Shown, named, value_of

DONE, FAILED, STOPPED = 1550, 2989, 0  # what a call of NumPy gives


_Call = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))
Words = Sequence[int]  # in the memory of compiled code
_Sort = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
_SortPlaces = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p
)


class NumpyTable:
    """The pointers for one program, and what was raised behind them.

    Threads may call the program at the same time: each has its own exception.
    """

    def __init__(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Raises ``RuntimeError`` for a NumPy that has something elsewhere."""
        self._raised: dict[int, BaseException] = {}  # by thread
        self._kept: list[Any] = []
        pairs = [self._pair(entry) for entry in entries]
        self.pointers = (ctypes.c_void_p * (2 * len(pairs) or 1))(*[x for p in pairs for x in p])

    def raised(self) -> BaseException | None:
        """What has ended this thread's call; it is forgotten."""
        return self._raised.pop(get_ident(), None)

    def _pair(self, entry: Mapping[str, Any]) -> tuple[int | None, int | None]:
        if "loop" in entry:
            return loop(entry["loop"], entry["types"])
        if "sorts" in entry:
            dtype = np.dtype(entry["dtype"])
            return self._function(_sorting(entry["sorts"], dtype)), None
        if "call" in entry:
            return self._function(_Call(self._caller(entry))), None
        if entry["ask"] == "lock":
            return _python("PyEval_SaveThread"), _python("PyEval_RestoreThread")
        return _python("PyErr_CheckSignals"), None

    def _function(self, function: Any) -> int | None:
        self._kept.append(function)
        return ctypes.cast(function, ctypes.c_void_p).value

    def _caller(self, entry: Mapping[str, Any]) -> Callable[..., int]:
        function, writes = named(entry["call"]), entry["writes"]
        args = [*map(_argument, entry["args"])]
        options = {name: _argument(each) for name, each in entry["options"].items()}
        outs = [*map(_array, entry["outs"])]

        def call(_: int | None, words: Words) -> int:
            try:
                given = [read(words) for read in args]
                named_args = {name: read(words) for name, read in options.items()}
                arrays = [read(words) for read in outs]
                if writes:
                    function(*given, **named_args, out=tuple(arrays))
                    return DONE
                found = function(*given, **named_args)
                results = found if len(arrays) > 1 else (found,)
                for array, result in zip(arrays, results, strict=True):
                    _store(array, result, entry["call"])
            except Exception as error:
                # Without its frames, which have arrays that go away.
                self._raised[get_ident()] = error.with_traceback(None)
                return FAILED
            except BaseException as error:
                self._raised[get_ident()] = error.with_traceback(None)
                return STOPPED
            return DONE

        return call


def _store(array: np.ndarray, result: object, name: str) -> None:
    """Copy a result to where it is expected: of another type or shape it is another program's."""
    found = np.asarray(result)
    if found.shape != array.shape or found.dtype != array.dtype:
        expected = f"{array.dtype}{list(array.shape)}"
        raise ValueError(
            f"{name.replace(':', '.')} gives {found.dtype}{list(found.shape)}, and where the "
            f"program was exported it gave {expected}"
        )
    array[...] = found


def _python(name: str) -> int | None:
    """The address of a function of CPython's."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value


Reader = Callable[[Words], Any]  # what reads an argument from the words of a call


def _argument(shown: Shown) -> Reader:
    if isinstance(shown, dict):
        if "memory" in shown:
            return _array(shown)
        if "number" in shown:
            read = _array(shown["number"])
            return lambda words: read(words).item() if shown["weak"] else read(words)[()]
        if "word" in shown:
            return lambda words: words[shown["word"]]
        if "tuple" in shown:
            parts = [*map(_argument, shown["tuple"])]
            return lambda words: tuple([part(words) for part in parts])
    value = value_of(shown, {})
    return lambda words: value


# All memory behind an address: the array over it says how much of that there is.
_memory_at: Callable[[int], Any] = (ctypes.c_char * sys.maxsize).from_address


def _array(shown: Mapping[str, Any]) -> Reader:
    """What makes an array over the memory of an operand or a result."""
    place, dtype, new = shown["memory"], np.dtype(shown["dtype"]), np.ndarray
    dims, steps = tuple(shown["shape"]), tuple(shown["strides"])
    if all(type(each) is int and each >= 0 for each in (*dims, *steps)):
        return lambda words: new(dims, dtype, _memory_at(words[place]), 0, steps)

    def read(words: Words) -> np.ndarray:
        shape = tuple([_dim(each, words) for each in dims])
        strides = tuple([_dim(each, words) for each in steps])
        ahead = sum([(n - 1) * -s for n, s in zip(shape, strides, strict=True) if n and s < 0])
        return new(shape, dtype, _memory_at(words[place] - ahead), ahead, strides)

    return read


def _dim(shown: Shown, words: Words) -> int:
    return shown if type(shown) is int else int(words[shown["word"]])


def loop(name: str, types: str) -> tuple[int, int | None]:
    """Function and data pointer of a ufunc's inner loop, by its types: ``dd->d``.

    Raises ``RuntimeError`` if this NumPy has it elsewhere, or not at all.
    """
    ufunc = getattr(np, name)
    if not lies_as_known(ufunc):
        raise RuntimeError(f"NumPy {np.__version__} keeps its inner loops elsewhere")
    if types not in ufunc.types:
        raise RuntimeError(f"NumPy {np.__version__} has no inner loop {types} of {name}")
    place, lies = ufunc.types.index(types), layout_of(ufunc)
    function = lies.functions[place]
    if not function:
        raise RuntimeError(f"NumPy {np.__version__} has no such inner loop {types} of {name}")
    return function, lies.data[place] if lies.data else None


def _sorting(name: str, dtype: np.dtype) -> Any:
    """What sorts a row in place, or the places of its elements."""

    def row(address: int, size: int, dtype: np.dtype) -> np.ndarray:
        return np.ndarray((size,), dtype, _memory_at(address))

    def sort(keys: int, size: int, _: int | None) -> int:
        row(keys, size, dtype).sort()
        return 0

    def argsort(keys: int, places: int, size: int, _: int | None) -> int:
        row(places, size, np.dtype(np.int64))[...] = row(keys, size, dtype).argsort()
        return 0

    return _Sort(sort) if name == "sort" else _SortPlaces(argsort)
