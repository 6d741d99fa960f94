"""What the classes of this room do by functions of modules that need these classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# By name. The room fills it as a whole, in its ``__init__``: no module imports itself by way of it.
UPWARD: dict[str, Callable[..., Any]] = {}
