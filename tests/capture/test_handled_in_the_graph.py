"""Exceptions that depend on data and that the program handles: Note [Handled in the graph]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


class TooSmall(ValueError):
    """Has no constructor of its own."""


def root(x):
    if x < 0:
        raise TooSmall(f"{x} is negative", x)
    return np.sqrt(x)


def check(x):
    if x > 1.5:
        raise KeyError("big")


def twice_root(x, k):
    y = root(x) + 1
    return y * k


def first_negative(xs):
    for i in range(len(xs)):
        if xs[i] < -1:
            raise LookupError(i)
        xs[i] += 1
    return len(xs)


def of_a_result(xs):
    try:
        return root(xs.min())
    except ValueError:
        return -1.0


def with_stores(xs):
    out, bad = np.zeros(len(xs)), 0
    for i in range(len(xs)):
        try:
            out[i] = 3.0
            out[i] = root(xs[i])
            xs[i] = 0.0
        except ValueError:
            bad += 1
            out[i] -= 1.0
    return out, bad


def with_several_handlers(xs):
    n, s = 0, 0.0
    for i in range(len(xs)):
        try:
            check(xs[i])
            s += root(xs[i]) * 2
        except KeyError:
            n += 1
            continue
        except ValueError:
            n += 100
        s += 1
    return s, n


def with_all_clauses(xs):
    s = 0.0
    for x in xs:
        try:
            s += twice_root(x, 2)
        except (KeyError, TooSmall):
            s -= 1
        else:
            s += 10
        finally:
            s += 0.5
    return s


def around_a_loop(xs):
    s = 0.0
    try:
        for x in xs:
            s += root(x + 1)
        s += 1000
    except ValueError:
        s = -s
    return s


def out_of_a_loop_of_a_callee(xs):
    try:
        n = first_negative(xs)
    except LookupError:
        n = -1
    return n, xs.sum()


def raised_in_the_body(xs):
    total = 0.0
    for x in xs:
        try:
            if x < 0:
                raise TooSmall
            total += x
        except ValueError:
            total += 5
    return total


def nested(xs):
    s = 0.0
    for v in xs:
        try:
            try:
                check(v)
                s += root(v)
            except KeyError:
                s += 2
            else:
                s += 5
            finally:
                s += 3
        except ValueError:
            s += 10
        else:
            s += 20
    return s


def raised_anew(xs):
    s = 0.0
    for v in xs:
        try:
            try:
                s += root(v)
            except ValueError:
                s += 0.25
                raise KeyError("root") from None
            s += 1
        except KeyError:
            s += 10
    return s


def divides(xs):
    s, bad = 0.0, 0
    for v in np.trunc(xs).tolist():
        try:
            y = 1 / v
        except ZeroDivisionError:
            y = 0.5
            bad += 1
        s += y
    return s, bad


def divides_ints(xs):
    out = np.zeros(len(xs))
    for i in range(len(xs)):
        k = int(xs[i] * 2)
        try:
            out[i] = 7.0
            out[i] = i % k + i // k
        except ArithmeticError:
            out[i] += 100.0
    return out


def ratio(a, b):
    return a / b


def divides_in_a_callee(xs):
    s = 0.0
    for v in np.trunc(xs).tolist():
        try:
            s += ratio(1.0, v) - ratio(v, v)
        except (ZeroDivisionError, ValueError):
            continue
        s += 1
    return s


class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def at(self, x):
        if x > self.high:
            raise IndexError
        return x - self.low


def of_a_method(xs):
    n, s, unit = 0, 0.0, Interval(-0.5, 0.5)
    for i in range(len(xs) - 1):
        try:
            s += unit.at(xs[i])
        except IndexError:
            n += 100
    return n, s


def counts_by_keys(xs):
    counts, missing = {}, 0.0
    for v in xs:
        k = int(v * 2)
        try:
            counts[k] += 1.0
        except KeyError:
            counts[k] = 1.0
    for i in range(6):
        try:
            missing += counts[i]
        except KeyError:
            missing -= 1
    return missing, counts


def looks_up(xs):
    table, names, items = {1: 2.0, 2: 5.0, 3: 7.0}, [1, 3, 5], [1.0, 2.0, 5.0]
    s = 0.0
    for v in xs:
        k = int(v * 2)
        try:
            s += table[k]
            s += names.index(k)
            s += items[k]
        except KeyError:
            s -= 1
        except ValueError:
            s += 1000
        except IndexError:
            s += 1e6
    return s


def beyond_the_end(xs):
    s = 0.0
    for v in xs:
        try:
            s += xs[int(v * 40)]
        except IndexError:
            s -= 1
    return s


@pytest.mark.parametrize(
    "fn",
    [
        *(of_a_method, counts_by_keys, looks_up, beyond_the_end),
        *(of_a_result, with_stores, with_several_handlers, with_all_clauses, around_a_loop),
        *(out_of_a_loop_of_a_callee, raised_in_the_body, nested, raised_anew),
        *(divides, divides_ints, divides_in_a_callee),
    ],
    ids=lambda fn: fn.__name__,
)
def test_handled_by_native_code(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=50)
        x = np.abs(x) + 1.0 if seed == 3 else x
        mine, theirs = x.copy(), x.copy()
        assert not difference(run(fn, (mine,)), run(compiled, (theirs,)))
        np.testing.assert_array_equal(mine, theirs)
    assert compiled.cache_info().eager_calls == 0


def looks_at_it(xs):
    try:
        return root(xs.min())
    except ValueError as error:
        return len(error.args[0])


def handles_another(xs):
    try:
        return root(xs.min())
    except KeyError:
        return 0.0


def noted(seen, x):
    seen.append(x)
    return root(x)


def by_a_builtin(xs):
    """Nothing is noted behind the first that raises."""
    seen, found = [], []
    try:
        found = list(map(noted, [seen] * 3, [xs[0], xs[1], xs[2]]))
    except ValueError:
        found = [-1.0]
    return found, seen


def takes_out(xs):
    items = [1, 2, 3]
    try:
        items.remove(int(xs[0] * 2))
        items.pop(int(xs[1] * 2))
    except (ValueError, IndexError):
        items.append(5)
    return items


def in_an_item(xs):
    try:
        found = [ratio(1.0, v) for v in np.trunc(xs).tolist()]
    except ZeroDivisionError:
        found = []
    return found


def unbinds(xs):
    """The variable of a handler has no value behind it."""
    error = 5.0
    try:
        y = root(xs[1])
    except ValueError as error:  # noqa: F841
        y = -1.0
    return y, error


OF_FEW = {0: 2.0, 1: 5.0}


def cleans_up(y, v, k):
    try:
        try:
            y += 1.0 / v
        finally:
            y += OF_FEW[k]
    except Exception:
        y *= 2.0
    return y


@pytest.mark.parametrize(("v", "k"), [(0.5, 1), (0.0, 0), (0.5, 7), (0.0, 7)])
def test_what_finally_raises_does_not_end_the_capture(v: float, k: int) -> None:
    compiled = fxc.compile(cleans_up)
    assert compiled(1.0, v, k) == cleans_up(1.0, v, k)


@pytest.mark.parametrize(
    "fn", [looks_at_it, handles_another, in_an_item, by_a_builtin, takes_out, unbinds]
)
def test_what_else_is_raised_is_pythons(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn)
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=8) + seed
        assert not difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),)))
