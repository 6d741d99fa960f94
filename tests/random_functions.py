"""Random short programs of NumPy's functions with their options, called with arrays of all kinds.

Dtypes, sizes, layouts and what shares memory differ from call to call; a program may raise midway. ::

    python -c "from tests.random_functions import random_functions; print(random_functions(17))"
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.written_programs import SCOPE, array, defined

DTYPES = (*("f8",) * 8, *("f4", "i8", "i8", "i4", "i2", "i1", "u1", "u8", "c16", "c8", "b1", "f2"))
SHAPES = (
    (4,),
    (5,),
    (3, 4),
    (4, 4),
    (2, 3, 4),
    (),
    (0,),
    (1,),
    (0, 3),
    (1, 4),
    (3, 1),
    (7,),
    (33,),
)
PLACES = ([0, 1, 1], [2, 0, 1], [0], [], [1, -1, 0], [0, 1, 2, 3, 0], [9])

# Where a template has {x} stands an array; {d}, {s}, {i}, {A} and {v} are a dtype, a number, a small
# int, an axis and places; {n} is a variable that is written. {a}, {r} and {u} are options. Functions
# whose last places may differ are left out.
REDUCTIONS = (
    *("sum", "prod", "max", "min", "mean", "any", "all", "std", "var", "argmax", "argmin"),
    *("ptp", "median", "nansum", "nanmax", "count_nonzero"),
)
BINARY = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "maximum", "minimum", "fmax", "fmin", "copysign"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "equal", "less", "greater_equal", "logical_and", "logical_xor", "gcd", "heaviside"),
)  # fmt: skip
UNARY = (
    *("negative", "abs", "sign", "sqrt", "square", "floor", "ceil", "rint", "trunc", "isnan", "isfinite", "invert", "conj", "real", "imag", ),
    *("reciprocal", "logical_not", "signbit", "fabs", "positive"),
)  # fmt: skip
ARRAYS = (
    *("x", "y", "z", "x", "y", "w", "x[::-1]", "y[1:]", "x.T", "x[..., ::2]", "z[::-2]", "x[:0]", "x[0]", "y[-1]", "x.ravel()", "(x > y)", "x[x > {s}]"),
    *("x[{i}:]", "y.real", "x[None]", "y[..., None]", "x.astype({d})", "x.copy()"),
)  # fmt: skip
RESULTS = (
    *(f"np.{name}({{x}}{{r}})" for name in REDUCTIONS), *(f"{{x}}.{name}(axis={{A}})" for name in REDUCTIONS[:11]), *(f"np.{name}({{x}}, {{x}}{{u}})" for name in BINARY),
    *(f"np.{name}({{x}}{{u}})" for name in UNARY), *(f"np.{name}.reduce({{x}}{{r}})" for name in ("add", "multiply", "maximum", "logical_or", "bitwise_xor", "subtract")), *(f"np.{name}.accumulate({{x}}{{a}})" for name in ("add", "multiply", "maximum", "subtract")),
    "np.where({x} > {s}, {x}, {x})", "np.where({x}, {s}, {x})", "np.clip({x}, {s}, {s})", "np.cumsum({x}{a})", "np.cumprod({x}{a})", "np.diff({x}{a})", "np.diff({x}, n={i})", "np.roll({x}, {i}{a})", "np.flip({x}{a})", "np.sort({x}{a})", "np.argsort({x}{a}, kind='stable')", "np.concatenate([{x}, {x}]{a})", "np.stack([{x}, {x}]{a})",
    "np.append({x}, {s})", "np.insert({x}, {i}, {s}{a})", "np.delete({x}, {i}{a})", "np.repeat({x}, {i}{a})", "np.tile({x}, (2, {i}))", "np.take({x}, {v}{a})", "np.take({x}, {v}, mode='wrap')", "np.searchsorted({x}, {x})", "np.interp({s}, {x}, {x})", "np.dot({x}, {x})", "{x} @ {x}", "np.outer({x}, {x})", "np.trace({x})", "np.diag({x}, {i})", "np.triu({x}, {i})",
    "np.arange({s}, {s})", "np.full_like({x}, {s})", "np.ones_like({x}, dtype={d})", "np.pad({x}, {i})", "np.pad({x}, 1, mode='edge')", "{x}.reshape(2, -1)", "{x}.reshape(-1, {i})", "np.squeeze({x})", "np.swapaxes({x}, 0, -1)", "np.broadcast_to({x}, y.shape)", "np.round({x}, {i})", "np.nan_to_num({x})", "np.unique({x})", "np.nonzero({x})[0]", "np.argwhere({x})",
    "np.bincount({v}, {x})", "np.digitize({x}, {x})", "np.isin({x}, {x})", "np.isclose({x}, {x})", "np.convolve({x}, {x})", "np.gradient({x})", "np.kron({x}, {x})", "np.average({x}, weights={x})", "np.choose({v} % 2, [{x}, {x}])", "np.select([{x} > {s}, {x} < {s}], [{x}, {x}], {s})", "np.take_along_axis({x}, {v}, 0)", "np.partition({x}, {i})", "np.rot90({x})",
    "np.einsum('i,i->', {x}, {x})", "np.add.reduceat({x}, {v})", "np.divmod({x}, {x})", "np.modf({x})", "{x} + {x}", "{x} - {s}", "{x} / {x}", "{x} // {s}", "{x} % {x}", "~{x}", "{x} << {i}", "{x} == {x}", "{x} & {x}", "{x}[{v}]", "{x}[..., {i}]", "{x}[{i}]", "{x}[{x} > {s}]", "{x}[{v}, {v}]", "{x}.item({i})", "float({x})", "{x}.view({d})",
    "{x}.mean(dtype={d})", "{x}.sum(dtype={d})", "np.max({x}, where={x} > {s}, initial={s})", "np.sum({x}, where={x} > {s})", "{x}.size, {x}.shape, {x}.dtype",
)  # fmt: skip
STATEMENTS = (
    *("z = {e}",) * 12, *("w = {e}", "{n} += {e}", "{n} -= {x}", "{n} *= {s}", "{n} /= {x}", "{n} //= {s}", "{n} %= {s}", "{n} |= {x}", "{n} <<= {i}", "{n}[...] = {e}", "{n}[1:] = {x}[:-1]", "{n}[:-1] += {n}[1:]", "{n}[::-1] = {n}", "{n}[::2] = {s}", "{n}[{v}] = {s}", "{n}[{v}] += {s}", "{n}[{v}] = {x}"),
    *("{n}[{x} > {s}] = {s}", "{n}[{n} > {s}] *= {s}", "{n}[{i}] = {e}", "{n}[..., {i}] = {s}", "{n}.fill({s})", "{n}.sort()", "np.add.at({n}, {v}, {s})", "np.subtract.at({n}, {v}, {x})", "np.putmask({n}, {n} > {s}, {x})", "np.copyto({n}, {s}, where={n} > {s})", "np.fill_diagonal({n}, {s})", "np.minimum({n}, {x}, out={n})"),
    *("np.multiply({n}, {s}, out={n}, where={n} > {s})", "np.add({n}[1:], {n}[:-1], out={n}[1:])", "w = {n}; w += {s}", "{n}.real = {s}", "{n}.flat[{i}] = {s}", "{n}[{i}:][{v}] = {s}", "w = {n}[::-1]; {n}[...] = w"),
)  # fmt: skip
CHOICES = {
    "e": RESULTS, "n": ("x", "y", "x", "z", "w"), "A": ("0", "1", "-1", "0", "-2", "2", "None"), "a": ("", "", ", axis={A}"), "i": ("0", "1", "2", "3", "-1", "k", "k % 3"), "d": ("'f4'", "'i8'", "float", "int", "'u1'", "complex", "bool", "np.int32", "'f2'"),
    "r": ("", "", "", ", axis={A}", ", axis={A}, keepdims=True", ", keepdims=True", ", axis=(0, 1)", ", axis=(0, -1)", ", axis=()"), "u": ("", "", "", "", "", ", where={x} > {s}, out={n}", ", out={n}", ", dtype={d}", ", casting='unsafe', dtype={d}", ", out=w, casting='unsafe'"),
    "s": ("0", "1", "2.5", "-1", "c", "c", "0.0", "x.flat[0]", "np.float32(0.5)", "np.int8(3)", "True", "1j", "300", "k", "y.max()"), "v": ("v", "v", "v[::-1]", "[0, 0, 1]", "[0, -1]", "v[:2]", "v % 2", "(v > 1)"),
}  # fmt: skip


@dataclass(frozen=True)
class FunctionProgram:
    """Lines of ``program(x, y, v, c, k)``, and the seeds of the arguments of each call."""

    seed: int
    body: tuple[str, ...]
    calls: tuple[int, ...]

    def __str__(self) -> str:
        return f"# seed {self.seed}, calls {self.calls}\n{self.source}"

    @property
    def source(self) -> str:
        return "\n".join(["def program(x, y, v, c, k):", *(f"    {x}" for x in self.body), ""])

    def load(self) -> Callable[..., Any]:
        space = defined(f"functions {self.seed}", self.source, {**SCOPE})
        return space["program"]  # type: ignore[no-any-return]


def random_functions(seed: int) -> FunctionProgram:
    """The program of this seed; most statements are such as the arguments of the first call allow."""
    rng = random.Random(seed)
    calls = [rng.randrange(1 << 30)]
    for _ in range(rng.choice((1, 2, 3))):
        calls.append(calls[-1] if rng.random() < 0.35 else rng.randrange(1 << 30))
    program = FunctionProgram(seed, ("z = x * 1", "w = np.zeros(x.shape)"), tuple(calls))
    for _ in range(rng.choice((1, 2, 3, 4))):
        for _ in range(12):
            longer = replace(program, body=(*program.body, _filled(rng, rng.choice(STATEMENTS), 2)))
            if rng.random() < 0.06 or _runs(longer):
                break
        program = longer
    ends = ("z", "z, w", "x, z", "z, y", "z", "z, w, x")
    return replace(program, body=(*program.body, f"return {rng.choice(ends)}"))


def _filled(rng: random.Random, template: str, depth: int) -> str:
    def fill(found: re.Match[str]) -> str:
        choices = CHOICES.get(found[1], ARRAYS)
        if found[1] == "x" and depth > 0 and rng.random() < 0.2:
            return f"({_filled(rng, rng.choice(RESULTS), depth - 1)})"
        return _filled(rng, rng.choice(choices), depth - 1)

    return re.sub(r"\{(\w)\}", fill, template)


def _runs(program: FunctionProgram) -> bool:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            program.load()(*arguments(program.calls[0]))
    except Exception:
        return False
    return True


def arguments(seed: int) -> tuple[Any, ...]:
    """The arguments of a call: two arrays, which may share memory, places and two numbers."""
    rng = random.Random(seed)
    shape, dtype = rng.choice(SHAPES), rng.choice(DTYPES)
    x = array(dtype, shape, rng.randrange(6))
    y = array(
        dtype if rng.random() < 0.4 else rng.choice(DTYPES),
        shape if rng.random() < 0.85 else rng.choice(SHAPES),
        rng.randrange(6),
    )
    kind = rng.random()
    if kind < 0.06:
        y = x
    elif kind < 0.12 and x.ndim:
        y = x[::-1]
    elif kind < 0.16:
        x = np.asfortranarray(x)
    elif kind < 0.2 and x.ndim:
        x = x[::-1]
    places = np.array(rng.choice(PLACES), int)
    return x, y, places, rng.choice((0.5, 1.0, 2, 0, -1.5, 3)), rng.choice((0, 1, 2, 3))


def smaller(program: FunctionProgram) -> Iterator[FunctionProgram]:
    """Programs with fewer statements or calls."""
    for name in ("body", "calls"):
        parts = getattr(program, name)
        for place in range(len(parts)):
            yield replace(program, **{name: parts[:place] + parts[place + 1 :]})
