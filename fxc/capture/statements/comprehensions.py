"""List comprehensions over what is counted: Python makes them, or they are lists of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import GeneratorType
from typing import Any

from fxc.ir.error_kinds import ITERATOR, TOO_LARGE
from fxc.ir.errors import CaptureError
from fxc.ir.later import import_later
from fxc.ir.records import frozen, replace
from fxc.ir.size_functions import hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, counted_in

from ..regions.counted import Bounded, Counted, are_few, counted
from ..regions.needed import StatementDoor
from ..session.locations import user_location
from ..session.refusing import How, Request, Respecialise, refuse
from ..values.operands import Traced

# See Note [Rooms with one door].
repeated_items = import_later("fxc.capture.lists.sized_lists", "repeated")
repeated_lists = import_later("fxc.capture.lists.lists_of_lists", "repeated")
taken_up = import_later("fxc.capture.statements.driven", "taken_up")

Each = Callable[..., Any]  # what is computed of an item
Items = Counted | Bounded
MOST_LISTED = 256  # items of a list that are computed one by one
MOST_KNOWN = 32  # iterations over numbers that Python runs, so that what follows is known, too
MOST_APART = 16  # items of a list of numbers that are not known in any case


@frozen
class Comprehension:
    """``(each(item) for item in items if test(item))``; if it ``unpacks``, an item is the arguments
    of both. ``over(items)`` is that in Python.

    One with several ``for`` is over the items of the first: see ``nests.nest`` for what ``each``
    is then. One that is a generator, no list, ``is_lazy``.
    """

    items: Any
    over: Each
    each: Each
    test: Each | None = None
    unpacks: bool = False
    is_lazy: bool = False

    @property
    def of_item(self) -> Each:
        """What is computed of an item as a whole."""
        each = self.each
        return (lambda item: each(*item)) if self.unpacks else each

    @property
    def holds(self) -> Each | None:
        """Whether an item as a whole counts."""
        test = self.test
        return test if test is None or not self.unpacks else (lambda item: test(*item))


class Filtered(Traced):
    """``filter(test, items)`` of what is counted, to be taken up as a comprehension is."""

    def __init__(self, items: Items, test: Each) -> None:
        self._test = test
        self._made: Comprehension | None = Comprehension(items, self._over, itself, test)

    @property
    def made(self) -> Comprehension:
        """The comprehension that it is, as long as nothing was asked of it."""
        if self._made is None:
            raise refuse(ITERATOR, "a filter over arrays or ranges, behind next() of it,")
        return self._made

    def for_next(self) -> Comprehension:
        """The comprehension whose first item is the next one; the others are not known then."""
        made, self._made = replace(self.made, is_lazy=True), None
        return made

    def _over(self, items: Iterable[object]) -> list[object]:
        return [item for item in items if self._test(item)]

    def __iter__(self) -> Iterator[Any]:
        """One item after the other: what is done with one may decide on the next."""
        return (item for item in self.made.items if self._test(item))

    def _holds(self) -> Iterable[Any]:
        return () if self._made is None else (self._made.items, self._made.test)


def is_filtered(x: object) -> bool:
    return type(x) is Filtered


def filtered(door: StatementDoor, made: Comprehension) -> Any:
    """``[each(item) for item in items if test(item)]``."""
    items, over = made.items, made.over
    if (taken := as_driven(door, made)) is not None:
        return taken
    found = counted(items)
    by_elements = Request(f"comprehension {user_location()}", How.BY_ELEMENTS)
    is_counted = type(found) in (Counted, Bounded)
    is_open = type(found) is Counted and counted_in(found.count)  # Python cannot run over it
    if by_elements not in door.session.requests and not is_open:
        try:
            return over(found if is_counted and type(items) is not range else items)
        except CaptureError:
            raise Respecialise(by_elements) from None
    return _gathered(door, found if is_counted else items, made)


def as_driven(door: StatementDoor, made: Comprehension) -> object:
    """The list of a comprehension over a generator that is to be driven; else None."""
    if type(made.items) is not GeneratorType and not isinstance(made.items, enumerate):
        return None
    return taken_up(door, made.items, made.of_item, made.holds)


def _gathered(door: StatementDoor, found: object, made: Comprehension) -> Any:
    """The same as a list of counted length."""
    in_graph = type(found) in (Counted, Bounded) and not are_few(found)
    start = door.lists.made([], f"of comprehension {user_location()}", in_graph=in_graph)
    return door.staged(gathered)(found, made.of_item, made.holds, start)


def mapped(door: StatementDoor, repeats: bool, made: Comprehension) -> Any:
    """``[each(item) for item in items]``: of more than a few items a list of the graph, to which a
    loop appends. Where that ``repeats`` what is alike, it is a list of a size: Notes [Lists of a
    size] and [Lists of lists]. Else Python makes it.
    """
    items, over = made.items, made.over
    if (taken := as_driven(door, made)) is not None:
        return taken
    found = counted(items)
    by_python = Request(f"comprehension {user_location()}", How.BY_PYTHON)
    if type(found) is Bounded:
        return filtered(door, made)
    if type(found) is not Counted or _is_short(items, found.count):
        return over(listed(items))
    if counted_in(found.count):
        return filtered(door, made)
    if by_python in door.session.requests and hint(found.count) <= MOST_LISTED:
        return over(items)
    door.lists.sized |= {by_python}
    if repeats:
        alike = _repeated(by_python, found.count, made.each)
        if alike is NotImplemented:
            return over(items)
        found.taken()
        return alike
    return _gathered(door, found, made)


def _is_short(items: object, count: Dim) -> bool:
    """Whether Python makes a list of so many items one by one, so that each is known."""
    return type(count) is int and count <= (MOST_KNOWN if type(items) is range else MOST_APART)


def is_long(x: object) -> bool:
    """Whether a loop makes a list of the items of this iterator."""
    if type(x) is Counted:
        return x.steps is None and not _is_short(x, x.count)
    return type(x) in (Bounded, Filtered)


def list_of_items(door: StatementDoor, items: Items | Filtered) -> Any:
    if isinstance(items, Filtered):
        return filtered(door, items.made)
    return mapped(door, False, Comprehension(items, list, itself))


def listed(items: object) -> object:
    """What a list is made of, item by item."""
    found = counted(items)
    if type(found) is Counted and type(found.count) is int and found.count > MOST_LISTED:
        raise refuse(
            TOO_LARGE,
            f"a list of {found.count} items, each computed by itself,",
            "use operations on arrays, np.array([…]) at once, or a loop that stores the elements",
        )
    return items


def _repeated(by_python: Request, count: Dim, each: Each) -> Any:
    """A list of the graph of so many items that are alike; NotImplemented if it cannot be one."""
    if not guard(count, ">", 0):
        return NotImplemented
    item = each(*[None] * each.__code__.co_argcount)
    if type(item) in (bool, int, float):
        return repeated_items([item], count)
    return repeated_lists(by_python, count, item)


def itself(item: object) -> Any:
    """An item of which nothing is computed."""
    return item


# ------------------------------------------------------------------ staged


def gathered(items: Items, each: Each, test: Each | None, found: list[object]) -> Any:
    for item in items:
        if test is None or test(item):
            found.append(each(item))
    return found


# ------------------------------------------------------------------ called by what is staged


def count_of(items: Items) -> Any:
    return items.length()


def item_of(items: Items, place: object) -> Any:
    return items.at(place)
