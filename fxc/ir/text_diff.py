"""The difference between two texts of graphs or loop nests, for people.

Stages number their values each on its own. So the values of the earlier text are first called what
the later one calls them: those of lines that are alike but for the numbers. One that the later text
does not have keeps its name, with a ``'`` if that means another value there.
"""

from __future__ import annotations

import difflib
import re

_VALUE = re.compile(r"%[\w.]+|\b[bt]\d+\b")
_COMMENT = re.compile(r"\s+# (\S+:\d+)$")
_FORM = re.compile(r"(_copy)?\(| into %$")  # of an operator: with views or without, or in place
_COLOURS = {"-": "\x1b[31m", "+": "\x1b[32m", "@": "\x1b[36m"}


def text_diff(before: str, after: str, names: tuple[str, str], context: int = 2) -> str:
    """A unified diff with the later text's numbers; empty if the texts say the same."""
    old, new = before.split("\n"), after.split("\n")
    called = _later_names(old, new)
    renamed = [_VALUE.sub(lambda found: called[found[0]], line) for line in map(_close, old)]
    lines = difflib.unified_diff(renamed, list(map(_close, new)), *names, n=context, lineterm="")
    return "\n".join(lines)


def coloured(diff: str) -> str:
    """The diff for a terminal."""
    lines = []
    for line in diff.split("\n"):
        colour = _COLOURS.get(line[:1], "")
        lines.append(f"{colour}{line}\x1b[0m" if colour else line)
    return "\n".join(lines)


def _close(line: str) -> str:
    """The line with its comment close to it: comments are aligned with the longest line."""
    found = _COMMENT.search(line)
    return line if found is None else f"{line[: found.start()]}  # {found[1]}"


def _later_names(old: list[str], new: list[str]) -> dict[str, str]:
    """What the later text calls the values of the earlier one."""
    called: dict[str, str] = {}
    matcher = difflib.SequenceMatcher(None, [*map(_alike, old)], [*map(_alike, new)], False)
    for i, j, size in matcher.get_matching_blocks():
        for mine, other in zip(old[i : i + size], new[j : j + size], strict=True):
            for name, found in zip(_VALUE.findall(mine), _VALUE.findall(other), strict=False):
                called.setdefault(name, found)
    same = {_FORM.sub("(", line.partition(" = ")[2]): line for line in map(_close, new)}
    taken, there = set(called.values()), {name for line in new for name in _VALUE.findall(line)}
    for line in map(_close, old):
        names = dict.fromkeys(_VALUE.findall(line))
        how = _VALUE.sub(lambda found: called.get(found[0], found[0]), line.partition(" = ")[2])
        twin = same.get(_FORM.sub("(", how), "")
        for name in names:
            if name not in called and how and twin:  # it is computed once, for several
                called[name] = _VALUE.findall(twin)[0]
            called.setdefault(name, f"{name}'" if name in taken & there else name)
    return called


def _alike(line: str) -> str:
    """The line without numbers of values, and in the one form that operators have in each stage."""
    return _FORM.sub("(", _VALUE.sub("%", _close(line)))
