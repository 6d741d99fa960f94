"""Sample inputs of branches and loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arguments import Source, literally


def _plus_one(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.add(x, 1) for x in args)


def _doubled(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.multiply(x, 2) for x in args)


def _add_place(args: tuple[Any, ...]) -> tuple[Any, ...]:
    place, *state = args
    return tuple(np.add(x, place) for x in state)


def _is_small(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return (np.less(np.max(args[0]), 20),)


_STATE = (np.arange(3.0), np.array(2.0))

SAMPLES: dict[str, Source] = {
    "cond": literally(
        (True, _STATE, _plus_one, _doubled),
        (np.False_, _STATE, _plus_one, _doubled),
        (np.array(1), _STATE, _plus_one, _doubled),
    ),
    "fori_loop": literally((0, 4, _STATE, _add_place, False), (3, 3, _STATE, _add_place, False)),
    "while_loop": literally(
        (_STATE, _is_small, _doubled),
        ((20 * _STATE[0], _STATE[1]), _is_small, _doubled),
    ),
}
