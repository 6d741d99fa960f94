"""The LLVM text that makes an array whose memory is kept. See Note [Kept memory]."""

from __future__ import annotations

from .kept_code import LARGE

ITEM_SIZE = 40  # where a dtype of NumPy 2 has it
_GIVEN = "ptr %type, ptr %dtype, i32 %rank, ptr %sizes, ptr %steps, ptr %data, i32 %flags, ptr %of"

# As NumPy's PyArray_NewFromDescr, but that the memory of large arrays is ours: where the program
# has set no handler of its own.
_NEW = """\
declare void @Py_DecRef(ptr)
define ptr @"fxc.new"({given}) nounwind {{
entry:
  %make = inttoptr i64 {new_array} to ptr
  %set = inttoptr i64 {set_handler} to ptr
  %own = inttoptr i64 {own} to ptr
  %usual = inttoptr i64 {usual} to ptr
  %item.at = getelementptr i8, ptr %dtype, i64 {item_size}
  %item = load i64, ptr %item.at, align 8
  %axes = sext i32 %rank to i64
  br label %count
count:
  %axis = phi i64 [ 0, %entry ], [ %axis.next, %multiply ]
  %bytes = phi i64 [ %item, %entry ], [ %product, %multiply ]
  %counted = icmp sge i64 %axis, %axes
  br i1 %counted, label %decide, label %multiply
multiply:
  %size.at = getelementptr i64, ptr %sizes, i64 %axis
  %size = load i64, ptr %size.at, align 8
  %product = mul i64 %bytes, %size
  %axis.next = add i64 %axis, 1
  br label %count
decide:
  %is.large = icmp sge i64 %bytes, {large}
  br i1 %is.large, label %kept, label %plain
kept:
  %old = call ptr %set(ptr %own)
  %failed = icmp eq ptr %old, null
  br i1 %failed, label %none, label %look
look:
  %is.usual = icmp eq ptr %old, %usual
  br i1 %is.usual, label %ours, label %other
ours:
  %array = call ptr %make({given})
  %back = call ptr %set(ptr %old)
  call void @Py_DecRef(ptr %back)
  call void @Py_DecRef(ptr %old)
  ret ptr %array
other:
  %away = call ptr %set(ptr %old)
  call void @Py_DecRef(ptr %away)
  call void @Py_DecRef(ptr %old)
  br label %plain
plain:
  %usual.array = call ptr %make({given})
  ret ptr %usual.array
none:
  ret ptr null
}}
"""


def new_array_code(own: int, usual: int, set_handler: int, new_array: int) -> str:
    """The function, for the two handlers and two functions of NumPy."""
    return _NEW.format(
        own=own,
        usual=usual,
        set_handler=set_handler,
        new_array=new_array,
        large=LARGE,
        item_size=ITEM_SIZE,
        given=_GIVEN,
    )
