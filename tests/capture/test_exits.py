"""Jumps on whose way out a context manager or a ``finally`` raises, and is handled."""

import contextlib

import numpy as np
import pytest

import fxc
from tests.splitting import compared, unknown
from tests.worlds import World, compare


class Raises:
    """A context manager that raises where it is left."""

    def __enter__(self):
        return 1.0

    def __exit__(self, *error):
        raise ValueError("left")


class Swallows:
    """One that lets nothing out, and says so where there was nothing, too."""

    def __enter__(self):
        return 1.0

    def __exit__(self, *error):
        return True


def is_handled(x, how):
    s = 0.0
    for i in range(3):
        try:
            with Raises() as one:
                s = x[i] + one
                if how == 0:
                    continue
                if how == 1:
                    break
                return s
        except ValueError:
            x[1] += s
        x[0] += 1
    return x


def is_swallowed(x, how):
    for i in range(3):
        with Swallows(), Raises() as one:
            s = x[i] + one
            if how == 0:
                continue
            if how == 1:
                break
            return s
        x[0] += 1 + s
    return x


def is_raised_in_finally(x, how):
    for i in range(3):
        try:
            try:
                s = x[i] + 1
                if how == 0:
                    continue
                if how == 1:
                    break
                return s
            finally:
                if x.shape[0] > 2:
                    raise ValueError
        except ValueError:
            x[1] += s
        x[0] += 1 + s
    return x


def depends_on_data(x, how):
    for i in range(3):
        with Swallows(), Raises():
            if x[i] > how:
                return i
            x[3] += 1
        x[0] += 1
    return x


def behind_a_loop(x, how):
    i = 0
    while i < 3:
        i += 1
        try:
            with Raises():
                if x[i] > 2:
                    break
                x[i] += how
        except ValueError:
            x[0] += i
        else:
            x[0] += 1000
    return x


def checked(x):
    if x.shape[0] > 3:
        raise ValueError("large")
    return x + 1


def swallows_before_a_return(x, how):
    if how == 0:
        return x
    with contextlib.suppress(ValueError) if how == 1 else Swallows():
        return checked(x)
    return x * 2


def swallows_before_a_break(x, how):
    for _ in range(3):
        with Swallows():
            x[0] += checked(x[how:])[0]
            break
        x[1] += 1
    return x


PROGRAMS = (
    *(is_handled, is_swallowed, is_raised_in_finally, depends_on_data, behind_a_loop),
    *(swallows_before_a_return, swallows_before_a_break),
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_raised_behind_a_jump(program):
    calls = [(np.arange(4.0), how) for how in range(3)]
    compare(lambda: World(program, [(x.copy(), how) for x, how in calls]))


def split_and_handled(x, n):
    total = np.zeros_like(x)
    for i in range(n):
        s = 0.0
        try:
            with Raises() as one:
                unknown(one)
                s = x * (i + 1) + np.sin(x) * one
        except ValueError:
            total += s
    return total


def test_what_a_handler_reads_behind_a_split_body():
    compared(split_and_handled, lambda: (np.arange(40.0), 3))


class Demands:
    """A context manager that takes it ill if nothing was raised."""

    def __enter__(self):
        return self

    def __exit__(self, kind, *error):
        if kind is None:
            raise SystemExit("nothing was raised")
        return issubclass(kind, ValueError)


def is_demanded(x, how):
    x += 1
    with Demands():
        if x.min() < how:
            raise ValueError("small")
    return x


def ends(x, how):
    x *= 2
    if how:
        raise SystemExit(x.sum())
    return x


@pytest.mark.parametrize("program", [is_demanded, ends])
@pytest.mark.parametrize("how", [0, 9])
def test_what_no_handler_of_exceptions_gets(program, how):
    outcomes = []
    for fn in (program, fxc.compile(program)):
        x = np.arange(3.0)
        try:
            found = repr(fn(x, how))
        except SystemExit as error:
            found = repr(error)
        outcomes.append((found, x.tolist()))
    assert outcomes[0] == outcomes[1]
