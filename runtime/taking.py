"""The native function that takes what calls give. See Note [Taken results]."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np

from fxc.ir.objects import (
    ARRAY_DIMS,
    ARRAY_NDIM,
    BYTES_DATA,
    C_ARRAY,
    HELD_ONCE,
    OWN_DATA,
    results_are_as_known,
)
from fxc.ir.records import frozen
from fxc.ir.taking import (
    END,
    EQUAL,
    GIVE,
    INT,
    IS,
    LESS,
    LOAD,
    MOST_GIVEN,
    REGISTERS,
    SIZE,
    TEST,
    WORDS,
    Looks,
    Take,
    make_takers_by,
    taker,
)

from .engine import Engine

# The table: the address of what is called where the program says no, then the program.
_NAME = "fxc.take"

_TEXT = f"""
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare i32 @PyObject_RichCompareBool(ptr, ptr, i32)
declare void @PyErr_Clear()
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare void @Py_IncRef(ptr)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
define ptr @"{_NAME}"(ptr %self, ptr %args, i64 %nargs) nounwind {{
entry:
  %registers = alloca [{REGISTERS} x i64], align 8
  %given = alloca [{MOST_GIVEN} x ptr], align 8
  %over = alloca i32, align 4
  store ptr %args, ptr %registers, align 8
  %first = getelementptr i8, ptr %self, i64 {BYTES_DATA + 8}
  br label %next
next:
  %at = phi ptr [ %first, %entry ], [ %on, %load ], [ %test.on, %test ], [ %on, %less ],
    [ %on, %is ], [ %on, %equal ], [ %on, %size.done ], [ %on, %int ], [ %on, %give ]
  %count = phi i64 [ 0, %entry ], [ %count, %load ], [ %count, %test ], [ %count, %less ],
    [ %count, %is ], [ %count, %equal ], [ %count, %size.done ], [ %count, %int ], [ %more, %give ]
  %on = getelementptr i64, ptr %at, i64 {WORDS}
  %op = load i64, ptr %at, align 8
  %a.at = getelementptr i64, ptr %at, i64 1
  %b.at = getelementptr i64, ptr %at, i64 2
  %c.at = getelementptr i64, ptr %at, i64 3
  %d.at = getelementptr i64, ptr %at, i64 4
  %e.at = getelementptr i64, ptr %at, i64 5
  %a = load i64, ptr %a.at, align 8
  %b = load i64, ptr %b.at, align 8
  %c = load i64, ptr %c.at, align 8
  %own.at = getelementptr i64, ptr %registers, i64 %a
  switch i64 %op, label %no [ i64 {LOAD}, label %load  i64 {TEST}, label %test
    i64 {LESS}, label %less  i64 {IS}, label %is  i64 {SIZE}, label %size
    i64 {EQUAL}, label %equal  i64 {INT}, label %int  i64 {GIVE}, label %give
    i64 {END}, label %end ]
load:
  %load.from.at = getelementptr i64, ptr %registers, i64 %b
  %load.from = load ptr, ptr %load.from.at, align 8
  %load.at = getelementptr i8, ptr %load.from, i64 %c
  %loaded = load i64, ptr %load.at, align 8
  store i64 %loaded, ptr %own.at, align 8
  %null = icmp eq i64 %loaded, 0
  br i1 %null, label %no, label %next
test:
  %d = load i64, ptr %d.at, align 8
  %e = load i64, ptr %e.at, align 8
  %test.from = load ptr, ptr %own.at, align 8
  %test.at = getelementptr i8, ptr %test.from, i64 %b
  %test.found = load i64, ptr %test.at, align 8
  %test.masked = and i64 %test.found, %c
  %test.same = icmp eq i64 %test.masked, %d
  %test.jumps = icmp ne i64 %e, 0
  %test.fine = or i1 %test.same, %test.jumps
  %test.steps = mul i64 %e, {WORDS}
  %test.jump = getelementptr i64, ptr %on, i64 %test.steps
  %test.on = select i1 %test.same, ptr %on, ptr %test.jump
  br i1 %test.fine, label %next, label %no
less:
  %less.of.at = getelementptr i64, ptr %registers, i64 %b
  %less.of = load i64, ptr %less.of.at, align 8
  %less.times = mul i64 %less.of, %c
  %less.from = load i64, ptr %own.at, align 8
  %less.rest = sub i64 %less.from, %less.times
  store i64 %less.rest, ptr %own.at, align 8
  br label %next
is:
  %is.found = load i64, ptr %own.at, align 8
  %is.same = icmp eq i64 %is.found, %b
  br i1 %is.same, label %next, label %no
equal:
  %equal.found = load ptr, ptr %own.at, align 8
  %equal.known = inttoptr i64 %b to ptr
  %compared = call i32 @PyObject_RichCompareBool(ptr %equal.found, ptr %equal.known, i32 2)
  %are.equal = icmp eq i32 %compared, 1
  br i1 %are.equal, label %next, label %unequal
unequal:
  call void @PyErr_Clear()
  br label %no
size:
  %size.of.at = getelementptr i64, ptr %registers, i64 %b
  %array = load ptr, ptr %size.of.at, align 8
  %rank.at = getelementptr i8, ptr %array, i64 {ARRAY_NDIM}
  %rank.32 = load i32, ptr %rank.at, align 4
  %rank = sext i32 %rank.32 to i64
  %dims.at = getelementptr i8, ptr %array, i64 {ARRAY_DIMS}
  %dims = load ptr, ptr %dims.at, align 8
  br label %axis
axis:
  %i = phi i64 [ 0, %size ], [ %i.next, %axis.next ]
  %product = phi i64 [ 1, %size ], [ %product.next, %axis.next ]
  %is.last = icmp eq i64 %i, %rank
  br i1 %is.last, label %size.done, label %axis.next
axis.next:
  %dim.at = getelementptr i64, ptr %dims, i64 %i
  %dim = load i64, ptr %dim.at, align 8
  %product.next = mul i64 %product, %dim
  %i.next = add i64 %i, 1
  br label %axis
size.done:
  store i64 %product, ptr %own.at, align 8
  br label %next
int:
  %number = load ptr, ptr %own.at, align 8
  %value = call i64 @PyLong_AsLongLongAndOverflow(ptr %number, ptr %over)
  %overflow = load i32, ptr %over, align 4
  %fits = icmp eq i32 %overflow, 0
  br i1 %fits, label %next, label %no
give:
  %part = load ptr, ptr %own.at, align 8
  %given.at = getelementptr ptr, ptr %given, i64 %count
  store ptr %part, ptr %given.at, align 8
  %more = add i64 %count, 1
  br label %next
end:
  %is.one = icmp eq i64 %count, 1
  br i1 %is.one, label %one, label %several
one:
  %single = load ptr, ptr %given, align 8
  call void @Py_IncRef(ptr %single)
  ret ptr %single
several:
  %made = call ptr @PyTuple_New(i64 %count)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %done, label %item
item:
  %j = phi i64 [ 0, %several ], [ %j.next, %item ]
  %item.at = getelementptr ptr, ptr %given, i64 %j
  %each = load ptr, ptr %item.at, align 8
  call void @Py_IncRef(ptr %each)
  %set = call i32 @PyTuple_SetItem(ptr %made, i64 %j, ptr %each)
  %j.next = add i64 %j, 1
  %is.all = icmp eq i64 %j.next, %count
  br i1 %is.all, label %done, label %item
done:
  ret ptr %made
no:
  %otherwise.at = getelementptr i8, ptr %self, i64 {BYTES_DATA}
  %otherwise = load ptr, ptr %otherwise.at, align 8
  %answer = call ptr @PyObject_Vectorcall(ptr %otherwise, ptr %args, i64 %nargs, ptr null)
  ret ptr %answer
}}
"""


def native_taker(looks: Looks, otherwise: Take) -> Take:
    """A builtin that runs a program, or calls ``otherwise``."""
    words = [id(otherwise), *looks.words, END, *[0] * (WORDS - 1)]
    table = b"".join((word & (1 << 64) - 1).to_bytes(8, "little") for word in words)
    made: Take = _engine().function(_NAME, table, otherwise, *looks.known)
    return made


@cache
def _engine() -> Engine:
    return Engine(_TEXT, b"", ())


def make_takers() -> None:
    """Let what takes results be machine code, where objects lie as is known."""
    if results_are_as_known():
        make_takers_by(native_taker)


@frozen
class Wanted:
    """What a result is to be: an "array" in C order that nobody else has, a number of NumPy's
    ("scalar") or "python", whatever it is ("any"), or nothing ("none").
    """

    kind: str
    dtype: np.dtype | None = None

    @property
    def number_type(self) -> type | None:
        """The type of such a number; None if it does not say all: dates have units."""
        if self.dtype is None or self.kind not in ("python", "scalar"):
            return None
        if self.kind == "python":
            return _PYTHONS.get(self.dtype.kind)
        return self.dtype.type if self.dtype.kind in "biufc" else None

    def look(self, looks: Looks, within: int, place: int) -> bool:
        """Look at what is in that place of a result; whether that is possible."""
        if self.kind == "array":
            assert self.dtype is not None
            looks.array(self.dtype, C_ARRAY, within, place, whole=True)
        elif self.number_type is not None:
            looks.number(self.number_type, within, place)
        elif self.kind == "any":
            looks.anything(within, place)
        else:
            return self.kind == "none"
        return True

    def made(self, found: Any, operands: tuple[Any, ...]) -> Any:
        """The same of what may be something else."""
        if self.kind == "any":
            return found
        assert self.dtype is not None
        if self.kind == "array":
            return own_array(found, self.dtype, any(found is each for each in operands))
        return settled(self.dtype, self.kind == "python", found)


@frozen
class Taken:
    """What becomes of the result of a call between pieces of native code: one thing, or several in
    a container.
    """

    parts: tuple[Wanted, ...]
    is_single: bool

    def __call__(self, found: Any, *operands: Any) -> Any:
        if self.is_single:
            return self.parts[0].made(found, operands)
        pairs = zip(self.parts, found, strict=True)
        made = [part.made(each, operands) for part, each in pairs if part.kind != "none"]
        return made[0] if len(made) == 1 else tuple(made)

    def __fxc_native__(self) -> Take:
        """What does the same in a fraction of the time, if there is that."""
        make_takers()  # not done yet where the plan is restored
        looks = Looks()
        if self.is_single:
            number, places = 0, [-1]
        else:
            number, places = looks.container(None, len(self.parts)), [*range(len(self.parts))]
        can = all(
            part.look(looks, number, place) for part, place in zip(self.parts, places, strict=True)
        )
        return taker(looks, self) if can else self


def own_array(found: np.ndarray, dtype: np.dtype, is_given: bool) -> np.ndarray:
    """An array in C order that nobody else knows: one of its own memory, a view of memory that is
    its own, or a copy.
    """
    flags, base = found.flags.num, found.base
    is_own = flags & OWN_DATA or (
        type(base) is np.ndarray
        and base.flags.num & OWN_DATA
        and sys.getrefcount(base) == HELD_ONCE
        and base.nbytes == found.nbytes
    )
    if is_own and flags & C_ARRAY == C_ARRAY and found.dtype is dtype and not is_given:
        return found
    return np.array(found, dtype, order="C")


def settled(dtype: np.dtype, weak: bool, found: object) -> Any:
    """The number of that dtype that another one, or an array without axes, is."""
    slot = np.empty((), dtype)
    slot[...] = found
    return slot.item() if weak else slot[()]


_PYTHONS = {"b": bool, "i": int, "f": float, "c": complex}
