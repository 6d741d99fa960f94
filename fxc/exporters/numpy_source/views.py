"""Views as indexing: ``x[1:-1, None]``; views of views are one as far as they can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fxc.ir.bounds import decide
from fxc.ir.graph import SliceSpec
from fxc.ir.records import frozen
from fxc.ir.symbols import Dim
from fxc.ops.metas.views import rows_of

from .code import ADD, ATOM, MULTIPLY, Code, call, dim_code, dtype_name, is_simple, quoted, unary

Known = Callable[[str], Code]
FULL, NEW = ":", "None"


@frozen
class View:
    """``base[entries]``: for each axis of the base a text, and one for each new axis.

    ``axes`` are the numbers of the entries that are axes of the view.
    """

    base: Code
    entries: tuple[str, ...]
    axes: tuple[int, ...]

    def code(self, is_item: bool = False) -> Code:
        """The expression: an array, also of rank 0; with ``is_item`` the element."""
        entries = list(self.entries)
        while entries and entries[-1] == FULL:
            entries.pop()
        if not entries:
            return self.base if not is_item else Code(f"{self.base.within(ATOM)}[()]")
        if not self.axes and not is_item:
            entries.append("...")
        return Code(f"{self.base.within(ATOM)}[{', '.join(entries)}]", reads=self.base.reads)


def whole(base: Code, rank: int) -> View:
    """All of an array."""
    return View(base, (FULL,) * rank, tuple(range(rank)))


def select(view: View, axis: int, index: str) -> View | None:
    """The view with an index for an axis; None if one expression cannot say that."""
    place = view.axes[axis]
    if view.entries[place] != FULL:
        return None
    entries = (*view.entries[:place], index, *view.entries[place + 1 :])
    return View(view.base, entries, view.axes[:axis] + view.axes[axis + 1 :])


def expand(view: View, new: set[int]) -> View:
    """The view with new axes, at these places of the result."""
    entries = list(view.entries)
    axes = list(view.axes)
    for axis in sorted(new):
        place = axes[axis] if axis < len(axes) else len(entries)
        entries.insert(place, NEW)
        axes = [each + (each >= place) for each in axes]
        axes.insert(axis, place)
    return View(view.base, tuple(entries), tuple(axes))


def cut(view: View, texts: Sequence[str]) -> View | None:
    """The view with a slice for each axis."""
    entries = list(view.entries)
    for place, text in zip(view.axes, texts, strict=True):
        if text == FULL:
            continue
        if entries[place] != FULL:
            return None
        entries[place] = text
    return View(view.base, tuple(entries), view.axes)


def slice_text(spec: SliceSpec, size: Dim, known: Known) -> str | None:
    """``1:-1`` for an axis of this size; None if its end is not known to have such a text."""
    start, stop, step = spec.start, spec.stop, spec.step
    by = "" if step == 1 else dim_code(step, known).text
    if decide(step, ">", 0):
        first = "" if start == 0 else _end(start, size, known)
        last = "" if stop == size else _end(stop, size, known)
    elif not isinstance(step, int):
        return None
    else:
        if isinstance(start, int) and start < 0:
            return f"0:0:{step}"
        if start != size - 1 and decide(start, ">=", 0) is not True:
            return None
        first = "" if start == size - 1 else dim_code(start, known).text
        last = "" if stop == -1 else dim_code(stop, known).text
        if last and decide(stop, ">=", 0) is not True:
            if step == -1:
                return None  # the same elements forwards, and turned round
            last = f"({last} if {last} >= 0 else None)"
    if _hugs(first, last, by):
        return f"{first}:{last}" + (by and f":{by}")
    text = (first and f"{first} ") + ":" + (last and f" {last}")
    return text + (by and (" : " if last else ": ") + by)


def _hugs(*parts: str) -> bool:
    return all(not each or is_simple(each) for each in parts)


def _end(end: Dim, size: Dim, known: Known) -> str:
    """An end of a slice, counted from behind where that is shorter."""
    back = size - end
    if isinstance(end, int) and isinstance(back, int):
        return f"-{back}" if 0 < back < end else str(end)
    text = dim_code(end, known).text
    if decide(back, ">", 0):
        code = unary("-", dim_code(back, known))
        if len(code.text) <= len(text) and code.binds != ADD:
            return code.text
    return text


def reversed_slice(spec: SliceSpec, known: Known) -> str | None:
    """What a slice backwards goes through, forwards."""
    if decide(spec.step, "<", 0) is not True:
        return None
    ends = [dim_code(each + 1, known).text for each in (spec.stop, spec.start)]
    for place, each in enumerate((spec.stop, spec.start)):
        if spec.step != -1 and decide(each, ">=", -1) is not True:
            ends[place] = f"max({ends[place]}, 0)"
    return f"{ends[0]} : {ends[1]}" if not all(map(is_simple, ends)) else ":".join(ends)


def tuple_text(items: Sequence[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def shape_code(shape: Sequence[Dim], known: Known) -> str:
    """A shape as an argument: ``n``, or ``(n, m)``."""
    texts = [dim_code(dim, known).text for dim in shape]
    return texts[0] if len(texts) == 1 else tuple_text(texts) if texts else "()"


def method_view(
    group: str, base: Code, rank: int, args: Sequence[Any], known: Known
) -> Code | None:
    """A view by a method or function of NumPy's."""
    array = base.within(ATOM)
    match group, tuple(args):
        case "transpose", (axes,):
            if tuple(axes) == tuple(reversed(range(rank))):
                return Code(f"{array}.T", ATOM, base.reads)
            text = f"{array}.transpose({', '.join(map(str, axes))})"
        case "reshape", (shape,):
            texts = [dim_code(dim, known).text for dim in shape]
            if len(texts) == 1:
                texts = ["-1"] if shape[0] != 0 else texts
            text = f"{array}.reshape({', '.join(texts) if texts else '()'})"
        case "squeeze", (axes,):
            shown = str(axes[0]) if len(axes) == 1 else tuple_text([str(a) for a in axes])
            return call("np.squeeze", [base], {"axis": shown})
        case (("broadcast_to" | "broadcast"), (shape,)):
            shown = shape_code(shape, known)
            return call("np.broadcast_to", [base, Code(shown)])
        case "diagonal", (offset, axis1, axis2):
            given = [str(each) for each in (offset, axis1, axis2)]
            while given and given[-1] == str((0, 0, 1)[len(given) - 1]):
                given.pop()
            return call("np.diagonal", [base, *map(Code, given)])
        case ("real" | "imag") as name, ():
            text = f"{array}.{name}"
        case (("field" | "array_field"), (names,)):
            text = array + "".join(f"[{quoted(name)}]" for name in names)
        case (("bitcast" | "regroup_bytes"), (dtype,)):
            text = f"{array}.view({dtype_name(dtype)})"
        case "as_strided", (shape, steps, writeable):
            shown = shape_code(shape, known)
            shown = f"({shown},)" if len(shape) == 1 else shown
            strides = _strides(array, rank, len(shape), steps, known)
            keywords = {} if writeable else {"writeable": "False"}
            codes = [base, Code(shown), Code(strides)]
            return call("np.lib.stride_tricks.as_strided", codes, keywords)
        case _:
            return None
    return Code(text, ATOM, base.reads)


def _strides(array: str, rank: int, axes: int, steps: Sequence[Dim], known: Known) -> str:
    """Strides that are sums of those of an array."""
    texts = []
    for column in zip(*rows_of(steps, rank, axes), strict=True):
        terms = []
        for axis, step in enumerate(column):
            if step != 0:
                factor = "" if step == 1 else f"{dim_code(step, known).within(MULTIPLY)} * "
                terms.append(f"{factor}{array}.strides[{axis}]")
        texts.append(" + ".join(terms) or "0")
    return tuple_text(texts) if texts else "()"
