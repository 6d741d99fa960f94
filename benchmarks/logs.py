"""What calls of compiled code cost while logs are on, over calls while they are off: no more."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

import fxc
from fxc.compilations.variants import Variant
from fxc.ir.settings import LOGS

from .measure import Row, calls_in_a_sample, seconds_a_call

GROUP = "logs"
_USUAL = 3000  # calls after which a function is what it stays


def multiply_add(a: Any, b: Any) -> Any:
    return a * b + 1


def rows(repeats: int) -> Iterator[Row]:
    """For calls that Python's part of fxc takes, and for native ones."""
    with mock.patch.object(Variant, "look", never_native):
        ratio = logs_over_none(repeats)
    yield Row(GROUP, "first calls, 8 doubles, logs over none", "", {"fxc": ratio})
    ratio = logs_over_none(repeats)
    yield Row(GROUP, "native calls, 8 doubles, logs over none", "", {"fxc": ratio})


def never_native(variant: Variant) -> bool:
    """As ``Variant.look``: calls go on through Python's part of fxc."""
    return False


def logs_over_none(repeats: int) -> float:
    run = partial(fxc.compile(multiply_add, fullgraph=True), np.ones(8), np.ones(8))
    for _ in range(_USUAL):
        run()
    least = dict.fromkeys(("", ",".join(LOGS)), float("inf"))
    count = calls_in_a_sample(run, time.thread_time)
    for _ in range(5 * repeats):
        for logs in least:
            with fxc.config.override(logs=logs):
                least[logs] = min(least[logs], seconds_a_call(run, count, time.thread_time))
    return least[",".join(LOGS)] / least[""]
