"""Texts without what is nobody's business: values of strings and arrays, and who works where."""

from __future__ import annotations

import getpass
import os
import platform
import re
from collections.abc import Iterable, Iterator

from fxc.ir.setting import FOLDER
from fxc.ir.settings import SETTINGS, config

# Note [Masks]
# What a compilation says of itself has values in it: guards, reasons and messages have texts as
# `repr` writes them, which may be cut off. A mask hides too much rather than too little: quotes
# cannot be paired safely where an apostrophe may stand in front of them, so all goes from the first
# quote of a line to its end. An apostrophe behind a letter opens nothing, unless that letter may be
# the prefix of bytes. Lines of graphs have no prose in them: there quotes are paired.

_SHORT = 3  # letters of a name: a shorter one stands in words and graphs, and is hidden in paths
_OPENED = re.compile(r"(?<!\w)[bB]?'|\"")
_QUOTED = re.compile(r"""[bB]?(?:'(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$))""")
_ARRAY = re.compile(r"\b(?:array|matrix|memmap|recarray|chararray)\(.*", re.DOTALL)
_BRACKETS = re.compile(r"\[[-+\d.ejnaif,\s\[\]]*")
# What `str` of an array or a list of floats has, and shapes have not.
_ELEMENTS = re.compile(r"\d\.|\.\d|\d\s+[-+]?\d|nan|inf")
_HOMES = re.compile(r"/(?:home|Users)/[^/\s'\"]+|[A-Za-z]:\\+Users\\+[^\\\s'\"]+")


def without_values(text: str) -> str:
    """Prose without the values of strings and arrays. See Note [Masks]."""
    text = _BRACKETS.sub(_without_elements, _ARRAY.sub("array(…)", text))
    return "\n".join(map(_without_texts, text.split("\n")))


def graph_without_values(line: str) -> str:
    """A line of a graph without the values of strings."""
    return _QUOTED.sub("'…'", line)


def difference_without_values(message: str) -> str:
    """What a wrong result is, without the values: where it is, how far it is off, how often."""
    head, differs, told = message.partition(_DIFFERS)
    if not differs:
        return head
    where = told.partition(": ")[0] if ": " in told else "…"
    return "; ".join([f"{head}{differs}{where}", *_SIZES.findall(told)])


_DIFFERS = "differs from NumPy: "
_SIZES = re.compile(r"[\d.e+]+ ulps apart|\d+ of \d+ elements differ")


def _without_texts(line: str) -> str:
    opened = _OPENED.search(line)
    return line if opened is None else f"{line[: opened.start()]}'…'"


def _without_elements(found: re.Match[str]) -> str:
    text = found[0]
    end = text.rfind("]") + 1 or len(text)
    return f"[…]{text[end:]}" if _ELEMENTS.search(text, 0, end) else text


class Names:
    """Names of users and hosts, and paths of homes, which are hidden in texts. Of paths of other
    folders the last part is left.
    """

    def __init__(
        self, homes: Iterable[str], names: Iterable[str], folders: Iterable[str] = ()
    ) -> None:
        paths = {os.path.normpath(each) for each in folders if os.path.isabs(each)} - {os.sep}
        self._folders = sorted(paths, key=len, reverse=True)
        found = {os.path.normpath(home) for home in homes if os.path.isabs(home)} - {os.sep}
        self._homes = sorted(found, key=len, reverse=True)
        whole, in_paths = list[str](), list[str]()
        for name in sorted(set(names) - {""}, key=len, reverse=True):
            (whole if len(name) >= _SHORT else in_paths).append(re.escape(name))
        patterns = [rf"(?<![A-Za-z0-9])(?:{'|'.join(whole)})(?![A-Za-z0-9])"] if whole else []
        patterns += [rf"(?<=[/\\])(?:{'|'.join(in_paths)})(?=[/\\]|$)"] if in_paths else []
        self._names = re.compile("|".join(patterns) or r"(?!)", re.IGNORECASE | re.MULTILINE)

    def hidden_in(self, text: str) -> str:
        """The text with ``~`` for each of them, ``…`` for what is in front of a folder."""
        shown = dict.fromkeys(self._homes, "~")
        for folder in self._folders:
            if not folder.startswith(tuple(f"{home}{os.sep}" for home in self._homes)):
                shown.setdefault(folder, f"…{os.sep}{os.path.basename(folder)}")
        for path in sorted(shown, key=len, reverse=True):
            parts = re.split(re.escape(path) + r"(?![\w.-])", text)
            text = shown[path].join(parts)
        return self._names.sub("~", _HOMES.sub("~", text))


def own_names() -> Names:
    """Those of who runs this process, and where; of settings, the folders."""
    home = os.path.expanduser("~")
    homes = {home, os.path.realpath(home), os.environ.get("HOME", "")}
    host = platform.node()
    settings = (getattr(config, name) for name, each in SETTINGS.items() if each.kind is FOLDER)
    folders = filter(None, (*settings, os.environ.get("XDG_CACHE_HOME")))
    return Names(homes, {*_users(homes), host, host.split(".")[0]}, folders)


def _users(homes: set[str]) -> Iterator[str]:
    yield from (os.environ.get(each, "") for each in ("USER", "LOGNAME", "USERNAME", "SUDO_USER"))
    try:
        yield getpass.getuser()
        import pwd  # there is none on Windows

        found = pwd.getpwuid(os.getuid())
    except (ImportError, KeyError, OSError):
        return
    yield found.pw_name
    homes |= {found.pw_dir, os.path.realpath(found.pw_dir)}
