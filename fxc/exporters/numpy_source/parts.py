"""Parts of arrays: views, elements at computed places, and assignments to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fxc.ir.errors import ExportError
from fxc.ir.graph import Literal, Node, Operand
from fxc.ir.size_functions import hint
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, normal_strides, strided_empty
from fxc.ops.kernels import indices
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

from .code import ATOM, Code, all_reads, dim_code, dtype_name, is_simple, plain_number
from .operators import is_array
from .views import View, cut, expand, method_view, reversed_slice, select, slice_text, whole
from .writer import Writer

Shape = tuple[Dim, ...]


def view_expression(body: Writer, node: Node) -> View | Code | None:
    """A view of the node's first operand."""
    base = node.args[0]
    found = body.uses.resolve(base)
    view = body.views.get(found)
    if view is None and not is_array(base) and node.op == "broadcast_to_copy":
        return body.expressions.op_broadcast_to_copy(node)
    if view is None:
        view = whole(as_array(body, base), base.type.rank)
    return part_of(body, view, base.type.shape, TABLE[node.op].group, node.args[1:])


def as_array(body: Writer, base: Operand) -> Code:
    code = body.operand(base)
    return code if is_array(base) else Code(f"np.asarray({code.text})", reads=code.reads)


def part_of(
    body: Writer, view: View, shape: Shape, group: str, args: tuple[object, ...]
) -> View | Code | None:
    """A view of an array that is ``view``, by an operator."""
    found = _part(body, view, shape, group, args)
    if found is None and view.entries != (":",) * len(view.entries):
        return _part(body, whole(view.code(), len(view.axes)), shape, group, args)
    return found


def _part(
    body: Writer, view: View, shape: Shape, group: str, args: tuple[object, ...]
) -> View | Code | None:
    known = body.known
    match group, args:
        case "select", (int(axis), index):
            return select(view, axis, dim_code(index, known).text)  # type: ignore[arg-type]
        case "dynamic_select", (index, int(axis)):
            code = body.operand(index)  # type: ignore[arg-type]
            found = select(view, axis, code.text)
            return found and View(
                Code(found.base.text, found.base.binds, found.base.reads | code.reads),
                found.entries,
                found.axes,
            )
        case "expand_dims", (tuple() as axes,):
            rank = len(view.axes) + len(axes)
            return expand(view, {axis % rank for axis in axes})
        case "slice", (tuple() as specs,):
            texts = [slice_text(spec, size, known) for spec, size in zip(specs, shape, strict=True)]
            if None not in texts:
                return cut(view, [text or ":" for text in texts])
            return _cut_twice(body, view, specs, texts)
        case _:
            rank = len(view.axes)
            return method_view(group, view.code(), rank, args, known)


def _cut_twice(body: Writer, view: View, specs: tuple, texts: list[str | None]) -> View | None:  # type: ignore[type-arg]
    """Slices backwards from an end that is not known: forwards first."""
    first = [
        text or reversed_slice(spec, body.known) for text, spec in zip(texts, specs, strict=True)
    ]
    if None in first:
        return None
    found = cut(view, [text or ":" for text in first])
    if found is None:
        return None
    again = whole(found.code(), len(found.axes))
    steps = [dim_code(spec.step, body.known).text for spec in specs]
    backwards = [f"::{step}" if is_simple(step) else f":: {step}" for step in steps]
    return cut(again, [":" if text else by for text, by in zip(texts, backwards, strict=True)])


# ---------------------------------------------------------------- elements at computed places


def index_text(body: Writer, indices: tuple[Operand, ...], axes: tuple[int, ...]) -> Code:
    """``x[:, i, j]`` without ``x``: the entries of the index."""
    codes = [body.operand(index) for index in indices]
    entries = [":"] * (max(axes) + 1)
    for axis, code in zip(axes, codes, strict=True):
        entries[axis] = code.text
    return Code(", ".join(entries), reads=all_reads(codes))


def is_plain_index(indices: tuple[Operand, ...], axes: tuple[int, ...], place: int) -> bool:
    """Whether NumPy puts the axes of the indices where the operator has them."""
    if not index_is_plain(indices):
        return False
    if list(axes) != sorted(axes):
        return False
    adjacent = axes[-1] - axes[0] == len(axes) - 1
    return place == (axes[0] if adjacent else 0)


def index_is_plain(indices: tuple[Operand, ...]) -> bool:
    """Whether NumPy takes these for index arrays, and gives no view."""
    if not any(is_array(index) and index.type.rank for index in indices):
        return False
    return all(index.type.dtype.kind in "iu" for index in indices)


def gather_code(body: Writer, node: Node) -> Code | None:
    """``x[i]`` with arrays as indices; None if NumPy would lay out the result otherwise."""
    x, indices, axes, place, _ = node.args
    mask = body.uses.masks.get(node)
    base = body.operand(x)
    array = base.within(ATOM)
    first = axes
    if place == 0 and axes[0] != 0:  # the indices come first
        first = tuple(range(len(axes)))
        order = (*axes, *(axis for axis in range(x.type.rank) if axis not in axes))
        array += ".T" if order == (1, 0) else f".transpose({', '.join(map(str, order))})"
    if mask is not None and _has_layout(node):
        inner = Code(", ".join([*[":"] * first[0], body.operand(mask).text]))
    elif is_plain_index(indices, first, place) and _has_layout(node):
        inner = index_text(body, indices, first)
    else:
        return None
    reads = (
        base.reads | inner.reads | (body.operand(mask).reads if mask is not None else frozenset())
    )
    return Code(f"{array}[{inner.text}]", reads=reads)


def _has_layout(node: Node) -> bool:
    """Whether NumPy's own result has the strides that the type says, tried on an array."""
    x, indices, axes, place, _ = node.args
    sample = _sample(x.type, x.type.dtype)
    given = [_sample(index.type, np.dtype(np.intp)) for index in indices]
    if not sample.size:
        return True
    if place == 0 and axes[0] != 0:
        made = np.moveaxis(sample, axes, range(len(axes)))[tuple(given)]
    else:
        made = sample[(slice(None),) * axes[0] + tuple(_between(axes, given))]
    wanted: Any = node.output.type
    strides = tuple(hint(step) for step in wanted.strides)
    return normal_strides(made.shape, made.strides, made.itemsize) == strides


def _between(axes: tuple[int, ...], given: list[Any]) -> Iterator[Any]:
    """Indices of axes, and slices of those between."""
    for axis in range(axes[0], axes[-1] + 1):
        yield given[axes.index(axis)] if axis in axes else slice(None)


def _sample(kind: Any, dtype: np.dtype) -> Any:
    """Zeros that lie as the type says; of a number one."""
    if not isinstance(kind, ArrayType):
        return np.zeros((), dtype)[()]
    shape, strides = (tuple(hint(dim) for dim in dims) for dims in (kind.shape, kind.strides))
    made = strided_empty(dtype, shape, [s * dtype.itemsize // kind.dtype.itemsize for s in strides])
    made[...] = 0
    return made


# ---------------------------------------------------------------- assignments


def assignment_target(body: Writer, node: Node, target: str) -> None:
    """The statement that replaces elements of the array in the variable ``target``."""
    op = TABLE[node.op]
    if op.tag is Tag.INDEX_PUT:
        return _put(body, node, target)
    base, source = node.args[:2]
    kind: Any = base.type
    if op.group == "regroup_bytes":
        args = [Code(target), *(body.expressions.argument(arg) for arg in node.args[1:2])]
        dtype = f"np.dtype({dtype_name(node.args[2])})"
        text = f"{body.helper(node)}({', '.join([*(arg.text for arg in args), dtype])})"
        return body.statement(f"{target}[...] = ", Code(text), node.loc)
    view = whole(Code(target), kind.rank)
    part = part_of(body, view, kind.shape, op.group, node.args[2:])
    if op.group == "diagonal" and node.args[2:] == (0, 0, 1) and kind.rank == 2:
        code = Code(f"np.fill_diagonal({target}, {body.operand(source).text})")
        return body.statement("", code, node.loc)
    if part is None or op.group in ("diagonal", "broadcast_to", "broadcast"):
        raise ExportError(f"NumPy has nothing for {node.op}")
    if op.group == "reshape":
        left = f"{target}[...]"
        shape = ", ".join(dim_code(dim, body.known).text for dim in kind.shape)
        code = body.operand(source)
        code = Code(f"{code.within(ATOM)}.reshape({shape or '()'})", reads=code.reads)
        return body.statement(f"{left} = ", code, node.loc)
    if isinstance(part, View):
        left = part.code(is_item=not part.axes).text
    else:
        left = f"{part.text}[...]"
    left = left if left != target else f"{target}[...]"
    return assign_part(body, node, left, source)


def assign_part(body: Writer, node: Node, left: str, source: Operand) -> None:
    """``left = source``, or ``left += …`` if the source is left and something."""
    found = body.uses.resolve(source)
    parts = body.sums.get(found)
    if parts is not None and parts[0].text == left.removesuffix("[...]"):
        maker = body.uses.makers[found]
        if maker.output.type.dtype == node.output.type.dtype:
            return body.statement(f"{left.removesuffix('[...]')} {parts[1]} ", parts[2], node.loc)
    kind = node.output.type.dtype
    given = found.value if isinstance(found, Literal) else None
    if isinstance(given, np.generic) and given.dtype == kind and kind.kind != "b":
        return body.statement(f"{left} = ", plain_number(given), node.loc)
    room = 84 - 4 * body.level - len(left)
    code = body.fitted(lambda: body.operand(source), [source], room)
    assert code is not None
    return body.statement(f"{left} = ", code, node.loc)


def _put(body: Writer, node: Node, target: str) -> None:
    if node.op == "masked_put":
        _, mask, source = node.args
        text = body.operand(mask).text
        return assign_part(body, node, f"{target}[{text}]", source)
    source, indices, axes, place = node.args[1:5]
    mask = body.uses.masks.get(node)
    if mask is not None:
        inner = ", ".join([*[":"] * axes[0], body.operand(mask).text])
    elif is_plain_index(indices, axes, place) and _one_index(indices):
        inner = index_text(body, indices, axes).text
    else:
        return _put_by_helper(body, node, target)
    if node.op == "index_put":
        return assign_part(body, node, f"{target}[{inner}]", source)
    ufunc = node.args[5]
    if not isinstance(getattr(np, ufunc, None), np.ufunc):
        raise ExportError(f"NumPy has nothing for {ufunc}")
    index = f"np.s_[{inner}]" if ":" in inner else f"({inner})" if "," in inner else inner
    given = [target, index] + ([body.operand(source).text] if source is not None else [])
    return body.statement("", Code(f"np.{ufunc}.at({', '.join(given)})"), node.loc)


def _one_index(indices: tuple[Operand, ...]) -> bool:
    """Whether elements that occur twice are written in C order: with one index array they are."""
    arrays = [index for index in indices if is_array(index) and index.type.rank]
    return len(arrays) == 1 or all(
        isinstance(index.type, ArrayType) and index.type.rank == 1 for index in arrays
    )


def _put_by_helper(body: Writer, node: Node, target: str) -> None:
    name = body.taken(indices._targets)
    args = [Code(target), *(body.expressions.argument(arg) for arg in node.args[1:5])]
    code = f"{name}({', '.join(arg.text for arg in args)})"
    view, places, values = (body.names.free(word) for word in ("view", "places", "values"))
    body.statement(f"{view}, {places}, {values} = ", Code(code), node.loc)
    if node.op == "index_put":
        return body.statement("", Code(f"{view}[{places}] = {values}"), node.loc)
    rest = f", {values}" * (node.args[1] is not None)
    return body.statement("", Code(f"np.{node.args[5]}.at({view}, {places}{rest})"), node.loc)
