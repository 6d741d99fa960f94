"""The rows of the table of operators, sorted by what they are for."""

from __future__ import annotations

from typing import Any

import numpy as np

from .effects import clock, draw, note
from .library import (
    bincount,
    bincount_all,
    cosine,
    eigenvalues,
    eigenvectors,
    einsum,
    histogram,
    histogram_of_edges,
    least_squares,
    triangle,
)
from .operators import Row, Tag, row
from .python_numbers import PYTHON_OPERATORS
from .transforms import fourier


def read_item(x: Any) -> Any:
    """What indexing by one integer an axis gives: the element itself, as a NumPy scalar."""
    return np.copy(x)[()]


def real_number(x: Any) -> Any:
    """The real part of a scalar, of Python's kind or NumPy's as the scalar is."""
    return x.real.copy() if isinstance(x, np.ndarray) else x.real


def imaginary_number(x: Any) -> Any:
    """The imaginary part of a scalar."""
    return x.imag.copy() if isinstance(x, np.ndarray) else x.imag


# Note [Index arrays]
# ``x[i, :, j] = v`` is several operators. ``wrap_index`` checks one index array against the size of
# its axis, counts negative indices from the end, and is all that can raise. ``gather`` and
# ``index_put`` take what it gives: they read and write where the index arrays, one for each of
# ``axes`` and broadcast together to a shape B, point to in ``x``. Their index space is the shape of
# ``x`` without ``axes`` and with the axes of B inserted at ``place``; ``source`` broadcasts to it.
# Elements that occur several times are written, or updated by the ufunc, one after the other in the
# C order of B: the last one to be written stays. The result of ``gather`` has a ``layout`` as
# factories have; ``index_put`` keeps that of ``x``.

_OPERANDS = ("Array x", "Array y", "Array z")

P, R, V, F = Tag.POINTWISE, Tag.REDUCTION, Tag.VIEW, Tag.FACTORY

ROWS: tuple[Row, ...] = (
    # arithmetic
    row("add(Array x, Array y) -> Array", P, np.add),
    row("subtract(Array x, Array y) -> Array", P, np.subtract),
    row("multiply(Array x, Array y) -> Array", P, np.multiply),
    row("divide(Array x, Array y) -> Array", P, np.divide),
    row("floor_divide(Array x, Array y) -> Array", P, np.floor_divide),
    row("remainder(Array x, Array y) -> Array", P, np.remainder),
    row("fmod(Array x, Array y) -> Array", P, np.fmod),
    row("power(Array x, Array y) -> Array", P, np.power, raises=True),
    row("float_power(Array x, Array y) -> Array", P, np.float_power),
    row("negative(Array x) -> Array", P, np.negative),
    row("positive(Array x) -> Array", P, np.positive),
    row("absolute(Array x) -> Array", P, np.absolute),
    row("fabs(Array x) -> Array", P, np.fabs),
    row("sign(Array x) -> Array", P, np.sign),
    row("square(Array x) -> Array", P, np.square),
    row("reciprocal(Array x) -> Array", P, np.reciprocal),
    row("maximum(Array x, Array y) -> Array", P, np.maximum),
    row("minimum(Array x, Array y) -> Array", P, np.minimum),
    row("fmax(Array x, Array y) -> Array", P, np.fmax),
    row("fmin(Array x, Array y) -> Array", P, np.fmin),
    row("copysign(Array x, Array y) -> Array", P, np.copysign),
    row("heaviside(Array x, Array y) -> Array", P, np.heaviside),
    row("nextafter(Array x, Array y) -> Array", P, np.nextafter),
    row("spacing(Array x) -> Array", P, np.spacing),
    row("gcd(Array x, Array y) -> Array", P, np.gcd),
    row("lcm(Array x, Array y) -> Array", P, np.lcm),
    row("conjugate(Array x) -> Array", P, np.conjugate),
    # rounding
    row("rint(Array x) -> Array", P, np.rint),
    row("floor(Array x) -> Array", P, np.floor),
    row("ceil(Array x) -> Array", P, np.ceil),
    row("trunc(Array x) -> Array", P, np.trunc),
    # powers, exponentials, logarithms
    row("sqrt(Array x) -> Array", P, np.sqrt),
    row("cbrt(Array x) -> Array", P, np.cbrt),
    row("exp(Array x) -> Array", P, np.exp),
    row("exp2(Array x) -> Array", P, np.exp2),
    row("expm1(Array x) -> Array", P, np.expm1),
    row("log(Array x) -> Array", P, np.log),
    row("log2(Array x) -> Array", P, np.log2),
    row("log10(Array x) -> Array", P, np.log10),
    row("log1p(Array x) -> Array", P, np.log1p),
    row("logaddexp(Array x, Array y) -> Array", P, np.logaddexp),
    row("logaddexp2(Array x, Array y) -> Array", P, np.logaddexp2),
    # trigonometry
    row("sin(Array x) -> Array", P, np.sin),
    row("cos(Array x) -> Array", P, np.cos),
    row("tan(Array x) -> Array", P, np.tan),
    row("arcsin(Array x) -> Array", P, np.arcsin),
    row("arccos(Array x) -> Array", P, np.arccos),
    row("arctan(Array x) -> Array", P, np.arctan),
    row("arctan2(Array x, Array y) -> Array", P, np.arctan2),
    row("hypot(Array x, Array y) -> Array", P, np.hypot),
    row("sinh(Array x) -> Array", P, np.sinh),
    row("cosh(Array x) -> Array", P, np.cosh),
    row("tanh(Array x) -> Array", P, np.tanh),
    row("arcsinh(Array x) -> Array", P, np.arcsinh),
    row("arccosh(Array x) -> Array", P, np.arccosh),
    row("arctanh(Array x) -> Array", P, np.arctanh),
    row("deg2rad(Array x) -> Array", P, np.deg2rad),
    row("rad2deg(Array x) -> Array", P, np.rad2deg),
    row("degrees(Array x) -> Array", P, np.degrees),
    row("radians(Array x) -> Array", P, np.radians),
    # comparison
    row("equal(Array x, Array y) -> Array", P, np.equal),
    row("not_equal(Array x, Array y) -> Array", P, np.not_equal),
    row("less(Array x, Array y) -> Array", P, np.less),
    row("less_equal(Array x, Array y) -> Array", P, np.less_equal),
    row("greater(Array x, Array y) -> Array", P, np.greater),
    row("greater_equal(Array x, Array y) -> Array", P, np.greater_equal),
    row("isnan(Array x) -> Array", P, np.isnan),
    row("isinf(Array x) -> Array", P, np.isinf),
    row("isfinite(Array x) -> Array", P, np.isfinite),
    row("signbit(Array x) -> Array", P, np.signbit),
    # logic and bits
    row("logical_and(Array x, Array y) -> Array", P, np.logical_and),
    row("logical_or(Array x, Array y) -> Array", P, np.logical_or),
    row("logical_xor(Array x, Array y) -> Array", P, np.logical_xor),
    row("logical_not(Array x) -> Array", P, np.logical_not),
    row("bitwise_and(Array x, Array y) -> Array", P, np.bitwise_and),
    row("bitwise_or(Array x, Array y) -> Array", P, np.bitwise_or),
    row("bitwise_xor(Array x, Array y) -> Array", P, np.bitwise_xor),
    row("invert(Array x) -> Array", P, np.invert),
    row("left_shift(Array x, Array y) -> Array", P, np.left_shift),
    row("right_shift(Array x, Array y) -> Array", P, np.right_shift),
    # selection, casts, copies
    row("where(Array condition, Array x, Array y) -> Array", P, np.where),
    row("clip(Array x, Array? low, Array? high) -> Array", Tag.COMPOSITE, np.clip),
    row("astype(Array x, DType dtype, *, str casting, str order) -> Array", P),
    row("copy(Array x, *, str order) -> Array", P, np.copy),
    row("reinterpret(Array x, DType dtype) -> Array", P),  # as ``bitcast``, of an element
    row("item(Array x) -> Array", P, read_item),  # the scalar that ``x[()]`` reads from rank 0
    # Python's own numbers, see Note [Operators of Python numbers]
    *(
        row(f"{name}({', '.join(_OPERANDS[:count])}) -> Array", P, function, raises=fails)
        for name, (count, function, fails) in PYTHON_OPERATORS.items()
    ),
    # the parts of scalars, Python's and NumPy's; those of arrays are views
    row("real_number(Array x) -> Array", P, real_number),
    row("imaginary_number(Array x) -> Array", P, imaginary_number),
    # views
    row("slice(Array(a) x, Slice[] index) -> Array(a)", V),
    row("select(Array(a) x, int axis, Sym index) -> Array(a)", V),
    row("dynamic_select(Array(a) x, Array index, *, int axis) -> Array(a)", V),  # wrapped
    row("transpose(Array(a) x, int[] axes) -> Array(a)", V, np.transpose),
    row("reshape(Array(a) x, Sym[] shape) -> Array(a)", V),
    row("expand_dims(Array(a) x, int[] axes) -> Array(a)", V),
    row("squeeze(Array(a) x, int[] axes) -> Array(a)", V, np.squeeze),
    row("broadcast_to(Array(a) x, Sym[] shape) -> Array(a)", V, np.broadcast_to),
    row("broadcast(Array(a) x, Sym[] shape) -> Array(a)", V),  # of np.broadcast_arrays
    row("diagonal(Array(a) x, int offset, int axis1, int axis2) -> Array(a)", V, np.diagonal),
    row("real(Array(a) x) -> Array(a)", V, np.real),  # of complex arrays only
    row("imag(Array(a) x) -> Array(a)", V, np.imag),
    row("field(Array(a) x, str[] names) -> Array(a)", V),  # of records; of one in another
    row("array_field(Array(a) x, str[] names) -> Array(a)", V),  # which has several elements
    row("fields(Array(a) x, str[] names) -> Array(a)", V),  # records of several fields
    # the bytes as another dtype: of the same size, and of another one (the last axis regroups)
    row("bitcast(Array(a) x, DType dtype) -> Array(a)", V),
    row("regroup_bytes(Array(a) x, DType dtype) -> Array(a)", V),
    # steps: for each axis of x one for each axis of the view, in elements
    row("as_strided(Array(a) x, Sym[] shape, Sym[] steps, *, bool writeable) -> Array(a)", V),
    # index arrays, see Note [Index arrays]
    row("wrap_index(Array index, Sym size, *, int? axis) -> Array", P, raises=True),
    row(
        "gather(Array x, Array[] indices, *, int[] axes, int place, int[]? layout) -> Array",
        Tag.GATHER,
    ),
    row(
        "index_put(Array x, Array source, Array[] indices, *, int[] axes, int place) -> Array",
        Tag.INDEX_PUT,
    ),
    row(
        "index_reduce(Array x, Array? source, Array[] indices, *, int[] axes, int place, "
        "str ufunc) -> Array",
        Tag.INDEX_PUT,
    ),
    # of arrays whose size is counted, see Note [Counted sizes]
    row("bind_size(Array number, *, str symbol, Sym most) -> Array", Tag.SIZE),
    row("nonzero(Array mask, *, Sym count) -> Array", Tag.SIZE),
    row("masked_put(Array x, Array mask, Array source) -> Array", Tag.INDEX_PUT, raises=True),
    # writes
    row("copy_(Array(a!) x, Array y, *, str casting) -> ()", Tag.WRITE, np.copyto),
    # factories; layout names the axes from the outermost to the innermost, None is C order
    row("zeros(Sym[] shape, DType dtype, *, int[]? layout) -> Array", F, np.zeros),
    row("ones(Sym[] shape, DType dtype, *, int[]? layout) -> Array", F, np.ones),
    row("empty(Sym[] shape, DType dtype, *, int[]? layout) -> Array", F, np.empty),
    row("full(Sym[] shape, Array value, DType dtype, *, int[]? layout) -> Array", F, np.full),
    row("arange(Array start, Array step, *, Sym length, DType dtype) -> Array", F, np.arange),
    row(
        "linspace(Array start, Array stop, *, Sym num, bool endpoint, DType dtype) -> Array",
        Tag.COMPOSITE,
        np.linspace,
    ),
    row("eye(Sym rows, Sym columns, *, int k, DType dtype) -> Array", Tag.COMPOSITE, np.eye),
    row("constant(Constant value) -> Array", F),
    row("int_value(Sym value) -> Array", F),
    # reductions
    row("sum(Array x, *, int[]? axis, bool keepdims, DType? dtype) -> Array", R, np.sum),
    row("prod(Array x, *, int[]? axis, bool keepdims, DType? dtype) -> Array", R, np.prod),
    row("min(Array x, *, int[]? axis, bool keepdims) -> Array", R, np.min),
    row("max(Array x, *, int[]? axis, bool keepdims) -> Array", R, np.max),
    row("any(Array x, *, int[]? axis, bool keepdims) -> Array", R, np.any),
    row("all(Array x, *, int[]? axis, bool keepdims) -> Array", R, np.all),
    row("argmin(Array x, *, int? axis, bool keepdims) -> Array", R, np.argmin),
    row("argmax(Array x, *, int? axis, bool keepdims) -> Array", R, np.argmax),
    row(
        "mean(Array x, *, int[]? axis, bool keepdims, DType? dtype) -> Array",
        Tag.COMPOSITE,
        np.mean,
    ),
    row(
        "var(Array x, *, int[]? axis, bool keepdims, DType? dtype, int ddof) -> Array",
        Tag.COMPOSITE,
        np.var,
    ),
    row(
        "std(Array x, *, int[]? axis, bool keepdims, DType? dtype, int ddof) -> Array",
        Tag.COMPOSITE,
        np.std,
    ),
    # scans
    row("cumsum(Array x, *, int? axis, DType? dtype) -> Array", Tag.SCAN, np.cumsum),
    row("cumprod(Array x, *, int? axis, DType? dtype) -> Array", Tag.SCAN, np.cumprod),
    # contractions
    row("matmul(Array x, Array y) -> Array", Tag.CONTRACTION, np.matmul),
    row("dot(Array x, Array y) -> Array", Tag.CONTRACTION, np.dot),
    row("outer(Array x, Array y) -> Array", Tag.COMPOSITE, np.outer),
    # joining
    row("concatenate(Array[] xs, *, int? axis) -> Array", Tag.JOIN, np.concatenate),
    row("stack(Array[] xs, *, int axis) -> Array", Tag.COMPOSITE, np.stack),
    # left to NumPy: no native kernel, called from inside the compiled graph
    row("sort(Array x, *, int? axis, str? kind) -> Array", Tag.OPAQUE, np.sort),
    row("argsort(Array x, *, int? axis, str? kind) -> Array", Tag.OPAQUE, np.argsort),
    row("partition(Array x, int[] kth, *, int? axis) -> Array", Tag.OPAQUE, np.partition),
    row("argpartition(Array x, int[] kth, *, int? axis) -> Array", Tag.OPAQUE, np.argpartition),
    row(
        "unique(Array x, *, bool index, bool inverse, bool counts, bool equal_nan, bool ordered, "
        "bool rows, str symbol, Sym most) -> Array[]",
        Tag.OPAQUE,
    ),
    *(
        row(f"{f.__name__}(Array x, *, int? axis) -> Array", Tag.OPAQUE, f)
        for f in (np.median, np.nanmedian)
    ),
    *(
        row(
            f"{f.__name__}(Array x, Array q, *, int? axis, str method) -> Array",
            Tag.OPAQUE,
            f,
            raises=True,
        )
        for f in (np.quantile, np.percentile, np.nanquantile, np.nanpercentile)
    ),
    row("searchsorted(Array x, Array v, *, str side) -> Array", Tag.OPAQUE, np.searchsorted),
    row(
        "digitize(Array x, Array bins, *, bool right) -> Array",
        Tag.OPAQUE,
        np.digitize,
        raises=True,
    ),
    row("isin(Array x, Array y, *, bool assume_unique, bool invert) -> Array", Tag.OPAQUE, np.isin),
    row("lexsort(Array[] keys, *, int axis) -> Array", Tag.OPAQUE, np.lexsort),
    row(
        "interp(Array x, Array xp, Array fp, Array? left, Array? right, Array? period) -> Array",
        Tag.OPAQUE,
        np.interp,
        raises=True,
    ),
    row("i0(Array x) -> Array", Tag.OPAQUE, np.i0),
    row("cosine(Array x) -> Array", Tag.OPAQUE, cosine),
    *(
        row(f"{f.__name__}(Array x, Array v, *, str mode) -> Array", Tag.OPAQUE, f, raises=True)
        for f in (np.convolve, np.correlate)
    ),
    row(
        "bincount(Array x, Array? weights, *, Sym minlength) -> Array",
        Tag.OPAQUE,
        bincount,
        raises=True,
    ),
    row(
        "bincount_all(Array x, Array? weights, *, str symbol, Sym most) -> Array[]",
        Tag.OPAQUE,
        bincount_all,
        raises=True,
    ),
    row(
        "histogram(Array x, Array? weights, Array? low, Array? high, *, Sym bins, bool density) -> "
        "(Array, Array)",
        Tag.OPAQUE,
        histogram,
        raises=True,
    ),
    row(
        "histogram_of_edges(Array x, Array edges, Array? weights, *, bool density) -> Array",
        Tag.OPAQUE,
        histogram_of_edges,
        raises=True,
    ),
    row("fourier(Array x, *, str kind, int axis, str? norm, Sym? n) -> Array", Tag.OPAQUE, fourier),
    row("einsum(Array[] xs, *, str subscripts) -> Array", Tag.OPAQUE, einsum),
    row("modf(Array x) -> (Array, Array)", Tag.OPAQUE, np.modf),
    row("frexp(Array x) -> (Array, Array)", Tag.OPAQUE, np.frexp),
    row("ldexp(Array x, Array y) -> Array", Tag.OPAQUE, np.ldexp),
    row("divmod(Array x, Array y) -> (Array, Array)", Tag.COMPOSITE, np.divmod),
    row("linalg_inv(Array x) -> Array", Tag.OPAQUE, np.linalg.inv, raises=True),
    row("linalg_solve(Array x, Array y) -> Array", Tag.OPAQUE, np.linalg.solve, raises=True),
    row("linalg_det(Array x) -> Array", Tag.OPAQUE, np.linalg.det, raises=True),
    row(
        "linalg_cholesky(Array x, *, bool upper) -> Array",
        Tag.OPAQUE,
        np.linalg.cholesky,
        raises=True,
    ),
    row(
        "linalg_eigvalsh(Array x, *, str UPLO) -> Array",
        Tag.OPAQUE,
        np.linalg.eigvalsh,
        raises=True,
    ),
    row(
        "linalg_eigh(Array x, *, str UPLO) -> (Array, Array)",
        Tag.OPAQUE,
        np.linalg.eigh,
        raises=True,
    ),
    row("linalg_slogdet(Array x) -> (Array, Array)", Tag.OPAQUE, np.linalg.slogdet, raises=True),
    row("linalg_eigvals(Array x) -> Array", Tag.OPAQUE, eigenvalues, raises=True),
    row("linalg_eig(Array x) -> (Array, Array)", Tag.OPAQUE, eigenvectors, raises=True),
    row(
        "linalg_svd(Array x, *, bool full_matrices) -> (Array, Array, Array)",
        Tag.OPAQUE,
        np.linalg.svd,
        raises=True,
    ),
    row("linalg_svdvals(Array x) -> Array", Tag.OPAQUE, np.linalg.svdvals, raises=True),
    row("linalg_qr(Array x, *, str mode) -> (Array, Array)", Tag.OPAQUE, np.linalg.qr, raises=True),
    row("linalg_qr_r(Array x) -> Array", Tag.OPAQUE, triangle, raises=True),
    row(
        "linalg_lstsq(Array x, Array y, Array? rcond) -> (Array, Array, Array, Array)",
        Tag.OPAQUE,
        least_squares,
        raises=True,
    ),
    # methods of ufuncs; with a dtype as ``result``, as into an ``out`` of that dtype
    row(
        "ufunc_reduce(Array x, Array? initial, Array? where, *, str ufunc, int[]? axis, "
        "bool keepdims, DType? dtype, DType? result) -> Array",
        Tag.OPAQUE,
    ),
    row(
        "ufunc_accumulate(Array x, *, str ufunc, int axis, DType? dtype, DType? result) -> Array",
        Tag.OPAQUE,
    ),
    row(
        "ufunc_reduceat(Array x, Array indices, *, str ufunc, int axis, DType? dtype) -> Array",
        Tag.OPAQUE,
        raises=True,
    ),
    # control flow
    row(
        "cond(Array pred, Array[] operands, *, Region on_true, Region on_false) -> Array[]",
        Tag.BRANCH,
    ),
    row(
        "fori_loop(Array lo, Array hi, Array[] init, *, Region body, bool stops) -> Array[]",
        Tag.LOOP,
    ),
    row("while_loop(Array[] init, *, Region test, Region body) -> Array[]", Tag.LOOP),
    # effects: the first result is the first operand, see Note [Operators with effects]
    row(
        "draw(Array state, Array[] xs, *, Sym[]? size, Sym[]? shape, str call, str source) -> "
        "(Array, Array)",
        Tag.EFFECT,
        draw,
        raises=True,
    ),
    row("note(Array log, Array[] xs, *, int site) -> Array", Tag.EFFECT, note),
    row("clock(Array log, *, str which) -> (Array, Array)", Tag.CLOCK, clock),
)
