"""Arguments that share memory: views of one another, compiled like anything else."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import fxc
import fxc.pipeline.assemble
import fxc.pipeline.stages
from fxc.capture.guards.common_base import common_base
from fxc.ops.kernels import kernel_of
from tests.covering import some
from tests.outcomes import difference, run

Arrays = tuple[np.ndarray, ...]


def vector(n: int) -> np.ndarray:
    return np.arange(float(n)) + 1


def matrix(*shape: int) -> np.ndarray:
    return vector(int(np.prod(shape))).reshape(shape)


def read_only(x: np.ndarray) -> np.ndarray:
    x = x[...]
    x.flags.writeable = False
    return x


# Two arguments and how they lie to each other. Both have 8 elements, or rows.
RELATIONS: dict[str, Callable[[], Arrays]] = {
    "apart": lambda: (vector(8), vector(8) * 2),
    "same": lambda: (lambda b: (b, b))(vector(8)),
    "same memory": lambda: (lambda b: (b, b[:]))(vector(8)),
    "reversed": lambda: (lambda b: (b, b[::-1]))(vector(8)),
    "shifted": lambda: (lambda b: (b[:8], b[2:]))(vector(10)),
    "shifted back": lambda: (lambda b: (b[2:], b[:8]))(vector(10)),
    "shifted, reversed": lambda: (lambda b: (b[:8], b[:1:-1]))(vector(10)),
    "contained": lambda: (lambda b: (b, b[2:10]))(vector(12)),
    "container": lambda: (lambda b: (b[2:10], b))(vector(12)),
    "interleaved": lambda: (lambda b: (b[::2], b[1::2]))(vector(16)),
    "steps 2 and 3": lambda: (lambda b: (b[::2][:8], b[::3]))(vector(24)),
    "steps 2 and -3": lambda: (lambda b: (b[::2][:8], b[::-3]))(vector(24)),
    "halves by owner": lambda: (lambda b: (b[:8], b[8:]))(vector(16)),
    "row and column": lambda: (lambda b: (b[2], b[:, 3]))(matrix(8, 8)),
    "row and diagonal": lambda: (lambda b: (b[3], b.reshape(-1)[::9]))(matrix(8, 8)),
    "read-only part": lambda: (lambda b: (b[:8], read_only(b[2:])))(vector(10)),
    "row and its repetition": lambda: (lambda b: (b, np.broadcast_to(b[3], (8,))))(vector(8)),
    "buffer": lambda: (lambda b: (np.frombuffer(b)[:8], np.frombuffer(b)[2:]))(
        bytearray(vector(10).tobytes())
    ),
    "transposed": lambda: (lambda b: (b, b.T))(matrix(8, 8)),
    "windows": lambda: (lambda b: (b[1:-1, 1:-1], b[:-2, 2:]))(matrix(10, 10)),
    "window and transposed": lambda: (lambda b: (b[1:, :7], b.T[1:, 1:]))(matrix(9, 8)),
    "flat and shifted": lambda: (lambda b: (b.reshape(-1)[3:67].reshape(8, 8), b[1:]))(
        matrix(9, 8)
    ),
    "window and whole rows": lambda: (lambda b: (b[1:9, 2:6], b.reshape(-1)[16:48].reshape(8, 4)))(
        matrix(10, 8)
    ),
    "columns apart": lambda: (lambda b: (b[:, :4], b[:, 4:]))(matrix(8, 8)),
    "every other column": lambda: (lambda b: (b[:, ::2], b[:, 1::2]))(matrix(8, 8)),
    "steps and reversed": lambda: (lambda b: (b[::2, ::3], b[::-2, ::-3]))(matrix(16, 12)),
    "turned": lambda: (lambda b: (b, np.rot90(b)))(matrix(8, 8)),
    "Fortran order": lambda: (lambda b: (b[:8], b[2:]))(np.asfortranarray(matrix(10, 3))),
    "planes": lambda: (lambda b: (b[1], b[:, 1]))(matrix(8, 8, 8)),
    "planes, reversed": lambda: (lambda b: (b[1], b[::-1, 1, ::-1]))(matrix(8, 8, 8)),
    "axis of size 1": lambda: (lambda b: (b[:, :1], b[::-1, :1]))(matrix(8, 4)),
    "single precision": lambda: (lambda b: (b[:8], b[2:]))(vector(10).astype("f4")),
    "integers": lambda: (lambda b: (b[:8], b[2:]))(vector(10).astype("i2")),
    "complex": lambda: (lambda b: (b[:8], b[2:]))(vector(10).astype("c16")),
}


def adds(x, y):
    x += y
    y *= 2
    return y.sum()


def returns_views(x, y):
    x[::2] = 0
    return y[1:], x[1:], y, x[::-1], y[1:], x


def reads_after_each_write(x, y):
    first = y.copy()
    x[:3] = 7
    second = y * 1
    y[2:5] += x[1:4]
    return first, second, x + 0, x


def loops(x, y):
    for i in range(4):
        x[i] += y[i + 1]
        y[i] -= x[i + 2]


def reads(x, y):
    x[0] = y.sum()
    y[-1] = x.max()
    return x.mean(), y.min()


def writes_one(x, y):
    x[1:4] = 9
    return np.where(y > 4, y, -y)


def in_between(x, y):
    x[0] = 9
    order = np.sort(y, axis=0)
    x[1] = order[1]
    return order


def with_out(x, y):
    np.add(x, y, out=y)
    np.multiply(y, 3, out=x)


PROGRAMS = [adds, returns_views, reads_after_each_write, loops, reads, writes_one, in_between]
PROGRAMS += [with_out]


@cache
def compiled(fn: Callable[..., Any], dynamic: bool = False) -> Any:
    return fxc.compile(fn, fullgraph=True, dynamic=dynamic)


@pytest.mark.parametrize("turn, relation", list(enumerate(RELATIONS)))
def test_overlapping_arguments_are_compiled(turn, relation):
    make = RELATIONS[relation]
    for fn in some(PROGRAMS, 4, turn):
        program = compiled(fn)
        for _ in range(2):
            before = program.cache_info().eager_calls
            expected, found = run(fn, make()), run(program, make())
            assert difference(expected, found) == "", fn.__name__
            raised = expected.error is not None
            assert program.cache_info().eager_calls == before + raised, fn.__name__


@pytest.mark.parametrize("relation", ["shifted", "reversed", "interleaved", "windows", "same"])
@pytest.mark.parametrize("options", [{"dynamic": True}, {"backend": "numpy"}], ids=str)
def test_overlapping_arguments_in_other_modes(relation, options):
    make = RELATIONS[relation]
    for fn in (reads_after_each_write, returns_views):
        program = fxc.compile(fn, fullgraph=True, **options)
        for arrays in (make, RELATIONS["apart"], make):
            assert difference(run(fn, arrays()), run(program, arrays())) == ""
        assert program.cache_info().eager_calls == 0


def test_each_call_is_judged_by_its_own_relation():
    """In any order of calls; a relation that has been seen is not compiled again."""
    program = fxc.compile(adds, fullgraph=True)
    one_dimensional = [name for name, make in RELATIONS.items() if make()[0].shape == (8,)][:14]
    for names in (one_dimensional, one_dimensional[::-1]):
        for name in names:
            make = RELATIONS[name]
            assert difference(run(adds, make()), run(program, make())) == "", name
    count = program.cache_info().variants
    for name in one_dimensional:
        run(program, RELATIONS[name]())
    assert program.cache_info().variants == count


def test_inputs_that_are_only_read_may_overlap_in_any_way():
    program = fxc.compile(lambda x, y: x * 2 + y, fullgraph=True)
    for name in ("apart", "same memory", "reversed", "shifted"):
        x, y = RELATIONS[name]()
        assert np.array_equal(program(x, y), x * 2 + y)
    assert program.cache_info().variants <= 2  # one more for strides of -8


def test_three_arguments_of_which_the_outer_two_are_apart():
    def fn(x, y, z):
        x += y
        z -= y
        y[...] = 1
        return x, z

    def make():
        base = vector(12)
        return base[:5], base[4:9], base[7:12]

    program = fxc.compile(fn, fullgraph=True)
    assert difference(run(fn, make()), run(program, make())) == ""
    assert program.cache_info().eager_calls == 0


def test_two_pairs_have_two_bases():
    def fn(a, b, c, d):
        a += d
        c *= b
        return b, d[1:]

    def make():
        left, right = vector(9), vector(9) * 10
        return left[:8], left[1:], right[1:], right[:8]

    program = fxc.compile(fn, fullgraph=True)
    assert difference(run(fn, make()), run(program, make())) == ""
    text = str(program.inspect(*make()).captured)
    assert "%base: f64[9], %base_" in text
    assert program.cache_info().eager_calls == 0


# ------------------------------------------------------------------ where arrays come from

shared = vector(10)


def test_an_argument_that_overlaps_a_global():
    def fn(x):
        x += 1
        return shared * 2

    program = fxc.compile(fn, fullgraph=True)
    for start in (0, 2, 0):
        shared[:] = vector(10)
        expected = fn(shared[start : start + 8]), shared.copy()
        shared[:] = vector(10)
        found = program(shared[start : start + 8]), shared.copy()
        assert all(map(np.array_equal, expected, found))
    assert np.array_equal(program(vector(8)), shared * 2)
    assert program.cache_info() == fxc.CacheInfo(3, 4, 0, {})


def test_arrays_of_attributes_lists_and_closures_that_overlap():
    class State:
        pass

    def trial(compile_it):
        base = vector(12)
        state, inner, items = State(), base[2:10], [base[3:11], base[4:12]]
        state.x = base[:8]

        def fn(state, items):
            state.x += inner
            items[1][:2] = items[0][1:3] * 2
            return inner.sum(), items[0]

        program = fxc.compile(fn, fullgraph=True) if compile_it else fn
        result = program(state, items)
        assert result[1] is items[0]
        if compile_it:
            assert program.cache_info().eager_calls == 0
        return result[0], base

    expected, found = trial(False), trial(True)
    assert expected[0] == found[0]
    assert np.array_equal(expected[1], found[1])


# ------------------------------------------------------------------ results


def test_returned_arguments_are_the_callers_objects_and_views_are_of_their_base():
    base = vector(10)
    x, y = base[:8], read_only(base[2:])

    def fn(x, y):
        x[0] = y[1]
        return x, y, x[1:], y[1:], y.reshape(2, 4), x[1:]

    got_x, got_y, of_x, of_y, shaped, again = fxc.compile(fn, fullgraph=True)(x, y)
    assert got_x is x
    assert got_y is y
    assert of_x.base is base
    assert of_y.base is base
    assert of_x.flags.writeable
    assert not of_y.flags.writeable
    assert shaped.shape == (2, 4)
    assert np.shares_memory(shaped, y)
    assert of_x is not again


def test_fresh_results_share_nothing_with_overlapping_arguments():
    base = vector(10)
    program = fxc.compile(lambda x, y: (x.__iadd__(1) + y, y.copy(), x * 1), fullgraph=True)
    first, second = program(base[:8], base[2:]), program(base[:8], base[2:])
    arrays = [base, *first, *second]
    for place, left in enumerate(arrays):
        assert not any(np.shares_memory(left, right) for right in arrays[place + 1 :])


# ------------------------------------------------------------------ what lies between


def writes_early_and_late(x, y):
    x[:4] += y[:4]
    order = np.sort(y, kind="stable")  # NumPy runs it: nothing is written to the arguments before
    y[1:] -= order[1:]


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_what_lies_between_the_arguments_is_never_written(monkeypatch, backend):
    """Somebody else changes it while the call runs."""

    def parts(base):
        return base[:16:2], base[4:25:3]

    base, gaps = vector(30), np.ones(30, bool)
    for part in parts(gaps):
        part[...] = False

    def meddling(name):
        kernel = kernel_of(name)

        def sort(*args):
            base[gaps] = -1
            return kernel(*args)

        return sort if name == "sort" else kernel

    monkeypatch.setattr(fxc.pipeline.assemble, "compiled_kernel_of", meddling)
    monkeypatch.setattr(fxc.pipeline.stages, "_kernels_of", lambda index: meddling)
    expected = base.copy()
    expected[gaps] = -1
    writes_early_and_late(*parts(expected))
    program = fxc.compile(writes_early_and_late, fullgraph=True, backend=backend)
    program(*parts(base))
    assert np.array_equal(base, expected)
    assert program.cache_info().eager_calls == 0


def test_memory_beyond_the_arguments_is_left_alone():
    guarded = vector(30)
    base = guarded[10:20]
    program = fxc.compile(adds, fullgraph=True)
    program(base[:8], base[2:])
    assert np.array_equal(guarded[:10], vector(30)[:10])
    assert np.array_equal(guarded[20:], vector(30)[20:])


def test_a_base_that_overhangs_stays_within_its_owner():
    """The rectangle around two windows begins before both: only where its owner has it."""
    owner = matrix(4, 6)
    left, right = owner[1:, :5], owner[:3, 1:]
    base = common_base([left, right])
    assert base is not None
    assert base.overhangs
    memory = vector(21)  # as much as both need, and no more
    x = np.lib.stride_tricks.as_strided(memory[5:], (3, 5), (48, 8))
    y = np.lib.stride_tricks.as_strided(memory, (3, 5), (48, 8))
    assert base.over(x, y) is None

    def fn(x, y):
        x += y
        y *= 2

    program = fxc.compile(fn, fullgraph=True)
    program(left, right)
    expected = matrix(4, 6)
    fn(expected[1:, :5], expected[:3, 1:])
    assert np.array_equal(owner, expected)


def test_overlapping_arguments_of_many_threads_at_once():
    program = fxc.compile(adds, fullgraph=True)
    expected = vector(10)
    adds(expected[:8], expected[2:])
    wrong = []

    def work():
        for _ in range(50):
            base = vector(10)
            program(base[:8], base[2:])
            if not np.array_equal(base, expected):
                wrong.append(base)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# ------------------------------------------------------------------ no common base


def other_dtype() -> Arrays:
    base = vector(8)
    return base, base.view("i8")


def window_and_diagonal() -> Arrays:
    base = matrix(8, 8)
    return base[1:5, 1:5], np.lib.stride_tricks.as_strided(base, (4, 4), (72, 8))


def overlapping_itself() -> Arrays:
    return np.lib.stride_tricks.as_strided(vector(6), (4, 3), (8, 8)), vector(3)


@pytest.mark.parametrize("make", [other_dtype, window_and_diagonal, overlapping_itself])
def test_without_a_common_base_it_is_plain_numpy_and_the_log_says_so(make, caplog):
    def fn(x, y):
        x += 1
        return y * 2

    program = fxc.compile(fn)
    with caplog.at_level(logging.INFO, "fxc"):
        for _ in range(3):
            assert difference(run(fn, make()), run(program, make())) == ""
    info = program.cache_info()
    assert (info.variants, info.eager_calls) == (0, 3)
    assert sum("runs as plain NumPy" in record.message for record in caplog.records) == 3
    assert program(*(x.copy() for x in make())) is not None  # the copies overlap nothing
    assert program.cache_info().native_calls == 1
    with pytest.raises(fxc.CaptureError, match="written"):
        fxc.compile(fn, fullgraph=True)(*make())


def test_pure_functions_of_overlapping_arguments():
    def fn(x, y):
        x += y[:3]
        y[0] = 9
        return x, y[1:], x.sum()

    base = vector(6)
    result, new = fxc.functionalize(fn)(base[:3], base[1:5])
    assert np.array_equal(base, vector(6))
    expected = fn(base[:3], base[1:5])
    assert all(map(np.array_equal, expected, result))
    assert np.array_equal(new["x"], base[:3])
    assert np.array_equal(new["y"], base[1:5])
    assert result[0] is new["x"]
