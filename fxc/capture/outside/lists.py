"""Lists from outside: the stand-ins of ``containers``."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from fxc.ir.error_kinds import CHANGE_OUTSIDE

from ..guards.arrays_of_lists import Columns, Numbers, OneShape, Ragged, copied, form_of_items
from ..session.refusing import How, Request, Requests, Respecialise, refuse
from ..values.above import above
from ..values.objects import MISSING
from ..values.operands import Traced
from ..values.operator_methods import goes_first
from .containers import ExternalSequence, Held, give_reads, is_number, is_plain, settled

# Note [Lists of numbers]
# A list argument of more than a few ints, or floats, is read item by item where the program asks
# for items at known places. Where it takes all of them (a function of NumPy's, an index, a loop) or
# one at a place that is not known, the guard program makes an array of the items, whose size is a
# symbol: one input of the graph, one compilation for all lengths, and one look at each item in C.
# Of a list of lists of numbers, of any length, it makes one of all numbers, and two that say where
# each list begins and ends: these can be read as lists of a pool (Note [Pools of lists]), and as
# long as the program changes no list from outside. Of a list of many arrays that are alike it makes
# one with a row for each: these are copies (Note [Given arrays]), so guards say that nothing that
# is written is one of them. Of a list of tuples it makes such an array for each place of them.
# If the program cannot be captured so, or changes the list, it is captured again item by item.

# Note [Lists from outside that grow]
# What a branch or loop of the graph appends to a list from outside (``self.history.append(x)``)
# goes to a list of the graph, which the epilogue adds to the other one. The capture starts again
# when the first item is appended in a region. Where the program reads a list of none or few numbers
# besides (``self.history[-1]``), it does so once more: another list of the graph begins with these.
# If it reads a longer one, or changes it otherwise, it is captured with the list as it was.

_FEW = 16  # items that a list of the graph begins with


class ExternalList(ExternalSequence, list[Any]):
    """A list from outside.

    Until all of it is read, ``_seen`` holds the elements that were read or stored by their index
    (all from the front or all from the back), ``_added`` what was appended. ``_grown`` holds that
    of a list that grows, ``_all`` what it begins with, too: Note [Lists from outside that grow].
    """

    _grown: Any = None
    _is_seen = False

    def __init__(self, held: Held) -> None:
        super().__init__()
        self._held = held
        self._form: Any = None  # see Note [Lists of numbers]
        self._numbers: list[Any] | None = None
        self._is_changed = False
        self._seen: dict[int, Any] = {}
        self._added: list[Any] = []
        self._all: Any = None
        self._size: Any = None  # how many there were, where that varies

    def settle(self) -> None:
        self._check_not_growing()
        if self._whole:
            return
        self._whole = True
        held, size = self._held, len(self._held.real)
        labels = {held.name, *(f"{held.name}_{place}" for place in range(size))}
        varies = not labels.isdisjoint(held.outside.varying)
        if not (held.argument or varies or self._seen) and is_plain(held.real):
            items = held.constant(tuple(held.real))
            held.outside.check_constant(
                f"same_items({held.source.var}, {items})",
                f"{held.source.text} holds the same values",
                held.name,
            )
            found = list(held.real)
        else:
            held.check(f"len({held.source.var}) == {size}", f"has {size} elements")
            found = [self._element(place, size) for place in range(size)]
        list.extend(self, [*found, *self._added])

    def _element(self, place: int, size: int) -> object:
        if place - size in self._seen:
            return self._seen[place - size]
        return self._original(place)

    def _original(self, place: int) -> object:
        """The element at a place of the list as it was when the call began, or was stored there."""
        seen = self._seen.get(place, MISSING)
        if seen is MISSING:
            held = self._held
            name = f"{held.name}_{place}" if place >= 0 else f"{held.name}_last{-place}"
            seen = self._seen[place] = held.part(held.real[place], f"[{place}]", name)
        return seen

    def _open_place(self, key: object) -> int | None:
        """The index in the original list that ``key`` means, if nothing else has to be read."""
        self._check_not_growing()
        if self._whole or not isinstance(key, int | np.integer) or isinstance(key, bool):
            return None
        place = operator.index(key)
        place += len(self._added) if place < 0 else 0
        mixed = any((place < 0) != (known < 0) for known in self._seen)
        if mixed or not -len(self._held.real) <= place < len(self._held.real):
            return None
        return None if self._added and place >= 0 > operator.index(key) else place

    def __getitem__(self, key: Any) -> Any:
        place = self._open_place(key)
        if place is not None:
            return self._original(place)
        if isinstance(key, int) and -len(self._added) <= key < 0 and not self._whole:
            return self._added[key]
        if isinstance(key, slice) and (made := self.as_list()) is not None:
            return made[key]
        self.settle()
        return list.__getitem__(self, key)

    def length(self) -> object:
        if (grown := self.as_grown()) is not None:
            return grown.length()
        self._check_not_growing()
        if self._whole:
            return list.__len__(self)
        held = self._held
        if self._numbers is not None:
            return self._numbers[0].shape[0]
        label = f"{held.name}.len"
        if label in held.outside.varying and not held.outside.is_constant(label):
            if self._size is None:
                self._size = held.outside.length_of(held.real, held.source, held.name)
            return self._size + len(self._added)
        size = len(held.real)
        held.outside.check_constant(
            f"len({held.source.var}) == {size}", f"{held.source.text} has {size} elements", label
        )
        return size + len(self._added)

    def __len__(self) -> int:
        self.settle()
        return list.__len__(self)

    def _is_filled(self) -> object:
        return None if (grown := self.as_grown()) is None else grown.length() > 0

    def __bool__(self) -> bool:
        return bool(self.length() != 0)

    def __radd__(self, other: object) -> Any:
        if type(other) is not list:
            return NotImplemented
        self.settle()
        return other + list(self)

    # -------------------------------------------------------- numbers

    def as_array(self) -> Any:
        """A new array of the items; None if that is left to Python."""
        if not self.is_of_numbers():
            return None
        if type(self._form) in (Numbers, OneShape):
            return self._inputs()[0].copy()
        return self.as_list().as_array()

    def _inputs(self) -> list[Any]:
        """The arrays that the guard program makes of the list."""
        if self._numbers is None:
            held, form = self._held, self._form
            outside = held.outside
            held.door.lists.sized |= {self._to(How.BY_ITEMS)}
            var, source = outside.guards.constant(form), held.source
            made = outside.guards.fetch(f"{var}.arrays({source.var})", source.text)
            found: list[Any] = []
            for place, items in enumerate(form.arrays(held.real)):
                part = outside.guards.fetch(f"{made.var}[{place}]", source.text)
                beside = found[0] if 0 < place < form.alike else None
                found.append(outside.array_of_list(items, part, held.name, beside))
            for arrays, rows in copied(form, held.real, source):
                outside.stacked.append((arrays, rows, self._to(How.BY_ITEMS)))
            self._numbers = found
        return self._numbers

    def is_of_numbers(self) -> bool:
        """Whether ``as_array`` gives an array."""
        form = self._known_form()
        return type(form) in (Numbers, OneShape) or (type(form) is Columns and not form.has_arrays)

    def _known_form(self) -> object:
        """What the items are, if the guard program makes arrays of them."""
        held = self._held
        if not held.argument or self._is_changed or held.outside.dynamic is False:
            return None
        if self._to(How.GROWS) in held.outside.session.requests:
            return None
        if self._form is None and self._to(How.BY_ITEMS) not in held.outside.session.requests:
            self._form = form_of_items(held.real)
        return self._form

    def _to(self, how: How) -> Request:
        """The request to read the list, or change it, so."""
        return Request(self._held.name, how)

    def as_list(self) -> Any:
        """A new list of the graph with these items; None if that is left to Python."""
        if (grown := self.as_grown()) is not None:
            return grown[:]
        form = self._known_form()
        if form is None:
            return None
        if type(form) is Ragged:
            lists = self._held.door.lists
            if lists.is_outside_changed:
                return None
            lists.outside |= {self._to(How.BY_ITEMS)}
            return above().rows_of(str(self._to(How.BY_ITEMS)), *self._inputs())
        if type(form) is Columns:
            return above().tuples_of(self._inputs(), form.has_arrays)
        if type(form) is OneShape:
            return above().arrays_of(self._inputs()[0])
        return above().list_of(self.as_array())

    # -------------------------------------------------------- changes

    @property
    def _is_growing(self) -> bool:
        return self._held.outside.session.wants(self._held.name, How.GROWS)

    def _check_not_growing(self) -> None:
        if self._is_growing:
            self._held.outside.session.retries |= {self._to(How.BY_PYTHON)}
            raise refuse(
                CHANGE_OUTSIDE,
                "a list from outside that a branch or loop appends to, and that is read or "
                "changed otherwise,",
                "use a list of the function",
            )

    @property
    def _to_see(self) -> Requests:
        """What to ask for if the program reads a list that grows; nothing if it may not."""
        is_short = len(self._held.real) <= _FEW and all(map(is_number, self._held.real))
        return frozenset({self._to(How.GROWS), self._to(How.SEEN)} if is_short else ())

    def as_grown(self) -> Any:
        """All items of a list that grows as one of the graph; None for others."""
        wanted = self._to_see if self._is_growing else Requests()
        if not wanted <= self._held.outside.session.requests:
            raise Respecialise(*wanted)
        if wanted and not self._is_seen:
            self._is_seen, held, size = True, self._held, len(self._held.real)
            held.check(f"len({held.source.var}) == {size}", f"has {size} elements")
        return self._begin_to_grow() if wanted else None

    def _begin_to_grow(self) -> object:
        held, session, size = self._held, self._held.outside.session, len(self._held.real)
        if self._grown is None:
            held.door.lists.note_outside_changed()
            self._grown = self._all = above().list_to_grow()
            session.retries |= {self._to(How.BY_PYTHON)}
            held.outside.stored(held.name, f"{held.name}.len")
            held.change("extend", value=self._grown)
            if size and self._to(How.SEEN) in session.requests:
                self._all = above().list_to_grow(map(self._original, range(size)))
        return self._all

    def _grow(self, value: object) -> None:
        """Append to a list of the graph."""
        if self._begin_to_grow() is not self._grown:
            self._all.append(value)
        self._grown.append(value)

    def _note_change(self) -> None:
        self._check_not_growing()
        self._is_changed = True
        if self._numbers is not None:
            raise Respecialise(self._to(How.BY_ITEMS))
        self._held.door.lists.note_outside_changed()

    def append(self, value: object, /) -> None:
        if self._is_growing:
            self._grow(value)
            return
        session, grows = self._held.outside.session, self._to(How.GROWS)
        if session.region and grows not in session.requests:
            is_seen = self._whole or self._seen or self._numbers is not None
            if wanted := self._to_see if is_seen or not self._held.real else {grows}:
                raise Respecialise(*wanted)
        super().append(value)

    def _changing(self) -> None:
        self._note_change()
        super()._changing()

    def __setitem__(self, key: Any, value: Any, /) -> None:
        held = self._held
        self._note_change()
        if held.outside.session.region and type(key) is int:
            known = _plain_place(list(self), key)
            if held.door.places.takes_item(self, known):
                self.see(known, value)
                return
        place = self._open_place(key)
        held.check_allowed()
        if place is not None and place >= 0:
            before = self._seen.get(place, MISSING)
            if before is MISSING:
                held.check(f"{place} < len({held.source.var})", f"has more than {place} elements")
            self._seen[place] = value
        else:
            self.settle()
            if isinstance(key, slice):
                where, values = _plain_slice(key), list(value)
                self._change("replace", where, values)
                list.__setitem__(self, where, values)
                return
            place = _plain_place(self, key, "assignment ")
            before = list.__getitem__(self, place)
            list.__setitem__(self, place, value)
        if value is not before or is_number(value):
            held.store(place, value, f"_{place}")

    def see(self, key: int, value: object) -> None:
        """Let the program see another element, and nobody else."""
        self._note_change()
        self.settle()
        list.__setitem__(self, key, value)

    def insert(self, index: Any, value: object, /) -> None:
        self.settle()
        place = operator.index(index)
        self._change("insert", place, value)
        list.insert(self, place, value)

    def __delitem__(self, key: object, /) -> None:
        self.settle()
        where = _plain_slice(key) if isinstance(key, slice) else _plain_place(self, key)
        self._change("delitem", where)
        list.__delitem__(self, where)

    def pop(self, index: object = -1, /) -> object:
        self.settle()
        if not list.__len__(self):
            raise IndexError("pop from empty list")
        value = list.__getitem__(self, _plain_place(self, index, "pop "))
        del self[index]
        return value

    def remove(self, value: object, /) -> None:
        items = list(self)
        if value not in items:
            raise ValueError("list.remove(x): x not in list")
        del self[items.index(value)]

    def reverse(self) -> None:
        self.settle()
        self._change("reverse")
        list.reverse(self)

    def sort(self, *, key: object = None, reverse: object = False) -> None:
        self[:] = self._held.door.call(sorted, self, key=key, reverse=reverse)

    def __add__(self, other: object, /) -> Any:
        if isinstance(other, Traced):  # NumPy's numbers take a list for an array
            return NotImplemented
        return _add(self, other)

    def __mul__(self, count: Any, /) -> Any:
        return NotImplemented if goes_first(count, repeating=True) else _multiply(self, count)

    def __imul__(self, count: Any, /) -> ExternalList:
        if goes_first(count, repeating=True):
            return NotImplemented
        self[:] = list(self) * count
        return self


_add, _multiply = settled(list, "__add__"), settled(list, "__mul__")


def _plain_slice(key: slice) -> slice:
    parts = (key.start, key.stop, key.step)
    return slice(*(None if part is None else operator.index(part) for part in parts))


def _plain_place(items: list[Any], index: Any, what: str = "assignment ") -> int:
    """An index into a list as one from the front."""
    place, size = operator.index(index), list.__len__(items)
    if not -size <= place < size:
        raise IndexError(f"{'' if what == 'pop ' else 'list '}{what}index out of range")
    return place + size if place < 0 else place


_LIST_READS = (
    "__iter__ __reversed__ __contains__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ "
    "__rmul__ __repr__ copy count index"
)
give_reads(ExternalList, _LIST_READS)
