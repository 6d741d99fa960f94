"""Programs with branches and loops that fxc once ran otherwise than Python, by what was wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import CaptureError
from fxc.ir.graph import walk
from tests.compiling import check
from tests.outcomes import difference, run


def unreported(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """``compiled``; a warning that asks for a report is an error."""

    def called(*args: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", ".*please report", fxc.CaptureWarning)
            return compiled(*args)

    return called


# ---------------------------------------------------------------- branches


def test_assert_before_a_return() -> None:
    """The return became part of a branch, which was never left."""

    def program(x):
        s = x.sum()
        assert x[0] < 1.0, "no"
        return s

    check(program, lambda: (np.arange(4.0),))
    check(program, lambda: (np.ones(4),), eager=2)


def test_raise_before_a_return() -> None:
    def program(x):
        if x[0] > 1.0:
            if x[1] > 1.0:
                raise ValueError("both")
            elif x[2] > 1.0:
                raise KeyError("first")
            x[0] = 1.0
        return x.sum()

    ones, first, third = np.ones(4), np.eye(4)[0], np.eye(4)[2]
    check(program, lambda: (ones.copy(),), lambda: (ones + first,))
    check(program, lambda: (ones * 2,), lambda: (ones + first + third,), eager=4)


def test_number_that_is_a_float_in_one_arm() -> None:
    """``np.dtype(np.float64) == None``: any kind of value was a float of NumPy's or Python's."""

    def program(x):
        n = "none"
        if x[0] > 0:
            n = x[1]
        return n

    check(program, lambda: (np.ones(3),), lambda: (-np.ones(3),))


def test_condition_of_an_alias_is_computed_where_it_stands() -> None:
    """It was computed again behind the branch, from what the branch had written."""

    def program(x, a, b):
        y = a
        if x[0] > 0:
            if x[1] > 0:
                y = b
            x[1] = -1
        return y.sum(), y

    check(program, lambda: (np.ones(4), np.zeros(3), np.ones(3)))
    check(program, lambda: (np.zeros(4), np.zeros(3), np.ones(3)))


def test_alias_that_a_loop_in_an_arm_leaves() -> None:
    def program(x, y, n):
        if x[0] > 1:
            y[0] += 1
        else:
            for i in range(n):
                if x[i] > 0.5:
                    y = x + y
            return y
        return x

    for first in (0.0, 2.0):
        check(program, lambda first=first: (np.ones(9) * first, np.ones(9), 7))


def test_two_names_of_one_array_in_one_arm() -> None:
    """The array that the other arm gave to the second name was lost."""

    def program(x):
        if x[0] > 0:
            a = x + 1
            b = a
        else:
            a = x - 1
            b = x * 2
        b[0] = 7
        return a, b

    check(program, lambda: (np.ones(3),), lambda: (-np.ones(3),))


def test_an_exception_in_an_iteration_that_data_may_leave_out() -> None:
    """It was taken for NumPy's, which does not come to it."""

    def program(x, y):
        for i in range(3):
            if y[i] > 1:
                return y.sum()
            x[i + 1] += 1
        return x[7]

    with pytest.raises(
        fxc.CaptureError, match=r"^FXC0023: IndexError \(.*\) in a branch or a loop"
    ) as found:
        fxc.compile(program, fullgraph=True)(np.ones(3), np.ones(3) * 2)
    assert "x[i + 1] += 1" in found.value.__notes__[0]


def test_what_lowering_relies_on_in_each_iteration() -> None:
    """It was reported as a bug of fxc."""

    def program(y):
        for i in range(len(y)):
            y[i] = y[:i][-1]

    with pytest.raises(fxc.CaptureError, match="the body of a loop relies on"):
        fxc.compile(program, fullgraph=True)(np.arange(9.0))


def test_array_that_a_loop_replaces_by_one_from_outside() -> None:
    def program(x, y, n):
        z = x
        for i in range(n):
            z = y
            x[i] += z[i]
        return z, x

    for n in (0, 1, 7):
        check(program, lambda n=n: (np.ones(8), np.arange(8.0), n))


def filled(x):
    x.fill(7)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: filled(x) if x[0] > 0 else None,
        lambda x: (filled(x), 1) if x[0] > 0 else (None, 1),
        lambda x: 1 if x[0] > 0 and filled(x) is None else 2,
        lambda x: 1 if x[0] > 0 or filled(x) is None else 2,
    ],
)
def test_effects_of_expressions_of_one_value(fn: Callable[..., Any]) -> None:
    """What an arm does was lost if both arms give the same."""
    check(fn, lambda: (np.ones(3),), lambda: (-np.ones(3),))


# ---------------------------------------------------------------- returns


def found(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            return i, x[i]
    return -1, 0.0


def found_in_rows(a, limit):
    for i in range(len(a)):
        for j, value in enumerate(a[i]):
            if value > limit:
                return i, j
            elif value < 0:
                raise ValueError("negative")
    return None, None


def caller(x, limit):
    at, value = found(x, limit)
    return (at, value + 1) if at > 3 else found(x, limit / 2)


def one_of_two(x, limit):
    while x[0] < limit:
        x += 1
        if x[1] > 3:
            return x, x.sum()
    y = x * 2
    return y, y.sum()


def pair_of(x, limit):
    return (1, x[0]) if x[1] > limit else (1, x.sum())


@pytest.mark.parametrize("fn", [found, caller, one_of_two, pair_of], ids=lambda fn: fn.__name__)
def test_tuples_that_are_returned_early(fn: Callable[..., Any]) -> None:
    for limit in (0.5, 2.5, 30.0):
        check(fn, lambda limit=limit: (np.arange(9.0), limit))


def test_tuples_of_numbers_or_nothing() -> None:
    for limit in (0.5, 2.0):
        check(found_in_rows, lambda limit=limit: (np.ones((5, 6)), limit))


# ---------------------------------------------------------------- numbers


def test_functions_of_numbers_that_are_python_s_or_numpy_s() -> None:
    def program(x):
        s = 0.25
        for i in range(len(x)):
            if x[i] > 0.5:
                s = s + x[i]
        return round(s), int(s), float(s), bool(s), isinstance(s, float), s

    check(program, lambda: (np.arange(6.0),), lambda: (np.zeros(6),))


def test_division_by_zero_of_a_number_that_is_python_s_or_numpy_s() -> None:
    """Python's exception came, where NumPy's number gives 0."""

    def program(v, n):
        return divmod(min(v[0], n) + n, n)

    for fullgraph in (False, True):
        compiled = fxc.compile(program, fullgraph=fullgraph)
        for n in (0, 3):
            expected, found = (run(fn, (np.arange(-2, 5), n)) for fn in (program, compiled))
            assert difference(expected, found) == ""


@pytest.mark.parametrize("test", [lambda s: type(s) is float, lambda s: isinstance(s, np.floating)])
def test_type_of_a_number_that_is_python_s_or_numpy_s(test: Any) -> None:
    """It was NumPy's in any case."""

    def program(x):
        s = 0.25
        if x[0] > 0.5:
            s = s + x[0]
        return test(s)

    with pytest.raises(fxc.CaptureError, match="a number that is Python's in one case"):
        fxc.compile(program, fullgraph=True)(np.ones(3))


def test_a_number_of_another_type_before_the_first_iteration() -> None:
    """What an arm makes of it did not go with what it was; such loops were unrolled, or refused."""

    def escape(c, most):
        z = 0
        for n in range(most):
            if abs(z) > 2:
                return n
            z = z * z + c
        return most

    def times(w, h, most):
        found = np.zeros((h, w), dtype=int)
        for i in range(h):
            for j in range(w):
                found[i, j] = escape(complex(-2 + 3 * j / w, -1.5 + 3 * i / h), most)
        return found

    def sums(x, most):
        y, n = 0, 0
        while n < most:
            if np.max(y) > 20 and n > 2:
                return n, y
            else:
                y = y * 0.5 + x
            n += 1
        return most, y

    compiled = check(times, lambda: (5, 4, 9), lambda: (7, 9, 30))
    assert str(compiled.inspect(7, 9, 30).captured).count("_loop(") == 3
    check(sums, lambda: (np.arange(4.0), 9), lambda: (np.arange(4.0) + 9, 40))


# ---------------------------------------------------------------- stores


STORES: dict[str, Callable[[Any, Any], None]] = {
    "element": lambda x, v: x.__setitem__(0, v),
    "slice": lambda x, v: x.__setitem__(slice(1, 3), v),
    "mask": lambda x, v: x.__setitem__(x > 1, v),
    "places": lambda x, v: x.__setitem__(np.array([0, 2]), v),
    "fill": lambda x, v: x.fill(v),
}


@pytest.mark.parametrize("dtype", ["i4", "u1"])
@pytest.mark.parametrize("kind", STORES)
def test_float_that_is_stored_in_integers(kind: str, dtype: str) -> None:
    """What no integer stands for was stored as some number, where NumPy raises."""

    def program(x, value):
        x[-1] += 1
        STORES[kind](x, value)

    compiled = fxc.compile(program)
    for value in (7.9, np.nan, 300.5, np.inf):
        for number in (value, np.float64(value), np.float32(value)):
            if dtype == "u1" and value != 7.9 and type(number) is not float:
                continue  # cast, to what the machine has for it
            if not np.isfinite(value) and type(number) is not float and kind in ("mask", "places"):
                continue
            args = np.arange(4).astype(dtype), number
            expected, found = (run(fn, (args[0].copy(), number)) for fn in (program, compiled))
            assert difference(expected, found) == ""


def test_float_that_is_stored_in_integers_in_a_loop() -> None:
    def program(x, y):
        for i in range(len(x)):
            x[i] = y[i] * 1.5

    compiled = check(program, lambda: (np.arange(9), np.arange(9.0)))
    args = np.arange(9), np.arange(9.0)
    args[1][5] = np.nan
    expected, found = (run(fn, tuple(map(np.copy, args))) for fn in (program, compiled))
    assert isinstance(expected.error, ValueError)
    assert difference(expected, found) == ""


def known_mask_written(z):
    active, steps = np.ones(z.shape, bool), np.zeros(z.shape, int)
    for n in range(20):
        z[active] = z[active] * z[active] + 0.1
        gone = np.abs(z) > 2
        steps[active & gone] = n
        active &= ~gone
        if not active.any():
            break
    return steps


def known_index_written(x):
    places, k = np.arange(3), 0.0
    while k < x.sum() and k < 5:
        x[places] += 1
        places[0] = 2
        k += 1.0
    return places, k


@pytest.mark.parametrize("program", [known_mask_written, known_index_written])
def test_what_a_loop_writes_is_known_no_longer(program: Any) -> None:
    """The elements of an array that the program itself has made, before the loop writes to it."""
    compiled = fxc.compile(program, fullgraph=True)
    for x in (np.linspace(-2, 2, 9), np.linspace(0, 1, 12)):
        expected = run(program, [x.copy()])
        assert difference(expected, run(compiled, [x.copy()])) == ""
    assert compiled.cache_info().eager_calls == 0


def gram_schmidt_by_outer(a):
    q = a.copy()
    r = np.zeros((a.shape[1], a.shape[1]))
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.sum(q[:, k] ** 2))
        q[:, k] /= r[k, k]
        r[k, k + 1 :] = q[:, k] @ q[:, k + 1 :]
        q[:, k + 1 :] -= np.outer(q[:, k], r[k, k + 1 :])
    return q, r


def test_the_last_of_shrinking_blocks_is_empty() -> None:
    """What has no elements is in C order as well as in any other: the loop stays one."""
    compiled = fxc.compile(gram_schmidt_by_outer, fullgraph=True)
    for shape in ((9, 5), (4, 4), (6, 1)):
        a = np.random.default_rng(0).random(shape)
        assert difference(run(gram_schmidt_by_outer, [a]), run(compiled, [a])) == ""
        assert len(walk(compiled.inspect(a).captured.body)) < 60


def kept_by_type(x):
    found = {}
    for v in x:
        found[type(found)] = [v]
    return found


def test_unrolled_loops_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="fxc"):
        fxc.compile(kept_by_type, fullgraph=True)(np.ones(30))
    (text,) = (each for each in caplog.messages if "the loop" in each)
    assert "kept_by_type: the loop " in text
    assert " is unrolled: " in text
    assert "found[type(found)] = [v]" in text


# ---------------------------------------------------------------- arrays that loops may replace


def _by_while(x, most):
    while x.sum() < most:
        x = x + 1
    return x


def _by_two_loops(x, most):
    y = x
    while x.sum() < most:
        x = x + 1
    for _ in range(int(most) - 12):
        x = x * 0.5
    return x, y, {"x": x}, x * 2


def test_argument_that_a_loop_may_replace_is_returned() -> None:
    """It is the caller's own array if there was no iteration."""
    for program in (_by_while, _by_two_loops):
        check(program, *(lambda most=most: (np.arange(4.0), most) for most in (3.0, 12.0, 14.0)))
        check(program, lambda: (np.arange(4.0), 3.0))


def test_argument_that_a_loop_inside_a_loop_may_replace() -> None:
    """A new array was returned where no loop inside had an iteration."""

    def program(x, counts):
        for k in range(len(counts)):
            for _ in range(counts[k]):
                x = x + 1
        return x

    with pytest.raises(CaptureError, match="return a copy"):
        fxc.compile(program, fullgraph=True)(np.arange(4.0), np.zeros(7, int))

    def through_another(x, y, counts):
        for k in range(len(counts)):
            for _ in range(counts[k]):
                x = y - 1
            y = x
        return x + 0, y

    with pytest.raises(CaptureError, match="return a copy"):
        fxc.compile(through_another, fullgraph=True)(np.ones(4), np.ones(4), np.zeros(7, int))

    def behind_the_first_iteration(x, counts):
        total = 0
        for k in range(len(counts)):
            total = total + 0.5 * k
            for _ in range(counts[k]):
                x = x + 1
        return x, total

    with pytest.raises(CaptureError, match="return a copy"):
        fxc.compile(behind_the_first_iteration, fullgraph=True)(np.arange(4.0), np.zeros(7, int))

    def copied(x, counts):
        for k in range(len(counts)):
            for _ in range(counts[k]):
                x = x + 1
        return x.copy()

    check(copied, *(lambda n=n: (np.arange(4.0), np.full(7, n)) for n in (0, 2)))


def test_elements_cannot_be_iterated() -> None:
    """``iter`` took the IndexError of ``x[0][0]`` for the end."""

    def program(x, y):
        for i in range(len(x)):
            x[i] += 1
            for y in y:  # noqa: B020
                x[i] += y
        return x

    compiled = fxc.compile(program)
    expected, found = (run(fn, [np.ones(5), np.ones(3)]) for fn in (program, compiled))
    assert type(expected.error) is TypeError
    assert difference(expected, found) == ""


def one_before(u, n):
    last = u * 0
    for _ in range(n):
        last = u
        u = u + 1
    return last, u


def test_a_variable_that_takes_over_what_another_began_with() -> None:
    """After one iteration ``last`` is the argument itself, after two it is not."""
    compiled = fxc.compile(one_before, fullgraph=True)
    for n in (9, 1, 2, 0):
        args = np.arange(3.0), n
        assert not difference(run(one_before, args), run(compiled, args))
    assert compiled.cache_info().variants == 2  # none is a case of its own


@pytest.mark.parametrize("n", [0, 1])
def test_what_a_condition_keeps_from_raising(n: int) -> None:
    """What it raised was taken for an error of fxc's."""

    def divided(x, n):
        return 1.0 / n if x[0] < 0 else 2.0

    def compared(x, n):
        return x[0] > 1 and 1 / n > 0

    def without_an_attribute(x, n):
        log = 1
        if x[0] > 0:
            return
        log.append(n)

    for program in (divided, compared, without_an_attribute):
        compiled = unreported(fxc.compile(program))
        for first in (1.0, -1.0, 3.0):
            expected, found = (run(fn, [np.array([first]), n]) for fn in (program, compiled))
            assert difference(expected, found) == ""


def test_what_is_raised_where_nothing_is_caught() -> None:
    """Capture goes on behind what may raise: what it met there was taken for an error of fxc's."""

    def caught_at_run_time(x):
        try:
            1 / x[x > 0].size
        except ZeroDivisionError:
            found = 1
        return x + found

    def raised(x):
        try:
            1 / x[x > 0].size
        except ZeroDivisionError:
            return x
        raise ValueError(x.shape)

    for program in (caught_at_run_time, raised):
        compiled = unreported(fxc.compile(program))
        for first in (-1.0, 1.0, -2.0):
            expected, found = (run(fn, [np.array([first])]) for fn in (program, compiled))
            assert difference(expected, found) == ""


def test_int_that_doubles_as_an_expression() -> None:
    """Arithmetic of arguments was never cut short: each line doubled what stands for ``n``."""

    def program(n):
        log = []
        for i in range(32):
            n = (n + i) * (n % 1009) % 10007
            log.append(n)
        return log

    check(program, lambda: (5,), lambda: (6,))


def test_loop_over_a_window_of_counted_size() -> None:
    """The counter's name told how many nodes there were before: with each check that was asked for
    it changed, and another check was asked for, without end.
    """

    def program(x, y, first):
        s = 0.0
        for i in range(max(first[0], -12), len(y)):
            y[i] += 1.0
            for each in x[max(i - 2, 0) : i + 2]:
                w = y[i:]
                s += each + w[0]
        return s

    def args(size):
        return np.arange(size) / 3, np.ones(size), np.array([2])

    check(program, lambda: args(8))
    check(program, lambda: args(8), lambda: args(5), dynamic=True)


def test_few_iterations_around_loops_in_loops() -> None:
    """Each of them was a copy of the loops inside: four loops of four were 256 bodies."""

    def convolved(x, kernel):
        out = np.zeros((4, 4))
        for i in range(4):
            for j in range(4):
                for p in range(3):
                    for q in range(3):
                        out[i, j] += kernel[p, q] * x[i + p, j + q]
        return out

    def make() -> tuple[Any, ...]:
        rng = np.random.default_rng(5)
        return rng.random((6, 6)), rng.random((3, 3))

    compiled = check(convolved, make)
    assert len(walk(compiled.inspect(*make()).captured.body)) < 200


def test_few_iterations_whose_numbers_are_sizes_and_keys() -> None:
    """They are run by Python nevertheless, where the program cannot be captured otherwise."""

    def counted(x):
        n = 0
        for _i in range(3):
            for _j in range(2):
                for _k in range(2):
                    n += 1
        return x[:n], np.zeros(n)

    def kept(x):
        found = {}
        rows = []
        for i in range(2):
            for j in range(3):
                for k in range(2):
                    found[i, j, k] = x[4 * i + 2 * j + k] * 2
                rows.append([x[i], x[j]])
        return found, rows

    def first_above(x):
        for i in range(2):
            for j in range(2):
                for k in range(2):
                    if x[4 * i + 2 * j + k] > 3:
                        return i, j, k
        return None

    for program in (counted, kept, first_above):
        check(program, lambda: (np.arange(40.0),), lambda: (-np.arange(40.0),))


def test_a_loop_begins_with_a_view_that_it_reads() -> None:
    """What the loop carries took over the memory of the view, which each iteration read."""

    def row(x):
        y = x[1]
        for _ in range(len(x)):
            y = 0.5 * y + x[1]
        return y

    def transposed(x):
        y = x.T
        while y.sum() < 1e4:
            y = 1.5 * y + x.T
        return y * 1

    def in_an_arm(x):
        y = x[0]
        for i in range(len(x)):
            if x[i, 0] > 5:
                y = y * 0.5 + x[0]
        return y

    for program in (row, transposed, in_an_arm):
        check(program, lambda: (np.arange(20.0).reshape(5, 4),))


def test_results_that_are_one_array_of_an_iteration() -> None:
    """An array that was carried for its shape became an array of its own behind the loop."""

    def part(x, y, n):
        c = x * 1
        for _ in range(n):
            c = x + y
            x = c[:]
        return c, x

    def turned(x, y, n):
        c = x * 1
        for _ in range(n):
            c = x + y
            x = c.reshape(2, -1).reshape(-1)
        return c, x

    for program in (part, turned):
        arguments = np.arange(6.0), np.ones(6), 7
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fxc.CaptureWarning)
            found = run(fxc.compile(program), arguments)
        assert difference(run(program, arguments), found) == ""


def test_a_loop_of_as_many_iterations_as_a_quotient_says() -> None:
    """Of sizes, one of them negative: there were no bounds for its counter."""

    def below_zero(y, n):
        n -= -7 // (len(y) % 3 + 1)
        for k in range(n, len(y)):
            y[k] += k
        return n

    def of_either_sign(y, n):
        n += -len(y) // (len(y) - 6)
        for k in range(n, len(y)):
            y[k] += k
        return n

    def remainder(y, n):
        n += 5 % (3 - len(y)) + 2
        for k in range(n, len(y)):
            y[k] += k
        return n

    for program in (below_zero, of_either_sign, remainder):
        calls = [lambda size=size: (np.zeros(size), 2) for size in (5, 4, 7, 9, 12)]
        check(program, *calls, dynamic=True)


def test_root_of_an_int() -> None:
    """An int and a variable that is an int or a float: the call left native code."""

    def root(a):
        x = a
        while True:
            y = 0.5 * (x + a / x)
            if abs(y - x) < 1e-12 * y:
                return y
            x = y

    check(root, lambda: (2,), lambda: (9,))


def test_what_a_loop_between_bounds_from_data_relies_on_is_guarded() -> None:
    """Sizes could be others in a later call: it read beyond arrays, and gave wrong results."""

    def elements(x, y, v):
        total = 0.0
        for _ in range(v[0], 3):
            total += x[5] + x[:6].sum() + (x + y)[0]
        return total

    def exchanged(x, y, v):
        now = x
        for _ in range(v[0], 3):
            before, now = y * 2, x
            for _ in range(v[1]):
                before, now = now, before + 1
        return now.copy()

    sizes = [(8, 8), (9, 9), (2, 2), (8, 9), (8, 3), (3, 8), (8, 8), (6, 1)]
    for program in (elements, exchanged):
        compiled = fxc.compile(program, dynamic=True)
        for m, n in sizes:
            args = [(np.ones(m), np.arange(float(n)), np.arange(1, 9)) for _ in range(2)]
            assert difference(run(program, args[0]), run(compiled, args[1])) == "", (m, n)


def _row_chosen(x, y, n):
    rows = np.stack([x, y, x])
    rows[n % 3] += 1
    return rows[-1].sum()


def _row_by_data(x, y, n):
    rows = np.stack([x, y, x])
    rows[n % 3] += rows[-1].copy()
    return rows[-1].mean()


@pytest.mark.parametrize("program", [_row_chosen, _row_by_data])
def test_rows_at_unknown_places_beside_a_sum(program: Any) -> None:
    """A lane of the sum read what the last one had stored: a wrong sum of 8 elements and more."""
    compiled = fxc.compile(program, fullgraph=True)
    for size in (7, 8, 9, 40, 300):
        for n in (3, 4, 5):
            x, y = np.arange(1.0, size + 1), np.arange(size) * 3.0
            assert compiled(x, y, n) == program(x, y, n)


def _list_or_number(x: Any, n: int) -> Any:
    p = [x[0], x[1]]
    sweeps = 0
    while True:
        sweeps += 1
        if sweeps > 2:
            break
        for k in range(n):
            if k > 9:
                break
            p = 1
    return p


def test_a_list_that_an_inner_loop_replaces_by_a_number() -> None:
    """Once the list was of a pool, the loop forgot that the variable is read behind it."""
    x = np.arange(3.0)
    check(_list_or_number, *(lambda n=n: (x, n) for n in (4, 3, 0, 12)))


def _squared_again(x: Any) -> Any:
    found = x.T + x.T
    for _ in range(int(x[0, 0])):
        found = found.dot(found)
    return found


def _in_c_order(x: Any) -> Any:
    found, k = x.T + x.T, 0
    while k < x[0, 0]:
        found = np.ascontiguousarray(found) * 2
        k += 1
    return found


def _squared_in_a_nest(x: Any) -> Any:
    found = x.T + x.T
    for _ in range(int(x[1, 1])):
        for _ in range(int(x[0, 0])):
            found = found.dot(found)
    return found


def _squared_in_an_arm(x: Any) -> Any:
    found = x.T + x.T
    if x[1, 1] > 0:
        for _ in range(int(x[0, 0])):
            found = found.dot(found)
    return found


def _made_anew_in_a_nest(x: Any) -> Any:
    found = x.T + x.T
    for _ in range(int(x[1, 1])):
        found = x.T + x.T
        for _ in range(int(x[0, 0])):
            found = found.dot(found)
    return found


def _of_the_one_before(x: Any) -> Any:
    """The first iteration sees the layout that the array had."""
    found = x.T + x.T
    kept = found * 1
    for _ in range(int(x[0, 0])):
        found, kept = found.dot(found), found * 2
    return kept


@pytest.mark.parametrize(
    "program",
    [
        *(_squared_again, _in_c_order, _squared_in_a_nest, _squared_in_an_arm),
        *(_made_anew_in_a_nest, _of_the_one_before),
    ],
)
def test_an_array_keeps_its_layout_where_no_iteration_makes_another(program: Any) -> None:
    """It had the layout of what iterations make."""
    compiled = fxc.compile(program, fullgraph=True)
    for diagonal in ([1.0, 1, 1], [0.0, 0, 0], [2.0, 2, 2], [0.0, 1, 1], [2.0, 0, 1]):
        x = np.diag(diagonal) + np.arange(9.0).reshape(3, 3) / 64
        assert not difference(run(program, (x.copy(),)), run(compiled, (x.copy(),)))
    assert compiled.cache_info().eager_calls == 0


def _read_in_its_order(x: Any) -> Any:
    now, other, total = x.T, x + 1, 0.0
    for _ in range(int(x[1, 1])):
        k = 0
        while k < x[0, 0]:
            k += 1
            total += now.ravel("K")[1]
        now, other = other, np.asfortranarray(now)
    return now.copy("K"), total


def test_an_inner_loop_begins_with_an_array_in_another_layout() -> None:
    """It was taken for the array that the loop had begun with before, an internal error."""
    compiled = fxc.compile(_read_in_its_order, fullgraph=True)
    for diagonal in ([1.0, 1, 1], [3.0, 2, 1], [0.0, 2, 1]):
        x = np.diag(diagonal) + np.arange(9.0).reshape(3, 3) / 64
        assert not difference(run(_read_in_its_order, (x,)), run(compiled, (x,)))
    assert compiled.cache_info().eager_calls == 0


def _exchanged_in_two_layouts(x: Any, n: int) -> Any:
    now, other, total = x.T, x + 1, 0.0
    for _ in range(int(x[0, 0])):
        for _ in range(n):
            if x[0, 0] > 0:
                other = np.ascontiguousarray(other)
            else:
                total += other.ravel("K")[1]
        now, other = other, now.T
    return now * 2, other.T, total


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_arrays_in_two_layouts_that_are_exchanged_are_refused() -> None:
    with pytest.raises(CaptureError, match="FXC0026: other is one thing or another"):
        fxc.compile(_exchanged_in_two_layouts, fullgraph=True)(np.eye(3), 2)
