"""``fxc.explain``, and the commands ``explain`` and ``dump``."""

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from expecttest import TestCase

import fxc
from fxc.cli.main import main
from fxc.explaining.page import Explanation


def relax(u: Any, f: Any) -> Any:
    v = u[1:-1]
    new = 0.5 * (u[:-2] + u[2:]) - f
    err = np.abs(new - v).mean()
    v += 0.5 * (new - v)
    return err, v, u, None


def in_parts(x: Any) -> Any:
    y = x * 2
    y += x
    sys.setswitchinterval(0.005)
    y *= x
    return y + 1


class Watched:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def note(self, x: Any) -> None:
        self.seen.append((sys.getswitchinterval(), x))


def watched(x: Any, to: Watched) -> Any:
    for _ in range(3):
        x = np.sqrt(x) + 1
        to.note(x.max())
    return x


def text(told: Explanation) -> str:
    """The page without what is measured, and without lines of this file, which move."""
    page = re.sub(r"test_explain\.py:\d+", "test_explain.py:1", str(told))
    page = re.sub(r"lines \d+ to \d+|(?<=of line )\d+|(?<=at line )\d+", "lines", page)
    page = re.sub(r"(\d[\d.]*|N) (ns|µs|ms|[GM]B/s)\b", "N time", page)
    page = re.sub(r"by (caches|memory|arithmetic)$", "by what", page, flags=re.MULTILINE)
    return re.sub(r"(?<=N time: ).*", "...", page).replace("→", "->")


class Page(TestCase):
    maxDiff = None

    def test_of_a_function_that_is_captured_whole(self) -> None:
        u, f = np.arange(1000.0) ** 2, np.ones(998)
        compiled = fxc.compile(relax)
        told = fxc.explain(compiled)(u, f)
        assert (u == np.arange(1000.0) ** 2).all()
        assert compiled.cache_info().variants == 1
        compiled(u[:100].copy(), f[:98].copy())
        self.assertExpectedInline(
            text(told),
            """\
relax, in test_explain.py:1
  for u: f64[1000], f: f64[998]

captured   all of it: 12 operators, of lines
writes     u[1:999]
returns    (r0, r1, r2, None)
             r0: a number, f64
             r1: a view, u[1:999]
             r2: u itself

kernels    2, in this order
  test_explain.py:1 0:998 lanes 8
              f, u -> temporary b2
              24.0 kB, 5,988 operations: N time at least, by what
              one thread: it takes N time
  test_explain.py:1 0:998 lanes 8 ends first aligned to u
              temporary b2, u -> u
              24.0 kB, 1,996 operations: N time at least, by what
              one thread: it takes N time
  (one thread here: memory N time, caches N time, 25 billion operations/s)
memory     a call takes 8.00 kB; by NumPy it is 24.0 kB at least
           temporary arrays: 1, by NumPy 7
copies     none beyond those that the program asks for

each call  checks that
             the call is with 2 positional arguments
             u is f64[1000] of this layout
             f is f64[998] of this layout
             relax has the same code
             np is numpy
             u and f have no element in common
compiled   in N time: ...

variants   1 compilation
  1           0 calls for u: f64[1000], f: f64[998]""",
        )

    def test_of_a_function_that_will_be_split(self) -> None:
        x = np.ones(1000)
        self.assertExpectedInline(
            text(fxc.explain(in_parts)(x)),
            """\
in_parts, in test_explain.py:1

captured   a part: 1 of 5 statements will run in Python, at line lines
           because a call of sys.setswitchinterval cannot be captured: fxc does not know what it
           does besides returning a value; call it outside of the compiled function
             test_explain.py:1 in in_parts:  sys.setswitchinterval(0.005)
           The others are compiled when a call comes to them; nothing was run here. Call it
           once, and explain it again.""",
        )

    def test_of_a_function_that_is_split(self) -> None:
        compiled, x = fxc.compile(in_parts), np.ones(1000)
        with pytest.warns(fxc.CaptureWarning):
            compiled(x)
        page = text(fxc.explain(compiled)(x))
        self.assertExpectedInline(
            page[: page.index("kernels")],
            """\
in_parts, in test_explain.py:1

captured   a part: 1 of 5 statements run in Python, at line lines
           because a call of sys.setswitchinterval cannot be captured: fxc does not know what it
           does besides returning a value; call it outside of the compiled function
             test_explain.py:1 in in_parts:  sys.setswitchinterval(0.005)

  part 1, of in_parts, for x: f64[1000]

captured   2 operators, of lines
writes     no array of the caller's
returns    a new array, f64[1000]

""",
        )
        assert page.count("\nkernels") == 2


def _called(x: Any) -> Any:
    y = x * 2
    sys.setswitchinterval(0.005)
    return y * y - 1


def _calling(x: Any) -> Any:
    sys.setswitchinterval(0.005)
    return _called(x) + 1


class Method:
    @fxc.compile
    def add(self, x: Any) -> Any:
        return x + 1


def test_what_a_split_function_calls_is_told_too() -> None:
    compiled, x = fxc.compile(_calling), np.ones(100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        for _ in range(3):
            compiled(x)
    told = fxc.explain(compiled)(x)
    assert "_called" in {each.name for each in told.facts}
    assert ", of _called, for " in str(told)


def test_of_a_method_that_is_compiled() -> None:
    Method().add(np.ones(3))
    told = fxc.explain(Method().add)(np.ones(3))
    assert [each.calls for each in told.variants] == [1]
    assert told.place.startswith("test_explain.py:")
    assert repr(told) == str(told)


def test_variants_say_why_each_was_made() -> None:
    compiled = fxc.compile(lambda x: x * 2)
    compiled(np.ones(4))
    compiled(np.ones(4))
    compiled(np.ones(5))
    told = fxc.explain(compiled)(np.ones(6))
    assert [(each.why, each.calls) for each in told.variants] == [
        ("", 2),
        ("x: shape was (4,), is (5,)", 1),
    ]
    assert "made as no other fitted: x: shape was (4,), is (5,)" in str(told)
    assert "x is f64[:] of this layout" in told.facts[0].guards
    (facts,) = told.facts
    assert [name for name, _ in facts.seconds] == [
        "capture", "graph passes", "loop nests", "LLVM text", "machine code", "call plan",
    ]  # fmt: skip
    assert all(seconds > 0 for _, seconds in facts.seconds)


def test_a_compilation_of_another_process_says_so() -> None:
    first, second = fxc.compile(relax), fxc.compile(relax)
    u, f = np.ones(10), np.ones(8)
    first(u, f)
    second._take_over(first._stored())
    page = str(fxc.explain(second)(u, f))
    assert "compiled   by another process: it was taken from there, or from disk" in page
    assert "variants   1 compilation\n" in page


def test_work_of_kernels_is_counted() -> None:
    def steps(x: Any, w: Any) -> Any:
        for _ in range(100):
            x += 1
        return x @ w

    x, w = np.ones((20, 30)), np.ones((30, 10))
    (facts,) = fxc.explain(steps)(x, w).facts
    assert [(each.times, each.operations) for each in facts.kernels] == [(100, 600), (1, 12000)]
    (facts,) = fxc.explain(lambda x: np.outer(x, x) + 1)(np.ones(50)).facts
    assert sum(each.operations for each in facts.kernels) == 2 * 2500
    assert sum(each.moved for each in facts.kernels) == 8 * 2500 + 8 * 50


def test_what_the_caller_sees_is_said_as_programs_write_it() -> None:
    class Walk:
        def __init__(self) -> None:
            self.x, self.n, self.log = np.zeros((4, 5)), 3, list[float]()

        def step(self, y: Any) -> Any:
            self.x[1:3, ::2] += y
            self.x[:, 0] = 7
            self.n += 1
            self.log.append(float(y[0]))
            print("at", f"{y[1]:.1f}")
            return {"x": self.x[2], "pair": (y, y.sum())}, [self.n]

    (facts,) = fxc.explain(Walk().step)(np.ones(3)).facts
    assert facts.written == ("self.x[1:3, 0:5:2], self.x[:, 0]",)
    assert facts.changed == (
        "self.n becomes a number, self.n + 1",
        "self.log.append(a number, py.float)",
        "print('at', formatted((a number, f64, -1, '.1f')))",
    )
    assert facts.returned == (
        "({'x': r0, 'pair': (r1, r2)}, [r3])",
        "  r0: a view, self.x[2]",
        "  r1: y itself",
        "  r2: a number, f64",
        "  r3: a number, self.n + 1",
    )
    (facts,) = fxc.explain(lambda x: ("a" * 100, x.T))(np.ones((2, 3))).facts
    assert facts.returned == ("'" + "a" * 56 + "...", "a view, x.transpose((1, 0))")


def test_a_loop_of_numbers_is_a_kernel() -> None:
    def ewma(x: Any, a: Any) -> Any:
        y = np.empty_like(x)
        y[0] = x[0]
        for i in range(1, len(x)):
            y[i] = a * x[i] + (1 - a) * y[i - 1]
        return y

    told = fxc.explain(ewma)(np.ones(1000), 0.5)
    (loop,) = told.facts[0].kernels
    assert (loop.times, loop.moved, loop.operations) == (999, 24, 5)
    assert "one iteration after the other, 999 times" in str(told)
    assert re.search(r"5 operations: .* in all$", str(told), re.M)


def test_memory_beside_numpys() -> None:
    def chain(x: Any) -> Any:
        return ((x + 1) * 2 - x) / 3

    memory = fxc.explain(chain)(np.ones(1000)).facts[0].memory
    assert memory is not None
    assert (memory.ours, memory.temporaries) == (8000, 0)
    assert (memory.numpys, memory.numpys_temporaries) == (16000, 3)


def test_what_is_left_to_numpy_and_copied() -> None:
    def program(x: Any, p: Any) -> Any:
        y = x * 2
        y[p] = y[p] + x
        return np.linalg.det(np.outer(y, y))

    page = str(fxc.explain(program)(np.arange(4.0), np.arange(4)))
    assert re.search(r"^by NumPy   linalg_det: there is no native code for it$", page, re.M)
    assert re.search(r"^copies     test_explain.py:\d+ read before it is overwritten", page, re.M)


def test_the_reason_of_a_function_that_is_called_is_told_after_calls_too() -> None:
    compiled = fxc.compile(watched)
    before = str(fxc.explain(compiled)(np.ones(100), Watched()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        compiled(np.ones(100), Watched())
    after = str(fxc.explain(compiled)(np.ones(100), Watched()))
    for page in (before, after):
        assert re.search(r"because a call of \S*getswitchinterval cannot be captured", page)


def test_what_is_no_function_is_refused() -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match=r"fxc\.explain takes a function, not an int"):
        fxc.explain(wrong)
    strict = fxc.compile(in_parts, fullgraph=True)
    assert "captured   nothing" not in str(fxc.explain(in_parts)(np.ones(3)))
    assert "captured   nothing: all of it runs in Python" in str(fxc.explain(strict)(np.ones(3)))
    with pytest.raises(IndexError):
        fxc.explain(lambda x: x[7])(np.ones(3))


def test_a_long_page_says_what_it_leaves_out() -> None:
    def long(a: Any, b: Any, p: Any) -> Any:
        for k in range(3):
            a = np.cumsum(a[p]) / (k + 1)
            b = np.cumsum(b[::-1]) + a.sum()
            a = np.cumprod(a - b.max())
            b = np.sort(b) + a.mean()
        return a, b

    told = fxc.explain(long)(np.ones(100), np.ones(100), np.arange(100))
    count = len(told.facts[0].kernels)
    assert count > 12
    assert f"kernels    {count}, in this order, of which {count - 12} take less" in str(told)
    assert str(told).count("operations: ") == 12
    assert max(map(len, str(told).splitlines())) < 130


def test_the_function_is_not_run() -> None:
    ran: list[int] = []

    def noted(x: Any) -> Any:
        ran.append(1)
        x += 1
        return np.linalg.norm(x)

    x = np.ones(3)
    fxc.explain(noted)(x)
    assert not ran
    assert (x == 1).all()


# ------------------------------------------------------------------ commands

FILE = """\
import sys
import numpy as np, fxc

def step(u, rate):
    '''One step.

    >>> step(np.zeros(64), 0.1)
    '''
    u[1:-1] += rate * (u[2:] - u[:-2])

@fxc.compile(backend="numpy")
def by_numpy(x):
    return x + 1

def split(x):
    y = x * 2
    y += x
    sys.setswitchinterval(0.005)
    return y + x

def fails(x):
    return x.nothing
"""


@pytest.fixture(autouse=True)
def _forgets_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command imports is not there for other tests."""
    monkeypatch.setitem(sys.modules, "heat", None)


def command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, function: str, *more: str
) -> tuple[int, str, str]:
    (tmp_path / "heat.py").write_text(FILE)
    status = main([name, f"{tmp_path}/heat.py:{function}", *more])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_command_explains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, page, _ = command(tmp_path, capsys, "explain", "step")
    assert (status, page.splitlines()[:2]) == (
        0,
        ["step, in heat.py:4", "  for u: f64[64], rate: py.float"],
    )
    _, page, _ = command(tmp_path, capsys, "explain", "step", "--args", "f32[n], 0.5")
    assert "for u: f32[u.0], rate: py.float with u.0 >= 2" in page
    _, page, _ = command(tmp_path, capsys, "explain", "by_numpy", "--args", "f64[3]")
    assert "kernels" not in page
    status, page, _ = command(tmp_path, capsys, "explain", "split", "--args", "f64[3]")
    assert status == 0
    assert "2 of 4 statements will run in Python" in page
    status, page, said = command(tmp_path, capsys, "explain", "fails", "--args", "f64[3]")
    assert (status, page) == (1, "")
    assert "heat.py:22: AttributeError: 'numpy.ndarray' object has no attribute 'nothing'" in said
    status, _, said = command(tmp_path, capsys, "explain", "stp")
    assert status == 2
    assert "has no function stp; it has step, by_numpy, split, fails" in said


def test_the_command_dumps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stages = fxc.compile(relax).inspect(np.ones(4), np.ones(2))
    status, shown, _ = command(tmp_path, capsys, "dump", "step")
    assert status == 0
    assert re.findall("^== (.*) ==", shown, re.M) == re.findall("^== (.*) ==", str(stages), re.M)
    _, shown, _ = command(tmp_path, capsys, "dump", "step", "--stage", "captured")
    assert shown.startswith("captured step(%u: f64[64], %rate: py.float)\n")
    _, shown, _ = command(tmp_path, capsys, "dump", "step", "--diff", "captured", "functional")
    assert shown.startswith("--- captured\n+++ functional\n")
    status, shown, said = command(tmp_path, capsys, "dump", "split", "--args", "f64[3]")
    assert (status, shown) == (1, "")
    assert "split is not captured as a whole: FXC0001: a call of sys.setswitchinterval" in said
