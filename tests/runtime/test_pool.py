"""The pool of threads by itself: chunks, threads, flags, forks, and how many threads there are."""

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import fxc
from fxc.runtime import thread_numbers
from fxc.runtime.engine import Engine
from fxc.runtime.pool import ThreadPool
from fxc.runtime.pool_layout import MOST_CHUNKS, MOST_WORKERS, OWED
from fxc.runtime.processors import usable_processors
from fxc.runtime.thread_numbers import most_threads

IS_X86 = os.uname().machine == "x86_64"

# For each iteration: how often it was run, by which thread, under which control bits. Other threads
# than the caller divide by zero.
BODY = """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define i32 @control() {
  %place = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %place)
  %found = load i32, ptr %place
  ret i32 %found
}
define void @set_control(i32 %new) {
  %place = alloca i32
  store i32 %new, ptr %place
  call void @llvm.x86.sse.ldmxcsr(ptr %place)
  ret void
}
define void @body(i64 %first, i64 %count, i64 %number, ptr %context) {
entry:
  %stop = add i64 %first, %count
  %control = call i32 @control()
  %by = sitofp i64 %number to double
  %less = fsub double 1.0, %by
  %is.worker = icmp ne i64 %number, 0
  br i1 %is.worker, label %divide, label %loop
divide:
  %zero = fmul double %by, 0.0
  %quotient = fdiv double 1.0, %zero
  %spoilt = fptosi double %quotient to i64
  br label %loop
loop:
  %extra = phi i64 [ 0, %entry ], [ %spoilt, %divide ], [ 0, %loop ]
  %i = phi i64 [ %first, %entry ], [ %first, %divide ], [ %next, %loop ]
  %at = mul i64 %i, 4
  %row = getelementptr i64, ptr %context, i64 %at
  %times = load i64, ptr %row
  %more = add i64 %times, 1
  store i64 %more, ptr %row
  %who = getelementptr i64, ptr %row, i64 1
  store i64 %number, ptr %who
  %how = getelementptr i64, ptr %row, i64 2
  %wide = zext i32 %control to i64
  store i64 %wide, ptr %how
  %rest = getelementptr i64, ptr %row, i64 3
  store i64 %extra, ptr %rest
  %next = add i64 %i, 1
  %done = icmp sge i64 %next, %stop
  br i1 %done, label %end, label %loop
end:
  ret void
}
"""
FLAGS, DIVIDE, TO_ZERO = 63, 4, 0x8040  # of MXCSR: its flags; denormals are zeros

with_two_processors = pytest.mark.skipif(
    usable_processors() < 2, reason="a worker may never get to a chunk on one processor"
)
pytestmark = pytest.mark.skipif(not IS_X86, reason="the body of these tests is for x86")


@pytest.fixture(scope="module")
def code() -> Engine:
    return Engine(BODY, b"", ())


@pytest.fixture
def pool() -> Iterator[ThreadPool]:
    made = ThreadPool(3)
    yield made
    made.close()


def run(pool: ThreadPool, code: Engine, size: int, chunk: int, most: int = 99) -> np.ndarray:
    """A row for each iteration: times, thread, control bits. The interpreter lock is given up."""
    rows = np.zeros((size, 4), np.int64)
    pool._field(OWED).value = 0  # other processes may have the processors
    kinds = [*3 * [ctypes.c_void_p], *3 * [ctypes.c_int64], *2 * [ctypes.c_void_p], ctypes.c_int64]
    call = ctypes.CFUNCTYPE(ctypes.c_bool, *kinds)(pool.run)
    assert not call(
        pool.state, code.address("body"), rows.ctypes.data, size, chunk, most, None, None, 0
    )
    return rows


def until(condition: Callable[[], bool]) -> None:
    """Wait for what is a matter of time."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end


@pytest.mark.parametrize("threads", [1, 2, 3, 9])
@pytest.mark.parametrize("size, chunk", [(1, 1), (2, 1), (7, 7), (8, 7), (100, 3), (5000, 1)])
def test_each_iteration_is_run_once(code: Engine, threads: int, size: int, chunk: int) -> None:
    pool = ThreadPool(threads)
    for _ in range(20):
        rows = run(pool, code, size, chunk)
        assert (rows[:, 0] == 1).all()
        assert (rows[:, 1] < threads).all()
    pool.close()


def test_more_chunks_than_a_job_can_have_are_larger(pool: ThreadPool, code: Engine) -> None:
    for size in (MOST_CHUNKS - 1, MOST_CHUNKS, MOST_CHUNKS + 1, 10 * MOST_CHUNKS + 3):
        assert (run(pool, code, size, 1)[:, 0] == 1).all()


@with_two_processors
def test_all_threads_take_part_and_no_more_than_are_allowed(pool: ThreadPool, code: Engine) -> None:
    seen: set[int] = set()

    def found(most: int) -> bool:
        seen.update(run(pool, code, 20_000, 10, most)[:, 1])
        return len(seen) == min(most, 3)

    for most in (1, 2, 3, 99):
        seen.clear()
        until(lambda most=most: found(most))
        assert seen == set(range(min(most, 3)))


@with_two_processors
def test_flags_of_other_threads_are_the_callers(pool: ThreadPool, code: Engine) -> None:
    control = ctypes.CFUNCTYPE(ctypes.c_uint32)(code.address("control"))
    set_control = ctypes.CFUNCTYPE(None, ctypes.c_uint32)(code.address("set_control"))
    usual = control() & ~FLAGS
    seen: set[bool] = set()

    def found() -> bool:
        set_control(usual)
        rows = run(pool, code, 20_000, 10)
        flags = control()  # before NumPy clears them
        helped = bool(rows[:, 1].any())
        assert (flags & DIVIDE != 0) is helped
        seen.add(helped)
        return True in seen

    until(found)
    pool.resize(1)
    set_control(usual)
    run(pool, code, 20_000, 10)
    assert control() & DIVIDE == 0
    set_control(usual)


@with_two_processors
def test_other_threads_have_the_callers_control_bits(pool: ThreadPool, code: Engine) -> None:
    control = ctypes.CFUNCTYPE(ctypes.c_uint32)(code.address("control"))
    set_control = ctypes.CFUNCTYPE(None, ctypes.c_uint32)(code.address("set_control"))
    usual = control() & ~FLAGS
    for wanted in (usual | TO_ZERO, usual):

        def found(wanted: int = wanted) -> bool:
            set_control(wanted)
            rows = run(pool, code, 20_000, 10)
            set_control(usual)
            assert {each & ~FLAGS for each in rows[:, 2].tolist()} == {wanted}
            return bool(rows[:, 1].any())

        until(found)


@with_two_processors
def test_a_job_while_another_one_runs_is_run_by_the_caller(pool: ThreadPool, code: Engine) -> None:
    pool.acquire()
    assert (run(pool, code, 5000, 1)[:, :2] == (1, 0)).all()
    assert pool.workers == 0
    pool.release()
    until(lambda: bool(run(pool, code, 5000, 1)[:, 1].any()))


def test_eight_threads_call_at_once(pool: ThreadPool, code: Engine) -> None:
    wrong: list[object] = []

    def work() -> None:
        for size in range(1, 400):
            rows = run(pool, code, 10 * size, size % 7 + 1)
            if not (rows[:, 0] == 1).all():
                wrong.append(rows)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for place in range(30):
        pool.resize(place % 3 + 1)
    for thread in threads:
        thread.join()
    assert not wrong


def test_workers_are_for_no_signals(pool: ThreadPool, code: Engine) -> None:
    tasks = Path("/proc/self/task")
    if not tasks.exists():
        pytest.skip("threads are not listed here")
    before = set(os.listdir(tasks))
    run(pool, code, 5000, 1)
    assert pool.workers == 2
    new = set(os.listdir(tasks)) - before
    assert len(new) == 2
    for task in new:
        status = dict(
            line.split(":\t") for line in (tasks / task / "status").read_text().splitlines()
        )
        assert int(status["SigBlk"], 16) & 0b10  # SIGINT
    pool.resize(1)
    until(lambda: set(os.listdir(tasks)) <= before)


def test_a_child_begins_without_workers(pool: ThreadPool, code: Engine) -> None:
    def child() -> bool:
        began = pool.workers
        rows = run(pool, code, 5000, 1)
        return bool(began == 0 and (rows[:, 0] == 1).all() and pool.workers == 2)

    run(pool, code, 5000, 1)
    assert pool.workers == 2
    forked = os.fork()
    if not forked:
        os._exit(0 if child() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 0
    run(pool, code, 5000, 1)
    assert pool.workers == 2


def test_a_closed_pool_runs_everything_in_the_caller(code: Engine) -> None:
    pool = ThreadPool(3)
    run(pool, code, 5000, 1)
    pool.close()
    pool.close()
    assert pool.workers == 0
    assert (run(pool, code, 5000, 1)[:, :2] == (1, 0)).all()
    pool.resize(3)
    pool.acquire()  # by a fork at the end of the process
    pool.release()
    assert (run(pool, code, 5000, 1)[:, :2] == (1, 0)).all()


# ------------------------------------------------------------------ how many there are


def asked(
    variable: str, name: str = "FXC_NUM_THREADS", then: str = "print(fxc.get_num_threads())"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"import fxc; {then}"],
        env={**os.environ, name: variable},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_environment_says_how_many_threads() -> None:
    assert asked("7").stdout == "7\n"
    assert asked(" ").stdout == f"{min(usable_processors(), MOST_WORKERS + 1)}\n"
    for wrong in ("0", "-1", "two", "257", "1.5"):
        assert (
            f"FXC_NUM_THREADS must be a number from 1 to 256, not {wrong!r}" in asked(wrong).stderr
        )


def test_variables_that_make_no_sense_are_told_where_a_function_is_compiled() -> None:
    for name, wrong in (("FXC_NUM_THREADS", "two"), ("FXC_CPU_FEATURES", "avx2")):
        *_, last, more = asked(wrong, name, "fxc.compile(len)").stderr.splitlines()
        assert f": FXC0302: {name} " in last
        assert more == "  more: python -m fxc help FXC0302"


def test_the_number_that_was_set_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_numbers, "_asked", [])
    usual = fxc.get_num_threads()
    fxc.set_num_threads(np.int64(5))
    assert fxc.get_num_threads() == 5
    fxc.set_num_threads(1)
    assert (fxc.get_num_threads(), most_threads()) == (1, max(usual, 5))
    for wrong in (0, -1, 257):
        with pytest.raises(ValueError, match="must be a number from 1 to 256"):
            fxc.set_num_threads(wrong)
    for other in (1.0, "2", True):
        with pytest.raises(TypeError, match="must be a number"):
            fxc.set_num_threads(other)  # type: ignore[arg-type]
    assert fxc.get_num_threads() == 1


def test_processors_are_those_that_the_process_may_run_on(tmp_path: Path) -> None:
    allowed = os.sched_getaffinity(0)
    assert usable_processors(tmp_path) == len(allowed)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert usable_processors(tmp_path) == 1
    finally:
        os.sched_setaffinity(0, allowed)


GROUPS = {
    "no limit": ({"a/b/cpu.max": "max 100000"}, 64),
    "of the group": ({"a/b/cpu.max": "150000 100000", "a/cpu.max": "max 100000"}, 2),
    "of one around it": ({"a/b/cpu.max": "max 100000", "a/cpu.max": "300000 100000"}, 3),
    "less than one": ({"cpu.max": "10000 100000"}, 1),
    "of old groups": ({"cpu/cpu.cfs_quota_us": "250000", "cpu/cpu.cfs_period_us": "100000"}, 3),
    "no limit of old groups": ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "1000"}, 64),
    "nonsense": ({"a/b/cpu.max": "", "a/cpu.max": "1 0", "cpu.max": "a b c"}, 64),
}


@pytest.mark.parametrize("files, wanted", GROUPS.values(), ids=GROUPS.keys())
def test_a_control_group_may_allow_less(
    files: dict[str, str], wanted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64))
    written = {"proc/self/cgroup": "1:cpu:/\n0::/a/b\n"}
    written |= {f"sys/fs/cgroup/{name}": text + "\n" for name, text in files.items()}
    for name, text in written.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert usable_processors(tmp_path) == wanted
