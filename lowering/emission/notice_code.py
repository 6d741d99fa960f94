"""What native code calls if the processor's floating-point flags say anything."""

from __future__ import annotations

# See Note [Floating-point flags].
NOTICE_CODE = """\
; seldom called
declare i32 @PyContextVar_Get(ptr, ptr, ptr)
declare ptr @PyLong_FromLong(i64)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare i32 @PyObject_IsTrue(ptr)
declare void @Py_DecRef(ptr)
define i32 @"fxc.notice"(i32 %flags, ptr %notice, ptr %variable, ptr %default) \
cold noinline nounwind {
entry:
  %slot = alloca ptr, align 8
  store ptr null, ptr %slot, align 8
  %loud = and i32 %flags, 13
  %is_loud = icmp ne i32 %loud, 0
  br i1 %is_loud, label %ask, label %look
look:
  %got = call i32 @PyContextVar_Get(ptr %variable, ptr null, ptr %slot)
  %state = load ptr, ptr %slot, align 8
  call void @Py_DecRef(ptr %state)
  %usual = icmp eq ptr %state, %default
  br i1 %usual, label %on, label %ask
on:
  ret i32 0
ask:
  %wide = zext i32 %flags to i64
  %number = call ptr @PyLong_FromLong(i64 %wide)
  %none = icmp eq ptr %number, null
  br i1 %none, label %raised, label %call
call:
  %found = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %notice, ptr %number, ptr null)
  call void @Py_DecRef(ptr %number)
  %bad = icmp eq ptr %found, null
  br i1 %bad, label %raised, label %decide
decide:
  %replay = call i32 @PyObject_IsTrue(ptr %found)
  call void @Py_DecRef(ptr %found)
  ret i32 %replay
raised:
  ret i32 2
}
"""
