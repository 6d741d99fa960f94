"""``hash`` and ``frozenset`` of what is known while a function is captured."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from fxc.ir.error_kinds import OBJECT

from ..forms.mixed import Mixed
from ..outside.containers import PLAIN, plain_key
from ..session.refusing import refuse
from ..values.operands import Traced
from ..values.shadows import class_name, has_method


def hash_of(x: object) -> int:
    """``hash(x)``: a constant, guarded like what it is computed from."""
    if not _has_constant(x):
        raise refuse(OBJECT, f"hash() of a {class_name(x)} cannot be captured")
    return hash(x)


def frozen(items: Iterable[object]) -> frozenset[Any]:
    """``frozenset(items)``: numbers in it are constants, as their hashes are."""
    return items if type(items) is frozenset else frozenset(map(_known, items))


def _known(x: object) -> Any:
    return tuple(map(_known, x)) if type(x) is tuple else plain_key(x)


def _has_constant(x: Any) -> bool:
    """Whether the hash of this is known; what has none raises for itself."""
    if type(x) in (tuple, frozenset):
        return all(map(_has_constant, x))
    if type(x) is Mixed:
        return False
    if isinstance(x, Traced | np.generic | np.dtype) or has_method(x, "__hash__"):
        return True
    return type(x) in PLAIN or type(x) in (type, FunctionType, ModuleType, list, dict, set)
