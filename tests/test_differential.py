"""Every operator of the table, compiled to native code, against plain NumPy.

Everything that a caller sees is compared (see ``tests/outcomes.py``), bit for bit but for the
functions in ``ULPS``. Nothing may run as plain NumPy, and what NumPy computes inside of compiled
code is held against one list, ``LEFT_TO_NUMPY``.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.graph import SliceSpec
from fxc.lowering.loops import Boxed, BufferArg, Program, walk
from fxc.ops.samples import samples
from fxc.ops.table import TABLE, Operator
from tests.outcomes import difference, exact, run
from tests.test_vector_math import BOUNDS

# ---------------------------------------------------------------- what may differ

# Where both sides compute a rounded value of a transcendental function, they differ by at most
# what fxc errs (BOUNDS, over the whole range) and what NumPy errs. NumPy promises less than 1 ulp
# for most functions and 4 for the rest (its SIMD and libm versions).
NUMPY_ERRS = {"f4": 4.0, "f8": 4.0}
_ALIASES = {"power": "pow", "float_power": "pow"}
ULPS = {
    name: BOUNDS[_ALIASES.get(name, name)] + 4.0
    for name in (*BOUNDS, "power", "float_power")
    if name != "pow"
}

# What NumPy computes inside of compiled code: operators, and the dtypes of their operands ("" for
# all). Complex numbers and float16 are always NumPy's, see ``is_foreign``.
LEFT_TO_NUMPY: dict[str, str] = {
    "sort": "", "argsort": "", "modf": "", "linalg_inv": "", "linalg_solve": "",
    "nextafter": "", "spacing": "", "gcd": "", "lcm": "", "logaddexp": "", "logaddexp2": "",
    "power": "?bhilqBHILQ",  # raises for negative exponents
    "floor_divide": "?", "remainder": "?", "fmod": "?", "left_shift": "?", "right_shift": "?",
    "reciprocal": "?bhilqBHILQ",
    "matmul": "?bhilqBHILQ", "dot": "?bhilqBHILQ",  # no BLAS for integers
    "py_divide": "",  # raises
}  # fmt: skip
FOREIGN = "efgFDGOSUMmV".replace("f", "")  # float16, complex


# ---------------------------------------------------------------- comparing


def left_to_numpy(program: Program) -> set[tuple[str, str]]:
    """The boxed operators of a program, with the characters of their operands' dtypes."""
    found = set()
    for stmt in walk(program.body):
        if isinstance(stmt, Boxed):
            names = [arg.buffer for arg in _flat(stmt.args) if isinstance(arg, BufferArg)]
            names += stmt.outs
            chars = {program.buffers[name].dtype.char for name in names if name in program.buffers}
            found.add((stmt.op, "".join(sorted(chars))))
    return found


def _flat(args: Sequence[Any]) -> Iterator[Any]:
    for arg in args:
        if isinstance(arg, tuple):
            yield from _flat(arg)
        else:
            yield arg


def may_be_left(op: str, chars: str) -> bool:
    """Whether the list allows the operator on these dtypes."""
    if set(chars) & set(FOREIGN):
        return True
    allowed = LEFT_TO_NUMPY.get(op)
    return allowed is not None and (not allowed or not set(chars) - set(allowed) - {"?"})


def check(
    fn: Callable[..., Any],
    make: Callable[[], Sequence[Any]],
    *,
    ulps: Callable[[str], float] = exact,
    backend: str = "llvm",
    native: bool = True,
) -> None:
    """Compare ``fn`` with itself compiled, twice, on arguments made anew for each call."""
    compiled = fxc.compile(fn, fullgraph=True, backend=backend)
    for _ in range(2):
        text = difference(run(fn, make()), run(compiled, make()), ulps)
        assert not text, text
    info = compiled.cache_info()
    assert info.eager_calls == 0, info
    if backend == "llvm" and info.fallbacks:
        loops = compiled.inspect(*make()).loops
        wrong = {each for each in left_to_numpy(loops) if not may_be_left(*each)}
        assert not (native and wrong), f"left to NumPy: {wrong}"


def raises_alike(fn: Callable[..., Any], make: Callable[[], Sequence[Any]]) -> None:
    """NumPy's own exception, and every argument left as NumPy leaves it."""
    expected = run(fn, make())
    assert expected.error is not None
    compiled = fxc.compile(fn, fullgraph=True)
    for _ in range(2):
        text = difference(expected, run(compiled, make()))
        assert not text, text


# ---------------------------------------------------------------- operators as a user calls them

Call = Callable[..., Any]


def _slices(index: Sequence[SliceSpec]) -> tuple[slice, ...]:
    return tuple(slice(s.start, None if s.stop < 0 else s.stop, s.step) for s in index)


def _order(layout: tuple[int, ...] | None) -> str:
    if layout is None:
        return "C"
    if layout != tuple(reversed(range(len(layout)))):
        raise Unreachable
    return "F"


class Unreachable(Exception):
    """No user's call is captured as this sample."""


def _astype(x: Any, dtype: np.dtype, casting: str, order: str) -> Any:
    if not isinstance(x, np.ndarray):
        raise Unreachable
    return x.astype(dtype, casting=casting, order=order)


def _copy(x: Any, order: str) -> Any:
    if not isinstance(x, np.ndarray):
        raise Unreachable
    return x.copy(order)


def _arange(start: Any, step: Any, length: int, dtype: np.dtype) -> Any:
    return np.arange(start, start + step * length, step, dtype=dtype)


def _reduced(function: Call) -> Call:
    """One-element tuples of axes as well as None; other arguments by name."""
    return lambda x, axis, keepdims, *dtype: function(
        x, axis=axis, keepdims=keepdims, **dict(zip(("dtype", "ddof"), dtype, strict=False))
    )


VIEWS: dict[str, Call] = {
    "slice": lambda x, index: x[_slices(index)],
    "select": lambda x, axis, index: x[(slice(None),) * axis + (index, ...)],
    "transpose": lambda x, axes: x.transpose(axes),
    "reshape": lambda x, shape: x.reshape(shape),
    "expand_dims": lambda x, axes: np.expand_dims(x, axes),
    "squeeze": lambda x, axes: x.squeeze(axes),
    "broadcast_to": lambda x, shape: np.broadcast_to(x, shape),
    "diagonal": lambda x, offset, axis1, axis2: np.diagonal(x, offset, axis1, axis2),
}
OWN_CALLS: dict[str, Call] = {
    **VIEWS,
    "astype": _astype,
    "copy": _copy,
    "copy_": lambda x, y, casting: np.copyto(x, y, casting=casting),
    "zeros": lambda shape, dtype, layout: np.zeros(shape, dtype, _order(layout)),
    "ones": lambda shape, dtype, layout: np.ones(shape, dtype, _order(layout)),
    "full": lambda shape, value, dtype, layout: np.full(shape, value, dtype, _order(layout)),
    "arange": _arange,
    "linspace": lambda a, b, n, e, d: np.linspace(a, b, n, endpoint=e, dtype=d),
    "eye": lambda n, m, k, d: np.eye(n, m, k, d),
    "concatenate": lambda xs, axis: np.concatenate(xs, axis=axis),
    "stack": lambda xs, axis: np.stack(xs, axis=axis),
    "cond": lambda pred, xs, f, g: fxc.cond(pred, lambda *s: f(s), lambda *s: g(s), *xs),
    "fori_loop": lambda lo, hi, xs, f: fxc.fori_loop(lo, hi, lambda i, s: f((i, *s)), xs),
    **{
        name: lambda x, *rest, name=name: (
            getattr(np, name)(x, **dict(zip(("axis", "dtype"), rest, strict=False)))
        )
        for name in ("cumsum", "cumprod", "sort", "argsort")
    },
}
# Not called by users: fxc's own.
INTERNAL = {"item", "constant", "int_value", "empty"}


def call_of(op: Operator) -> Call | None:
    """How a user reaches a row of the table, on the arguments of a sample."""
    if op.name in INTERNAL:
        return None
    if op.name in OWN_CALLS:
        return OWN_CALLS[op.name]
    if TABLE[op.name].schema.params[-1].name in ("keepdims", "dtype", "ddof"):
        assert op.numpy is not None
        return _reduced(op.numpy)
    return op.numpy


def sampled(op: Operator, most: int) -> list[tuple[Any, ...]]:
    """Sample arguments, all or evenly chosen ones."""
    every = [sample.args for sample in samples(op)]
    step = max(1, -(-len(every) // most))
    return every[::step]


def _is_input(arg: Any) -> bool:
    return isinstance(arg, np.ndarray)


def together(
    call: Call, chosen: Sequence[tuple[Any, ...]]
) -> tuple[Callable[..., Any], Callable[[], list[Any]]]:
    """One function that does all the calls, on arrays that are its arguments."""

    def arrays_of(args: tuple[Any, ...]) -> list[Any]:
        leaves = [a for arg in args for a in (arg if _is_operands(arg) else (arg,))]
        return [a for a in leaves if _is_input(a)]

    def every(*arrays: Any) -> list[Any]:
        given = iter(arrays)
        results = []
        for args in chosen:
            rebuilt = [
                tuple(next(given) if _is_input(a) else a for a in arg)
                if _is_operands(arg)
                else next(given)
                if _is_input(arg)
                else arg
                for arg in args
            ]
            results.append(call(*rebuilt))
        return results

    def make() -> list[Any]:
        return [again(a) for args in chosen for a in arrays_of(args)]

    return every, make


def _is_operands(arg: Any) -> bool:
    return isinstance(arg, tuple) and any(isinstance(a, np.ndarray) for a in arg)


def again(x: np.ndarray) -> np.ndarray:
    """A copy of an array in the same layout, gaps and all, in memory of its own."""
    low, high = np.lib.array_utils.byte_bounds(x)
    memory = np.frombuffer(bytearray(ctypes.string_at(low, high - low)) or bytearray(8), np.uint8)
    copied = np.ndarray(x.shape, x.dtype, memory, x.ctypes.data - low if x.size else 0, x.strides)
    copied.flags.writeable = x.flags.writeable
    return copied


def takes(call: Call, args: tuple[Any, ...]) -> bool:
    """Whether a user can make this call."""
    fresh = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            call(*fresh)
    except (Unreachable, AttributeError, TypeError, ValueError):
        return False
    return True


def tolerance(name: str) -> Callable[[str], float]:
    return lambda where: ULPS.get(name, 0.0)


ROWS = sorted(op.name for op in TABLE if not op.role and op.name not in INTERNAL)
IN_PARTS = 48  # samples in one compiled function


@pytest.mark.parametrize("name", ROWS)
def test_samples_natively(name: str) -> None:
    op = TABLE[name]
    call = call_of(op)
    assert call is not None
    chosen = [args for args in sampled(op, IN_PARTS) if takes(call, args)]
    assert chosen
    fn, make = together(call, chosen)
    check(fn, make, ulps=tolerance(name))
