"""What staging says of a branch or a loop: staged code hands it over as a tuple of constants."""

from __future__ import annotations

from typing import NamedTuple

Names = tuple[str, ...]


class BranchPlan(NamedTuple):
    """The line of a branch, and its variables as staged code gives them, in the order in which it
    does: all that it assigns, those that are read behind it, those that are read only where they
    have a value, and those that are given another name in it and not read behind it.
    """

    line: str
    names: Names
    behind: Names
    sure: Names
    renamed: Names


class LoopPlan(NamedTuple):
    """The same for a loop: all that are live at its head or behind it, those live at its head,
    those behind it, and those that are read only where they have a value. ``by_turns`` have one
    behind the loop if there is an iteration; of which the second may have one before it. ``stop``
    says that the loop ends. ``grows`` are the lists to which each iteration appends; ``deep`` loops
    are around loops in loops. ``overwritten`` are the other variables that it assigns: each is
    assigned again before it is read.
    """

    line: str
    names: Names
    at_head: Names
    behind: Names
    sure: Names
    by_turns: tuple[Names, Names]
    stop: str | None
    grows: Names = ()
    deep: bool = False
    overwritten: Names = ()
