"""Exported programs as NumPy source: every bit, write and alias as of the program itself."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import ExportError, UsageError
from tests.exporters.comparing import differences
from tests.exporters.corpus import EXAMPLES, Example, exported
from tests.exporters.refused import NUMPY_SOURCE
from tests.random_programs import random_program

COUNT = int(os.environ.get("FXC_FUZZ_PROGRAMS", "40"))
FIRST = int(os.environ.get("FXC_FUZZ_FIRST", "0"))


def loaded(text: str) -> Callable[..., Any]:
    """The function of a module."""
    module: dict[str, Any] = {"__name__": "exported"}
    exec(compile(text, "exported.py", "exec"), module)
    return module[next(reversed(module))]  # type: ignore[no-any-return]


@functools.cache
def source_of(example: Example) -> str:
    return exported(example).to_numpy_source()


def accepts(program: fxc.ExportedProgram, args: tuple[Any, ...]) -> bool:
    """Whether a program is for these arguments: values of some are a part of it."""
    try:
        program._inputs(args, {})
    except (TypeError, ValueError):
        return False
    return True


def is_refused(function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    try:
        function(*args)
    except (TypeError, ValueError):
        return True
    return False


def outcome(example: Example) -> str:
    """ "equal", or why the program is refused."""
    try:
        text = source_of(example)
    except ExportError as error:
        return str(error)
    program = exported(example)
    for seed in range(4):
        args = example.arguments(seed)
        found = differences(example.function, loaded(text), args)
        if found and not accepts(program, args):
            found = [] if is_refused(loaded(text), args) else ["it takes what it is not for"]
        if found:
            return "; ".join(found)
    return "equal"


def body_of(text: str) -> str:
    """The program itself, without what stands before it."""
    return text[text.rindex("\n\n\ndef ") + 3 :]


def exported_text(function: Callable[..., Any], *args: object, dynamic: bool = False) -> str:
    return body_of(fxc.export(function, *args, dynamic=dynamic).to_numpy_source())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_examples_are_equal_or_refused_by_name(example: Example) -> None:
    found = outcome(example)
    if example.name in NUMPY_SOURCE:
        assert "cannot be exported to NumPy" in found
        assert NUMPY_SOURCE[example.name] in found
    else:
        assert found == "equal"


def test_writes_are_in_place_and_views_are_views() -> None:
    assert (
        body_of(source_of(_named("relax")))
        == """\
def relax(u, f):
    _check_array("u", u, np.float64, (30,))
    _check_array("f", f, np.float64, (28,))
    _check_written("u", u, f)
    new = 0.5 * (u[:-2] + u[2:]) - f  # corpus.py:97
    part = u[1:-1]  # corpus.py:98
    difference = new - part
    err = np.mean(np.abs(difference))
    u[1:-1] = part + 0.5 * difference  # corpus.py:99
    return err, u[0]
"""
    )


def test_loops_assign_what_they_carry() -> None:
    assert (
        body_of(source_of(_named("heat")))
        == """\
def heat(u, steps):
    _check_array("u", u, np.float64, (9, 11))
    _check_number("steps", steps, int)
    if steps < 2:
        raise ValueError(f"steps must be 2 or more, it is {steps}")
    _check_written("u", u)
    old = u
    for _ in range(steps):
        new = old.copy()  # corpus.py:106
        scaled = 2 * old[1:-1, 1:-1]  # corpus.py:107
        added = new[1:-1, 1:-1] + 0.1 * (old[2:, 1:-1] + old[:-2, 1:-1] - scaled)
        # corpus.py:108
        new[1:-1, 1:-1] = added + 0.1 * (old[1:-1, 2:] + old[1:-1, :-2] - scaled)
        old = new  # corpus.py:109
    u[...] = old
"""
    )


def test_branches_and_numbers_of_python() -> None:
    assert (
        body_of(source_of(_named("collatz")))
        == """\
def collatz(n):
    _check_number("n", n, int)
    if n < 2:
        raise ValueError(f"n must be 2 or more, it is {n}")
    going = True
    steps = 0
    while going:
        n2 = n // 2 if n % 2 == 0 else 3 * n + 1  # corpus.py:150
        going = n2 > 1  # corpus.py:149
        n = n2  # corpus.py:151
        steps += 1
    return steps
"""
    )


def _named(name: str) -> Example:
    return next(example for example in EXAMPLES if example.name == name)


def backwards(x, n):
    y = x[::-2] + 0.5
    for i in range(n):
        y[i] += x[n : n - i - 1 : -1].sum() + x[i + 3 :: -2].mean()
    return y, x[n::-1], x[: -n - 1 : -1]


def by_steps(x, n):
    np.fill_diagonal(x, 2.5)
    flat = x.reshape(-1)
    flat[:: n + 1] += 1.0
    flat[n - 3 :: -2] *= 3.0
    return flat[: n * n : n].copy(), x[n - 3 :: -2, n - 2 :: -3] * 2, flat[n : n - 4 : -n]


def of_no_steps(x):
    x[:-2:2][::-2] = 1
    return x[:-2:2][::-2] + 1


def turns(x, a, b):
    x[:] = x[::-1].copy()
    a[...], b[...] = b.T.copy(), a[::-1, 0].copy()


def predicts(x, P, F, Q, u):
    x[:] = F @ x
    P[...] = F @ P @ F.T + Q
    u[:] = 0.0


def two_buffers(u, out, n):
    a, b = u.copy(), np.zeros_like(u)
    for _ in range(n):
        b[1:-1] = a[:-2] + a[2:]
        a, b = b, a
    out[...] = a


def in_branch(x, k):
    if x[0] > k:
        x[1:] += x[:-1]
    return x[1:]


def keeps_what_was_there(x):
    before = x[1:3].copy()
    x[1:3] = 7.0
    return before, x


def swaps(x, y):
    x[...], y[...] = y.copy(), x.copy()


def by_mask(x, m, v):
    x[m] = v
    return x[~m], np.add.reduce(x, axis=0)


def of_matrices(a, b):
    c = np.asfortranarray(a)
    c[0] = b
    return c.T @ a, c


def reads_itself(x):
    x[1:] = x[:-1]
    x[::-1] *= 2
    return x


RECORD = np.dtype([("m", "f8"), ("v", "f8", (3,)), ("id", "i4")])


def of_records(p, dt):
    p["v"] *= 1 - dt
    p["id"][p["m"] < 0.5] = -1
    total = 0.0
    for i in range(len(p)):
        p["m"][i] += p["v"][i, 0]
        total += p["m"][i]
    p[1]["v"][:] = total
    return total, p["v"], p["id"].max()


def of_dates(d, t):
    d += t
    gone = d - np.datetime64("2020-01-01")
    gone[0] = np.timedelta64(3, "D")
    return gone, d > np.datetime64("2020-05-01"), gone / np.timedelta64(1, "h")


def of_texts(x):
    longer = np.strings.add(x, "a")
    x[0] = "z"
    return longer, np.sort(x)


def divisors(x):
    found = np.empty((len(x), len(x)), x.dtype)
    for i in range(len(x)):
        for j in range(len(x)):
            a, b = x[i], x[j]
            while b:
                a, b = b, a % b
            found[i, j] = a
    return found


def of_swapped_bytes(x, y):
    x += y
    y[::2] = x[::2]
    return x * 2, y


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(
    "function, make",
    [
        (of_records, lambda r: (r.integers(0, 9, (5, 36), "u1").view(RECORD)[:, 0], 0.5)),
        (of_dates, lambda r: (r.integers(0, 9999, 4).astype("M8[D]"), np.arange(4, dtype="m8[D]"))),
        (of_texts, lambda r: (r.integers(0, 99, 6).astype("U3"),)),
        (divisors, lambda r: (r.integers(1, 50, 5),)),
        (of_swapped_bytes, lambda r: (r.random(5).astype(">f8"), r.random(5))),
        (backwards, lambda r: (r.random(12), 4)),
        (two_buffers, lambda r: (r.random(9), r.random(9), 4)),
        (in_branch, lambda r: (r.random(7), float(r.random()))),
        (keeps_what_was_there, lambda r: (r.random(5),)),
        (swaps, lambda r: (r.random(5), r.random(5))),
        (by_mask, lambda r: (r.random((4, 3)), r.random((4, 3)) < 0.5, 1.5)),
        (of_matrices, lambda r: (r.random((4, 4)), r.random(4))),
        (reads_itself, lambda r: (r.random(8),)),
        (predicts, lambda r: (*(r.random(s) for s in (4, (4, 4), (4, 4), (4, 4), 5)),)),
        (by_steps, lambda r: (r.random((4, 4)), 4)),
        (of_no_steps, lambda r: (r.random(2),)),
        (turns, lambda r: (r.random(8), r.random((3, 3)), r.random((3, 3)))),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_memory_is_shared_as_by_the_program(function: Any, make: Any, dynamic: bool) -> None:
    args = make(np.random.default_rng(0))
    source = loaded(fxc.export(function, *args, dynamic=dynamic).to_numpy_source())
    for seed in range(5):
        assert differences(function, source, make(np.random.default_rng(seed))) == []


def orders_complex(z):
    """Of complex scalars operators are not the ufuncs."""
    x, y = z[0], z[1]
    return x > y, np.greater(x, y), x * y, np.multiply(x, y), z > y


def test_ufuncs_of_complex_scalars_are_no_operators() -> None:
    z = np.array([complex(np.inf, np.nan), 1 + 2j])
    source = loaded(fxc.export(orders_complex, z).to_numpy_source())
    for args in (z, z[::-1].copy(), np.array([0.1 - 3j, 0.7 + 0.3j])):
        assert differences(orders_complex, source, (args,)) == []


def test_two_buffers_are_swapped_without_a_copy() -> None:
    text = exported_text(two_buffers, np.ones(9), np.ones(9), 4)
    assert "b[1:-1] = a[:-2] + a[2:]" in text
    assert text.count("copy(") == 1


def test_whole_arrays_are_filled_without_copies() -> None:
    args = (np.ones(4), *(np.ones((4, 4)) for _ in range(3)), np.ones(5))
    text = exported_text(predicts, *args)
    assert "x[...] = F @ x" in text
    text += exported_text(predicts, *args, dynamic=True)
    assert text.count("u[...] = 0.0  #") == 2
    assert "x[...] = F @ x\n" in text
    assert text.count("P[...] = F @ P @ F.T + Q") == 2


def test_what_it_is_not_for_is_refused_by_name() -> None:
    source = loaded(fxc.export(in_branch, np.ones(7), 0.5).to_numpy_source())
    with pytest.raises(ValueError, match=r"x must have the shape \(7,\), it has \(8,\)"):
        source(np.ones(8), 0.5)
    with pytest.raises(TypeError, match="x must have the dtype float64, it has float32"):
        source(np.ones(7, np.float32), 0.5)
    with pytest.raises(
        ValueError, match=r"x must lie in memory with the strides \(8,\), it has \(16,\)"
    ):
        source(np.ones(14)[::2], 0.5)
    with pytest.raises(TypeError, match="k must be of type float, it is of type int"):
        source(np.ones(7), 1)
    apart = loaded(fxc.export(swaps, np.ones(3), np.ones(3)).to_numpy_source())
    both = np.ones(4)
    with pytest.raises(ValueError, match="x shares memory with another argument"):
        apart(both[:3], both[1:])


def relaxes(u, src, weights, k):
    u[1:-1] += k * src
    return u[: len(weights[0])] * weights


def test_sizes_that_vary_are_refused_in_words_of_the_arguments() -> None:
    args = (np.ones(6), np.ones(4), np.ones((3, 6)), 0.5)
    program = fxc.export(relaxes, *args, dynamic=True)
    source = loaded(program.to_numpy_source())

    def refused(kind: type[Exception], *changed: object) -> str:
        given = [*changed, *args[len(changed) :]]
        with pytest.raises(kind) as found:
            source(*given)
        return str(found.value)

    assert refused(TypeError, [1.0] * 6) == "u must be an array, it is of type list"
    assert refused(ValueError, np.float64(1)[None]) == "u.shape[0] must be 2 or more, it is 1"
    assert refused(ValueError, np.ones((6, 2))) == "u must have 1 dimensions, it has 2"
    assert refused(TypeError, np.ones(6, int)) == "u must have the dtype float64, it has int64"
    assert np.all(args[0] == 1)
    for given in ((np.ones(6), np.ones(5)), (np.ones(7), np.ones(5), np.ones((3, 8)))):
        with pytest.raises(UsageError) as of_program:
            program(*given, *args[len(given) :])
        text = of_program.value.text
        assert "src.shape[0]" in text or "weights" in text
        assert refused(ValueError, *given) == text


def test_arrays_to_write_that_are_read_only_are_refused_before_a_write() -> None:
    def program(x, y):
        x += 1
        y += x

    source = loaded(fxc.export(program, np.ones(3), np.ones(3)).to_numpy_source())
    x, y = np.ones(3), np.ones(3)
    y.flags.writeable = False
    words = "y must be writeable, as when it was exported; it is read-only"
    with pytest.raises(ValueError, match=words):
        source(x, y)
    assert x.tolist() == [1.0] * 3


def test_sizes_that_vary_are_read_from_the_arguments() -> None:
    def halves(x, y):
        n = len(x) // 2
        return x[:n] + y[n:][:n]

    program = fxc.export(halves, np.ones(8), np.ones(8), dynamic=True)
    source = loaded(program.to_numpy_source())
    x, y = np.arange(12.0), np.arange(12.0) ** 2
    assert differences(halves, source, (x, y)) == []


def test_containers_of_arguments_and_results() -> None:
    def program(pair, opts):
        x, y = pair
        return {"sum": x + y, "rest": [x * opts["tol"], None, (y,)]}

    args = ((np.ones(3), np.arange(3.0)), {"tol": 0.5})
    source = loaded(fxc.export(program, *args).to_numpy_source())
    assert differences(program, source, args) == []


def test_what_is_no_part_of_numpy_is_refused_by_name() -> None:
    from scipy.special import erf

    def program(x):
        return erf(x) + 1

    with pytest.raises(ExportError, match="cannot be exported to NumPy"):
        fxc.export(program, np.ones(3)).to_numpy_source()
    counted = fxc.export(lambda i: np.bincount(i, minlength=5), np.arange(3))
    with pytest.raises(ExportError, match=r"nothing for bincount \(test_numpy_source.py:"):
        counted.to_numpy_source()


def test_operators_of_the_users_are_what_they_decompose_into() -> None:
    @fxc.custom_op("test_numpy_source::leaky(Array x, float k) -> Array")
    def leaky(x, k):
        return np.maximum(x, k * x)

    def program(x):
        return leaky(x[1:], 0.1)

    try:
        leaky.register_meta(lambda x, k: x.new())
        with pytest.raises(ExportError) as refused:
            fxc.export(program, np.ones(4)).to_numpy_source()
        assert "test_numpy_source::leaky (test_numpy_source.py:" in str(refused.value)
        leaky.register_decomposition(lambda ops, x, k: ops.maximum(x, ops.multiply(k, x)))
        source = loaded(fxc.export(program, np.ones(4)).to_numpy_source())
        assert differences(program, source, (np.linspace(-1.0, 1.0, 4),)) == []
    finally:
        leaky.remove()


def test_helpers_without_a_source_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(function: object) -> str:
        raise OSError("could not get source code")

    program = fxc.export(lambda x: np.nonzero(x), np.ones(4))
    monkeypatch.setattr("inspect.getsource", unreadable)
    with pytest.raises(ExportError, match=r"NumPy has nothing for \w+ \(test_numpy_source.py:"):
        program.to_numpy_source()


def test_modules_are_formatted_and_without_a_finding_of_ruff(tmp_path: Path) -> None:
    """As ruff leaves a file with its own settings."""
    for example in EXAMPLES:
        with contextlib.suppress(ExportError):
            (tmp_path / f"{example.name}.py").write_text(source_of(example))
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["format", "--isolated", "--diff"], ["check", "--isolated"]):
        found = subprocess.run([*ruff, *command, tmp_path], capture_output=True, text=True)
        assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("chunk", range(4))
def test_random_programs(chunk: int) -> None:
    """Of writes through views, mostly. ``FXC_FUZZ_PROGRAMS`` and ``FXC_FUZZ_FIRST`` set which."""
    equal = 0
    for seed in range(FIRST + chunk, FIRST + COUNT, 4):
        function, inputs = random_program(seed, overlap=False).load()
        try:
            with np.errstate(all="ignore"):
                function(*inputs())
            text = fxc.export(function, *inputs()).to_numpy_source()
        except (fxc.CaptureError, ExportError, ValueError, TypeError):
            continue
        assert differences(function, loaded(text), inputs()) == [], seed
        equal += 1
    assert equal > COUNT / 8
