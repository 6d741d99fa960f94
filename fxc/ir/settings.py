"""What users set: how precise native code is, and what environment variables say.

They are ``FXC_NUM_THREADS``, ``FXC_KEPT_MEMORY``, ``FXC_CPU_FEATURES``.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Literal

MOST_THREADS = 256
OWN_BACKENDS = ("llvm", "numpy")

Math = Literal["default", "exact", "fast"]
"""How precise native code is; see ``fxc.compile``."""


@cache
def check_settings() -> None:
    """Raise ``ValueError`` for a variable that makes no sense, before anything depends on it."""
    given_threads()
    given_kept_memory()
    features_taken()


def given_threads() -> int | None:
    """How many threads ``FXC_NUM_THREADS`` allows; None if it is not set.

    Raises ``ValueError`` for what is no number from 1 to ``MOST_THREADS``.
    """
    given = os.environ.get("FXC_NUM_THREADS", "").strip()
    if given and not (given.isdecimal() and 1 <= int(given) <= MOST_THREADS):
        raise ValueError(
            f"FXC_NUM_THREADS must be a number from 1 to {MOST_THREADS}, not {given!r}"
        )
    return int(given) if given else None


def given_kept_memory() -> int | None:
    """How many bytes ``FXC_KEPT_MEMORY`` allows to be kept; None if it is not set.

    Raises ``ValueError`` for what is no number.
    """
    given = os.environ.get("FXC_KEPT_MEMORY", "").strip()
    if given and not (given.isdecimal() and int(given) < 2**62):
        raise ValueError(f"FXC_KEPT_MEMORY must be a number of bytes, not {given!r}")
    return int(given) if given else None


def features_taken() -> list[str]:
    """What ``FXC_CPU_FEATURES`` takes from the processor, with all that needs it: ``-avx512f``.

    So its code is that of a lesser one. Raises ``ValueError`` for what is to be added.
    """
    names = os.environ.get("FXC_CPU_FEATURES", "").split(",")
    features = [name.strip() for name in names if name.strip()]
    for name in features:
        if not name.startswith("-"):
            raise ValueError(f"FXC_CPU_FEATURES takes features away, as in -avx512f: not {name!r}")
    return features
