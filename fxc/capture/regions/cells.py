"""Places that branches and loops assign, which are variables then like others.

See Note [Assigned places].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from fxc.ir.error_kinds import KEYS_BY_CONDITION

from ..session.refusing import refuse
from ..values.maybe_set import UNBOUND
from .needed import StatementDoor

_FLAG = " is there"


def is_flag(name: str) -> bool:
    """Whether a variable says whether there is something at a place."""
    return name.endswith(_FLAG)


class Cells:
    """The places that a statement takes for variables, by their texts. What is not there for sure
    when the statement begins has a flag: see Note [Places that are new].
    """

    def __init__(self, door: StatementDoor, rebound: object, loop: Any = None) -> None:
        self._places, self._dicts = door.places, door.dicts
        self._loop = loop
        self._rebound = rebound
        self._cells = door.places.carried(rebound)
        self._session, self._region = door.session, door.session.region
        self._before = self._states()
        self._new = [text for text, (_, flag) in self._before.items() if flag is not True]
        self._order: list[str] = []  # in which new places are assigned
        self._mark = self.first_mark = len(self._places.begun)
        self._after: Mapping[str, Any] = {}  # the flags at the end of the body

    def look_again(self) -> tuple[str, ...]:
        """Take in the places that an iteration before the loop has made; gives their texts."""
        found = self._places.carried(self._rebound).items()
        made = {text: x for text, x in found if text not in self._cells and x.flag is True}
        self._cells |= made
        return tuple(made)

    @property
    def names(self) -> tuple[str, ...]:
        return *self._cells, *(f"{text}{_FLAG}" for text in self._new)

    def has(self, place: Any) -> bool:
        """Whether a place is one of these."""
        found = self._cells.get(place.text)
        return found is not None and found.base is place.base

    def may_be_unbound(self, name: str) -> bool:
        """Whether this is a place, or an item of one, that has a flag."""
        return any(name == text or name.startswith(f"{text}.") for text in self._new)

    def of(self, owner: object) -> dict[str, Any]:
        """The flags of the places of an owner, as they are now."""
        return {text: each.flag for text, each in self._cells.items() if each.base is owner}

    def knows(self, number: int) -> bool:
        """Whether an earlier pass through the body has found the new place of this number."""
        return self._loop is not None and self.first_mark <= number < self._mark

    def may_set(self, owner: object, part: object = None) -> bool:
        """Whether an attribute or item is one of the new places; whether an object has some."""
        places = (self._cells[text] for text in self._new)
        return any(each.base is owner and part in (None, each.part) for each in places)

    def among(self, env: Mapping[str, object]) -> Mapping[str, Any]:
        """The variables with the places."""
        if not self._cells:
            return env
        states = self._states()
        for text, (_, flag) in states.items():
            if flag is False and text not in self._new:
                raise refuse(KEYS_BY_CONDITION, f"{text}, which a branch or loop deletes,")
        if self._session.region == self._region:  # an iteration that is run before the loop
            self._before, self._order = states, []
            self._mark = self.first_mark = len(self._places.begun)
        self._after = {f"{text}{_FLAG}": states[text][1] for text in self._new}
        return {**env, **{text: value for text, (value, _) in states.items()}, **self._after}

    def held(self) -> list[Any]:
        return [place.held() for place in self._cells.values()]

    def _states(self) -> dict[str, tuple[Any, Any]]:
        """What the places hold, and whether there is something."""
        return {text: (place.held(), place.flag) for text, place in self._cells.items()}

    def hand_on(self, values: Mapping[str, object]) -> list[Any]:
        """Assign the places among variables; gives what the others are."""
        if not self._cells:
            return list(values.values())
        self._take_order()
        for text in dict.fromkeys((*self._order, *self._cells)):
            value, flag = values[text], values.get(f"{text}{_FLAG}", True)
            flag = False if value is UNBOUND and text in self._new else flag
            self._places.assign(self._cells[text], self._before[text], value, flag)
        places = self.names
        return [x for name, x in values.items() if name not in places]

    def put_back(self) -> None:
        """Put into the places what they held before, as nothing of the statement is."""
        for text, place in self._cells.items():
            place.put(*self._before[text])

    def read_again(self, values: Mapping[str, object]) -> dict[str, Any]:
        """The variables, with what the places hold now."""
        return {**values, **self.among({})}

    # -------------------------------------------------------- the order of what is new

    def _take_order(self) -> None:
        """Note in which order an arm, or the body, has assigned new places."""
        begun = self._places.begun
        found = list(dict.fromkeys(text for text, _ in begun[self._mark :] if text in self._cells))
        known = self._order
        for place, text in enumerate(found):
            if text not in known:
                behind = [known.index(each) for each in found[place:] if each in known]
                if behind and self._loop is not None:
                    raise unordered()
                known.insert(min(behind, default=len(known)), text)
        for one, other in combinations(found, 2):
            self._check_order(one, other)
        for text in found:
            if type(self._before[text][1]) is not bool:
                self._check_last(text, found)
        begun[self.first_mark :] = [(text, id(self._cells[text].base)) for text in known]
        self._mark = len(begun)

    def _check_order(self, one: str, other: str) -> None:
        """Refuse two new places, assigned one before the other, that may come up otherwise."""
        owners = (self._cells[text].base for text in (one, other))
        if len({id(owner) for owner in owners}) > 1:
            return
        if any(self._before[text][1] is True for text in (one, other)):
            return  # that one comes up first
        swapped = self._order.index(one) > self._order.index(other)
        late = self._loop is not None and self._after.get(f"{one}{_FLAG}", True) is not True
        doubtful = late or self._before[other][1] is not False
        if swapped or (doubtful and not self._places.is_ahead(one, other)):
            if late:
                self._loop.needs_first()
            else:
                self._dicts.ask(self._cells[one].base)  # a dict of the graph has any order
            raise unordered()

    def _check_last(self, text: str, found: Sequence[str]) -> None:
        """Refuse a place that may have been there before others of its owner, or after them."""
        place = self._cells[text]
        known = {
            each.part
            for other, each in self._cells.items()
            if each.base is place.base and (other in found or self._places.is_ahead(text, other))
        }
        if not known.issuperset(place.names_behind()):
            self._dicts.ask(place.base)
            raise unordered()


def unordered() -> Exception:
    """The refusal of places that come up in an order which is not known."""
    return refuse(
        KEYS_BY_CONDITION,
        "attributes or keys that come up in an order which depends on conditions",
        "give them values before",
    )
