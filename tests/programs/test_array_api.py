"""A program for each function of the Python array API standard, captured as a whole.

Names and keywords are those of the 2024.12 revision (https://data-apis.org/array-api/2024.12/); each
program uses NumPy's namespace as the standard's, which NumPy's is from version 2.3 on.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.compiling import check

_R = np.random.default_rng(3)
ARGUMENTS: dict[str, np.ndarray] = {
    "x": _R.random((3, 4)) + 0.1,
    "y": _R.random((3, 4)) + 0.1,
    "v": _R.random(6) + 0.1,
    "w": _R.random(6) + 0.1,
    "s": np.eye(4) * 4 + 0.25,
    "m": _R.random((4, 2)),
    "z": _R.random((3, 4)) + 1j * _R.random((3, 4)),
    "i": _R.integers(0, 6, (3, 4)),
    "k": _R.integers(1, 4, (3, 4)),
    "p": np.array([0, 2, 1, 0, 5]),
    "b": _R.random((3, 4)) < 0.5,
    "c": _R.random((3, 4)) < 0.5,
    "d": _R.random((2, 3)),
    "e": _R.random((2, 3)),
}

# What the standard says a function takes, by category.
PROGRAMS = """
    arange(2, 9, 2) + np.arange(4)
    asarray(x, dtype=np.float32, copy=True)
    empty((2, 3)).shape
    empty_like(x).shape
    eye(3, 4, k=1) * x
    full((3, 4), 2.5) + x
    full_like(x, 3.0, dtype=np.float32)
    linspace(0.0, 1.0, 7, endpoint=False)
    meshgrid(v, w[:2], indexing="ij")
    ones((3, 4)) + x
    ones_like(x)
    tril(x, k=-1)
    triu(x, k=1)
    zeros((3, 4), dtype=np.int32) + i
    zeros_like(i)
    from_dlpack(x) * 2
    from_dlpack(x.T, copy=True)
    astype(x, np.float32)
    broadcast_arrays(x, v[:4])
    broadcast_to(v[:4], (3, 4)) + x
    can_cast(np.float32, np.float64)
    isdtype(x.dtype, "real floating")
    iinfo(i.dtype).max
    finfo(x.dtype).eps * x
    result_type(i.dtype, np.float32)
    abs(x - y)
    acos(x / 2)
    acosh(x + 1)
    add(x, y)
    asin(x / 2)
    asinh(x)
    atan(x)
    atan2(x, y)
    atanh(x / 2)
    bitwise_and(i, k)
    bitwise_left_shift(i, k)
    bitwise_invert(i)
    bitwise_or(i, k)
    bitwise_right_shift(i, k)
    bitwise_xor(i, k)
    ceil(x * 4)
    clip(x, 0.3, 0.8)
    conj(z)
    copysign(x, y - 0.5)
    cos(x)
    cosh(x)
    divide(x, y)
    equal(i, k)
    exp(x)
    expm1(x)
    floor(x * 4)
    floor_divide(i, k)
    greater(x, y)
    greater_equal(x, y)
    hypot(x, y)
    imag(z)
    isfinite(x)
    isinf(x)
    isnan(x)
    less(x, y)
    less_equal(x, y)
    log(x)
    log1p(x)
    log2(x)
    log10(x)
    logaddexp(x, y)
    logical_and(b, c)
    logical_not(b)
    logical_or(b, c)
    logical_xor(b, c)
    maximum(x, y)
    minimum(x, y)
    multiply(x, y)
    negative(x)
    nextafter(x, y)
    not_equal(i, k)
    positive(x)
    pow(x, y)
    real(z)
    reciprocal(x)
    remainder(i, k)
    round(x * 4)
    sign(x - y)
    signbit(x - y)
    sin(x)
    sinh(x)
    square(x)
    sqrt(x)
    subtract(x, y)
    tan(x)
    tanh(x)
    trunc(x * 4)
    take(v, p, axis=0)
    take_along_axis(x, i % 3, axis=0)
    matmul(x, m)
    matrix_transpose(x)
    tensordot(x, m, axes=1)
    vecdot(x, y, axis=-1)
    concat((x, y), axis=1)
    expand_dims(x, axis=1)
    flip(x, axis=0)
    moveaxis(x, 0, 1)
    permute_dims(x, (1, 0))
    repeat(x, 2, axis=0)
    reshape(x, (2, 6))
    roll(x, 1, axis=0)
    squeeze(x[:1], axis=0)
    stack((x, y), axis=1)
    tile(x, (2, 1))
    unstack(x, axis=1)
    argmax(x, axis=1, keepdims=True)
    argmin(x, axis=0)
    count_nonzero(b, axis=1)
    nonzero(b)
    searchsorted(np.sort(v), w, side="right")
    where(b, x, y)
    unique_all(i)
    unique_counts(i)
    unique_inverse(i)
    unique_values(i)
    argsort(x, axis=0, stable=True)
    sort(x, axis=0)
    cumulative_prod(x, axis=1)
    cumulative_sum(x, axis=1, include_initial=True)
    max(x, axis=0, keepdims=True)
    mean(x, axis=1)
    min(x, axis=0)
    prod(x, axis=1)
    std(x, axis=1, correction=1.0)
    sum(x, axis=(0, 1))
    var(x, axis=0, correction=1.0)
    all(b, axis=0)
    any(b, axis=1)
    diff(x, axis=1, n=2)
    fft.fft(v, norm="ortho")
    fft.ifft(z, n=6)
    fft.fftn(z, axes=(0, 1))
    fft.ifftn(z)
    fft.rfft(v)
    fft.irfft(z, axis=0)
    fft.rfftn(x)
    fft.irfftn(z)
    fft.hfft(z)
    fft.ihfft(v)
    fft.fftfreq(6, d=0.5)
    fft.rfftfreq(6, d=0.5)
    fft.fftshift(v)
    fft.ifftshift(v)
    linalg.cholesky(s, upper=True)
    linalg.cross(d, e, axis=-1)
    linalg.det(s)
    linalg.diagonal(x, offset=1)
    linalg.eigh(s)
    linalg.eigvalsh(s)
    linalg.inv(s)
    linalg.matmul(x, m)
    linalg.matrix_norm(x, ord="fro")
    linalg.matrix_power(s, 3)
    linalg.matrix_rank(s)
    linalg.matrix_transpose(x)
    linalg.outer(v, w)
    linalg.pinv(x)
    linalg.qr(x, mode="reduced")
    linalg.slogdet(s)
    linalg.solve(s, v[:4])
    linalg.svd(x, full_matrices=False)
    linalg.svdvals(x)
    linalg.tensordot(x, m, axes=1)
    linalg.trace(s, offset=1)
    linalg.vecdot(x, y)
    linalg.vector_norm(x, axis=1)
""".strip().splitlines()


def program_of(expression: str) -> tuple[Callable[..., Any], tuple[np.ndarray, ...]]:
    """The function of the arrays that the expression names, as a user would write it."""
    expression = f"np.{expression.strip()}"
    code = compile(expression, "<names>", "eval")
    names = [name for name in code.co_names if name in ARGUMENTS]
    source = f"def program({', '.join(names)}):\n    result = {expression}\n    return result\n"
    file = f"<array api {expression}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    found: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), found)
    return found["program"], tuple(ARGUMENTS[name] for name in names)


@pytest.mark.parametrize("expression", PROGRAMS, ids=lambda text: text.strip().partition("(")[0])
def test_a_function_of_the_standard(expression: str) -> None:
    name = expression.strip().partition("(")[0]
    if not hasattr(
        np if "." not in name else getattr(np, name.partition(".")[0]), name.rpartition(".")[2]
    ):
        pytest.skip(f"this NumPy has no {name}")
    function, arguments = program_of(expression)
    check(function, arguments, ulps=4)
