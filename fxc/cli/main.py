"""`python -m fxc`: one command for each thing to do from a shell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

# Each is a module `fxc.cli.NAME`, a `Command`. It is imported when it is used.
COMMANDS = {
    "cache": "show or clear what is kept on disk of compiled functions",
    "demo": "run the example programs with and without fxc, compare and time them",
    "bisect": "find the stage that is wrong where a script's results differ from NumPy's",
    "explain": "say on one page what becomes of a function, and why",
    "dump": "print the stages of a function's compilation",
    "export": "export a function of a file for another runtime",
    "report": "write a page about what was compiled, of a trace or of a script that is run",
    "help": "print the page of an error, such as FXC0002, or the help of a command",
}


class Command(Protocol):
    """What a command's module has."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""

    def run(self, options: argparse.Namespace) -> int:
        """Do it; the exit status: 0, 1 if it failed, 2 if what was asked for makes no sense."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="python -m fxc",
        description="A compiler for NumPy.",
        epilog="python -m fxc COMMAND --help tells of one command.",
    )
    commands = parser.add_subparsers(dest="command", metavar="command")
    asked = next((each for each in given if not each.startswith("-")), None)
    loaded: Command | None = None
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name == asked:
            loaded = import_module(f"fxc.cli.{name}")
            loaded.add_arguments(command)
    options = parser.parse_args(given)
    if loaded is None:
        parser.print_help()
        return 0
    return loaded.run(options)
