"""The table of composites: of which operator, for whom, and by which function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxc.ir.later import import_later
from fxc.ir.records import frozen


@frozen
class Composite:
    """One decomposition: of which operator, under which alias key."""

    op: str
    alias_key: str
    function: Callable[..., Any]


IMPLICIT = "CompositeImplicit"
EXPLICIT = "CompositeExplicit"
NON_FUNCTIONAL = "CompositeExplicitNonFunctional"

# See Note [Rooms with one door].
COMPOSITES: tuple[Composite, ...] = (
    Composite("divmod", IMPLICIT, import_later("fxc.ops.composites", "divmod_")),
    Composite("degrees", IMPLICIT, import_later("fxc.ops.composites", "degrees")),
    Composite("radians", IMPLICIT, import_later("fxc.ops.composites", "radians")),
    Composite("deg2rad", EXPLICIT, import_later("fxc.ops.composites", "deg2rad")),
    Composite("rad2deg", EXPLICIT, import_later("fxc.ops.composites", "rad2deg")),
    Composite("clip", EXPLICIT, import_later("fxc.ops.composites", "clip")),
    Composite("mean", EXPLICIT, import_later("fxc.ops.composites", "mean")),
    Composite("var", EXPLICIT, import_later("fxc.ops.composites", "var")),
    Composite("std", EXPLICIT, import_later("fxc.ops.composites", "std")),
    Composite("outer", EXPLICIT, import_later("fxc.ops.composites", "outer")),
    Composite("eye", EXPLICIT, import_later("fxc.ops.composites", "eye")),
    Composite("eye", NON_FUNCTIONAL, import_later("fxc.ops.composites", "eye_written")),
    Composite("linspace", NON_FUNCTIONAL, import_later("fxc.ops.composites", "linspace")),
    Composite("stack", EXPLICIT, import_later("fxc.ops.composites", "stack")),
    Composite("stack", NON_FUNCTIONAL, import_later("fxc.ops.composites", "stack_written")),
    Composite("bincount", EXPLICIT, import_later("fxc.ops.histograms", "bincount")),
    Composite("histogram", EXPLICIT, import_later("fxc.ops.histograms", "histogram")),
    Composite("ufunc_reduce", EXPLICIT, import_later("fxc.ops.chosen", "ufunc_reduce")),
)
