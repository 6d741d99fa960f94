"""Memory of large arrays that compiled code makes: kept, used again, given back."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy._core.multiarray import get_handler_name

import fxc
from fxc.native import large_arrays
from fxc.native.numpy_slots import SET_HANDLER, usual_handler
from fxc.package.builtins import NEW_ARRAY, numpy_function
from fxc.runtime.kept_code import COUNT, HANDLER
from fxc.runtime.kept_memory import KeptMemory, NumpyMemory, _has_huge_pages, usual_limit
from fxc.runtime.recipe import LARGE
from tests.outcomes import difference, run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="memory is mapped as POSIX has it")
ROOT = Path(__file__).parents[2]
MANY = LARGE // 8  # float64 elements of a large array


@pytest.fixture
def kept() -> Iterator[KeptMemory]:
    """What is kept in this process: nothing at first."""
    memory, before = large_arrays.memory(), fxc.get_kept_memory()
    gc.collect()
    fxc.set_kept_memory(0)
    fxc.set_kept_memory(2**28)
    yield memory
    fxc.set_kept_memory(before)


def place(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def more(x):
    return x + 1


def test_the_memory_of_a_result_that_is_gone_is_used_again(kept: KeptMemory) -> None:
    program, x = fxc.compile(more, fullgraph=True), np.arange(float(MANY))
    first = program(x)
    assert get_handler_name(first) == "fxc"
    assert place(first) % 64 == 0
    was, times = place(first), kept.reused
    second = program(x)
    assert place(second) != was
    del first
    assert kept.kept >= 8 * MANY
    third = program(x)
    assert (place(third), kept.reused, kept.kept) == (was, times + 1, 0)
    assert (third == x + 1).all()
    assert (second == x + 1).all()


def test_small_results_have_numpys_memory(kept: KeptMemory) -> None:
    program = fxc.compile(more, fullgraph=True)
    assert get_handler_name(program(np.zeros(MANY - 1))) == "default_allocator"
    assert get_handler_name(np.zeros(MANY)) == "default_allocator"


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("order", ["C", "F", "other"])
def test_results_of_any_layout(kept: KeptMemory, order: str, dynamic: bool) -> None:
    program = fxc.compile(more, fullgraph=True, dynamic=dynamic)
    for rows in (64, 65):
        x = np.arange(float(MANY * 2)).reshape(128, -1)[:rows].reshape(rows, 4, -1)
        x = {"C": x, "F": np.asfortranarray(x), "other": x.transpose(1, 0, 2)}[order]
        expected, found = run(more, (x,)), run(program, (x,))
        assert difference(expected, found) == ""
        result = program(x)
        assert get_handler_name(result) == "fxc"
        assert result.strides == more(x).strides


def test_calls_of_native_functions_take_it_too(kept: KeptMemory) -> None:
    program, x = fxc.compile(lambda x, n: x[:n] + 1, dynamic=True), np.arange(float(MANY))
    for _ in range(2100):
        program(x, 3)
    result = program(x, MANY)
    assert get_handler_name(result) == "fxc"
    assert get_handler_name(program(x, MANY - 1)) == "default_allocator"
    was = place(result)
    del result
    again = program(x, MANY)
    assert place(again) == was
    assert (again == x + 1).all()


def test_temporaries_that_share_an_arena_have_it_again(kept: KeptMemory) -> None:
    def scaled(x):
        rows = np.cumsum(x)
        return (rows + rows[::-1])[:5]

    program, x = fxc.compile(scaled, fullgraph=True), np.linspace(0.0, 1.0, MANY)
    assert (program(x) == scaled(x)).all()
    assert kept.kept >= 8 * MANY
    before = kept.reused
    program(x)
    assert kept.reused > before


def test_no_more_is_kept_than_may_be(kept: KeptMemory) -> None:
    program = fxc.compile(more, fullgraph=True, dynamic=True)
    sizes = [MANY + 512 * k for k in range(6)]
    for most in (5 * 8 * MANY, 8 * MANY - 1, 0):
        fxc.set_kept_memory(most)
        assert fxc.get_kept_memory() == most
        results = [program(np.zeros(size)) for size in sizes]
        del results
        assert kept.kept <= most
    fxc.set_kept_memory(5 * 8 * MANY)
    results = [program(np.zeros(size)) for size in sizes]
    del results
    assert kept.kept > 3 * 8 * MANY
    fxc.set_kept_memory(2 * 8 * MANY)
    assert 0 < kept.kept <= 2 * 8 * MANY


def test_there_are_no_more_kept_blocks_than_places(kept: KeptMemory) -> None:
    fxc.set_kept_memory(2**40)
    memory = [kept.made(np.empty, 2**17) for _ in range(COUNT + 10)]  # not written to
    memory.clear()
    assert kept.kept >= COUNT * 2**20


def test_a_block_is_used_for_what_takes_most_of_it(kept: KeptMemory) -> None:
    block = kept.made(np.empty, 4 * MANY)
    was = place(block)
    del block
    for size, same in ((2 * MANY, False), (4 * MANY + 4096, False), (4 * MANY - 1000, True)):
        other = kept.made(np.empty, size)
        assert (place(other) == was) is same
        del other


@pytest.mark.parametrize("size", [0, 5, MANY // 3, 2 * MANY - 1, 2 * MANY, 3 * MANY, 9 * MANY])
def test_such_an_array_can_be_resized(kept: KeptMemory, size: int) -> None:
    array = fxc.compile(more)(np.arange(2.0 * MANY))
    expected = np.arange(2.0 * MANY) + 1
    array.resize(size, refcheck=False)
    expected.resize(size, refcheck=False)
    assert np.array_equal(array, expected)
    array.resize(2 * MANY, refcheck=False)
    expected.resize(2 * MANY, refcheck=False)
    assert np.array_equal(array, expected)


def test_counted_results_that_turn_out_small_do_not_hold_much(kept: KeptMemory) -> None:
    program = fxc.compile(lambda x: x[x > 0], fullgraph=True)
    x = np.zeros(4 * MANY)
    x[7] = 1
    results = [program(x) for _ in range(5)]
    assert [each.tolist() for each in results] == [[1.0]] * 5
    assert kept.kept > 0  # the room of the first served for the others


def test_zeros_are_zeros_in_memory_that_was_used(kept: KeptMemory) -> None:
    for size in (3, 2**20):
        ones = kept.made(np.ones, size)
        del ones
        assert not kept.made(np.zeros, size).any()


def test_arrays_outlive_the_function_that_made_them(kept: KeptMemory) -> None:
    result = fxc.compile(more)(np.arange(float(MANY)))
    gc.collect()
    assert result[-1] == MANY
    del result
    assert kept.kept > 0


def test_a_handler_of_the_program_is_left_alone(kept: KeptMemory) -> None:
    numpy = NumpyMemory(
        numpy_function(SET_HANDLER), numpy_function(NEW_ARRAY), usual_handler(), False
    )
    other = KeptMemory(numpy, 0)
    ctypes.memmove(other._state + HANDLER, b"other\0", 6)
    program, x = fxc.compile(more, dynamic=True), np.arange(float(MANY))
    for calls in (2, 2100):
        for _ in range(calls):
            program(x[:5])
        usual = other._set(other._capsule)
        try:
            assert get_handler_name(program(x)) == "other"
            assert get_handler_name() == "other"
        finally:
            other._set(usual)
        assert get_handler_name(program(x)) == "fxc"
        assert get_handler_name() == "default_allocator"


def test_what_is_too_large_is_an_error_of_numpys(kept: KeptMemory) -> None:
    program = fxc.compile(lambda n: np.ones((n, n)) + 1, fullgraph=True)
    for n in (2, 3, 2**31, 2**28):
        expected, found = run(lambda n: np.ones((n, n)) + 1, (n,)), run(program, (n,))
        assert difference(expected, found) == ""


def test_threads_take_and_give_at_once(kept: KeptMemory) -> None:
    program, wrong = fxc.compile(more, dynamic=True), []

    def work(number: int) -> None:
        for k in range(30):
            x = np.full(MANY + 64 * ((number + k) % 5), float(k))
            if not (program(x) == k + 1).all():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_a_child_has_blocks_of_its_own(kept: KeptMemory) -> None:
    program, x = fxc.compile(more), np.arange(float(MANY))
    result = program(x)
    del result
    child = os.fork()
    if not child:
        made = program(x * 2)
        os._exit(0 if (made == x * 2 + 1).all() and kept.kept == 0 else 1)
    mine = program(x)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (mine == x + 1).all()


def of_process(folder: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program in a file of its own, for functions have to have a source."""
    file = folder / "program.py"
    file.write_text(f"import resource\nimport numpy as np, fxc\n{code}")
    return subprocess.run(
        [sys.executable, str(file)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_arrays_may_be_there_when_the_process_ends(tmp_path: Path) -> None:
    done = of_process(
        tmp_path,
        "import atexit\n"
        "f = fxc.compile(lambda x: x + 1)\n"
        "one = f(np.zeros(10**6))\n"
        "cycle = [f(np.zeros(10**6))]; cycle.append(cycle)\n"
        "atexit.register(lambda x: f(x), one)\n",
    )
    assert not done.returncode, done.stderr


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no size of the process here")
def test_what_is_kept_is_given_up_where_there_is_no_more_memory(tmp_path: Path) -> None:
    done = of_process(
        tmp_path,
        "f = fxc.compile(lambda n: np.ones(n) + 1, dynamic=True, fullgraph=True)\n"
        "f(10 * 2**20 // 8)\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "most = pages * 4096 + 350 * 2**20\n"
        "resource.setrlimit(resource.RLIMIT_AS, (most, most))\n"
        "for size in (200, 300, 150, 300):\n"
        "    made = f(size * 2**20 // 8)\n"
        "    assert (made[0], made[-1]) == (2, 2)\n"
        "    del made\n",
        FXC_KEPT_MEMORY=str(2**30),
        FXC_NUM_THREADS="1",
    )
    assert not done.returncode, done.stderr


def test_the_environment_says_how_much_is_kept(tmp_path: Path) -> None:
    asked = "print(fxc.get_kept_memory())"
    assert of_process(tmp_path, asked, FXC_KEPT_MEMORY="12345").stdout == "12345\n"
    assert of_process(tmp_path, asked, FXC_KEPT_MEMORY=" ").stdout == f"{usual_limit()}\n"
    for wrong in ("-1", "much", "1e9", str(2**62)):
        told = of_process(tmp_path, "fxc.compile(len)", FXC_KEPT_MEMORY=wrong).stderr
        assert f"FXC_KEPT_MEMORY must be a number of bytes, not {wrong!r}" in told


def test_numbers_that_make_no_sense_are_refused(kept: KeptMemory) -> None:
    for wrong in (-1, 2**62):
        with pytest.raises(ValueError, match="must be a number of bytes"):
            fxc.set_kept_memory(wrong)
    wrongs: list[Any] = [1.0, "2", True]
    for other in wrongs:
        with pytest.raises(TypeError, match="must be a number of bytes"):
            fxc.set_kept_memory(other)
    assert fxc.get_kept_memory() == 2**28


def test_huge_pages_are_there_if_the_system_says_so(tmp_path: Path) -> None:
    file = tmp_path / "sys/kernel/mm/transparent_hugepage/enabled"
    assert not _has_huge_pages(tmp_path)
    file.parent.mkdir(parents=True)
    for text, found in (("always [madvise] never", True), ("always madvise [never]", False)):
        file.write_text(text)
        assert _has_huge_pages(tmp_path) is found


def test_captures_leave_little_to_the_garbage_collector() -> None:
    """It would look at all of it in the middle of some later call."""

    def halved(x: np.ndarray, n: int) -> np.ndarray:
        return np.sqrt(x[1:]) / n

    def program(x: np.ndarray, n: int) -> float:
        for k in range(n):
            if x[k] > 1:
                x[k] = halved(x, n).sum()
        return float(halved(x, n).sum())

    left = []
    for _ in range(2):
        compiled = fxc.compile(program, fullgraph=True)
        gc.collect()
        gc.disable()
        try:
            compiled(np.ones(9), 4)
            left.append(gc.collect())
        finally:
            gc.enable()
    assert left[1] < 350
