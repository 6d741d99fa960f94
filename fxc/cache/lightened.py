"""Compilations of this process that have become bytes again, but for what a call needs.

Graphs and the module of native code are most of what a compilation takes. They are looked at when
somebody asks for a stage, or when native code takes whole calls, mostly soon after it was made. So
the last few are left as they are; of others the bytes that the disk has, too, stand for them, as in
a process that has found them there: Note [Restored compilations].
"""

from __future__ import annotations

import pickle
import weakref
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

from .plans import in_two_parts, read
from .restored import Rest, RestoredGuards

if TYPE_CHECKING:
    from fxc.calling.running import Running
    from fxc.compilations.variants import Variant

_WHOLE = 32  # compilations
# The last ones: what was compiled, what it goes by in the cache, and its bytes.
_last: deque[tuple[weakref.ref[Running[Any, Any]], bytes, bytes]] = deque()


def lighten_others(owner: Running[Any, Any], variant: Variant, text: bytes) -> None:
    """Note that this compilation is the last one, of which the cache has this text; make light the
    one that is too long ago. Requires: ``variant.kept``.
    """
    _last.append((weakref.ref(owner), variant.kept, text))
    if len(_last) <= _WHOLE:
        return
    reference, kept, text = _last.popleft()
    found = reference()
    if found is None or not found._state.guard().acquire(blocking=False):
        return  # another thread is about to use it
    try:
        for each in found._state.variants:
            if each.kept == kept:
                lighten(each, text, found.__fxc_original__)
    finally:
        found._state.guard().release()


def lighten(variant: Variant, text: bytes, function: Any) -> None:
    """Let a compilation that ``stored`` has given as these bytes keep what a call needs alone."""
    first, _, late, _ = pickle.loads(text)
    captured, made = variant.captured, variant.compilation
    code = made.assembled
    if first or code is None:  # some of it is to be found by a call alone
        return

    rest = Rest(partial(read, late, function, {}))
    guards = captured.guards
    codes = {"call": guards.code("call")}  # calls need no other
    names = guards.inputs, guards.objects, guards.symbols
    known: dict[str, object] = {
        "epilogue": captured.epilogue,
        "need_not_raise": captured.need_not_raise,
        "drawn": captured.drawn,
        "varying": captured.varying,
        "guards": RestoredGuards(rest.steps, guards.size, guards.constants, names, codes),
    }
    code.engine.source_is(rest.source)
    needed = {
        "engine": code.engine,
        "plan": code.plan,
        "fallbacks": code.fallbacks,
        "notice": code.notice,
        "left": code.left,
    }
    variant.captured, variant.compilation = in_two_parts(known, needed, made.run, rest)
