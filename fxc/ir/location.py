"""Where in the user's program something was asked for."""

from __future__ import annotations

import os

from .records import frozen


@frozen
class SourceLocation:
    """A line of the user's program: ``heat.py:12 in step``."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"
