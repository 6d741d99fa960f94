"""Functions in LLVM's text that all calls of NumPy share. See Note [Calls of NumPy]."""

from __future__ import annotations

from fxc.ir.objects import (
    ARRAY_BASE,
    ARRAY_DATA,
    ARRAY_DIMS,
    ARRAY_DTYPE,
    ARRAY_FLAGS,
    ARRAY_NDIM,
    ARRAY_STRIDES,
    OBJECT_TYPE,
)

C_ORDER, FORTRAN_ORDER, WRITEABLE = 1, 2, 0x400  # flags of arrays
_ALL_BUT_WRITEABLE = 0x103  # flags that follow from the layout

# The exception that is set, which then is not.
RAISED = """\
define internal ptr @"fxc.raised"() noinline optnone nounwind {
  %places = alloca ptr, i64 3, align 8
  %at1 = getelementptr ptr, ptr %places, i64 1
  %at2 = getelementptr ptr, ptr %places, i64 2
  call void @PyErr_Fetch(ptr %places, ptr %at1, ptr %at2)
  call void @PyErr_NormalizeException(ptr %places, ptr %at1, ptr %at2)
  %kind = load ptr, ptr %places, align 8
  %value = load ptr, ptr %at1, align 8
  %trace = load ptr, ptr %at2, align 8
  %none = icmp eq ptr %trace, null
  br i1 %none, label %done, label %traced
traced:
  %set = call i32 @PyException_SetTraceback(ptr %value, ptr %trace)
  br label %done
done:
  call void @Py_DecRef(ptr %trace)
  call void @Py_DecRef(ptr %kind)
  ret ptr %value
}"""

# Drops an operand. If somebody else has it, it becomes a view of a copy in C order.
_RELEASE = f"""\
define internal void @"fxc.release"(ptr %array, ptr %copy, ptr %update) noinline optnone nounwind {{
  %none = icmp eq ptr %array, null
  br i1 %none, label %done, label %some
some:
  %count = load i32, ptr %array, align 4
  %alone = icmp eq i32 %count, 1
  br i1 %alone, label %drop, label %kept
kept:
  %own = call ptr %copy(ptr %array, i32 0)
  %failed = icmp eq ptr %own, null
  br i1 %failed, label %clear, label %made
clear:
  call void @PyErr_Clear()
  br label %drop
made:
  %own.data.at = getelementptr i8, ptr %own, i64 {ARRAY_DATA}
  %data.at = getelementptr i8, ptr %array, i64 {ARRAY_DATA}
  %data = load ptr, ptr %own.data.at, align 8
  store ptr %data, ptr %data.at, align 8
  %base.at = getelementptr i8, ptr %array, i64 {ARRAY_BASE}
  store ptr %own, ptr %base.at, align 8
  %rank.at = getelementptr i8, ptr %array, i64 {ARRAY_NDIM}
  %rank = load i32, ptr %rank.at, align 4
  %axes = sext i32 %rank to i64
  %size = mul i64 %axes, 8
  %own.strides.at = getelementptr i8, ptr %own, i64 {ARRAY_STRIDES}
  %strides.at = getelementptr i8, ptr %array, i64 {ARRAY_STRIDES}
  %own.strides = load ptr, ptr %own.strides.at, align 8
  %strides = load ptr, ptr %strides.at, align 8
  call void @llvm.memmove.p0.p0.i64(ptr %strides, ptr %own.strides, i64 %size, i1 false)
  call void %update(ptr %array, i32 {_ALL_BUT_WRITEABLE})
  br label %drop
drop:
  call void @Py_DecRef(ptr %array)
  br label %done
done:
  ret void
}}"""

# Copies a result if it is an array of this dtype and shape in that order, and says whether it is.
_STORE = f"""\
define internal i1 @"fxc.store"(ptr %found, ptr %kind, ptr %dtype, i32 %rank, ptr %dims, \
i32 %order, ptr %data, i64 %size) noinline optnone nounwind {{
  %kind.at = getelementptr i8, ptr %found, i64 {OBJECT_TYPE}
  %its.kind = load ptr, ptr %kind.at, align 8
  %is.array = icmp eq ptr %its.kind, %kind
  br i1 %is.array, label %array, label %other
array:
  %dtype.at = getelementptr i8, ptr %found, i64 {ARRAY_DTYPE}
  %its.dtype = load ptr, ptr %dtype.at, align 8
  %same.dtype = icmp eq ptr %its.dtype, %dtype
  %rank.at = getelementptr i8, ptr %found, i64 {ARRAY_NDIM}
  %its.rank = load i32, ptr %rank.at, align 4
  %same.rank = icmp eq i32 %its.rank, %rank
  %flags.at = getelementptr i8, ptr %found, i64 {ARRAY_FLAGS}
  %flags = load i32, ptr %flags.at, align 4
  %ordered = and i32 %flags, %order
  %same.order = icmp ne i32 %ordered, 0
  %same.kind = and i1 %same.dtype, %same.rank
  %same = and i1 %same.kind, %same.order
  %axes = sext i32 %rank to i64
  %dims.at = getelementptr i8, ptr %found, i64 {ARRAY_DIMS}
  %its.dims = load ptr, ptr %dims.at, align 8
  br i1 %same, label %next, label %other
next:
  %axis = phi i64 [ 0, %array ], [ %behind, %check ]
  %more = icmp slt i64 %axis, %axes
  br i1 %more, label %check, label %copy
check:
  %left.at = getelementptr i64, ptr %dims, i64 %axis
  %right.at = getelementptr i64, ptr %its.dims, i64 %axis
  %left = load i64, ptr %left.at, align 8
  %right = load i64, ptr %right.at, align 8
  %behind = add nsw i64 %axis, 1
  %equal = icmp eq i64 %left, %right
  br i1 %equal, label %next, label %other
copy:
  %its.data.at = getelementptr i8, ptr %found, i64 {ARRAY_DATA}
  %its.data = load ptr, ptr %its.data.at, align 8
  call void @llvm.memmove.p0.p0.i64(ptr %data, ptr %its.data, i64 %size, i1 false)
  ret i1 true
other:
  ret i1 false
}}"""

CALL_PARTS = (RAISED, _RELEASE, _STORE)
CALL_DECLARES = (
    "declare void @PyErr_Fetch(ptr, ptr, ptr)",
    "declare void @PyErr_NormalizeException(ptr, ptr, ptr)",
    "declare i32 @PyException_SetTraceback(ptr, ptr)",
    "declare void @PyErr_Clear()",
    "declare void @Py_DecRef(ptr)",
    "declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)",
)
