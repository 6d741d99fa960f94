"""Objects of modules by their names, as ``pickle`` finds them."""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from typing import Any


def loaded(module: str, qualname: str) -> Any:
    """What has this name in a module that the process has; None if nothing has."""
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def imported(module: str, qualname: str) -> Any:
    """What has this name in a module, which is imported. Raises as imports and ``getattr`` do."""
    return functools.reduce(getattr, qualname.split("."), import_module(module))
