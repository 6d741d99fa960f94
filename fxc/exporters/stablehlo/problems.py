"""What the exporter cannot say."""

from __future__ import annotations


class Unsayable(Exception):
    """Why an operator, on what it is given, has no words in StableHLO: the message."""
