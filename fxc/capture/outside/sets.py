"""Sets and deques from outside: the stand-ins of ``containers``."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fxc.ir.error_kinds import ARGUMENT_KIND, CHANGE_OUTSIDE, TEXT

from ..session.refusing import refusal, refuse
from ..values.operator_methods import as_they_come, goes_first
from .containers import (
    External,
    ExternalSequence,
    Held,
    give_reads,
    is_key,
    plain_key,
    refuse_others,
    settled,
)


class ExternalSet(External, set[Any]):
    """A set of plain values from outside.

    It is read at once, unless the program changes it: then only what the program asks for is, and
    the order of its elements is not known any more.
    """

    def __init__(self, held: Held) -> None:
        super().__init__()
        self._held = held
        self._seen: dict[Any, bool] = {}
        self._changed = False
        if held.name not in held.outside.varying:
            self.settle()

    def settle(self) -> None:
        if self._whole:
            return
        self._whole = True
        held = self._held
        for value in held.real:
            self._check_key(value)
        items = held.constant(tuple(held.real))
        held.outside.check_constant(
            f"same_items(tuple({held.source.var}), {items})",
            f"{held.source.text} holds the same values",
            held.name,
        )
        set.update(self, held.real)
        for value, there in self._seen.items():
            (set.add if there else set.discard)(self, value)

    def _check_key(self, value: object) -> None:
        if not is_key(value):
            text = self._held.source.text
            raise refusal(ARGUMENT_KIND, f"{text} holds objects, which runs as plain NumPy")

    def __contains__(self, value: object) -> bool:
        value = plain_key(value)
        if self._whole:
            return set.__contains__(self, value)
        known = self._seen.get(value)
        if known is None:
            held = self._held
            self._check_key(value)
            known = self._seen[value] = value in held.real
            word = "in" if known else "not in"
            is_so = f"{held.constant(value)} {word} {held.source.var}"
            held.check(is_so, f"has {value!r} {word} it")
        return known

    def check_unchanged(self) -> None:
        """Refuse to read all of it where its order is not known any more."""
        if self._changed:
            raise refuse(CHANGE_OUTSIDE, "reading all of a set after changing it", "read it before")

    def __iter__(self) -> Iterator[Any]:
        self.check_unchanged()
        self.settle()
        return iter(tuple(self._held.real))

    def __repr__(self) -> str:
        self.check_unchanged()
        self.settle()
        return set.__repr__(self._held.real)  # in its order; of this class it would have the name

    # -------------------------------------------------------- changes

    def add(self, value: object, /) -> None:
        value = plain_key(value)
        if not is_key(value):
            raise refuse(CHANGE_OUTSIDE, "adding an object to a set from outside")
        self._note("add", value, True)

    def discard(self, value: object, /) -> None:
        self._note("discard", plain_key(value), False)

    def remove(self, value: object, /) -> None:
        if value not in self:
            raise KeyError(value)
        self.discard(value)

    def _note(self, action: str, value: object, there: bool) -> None:
        hash(value)
        self._change(action, value=value)
        if self._whole:
            (set.add if there else set.discard)(self, value)
        else:
            self._seen[value] = there

    def update(self, *others: Iterable[object]) -> None:
        for other in others:
            for value in as_they_come(other):
                self.add(value)

    def __ior__(self, other: Any, /) -> ExternalSet:  # type: ignore[misc]
        if not isinstance(other, set | frozenset):
            return NotImplemented
        self.update(other)
        return self

    def _changing(self) -> None:
        super()._changing()
        self._held.outside.stored(self._held.name)
        self._changed = True


_SET_READS = "__len__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ isdisjoint issubset issuperset"
_SET_ALGEBRA = (
    "__and__ __or__ __sub__ __xor__ __rand__ __ror__ __rsub__ __rxor__ copy union intersection "
    "difference symmetric_difference"
)


def _unchanged(name: str) -> Callable[..., Any]:
    method = settled(set, name)

    def run(self: ExternalSet, *args: object) -> object:
        self.check_unchanged()
        return method(self, *args)

    return run


give_reads(ExternalSet, _SET_READS)
for _name in _SET_ALGEBRA.split():
    setattr(ExternalSet, _name, _unchanged(_name))
refuse_others(ExternalSet, "a set from outside cannot be captured; use add and discard")

# ------------------------------------------------------------------ deques


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

    def _is_filled(self) -> object:
        self.settle()
        return deque.__len__(self) > 0

    def __add__(self, other: object, /) -> Any:
        if goes_first(other):  # NumPy makes an array of the deque
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

    def pop(self) -> object:  # type: ignore[override]
        return self._taken("pop")

    def popleft(self) -> object:
        return self._taken("popleft")

    def _taken(self, name: str) -> object:
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
