"""How many threads there are to be."""

from __future__ import annotations

import os
from functools import cache

from fxc.ir.settings import MOST_THREADS, Config, config

from .processors import usable_processors

_asked: list[int] = []  # the numbers that there were to be so far


@cache
def _usual() -> int:
    """The number of threads unless it is set."""
    return min(usable_processors(), MOST_THREADS)


def get_num_threads() -> int:
    """How many threads compiled loops may use, the one that calls included.

    It is ``fxc.config.num_threads``, which ``fxc.set_num_threads`` and the environment variable
    ``FXC_NUM_THREADS`` set, or else the number of processors that this process may use.

    >>> import fxc
    >>> fxc.get_num_threads() >= 1
    True
    """
    return config.num_threads or _usual()


def _note() -> None:
    _asked.append(get_num_threads())


Config.num_threads.watch(_note)


def most_threads() -> int:
    """The largest number of threads so far, or 2: what is compiled now should serve so many. It is
    1 where there are no threads of POSIX.
    """
    return max((2, get_num_threads(), *_asked)) if os.name == "posix" else 1
