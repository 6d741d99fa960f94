"""What a buffer holds: items in Python, or in arrays of the graph, with a length.

See Note [Lists of counted length].
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from fxc.ir.error_kinds import EITHER_ARRAY
from fxc.ir.graph import Value
from fxc.ir.later import import_later
from fxc.ir.symbols import Dim

from ..forms.form import Form, is_of_arrays
from ..numbers.traced_int import wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from ..values.identity import has_grown
from ..values.operands import Traced, operand, settled, wrap
from .list_room import Int, Room

# See Note [Rooms with one door].
arrays_in = import_later("fxc.capture.forms.items", "arrays_in")
records_in = import_later("fxc.capture.forms.items", "records_in")
are_fixed = import_later("fxc.capture.forms.leaving", "are_fixed")
give = import_later("fxc.capture.regions.given", "give")
take_over = import_later("fxc.capture.regions.given", "take_over")

MOST_APPENDED = 2**17  # items where the number of iterations is not known
MOST_ARRAYS = 2**12  # likewise, of arrays
MOST_KEYS = 2**16  # likewise, of dicts and sets
SPARE = 16  # items that may be appended later, one by one


class Contents(Traced):
    """Items, the length, and what is known of it."""

    __slots__ = (
        *("_borrowed", "_changing", "_depth", "_fixed", "_items", "_keeper", "_most", "_pace"),
        *("_room", "_size", "_spare", "_turns", "changes", "home", "leaves", "maxlen", "of"),
        "session",
    )

    def __init__(
        self,
        items: object = None,
        *,
        outermost: bool = False,
        most: int | None = None,
        leaves: bool = False,
    ) -> None:
        self.session = session = current()
        self._most = most  # items where their number is not known
        self._items: Any = [] if items is None else items
        self.of: type = type(self._items)  # list or deque
        self.maxlen: int | None = getattr(items, "maxlen", None)  # of a deque
        self._turns = self.maxlen is not None  # whether items come or go at the start
        self._room: Room | None = None
        # The region that it is made in, or the outermost one: as if it had been made at the start.
        self.home = 0 if outermost else session.region
        self._depth = 0 if outermost else len(session.statements)
        self.leaves = leaves  # whether Python has the items behind a loop that appends some
        self._spare = 0
        self._size: tuple[int, int, Dim] | None = None  # when and where it was counted
        self._fixed: Dim | None = None  # the length here, or before a loop that keeps a pace
        self._pace: Any = None  # of a loop that is recorded: a Growth
        self._changing = False  # whether a statement changes the length
        self.changes = 0  # of the length, or of which items these are
        self._keeper: Contents | None = None  # the list that this is a part of
        # The items that it begins with, if they are the caller's arrays, and () after changes.
        self._borrowed: Sequence[Any] | None = None

    def _holds(self) -> Iterable[Any]:
        return self.items or ()

    @property
    def items(self) -> Any:
        """The items, as far as Python knows them."""
        return self._items if self._room is None else None

    @property
    def room(self) -> Room:
        """The arrays in which the items stand, which is certain where this is asked."""
        assert self._room is not None
        return self._room

    @property
    def form(self) -> Form | None:
        """What the items are; None while Python knows them."""
        return None if self._room is None else self._room.form

    def has_fixed_items(self, is_fixed: Callable[[object], bool]) -> bool:
        """Whether nothing can change an item. Of those that Python knows ``is_fixed`` says so."""
        if self._room is None:
            return all(map(is_fixed, self._items))
        return self.form is None or are_fixed(self.form)

    def is_made_in(self, region: int) -> bool:
        return self.home == region

    def borrow(self, items: Sequence[object]) -> None:
        """Note that it has arrays of the caller's: these, which it begins with, or others."""
        self._borrowed = items
        self.session.aliases.borrowers.append(self)

    @property
    def keeper(self) -> Contents:
        """The list to which its arrays are given."""
        return self if self._keeper is None else self._keeper.keeper

    def share(self, other: Contents) -> None:
        """Note that it has arrays of another list, which are that one's."""
        keeper = self.keeper
        if keeper is not other.keeper:
            keeper._keeper = other.keeper
        if other._borrowed is not None:
            self.borrow(())

    @property
    def borrowed(self) -> Sequence[Any]:
        """The arrays of the caller's that it begins with, and with them what is between them."""
        if not self._borrowed:
            self.check_owned()
        return self._borrowed or ()

    def check_owned(self) -> None:
        """Refuse to be a result with arrays that are not its own, or that a variable has, too:
        lists that have one keeper may have the same ones.
        """
        kept = any(x.keeper is self.keeper for x in self.session.aliases.kept)
        if self._borrowed is not None or kept:
            raise self.session.aliases.refuse_borrowed(
                "a list that began with an array of the caller's, and has changed, has a part of "
                "another array, or an array from before the loop or of another place of a list, "
                "cannot be captured as a result; begin with or append a copy"
            )

    # -------------------------------------------------------- the length

    @property
    def _known(self) -> Dim | None:
        """The length where it follows from sizes, see Note [Lists of a size]."""
        pace, fixed = self._pace, self._fixed
        if pace is None or pace.each is None or not pace.is_open or fixed is None:
            return fixed
        return None if pace.so_far is None else fixed + pace.so_far

    @_known.setter
    def _known(self, length: Dim | None) -> None:
        self._fixed = length

    def number(self) -> Any:
        """The length, as a scalar of the graph."""
        return self.room.count if self._known is None else wrap_dim(self._known)

    def size_here(self) -> Dim:
        """The length as a size."""
        if self._pace is not None and self._pace.is_open:
            self._pace.break_off()  # no array has a size that follows from a counter
        if self._known is not None:
            return self._known
        session, room = self.session, self.room
        written = session.aliases.written.get(room.length, 0)
        if self._size is None or self._size[0] < written or self._size[1] != session.region:
            number = operand(wrap(room.length)[0])
            assert isinstance(number, Value)
            guess = SPARE if is_wide(room) and isinstance(room.most, int) else None
            size = session.bind_size(number, room.most, guess=guess)
            self._size = session.now, session.region, size
        return self._size[2]

    def forget_length(self) -> None:
        """Have the length be known at run time alone."""
        self._known = None

    def shorten(self, number: Int) -> None:
        """Leave so many items."""
        self._borrowed = self._borrowed and ()
        self.room.set_count(number)
        self._known = None

    # -------------------------------------------------------- items

    def put(
        self, place: Int, x: object, *, part: int | None = None, lent: Container[Value] = ()
    ) -> None:
        """Store an item, or a part of one: arrays, dicts and objects in it are taken over, but for
        arrays of the caller's, which are lent.
        """
        session = self.session
        given = [value for value in arrays_in(x) if value not in lent]
        for value in given:
            take_over(session, self, value)
        records, places = list(records_in(x)), session.door.places
        for each in records:
            places.check_item(each)
        self.room.put(place, x, part)
        for each in records:
            places.note_item(each)

    def at(self, place: Int, part: int | None = None) -> Any:
        """The item at a place that there is, or a part of it: what has been read is noted."""
        found, session = self.room.at(place, part), self.session
        for value in arrays_in(found):
            give(session, self.keeper, value)
        for each in records_in(found):
            session.door.places.note_item(each)
        return found

    def put_again(self, place: Int, x: object) -> None:
        """Store an item that the list has already."""
        self.room.put(place, x)

    def move(self, place: Int, source: Int) -> None:
        """Have the item at another place at this one, too."""
        self.room.move(place, source)

    @property
    def is_exact(self) -> bool:
        """Whether the arrays hold the items and no room for more: places in them are the list's."""
        room, known = self._room, self._known
        return room is not None and room.head is None and known is not None and known == room.most

    def arrays(self) -> tuple[Form, list[Value]]:
        """The form of the items, and what they hold in arrays of the length."""
        room, size = self.room, self.size_here()
        if room.head is not None:
            return room.form, list(room.in_order(size))
        end = wrap_dim(size)
        return room.form, [wrap(array)[:end].copy()._value for array in room.arrays]


def is_wide(room: Room | None) -> bool:
    """Whether there is room for as many items as there may be where that is not known."""
    if room is None or not isinstance(room.most, int):
        return room is not None
    return room.most >= (MOST_ARRAYS if is_of_arrays(room.form) else MOST_KEYS)


def kept(x: object) -> Any:
    """``settled(x)``, for a list, a dict or a record of the graph to keep."""
    if has_grown(x):
        raise refuse(EITHER_ARRAY, "an array that a loop makes longer, and keeps,", "keep a copy")
    return settled(x)
