"""What native calls of a compilation have Python run behind their guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fxc.ir.asynchronous import NUMPYS_ERRORS, hand_on
from fxc.ir.behind import Behind
from fxc.ir.errors import MISSED, Flagged, Interrupted

if TYPE_CHECKING:
    from .variants import Variant


def behind_of(variant: Variant) -> Behind:
    watch = variant.watch
    if watch is None:
        return Behind(variant.compilation.run, _failed)
    return watch.behind(_failed)


def _failed(error: BaseException) -> Any:
    """What ``GuardProgram.call`` does with what the plan raises; Python makes the call again."""
    try:
        raise error
    except TimeoutError:
        raise
    except Flagged:
        return MISSED
    except NUMPYS_ERRORS as found:
        hand_on(found)
        return MISSED
    except Interrupted as interrupt:
        cause: Any = interrupt.__cause__
        raise cause from None
