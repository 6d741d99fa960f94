"""The objects that the captured program makes: the region of each, its text, and its holders."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import COUNTED_LIST
from fxc.ir.later import import_later
from fxc.ir.records import mutable

from ..outside.containers import External, class_seen
from ..outside.outside import Outside
from ..session.refusing import OBJECTS_APART, How, Request, Respecialise, refuse
from ..session.session import Session
from ..values.maybe_set import UNBOUND
from ..values.shadows import class_of

if TYPE_CHECKING:
    pass

label_of = import_later("fxc.capture.lists.records", "label_of")


@mutable
class _Kin:
    """Objects of which a result may be the one or the other. If not ``is_known``, there may be
    more of them.
    """

    objects: dict[int, Any]
    is_known: bool = True


@mutable
class _Creation:
    """What is known of an object, a dict, a list or an iterator, mostly of the program's own."""

    object: Any
    home: int | None = None  # the region in which the program has made it
    text: str | None = None  # tells it apart in all attempts
    is_made: bool = False  # by the program, and no list
    is_joined: bool = False  # made by the end of a branch or loop
    is_sealed: bool = False  # others stand for it, or it for others
    is_replaced: bool = False  # a record stands for it
    is_listed: bool = False  # an item of a list of the graph
    is_item: bool = False  # a list that another one holds
    is_assigned: bool = False  # branches or loops change what it holds
    place: str | None = None  # among the results of a branch or loop
    kin: _Kin | None = None  # what it stands for, or what stands for it


_UNKNOWN = _Creation(None)


class Creations:
    """The objects, dicts, lists and iterators that the program of one capture makes."""

    def __init__(self, session: Session, outside: Outside) -> None:
        self._session = session
        self._outside = outside
        self._known: dict[int, _Creation] = {}  # by the object's id
        self._shared: set[type] = set()  # classes of objects that several lists of the graph hold
        self._counts: dict[tuple[int, str], int] = {}  # of texts, by region

    def _note(self, x: object) -> _Creation:
        """The record of an object, from now on."""
        return self._known.setdefault(id(x), _Creation(x))

    def _of(self, x: object) -> _Creation:
        """What is known of an object."""
        return self._known.get(id(x), _UNKNOWN)

    def note_made(self, x: object) -> None:
        """Note an object, a dict or an iterator that the program makes here."""
        found = self._note(x)
        found.is_made, found.home = True, self._session.region
        found.text = self._numbered(f"{class_seen(x).__name__}()")

    def is_made(self, x: object) -> bool:
        return self._of(x).is_made

    def is_assigned(self, x: object) -> bool:
        """Whether branches or loops have changed what it holds: it is another thing in each arm."""
        return self._of(x).is_assigned

    def note_list(self, x: object) -> None:
        """Note a list that the program makes here, and that is held elsewhere."""
        found = self._note(x)
        found.home, found.text = self._session.region, self._numbered("list()")

    def note_item_list(self, x: object) -> None:
        """Note a list that the program makes here, and that another list alone holds."""
        found = self._note(x)
        found.home, found.is_item = self._session.region, True

    def _numbered(self, text: str) -> str:
        """A text for something that is made here, which nothing else has that is still there."""
        region, depth = self._session.region, len(self._session.open_regions)
        count = self._counts[region, text] = self._counts.get((region, text), 0) + 1
        text += f" {count}" if count > 1 else ""
        return f"{text} at depth {depth}" if depth else text

    def home_of(self, owner: object) -> int | None:
        """The region that something was made in; None for what is not followed."""
        if id(owner) in self._outside.shown:
            return 0
        return self._of(owner).home

    def text_of(self, owner: object) -> str | None:
        """By what an object or container is known from one attempt to the next."""
        known = self._outside.shown.get(id(owner))
        if known is not None:
            followed = known.is_object or isinstance(owner, External)
            return known.source.text if followed else None
        return self._of(owner).text

    def seal(self, x: object) -> None:
        """Note what others stand for, or that does. See Note [Objects that are joined]."""
        self._note(x).is_sealed = True

    def _sealed(self) -> list[Any]:
        return [each.object for each in self._known.values() if each.is_sealed]

    def note_kin(self, one: object, *others: object, made: object = None) -> None:
        """Note that a variable is one of these, before they are sealed for that; or what was
        ``made`` to stand for them.
        """
        notes = [self._note(x) for x in (one, *others) if x is not UNBOUND]
        known = [x.kin if x.kin is not None else _Kin({id(x.object): x.object}) for x in notes]
        is_known = all(x.is_known for x in known)
        is_known &= not any(x.is_listed or (x.kin is None and x.is_sealed) for x in notes)
        kin = _Kin({key: x for each in known for key, x in each.objects.items()}, is_known)
        if made is not None:
            kin.objects[id(made)] = self._note(made).object
        for x in kin.objects.values():
            self._note(x).kin = kin

    def _may_be_one(self, x: object, y: object) -> bool:
        """Whether two of which others stand for one may be the same object."""
        left, right = self._of(x).kin, self._of(y).kin
        if left is None or right is None or left is right:
            return True
        for one, other in product(left.objects.values(), right.objects.values()):
            self._outside.guard_distinct(one, other)
        return not (left.is_known and right.is_known)

    def check_apart(self, *objects: object) -> None:
        """Begin again with objects that are not joined, if one of these is."""
        for x in objects:
            if self._of(x).is_sealed:
                raise self._apart(x)

    def _apart(self, *objects: object) -> Respecialise:
        """The request to keep objects apart: as records, see Note [Records], or as Python's."""
        labels = [label_of(x) for x in objects]
        wanted = {Request(label.text, How.IN_GRAPH) for label in labels if label is not None}
        is_new = None not in labels and not wanted <= self._session.requests
        return Respecialise(*(wanted if is_new else (OBJECTS_APART,)))

    def ask_record(self, x: object) -> None:
        """Begin again with a record in its place, if it may be one. See Note [Records]."""
        label = label_of(x)
        if label is not None and How.IN_GRAPH not in self._session.asked(label.text):
            raise Respecialise(Request(label.text, How.IN_GRAPH))
        self._session.door.lists.ask_pool(x)

    def ask_records(self, *found: object) -> None:
        """The same for those of these that are items of lists, or stand for others."""
        for x in found:
            if self._of(x).is_sealed:
                self.ask_record(x)
        if len(found) > 1 and all(isinstance(x, list) for x in found):
            self._session.door.lists.ask_pool(*found)

    def replace(self, x: object) -> None:
        """Note an object in whose place the program has a record from now on."""
        self._note(x).is_replaced = True

    def check_not_replaced(self, x: object) -> None:
        """Refuse an object that the program has beside the record of it."""
        if self._of(x).is_replaced:
            raise refuse(
                COUNTED_LIST,
                f"a {class_of(x).__name__} that stands in arrays, and is held besides since it "
                "was made,",
            )

    def check_returned(self, x: object, others: list[tuple[object, type]]) -> None:
        """The same for results whose identity shows; ``others`` are those so far, by class."""
        if not self._of(x).is_sealed:
            return
        kind, shown = class_of(x), self._outside.shown
        foreign = [(y, class_of(y)) for y in self._sealed() if id(y) in shown]
        alike = (y for y, each in (*others, *foreign) if each is kind and y is not x)
        if any(y is None or self._may_be_one(x, y) for y in alike):
            raise self._apart(x)
        others.append((x, kind))

    def check_returned_list(self, kinds: Iterable[type], others: list[tuple[object, type]]) -> None:
        """The same for a list of the graph whose items hold objects of these classes."""
        for kind in kinds:
            shared = kind in self._shared
            if any(each is kind and (shared or y is not None) for y, each in others):
                raise self._apart(*(x for x in self._sealed() if class_of(x) is kind))
            others.append((None, kind))

    def note_shared(self, kinds: Iterable[type]) -> None:
        """Note that two lists of the graph hold the same objects, of these classes."""
        self._shared.update(kinds)

    def check_item(self, x: object) -> None:
        """Refuse what a list of the graph cannot take over. See Note [Records in lists]."""
        home = self.home_of(x)
        if home is None or self._of(x).is_listed or self._session.in_loop(home):
            self.ask_record(x)
            raise refuse(
                COUNTED_LIST,
                "a dict, an object or a list that is no new one, in a list whose length depends "
                "on data,",
                "append a copy",
            )

    def note_item(self, x: object) -> None:
        """Note what a list of the graph has taken over, or what was read from one."""
        self._note(x).is_listed = True
        self.seal(x)

    def note_joined(self, x: object) -> None:
        """Note a dict or an object that stands behind a branch or loop for those made in it."""
        self._note(x).is_joined = True
        self.note_made(x)

    def is_new(self, x: object, name: str) -> bool:
        """Whether it was made in what ends here, and is returned at one place alone."""
        home, region, known = self.home_of(x), self._session.region, self._of(x)
        made_here = home and (home == region or not self._session.is_open(home))
        if not (made_here or known.is_joined) or known.is_listed:
            return False
        return self.is_alone(x, name)

    def is_alone(self, x: object, name: str) -> bool:
        """Whether it is at no other place that a branch or loop joins, as far as is known."""
        found = self._note(x)
        found.place = name if found.place is None else found.place
        return found.place == name

    def is_ours(self, x: list[object], name: str) -> bool:
        """Whether a list was made in a branch that ended, and a variable of it has it alone."""
        home = self.home_of(x)
        if home is None or self._session.is_open(home) or self._of(x).is_sealed:
            return False
        if not self.is_alone(x, name):
            raise Respecialise(OBJECTS_APART)
        return True
