"""What there is native code for among pointwise operators: for which operands, at what cost.

The code itself is in ``emission/scalar_code.py``, under the same names; the rules of Python's own
numbers, and the table of all rules, are in ``python_rules``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fxc.ir.graph import OF_PYTHON
from fxc.ir.records import frozen

from ..nests.buffers import BOOL, F64, HALF, I64
from ..nests.statements import Accumulate, Apply, Boxed, Compute, Matmul, Stmt, walk

DTypes = tuple[np.dtype, ...]

# (dtypes of the operands, that of the result) -> those of the loop
Typed = Callable[[DTypes, np.dtype], tuple[DTypes, np.dtype]]


def anything(args: Sequence[object], dtypes: DTypes) -> bool:
    """Every operand is supported."""
    return True


def floats(args: Sequence[object], dtypes: DTypes) -> bool:
    """Only float loops are supported."""
    return all(dtype.kind == "f" for dtype in dtypes)


def _float_first(args: Sequence[object], dtypes: DTypes) -> bool:
    return dtypes[0].kind == "f"


def _no_bools(args: Sequence[object], dtypes: DTypes) -> bool:
    return all(dtype.kind != "b" for dtype in dtypes)


@frozen
class ScalarRule:
    """What is known of an operator that native code computes, without its code.

    ``cost`` is a rough number of machine operations. ``supports`` says for which operands and loop
    dtypes there is code. ``typed`` gives the dtypes of the loop for operators that are not ufuncs.
    Of ``bounded`` dtypes the code keeps to a bound, and may have other bits than NumPy.
    """

    cost: int = 1
    supports: Callable[[Sequence[object], DTypes], bool] = anything
    typed: Typed | None = None
    bounded: frozenset[np.dtype] = frozenset()


def cast_types(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    """The dtypes of an operator that takes its operand as it is."""
    return dtypes, result


def where_types(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    """The dtypes of a choice: the condition as a bool."""
    return (BOOL, result, result), result


def _index_types(dtypes: DTypes, result: np.dtype) -> tuple[DTypes, np.dtype]:
    return (I64,), I64


_FLOATS = frozenset(map(np.dtype, ("f4", "f8")))


def _bounded(
    cost: int, supports: Callable[[Sequence[object], DTypes], bool] = floats
) -> ScalarRule:
    return ScalarRule(cost, supports, bounded=_FLOATS)


_USUAL = (
    *("add", "subtract", "multiply", "negative", "absolute", "square"),
    *("add of scalars", "subtract of scalars", "multiply of scalars"),
    *("negative of scalars", "absolute of scalars"),
    *("rint", "floor", "ceil", "trunc", "fabs"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("isnan", "isinf", "isfinite"),
    *("logical_and", "logical_or", "logical_xor", "logical_not"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "invert"),
    *("fused_multiply_add", "has_no_order"),  # of complex_rules; no operators
    "out_of_bounds",
)
# The functions of ``vector_math``.
MATH_COSTS = {
    **dict.fromkeys(("exp", "exp2"), 20),
    **dict.fromkeys(("log", "log2"), 24),
    **dict.fromkeys(("sin", "cos", "tanh"), 30),
    **dict.fromkeys(("expm1", "log10", "log1p", "tan", "sinh", "cosh", "cbrt", "hypot"), 40),
    **dict.fromkeys(("arcsin", "arccos", "arctan", "arctan2"), 40),
    **dict.fromkeys(("arcsinh", "arccosh", "arctanh"), 40),
}
# Those of complex numbers, each with what a part of the result costs, and the operations that give
# a part, the real one being 0. See Note [Complex numbers].
COMPLEX_MATH_COSTS = {"exp": 40, "log": 50, "sqrt": 20}
COMPLEX_MATH = {
    f"{name}_{part}": (name, place)
    for name in COMPLEX_MATH_COSTS
    for place, part in enumerate(("real", "imaginary"))
}
# The functions of ``vector_math`` that are ufuncs of ``scipy.special``: see Note [Foreign ufuncs].
SPECIAL_COSTS = {
    **dict.fromkeys(("exp2", "exp10"), 20),
    **dict.fromkeys(("expit", "entr", "xlogy"), 30),
    **dict.fromkeys(("expm1", "log1p", "cbrt", "xlog1py", "logit", "erf"), 40),
    **dict.fromkeys(("log_expit", "rel_entr", "erfc", "erfcx", "ndtr"), 60),
    **dict.fromkeys(("erfinv", "erfcinv", "ndtri"), 60),
    **dict.fromkeys(("gamma", "gammaln", "log_ndtr", "j0", "j1"), 100),
}

# Powers of scalars that are nearly always the number nearest to the result, which is asked of pow
# where it may not be. See Note [Powers by pow].
NEARLY_EXACT = (2.0, 3.0, 4.0, 0.5, -1.0)

NUMPY_RULES: dict[str, ScalarRule] = {
    **{name: ScalarRule() for name in _USUAL},
    **{name: _bounded(cost) for name, cost in MATH_COSTS.items()},
    **{f"special_{name}": _bounded(cost) for name, cost in SPECIAL_COSTS.items()},
    **{op: _bounded(COMPLEX_MATH_COSTS[name]) for op, (name, _) in COMPLEX_MATH.items()},
    "divide": ScalarRule(5),
    "divide_with_inverse": ScalarRule(5, floats),  # see Note [Quotients by inverses]
    "inverse": ScalarRule(8, floats),
    "floor_divide": ScalarRule(20, _no_bools),
    "remainder": ScalarRule(20, _no_bools),
    "fmod": ScalarRule(20, _no_bools),
    "power": _bounded(60, _float_first),
    "power_by_one": _bounded(72, _float_first),
    "power_of_scalars": ScalarRule(
        60, _float_first, bounded=_FLOATS - {F64}
    ),  # that is the C library's
    "float_power": _bounded(60, _float_first),
    "positive": ScalarRule(0),
    "conjugate": ScalarRule(0),
    "copy": ScalarRule(0, typed=cast_types),
    "item": ScalarRule(0, typed=cast_types),
    "astype": ScalarRule(typed=cast_types),
    "reinterpret": ScalarRule(0, typed=cast_types),
    "sign": ScalarRule(3, _no_bools),
    "reciprocal": ScalarRule(5, floats),
    "logaddexp": _bounded(70),
    "logaddexp2": _bounded(70),
    "maximum": ScalarRule(2),
    "minimum": ScalarRule(2),
    "maximum of halves": ScalarRule(2),
    "minimum of halves": ScalarRule(2),
    "fmax of halves": ScalarRule(3),
    "fmin of halves": ScalarRule(3),
    "fmax": ScalarRule(3),
    "fmin": ScalarRule(3),
    "copysign": ScalarRule(supports=floats),
    "heaviside": ScalarRule(3, floats),
    "sqrt": ScalarRule(6),
    "signbit": ScalarRule(supports=floats),
    "left_shift": ScalarRule(3, _no_bools),
    "right_shift": ScalarRule(3, _no_bools),
    "where": ScalarRule(typed=where_types),
    "count_from_front": ScalarRule(3, typed=_index_types),
    "wrap_index": ScalarRule(4, typed=_index_types),  # 0 if out of bounds
}

# Operators on floats of which NumPy has nothing to tell, whatever their operands are.
SILENT = frozenset(
    (
        *("copy", "item", "where", "reinterpret", "conjugate", "copysign", "sign", "heaviside"),
        *("negative", "positive", "absolute", "fabs", "signbit", "isnan", "isinf", "isfinite"),
        *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
        *("logical_and", "logical_or", "logical_xor", "logical_not"),
        *("maximum", "minimum", "fmax", "fmin", "rint", "floor", "ceil", "trunc", "inverse"),
    )
)

DIVISIONS = ("divide", "remainder", "fmod", "quotient")
"""How the names end of what a processor cannot do with the integer 0."""


# ------------------------------------------------------------------ floating-point flags

# See Note [Floating-point flags].

_INTEGERS = frozenset(("floor_divide", "remainder", "fmod"))  # of a division by zero


def sets_flag(stmt: Stmt) -> bool:
    """Whether a statement, not what stands in it, may set a flag that NumPy would tell of."""
    if isinstance(stmt, Compute | Accumulate) and stmt.quiet >= OF_PYTHON:
        return False
    match stmt:
        case Compute(dtype=made, op=op, arg_dtypes=dtypes):
            is_float = any(dtype.kind == "f" for dtype in dtypes)
            is_float |= op == "astype" and made == HALF  # which has no room for all integers
            return (is_float and op not in SILENT) or op in _INTEGERS or op.endswith(" of scalars")
        case Accumulate(dtype=dtype, combine=combine):
            return dtype.kind == "f" and combine not in SILENT
        case Matmul(sums=sums):
            return sums is None  # NumPy's einsum tells of nothing
        case Apply() | Boxed():
            return True
    return False


def ignored(stmts: Sequence[Stmt]) -> frozenset[str] | None:
    """The kinds of errors of which nothing is told, whatever these statements and those in them do;
    None if they set no flags.
    """
    found: frozenset[str] | None = None
    for each in walk(tuple(stmts)):
        if sets_flag(each):
            quiet = each.quiet if isinstance(each, Compute | Accumulate) else frozenset()
            found = quiet if found is None else found & quiet
    return found


def are_told_apart(one: frozenset[str] | None, other: frozenset[str] | None) -> bool:
    """Whether of the flags of one nest more is told than of those of the other, by what ``ignored``
    says of them: in one nest, nobody could say who has set which.
    """
    return one is not None and other is not None and one != other
