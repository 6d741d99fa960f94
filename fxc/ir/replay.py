"""What a part of a function gives if it cannot go on: its statements are to be run by Python."""

from typing import Any

REPLAY: Any = type("Replay", (), {"__repr__": lambda self: "REPLAY"})()

# An attribute of functions that are parts of another one.
PART = "__fxc_part__"
