"""What NumPy tells of compiled code that has set floating-point flags.

See Note [Warnings].
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy._core import umath

from fxc.ir.errors import Flagged
from fxc.ir.graph import Graph, Node, Region
from fxc.ir.size_functions import hint
from fxc.ir.symbols import product
from fxc.ir.types import ArrayType, ScalarType
from fxc.lowering.emission.llvm_text import DIVIDE, FLAG_KINDS, INVALID, OVERFLOW, UNDERFLOW
from fxc.lowering.nests.boxed_args import boxed_buffers
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Boxed, walk
from fxc.lowering.nests.traffic import traffic
from fxc.ops.foreign_ufuncs import name_in_scipy
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import EFFECTS
from fxc.ops.table import TABLE
from fxc.runtime.generators import restoring
from fxc.runtime.notice import ERRSTATE

if TYPE_CHECKING:
    from fxc.capture.captured import Captured

    from .assemble import Assembled

# Note [Warnings]
# Which flags native code has set is known where it ends (Note [Floating-point flags]). Which
# operator at which line has set them, and how often, NumPy alone says: the call is replayed as
# plain NumPy. That needs the inputs as they were.
# - Most programs do not read what they overwrite; the replay overwrites it again.
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


class Watch:
    """The calls of one compilation, as far as floating-point flags are concerned.

    ``updated`` are the numbers of the inputs that it reads and overwrites, ``moved`` the bytes that
    it moves, as far as is known. ``runs`` is the code.
    """

    def __init__(
        self,
        graph: Graph,
        updated: Sequence[int],
        moved: int,
    ) -> None:
        self._graph = graph
        self._is_special = any(name_in_scipy(TABLE[node.op].numpy) for node in _nodes(graph))
        self._updated = tuple(updated)
        self._copying: set[int] = set()  # threads in a call with copies
        self._heard: dict[int, int] = {}  # by thread: flags of a call that calls NumPy
        self.runs: Callable[..., Any] = _nothing
        kinds = [graph.inputs[place].type for place in updated]
        size = sum(k.dtype.itemsize * hint(product(k.shape)) for k in kinds if hasattr(k, "shape"))
        # A write to a part of a large array is no reason to copy all of it.
        self._first = YOUNG if size <= max(moved, _LARGE) else 0
        self._young = self._first
        self._always = bool(updated) and max(size * _LITTLE, _LONG) <= moved
        self.changed: Callable[[], None] = lambda: None  # native calls are out of date
        self.names: dict[str, Any] = {}  # the function's global ones

    @property
    def copies(self) -> bool:
        """Whether inputs are copied before each call."""
        return self._always or (bool(self._updated) and self._young > 0)

    @property
    def copies_left(self) -> int:
        """How many calls there are at most with copies, that are not always made."""
        return max(self._young, 0) if self._updated else 0

    def run(self, *inputs: Any) -> Any:
        """Run the compiled code. Raises ``Flagged``, with the inputs as they were, if NumPy is to
        run the call.
        """
        if not self.copies:
            return self.runs(*inputs)
        arrays = [inputs[place] for place in self._updated]
        self._young -= 1
        saved = [array.copy() for array in arrays]
        thread = threading.get_ident()
        self._copying.add(thread)
        try:
            return self.runs(*inputs)
        except Flagged:
            for array, old in zip(arrays, saved, strict=True):
                array[...] = old
            raise
        finally:
            self._copying.discard(thread)

    def listening(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """``run``, but what NumPy has to say of the operators that it is called for is not said
        where they are called: it counts as flags.
        """
        heard = self._heard

        def hear(kind: str, flag: int) -> None:
            heard[threading.get_ident()] |= _NUMPYS[flag & -flag]

        listens = umath._make_extobj(all="call", call=hear)

        def listening(*inputs: object) -> Any:
            thread = threading.get_ident()
            heard[thread] = 0
            token = ERRSTATE.set(listens)
            try:
                leaves = run(*inputs)
            finally:
                ERRSTATE.reset(token)
                flags = heard.pop(thread, 0)
            if flags and self.decides(flags):
                raise Flagged
            return leaves

        return listening

    def decides(self, flags: int) -> bool:
        """Whether a call that has set these flags is to be replayed."""
        thread = threading.get_ident()
        if thread in self._heard:  # NumPy's errstate is not the caller's just now
            self._heard[thread] |= flags
            return False
        told = _told(flags)
        if not told and not (self._is_special and _scipy_tells()):
            return False
        if not self._updated or thread in self._copying:
            return True
        self.renew()
        self.changed()
        self._tell(told)
        return False

    def renew(self) -> None:
        """Copy inputs before the next calls again."""
        self._young = self._first

    def _tell(self, flags: int) -> None:
        """Warn without a replay."""
        for flag, mode in _MODES.items():
            if flags & flag:
                for node in _nodes(self._graph):
                    text = _text(node, mode)
                    if text is not None and node.loc is not None:
                        _warn(text, mode, node.loc.file, node.loc.line, self.names)
                        break


def watched(captured: Captured, made: Assembled) -> Watch:
    """Watch the calls of a compilation of what has been captured."""
    module = made.module
    updated = [place for place in module.updated if place not in captured.drawn]
    watch = Watch(captured.graph, updated, hint(traffic(module.program)))
    run = watch.listening(made.plan.run) if _may_warn(module.program) else made.plan.run
    keeps = not captured.drawn or module.keeps_states
    watch.runs = run if keeps else restoring(run, captured.drawn)
    made.notice.decides = watch.decides
    return watch


def _may_warn(program: Program) -> bool:
    """Whether NumPy is called for what may set floating-point flags."""
    for stmt in walk(program.body):
        if isinstance(stmt, Boxed) and TABLE[stmt.op].tag not in EFFECTS:
            names = (*boxed_buffers(stmt.args), *stmt.outs)
            if any(program.buffers[name].dtype.kind in "iufc" for name in names):
                return True
    return False


def _nothing(*inputs: object) -> Any:
    raise AssertionError("no code yet")


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


def _nodes(graph: Graph | Region) -> list[Node]:
    found = []
    for node in graph.nodes:
        for region in node.regions:
            found += _nodes(region)
        found.append(node)
    return found


_SPECIAL = (0.0, 1.0, -1.0, -0.5, 2.0, np.inf, -np.inf, 1e308, -1e308, 1e-308, 1e38, 1e-38)


def _text(node: Node, mode: str) -> str | None:
    """What NumPy says of an operator if this happens to one of its operands, if it can."""
    kinds = [getattr(arg, "type", None) for arg in node.args]
    operands = [i for i, kind in enumerate(kinds) if isinstance(kind, ArrayType | ScalarType)]
    if not operands or node.regions or len(operands) > 2:
        return None
    quiet = dict.fromkeys(_MODES.values(), "ignore")
    for left in _SPECIAL:
        for right in _SPECIAL if len(operands) == 2 else (0.0,):
            args: list[Any] = list(node.args)
            with suppress(Exception), np.errstate(**{**quiet, mode: "raise"}):  # type: ignore[arg-type]
                with np.errstate(all="ignore"):
                    for place, number in zip(operands, (left, right), strict=False):
                        args[place] = _sample(kinds[place], number)
                try:
                    kernel_of(node.op)(*args)
                except FloatingPointError as error:
                    return str(error)
    return None


def _sample(kind: Any, number: float) -> Any:
    if isinstance(kind, ScalarType):
        return kind.dtype.type(number) if not kind.weak else number
    return np.full((2,) * len(kind.shape), number).astype(kind.dtype)


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
