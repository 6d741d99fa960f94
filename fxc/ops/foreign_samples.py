"""Runs of functions that fxc knows nothing of on samples, to see what they give and leave alone.

See Note [Foreign calls].
"""

from __future__ import annotations

import pickle
import random
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fxc.ir.asynchronous import hand_on
from fxc.ir.types import ScalarType, Type, filled

from .foreign_calls import ForeignCall
from .foreign_results import Container, Unlearnable, has_gaps, parts_of, share_memory


def _unwritable(x: object) -> Any:
    if not isinstance(x, np.ndarray):
        return x
    view = x.view()
    view.flags.writeable = False
    return view


def sampled(
    call: ForeignCall,
    kinds: Sequence[Type],
    shapes: Sequence[tuple[int, ...]],
    orders: Sequence[tuple[int, ...]],
) -> tuple[Container | None, list[Any]]:
    """What ``parts_of`` says of a result for samples, of the values that the function takes."""
    why = ""
    found: tuple[Container | None, list[Any]] | None = None
    began = _clocks()
    for values in _VALUES:
        if found is not None and _is_long(began):
            break
        operands = [
            sample_of(kind, shape, order, values)
            for kind, shape, order in zip(kinds, shapes, orders, strict=True)
        ]
        try:
            more = _sampled_once(call, operands, may_warn=values is not _regular)
        except Unlearnable:
            raise
        except Exception as raised:
            hand_on(raised)
            why = f"it raises {type(raised).__name__} for samples ({raised})"
            continue
        if found is None:
            found = more
        elif _looks(*found) != _looks(*more):
            raise Unlearnable("what it gives depends on more than the types of its arguments")
    if found is None:
        raise Unlearnable(why)
    return found


# Seconds of a call that is not made again to learn more. They are the thread's own: on a busy
# machine each call takes long. What waits may take some more.
_LONG, _LONG_WITH_WAITS = 0.1, 1.0


def _clocks() -> tuple[float, float]:
    return time.thread_time(), time.perf_counter()


def _is_long(began: tuple[float, float]) -> bool:
    own, all_seconds = (now - then for now, then in zip(_clocks(), began, strict=True))
    return own > _LONG or all_seconds > _LONG_WITH_WAITS


def _sampled_once(
    call: ForeignCall, operands: Sequence[Any], may_warn: bool
) -> tuple[Container | None, list[Any]]:
    before = [bytes_of(x) for x in operands]
    began = _clocks()
    with (
        without_draws(),
        warnings.catch_warnings(record=True) as warned,
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("always")
        found = call.call(operands)
        is_long = _is_long(began)
        container, parts = parts_of(found)
        is_long = is_long and not any(map(has_gaps, parts))  # a copy would have none
        again = found if is_long else call.call(operands)
    if warned and not may_warn:
        raise Unlearnable("it warns")
    if [bytes_of(x) for x in operands] != before:
        raise Unlearnable("it writes to its arguments")
    if share_memory(parts, operands):
        raise Unlearnable("what it gives shares memory")
    others = parts_of(again)[1]
    if [bytes_of(x) for x in parts] != [bytes_of(x) for x in others]:
        raise Unlearnable("it gives something else each time")
    if is_long:
        call.gives_new = False  # as far as is known
    elif any(share_memory((x,), others) for x in parts):
        raise Unlearnable("it gives an array that it keeps")
    return container, parts


def _looks(container: object, parts: Sequence[Any]) -> Any:
    """What is learnt of a result."""
    arrays = [(x.dtype, x.shape, x.strides) for x in parts if isinstance(x, np.ndarray)]
    return container, list(map(type, parts)), arrays


@contextmanager
def without_draws() -> Iterator[None]:
    """A block that shall not draw from the global generators of random numbers."""
    states = random.getstate(), np.random.get_state(legacy=False)
    yield
    if pickle.dumps(states) != pickle.dumps((random.getstate(), np.random.get_state(legacy=False))):
        random.setstate(states[0])
        np.random.set_state(states[1])
        raise Unlearnable("it draws random numbers")


def bytes_of(x: object) -> Any:
    """What is equal for equal arguments."""
    if isinstance(x, np.ndarray | np.generic):
        has_gaps = x.dtype.char in "gG"  # between the elements of a long double
        return x.dtype, repr(x.tolist()) if has_gaps else x.tobytes()
    return repr(x)


def _regular(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Increasing numbers; matrices with as many rows as columns are well conditioned."""
    size = int(np.prod(shape))
    steps = np.arange(size)
    if dtype.kind == "b":
        return np.asarray(steps % 2 == 0).reshape(shape)
    if dtype.kind == "V":
        return np.zeros(shape, dtype)
    if dtype.kind not in "fc":
        return (steps % 100).astype(dtype).reshape(shape)
    values: np.ndarray = ((steps + 1) / (size + 1)).astype(dtype).reshape(shape)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        values = values * dtype.type(0.1) + np.eye(shape[-1], dtype=dtype) * (shape[-1] + 1)
        values = values + np.swapaxes(values, -1, -2)
    return values


def _ones(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return filled(shape, dtype, 1)


def _zeros(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.zeros(shape, dtype)


_VALUES = (_regular, _ones, _zeros)


def sample_of(
    kind: Type,
    shape: tuple[int, ...],
    order: tuple[int, ...],
    values: Callable[[tuple[int, ...], np.dtype], np.ndarray],
) -> Any:
    """An operand of this type, shape and order of axes; an array is not to be written."""
    made = values(shape, kind.dtype).astype(kind.dtype)
    if isinstance(kind, ScalarType):
        return kind.python_type(made[()]) if kind.weak else made[()]
    places = tuple(sorted(range(len(order)), key=lambda axis: order[axis]))
    laid_out = np.ascontiguousarray(made.transpose(order)).transpose(places) if order else made
    return _unwritable(laid_out)
