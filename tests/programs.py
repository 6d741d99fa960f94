"""Random programs of views and writes, as Python source, and a shrinker.

``random_program(seed)`` writes a function of one to three arrays, statement by statement, running
each as it goes: what NumPy refuses, or what makes numbers grow out of hand, is left out (now and
then what NumPy refuses is kept, as the last statement). A program is only text, so that a failing
one can be pasted into a file and run::

    python -c "from tests.programs import random_program; print(random_program(17))"
"""

from __future__ import annotations

import linecache
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

# ---------------------------------------------------------------- programs


@dataclass(frozen=True)
class Program:
    """A function ``program`` and the inputs it is called with, as source text."""

    seed: int
    inputs: tuple[str, ...]  # statements that make the arguments
    names: tuple[str, ...]  # of the arguments
    body: tuple[str, ...]
    returned: tuple[str, ...]
    container: str = "({})"

    def __str__(self) -> str:
        arguments = ", ".join(self.names)
        if self.container == "{}":
            result = self.returned[0]
        elif self.container == "({})":
            result = "(" + "".join(f"{name}, " for name in self.returned).strip() + ")"
        else:
            result = self.container.format(", ".join(self.returned))
        lines = [
            f"# seed {self.seed}",
            "import numpy as np",
            "",
            "from tests.programs import array, read_only",
            "",
            "",
            "def inputs():",
            *(f"    {line}" for line in self.inputs),
            f"    return ({arguments},)",
            "",
            "",
            f"def program({arguments}):",
            *(f"    {line}" for line in self.body),
            f"    return {result}",
            "",
        ]
        return "\n".join(lines)

    def load(self) -> tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]:
        """The function, and a function that makes its arguments anew."""
        space: dict[str, Any] = {"np": np, "array": array, "read_only": read_only}
        source = str(self).replace("from tests.programs import array, read_only\n", "\n")
        name = f"<program {self.seed}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        exec(compile(source, name, "exec"), space)
        return space["program"], space["inputs"]


def array(dtype: str, shape: tuple[int, ...], shift: int = 0) -> np.ndarray:
    """Small numbers, all different from their neighbours; quarters among the floats."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape))
    values: np.ndarray = (np.arange(size) * 7 + shift * 5) % 23 - 8
    if kind.kind == "f":
        values = values / 4
    elif kind.kind == "u":
        values = np.abs(values)
    elif kind.kind == "b":
        values = values % 3 == 0
    return values.astype(kind).reshape(shape)


def read_only(x: np.ndarray) -> np.ndarray:
    """``x`` itself, which nobody may write any more."""
    x.flags.writeable = False
    return x


# ---------------------------------------------------------------- writing them

_DTYPES = ("f8", "f8", "f8", "f4", "i8", "i4", "u1", "i2", "?")
_DIMS = (0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6)
_LONG = (8, 9, 17, 33, 70)
_LIMIT = 1e5
_UFUNCS = ("add", "subtract", "multiply", "maximum", "minimum")
_IN_PLACE = ("+=", "-=", "*=")


def random_program(seed: int, *, overlap: bool = True) -> Program:
    """The program of this seed; ``overlap``: whether its arguments may share memory."""
    return _Writer(random.Random(seed), seed, overlap).program()


class _Writer:
    """Writes one program; ``space`` holds the arrays as they are after the last statement."""

    def __init__(self, rng: random.Random, seed: int, overlap: bool) -> None:
        self.rng = rng
        self.seed = seed
        self.overlap = overlap
        self.inputs: list[str] = []
        self.names: list[str] = []
        self.body: list[str] = []
        self.space: dict[str, Any] = {}
        self.fresh = 0

    def program(self) -> Program:
        rng = self.rng
        self.make_inputs()
        for _ in range(rng.randint(1, 15)):
            if not self.statement():
                break
        arrays = self.arrays()
        count = rng.choice((1, 1, 2, 2, 3, 4))
        recent = [name for name in arrays if name not in self.names]
        pool = arrays + recent + list(self.scalars())
        returned = tuple(rng.choice(pool) for _ in range(count))
        container = (
            rng.choice(("({})", "({})", "[{}]")) if count > 1 else rng.choice(("{}", "[{}]"))
        )
        if rng.random() < 0.15 and isinstance(self.space[returned[0]], np.ndarray):
            returned = (f"{returned[0]}{self.some_view(returned[0])}", *returned[1:])
        return Program(
            self.seed, tuple(self.inputs), tuple(self.names), tuple(self.body), returned, container
        )

    # -- state

    def arrays(self) -> list[str]:
        return [n for n, x in self.space.items() if isinstance(x, np.ndarray)]

    def scalars(self) -> Iterator[str]:
        return (n for n, x in self.space.items() if not isinstance(x, np.ndarray))

    def replay(self) -> None:
        self.space = {}
        made: dict[str, Any] = {}
        for line in self.inputs:
            self.execute(line, made)
        self.space = {name: made[name] for name in self.names}
        for line in self.body:
            self.execute(line, self.space)

    def execute(self, line: str, space: dict[str, Any]) -> None:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            scope = {"np": np, "array": array, "read_only": read_only}
            exec(line, scope, space)

    def value(self, source: str) -> Any:
        """What an expression gives now, or None if NumPy refuses it."""
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                return eval(source, {"np": np, "array": array}, self.space)
        except Exception:
            return None

    # -- inputs

    def make_inputs(self) -> None:
        rng = self.rng
        for name in "abc"[: rng.choice((1, 1, 2, 2, 3))]:
            self.inputs.append(f"{name} = {self.input()}")
            self.names.append(name)
            self.replay()
        if rng.random() < 0.06:
            name = rng.choice(self.names)
            self.inputs.append(f"read_only({name})")
            self.replay()

    def input(self) -> str:
        rng = self.rng
        if (
            self.overlap and self.names and rng.random() < 0.25
        ):  # overlapping arguments, now and then one twice
            name = rng.choice(self.names)
            return name if rng.random() < 0.2 else name + self.some_view(name)
        rank = rng.choice((0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4))
        shape = tuple(rng.choice(_DIMS[1:] if rng.random() < 0.8 else _DIMS) for _ in range(rank))
        if rank and rng.random() < 0.12:
            place = rng.randrange(rank)
            shape = (*shape[:place], rng.choice(_LONG), *shape[place + 1 :])
        if self.names and rng.random() < 0.5:
            shape = self.space[rng.choice(self.names)].shape
        dtype = rng.choice(_DTYPES)
        if self.names and rng.random() < 0.5:
            dtype = self.space[self.names[0]].dtype.str[1:].replace("b1", "?")
        made = f"array({dtype!r}, {shape}, {rng.randint(0, 9)})"
        layout = rng.random()
        if layout < 0.6:
            return made
        if layout < 0.7:
            return f"np.asfortranarray({made})" if rank else made
        if layout < 0.8:
            return f"{made}.T"
        if not shape:
            return made
        wide = tuple(2 * dim for dim in shape)
        made = f"array({dtype!r}, {wide}, {rng.randint(0, 9)})"
        return f"{made}[{', '.join(rng.choice(('::2', '1::2', '::-2')) for _ in shape)}]"

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
        for size in shape[:count]:
            kind = rng.random()
            if kind < 0.2 and size:
                parts.append(str(rng.randint(-size, size - 1)))
            elif kind < 0.4:
                parts.append(":")
            else:
                parts.append(self.slice(size))
            if rng.random() < 0.05:
                parts.append("None")
        if count < len(shape) and rng.random() < 0.5:
            parts.insert(rng.choice((0, len(parts))), "...")
        elif (
            arrays_only and len(parts) >= len(shape) and all(p.lstrip("-").isdigit() for p in parts)
        ):
            parts.append("...")
        if not parts:
            parts = ["..."] if rng.random() < 0.5 or not shape else [":"]
        return ", ".join(parts)

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
        text = f"{'' if low is None else low}:{'' if high is None else high}"
        return text if step == 1 else f"{text}:{step}"

    def some_view(self, name: str) -> str:
        """What to append to a name for a view of it."""
        rng = self.rng
        x = self.space[name]
        kind = rng.random()
        if kind < 0.62 or not x.ndim:
            return f"[{self.index(x.shape)}]"
        if kind < 0.74:
            return ".T"
        if kind < 0.80:
            axes = list(range(x.ndim))
            rng.shuffle(axes)
            return f".transpose({', '.join(map(str, axes))})"
        if kind < 0.88:
            return rng.choice((".reshape(-1)", ".ravel()", ".flatten()"))
        if kind < 0.94:
            return f".reshape({self.other_shape(x.shape)})"
        if kind < 0.97:
            return ".squeeze()"
        return ".swapaxes(0, -1)"

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
        return tuple(dims[:5]) if len(dims) <= 5 else shape

    def view(self) -> str:
        """An expression for a view of an array."""
        rng = self.rng
        name = self.some_array()
        x = self.space[name]
        kind = rng.random()
        if kind < 0.8 or not x.ndim:
            return name + self.some_view(name)
        if kind < 0.85:
            return f"np.expand_dims({name}, {rng.randint(0, x.ndim)})"
        if kind < 0.9:
            return f"np.flip({name}{rng.choice(('', ', 0', ', -1'))})"
        if kind < 0.94:
            return f"np.broadcast_to({name}, {(rng.randint(1, 3), *x.shape)})"
        if x.ndim > 1 and kind < 0.98:
            return f"np.diagonal({name}{rng.choice(('', ', 1', ', -1'))})"
        return f"np.moveaxis({name}, 0, -1)"

    def literal(self, target: np.dtype) -> str:
        rng = self.rng
        if target.kind == "f" and rng.random() < 0.6:
            return rng.choice(("0.5", "1.5", "-0.25", "2.0"))
        if target.kind == "b":
            return rng.choice(("True", "False"))
        return rng.choice(("1", "2", "3", "7") if target.kind == "u" else ("1", "2", "-3", "7"))

    def operand(self, shape: tuple[int, ...], dtype: np.dtype, depth: int = 2) -> str:
        """An expression that broadcasts to ``shape``."""
        rng = self.rng
        if depth and rng.random() < 0.3:
            left = self.operand(shape, dtype, depth - 1)
            right = self.operand(shape, dtype, depth - 1)
            if rng.random() < 0.75:
                return f"({left} {rng.choice('+-*')} {right})"
            if rng.random() < 0.5:
                return f"np.{rng.choice(('maximum', 'minimum'))}({left}, {right})"
            return f"np.where({left} > {right}, {left}, {right})"
        if rng.random() < 0.15:
            scalars = list(self.scalars())
            return rng.choice(scalars) if scalars and rng.random() < 0.5 else self.literal(dtype)
        for _ in range(12):
            source = self.some_array() if rng.random() < 0.35 else self.view()
            x = self.value(source)
            if (
                isinstance(x, np.ndarray)
                and _goes_into(x.shape, shape)
                and (np.can_cast(x.dtype, dtype, "same_kind") or rng.random() < 0.1)
            ):
                return source
        return self.literal(dtype)

    def target(self) -> str:
        """Something to write in place: an array or, more often, a view of one."""
        name = self.some_array()
        if self.rng.random() < 0.4:
            return name
        return name + f"[{self.index(self.space[name].shape)}]"

    def new(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    # -- statements

    def statement(self) -> bool:
        """Write one more statement; False if the program should end here."""
        for _ in range(25):
            line = self.rng.choices(self.KINDS, self.WEIGHTS)[0](self)
            if not line:
                continue
            before = len(self.space)
            try:
                self.execute(line, self.space)
            except Exception:
                self.replay()
                if self.rng.random() < 0.02:
                    self.body.append(line)
                    return False
                continue
            if not all(map(_tame, self.space.values())) or len(self.space) > 14 + before:
                self.replay()
                continue
            self.body.append(line)
            return True
        return True

    def make_view(self) -> str:
        return f"{self.new()} = {self.view()}"

    def in_place(self) -> str:
        target = self.target()
        x = self.value(target)
        if not isinstance(x, np.ndarray):
            return ""
        rng = self.rng
        if x.dtype.kind == "b":
            return f"{target} {rng.choice('&|^')}= {self.operand(x.shape, x.dtype)}"
        if rng.random() < 0.1 and x.dtype.kind in "iu":
            return f"{target} {rng.choice(('//=', '%='))} {rng.choice('2357')}"
        return f"{target} {rng.choice(_IN_PLACE)} {self.operand(x.shape, x.dtype)}"

    def set_item(self) -> str:
        name = self.some_array()
        index = self.index(self.space[name].shape, arrays_only=False)
        x = self.value(f"{name}[{index}]")
        if x is None:
            return ""
        return f"{name}[{index}] = {self.operand(np.shape(x), self.space[name].dtype)}"

    def set_masked(self) -> str:
        name = self.some_array()
        x = self.space[name]
        return f"{name}[{name} > {self.literal(x.dtype)}] = {self.literal(x.dtype)}"

    def swap_rows(self) -> str:
        name = self.some_array()
        x = self.space[name]
        if not x.ndim or len(x) < 2:
            return ""
        return f"{name}[0], {name}[{len(x) - 1}] = {name}[{len(x) - 1}], {name}[0]"

    def with_out(self) -> str:
        target = self.target()
        x = self.value(target)
        if not isinstance(x, np.ndarray):
            return ""
        left, right = (self.operand(x.shape, x.dtype) for _ in range(2))
        if self.rng.random() < 0.3:
            # NumPy 2.4's own np.negative(x, out=x) gives wrong numbers for some strides of x.
            names = ("negative", "absolute", "square") if x.flags.c_contiguous else ("square",)
            return f"np.{self.rng.choice(names)}({left}, out={target})"
        name = self.rng.choice(_UFUNCS)
        return f"np.{name}({left}, {right}, out={target})"

    def reduce_out(self) -> str:
        target = self.target()
        x = self.value(target)
        if not isinstance(x, np.ndarray):
            return ""
        for _ in range(10):
            source = self.view()
            y = self.value(source)
            if isinstance(y, np.ndarray):
                for axis in range(y.ndim):
                    if y.shape[:axis] + y.shape[axis + 1 :] == x.shape and y.dtype == x.dtype:
                        return f"np.{self.rng.choice(('max', 'sum'))}({source}, axis={axis}, out={target})"
        return ""

    def computed(self) -> str:
        name = self.some_array()
        x = self.space[name]
        return f"{self.new()} = {name} {self.rng.choice('+-*')} {self.operand(x.shape, x.dtype)}"

    def expression(self) -> str:
        x = self.space[self.some_array()]
        return f"{self.new()} = {self.operand(x.shape, x.dtype, 3)}"

    def compare(self) -> str:
        name = self.some_array()
        x = self.space[name]
        sign = self.rng.choice(("<", "<=", "==", "!=", ">"))
        return f"{self.new()} = {name} {sign} {self.operand(x.shape, x.dtype)}"

    def copies(self) -> str:
        source = self.view() if self.rng.random() < 0.6 else self.some_array()
        kind = self.rng.random()
        if kind < 0.4:
            return f"{self.new()} = {source}.copy({self.rng.choice(('', repr('K'), repr('F')))})"
        if kind < 0.8:
            return f"{self.new()} = {source}.astype({self.rng.choice(_DTYPES)!r})"
        if kind < 0.9:
            return f"{self.new()} = np.{self.rng.choice(('ones_like', 'zeros_like'))}({source})"
        return f"{self.new()} = np.ascontiguousarray({source})"

    def fill(self) -> str:
        target = self.target()
        x = self.value(target)
        if not isinstance(x, np.ndarray):
            return ""
        if self.rng.random() < 0.4:
            return f"{target}.fill({self.literal(x.dtype)})"
        source = self.operand(x.shape, x.dtype)
        y = self.value(source)
        if isinstance(y, np.ndarray) and y.ctypes.data == x.ctypes.data:
            return ""  # a copy onto itself: allowed even if it is read-only
        return f"np.copyto({target}, {source})"

    def reduction(self) -> str:
        rng = self.rng
        source = self.view() if rng.random() < 0.5 else self.some_array()
        x = self.value(source)
        if not isinstance(x, np.ndarray) or (x.ndim > 1 and not x.size):
            return ""  # the layout of a sum over nothing is NumPy's secret
        name = rng.choice(("sum", "sum", "max", "min", "prod", "any", "all", "argmax", "mean"))
        axis = rng.choice((None, *range(x.ndim)))
        if x.ndim > 1 and name != "argmax" and rng.random() < 0.2:
            axis = tuple(sorted(rng.sample(range(x.ndim), 2)))  # type: ignore[assignment]
        keep = ", keepdims=True" if rng.random() < 0.3 else ""
        return f"{self.new()} = {source}.{name}(axis={axis}{keep})"

    def scan(self) -> str:
        name = self.some_array()
        axis = self.rng.choice((None, *range(self.space[name].ndim)))
        return f"{self.new()} = {name}.cumsum(axis={axis})"

    def choose(self) -> str:
        name = self.some_array()
        x = self.space[name]
        other = self.operand(x.shape, x.dtype)
        return f"{self.new()} = np.where({name} > {self.literal(x.dtype)}, {name}, {other})"

    def joined(self) -> str:
        name = self.some_array()
        x = self.space[name]
        if not x.ndim:
            return ""
        other = self.view()
        axis = self.rng.randrange(x.ndim)
        if self.rng.random() < 0.6:
            other = f"{name}[{'::-1' if self.rng.random() < 0.5 else ':'}]"
        kind = self.rng.choice(("concatenate", "concatenate", "stack"))
        return f"{self.new()} = np.{kind}([{name}, {other}], axis={axis})"

    def element(self) -> str:
        name = self.some_array()
        x = self.space[name]
        if not x.size:
            return ""
        index = ", ".join(str(self.rng.randrange(dim)) for dim in x.shape) or "()"
        return f"{self.new()} = {name}[{index}]"

    def rebind(self) -> str:
        return f"{self.some_array()} = {self.some_array()}"

    CHOICES = (
        (make_view, 20), (in_place, 20), (set_item, 16), (swap_rows, 3), (with_out, 8),
        (reduce_out, 2), (computed, 5), (expression, 5), (compare, 2), (copies, 5), (fill, 4),
        (reduction, 5), (scan, 1), (choose, 2), (joined, 3), (element, 3), (rebind, 1),
        (set_masked, 2),
    )  # fmt: skip
    KINDS = tuple(kind for kind, _ in CHOICES)
    WEIGHTS = tuple(weight for _, weight in CHOICES)


def _goes_into(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def _tame(x: Any) -> bool:
    """Whether the numbers are finite and small (so that casts to integers are defined) and few."""
    if np.size(x) > 3000 or np.ndim(x) > 6:
        return False
    x = np.asarray(x)
    return x.dtype.kind != "f" or bool((np.abs(x) < _LIMIT).all())


# ---------------------------------------------------------------- shrinking


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """A smaller program that still fails: statements and results dropped while it does."""
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(program):
            if fails(candidate):
                program, smaller = candidate, True
                break
    return program


def _smaller(program: Program) -> Iterator[Program]:
    body, returned = program.body, program.returned
    for size in (4, 2, 1):
        for place in range(len(body) - size, -1, -1):
            yield replace(program, body=body[:place] + body[place + size :])
    for place in range(len(returned) if len(returned) > 1 else 0):
        yield replace(program, returned=returned[:place] + returned[place + 1 :])
    if program.container == "[{}]" or (program.container == "({})" and len(returned) == 1):
        yield replace(program, container="{}" if len(returned) == 1 else "({})")
    for place, name in enumerate(program.names):
        used = any(name in line for line in (*body, *returned))
        later = any(name in line for line in program.inputs[place + 1 :])
        if not used and not later and len(program.names) > 1:
            yield replace(
                program,
                names=program.names[:place] + program.names[place + 1 :],
                inputs=tuple(line for line in program.inputs if not line.startswith(f"{name} =")),
            )
