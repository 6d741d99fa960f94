"""What statements need of the door of staged code."""

from __future__ import annotations

from typing import Any, Protocol

from ..session.session import Session


class StatementDoor(Protocol):
    """The door, as far as statements use it."""

    session: Session
    raised: list[Any]  # what the program has raised itself
    # What these are of needs statements itself.
    outside: Any
    places: Any
    unsure: Any

    def depth(self) -> int:
        """How many branches and loops around are being captured."""

    @property
    def lists(self) -> Any:
        """The lists that the program makes."""

    @property
    def dicts(self) -> Any:
        """The dicts that the program makes."""

    @property
    def arrays(self) -> Any:
        """The arrays that may grow."""

    def stored(self, owner: Any) -> Any:
        """``owner`` in ``owner[key] = value``."""

    def call(self, f: Any, /, *args: object, **kwargs: object) -> Any:
        """``f(*args, **kwargs)``."""

    def attr(self, owner: object, name: str) -> Any:
        """``owner.name``."""

    def staged(self, f: Any) -> Any:
        """The staged form of a Python function."""

    def driving(self, f: Any, took: Any, leaves: bool) -> object:
        """A generator as a function that hands to ``took`` what it yields, or None."""

    def special(self, owner: object, name: str, *args: object, **kwargs: object) -> object:
        """``type(owner).name(owner, *args, **kwargs)``."""

    def raising(self, error: Any) -> Any:
        """An exception that the program raises."""

    def is_same_item(self, x: object, y: object) -> object:
        """Whether what holds one of these has the other: ``x is y or x == y``."""
