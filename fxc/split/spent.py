"""Variables of a loop that hold arrays which a part may write its results into.

See Note [Spent arrays].
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from .function_plan import FunctionPlan, Statement
from .statement_syntax import TAKEN, Names

# Note [Spent arrays]
# In a loop of a driver a part often binds a variable anew whose last value nobody reads any more:
# that of the iteration before. From the second time on the driver hands such values on, behind the
# arguments of the part (``part(u, v, w)`` of ``w = part(u, v)``). Native code takes the array over
# for the new value, if it is just what it would make, and nobody else has it: it has two
# references, that of the variable and that of the call (lowering/calling/native_call.py). What
# looks at variables from outside sees the new values early, if the part raises meanwhile. To make
# an array and to free one costs as much as to compute five hundred elements of it; and the memory
# stays in the processor's cache. To Python's way of a call such arguments are nothing: they are
# left out.


def spent(
    plan: FunctionPlan, run: Sequence[Statement], outputs: Sequence[str], kept: Names
) -> tuple[str, ...]:
    """The results of a part whose variables hold what nobody reads any more where it begins, but
    for those of the variables that are ``kept``.
    """
    if not any(run[0] in around for around in _in_loops(plan)):
        return ()
    for each in run:
        kept = kept.union(*(inner.on_error | inner.on_return for inner in each.inside()))
    outputs = [name for name in outputs if not name.startswith(TAKEN)]  # of which none outlives it
    names = plan.variables - kept - plan.shared - plan.free - _without_value(plan)
    return tuple(name for name in outputs if name in names)


def _in_loops(plan: FunctionPlan) -> Iterator[list[Statement]]:
    for each in plan.statements():
        if isinstance(each.node, ast.For | ast.AsyncFor | ast.While):
            yield [*each.inside()]


def _without_value(plan: FunctionPlan) -> Names:
    """Variables that have no value any more behind some statement."""
    found = set[str]()
    for each in plan.statements():
        match each.node:
            case ast.Delete(targets):
                found.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
                found.update(handler.name for handler in handlers if handler.name)
    return frozenset(found)
