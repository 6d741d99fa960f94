"""How a functional graph's inputs and results map to what the caller sees."""

from __future__ import annotations

from typing import Any

import numpy as np

from .records import frozen
from .symbols import Dim
from .types import Type

# Note [Boundary of a graph]
# A functional graph takes values and gives values. The signature says
# the rest: which inputs take which result as their new content, and how each leaf of the caller's
# result is made from graph results, from input objects, and from views of either.


@frozen
class ViewStep:
    """One view operator and its arguments after the array: ``select(·, 0, 0)``."""

    op: str
    args: tuple[Any, ...]


Steps = tuple[ViewStep, ...]


@frozen
class Mutation:
    """Input number ``input`` is updated in place with the graph's result number ``result``.

    ``regions`` are views of the input, by their steps: what lies outside of all of them is the
    same in the result, and must not be written, for it may belong to others. Empty where the whole
    input may be.
    """

    input: int
    result: int
    regions: tuple[tuple[ViewStep, ...], ...] = ()


@frozen
class ResultLeaf:
    """The graph's result number ``result``: a fresh array of the given layout, or a scalar.

    Leaves with the same ``result`` are the same object.
    """

    result: int
    type: Type


@frozen
class InputLeaf:
    """The very object that was passed as input number ``input``."""

    input: int


@frozen
class ViewLeaf:
    """A view, by ``steps``, of an input object or of a fresh result.

    Leaves with the same ``identity`` are the same object; the views are made with NumPy itself.
    """

    base: InputLeaf | ResultLeaf
    steps: tuple[ViewStep, ...]
    identity: int


@frozen
class DimLeaf:
    """A Python int that depends on the sizes of inputs or on Python int arguments."""

    value: Dim


@frozen
class ConstantLeaf:
    """An object that is the same at each call: None, a string, a Python number."""

    value: Any


OutputLeaf = ResultLeaf | InputLeaf | ViewLeaf | DimLeaf | ConstantLeaf


@frozen
class Signature:
    """See Note [Boundary of a graph]."""

    mutations: tuple[Mutation, ...] = ()
    outputs: tuple[OutputLeaf, ...] = ()

    @property
    def mutated_inputs(self) -> frozenset[int]:
        return frozenset(mutation.input for mutation in self.mutations)


@frozen
class Slot:
    """An array argument of the native code, by the name of its storage.

    ``input`` is the number of the graph input that it is; otherwise the plan allocates it, with
    the axes in memory as ``order`` says (outermost first). Where a size is counted, that is with
    ``room`` for so many elements, of which it is the first in the end. Without elements its strides
    are then 0, as NumPy's are, unless it ``keeps_strides``. One with ``gaps`` is an array that a
    call gives.
    """

    name: str
    dtype: np.dtype
    shape: tuple[Dim, ...]
    order: tuple[int, ...]
    input: int | None = None
    room: Dim | None = None
    keeps_strides: bool = False
    gaps: bool = False
