"""Totals of reductions in registers: combining two, and those of all lanes.

A total is held under its name; that of argmin and argmax has its position under ``name@``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from functools import partial

import numpy as np

from ..nests.buffers import BOOL, I64
from ..nests.neutral import nothing
from ..nests.statements import Accumulate
from .llvm_text import Lanes
from .operator_code import SCALAR_CODE

_OF_TRUTHS = {"logical_or": "or", "logical_and": "and"}


def combined(stmt: Accumulate, left: str, right: str, code: Lanes) -> str:
    """Two totals as one, lane by lane."""
    both = (stmt.dtype, stmt.dtype)
    return SCALAR_CODE[stmt.combine](code, (left, right), both, stmt.dtype)


def running(stmt: Accumulate, values: str, code: Lanes) -> str:
    """The totals up to each lane: it takes in those before it, twice as many each time. See Note
    [Running totals].
    """
    kind, nothing_yet = code.type(stmt.dtype), nothing(stmt.combine, stmt.dtype)
    start, apart = code.const(nothing_yet.value, stmt.dtype), 1
    while apart < code.count:
        lanes = ", ".join(f"i32 {code.count - apart + lane}" for lane in range(code.count))
        mask = f"<{code.count} x i32> <{lanes}>"
        earlier = code.op(f"shufflevector {kind} {start}, {kind} {values}, {mask}")
        values, apart = combined(stmt, earlier, values, code), 2 * apart
    return values


def is_better(code: Lanes, stmt: Accumulate, value: str, best: str) -> str:
    """Whether ``value`` beats ``best`` as an extreme; the first nan beats every number."""
    dtype = stmt.dtype
    greater = stmt.combine == "maximum"
    if dtype.kind == "f":
        better = code.compare("ogt" if greater else "olt", dtype, value, best)
        is_nan = code.compare("uno", dtype, value, value)
        was_number = code.compare("ord", dtype, best, best)
        return code.binary("or", BOOL, better, code.binary("and", BOOL, is_nan, was_number))
    if dtype.kind == "b":
        flipped = code.binary("xor", BOOL, best if greater else value, code.const(True, BOOL))
        return code.binary("and", BOOL, value if greater else best, flipped)
    sign = "s" if dtype.kind == "i" else "u"
    return code.compare(sign + ("gt" if greater else "lt"), dtype, value, best)


def better_of(
    stmt: Accumulate, left: Mapping[str, str], right: Mapping[str, str], code: Lanes
) -> dict[str, str]:
    """Two totals as one; of positions that are equally good the first."""
    name, key, dtype = stmt.name, f"{stmt.name}@", stmt.dtype
    if stmt.position is None:
        return {name: combined(stmt, left[name], right[name], code)}
    better = is_better(code, stmt, right[name], left[name])
    worse = is_better(code, stmt, left[name], right[name])
    either = code.binary("or", BOOL, better, worse)
    tie = code.binary("xor", BOOL, either, code.const(True, BOOL))
    earlier = code.compare("ult", I64, right[key], left[key])
    better = code.binary("or", BOOL, better, code.binary("and", BOOL, tie, earlier))
    zero = code.const(0, I64)
    better = code.binary("or", BOOL, better, code.compare("slt", I64, left[key], zero))
    better = code.binary("and", BOOL, better, code.compare("sge", I64, right[key], zero))
    return {
        name: code.select(better, dtype, right[name], left[name]),
        key: code.select(better, I64, right[key], left[key]),
    }


def fold_lanes(
    stmt: Accumulate, total: Mapping[str, str], keys: Mapping[str, np.dtype], code: Lanes
) -> dict[str, str]:
    """The totals of all lanes as one, half with half, of an odd number one after the other; truth
    values all at once.
    """
    if stmt.dtype == BOOL and stmt.combine in _OF_TRUTHS and code.count > 1:
        return {stmt.name: code.reduced(_OF_TRUTHS[stmt.combine], total[stmt.name])}
    folded = dict(total)
    while code.count > 1:
        number = code.count if code.count % 2 else 2
        part = Lanes(code.function, code.count // number)
        parts = [
            {key: code.part(folded[key], dtype, n, part.count) for key, dtype in keys.items()}
            for n in range(number)
        ]
        folded = functools.reduce(partial(_joined, stmt, part), parts)
        code = part
    return folded


def _joined(
    stmt: Accumulate, code: Lanes, left: dict[str, str], right: dict[str, str]
) -> dict[str, str]:
    return better_of(stmt, left, right, code)
