"""Memmaps as arguments: of which class results are, and what becomes of the file.

See Note [Classes of arrays].
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fxc

SHAPE = (8, 6)
_numbers = iter(range(10**6))


def mapped(folder: Path, mode: Any = "r+", shape: tuple[int, ...] = SHAPE, **options: Any) -> Any:
    """A memmap of a new file."""
    file = folder / f"{next(_numbers)}.bin"
    (np.arange(np.prod(shape)) % 7 + 0.5).astype("f8").tofile(file)
    return np.memmap(file, "f8", mode, shape=shape, **options)


def arrays_in(x: Any) -> Iterator[np.ndarray]:
    if isinstance(x, np.ndarray):
        yield x
    elif isinstance(x, tuple | list):
        for each in x:
            yield from arrays_in(each)


def seen(x: Any, given: Any) -> Any:
    """What a caller can tell of a result."""
    if isinstance(x, tuple | list):
        return type(x), [seen(each, given) for each in x]
    if not isinstance(x, np.ndarray):
        return type(x), repr(x)
    shown = type(x), x.dtype, x.shape, x.strides, x.flags.writeable, np.asarray(x).tobytes()
    base = x.base if x.base is given else type(x.base)
    held = getattr(x, "__dict__", {})
    ours = {name: y is vars(given)[name] for name, y in held.items() if y is not None}
    return (
        shown,
        x is given,
        base is given or base,
        np.shares_memory(x, given),
        sorted(ours.items()),
    )


def assert_same(program: Callable[..., Any], folder: Path, backend: str = "llvm") -> Any:
    """Compiled as a whole, the program does with a memmap, or a part of one, what it does as it is."""
    compiled = fxc.compile(program, fullgraph=True, backend=backend)
    for options in ({}, {}, {"order": "F"}, {"mode": "c"}):
        files = [mapped(folder, **options) for _ in range(2)]
        whole = [file if options else file[1:] for file in files]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", DeprecationWarning)
            expected, found = program(whole[0]), compiled(whole[1])
        assert seen(expected, whole[0]) == seen(found, whole[1])
        of_expected, of_found = list(arrays_in(expected)), list(arrays_in(found))
        for n, left in enumerate(of_expected):
            same = [left is each for each in of_expected]
            assert same == [of_found[n] is each for each in of_found]
        for file in files:
            file.flush()
        assert Path(files[0].filename).read_bytes() == Path(files[1].filename).read_bytes()
    assert compiled.cache_info().eager_calls == 0
    return compiled


def parts(m):
    rows = m[1:]
    m[0, 1] = 5
    return m, m, rows, rows, m.T, m[::-1], m[:, 2], m[1:][:, 2:], m[None], m.view("i8"), [m[2, ...]]


def elements(m):
    m[2:] += 1
    return m[1, 2], m[1][2], m.sum(), m.max(), m.item(0, 3), [row.sum() for row in m], m[0].tolist()


def computed(m):
    x = np.linspace(0.0, 1.0, 6)
    y = m[1:] - 2 * m[:-1]
    out = np.empty(m.shape)
    np.add(m, 1, out=out)
    doubled = np.multiply(m, 2, out=m)
    chosen = m[[1, 2]], m[m > 3], m[m[:, 0] > 1]
    sums = m.mean(axis=0), np.add.accumulate(m, axis=1)
    return m + 1, x + m, m * m, -m, y, m @ x, out, doubled, *chosen, *sums, np.where(m > 1, m, x)


def plain(m):
    a = np.asarray(m)
    a[1] = 7
    part = np.asarray(m[2:])
    same = a is m, np.asanyarray(m) is m
    return a, a[1:], part, m.view(np.ndarray), np.ascontiguousarray(m[0]), np.array(m), same


def made(m):
    like = np.zeros_like(m)
    like[1:] = m[:-1]
    shown = like[2:]
    shown += 1
    single = m.astype("f4")
    held = SimpleNamespace(x=like, y=m[1:])
    sort = np.sort(m), m.copy(), copy.copy(m), np.copy(m), m.flatten()
    return like, single, single * 2, sort, [held.x, held.y], np.roll(m[0], 1), np.repeat(m, 2)


def types(m):
    kinds = type(m), type(m[1:]), type(m + 1), type(m.copy()), type(np.asarray(m)), m.__class__
    tests = isinstance(m, np.memmap), isinstance(m + 1, np.memmap), isinstance(m, np.ndarray)
    return [each.__name__ for each in kinds], tests, np.shares_memory(m, m[1:]), m[1:] is m


def sweeps(m):
    total = np.zeros(m.shape[1])
    for k in range(len(m)):
        total = total + m[k] * k
        m[k, 0] = total[0]
    last = m[1:] if total[0] > 3 else m[:1]
    other = m[0] if total[0] > 3 else np.zeros(2)
    return total, last, other


@pytest.mark.parametrize("program", [parts, elements, computed, plain, made, types, sweeps])
def test_programs(program, tmp_path):
    assert_same(program, tmp_path)


def from_python(m):
    values = np.gradient(m[0]), np.diff(m, axis=0), np.pad(m, 1), np.linalg.norm(m, axis=1)
    orders = (
        np.argsort(m, axis=1),
        np.median(m, axis=0),
        np.percentile(m, 30, axis=0),
        np.tile(m, 2),
    )
    views = np.flip(m), np.moveaxis(m, 0, 1), np.split(m[:2], 2), np.atleast_3d(m), np.diagonal(m)
    joined = np.concatenate([m, m]), np.stack([m[0], m[1]]), np.dot(m, m[0]), np.nan_to_num(m)
    return values, orders, views, joined, np.unique(m, return_counts=True), m.nonzero(), np.round(m)


def test_functions_give_the_classes_that_numpy_says(tmp_path):
    assert_same(from_python, tmp_path, "numpy")


def test_what_is_of_no_known_class_is_made_by_python(tmp_path):
    """So are attributes; the rest is compiled."""

    def program(m):
        m *= 2
        m += m[0] * 3
        m.flush()
        windows = np.lib.stride_tricks.sliding_window_view(m, 2, axis=0)
        other = np.sqrt(np.asarray(m)) * 2 + 1
        return windows, other, m.mode, m[:0], windows.base is None

    compiled = fxc.compile(program)
    for call in range(2):
        files = [mapped(tmp_path) for _ in range(2)]
        expected = program(files[0])
        with warnings.catch_warnings():
            warnings.simplefilter("error" if call else "ignore")
            assert seen(compiled(files[1]), files[1]) == seen(expected, files[0])
    assert compiled.cache_info().variants >= 2
    with pytest.raises(fxc.CaptureError, match=r"x\.flush of a subclass"):
        fxc.compile(program, fullgraph=True)(mapped(tmp_path))
    with pytest.raises(fxc.CaptureError, match="x is a memmap, a subclass of arrays"):
        fxc.functionalize(lambda x: x + 1)(mapped(tmp_path))


def test_a_file_that_is_read_only(tmp_path):
    """What was written before is there, as NumPy has it; the file is as it was."""

    def program(m, x):
        x += 1
        m += x

    compiled = fxc.compile(program)
    m, x = mapped(tmp_path, "r"), np.zeros(6)
    with pytest.raises(ValueError, match="read-only"):
        compiled(m, x)
    assert x.tolist() == [1.0] * 6
    assert fxc.compile(lambda m: m[2:], fullgraph=True)(m).flags.writeable is False


def test_two_memmaps_of_one_file(tmp_path):
    """A write to one shows in the other, at another address."""

    def program(a, b):
        a += 1
        before = b.sum()
        a *= 2
        return before, b.sum()

    compiled = fxc.compile(program)
    for _ in range(2):
        compiled(mapped(tmp_path), mapped(tmp_path))
    assert compiled.cache_info().eager_calls == 0
    m = mapped(tmp_path)
    other = np.memmap(m.filename, "f8", "r+", shape=SHAPE)
    before = m.sum() + m.size
    assert compiled(m, other) == (before, 2 * before)
    assert compiled.cache_info().eager_calls == 1


def test_parts_of_one_memmap(tmp_path):
    def program(a, b):
        a += b
        return a, b, a[1:], a is b

    for pair in (lambda m: (m[1:], m[:-1]), lambda m: (m, m), lambda m: (m[:4], m[4:])):
        compiled = fxc.compile(program)
        for _ in range(2):
            files = [mapped(tmp_path) for _ in range(2)]
            expected, found = program(*pair(files[0])), compiled(*pair(files[1]))
            assert seen(expected, files[0]) == seen(found, files[1])
            assert files[0].tobytes() == files[1].tobytes()


def test_arrays_and_memmaps_have_variants_of_their_own(tmp_path):
    compiled = fxc.compile(lambda x: (x[1:], x * 2), fullgraph=True)
    m = mapped(tmp_path)
    of_no_file = np.zeros_like(m)
    for x in (m, np.asarray(m), of_no_file * 0 + 1, m.copy().view(np.ndarray)):
        assert [type(each) for each in compiled(x)] == [type(x[1:]), type(x * 2)]
    assert [type(each) for each in fxc.compile(lambda x: (x, x * 2))(of_no_file)] == [
        np.memmap,
        np.ndarray,
    ]
    assert compiled.cache_info().variants == 2
