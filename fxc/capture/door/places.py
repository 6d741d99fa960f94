"""What a program assigns to that is no variable of a function, as branches and loops see it.

See Note [Assigned places].
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections import OrderedDict
from collections.abc import Iterable
from types import CellType
from typing import TYPE_CHECKING, Any

from fxc.ir.records import frozen

from ..forms.structures import APART
from ..outside.containers import MISSING, External
from ..outside.dicts import ExternalDict
from ..outside.lists import ExternalList
from ..outside.objects import put_attribute
from ..outside.shadows import class_of
from ..session import Respecialise, refuse
from ..statements.cells import unordered
from ..values.maybe_set import MaybeSet
from ..values.open_dicts import OpenDict
from ..values.records import label_of
from ..values.unbound import UNBOUND
from ..values.variables import is_same

if TYPE_CHECKING:
    from .stores import Stores

# Note [Assigned places]
# What ``self.t += dt`` assigns in a loop is no variable of the function, so that the statement does
# not show that the loop carries it; nor what ``n += 1`` does after ``nonlocal n``. The capture
# begins again when it is seen, with the place among the variables of each branch and each loop from
# its begin on (``Cells``): each is given it with the others, and hands it on. What the caller can
# see is assigned to behind the outermost of them. Places are attributes, items of dicts that have
# the key before, items of lists (of those that the program makes, where they are arrays), variables
# that inner functions rebind, and those of enclosing functions and globals. They are known by a
# text from one attempt to the next: how an object from outside is come by, or the number of one
# among those that the program has made.
#
# Note [Places that are new]
# ``self.mask = x > 0`` in a loop makes an attribute; so does a key that a dict has not. Such a
# place has a flag beside it, a variable of each statement like the place itself: whether there is
# something. Where that is not known behind a statement, the place holds a ``MaybeSet``: a read
# goes back to Python where the flag does not hold (``hasattr`` gives the flag), the change of what
# is from outside is made if it holds. A dict of the program's is an ``OpenDict`` then, from the
# line on where it is made. What a class has under the name is what is read before.
# The order in which attributes and keys come up is the one of the statements in the body or arm;
# where it would depend on the condition, or on the iteration, the program is refused.

_LABEL = "place "
_KEYS = (str, int)
# The last step of a text: an attribute or an item.
_STEP = re.compile(r"(.+?)(?:\.(\w+)|\[('(?:[^'\\]|\\.)*'|-?\d+)\])")


class _Part:
    """What an object holds."""

    __slots__ = ()
    door: Stores
    owner: Any

    @property
    def base(self) -> Any:
        return self.owner

    @property
    def home(self) -> int | None:
        return self.door.places.home_of(self.owner)


@frozen
class Attribute(_Part):
    """``owner.name``."""

    door: Stores
    owner: Any
    name: str

    @property
    def text(self) -> str | None:
        owner = self.door.places.text_of(self.owner)
        return None if owner is None else f"{owner}.{self.name}"

    @property
    def part(self) -> str:
        return self.name

    def names_behind(self) -> list[str]:
        """The names that an object of the program's has behind this one; what is from outside is
        changed in order.
        """
        if self.door.is_foreign(self.owner):
            return []
        return self.door.names_behind(self.owner, self.name)

    @property
    def flag(self) -> Any:
        return self.door.presence(self.owner, self.name)

    @property
    def may_begin(self) -> bool:
        return self.door.may_be_given(self.owner, self.name)

    def read(self) -> Any:
        return self.door.attr(self.owner, self.name)

    def held(self) -> Any:
        return self.door.held_attribute(self.owner, self.name)

    def put(self, value: Any, flag: object = True) -> None:
        if self.door.is_foreign(self.owner):
            self.door.see_attribute(self.owner, self.name, value, flag)
        elif flag is not False:
            value = (
                value if flag is True else self.door.maybe_set(flag, self.owner, self.name, value)
            )
            put_attribute(self.owner, self.name, value)
        elif self.flag is not False:
            object.__delattr__(self.owner, self.name)

    def store(self, value: object, flag: object = True) -> None:
        if not self.door.is_foreign(self.owner):
            self.put(value, flag)
        elif flag is True:
            self.door.store_attr(self.owner, self.name, value)
        else:
            self.door.store_attribute_if(flag, self.owner, self.name, value)


@frozen
class Item(_Part):
    """``owner[key]`` of a dict or a list."""

    door: Stores
    owner: Any
    key: Any

    @property
    def text(self) -> str | None:
        owner = self.door.places.text_of(self.owner)
        return None if owner is None or type(self.key) not in _KEYS else f"{owner}[{self.key!r}]"

    @property
    def part(self) -> Any:
        return self.key

    def names_behind(self) -> list[Any]:
        """As of attributes."""
        if type(self.owner) is not OpenDict:
            return []
        keys = list(dict.keys(self.owner))
        return keys[keys.index(self.key) + 1 :] if self.key in keys else []

    @property
    def flag(self) -> Any:
        if isinstance(self.owner, ExternalDict):
            return self.owner.presence(self.key)
        if isinstance(self.owner, dict):
            return self.key in self.owner
        return type(self.key) is int and 0 <= self.key < len(self.owner)

    @property
    def may_begin(self) -> bool:
        kind = self.owner.kind if isinstance(self.owner, ExternalDict) else type(self.owner)
        return kind is dict or kind is OrderedDict

    def read(self) -> Any:
        return self.owner[self.key]

    def held(self) -> Any:
        if isinstance(self.owner, ExternalDict):
            return self.owner.held(self.key)
        return self.owner[self.key] if self.flag else UNBOUND

    def put(self, value: Any, flag: object = True) -> None:
        if isinstance(self.owner, ExternalDict):
            maybe = value if type(flag) is bool else MaybeSet(flag, value)
            if flag is not False or self.flag is not False:
                self.owner.see(self.key, MISSING if flag is False else maybe)
        elif type(flag) is not bool:
            raise self._not_sure()
        elif isinstance(self.owner, ExternalList):
            self.owner.see(self.key, value)
        elif flag is not False:
            self.owner[self.key] = value
        elif self.key in self.owner:
            del self.owner[self.key]

    def store(self, value: object, flag: object = True) -> None:
        if flag is True:
            self.owner[self.key] = value
        elif isinstance(self.owner, ExternalDict):
            self.owner.store_if(flag, self.key, value)
        else:
            raise self._not_sure()

    def _not_sure(self) -> Exception:
        """What to raise for a key of a dict of Python's that is there by a condition; a loop whose
        first iteration is run before it has the key. Else the next attempt has a dict for it.
        """
        statements = self.door.session.statements
        for statement in statements:
            statement.meets_unset(self.owner, self.key)
        if not any(each.may_begin_apart for each in statements):
            self.door.dicts.ask_open(self.owner)
        return refuse(
            f"a key of a {class_of(self.owner).__name__} that is there by a condition cannot be "
            "captured; give it a value in any case"
        )


@frozen
class Rebound:
    """A variable that inner functions rebind."""

    cell: CellType
    text: str
    home: int
    flag: bool = True
    may_begin: bool = False

    @property
    def base(self) -> Any:
        return self.cell

    def read(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            return UNBOUND

    held = read

    def put(self, value: Any, flag: object = True) -> None:
        if value is UNBOUND:
            del self.cell.cell_contents
        else:
            self.cell.cell_contents = value

    store = put


@frozen
class Enclosing:
    """A variable of a function around a function from outside."""

    door: Stores
    cell: CellType
    text: str
    home: int = 0
    may_begin: bool = False

    @property
    def base(self) -> Any:
        return self.cell

    @property
    def flag(self) -> bool:
        return self.door.has_cell(self.cell)

    def read(self) -> Any:
        return self.door.cell_contents(self.cell, self.text.partition(" ")[0])

    held = read

    def put(self, value: Any, flag: object = True) -> None:
        self.door.see_cell(self.cell, value)

    def store(self, value: object, flag: object = True) -> None:
        self.door.store_in_cell(self.cell, self.text.partition(" ")[0], value)


@frozen
class Global:
    """A global variable."""

    door: Stores
    space: dict[str, Any]
    name: str
    text: str
    home: int = 0
    may_begin: bool = False

    @property
    def base(self) -> Any:
        return self.space

    @property
    def flag(self) -> bool:
        return self.door.has_global(self.space, self.name)

    def read(self) -> Any:
        return self.door.global_value(self.space, self.name)

    held = read

    def put(self, value: Any, flag: object = True) -> None:
        self.door.see_global(self.space, self.name, value)

    def store(self, value: object, flag: object = True) -> None:
        self.door.store_global(self.space, self.name, value)


Place = Attribute | Item | Rebound | Enclosing | Global


class Places:
    """What the program of one capture has made, and what it assigns to in branches and loops."""

    def __init__(self, door: Stores) -> None:
        self._door = door
        self._session = door.session
        # What the program has made, by its id: the region that it did so in, and its text.
        self._made: dict[int, tuple[int, Any, str]] = {}
        self._joined: dict[int, Any] = {}
        self._sealed: dict[int, Any] = {}
        self._replaced: dict[int, Any] = {}  # what records stand for
        self._shared: set[type] = set()  # classes of objects that are in several of these
        self._listed: dict[int, Any] = {}  # those that are items of lists of the graph
        self._returned: dict[int, tuple[Any, str]] = {}  # and at which place of the result
        self._lists: dict[int, tuple[int, str]] = {}  # likewise, of lists, which others hold
        self._item_lists: dict[int, tuple[int, Any]] = {}  # likewise, of items of lists
        self._counts: dict[tuple[int, str], int] = {}  # of what is made, by region and kind
        self._variables: dict[int, Rebound] = {}  # by the cell's id
        self._wanted: set[str] = set()  # places that this attempt has found
        self._assigned: set[int] = set()  # owners of places that statements have taken
        # New places, with the ids of their owners, in the order in which they are assigned.
        self.begun: list[tuple[str, int]] = []

    # -------------------------------------------------------- what is made

    def note_made(self, x: object) -> None:
        """Note an object, a dict or an iterator that the program makes here."""
        region = self._session.region
        self._made[id(x)] = region, x, self._numbered(f"{class_of(x).__name__}()")

    def is_made(self, x: object) -> bool:
        """Whether the program made an object, or a dict."""
        return id(x) in self._made

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
        texts = frozenset(label.text for label in labels if label is not None)
        is_new = None not in labels and not texts <= self._session.static
        return Respecialise(texts if is_new else frozenset((APART,)))

    def ask_record(self, x: object) -> None:
        """Begin again with a record in place of a dict or an object, if it may be one. See Note
        [Records].
        """
        label = label_of(x)
        if label is not None and label.text not in self._session.static:
            raise Respecialise(frozenset((label.text,)))
        self._door.lists.ask_pool(x)

    def ask_records(self, *found: object) -> None:
        """The same for those of these that are items of lists, or stand for others."""
        for x in found:
            if id(x) in self._sealed:
                self.ask_record(x)
        if len(found) > 1 and all(isinstance(x, list) for x in found):
            self._door.lists.ask_pool(*found)

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
        kind, shown = class_of(x), self._door.outside.shown
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

    def is_assigned(self, x: object) -> bool:
        """Whether branches or loops have changed what it holds: it is another thing in each arm."""
        return id(x) in self._assigned

    def is_ours(self, x: list[Any], name: str) -> bool:
        """Whether a list was made in a branch that has ended, whose variable of that name alone has
        it.
        """
        home = self.home_of(x)
        if home is None or self._session.is_open(home) or id(x) in self._sealed:
            return False
        _, known = self._returned.setdefault(id(x), (x, name))
        if known != name:
            raise Respecialise(frozenset((APART,)))
        return True

    def note_list(self, x: list[Any]) -> None:
        """Note a list that the program makes here, and that is held elsewhere."""
        self._lists[id(x)] = self._session.region, self._numbered("list()")

    def note_item_list(self, x: list[Any]) -> None:
        """Note a list that the program makes here, and that another list alone holds."""
        self._item_lists[id(x)] = self._session.region, x

    def note_variables(self, function: str, cells: tuple[CellType, ...], names: Any) -> None:
        """Note the variables of a function, which begins here, that inner functions rebind."""
        for name, cell in zip(names, cells, strict=True):
            text = self._numbered(f"{name} of {function}")
            self._variables[id(cell)] = Rebound(cell, text, self._session.region)

    def _numbered(self, text: str) -> str:
        """A text for something that is made here, which nothing else has that is still there."""
        region, depth = self._session.region, len(self._session.open_regions)
        count = self._counts[region, text] = self._counts.get((region, text), 0) + 1
        text += f" {count}" if count > 1 else ""
        return f"{text} at depth {depth}" if depth else text

    def outer_text(self, name: str, function: str, found: object) -> str:
        """The text for a variable from outside, a cell or a namespace."""
        known = self._session.outer
        same = (text for text, x in known.items() if x is found and text.startswith(f"{name} "))
        text = next(same, None) or _fresh(f"{name} of {function}", known)
        known[text] = found
        return text

    def home_of(self, owner: object) -> int | None:
        """The region that something was made in; None for what is not followed."""
        if id(owner) in self._door.outside.shown:
            return 0
        for known in (self._lists, self._item_lists):
            if id(owner) in known:
                return known[id(owner)][0]
        return self._made[id(owner)][0] if id(owner) in self._made else None

    def text_of(self, owner: object) -> str | None:
        """By what an object or container is known from one attempt to the next."""
        known = self._door.outside.shown.get(id(owner))
        if known is not None:
            followed = known.is_object or isinstance(owner, External)
            return known.source.text if followed else None
        if id(owner) in self._lists:
            return self._lists[id(owner)][1]
        return self._made[id(owner)][2] if id(owner) in self._made else None

    def _owner_of(self, text: str) -> Any:
        """The object or container that is known by a text, if there is one yet; else None."""
        for known in self._door.outside.shown.values():
            if known.source.text == text and (known.is_object or isinstance(known.seen, External)):
                return known.seen
        for home, made, known_text in self._made.values():
            if known_text == text and self._session.is_open(home):
                return made
        for made in self._door.lists.known:
            home, known_text = self._lists[id(made)]
            if known_text == text and self._session.is_open(home):
                return made
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
        found = _STEP.fullmatch(text)
        owner = self._owner_of(found[1]) if found is not None else None
        if found is None or owner is None:
            return None, None
        return owner, found[2].encode() if found[2] is not None else literal_eval(found[3])

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
        if type(outer) is dict:
            found = Global(self._door, outer, text.partition(" ")[0], text)
        elif outer is not None:
            found = Enclosing(self._door, outer, text)
        else:
            known = (each for each in self._variables.values() if each.text == text)
            variables = (each for each in known if self._session.is_open(each.home))
            found = next(variables, None) or self._part(*self._step(text))
        return found if found is not None and _may_be_carried(found) else None

    # -------------------------------------------------------- what statements assign

    def carried(self, variables: Any) -> dict[str, Place]:
        """The places that a statement takes for variables, by their texts: what it rebinds itself
        (``variables`` is a function of them, or None), and what earlier attempts have found.
        """
        cells = () if variables is None else variables.__closure__
        found: dict[str, Place] = {}
        for cell in cells:
            place = self._variables[id(cell)]
            found[place.text] = place
        for label in sorted(self._session.static):
            text = label.removeprefix(_LABEL)
            if text != label and text not in found:
                known = self._place(text)
                if known is not None:
                    found[text] = known
        return found

    def assign(self, place: Place, before: tuple[Any, Any], value: Any, flag: object) -> None:
        """Assign what a statement has made of a place, and of its flag. When it began they were
        ``before``.
        """
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
        if home is None or text is None or self.is_plain(place) or session.expressions:
            return False
        carrying = {
            each.recording.number
            for each in session.statements
            if each.cells.has(place) and each.recording is not None
        }
        if carrying >= self._inside(home):
            self._assigned.add(id(place.base))
            if place.flag is not True:
                if type(place.flag) is not bool:
                    self._check_order(place, text)
                self.begun.append((text, id(place.base)))
            return True
        label = f"{_LABEL}{text}"
        if label in session.static or not _may_be_carried(place):
            return False
        self._wanted.add(label)
        self._assigned.add(id(place.base))
        return True

    def _check_order(self, place: Place, text: str) -> None:
        """Refuse to assign a place that may be there already, if others of its owner have come up
        since: it comes up before them or behind them.
        """
        cells = [each.cells for each in self._session.statements]
        known = range(cells[0].first_mark, len(self.begun))
        found = [k for k in known if self.begun[k][0] == text]
        if not found or any(each.knows(found[-1]) for each in cells):
            return
        others = (owner for each, owner in self.begun[found[-1] + 1 :] if each != text)
        if id(place.base) in others:
            raise unordered()

    def takes_item(self, owner: dict[Any, Any] | list[Any], key: object) -> bool:
        """As ``takes``."""
        return self.takes(Item(self._door, owner, key))

    def check_wanted(self) -> None:
        """Begin the capture again if places have been found."""
        if self._wanted:
            raise Respecialise(frozenset(self._wanted))

    def rebinding(self, cells: tuple[CellType, ...]) -> None:
        """At the begin of a function that rebinds variables of the one around it."""
        for cell in cells:
            place = self._variables[id(cell)]
            if not self.is_plain(place) and not self.takes(place):
                self._door.outside.effects.check_allowed("variable of an enclosing function")


def _may_be_carried(place: Place) -> bool:
    """Whether statements may take a place for a variable: there is something, or may be."""
    return place.flag is not False or place.may_begin


def _fresh(text: str, known: Any) -> str:
    count, found = 1, text
    while found in known:
        count += 1
        found = f"{text} ({count})"
    return found
