"""The native function that hands a call on to Python.

See Note [Turns].
"""

from __future__ import annotations

from fxc.ir.flag_bits import HAS_FLAGS
from fxc.ir.objects import BYTES_DATA, HEADER, OBJECT_TYPE

FORWARD = "fxc.forward"

# The table: the address of the cells, what takes the calls, what is called if the call is of
# another kind, and if no more are to be taken; how many arguments and how many of them by keyword;
# the types of the arguments, and the keywords. The cells are the calls to take, the cycles of one
# at most, the calls taken, and how many of more cycles there were in a row: three end it.
# How many arguments count comes before the types: others are left out, see Note [Spent arrays].

_SIZE = HEADER  # of a tuple; its items follow


def emit_forward(never: int) -> str:
    """LLVM text: the calling convention is that of Note [Native calls]. ``never`` are the cycles
    that no call takes.
    """
    before, after = _CLOCK if HAS_FLAGS else ("", "")
    return _TEXT.format(
        name=FORWARD,
        table=BYTES_DATA,
        kind=OBJECT_TYPE,
        size=_SIZE,
        items=_SIZE + 8,
        before=before.format(never=never),
        after=after,
    )


# Without a clock that a program may read, no call is too long; nor is any if it is not known how
# long those take that were measured.
_CLOCK = (
    """%longest.at = getelementptr i64, ptr %cells, i64 1
  %longest = load i64, ptr %longest.at
  %is.timed = icmp slt i64 %longest, {never}
  br i1 %is.timed, label %time, label %leave
leave:
  %left.to = call ptr @PyObject_Vectorcall(ptr %run, ptr %args, i64 %own, ptr %keywords)
  ret ptr %left.to
time:
  %start = call i64 @llvm.readcyclecounter()""",
    """%end = call i64 @llvm.readcyclecounter()
  %took = sub i64 %end, %start
  %is.long = icmp sgt i64 %took, %longest
  %row.at = getelementptr i64, ptr %cells, i64 3
  %row.before = load i64, ptr %row.at
  %row.more = add i64 %row.before, 1
  %row = select i1 %is.long, i64 %row.more, i64 0
  store i64 %row, ptr %row.at
  %is.over = icmp sge i64 %row, 3
  %last = load i64, ptr %cells
  %rest = select i1 %is.over, i64 0, i64 %last
  store i64 %rest, ptr %cells""",
)

_TEXT = """
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare i64 @llvm.readcyclecounter()
define ptr @"{name}"(ptr %self, ptr %args, i64 %nargs, ptr %keywords) nounwind {{
entry:
  %table = getelementptr i8, ptr %self, i64 {table}
  %other.at = getelementptr ptr, ptr %table, i64 2
  %given.at = getelementptr ptr, ptr %table, i64 4
  %named.at = getelementptr ptr, ptr %table, i64 5
  %most.at = getelementptr ptr, ptr %table, i64 6
  %kinds = getelementptr ptr, ptr %table, i64 7
  %most = load i64, ptr %most.at
  %is.more = icmp ugt i64 %nargs, %most
  %own = select i1 %is.more, i64 %most, i64 %nargs
  %given = load i64, ptr %given.at
  %named = load i64, ptr %named.at
  %names = getelementptr ptr, ptr %kinds, i64 %given
  %none = icmp eq ptr %keywords, null
  br i1 %none, label %counted, label %keyed
keyed:
  %size.at = getelementptr i8, ptr %keywords, i64 {size}
  %size = load i64, ptr %size.at
  br label %counted
counted:
  %found.named = phi i64 [ 0, %entry ], [ %size, %keyed ]
  %found = add i64 %own, %found.named
  %same.given = icmp eq i64 %found, %given
  %same.named = icmp eq i64 %found.named, %named
  %same = and i1 %same.given, %same.named
  br i1 %same, label %kind, label %other
kind:
  %i = phi i64 [ 0, %counted ], [ %i.next, %kind.fits ]
  %kinds.done = icmp eq i64 %i, %given
  br i1 %kinds.done, label %name, label %kind.next
kind.next:
  %arg.at = getelementptr ptr, ptr %args, i64 %i
  %arg = load ptr, ptr %arg.at
  %type.at = getelementptr i8, ptr %arg, i64 {kind}
  %type = load ptr, ptr %type.at
  %known.at = getelementptr ptr, ptr %kinds, i64 %i
  %known = load ptr, ptr %known.at
  %fits = icmp eq ptr %type, %known
  br i1 %fits, label %kind.fits, label %other
kind.fits:
  %i.next = add i64 %i, 1
  br label %kind
name:
  %j = phi i64 [ 0, %kind ], [ %j.next, %name.fits ]
  %names.done = icmp eq i64 %j, %named
  br i1 %names.done, label %ours, label %name.next
name.next:
  %items = getelementptr i8, ptr %keywords, i64 {items}
  %word.at = getelementptr ptr, ptr %items, i64 %j
  %word = load ptr, ptr %word.at
  %wanted.at = getelementptr ptr, ptr %names, i64 %j
  %wanted = load ptr, ptr %wanted.at
  %word.fits = icmp eq ptr %word, %wanted
  br i1 %word.fits, label %name.fits, label %other
name.fits:
  %j.next = add i64 %j, 1
  br label %name
ours:
  %cells = load ptr, ptr %table
  %left = load i64, ptr %cells
  %some = icmp sgt i64 %left, 0
  br i1 %some, label %take, label %over
take:
  %fewer = sub i64 %left, 1
  store i64 %fewer, ptr %cells
  %taken.at = getelementptr i64, ptr %cells, i64 2
  %taken = load i64, ptr %taken.at
  %more = add i64 %taken, 1
  store i64 %more, ptr %taken.at
  %run.at = getelementptr ptr, ptr %table, i64 1
  %run = load ptr, ptr %run.at
  {before}
  %result = call ptr @PyObject_Vectorcall(ptr %run, ptr %args, i64 %own, ptr %keywords)
  {after}
  ret ptr %result
over:
  %over.at = getelementptr ptr, ptr %table, i64 3
  br label %hand.on
other:
  br label %hand.on
hand.on:
  %next.at = phi ptr [ %over.at, %over ], [ %other.at, %other ]
  %next = load ptr, ptr %next.at
  %handed = call ptr @PyObject_Vectorcall(ptr %next, ptr %args, i64 %nargs, ptr %keywords)
  ret ptr %handed
}}
"""
