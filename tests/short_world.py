"""What short random programs see besides their arguments, and what they leave there."""

from __future__ import annotations

import contextlib
import io
import logging
import random
import types
import warnings
import zlib
from collections.abc import AsyncIterator, Generator, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tests.written_programs import State

LOG = logging.getLogger("tests.short_world")
LOG.propagate = False


def shown(value: Any) -> Any:
    """What a call has seen, as text: no addresses."""
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text


class World:
    """The globals of a program, made anew for each that is loaded."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.out = io.StringIO()
        self.rng = np.random.default_rng(7)
        self.rs = np.random.RandomState(8)
        self.py = random.Random(9)

    def names(self) -> dict[str, Any]:
        """The globals."""
        return {
            **{"RNG": self.rng, "RS": self.rs, "PY": self.py, "OUT": self.out, "LOG": LOG},
            **{"warnings": warnings, "contextlib": contextlib, "random": random, "crc": crc},
            **{
                "Context": self.context,
                "Leaving": Leaving,
                "swallowing": self.swallowing,
                "items": self.items,
            },
            **{"note": self.note, "through": self.through, "halved": self.halved},
            **{"failing": self.failing, "turn": turn, "waited": self.waited, "turns": self.turns},
            **{"Waiting": self.waiting, "Thing": self.thing},
        }

    # -- calls of which fxc knows nothing: the source that they run is made here

    def note(self, *values: Any) -> None:
        """What writes down what it is given."""
        known = {"seen": self.seen, "values": values, "shown": shown}
        eval("seen.append([shown(v) for v in values])", known)

    def through(self, value: Any, *others: Any) -> Any:
        """A value, as such a call gives it."""
        self.note(value)
        return value

    def halved(self, value: Any, array: Any) -> Any:
        """A value, as a call gives it that changes something else."""
        eval("array.__imul__(0.5)", {"array": array})
        return value

    def failing(self, value: Any, n: Any) -> Any:
        """A value, or an exception."""
        self.note(n)
        if eval("n % 3 == 0", {"n": n}):
            raise ValueError(f"of {n}")
        return value

    # -- contexts, iterators, coroutines

    @property
    def context(self) -> Any:
        return lambda value: _Context(self, value)

    @property
    def waiting(self) -> Any:
        return lambda value: _Waiting(self, value)

    @property
    def thing(self) -> Any:
        return type("Thing", (Thing,), {"world": self})

    @contextlib.contextmanager
    def swallowing(self, value: Any) -> Iterator[Any]:
        """A context that lets no ``ValueError`` out."""
        self.note("enters")
        with contextlib.suppress(ValueError):
            yield value * 2
        self.note("leaves")

    def items(self, value: Any, n: int) -> Iterator[Any]:
        """A generator that notes when it is left."""
        try:
            for k in range(n):
                yield value * k
        finally:
            self.note("items end", value)

    async def waited(self, value: Any) -> Any:
        got = await turn(value)
        self.note(got)
        return value

    async def turns(self, value: Any, n: int) -> AsyncIterator[Any]:
        for k in range(n):
            await turn(k)
            yield value + k

    # -- what is compared

    def begin(self) -> None:
        """Bring what all programs share into one state."""
        self.seen.clear()
        np.random.seed(7)
        random.seed(8)

    def left(self) -> str:
        """All that a program has changed but its arguments."""
        legacy: Any = [np.random.get_state(), self.rs.get_state()]
        states = (
            repr(self.rng.bit_generator.state),
            *(hash((state[1].tobytes(), *state[2:])) for state in legacy),
            hash(self.py.getstate()),
            hash(random.getstate()),
        )
        return f"{self.seen} {self.out.getvalue()!r} drawn {states}"


def crc(array: Any) -> float:
    return zlib.crc32(array.tobytes()) / 2.0**32


@types.coroutine
def turn(value: Any) -> Generator[Any, Any, Any]:
    """What a coroutine waits for: what it is sent, or the value."""
    got = yield value
    return value if got is None else got


@dataclass(eq=False)
class Thing(State):
    """An object with items, and a method that cannot be captured."""

    world: ClassVar[World]

    def noted(self, value: Any) -> Any:
        self.k += 1
        self.world.note(value)
        self.t = self.t * 0.5 + 1.0
        return value

    def __getitem__(self, place: Any) -> Any:
        return self.u[place % len(self.u)] * 2.0

    def __setitem__(self, place: Any, value: Any) -> None:
        self.u[place % len(self.u)] = value
        self.world.note(place)


class _Context:
    def __init__(self, world: World, value: Any) -> None:
        self.world, self.value = world, value

    def __enter__(self) -> Any:
        self.world.note("enters", self.value)
        return self.value

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        self.world.note("leaves", repr(error))
        return kind is KeyError


class Leaving:
    """What may raise, or swallow an exception, where it is left, and does nothing else."""

    def __init__(self, n: Any) -> None:
        self.n = n

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> bool:
        if self.n % 3 == 0:
            raise ValueError("left")
        return bool(self.n % 3 == 1)


class _Waiting(_Context):
    async def __aenter__(self) -> Any:
        await turn(1)
        return self.__enter__()

    async def __aexit__(self, *error: Any) -> bool:
        await turn(2)
        return self.__exit__(*error)
