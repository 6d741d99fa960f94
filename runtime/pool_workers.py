"""The LLVM text of what the threads of a pool run. See Note [Threads] in ``pool.py``."""

from __future__ import annotations

from .pool_layout import (
    COLLECT,
    PAUSE,
    RECORD,
    SET_CONTROL,
    SHARE,
    SPINS,
    USUAL,
    fields,
    on_x86,
)

# Take the chunks of one's own share, from its start, then those of others, from their ends. What a
# thread has read of a job is that job's if the share has not changed when it takes a chunk: a job
# ends after its last chunk, and the next one has another number.
_CHUNKS = f"""\
define internal i64 @chunks(ptr %pool, i64 %number) nounwind {{
entry:
{fields("SHARES", "PENDING", "FLAGS", "BODY", "CONTEXT", "LENGTH", "CHUNK", "TOTAL", "LIMIT")}
{fields("CONTROL", "WAITING", "MUTEX", "DONE", "BASE")}
  %csr = alloca i32, align 4
  %is.caller = icmp eq i64 %number, 0
  %first.limit = load atomic i64, ptr %limit monotonic, align 8
  %out = icmp uge i64 %number, %first.limit
  %done.count = alloca i64, align 8
  store i64 0, ptr %done.count, align 8
  br i1 %out, label %end, label %choose
choose:
  %turn = phi i64 [ 0, %entry ], [ %next.turn, %next ]
  %sum = add i64 %number, %turn
  %beyond = icmp uge i64 %sum, %first.limit
  %around = sub i64 %sum, %first.limit
  %owner = select i1 %beyond, i64 %around, i64 %sum
  %is.own = icmp eq i64 %turn, 0
  %offset = mul i64 %owner, {SHARE}
  %share = getelementptr i8, ptr %shares, i64 %offset
  br label %look
look:
  %seen = load atomic i64, ptr %share seq_cst, align 8
  %high = lshr i64 %seen, 16
  %start = and i64 %high, 65535
  %stop = and i64 %seen, 65535
  %some = icmp ult i64 %start, %stop
  br i1 %some, label %read, label %next
next:
  %next.turn = add i64 %turn, 1
  %all = icmp uge i64 %next.turn, %first.limit
  br i1 %all, label %end, label %choose
read:
  %now.body = load atomic ptr, ptr %body monotonic, align 8
  %now.context = load atomic ptr, ptr %context monotonic, align 8
  %now.length = load atomic i64, ptr %length monotonic, align 8
  %now.chunk = load atomic i64, ptr %chunk monotonic, align 8
  %now.total = load atomic i64, ptr %total monotonic, align 8
  %now.limit = load atomic i64, ptr %limit monotonic, align 8
  %now.base = load atomic i64, ptr %base monotonic, align 8
  %now.control = load atomic i32, ptr %control monotonic, align 8
  %without.first = add i64 %seen, 65536
  %last = sub i64 %stop, 1
  %without.last = sub i64 %seen, 1
  %fewer = select i1 %is.own, i64 %without.first, i64 %without.last
  %place = select i1 %is.own, i64 %start, i64 %last
  %taken = cmpxchg ptr %share, i64 %seen, i64 %fewer acq_rel acquire
  %won = extractvalue {{ i64, i1 }} %taken, 1
  br i1 %won, label %ready, label %look
ready:
  %before.share = call i64 @share_start(i64 %owner, i64 %now.total, i64 %now.limit)
  %which = add i64 %before.share, %place
  %lo = mul i64 %which, %now.chunk
  %rest = sub i64 %now.length, %lo
  %count = call i64 @llvm.smin.i64(i64 %rest, i64 %now.chunk)
  %first = add i64 %now.base, %lo
  br i1 %is.caller, label %own, label %other
own:
  call void %now.body(i64 %first, i64 %count, i64 0, ptr %now.context)
  br label %done.one
other:
{on_x86(SET_CONTROL)}
  call void %now.body(i64 %first, i64 %count, i64 %number, ptr %now.context)
{on_x86(COLLECT)}
  br label %done.one
done.one:
  %done.before = load i64, ptr %done.count, align 8
  %done.now = add i64 %done.before, 1
  store i64 %done.now, ptr %done.count, align 8
  %before = atomicrmw sub ptr %pending, i64 1 seq_cst
  %is.last = icmp eq i64 %before, 1
  br i1 %is.last, label %tell, label %look
tell:
  %waits = load atomic i32, ptr %waiting seq_cst, align 4
  %is.awaited = icmp ne i32 %waits, 0
  br i1 %is.awaited, label %wake, label %look
wake:
  %locked = call i32 @pthread_mutex_lock(ptr %mutex)
  %woken = call i32 @pthread_cond_broadcast(ptr %done)
  %unlocked = call i32 @pthread_mutex_unlock(ptr %mutex)
  br label %look
end:
  %all.done = load i64, ptr %done.count, align 8
  ret i64 %all.done
}}
define internal i64 @share_start(i64 %owner, i64 %total, i64 %limit) nounwind {{
  %part = mul i64 %owner, %total
  %start = udiv i64 %part, %limit
  ret i64 %start
}}
"""

# A worker that was asleep wakes the next one while there is work.
_WORKER = f"""\
define internal ptr @worker(ptr %record) nounwind {{
entry:
  %number.at = getelementptr i8, ptr %record, i64 8
  %number = load i64, ptr %number.at, align 8
  %pool.at = getelementptr i8, ptr %record, i64 16
  %pool = load ptr, ptr %pool.at, align 8
  %csr = alloca i32, align 4
{fields("JOB", "PENDING", "SLEEPERS", "STOP", "MUTEX", "WORK")}
{on_x86(USUAL)}
  br label %work.on
work.on:
  %known = load atomic i64, ptr %job seq_cst, align 8
  %mine = call i64 @chunks(ptr %pool, i64 %number)
  br label %spin
spin:
  %turn = phi i64 [ 0, %work.on ], [ %next, %pause ]
  %now = load atomic i64, ptr %job seq_cst, align 8
  %is.new = icmp ne i64 %now, %known
  br i1 %is.new, label %work.on, label %idle
idle:
  %stops = load atomic i32, ptr %stop seq_cst, align 4
  %is.over = icmp ne i32 %stops, 0
  br i1 %is.over, label %end, label %tired
tired:
  %next = add i64 %turn, 1
  %long = icmp sgt i64 %next, {SPINS}
  br i1 %long, label %sleep, label %pause
pause:
  {PAUSE}
  br label %spin
sleep:
  %locked = call i32 @pthread_mutex_lock(ptr %mutex)
  %one.more = atomicrmw add ptr %sleepers, i32 1 seq_cst
  br label %test
test:
  %stops.now = load atomic i32, ptr %stop seq_cst, align 4
  %is.over.now = icmp ne i32 %stops.now, 0
  %job.now = load atomic i64, ptr %job seq_cst, align 8
  %is.new.now = icmp ne i64 %job.now, %known
  %up = or i1 %is.over.now, %is.new.now
  br i1 %up, label %rise, label %wait
wait:
  %woken = call i32 @pthread_cond_wait(ptr %work, ptr %mutex)
  br label %test
rise:
  %one.less = atomicrmw sub ptr %sleepers, i32 1 seq_cst
  %unlocked = call i32 @pthread_mutex_unlock(ptr %mutex)
  br i1 %is.over.now, label %end, label %others
others:
  %left = load atomic i64, ptr %pending monotonic, align 8
  %much = icmp sgt i64 %left, 1
  %asleep = icmp sgt i32 %one.less, 1
  %more = and i1 %much, %asleep
  br i1 %more, label %call.next, label %work.on
call.next:
  %called = call i32 @pthread_cond_signal(ptr %work)
  br label %work.on
end:
  ret ptr null
}}
"""

# Signals are for the threads of Python. Where no thread can be made, no more are asked for.
_START = f"""\
define internal void @start(ptr %pool) cold noinline nounwind {{
entry:
{fields("THREADS", "WORKERS", "MASKING", "RECORDS")}
  %all = alloca [128 x i8], align 16
  %old = alloca [128 x i8], align 16
  call void @llvm.memset.p0.i64(ptr %all, i8 -1, i64 128, i1 false)
  call void @llvm.memset.p0.i64(ptr %old, i8 0, i64 128, i1 false)
  %how = load i64, ptr %masking, align 8
  %how.int = trunc i64 %how to i32
  %masked = call i32 @pthread_sigmask(i32 %how.int, ptr %all, ptr %old)
  %wanted = load atomic i64, ptr %threads monotonic, align 8
  %there = load i64, ptr %workers, align 8
  br label %look
look:
  %count = phi i64 [ %there, %entry ], [ %number, %made ]
  %number = add i64 %count, 1
  %enough = icmp sge i64 %number, %wanted
  br i1 %enough, label %end, label %make
make:
  %offset = mul i64 %count, {RECORD}
  %record = getelementptr i8, ptr %records, i64 %offset
  %number.at = getelementptr i8, ptr %record, i64 8
  store i64 %number, ptr %number.at, align 8
  %pool.at = getelementptr i8, ptr %record, i64 16
  store ptr %pool, ptr %pool.at, align 8
  %failed = call i32 @pthread_create(ptr %record, ptr null, ptr @worker, ptr %record)
  %is.made = icmp eq i32 %failed, 0
  br i1 %is.made, label %made, label %fewer
made:
  br label %look
fewer:
  store atomic i64 %number, ptr %threads monotonic, align 8
  br label %end
end:
  store i64 %count, ptr %workers, align 8
  %unmasked = call i32 @pthread_sigmask(i32 %how.int, ptr %old, ptr null)
  ret void
}}
"""

WORKERS = _CHUNKS + _WORKER + _START
