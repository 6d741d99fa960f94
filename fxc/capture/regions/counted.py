"""What a loop can run over without Python: ranges, arrays, ``enumerate`` and ``zip`` of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import numpy as np

from fxc.ir.error_kinds import CHANGE_IN_LOOP, ITERATOR
from fxc.ir.errors import CaptureError
from fxc.ir.graph import Literal, Operand
from fxc.ir.size_functions import floordiv, hint, maximum
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, SymFunc, counted_in
from fxc.ir.types import ScalarType
from fxc.ops.metas.shapes import normalize_slice, slice_length

from ..arrays.traced_array import TracedArray
from ..arrays.ufuncs import call_ufunc
from ..forms.imported_later import demand
from ..numbers.imported_later import derived, dim_of, known_size, no_int
from ..numbers.python_numbers import arithmetic, extremum, scalar_of, to_bool, to_int
from ..numbers.traced_int import TracedInt, exact, int_dim, wrap_dim
from ..numbers.varying import decide_in_loops
from ..outside.lists import ExternalList
from ..session.refusing import Respecialise, refuse
from ..session.session import current
from ..values.limited import refuse_methods
from ..values.operands import Traced, TracedValue, is_scalar, operand, record, settled


def both_hold(one: object, other: object) -> Any:
    """Whether two tests hold, of which some are not known."""
    if type(one) is not bool and type(other) is not bool:
        return to_bool(call_ufunc("logical_and", one, other))
    return (one and other) if type(one) is bool else (other and one)


def int_to_find(x: object) -> Any:
    """An int, which may be none of Python's, that is looked for in a range; None for others."""
    if is_scalar(x) and operand(x).type.dtype.kind in "iub":
        return to_int(x)
    return None if int_dim(x) is None else x


FEW = 4  # iterations that Python runs in any case
Item = Callable[[Any], Any]


def _changes(x: Any) -> int:
    """How often a list has been changed, or how long it is."""
    return len(x) if type(x) in (list, tuple) else getattr(x, "changes", 0)


class _Items:
    """What a loop runs over; ``once``: an iterator, whose items are gone afterwards."""

    length: Callable[[], Any]  # how many items there are, a Python int of the graph
    at: Callable[[Any], Any]  # the item at a place, counted from the first
    by_next: Respecialise | None = None  # to have it otherwise, so that ``next`` may take items

    def __init__(self, of: tuple[Any, ...], *, once: bool, is_range: bool) -> None:
        self.of, self.once = of, once  # ``of``: the lists that are run over
        self._is_range = is_range
        self.used = False
        self._home = current().region

    def _in_python(self, places: Iterable[object], item: Item) -> Iterator[Any]:
        """The items for a loop that Python runs; it does not see changes to the lists."""
        before = [_changes(x) for x in self.of]
        for place in places:
            yield item(place)
            if [_changes(x) for x in self.of] != before:
                raise refuse(CHANGE_IN_LOOP, "a change to a list while a loop runs over it")

    def _is_instance(self, kinds: type | tuple[type, ...]) -> bool:
        """``isinstance(self, kinds)`` in the program."""
        if self.once or not self._is_range:
            raise refuse(ITERATOR, "isinstance() of an iterator of unknown numbers")
        return issubclass(range, kinds)

    def taken(self) -> Self:
        """This, to be run over now."""
        if self.used or (self.once and current().in_loop(self._home)):
            raise refuse(ITERATOR, "running over one iterator twice", "make it a list")
        self.used = self.once
        return self

    def __next__(self) -> Any:
        if not self.once:
            raise TypeError("'range' object is not an iterator")
        raise self.by_next or refuse(ITERATOR, "next() of an iterator over arrays or ranges")


class Counted(_Items, Traced):
    """``count`` items; ``item(k)`` gives the one at ``k``, an int, traced or not.

    Iterated by Python it is as long as it is in this call. A range with this ``first`` item and
    ``step`` is an array beside arrays.
    """

    _written_by = "_refuse_range"

    def __init__(
        self,
        count: Dim,
        item: Item,
        *,
        once: bool = False,
        of: tuple[object, ...] = (),
        steps: tuple[Any, Any] | None = None,
    ) -> None:
        super().__init__(of, once=once, is_range=steps is not None)
        self.count = count
        self.item = self.at = item
        self.steps = steps

    @property
    def size(self) -> Dim:
        """``count``; a range whose bounds vary in loops may have one below 0, which is none."""
        return maximum(self.count, 0)

    def length(self) -> Any:
        return wrap_dim(self.size)

    def _has(self, x: object) -> object:
        first, step = self.steps or (0, None)
        if type(step) is not int:
            return NotImplemented
        number = int_to_find(x)
        if number is None:
            return NotImplemented
        ends = first, first + step * (self.length() - 1)
        least, most = ends if step > 0 else ends[::-1]
        inside = both_hold(number >= least, number <= most)
        return inside if step in (1, -1) else both_hold(inside, (number - first) % step == 0)

    def _holds(self) -> Iterable[Any]:
        return (*self.of, self.item)  # a function of the program's may be in ``item``

    def _operand(self) -> Operand:
        if self.steps is None:
            raise refuse(
                ITERATOR, "an iterator among arrays", "use an array, or a list of its items"
            )
        if decide_in_loops(self.size, ">", 0) is not True and current().varies(self.size):
            demand(wrap_dim(self.size) > 0)  # an array of nothing is one of floats
        first, step = map(operand, self.steps)
        return current().value("arange", first, step, length=self.size, dtype=np.dtype(np.int64))

    def __iter__(self) -> Iterator[Any]:
        self.taken()
        return self._in_python(range(int(wrap_dim(self.count))), self.item)

    def __len__(self) -> int:
        return int(wrap_dim(self.count))

    def __getitem__(self, key: object) -> Any:
        if self.once:
            raise TypeError("'zip' object is not subscriptable")
        if not isinstance(key, slice):
            place = dim_of(key, "an index")
            place = place + self.size if guard(place, "<", 0) else place
            if not (guard(place, ">=", 0) and guard(place, "<", self.size)):
                raise IndexError("range object index out of range")
            return self.item(wrap_dim(place))
        bounds = (key.start, key.stop, key.step)
        start, stop, step = (None if x is None else dim_of(x, "a slice bound") for x in bounds)
        spec = normalize_slice(start, stop, step, self.size)
        return Counted(
            slice_length(spec),
            lambda k: self.item(wrap_dim(spec.start) + k * wrap_dim(spec.step)),
            of=self.of,
        )


class Bounded(_Items):
    """A range whose bounds, or whose step, are known at run time only: a loop runs from ``low`` to
    ``high``, and ``item(k)`` is what it runs over; the counter itself if there is no ``item``.
    It begins at the end of the range ``asked`` for if it is ``turned``. What Python runs over is
    the range, or what ``iterator`` gives. There are so many parameters because Python and a loop
    of the graph run over it in ways of their own.
    """

    def __init__(
        self,
        asked: tuple[Any, ...],
        low: object,
        high: object,
        item: Item | None = None,
        of: tuple[object, ...] = (),
        *,
        once: bool = False,
        turned: bool = False,
        iterator: Callable[[], Iterator[Any]] | None = None,
    ) -> None:
        super().__init__(of, once=once, is_range=item is None)
        self._iterator = iterator
        self._asked = asked
        self.low = low
        self.high = high
        self.item = item
        self._turned = turned

    def length(self) -> Any:
        low, high = map(_python_int, (self.low, self.high))
        return extremum("maximum", (arithmetic("sub", high, low), 0))

    def _has(self, x: object) -> object:
        number = int_to_find(x)
        if number is None or self.item is not None or len(self._asked) > 2:
            return NotImplemented
        low, high = map(_python_int, (self.low, self.high))
        return both_hold(number >= low, number < high)

    def at(self, place: object) -> object:
        found = arithmetic("add", _python_int(self.low), place)
        return found if self.item is None else self.item(found)

    def backwards(self, *, once: bool) -> Bounded:
        """The same items from the last to the first."""
        session = current()
        low, high = (operand(_python_int(x)) for x in (self.low, self.high))
        last = session.record("py_subtract", high, Literal(1))

        def item(k: object) -> object:
            left = session.record("py_subtract", last, operand(k))
            place = record("py_add", low, left)
            return place if self.item is None else self.item(place)

        asked, turned = self._asked, not self._turned
        return Bounded(asked, self.low, self.high, item, self.of, once=once, turned=turned)

    def _holds(self) -> Iterable[Any]:
        return (*self.of, self.item, self._iterator)

    def __iter__(self) -> Iterator[Any]:
        self.taken()
        if self._iterator is not None:
            return self._iterator()
        places = range(*self._asked)
        if self.item is None or not self.of:
            return iter(places[:: -1 if self._turned else 1])
        return self._in_python(places, self.item)  # which begins at the end by itself

    def __getitem__(self, key: object) -> Any:
        if self.once:
            raise TypeError("'range_iterator' object is not subscriptable")
        if isinstance(key, slice) and (key.start, key.stop, key.step) == (None, None, -1):
            return self.backwards(once=False)
        raise self.refused()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self.refused()

    __hash__ = object.__hash__

    def refused(self, what: str = "") -> CaptureError:
        return refuse(
            ITERATOR,
            "a range of numbers that are not known, in this operation,",
            "run over it, or work with its bounds",
        )


refuse_methods(Bounded, dict.fromkeys(("__len__", "__eq__", "__index__"), ""))  # and so its truth


def _is_index(x: object) -> bool:
    """Whether ``operator.index`` takes it: ints, and Python's bools, but none of NumPy's."""
    if not isinstance(x, TracedValue):
        return isinstance(x, int | np.integer)
    kind = x._value.type
    if isinstance(kind, ScalarType) and kind.weak:
        return kind.dtype.kind in "bi"
    return kind.rank == 0 and kind.dtype.kind in "iu"


def range_of(*args: Any) -> Any:
    """``range(…)``."""
    args = tuple(exact(arg._plain()) if isinstance(arg, Traced) else arg for arg in args)
    if not any(isinstance(arg, TracedInt | TracedValue) for arg in args):
        return range(*args)
    low, high, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    for arg in (low, high, step):
        if not _is_index(arg):
            raise no_int(arg.__class__, arg.__class__.__name__)
    if type(step) is int and step == 0:
        raise ValueError("range() arg 3 must not be zero")
    low, high, step = map(_measured, (low, high, step))
    dims = [int_dim(x) for x in (low, high, step)]
    first, last, by = dims
    if first is None or last is None or by is None or _is_found_late(by):
        return _bounded(args, low, high, step)
    if not guard(by, ">", 0):
        if not guard(by, "<", 0):
            return range(int(low), int(high), int(step))
        first, last, by = -first, -last, -by
    span = last - first
    if not current().varies(span) and not guard(span, ">", 0):
        return range(0)
    begin, every = wrap_dim(dims[0] or 0), wrap_dim(dims[2] or 0)
    trips = floordiv(span + (by - 1), by)
    return Counted(trips, lambda k: begin + k * every, steps=(begin, every))


def _measured(x: object) -> Any:
    """A number as the size that it is, if an array is of that size, or as guards compute it."""
    if not isinstance(x, TracedValue) or x._value.type.rank:
        return x
    dim = known_size(x._value)
    found = derived(int, x._value) if dim is None else wrap_dim(dim)
    return x if found is None else found


def _is_found_late(step: Dim) -> bool:
    """Whether a step is known at run time only, or lowering knows no bounds of a quotient by it."""
    if isinstance(step, int):
        return False
    atoms = (atom for atoms, _ in step.terms for atom in atoms)
    return current().varies(step) or any(isinstance(atom, SymFunc) for atom in atoms)


def _bounded(asked: tuple[object, ...], low: object, high: object, step: object) -> Bounded:
    """A range of numbers of the graph, whose items cannot leave 64 bits, as its bounds do not."""
    if type(step) is int and step == 1:
        return Bounded(asked, low, high)
    first, last, by = (_python_int(x) for x in (low, high, step))
    session = current()
    is_down = by < 0 if type(by) is int else type(by) is TracedInt and hint(by._dim) < 0
    if type(by) is not int:  # a step of another sign: Python says what that is
        session.record("try_demand", operand(arithmetic("lt" if is_down else "gt", by, 0)))
    distance = arithmetic("sub", 0, by) if is_down else by
    span = arithmetic("sub", *((first, last) if is_down else (last, first)))
    trips = arithmetic("floordiv", arithmetic("add", span, distance - 1), distance)

    def item(k: object) -> object:
        way = session.record("py_multiply", operand(k), operand(by))
        return record("py_add", operand(first), way)

    return Bounded(asked, 0, trips, item)


def _python_int(x: Any) -> Any:
    found = scalar_of(x)
    if found is not None:
        return to_int(found)
    return x if type(x) is TracedInt else int(x)


def counted(x: object) -> Any:
    """``x`` as something that is counted; None for what only Python can run over."""
    x = settled(x)
    if type(x) is ExternalList:
        x = x.as_list()
    if type(x) is Counted or type(x) is Bounded:
        return x
    if isinstance(x, Traced) and (found := x._counted()) is not None:
        return found
    if type(x) is range and len(x[: sys.maxsize]) < sys.maxsize:  # else it may have no length
        return Counted(len(x), lambda k: x.start + k * x.step)
    if isinstance(x, TracedArray):
        if not x.ndim:
            raise TypeError("iteration over a 0-d array")
        return Counted(x._type.shape[0], lambda k: x[k])
    if type(x) is str or type(x) is bytes:
        current().door.outside.note_characters(x, len(x))
    return None


_CONSTANTS = (type(None), bool, str, TracedArray)  # of numbers loops may make lists of the graph


def of_one_thing(x: Any) -> object:
    """A list or tuple of which all items are one constant or array, such as ``[None] * n``:
    counted, as no iteration need know its place; else ``x``. (What loops change is of the graph.)
    """
    if type(x) not in (list, tuple) or len(x) < 2 or type(x[0]) not in _CONSTANTS:
        return x
    return Counted(len(x), lambda k: x[0], of=(x,)) if all(each is x[0] for each in x) else x


def are_few(found: object) -> bool:
    """Whether Python runs a loop over these in any case."""
    return type(found) is Counted and type(found.count) is int and found.count <= FEW


def over_numbers(found: object) -> object:
    """What is counted; with a counter that is a number of the graph if the count follows from data
    and is taken to be 0. That is no more than a guess, but no symbol can stand for a counter of
    which there is no value.
    """
    if type(found) is not Counted or not counted_in(found.count) or hint(found.count) > 0:
        return found
    many = wrap_dim(found.count)
    return Bounded((many,), 0, many, found.taken().item, found.of)
