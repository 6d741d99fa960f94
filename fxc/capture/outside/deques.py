"""Deques from outside: the stand-ins of ``containers``."""

from __future__ import annotations

from collections import deque
from typing import Any

from fxc.ir.error_kinds import ARGUMENT_KIND, TEXT

from ..session.refusing import refusal, refuse
from ..values.precedence import goes_first
from .containers import ExternalSequence, Held, give_reads, refuse_others

_MOST = 64  # items that are read
_MOST_FILLING = 8  # of one that is not full: there may be one more in the next call


class ExternalDeque(ExternalSequence, deque[Any]):
    """A deque from outside, read as a whole; ``_added`` has what is appended until then."""

    def __init__(self, held: Held) -> None:
        most = held.real.maxlen
        super().__init__((), most)
        self._held = held
        self._added: list[Any] = []
        held.check(f"{held.source.var}.maxlen == {most}", f"holds {most} items at most")

    def settle(self) -> None:
        if self._whole:
            return
        held, size = self._held, len(self._held.real)
        if size > (_MOST if size == self.maxlen else _MOST_FILLING):
            raise refusal(
                ARGUMENT_KIND,
                f"{held.source.text}, a deque from outside of {size} items, is not captured; use "
                "an array",
            )
        self._whole = True
        held.check(f"len({held.source.var}) == {size}", f"has {size} items")
        items = [held.part(x, f"[{k}]", f"{held.name}_{k}") for k, x in enumerate(held.real)]
        deque.extend(self, [*items, *self._added])

    @property
    def maxlen(self) -> int | None:
        """What the guards have made sure of."""
        most: int | None = self._held.real.maxlen
        return most

    def _is_filled(self) -> Any:
        self.settle()
        return deque.__len__(self) > 0

    def __add__(self, other: object, /) -> Any:
        if goes_first(other):  # NumPy makes an array of the deque
            return list(self) + other  # type: ignore[operator]
        if goes_first(other):  # NumPy takes it for an array
            return list(self) + other  # type: ignore[operator]
        if not isinstance(other, deque):
            return NotImplemented
        return deque([*self, *other], self.maxlen)

    def __repr__(self) -> str:
        raise refuse(TEXT, "the text of a deque from outside", "use its items")

    # -------------------------------------------------------- changes

    def appendleft(self, value: object, /) -> None:
        self.settle()
        self._change("appendleft", value=value)
        deque.appendleft(self, value)

    def pop(self) -> Any:  # type: ignore[override]
        return self._taken("pop")

    def popleft(self) -> Any:
        return self._taken("popleft")

    def _taken(self, name: str) -> Any:
        self.settle()
        found = getattr(deque, name)(self)  # raises as Python does
        self._change(name)
        return found


_READS = (
    "__len__ __iter__ __reversed__ __contains__ __getitem__ __eq__ __ne__ __lt__ __le__ __gt__ "
    "__ge__ count index"
)

give_reads(ExternalDeque, _READS)
refuse_others(ExternalDeque, "a deque from outside cannot be captured; use a list")
