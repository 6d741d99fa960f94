"""What is looked at of an object that a call has given, as a program of few instructions.

See Note [Taken results].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .objects import (
    ARRAY_BASE,
    ARRAY_DIMS,
    ARRAY_DTYPE,
    ARRAY_FLAGS,
    ARRAY_NDIM,
    ARRAY_STRIDES,
    DTYPE_METADATA,
    IS_TUPLE,
    LIST_ITEMS,
    OBJECT_TYPE,
    OWN_DATA,
    REFERENCES,
    SEQUENCE_SIZE,
    TUPLE_ITEMS,
    TYPE_FLAGS,
)

# Note [Taken results]
# What a function of NumPy's gives is looked at before it is the graph's: which object it is, which
# dtype, sizes and layout an array has, and whether nobody else knows its memory. Python takes 0.1
# µs for each of these questions, and a call may give five arrays. All of them ask what stands at
# some place of an object, so they are a program for one native function (``runtime/taking.py``),
# which takes 3 ns for an instruction. It reads memory and counts nothing. What it says no to, and
# all where objects lie otherwise, goes to a function in Python, which looks again, and makes
# copies or raises. So the program may say no where Python says yes, never the other way.
# The result is given as a variable of the caller. So it has two references, each of its parts has
# one, and so has the array that a part is a view of: then nobody else has them, not even as an
# operand.

# A size: a number and multiples of sizes of operands, by operand and axis.
Sum = tuple[int, tuple[tuple[int, int, int], ...]]

# The instructions have six words, the first of which is one of these.
LOAD, TEST, LESS, IS, EQUAL, SIZE, INT, GIVE, END = range(9)
WORDS = 6
MOST_GIVEN, REGISTERS = 32, 32
_ARGS, _PART, _MEMORY, _NUMBER, _OTHER, _FIRST = range(6)  # registers; then those of containers
_MADE_ANEW = "mMSU"  # kinds of dtypes that are equal as different objects
_ALL, _INT = -1, 0xFFFFFFFF  # masks
_OF_VARIABLE_AND_CALL, _OF_CONTAINER = 2, 1

Take = Callable[..., Any]


class Looks:
    """A program for what a call gives, written instruction by instruction."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self.known: list[object] = []  # what words are addresses of
        self.given = 0
        self._places: list[tuple[int, int]] = []  # by container: a register, where items begin

    @property
    def is_possible(self) -> bool:
        """Whether there is room for all of it."""
        return 0 < self.given <= MOST_GIVEN and _FIRST + len(self._places) <= REGISTERS

    def container(self, kind: type | None, size: int, within: int = 0, place: int = -1) -> int:
        """Look at a tuple or list of that class, or a tuple of any, which is the result, or in a
        place of another one; the number by which its own places are asked for.
        """
        register = _FIRST + len(self._places)
        held = self._load_part(register, within, place)
        if kind is None:
            self._add(LOAD, _MEMORY, register, OBJECT_TYPE)
            self._test(_MEMORY, TYPE_FLAGS, IS_TUPLE, IS_TUPLE)
        else:
            self._test(register, OBJECT_TYPE, self._address(kind))
        self._test(register, REFERENCES, held)
        self._test(register, SEQUENCE_SIZE, size)
        if kind is list:
            self._add(LOAD, register, register, LIST_ITEMS)
        self._places.append((register, 0 if kind is list else TUPLE_ITEMS))
        return len(self._places) - 1

    def number(self, kind: type, within: int = 0, place: int = -1) -> None:
        """Give a number of that class; one of Python's fits 64 bits."""
        self._load_part(_PART, within, place)
        self._test(_PART, OBJECT_TYPE, self._address(kind))
        if kind is int:
            self._add(INT, _PART)
        self._give()

    def anything(self, within: int = 0, place: int = -1) -> None:
        """Give what there is."""
        self._load_part(_PART, within, place)
        self._give()

    def same(self, value: object, within: int, place: int) -> None:
        """Look whether it is this text, flag or None, which is not given."""
        self._load_part(_PART, within, place)
        if isinstance(value, str):
            self._test(_PART, OBJECT_TYPE, self._address(str))
        self._add(EQUAL if isinstance(value, str) else IS, _PART, self._address(value))

    def array(
        self,
        dtype: np.dtype,
        flags: int,
        within: int = 0,
        place: int = -1,
        *,
        whole: bool = False,
        sizes: Sequence[Sum] | None = None,
        strides: Sequence[Sum] = (),
    ) -> None:
        """Give an array with these flags that nobody else has, of its own memory, or of that of an
        array which nobody else has: of the ``whole`` of it. There are so many parameters because
        each is a thing to look at.
        """
        held = self._load_part(_PART, within, place)
        self._test(_PART, OBJECT_TYPE, self._address(np.ndarray))
        self._test(_PART, REFERENCES, held)
        self._dtype(_PART, dtype)
        self._test(_PART, ARRAY_FLAGS, flags, flags)
        if sizes is not None:
            self._test(_PART, ARRAY_NDIM, len(sizes), _INT)
            self._numbers(ARRAY_DIMS, sizes)
            self._numbers(ARRAY_STRIDES, strides)
        self._own_memory(dtype, whole)
        self._give()

    def _dtype(self, array: int, dtype: np.dtype) -> None:
        if dtype.kind not in _MADE_ANEW or dtype.metadata:
            self._test(array, ARRAY_DTYPE, self._address(dtype))
            return
        self._add(LOAD, _OTHER, array, ARRAY_DTYPE)
        self._test(_OTHER, DTYPE_METADATA, 0)
        self._add(EQUAL, _OTHER, self._address(dtype))

    def _own_memory(self, dtype: np.dtype, whole: bool) -> None:
        self._test(_PART, ARRAY_FLAGS, 0, OWN_DATA)
        test = len(self.words)  # what follows is for memory of another array
        self._add(LOAD, _MEMORY, _PART, ARRAY_BASE)
        self._test(_MEMORY, OBJECT_TYPE, self._address(np.ndarray))
        self._test(_MEMORY, REFERENCES, _OF_CONTAINER)
        self._test(_MEMORY, ARRAY_FLAGS, OWN_DATA, OWN_DATA)
        if whole:
            self._dtype(_MEMORY, dtype)
            self._add(SIZE, _NUMBER, _PART)
            self._add(SIZE, _OTHER, _MEMORY)
            self._add(LESS, _NUMBER, _OTHER, 1)
            self._add(IS, _NUMBER, 0)
        self.words[test - 1] = (len(self.words) - test) // WORDS

    def _numbers(self, field: int, sums: Sequence[Sum]) -> None:
        """Look at the sizes or strides of the array."""
        if sums:
            self._add(LOAD, _MEMORY, _PART, field)
        for axis, (number, parts) in enumerate(sums):
            if not parts:
                self._test(_MEMORY, 8 * axis, number)
                continue
            self._add(LOAD, _NUMBER, _MEMORY, 8 * axis)
            for operand, its_axis, times in parts:
                self._add(LOAD, _OTHER, _ARGS, 8 * (1 + operand))
                self._add(LOAD, _OTHER, _OTHER, ARRAY_DIMS)
                self._add(LOAD, _OTHER, _OTHER, 8 * its_axis)
                self._add(LESS, _NUMBER, _OTHER, times)
            self._add(IS, _NUMBER, number)

    def _load_part(self, register: int, within: int, place: int) -> int:
        """Load the result, or what is in a place; the references that it has, if nobody else has
        it.
        """
        if place < 0:
            self._add(LOAD, register, _ARGS)
            return _OF_VARIABLE_AND_CALL
        holder, begin = self._places[within]
        self._add(LOAD, register, holder, begin + 8 * place)
        return _OF_CONTAINER

    def _give(self) -> None:
        self._add(GIVE, _PART)
        self.given += 1

    def _test(self, register: int, offset: int, value: int, mask: int = _ALL) -> None:
        self._add(TEST, register, offset, mask, value)

    def _address(self, value: object) -> int:
        self.known.append(value)
        return id(value)

    def _add(self, *words: int) -> None:
        self.words += [*words, *[0] * (WORDS - len(words))]


def taker(looks: Looks, otherwise: Take) -> Take:
    """What takes a result: it is called with that and with the operands. It gives what the program
    gives, of several parts a tuple, or else what ``otherwise`` says.
    """
    make = _maker[0] if _maker else None
    return otherwise if make is None or not looks.is_possible else make(looks, otherwise)


def make_takers_by(make: Callable[[Looks, Take], Take]) -> None:
    """Let ``make`` make what takes results: it knows of machine code."""
    _maker[:] = [make]


_maker: list[Callable[[Looks, Take], Take]] = []
