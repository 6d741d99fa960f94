"""Where in the user's program something was asked for."""

from __future__ import annotations

import os

from .records import frozen


@frozen
class SourceLocation:
    """A line of the user's program: ``heat.py:12 in step``.

    ``quiet`` are the floating-point errors that ``np.errstate`` around it, in the function, says to
    ignore, in its words ("divide", "over", "under", "invalid").
    """

    file: str
    line: int
    function: str
    quiet: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


@frozen
class Site:
    """An operator at a line of the user's program."""

    op: str
    loc: SourceLocation | None

    def is_at(self, other: SourceLocation | None) -> bool:
        """Whether that is its line."""
        mine = self.loc
        if mine is None or other is None:
            return False
        return mine.line == other.line and mine.file == other.file
