"""Many threads and processes at once: first compilations, calls, interrupts, forks."""

import asyncio
import ctypes
import functools
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.compilations import native_calls
from fxc.ir.evaluate import evaluate
from fxc.native import draws
from fxc.ops.kernels import kernel_of
from fxc.split.pieces import Pieces
from tests.forking import Forking
from tests.outcomes import difference, run
from tests.splitting import unknown

WORKERS = 8


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run ``work(0)`` … at once; an exception in any thread is raised here."""
    start = threading.Barrier(count)

    def body(number: int) -> None:
        start.wait()
        work(number)

    with ThreadPoolExecutor(count) as pool:
        for future in [pool.submit(body, number) for number in range(count)]:
            future.result()


def step(u, k):
    u[1:-1] += k * (u[:-2] - 2 * u[1:-1] + u[2:])
    return u.sum(), u[::2]


def waves(u, k):
    v = np.sin(u) * k
    v[1:] = v[:-1] + u[1:]
    return v.mean(), v


def counted(u, k):
    total = 0.0
    for i in range(3):
        total = total + (u * i).sum() * k
    return total


class Sim:
    def __init__(self) -> None:
        self.u = np.arange(5.0)
        self.n = 0
        self.history: list[Any] = []

    def step(self, x):
        self.n += 1
        self.u = self.u + x
        self.history.append(self.u.sum())
        return self.u * self.n


# ------------------------------------------------------------------ threads


def test_first_calls_of_one_function_compile_each_variant_once():
    program = fxc.compile(step, fullgraph=True)

    def work(number: int) -> None:
        u = np.arange(float(number % 3 + 3)) ** 2
        for _ in range(20):
            expected, found = run(step, (u.copy(), 0.25)), run(program, (u.copy(), 0.25))
            assert difference(expected, found) == ""

    in_threads(WORKERS, work)
    info = program.cache_info()
    assert (info.variants, info.eager_calls) == (2, 0)  # one for the first size, one for all
    assert info.native_calls == WORKERS * 20


def test_first_calls_of_several_functions():
    functions = [step, waves, counted, lambda u, k: np.sqrt(u) * k, lambda u, k: u @ u + k]
    programs = [fxc.compile(fn, fullgraph=True) for fn in functions]

    def work(number: int) -> None:
        for place in range(3 * len(functions)):
            which = (number + place) % len(functions)
            u = np.linspace(0.0, 1.0, 6 + place % 2)
            expected = run(functions[which], (u.copy(), 0.5))
            assert difference(expected, run(programs[which], (u.copy(), 0.5))) == ""

    in_threads(WORKERS, work)
    assert all(program.cache_info().variants == 2 for program in programs)


def test_effects_of_each_thread_are_its_own():
    program = fxc.compile(Sim.step, fullgraph=True)
    sims = [Sim() for _ in range(WORKERS)]

    def work(number: int) -> None:
        for _ in range(25):
            program(sims[number], float(number))

    in_threads(WORKERS, work)
    assert program.cache_info().variants == 1
    for number, sim in enumerate(sims):
        other = Sim()
        for _ in range(25):
            other.step(float(number))
        assert (sim.n, sim.history) == (25, other.history)
        assert (sim.u == other.u).all()


def test_appends_of_all_threads_arrive():
    log: list[int] = []

    @fxc.compile(fullgraph=True)
    def note(x, number):
        log.append(number)
        return x + number

    in_threads(WORKERS, lambda number: [note(np.zeros(3), number + 2) for _ in range(30)] and None)
    assert sorted(log) == sorted(n + 2 for n in range(WORKERS) for _ in range(30))
    assert note.cache_info().variants == 1


def test_calls_and_clearing_at_once():
    program = fxc.compile(step)
    expected = step(np.arange(5.0), 0.25)[0]

    def work(number: int) -> None:
        for place in range(6):
            if number == 0 and place % 2:
                program.cache_clear()
            assert program(np.arange(5.0), 0.25)[0] == expected

    in_threads(WORKERS, work)


def test_coroutines_that_call_in_threads():
    program = fxc.compile(waves, fullgraph=True)

    async def call(k: float) -> Any:
        return await asyncio.to_thread(program, np.arange(6.0), k)

    async def all_calls() -> Any:
        return await asyncio.gather(*(call(k / 2) for k in range(WORKERS)))

    for k, found in enumerate(asyncio.run(all_calls())):
        assert (found[1] == waves(np.arange(6.0), k / 2)[1]).all()
    assert program.cache_info().variants == 1


# ------------------------------------------------------------------ within a compilation


def test_a_backend_that_calls_compiled_functions_here_and_in_a_thread():
    helper = fxc.compile(lambda x: x * 2, fullgraph=True)
    seen = []

    def backend(graph, index, types):
        seen.append(helper(np.ones(2)).tolist())
        with ThreadPoolExecutor(1) as pool:
            seen.append(pool.submit(helper, np.ones(3)).result().tolist())
        return lambda *inputs: evaluate(graph, inputs, kernel_of)

    program = fxc.compile(lambda x: helper(x) + 1, backend=backend, fullgraph=True)
    assert program(np.ones(4)).tolist() == [3.0] * 4
    assert seen == [[2.0] * 2, [2.0] * 3]


def test_a_function_that_calls_itself_while_it_is_compiled():
    def backend(graph, index, types):
        if len(depth) < 3:
            depth.append(1)
            program(np.ones(len(depth)))
        return lambda *inputs: evaluate(graph, inputs, kernel_of)

    depth: list[int] = []
    program = fxc.compile(lambda x: x + 1, backend=backend, fullgraph=True)
    assert program(np.zeros(9)).tolist() == [1.0] * 9
    assert program.cache_info().variants == 4


# ------------------------------------------------------------------ interrupts


def test_an_interrupt_during_a_compilation_leaves_everything_usable():
    random.seed(7)
    for attempt in range(12):
        program = fxc.compile(waves, fullgraph=True)
        thread = threading.get_ident()
        done = threading.Event()

        def interrupt(delay: float, thread: int = thread, done: Any = done) -> None:
            if not done.wait(delay):
                error = ctypes.py_object(KeyboardInterrupt)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)

        helper = threading.Thread(target=interrupt, args=(random.random() * 0.04,))
        u = np.arange(5.0 + attempt)
        try:
            helper.start()
            program(u.copy(), 0.5)
            done.set()
            helper.join()
            time.sleep(0)  # an interrupt that has come too late comes here
        except KeyboardInterrupt:
            helper.join()
        expected, found = run(waves, (u.copy(), 0.5)), run(program, (u.copy(), 0.5))
        assert difference(expected, found) == ""
        assert program.cache_info().eager_calls == 0


# ------------------------------------------------------------------ processes

at_module_level = fxc.compile(fullgraph=True)(waves)


@fxc.compile(fullgraph=True)
def decorated(u, k):
    return u * k


def call_decorated(k: float) -> list[float]:
    found: list[float] = decorated(np.arange(3.0), k).tolist()
    return found


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("locked", [False, True])
def test_a_forked_child_calls_and_compiles(locked):
    decorated(np.arange(3.0), 2.0)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with decorated._state.guard():
            held.set()
            release.wait()

    holder = threading.Thread(target=hold)
    if locked:
        holder.start()
        held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # instead of hanging
        right = decorated(np.arange(3.0), 3.0).tolist() == [0.0, 3.0, 6.0]
        right = right and decorated(np.arange(4.0), 3.0).tolist() == [0.0, 3.0, 6.0, 9.0]
        os._exit(0 if right else 1)
    release.set()
    if locked:
        holder.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forks_while_threads_compile_and_call():
    """``python -m tests.forking`` for longer. A child found locks held by threads it did not have."""
    seconds = float(os.environ.get("FXC_FORK_SECONDS", "3"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python: of a fork with threads
        found = Forking(seconds, 8)
    assert found.children > 0
    assert sum(found.calls) > 0
    assert found.wrong == []


def test_spawned_workers_get_the_function_by_pickling():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.starmap(decorated, [(np.arange(3.0), 2.0), (np.arange(3.0), 4.0)])
        assert [each.tolist() for each in found] == [[0, 2, 4], [0, 4, 8]]
        assert pool.map(call_decorated, [3.0]) == [[0, 3, 6]]


def test_the_interpreter_ends_while_others_compile():
    code = (
        "import threading, numpy as np, fxc\n"
        "def work(n):\n"
        "    for k in range(100):\n"
        "        fxc.compile(lambda x: x * n + k)(np.ones(3))\n"
        "for n in range(3):\n"
        "    threading.Thread(target=work, args=(n,), daemon=True).start()\n"
        "import time; time.sleep(0.2)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("module", "made", "ask"),
    [
        (native_calls, "_vectorcall", native_calls.vectorcall_address),
        (draws, "_made", lambda: draws.draw_function("Generator.normal()")),
    ],
)
def test_code_whose_address_is_kept_is_made_once(
    module: Any, made: str, ask: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, made, functools.cache(getattr(module, made).__wrapped__))
    found: list[int] = []
    in_threads(4, lambda _: found.append(ask()))
    assert found == [ask()] * 4


def split_at_each_line(u):
    v = u * 2 + unknown(1.0)
    w = v * v + unknown(2.0)
    return w - v + unknown(3.0)


def test_threads_take_turns_to_cut_the_function_that_they_split(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inside, most, take_apart = [0], [0], Pieces._take_apart

    def slowly(*args: Any) -> bool:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.01)  # another thread runs
        try:
            return take_apart(*args)
        finally:
            inside[0] -= 1

    monkeypatch.setattr(Pieces, "_take_apart", slowly)
    compiled, found = fxc.compile(split_at_each_line), list[float]()
    in_threads(4, lambda k: found.append(compiled(np.full(3, k + 1.0))[0]))
    assert most == [1]
    assert sorted(found) == [11.0, 25.0, 47.0, 77.0]
