"""A bug in fxc is an InternalError at once: no other way to capture the program is tried, and no
user is told to write something else.
"""

from __future__ import annotations

import numpy as np
import pytest

import fxc
from fxc.capture import capture as capturing
from fxc.capture.arrays import shaping
from fxc.capture.numpy_api.protocol import FUNCTIONS
from fxc.ir.errors import InternalError

A = np.arange(6.0).reshape(2, 3)


def straight(x):
    return x.swapaxes(0, 1) + 1


def in_a_loop(x):
    total = 0.0
    for row in range(len(x) * 20):
        total += x.swapaxes(0, 1)[0, 0] * row
    return total


def in_a_branch(x):
    return x.swapaxes(0, 1) if x[0, 0] > 0 else x


def in_an_expression(x):
    return x[0, 0] > 0 and x.swapaxes(0, 1)[0, 0]


def in_a_try(x):
    try:
        return x.swapaxes(0, 1)
    except (AssertionError, AttributeError):
        return x


def failing(*args):
    assert args == (), "a bug"


def with_a_wrong_name(*args):
    return no_such_name  # noqa: F821


def with_a_wrong_attribute(x, *args):
    return x._value._no_such_attribute


PROGRAMS = [straight, in_a_loop, in_a_branch, in_an_expression, in_a_try]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("bug", [failing, with_a_wrong_name, with_a_wrong_attribute])
def test_a_bug_is_an_internal_error_at_once(program, bug, monkeypatch):
    attempts = []
    attempt = capturing.begun

    def counted(*how):
        attempts.append(how)
        return attempt(*how)

    bug = of_fxc(bug)
    monkeypatch.setattr(capturing, "begun", counted)
    monkeypatch.setitem(FUNCTIONS, np.swapaxes, bug)
    with pytest.raises(InternalError):
        fxc.compile(program, fullgraph=True)(A)
    assert len(attempts) == 1
    compiled = fxc.compile(program)
    with pytest.warns(
        fxc.CaptureWarning, match="a bug in fxc, please report it, with python -m fxc rage"
    ):
        np.testing.assert_array_equal(compiled(A), program(A))


def of_fxc(bug):
    """The function as one of fxc's own."""
    code = bug.__code__.replace(co_filename=shaping.__file__)
    return type(bug)(code, {**vars(shaping), "__name__": shaping.__name__}, bug.__name__)


def asserted(x, n):
    y = x * 2
    assert n < 3, "the program's own"
    return y


def handled(x, n):
    try:
        assert n < 3
    except AssertionError:
        return x + 1
    return x


@pytest.mark.parametrize("n", [1, 5])
def test_an_assertion_of_the_program_is_none(n):
    for program in (asserted, handled):
        compiled = fxc.compile(program, fullgraph=True)
        outcomes = []
        for fn in (program, compiled):
            try:
                outcomes.append(repr(fn(A, n)))
            except AssertionError as error:
                outcomes.append(repr(error))
        assert outcomes[0] == outcomes[1]
