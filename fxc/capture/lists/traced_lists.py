"""Lists and deques of the program that may come to depend on data.

See Note [Lists of counted length].
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from fxc.ir.graph import Literal
from fxc.ir.later import import_later
from fxc.ir.size_functions import hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim

from ..forms.form import is_of_arrays, types_of
from ..forms.mixed import scalar_kinds
from ..numbers.traced_int import wrap_dim
from ..values.operands import Traced, wrap
from ..values.operator_methods import goes_first
from ..values.protocols import TakesFunctions
from .list_buffers import any_number, any_of
from .list_changes import ChangedList, is_list, list_of, spliced
from .list_contents import SPARE, is_wide, kept
from .list_parts import ListParts
from .list_room import Room, checked_place, is_unknown, new_arrays

if TYPE_CHECKING:
    from ..regions.structured import Statement

# See Note [Rooms with one door].
arrays_in = import_later("fxc.capture.forms.items", "arrays_in")
form_of_items = import_later("fxc.capture.forms.items", "form_of_items")
takes = import_later("fxc.capture.forms.items", "takes")
widened = import_later("fxc.capture.forms.items", "widened")
array_of_list = import_later("fxc.capture.forms.leaving", "array_of_list")
dtype_as_places = import_later("fxc.capture.forms.leaving", "dtype_as_places")
may_change = import_later("fxc.capture.forms.leaving", "may_change")
dim_of = import_later("fxc.capture.numbers.dims", "dim_of")

_FEW = 16  # items that are compared one by one, copies that are joined


class TracedList(ListParts, ChangedList):
    """A list, or a deque, that the program makes."""

    __slots__ = ()
    _written_by = "_buffer"
    __array_function__ = TakesFunctions.__array_function__  # in NumPy's own code

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.of

    def __repr__(self) -> str:
        return repr(self._plain_items("the text"))

    def _snapshot(self, of: Callable[[object], Any]) -> object:
        if self.items is not None:
            return self.of(map(of, self.items))
        return self.copied(self)

    # -------------------------------------------------------- changes

    def pop(self, *places: object) -> object:
        """As ``list.pop`` or ``deque.pop``."""
        if places and self.of is deque:
            raise TypeError("deque.pop() takes no arguments")
        place = places[0] if places else -1
        return self.taken(place) if type(place) is int and place in (-1, 0) else super().pop(place)

    def insert(self, place: object, x: object) -> None:
        if self.maxlen is not None and self.python_items() is None:
            raise self.unclear(".insert() with maxlen")
        super().insert(place, x)

    def put_first(self, x: object) -> bool:
        """Store an item before the others."""
        self.add(x, first=True)
        return True

    def python_items(self) -> Any:
        """The items, where Python changes them; None where the graph does."""
        return self.items if self._is_here else None

    @property
    def _is_here(self) -> bool:
        """Whether no statement has begun since the list was made."""
        return self.is_made_in(self.session.region)

    def __setitem__(self, key: object, x: object) -> None:
        x, room = kept(x), self._room
        if isinstance(key, slice) and not self._is_changed_here(key, x):
            self.set_slice(key, x)
            return
        self._borrowed = self._borrowed and ()
        if room is not None and takes(room.form, x):
            self.put(checked_place(key) if self.is_exact else self.place_of(key), x)
            return
        owner = self.owner()
        if owner is not None and not self.has_room(owner, x):
            owner.wishes.note(self, [x])
        elif self._room is None and not isinstance(key, Traced):
            self._items[key] = x
        else:
            self.make_room([x], SPARE, None)
            self.put(self.place_of(key), x)

    def _is_changed_here(self, key: slice, more: object) -> bool:
        """Whether Python puts these items in the place of a slice of what it knows."""
        if self._room is not None or is_unknown(key) or is_in_arrays(more):
            return False
        return self.owner() is None

    def set_slice(self, key: slice, more: Any) -> None:
        """``self[key] = more``: at once where it is known to replace as many items."""
        if not isinstance(more, list):
            more = list(more) if type(more) is tuple else self.session.door.staged(list_of)(more)
        samples = more.items if isinstance(more, TracedList) else more
        if samples is None:
            samples = [any_of(more.room.form)]
        room = self._room
        if (room is None or not takes(room.form, *samples)) and not self.takes_in(*samples):
            return
        form, other = self.room.form, self._counted_side(more, self)
        if is_of_arrays(form) or may_change(form) or self.room.head is not None:
            raise self.unclear("an assignment of such items to a slice")
        columns = widened(form, *other.arrays())
        size = wrap_dim(self.size_here())
        places = [wrap(array)[:size][key] for array in self.room.arrays]
        if places[0]._type.shape[0] == other.size_here():
            for place, column in zip(places, columns, strict=True):
                place[...] = column
        elif key.step not in (None, 1):
            raise self.unclear("an assignment to every other item")
        elif self.begin_change(*samples):
            given = self.copy() if other is self else other
            self._staged(spliced, *self._bounds_of(key), given)

    def _replace(self, of: Callable[[object], Any]) -> None:
        if self._is_here:
            self._take_over(of(self))
        else:
            super()._replace(of)

    def _take_over(self, other: TracedList) -> None:
        """Take the items of a new list of the same length."""
        self.check_not_running()
        self._room, self._spare, self._size = other._room, 0, None
        self._known = other._known
        self._borrowed = self._borrowed and ()

    def extend(self, more: object) -> None:
        if self._is_here and self.of is list and is_in_arrays(more):
            self._take_over(self.joined(self, more))
        else:
            super().extend(more)

    def take_items(self, other: TracedList) -> bool:
        """Hold what another list, made here, holds instead; False if that cannot be had."""
        stays = self.length_in_python is not None and (
            self.length_in_python == other.length_in_python
        )
        self.check_not_running()
        owner = self.owner() if stays else self.owner_of_change()
        theirs = other._room
        samples = list(other._items) if theirs is None else [any_of(theirs.form)]
        is_alike = self.of is other.of and self.maxlen == other.maxlen
        has_arrays = any(True for x in samples for _ in arrays_in(x))
        if not is_alike or (has_arrays and not self._may_share(other)):
            return False
        assert owner is not None
        if not (samples or self._items or self._room):
            return True
        is_roomy = stays or theirs is None or is_wide(self._room)
        if not (is_roomy and self.has_room(owner, *samples)):
            owner.wishes.note(self, samples, once=False)
        elif theirs is not None:
            if has_arrays:
                self._borrowed = self._borrowed and ()
                self.share(other)
            return self._take_room(theirs, other)
        else:
            if not stays:
                self.clear()
            for place, x in enumerate(samples):
                if stays:
                    self.put(place, x)
                else:
                    self.append(x)
        return True

    def _may_share(self, other: TracedList) -> bool:
        """Whether it may hold the arrays that another list holds in arrays of the graph."""
        form = other.form
        known = form is not None and is_of_arrays(form) and not may_change(form)
        return known and self.form in (None, form)

    def _take_room(self, theirs: Room, other: TracedList) -> bool:
        """The same of a list that stands in arrays."""
        room = self.room
        if room.head is not None:
            self.clear()
        if theirs.head is not None or (theirs.form != room.form and len(types_of(theirs.form)) > 1):
            return False
        end = wrap_dim(other.size_here())
        for array, part in zip(
            room.arrays, widened(room.form, theirs.form, theirs.arrays), strict=True
        ):
            wrap(array)[:end] = part if isinstance(part, int) else part[:end]
        if room.head is not None:
            wrap(room.head)[0] = 0
        room.set_count(end)
        return True

    @property
    def length_in_python(self) -> int | None:
        """The length, if Python knows it."""
        if self._room is None:
            return None if self._changing or self.awaited_by() else len(self._items)
        return self._known if isinstance(self._known, int) else None

    # -------------------------------------------------------- reads

    def few_items(self) -> list[Any] | None:
        if self._room is None:
            return None if self.awaited_by() else self._items
        if isinstance(self._known, int) and self._known <= _FEW:
            return [self.at(place) for place in range(self._known)]
        return None

    @property
    def is_run_over(self) -> bool:
        """Whether loops of the graph run over it, as Python does not know the items."""
        return self._room is not None or self.awaited_by() is not None

    def _is_filled(self) -> object:
        if self._room is None:
            return any_number() > 0 if self.awaited_by() else bool(self._items)
        return self.number() > 0

    def __iter__(self) -> Iterator[Any]:
        place = 0
        while place < self._plain_length("a use in Python, or a change while it is run over,"):
            yield self[place]
            place += 1

    def _plain_length(self, what: str) -> int:
        """The length for Python, for which it becomes a constant."""
        known = len(self._items) if self._room is None else self._known
        if known is None or self.session.varies(known):
            raise self.unclear(what)
        guard(known, "==", hint(known))
        return hint(known)

    def __getitem__(self, key: object) -> Any:
        return self._slice(key) if isinstance(key, slice) else self.item(key)

    def _slice(self, key: slice) -> object:
        if self._is_asked_late(key):
            owner = self.owner()
            if owner is not None:
                return self._any_part(owner, self.not_yet(owner))
            self.make_room([], SPARE, None)
        if self.of is deque:
            raise TypeError("sequence index must be integer, not 'slice'")
        if self._room is not None:
            return self.part(key)
        if (owner := self.awaited_by()) is not None:
            return self._any_part(owner, self.any_item(owner))
        return TracedList(self._items[key])

    def _any_part(self, owner: Statement, item: object) -> TracedList:
        """What stands for a slice of a list without room."""
        is_known = self._items or owner.wishes.samples(self)
        if not is_known or scalar_kinds(item) is None:
            return TracedList(list(self._items))
        form = form_of_items([item], None)
        assert form is not None
        return TracedList.sized(form, new_arrays(form, dim_of(any_number())))

    def repeats(self) -> tuple[Literal, Dim] | None:
        """The number that all items are, and how many, if that is so where the list is made."""
        room, session = self._room, self.session
        if room is None or self._known is None or len(room.arrays) > 1:
            return None
        call = session.made.get(room.arrays[0])
        if call is None or call.name != "full" or room.arrays[0] in session.aliases.written:
            return None
        number = call.args[1]
        return (number, self._known) if isinstance(number, Literal) else None

    def as_array(self, dtype: object = None, *, taken: bool = False) -> Any:
        """``np.array(self, dtype)``; it may be ``taken`` away of a list that nobody has."""
        if self._room is None:
            return self._items
        form, arrays = self.room.form, list(self.room.arrays)
        if not (taken and self.is_exact):
            form, arrays = self.arrays()

        def is_filled() -> object:
            return (self._known is not None and guard(self._known, ">", 0)) or self._is_filled()

        return array_of_list(form, arrays, dtype, is_filled)

    def _as_places(self) -> object:
        room = self._room
        return self._items if room is None else self.as_array(dtype_as_places(room.form))

    def _plain_items(self, what: str) -> Any:
        if self._room is None:
            return self._items
        return [self.at(place) for place in range(self._plain_length(what))]

    # -------------------------------------------------------- methods and operators

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") or not hasattr(self.of, name):
            raise AttributeError(name)
        if name in ("popleft", "appendleft"):
            return partial(self.taken, 0) if name == "popleft" else partial(self.add, first=True)
        if self._room is None and self._is_here:
            return getattr(self._items, name)
        if name in ("sort", "reverse"):
            return self._sort if name == "sort" else self._reverse
        raise self.unclear(f".{name}()")

    def __eq__(self, other: object) -> bool:
        return bool(self._plain_items("==") == other)

    def __ne__(self, other: object) -> bool:
        return bool(self._plain_items("!=") != other)

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> object:
        if self.of is list:
            return self[:]
        if self._room is not None:
            raise self.unclear(".copy()")
        return self._items.copy()

    def _copied_deeply(self, is_fixed: Callable[[object], bool]) -> object:
        return self.copy() if self.has_fixed_items(is_fixed) else None

    def __contains__(self, x: object) -> bool:
        return x in self._plain_items("'in'")

    def __add__(self, other: object) -> Any:
        if goes_first(other):
            return NotImplemented
        if self.items is None or is_in_arrays(other):
            if other.__class__ is not list or self.of is not list:
                raise self.unclear("'+'")
            return self.joined(self, other)
        return self._items + plain_list(other)

    def __radd__(self, other: object) -> Any:
        return other + self._items if self._room is None else self.joined(other, self)

    def __mul__(self, count: object) -> Any:
        if goes_first(count, repeating=True):
            return NotImplemented
        is_plain = self.items is None and self.of is list
        if is_plain and type(count) is int and 0 < count <= _FEW:
            return reduce(self.joined, [self] * (count - 1), self[:])
        return self._plain_items("'*'") * count

    __rmul__ = __mul__


def list_to_grow(items: Iterable[object] = ()) -> TracedList:
    """A list, empty or with these items, as if made where the program begins."""
    return TracedList(list(items), outermost=True)


def is_in_arrays(x: object) -> bool:
    """Whether this is a list whose items stand in arrays of its own."""
    return type(x) is TracedList and x.items is None


def is_in_graph(x: object) -> bool:
    """Whether this is a list of which Python does not know the items."""
    return is_list(x) and plain_list(x) is x


def plain_list(x: object) -> Any:
    """A list whose items Python knows as Python's list; anything else itself."""
    return x.items if type(x) is TracedList and x.items is not None else x
