"""Checks of short arms are made before the branch: branches that may raise → branches that may not."""

from typing import Any

import numpy as np
import pytest
from expecttest import assert_expected_inline

from fxc.lowering.machine.target import SERIAL
from fxc.lowering.nests.buffers import BOOL, I64
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Check, Compute, If, Load, Stmt, Store
from fxc.lowering.scheduling.speculate import speculate
from tests.scheduled import after, body, buffer, program

LARGE = 2**62


def tried(op: str, name: str, *args: str) -> tuple[Stmt, ...]:
    """A Python number that may not be what 64 bits hold."""
    fails = Compute(f"{name}f", BOOL, f"{op} fails", (*args, name), (I64,) * (len(args) + 1))
    return Compute(name, I64, op, args, (I64,) * len(args)), fails, Check(f"{name}f")


def branch(then: tuple[Stmt, ...], orelse: tuple[Stmt, ...]) -> Program:
    buffers = [buffer("c", "input", dtype="bool"), buffer("x", "input", dtype="int64")]
    return program(
        [*buffers, buffer("out", "output", dtype="int64")],
        Load("flag", BOOL, "c", ()),
        Load("a", I64, "x", ()),
        If("flag", then, orelse),
        results=("out",),
    )


def store(name: str) -> Store:
    return Store("out", (), name, I64)


def speculated(before: Program) -> str:
    """With each value of the condition, and numbers for which checks fail and for which none does."""
    made = speculate(before)
    for flag in (True, False):
        for value in (3, LARGE, -LARGE, -2 * LARGE):
            inputs: tuple[Any, ...] = np.array(flag), np.array(value)
            after(speculate, before, *inputs)
    return body(made)


def test_the_check_of_one_arm() -> None:
    before = branch((*tried("try_multiply", "t", "a", "a"), store("t")), (store("a"),))
    assert_expected_inline(
        speculated(before),
        """\
flag = c[]
a = x[]
t = try_multiply(a, a)
raise if logical_and(flag, try_multiply fails(a, a, t))
if flag
  out[] = t
else
  out[] = a""",
    )


def test_checks_of_both_arms() -> None:
    then = (*tried("try_add", "t", "a", "a"), *tried("try_subtract", "u", "t", "a"), store("u"))
    before = branch(then, (*tried("try_negative", "v", "a"), store("v")))
    assert_expected_inline(
        speculated(before),
        """\
flag = c[]
a = x[]
t = try_add(a, a)
u = try_subtract(t, a)
raise if logical_and(flag, logical_or(try_add fails(a, a, t), try_subtract fails(t, a, u)))
v = try_negative(a)
raise if logical_and(logical_not(flag), try_negative fails(a, v))
if flag
  out[] = u
else
  out[] = v""",
    )


def test_arms_that_do_not_raise_stay() -> None:
    quiet = Compute("t", I64, "negative", ("a",), (I64,))
    before = branch((quiet, store("t")), (store("a"),))
    assert speculate(before) == before


@pytest.mark.parametrize("reason", ["long", "reads what it stores"])
def test_what_must_not_be_made_in_vain_stays(reason: str) -> None:
    then: tuple[Stmt, ...] = (*tried("try_multiply", "t", "a", "a"), store("t"))
    if reason == "long":
        names = [f"n{k}" for k in range(SERIAL.costs.vain_operations)]
        more = zip(["a", *names], names, strict=False)
        then = (*(Compute(new, I64, "negative", (old,), (I64,)) for old, new in more), *then)
    else:
        then = (store("a"), Load("b", I64, "out", ()), *then)
    before = branch(then, (store("a"),))
    assert speculate(before) == before
