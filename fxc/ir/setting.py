"""What a setting is: an attribute of ``fxc.config``, and a variable of the environment."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, Generic, Self, TypeVar, overload

from .error_kinds import SETTING
from .errors import UsageError, UsageTypeError, numbered
from .records import frozen

T = TypeVar("T")


@frozen
class Kind(Generic[T]):
    """What values a setting may have.

    ``parse`` makes one of a text, and raises ``ValueError``; ``take`` one of an object, and raises
    ``TypeError`` or ``ValueError``. ``must`` says it in words: "a number of bytes".
    """

    must: str
    parse: Callable[[str], T]
    take: Callable[[object], T]


class _Unset:
    """What a setting has whose variable was not read, or which the program has not set."""


_UNSET: Final = _Unset()
_SHOWN = 80  # characters of a text that makes no sense


class Setting(Generic[T]):
    """A setting of the process. What the program has set counts, or else the variable, which is
    read when the value is first asked for, or else the default.

    It is a descriptor: ``config.name`` is the value, ``Config.name`` the setting.
    """

    name = variable = ""

    def __init__(self, kind: Kind[T], default: T, summary: str, *, once: bool = False) -> None:
        self.kind, self.default, self.summary = kind, default, summary
        self.once = once  # it stays what it is as soon as something depends on it
        self._chosen: T | _Unset = _UNSET
        self._given: T | _Unset = _UNSET
        self._is_fixed = False
        self._watchers: list[Callable[[], object]] = []

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.variable = name, f"FXC_{name.upper()}"

    @overload
    def __get__(self, holder: None, owner: type) -> Self: ...
    @overload
    def __get__(self, holder: object, owner: type) -> T: ...
    def __get__(self, holder: object, owner: type) -> Any:
        return self if holder is None else self.value

    def __set__(self, holder: object, value: T) -> None:
        self.put(self.taken(value))

    @property
    def value(self) -> T:
        """What counts now. Raises ``ValueError`` if the variable makes no sense."""
        if not isinstance(self._chosen, _Unset):
            return self._chosen
        if isinstance(self._given, _Unset):
            self._given = self.given()
        return self._given

    @property
    def origin(self) -> str:
        """Where the value comes from."""
        if not isinstance(self._chosen, _Unset):
            return "the program"
        return self.variable if self._text() else "default"

    @property
    def chosen(self) -> T | _Unset:
        """What the program has set; ``put`` takes it back."""
        return self._chosen

    def given(self) -> T:
        """What the variable says, or else the default. Raises ``ValueError``, which names it."""
        text = self._text()
        if not text:
            return self.default
        try:
            return self.kind.parse(text)
        except ValueError as error:
            why = f"; {error}" if str(error) else ""
            message = f"{self.variable} must be {self.kind.must}, not {text[:_SHOWN]!r}{why}"
        raise UsageError(SETTING, message)

    def taken(self, value: object) -> T:
        """The value as it is kept. Raises ``TypeError`` or ``ValueError``, which name the two."""
        try:
            return self.kind.take(value)
        except (TypeError, ValueError) as error:
            is_type, why = isinstance(error, TypeError), f"; {error}" if str(error) else ""
        message = f"fxc.config.{self.name} must be {self.kind.must}, not {value!r}{why}"
        raise UsageTypeError(SETTING, message) if is_type else UsageError(SETTING, message)

    def put(self, value: T | _Unset) -> None:
        """Set what ``taken`` or ``chosen`` gave.

        Raises ``RuntimeError`` for another value than one that is fixed.
        """
        if self._is_fixed and (self.given() if isinstance(value, _Unset) else value) != self.value:
            text = (
                f"fxc.config.{self.name} stays {self.value!r}: code has been made with it; "
                "set it before the first call of a compiled function"
            )
            raise RuntimeError(numbered(SETTING, text))
        self._chosen = value
        for each in self._watchers:
            each()

    def fix(self) -> T:
        """The value, which stays what it is from now on."""
        self._is_fixed = True
        return self.value

    def watch(self, changed: Callable[[], object]) -> None:
        """Call this each time the program has set a value."""
        self._watchers.append(changed)

    def _text(self) -> str:
        return os.environ.get(self.variable, "").strip()


def count(must: str, least: int, most: int) -> Kind[int | None]:
    """A number from ``least`` to ``most``, or None."""

    def parse(text: str) -> int:
        digits = text.isdecimal() and len(text) <= len(str(most))
        if not (digits and least <= int(text) <= most):
            raise ValueError
        return int(text)

    def take(value: object) -> int | None:
        if value is None:
            return None
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError
        number = int(value.__index__())
        if not least <= number <= most:
            raise ValueError
        return number

    return Kind(must, parse, take)


_ON, _OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def _parse_switch(text: str) -> bool:
    if text.lower() not in (*_ON, *_OFF):
        raise ValueError
    return text.lower() in _ON


def _take_switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


SWITCH: Kind[bool] = Kind("True or False (1 or 0)", _parse_switch, _take_switch)


def _take_folder(value: object) -> str | None:
    if value is not None and not isinstance(value, str | os.PathLike):
        raise TypeError
    found = value if value is None else os.fspath(value)
    if not isinstance(found, str | None):
        raise TypeError
    if found is not None and (not found or "\0" in found):
        raise ValueError
    return found


FOLDER: Kind[str | None] = Kind("the path of a folder, or None", lambda text: text, _take_folder)


def names(must: str, check: Callable[[str], object]) -> Kind[str]:
    """Names with commas between them, each as ``check`` wants it, which raises ``ValueError``."""

    def parse(text: str) -> str:
        found = [name.strip() for name in text.split(",") if name.strip()]
        for name in found:
            check(name)
        return ",".join(found)

    def take(value: object) -> str:
        if not isinstance(value, str):
            raise TypeError
        return parse(value)

    return Kind(must, parse, take)
