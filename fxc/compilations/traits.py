"""What is known of a compilation before it runs: its loops, and whether it may set flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fxc.ir.graph import Region
from fxc.ops.operators import CONTROL, EFFECTS
from fxc.ops.table import TABLE

from .variants import Traits

if TYPE_CHECKING:
    from fxc.capture.captured import Captured
    from fxc.native.flagged import FlagFacts
    from fxc.pipeline.stages import Compilation


def traits_of(captured: Captured, made: Compilation) -> Traits:
    """Those of what has been captured, and compiled."""
    flags: FlagFacts | None = None
    is_exact = False
    if made.assembled is not None:
        from fxc.native.flag_facts import flag_facts  # with lowering: it is native code

        module = made.assembled.module
        is_exact = not module.approximates
        if made.fallbacks or module.sets_flags:
            flags = flag_facts(captured, module)
    evaluates = any(name in TABLE and TABLE[name].tag in CONTROL for name in made.fallbacks)
    has_sizes = any(each.kind == "size" for each in captured.symbols.values())
    return Traits(is_exact, evaluates, _may_be_fast(made.decomposed.body), flags, has_sizes)


def _may_be_fast(region: Region) -> bool:
    """Whether a loop in it may be far faster than Python's, as its iterations have no effects."""
    for node in region.nodes:
        inside = [each.op for inner in node.regions for each in inner.nodes]
        if inside and not any(TABLE[op].tag in EFFECTS for op in inside):
            return True
        if any(map(_may_be_fast, node.regions)):
            return True
    return False
