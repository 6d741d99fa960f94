"""Which memory the arrays of a capture show: what they are views of, and inputs that overlap."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fxc.ir.graph import Value

from ..guards.facts import apart
from .recorder import Recorder, options_of


class ShownMemory:
    """Which arrays show the memory of others."""

    def __init__(self, session: Recorder) -> None:
        self._session = session
        self.bases: dict[Value, Value] = {}  # views by the array they were made from
        self.input_arrays: dict[Value, np.ndarray] = {}
        self._apart: dict[frozenset[Value], bool] = {}  # pairs of them

    def root(self, value: Value) -> Value:
        """The array whose memory ``value`` shows."""
        while value in self.bases:
            value = self.bases[value]
        return value

    def roots(self, value: Value) -> frozenset[Value]:
        """The arrays whose memory ``value`` may show."""
        return frozenset(map(self.root, options_of(self._session, value)))

    def may_share_memory(self, left: Value, right: Value) -> bool:
        """Whether two arrays may show parts of one."""
        others = self.roots(right)
        return any(not others.isdisjoint((x, *self.overlapping(x))) for x in self.roots(left))

    def dynamic_indices(self, view: Value) -> Iterator[Value]:
        """The scalars of the graph that say which part of an array a view shows."""
        calls = map(self._session.made.__getitem__, self._views(view))
        yield from (call.args[1] for call in calls if call.name == "dynamic_select")

    def _views(self, value: Value) -> Iterator[Value]:
        """What shows the memory of another array: the value, and each that it is a view of."""
        while value in self.bases:
            yield value
            value = self.bases[value]

    def overlapping(self, root: Value) -> list[Value]:
        """Other inputs that have elements in common with an input in this call, which guards will
        say if one of them is written. See Note [Overlapping inputs].
        """
        if root not in self.input_arrays:
            return []
        return [x for x in self.input_arrays if x is not root and not self._are_apart(root, x)]

    def _are_apart(self, left: Value, right: Value) -> bool:
        pair = frozenset((left, right))
        if pair not in self._apart:
            arrays = (self.input_arrays[left], self.input_arrays[right])
            self._apart[pair] = apart(*arrays)
        return self._apart[pair]
