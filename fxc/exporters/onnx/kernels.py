"""The dtypes for which onnxruntime's CPU provider runs an operator of ONNX, where not for all.

Measured with onnxruntime 1.32. Where a dtype is missing another one carries its numbers:
``tests/exporters/test_onnx_operators.py`` runs every operator with every dtype.
"""

from __future__ import annotations

import numpy as np

from fxc.ir.types import DTYPE_NAMES, DTYPES_BY_NAME

_WIDE = "f64 f32 i64 i32"  # what nearly everything has

# float16 is left out on purpose: NumPy computes it in float32, and rounds each result.
_KERNELS = {
    "Abs": f"{_WIDE} i16 i8 u8 u16 u32 u64",
    "Add": f"{_WIDE} u32 u64",
    "Sub": f"{_WIDE} u32 u64",
    "Mul": f"{_WIDE} u32 u64",
    "Div": f"{_WIDE} u32 u64",
    "Mod": f"{_WIDE} u32 u64",
    "Neg": f"{_WIDE} i8",
    "Pow": "f64 f32",
    "Max": f"{_WIDE} u32 u64",
    "Min": f"{_WIDE} u32 u64",
    "Less": f"{_WIDE} u32 u64",
    "LessOrEqual": f"{_WIDE} u32 u64",
    "Greater": f"{_WIDE} u32 u64",
    "GreaterOrEqual": f"{_WIDE} u32 u64",
    "Equal": f"{_WIDE} u32 u64 bool",
    "Where": f"{_WIDE} u8",
    "MatMul": _WIDE,
    "ReduceSum": _WIDE,
    "ReduceProd": _WIDE,
    "ReduceMax": _WIDE,
    "ReduceMin": _WIDE,
    "CumSum": _WIDE,
    "ArgMax": _WIDE,
    "ArgMin": _WIDE,
    "TopK": "f64 f32 i64 i32",
    "Unique": "f64 f32 i64",
    "Einsum": _WIDE,
    "Range": "f64 f32 i64 i32",
}
_DTYPES = {
    kind: frozenset(DTYPES_BY_NAME[name] for name in names.split())
    for kind, names in _KERNELS.items()
}
# Which dtype has the numbers of another one, or for uint64 the same bits.
_CARRIERS = {
    "bool": "u8",
    "i8": "i32",
    "i16": "i32",
    "i32": "i64",
    "u8": "i32",
    "u16": "i32",
    "u32": "i64",
    "u64": "i64",
    "f16": "f32",
}

INT64 = np.dtype(np.int64)
UINT64 = np.dtype(np.uint64)
BOOL = np.dtype(bool)
FLOAT64 = np.dtype(np.float64)
FLOAT32 = np.dtype(np.float32)
FLOAT16 = np.dtype(np.float16)


def carrier(kind: str, dtype: np.dtype) -> np.dtype:
    """The dtype in which the operator is run for arrays of this one."""
    known = _DTYPES.get(kind)
    while known is not None and dtype not in known:
        dtype = DTYPES_BY_NAME[_CARRIERS[DTYPE_NAMES[dtype]]]
    return dtype


def is_known(dtype: np.dtype) -> bool:
    """Whether ONNX's operators take arrays of this dtype: all but complex numbers."""
    return dtype in DTYPE_NAMES and dtype.kind != "c"
