"""Branches and loops over regions, which are Python functions here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .copies import strided_copy

Region = Callable[[tuple[Any, ...]], tuple[Any, ...]]


def _cond(
    pred: object, operands: tuple[Any, ...], on_true: Region, on_false: Region
) -> tuple[Any, ...]:
    return _apart(on_true(operands) if pred else on_false(operands), operands)


def _fori_loop(
    lo: Any, hi: Any, init: tuple[Any, ...], body: Region, stops: bool = False
) -> tuple[Any, ...]:
    state = tuple(init)
    for i in range(int(lo), int(hi)):
        state = body((i, *state))
        if stops:
            *kept, leave = state
            state = tuple(kept)
            if leave:
                break
    return _apart(state, init)


def _while_loop(init: tuple[Any, ...], test: Region, body: Region) -> tuple[Any, ...]:
    state = tuple(init)
    while test(state)[0]:
        state = body(state)
    return _apart(state, init)


def _apart(results: tuple[Any, ...], operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results with copies of those that are operands: an operator's results are its own."""
    return tuple(
        strided_copy(result)
        if isinstance(result, np.ndarray)
        and any(isinstance(x, np.ndarray) and np.may_share_memory(result, x) for x in operands)
        else result
        for result in results
    )


KERNELS: dict[str, Callable[..., Any]] = {
    "cond": _cond,
    "fori_loop": _fori_loop,
    "while_loop": _while_loop,
}
