"""Random programs of views and writes: the statements they are made of.

``random_program(seed)`` writes a function of one to four arguments. ``SPELLINGS`` says how each
operator of the table that views or writes is written in Python, so that a program can be asked for
any of them; a test holds the table to it.

Values are small and exact: quarters, which sums and products in any order leave exact for long
enough. What a function gives that NumPy rounds in its own way (``np.sin``) is rounded to eighths at
once, so that programs can be compared bit for bit.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np

from fxc.capture.ufuncs import BINARY
from fxc.ops.metas.writes import takes_out
from fxc.ops.table import TABLE, Operator, Tag
from tests import program_writer as views
from tests.program_writer import DTYPES, Statement, View, Writer, fits
from tests.programs import Program

_UFUNCS = ("add", "subtract", "multiply", "maximum", "minimum")


def make_view(writer: Writer) -> str:
    view = writer.view()
    return f"{writer.new()} = {view}"


def in_place(writer: Writer) -> str:
    target = writer.target()
    x = writer.array_value(target)
    if x is None:
        return ""
    rng = writer.rng
    if x.dtype.kind == "b":
        return f"{target} {rng.choice('&|^')}= {writer.operand(x.shape, x.dtype)}"
    if rng.random() < 0.1 and x.dtype.kind in "iu":
        return f"{target} {rng.choice(('//=', '%='))} {rng.choice('2357')}"
    return f"{target} {rng.choice('+-*')}= {writer.operand(x.shape, x.dtype)}"


def set_item(writer: Writer) -> str:
    source = writer.some_array() if writer.rng.random() < 0.8 else writer.view()
    base = writer.array_value(source)
    if base is None:
        return ""
    index = writer.index(base.shape, arrays_only=False)
    x = writer.value(f"{source}[{index}]")
    if x is None:
        return ""
    return f"{source}[{index}] = {writer.source_for(x, base.dtype)}"


def set_masked(writer: Writer) -> str:
    name = writer.some_array()
    x = writer.space[name]
    return f"{name}[{name} > {writer.literal(x.dtype)}] = {writer.literal(x.dtype)}"


def swap(writer: Writer) -> str:
    rng = writer.rng
    name = writer.some_array()
    x = writer.space[name]
    if rng.random() < 0.2:
        other = writer.some_array()
        return f"{name}, {other} = {other}, {name}"
    if not x.ndim or len(x) < 2:
        return ""
    last = len(x) - 1
    if rng.random() < 0.6:
        return f"{name}[0], {name}[{last}] = {name}[{last}], {name}[0]"
    half = len(x) // 2
    return f"{name}[:{half}], {name}[-{half}:] = {name}[-{half}:], {name}[:{half}]"


def swap_through_copy(writer: Writer) -> str:
    name = writer.some_array()
    x = writer.space[name]
    if not x.ndim or len(x) < 2:
        return ""
    held = writer.new()
    return f"{held} = {name}[0].copy()\n{name}[0] = {name}[1]\n{name}[1] = {held}"


def with_out(writer: Writer) -> str:
    target = writer.target()
    x = writer.array_value(target)
    if x is None:
        return ""
    left, right = (writer.operand(x.shape, x.dtype) for _ in range(2))
    return f"np.{writer.rng.choice(_UFUNCS)}({left}, {right}, out={target})"


def with_where(writer: Writer) -> str:
    target = writer.target()
    x = writer.array_value(target)
    if x is None:
        return ""
    rng = writer.rng
    left, right = (writer.operand(x.shape, x.dtype) for _ in range(2))
    mask = f"{writer.operand(x.shape, x.dtype)} > {writer.literal(x.dtype)}"
    if rng.random() < 0.3:
        source = writer.source_for(x, x.dtype)
        return (
            "" if onto_itself(writer, source, x) else f"np.copyto({target}, {source}, where={mask})"
        )
    if any(_is_part_of(x, writer.value(operand)) for operand in (left, right)):
        return ""  # NumPy 2.4 then rounds also what is not selected to the dtype of the operands
    return f"np.{rng.choice(_UFUNCS)}({left}, {right}, out={target}, where={mask})"


def _is_part_of(x: np.ndarray, y: Any) -> bool:
    """Whether ``y`` shows the memory of ``x`` in another dtype."""
    return isinstance(y, np.ndarray) and y.dtype != x.dtype and np.may_share_memory(x, y)


def computed(writer: Writer) -> str:
    name = writer.some_array()
    x = writer.space[name]
    other = writer.operand(x.shape, x.dtype)
    return f"{writer.new()} = {name} {writer.rng.choice('+-*')} {other}"


def expression(writer: Writer) -> str:
    x = writer.space[writer.some_array()]
    source = writer.operand(x.shape, x.dtype, 3)
    return f"{writer.new()} = {source}"


def compare(writer: Writer) -> str:
    name = writer.some_array()
    x = writer.space[name]
    sign = writer.rng.choice(("<", "<=", "==", "!=", ">"))
    return f"{writer.new()} = {name} {sign} {writer.operand(x.shape, x.dtype)}"


def copies(writer: Writer) -> str:
    rng = writer.rng
    source = writer.view() if rng.random() < 0.6 else writer.some_array()
    kind = rng.random()
    if kind < 0.4:
        return f"{writer.new()} = {source}.copy({rng.choice(('', repr('K'), repr('F')))})"
    if kind < 0.8:
        dtype = rng.choice(list(DTYPES))
        if not fits(writer.value(source), np.dtype(dtype)):
            return ""
        return f"{writer.new()} = {source}.astype({dtype!r})"
    if kind < 0.9:
        return f"{writer.new()} = np.{rng.choice(('ones_like', 'zeros_like'))}({source})"
    return f"{writer.new()} = np.ascontiguousarray({source})"


def made(writer: Writer) -> str:
    """A new array to write into."""
    rng = writer.rng
    x = writer.space[writer.some_array()]
    shape = x.shape if rng.random() < 0.5 else writer.shape()
    dtype = rng.choice(writer.dtypes)
    order = rng.choice(("", "", ", order='F'"))
    return f"{writer.new()} = np.{rng.choice(('zeros', 'ones'))}({shape}, {dtype!r}{order})"


def onto_itself(writer: Writer, source: str, x: np.ndarray) -> bool:
    """Whether a copy changes nothing: NumPy then allows it even if the target is read-only."""
    y = writer.array_value(source)
    return y is not None and y.ctypes.data == x.ctypes.data


def fill(writer: Writer) -> str:
    target = writer.target()
    x = writer.array_value(target)
    if x is None:
        return ""
    kind = writer.rng.random()
    if kind < 0.3:
        return f"{target}.fill({writer.literal(x.dtype)})"
    source = writer.source_for(x, x.dtype)
    if onto_itself(writer, source, x):
        return ""
    casting = ", casting='unsafe'" if kind < 0.5 else ""
    return f"np.copyto({target}, {source}{casting})"


def reduction(writer: Writer) -> str:
    rng = writer.rng
    source = writer.view() if rng.random() < 0.5 else writer.some_array()
    x = writer.array_value(source)
    if x is None or (x.ndim > 1 and not x.size):
        return ""  # the layout of a sum over nothing is NumPy's secret
    name = rng.choice(("sum", "sum", "max", "min", "prod", "any", "all", "argmax", "mean"))
    axis: Any = rng.choice((None, *range(x.ndim)))
    if x.ndim > 1 and name != "argmax" and rng.random() < 0.2:
        axis = tuple(sorted(rng.sample(range(x.ndim), 2)))
    keep = ", keepdims=True" if rng.random() < 0.3 else ""
    return f"{writer.new()} = {source}.{name}(axis={axis}{keep})"


def scan(writer: Writer) -> str:
    name = writer.some_array()
    axis = writer.rng.choice((None, *range(writer.space[name].ndim)))
    return f"{writer.new()} = {name}.cumsum(axis={axis})"


def choose(writer: Writer) -> str:
    name = writer.some_array()
    x = writer.space[name]
    other = writer.operand(x.shape, x.dtype)
    return f"{writer.new()} = np.where({name} > {writer.literal(x.dtype)}, {name}, {other})"


def joined(writer: Writer) -> str:
    rng = writer.rng
    name = writer.some_array()
    x = writer.space[name]
    if not x.ndim:
        return ""
    other = writer.view()
    if rng.random() < 0.6:
        other = f"{name}[{'::-1' if rng.random() < 0.5 else ':'}]"
    y = writer.array_value(other)
    if x.ndim > 1 and (y is None or not y.size):
        return ""  # the strides of an array without elements, which NumPy looks at, are not known
    kind = rng.choice(("concatenate", "concatenate", "stack"))
    return f"{writer.new()} = np.{kind}([{name}, {other}], axis={rng.randrange(x.ndim)})"


def element(writer: Writer) -> str:
    name = writer.some_array()
    x = writer.space[name]
    if not x.size:
        return ""
    index = ", ".join(writer.number(writer.rng.randrange(dim)) for dim in x.shape) or "()"
    return f"{writer.new()} = {name}[{index}]"


def rebind(writer: Writer) -> str:
    return f"{writer.some_array()} = {writer.some_array()}"


def again(writer: Writer) -> str:
    """What an earlier statement has computed, computed once more: another array."""
    found = [re.fullmatch(r"v\d+ = ([^;\n]+)", line) for line in writer.body]
    sources = [match[1] for match in found if match is not None]
    return f"{writer.new()} = {writer.rng.choice(sources)}" if sources else ""


def take_over(writer: Writer) -> str:
    """The whole of one array into another, which is then changed."""
    rng = writer.rng
    name = writer.some_array()
    x = writer.space[name]
    if rng.random() < 0.5:
        alike = [
            other
            for other in writer.arrays()
            if writer.space[other].shape == x.shape and fits(writer.space[other], x.dtype)
        ]
        return f"{name}[...] = {rng.choice(alike)}"
    copied = writer.new()
    sign = rng.choice("&|^" if x.dtype.kind == "b" else "+-*")
    change = f"{copied}[{writer.index(x.shape)}] {sign}= {writer.literal(x.dtype)}"
    return f"{copied} = np.zeros_like({name})\n{copied}[...] = {name}\n{change}"


def loop_over_rows(writer: Writer) -> str:
    """A loop that writes to the rows it is given."""
    rng = writer.rng
    source = writer.view() if rng.random() < 0.5 else writer.some_array()
    x = writer.array_value(source)
    if x is None or x.ndim < 2 or not 0 < len(x) <= 4:
        return ""
    other = writer.operand(x.shape[1:], x.dtype, 1)
    if rng.random() < 0.5:
        return f"for row in {source}:\n    row {rng.choice('+-*')}= {other}"
    index = writer.index(x.shape[1:])
    return f"for row in {source}:\n    row[{index}] = {rng.choice(('row', writer.literal(x.dtype)))}[{index}]"


def loop_over_places(writer: Writer) -> str:
    """A loop in which each step reads what the one before has written."""
    rng = writer.rng
    name = writer.some_array()
    x = writer.space[name]
    if not x.ndim or not 2 <= len(x) <= 5:
        return ""
    sign = rng.choice("+-*") if x.dtype.kind != "b" else rng.choice("&|^")
    first, change = rng.choice(
        (("1", "i - 1"), ("1", "-i"), ("0", "i"), ("0", f"{len(x) - 1} - i"))
    )
    body = rng.choice((f"{name}[i] {sign}= {name}[{change}]", f"{name}[i] = {name}[{change}]"))
    return f"for i in range({first}, {len(x)}):\n    {body}"


_BODIES = (
    "x[1:] = x[:-1]", "x[...] = x[::-1]", "x += x[0]", "x[i] = x[i - 1]", "x[::2] -= x[i]",
    "x[i:] += 1", "x = x + x[::-1]", "x[0], x[-1] = x[-1], x[0]", "x.fill(i)",
)  # fmt: skip


def staged_loop(writer: Writer) -> str:
    """``fxc.fori_loop`` whose body writes to what it carries."""
    rng = writer.rng
    name = writer.some_array()
    x = writer.space[name]
    if not x.ndim or len(x) < 3 or x.dtype.kind == "b":
        return ""
    result, body = writer.new(), "\n    ".join(rng.sample(_BODIES, rng.randint(1, 2)))
    return (
        f"def {result}_body(i, x):\n    {body}\n    return x\n"
        f"{result} = fxc.fori_loop(1, {rng.randint(2, 3)}, {result}_body, {name})"
    )


_PAIR_BODIES = (
    "x, y = y, x", "x[:2] = y[1:3]", "y[...] = x[::-1]", "x += y", "y[i] = x[i - 1]",
    "x[1:], y[1:] = y[:-1], x[:-1]", "y -= x[0]",
)  # fmt: skip


def staged_loop_of_two(writer: Writer) -> str:
    """``fxc.fori_loop`` that carries two arrays, which may change places."""
    rng = writer.rng
    name = writer.some_array()
    x = writer.space[name]
    if not x.ndim or len(x) < 3 or x.dtype.kind == "b":
        return ""
    first, second = writer.new(), writer.new()
    body = "\n    ".join(rng.sample(_PAIR_BODIES, rng.randint(1, 3)))
    start = rng.choice((f"{name}, {name}[::-1]", f"{name}, {name}", f"{name}[::-1], {name} * 2"))
    return (
        f"def {first}_body(i, pair):\n    x, y = pair\n    {body}\n    return {rng.choice(('x, y', 'y, x'))}\n"
        f"{first}, {second} = fxc.fori_loop(1, {rng.randint(2, 3)}, {first}_body, ({start}))"
    )


def staged_branch(writer: Writer) -> str:
    """``fxc.cond`` of which each branch writes to a copy of its own."""
    rng = writer.rng
    name, other = writer.some_array(), writer.some_array()
    x, y = writer.space[name], writer.space[other]
    if not x.ndim or not y.size or x.dtype.kind == "b" or not len(x):
        return ""
    result = writer.new()
    arms = rng.sample(_BODIES, 2) if len(x) > 2 else ["x += 1", "x[:] = 2"]
    text = ""
    for arm, body in zip(("yes", "no"), arms, strict=True):
        body = body.replace("i - 1", "0").replace("fill(i)", "fill(2)").replace("[i", "[1")
        text += f"def {result}_{arm}(x):\n    x = x.copy()\n    {body}\n    return x\n"
    place = ", ".join(str(rng.randrange(dim)) for dim in y.shape) or "()"
    pred = f"{other}[{place}] > {writer.literal(y.dtype)}"
    return f"{text}{result} = fxc.cond({pred}, {result}_yes, {result}_no, {name})"


def in_list(writer: Writer) -> str:
    """Arrays in a list of the program's own, written there."""
    first, second = writer.target(), writer.target()
    x = writer.array_value(first)
    if x is None or writer.array_value(second) is None:
        return ""
    sign = writer.rng.choice("&|^" if x.dtype.kind == "b" else "+-*")
    other = writer.operand(x.shape, x.dtype, 1)
    return f"held = [{first}, {second}]\nheld[0] {sign}= {other}\n{writer.new()} = held[1]"


def by_helper(writer: Writer) -> str:
    """A helper function that writes to its argument and returns a view of it."""
    target = writer.target()
    x = writer.array_value(target)
    if x is None:
        return ""
    sign = writer.rng.choice("&|^" if x.dtype.kind == "b" else "+-*")
    other = writer.operand(x.shape, x.dtype, 1)
    result = writer.new()
    index = writer.index(x.shape)
    return (
        f"def {result}_helper(x, y):\n    x {sign}= y\n    return x[{index}]\n"
        f"{result} = {result}_helper({target}, {other})"
    )


# ---------------------------------------------------------------- each operator of the table

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


def _indexed(writer: Writer, source: str, x: np.ndarray) -> str:
    return f"{source}[{writer.index(x.shape)}]"


# ---------------------------------------------------------------- index arrays and masks


def _places(writer: Writer, size: int) -> str:
    """Indices for an axis of this size: known, or made of what an array holds."""
    rng = writer.rng
    if rng.random() < 0.4:
        return str([rng.randrange(-size, size) for _ in range(rng.randint(0, 3))])
    source = writer.some_array()
    if writer.space[source].dtype.kind == "c":
        source = f"{source}.real"
    return f"{source}.astype(np.int64).ravel()[:{rng.randint(1, 3)}] % {size}"


def _at_places(writer: Writer) -> tuple[str, str, Any]:
    """An array, a key with index arrays for it, and what the key reads, or None."""
    rng = writer.rng
    name = writer.some_array()
    shape = writer.space[name].shape
    if not shape or 0 in shape:
        return "", "", None
    parts = [writer.slice(size) if rng.random() < 0.4 else _places(writer, size) for size in shape]
    place = rng.randrange(len(shape))
    parts[place] = _places(writer, shape[place])
    key = ", ".join(parts[: rng.randint(place + 1, len(shape))])
    return name, key, writer.array_value(f"{name}[{key},]")


def put_at_places(writer: Writer) -> str:
    name, key, read = _at_places(writer)
    if read is None:
        return ""
    rng, dtype = writer.rng, read.dtype
    if rng.random() < 0.3:
        return f"{writer.new()} = {name}[{key},]"
    if rng.random() < 0.5 or dtype.kind == "b":
        return f"{name}[{key},] = {writer.source_for(read, dtype)}"
    return f"{name}[{key},] {rng.choice('+-*')}= {writer.operand(read.shape, dtype)}"


def update_at_places(writer: Writer) -> str:
    name, key, read = _at_places(writer)
    if read is None:
        return ""
    ufunc = "logical_or" if read.dtype.kind == "b" else writer.rng.choice(_UFUNCS[:3])
    return f"np.{ufunc}.at({name}, ({key},), {writer.source_for(read, read.dtype)})"


def put_by_mask(writer: Writer) -> str:
    """An array, or what another array has there, for the elements that a mask chooses."""
    name = writer.some_array()
    x = writer.space[name]
    mask = f"{name} > {writer.literal(x.dtype)}"
    read = writer.array_value(f"{name}[{mask}]")
    if read is None:
        return ""
    if writer.rng.random() < 0.5:
        return f"{name}[{mask}] = {name}[{mask}] * {writer.literal(x.dtype)}"
    values = ", ".join(writer.literal(x.dtype) for _ in range(read.size))
    return f"{name}[{mask}] = np.array([{values}], {x.dtype.name!r})" if read.size < 9 else ""


def write_found_row(writer: Writer) -> str:
    """A write to a row that is looked for."""
    rng = writer.rng
    name, source = writer.some_array(), writer.some_array()
    x = writer.space[name]
    if not x.ndim or 0 in x.shape or 0 in writer.space[source].shape:
        return ""
    rest = writer.index(x.shape[1:])
    row = f"{name}[{source}.argmax() % {len(x)}, {rest}]"
    read = writer.array_value(row)
    if read is None:
        return ""
    if rng.random() < 0.5 or x.dtype.kind == "b":
        return f"{row} = {writer.source_for(read, x.dtype)}"
    return f"{row} {rng.choice('+-*')}= {writer.operand(read.shape, x.dtype)}"


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
    "dynamic_select": write_found_row,
    "index_put_": put_at_places,
    "index_reduce_": update_at_places,
    "masked_put_": put_by_mask,
    "copy_": set_item,
    "matmul.out": partial(product_out, "matmul"),
    "dot.out": partial(product_out, "dot"),
    "outer.out": outer_out,
    "clip.out": clip_out,
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
    a given array, and only Python's operators work in place.
    """
    match op.role:
        case "inplace":
            return op.group in BINARY.values() or TABLE[op.group].tag is Tag.INDEX_PUT
        case "out":
            return takes_out(op)
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


# ---------------------------------------------------------------- programs

_CHOICES: tuple[tuple[Statement, float], ...] = (
    (make_view, 18), (in_place, 18), (set_item, 16), (swap, 4), (swap_through_copy, 1),
    (with_out, 6), (with_where, 4), (computed, 5), (expression, 4), (compare, 2), (copies, 5),
    (made, 2), (fill, 4), (reduction, 4), (scan, 1), (choose, 2), (joined, 3), (element, 3),
    (rebind, 1), (again, 4), (take_over, 3), (staged_loop_of_two, 2), (set_masked, 2), (loop_over_rows, 3), (loop_over_places, 3), (staged_loop, 2),
    (staged_branch, 2), (in_list, 1), (by_helper, 2), (any_spelling, 14),
    (partial(join_out, "concatenate"), 1), (partial(join_out, "stack"), 1),
)  # fmt: skip
_KINDS = tuple(kind for kind, _ in _CHOICES)
_WEIGHTS = tuple(weight for _, weight in _CHOICES)


def random_program(seed: int, *, overlap: bool = True, focus: str | None = None) -> Program:
    """The program of this seed.

    ``overlap``: whether its arguments may share memory. ``focus`` names an operator that the
    program should have.
    """
    first = SPELLINGS[focus] if focus is not None else None
    return Writer(seed, overlap).program(_KINDS, _WEIGHTS, first)
