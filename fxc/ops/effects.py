"""What operators with effects do: draws from random generators, and notes of what is to be shown.

See Note [Operators with effects].
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from fxc.ir.handles import handle, object_at

# Note [Operators with effects]
# A random generator is a handle in a graph: an array of one number, the address of the object. What
# draws from it writes the handle (with the number that is there already), so that the order of
# draws, in branches and loops too, and that none is left out, computed twice or moved out of a
# loop, follow from the rules for writes. ``draw`` evaluates ``call``, a Python expression in ``g``
# (the generator), ``size`` and the operands ``x0``, ``x1``, … : a method of NumPy's own draws all
# numbers at once. A generator that the program makes is drawn, so to speak, from a list that keeps
# it for the time of the call, until the epilogue has stored or returned it. ``note`` appends
# numbers and copies of arrays to a list. ``clock`` reads a clock: it changes nothing, but stays in
# order by such a handle, too; and arrays that are there when the program reads it are computed
# before.
# Native code may still leave a call to NumPy behind a draw. Therefore the states of the generators
# are kept as they are at first, and brought back: by the native function that is all of a call, see
# Note [Native draws], else by what runs it, fxc/runtime/generators.py.

NUMBERS = "?biufc"  # the kinds of dtypes whose elements an operand of a draw may have


def draw(
    state: np.ndarray,
    xs: tuple[Any, ...],
    size: tuple[int, ...] | None,
    shape: tuple[int, ...] | None,
    call: str,
    source: str,
) -> tuple[np.ndarray, Any]:
    """Draw from the generator at ``state``: the handle, and what ``call`` gives."""
    return state.copy(), caller(call, len(xs))(object_at(state), size, *xs)


@lru_cache(maxsize=4096)
def caller(call: str, count: int) -> Callable[..., Any]:
    """The text of a draw with so many operands as a function of generator, size and operands."""
    names = "".join(f", x{place}" for place in range(count))
    import random  # on first use, as NumPy does it

    known = {"np": np, "random": random, "shuffled": _shuffled, "seeded": _seeded, "kept": _kept}
    made: Callable[..., Any] = eval(f"lambda g, size{names}: {call}", known)
    return made


def is_unseeded(call: str) -> bool:
    """Whether a draw makes or seeds a generator by what the operating system gives."""
    return call == "seeded(g)" or (call.startswith("kept(g, ") and call.endswith("())"))


def note(log: np.ndarray, xs: tuple[Any, ...], site: int) -> np.ndarray:
    """Note numbers, and copies of arrays, for the statement ``site``."""
    _noting(site)(object_at(log), *xs)
    return log.copy()


def clock(log: np.ndarray, which: str) -> tuple[np.ndarray, float]:
    """What a clock of the module ``time`` shows."""
    return log.copy(), getattr(time, which)()


def direct(op: str, args: tuple[Any, ...]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What an operator calls with the object of its handle, and the arguments behind that.

    ``args`` are those behind the handle.
    """
    if op == "note":
        xs, site = args
        return _noting(site), xs
    if op == "clock":
        return _reading(*args), ()
    xs, size, _, call, source = args
    method = re.fullmatch(_METHOD, call)
    if method is None:
        return caller(call, len(xs)), (size, *xs)
    operands = {"size": size, **{f"x{place}": x for place, x in enumerate(xs)}}
    given = [operands[name] for name in method[2].split(", ") if name]
    return getattr(type(fresh_source(source)), method[1]), tuple(given)


# A method of the generator that is given nothing else: no function of Python's between.
_METHOD = r"g\.(\w+)\(((?:size|x\d+)?(?:, (?:size|x\d+))*)\)"


def _noting(site: int) -> Callable[..., None]:
    def run(log: list[Any], *xs: object) -> None:
        log.append((site, *[np.array(x) if type(x) is np.ndarray else x for x in xs]))

    return run


@lru_cache
def _reading(which: str) -> Callable[[Any], float]:
    read: Callable[[], float] = getattr(time, which)
    return lambda log: read()


def fresh_source(source: str) -> Any:
    """A generator of a kind, with a state of its own."""
    import random

    kinds: dict[str, Callable[[int], Any]] = {
        "Generator": np.random.default_rng,
        "RandomState": np.random.RandomState,
        "Random": random.Random,
        "list": lambda seed: [],
    }
    return kinds[source](1)


def _shuffled(g: Any, x: np.ndarray, *axis: int) -> np.ndarray:
    made = np.array(x, order="C")
    g.shuffle(made, *axis)
    return made


def _seeded(g: Any, *seed: object) -> int:
    g.seed(*seed)
    return 0


def _kept(made: list[Any], x: object) -> np.ndarray:
    made.append(x)
    return handle(x)
