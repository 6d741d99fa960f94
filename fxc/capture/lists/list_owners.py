"""The statement that makes room for what it appends to a list, and at which pace it does.

See Note [Lists of counted length].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import CHANGE_IN_LOOP
from fxc.ir.later import import_later
from fxc.ir.size_functions import hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim

from ..numbers.traced_int import wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from .list_contents import SPARE, Contents

if TYPE_CHECKING:
    from ..regions.structured import Statement

# See Note [Rooms with one door].
records_in = import_later("fxc.capture.forms.items", "records_in")
takes = import_later("fxc.capture.forms.items", "takes")


class Growth:
    """How many items each iteration of a loop appends to a list, whose length follows from that."""

    def __init__(self, loop: Statement, grown: Any) -> None:
        self.loop: Any = loop
        self._grown = grown  # the list
        self.each: int | None = None  # items; None until there is room for them
        self._added = 0  # in this pass through the body
        self.is_kept = loop.is_steady()
        self.is_open = True  # whether a pass is being recorded
        loop.paces.append(self)

    def add(self) -> None:
        """Append an item; where not each iteration does that, the pace is not kept."""
        if current().region != self.loop.recording.number or self._added == self.each:
            self.break_off()
        self._added += 1

    def break_off(self) -> None:
        """Have the length in the graph; the loop is recorded again for that, if need be."""
        if self.is_kept and self.each is not None:
            self.loop.wishes.note(self._grown, [])
        self.is_kept = False

    def settle(self) -> Any:
        """How many items the loop appends, for which room is made."""
        self.each = self._added
        return self.each * self.loop.iterations

    @property
    def so_far(self) -> Dim | None:
        """How many have been appended here, in an iteration; None if that is not known."""
        if not self.is_kept or self.each is None or self.loop.elapsed is None:
            return None
        found: Dim = self.each * self.loop.elapsed + self._added
        return found

    # ------------------------------------------------------------------ asked by the loop

    def begin_pass(self) -> None:
        """Begin to record the body again."""
        self._added, self.is_open = 0, True

    def end_pass(self) -> None:
        """The body is recorded: it has appended what there is room for, or is recorded again."""
        self.is_open = False
        if self.each is not None and self._added != self.each:
            self.break_off()

    def end(self) -> None:
        """The loop is recorded."""
        self._grown.end_pace(self.settle() if self.is_kept and self.each else None)


class Owned(Contents):
    """Items that a branch or a loop of the graph may change."""

    __slots__ = ()
    make_room: Callable[..., bool]

    def owner(self) -> Statement | None:
        """The outermost statement being recorded that has begun since the buffer was made."""
        session = self.session
        if session.region == self.home:
            return None
        inside = next(each.number for each in session.regions if each.number > self.home)
        for each in session.statements[self._depth :]:
            if each.recording is not None and each.recording.number == inside:
                found: Statement = each
                return found
        raise refuse_change()

    def awaited_by(self) -> Statement | None:
        """The statement, if any, that will be recorded again with room for what it has changed."""
        session = self.session
        if self._room is not None or session.region == self.home:
            return None
        inside = session.statements[self._depth :]
        return next((each for each in inside if each.wishes.has(self)), None)

    # -------------------------------------------------------- before a change

    def owner_of_change(self, *, turns: bool = False, appends: bool = False) -> Statement | None:
        """The owner, before a change of the length, or at the start: it ``turns``."""
        self.check_not_running()
        owner, room = self.owner(), self._room
        self._turns |= turns and (owner is not None or room is not None)
        if owner is not None:
            self._changing = True
            self._keep_pace(owner, appends=appends)
        elif turns and room is not None and room.head is None:
            self.make_room([], SPARE, None)
        return owner

    def check_not_running(self) -> None:
        """Note a change; refuse it while a loop of the graph runs over the list."""
        self.changes += 1
        if self.is_run_over_now():
            raise refuse(CHANGE_IN_LOOP, "a change to a list while a loop runs over it")

    def is_run_over_now(self) -> bool:
        """Whether a loop that is being recorded runs over it."""
        over = (getattr(each, "over", None) for each in self.session.statements)
        return any(x is self for each in over for x in getattr(each, "of", ()))

    # -------------------------------------------------------- the pace

    def _keep_pace(self, owner: Statement, *, appends: bool) -> None:
        """Note a change of the length in a statement, which may append as much each time."""
        if self._pace is None or self._pace.loop is not owner:
            self._pace = Growth(owner, self)
        if appends and self.maxlen is None and not self._turns:
            self._pace.add()
        else:
            self._pace.break_off()
        if self.leaves and self._pace_in(owner) is None:
            raise refuse_change()

    def _pace_in(self, owner: Statement | None) -> Growth | None:
        """The pace that the list keeps in this loop, from a known length on."""
        pace = self._pace
        if pace is None or pace.loop is not owner or not pace.is_kept:
            return None
        return None if self._room is not None and self._fixed is None else pace

    def end_pace(self, added: Dim | None) -> None:
        """Go on behind a loop that has appended so many items, if that is known."""
        self._pace = None
        if added is None:
            return
        assert self._fixed is not None
        self._fixed, self._changing = self._fixed + added, False
        self.room.set_count(wrap_dim(self._fixed))
        self.session.retries |= self.session.door.lists.to_leave(self)
        if self.leaves:
            guard(self._fixed, "==", hint(self._fixed))
            self._items = self.of(map(self.room.at, range(hint(self._fixed))))
            self._room = self._fixed = None

    # -------------------------------------------------------- room

    def has_room(self, owner: Statement, *more: object) -> bool:
        """Whether this statement has made room for what it appends."""
        room, pace = self._room, self._pace_in(owner)
        if room is None or room.owner is not owner or (self._turns and room.head is None):
            return False
        is_paced = pace is not None and pace.each is not None
        if self._changing and self._fixed is not None and not is_paced:
            return False  # the statement has relied on the length
        return bool(takes(room.form, *more))

    def begin_change(self, *more: object) -> bool:
        """Whether there is room for a change; else a statement will be recorded again."""
        self.owner_of_change()
        return self.takes_in(*more)

    def takes_in(self, *more: object, spare: Dim | None = SPARE, often: bool = False) -> bool:
        """Whether there is room for these items. A statement that has made none will be recorded
        again with room for them: as many in each run of its region, or more if it stores them
        ``often``. Where no statement is recorded, room is made here, for some ``spare`` items, too.
        """
        owner = self.owner()
        if owner is None:
            if self._room is None or not takes(self._room.form, *more):
                self.make_room(more, spare, None)
        elif not self.has_room(owner, *more):
            self._wish(owner, *more, often=often)
            return False
        return True

    def _wish(self, owner: Statement, *more: object, often: bool = False) -> None:
        """Note what a statement adds, which will be recorded again with room for it."""
        session = self.session
        assert owner.recording is not None
        for each in more:
            for record in records_in(each):
                session.door.places.seal(record)
        often = often or session.in_loop(owner.recording.number)
        owner.wishes.note(self, more, once=not often)


def refuse_change() -> Exception:
    """The refusal of a change of a list that Python holds, in a region."""
    text = "a change to a list in a branch or loop that becomes one of the graph"
    return refuse(CHANGE_IN_LOOP, text)
