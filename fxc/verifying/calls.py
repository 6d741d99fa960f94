"""Calls of compiled code that run beside NumPy, and are compared: ``FXC_VERIFY=1``.

See Note [Calls beside NumPy].
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CellType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fxc.cache.bugs import keep_bug
from fxc.compilations.state import Options
from fxc.compilations.trials import all_by_python
from fxc.compilations.variants import Variant
from fxc.ir.asynchronous import hand_on
from fxc.ir.errors import MISSED, PLEASE_REPORT, CaptureWarning, RunFailed, WrongResult, a_kind
from fxc.ir.handles import object_at
from fxc.ir.later import import_later
from fxc.ir.records import frozen
from fxc.ir.tracebacks import unseen

from .counts import COMPARED, COUNTS, LEFT, WRONG
from .parts import entries, is_globals, is_still
from .seen import Accepts, Seen, arrays_in, seen
from .state import Snapshot
from .undefined import difference, in_filled_memory, unrepeatable

if TYPE_CHECKING:
    from fxc.capture.captured import Captured
    from fxc.capture.epilogue.finishing import Epilogue
    from fxc.ir.evaluate import KernelOf

    from .stage_runs import Run

# Note [Calls beside NumPy]
# A call of a compilation is made twice: first by the function as it is, then, with all that could
# have changed brought back, by compiled code, whose call it is for the caller. What both have left
# is compared. So nothing is copied that a program could tell from its copy: objects, names and
# overlaps are the program's own in both.
# - What could have changed is what can be reached from arguments, and from what the capture reads
#   outside. A capture knows all effects, so nothing else changes.
# - Random generators are brought back, too. What a program shows (``print``, logs, files) is shown
#   once: where a capture has that, the function does not run, but NumPy runs its captured graph,
#   and what shows is left out in both. A call that reads a clock, or draws without a seed, is not
#   compared.
# - Where compiled code leaves a call to NumPy, nothing may have changed: that is looked at.
# - Of a function that is split, the compiled parts are compared.
# - Compiled functions that NumPy's call calls run as they are, too: they are part of the oracle.
# - All is done by one thread at a time: warnings are caught for the process.
# - A call ``of_effects`` is beside a program that does not know of it: what is kept and compared
#   are the result and what the capture says that it changes. That is as much as the call itself
#   deals with, however much can be reached; and warnings are not caught.
# - What a handler of a signal raises ends the call, as it would without us.


T = TypeVar("T")

# Most calls of `fxc run` need none of these, nor the passes and operators behind them.
_captured_run = import_later("fxc.verifying.stage_runs", "captured_run")
_nearness = import_later("fxc.verifying.nearness", "Nearness")
_result_leaves = import_later("fxc.pipeline.stages", "result_leaves")

_one_at_a_time = threading.RLock()


@frozen(eq=False)
class Difference:
    """A call of which compiled code gives something else, in the state before it."""

    call: VerifiedCall
    text: str


hearers: list[Callable[[Difference], None]] = []
"""What is told of a difference, before it is raised: ``bisect`` looks into it."""


def beside_numpy(variant: Variant, function: Callable[..., Any], options: Options) -> None:
    """Let the calls of a compilation of a function run beside NumPy."""
    compiled, reason = variant.call, unrepeatable(variant.captured.graph)
    variant.is_tried = variant.is_verified = True

    @unseen
    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if variant.captured.guards.check(args, kwargs) is None:
            return MISSED
        if reason is not None:
            COUNTS[f"not compared: they {reason}"] += 1
            return compiled(args, kwargs)
        with _one_at_a_time:
            return VerifiedCall(function, variant, options, args, kwargs).compared(compiled)

    variant.call = call


class VerifiedCall:
    """One call, by NumPy and by compiled code."""

    def __init__(
        self,
        function: Callable[..., Any],
        variant: Variant,
        options: Options,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        of_effects: bool = False,
    ) -> None:
        captured = variant.captured
        given = captured.guards.check(args, kwargs)
        assert given is not None
        count = len(captured.inputs)
        self.function, self.options = function, options
        self.captured, self.compilation, self.variant = captured, variant.compilation, variant
        self.args, self.kwargs = args, kwargs
        self.of_effects = of_effects
        self.seconds = 0.0  # that NumPy has taken
        self.inputs, self.objects = given[:count], given[count:]
        self.shows = captured.epilogue is not None and bool(captured.epilogue.shown)
        self.drawn = [object_at(self.inputs[place]) for place in captured.drawn]
        self.roots: list[tuple[str, object]] = []
        self.holders: list[tuple[str, object, dict[object, object]]] = []
        if of_effects:
            self._reach_effects()
        else:
            self._reach_all()
        self.before = self._now()
        self._filled: list[tuple[Seen, list[warnings.WarningMessage]]] = []

    def _reach_all(self) -> None:
        """All that is given, and the variables outside, may change."""
        captured, others = self.captured, (*self.objects, *self.drawn)
        places = _places(captured.guards.constants, captured.epilogue)
        self.roots = [
            *((_name(captured, place), x) for place, x in enumerate(self.inputs)),
            *((f"argument {name}", x) for name, x in _named(self.args, self.kwargs)),
            *((f"object {place}", x) for place, x in enumerate(others)),
        ]
        self.roots += [
            (f"memory around {where}", x.base)
            for where, x in self.roots
            if isinstance(x, np.ndarray) and isinstance(x.base, np.ndarray)
        ]
        self.roots += [("a variable", x) for x in places if not is_globals(x)]
        self.holders = [("global", x, dict(x)) for x in places if is_globals(x)]

    def _reach_effects(self) -> None:
        """What the capture says may change."""
        places = _places({}, self.captured.epilogue)
        signature = self.compilation.functional.signature
        written = () if signature is None else sorted(signature.mutated_inputs)
        self.roots = [(_name(self.captured, place), self.inputs[place]) for place in written]
        self.roots += [(f"generator {place}", x) for place, x in enumerate(self.drawn)]
        for place, x in enumerate((*self.objects, *places)):
            if isinstance(x, set):
                self.roots.append((f"object {place}", x))
            else:
                self.holders.append((f"object {place}", x, entries(x)))

    def _now(self) -> Snapshot:
        """What may change, as it is now."""
        held = (x for _, x, _ in self.holders)
        return Snapshot((*(x for _, x in self.roots), *held), alone=self.of_effects)

    @property
    def has_effects(self) -> bool:
        """Whether anything but the result may change."""
        return bool(self.roots or self.holders)

    def compared(self, compiled: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> Any:
        """What compiled code gives. Raises ``WrongResult`` if NumPy gives something else."""
        expected, told = self.expected()
        if self.shows:
            return self._shown_later(expected, compiled)
        raised: Exception | None = None
        result: Any = None
        try:
            if told:
                result = self._heard(compiled, told[0])
            else:
                result = compiled(self.args, self.kwargs)
        except RunFailed as failure:
            hand_on(failure)
            self._left_to_numpy()
            raise
        except WrongResult:
            raise
        except Exception as error:
            hand_on(error)
            raised = error
        if result is MISSED:
            COUNTS["not compared: their guards hold no more"] += 1
            return MISSED
        self._compare(expected, self._seen(result, raised))
        if raised is not None:
            raise raised
        return result

    def _shown_later(
        self, expected: Seen, compiled: Callable[[tuple[Any, ...], dict[str, Any]], Any]
    ) -> Any:
        """The call of a program that shows something, when it has been compared."""
        watch = self.variant.watch
        now = self.by(self.compilation.run if watch is None else watch.run)
        if now.error is None:
            self._compare(expected, now)
        return compiled(self.args, self.kwargs)

    def _compare(self, expected: Seen, now: Seen) -> None:
        text = self.difference(expected, now)
        if text:
            self._wrong(text)
        COUNTS[COMPARED] += 1

    def _heard(
        self,
        compiled: Callable[[tuple[Any, ...], dict[str, Any]], Any],
        told: warnings.WarningMessage,
    ) -> Any:
        """What compiled code gives of a call of which NumPy warns: it has to warn, too."""
        with warnings.catch_warnings(record=True) as heard:
            result = compiled(self.args, self.kwargs)
        if not heard and all(warned for _, warned in self._in_filled_memory()):
            self._wrong(f"NumPy warns of {told.message}, compiled code of nothing")
        for each in heard:
            text, file, line = each.message, each.filename, each.lineno
            warnings.warn_explicit(text, each.category, file, line)
        return result

    def expected(self) -> tuple[Seen, list[warnings.WarningMessage]]:
        """What NumPy gives, and what it warns of; all is as before then."""
        if self.shows:
            leaves = _result_leaves(self.captured)
            return self.by(_captured_run(self.captured.graph, leaves)), []
        error: Exception | None = None
        result: Any = None
        with self._catching() as told:
            start = time.perf_counter()
            try:
                result = self.function(*self.args, **self.kwargs)
            except Exception as raised:
                hand_on(raised)
                error = raised
            self.seconds = self.seconds or time.perf_counter() - start
        try:
            loud = [each for each in told if not issubclass(each.category, CaptureWarning)]
            return self._seen(result, error), loud
        finally:
            self.before.restore()

    @contextmanager
    def _catching(self) -> Iterator[list[warnings.WarningMessage]]:
        """What is warned of in the block, if that is to be known."""
        if self.of_effects:
            with np.errstate(all="ignore"):
                yield []
            return
        with warnings.catch_warnings(record=True) as told, np.errstate(**_quiet()), all_by_python():
            yield told

    def by(self, run: Run) -> Seen:
        """What the caller would see with ``run`` in the place of native code; all is as before
        then.
        """
        error: Exception | None = None
        result: Any = None
        try:
            with self._catching(), np.errstate(all="ignore"):
                result = self._finished(run(*self.inputs))
        except Exception as raised:
            error, result = raised, None
        try:
            return self._seen(result, error)
        finally:
            self.before.restore()

    def _finished(self, leaves: list[Any]) -> Any:
        """The result; effects are made, but nothing is shown."""
        epilogue = self.captured.epilogue
        return leaves[0] if epilogue is None else epilogue.finish_silently(leaves, *self.objects)

    def difference(self, expected: Seen, now: Seen, *, aliases: bool = True) -> str:
        """How what is seen differs from what NumPy gives, or ''."""

        def runs() -> list[Seen]:
            return [each for each, _ in self._in_filled_memory()]

        compares_aliases = aliases and not self.shows
        return difference(expected, now, self.accepts(), runs, aliases=compares_aliases)

    def _in_filled_memory(self) -> list[tuple[Seen, list[warnings.WarningMessage]]]:
        """What NumPy gives with several contents of new memory; see Note [Undefined elements]."""
        if not self._filled:
            self._filled = self._aside(lambda: [*in_filled_memory(self.expected)])
        return self._filled

    def _aside(self, run: Callable[[], T]) -> T:
        """What ``run`` gives, which begins with all as it was before; all is as now then."""
        after = self._now()
        self.before.restore()
        try:
            return run()
        finally:
            after.restore()

    def accepts(self) -> Accepts:
        """What is near enough; see Note [Nearness]."""
        made = self.compilation.assembled
        if made is None or not (made.module.approximates or self.options.math == "fast"):
            return lambda *_: False
        leaves = _result_leaves(self.captured)

        def moved(kernels: KernelOf) -> dict[str, Any] | None:
            there = self._aside(
                lambda: self.by(_captured_run(self.captured.graph, leaves, kernels))
            )
            return None if there.error is not None else arrays_in(there)

        found: Accepts = _nearness(moved)
        return found

    def _seen(self, result: object, error: BaseException | None = None) -> Seen:
        stored: list[tuple[str, object]] = []
        for where, x, before in self.holders:
            now = entries(x)
            found = (
                (name, item)
                for name, item in now.items()
                if not is_still(item, before.get(name, now))
            )
            stored += (
                (f"{where} {name if isinstance(name, str) else repr(name)}", item)
                for name, item in found
            )
            if not is_globals(x):  # other threads may set some
                stored.append((f"entries of {where}", len(now)))
        return seen([("result", result), *self.roots, *stored], error)

    def _left_to_numpy(self) -> None:
        """Look whether compiled code that leaves a call to NumPy has left all as it was."""
        COUNTS[LEFT] += 1
        changed = self.before.changed()
        if changed is not None:
            kind = a_kind(changed)
            self._wrong(f"native code has left the call to NumPy when it had changed {kind}")

    def _wrong(self, text: str) -> None:
        COUNTS[WRONG] += 1
        self.before.restore()
        for tell in hearers:
            tell(Difference(self, text))
        code = getattr(self.function, "__code__", None)
        where = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        wrong = WrongResult(
            f"{name}{where}: compiled code differs from NumPy: {text}\n"
            "To find the stage that is wrong: python -m fxc bisect SCRIPT. It is a bug in fxc, "
            f"{PLEASE_REPORT}"
        )
        keep_bug(self.function, (self.variant,), wrong, self.options.shown())
        raise wrong


def _named(args: Sequence[object], kwargs: dict[str, object]) -> list[tuple[str, object]]:
    return [*((str(place), x) for place, x in enumerate(args)), *kwargs.items()]


def _places(known: Mapping[str, Any], epilogue: Epilogue | None) -> list[Any]:
    """Variables of functions around it, and of modules, that it may set."""
    found = dict(known) if epilogue is None else {**known, **epilogue.constants}
    return [x for x in found.values() if isinstance(x, CellType) or is_globals(x)]


def _name(captured: Captured, place: int) -> str:
    return captured.inputs[place].text or captured.inputs[place].value.name


_SAID = ("print", "call", "log")


def _quiet() -> dict[str, Any]:
    """What NumPy would say in other ways than by warnings, said by warnings."""
    state: dict[str, Any] = dict(np.geterr())
    return {what: "warn" if how in _SAID else how for what, how in state.items()}
