"""Print the page of an error or a warning, by its number, or the help of a command."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from importlib import resources

from .main import COMMANDS, main

_HELP = """\
Print the page of an error or a warning: what has happened, a program that meets it, and one that
does not. Or the help of a command. Without a topic, a list of all pages.

    python -m fxc help FXC0002
    python -m fxc help export

The status is 0 if there is such a page or command, else 2.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``python -m fxc help``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    parser.add_argument(
        "topic", nargs="?", metavar="TOPIC", help="a number, FXC0002 or 2, or the name of a command"
    )


def run(options: argparse.Namespace) -> int:
    """Print what is asked for; the exit status."""
    topic = options.topic
    if topic is None:
        print(_list(), end="")
        return 0
    if topic in COMMANDS:
        return main([topic, "--help"])
    number = re.fullmatch(r"(?:FXC)?(\d{1,4})", topic, re.IGNORECASE)
    page = _pages() / f"FXC{int(number[1]):04}.md" if number else None
    if page is None or not page.is_file():
        near = difflib.get_close_matches(topic, COMMANDS, 1)
        advice = f"did you mean {near[0]}?" if near else "python -m fxc help lists all pages"
        print(f"fxc help: there is nothing about {topic!r}; {advice}", file=sys.stderr)
        return 2
    print(page.read_text(encoding="utf-8"), end="")
    return 0


def _pages() -> resources.abc.Traversable:
    return resources.files("fxc") / "error_pages"


def _list() -> str:
    """The number and the title of each page."""
    titles = re.findall(r"^\| \[(\w+)\]\S+ \| (.+) \|$", _text("index.md"), re.MULTILINE)
    rows = [f"  {number}  {title}\n" for number, title in titles]
    return "".join(["Errors and warnings, for python -m fxc help NUMBER:\n", *rows])


def _text(name: str) -> str:
    return (_pages() / name).read_text(encoding="utf-8")
