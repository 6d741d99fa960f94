"""Named programs, and what memory they move: no copy that NumPy does without."""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

N, M = 48, 40  # rows and columns of a matrix; vectors have N numbers
F8 = 8


def ping_pong_stencil(u, new):
    new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def in_place_saxpy(a, x):
    x += 2.0 * a


def running_sum_into_a_preallocated_output(x, out):
    np.cumsum(x, axis=0, out=out)


def running_sum_in_place(x):
    np.cumsum(x, axis=1, out=x)


def split_modify_concatenate(x):
    left, right = x[: N // 2], x[N // 2 :]
    return np.concatenate([left * 2.0, right - 1.0])


def blocked_update(c, a):
    for i in range(0, N, 16):
        for j in range(0, M, 20):
            block = c[i : i + 16, j : j + 20]
            block += 2.0 * a[i : i + 16, j : j + 20]


def through_a_reshape(x):
    v = x.reshape(2, -1)
    v[0] = 1.0
    v[1] *= v[0]


def swap_through_a_temporary(x):
    first = x[0].copy()
    x[0] = x[1]
    x[1] = first


def shift(x):
    x[1:] = x[:-1]
    x[0] = 0.0


def red_and_black(u):
    u[1:-1:2] = 0.5 * (u[:-2:2] + u[2::2])
    u[2:-1:2] = 0.5 * (u[1:-2:2] + u[3::2])


def normalise_rows(x):
    x -= x.mean(axis=1, keepdims=True)
    x /= x.std(axis=1, keepdims=True)


def leapfrog(x, v):
    v -= 0.1 * x
    x += 0.1 * v


def pieces_of_an_output(x):
    out = np.empty((N, 3))
    out[:, 0] = x.sum(axis=1)
    out[:, 1] = x.min(axis=1)
    out[:, 2] = x.max(axis=1)
    return out


def frame(x):
    out = np.zeros((N + 2, M + 2))
    out[1:-1, 1:-1] = x
    out[0] = out[1]
    out[-1] = out[-2]
    return out


def several_steps(u, new):
    for _ in range(3):
        new[1:-1] = 0.5 * (u[:-2] + u[2:])
        u[1:-1] = 0.5 * (new[:-2] + new[2:])


def product_into_an_output(a, b, out):
    np.matmul(a, b[:M], out=out)


def zero_the_triangle(a):
    for i in range(1, 8):
        a[i, :i] = 0.0


INNER = (N - 2) * (M - 2)
# What the loops may move of each program, in numbers, each array that a nest reads or writes
# counted once. NumPy needs none of the copies that could be made here.
PROGRAMS: dict[Callable[..., Any], int] = {
    ping_pong_stencil: 2 * INNER,
    in_place_saxpy: 3 * N * M,
    running_sum_into_a_preallocated_output: 2 * N * M,
    running_sum_in_place: 2 * N * M,
    split_modify_concatenate: 2 * N * M,
    blocked_update: 3 * N * M,
    through_a_reshape: 2 * N * M,
    swap_through_a_temporary: 4 * M,
    shift: 2 * (N - 1) * M + M,
    red_and_black: 7 * (N // 2 - 1) * M,  # the first half step stays in a temporary
    normalise_rows: 2 * N * M + 2 * M,
    leapfrog: 4 * N * M,
    pieces_of_an_output: N * M + 3 * N,
    frame: (N + 2) * (M + 2) + 2 * N * M + 4 * (M + 2),
    several_steps: 2 * 6 * (N - 2) * M,
    zero_the_triangle: 28,
    product_into_an_output: 2 * N * M + M * M,
}


def numbers(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape)) ** 2 % 17 + 1.0).reshape(shape)


def arguments(program: Callable[..., Any]) -> list[np.ndarray]:
    return [numbers(N, M) + place for place in range(program.__code__.co_argcount)]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_no_memory_is_moved_that_numpy_does_not_need(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    stages = compiled.inspect(*arguments(program))
    assert stages.copies == (), stages.loops
    assert stages.bytes_moved <= F8 * PROGRAMS[program], stages.loops
    assert not difference(
        run(program, arguments(program)), run(compiled, arguments(program)), lambda where: 2.0
    )
    info = compiled.cache_info()
    assert (info.native_calls, info.eager_calls, dict(info.fallbacks)) == (1, 0, {})


def test_a_needed_copy_is_counted_and_explained() -> None:
    def reverse(x: np.ndarray) -> None:
        x[:] = x[::-1]

    (reason,) = fxc.compile(reverse, fullgraph=True).inspect(numbers(N)).copies
    assert reason.endswith("read before it is overwritten in x")


PAGE = mmap.PAGESIZE
PAGES = 25_000  # 100 MB
HUNDREDTH = slice(5000 * PAGE // F8, 5250 * PAGE // F8)


def assigned(x):
    x[HUNDREDTH] = 3.0


def added_to(x):
    part = x[HUNDREDTH]
    part += 1.5


def smoothed(x):
    part = x[HUNDREDTH]
    part[1:-1] = 0.5 * (part[:-2] + part[2:])


def reversed_in_a_matrix(x):
    part = x.reshape(-1, PAGE // F8)[5000:5250]
    part[:] = part[::-1]


@pytest.mark.skipif(sys.platform != "linux", reason="counts pages by mincore of Linux")
@pytest.mark.parametrize("program", [assigned, added_to, smoothed, reversed_in_a_matrix])
def test_a_write_to_a_hundredth_touches_its_pages_only(program: Callable[..., Any]) -> None:
    memory = mmap.mmap(-1, PAGES * PAGE)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    x = np.frombuffer(memory, np.float64)
    fxc.compile(program, fullgraph=True)(x)
    assert touched_pages(x) == set(range(5000, 5250))


def touched_pages(x: np.ndarray) -> set[int]:
    """The pages of a fresh mapping that have been read or written."""
    count = x.nbytes // PAGE
    found = (ctypes.c_ubyte * count)()
    address = ctypes.c_void_p(x.ctypes.data)
    assert ctypes.CDLL(None).mincore(address, ctypes.c_size_t(x.nbytes), found) == 0
    return {page for page in range(count) if found[page] & 1}
