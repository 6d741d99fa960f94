"""What may be computed before, or without, what stands in front of it."""

from __future__ import annotations

from fxc.ir.records import replace
from fxc.ops.python_numbers import SETTLED

from ..machine.costs import Costs
from ..nests.buffers import BOOL, Atom, Const
from ..nests.statements import Compute
from ..operators.python_rules import FAILING, SCALAR_RULES
from ..operators.scalar_rules import DIVISIONS, SILENT

_PLACES = frozenset({"out_of_bounds", "wrap_index"})  # see ``Emitter.check``


def is_apart(stmt: Compute) -> bool:
    """Whether a number can be made before checks of others."""
    if stmt.op in SETTLED | _PLACES:
        return False
    name = stmt.op.removesuffix(" fails")
    if name in FAILING:
        return stmt.arg_dtypes[0].kind == "f"
    if name.endswith(DIVISIONS) and stmt.arg_dtypes[0].kind in "iu":
        return isinstance(stmt.args[1], Const)
    return True


def guarded(stmt: Compute, mask: Atom, costs: Costs, *, careful: bool) -> list[Compute]:
    """What makes a number that counts where the mask holds, without effects where it does not: its
    operands are 1.0 there, unless it can do no harm.

    Cheap operations seldom set flags, so that only ``careful`` code is particular about them: see
    Note [Floating-point flags].
    """
    dear = SCALAR_RULES[stmt.op].cost >= costs.choice_guarded
    if stmt.op in SILENT or not (careful or dear):
        return [stmt]
    made: list[Compute] = []
    args: list[Atom] = []
    for arg, dtype in zip(stmt.args, stmt.arg_dtypes, strict=True):
        if dtype.kind == "f" and isinstance(arg, str):
            name, types = f"{stmt.name}.{len(made)}", (BOOL, dtype, dtype)
            made.append(Compute(name, dtype, "where", (mask, arg, Const(1.0, dtype)), types))
            args.append(name)
        else:
            args.append(arg)
    return [*made, replace(stmt, args=tuple(args))]
