"""The native functions by which CPython calls and binds an object whose ``__call__`` is a builtin.

See Note [Vectorcall].
"""

from __future__ import annotations

from fxc.ir.objects import BYTES_DATA, OBJECT_TYPE, REFERENCES, TYPE_VECTORCALL

# Note [Vectorcall]
# CPython calls an object whose class has a ``__call__`` by a look-up of that name, and makes a
# tuple of the arguments, which takes longer than a small native call does. An object whose type
# says at which place, from the object's start, the address of a function stands
# (``tp_vectorcall_offset``) is called by that function at once. The class of an object that users
# call is this object's alone (Note [Native calls]), so the place is a cell of the class, wherever
# it lies: the address of the function below, then what it calls: the builtin's code and ``self``,
# and the builtin. That is held while it runs, since what it calls may give the object another
# class; the cell is then gone. The class makes no other objects and has no subclasses: their calls
# would look for a cell at a place that is not theirs. Where types are not as fxc knows them,
# CPython looks ``__call__`` up.

# Where the object is a function in a class, two more look-ups would cost as much. Its type says
# that a call of the attribute may pass the owner as first argument (``IS_METHOD``); and what binds
# the attribute where it is not called at once is the second function below.

# An object whose function is to rest (Note [Rests]) is called by the third one, which goes to that
# function without anything to come back for: the object holds it. The builtin of the class is then
# the fourth, for who calls ``__call__``. Its table: the address of the number of calls to take, the
# function, and what takes the calls after them.

VECTORCALL, BIND, REST, RESTING = "fxc.vectorcall", "fxc.bind", "fxc.rest", "fxc.resting"

_TAKE = f"""
  %table = getelementptr i8, ptr %self, i64 {BYTES_DATA}
  %more.at = load ptr, ptr %table
  %more = load i64, ptr %more.at
  %is.over = icmp sle i64 %more, 0
  br i1 %is.over, label %over, label %take
take:
  %fewer = sub i64 %more, 1
  store i64 %fewer, ptr %more.at
  %run.at = getelementptr ptr, ptr %table, i64 1
  %run = load ptr, ptr %run.at
  %result = musttail call ptr @PyObject_Vectorcall(
    ptr %run, ptr %args, i64 %nargs, ptr %keywords)
  ret ptr %result
over:"""

VECTORCALL_TEXT = f"""
declare void @_Py_Dealloc(ptr)
declare ptr @PyMethod_New(ptr, ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
define ptr @"{RESTING}"(ptr %self, ptr %args, i64 %nargs, ptr %keywords) nounwind {{
entry:{_TAKE}
  %over.at = getelementptr ptr, ptr %table, i64 2
  %next = load ptr, ptr %over.at
  %handed = call ptr @PyObject_Vectorcall(ptr %next, ptr %args, i64 %nargs, ptr %keywords)
  ret ptr %handed
}}
define ptr @"{REST}"(ptr %object, ptr %args, i64 %nargs, ptr %keywords) nounwind {{
entry:
  %type.at = getelementptr i8, ptr %object, i64 {OBJECT_TYPE}
  %type = load ptr, ptr %type.at
  %place.at = getelementptr i8, ptr %type, i64 {TYPE_VECTORCALL}
  %place = load i64, ptr %place.at
  %cell = getelementptr i8, ptr %object, i64 %place
  %self.at = getelementptr ptr, ptr %cell, i64 2
  %self = load ptr, ptr %self.at{_TAKE}
  %handed = musttail call ptr @"{VECTORCALL}"(
    ptr %object, ptr %args, i64 %nargs, ptr %keywords)
  ret ptr %handed
}}
define ptr @"{BIND}"(ptr %object, ptr %owner, ptr %kind) nounwind {{
  %in.class = icmp eq ptr %owner, null
  br i1 %in.class, label %itself, label %bound
itself:
  %references.at = getelementptr i8, ptr %object, i64 {REFERENCES}
  %before = load i64, ptr %references.at
  %held = add i64 %before, 1
  store i64 %held, ptr %references.at
  ret ptr %object
bound:
  %method = call ptr @PyMethod_New(ptr %object, ptr %owner)
  ret ptr %method
}}
define ptr @"{VECTORCALL}"(ptr %object, ptr %args, i64 %nargs, ptr %keywords) nounwind {{
  %type.at = getelementptr i8, ptr %object, i64 {OBJECT_TYPE}
  %type = load ptr, ptr %type.at
  %place.at = getelementptr i8, ptr %type, i64 {TYPE_VECTORCALL}
  %place = load i64, ptr %place.at
  %cell = getelementptr i8, ptr %object, i64 %place
  %code.at = getelementptr ptr, ptr %cell, i64 1
  %code = load ptr, ptr %code.at
  %self.at = getelementptr ptr, ptr %cell, i64 2
  %self = load ptr, ptr %self.at
  %builtin.at = getelementptr ptr, ptr %cell, i64 3
  %builtin = load ptr, ptr %builtin.at
  %references.at = getelementptr i8, ptr %builtin, i64 {REFERENCES}
  %before = load i64, ptr %references.at
  %held = add i64 %before, 1
  store i64 %held, ptr %references.at
  %count = and i64 %nargs, {2**63 - 1}
  %result = call ptr %code(ptr %self, ptr %args, i64 %count, ptr %keywords)
  %after = load i64, ptr %references.at
  %left = sub i64 %after, 1
  store i64 %left, ptr %references.at
  %last = icmp eq i64 %left, 0
  br i1 %last, label %drop, label %done
drop:
  call void @_Py_Dealloc(ptr %builtin)
  br label %done
done:
  ret ptr %result
}}
"""
