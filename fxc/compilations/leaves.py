"""Calls that native code leaves to Python, and the operators that they are left for.

See Note [Leaves].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fxc.ir.asynchronous import hand_on
from fxc.ir.errors import CaptureError
from fxc.ir.later import import_later
from fxc.ir.location import Site
from fxc.ir.records import mutable

if TYPE_CHECKING:
    from fxc.capture.refusals import Refusal
    from fxc.pipeline.stages import Compilation

    from .variants import Variant

# Few calls leave. See Note [Rooms with one door].
replace = import_later("dataclasses", "replace")
walk = import_later("fxc.ir.graph", "walk")

# Note [Leaves]
# Native code leaves a call to Python where it cannot go on: where NumPy raises, or gives something
# of another type or size than the graph has. It writes down for which operator (``Site``). Python
# runs the call again. If that raises, it is the program's exception, and nothing more comes of it.
# If it does not, the operator is one that Python has to run for such data. So when it leaves a call
# again soon, the function is captured once more, up to that operator, which is refused: that says
# where the function is to be cut, see Note [Splitting]. The driver runs this call and those that
# come next. Where the operator stands in a loop, the outermost loop is the first cut: often it is
# the first iteration alone that cannot go on (the mean of what was before it), and the others are
# calls of a part. Where the part leaves as often, the next loop is cut in it, or the operator.
# From time to time the code without cuts is tried again: the data may have changed.
# Which operator it was decides about speed alone: a wrong one is a cut too many.

MOST_SITES = 8  # operators of one function that become cuts
AGAIN = 2  # calls close to each other that are left before a cut


@mutable
class Leaves:
    """What is known of the calls of one function that were left to Python: the operators behind
    which Python went on, and those for which the function has been captured again.
    """

    went_on: frozenset[Site] = frozenset()
    tried: frozenset[Site] = frozenset()
    cut: frozenset[Site] = frozenset()

    def calls_for_cut(self, site: Site) -> bool:
        """Whether a cut there, which there is not yet, is worth a capture."""
        is_new = site in self.went_on and site not in self.tried
        return is_new and len(self.tried) < MOST_SITES


def site_of(compilation: Compilation, error: BaseException) -> Site | None:
    """The operator for which compiled code has left a call, by the exception that says so."""
    made = compilation.assembled
    return None if made is None else made.left_at(error)


def refusal_at(site: Site, variant: Variant, *call: Any) -> Refusal | None:
    """Where the program is when a call comes to the operator; None if it does not come there."""
    from fxc.capture.capture import Terms, capture

    captured = variant.captured
    ops = {node.op for node in walk(captured.graph.body) if site.is_at(node.loc)}
    if site.op not in ops:  # some stage has made it of others of the line
        site = replace(site, op="")
    terms = Terms(None, captured.requests, captured.varying, left=site)
    function, args, kwargs = call
    try:
        capture(function, args, kwargs, terms)
    except CaptureError as error:
        refusal: Refusal | None = error.refusal
        return refusal
    except Exception as error:
        hand_on(error)
    return None


def composites_leave(variant: Variant) -> bool:
    """Whether what has taken the place of an operator sends calls back that need not raise."""
    from fxc.ops.python_numbers import may_leave

    return any(may_leave(node.op) for node in walk(variant.compilation.decomposed.body))
