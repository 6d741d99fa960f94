"""Products of matrices, of slices and of rows; decompositions; small layers of networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import NO_JAX, Arguments, Goal, Program, normals, positive_definite, randoms


def lu(a: Any) -> None:
    """Doolittle's, in place, by inner products of slices."""
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]


def cholesky(a: Any) -> None:
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - np.dot(a[i, :j], a[j, :j])) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - np.dot(a[i, :i], a[i, :i]))


def symmetric_update(c: Any, a: Any, alpha: float, beta: float) -> None:
    """The lower triangle of beta C + alpha A Aᵀ, by rows."""
    for i in range(c.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


def symmetric_update_of_jax(c: Any, a: Any, alpha: float, beta: float) -> Any:
    lower = np.tril(np.ones_like(c))
    return np.where(lower == 1, beta * c + alpha * (a @ a.T), c)


def triangular_product(a: Any, b: Any, alpha: float) -> None:
    """B becomes alpha Aᵀ B for A lower triangular with ones on its diagonal, by rows."""
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha


def triangular_product_of_jax(a: Any, b: Any, alpha: float) -> Any:
    return alpha * (b + np.tril(a, -1).T @ b)


def covariance(data: Any) -> Any:
    """Columns against all columns after them."""
    rows, columns = data.shape
    centred = data - data.mean(axis=0)
    result = np.zeros((columns, columns))
    for i in range(columns):
        result[i, i:] = centred[:, i] @ centred[:, i:] / (rows - 1)
        result[i:, i] = result[i, i:]
    return result


def covariance_of_jax(data: Any) -> Any:
    centred = data - data.mean(axis=0)
    return centred.T @ centred / (data.shape[0] - 1)


def products_of_slices(a: Any, b: Any) -> Any:
    """Small matrices of two arrays with four axes, one by one."""
    out = np.zeros(a.shape[:3] + b.shape[3:])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = np.dot(a[i, j], b[i, j])
    return out


def products_of_slices_of_jax(a: Any, b: Any) -> Any:
    return a @ b


def rows_times_matrix(a: Any, c: Any) -> None:
    """Each row of an array with three axes becomes its product with a matrix."""
    for r in range(a.shape[0]):
        for q in range(a.shape[1]):
            a[r, q, :] = np.dot(a[r, q, :], c)


def rows_times_matrix_of_jax(a: Any, c: Any) -> Any:
    return a @ c


def sparse_product(rows: Any, columns: Any, values: Any, x: Any) -> Any:
    """Sparse matrix by vector: a slice of columns and values for each row."""
    y = np.zeros(rows.shape[0] - 1)
    for i in range(y.shape[0]):
        part = slice(rows[i], rows[i + 1])
        y[i] = values[part] @ x[columns[part]]
    return y


def sparse(r: np.random.Generator) -> Arguments:
    n, count = 8192, 65536
    rows = np.searchsorted(np.sort(r.integers(0, n, count)), np.arange(n + 1)).astype(np.int64)
    return rows, r.integers(0, n, count), r.random(count), r.random(n)


def convolution(x: Any, weights: Any, bias: Any) -> Any:
    """Direct, by windows, broadcasting and a sum; batch, rows, columns, channels."""
    k = weights.shape[0]
    height, width = x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.empty((x.shape[0], height, width, weights.shape[3]), dtype=x.dtype)
    for i in range(height):
        for j in range(width):
            window = x[:, i : i + k, j : j + k, :, None]
            out[:, i, j, :] = (window * weights[None]).sum(axis=(1, 2, 3))
    return out + bias


def convolution_of_jax(x: Any, weights: Any, bias: Any) -> Any:
    import jax

    layout = ("NHWC", "HWIO", "NHWC")
    return (
        jax.lax.conv_general_dilated(x, weights, (1, 1), "VALID", dimension_numbers=layout) + bias
    )


def pooled(x: Any) -> Any:
    """The largest of each 2 x 2 of what a rectifier leaves."""
    x = np.maximum(x, 0)
    n, height, width, channels = x.shape
    return x.reshape(n, height // 2, 2, width // 2, 2, channels).max(axis=(2, 4))


def small_network(x: Any, weights: Any, bias: Any, w1: Any, b1: Any) -> Any:
    """Convolution, rectifier, pooling, a dense layer, softmax."""
    hidden = pooled(convolution(x, weights, bias))
    scores = hidden.reshape(x.shape[0], -1) @ w1 + b1
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def small_network_of_jax(x: Any, weights: Any, bias: Any, w1: Any, b1: Any) -> Any:
    hidden = np.maximum(convolution_of_jax(x, weights, bias), 0)
    n, height, width, channels = hidden.shape
    hidden = hidden.reshape(n, height // 2, 2, width // 2, 2, channels).max(axis=(2, 4))
    scores = hidden.reshape(n, -1) @ w1 + b1
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def perceptron(x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    """Two dense layers and a softmax."""
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


def predicted(f: Any, p: Any, q: Any) -> Any:
    """The covariances of many Kalman filters, a step later."""
    return f @ p @ f.T + q


def batched(a: Any, b: Any) -> Any:
    return np.einsum("bij,bjk->bik", a, b)


def quadratic_forms(x: Any, a: Any) -> Any:
    return np.einsum("ni,ij,nj->n", x, a, x)


def causal_attention(q: Any, k: Any, v: Any) -> Any:
    """Each place of a sequence looks at those up to itself, by several heads."""
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
    places = np.arange(q.shape[2])
    scores = np.where(places[:, None] >= places, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.einsum("bhqk,bhkd->bhqd", weights, v)


def logistic_step(x: Any, y: Any, w: Any) -> Any:
    """Of gradient descent for a logistic regression."""
    p = 1 / (1 + np.exp(-(x @ w)))
    return w - 0.1 * (x.T @ (p - y)) / y.shape[0]


def floats(*shapes: tuple[int, ...]) -> Any:
    return lambda r: tuple(r.standard_normal(shape).astype(np.float32) for shape in shapes)


IMAGES, FILTERS = (8, 32, 32, 3), (5, 5, 3, 16)
N = 400

PROGRAMS = (
    Program(
        "LU, 400 x 400",
        lu,
        lambda r: (positive_definite(r, N),),
        N * N,
        2 / 3 * N**3,
        16 * N * N,
        writes=(0,),
        fresh=True,
        goal=Goal(70),
        peers=NO_JAX,
    ),
    Program(
        "Cholesky, 400 x 400",
        cholesky,
        lambda r: (positive_definite(r, N),),
        N * N,
        1 / 3 * N**3,
        8 * N * N,
        writes=(0,),
        fresh=True,
        goal=Goal(70),
        peers=NO_JAX,
    ),
    Program(
        "symmetric update by rows, 200 x 150",
        symmetric_update,
        lambda r: (r.random((200, 200)), r.random((200, 150)), 1.5, 1.2),
        200 * 200,
        2 * 150 * 200 * 100,
        8 * (200 * 200 + 200 * 150),
        writes=(0,),
        fresh=True,
        goal=Goal(150),
        peers={"jax": symmetric_update_of_jax},
    ),
    Program(
        "triangular product by rows, 150 x 200",
        triangular_product,
        lambda r: (r.random((150, 150)), r.random((150, 200)), 1.5),
        150 * 200,
        2 * 150 * 200 * 75,
        8 * (150 * 75 + 2 * 150 * 200),
        writes=(1,),
        fresh=True,
        goal=Goal(150),
        peers={"jax": triangular_product_of_jax},
    ),
    Program(
        "covariance by growing columns, 600 x 500",
        covariance,
        randoms((600, 500)),
        500 * 500,
        600 * 500 * 500,
        8 * (600 * 500 + 500 * 500),
        goal=Goal(3),
        peers={"jax": covariance_of_jax},
    ),
    Program(
        "np.dot of slices, 8 x 8 x 12 x 12",
        products_of_slices,
        randoms((8, 8, 12, 12), (8, 8, 12, 12)),
        64 * 144,
        2 * 64 * 12**3,
        3 * 8 * 64 * 144,
        goal=Goal(6),
        peers={"jax": products_of_slices_of_jax},
    ),
    Program(
        "rows times a matrix, 60 x 60 x 128",
        rows_times_matrix,
        randoms((60, 60, 128), (128, 128)),
        60 * 60 * 128,
        2 * 60 * 60 * 128 * 128,
        16 * 60 * 60 * 128,
        writes=(0,),
        fresh=True,
        goal=Goal(6),
        peers={"jax": rows_times_matrix_of_jax},
    ),
    Program(
        "sparse matrix by vector, 65536 of 8192 rows",
        sparse_product,
        sparse,
        65536,
        2 * 65536,
        16 * 65536 + 24 * 8192,
        goal=Goal(110),
        peers=NO_JAX,
    ),
    Program(
        "convolution, 8 x 32 x 32 x 3 by 5 x 5 x 16, float32",
        convolution,
        floats(IMAGES, FILTERS, (16,)),
        8 * 28 * 28 * 16,
        2 * 75 * 8 * 28 * 28 * 16,
        4 * 8 * (32 * 32 * 3 + 28 * 28 * 16),
        goal=Goal(20, all=True),
        peers={"jax": convolution_of_jax},
    ),
    Program(
        "convolution, pooling and a dense layer, float32",
        small_network,
        floats(IMAGES, FILTERS, (16,), (14 * 14 * 16, 10), (10,)),
        8 * 28 * 28 * 16,
        2 * 75 * 8 * 28 * 28 * 16,
        4 * (8 * 32 * 32 * 3 + 14 * 14 * 160),
        goal=Goal(20, all=True),
        peers={"jax": small_network_of_jax},
    ),
    Program(
        "two dense layers, 64 x 784 x 512 x 10, float32",
        perceptron,
        floats((64, 784), (784, 512), (512,), (512, 10), (10,)),
        64 * 512,
        2 * 64 * 512 * 794,
        4 * (64 * 784 + 784 * 512),
    ),
    Program(
        "covariances of 2000 Kalman filters, 4 x 4",
        predicted,
        randoms((4, 4), (2000, 4, 4), (4, 4)),
        2000 * 16,
        2000 * 272,
        8 * 2000 * 32,
    ),
    Program(
        "einsum of 64 products, 32 x 32",
        batched,
        randoms((64, 32, 32), (64, 32, 32)),
        64 * 1024,
        2 * 64 * 32**3,
        3 * 8 * 64 * 1024,
    ),
    Program(
        "einsum of quadratic forms, 2000 x 16",
        quadratic_forms,
        randoms((2000, 16), (16, 16)),
        2000,
        2 * 2000 * 17 * 16,
        8 * 2000 * 17,
    ),
    Program(
        "einsum of causal attention, 2 x 4 x 128 x 64",
        causal_attention,
        normals(*3 * [(2, 4, 128, 64)]),
        8 * 128 * 128,
        8 * 128 * 128 * (4 * 64 + 5),
        4 * 8 * 8 * 128 * 64,
    ),
    Program(
        "logistic regression, 10000 x 50",
        logistic_step,
        lambda r: (r.random((10000, 50)), r.random(10000), r.random(50)),
        500_000,
        4 * 500_000,
        8 * 500_000,
    ),
)
