"""``id(x)`` while the program is captured: it can be compared, and be a key."""

from __future__ import annotations

from typing import Any

from fxc.ir.error_kinds import IDENTITY

from ..session.refusing import refusal
from ..session.session import current
from .limited import Limited, refuse_methods
from .operands import Traced, TracedValue


class Identity(Limited):
    """The identity of an object; the number is another one in each call."""

    __slots__ = ("of",)

    def __init__(self, of: object) -> None:
        self.of = of

    def __eq__(self, other: object) -> Any:
        if type(other) is not Identity:
            raise self.refused()
        return current().door.same(self.of, other.of)

    def __ne__(self, other: object) -> Any:
        return not self == other

    def __hash__(self) -> int:
        # Other arrays of this call may be one in the next: they are compared, which is guarded.
        return 0 if isinstance(self.of, TracedValue) else id(self.of)

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # Python asks of any object what it may have
            raise AttributeError(name)
        raise self.refused()

    def refused(self, what: str = "") -> Exception:
        return refusal(
            IDENTITY,
            "the number that id() gives cannot be captured, but to compare it with another",
        )


_NUMBERS = """
    add radd sub rsub mul rmul mod floordiv truediv and rand or ror xor rxor lshift rshift neg abs
    int float index str format
"""
refuse_methods(Identity, {f"__{name}__": "" for name in _NUMBERS.split()})


def has_grown(x: object) -> bool:
    """Whether this is an array that grows: Note [Arrays that grow]."""
    return isinstance(x, Traced) and x._grows is True


def grown(x: object) -> object:
    """``x``, or the array that one which has grown is by now."""
    return x._settled() if isinstance(x, Traced) and x._grows is False else x
