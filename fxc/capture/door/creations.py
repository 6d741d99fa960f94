"""The objects that the captured program makes: the region of each, its text, and its holders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..outside.containers import External
from ..outside.outside import Outside
from ..outside.shadows import class_of
from ..refusing import OBJECTS_APART, How, Request, Respecialise, refuse
from ..session import Session
from ..values.made_lists import MadeLists
from ..values.records import label_of


class Creations:
    """The objects, dicts, lists and iterators that the program of one capture makes."""

    def __init__(self, session: Session, outside: Outside, lists: MadeLists) -> None:
        self._session = session
        self._outside = outside
        self._made_lists = lists
        # Each by its id. A region is where it was made; a text tells it apart in all attempts.
        self._made: dict[int, tuple[int, Any, str]] = {}  # region, object and text
        self._lists: dict[int, tuple[int, str]] = {}  # region and text of lists that others hold
        self._item_lists: dict[int, tuple[int, Any]] = {}  # region of lists that are items
        self._joined: dict[int, Any] = {}  # made by the end of a branch or loop
        self._sealed: dict[int, Any] = {}  # others stand for these, or these for others
        self._replaced: dict[int, Any] = {}  # records stand for these
        self._shared: set[type] = set()  # classes of objects that several lists of the graph hold
        self._listed: dict[int, Any] = {}  # items of lists of the graph
        self._returned: dict[int, tuple[Any, str]] = {}  # at which place of a branch's results
        self._counts: dict[tuple[int, str], int] = {}  # of texts, by region

    def note_made(self, x: object) -> None:
        """Note an object, a dict or an iterator that the program makes here."""
        region = self._session.region
        self._made[id(x)] = region, x, self._numbered(f"{class_of(x).__name__}()")

    def is_made(self, x: object) -> bool:
        """Whether the program made an object, or a dict."""
        return id(x) in self._made

    def note_list(self, x: list[Any]) -> None:
        """Note a list that the program makes here, and that is held elsewhere."""
        self._lists[id(x)] = self._session.region, self._numbered("list()")

    def note_item_list(self, x: list[Any]) -> None:
        """Note a list that the program makes here, and that another list alone holds."""
        self._item_lists[id(x)] = self._session.region, x

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
        for known in (self._lists, self._item_lists):
            if id(owner) in known:
                return known[id(owner)][0]
        return self._made[id(owner)][0] if id(owner) in self._made else None

    def text_of(self, owner: object) -> str | None:
        """By what an object or container is known from one attempt to the next."""
        known = self._outside.shown.get(id(owner))
        if known is not None:
            followed = known.is_object or isinstance(owner, External)
            return known.source.text if followed else None
        if id(owner) in self._lists:
            return self._lists[id(owner)][1]
        return self._made[id(owner)][2] if id(owner) in self._made else None

    def seal(self, x: object) -> None:
        """Note an object for which another one stands, or that stands for some. See Note [Objects
        that are joined].
        """
        self._sealed[id(x)] = x

    def check_apart(self, *objects: object) -> None:
        """Begin again with objects that are not joined, if one of these is."""
        for x in objects:
            if id(x) in self._sealed:
                raise self._apart(x)

    def _apart(self, *objects: object) -> Respecialise:
        """The request to keep objects apart: as records, see Note [Records], or as Python's."""
        labels = [label_of(x) for x in objects]
        wanted = {Request(label.text, How.IN_GRAPH) for label in labels if label is not None}
        is_new = None not in labels and not wanted <= self._session.requests
        return Respecialise(*(wanted if is_new else (OBJECTS_APART,)))

    def ask_record(self, x: object) -> None:
        """Begin again with a record in place of a dict or an object, if it may be one. See Note
        [Records].
        """
        label = label_of(x)
        if label is not None and How.IN_GRAPH not in self._session.asked(label.text):
            raise Respecialise(Request(label.text, How.IN_GRAPH))
        self._made_lists.ask_pool(x)

    def ask_records(self, *found: object) -> None:
        """The same for those of these that are items of lists, or stand for others."""
        for x in found:
            if id(x) in self._sealed:
                self.ask_record(x)
        if len(found) > 1 and all(isinstance(x, list) for x in found):
            self._made_lists.ask_pool(*found)

    def replace(self, x: object) -> None:
        """Note an object in whose place the program has a record from now on."""
        self._replaced[id(x)] = x

    def check_not_replaced(self, x: object) -> None:
        """Refuse an object that the program has beside the record of it."""
        if id(x) in self._replaced:
            raise refuse(
                f"a {class_of(x).__name__} that stands in arrays, and is held besides since it was "
                "made, cannot be captured"
            )

    def check_returned(self, x: object, others: list[tuple[Any, type]]) -> None:
        """The same for results among which it shows which object is which; ``others`` are those so
        far, by class.
        """
        if id(x) not in self._sealed:
            return
        kind, shown = class_of(x), self._outside.shown
        foreign = [(y, class_of(y)) for y in self._sealed.values() if id(y) in shown]
        if any(y is not x and each is kind for y, each in (*others, *foreign)):
            raise self._apart(x)
        others.append((x, kind))

    def check_returned_list(self, kinds: Iterable[type], others: list[tuple[Any, type]]) -> None:
        """The same for a list of the graph whose items hold objects of these classes."""
        for kind in kinds:
            shared = kind in self._shared
            if any(each is kind and (shared or y is not None) for y, each in others):
                raise self._apart(*(x for x in self._sealed.values() if class_of(x) is kind))
            others.append((None, kind))

    def note_shared(self, kinds: Iterable[type]) -> None:
        """Note that two lists of the graph hold the same objects, of these classes."""
        self._shared.update(kinds)

    def check_item(self, x: object) -> None:
        """Refuse a dict, an object or a list that a list of the graph cannot take over. See Note
        [Records in lists].
        """
        home = self.home_of(x)
        if home is None or id(x) in self._listed or self._session.in_loop(home):
            self.ask_record(x)
            raise refuse(
                "a dict, an object or a list that is no new one, in a list whose length depends on "
                "data, cannot be captured; append a copy"
            )

    def note_item(self, x: object) -> None:
        """Note a dict, an object or a list that a list of the graph has taken over, or that has
        been read from one.
        """
        self._listed[id(x)] = x
        self.seal(x)

    def note_joined(self, x: object) -> None:
        """Note a dict or an object that stands behind a branch or loop for those made in it."""
        self._joined[id(x)] = x
        self.note_made(x)

    def is_new(self, x: object, name: str) -> bool:
        """Whether a dict or an object was made in a branch or loop that ends here, and is returned
        at one place alone.
        """
        home, region = self.home_of(x), self._session.region
        made_here = home and (home == region or not self._session.is_open(home))
        if (not made_here and id(x) not in self._joined) or id(x) in self._listed:
            return False
        return self.is_alone(x, name)

    def is_alone(self, x: object, name: str) -> bool:
        """Whether a dict or an object is at no other place that a branch or loop joins, as far as
        is known so far.
        """
        _, known = self._returned.setdefault(id(x), (x, name))
        return known == name

    def is_ours(self, x: list[Any], name: str) -> bool:
        """Whether a list was made in a branch that has ended, whose variable of that name alone has
        it.
        """
        home = self.home_of(x)
        if home is None or self._session.is_open(home) or id(x) in self._sealed:
            return False
        _, known = self._returned.setdefault(id(x), (x, name))
        if known != name:
            raise Respecialise(OBJECTS_APART)
        return True
