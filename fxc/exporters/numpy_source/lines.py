"""Lines of a module as formatters leave them: what is too long for one has one argument a line."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH = 88
INDENT = "    "


def laid_out(
    level: int, before: str, parts: tuple[str, Sequence[str], str] | None, text: str
) -> list[str]:
    """``before text`` at a level; ``parts`` are head, arguments and tail of a call."""
    pad = INDENT * level
    line = f"{pad}{before}{text}"
    if len(line) <= WIDTH:
        return [line]
    parts = parts or _brackets(text)
    if parts is None or not parts[1]:
        terms = _terms(text) if before.endswith(" = ") else []
        if len(terms) < 2:
            return [line]
        return [f"{pad}{before}(", *[f"{pad}{INDENT}{term}" for term in terms], f"{pad})"]
    head, items, tail = parts
    inner = f"{pad}{INDENT}{', '.join(items)}"
    if len(inner) <= WIDTH and not tail.startswith(",") and "[" != head[-1] != "{":
        return [f"{pad}{before}{head}", inner, f"{pad}{tail}"]
    rows = [row for item in items for row in _item_lines(level + 1, item)]
    if len(items) == 1 and rows[-1].strip() in ("],", "),") and head[-1] == "(":
        rows[-1] = rows[-1].removesuffix(",")
    return [f"{pad}{before}{head}", *rows, f"{pad}{tail.removeprefix(',')}"]


def _item_lines(level: int, item: str) -> list[str]:
    lines = laid_out(level, "", _brackets(item), item)
    return [*lines[:-1], f"{lines[-1]},"]


def _terms(text: str) -> list[str]:
    """The terms of a sum, with their signs."""
    depth, begin, found = 0, 0, []
    for place, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0 and place and text[place : place + 3] in (" + ", " - "):
            found.append(text[begin:place].strip())
            begin = place + 1
    return [*found, text[begin:].strip()]


def _brackets(text: str) -> tuple[str, list[str], str] | None:
    """Head, items and tail of a text that is one pair of brackets, a name before them or not."""
    start = next((place for place, char in enumerate(text) if char in "([{"), None)
    if start is None or not all(char.isalnum() or char in "._" for char in text[:start]):
        return None
    items, depth, quote, begin = [], 0, "", start + 1
    for place, char in enumerate(text[start:], start):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0 and place != len(text) - 1:
                return None
        elif char == "," and depth == 1:
            items.append(text[begin:place].strip())
            begin = place + 1
    items.append(text[begin:-1].strip())
    return text[: start + 1], [item for item in items if item], text[-1]


def with_comment(lines: list[str], comment: str | None) -> list[str]:
    """The lines of a statement with a comment: behind it, or above it where that is too long."""
    if comment is None:
        return lines
    if len(lines) == 1 and len(lines[0]) + 4 + len(comment) <= WIDTH:
        return [f"{lines[0]}  # {comment}"]
    pad = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return [f"{pad}# {comment}", *lines]
