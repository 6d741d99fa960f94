"""Statements of random programs: views, writes, loops, and what computes in between.

A statement is a function of the ``Writer`` that gives its source, or '' if it has no idea just now.

Values are small and exact: quarters, which sums and products in any order leave exact for long
enough. What a function gives that NumPy rounds in its own way (``np.sin``) is rounded to eighths at
once, so that programs can be compared bit for bit.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tests.program_writer import DTYPES, Writer, fits

UFUNCS = ("add", "subtract", "multiply", "maximum", "minimum")


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
    return f"np.{writer.rng.choice(UFUNCS)}({left}, {right}, out={target})"


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
    return f"np.{rng.choice(UFUNCS)}({left}, {right}, out={target}, where={mask})"


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
        return ""  # NumPy looks at the strides of what has no elements
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
    """The whole of one array into another, which is then changed, at times both."""
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
    changed = [copied, name] if rng.random() < 0.8 else [copied]
    rng.shuffle(changed)
    changes = "\n".join(
        f"{each}[{writer.index(x.shape)}] {sign}= {writer.literal(x.dtype)}" for each in changed
    )
    return f"{copied} = np.zeros_like({name})\n{copied}[...] = {name}\n{changes}"


def read_back(writer: Writer) -> str:
    """Numbers in another layout into a part of an array, which is then read."""
    rng = writer.rng
    largest = max(writer.arrays(), key=lambda each: writer.space[each].size)
    name = writer.some_array() if rng.random() < 0.4 else largest
    index = writer.index(writer.space[name].shape) if rng.random() < 0.4 else "..."
    part = f"{name}[{index}]"
    x = writer.array_value(part)
    if x is None or sum(dim > 1 for dim in x.shape) < 2:
        return ""
    turned = f"{part}.copy({'C' if x.flags.f_contiguous else 'F'!r})"
    if x.dtype.kind == "f" and x.size > 12:  # sums of thirds show the order in memory
        return f"{part} = {turned} / 3\n{part} -= {part}.{rng.choice(('sum', 'mean'))}()"
    sign = rng.choice("&|^" if x.dtype.kind == "b" else "+-*")
    first, second = writer.literal(x.dtype), writer.literal(x.dtype)
    return f"{part} = {turned} {sign} {first}\n{writer.new()} = {part} {sign} {second}"


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


def _carried(writer: Writer) -> str:
    """An array that the bodies can work on, or ''."""
    name = writer.some_array()
    x = writer.space[name]
    return name if x.ndim and len(x) > 2 and x.dtype.kind != "b" else ""


def _body(writer: Writer, choices: tuple[str, ...]) -> str:
    """What a body does: to what it is given and, now and then, to an array from outside."""
    rng = writer.rng
    lines = rng.sample(choices, rng.randint(1, 2))
    if rng.random() < 0.4:
        lines.insert(rng.randint(0, len(lines)), write_outside(writer))
    return "\n    ".join(filter(None, lines)) or "pass"


def write_outside(writer: Writer) -> str:
    """A write that does not raise: NumPy may not come to it, and fxc looks at it."""
    target = writer.target()
    x = writer.array_value(target)
    if x is None or not x.flags.writeable:
        return ""
    target += "[...]" if target in writer.variables else ""  # not a variable of the body's own
    other = writer.operand(x.shape, x.dtype, 1)
    if writer.rng.random() < 0.4:
        tried = writer.value(f"({target}.copy().__setitem__(..., {other}), True)")
        return "" if tried is None else f"{target} = {other}"
    sign = writer.rng.choice("&|^" if x.dtype.kind == "b" else "+-*")
    tried = writer.value(f"np.{_UFUNC_OF[sign]}({target}, {other}, out={target}.copy())")
    return "" if tried is None else f"{target} {sign}= {other}"


_UFUNC_OF = {
    "+": "add", "-": "subtract", "*": "multiply", "&": "bitwise_and", "|": "bitwise_or",
    "^": "bitwise_xor",
}  # fmt: skip


def staged_loop(writer: Writer) -> str:
    """``fxc.fori_loop`` whose body writes to what it carries."""
    name = _carried(writer)
    if not name:
        return ""
    result = writer.new()
    return (
        f"def {result}_body(i, x):\n    {_body(writer, _BODIES)}\n    return x\n"
        f"{result} = fxc.fori_loop(1, {writer.rng.randint(2, 3)}, {result}_body, {name})"
    )


def staged_while(writer: Writer) -> str:
    """``fxc.while_loop`` that also carries a number, which ends it."""
    rng = writer.rng
    name = _carried(writer)
    if not name:
        return ""
    result = writer.new()
    number = f"np.int64({rng.randint(0, 2)})" if rng.random() < 0.5 else f"{name}.argmax() % 3"
    return (
        f"def {result}_body(state):\n    i, x = state\n    {_body(writer, _COUNTED)}\n"
        f"    return i + 1, x\n"
        f"{result} = fxc.while_loop(lambda s: s[0] < 3, {result}_body, ({number}, {name}))[1]"
    )


_COUNTED = (*(body for body in _BODIES if "i" not in body), "x[1:] += i", "x[i % 3] = x[i % 2]")
_PAIR_BODIES = (
    "x, y = y, x", "x[:2] = y[1:3]", "y[...] = x[::-1]", "x += y", "y[i] = x[i - 1]",
    "x[1:], y[1:] = y[:-1], x[:-1]", "y -= x[0]",
)  # fmt: skip


def staged_loop_of_two(writer: Writer) -> str:
    """``fxc.fori_loop`` that carries two arrays, which may change places."""
    rng = writer.rng
    name = _carried(writer)
    if not name:
        return ""
    first, second = writer.new(), writer.new()
    start = rng.choice((f"{name}, {name}[::-1]", f"{name}, {name}", f"{name}[::-1], {name} * 2"))
    return (
        f"def {first}_body(i, pair):\n    x, y = pair\n    {_body(writer, _PAIR_BODIES)}\n"
        f"    return {rng.choice(('x, y', 'y, x'))}\n"
        f"{first}, {second} = fxc.fori_loop(1, {rng.randint(2, 3)}, {first}_body, ({start}))"
    )


def staged_branch(writer: Writer) -> str:
    """``fxc.cond`` of which each branch writes: to a copy, or to the array it is given."""
    rng = writer.rng
    name, other = _carried(writer), writer.some_array()
    y = writer.space[other]
    if not name or not y.size:
        return ""
    result = writer.new()
    text = ""
    for arm in ("yes", "no"):
        body = _body(writer, _BODIES)
        body = body.replace("i - 1", "0").replace("fill(i)", "fill(2)").replace("[i", "[1")
        is_copied = rng.random() < 0.5 or not writer.space[name].flags.writeable
        copy = "x = x.copy()\n    " if is_copied else ""
        text += f"def {result}_{arm}(x):\n    {copy}{body}\n    return x\n"
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
