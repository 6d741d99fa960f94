"""Whole functions with parallel loops: everything that a caller sees is as with NumPy, and as serial.

``in_any_order`` lets chunks of one iteration, or a few, run in a random order as if by random threads,
see ``tests/parallel_loops.py``; ``with_threads`` has real ones.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.lowering.machine.costs import Costs
from fxc.lowering.machine.target import SERIAL, Target
from fxc.pipeline import assemble
from fxc.runtime import pool as module
from fxc.runtime.pool import ThreadPool
from tests.outcomes import difference, run
from tests.parallel_loops import FEW, SMALL, compiled_for, everywhere

TARGETS = {"one iteration": SMALL, "a few": FEW}


@pytest.fixture(params=TARGETS.values(), ids=TARGETS.keys())
def in_any_order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere(monkeypatch, request.param)


@pytest.fixture
def with_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadPool]:
    """Real threads take chunks of some hundred iterations, also if they have to be woken up."""
    pool = ThreadPool(3, least=2)
    monkeypatch.setattr("fxc.runtime.pool.parallel", lambda: (pool.run, pool.state))
    compiled_for(monkeypatch, Target(threads=8, costs=Costs(chunk=100_000, least=0)))
    yield pool
    pool.close()


def numbers(*shape: int, dtype: str = "f8") -> np.ndarray:
    made = np.random.default_rng(sum(shape)).standard_normal(shape) * 8
    return made.astype(dtype)


def loops(compiled: Any, *args: Any) -> str:
    return str(compiled.inspect(*args).loops)


def is_parallel(compiled: Any, *args: Any) -> bool:
    """Whether one of the loop nests is."""
    return re.search(r"^ *for .* parallel ", loops(compiled, *args), re.MULTILINE) is not None


# ------------------------------------------------------------------ programs


def chain(x, y):
    return (x * y + x) / (y * y + 1), np.where(x > y, x, -y)


def in_place(x, y):
    x *= 2
    x[1:] += y[:-1]
    y[::2] = x[::2]
    return x[::-1]


def rows(x, y):
    return x.sum(axis=1), (x * y).mean(axis=1), x.max(axis=1), np.argmin(y, axis=1), x.any(axis=1)


def normal_rows(x, y):
    d = x - x.mean(axis=1, keepdims=True)
    return d / np.sqrt((d * d).mean(axis=1, keepdims=True) + 1), y


def columns(x, y):
    return x.sum(axis=0), np.cumsum(y, axis=0), np.cumsum(x, axis=1), y.min(axis=0)


def transposed(x, y):
    return x.T * y.T + 1, np.ascontiguousarray(x.T)


def broadcast(x, y):
    return x[:, None] - y[None, ::5], x[:, None, :] * y[None, ::5, :1]


def gathered(x, y):
    order = np.argsort(y[:, 0])
    return x[order] * 2, np.take(y, order, axis=0), x[order, 0]


def jacobi(x, y):
    for _ in range(3):
        y[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
        x[1:-1, 1:-1] = 0.25 * (y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:])
    return x.sum()


def until_small(x, y):
    steps = 0
    while np.abs(x).max() > 1 and steps < 9:
        x = x * 0.5 + y * 0.01
        steps += 1
    return x, steps


def triangle(x, y):
    for i in range(len(x)):
        x[i, i:] += y[i, i:] * x[i, i]
        y[:i] -= x[i]
    return x


def scaled_rows(x, y):
    total = 0.0
    for i in range(len(x)):
        total += x[i, 0]
        y[i] = x[i] * total
    return y, total


def complex_numbers(x, y):
    z = x + 1j * y
    return z * z.conj() + z, z.real, np.abs(z) > 3


def small_kinds(x, y):
    a, b = x.astype("i1"), y.astype("u2")
    return a + b, (a > 0) & (b > 3), a.astype("f4") * x.astype("f4")


def masked(x, y):
    x[y > 0] = 0
    return x, x[x > 1]


PROGRAMS: list[Callable[..., Any]] = [
    *(chain, in_place, rows, normal_rows, columns, transposed, broadcast, gathered, jacobi),
    *(until_small, triangle, scaled_rows, complex_numbers, small_kinds, masked),
]
SHAPES = [(1, 1), (2, 3), (9, 4), (5, 40), (33, 7)]


@pytest.mark.usefixtures("in_any_order")
@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda fn: fn.__name__)
def test_chunks_in_any_order_give_numpys_results(
    program: Callable[..., Any], dynamic: bool | None
) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    for shape in SHAPES:
        inputs = numbers(*shape), numbers(*shape)[::-1].copy()
        expected = run(program, tuple(x.copy() for x in inputs))
        found = run(compiled, tuple(x.copy() for x in inputs))
        assert difference(expected, found) == "", shape
    assert is_parallel(compiled, numbers(9, 4), numbers(9, 4))


@pytest.mark.usefixtures("in_any_order")
def test_arrays_in_other_layouts() -> None:
    compiled = fxc.compile(in_place, fullgraph=True)
    layouts: list[Callable[[np.ndarray], np.ndarray]] = [
        lambda x: x[:, ::2],
        lambda x: x[::-1],
        lambda x: x.T,
        lambda x: x[::3, 1:],
        lambda x: np.asfortranarray(x),
        lambda x: x[:0],
    ]
    for layout in layouts:
        wanted = [layout(numbers(12, 12)), layout(numbers(12, 12) + 1)]
        given = [layout(numbers(12, 12)), layout(numbers(12, 12) + 1)]
        assert difference(run(in_place, wanted), run(compiled, given)) == ""


@pytest.mark.parametrize("program", [*PROGRAMS, np.exp, np.sin], ids=lambda fn: fn.__name__)
def test_bits_do_not_depend_on_the_number_of_threads(
    program: Callable[..., Any], with_threads: ThreadPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(program, np.ufunc):
        ufunc = program

        def program(x, y):
            return ufunc(x) * y

    parallel = fxc.compile(program, fullgraph=True)
    inputs = numbers(150, 301), numbers(150, 301)[::-1].copy()
    results = []
    for threads in (1, 2, 3, 8):
        with_threads.resize(threads)
        for _ in range(3):
            results.append(run(parallel, tuple(x.copy() for x in inputs)))
    assert is_parallel(parallel, *inputs)
    monkeypatch.setattr(assemble, "target", lambda: SERIAL)
    serial = fxc.compile(program, fullgraph=True)
    expected = run(serial, tuple(x.copy() for x in inputs))
    assert not is_parallel(serial, *inputs)
    for found in results:
        assert difference(expected, found) == ""


def totals(x, y):
    return x.sum(), (x * y).mean(), x.max(), y.min(), (x > 3).any(), x.std(), y.prod()


def several_sums(x, y):
    return (x * x).sum(), x * 2 - x.max(), np.abs(x - y).sum(), (x > y).sum()


KINDS = ("f8", "f4", "c16", "i4")
SIZES = [1, 2, 127, 128, 129, 255, 256, 257, 511, 512, 600, 1024, 5000, 8191, 70_001]


@pytest.mark.usefixtures("in_any_order")
@pytest.mark.parametrize(
    "program, dtype",
    [*((totals, each) for each in ("f8", "f4", "i4")), *((several_sums, each) for each in KINDS)],
)
def test_totals_of_pieces_are_numpys(program: Callable[..., Any], dtype: str) -> None:
    _totals_as_numpy(program, dtype, None)
    _totals_as_numpy(program, dtype, True)


@pytest.mark.usefixtures("with_threads")
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("program", [totals, several_sums], ids=lambda fn: fn.__name__)
def test_totals_of_threads_are_numpys(program: Callable[..., Any], dtype: str) -> None:
    _totals_as_numpy(program, dtype, None)


def _totals_as_numpy(program: Callable[..., Any], dtype: str, dynamic: bool | None) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
    for size in SIZES:
        inputs = numbers(size, dtype=dtype), numbers(size, dtype=dtype)[::-1].copy()
        assert difference(run(program, inputs), run(compiled, inputs)) == "", size
    assert is_parallel(compiled, *inputs)


def test_a_nan_and_zeros_of_two_signs_in_any_piece(with_threads: ThreadPool) -> None:
    def extremes(x):
        return x.max(), x.min(), x.sum()

    compiled = fxc.compile(extremes, fullgraph=True)
    for place in (0, 1, 4000, 7999):
        x = np.zeros(8000)
        x[place] = -0.0
        results = []
        for threads in (1, 2, 3):
            with_threads.resize(threads)
            results.append([np.float64(each).tobytes() for each in compiled(x)])
        assert results[0] == results[1] == results[2]
        x[place] = np.nan
        assert np.isnan(compiled(x)).all()


# ------------------------------------------------------------------ warnings and exceptions


def quotient(x, y):
    return x / y


def power_of_rows(x, y):
    return np.sqrt(x).sum(axis=1) + np.exp(y * 300).max(axis=1)


def to_ints(x, y):
    return x.astype("i4") + y.astype("i8")


def told(fn: Callable[..., Any], inputs: tuple[Any, ...], **errors: Any) -> list[str]:
    """What a call warns of, or raises."""
    with warnings.catch_warnings(record=True) as found, np.errstate(**errors):
        warnings.simplefilter("always")
        try:
            fn(*inputs)
        except FloatingPointError as error:
            return [str(error)]
    return [str(each.message) for each in found]


def wrong_somewhere(place: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.full((40, 50), 2.0), np.full((40, 50), 2.0)
    x[place[0], 3], y[place[0], 1] = 1e300, 3e300
    x[place], y[place] = -1.0, 0.0
    return x, y


@pytest.mark.usefixtures("in_any_order")
@pytest.mark.parametrize("program", [quotient, power_of_rows, to_ints], ids=lambda fn: fn.__name__)
def test_chunks_in_any_order_warn_as_numpy_does(program: Callable[..., Any]) -> None:
    _warns_as_numpy(program)


@pytest.mark.usefixtures("with_threads")
@pytest.mark.parametrize("program", [quotient, power_of_rows, to_ints], ids=lambda fn: fn.__name__)
def test_threads_warn_as_numpy_does(program: Callable[..., Any]) -> None:
    _warns_as_numpy(program)


def _warns_as_numpy(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for place in ((0, 0), (39, 49), (20, 7), (33, 0)):
        inputs = wrong_somewhere(place)
        for errors in ({}, {"all": "raise"}, {"all": "ignore"}, {"divide": "ignore"}):
            assert told(compiled, inputs, **errors) == told(program, inputs, **errors)
    assert told(program, wrong_somewhere((0, 0)))


@pytest.mark.usefixtures("in_any_order")
def test_a_call_that_raises_does_so_as_numpy_does() -> None:
    def pick(x, at):
        x += 1
        y = x[at] * 2
        x *= 3
        return y

    compiled = fxc.compile(pick, fullgraph=True)
    for at in ([0, 5, 2], [0, 6, 2], [-7, 0, 0], [-6, 1, 1]):
        expected = run(pick, (np.arange(6.0), np.array(at)))
        assert difference(expected, run(compiled, (np.arange(6.0), np.array(at)))) == ""


# ------------------------------------------------------------------ threads, forks, signals


def test_eight_threads_of_python_call_at_once(with_threads: ThreadPool) -> None:
    compiled = fxc.compile(normal_rows, fullgraph=True)
    inputs = [(numbers(60 + 7 * k, 90), numbers(3, 4)) for k in range(8)]
    expected = [run(normal_rows, each) for each in inputs]
    wrong: list[str] = []

    def work(number: int) -> None:
        for _ in range(30):
            wrong.append(difference(expected[number], run(compiled, inputs[number])))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for number in range(20):
        with_threads.resize(number % 4 + 1)
    for thread in threads:
        thread.join()
    assert set(wrong) == {""}


def test_forks_while_other_threads_call(with_threads: ThreadPool) -> None:
    compiled = fxc.compile(normal_rows, fullgraph=True)
    inputs = numbers(80, 90), numbers(3, 4)
    expected = run(normal_rows, inputs)
    assert difference(expected, run(compiled, inputs)) == ""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            compiled(*inputs)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(2):
            child = os.fork()
            if not child:
                signal.alarm(60)
                same = with_threads.workers == 0
                while same and with_threads.workers < 2:
                    same = difference(expected, run(compiled, inputs)) == ""
                os._exit(0 if same else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_an_interrupt_comes_behind_the_statement(with_threads: ThreadPool) -> None:
    compiled = fxc.compile(normal_rows, fullgraph=True)
    inputs = numbers(400, 900), numbers(3, 4)
    expected = run(normal_rows, inputs)
    compiled(*inputs)
    caught = 0
    end = time.monotonic() + 60
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells may ignore it
    try:
        while caught < 5 and time.monotonic() < end:
            timer = threading.Timer(0.01, signal.raise_signal, (signal.SIGINT,))
            try:
                timer.start()  # a slow machine may be interrupted in here
                for _ in range(10_000):
                    compiled(*inputs)
            except KeyboardInterrupt:
                caught += 1
            timer.join()
            assert difference(expected, run(compiled, inputs)) == ""
    finally:
        signal.signal(signal.SIGINT, before)
    assert caught == 5
    assert with_threads.workers == 2


def test_the_pool_of_the_process_has_as_many_threads_as_were_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fxc.runtime.thread_numbers._asked", [])
    fxc.set_num_threads(3)
    compiled = fxc.compile(chain, fullgraph=True)
    inputs = numbers(1000, 1000), numbers(1000, 1000)
    for threads in (3, 1, 2):
        fxc.set_num_threads(threads)
        end = time.monotonic() + 60
        while module._pool().workers != threads - 1:
            compiled(*inputs)
            assert time.monotonic() < end
    fxc.set_num_threads(None)


def test_code_that_was_made_with_one_thread_serves_more() -> None:
    text = (
        "import numpy as np, fxc, sys\n"
        "from tests.runtime.test_parallel_loops import chain, is_parallel\n"
        "compiled = fxc.compile(chain, dynamic=True)\n"
        "x = np.ones((1000, 1000))\n"
        "compiled(x, x)\n"
        "one = compiled(x, x)\n"
        "fxc.set_num_threads(2)\n"
        "print(is_parallel(compiled, x, x), np.array_equal(compiled(x, x), one))\n"
    )
    for threads in (1, 2):
        child = subprocess.run(
            [sys.executable, "-c", text],
            env={**os.environ, "FXC_NUM_THREADS": str(threads)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert child.stdout == "True True\n"


def test_the_memory_of_each_thread_is_its_own(with_threads: ThreadPool) -> None:
    """More threads than a loop has copies for: the others take no part."""

    def squares(x):
        d = x - x.max(axis=1, keepdims=True)
        e = d * d + d
        return e / (1 + e.sum(axis=1, keepdims=True))

    with_threads.resize(12)
    compiled = fxc.compile(squares, fullgraph=True)
    x = numbers(2000, 50)
    assert "for each of 8 threads" in loops(compiled, x)
    for _ in range(50):
        assert difference(run(squares, (x,)), run(compiled, (x,))) == ""
    assert with_threads.workers == 11


@pytest.mark.parametrize("dtype", ["f8", "f4", "i2"])
@pytest.mark.parametrize("number", [1, 2, 8])
def test_a_chunk_that_fills_no_vector(
    number: int, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last one is of 1 to 40 iterations, at any place of a cache line: nothing is stored before
    the loop's own elements or behind them.
    """
    costs = Costs(chunk=16_000, least=0, multiple=1)
    pool = ThreadPool(number, least=1)
    monkeypatch.setattr("fxc.runtime.pool.parallel", lambda: (pool.run, pool.state))
    compiled_for(monkeypatch, Target(threads=8, costs=costs))

    def step(x, out):
        out[...] = x * x + 1
        return x[::-1] - 2

    def outcome(function: Callable[..., Any], x: np.ndarray, shift: int) -> tuple[bytes, bytes]:
        room = np.full(x.size + 40, 7, x.dtype)
        found = function(x, room[16 + shift : 16 + shift + x.size])
        return found.tobytes(), room.tobytes()

    for size in (201, 206, 211, 219, 233, 240):
        compiled = fxc.compile(step, fullgraph=True, dynamic=False)
        x = numbers(size + 40, dtype=dtype)[9 : 9 + size]
        for shift in range(8):
            assert outcome(step, x, shift) == outcome(compiled, x, shift)
        assert " reaching" in loops(compiled, x, x.copy())
    pool.close()


def test_the_call_of_a_chunk_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which chunks native code asks for: whole ones, of all iterations."""
    asked: list[tuple[int, int, int]] = []

    @ctypes.CFUNCTYPE(None, *3 * [ctypes.c_void_p], *3 * [ctypes.c_int64])
    def note(pool: int, body: int, context: int, size: int, chunk: int, most: int) -> None:
        asked.append((size, chunk, most))

    compiled_for(monkeypatch, Target(threads=4, costs=Costs(chunk=10**6, least=0)))
    monkeypatch.setattr(
        "fxc.runtime.pool.parallel", lambda: (ctypes.cast(note, ctypes.c_void_p).value, 0)
    )
    compiled = fxc.compile(lambda x: x * 2, fullgraph=True, dynamic=True)
    for size in (0, 1, 2000, 5000, 100_000):
        compiled(np.ones(size))
    assert [size for size, _, _ in asked] == [5000, 100_000]
    assert len({chunk for _, chunk, _ in asked}) == 1


@pytest.mark.parametrize("kind", ["f4", "f8", "c8", "i2"])
def test_threads_take_blocks_of_columns(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each total of a column is added up in NumPy's order, whatever the widths of blocks."""
    costs = Costs(columns_step=64, columns_bytes=64, columns_width=64, chunk=1, least=0, multiple=1)
    everywhere(monkeypatch, Target(threads=8, costs=costs))

    def program(x):
        return x.sum(axis=0), x.mean(axis=0), (x * 2 + 1).sum(axis=0), abs(x).max(axis=0), x.std(0)

    compiled = fxc.compile(program, fullgraph=True)
    for shape in ((40, 130), (7, 257), (8, 64), (33, 65), (64, 1000), (1, 500)):
        x = numbers(*shape, dtype=kind)
        found, expected = run(compiled, (x,)), run(program, (x,))
        assert difference(expected, found) == "", shape
    assert "i1b" in loops(compiled, numbers(64, 1000, dtype=kind))


def test_bits_of_numbers_are_counted_beside_sums_in_pieces() -> None:
    """Both ask LLVM for leading zeros: a function is declared once."""

    def program(x, n):
        total = 0.0
        for k in range(n):
            total += x.sum() * k.bit_length()
        return total

    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    for n in (5, 30):
        given = numbers(1000, 900).ravel(), n
        assert difference(run(program, given), run(compiled, given)) == ""
