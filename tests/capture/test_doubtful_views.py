"""Reshapes that are views or copies by sizes that only run time knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check, same


def columns(a: Any) -> int:
    return int((a[0] > 0).sum())


def read(a: Any, w: Any) -> Any:
    flat = a[:, : columns(w)].reshape(-1)
    return flat.sum(), flat * 2.0


def read_in_a_loop(a: Any, w: Any) -> Any:
    total, m = 0.0, a.shape[1]
    while m > 1:
        flat = a[:, :m].reshape(-1)
        total += flat[0] + flat[-1] + flat.size
        m //= 2
    return total


def returned(a: Any, w: Any) -> Any:
    return a[:, : columns(w)].reshape(-1)


def written(a: Any, w: Any) -> Any:
    flat = a[:, : columns(w)].reshape(-1)
    flat[0] = -7.0
    return flat.sum()


def base_written(a: Any, w: Any) -> Any:
    flat = a[:, : columns(w)].reshape(-1)
    a[0] = -7.0
    return flat.sum()


def written_in_a_loop(a: Any, w: Any) -> Any:
    m = a.shape[1]
    while m > 1:
        flat = a[:, :m].reshape(-1)
        flat += 1.0
        m //= 2
    return flat.sum()


def both(a: Any, w: Any) -> Any:
    b = a + 1.0
    return b, b[:, : columns(w)].reshape(-1)


def compared(a: Any, w: Any) -> Any:
    flat = a[:, : columns(w)].reshape(-1)
    return np.shares_memory(a, flat), flat.base is a


def of_its_own_shape(a: Any, w: Any) -> Any:
    turned = (a + 1.0).T.reshape(np.hstack([w.shape[1], a.shape[0]]))
    return turned, turned * 2.0


CALLS = [(np.arange(12.0).reshape(3, 4), (np.arange(4.0) >= 4 - m)[None] * 1.0) for m in range(5)]
CALLS += [
    (np.arange(4.0).reshape(1, 4), CALLS[2][1]),
    (np.arange(12.0).reshape(4, 3).T, CALLS[3][1]),
]


@pytest.mark.parametrize("fn", [read, read_in_a_loop])
def test_of_what_is_read_nobody_can_tell(fn: Any) -> None:
    """One compilation takes all sizes, those of views and those of copies."""
    assert check(fn, *CALLS, dynamic=True).cache_info().eager_calls == 0


@pytest.mark.parametrize(
    "fn",
    [returned, written, base_written, written_in_a_loop, both, compared, of_its_own_shape],
)
def test_what_can_be_told_is_checked(fn: Any) -> None:
    compiled = fxc.compile(fn, dynamic=True)
    for given in CALLS * 2:
        same(fn, compiled, given)
    assert compiled.cache_info().variants
