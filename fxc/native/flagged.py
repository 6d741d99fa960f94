"""What NumPy tells of compiled code that has set floating-point flags.

See Note [Warnings].
"""

from __future__ import annotations

import sys
import warnings
from _thread import get_ident
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy._core import umath

from fxc.ir.errors import Flagged
from fxc.ir.flag_bits import DIVIDE, FLAG_KINDS, INVALID, OVERFLOW, UNDERFLOW
from fxc.ir.made_functions import code_of, function_of
from fxc.ir.records import frozen
from fxc.ir.settings import config
from fxc.runtime.notice import ERRSTATE, Notice

if TYPE_CHECKING:
    from fxc.capture.captured import Captured
    from fxc.ir.behind import Behind

# Note [Warnings]
# Which flags native code has set is known where it ends (Note [Floating-point flags]). Which
# operator at which line has set them, and how often, NumPy alone says: the call is replayed as
# plain NumPy. That needs the inputs as they were.
# - Most programs do not read what they overwrite; the replay overwrites it again. Not if NumPy
#   raises first: as long as warnings or flags are errors, calls are strict, and all that they write
#   is copied before. Native calls do not look for that: one that sets a flag under such settings is
#   the last one that is not strict.
# - Of one that does (``u += du``), what it updates is copied before the first ``YOUNG`` calls, and
#   again for as many after each that sets flags; always, if a copy is little beside the work, and
#   never, if it is large and more than that.
# - A call for which there is no copy is not replayed. It warns once, of the first operator that can
#   set the flag, with the text that NumPy has for it; which one did is not known.
# A function that sets flags again and again runs as plain NumPy for a number of calls, twice as
# many each time (eight times if they are very brief), before native code is tried again: whether it
# warned, or only has flags that NumPy does not look at, it is hardly slower than NumPy.

YOUNG = 16
_LITTLE = 32  # times the bytes of a copy: what native code moves where a copy is always made,
_LARGE = 2**22  # bytes from which on a copy is to be less than the work
_LONG = 2**16  # and at least so many bytes: native calls would not be much faster

_MODES: Mapping[int, str] = {bit: FLAG_KINDS[bit] for bit in (DIVIDE, OVERFLOW, UNDERFLOW, INVALID)}


# NumPy's own bits, which it gives to what ``np.seterrcall`` has set.
_NUMPYS: Mapping[int, int] = {1: DIVIDE, 2: OVERFLOW, 4: UNDERFLOW, 8: INVALID}


@frozen
class FlagFacts:
    """What counts of a compilation for floating-point flags.

    ``updated`` are the numbers of the inputs that it reads and overwrites, ``overwritten`` those of
    others that it writes. ``size`` are the bytes of the first ones and ``moved`` those that it
    moves, as far as is known. ``drawn`` are the inputs that are generators whose states it does not
    keep.
    """

    updated: tuple[int, ...]
    overwritten: tuple[int, ...]
    size: int
    moved: int
    is_special: bool  # it has functions of ``scipy.special``
    calls: bool  # NumPy, for what may set flags
    drawn: tuple[int, ...]


class Watched(Protocol):
    """A compilation."""

    @property
    def captured(self) -> Captured: ...

    def call_watched(self) -> None: ...


# As source: to take any number of inputs takes a fifth of its time. A handler of a signal may raise
# as soon as the listener is put.
_LISTENING = """\
def listening({inputs}):
    before, flags = get(), 0
    try:
        put(listens)
        leaves = run({inputs})
    finally:
        put(before)
        if heard: flags = heard.pop((watch, thread()), 0)
    if flags: decide(flags)
    return leaves
"""

# Calls under way, by watch and thread: those with copies, and the flags of those that call NumPy.
_copying: set[tuple[int, int]] = set()
_heard: dict[tuple[int, int], int] = {}


class Watch:
    """The calls of one compilation, as far as floating-point flags are concerned.

    ``runs`` is the code.
    """

    __slots__ = (
        *("_always", "_facts", "_first", "_listens", "_strict", "_variant", "_young"),
        *("changed", "heard", "names", "runs"),
    )

    def __init__(self, variant: Watched, facts: FlagFacts) -> None:
        self._variant, self._facts = variant, facts
        self.runs: Callable[..., Any] = _no_code
        self.heard: Callable[..., Any] | None = None  # if ``runs`` is that, and listens
        size, moved = facts.size, facts.moved
        # A write to a part of a large array is no reason to copy all of it.
        self._first = YOUNG if size <= max(moved, _LARGE) else 0
        self._young = self._first
        self._always = bool(facts.updated) and max(size * _LITTLE, _LONG) <= moved
        self._strict = _is_strict() and bool(facts.updated or facts.overwritten)
        self._listens: object = None  # NumPy's errstate while NumPy is called
        self.changed: Callable[[Any], None] = _nothing  # its native calls are out of date
        self.names: dict[str, Any] = {}  # the function's global ones

    @property
    def copies(self) -> bool:
        """Whether inputs are copied before each call."""
        return self._strict or self._always or (bool(self._facts.updated) and self._young > 0)

    @property
    def copies_left(self) -> int:
        """How many calls there are at most with copies, that are not always made."""
        return max(self._young, 0) if self._facts.updated else 0

    @property
    def served(self) -> Callable[..., Any]:
        """``run``, or the code itself where nothing is ever copied."""
        return self.run if self._strict or self._facts.updated else self.runs

    def run(self, *inputs: Any) -> Any:
        """Run the compiled code. Raises ``Flagged``, with the inputs as they were, if NumPy is to
        run the call.
        """
        self._strict = self._strict and _is_strict()
        if not self.copies:
            return self.runs(*inputs)
        places = self._facts.overwritten if self._strict else ()
        arrays = [inputs[place] for place in (*self._facts.updated, *places)]
        self._young -= 1
        saved = [array.copy() for array in arrays]
        call = id(self), get_ident()
        try:
            _copying.add(call)
            return self.runs(*inputs)
        except Flagged:
            for array, old in zip(arrays, saved, strict=True):
                array[...] = old
            raise
        finally:
            _copying.discard(call)

    def listening(self, run: Callable[..., Any], count: int) -> Callable[..., Any]:
        """``run``, which takes so many inputs, but what NumPy has to say of the operators that it
        is called for is not said where they are called: it counts as flags.
        """
        watch, heard = id(self), _heard

        def hear(kind: str, flag: int) -> None:
            call = watch, get_ident()
            heard[call] = heard.get(call, 0) | _NUMPYS[flag & -flag]

        def decide(flags: int) -> None:
            if flags and self.decides(flags):
                raise Flagged

        listens = self._listens = umath._make_extobj(all="call", call=hear)
        known = {"run": run, "listens": listens, "heard": heard, "watch": watch, "decide": decide}
        known |= {"get": ERRSTATE.get, "put": ERRSTATE.set, "thread": get_ident}
        inputs = ", ".join(f"a{place}" for place in range(count))
        code = code_of(_LISTENING.format(inputs=inputs), "<fxc listening>", known)
        return function_of(code, known)

    def behind(self, failed: Callable[[BaseException], Any]) -> Behind:
        """``served`` for native calls, which listen themselves."""
        from fxc.ir.behind import Behind, Listening  # many functions have no native calls

        if self.heard is None or self.served is not self.runs:
            return Behind(self.served, failed)
        watch, heard = id(self), _heard

        def told() -> bool:
            flags = heard.pop((watch, get_ident()), 0)
            return bool(flags) and self.decides(flags)

        def failed_after_all(error: BaseException) -> Any:
            heard.pop((watch, get_ident()), 0)
            return failed(error)

        listening = Listening(ERRSTATE, self._listens, heard, told)
        return Behind(self.heard, failed_after_all, listening)

    def decides(self, flags: int) -> bool:
        """Whether a call that has set these flags is to be replayed."""
        call = id(self), get_ident()
        if self._listens is not None and ERRSTATE.get() is self._listens:  # not the caller's
            _heard[call] = _heard.get(call, 0) | flags
            return False
        told = _told(flags)
        if not told and not (self._facts.is_special and _scipy_tells()):
            return False
        if call in _copying:
            return True
        if self._facts.overwritten and not self._strict and _is_strict():
            self._strict = True
            self._variant.call_watched()
            self.changed(self._variant)
        if not self._facts.updated:
            return True
        self.renew()
        self.changed(self._variant)
        self._tell(told)
        return False

    def renew(self) -> None:
        """Copy inputs before the next calls again."""
        self._young = self._first

    def _tell(self, flags: int) -> None:
        """Warn without a replay."""
        from .setting_flags import first_that_sets  # with what compiles: this is rare

        for flag, mode in _MODES.items():
            found = first_that_sets(self._variant.captured.graph, mode) if flags & flag else None
            if found is not None:
                text, loc = found
                _warn(text, mode, loc.file, loc.line, self.names)


def watched(variant: Watched, facts: FlagFacts, run: Callable[..., Any], notice: Notice) -> Watch:
    """Watch the calls of ``run``, which tells ``notice`` of flags."""
    watch = Watch(variant, facts)
    if facts.calls:
        watch.heard = None if facts.drawn else run
        run = watch.listening(run, len(variant.captured.guards.inputs))
    watch.runs = run
    if facts.drawn:
        from fxc.runtime.generators import restoring  # few programs draw

        watch.runs = restoring(run, facts.drawn)
    notice.watch = watch
    return watch


def _is_strict() -> bool:
    """Whether NumPy may raise an exception of a flag, by its settings or by Python's filters; or
    calls are verified, which looks at what the call is left to NumPy with.
    """
    if config.verify or any(how in ("raise", "call") for how in np.geterr().values()):
        return True
    return any(
        action == "error" and issubclass(RuntimeWarning, category)
        for action, _, category, *_ in warnings.filters
    )


def _no_code(*inputs: object) -> Any:
    raise AssertionError("no code yet")


def _nothing(variant: object) -> None:
    """There are no native calls."""


def _told(flags: int) -> int:
    """Those flags of which NumPy would tell somebody."""
    state: Mapping[str, str] = np.geterr()  # type: ignore[assignment]
    modes = {flag: state[mode] for flag, mode in _MODES.items() if flags & flag}
    loud = sum(flag for flag, mode in modes.items() if mode != "ignore")
    if loud and all(modes[flag] == "warn" for flag in modes if flag & loud) and _is_silenced():
        return 0
    return loud


def _scipy_tells() -> bool:
    """Whether ``scipy.special`` would tell somebody of an error in one of its functions."""
    modes: Mapping[str, str] = sys.modules["scipy.special"].geterr()
    return any(mode != "ignore" for error, mode in modes.items() if error != "memory")


def _is_silenced() -> bool:
    """Whether the filters of ``warnings`` let no RuntimeWarning pass, whatever it says."""
    for action, message, category, module, line in warnings.filters:
        if issubclass(RuntimeWarning, category):
            return action == "ignore" and message is None and module is None and line == 0
    return False


def _warn(text: str, mode: str, file: str, line: int, names: dict[str, Any]) -> None:
    """Do what errstate says of the flag."""
    state: Mapping[str, str] = np.geterr()  # type: ignore[assignment]
    how = state[mode]
    kind = text.split(" encountered")[0]
    match how:
        case "warn":
            told = names.setdefault("__warningregistry__", {})
            module = names.get("__name__", "<string>")
            warnings.warn_explicit(text, RuntimeWarning, file, line, module, told)
        case "raise":
            raise FloatingPointError(text)
        case "print":
            sys.stdout.write(f"Warning: {text}\n")
        case "call" | "log":
            hearer: Any = np.geterrcall()
            number = {"divide": 1, "over": 2, "under": 4, "invalid": 8}[mode]
            if how == "call" and hearer is not None:
                hearer(kind, number)
            elif hearer is not None:
                hearer.write(f"Warning: {text}\n")
