"""A smaller case that shows the same: parts are left out while the difference stays."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

from .bisect import Verdict
from .cases import Case, smaller

SECONDS = 30.0
"""How long a case is made smaller."""


def reduced(
    case: Case,
    verdict: Verdict,
    seconds: float = SECONDS,
    told: Callable[[int], None] = lambda nodes: None,
) -> tuple[Case, Verdict]:
    """The smallest case that was found with the same step wrong, and what is said of it.

    ``told`` is called with the number of nodes that are left, when there are fewer.
    """
    until = time.monotonic() + seconds
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in _candidates(case):
            if time.monotonic() > until:
                return case, verdict
            found = verdict_or_none(candidate, verdict.step)
            if found is not None and found.step == verdict.step:
                case, verdict, is_smaller = candidate, found, True
                told(len(case.graph.nodes))
                break
    return case, verdict


def _candidates(case: Case) -> list[Case]:
    """Those with fewer nodes, results or inputs."""
    found, made = [], smaller(case)
    while True:
        try:
            candidate = next(made)
        except StopIteration:
            break
        except Exception:  # NumPy does not run what is left
            break
        if _size(candidate) < _size(case):
            found.append(candidate)
    return found


def _size(case: Case) -> tuple[int, int]:
    mutations = case.graph.signature.mutations if case.graph.signature is not None else ()
    return len(case.graph.nodes), len(case.graph.outputs) + len(mutations)


def verdict_or_none(case: Case, last: str) -> Verdict | None:
    """What is wrong of a case, up to a step; None too if it makes no sense."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return case.verdict(last)
    except Exception:
        return None
