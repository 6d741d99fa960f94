"""More compilations of a function, for sizes that many of its calls have.

See Note [Hot sizes].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

from fxc.compilations.hot_sizes import HotSizes, Proof
from fxc.compilations.state import Options, State
from fxc.compilations.variants import Variant
from fxc.ir.asynchronous import hand_on
from fxc.ir.errors import PLEASE_REPORT, InternalError, NumberedError
from fxc.ir.forking import compiling
from fxc.ir.logs import PERF

from .compiling import Worth, new_variant


class Owner(Protocol):
    """What a compiled function has, as far as it matters here."""

    __name__: str
    __fxc_original__: Callable[..., Any]
    _state: State
    _options: Options
    _is_part: bool

    def _watch(self, variant: Variant) -> None: ...

    def _make_native_call(self, variant: Variant) -> None: ...

    def _warn_of_bug(self, text: str, error: NumberedError) -> None: ...


def answer(
    owner: Owner,
    timed: HotSizes | Proof,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    """Do what the calls that were timed ask for, after one that is such."""
    timed.answered()
    state = owner._state
    with state.guard(), compiling():
        if isinstance(timed, Proof):
            _settle(owner, timed)
        elif timed.rival is not None:
            _settle(owner, timed.rival)
        else:
            _compile(owner, timed, args, kwargs)


def _compile(owner: Owner, timed: HotSizes, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Compile the function once more, for the sizes of a call."""
    state, options, seconds = owner._state, owner._options, timed.hot(args, kwargs)
    places = [n for n, each in enumerate(state.variants) if each.timed is timed]
    if not places:
        return
    worth = Worth(math.inf, is_tried=True, is_part=owner._is_part, knows_sizes=True)
    try:
        made = new_variant(owner.__fxc_original__, options, state, args, kwargs, worth)
    except Exception as error:
        hand_on(error)
        PERF.info("%s: no code for sizes that many calls have: %s", owner.__name__, error)
        if isinstance(error, InternalError):
            text = f": a bug in fxc, {PLEASE_REPORT}: no code for one size: {error}"
            owner._warn_of_bug(text, error)
        timed.settle()
        return
    owner._watch(made)
    made.key, made.born = timed.variant.key, state.calls()
    state.variants = [*state.variants[: places[0]], made, *state.variants[places[0] :]]
    made.timed = Proof(made, timed, seconds)


def _settle(owner: Owner, proof: Proof) -> None:
    """Keep code for one size, if it has been found to be faster."""
    state = owner._state
    for variant in [each for each in state.variants if each.timed is proof]:
        _keep_or_drop(owner, proof, variant)
    proof.rival.settle(proof.holds)


def _keep_or_drop(owner: Owner, proof: Proof, variant: Variant) -> None:
    state = owner._state
    proof.end()
    if proof.holds:
        owner._make_native_call(variant)
    if not proof.holds or (variant.native is None and proof.rival.variant.native is not None):
        PERF.info("%s: code for sizes that many calls have is no faster", owner.__name__)
        proof.rival.variant.calls += variant.calls
        state.variants = [each for each in state.variants if each is not variant]
