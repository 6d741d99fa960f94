"""Every operator of the table, compiled to native code, against plain NumPy.

Everything that a caller sees is compared (see ``tests/outcomes.py``), bit for bit but for the
functions in ``ULPS``. Nothing may run as plain NumPy, and what NumPy computes inside of compiled
code is held against the native kernels and one list, ``LEFT_TO_NUMPY``.
"""

from __future__ import annotations

import ctypes
import inspect
import itertools
import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.lib.stride_tricks import as_strided

import fxc
from fxc.dispatch.default import default_dispatcher
from fxc.dispatch.keys import DispatchKey
from fxc.ir.graph import SliceSpec
from fxc.lowering.building.native_kernels import native_kernel
from fxc.lowering.nests.boxed_args import BufferArg
from fxc.lowering.nests.program import Program
from fxc.lowering.nests.statements import Boxed, walk
from fxc.ops.operators import Operator, Tag
from fxc.ops.samples import samples
from fxc.ops.table import TABLE
from tests.covering import pairs, some
from tests.lowering.test_complex_functions import BOUNDS as COMPLEX_BOUNDS
from tests.lowering.test_vector_math import BOUNDS
from tests.outcomes import Tolerance, Ulps, difference, exact, is_left_to_python, run

# ---------------------------------------------------------------- what may differ

# Where both sides compute a rounded value of a transcendental function, they differ by at most
# what fxc errs (BOUNDS, over the whole range) and what NumPy errs. NumPy promises less than 1 ulp
# for most functions and 4 for the rest (its SIMD and libm versions).
NUMPY_ERRS = {"f4": 4.0, "f8": 4.0}
_ALIASES = {"power": "pow", "float_power": "pow"}
ULPS = {
    name: BOUNDS[_ALIASES.get(name, name)] + 4.0
    for name in (*BOUNDS, "power", "float_power")
    if name not in ("pow", "fmod")  # fmod is exact
}
# NumPy's own fmax(0.0, -0.0) is the first or the second, by the place of the element in the array.
ULPS |= {"fmax": 0.5, "fmin": 0.5}
# By exp and log1p, where NumPy calls the C library's.
ULPS |= {"logaddexp": 6.0, "logaddexp2": 6.0}
# They err by ulps of what they add, not of the result where that is near zero; NumPy, too. See
# `test_logarithms_of_sums` in test_vector_math.py for their corner values.
CANCELLING = {"logaddexp", "logaddexp2"}
# NumPy's own cosine of a float32 depends on the layout of the array.
ULPS |= {"cosine": 1.0}

# Of complex numbers, in each part; NumPy's are the C library's.
COMPLEX_ULPS = {name: max(COMPLEX_BOUNDS[name, "f64"]) + 4.0 for name, _ in COMPLEX_BOUNDS}

# What NumPy computes inside of compiled code, beside the operators that have no native kernel:
# operators, and the dtypes of their operands ("" for all). float16 is always NumPy's.
LEFT_TO_NUMPY: dict[str, str] = {
    "sort": "", "argsort": "",
    "power": "?bhilqBHILQ",  # raises for negative exponents
    "floor_divide": "?", "remainder": "?", "fmod": "?", "left_shift": "?", "right_shift": "?",
    "reciprocal": "?bhilqBHILQ",
    "matmul": "?bhilqBHILQ", "dot": "?bhilqBHILQ",  # no BLAS for integers
    "py_divide": "",  # raises
    "signbit": "?bB",  # a loop of float16
    "histogram": "df",  # of float32, and densities
    "ufunc_reduce": "",  # of other ufuncs; sums of floats in runs
    "ufunc_accumulate": "",  # of other ufuncs
}  # fmt: skip
LEFT_IF_EMPTY = {"mean", "var", "std"}  # they warn
LEFT_IF_RANK_0 = {"cumsum", "cumprod", "var", "std"}  # the last two warn, for ddof=1
# What of complex numbers is NumPy's.
LEFT_OF_COMPLEX = {
    "power", "float_power", "sign", "exp2", "expm1", "log2", "log10", "log1p",
    "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh",
    "arctanh", "py_absolute", "prod", "cumprod", "min", "max", "argmin", "argmax", "var", "arange",
    "clip", "reinterpret", "astype",  # a cast that drops an imaginary part warns
}  # fmt: skip
CUT = {"sum", "cumsum"}  # of complex numbers, to real ones: NumPy warns
FOREIGN = "e"  # float16


# ---------------------------------------------------------------- comparing


def left_to_numpy(program: Program) -> set[tuple[str, str]]:
    """The boxed operators of a program that should not be, with the dtypes they were given."""
    found = set()
    for stmt in walk(program.body):
        if isinstance(stmt, Boxed):
            names = [arg.buffer for arg in _flat(stmt.args) if isinstance(arg, BufferArg)]
            names += stmt.outs
            buffers = [program.buffers[name] for name in names if name in program.buffers]
            chars = "".join(sorted({buffer.dtype.char for buffer in buffers}))
            exempt = stmt.op in LEFT_IF_EMPTY and any(0 in buffer.shape for buffer in buffers)
            exempt |= stmt.op in LEFT_IF_RANK_0 and any(not buffer.shape for buffer in buffers)
            if not exempt and not may_be_left(stmt.op, chars):
                found.add((stmt.op, chars))
    return found


def _flat(args: Sequence[Any]) -> Iterator[Any]:
    for arg in args:
        if isinstance(arg, tuple):
            yield from _flat(arg)
        else:
            yield arg


def composites_of(op: str) -> list[Any]:
    return list(default_dispatcher().composites_of(op, DispatchKey.CPU))


def may_be_left(op: str, chars: str) -> bool:
    """Whether the list allows the operator on these dtypes."""
    if set(chars) & set(FOREIGN):
        return True
    if set(chars) & set("FD") and op in LEFT_OF_COMPLEX:
        return True
    if native_kernel(TABLE[op]) is None and not composites_of(op):
        return True
    if set(chars) & set("FD") and set(chars) - set("FD") and op in CUT:
        return True
    allowed = LEFT_TO_NUMPY.get(op)
    return allowed is not None and (not allowed or not set(chars) - set(allowed) - {"?"})


def check(
    fn: Callable[..., Any],
    make: Callable[[], Sequence[Any]],
    *,
    ulps: Tolerance = exact,
    backend: str = "llvm",
) -> None:
    """Compare ``fn`` with itself compiled, twice, on arguments made anew for each call."""
    compiled = fxc.compile(fn, fullgraph=True, backend=backend)
    for _ in range(2):
        text = difference(run(fn, make()), run(compiled, make()), ulps)
        assert not text, text
    info = compiled.cache_info()
    assert info.eager_calls == 0 or is_left_to_python(fn, make()), info
    if backend == "llvm" and info.fallbacks:
        wrong = left_to_numpy(compiled.inspect(*make()).loops)
        assert not wrong, f"left to NumPy: {wrong}"


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


def _ufunc_reduce(
    x: Any, initial: Any, where: Any, ufunc: str, axis: Any, keepdims: bool, dtype: Any, result: Any
) -> Any:
    if result is not None:
        raise Unreachable
    start = np._NoValue if initial is None else initial
    chosen = True if where is None else where
    return getattr(np, ufunc).reduce(x, axis, dtype, None, keepdims, start, chosen)


def _ufunc_accumulate(x: Any, ufunc: str, axis: int, dtype: Any, result: Any) -> Any:
    if result is not None:
        raise Unreachable
    return getattr(np, ufunc).accumulate(x, axis, dtype)


def _windows(x: np.ndarray, shape: Any, steps: Any, writeable: bool) -> np.ndarray:
    rank = len(shape)
    strides = tuple(
        sum(steps[row * rank + axis] * x.strides[row] for row in range(x.ndim))
        for axis in range(rank)
    )
    return as_strided(x, shape, strides, writeable=writeable)


VIEWS: dict[str, Call] = {
    "slice": lambda x, index: x[index],
    "select": lambda x, axis, index: x[(slice(None),) * axis + (index, ...)],
    "transpose": lambda x, axes: x.transpose(axes),
    "reshape": lambda x, shape: x.reshape(shape),
    "expand_dims": lambda x, axes: np.expand_dims(x, axes),
    "squeeze": lambda x, axes: x.squeeze(axes),
    "broadcast_to": lambda x, shape: np.broadcast_to(x, shape),
    "broadcast": lambda x, shape: np.broadcast_arrays(x, np.empty(shape))[0],
    "diagonal": lambda x, offset, axis1, axis2: np.diagonal(x, offset, axis1, axis2),
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "bitcast": lambda x, dtype: x.view(dtype),
    "regroup_bytes": lambda x, dtype: x.view(dtype),
    "as_strided": _windows,
}
OWN_CALLS: dict[str, Call] = {
    **VIEWS,
    "astype": _astype,
    "reinterpret": lambda x, dtype: x.view(dtype),
    "copy": _copy,
    "copy_": lambda x, y, casting: np.copyto(x, y, casting=casting),
    "zeros": lambda shape, dtype, layout: np.zeros(shape, dtype, _order(layout)),
    "ones": lambda shape, dtype, layout: np.ones(shape, dtype, _order(layout)),
    "full": lambda shape, value, dtype, layout: np.full(shape, value, dtype, _order(layout)),
    "arange": _arange,
    **{
        name: lambda x, q, axis, method, name=name: getattr(np, name)(
            x, q, axis=axis, method=method
        )
        for name in ("quantile", "percentile", "nanquantile", "nanpercentile")
    },
    "isin": lambda x, y, unique, invert: np.isin(x, y, unique, invert),
    "histogram": lambda x, weights, low, high, bins, density: np.histogram(
        x, bins, None if low is None else (low, high), density, weights
    ),
    "histogram_of_edges": lambda x, edges, weights, density: np.histogram(
        x, edges, None, density, weights
    )[0],
    "linalg_eig": lambda x: np.linalg.eig(x),
    "linalg_eigvals": lambda x: np.linalg.eigvals(x),
    "linalg_svd": lambda x, full: np.linalg.svd(x, full),
    "linalg_qr": lambda x, mode: np.linalg.qr(x, mode),
    "linalg_qr_r": lambda x: np.linalg.qr(x, "r"),
    "linalg_lstsq": lambda x, y, rcond: np.linalg.lstsq(x, y, rcond),
    "bincount": lambda x, weights, most: np.bincount(x, weights, most),
    "fourier": lambda x, kind, axis, norm, n: getattr(np.fft, kind)(x, n, axis, norm),
    "einsum": lambda xs, text: np.einsum(text, *xs),
    "linspace": lambda a, b, n, e, d: np.linspace(a, b, n, endpoint=e, dtype=d),
    "eye": lambda n, m, k, d: np.eye(n, m, k, d),
    "linalg_cholesky": lambda x, upper: np.linalg.cholesky(x, upper=upper),
    "concatenate": lambda xs, axis: np.concatenate(xs, axis=axis),
    "stack": lambda xs, axis: np.stack(xs, axis=axis),
    "cond": lambda pred, xs, f, g: fxc.cond(pred, lambda *s: f(s), lambda *s: g(s), *xs),
    "fori_loop": lambda lo, hi, xs, f, _: fxc.fori_loop(lo, hi, lambda i, s: f((i, *s)), xs),
    "while_loop": lambda xs, test, f: fxc.while_loop(lambda s: test(s)[0], f, xs),
    **{
        name: lambda x, *rest, name=name: getattr(np, name)(
            x, **dict(zip(("axis", "dtype"), rest, strict=False))
        )
        for name in ("cumsum", "cumprod")
    },
    **{
        name: lambda x, axis, kind, name=name: getattr(np, name)(x, axis=axis, kind=kind)
        for name in ("sort", "argsort")
    },
    "fields": lambda x, names: x[list(names)],
    "field": lambda x, names: x[names[0]] if len(names) == 1 else x[names[0]][names[1]],
    "array_field": lambda x, names: x[names[0]] if len(names) == 1 else x[names[0]][names[1]],
    "ufunc_reduce": _ufunc_reduce,
    "ufunc_accumulate": _ufunc_accumulate,
    "ufunc_reduceat": lambda x, i, u, axis, dtype: getattr(np, u).reduceat(x, i, axis, dtype),
}
# Not called by users: fxc's own, and what indexing by arrays is made of (test_advanced_indexing).
INTERNAL = {"item", "constant", "int_value", "empty", "real_number", "imaginary_number"}
INTERNAL |= {"bind_size", "nonzero", "unique", "median", "bincount_all"}  # test_unknown_sizes
INTERNAL |= {"dynamic_select", "gather", "index_put", "index_reduce", "masked_put", "wrap_index"}
INTERNAL |= {"clock", "draw", "note"}  # test_clocks, test_random_draws, test_late_effects


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


@cache
def every_sample(name: str) -> list[tuple[Any, ...]]:
    """All sample arguments of an operator; ``together`` copies what is written."""
    return [tuple(map(_as_given, sample.args)) for sample in samples(TABLE[name])]


def sampled(name: str, most: int) -> list[tuple[Any, ...]]:
    """Sample arguments, all or evenly chosen ones: others for the next operator."""
    return some(every_sample(name), most, TURNS[name])


def _as_given(arg: Any) -> Any:
    """An argument as a user writes it."""
    if type(arg) is tuple and any(isinstance(a, SliceSpec) for a in arg):
        return _slices(arg)
    if type(arg) is tuple and any(isinstance(a, np.ndarray) and not a.ndim for a in arg):
        return tuple(a for a in arg if a.ndim)  # what a region makes of rank 0 is a scalar
    return arg


def together(
    call: Call, chosen: Sequence[tuple[Any, ...]]
) -> tuple[Callable[..., Any], Callable[[], list[Any]]]:
    """One function that does all the calls, on arrays that are its arguments."""
    arrays: list[np.ndarray] = []

    def place(arg: Any) -> tuple[str, Any]:
        """How an argument is made inside: from an array, from some arrays, or as it is."""
        if isinstance(arg, np.ndarray):
            arrays.append(arg)
            return "array", len(arrays) - 1
        if isinstance(arg, tuple) and any(isinstance(a, np.ndarray) for a in arg):
            arrays.extend(arg)
            return "arrays", (len(arrays) - len(arg), len(arrays))
        return "value", arg

    plans = [[place(arg) for arg in args] for args in chosen]

    def every(*given: Any) -> list[Any]:
        results = []
        for plan in plans:
            args = []
            for kind, value in plan:
                if kind == "array":
                    args.append(given[value])
                elif kind == "arrays":
                    args.append(given[value[0] : value[1]])
                else:
                    args.append(value)
            results.append(call(*args))
        return results

    return every, lambda: [again(x) for x in arrays]


def again(x: np.ndarray) -> np.ndarray:
    """A copy of an array in the same layout, gaps and all, in memory of its own."""
    low, high = np.lib.array_utils.byte_bounds(x)
    memory = np.frombuffer(bytearray(ctypes.string_at(low, high - low)) or bytearray(8), np.uint8)
    copied = np.ndarray(x.shape, x.dtype, memory, x.ctypes.data - low if x.size else 0, x.strides)
    copied.flags.writeable = x.flags.writeable
    return copied


def takes(call: Call, args: tuple[Any, ...]) -> bool:
    """Whether a user can make this call, and Python does not warn that it will go (``~True``)."""
    fresh = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", DeprecationWarning)
            call(*fresh)
    except (Unreachable, AttributeError, TypeError, ValueError, DeprecationWarning):
        return False
    return True


def tolerance(name: str) -> Tolerance:
    return lambda where: allowed(name)


def allowed(name: str) -> Ulps:
    """How far apart results of an operator may be, floats and complex numbers."""
    return ULPS.get(name, 0.0), COMPLEX_ULPS.get(name, 0.0)


ROWS = sorted(op.name for op in TABLE if not op.role and op.name not in INTERNAL)
TURNS = {op.name: turn for turn, op in enumerate(TABLE)}
IN_PARTS = 16  # samples in one compiled function


def check_samples(name: str, call: Call, most: int, **how: Any) -> None:
    chosen = [args for args in sampled(name, most) if takes(call, args)]
    assert chosen, name
    for first in range(0, len(chosen), IN_PARTS):
        fn, make = together(call, chosen[first : first + IN_PARTS])
        check(fn, make, **how)


# Of single elements, and of none: OpenBLAS has no part in them.
WITHOUT_PRODUCTS = {Tag.POINTWISE, Tag.VIEW, Tag.FACTORY, Tag.JOIN}


@pytest.mark.bits
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=() if TABLE[name].tag in WITHOUT_PRODUCTS else pytest.mark.products
        )
        for name in ROWS
    ],
)
def test_samples_natively(name: str) -> None:
    call = call_of(TABLE[name])
    assert call is not None
    check_samples(name, call, IN_PARTS, ulps=tolerance(name))


@pytest.mark.parametrize("name", ROWS)
def test_samples_by_the_numpy_backend(name: str) -> None:
    call = call_of(TABLE[name])
    assert call is not None
    check_samples(name, call, 10, backend="numpy")


WITH_OUT = sorted(op.group for op in TABLE if op.role == "out" and op.group not in INTERNAL)
WITH_OUT = [name for name in WITH_OUT if name not in VIEWS and not name.startswith("py_")]
# Refused with out=, some of the last two: see `test_compiled_sums_into_out_have_numpys_bits`.
NO_OUT = {"percentile", "quantile", "nanmedian", "nanquantile", "nanpercentile", "std", "var"}


def takes_out(function: Any) -> bool:
    """Whether it is a NumPy function with a parameter ``out``."""
    if function is None or isinstance(function, np.ufunc):
        return function is not None
    try:
        return "out" in inspect.signature(function).parameters
    except ValueError:  # of functions in C of some versions
        return "out=" in (function.__doc__ or "").split("\n\n")[0]


WITH_OUT = [n for n in WITH_OUT if n not in NO_OUT and takes_out(TABLE[n].numpy)]


@pytest.mark.parametrize("name", WITH_OUT)
def test_samples_with_out(name: str) -> None:
    op = TABLE[name]
    call = call_of(op)
    assert call is not None
    assert op.numpy is not None
    function = op.numpy
    names = [param.name for param in op.schema.params if param.keyword]

    def with_out(*args: Any) -> Any:
        *given, out = args
        options = dict(zip(names, given[len(given) - len(names) :], strict=True))
        if options.get("dtype", 0) is None:
            del options["dtype"]
        return function(*given[: len(given) - len(names)], **options, out=out)

    check_samples(f"{name}.out", with_out, 5, ulps=tolerance(name))


IN_PLACE = {
    "add": operator.iadd, "subtract": operator.isub, "multiply": operator.imul,
    "divide": operator.itruediv, "floor_divide": operator.ifloordiv, "remainder": operator.imod,
    "bitwise_and": operator.iand, "bitwise_or": operator.ior, "bitwise_xor": operator.ixor,
    "left_shift": operator.ilshift, "right_shift": operator.irshift, "power": operator.ipow,
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_samples_in_place(name: str) -> None:
    check_samples(f"{name}_", IN_PLACE[name], 16, ulps=tolerance(name))


@pytest.mark.parametrize("name", VIEWS)
def test_reads_through_views(name: str) -> None:
    """Loops read by the view's index map what a result shows by its strides."""
    check_samples(name, lambda *args: np.where(True, VIEWS[name](*args), VIEWS[name](*args)), 32)


OVERLAPPING = ("broadcast_to", "broadcast", "diagonal", "as_strided")  # or read-only


@pytest.mark.parametrize("name", [name for name in VIEWS if name not in OVERLAPPING])
def test_writes_through_views(name: str) -> None:
    def write(x: Any, source: Any, *rest: Any) -> Any:
        fresh = x.copy()
        VIEWS[name](fresh, *rest)[...] = source
        view = VIEWS[name](x, *rest)
        if view.dtype == x.dtype:  # of two nans the sum is either one, which x shows by its bits
            view += source
        else:
            view[...] = np.flip(view)
        return fresh, view

    check_samples(f"{name}_scatter", write, IN_PARTS)


# ---------------------------------------------------------------- every dtype, corner values

UFUNCS = [op for op in TABLE if op.tag is Tag.POINTWISE and isinstance(op.numpy, np.ufunc)]
UFUNCS = [op for op in UFUNCS if not op.role]
CODES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "f2", "c8", "c16")


def corners(code: str) -> np.ndarray:
    """Values where operators are apt to go wrong."""
    dtype = np.dtype(code)
    if dtype.kind == "b":
        return np.array([True, False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        width = 8 * dtype.itemsize
        values = [0, 1, 2, 3, 7, width - 1, width, width + 1, info.max, info.max - 1, info.min]
        values += [-1, -2, -3, -7, info.min + 1] if dtype.kind == "i" else [info.max // 2 + 1]
        return np.array([v for v in values if info.min <= v <= info.max], dtype)
    if dtype.kind == "c":
        parts = [0.0, -0.0, 1.0, -2.5, np.inf, np.nan]
        return np.array([complex(a, b) for a in parts for b in parts], dtype)
    tiny = np.finfo(dtype).smallest_subnormal
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -3.7, np.nan, np.inf]
    values += [-np.inf, tiny, -tiny, np.finfo(dtype).max, np.finfo(dtype).tiny, 1e-3, 300.25, 7.0]
    return np.array(values, dtype)


def loops_of(code: str, count: int) -> list[Operator]:
    """The ufuncs with so many operands that take this dtype."""
    found = []
    for op in UFUNCS:
        if len(op.schema.params) != count or len(op.schema.returns) != 1 or op.name == "matmul":
            continue
        try:
            with np.errstate(all="ignore"):
                op.numpy(*[np.ones(1, code)] * count)
        except TypeError:
            continue
        found.append(op)
    return found


def by_place(names: Sequence[str]) -> Tolerance:
    """The tolerance of the result at each place of a list."""
    tolerances = {f"result.list[{place}]": allowed(name) for place, name in enumerate(names)}
    return lambda where: tolerances.get(where, 0.0)


def grid(code: str) -> list[np.ndarray]:
    """Every corner value with every other, more than a few vectors of them and a tail."""
    values = corners(code)
    left, right = np.meshgrid(values, values, indexing="ij")
    return [left.ravel(), right.ravel()]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("count", [1, 2])
def test_corner_values(code: str, count: int) -> None:
    ops = loops_of(code, count)
    if np.dtype(code).kind in "iu":
        ops = [op for op in ops if op.name != "power"]  # negative exponents raise, see below

    ops = [op for op in ops if op.name not in CANCELLING]
    functions = [op.numpy for op in ops]

    def every(*xs: Any) -> list[Any]:
        return [function(*xs) for function in functions]

    check(every, lambda: grid(code)[:count], ulps=by_place([op.name for op in ops]))


@pytest.mark.parametrize("source", CODES)
def test_casts(source: str) -> None:
    def every(*xs: Any) -> list[Any]:
        casts = [x.astype(code) for x, code in zip(xs, CODES, strict=True)]
        filled = []
        for x, code in zip(xs, CODES, strict=True):
            out = np.zeros(x.shape, code)
            out[...] = x
            filled.append(out)
        return casts + filled

    values = corners(source)
    if values.dtype.kind == "f":
        more = [254.7, 255.9, -1.5, 65535.5, 2.0**31, -(2.0**31), 2.0**32, 2.0**53, 2.0**63]
        with np.errstate(all="ignore"):
            values = np.concatenate([values, np.array(more, source)])
    check(every, lambda: [np.tile(castable(values, code), 3) for code in CODES])


def castable(values: np.ndarray, code: str) -> np.ndarray:
    """The values without those whose cast NumPy leaves to the place in the array.

    A float that is no uint32 or uint64 (or smaller, and no int32) becomes whatever the vector or
    the scalar instruction gives.
    """
    dtype = np.dtype(code)
    if dtype.kind != "u" or values.dtype.kind not in "fc":
        return values
    real = values.real.astype("f8")
    return values[(real > -1) & (real < 2.0 ** (8 * dtype.itemsize))]


@pytest.mark.parametrize("left, right", list(itertools.combinations(CODES[:11], 2)))
def test_mixed_dtypes(left: str, right: str) -> None:
    def every(x: Any, y: Any) -> list[Any]:
        return [
            x + y, x * y, y - x if "?" not in (left, right) else y, np.maximum(x, y), x < y, x == y,
            x >= y, np.where(x > 1, x, y), np.logical_xor(x, y),
        ]  # fmt: skip

    x, y = np.meshgrid(corners(left), corners(right), indexing="ij")
    check(every, lambda: [x.copy(), y.copy()])


# ---------------------------------------------------------------- layouts


def spread(x: np.ndarray) -> np.ndarray:
    if not x.ndim:
        return x
    wide = np.zeros(tuple(2 * d for d in x.shape), x.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    view[...] = x
    return view


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "c": np.ascontiguousarray,
    "f": np.asfortranarray,
    "strided": spread,
    "negative": lambda x: x[::-1].copy()[::-1],
    "negative_inner": lambda x: x[..., ::-1].copy()[..., ::-1],
    "transposed": lambda x: np.ascontiguousarray(x.transpose(2, 0, 1)).transpose(1, 2, 0),
    "zero_stride": lambda x: np.lib.stride_tricks.as_strided(x[:1], x.shape, (0, *x.strides[1:])),
    "broadcast": lambda x: x[:, :1, :],
}


LAYOUT_CODES = ["f8", "f4", "i4", "u1", "?"]


def in_layout(layout: str, code: str, start: int) -> np.ndarray:
    values = corners(code).take(range(start, start + 60), mode="wrap").reshape(3, 4, 5)
    return LAYOUTS[layout](values)


@pytest.mark.parametrize("code", LAYOUT_CODES)
@pytest.mark.parametrize("layouts", [list(LAYOUTS)[k : k + 2] for k in range(0, 8, 2)], ids=str)
def test_layouts(layouts: list[str], code: str) -> None:
    """Values and strides of results for an operand of each layout."""

    def every(*xs: Any) -> list[Any]:
        results = []
        for x in xs:
            results += [np.negative(x) if code != "?" else ~x, x.copy("K"), x.copy()]
            results += [x.astype("f8"), np.zeros_like(x), np.ones_like(x, order="F"), x.ravel()]
            results += [np.concatenate([x, x]), np.stack([x, x], axis=1), x.T.ravel()]
            results += [x.sum(axis=0), x.max(axis=-1), (x + x).sum(axis=1), x.cumsum(axis=1)]
        return results

    check(every, lambda: [in_layout(layout, code, 0) for layout in layouts])


@pytest.mark.parametrize("code", LAYOUT_CODES)
def test_layouts_together(code: str) -> None:
    """Values and strides of results for operands of two layouts: of any two in some dtype."""
    together = [row[:2] for row in pairs(LAYOUTS, LAYOUTS, LAYOUT_CODES) if row[2] == code]

    def every(*xs: Any) -> list[Any]:
        results = []
        for x, y in zip(xs[::2], xs[1::2], strict=True):
            results += [x + y, np.maximum(y, x), np.where(x > y, x, y), x == y, (x * y).T + 1]
        return results

    check(
        every,
        lambda: [
            in_layout(layout, code, start)
            for row in together
            for layout, start in zip(row, (0, 7), strict=True)
        ],
    )


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (3, 0), (1, 1), (2, 0, 2), (1, 5, 1)])
def test_degenerate_shapes(shape: tuple[int, ...]) -> None:
    def every(x: Any, y: Any) -> list[Any]:
        results = [x + y, -x, x < y, x.copy(), x.astype("i4"), np.sqrt(abs(x)), x * 2, x.sum()]
        results += [x.sum(keepdims=True), x.prod(), x.any(), x.all(), x.ravel(), x.reshape(-1)]
        results += [np.where(x > y, x, y), np.expand_dims(x, 0), x[...], x[None], x.T]
        results += [x.cumsum(), np.zeros_like(x), np.broadcast_to(x, (2, *x.shape))]
        results += [x.sum(axis=axis) for axis in range(x.ndim)]
        results += [np.concatenate([x, y], axis=axis) for axis in range(x.ndim)]
        y += x
        y[...] = x * y
        return results

    def make() -> list[np.ndarray]:
        size = int(np.prod(shape))
        values = np.arange(size).reshape(shape)
        return [np.array(values - 1.5), np.array(values * 2.0)]

    check(every, make)
    check(every, make, backend="numpy")


def test_return_kinds() -> None:
    """Scalars and rank-0 arrays, as NumPy 2 gives them (SEMANTICS.md 9, 14, 33)."""

    def every(x: Any, r: Any, s: Any, p: Any) -> list[Any]:
        return [
            x[0], x[0, ...], x.sum(), x.sum(keepdims=True), r + 1, r * r, np.sqrt(r), -r, r[()],
            r[...], np.add(r, 1, out=r), s + 1, s * p, p * 2.5, p + x, s + r, np.clip(r, 0, 1),
            np.where(True, 1.0, 2.0), np.where(r > 0, r, s), np.cumsum(r), r.copy(), r.astype("f4"),
            r.T, r.reshape(()), r.reshape(1), x.max(), x.argmax(), x.mean(), x.any(), r == 2,
            np.maximum(s, p), x[1] * x[2], abs(r), r.sum(), np.square(s), p, s, x.std(),
        ]  # fmt: skip

    check(every, lambda: [np.arange(4.0), np.array(2.0), np.float64(1.5), 0.5])
    check(every, lambda: [np.arange(4), np.array(2), np.int64(3), 0.5])
    check(every, lambda: [np.arange(4, dtype="f4"), np.array(2, "f4"), np.float32(3), 0.5])


# ---------------------------------------------------------------- reductions

REDUCTIONS = ("sum", "prod", "min", "max", "any", "all", "mean", "var", "std")
RANDOM = np.random.default_rng(3)


def numbers(shape: Any, code: str = "f8") -> np.ndarray:
    """Numbers whose sums depend on the order of addition."""
    values = RANDOM.standard_normal(shape) * np.exp(RANDOM.uniform(-3, 3, shape))
    dtype = np.dtype(code)
    if dtype.kind in "iu":
        return (values * 40).astype("i8").astype(dtype)
    return values.astype(dtype) if dtype.kind != "b" else values > 0


def axes_of(rank: int) -> list[tuple[int, ...] | None]:
    every = range(rank)
    return [None, *(c for n in range(1, rank + 1) for c in itertools.combinations(every, n))]


REDUCED_LAYOUTS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    np.ascontiguousarray,
    np.asfortranarray,
    lambda x: x[::-1].copy()[::-1],
)
REDUCED = pairs(
    [(5,), (9, 17), (2, 3, 4), (3, 8, 10)], ["f8", "f4", "i2", "u8", "?"], REDUCED_LAYOUTS
)


@pytest.mark.parametrize("shape, code, layout", REDUCED)
def test_reductions_over_all_axes(
    shape: tuple[int, ...], code: str, layout: Callable[[np.ndarray], np.ndarray]
) -> None:
    """All axes with keepdims; fewer functions where the code is the same."""
    names = ("sum", "min", "any") if code != "f8" else ("sum", "prod", "max", "all", "mean")

    def every(x: Any) -> list[Any]:
        return [
            getattr(np, name)(x, axis=axis, keepdims=keep)
            for name in names
            for axis in axes_of(x.ndim)
            for keep in (name == "sum", False)[: 1 + (name == "sum")]
        ]

    x = numbers(shape, code)
    check(every, lambda: [layout(x.copy())])


@pytest.mark.parametrize("code", ["f8", "f4", "i4"])
@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_composite_reductions_over_all_axes(name: str, code: str) -> None:
    function = getattr(np, name)

    def every(*xs: Any) -> list[Any]:
        return [
            function(x, axis=axis, keepdims=axis == (0,)) for x in xs for axis in axes_of(x.ndim)
        ]

    xs = [numbers(shape, code) for shape in ((5,), (9, 17), (3, 8, 10))]
    xs += [x.T for x in xs[1:]]
    check(every, lambda: [again(x) for x in xs])


@pytest.mark.parametrize("code", ["f8", "f4"])
@pytest.mark.parametrize("size", [1, 7, 8, 9, 127, 128, 129, 1000, 8191, 8192, 8193, 20001])
def test_sums_of_all_sizes(size: int, code: str) -> None:
    """Direct operands, strided and reversed ones, and expressions that are fused into the sum."""

    def every(x: Any, y: Any) -> list[Any]:
        return [
            x.sum(), y.sum(), x[::-1].sum(), (x * y).sum(), (x + 1).mean(), np.where(x > 0, x, y).sum(),
            x.sum(dtype="f8"), x.var(), x.prod(), (x - y).max(), x.argmin(), np.cumsum(x)[-1],
            x.reshape(1, -1).sum(axis=1), x.reshape(-1, 1).sum(axis=0), (x < y).sum(),
        ]  # fmt: skip

    x, y = numbers(size, code), numbers(2 * size, code)[::2]
    check(every, lambda: [x.copy(), again(y)])


@pytest.mark.parametrize(
    "shape", [(4, 129), (129, 4), (300, 40), (8, 9, 140), (3, 200, 7)], ids=str
)
def test_sums_of_rows_columns_and_planes(shape: tuple[int, ...]) -> None:
    def every(x: Any, inside: Any) -> list[Any]:
        results = [x.sum(axis=axis) for axis in axes_of(x.ndim)]
        results += [(x * 2 + 1).sum(axis=axis) for axis in axes_of(x.ndim)]
        results += [x.T.sum(axis=axis) for axis in axes_of(x.ndim)]
        results += [inside.sum(axis=axis) for axis in axes_of(x.ndim)]
        results += [x.mean(axis=axis) for axis in axes_of(x.ndim)]
        return results

    x = numbers(shape)
    wide = numbers(tuple(d + 2 for d in shape))
    inside = wide[tuple(slice(1, -1) for _ in shape)]
    check(every, lambda: [x.copy(), again(inside)])


@pytest.mark.parametrize("code", ["i1", "u1", "i4", "f4", "?"])
@pytest.mark.parametrize("target", ["f8", "f4", "i8", "u1"])
def test_reductions_with_dtype(code: str, target: str) -> None:
    def every(x: Any) -> list[Any]:
        results = [x.sum(dtype=target), x.sum(axis=0, dtype=target), x.prod(axis=1, dtype=target)]
        results += [x.cumsum(axis=1, dtype=target), np.cumprod(x, dtype=target)]
        return results + ([x.mean(axis=1, dtype=target)] if target[0] == "f" else [])

    x = abs(numbers((7, 33), code)) if code != "?" else numbers((7, 33), code)
    check(every, lambda: [x.copy()])


@pytest.mark.parametrize("code", ["f8", "f4", "i1", "u8", "?"])
def test_positions_of_extremes_with_nans_and_ties(code: str) -> None:
    def every(*xs: Any) -> list[Any]:
        results = []
        for x in xs:
            results += [x.argmin(), x.argmax(), x.min(), x.max()]
            for axis in range(x.ndim):
                results += [x.argmin(axis=axis), x.argmax(axis=axis, keepdims=True)]
                results += [x.min(axis=axis), np.argmax(x + x if code != "?" else x, axis=axis)]
        return results

    turn = ["f8", "f4", "i1", "u8", "?"].index(code)

    def make() -> list[np.ndarray]:
        ties = np.tile(corners(code), 40)[:99].reshape(9, 11)
        xs = [ties, ties.T, ties[::-1, ::-1], ties[:, :3], ties.ravel(), np.zeros(70, code)]
        if ties.dtype.kind == "f":
            clean = np.nan_to_num(ties)
            one = clean.copy()
            one[4, 7] = np.nan
            zeros = np.array([0.0, -0.0] * 20, code)
            xs += [clean, one, zeros, -zeros, np.full(37, np.nan, code), np.full(9, -np.inf, code)]
        return [np.array(x) for x in some(xs, 6, turn)]

    check(every, make)


# ---------------------------------------------------------------- products

SHAPES = [
    ((3,), (3,)), ((3, 4), (4,)), ((4,), (4, 3)), ((3, 4), (4, 5)), ((1, 4), (4, 1)),
    ((0, 4), (4, 3)), ((3, 0), (0, 2)), ((33, 65), (65, 17)), ((200,), (200,)), ((1, 1), (1, 1)),
]  # fmt: skip
BATCHED = [
    ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((5, 1, 2, 3), (4, 3, 2)),
    ((2, 3, 4), (4,)), ((4,), (2, 4, 3)),
]  # fmt: skip


@pytest.mark.parametrize("code", ["f8", "f4", "i8", "u1", "?", "c16"])
def test_products(code: str) -> None:
    """Bit for bit: NumPy's own inner loops multiply."""

    def every(*xs: Any) -> list[Any]:
        results = []
        for place in range(0, len(xs), 2):
            x, y = xs[place : place + 2]
            results += [x @ y]
            if max(x.ndim, y.ndim) <= 2:
                results += [np.dot(x, y), x.dot(y)]
        return results

    def make() -> list[np.ndarray]:
        return [numbers(s, code) for pair in SHAPES + BATCHED for s in pair]

    made = make()
    check(every, lambda: [x.copy() for x in made])


@pytest.mark.parametrize("code", ["f8", "f4"])
def test_products_of_transposed_and_strided_operands(code: str) -> None:
    def every(a: Any, b: Any, v: Any, out: Any) -> list[Any]:
        results = [a @ b, b.T @ a.T, a.T @ a, a @ a.T, a[::2] @ b, a[:, ::-1] @ b, a @ b[:, ::3]]
        results += [b.T @ v, v @ b, v[::-1] @ b, a[1:5, 2:7] @ b[2:7, 1:4], (a + 1) @ (b * 2)]
        results += [a[None] @ b[None, None], a @ np.asfortranarray(b), a.dot(b).T @ a]
        np.matmul(a, b, out=out)
        return results

    a, b, v = numbers((10, 20), code), numbers((20, 7), code), numbers(20, code)
    check(every, lambda: [a.copy(), b.copy(), v.copy(), np.zeros((10, 7), code)])


@pytest.mark.parametrize("code", ["f8", "c16"])
def test_dot_of_what_it_copies(code: str) -> None:
    """``np.dot`` copies more operands than ``np.matmul`` does, and BLAS adds otherwise then."""

    def every(a: Any, v: Any) -> list[Any]:
        w = v[:13]
        vectors = [w, w[::-1], v[:26:2], v[25::-2][:13], a[:13, 0], np.broadcast_to(v[0], (13,))]
        matrices = [a[:17, :13], a[:13, :17].T, a[:17, :13][::-1], a[:34:2, :26:2], a[:34:2, :13]]
        matrices += [
            a[:17, :13][:, ::-1],
            np.broadcast_to(w, (17, 13)),
            np.asfortranarray(a)[:, :13],
        ]
        results = [np.dot(x, vectors[0]) for x in vectors] + [np.dot(vectors[1], vectors[2])]
        results += [np.dot(x, vectors[0]) for x in matrices]
        results += [np.dot(y, x.T) for x in matrices for y in vectors[1:3]]
        return results + [np.dot(x, matrices[0].T) for x in matrices]

    a, v = numbers((34, 26), code), numbers(26, code)
    check(every, lambda: [a.copy(), v.copy()])


@pytest.mark.parametrize(
    "codes",
    [
        ("c16", "c16"),
        ("c8", "c8"),
        ("f4", "c16"),
        ("f8", "f8"),
        ("i4", "f4"),
        ("u1", "c8"),
        ("f2", "f2"),
    ],
)
def test_products_of_one_number(codes: tuple[str, str]) -> None:
    """What NumPy hands to BLAS, cast or not, it multiplies itself then, without adding to zero, and
    without a fused operation.
    """

    def every(x: Any, y: Any) -> Any:
        made = np.zeros((4, len(x)), np.result_type(x, y))
        for i in range(len(x)):
            a, b = x[i : i + 1], y[i : i + 1]
            made[0, i] = np.dot(a, b)
            made[1, i] = a[None].dot(b)[0]
            made[2, i] = np.inner(a[None], b[:, None])[0, 0]
            made[3, i] = x[i]
            if x.dtype == made.dtype:
                np.dot(made[3, i : i + 1], b[None], out=made[3, i : i + 1])
            else:
                np.dot(a, b[None], out=made[3, i : i + 1])
        return made

    def make(code: str) -> np.ndarray:
        parts = [0.0, -0.0, 1.5, -1.0 / 3, *numbers(6)]
        pairs = list(itertools.product(parts, repeat=2))
        return np.array([complex(*pair) for pair in pairs] if code[0] == "c" else parts).astype(
            code
        )

    x, y = make(codes[0]), make(codes[1])
    x, y = np.resize(x, 100), np.resize(RANDOM.permutation(y), 100)
    check(every, lambda: [x.copy(), y.copy()])


# ---------------------------------------------------------------- scalars and promotion


def test_powers_of_scalars() -> None:
    """They are the C library's; a square of which is not always the nearest number."""

    def every(x: Any) -> Any:
        made = np.zeros((5, len(x)))
        for i in range(len(x)):
            s = x[i]
            made[0, i] = s**2
            made[1, i] = np.abs(s) ** 1.7
            made[2, i] = s**3
            made[3, i] = s**0.5
            made[4, i] = 1.5**s
        return made

    x = np.random.default_rng(0).random(3000) * 3
    special = np.array([0.0, -0.0, 1.0, -1.0, 2.0**511, 1e-160, 1e160, np.inf, -np.inf, np.nan])
    check(every, lambda: [np.concatenate([x, -x, x * 1e-150, special])])


@pytest.mark.parametrize("code", CODES[:11])
def test_python_and_numpy_scalars(code: str) -> None:
    """Python scalars are weak, NumPy scalars and rank-0 arrays are not (SEMANTICS.md 13)."""

    def every(x: Any, i: Any, f: Any, s: Any, r: Any) -> list[Any]:
        results = [x + 1, x * 2, x + True, x * 0.5, 3 + x, 2.0 * x, x + i, x * f, x + s, x * r]
        results += [np.maximum(x, i), np.where(x > i, x, i), x == i, x < f, s + r, i + s, f * r]
        return results

    arguments = [corners(code), 3, 2.5, np.float32(1.5), np.array(2, "i4")]
    check(every, lambda: [corners(code), *arguments[1:]])
    check(every, lambda: [corners(code), 3, 2.5, np.int8(5), np.array(2.5, "f4")])


# ---------------------------------------------------------------- errors


def _ints(*shape: int) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape)


def _floats(*shape: int) -> np.ndarray:
    return _ints(*shape) + 0.5


def read_only(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


def add_in_place(x, y):
    x += y


def after_a_write(x, y):
    x += 1
    return x.reshape(y)


def set_all(x, y):
    x[...] = y


def write_diagonal(x, y):
    np.diagonal(x)[...] = y


def write_broadcast(x, y):
    view = np.broadcast_to(x, (2, *x.shape))
    view += y


ERRORS: dict[str, tuple[Callable[..., Any], Callable[[], list[Any]]]] = {
    "shapes": (lambda x, y: x + y, lambda: [_floats(3), _floats(4)]),
    "shapes_in_place": (add_in_place, lambda: [_floats(3), _floats(2, 3)]),
    "shapes_of_setitem": (set_all, lambda: [_floats(3), _floats(4)]),
    "shapes_of_matmul": (lambda x, y: x @ y, lambda: [_floats(3, 4), _floats(3, 4)]),
    "shapes_of_out": (lambda x, y: np.add(x, x, out=y), lambda: [_floats(3), _floats(4)]),
    "axis": (lambda x, y: x.sum(axis=y), lambda: [_floats(3), 1]),
    "axis_of_argmax": (lambda x, y: x.argmax(axis=2), lambda: [_floats(3), 1]),
    "axis_twice": (lambda x, y: x.sum(axis=(0, 0)), lambda: [_floats(3, 3), 1]),
    "axis_of_concatenate": (lambda x, y: np.concatenate([x, x], axis=3), lambda: [_floats(3), 1]),
    "index": (lambda x, y: x[5], lambda: [_floats(3), 1]),
    "too_many_indices": (lambda x, y: x[0, 0], lambda: [_floats(3), 1]),
    "reshape": (lambda x, y: x.reshape(y), lambda: [_floats(6), (4,)]),
    "transpose": (lambda x, y: x.transpose(0, 0), lambda: [_floats(2, 3), 1]),
    "squeeze": (lambda x, y: x.squeeze(0), lambda: [_floats(2, 3), 1]),
    "broadcast_to": (lambda x, y: np.broadcast_to(x, (2, 4)), lambda: [_floats(3), 1]),
    "broadcast_to_more_than_there_is": (
        lambda x, y: np.broadcast_to(x, (2**62, y)).shape, lambda: [_floats(1), 4]
    ),
    "broadcast_to_more_by_a_number": (
        lambda x, y: np.broadcast_to(x, (y, y, y)).shape, lambda: [_floats(1), 2**21]
    ),
    "zeros_of_more_than_there_is": (
        lambda x, y: np.zeros((2**61, 0, y)).shape, lambda: [_floats(1), 4]
    ),
    "concatenate": (lambda x, y: np.concatenate([x, y]), lambda: [_floats(2, 3), _floats(3)]),
    "int_plus_float_in_place": (add_in_place, lambda: [_ints(3), 1.5]),
    "int_plus_float_array": (add_in_place, lambda: [_ints(3), _floats(3)]),
    "unsigned_minus_signed": (add_in_place, lambda: [_ints(3).astype("u1"), _ints(3)]),
    "int_divided_in_place": (lambda x, y: operator.itruediv(x, y), lambda: [_ints(3), 2]),
    "out_of_float": (lambda x, y: np.sqrt(x, out=y), lambda: [_floats(3), _ints(3)]),
    "copyto": (lambda x, y: np.copyto(x, y), lambda: [_ints(3), _floats(3)]),
    "read_only": (add_in_place, lambda: [read_only(_floats(3)), 1.0]),
    "read_only_setitem": (set_all, lambda: [read_only(_floats(3)), 1.0]),
    "read_only_out": (
        lambda x, y: np.add(y, 1, out=x), lambda: [read_only(_floats(3)), _floats(3)]
    ),
    "read_only_diagonal": (write_diagonal, lambda: [_floats(3, 3), 1.0]),
    "read_only_broadcast": (write_broadcast, lambda: [_floats(3), 1.0]),
    "python_int_out_of_range": (lambda x, y: x + 300, lambda: [_ints(3).astype("u1"), 1]),
    "python_int_argument_out_of_range": (
        lambda x, y: x + y, lambda: [_ints(3).astype("u1"), 300]
    ),
    "negative_integer_power": (lambda x, y: x**y, lambda: [_ints(3) + 1, -(_ints(3))]),
    "negative_integer_power_after_a_write": (
        lambda x, y: (operator.iadd(x, 1), x**y), lambda: [_ints(3) + 1, -(_ints(3))]
    ),
    "after_a_write": (after_a_write, lambda: [_floats(6), (4,)]),
    "bool_minus": (lambda x, y: x - y, lambda: [_ints(3) > 1, _ints(3) > 0]),
    "negative_of_bool": (lambda x, y: -x, lambda: [_ints(3) > 1, 1]),
    "shift_of_float": (lambda x, y: x << y, lambda: [_floats(3), 1]),
    "max_of_nothing": (lambda x, y: x.max(), lambda: [_floats(0), 1]),
    "argmin_of_nothing": (lambda x, y: x.argmin(axis=1), lambda: [_floats(2, 0), 1]),
    "singular": (lambda x, y: np.linalg.inv(x), lambda: [np.zeros((2, 2)), 1]),
    "rank_0_is_not_iterable": (lambda x, y: list(x), lambda: [np.array(1.0), 1]),
}  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_numpys(case: str) -> None:
    raises_alike(*ERRORS[case])


# ---------------------------------------------------------------- writes


def test_in_place_casting_rules() -> None:
    """Three rules: augmented assignment, assignment, copyto (SEMANTICS.md 12)."""

    def every(i: Any, u: Any, f: Any, b: Any, x: Any) -> list[Any]:
        i[:3] = 1.75
        i[3:] = x[3:]
        u[...] = i * 3
        f += 1
        f *= i
        b |= i > 2
        b[2:] = x[2:]
        np.copyto(f, i)
        np.copyto(i[1:], x[1:], casting="unsafe")
        i += np.int8(3)
        u += 7
        return [i, f]

    def make() -> list[np.ndarray]:
        return [
            _ints(6), _ints(6).astype("u1"), _floats(6).astype("f4"), _ints(6) > 9, _floats(6) * 3
        ]  # fmt: skip

    check(every, make)


def test_overlapping_reads_and_writes() -> None:
    """As if all operands had been read first (SEMANTICS.md 2, 10, 11)."""

    def every(a: Any, b: Any, c: Any, d: Any) -> list[Any]:
        a[1:] = a[:-1]
        a[:-2] += a[2:]
        a -= a[1]
        b += b.T
        b[0], b[1] = b[1], b[0]
        b -= b[0]
        b[::-1] *= b
        np.add(c[1:], c[:-1], out=c[1:])
        np.multiply(c[::-1], c, out=c)
        d[1:-1, 1:-1] = d[:-2, 1:-1] + d[2:, 1:-1] - d[1:-1, :-2]
        d[...] = np.concatenate([d[2:], d[:2]])
        return [a, b.T]

    for code in ("f8", "i4"):
        check(every, lambda code=code: [numbers_of(s, code) for s in ((9,), (5, 5), (19,), (6, 7))])


def numbers_of(shape: tuple[int, ...], code: str) -> np.ndarray:
    values: np.ndarray = (np.arange(int(np.prod(shape))) * 7 % 11 + 1).reshape(shape)
    return values.astype(code)


def test_masked_writes() -> None:
    def every(x: Any, y: Any) -> None:
        x[x > 2] = 0.5
        y[y < 1] = x[0, 0]
        np.add(x, 1, out=x, where=y > 0)
        np.copyto(y, x, where=x > 1)

    check(every, lambda: [_floats(4, 5) - 6, _floats(4, 5)[::-1] - 9])


# ---------------------------------------------------------------- hypothesis


@st.composite
def operands(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays that broadcast, of any dtype and layout."""
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=5))
    arrays = []
    for shape in shapes.input_shapes:
        code = draw(st.sampled_from(CODES[:11]))
        values = corners(code)
        flat = draw(st.lists(st.sampled_from(range(len(values))), min_size=8, max_size=8))
        x = np.resize(values[flat], shape).astype(code).reshape(shape)
        match draw(st.sampled_from("cfsn")):
            case "f":
                x = np.asfortranarray(x) if x.ndim else x
            case "s":
                x = spread(x)
            case "n":
                x = x[::-1].copy()[::-1] if x.ndim else x
        arrays.append(x)
    return arrays[0], arrays[1]


@settings(max_examples=40)
@given(operands(), st.integers(0, 1))
def test_any_operands(pair: tuple[np.ndarray, np.ndarray], axis: int) -> None:
    def every(x: Any, y: Any) -> list[Any]:
        results = [np.maximum(x, y), x + y, x * y, x != y, np.where(x > y, x, y), (x == y).sum()]
        return [*results, x.any(axis=axis), y.T.argmax(axis=-1)] if small else results

    small = pair[0].ndim > axis and pair[1].ndim > 0 and pair[1].size > 0
    check(every, lambda: [again(x) for x in pair])


# ---------------------------------------------------------------- sorts


@pytest.mark.parametrize("code", ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"])
def test_rows_are_sorted_natively(code: str) -> None:
    """By NumPy's own function, also nans and zeros of both signs; in loops too."""

    def program(x: Any, y: Any) -> Any:
        middle = np.zeros(len(x) - 4, x.dtype)
        for i in range(len(x) - 4):
            middle[i] = np.sort(x[i : i + 5])[2]
        y.sort()
        none, one = np.sort(x[:0]) + 1, np.sort(y[:, :1]) + 1
        return middle, np.sort(x)[::2], np.sort(x[::-2]), np.sort(y[:, ::-1]), none, one

    def make() -> list[Any]:
        x = np.random.default_rng(3).integers(0, 100, 40).astype(code)
        if x.dtype.kind == "f":
            x[:12] = [np.nan, -0.0, 0.0, np.inf, -np.inf, -0.0, 0.0, 2.5, -1.5, -0.0, 1e-30, 7]
        return [x, x[::-1].reshape(5, 8).copy()]

    compiled = fxc.compile(program, fullgraph=True)
    assert not difference(run(program, make()), run(compiled, make()))
    assert not compiled.cache_info().fallbacks
