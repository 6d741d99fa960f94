"""What the exporter cannot say."""

from __future__ import annotations


class Unsayable(Exception):
    """Why an operator, on what it is given, has no words in StableHLO: the message."""


def no_number(what: str) -> Unsayable:
    """The problem that sizes are symbols, where StableHLO needs numbers."""
    return Unsayable(f"{what} of a size that is no number; to_stablehlo(sizes=...) takes numbers")
