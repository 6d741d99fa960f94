"""Wrong results that other compilers gave for views and writes, each by where it was reported."""

from __future__ import annotations

import copy
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check


def numbers(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape)) * 7 % 23 - 8.0).reshape(shape) / 4 + 0.125


SIZES = (0, 1, 2, 7, 33, 1000)

# ---------------------------------------------------------------- numba


def test_numba_7201_a_store_after_an_increment():
    """The increment was moved behind the store: 2."""

    def program(a):
        a += 1
        a[:] = 3

    check(program, *(lambda n=n: (np.ones(n),) for n in SIZES), times=3)


def test_numba_4630_a_store_to_an_empty_slice():
    """Everything was written."""

    def program(x, k):
        x[:0] = 2
        x[5:3] += 1
        x[k:] = x[0] * 3
        x[:, :k] = 7
        return x

    check(program, *(lambda k=k: (numbers(4, 6), k) for k in (0, 1, 4, 9)), times=3)


@pytest.mark.parametrize("n", SIZES)
def test_numba_8007_2646_shifted_slices(n):
    """Stores raced with the loads of other iterations."""

    def program(x, y):
        x[1:] = x[:-1]
        x[:-1] += x[1:] * 2
        y[:, 1:] = y[:, :-1]
        y[2:, 1:] -= y[:-2, :-1]
        return x.sum()

    check(program, lambda: (numbers(n), numbers(n, 5)), times=3)


def test_numba_8007_2646_shifted_slices_from_many_threads():
    """One compiled function, called at once by eight threads, each with an array of its own and
    with a part of an array that all of them write.
    """

    def program(x):
        x[1:] = x[:-1]
        x[:-1] += x[1:] * 2

    compiled = fxc.compile(program, fullgraph=True)
    shared, own = numbers(8, 5000), [numbers(5000) + k for k in range(8)]
    expected = copy.deepcopy((shared, own))
    start = threading.Barrier(8)

    def caller(k: int) -> None:
        start.wait()
        for _ in range(20):
            compiled(own[k])
            compiled(shared[k])

    threads = [threading.Thread(target=caller, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(8):
        for _ in range(20):
            program(expected[1][k])
            program(expected[0][k])
    assert (shared == expected[0]).all()
    assert all((x == y).all() for x, y in zip(own, expected[1], strict=True))
    assert compiled.cache_info().native_calls == 320


@pytest.mark.parametrize("n", SIZES)
def test_numba_reversal_in_place(n):
    """``parallel=True`` overwrote one half before it was read."""

    def program(x, y):
        x[:] = x[::-1]
        y[:] = y[::-1, ::-1]
        y[::-1] += y

    check(program, lambda: (numbers(n), numbers(n, 3)), times=3)


# ---------------------------------------------------------------- PyTorch


RELATIONS: dict[str, Callable[[np.ndarray], tuple[Any, ...]]] = {
    "apart": lambda x: (x, x.copy()),
    "same": lambda x: (x, x),
    "view": lambda x: (x, x[:]),
    "shifted": lambda x: (x[1:], x[:-1]),
    "reversed": lambda x: (x, x[::-1]),
    "interleaved": lambda x: (x[:8:2], x[1::2]),
}


@pytest.mark.parametrize("first", RELATIONS)
def test_pytorch_139789_thunder_2756_overlapping_arguments(first):
    """Code that was compiled for arguments apart from each other was used for others."""

    def program(a, b):
        a += 1
        b *= a
        a[1:] -= b[:-1]
        return a + b

    makes = [lambda r=r: RELATIONS[r](numbers(9)) for r in (first, *RELATIONS, first)]
    check(program, *makes, times=3)


# Runs in a process of its own: a store to the wrong page ends it.
READ_ONLY_PAGES = """
import ctypes, mmap
import numpy as np
import fxc

PAGE = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)


def half_protected():
    \"\"\"Two pages of float64; the second cannot be written, though NumPy thinks so.\"\"\"
    memory = mmap.mmap(-1, 2 * PAGE)
    x = np.frombuffer(memory, np.float64)
    x[:] = np.arange(x.size) % 7
    address = ctypes.c_void_p(x.ctypes.data + PAGE)
    assert libc.mprotect(address, ctypes.c_size_t(PAGE), mmap.PROT_READ) == 0
    return x


def assigned(x):
    x[:100] = 3

def updated(x):
    x[: x.size // 2] *= 2

def of_a_view(x):
    v = x[::-1][512:]
    w = v[1::2]
    w -= x[-256:]
    v[:-1] += v[1:]
    return w, x[10:]

def of_a_reshape(x):
    v = x.reshape(2, -1)
    v[0, 1:] -= v[1, :-1]
    v[0] += v[1].sum()
    return v, x[10:]

def strided(x):
    x[1:300:3] = x[300:600:3]
    x[::-1][-50:] = 0

def nothing(x):
    x[:0] = 2
    x[5:3] += 1
    return x

def one_element(x):
    x[7] = x.max()
    x[3] += 1

def out(x):
    np.add(x[:64], x[-64:], out=x[:64])
    np.cumsum(x[:64], out=x[:64])

def left_to_numpy(x):
    x[:50] = np.sort(x)[-50:]

for program in (assigned, updated, of_a_view, of_a_reshape, strided, nothing, one_element, out, left_to_numpy):
    for dynamic in (False, True):
        compiled = fxc.compile(program, fullgraph=True, dynamic=dynamic)
        x, y = half_protected(), half_protected()
        for _ in range(2):
            compiled(x), program(y)
        assert (x == y).all(), program.__name__
        assert compiled.cache_info().eager_calls == 0
    print(program.__name__)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages by mprotect of glibc")
def test_pytorch_152346_only_the_touched_region_is_written(tmp_path):
    """A write to a slice copied the whole input back."""
    script = tmp_path / "pages.py"
    script.write_text(READ_ONLY_PAGES)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pytorch_195422_a_write_through_a_returned_identity():
    """The mutation of an input through what a function returned unchanged was dropped."""

    def unchanged(x, p):
        return x if p == 0 else x * p

    def program(x):
        y = unchanged(x, 0)
        y += y
        z = np.asarray(y.astype(y.dtype, copy=False))
        z *= 3
        return y

    check(program, lambda: (numbers(5),), times=3)


def test_pytorch_195451_a_result_beside_the_write():
    """What was copied back into the input was returned as the input's own memory."""

    def program(x):
        new = x * 2
        x[...] = new
        return new, new.copy()

    check(program, lambda: (numbers(5),), times=3)


def test_pytorch_94777_93283_values_from_before_a_write():
    """A write in place changed values that had been computed from the old content."""

    def program(x):
        y, s, t = np.sqrt(np.abs(x)), np.stack([x]), x + 0
        np.negative(x, out=x)
        return y, s, t

    check(program, lambda: (numbers(5),), times=3)


# ---------------------------------------------------------------- Thunder and tinygrad


def test_thunder_2766_a_view_of_a_view():
    """The alias of an alias kept the old values."""

    def program(x):
        y = x.reshape(-1)
        z = y[2:].reshape(2, -1)
        w = z.T[1:]
        x += 1
        first = w * 2
        z *= 3
        y[0] = w.sum()
        return first, w, x[0], y + 0

    check(program, lambda: (numbers(4, 5),), times=3)


def test_tinygrad_16620_a_write_from_the_second_call_on():
    """The write to an input was recorded as if it had happened at the first call only."""

    def step(w, x, y):
        error = x @ w - y
        w -= 0.01 * (x.T @ error)
        return (error**2).mean()

    compiled = fxc.compile(step, fullgraph=True)
    w, v, x, y = np.zeros(5), np.zeros(5), numbers(64, 5), numbers(64)
    for _ in range(5):
        assert compiled(w, x, y) == step(v, x, y)
        assert (w == v).all()
    assert compiled.cache_info().native_calls == 5


def test_tinygrad_10850_an_input_inside_a_list():
    """Arrays in containers were not inputs: their writes were dropped, their values frozen."""

    def program(arrays, tables):
        for k, array in enumerate(arrays):
            array += k + 1
        u, v = tables["pair"]
        u *= v
        return arrays[0], tables["pair"][0].sum()

    def make() -> tuple[Any, ...]:
        return [numbers(3), numbers(4)], {"pair": (numbers(2), numbers(2) + 1)}

    def other() -> tuple[Any, ...]:
        return [numbers(3) * 2, numbers(4)], {"pair": (numbers(2) - 1, numbers(2))}

    check(program, make, other, times=3)
