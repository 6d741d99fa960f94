"""What may be spent of a script's time: little, beside what was gained.

A script that ends now should have lost little; one that goes on may gain. It is taken to go on as
long as in an earlier run, or else as long again. See Note [Unchanged scripts].
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from .verdicts import is_in_vain, seconds_to_compile

if TYPE_CHECKING:
    from .hot import HotFunction

_PART = 0.04  # of the time so far, whatever comes of it
_PROVEN = 0.5  # of what compiled code will save
_LIKELY, _KEPT = 0.25, 0.4  # of a function's time ahead, if it takes all; if its code is on disk
_DOUBT = 0.33  # how much of that hope is left with each function that was compiled in vain
_COMPILER, _COMPILED, _FOUND = 0.15, 0.06, 0.04  # seconds: to import it; to use it; what is on disk


def cost(
    compiled: Sequence[float], verdict: str | None, found: Iterable[HotFunction] = ()
) -> float:
    """Seconds of a compilation, if others took so long, or of one that is kept on disk; infinity
    where earlier runs say that it is in vain. Those that were ``found`` may have been put off.
    """
    if verdict == "":
        return _FOUND
    imported = 0.0 if is_imported() else _COMPILER
    others = imported + (_COMPILED + sum(compiled)) / (1 + len(compiled))
    others = max(others, *(each.needed for each in found if each.needed < math.inf), 0.0)
    return max(others, seconds_to_compile(verdict)) if verdict else others


def is_imported() -> bool:
    """Whether the compiler is there."""
    return "fxc.capture.capture" in sys.modules


def import_compiler() -> None:
    """Import what captures and compiles: a part of what may be spent, before the rest is known."""
    for each in ("fxc.pipeline.stages", "fxc.capture.capture"):
        import_module(each)


def hope(
    share: float, hot: Iterable[HotFunction], earlier: Iterable[str | None], is_kept: bool
) -> float:
    """Of the time ahead, what compiling a function with this share of it may save; ``earlier`` is
    why others were put back. The more it takes, the surer it is what it is worth.
    """
    if is_kept:
        return share * _KEPT
    vain = 2 * sum(each.was_in_vain for each in hot)  # this run has lost time by them
    vain += sum(map(is_in_vain, earlier))
    return share**2 * _LIKELY * _DOUBT**vain


def allowance(elapsed: float, last: float, hot: Sequence[HotFunction], hoped: float) -> float:
    """Seconds that may be spent in all when so many have passed, of so many in an earlier run, and
    such a part of those ahead is hoped for.
    """
    ahead = last - elapsed if last > elapsed else elapsed
    gained = sum(each.gained for each in hot)
    proven = _PROVEN * sum(each.rate for each in hot)
    return _PART * elapsed + gained + ahead * (proven + hoped)
