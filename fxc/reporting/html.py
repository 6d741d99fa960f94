"""Elements of HTML as text: what is not an element is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


class Html(str):
    """Text that is HTML."""

    __slots__ = ()


def element(tag: str, *content: str, **attributes: str | int | bool | None) -> Html:
    """An element. Content that is no ``Html`` is escaped. Of the attributes' names an underscore
    at the end is dropped, others are hyphens; those that are None or False are left out.
    """
    inside = "".join(
        each if isinstance(each, Html) else escape(each, quote=False) for each in content
    )
    given = "".join(
        f" {name.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{escape(str(value))}"')
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{tag}{given}>{inside}</{tag}>")


def joined(parts: Iterable[str]) -> Html:
    """Parts behind each other; those that are no HTML are escaped."""
    return Html("".join(p if isinstance(p, Html) else escape(p, quote=False) for p in parts))
