"""``python -m fxc cache``: what is kept on disk of compiled functions."""

from __future__ import annotations

import argparse
import sys

from fxc.cache import folder
from fxc.ir.settings import cache_folder

_HELP = """\
Show what is kept on disk of compiled functions, or clear it.

    info    the folder, how many files it has, their size, and the limit (the default)
    path    the folder alone
    clear   remove all files

FXC_CACHE=0 turns the cache off, FXC_CACHE_DIR names another folder, FXC_CACHE_SIZE limits its
bytes. What is removed is made again when it is needed. docs/cache.md says more.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = _HELP
    parser.add_argument("what", nargs="?", choices=("info", "path", "clear"), default="info")


def run(options: argparse.Namespace) -> int:
    """Print what was asked for, or clear; the exit status is 1 if there is no cache."""
    place, problem = cache_folder(), folder.problem()
    if place is None or problem:
        print(f"fxc cache: nothing is kept: {problem}", file=sys.stderr)
        return 1
    if options.what == "path":
        print(place)
    elif options.what == "clear":
        print(f"removed {folder.clear()} files from {place}")
    else:
        found = folder.contents()
        print(f"folder  {place}")
        print(f"files   {found.files}")
        print(f"size    {_shown(found.size)} of {_shown(folder.most())}")
    return 0


def _shown(size: int) -> str:
    number, units = float(size), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while number >= 1024 and len(units) > 1:
        number /= 1024
        units.pop(0)
    return f"{number:.4g} {units[0]}"
