"""Attributes that branches and loops assign, which are variables then like others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Note [Assigned attributes]
# What ``self.t += dt`` assigns in a loop is no variable of the function, so that the statement does
# not show that the loop carries it. The capture begins again when it is seen, with the attribute
# among the variables of each branch and each loop from its begin on (``Cells``): each is given it
# with the others, and hands it on. The object itself is assigned to behind the outermost of them.
# Places are known by a text from one attempt to the next: how an object from outside is come by, or
# the number of one among those that the program has made.

_LABEL = "attribute "


def label_of_attribute(text: str) -> str:
    """What stands for an attribute among the requests of a capture."""
    return f"{_LABEL}{text}"


class Cells:
    """The attributes that a statement takes for variables, by their texts."""

    def __init__(self, door: Any) -> None:
        self._door = door
        self._places: dict[str, tuple[Any, str]] = {}
        for label in sorted(door.session.static):
            if label.startswith(_LABEL):
                text = label.removeprefix(_LABEL)
                outer, _, name = text.rpartition(".")
                owner = door.owner_of(outer)
                if owner is not None and door.has_attribute(owner, name):
                    self._places[text] = owner, name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._places)

    def among(self, env: Mapping[str, Any]) -> Mapping[str, Any]:
        """The variables with the attributes."""
        if not self._places:
            return env
        found = {text: self._door.attr(*place) for text, place in self._places.items()}
        return {**env, **found}

    def hand_on(self, values: Sequence[Any]) -> list[Any]:
        """Assign the attributes, which come last; gives the other values."""
        if not self._places:
            return list(values)
        count = len(values) - len(self._places)
        for (owner, name), value in zip(self._places.values(), values[count:], strict=True):
            self._door.assign_attribute(owner, name, value)
        return list(values[:count])
