"""The LLVM text of memory that is kept. See Note [Kept memory] in ``kept_memory.py``."""

from __future__ import annotations

import mmap

# Where the fields of the state lie, in bytes.
LIMIT, KEPT, CLOCK, REUSED = range(0, 32, 8)  # i64
LEAST, HUGE, MARKS = 32, 40, 48  # i64: bytes of a mapping of its own; whether to advise the kernel
SLOTS, SLOT, COUNT = 64, 32, 64  # of kept mappings: start, room, the mapping's address and length
AGES = SLOTS + SLOT * COUNT  # i64: when each was kept, by the clock
HANDLER = AGES + 8 * COUNT  # PyDataMem_Handler
NAME = 127  # bytes of its name; then its version, and from an aligned place its functions
SIZE = HANDLER + NAME + 1 + 5 * 8

# In front of each block, for the data begin behind it: room, address and length of the mapping; no
# length where it is malloc's.
HEADER = 64
_PAGE, _HUGE_PAGE = 2**12, 2**21
_LONG = 2**25  # bytes of a block that is always marked: it takes no part of the time to fill it
_FREE_PART = 8  # of the limit: so much is kept without marks
_SLACK = 4  # a kept block may be larger than what is asked for by one part in so many
_READ_WRITE = 3
_FLAGS = getattr(mmap, "MAP_PRIVATE", 2) | getattr(mmap, "MAP_ANONYMOUS", 32)
_ADVISE_HUGE = getattr(mmap, "MADV_HUGEPAGE", 14)
_ADVISE_FREE = getattr(mmap, "MADV_FREE", 8)

_DECLARES = """\
declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @munmap(ptr, i64)
declare i32 @madvise(ptr, i64, i32)
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
"""


def _fields(*names: str) -> str:
    offsets = globals()
    return "\n".join(
        f"  %{name.lower()} = getelementptr i8, ptr %state, i64 {offsets[name]}" for name in names
    )


# A block from a mapping: its header says where that is.
_BEGIN = f"""\
define internal ptr @begin(ptr %start, i64 %room, ptr %base, i64 %length) nounwind {{
  store i64 %room, ptr %start, align 8
  %base.at = getelementptr i8, ptr %start, i64 8
  store ptr %base, ptr %base.at, align 8
  %length.at = getelementptr i8, ptr %start, i64 16
  store i64 %length, ptr %length.at, align 8
  %data = getelementptr i8, ptr %start, i64 {HEADER}
  ret ptr %data
}}
"""

# Take what is kept in a slot out of it.
_DROP = f"""\
define internal void @drop(ptr %state, ptr %slot) nounwind {{
{_fields("KEPT")}
  %room.at = getelementptr i8, ptr %slot, i64 8
  %room = load i64, ptr %room.at, align 8
  %before = load i64, ptr %kept, align 8
  %after = sub i64 %before, %room
  store i64 %after, ptr %kept, align 8
  store ptr null, ptr %slot, align 8
  ret void
}}
"""

# Give the oldest mappings back to the system until no more than so many bytes are kept.
_TRIM = f"""\
define void @"fxc.trim"(ptr %state, i64 %most) nounwind {{
entry:
{_fields("KEPT", "SLOTS", "AGES")}
  br label %ask
ask:
  %now = load i64, ptr %kept, align 8
  %fits = icmp sle i64 %now, %most
  br i1 %fits, label %end, label %look
look:
  %i = phi i64 [ 0, %ask ], [ %i.next, %look ]
  %best = phi i64 [ 0, %ask ], [ %best.next, %look ]
  %oldest = phi i64 [ {2**63 - 1}, %ask ], [ %oldest.next, %look ]
  %offset = mul i64 %i, {SLOT}
  %slot = getelementptr i8, ptr %slots, i64 %offset
  %start = load ptr, ptr %slot, align 8
  %age.at = getelementptr i64, ptr %ages, i64 %i
  %age = load i64, ptr %age.at, align 8
  %there = icmp ne ptr %start, null
  %older = icmp slt i64 %age, %oldest
  %better = and i1 %there, %older
  %best.next = select i1 %better, i64 %i, i64 %best
  %oldest.next = select i1 %better, i64 %age, i64 %oldest
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, {COUNT}
  br i1 %done, label %found, label %look
found:
  %best.offset = mul i64 %best.next, {SLOT}
  %best.slot = getelementptr i8, ptr %slots, i64 %best.offset
  %base.at = getelementptr i8, ptr %best.slot, i64 16
  %base = load ptr, ptr %base.at, align 8
  %length.at = getelementptr i8, ptr %best.slot, i64 24
  %length = load i64, ptr %length.at, align 8
  call void @drop(ptr %state, ptr %best.slot)
  %gone = call i32 @munmap(ptr %base, i64 %length)
  br label %ask
end:
  ret void
}}
"""

# The smallest kept block with enough room and not much more, or else a new one.
_TAKE = f"""\
define ptr @"fxc.take"(ptr %state, i64 %size) nounwind {{
entry:
{_fields("LEAST", "HUGE", "SLOTS", "REUSED")}
  %too.large = icmp ugt i64 %size, {2**62}
  br i1 %too.large, label %none, label %choose
choose:
  %least.size = load i64, ptr %least, align 8
  %is.small = icmp ult i64 %size, %least.size
  br i1 %is.small, label %small, label %seek
small:
  %more = add i64 %size, {2 * HEADER}
  %raw = call ptr @malloc(i64 %more)
  %no.raw = icmp eq ptr %raw, null
  br i1 %no.raw, label %none, label %place
place:
  %raw.int = ptrtoint ptr %raw to i64
  %raw.end = add i64 %raw.int, {HEADER - 1}
  %raw.whole = and i64 %raw.end, {-HEADER}
  %raw.skip = sub i64 %raw.whole, %raw.int
  %raw.start = getelementptr i8, ptr %raw, i64 %raw.skip
  %raw.data = call ptr @begin(ptr %raw.start, i64 %size, ptr %raw, i64 0)
  ret ptr %raw.data
seek:
  %slack = udiv i64 %size, {_SLACK}
  %largest = add i64 %size, %slack
  br label %look
look:
  %i = phi i64 [ 0, %seek ], [ %i.next, %look ]
  %best = phi i64 [ -1, %seek ], [ %best.next, %look ]
  %smallest = phi i64 [ %largest, %seek ], [ %smallest.next, %look ]
  %offset = mul i64 %i, {SLOT}
  %slot = getelementptr i8, ptr %slots, i64 %offset
  %start = load ptr, ptr %slot, align 8
  %room.at = getelementptr i8, ptr %slot, i64 8
  %room = load i64, ptr %room.at, align 8
  %there = icmp ne ptr %start, null
  %enough = icmp uge i64 %room, %size
  %tight = icmp ule i64 %room, %smallest
  %both = and i1 %enough, %tight
  %better = and i1 %there, %both
  %best.next = select i1 %better, i64 %i, i64 %best
  %smallest.next = select i1 %better, i64 %room, i64 %smallest
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, {COUNT}
  br i1 %done, label %chosen, label %look
chosen:
  %some = icmp sge i64 %best.next, 0
  br i1 %some, label %again, label %new
again:
  %best.offset = mul i64 %best.next, {SLOT}
  %best.slot = getelementptr i8, ptr %slots, i64 %best.offset
  %old.start = load ptr, ptr %best.slot, align 8
  %base.at = getelementptr i8, ptr %best.slot, i64 16
  %base = load ptr, ptr %base.at, align 8
  %length.at = getelementptr i8, ptr %best.slot, i64 24
  %length = load i64, ptr %length.at, align 8
  call void @drop(ptr %state, ptr %best.slot)
  %times = load i64, ptr %reused, align 8
  %times.more = add i64 %times, 1
  store i64 %times.more, ptr %reused, align 8
  %old.data = call ptr @begin(ptr %old.start, i64 %smallest.next, ptr %base, i64 %length)
  ret ptr %old.data
new:
  %with.header = add i64 %size, {HEADER + _PAGE - 1}
  %pages = and i64 %with.header, {-_PAGE}
  %whole = add i64 %pages, {_HUGE_PAGE}
  %first = call ptr @mmap(ptr null, i64 %whole, i32 {_READ_WRITE}, i32 {_FLAGS}, i32 -1, i64 0)
  %first.int = ptrtoint ptr %first to i64
  %failed = icmp eq i64 %first.int, -1
  br i1 %failed, label %release, label %mapped
release:
  call void @"fxc.trim"(ptr %state, i64 0)
  %second = call ptr @mmap(ptr null, i64 %whole, i32 {_READ_WRITE}, i32 {_FLAGS}, i32 -1, i64 0)
  %second.int = ptrtoint ptr %second to i64
  %failed.again = icmp eq i64 %second.int, -1
  br i1 %failed.again, label %none, label %mapped
mapped:
  %map = phi ptr [ %first, %new ], [ %second, %release ]
  %map.int = ptrtoint ptr %map to i64
  %map.end = add i64 %map.int, {_HUGE_PAGE - 1}
  %map.whole = and i64 %map.end, {-_HUGE_PAGE}
  %skip = sub i64 %map.whole, %map.int
  %new.start = getelementptr i8, ptr %map, i64 %skip
  %is.huge = load i64, ptr %huge, align 8
  %advises = icmp ne i64 %is.huge, 0
  br i1 %advises, label %advise, label %fill
advise:
  %told = call i32 @madvise(ptr %new.start, i64 %pages, i32 {_ADVISE_HUGE})
  br label %fill
fill:
  %new.room = sub i64 %pages, {HEADER}
  %new.data = call ptr @begin(ptr %new.start, i64 %new.room, ptr %map, i64 %whole)
  ret ptr %new.data
none:
  ret ptr null
}}
"""

# Keep a mapping, in a free slot or in place of the oldest ones; malloc takes back its own.
_GIVE = f"""\
define void @"fxc.give"(ptr %state, ptr %data) nounwind {{
entry:
{_fields("LIMIT", "KEPT", "CLOCK", "SLOTS", "AGES", "MARKS")}
  %nothing = icmp eq ptr %data, null
  br i1 %nothing, label %end, label %see
see:
  %start = getelementptr i8, ptr %data, i64 {-HEADER}
  %room = load i64, ptr %start, align 8
  %base.at = getelementptr i8, ptr %start, i64 8
  %base = load ptr, ptr %base.at, align 8
  %length.at = getelementptr i8, ptr %start, i64 16
  %length = load i64, ptr %length.at, align 8
  %is.small = icmp eq i64 %length, 0
  br i1 %is.small, label %small, label %large
small:
  call void @free(ptr %base)
  ret void
large:
  %most = load i64, ptr %limit, align 8
  %left = sub i64 %most, %room
  %fits = icmp sge i64 %left, 0
  br i1 %fits, label %make.room, label %unmap
make.room:
  call void @"fxc.trim"(ptr %state, i64 %left)
  br label %look
look:
  %i = phi i64 [ 0, %make.room ], [ %i.next, %taken ]
  %offset = mul i64 %i, {SLOT}
  %slot = getelementptr i8, ptr %slots, i64 %offset
  %there = load ptr, ptr %slot, align 8
  %free = icmp eq ptr %there, null
  br i1 %free, label %keep, label %taken
taken:
  %i.next = add i64 %i, 1
  %done = icmp eq i64 %i.next, {COUNT}
  br i1 %done, label %unmap, label %look
keep:
  store ptr %start, ptr %slot, align 8
  %to.room = getelementptr i8, ptr %slot, i64 8
  store i64 %room, ptr %to.room, align 8
  %to.base = getelementptr i8, ptr %slot, i64 16
  store ptr %base, ptr %to.base, align 8
  %to.length = getelementptr i8, ptr %slot, i64 24
  store i64 %length, ptr %to.length, align 8
  %time = load i64, ptr %clock, align 8
  %later = add i64 %time, 1
  store i64 %later, ptr %clock, align 8
  %age.at = getelementptr i64, ptr %ages, i64 %i
  store i64 %later, ptr %age.at, align 8
  %before = load i64, ptr %kept, align 8
  %after = add i64 %before, %room
  store i64 %after, ptr %kept, align 8
  %marks.it = load i64, ptr %marks, align 8
  %may.mark = icmp ne i64 %marks.it, 0
  %is.long = icmp uge i64 %room, {_LONG}
  %part = udiv i64 %most, {_FREE_PART}
  %is.much = icmp ugt i64 %after, %part
  %should = or i1 %is.long, %is.much
  %is.marked = and i1 %may.mark, %should
  br i1 %is.marked, label %mark, label %end
mark:
  %pages = add i64 %room, {HEADER}
  %told = call i32 @madvise(ptr %start, i64 %pages, i32 {_ADVISE_FREE})
  ret void
unmap:
  %gone = call i32 @munmap(ptr %base, i64 %length)
  br label %end
end:
  ret void
}}
"""

# What a PyDataMem_Handler has beside: its context is the state.
_HANDLER = f"""\
define ptr @"fxc.zeroed"(ptr %state, i64 %number, i64 %each) nounwind {{
entry:
  %pair = call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 %number, i64 %each)
  %size = extractvalue {{ i64, i1 }} %pair, 0
  %over = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %over, label %none, label %take
take:
  %data = call ptr @"fxc.take"(ptr %state, i64 %size)
  %failed = icmp eq ptr %data, null
  br i1 %failed, label %none, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr align 64 %data, i8 0, i64 %size, i1 false)
  ret ptr %data
none:
  ret ptr null
}}
define ptr @"fxc.resized"(ptr %state, ptr %data, i64 %size) nounwind {{
entry:
  %nothing = icmp eq ptr %data, null
  br i1 %nothing, label %new, label %see
new:
  %made = call ptr @"fxc.take"(ptr %state, i64 %size)
  ret ptr %made
see:
  %start = getelementptr i8, ptr %data, i64 {-HEADER}
  %room = load i64, ptr %start, align 8
  %half = lshr i64 %room, 1
  %fits = icmp ule i64 %size, %room
  %is.used = icmp uge i64 %size, %half
  %stays = and i1 %fits, %is.used
  br i1 %stays, label %same, label %move
same:
  ret ptr %data
move:
  %other = call ptr @"fxc.take"(ptr %state, i64 %size)
  %failed = icmp eq ptr %other, null
  br i1 %failed, label %none, label %copy
copy:
  %less = call i64 @llvm.umin.i64(i64 %size, i64 %room)
  call void @llvm.memcpy.p0.p0.i64(ptr align 64 %other, ptr align 64 %data, i64 %less, i1 false)
  call void @"fxc.give"(ptr %state, ptr %data)
  ret ptr %other
none:
  ret ptr null
}}
define void @"fxc.freed"(ptr %state, ptr %data, i64 %size) nounwind {{
  call void @"fxc.give"(ptr %state, ptr %data)
  ret void
}}
"""

KEPT_CODE = _DECLARES + _BEGIN + _DROP + _TRIM + _TAKE + _GIVE + _HANDLER
