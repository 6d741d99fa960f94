"""How each operator of the table that views or writes is written in Python.

``SPELLINGS`` has a statement for each; a test holds the table to it, so that an operator which
views or writes cannot be added without programs that have it.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from fxc.capture.values.operator_methods import BINARY
from fxc.ops.metas.writes import takes_out
from fxc.ops.operators import Operator, Tag
from fxc.ops.table import TABLE
from tests import program_writer as views
from tests.index_statements import put_at_places, put_by_mask, update_at_places, write_found_row
from tests.program_writer import Statement, View, Writer
from tests.statements import set_item

# Where a ufunc is defined, and does not grow beyond bounds: its operands are clipped.
_DOMAIN = {
    "arccos": (-1, 1), "arcsin": (-1, 1), "arctanh": (-0.5, 0.5), "arccosh": (1, 20),
    "log": (0.5, 50), "log2": (0.5, 50), "log10": (0.5, 50), "log1p": (-0.5, 50), "sqrt": (0, 99),
    "exp": (-6, 6), "exp2": (-6, 6), "expm1": (-6, 6), "sinh": (-6, 6), "cosh": (-6, 6),
    "tan": (-1, 1), "reciprocal": (1, 9), "power": (0, 3), "float_power": (0, 3),
    "left_shift": (0, 3), "right_shift": (0, 3), "floor_divide": (1, 9), "remainder": (1, 9),
    "divide": (1, 9), "fmod": (1, 9),
}  # fmt: skip
# What gives the same bits however it is computed; of complex numbers only the first few.
_EXACT_OF_COMPLEX = frozenset(
    {"add", "subtract", "multiply", "negative", "positive", "conjugate", "square"}
)
_EXACT = _EXACT_OF_COMPLEX | {
    "divide", "floor_divide", "remainder", "fmod", "absolute", "fabs", "sign", "reciprocal",
    "maximum", "minimum", "fmax", "fmin", "copysign", "heaviside", "conjugate", "rint", "floor",
    "ceil", "trunc", "sqrt",
}  # fmt: skip


def ufunc_out(name: str, writer: Writer) -> str:
    """A ufunc with ``out=``, which may be what it reads."""
    ufunc = getattr(np, name)
    first = writer.view() if writer.rng.random() < 0.6 else writer.some_array()
    x = writer.array_value(first)
    if x is None:
        return ""
    operands = [first]
    if ufunc.nin == 2:
        operands.append(writer.operand(x.shape, x.dtype, 1))
    if name in _DOMAIN and x.dtype.kind != "b":
        low, high = _DOMAIN[name]
        operands[-1] = f"np.clip({operands[-1]}, {low}, {high})"
    if name in ("fmax", "fmin") and x.dtype.kind != "b":
        operands = [f"({each} + 0)" for each in operands]  # of two zeros NumPy takes either
    call = f"np.{name}({', '.join(operands)}"
    result = writer.value(f"{call})")
    if not isinstance(result, np.ndarray | np.generic):
        return ""
    target = writer.fitting_target(result.shape, result.dtype)
    kinds = {np.asarray(writer.value(source)).dtype.kind for source in operands}
    return f"{call}, out={target})" + _rounded(name, target, result.dtype, kinds)


def _rounded(name: str, target: str, dtype: np.dtype, kinds: set[str]) -> str:
    """What rounds the target to eighths, if the function is not exact."""
    exact = _EXACT_OF_COMPLEX if "c" in kinds else _EXACT
    if name in exact or dtype.kind not in "fc":
        return ""
    return f"; np.multiply({target}, 8, out={target}); np.rint({target}, out={target})"


def product_out(name: str, writer: Writer) -> str:
    source = writer.view() if writer.rng.random() < 0.5 else writer.some_array()
    x = writer.array_value(source)
    if x is None or not 1 <= x.ndim <= 3 or x.dtype.kind == "b":
        return ""
    operands = f"{source}, {source}{'.mT' if x.ndim > 1 else ''}"
    return _out_of(writer, f"np.{name}({operands}")


def outer_out(writer: Writer) -> str:
    first, second = writer.some_array(), writer.view()
    return _out_of(writer, f"np.outer({first}, {second}")


def reduction_out(name: str, writer: Writer) -> str:
    rng = writer.rng
    source = writer.view()
    x = writer.array_value(source)
    if x is None or not x.size:
        return ""
    axis = rng.choice((None, *range(x.ndim)))
    keep = ", keepdims=True" if rng.random() < 0.2 and not name.startswith("cum") else ""
    # NumPy computes means on the way in the dtype of ``out``, which is not captured.
    same_dtype = name in ("mean", "var", "std")
    if x.dtype == np.float16 and name == "mean":
        return ""
    return _out_of(writer, f"np.{name}({source}, axis={axis}{keep}", same_dtype=same_dtype)


def join_out(name: str, writer: Writer) -> str:
    first, second = writer.some_array(), writer.view()
    x = writer.space[first]
    if writer.rng.random() < 0.6 and x.ndim:
        second = f"{first}[::-1]"
    axis = writer.rng.randrange(x.ndim) if x.ndim else 0
    return _out_of(writer, f"np.{name}([{first}, {second}], axis={axis}")


def clip_out(writer: Writer) -> str:
    source = writer.view()
    x = writer.array_value(source)
    if x is None:
        return ""
    low, high = writer.literal(x.dtype), writer.operand(x.shape, x.dtype, 1)
    return _out_of(writer, f"np.clip({source}, {low}, {high}")


def _out_of(writer: Writer, call: str, *, same_dtype: bool = False) -> str:
    """A call with an ``out=`` that has room for the result."""
    result = writer.value(f"{call})")
    if not isinstance(result, np.ndarray | np.generic):
        return ""
    target = writer.fitting_target(result.shape, result.dtype, same_dtype=same_dtype)
    return f"{call}, out={target})"


def augmented(sign: str, name: str, writer: Writer) -> str:
    """An operator of Python's that writes."""
    target = writer.target()
    x = writer.array_value(target)
    if x is None:
        return ""
    if sign == "@":
        return f"{target} @= {target}.mT @ {target}"
    other = writer.operand(x.shape, x.dtype, 1)
    if name in _DOMAIN and x.dtype.kind != "b":
        low, high = _DOMAIN[name]
        other = f"np.clip({other}, {low}, {high})"
    kinds = {x.dtype.kind, np.asarray(writer.value(other)).dtype.kind}
    return f"{target} {sign}= {other}" + _rounded(name, target, x.dtype, kinds)


def viewed(form: View, writer: Writer) -> str:
    """A view of one form."""
    source = writer.view() if writer.rng.random() < 0.5 else writer.some_array()
    x = writer.array_value(source)
    view = "" if x is None or not x.ndim else form(writer, source, x)
    return f"{writer.new()} = {view}" if view else ""


def spread(writer: Writer) -> str:
    """What is computed from a broadcast array, which itself is not to be written."""
    source = writer.some_array()
    x = writer.array_value(source)
    if x is None or x.ndim > 3:
        return ""
    return f"{writer.new()} = np.broadcast_arrays({source}, np.zeros({(2, *x.shape)}))[0] * 1"


def field_of_new(writer: Writer, sizes: tuple[int, ...] = (), key: str = "['x']") -> str:
    """A field of new records: the others lie between its elements."""
    x = writer.array_value(writer.some_array())
    if x is None:
        return ""
    dtype = f"[('n', 'i4'), ('x', 'f8', {sizes})]"
    return f"{writer.new()} = np.zeros({x.shape}, np.dtype({dtype})){key}"


def _indexed(writer: Writer, source: str, x: np.ndarray) -> str:
    return f"{source}[{writer.index(x.shape)}]"


_SIGNS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//",
    "remainder": "%", "power": "**", "matmul": "@", "bitwise_and": "&", "bitwise_or": "|",
    "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>",
}  # fmt: skip

# How rows are written in Python; ufuncs, and what follows from a row by rule, need no line here.
_OWN_SPELLINGS: dict[str, Statement] = {
    "slice": partial(viewed, _indexed),
    "select": partial(viewed, _indexed),
    "transpose": partial(viewed, views.turned),
    "reshape": partial(viewed, views.reshaped),
    "expand_dims": partial(viewed, views.expanded),
    "squeeze": partial(viewed, views.squeezed),
    "broadcast_to": partial(viewed, views.broadcast),
    "broadcast": spread,
    "diagonal": partial(viewed, views.diagonal),
    "real": partial(viewed, views.parts_of("real")),
    "imag": partial(viewed, views.parts_of("imag")),
    "field": field_of_new,
    "array_field": partial(field_of_new, sizes=(2,)),
    "fields": partial(field_of_new, key="[['x', 'n']]['x']"),
    "bitcast": partial(viewed, views.reinterpreted),
    "regroup_bytes": partial(viewed, views.reinterpreted),
    "as_strided": partial(viewed, views.windowed),
    "dynamic_select": write_found_row,
    "index_put_": put_at_places,
    "index_reduce_": update_at_places,
    "masked_put_": put_by_mask,
    "copy_": set_item,
    "matmul.out": partial(product_out, "matmul"),
    "dot.out": partial(product_out, "dot"),
    "outer.out": outer_out,
    "clip.out": clip_out,
    "concatenate.out": partial(join_out, "concatenate"),
    "stack.out": partial(join_out, "stack"),
    **{
        f"{name}.out": partial(reduction_out, name)
        for name in (
            "sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "mean", "var", "std",
            "cumsum", "cumprod",
        )
    },
}  # fmt: skip


def is_spelled(op: Operator) -> bool:
    """Whether there is a way to write the operator in Python, and it views or writes.

    A form that follows from a row by rule may have none: nothing in NumPy writes ``np.where`` into
    a given array, and only Python's operators work in place. What NumPy runs as a whole is captured
    without ``out``.
    """
    match op.role:
        case "inplace":
            return op.group in BINARY.values() or TABLE[op.group].tag is Tag.INDEX_PUT
        case "out":
            return takes_out(op) and TABLE[op.group].tag is not Tag.OPAQUE
        case _:
            return op.schema.writes or op.schema.is_view


# Capture records these as other operators, as NumPy writes them: part after part.
IN_PARTS = frozenset({"concatenate.out", "stack.out"})


def _spellings() -> dict[str, Statement]:
    found = dict(_OWN_SPELLINGS)
    for op in TABLE:
        if op.name in found or not is_spelled(op):
            continue
        if op.role == "inplace":
            found[op.name] = partial(augmented, _SIGNS[op.group], op.group)
        elif op.role == "out" and isinstance(op.numpy, np.ufunc):
            found[op.name] = partial(ufunc_out, op.group)
    return found


SPELLINGS = _spellings()
_SPELLED = tuple(SPELLINGS)


def any_spelling(writer: Writer) -> str:
    """Any operator of the table that views or writes."""
    return SPELLINGS[writer.rng.choice(_SPELLED)](writer)
