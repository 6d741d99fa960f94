"""`python -m fxc`: one command for each thing to do from a shell."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

from fxc.ir.version import __version__

# Each is a module `fxc.cli.NAME`, a `Command`. It is imported when it is used.
COMMANDS = {
    "cache": "show or clear what is kept on disk of compiled functions",
    "demo": "run the example programs with and without fxc, compare and time them",
    "bisect": "find the stage that is wrong where a script's results differ from NumPy's",
    "explain": "say on one page what becomes of a function, and why",
    "dump": "print the stages of a function's compilation",
    "export": "export a function of a file for another runtime",
    "run": "run an unchanged script, with its hot functions compiled while it runs",
    "report": "write a page about what was compiled, of a trace or of a script that is run",
    "rage": "bundle what a bug report needs into one file, without secrets",
    "help": "print the page of an error, such as FXC0002, or the help of a command",
    "doctor": "check the installation, and say what to do about each problem",
    "coverage": "print what becomes of a function of NumPy's, as of np.sort",
    "bench": "run the benchmarks of a checkout",
}
# What the help shows together; others stand at its end.
GROUPS = {
    "to begin": ("doctor", "demo", "run", "coverage"),
    "to see inside": ("explain", "dump", "report", "help"),
    "to find what is wrong": ("bisect", "rage"),
    "to use elsewhere": ("export", "cache"),
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
        usage="python -m fxc COMMAND …",
        description=_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"fxc {__version__}")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", help=argparse.SUPPRESS, prog="python -m fxc"
    )
    asked = next((each for each in given if not each.startswith("-")), None)
    if asked is not None and asked not in COMMANDS:
        from difflib import get_close_matches  # here: `fxc run` starts with little

        near = get_close_matches(asked, COMMANDS, 1)
        advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(COMMANDS))}"
        parser.error(f"there is no command {asked}; {advice}")
    loaded: Command | None = None
    chosen = parser
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, description=summary)
        if name == asked:
            loaded, chosen = import_module(f"fxc.cli.{name}"), command
            loaded.add_arguments(command)
    options, unknown = parser.parse_known_args(given)
    if unknown:  # said with the usage of the command
        chosen.error(f"unrecognized arguments: {' '.join(unknown)}")
    if loaded is None:
        parser.print_help()
        return 0
    try:
        status = loaded.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # who reads it, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        from fxc.ir.errors import UsageError  # here: `fxc run` starts with little

        if not isinstance(error, UsageError):
            raise
        print(f"fxc {asked}: {error}", file=sys.stderr)  # of a setting, in the environment
        return 2
    return status


def _help() -> str:
    """All commands, by groups."""
    listed = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, "to work on fxc": tuple(name for name in COMMANDS if name not in listed)}
    lines = ["A compiler for NumPy programs with views and in-place writes.", ""]
    for title, names in groups.items():
        lines += [f"{title}:", *(f"  {name:<9} {COMMANDS[name]}" for name in names), ""]
    return "\n".join(
        [
            *lines,
            "python -m fxc COMMAND --help tells of one command, with examples. The exit status is",
            "0 if all went well, 1 if something failed, 2 if what was asked for makes no sense.",
        ]
    )
