"""The LLVM text of a pool of threads. See Note [Threads] in ``pool.py``."""

from __future__ import annotations

import time

from .pool_layout import (
    DECLARES,
    FIRST_STRIP,
    LONG,
    LONG_STRIP,
    MOST_CHUNKS,
    MOST_OWED,
    PATIENCE,
    PAUSE,
    PENALTY,
    READ_CONTROL,
    RECORD,
    SHARE,
    SHORT_STRIP,
    TAKE_FLAGS,
    fields,
    on_x86,
)
from .pool_workers import WORKERS

_CLOCK = getattr(time, "CLOCK_MONOTONIC", 1)

_RUN = f"""\
define internal void @run(ptr %pool, ptr %new.body, ptr %new.context, i64 %new.base, \
i64 %new.length, i64 %new.chunk, i64 %most) nounwind {{
entry:
{fields("JOB", "PENDING", "FLAGS", "BODY", "CONTEXT", "LENGTH", "CHUNK", "TOTAL", "LIMIT")}
{fields("CONTROL", "BUSY", "SLEEPERS", "WAITING", "THREADS", "WORKERS", "MUTEX", "WORK", "DONE")}
{fields("SHARES", "LEAST", "OWED", "BASE")}
  %csr = alloca i32, align 4
  %least.size = udiv i64 %new.length, {MOST_CHUNKS - 1}
  %least.more = add i64 %least.size, 1
  %size = call i64 @llvm.smax.i64(i64 %new.chunk, i64 %least.more)
  %up = add i64 %new.length, %size
  %less = sub i64 %up, 1
  %chunks = udiv i64 %less, %size
  %wanted = load atomic i64, ptr %threads monotonic, align 8
  %fewest = call i64 @llvm.smin.i64(i64 %wanted, i64 %most)
  %alone = icmp sle i64 %fewest, 1
  br i1 %alone, label %serial, label %ask
ask:
  %taken = cmpxchg ptr %busy, i32 0, i32 1 acquire monotonic
  %free = extractvalue {{ i32, i1 }} %taken, 1
  br i1 %free, label %see, label %serial
see:
  %debt = load atomic i64, ptr %owed monotonic, align 8
  %in.debt = icmp sgt i64 %debt, 0
  br i1 %in.debt, label %pay, label %count
pay:
  store atomic i32 0, ptr %busy release, align 4
  %pay.begin = call i64 @llvm.readcyclecounter()
  call void %new.body(i64 %new.base, i64 %new.length, i64 0, ptr %new.context)
  %pay.end = call i64 @llvm.readcyclecounter()
  %paid = sub i64 %pay.end, %pay.begin
  %debt.before = atomicrmw sub ptr %owed, i64 %paid monotonic
  ret void
count:
  %there = load i64, ptr %workers, align 8
  %all = add i64 %there, 1
  %enough = icmp sge i64 %all, %wanted
  br i1 %enough, label %ready, label %new
new:
  call void @start(ptr %pool)
  br label %ready
ready:
  %now.there = load i64, ptr %workers, align 8
  %nobody = icmp eq i64 %now.there, 0
  %resting = load atomic i32, ptr %sleepers seq_cst, align 4
  %resting.wide = zext i32 %resting to i64
  %all.rest = icmp uge i64 %resting.wide, %now.there
  %worth.it = load i64, ptr %least, align 8
  %is.short = icmp slt i64 %chunks, %worth.it
  %in.vain = and i1 %all.rest, %is.short
  %no = or i1 %nobody, %in.vain
  br i1 %no, label %give.up, label %publish
give.up:
  store atomic i32 0, ptr %busy release, align 4
  br label %serial
publish:
  %begin.time = call i64 @llvm.readcyclecounter()
  store atomic ptr %new.body, ptr %body monotonic, align 8
  store atomic ptr %new.context, ptr %context monotonic, align 8
  store atomic i64 %new.base, ptr %base monotonic, align 8
  store atomic i64 %new.length, ptr %length monotonic, align 8
  store atomic i64 %size, ptr %chunk monotonic, align 8
  store atomic i64 %chunks, ptr %total monotonic, align 8
  store atomic i64 %fewest, ptr %limit monotonic, align 8
  store atomic i64 %chunks, ptr %pending monotonic, align 8
  store atomic i32 0, ptr %flags monotonic, align 4
{on_x86(READ_CONTROL)}
  %last.job = load atomic i64, ptr %job monotonic, align 8
  %this.job = add i64 %last.job, 1
  %mark = shl i64 %this.job, 32
  br label %deal
deal:
  %owner = phi i64 [ 0, %publish ], [ %next.owner, %deal ]
  %next.owner = add i64 %owner, 1
  %start = call i64 @share_start(i64 %owner, i64 %chunks, i64 %fewest)
  %stop = call i64 @share_start(i64 %next.owner, i64 %chunks, i64 %fewest)
  %length.own = sub i64 %stop, %start
  %new.share = or i64 %mark, %length.own
  %offset = mul i64 %owner, {SHARE}
  %share = getelementptr i8, ptr %shares, i64 %offset
  store atomic i64 %new.share, ptr %share release, align 8
  %dealt = icmp uge i64 %next.owner, %fewest
  br i1 %dealt, label %begin, label %deal
begin:
  store atomic i64 %this.job, ptr %job seq_cst, align 8
  %asleep = load atomic i32, ptr %sleepers seq_cst, align 4
  %some = icmp sgt i32 %asleep, 0
  br i1 %some, label %wake, label %take.part
wake:
  %in.all = icmp sgt i64 %fewest, %now.there
  br i1 %in.all, label %wake.one, label %wake.all
wake.one:
  %locked.one = call i32 @pthread_mutex_lock(ptr %mutex)
  %unlocked.one = call i32 @pthread_mutex_unlock(ptr %mutex)
  %woken.one = call i32 @pthread_cond_signal(ptr %work)
  br label %take.part
wake.all:
  %locked.all = call i32 @pthread_mutex_lock(ptr %mutex)
  %unlocked.all = call i32 @pthread_mutex_unlock(ptr %mutex)
  %woken.all = call i32 @pthread_cond_broadcast(ptr %work)
  br label %take.part
take.part:
  %wake.time = call i64 @llvm.readcyclecounter()
  %own.chunks = call i64 @chunks(ptr %pool, i64 0)
  %own.time = call i64 @llvm.readcyclecounter()
  br label %spin
spin:
  %turn = phi i64 [ 0, %take.part ], [ %next, %pause ]
  %left = load atomic i64, ptr %pending acquire, align 8
  %is.done = icmp eq i64 %left, 0
  br i1 %is.done, label %done.all, label %on
on:
  %next = add i64 %turn, 1
  %long = icmp sgt i64 %next, {PATIENCE}
  br i1 %long, label %sleep, label %pause
pause:
  {PAUSE}
  br label %spin
sleep:
  %locked = call i32 @pthread_mutex_lock(ptr %mutex)
  store atomic i32 1, ptr %waiting seq_cst, align 4
  br label %test
test:
  %left.now = load atomic i64, ptr %pending seq_cst, align 8
  %is.done.now = icmp eq i64 %left.now, 0
  br i1 %is.done.now, label %rise, label %wait
wait:
  %waited = call i32 @pthread_cond_wait(ptr %done, ptr %mutex)
  br label %test
rise:
  store atomic i32 0, ptr %waiting seq_cst, align 4
  %unlocked = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %done.all
done.all:
{on_x86(TAKE_FLAGS)}
  %end.time = call i64 @llvm.readcyclecounter()
  %whole = sub i64 %end.time, %begin.time
  %own.part = sub i64 %own.time, %wake.time
  %some.chunks = call i64 @llvm.smax.i64(i64 %own.chunks, i64 1)
  %product = mul i64 %own.part, %chunks
  %alone.time = udiv i64 %product, %some.chunks
  %lost = sub i64 %whole, %alone.time
  %penalty = mul i64 %lost, {PENALTY}
  %limited = call i64 @llvm.smin.i64(i64 %penalty, i64 {MOST_OWED})
  %new.debt = call i64 @llvm.smax.i64(i64 %limited, i64 0)
  store atomic i64 %new.debt, ptr %owed monotonic, align 8
  store atomic i32 0, ptr %busy release, align 4
  ret void
serial:
  call void %new.body(i64 %new.base, i64 %new.length, i64 0, ptr %new.context)
  ret void
}}
"""

# A loop in strips, with a look for signals before each: true if the function that
# looks says so, and the rest is not run. See Note [Threads].
_LONG = f"""\
define i1 @"fxc.parallel"(ptr %pool, ptr %body, ptr %context, i64 %length, i64 %chunk, i64 %most, \
ptr %state, ptr %look, i64 %how) nounwind {{
entry:
  %clock = alloca [2 x i64], align 8
  %least = mul i64 %chunk, {LONG}
  %is.long = icmp sge i64 %length, %least
  %may.look = icmp ne ptr %state, null
  %looks = and i1 %is.long, %may.look
  br i1 %looks, label %begin, label %whole
whole:
  call void @run(ptr %pool, ptr %body, ptr %context, i64 0, i64 %length, i64 %chunk, i64 %most)
  ret i1 false
begin:
  %first.strip = mul i64 %chunk, {FIRST_STRIP}
  br label %ask
ask:
  %base = phi i64 [ 0, %begin ], [ %end, %more ]
  %strip = phi i64 [ %first.strip, %begin ], [ %next.strip, %more ]
  %raised = call preserve_mostcc i1 %look(ptr %state, i64 %how)
  br i1 %raised, label %interrupted, label %part
part:
  %left = sub i64 %length, %base
  %count = call i64 @llvm.smin.i64(i64 %left, i64 %strip)
  %end = add i64 %base, %count
  %before = call i64 @now(ptr %clock)
  call void @run(ptr %pool, ptr %body, ptr %context, i64 %base, i64 %count, i64 %chunk, i64 %most)
  %is.over = icmp sge i64 %end, %length
  br i1 %is.over, label %done, label %more
more:
  %after = call i64 @now(ptr %clock)
  %took = sub i64 %after, %before
  %is.short = icmp slt i64 %took, {SHORT_STRIP}
  %is.fine = icmp slt i64 %took, {LONG_STRIP}
  %half = lshr i64 %strip, 1
  %shorter = call i64 @llvm.smax.i64(i64 %half, i64 %chunk)
  %is.much = icmp sgt i64 %took, {4 * LONG_STRIP}
  %longer = shl i64 %strip, 2
  %twice = shl i64 %strip, 1
  %so.far = select i1 %is.much, i64 %shorter, i64 %strip
  %enough = select i1 %is.fine, i64 %twice, i64 %so.far
  %next.strip = select i1 %is.short, i64 %longer, i64 %enough
  br label %ask
done:
  ret i1 false
interrupted:
  ret i1 true
}}
define internal i64 @now(ptr %clock) nounwind {{
  %failed = call i32 @clock_gettime(i32 {_CLOCK}, ptr %clock)
  %seconds = load i64, ptr %clock, align 8
  %rest.at = getelementptr i64, ptr %clock, i64 1
  %rest = load i64, ptr %rest.at, align 8
  %all = mul i64 %seconds, 1000000000
  %now = add i64 %all, %rest
  ret i64 %now
}}
"""

# Between "hold" and "release" loops run serially.
_HOLD = f"""\
define void @"fxc.prepare"(ptr %pool) nounwind {{
{fields("BUSY", "SLEEPERS", "WAITING", "STOP", "WORKERS", "MUTEX", "WORK", "DONE")}
  store atomic i32 0, ptr %busy monotonic, align 4
  store atomic i32 0, ptr %waiting monotonic, align 4
  store atomic i32 0, ptr %stop monotonic, align 4
  store atomic i32 0, ptr %sleepers monotonic, align 4
  store i64 0, ptr %workers, align 8
  %a = call i32 @pthread_mutex_init(ptr %mutex, ptr null)
  %b = call i32 @pthread_cond_init(ptr %work, ptr null)
  %c = call i32 @pthread_cond_init(ptr %done, ptr null)
  ret void
}}
define void @"fxc.hold"(ptr %pool) nounwind {{
entry:
{fields("BUSY", "STOP", "WORKERS", "MUTEX", "WORK", "RECORDS")}
  br label %ask
ask:
  %taken = cmpxchg ptr %busy, i32 0, i32 1 acquire monotonic
  %free = extractvalue {{ i32, i1 }} %taken, 1
  br i1 %free, label %tell, label %wait
wait:
  %yielded = call i32 @sched_yield()
  br label %ask
tell:
  store atomic i32 1, ptr %stop seq_cst, align 4
  %locked = call i32 @pthread_mutex_lock(ptr %mutex)
  %woken = call i32 @pthread_cond_broadcast(ptr %work)
  %unlocked = call i32 @pthread_mutex_unlock(ptr %mutex)
  %there = load i64, ptr %workers, align 8
  br label %look
look:
  %number = phi i64 [ 0, %tell ], [ %next, %join ]
  %is.all = icmp eq i64 %number, %there
  br i1 %is.all, label %end, label %join
join:
  %offset = mul i64 %number, {RECORD}
  %record = getelementptr i8, ptr %records, i64 %offset
  %handle = load i64, ptr %record, align 8
  %joined = call i32 @pthread_join(i64 %handle, ptr null)
  %next = add i64 %number, 1
  br label %look
end:
  store i64 0, ptr %workers, align 8
  store atomic i32 0, ptr %stop seq_cst, align 4
  ret void
}}
define void @"fxc.resize"(ptr %pool, i64 %wanted) nounwind {{
{fields("BUSY", "THREADS")}
  call void @"fxc.hold"(ptr %pool)
  store atomic i64 %wanted, ptr %threads monotonic, align 8
  store atomic i32 0, ptr %busy release, align 4
  ret void
}}
define void @"fxc.release"(ptr %pool) nounwind {{
{fields("BUSY")}
  store atomic i32 0, ptr %busy release, align 4
  ret void
}}
"""

POOL = DECLARES + WORKERS + _RUN + _LONG + _HOLD
