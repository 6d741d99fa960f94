"""What parts of a function give that are no values of the program."""

from enum import Enum
from typing import Any

# It cannot go on: its statements are to be run by Python.
REPLAY: Any = type("Replay", (), {"__repr__": lambda self: "REPLAY"})()


class Unset(Enum):
    """What a variable without a value is where it is handed on: a constant to captures."""

    UNSET = "unset"


UNSET = Unset.UNSET
# An attribute of functions that are parts of another one.
PART = "__fxc_part__"
