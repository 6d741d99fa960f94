"""Quotients by one divisor are made with its inverse, where divisions are most of the work.

::

    for i0 in 0:1000 lanes 8         for i0 in 0:1000 lanes 8
      t1 = divide(x[i0], y)            t0 = inverse(y)
      t2 = divide(z[i0], y)     →      t1 = divide_with_inverse(x[i0], y, t0)
      …                                t2 = divide_with_inverse(z[i0], y, t0)

See Note [Quotients by inverses].
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TypeGuard

from fxc.ir.records import replace
from fxc.ir.size_functions import hint

from ..machine.target import Target
from ..nests.buffers import Atom, Const
from ..nests.hoisting import hoist
from ..nests.program import Program
from ..nests.statements import Accumulate, Compute, Load, Loop, Stmt, blocks_of, with_blocks
from ..operators.inverses import DIVIDING, DIVISORS, inverse_of
from ..operators.python_rules import SCALAR_RULES

# Note [Quotients by inverses]
# A processor begins a multiplication of a whole register in each cycle, a division in every
# sixteenth. With the inverse r = 1 / y, rounded, a quotient x / y takes five of them:
#
#     q = x r;  e = q y - x;  q' = q - e r;  e' = q' y - x;  x / y = q' - e' r
#
# each line but the first by instructions that round once. q' is one of the two floats next to the
# quotient, since e is off by no more than its own last bit. So e' is exact, and what comes out is
# the quotient, rounded to the nearest: a theorem of Markstein's, for an r that is the nearest float
# to 1 / y. Where x is 0 all products are, and y > 0 leaves x as it is, with its sign; a divisor
# below 0 gives that to x.
# All this holds while nothing overflows or is subnormal. An x that is not 0 and out of
# ``DIVIDENDS``, as infinities and nans are, is divided by an instruction, with the others of its
# register; so is all by a y that is out of ``DIVISORS``, whose inverse is nan by definition. What
# is computed with inverses sets no flag but "inexact".


def inverses(program: Program) -> Program:
    """The program with such quotients.

    Requires: loops have their lanes. Ensures: the same results, bit for bit, and the same flags.
    """
    if not program.target.inverts:
        return program
    return replace(program, body=_block(program, program.body))


def _block(program: Program, block: Sequence[Stmt]) -> tuple[Stmt, ...]:
    return tuple(_with_inverses(program, stmt) for stmt in block)


def _with_inverses(program: Program, stmt: Stmt) -> Stmt:
    blocks = blocks_of(stmt)
    if not isinstance(stmt, Loop) or stmt.lanes == 1 or any(map(blocks_of, stmt.body)):
        return with_blocks(stmt, tuple(_block(program, each) for each in blocks))
    rest = hoist(program, stmt)[1]
    made = {each.name for each in rest if isinstance(each, Accumulate | Compute | Load)}
    quotients = [q for q in rest if _is_quotient(q, stmt.lanes, program.target)]
    often = Counter(map(_divisor, quotients))
    taken = [q for q in quotients if _divisor(q) not in made or often[_divisor(q)] > 1]
    if not taken or not _pays(program, stmt, taken, made):
        return stmt
    return replace(stmt, body=_body(stmt.body, {id(q) for q in taken}))


def _divisor(stmt: Compute) -> Atom:
    return stmt.args[1]


def _is_quotient(stmt: Stmt, lanes: int, target: Target) -> TypeGuard[Compute]:
    """Whether it can be made with an inverse. What tells of no division by 0 is made otherwise, and
    that by a power of two is a product.
    """
    if not isinstance(stmt, Compute) or stmt.op != "divide" or stmt.dtype not in DIVISORS:
        return False
    if lanes * stmt.dtype.itemsize % target.vector or stmt.quiet & {"divide", "invalid"}:
        return False
    divisor = stmt.args[1]
    if not isinstance(divisor, Const):
        return True
    inverse = inverse_of(float(divisor.value), stmt.dtype)
    return not math.isnan(inverse) and abs(math.frexp(inverse)[0]) != 0.5


def _pays(program: Program, loop: Loop, taken: Sequence[Compute], made: set[str]) -> bool:
    """Whether that makes a loop faster: what divides works beside all else."""
    costs = program.target.costs
    computed = [each for each in hoist(program, loop)[1] if isinstance(each, Compute)]
    dividing = [each for each in computed if each.op in DIVIDING]
    work = sum(SCALAR_RULES[each.op].cost for each in computed if each.op not in DIVIDING)
    divisors = {_divisor(each) for each in taken}
    left = len(dividing) - len(taken) + len(divisors & made)
    division = costs.division_byte * max((each.dtype.itemsize for each in dividing), default=0)
    before = max(len(dividing) * division, work)
    after = max(left * division, work + costs.quotient * len(taken))
    numbers = sum(isinstance(each, str) for each in divisors - made)
    return (before - after) * (hint(loop.size) // loop.lanes) > costs.inverse * numbers


def _body(block: Sequence[Stmt], taken: set[int]) -> tuple[Stmt, ...]:
    """The statements, those taken with inverses, which are made in front of the first of them."""
    found: list[Stmt] = []
    inverse: dict[Atom, Atom] = {}
    for stmt in block:
        if id(stmt) in taken:
            assert isinstance(stmt, Compute)
            divisor, dtype = stmt.args[1], stmt.dtype
            if divisor not in inverse and isinstance(divisor, Const):
                inverse[divisor] = Const(inverse_of(float(divisor.value), dtype), dtype)
            elif divisor not in inverse:
                name = inverse[divisor] = f"{divisor}_inverse"
                found.append(Compute(name, dtype, "inverse", (divisor,), (dtype,), stmt.quiet))
            args, dtypes = (*stmt.args, inverse[divisor]), (*stmt.arg_dtypes, dtype)
            stmt = replace(stmt, op="divide_with_inverse", args=args, arg_dtypes=dtypes)
        found.append(stmt)
    return tuple(found)
