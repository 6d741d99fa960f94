"""What values do by modules above them: one table, which one module fills."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.ir.records import frozen
from fxc.ir.symbols import Dim

# Note [What modules above do]
# Some of what a value does takes modules that know such values themselves: ``[0] * n`` of a traced
# int makes a list of the graph, which holds such ints; an operator on one of two things makes a
# branch, which joins things that differ. A module imports from below alone, so each such function
# has an entry here, and is called as ``above().repeated(…)``. The module ``services`` says which
# function that is; ``capture`` hands the table over before anything is captured.

Later = Callable[[], Any]


@frozen(eq=False)
class Above:
    """The functions."""

    # NumPy's protocols.
    array_ufunc: Callable[[np.ufunc, str, tuple[Any, ...], object], object]
    array_function: Callable[[object, object, object], object]
    as_function: Callable[[Any, Any, Any], Any]  # of a method
    with_class: Callable[[Any, Any, Any, Any], Any]  # see Note [Classes of arrays]
    class_relied_on: Callable[[Any, Any, Any], Any]  # of an array from outside
    called_as_is: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]  # in the graph

    chosen: Callable[[Any, object, Later, Later], Any]  # ``then() if test else orelse()``
    one_way: Callable[[Any, Any, Later, Later], object]  # by what differs
    counted: Callable[[Any], Any]  # what a loop runs over; None where Python does
    elements_in_order: Callable[[Any], object]  # what a loop over ``x.flat`` runs over
    decoded: Callable[[Any], object]  # ``x.tobytes().decode()``
    character: Callable[[Any], Any]  # the element that an array of rank 0 shows
    mixed: Callable[..., Any]  # an operator of numbers: Note [Mixed scalars]
    of_one_dtype: Callable[[Sequence[Any]], Any]  # items of an array, such numbers among them
    bytes_of: Callable[[Any], Any]  # which stand in this array
    text_of: Callable[[Any], Any]  # whose characters have these codes

    repeated: Callable[[list[Any], Dim], object]  # ``items * count``
    to_list: Callable[[Any], object]  # ``x.tolist()``
    list_of: Callable[[Any], object]  # a new vector's items; None where Python makes the list
    tuples_of: Callable[..., object]  # whose items stand in arrays, copies of the caller's or new
    arrays_of: Callable[[Any], object]  # whose items are the rows of an array, a copy
    rows_of: Callable[[str, Any, Any, Any], object]  # lists whose items stand in a vector
    list_to_grow: Callable[..., Any]  # empty or not, as if made where the program begins


_served: list[Above] = []


def serve(services: Above) -> None:
    """Have all of it done by these functions."""
    _served[:] = [services]


def above() -> Above:
    """The functions of modules above."""
    return _served[0]


def chosen_of(door: object, test: object, x: object, y: object) -> Any:
    """``x if test else y``, of what there is already."""
    return above().chosen(door, test, lambda: x, lambda: y)
