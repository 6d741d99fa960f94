# ruff: noqa: B028, UP031, UP032
"""What programs show: printed text, log records, warnings, files; once, in order, and as it was."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

LOG = logging.getLogger("tests.shown")
LOG.propagate = False
Make = Callable[[], tuple[Any, ...]]


class Records(logging.Handler):
    """Keeps what a logger makes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        where = record.pathname, record.lineno, record.funcName
        extra = getattr(record, "extra_field", None)
        self.found.append((record.name, record.levelno, record.getMessage(), *where, extra))


def shown(fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The outcome of a call, and all that it has shown."""
    out, err, records = io.StringIO(), io.StringIO(), Records()
    LOG.addHandler(records)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    outcome: Any = fn(*args), None
                except Exception as error:
                    if isinstance(error, fxc.CaptureError):
                        raise
                    outcome = None, f"{type(error).__name__}: {error}"
    finally:
        LOG.removeHandler(records)
    told = [(str(w.message), w.category, w.filename, w.lineno) for w in caught]
    return outcome, out.getvalue(), err.getvalue(), records.found, told


def check(fn: Callable[..., Any], make: Make, *, level: int = logging.INFO) -> Any:
    """Compare a function with itself compiled, in three calls each on the same arguments."""
    LOG.setLevel(level)
    compiled = fxc.compile(fn, fullgraph=True)
    left, right = make(), make()
    for _ in range(3):
        (result, error), *expected = shown(fn, left)
        (found, problem), *seen = shown(compiled, right)
        assert error == problem
        assert seen == expected
        text = difference(run(lambda r=result: r, ()), run(lambda r=found: r, ()))
        assert not text, text
        assert not difference(run(lambda *_: None, left), run(lambda *_: None, right))
    assert compiled.cache_info().eager_calls == 0
    return compiled


X = np.array([1.5, -2.0, 3.25])


def arrays(*rest: Any) -> Make:
    return lambda: (X.copy(), *rest)


def test_print_shows_arrays_as_they_are() -> None:
    def prints(x: Any, t: Any) -> Any:
        print("begin", x, t, x.sum(), x.shape, x.dtype, None, [x[0], (t,)], {"a": x[1]})
        x += 1
        print(x, x[1:], sep=" | ", end="!\n", flush=True)
        x[0] = 0
        print(x.reshape(3, 1), np.float32(x[2]), x > 1, int(x[2]), complex(x[0]))
        return x.sum()

    check(prints, arrays(0.5))


def test_texts() -> None:
    def texts(x: Any, n: Any, t: Any) -> Any:
        s = f"{x[0]:.3f} {x.mean()!r:>12} {n:03d} {t:{n}.2e} {x}"
        s += "|" + str(x[1]) + repr(t) + format(x[2], "+.1f") + f"{x.size}" * 2
        u = "%d: %.2f %s" % (n, x[1], "a")
        v = "{} {:.2f} {a}".format(x[0], t, a=n)
        print(s, u.ljust(30) + "|", v.upper())
        return s, [u], {"v": v}, ", ".join([str(x[0]), "b", u])

    check(texts, arrays(12, 0.25))


def test_texts_of_sizes_and_of_what_is_known() -> None:
    def texts(x: Any, n: Any) -> Any:
        names = {f"w{i}": i for i in range(3)}
        return names[f"w{n}"] * x, f"{x.shape[0]}", f"{'a'!r:>5}"

    for n in (0, 1, 2, 1):
        assert not difference(
            run(texts, (X.copy(), n)), run(fxc.compile(texts, fullgraph=True), (X.copy(), n))
        )


def test_texts_of_containers_from_outside() -> None:
    def texts(x: Any, items: Any, table: Any) -> Any:
        print(items, table, x)
        items.append(x[0])
        for i in range(6):
            print(items, i)
        return f"{items} {table}"

    check(texts, lambda: (X.copy(), [1.5, X.copy()], {"a": 2.5, "b": "c"}))


def test_texts_of_one_of_several_things() -> None:
    def texts(x: Any) -> Any:
        state = "low"
        if x[0] > 0:
            state = "high"
        print(f"state {state}", state)
        return f"{state}"

    compiled = check(texts, arrays())
    assert compiled(-X) == "low"


def test_loops() -> None:
    def steps(x: Any, n: Any) -> Any:
        total = 0.0
        for i in range(n):
            x[i % 3] += 0.5 * i
            total += x[i % 3]
            if i % 7 == 0:
                print(i, f"step {i:03d}: {x.sum():.4f}", x, total)
            LOG.info("it %d %s", i, x[0])
            LOG.debug("never %d", i)
            message = "%d: %.2f" % (i, x[1])
            print(message)
            if total > 400:
                LOG.warning("left at %d", i, extra={"extra_field": i})
                break
        while total > 1:
            total /= 3
            print("down", total)
        print("end", total, x)
        return total

    compiled = check(steps, arrays(40))
    assert compiled.cache_info().variants == 1


def test_order_of_loops_and_statements() -> None:
    def steps(x: Any) -> Any:
        for k in range(2):
            print("outer", k, x)
            for i in range(8):
                if x[0] > i:
                    print("big", i, x[0])
                else:
                    print("small", i)
                x[0] += 0.25
            print("inner", k, x[0])
        print("between", x)
        for i in range(9):
            print("again", i * x[1])
        print("last")

    check(steps, arrays())


def test_helpers() -> None:
    def report(name: Any, value: Any) -> None:
        print(name, "=", value)
        LOG.info("%s=%r", name, float(value))

    def steps(x: Any) -> Any:
        for i in range(10):
            report("x", x[i % 3])
            x *= 1.5
        report("sum", x.sum())

    check(steps, arrays())


def test_warnings() -> None:
    def helper(x: Any) -> None:
        warnings.warn(f"first {x[0]}", stacklevel=2)

    def warns(x: Any) -> Any:
        helper(x)
        warnings.warn("plain")
        warnings.warn("of the caller", RuntimeWarning, stacklevel=2)
        for i in range(6):
            if x[1] < -3 + i:
                warnings.warn(f"at {i}", DeprecationWarning)
        return x * 2

    check(warns, arrays())


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_callers_that_python_looks_for() -> None:
    """Where Python runs the statement, or all of the function, no frame of fxc counts."""

    def helper(x: Any, message: Any) -> Any:
        y = np.sin(x) * 2 + 1
        warnings.warn(message, stacklevel=2)
        LOG.warning("of the caller", stacklevel=2)
        return y * y + 1

    def around(x: Any, message: Any) -> Any:
        y = helper(x * 2 + 1, message)
        warnings.warn(message, stacklevel=2)
        return np.linalg.inv(y * 0)

    def seen(program: Any) -> list[tuple[str, str, int]]:
        records: list[logging.LogRecord] = []
        handler = logging.Handler()
        handler.emit = records.append  # type: ignore[method-assign]
        LOG.addHandler(handler)
        with (
            warnings.catch_warnings(record=True) as caught,
            contextlib.suppress(np.linalg.LinAlgError),
        ):
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", fxc.CaptureWarning)
            program(np.ones((2, 2)), UserWarning("an object"))
        LOG.removeHandler(handler)
        found = [(str(each.message), each.filename, each.lineno) for each in caught]
        return found + [(each.getMessage(), each.pathname, each.lineno) for each in records]

    compiled = fxc.compile(around)
    seen(compiled)
    for _ in range(3):
        assert seen(compiled) == seen(around)


def test_warnings_that_are_errors() -> None:
    def warns(x: Any) -> Any:
        x += 1
        if x[0] > 0:
            warnings.warn("positive", RuntimeWarning)
        x += 1
        return x

    compiled = fxc.compile(warns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled(X.copy())
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        x = X.copy()
        with pytest.raises(RuntimeWarning, match="positive"):
            compiled(x)
    assert x.tolist() == (X + 1).tolist()


def test_files() -> None:
    def writes(x: Any, file: Any) -> Any:
        count = file.write(f"{x[0]}\n")
        for i in range(7):
            file.write(f"{i} {x[i % 3]:.2f}\n")
            x[i % 3] += 1
        file.flush()
        print("to it", x[0], file=file)
        sys.stdout.write("out\n")
        print("err", file=sys.stderr)
        return count

    compiled = fxc.compile(writes, fullgraph=True)
    for _ in range(3):
        left, right, x, y = io.StringIO(), io.StringIO(), X.copy(), X.copy()
        assert shown(writes, (x, left)) == shown(compiled, (y, right))
        assert left.getvalue() == right.getvalue()
        assert x.tobytes() == y.tobytes()
    info = compiled.cache_info()
    assert (info.variants, info.eager_calls) == (1, 0)


class Model:
    """An object that tells what it does."""

    def __init__(self) -> None:
        self.time = 0.0
        self.log = LOG
        self.history: list[float] = []
        self.rng = np.random.default_rng(3)

    def step(self, x: Any) -> Any:
        self.time += 0.25
        self.log.warning("t=%.2f", self.time)
        self.history.append(self.time)
        print("t", self.time)
        for _ in range(10):
            x += self.rng.normal()
            if x[0] > 2:
                print(x[0], self.time)
                break
        print(x)
        return x


def test_methods() -> None:
    one, other = Model(), Model()
    step = fxc.compile(Model.step, fullgraph=True)
    x, y = X.copy(), X.copy()
    for _ in range(4):
        (left, _), *expected = shown(Model.step, (one, x))
        (right, _), *found = shown(step, (other, y))
        assert expected == found
        assert left.tobytes() == right.tobytes()
        assert (one.time, one.history) == (other.time, other.history)
    assert step.cache_info().eager_calls == 0


class Point:
    """An object whose text is Python code."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __str__(self) -> str:
        return f"at {self.x:.2f}"

    def __repr__(self) -> str:
        return f"Point({self.x!r})"


def test_texts_of_objects() -> None:
    def prints(x: Any) -> Any:
        p = Point(x[0])
        print(p, f"{p} {p!r}", str(p), repr(p))
        for i in range(6):
            print(Point(x[i % 3] + i))
        return f"{p!r:>20}"

    check(prints, arrays())


def test_shown_once_before_an_exception() -> None:
    def prints(x: Any, i: Any) -> Any:
        print("begin", x)
        for k in range(5):
            LOG.info("k %d", k)
            x[k % 3] += 1
            print(k, x[k % i])
        x[0] = 9
        print("end")
        return x[i]

    compiled = fxc.compile(prints, fullgraph=True)
    left, right = X.copy(), X.copy()
    for i in (2, 3, 4, 2, 7, 1):
        assert shown(prints, (left, np.int64(i))) == shown(compiled, (right, np.int64(i)))
        assert left.tobytes() == right.tobytes()


def test_texts_that_cannot_be_made() -> None:
    def prints(x: Any) -> Any:
        x += 1
        print("before")
        print(f"{x[0]:d}")
        x += 1

    left, right = X.copy(), X.copy()
    with pytest.raises(ValueError, match="format code 'd'"):
        prints(left)
    for _ in range(2):
        with pytest.raises(ValueError, match="format code 'd'"):
            fxc.compile(prints, fullgraph=True)(right)
        assert left.tobytes() == right.tobytes()
        right[:] = X


def test_a_text_that_is_asked_for() -> None:
    def asks(x: Any, t: Any) -> Any:
        text = f"{t}"
        return x * len(text), text == "2.5", {"2.5": 1}.get(text), text in ("2.5", "a"), text[:1]

    compiled = fxc.compile(asks, fullgraph=True)
    for t in (2.5, 0.125, 2.5):
        assert not difference(run(asks, (X, t)), run(compiled, (X, t)))


def test_levels_of_logging() -> None:
    def tells(x: Any) -> Any:
        for i in range(6):
            LOG.debug("x %s", x[i % 3])
        LOG.log(logging.ERROR, "sum %.1f", x.sum())
        LOG.error("all")
        return x * 2

    for level in (logging.DEBUG, logging.ERROR, logging.CRITICAL, logging.DEBUG):
        check(tells, arrays(), level=level)


def test_what_is_refused_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    class Text:
        def __str__(self) -> str:
            return "text"

    for fn in (
        lambda x: print(x, [Text()]),
        lambda x: print(x, file=Text()),
        lambda x: (print("first"), input()),
    ):
        with pytest.raises(fxc.CaptureError):
            fxc.compile(fn, fullgraph=True)(X.copy())
    assert capsys.readouterr().out == ""


def test_an_array_of_unknown_size_is_shown_in_a_loop() -> None:
    def prints(x: Any) -> None:
        places = np.zeros(len(x), int)
        w = x[: places[0] % len(x)]
        for _ in x:
            print(w)

    check(prints, arrays())
