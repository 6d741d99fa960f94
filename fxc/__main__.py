"""`python -m fxc`: one sub-command for each thing to do from a shell."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import fxc.demo
import fxc.export_command

# A command's module has `add_arguments(parser)` and `run(options) -> exit status`.
COMMANDS = {
    "demo": (fxc.demo, "run the example programs with and without fxc, compare and time them"),
    "export": (fxc.export_command, "export a function of a file for another runtime"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m fxc", description="A compiler for NumPy.")
    commands = parser.add_subparsers(dest="command", metavar="command")
    for name, (module, summary) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=module.__doc__)
        module.add_arguments(command)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    module, _ = COMMANDS[options.command]
    status: int = module.run(options)
    return status


if __name__ == "__main__":
    sys.exit(main())
