"""The LLVM text that makes an array whose memory is kept. See Note [Kept memory]."""

from __future__ import annotations

from fxc.package.builtins import ITEM_SIZE

from .recipe import LARGE

_GIVEN = "ptr %type, ptr %dtype, i32 %rank, ptr %sizes, ptr %steps, ptr %data, i32 %flags, ptr %of"

# As NumPy's PyArray_NewFromDescr, but that the memory of large arrays is ours: where the program
# has set no handler of its own.
_NEW = """\
declare void @Py_DecRef(ptr)
declare ptr @"fxc.numpy.new"({given_types})
declare ptr @"fxc.numpy.set"(ptr)
@"fxc.own.handler" = external global i8
@"fxc.usual.handler" = external global i8
define ptr @"fxc.new"({given}) nounwind {{
entry:
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
  %old = call ptr @"fxc.numpy.set"(ptr @"fxc.own.handler")
  %failed = icmp eq ptr %old, null
  br i1 %failed, label %none, label %look
look:
  %is.usual = icmp eq ptr %old, @"fxc.usual.handler"
  br i1 %is.usual, label %ours, label %other
ours:
  %array = call ptr @"fxc.numpy.new"({given})
  %back = call ptr @"fxc.numpy.set"(ptr %old)
  call void @Py_DecRef(ptr %back)
  call void @Py_DecRef(ptr %old)
  ret ptr %array
other:
  %away = call ptr @"fxc.numpy.set"(ptr %old)
  call void @Py_DecRef(ptr %away)
  call void @Py_DecRef(ptr %old)
  br label %plain
plain:
  %usual.array = call ptr @"fxc.numpy.new"({given})
  ret ptr %usual.array
none:
  ret ptr null
}}
"""


NEW_ARRAY_CODE = _NEW.format(
    large=LARGE,
    item_size=ITEM_SIZE,
    given=_GIVEN,
    given_types=", ".join(each.split()[0] for each in _GIVEN.split(", ")),
)
# What the code calls it, beside the two functions of NumPy.
OWN, USUAL, NEW, SET = "fxc.own.handler", "fxc.usual.handler", "fxc.numpy.new", "fxc.numpy.set"
