"""Writes a random program: its inputs, and the pieces that statements are made of.

A ``Writer`` runs each statement as it goes: what NumPy refuses, or what makes numbers grow out of
hand, is left out (now and then what NumPy refuses is kept, as the last statement). The statements
themselves stand in ``tests/statements.py``.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from tests.written_programs import SCOPE, Program

DTYPES = {
    "f8": 12, "f4": 6, "i8": 6, "i4": 4, "i2": 2, "i1": 2, "u1": 4, "u2": 2, "u4": 1, "u8": 2,
    "?": 4, "f2": 2, "c8": 3, "c16": 3,
}  # fmt: skip
_DIMS = (1, 1, 2, 2, 3, 3, 4, 4, 5, 6)
_LONG = (8, 9, 17, 33, 70)
_MOST_ELEMENTS = 3000
_LARGEST = 1e5
_SCALARS = (
    "2", "-1", "1", "0", "3", "0.5", "-1.25", "True", "np.float32(0.5)", "np.int16(3)",
    "np.float64(1.5)", "np.uint8(2)", "np.bool_(False)", "(1-0.5j)", "np.complex64(0.5j)",
)  # fmt: skip


@lru_cache(4096)
def _compiled(source: str, mode: str) -> CodeType:
    return compile(source, "<statement>", mode)


class Writer:
    """Writes one program; ``space`` holds the variables as they are after the last statement."""

    def __init__(self, seed: int, overlap: bool) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.overlap = overlap  # whether arguments may share memory
        self.inputs: list[str] = []
        self.names: list[str] = []
        self.body: list[str] = []
        self.space: dict[str, Any] = {}
        self.variables: list[str] = []
        self.fresh = 0

    def program(
        self, kinds: Sequence[Statement], weights: Sequence[float], first: Statement | None = None
    ) -> Program:
        """A program of statements of these kinds, of which ``first`` is the first."""
        rng = self.rng
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            self.dtypes = rng.choices(list(DTYPES), list(DTYPES.values()), k=3)
            # Sums of thirds show the order in which they are added.
            self.parts = ", 3" if rng.random() < 0.15 else ""
            self.make_inputs()
            goes_on = first is None or self.statement((first,), (1,))
            for _ in range(rng.randint(1, 15) - len(self.body)):
                goes_on = goes_on and self.statement(kinds, weights)
            returned, container = self.results()
        return Program(
            self.seed, tuple(self.inputs), tuple(self.names), tuple(self.body), returned, container
        )

    def results(self) -> tuple[tuple[str, ...], str]:
        rng = self.rng
        arrays = self.arrays()
        count = rng.choice((1, 1, 2, 2, 3, 4))
        recent = [name for name in arrays if name not in self.names]
        pool = arrays + recent + self.scalars()
        returned = [rng.choice(pool) for _ in range(count)]
        for place in range(count):
            if rng.random() < 0.15 and returned[place] in arrays:
                returned[place] = self.view_of(returned[place]) or returned[place]
        if count > 1:
            container = rng.choice(("tuple", "tuple", "tuple", "list", "dict", "nested"))
        else:
            container = rng.choice(("bare", "bare", "list"))
        return tuple(returned), container

    # -- state

    def arrays(self) -> list[str]:
        return [name for name in self.variables if isinstance(self.space[name], np.ndarray)]

    def scalars(self) -> list[str]:
        return [name for name in self.variables if not isinstance(self.space[name], np.ndarray)]

    def replay(self) -> None:
        made = {**SCOPE}
        for line in self.inputs:
            exec(_compiled(line, "exec"), made)
        self.space = {**SCOPE, **{name: made[name] for name in self.names}}
        for line in self.body:
            exec(_compiled(line, "exec"), self.space)
        self.find_variables()

    def find_variables(self) -> None:
        names = [*self.names, *(f"v{number + 1}" for number in range(self.fresh))]
        self.variables = [name for name in names if name in self.space]

    def value(self, source: str) -> Any:
        """What an expression gives now, or None if NumPy refuses it."""
        try:
            return eval(_compiled(source, "eval"), self.space)
        except Exception:
            return None

    def array_value(self, source: str) -> np.ndarray | None:
        """What an expression gives, if that is an array."""
        x = self.value(source) if source else None
        return x if isinstance(x, np.ndarray) else None

    def is_tame(self, x: Any) -> bool:
        """Whether the numbers are finite and small and few."""
        return _is_of_few(x) and bool((np.abs(_floats_of(x)) < _LARGEST).all())

    # -- inputs

    def make_inputs(self) -> None:
        rng = self.rng
        for name in "abcd"[: rng.choice((1, 1, 1, 2, 2, 2, 3, 4))]:
            if self.names and rng.random() < 0.08:
                line = f"{name} = {rng.choice(_SCALARS)}"
            else:
                line = f"{name} = {self.input(name)}"
            self.inputs.append(line)
            self.names.append(name)
            self.replay()
        if rng.random() < 0.05:
            self.inputs.append(f"read_only({rng.choice(self.arrays())})")
            self.replay()

    def input(self, name: str) -> str:
        """An expression for one more argument."""
        rng = self.rng
        if self.overlap and self.arrays() and rng.random() < 0.3:  # shares memory with another
            other = rng.choice(self.arrays())
            kind = rng.random()
            if kind < 0.15:
                return other
            if kind < 0.5:
                return self.window(self.hidden(other))
            return self.view_of(other) or other
        made = self.new_array()
        if self.overlap and rng.random() < 0.15:
            self.inputs.append(f"{name}_base = {made}")
            return self.window(f"{name}_base")
        return made

    def hidden(self, name: str) -> str:
        """What ``name`` is a window of."""
        return f"{name}_base" if any(s.startswith(f"{name}_base =") for s in self.inputs) else name

    def window(self, source: str) -> str:
        """A part of an array such as two arguments may share: overlapping, interleaved, turned."""
        made = {**SCOPE}
        for line in self.inputs:
            exec(_compiled(line, "exec"), made)
        x = made[source]
        if not x.ndim:
            return source
        parts = [":"] * x.ndim
        axis = self.rng.randrange(x.ndim)
        parts[axis] = self.rng.choice(("1:", ":-1", "::2", "1::2", "::-1", ":2", "-2:", "1:-1"))
        turned = self.rng.choice(("", "", "", ".T"))
        return f"{source}[{', '.join(parts)}]{turned}"

    def shape(self) -> tuple[int, ...]:
        rng = self.rng
        rank = rng.choices((0, 1, 2, 3, 4), (1, 5, 6, 3, 2))[0]
        shape = tuple(rng.choice(_DIMS) for _ in range(rank))
        if rank > 1 and rng.random() < 0.25:
            shape = _with(shape, 0, shape[1])  # square, so that it can be added to its transpose
        if rank and rng.random() < 0.08:
            shape = _with(shape, rng.randrange(rank), 0)
        elif rank and rng.random() < 0.12:
            shape = _with(shape, rng.randrange(rank), rng.choice(_LONG))
        return shape

    def new_array(self) -> str:
        rng = self.rng
        shape = self.shape()
        arrays = self.arrays()
        if arrays and rng.random() < 0.5:
            shape = self.space[rng.choice(arrays)].shape
        dtype = rng.choice((*self.dtypes, self.dtypes[0]))
        if rng.random() < 0.1:
            dtype = rng.choice(list(DTYPES))
        shift = f"{rng.randint(0, 9)}{self.parts if dtype.startswith('f') else ''}"
        layout = rng.random()
        if not shape or layout < 0.55:
            return f"array({dtype!r}, {shape}, {shift})"
        if layout < 0.63:
            return f"np.asfortranarray(array({dtype!r}, {shape}, {shift}))"
        if layout < 0.7:
            return f"array({dtype!r}, {shape[::-1]}, {shift}).T"
        if layout < 0.74:
            kept = tuple(1 if rng.random() < 0.5 else dim for dim in shape)
            return f"np.broadcast_to(array({dtype!r}, {kept}, {shift}), {shape})"
        steps = [rng.choice((1, 1, 2, 2, -1, -1, -2)) for _ in shape]
        wide = tuple(abs(step) * dim for step, dim in zip(steps, shape, strict=True))
        spots = [
            {1: ":", 2: rng.choice(("::2", "1::2")), -1: "::-1", -2: "::-2"}[step] for step in steps
        ]
        return f"array({dtype!r}, {wide}, {shift})[{', '.join(spots)}]"

    # -- pieces

    def some_array(self) -> str:
        """An array, later ones rather than earlier ones."""
        names = self.arrays()
        return names[max(self.rng.randrange(len(names)), self.rng.randrange(len(names)))]

    def index(self, shape: tuple[int, ...], *, arrays_only: bool = True) -> str:
        """A basic index for this shape."""
        rng = self.rng
        parts: list[str] = []
        count = rng.randint(0, len(shape)) if rng.random() < 0.4 else len(shape)
        dots = rng.choice((0, 1)) if count < len(shape) and rng.random() < 0.5 else None
        for size in shape[len(shape) - count :] if dots == 0 else shape[:count]:
            kind = rng.random()
            if kind < 0.2 and size:
                parts.append(self.number(rng.randint(-size, size - 1)))
            elif kind < 0.4:
                parts.append(":")
            else:
                parts.append(self.slice(size))
            if rng.random() < 0.05:
                parts.append("None")
        is_element = all(p.lstrip("-").isdigit() or p in self.variables for p in parts)
        if dots is not None:
            parts.insert(dots * len(parts), "...")
        elif arrays_only and len(parts) >= len(shape) and is_element:
            parts.append("...")
        if not parts:
            parts = ["..."] if rng.random() < 0.5 or not shape else [":"]
        return ", ".join(parts)

    def number(self, value: int) -> str:
        """An int as a literal, or as the argument that has this value."""
        for name in self.names:
            if type(self.space[name]) is int and self.space[name] == value:
                return name
        return str(value)

    def slice(self, size: int) -> str:
        rng = self.rng
        step = rng.choice((1, 1, 1, 2, 3, -1, -1, -2))
        low = rng.randint(0, size) if rng.random() < 0.6 else None
        high = rng.randint(0, size) if rng.random() < 0.5 else None
        if low is not None and high is not None and (low > high) == (step > 0):
            low, high = high, low
        if high == size and rng.random() < 0.5:
            high = None
        if high is not None and rng.random() < 0.3:
            high -= size + 1 if step < 0 and high else size
            high = None if high >= 0 else high
        first = "" if low is None else self.number(low)
        last = "" if high is None else self.number(high)
        return f"{first}:{last}" if step == 1 else f"{first}:{last}:{step}"

    def axis(self, rank: int) -> int:
        return self.rng.randint(-rank, rank - 1)

    def view_of(self, source: str) -> str:
        """An expression for a view (at times a copy) of an array; '' if there is none."""
        x = self.array_value(source)
        if x is None:
            return ""
        if not x.ndim or self.rng.random() < 0.45:
            return f"{source}[{self.index(x.shape)}]"
        view = self.rng.choices(VIEWS, VIEW_WEIGHTS)[0](self, source, x)
        return view if view and self.array_value(view) is not None else ""

    def view(self) -> str:
        """A view of an array, or a view of a view of it."""
        source = self.some_array()
        for _ in range(self.rng.choice((1, 1, 1, 1, 2, 2, 3))):
            source = self.view_of(source) or source
        return source

    def other_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        dims = [d for d in shape if d != 1]
        while len(dims) > 1 and self.rng.random() < 0.6:
            place = self.rng.randrange(len(dims) - 1)
            dims[place : place + 2] = [dims[place] * dims[place + 1]]
        for place, dim in enumerate(dims):
            for factor in (2, 3):
                if dim > factor and dim % factor == 0 and self.rng.random() < 0.3:
                    dims[place : place + 1] = [factor, dim // factor]
                    break
        if self.rng.random() < 0.3:
            dims.insert(self.rng.randint(0, len(dims)), 1)
        return tuple(dims) if len(dims) <= 5 else shape

    def literal(self, target: np.dtype) -> str:
        rng = self.rng
        choices: tuple[str, ...] = ("1", "2", "-3", "7")
        match target.kind:
            case "b":
                choices = ("True", "False")
            case "u":
                choices = ("1", "2", "3", "7")
            case "f":
                choices = ("0.5", "1.5", "-0.25", "2.0", "2", "-3")
            case "c":
                choices = ("0.5", "2", "(0.5-1j)", "1j")
        if rng.random() < 0.15:
            return f"np.{target.type.__name__}({rng.choice(choices)})"
        return rng.choice(choices)

    def operand(self, shape: tuple[int, ...], dtype: np.dtype, depth: int = 2) -> str:
        """An expression that broadcasts to ``shape``, of numbers that fit into ``dtype``."""
        rng = self.rng
        if depth and rng.random() < 0.3:
            left = self.operand(shape, dtype, depth - 1)
            right = self.operand(shape, dtype, depth - 1)
            kind = rng.random()
            if kind < 0.75:
                return f"({left} {rng.choice('+-*')} {right})"
            if kind < 0.88:
                return f"np.{rng.choice(('maximum', 'minimum'))}({left}, {right})"
            return f"np.where({left} > {right}, {left}, {right})"
        if rng.random() < 0.15:
            scalars = self.scalars()
            return rng.choice(scalars) if scalars and rng.random() < 0.5 else self.literal(dtype)
        for _ in range(12):
            source = self.some_array() if rng.random() < 0.35 else self.view()
            x = self.array_value(source)
            if (
                x is not None
                and _goes_into(x.shape, shape)
                and (np.can_cast(x.dtype, dtype, "same_kind") or rng.random() < 0.1)
                and fits(x, dtype)
            ):
                return source
        return self.literal(dtype)

    def source_for(self, x: Any, dtype: np.dtype) -> str:
        """What to assign to ``x``: numbers that the cast to ``dtype`` keeps in range."""
        source = self.operand(np.shape(x), dtype)
        y = self.value(source)
        if y is None or not fits(y, dtype):
            return self.literal(dtype)
        return f"{source}.copy()" if _depends_on_order(x, y) else source

    def target(self) -> str:
        """Something to write in place: an array or, more often, a view of one."""
        kind = self.rng.random()
        if kind < 0.3:
            return self.some_array()
        if kind < 0.85:
            name = self.some_array()
            return f"{name}[{self.index(self.space[name].shape)}]"
        source = self.view()
        x = self.array_value(source)
        return "" if x is None else f"{source}[{self.index(x.shape)}]"

    def fitting_target(
        self, shape: tuple[int, ...], dtype: np.dtype, *, same_dtype: bool = False
    ) -> str:
        """A writable place of this shape that takes this dtype; a new array if nothing has room."""
        rng = self.rng
        names = self.arrays()
        rng.shuffle(names)
        for name in names:
            x = self.space[name]
            extra = x.ndim - len(shape)
            if extra < 0 or not x.flags.writeable or not _takes(rng, x.dtype, dtype):
                continue
            if same_dtype and x.dtype != dtype:
                continue
            if any(dim > room for dim, room in zip(shape, x.shape[extra:], strict=True)):
                continue
            if 0 in x.shape[:extra]:
                continue
            if x.shape == shape and rng.random() < 0.5:
                return name
            parts = [str(rng.randrange(room)) for room in x.shape[:extra]]
            for dim, room in zip(shape, x.shape[extra:], strict=True):
                low = rng.randint(0, room - dim)
                turned = rng.random() < 0.25 and dim > 0
                first, last = low + dim - 1, low - 1 if low else ""
                parts.append(f"{first}:{last}:-1" if turned else f"{low}:{low + dim}")
            return f"{name}[{', '.join([*parts, '...'])}]"
        name = self.new()
        self.before = f"{name} = np.zeros({shape}, {dtype.str[1:].replace('b1', '?')!r})\n"
        return name

    def new(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    # -- statements

    def statement(self, kinds: Sequence[Statement], weights: Sequence[float]) -> bool:
        """Write one more statement; False if the program should end here."""
        for _ in range(25):
            self.before = ""
            fresh = self.fresh
            line = self.rng.choices(kinds, weights)[0](self)
            if not line:
                self.fresh = fresh
                continue
            line = self.before + line
            code = _compiled(line, "exec")
            try:
                exec(code, self.space)
            except Exception:
                self.fresh = fresh
                self.replay()
                if self.rng.random() < 0.02:
                    self.body.append(line)
                    return False
                continue
            self.find_variables()
            if not all(self.is_tame(self.space[name]) for name in self.variables):
                self.fresh = fresh
                self.replay()
                continue
            self.body.append(line)
            return True
        return True


Statement = Callable[[Writer], str]


def fits(x: Any, dtype: np.dtype) -> bool:
    """Whether a cast of ``x`` to ``dtype`` is defined: what a float beyond the range of an integer
    becomes is up to the machine, and to the loop that NumPy happens to take."""
    if dtype.kind not in "iu":
        return True
    x = np.asarray(x)
    if x.dtype.kind not in "fc" or not x.size:
        return True
    info = np.iinfo(dtype)
    return bool((x.real > info.min - 1).all() and (x.real < info.max + 1).all())


def _takes(rng: random.Random, target: np.dtype, dtype: np.dtype) -> bool:
    """Whether a target is of this dtype or, now and then, of one that it can be cast to."""
    return target == dtype or (rng.random() < 0.3 and np.can_cast(dtype, target, "same_kind"))


def _depends_on_order(x: Any, y: Any) -> bool:
    """Whether NumPy, assigning one vector to another, may read what it has just overwritten."""
    if not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray)):
        return False
    left, right = x.squeeze(), y.squeeze()
    is_vector = left.ndim <= 1 and right.ndim <= 1
    return is_vector and left.strides != right.strides and np.may_share_memory(x, y)


def _with(shape: tuple[int, ...], place: int, size: int) -> tuple[int, ...]:
    return (*shape[:place], size, *shape[place + 1 :])


def _goes_into(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def _is_of_few(x: Any) -> bool:
    return bool(np.size(x) <= _MOST_ELEMENTS and np.ndim(x) <= 6)


def _floats_of(x: Any) -> np.ndarray:
    """The numbers of ``x``, none if they are no floats."""
    x = np.asarray(x)
    return x if x.dtype.kind in "fc" else np.zeros(0)


# ---------------------------------------------------------------- views

View = Callable[[Writer, str, np.ndarray], str]


def permuted(writer: Writer, source: str, x: np.ndarray) -> str:
    axes = list(range(x.ndim))
    writer.rng.shuffle(axes)
    if writer.rng.random() < 0.3:
        return f"np.transpose({source}, {tuple(axes)})"
    return f"{source}.transpose({', '.join(map(str, axes))})"


def turned(writer: Writer, source: str, x: np.ndarray) -> str:
    one, other = writer.axis(x.ndim), writer.axis(x.ndim)
    return writer.rng.choice(
        (
            f"{source}.swapaxes({one}, {other})",
            f"np.moveaxis({source}, {one}, {other})",
            f"np.rollaxis({source}, {one})",
            f"{source}.T",
            f"{source}.mT",
        )
    )


def reshaped(writer: Writer, source: str, x: np.ndarray) -> str:
    rng = writer.rng
    order = rng.choice(("", "", "", ", order='F'", ", order='A'"))
    shape = rng.choice(("-1", str(writer.other_shape(x.shape)), str(writer.other_shape(x.shape))))
    return f"{source}.reshape({shape}{order})"


def raveled(writer: Writer, source: str, x: np.ndarray) -> str:
    return writer.rng.choice(
        (f"{source}.ravel()", f"np.ravel({source})", f"{source}.ravel('F')", f"{source}.flatten()")
    )


def squeezed(writer: Writer, source: str, x: np.ndarray) -> str:
    ones = [axis for axis, dim in enumerate(x.shape) if dim == 1]
    if ones and writer.rng.random() < 0.5:
        return f"{source}.squeeze({writer.rng.choice(ones)})"
    return f"np.squeeze({source})"


def expanded(writer: Writer, source: str, x: np.ndarray) -> str:
    if x.ndim > 4:
        return ""
    axis = writer.rng.randint(-x.ndim - 1, x.ndim)
    several = f"(0, {x.ndim + 1})"
    return f"np.expand_dims({source}, {axis if writer.rng.random() < 0.8 else several})"


def flipped(writer: Writer, source: str, x: np.ndarray) -> str:
    return writer.rng.choice(
        (
            f"np.flip({source})",
            f"np.flip({source}, {writer.axis(x.ndim)})",
            f"np.flipud({source})",
            f"np.fliplr({source})",
        )
    )


def broadcast(writer: Writer, source: str, x: np.ndarray) -> str:
    if x.ndim > 3:
        return ""
    rng = writer.rng
    shape = tuple(rng.randint(0, 3) if dim == 1 else dim for dim in x.shape)
    return f"np.broadcast_to({source}, {(rng.randint(1, 3), *shape)})"


def diagonal(writer: Writer, source: str, x: np.ndarray) -> str:
    if x.ndim < 2:
        return ""
    rng = writer.rng
    offset = rng.choice(("", "1", "-1"))
    if x.ndim == 2 and rng.random() < 0.3:
        return f"np.diag({', '.join(filter(None, (source, offset)))})"
    if rng.random() < 0.5:
        axes = rng.sample(range(x.ndim), 2)
        return f"np.diagonal({source}, {offset or 0}, {axes[0]}, {axes[1]})"
    return f"{source}.diagonal({offset})"


def as_it_is(writer: Writer, source: str, x: np.ndarray) -> str:
    return writer.rng.choice(
        (
            f"np.asarray({source})",
            f"np.ascontiguousarray({source})",
            f"np.asfortranarray({source})",
            f"np.atleast_1d({source})",
            f"np.atleast_2d({source})",
            f"{source}.astype({x.dtype.str[1:].replace('b1', '?')!r}, copy=False)",
        )
    )


def part(writer: Writer, source: str, x: np.ndarray) -> str:
    """The real or the imaginary part."""
    if x.dtype.kind != "c":
        # The imaginary part of a real array is a new one, of which we return a read-only view.
        return f"{source}.real" if writer.rng.random() < 0.2 else ""
    name = writer.rng.choice(("real", "imag"))
    return f"np.{name}({source})" if writer.rng.random() < 0.3 else f"{source}.{name}"


def parts_of(part_name: str) -> View:
    """Only the part of this name, of complex arrays."""
    return lambda writer, source, x: f"{source}.{part_name}" if x.dtype.kind == "c" else ""


def reinterpreted(writer: Writer, source: str, x: np.ndarray) -> str:
    """The bytes as integers, or those of complex numbers as floats: no nan shows its payload."""
    if x.dtype.kind == "c":
        return f"{source}.view('f{x.itemsize // 2}')" if is_dense(x) else ""
    if x.dtype.kind not in "iu":
        return ""
    sizes = [x.itemsize]
    if is_dense(x):
        sizes += [n for n in (1, 2, 4, 8) if x.shape[-1] * x.itemsize % n == 0]
    return f"{source}.view('{writer.rng.choice('iu')}{writer.rng.choice(sizes)}')"


def is_dense(x: np.ndarray) -> bool:
    return bool(x.ndim and x.strides[-1] == x.itemsize)


def windowed(writer: Writer, source: str, x: np.ndarray) -> str:
    """Windows that slide along an axis: NumPy's, and strides that say the same."""
    if not 0 < x.ndim < 4 or not all(x.shape):
        return ""
    axis = writer.rng.randrange(x.ndim)
    size = writer.rng.randint(1, x.shape[axis])
    if x.ndim == 1 and writer.rng.random() < 0.5:
        strides = f"({source}.strides[0], {source}.strides[0])"
        shape = f"(len({source}) - {size - 1}, {size})"
        return f"np.lib.stride_tricks.as_strided({source}, {shape}, {strides}, writeable=False)"
    return f"np.lib.stride_tricks.sliding_window_view({source}, {size}, {axis})"


_VIEW_CHOICES: tuple[tuple[View, float], ...] = (
    (permuted, 4), (turned, 8), (reshaped, 6), (raveled, 4), (squeezed, 2), (expanded, 3),
    (flipped, 4), (broadcast, 2), (diagonal, 4), (as_it_is, 3), (part, 4),
    (reinterpreted, 2), (windowed, 2),
)  # fmt: skip
VIEWS = tuple(view for view, _ in _VIEW_CHOICES)
VIEW_WEIGHTS = tuple(weight for _, weight in _VIEW_CHOICES)
