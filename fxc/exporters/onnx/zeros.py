"""Which tensors have no -0.0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .tensors import Tensor

# Note [Zeros with a sign]
# onnxruntime's Where gives 0.0 for a -0.0 of its operands. Therefore ``where`` finds out which
# zeros have lost their sign, and multiplies those by -1, for operands that may have a -0.0. Much
# of that is known of a tensor: casts of integers have none, nor sums of which one operand has none.

_MOVED = frozenset(
    [
        "Slice",
        "Reshape",
        "Transpose",
        "Expand",
        "Squeeze",
        "Unsqueeze",
        "Concat",
        "Identity",
        "Sqrt",
        "Max",
        "Min",
        "ReduceSum",
        "ReduceMax",
        "ReduceMin",
        "CumSum",
        "Floor",
        "ScatterND",
        "Where",
        "Gather",
        "GatherElements",
    ]
)
_NEVER = frozenset({"Abs", "Exp"})


def has_unsigned_zeros(
    kind: str, inputs: Sequence[Tensor | None], attributes: Mapping[str, Any]
) -> bool:
    """Whether no element of the result of a node is -0.0. See Note [Zeros with a sign]."""
    given = [x for x in inputs if x is not None]
    if kind in _NEVER or kind == "ConstantOfShape":
        return not np.any(np.signbit(attributes.get("value", 0)))
    if kind == "Add":
        return any(x.unsigned_zeros for x in given)
    if kind == "Sub":
        return given[0].unsigned_zeros
    if kind == "Mul":
        return given[0] is given[1]
    if kind == "Cast":
        return given[0].dtype.kind != "f"
    return kind in _MOVED and all(x.unsigned_zeros for x in given)


def is_minus_zero(x: Tensor) -> Tensor:
    return x.equal(0) & (1 / x < 0)
