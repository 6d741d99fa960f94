"""Where the fields of a pool of threads lie, and what its LLVM text is written with.

See Note [Threads] in ``pool.py``.
"""

from __future__ import annotations

import platform

from fxc.ir.settings import MOST_THREADS

# Where the fields of a pool lie, in bytes. What one thread writes while others read something else
# is in a cache line of its own.
JOB = 0  # i64: the number of the job that was begun last
PENDING = 64  # i64: chunks that are not done
FLAGS = 72  # i32: floating-point flags that workers have set
BODY, CONTEXT, LENGTH, CHUNK, TOTAL, LIMIT, CONTROL, BASE = range(128, 192, 8)  # what the job is
BUSY = 192  # i32: 1 while a job runs, or the pool is held
SLEEPERS, WAITING, STOP = 256, 260, 264  # i32
THREADS, WORKERS, MASKING = 320, 328, 336  # i64: those wanted, the workers there are; SIG_SETMASK
LEAST = 344  # i64: chunks of a job for which sleeping workers are woken
OWED = 352  # i64: cycles of serial work until threads are tried again
MUTEX, WORK, DONE = 384, 512, 640  # opaque, at most 128 bytes each
MOST_WORKERS = MOST_THREADS - 1
# For each thread i64: its chunks that nobody has taken. Number of the job, first of them, behind
# the last, as 32, 16 and 16 bits: so a word never comes back.
SHARES, SHARE = 768, 64
RECORDS, RECORD = SHARES + SHARE * (MOST_WORKERS + 1), 24  # for each worker: handle, number, pool
SIZE = RECORDS + RECORD * MOST_WORKERS

MOST_CHUNKS = 2**15  # of a job
# A loop of so many chunks gives up the interpreter lock; it runs in strips, the first of so many
# chunks, the others longer until one takes so many nanoseconds.
LONG = 4
FIRST_STRIP = 64
SHORT_STRIP, LONG_STRIP = 1_250_000, 5_000_000
SPINS = 1000  # pauses of a worker before it sleeps: some ten microseconds
# Where others have the processors, threads may take more time than they save. So many times that is
# spent on serial work before they are tried again: no more than that part of all time is lost.
PENALTY = 16
MOST_OWED = 2**30  # cycles: less than half a second
PATIENCE = 3000  # those of the caller, who waits for chunks in progress, before it sleeps

_IS_X86 = platform.machine() in ("x86_64", "AMD64")
_IS_ARM = platform.machine() in ("aarch64", "arm64")
_USUAL_CONTROL = 0x1F80  # of MXCSR: all exceptions masked, to nearest, denormals are numbers
_ALL_FLAGS = 63


def fields(*names: str) -> str:
    """Registers with the addresses of fields."""
    offsets = globals()
    return "\n".join(
        f"  %{name.lower()} = getelementptr i8, ptr %pool, i64 {offsets[name]}" for name in names
    )


def _pause() -> tuple[str, str]:
    """What tells the processor that a thread waits, and its declaration."""
    if _IS_X86:
        return "call void @llvm.x86.sse2.pause()", "declare void @llvm.x86.sse2.pause()"
    if _IS_ARM:
        return "call void @llvm.aarch64.hint(i32 1)", "declare void @llvm.aarch64.hint(i32)"
    return "fence seq_cst", ""


PAUSE, _DECLARE_PAUSE = _pause()

# Workers run under the control bits of the caller: rounding, and what becomes of denormals.
_DECLARE_CONTROL = """\
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
"""
SET_CONTROL = """\
  store i32 %now.control, ptr %csr, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr %csr)"""
COLLECT = f"""\
  call void @llvm.x86.sse.stmxcsr(ptr %csr)
  %after = load i32, ptr %csr, align 4
  %found = and i32 %after, {_ALL_FLAGS}
  %before.flags = atomicrmw or ptr %flags, i32 %found monotonic"""
READ_CONTROL = f"""\
  call void @llvm.x86.sse.stmxcsr(ptr %csr)
  %all.control = load i32, ptr %csr, align 4
  %now.control = and i32 %all.control, {~_ALL_FLAGS}
  store atomic i32 %now.control, ptr %control monotonic, align 8"""
TAKE_FLAGS = """\
  %found = load atomic i32, ptr %flags monotonic, align 4
  call void @llvm.x86.sse.stmxcsr(ptr %csr)
  %own = load i32, ptr %csr, align 4
  %both.flags = or i32 %own, %found
  store i32 %both.flags, ptr %csr, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr %csr)"""
USUAL = f"""\
  store i32 {_USUAL_CONTROL}, ptr %csr, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr %csr)"""


def on_x86(text: str) -> str:
    return text if _IS_X86 else ""


DECLARES = f"""\
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @sched_yield()
declare i64 @llvm.readcyclecounter()
declare i32 @clock_gettime(i32, ptr)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
{_DECLARE_PAUSE}
{on_x86(_DECLARE_CONTROL)}"""
