"""A program of fxc's, ahead of time: ``load()`` gives what can be called.

This folder is on its own. It needs NumPy, and nothing that compiles or links: see ``mapping``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .program import LoadedProgram

__all__ = ["load"]


def load(folder: str | os.PathLike[str] | None = None, level: str | None = None) -> LoadedProgram:
    """The program of a package, by default of the one that this module belongs to.

    Its code is that of the best level that this processor has; ``level`` names another one.
    Raises ``BadPackage`` for a folder that is not a whole package of this format, ``NoCode`` if it
    has no code for this processor.
    """
    from .files import read_package  # and program, below: not for those who map code alone

    place = os.path.dirname(__file__) if folder is None else os.fspath(folder)
    manifest, files = read_package(place)
    from .program import program_of  # not before: the modules have checksums, too

    return program_of(place, manifest, files, level)
