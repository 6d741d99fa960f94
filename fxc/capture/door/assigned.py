"""The places that branches and loops assign, by their texts: see Note [Assigned places]."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

from fxc.ir.later import import_class_later, import_later

from ..outside.containers import External
from ..session.refusing import How, Request, Respecialise
from ..session.session import label_of
from .attributes import Attributes
from .creations import Creations
from .imported_later import ExternalList
from .outer import Outer

if TYPE_CHECKING:
    from .places import Attribute, Item, OuterPlace, Place, Rebound
else:
    Attribute = import_class_later("fxc.capture.door.places", "Attribute")
    Item = import_class_later("fxc.capture.door.places", "Item")
    OuterPlace = import_class_later("fxc.capture.door.places", "OuterPlace")
    Rebound = import_class_later("fxc.capture.door.places", "Rebound")

key_of_text = import_later("fxc.capture.door.places", "key_of_text")

# See Note [Rooms with one door].
is_same = import_later("fxc.capture.forms.variables", "is_same")
unordered = import_later("fxc.capture.regions.cells", "unordered")

# The number of an item, or of one of several objects that are made in one place of the graph.
_NUMBER = r"(?<=\[)\d+(?=\])|(?<=\(\) )\d+(?=[. ])"
_MOST_CHANGES = 8  # of a list in one attempt
# The last step of a text: an attribute or an item.
_STEP = r"(.+?)(?:\.(\w+)|\[('(?:[^'\\]|\\.)*'|-?\d+|[^\W\d][\w.<> ()]*)\])"


class Places(Creations):
    """What the program of one capture has made, and what it assigns to in branches and loops."""

    def __init__(self, door: Attributes) -> None:
        super().__init__(door.session, door.outside)
        self._door = door
        self._variables: dict[int, Rebound] = {}  # by the cell's id
        self._wanted: Counter[Request] = Counter()  # what this attempt has found to ask for
        # New places, with the ids of their owners, in the order in which they are assigned.
        self.begun: list[tuple[str, int]] = []
        # By a new place: those of its owner that were there for sure each time it was assigned.
        self._ahead: dict[str, set[str]] = {}

    # -------------------------------------------------------- what is made

    def note_variables(
        self, function: str, cells: tuple[CellType, ...], names: Iterable[str]
    ) -> None:
        """Note the variables of a function, which begins here, that inner functions rebind."""
        for name, cell in zip(names, cells, strict=True):
            text = self._numbered(f"{name} of {function}")
            self._variables[id(cell)] = Rebound(cell, text, self._session.region)

    def outer_text(self, variable: Outer) -> str:
        """By what a variable from outside is known from one attempt to the next."""
        known = self._session.outer
        same = (text for text, x in known.items() if x.key == variable.key)
        text = next(same, None) or _fresh(variable.text, known)
        known[text] = variable
        return text

    def _owner_of(self, text: str) -> object:
        """The object or container that is known by a text, if there is one yet; else None."""
        for known in self._door.outside.shown.values():
            if known.source.text == text and (known.is_object or isinstance(known.seen, External)):
                return known.seen
        for each in self._known.values():
            if each.text == text and each.home is not None and self._session.is_open(each.home):
                return each.object
        owner, key = self._step(text)
        if isinstance(owner, ExternalList):
            inside = type(key) is int and -len(owner._held.real) <= key < len(owner._held.real)
            part = owner[key] if inside else None
        else:
            place = self._part(owner, key)
            part = None if place is None or place.flag is not True else place.read()
        return part if part is not None and self.text_of(part) == text else None

    def _step(self, text: str) -> tuple[Any, Any]:
        """The owner in a text, and a name (as a bytes object) or key of a part of it."""
        found = re.fullmatch(_STEP, text)
        owner = self._owner_of(found[1]) if found is not None else None
        if found is None or owner is None:
            return None, None
        return owner, found[2].encode() if found[2] is not None else key_of_text(found[3])

    def _part(self, owner: object, key: object) -> Attribute | Item | None:
        if owner is None:
            return None
        has_items = isinstance(owner, dict | list)
        if type(key) is bytes:
            return None if has_items else Attribute(self._door, owner, key.decode())
        return Item(self._door, owner, key) if has_items else None

    def _place(self, text: str) -> Place | None:
        """The place of a text, if it is there."""
        found: Place | None
        outer = self._session.outer.get(text)
        if outer is not None:
            found = OuterPlace(self._door, outer, text)
        else:
            known = (each for each in self._variables.values() if each.text == text)
            variables = (each for each in known if self._session.is_open(each.home))
            found = next(variables, None) or self._part(*self._step(text))
        return found if found is not None and _may_be_carried(found) else None

    # -------------------------------------------------------- what statements assign

    def carried(self, variables: FunctionType | None) -> dict[str, Place]:
        """The places that a statement takes for variables, by their texts: what it rebinds itself
        (``variables`` is a function of them, or None), and what earlier attempts have found.
        """
        cells = () if variables is None else variables.__closure__ or ()
        found: dict[str, Place] = {}
        for cell in cells:
            place = self._variables[id(cell)]
            found[place.text] = place
        asked = {each.about for each in self._session.requests if each.how is How.CARRIED}
        for text in sorted(asked - found.keys()):
            known = self._place(text)
            if known is not None:
                found[text] = known
        return found

    def assign(
        self, place: Place, before: tuple[object, object], value: object, flag: object
    ) -> None:
        """Assign what a statement has made of a place and its flag, ``before`` at first."""
        if self._session.region or flag is False or is_same((value, flag), before):
            place.put(value, flag)
        else:
            place.put(*before)  # what the recorded regions have put there is not outside
            place.store(value, flag)

    def is_plain(self, place: Place) -> bool:
        """Whether nothing is recorded here that has begun after the place was there."""
        home = place.home
        return home is not None and not self._inside(home)

    def _inside(self, home: int) -> frozenset[int]:
        return frozenset(each for each in self._session.open_regions if each > home)

    def takes(self, place: Place) -> bool:
        """Whether the statements that are recorded take a place for a variable, so that it may be
        put something here. If they may, in another attempt, this one goes on as if they did.
        """
        session, text, home = self._session, place.text, place.home
        if home is None or text is None:
            return False
        if self.is_plain(place) or session.expressions:
            self._ahead.get(text, set()).clear()  # it comes up here, unless it is there
            return False
        carrying = {
            each.recording.number
            for each in session.statements
            if each.cells.has(place) and each.recording is not None
        }
        if carrying >= self._inside(home):
            self._note(place.base).is_assigned = True
            if place.flag is not True:
                self._begin(place, text)
            return True
        request = Request(text, How.CARRIED)
        if request in session.requests or not _may_be_carried(place):
            return False
        self._wanted[request] += 1
        self._note(place.base).is_assigned = True
        self._door.outside.stored(*_labels_of(text))
        return True

    def _begin(self, place: Place, text: str) -> None:
        """Note that a place comes up here, unless it is there."""
        if type(place.flag) is not bool:
            self._check_order(place, text)
        flags = self._session.statements[-1].cells.of(place.base)
        there = {each for each, flag in flags.items() if flag is True}
        self._ahead[text] = self._ahead.get(text, there) & there
        if place.flag is False:  # it may have been deleted, and come up behind the others now
            for each in flags.keys() & self._ahead:
                if flags[each] is not False:
                    self._ahead[each].discard(text)
        self.begun.append((text, id(place.base)))

    def is_ahead(self, one: str, other: str) -> bool:
        """Whether one new place is there, and came up first, wherever another one is there."""
        return one in self._ahead.get(other, ())

    def _check_order(self, place: Place, text: str) -> None:
        """Refuse to assign a place that may be there already, if others of its owner have come up
        since: it comes up before them or behind them.
        """
        cells = [each.cells for each in self._session.statements]
        known = range(cells[0].first_mark, len(self.begun))
        found = [k for k in known if self.begun[k][0] == text]
        if not found or any(each.knows(found[-1]) for each in cells):
            return
        others = (
            owner
            for each, owner in self.begun[found[-1] + 1 :]
            if each != text and not (self.is_ahead(text, each) or self.is_ahead(each, text))
        )
        if id(place.base) in others:
            raise unordered()

    def takes_item(self, owner: dict[object, object] | list[object], key: object) -> bool:
        """As ``takes``."""
        return self.takes(Item(self._door, owner, key))

    def goes_on(self, request: Request) -> bool:
        """Whether this attempt goes on as if this had been asked for, to find what else there is to
        ask for; but not for ever: a loop of Python's may run for as long as a list has items. And
        a comprehension that changes a list is better run by Python.
        """
        if self._session.folds:
            return False
        self._wanted[request] += 1
        return self._wanted[request] <= _MOST_CHANGES

    def check_wanted(self) -> None:
        """Begin the capture again if places, or lists to be of the graph, have been found."""
        if self._wanted:
            raise Respecialise(*self._wanted, *self._alike())

    def _alike(self) -> Iterable[Request]:
        """The same of places that will be asked for next, it seems: those of the next objects, as
        many as were asked for so far. Each object of a list would else take an attempt.
        """
        asked = [each.about for each in self._session.requests if each.how is How.CARRIED]
        families = Counter(re.sub(_NUMBER, "#", text, count=1) for text in asked)
        for each in self._wanted:
            found = re.search(_NUMBER, each.about)
            if each.how is How.CARRIED and found is not None:
                number, ahead = int(found[0]), families[re.sub(_NUMBER, "#", each.about, count=1)]
                for other in range(number + 1, number + 1 + ahead):
                    text = each.about[: found.start()] + str(other) + each.about[found.end() :]
                    self._door.outside.stored(*_labels_of(text))
                    yield Request(text, How.CARRIED)

    def rebinding(self, cells: tuple[CellType, ...]) -> None:
        """At the start of a function that rebinds variables of the one around it."""
        for cell in cells:
            place = self._variables[id(cell)]
            if not self.is_plain(place) and not self.takes(place):
                self._door.outside.effects.check_allowed("variable of an enclosing function")


def _labels_of(text: str) -> tuple[str, ...]:
    """What the number at a place is called, and the list that it may be an item of."""
    if not text.endswith("]"):
        return (label_of(text),)
    return label_of(text[:-1]), label_of(text[: text.rindex("[")])


def _may_be_carried(place: Place) -> bool:
    """Whether statements may take a place for a variable: there is something, or may be."""
    return place.flag is not False or place.may_begin


def _fresh(text: str, known: Collection[str]) -> str:
    count, found = 1, text
    while found in known:
        count += 1
        found = f"{text} ({count})"
    return found
