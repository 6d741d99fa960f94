"""Compilations of this process that have become bytes again, but for what a call needs.

Graphs and the module of native code are most of what a compilation takes. They are looked at when
somebody asks for a stage, or when native code takes whole calls, mostly soon after it was made. So
the last few are left as they are; of others the bytes that the disk has, too, stand for them, as in
a process that has found them there: Note [Restored compilations]. What a call needs are the made
functions and the machine code: their constants are in there. All else about a compilation is made
again from its bytes when somebody asks.
"""

from __future__ import annotations

import pickle
import zlib
from functools import partial
from types import FunctionType
from typing import Any

from fxc.compilations.variants import Variant
from fxc.ir.made_functions import constants_of
from fxc.runtime.kept_codes import Models
from fxc.runtime.plan import Plan

from .plans import in_two_parts, loaded
from .restored import Rest, RestoredGuards

_models = Models()


def lighten(variant: Variant, text: bytes, function: Any) -> None:
    """Let a compilation that ``stored`` has given as these bytes keep what a call needs alone."""
    first, _, late, _ = pickle.loads(text)
    code = variant.compilation.assembled
    if first or code is None or variant.is_verified:
        return  # some of it is to be found by a call alone
    variant.sleep(_Asleep(variant, zlib.decompress(late), function))


class _Asleep:
    """What gives a compilation, its capture and how long its stages took when somebody asks."""

    __slots__ = (
        *("_call", "_engine", "_epilogue", "_function", "_left", "_notice", "_plan", "_run"),
        "_text",
    )

    def __init__(self, variant: Variant, late: bytes, function: FunctionType) -> None:
        captured, code = variant.captured, variant.compilation.assembled
        assert code is not None
        guards, plan = captured.guards, code.plan
        self._function, self._epilogue = function, captured.epilogue
        self._call = variant.call if variant.timed is None else variant.timed.plain
        self._engine, self._notice, self._left = code.engine, code.notice, code.left
        self._plan, self._run = plan.run, variant.compilation.run
        self._engine.source = self.source
        names = guards.inputs, guards.objects, guards.symbols
        told = {
            "guards": (guards.size, tuple(guards.constants), names),
            "captured": (captured.need_not_raise, captured.drawn, captured.varying),
            "plan": (plan.source, tuple(plan.constants), dict(plan.sites)),
            "fallbacks": code.fallbacks,
            "seconds": variant.seconds,
        }
        self._text = _models.likened(pickle.dumps((told, late)))

    def source(self) -> tuple[str, str]:
        """Of the native code, with its kind of loops."""
        return self._rest(pickle.loads(self._text.content())[1]).source()

    def _rest(self, late: bytes) -> Rest:
        return Rest(partial(loaded, late, self._function, {}))

    def __call__(self) -> tuple[Any, Any, tuple[float, ...]]:
        told, late = pickle.loads(self._text.content())
        rest = self._rest(late)
        (size, names, given), (need_not_raise, drawn, varying) = told["guards"], told["captured"]
        constants, codes = constants_of(self._call, names), {"call": self._call.__code__}
        known: dict[str, object] = {
            "epilogue": self._epilogue,
            "need_not_raise": need_not_raise,
            "drawn": drawn,
            "varying": varying,
            "guards": RestoredGuards(rest.steps, size, constants, given, codes),
        }
        source, names, sites = told["plan"]
        constants = constants_of(self._plan, names)
        needed = {
            "engine": self._engine,
            "plan": Plan(self._plan, source, sites, self._plan.__code__, constants),
            "fallbacks": told["fallbacks"],
            "notice": self._notice,
            "left": self._left,
        }
        return *in_two_parts(known, needed, self._run, rest), told["seconds"]
