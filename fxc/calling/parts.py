"""The compiled parts of functions that are split.

See Note [Splitting].
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from fxc.compilations import trials
from fxc.compilations.decisions import Captures
from fxc.compilations.state import Options
from fxc.compilations.trials import CLEARLY, LONG, UNUSUAL, Trial, now, since
from fxc.ir.errors import CaptureError, TooManyVariants
from fxc.ir.location import Site
from fxc.ir.logs import SPLITS
from fxc.ir.replay import PART, REPLAY
from fxc.ir.tracebacks import unseen
from fxc.lowering.calling.guarded_function import Spent
from fxc.split.part_source import PartKey, PartSource
from fxc.split.splits import Split

from .serving import Serving
from .taking_turns import TakingTurns

if TYPE_CHECKING:
    from fxc.capture.refusals import Refusal


class Part(Serving[..., Any]):
    """A part of a function that is split; it gives ``REPLAY`` where the driver shall run its
    statements. See Note [Splitting]. In the ``cell`` is what drivers call: the part, or the native
    function for its calls.
    """

    __slots__ = (
        "_is_awaited",
        "_left",
        "_noted",
        "_put_off",
        "_spent",
        "_started",
        "_trial",
        "_unusual",
        "_whole",
        "cell",
        "source",
    )
    _is_part = True
    _most_variants, _in_any_case = 8, 2  # in a loop of Python's, perhaps

    def __init__(self, split: Split, source: PartSource, options: Options) -> None:
        super().__init__(source.function, options)
        setattr(source.function, PART, True)
        self._whole = split
        self._trial = Trial()
        self._started: tuple[float, float] | None = None
        self._noted, self._unusual = 0, UNUSUAL
        self._left: tuple[Site, BaseException | None] | None = None
        self._put_off: tuple[Captures, tuple[float | None, float]] | None = None
        self._is_awaited = False  # a capture, when it was last called
        self.source = source
        self._spent = _spent_of(source.key)
        self.cell = types.CellType(self)
        self._show_call()
        self._state.varying |= source.counting
        split.on_change.append(self._end_turns)

    def _hide_fxc(self, error: BaseException) -> None:
        """Leave that to the function."""

    @property
    def is_compiled(self) -> bool:
        """Whether there is compiled code of the part."""
        return bool(self._state.variants)

    @property
    def may_save_much(self) -> bool:
        """Whether Python may take several times as long, as far as is known."""
        trial = self._trial
        is_known = trial.python_calls > 0 and trial.python <= CLEARLY * trial.compiled
        return self.is_compiled and not is_known

    @property
    def _whole_split(self) -> Split:
        return self._whole

    def _split(self, error: CaptureError) -> None:
        if self._whole.refused(error, self.source.statements):
            self._warn_split(self._whole, error)

    def _cut_left(self, refusal: Refusal) -> None:
        self._whole.left(refusal, self.source.statements)

    def _varies(self, key: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        varying = self._whole.varying.intersection(self.source.key.inputs)
        alike = [each for each in self._state.variants if each.key == key]
        if varying and not varying.isdisjoint(self._other_values(alike, args, kwargs)):
            return True
        return super()._varies(key, args, kwargs)

    def _cut_varied(self, names: Iterable[str]) -> None:
        self._whole.varied(names, self.source.statements)

    def _give_up(self, error: TooManyVariants) -> None:
        SPLITS.info("%s: a part runs as plain NumPy: %s", self.__name__, error)
        variants = self._state.variants
        if sum(variant.all_calls for variant in variants) < 4 * len(variants):
            self._become(_GivenUp)
            self._whole.give_up(self.source)

    def _runner(self) -> Callable[..., Any]:
        driver = self._whole.driver_of(self.source)
        return _replay if driver is None else driver.function

    def _eager(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], why: Exception | str | None = None
    ) -> Any:
        if why is not None:
            SPLITS.info("%s: a part runs as plain NumPy: %s", self.__name__, why)
        self._state.eager_calls += 1
        return REPLAY

    def _eager_after(self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._eager(args, kwargs, error)

    @unseen
    def _meanwhile(self, captures: Captures, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._runner() is not _replay:
            return super()._meanwhile(captures, args, kwargs)
        self._is_awaited = True
        self._put_off = captures, captures.begun()
        return self._eager(args, kwargs)

    def _went_on(self, site: Site) -> None:
        """Wait for what the statements raise."""
        self._left = site, sys.exc_info()[1]

    def replayed(self) -> None:
        """Note that Python has run the statements."""
        if self._put_off is not None:
            (captures, started), self._put_off = self._put_off, None
            captures.ended(started)
        if self._left is not None:
            (site, handled), self._left = self._left, None
            if sys.exc_info()[1] is handled:
                super()._went_on(site)

    def _become(self, kind: Any) -> None:
        self.__class__ = kind
        self._show_call()

    def _call_by(self, builtin: types.BuiltinFunctionType | None) -> None:
        super()._call_by(builtin)
        self._show_call()

    def _show_call(self) -> None:
        call: Any = type(self).__call__
        if not isinstance(call, types.BuiltinFunctionType):
            call = self if self._spent is None else types.MethodType(Part._without_spent, self)
        self.cell.cell_contents = call

    @unseen
    def _without_spent(self, *args: object) -> Any:
        """Take a call in Python, to which spent arrays are nothing: see Note [Spent arrays]."""
        call: Any = type(self).__call__
        if isinstance(call, types.BuiltinFunctionType):
            call = TakingTurns.__call__
        return call(self, *args[: len(self.source.key.inputs)])

    @property
    def _last_way(self) -> tuple[Callable[..., Any], int]:
        if self._spent is None:
            return super()._last_way
        return types.MethodType(Part._without_spent, self), self._spent.arguments

    def _note(self, seconds: float, by_python: bool) -> None:
        """Note how long a call took; a call within it may have ended the trial."""
        if type(self) is not PartOnTrial:
            return
        self._trial.note(seconds, by_python)
        if self._trial.pays is True:
            self._become(Part)
            self._arrange()  # there may be native calls already
        elif self._trial.pays is False:
            self._become(_GivenUp)
            self._whole.give_up(self.source)


class PartOnTrial(Part):
    """A part until it is known whether it pays: see Note [Trials]."""

    __slots__ = ()

    @unseen
    def __call__(self, *args: object, **kwargs: object) -> Any:
        trials.note_call()
        if self._trial.is_pythons:
            self._started = now()
            self._noted = trials.noted()
            return REPLAY
        if self._is_awaited:  # so it is now, most likely, and clocks may take longer than the call
            self._is_awaited = False
            return super().__call__(*args, **kwargs)
        state = self._state
        variants, start = len(state.variants), now()
        result = super().__call__(*args, **kwargs)
        took = since(start)
        is_new = result is REPLAY or len(state.variants) != variants
        if not is_new and (took > LONG or any(x.calls > x.first_calls for x in state.variants)):
            self._note(took, False)
        return result

    def replayed(self) -> None:
        """Note that Python has run the statements, and how long that took."""
        super().replayed()
        if self._started is not None:
            took, self._started = since(self._started), None
            if trials.noted() == self._noted or not self._unusual:
                self._note(took, True)
            else:
                self._unusual -= 1


class _GivenUp(Part):
    """A part that does not pay, for the calls that are under way."""

    __slots__ = ()

    def __call__(self, *args: object, **kwargs: object) -> Any:
        return REPLAY


def _spent_of(key: PartKey) -> Spent | None:
    if not key.spent:
        return None
    places = tuple(map(key.outputs.index, key.spent))
    return Spent(len(key.inputs), places, len(key.outputs), key.ending == "either")


def _replay(*args: object) -> Any:
    return REPLAY
