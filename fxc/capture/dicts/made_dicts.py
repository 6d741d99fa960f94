"""Which dicts and sets of the program may be of the graph: those that it makes, by line.

See Note [Dicts of the graph].
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from types import FunctionType
from typing import Any

from ..session.locations import user_location
from ..session.refusing import How, Request, Respecialise
from ..session.session import current
from .dict_tables import is_key
from .open_dicts import OpenDict
from .traced_dicts import TracedDict, factory_of
from .traced_sets import TracedSet


class MadeDicts:
    """The dicts and sets that the program of a capture makes, by the line where it does."""

    def __init__(self) -> None:
        self._labels: dict[int, tuple[str, Any]] = {}
        self._words: dict[str, int] = {}

    def number_of_text(self, text: str) -> int:
        """What stands for a text among keys."""
        return self._words.setdefault(text, len(self._words))

    def made(self, items: Any) -> Any:
        """A dict or a set that the program makes here."""
        if type(items) not in (dict, set, OrderedDict) and not _counts(items):
            return items
        label, session = f"dict at {user_location()}", current()
        if type(items) is dict and How.OPEN in session.asked(label):
            return OpenDict(items)
        if session.wants(label) and _may_be(items):
            session.retries |= {Request(label, How.BY_PYTHON)}
            return (TracedSet if type(items) is set else TracedDict)(items, label)
        self._labels[id(items)] = label, items
        return items

    def ask(self, items: object) -> None:
        """Begin again with a dict or set of the graph in place of this one, if it may be one."""
        label, _ = self._labels.get(id(items), (None, None))
        if label is not None and How.IN_GRAPH not in current().asked(label) and _may_be(items):
            raise Respecialise(Request(label, How.IN_GRAPH))

    def ask_open(self, items: object) -> None:
        """Begin again with an ``OpenDict`` in place of a dict that gets a key by a condition."""
        label, _ = self._labels.get(id(items), (None, None))
        if label is not None and type(items) is dict:
            raise Respecialise(Request(label, How.OPEN))


def _counts(items: object) -> bool:
    if type(items) is not defaultdict:
        return type(items) is Counter
    factory = factory_of(items)
    return factory in (int, float, list) or type(factory) is FunctionType


def _may_be(items: Any) -> bool:
    return all(is_key(key) for key in items)
