"""What there is native code for among the operators of Python's numbers, and which of them fail.

The code itself is in ``emission/python_code.py`` and ``emission/python_failures.py``. See Note
[Operators of Python numbers] in ``fxc.ops.python_numbers``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fxc.ir.records import replace
from fxc.ir.symbols import computed_in

from ..machine.costs import Costs
from ..nests.buffers import F64, I64, Atom, Const
from ..nests.statements import Compute, Load, Stmt, walk
from .scalar_rules import NEARLY_EXACT, NUMPY_RULES, DTypes, ScalarRule, cast_types


def _as_result(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    return (result,) * len(dtypes), result


def _as_operands(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    """Ints and bools as i64, unless there is a float among them."""
    kind = F64 if any(dtype.kind == "f" for dtype in dtypes) else I64
    return (kind,) * len(dtypes), result


def _compared(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    """An int beside a float stays one: they are compared exactly."""
    if any(dtype.kind == "f" for dtype in dtypes):
        return tuple(I64 if dtype.kind == "i" else F64 for dtype in dtypes), result
    return (I64, I64), result


def _as_floats(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    return (F64,) * len(dtypes), result


_LIBRARY_COST = 40

# The functions of ``math`` that the C library computes.
LIBRARY = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin"),
    *("acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "cbrt", "pow", "atan2"),
    *("erf", "erfc"),
)
# Those that are computed as NumPy computes a function of the same name.
OF_NUMPY = ("sqrt", "fabs", "copysign", "fmod", "hypot", "isnan", "isinf", "isfinite")

_MATH_RULES = {
    **{f"math_{name}": ScalarRule(_LIBRARY_COST, typed=_as_floats) for name in LIBRARY},
    **{f"math_{name}": replace(NUMPY_RULES[name], typed=_as_floats) for name in OF_NUMPY},
    "math_degrees": ScalarRule(typed=_as_floats),
    "math_radians": ScalarRule(typed=_as_floats),
    "math_floor": ScalarRule(3, typed=_as_floats),
    "math_ceil": ScalarRule(3, typed=_as_floats),
}

# Both ``py_`` operators, which do not fail on the operands there are, and ``try_`` operators.
_SHARED: dict[str, ScalarRule] = {
    **{name: ScalarRule(typed=_as_result) for name in ("add", "subtract", "multiply")},
    **{
        name: ScalarRule(20, typed=_as_result) for name in ("natural_quotient", "natural_remainder")
    },
    "divide": ScalarRule(5, typed=_as_operands),
    "floor_divide": ScalarRule(20, typed=_as_result),
    "remainder": ScalarRule(20, typed=_as_result),
    "power": ScalarRule(_LIBRARY_COST, typed=_as_result),
    "left_shift": ScalarRule(3, typed=_as_result),
    "right_shift": ScalarRule(2, typed=_as_result),
    "negative": ScalarRule(typed=_as_result),
    "absolute": ScalarRule(typed=_as_result),
    "int": ScalarRule(2, typed=cast_types),
    "round": ScalarRule(2, typed=cast_types),
    "fit": ScalarRule(0, typed=_as_result),
    "demand": ScalarRule(0, typed=cast_types),
}
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")

PYTHON_RULES: dict[str, ScalarRule] = {
    **{f"{prefix}_{name}": rule for prefix in ("py", "try") for name, rule in _SHARED.items()},
    **{f"py_{name}": ScalarRule(typed=_as_result) for name in ("and", "or", "xor", "invert")},
    **{f"py_{name}": ScalarRule(typed=_compared) for name in _COMPARISONS},
    "py_not": ScalarRule(typed=cast_types),
    "py_bit_length": ScalarRule(3, typed=_as_result),
    "py_float": ScalarRule(typed=cast_types),
    "py_root": ScalarRule(NUMPY_RULES["sqrt"].cost, typed=_as_floats),
    "py_bool": ScalarRule(typed=cast_types),
    "hypot_of_parts": ScalarRule(_LIBRARY_COST),  # of complex_rules; no operator
    "py_maximum": ScalarRule(2, typed=_as_result),
    "py_minimum": ScalarRule(2, typed=_as_result),
    **_MATH_RULES,
}

# The functions of ``math`` whose result says whether they have failed.
FAILING_FUNCTIONS = (
    *("sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos"),
    *("tan", "asin", "acos", "sinh", "cosh", "acosh"),
)
# The operators that can fail. Whether one does, is an operator as well.
FAILING = frozenset(
    {
        *(f"try_{name}" for name in _SHARED),
        *(f"math_{name}" for name in (*FAILING_FUNCTIONS, "pow", "fmod", "floor", "ceil")),
    }
)

SCALAR_RULES: dict[str, ScalarRule] = (
    NUMPY_RULES | PYTHON_RULES | {f"{name} fails": ScalarRule(2) for name in sorted(FAILING)}
)


def asks_library(op: str, args: Sequence[Atom]) -> bool:
    """Whether the C library computes an operator for each number of its own."""
    if op in POWERS:
        return not (isinstance(args[1], Const) and args[1].value in NEARLY_EXACT)
    return op in _IN_LIBRARY


POWERS = frozenset({"power_of_scalars", "py_power", "try_power"})
_IN_LIBRARY = frozenset({"hypot_of_parts", *(f"math_{name}" for name in LIBRARY)})
_OF_PLACES = frozenset({"wrap_index", "count_from_front", "out_of_bounds"})


def mostly_looks_up(block: Sequence[Stmt], costs: Costs) -> bool:
    """Whether a loop loads from tables, at places that are numbers of a byte or two, and does so
    little beside that lanes are no gain: ``out[i] = table[image[i]]``.

    One by one, such a load is one instruction, and that of its place another: no byte is out of
    the bounds of a table of 256. In lanes each place has to be taken out of a register, and each
    element to be put into one. To ask whether places are in bounds is no work beside: one by one it
    is a jump.
    """
    stmts = tuple(walk(tuple(block)))
    made = {stmt.name: stmt for stmt in stmts if isinstance(stmt, Compute)}
    loads = [stmt for stmt in stmts if isinstance(stmt, Load)]
    count = sum(
        any(_is_small(name, made) for dim in s.index for name in computed_in(dim)) for s in loads
    )
    if not count:
        return False
    beside = [stmt for stmt in made.values() if stmt.op not in _OF_PLACES]
    return sum(SCALAR_RULES[stmt.op].cost for stmt in beside) < costs.lanes_looked_up * count


def _is_small(name: str, made: dict[str, Compute]) -> bool:
    """Whether a number is made of one of a byte or two that has no sign."""
    stmt = made.get(name)
    while stmt is not None and stmt.args:
        if stmt.arg_dtypes[0].kind in "bu" and stmt.arg_dtypes[0].itemsize <= 2:
            return True
        stmt = made.get(str(stmt.args[0]))
    return False
