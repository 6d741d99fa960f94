"""Sample inputs of products of matrices, and of linear algebra."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .arguments import Make, Source, literally
from .arrays import FLOAT64, filled


def _products(vectors: bool) -> Iterator[Make]:
    shapes = [((2, 3), (3, 4)), ((3,), (3, 2)), ((2, 3), (3,)), ((3,), (3,)), ((0, 3), (3, 2))]
    if vectors:
        shapes = [((3,), (2,)), ((2, 2), (3,)), ((0,), (2,)), ((1,), (1,)), ((), (2,))]
    for dtype in map(np.dtype, ("f8", "f4", "i8", "u1", "?", "c16")):
        for left, right in shapes:
            yield lambda d=dtype, a=left, b=right: (filled(d, a), filled(d, b, 1))  # type: ignore[misc]
    yield lambda: (filled(FLOAT64, (3, 2)).T, filled(np.dtype("f4"), (2, 3)).T)


_MATRIX = np.array([[2.0, 1.0], [1.0, 3.0]])

SAMPLES: dict[str, Source] = {
    "matmul": lambda: _products(vectors=False),
    "dot": lambda: _products(vectors=False),
    "outer": lambda: _products(vectors=True),
    "linalg_inv": literally((_MATRIX,), (np.stack([_MATRIX, 2 * _MATRIX]),)),
    **{
        f"linalg_{name}": literally((_MATRIX, *more), (np.stack([_MATRIX, 2 * _MATRIX]), *more))
        for name, more in (
            ("det", ()), ("slogdet", ()), ("cholesky", (False,)), ("eigvalsh", ("L",)),
            ("eigh", ("U",)), ("eig", ()), ("eigvals", ()), ("svd", (True,)), ("svdvals", ()),
            ("qr", ("reduced",)), ("qr_r", ()),
        )
    },
    "linalg_lstsq": literally(
        (_MATRIX, np.array([1.0, 2.0]), None),
        (np.array([[2.0, 1.0], [1.0, 3.0], [0.0, 1.0]]), np.ones((3, 2)), 1e-9),
    ),
    "linalg_solve": literally((_MATRIX, np.array([1.0, 2.0])), (_MATRIX.T, _MATRIX)),
}  # fmt: skip
