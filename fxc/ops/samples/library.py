"""Sample inputs of functions that NumPy computes."""

from __future__ import annotations

import numpy as np

from .arguments import Source, literally

SAMPLES: dict[str, Source] = {
    **{
        name: literally((np.array([3.0, 1.0]), None), (np.array([[1, 2], [4, 8]]), 0))
        for name in ("median", "nanmedian")
    },
    **{
        name: literally(
            (np.array([3.0, 1.0, 2.0]), 0.25, None, "linear"),
            (np.array([[3, 1, 2], [5, 9, 4]]), np.array([0.5, 1.0]), 1, "lower"),
        )
        for name in ("quantile", "percentile")
    },
    **{
        name: literally(
            (np.array([3.0, np.nan, 2.0]), np.array([0.25, 1.0]), None, "linear"),
            (np.array([[3, 1, 2], [5, 9, 4]]), 0.5, 1, "lower"),
        )
        for name in ("nanquantile", "nanpercentile")
    },
    "searchsorted": literally(
        (np.array([1.0, 2.0, 2.0]), 2.0, "left"),
        (np.array([1, 2, 5]), np.array([[0, 2], [5, 9]]), "right"),
    ),
    "digitize": literally(
        (np.array([0.5, 2.0]), np.array([0.0, 1.0, 2.0]), False),
        (np.array([[0, 2]]), np.array([2, 1, 0]), True), (1.0, np.array([0.0, 1.0]), False),
    ),
    "isin": literally(
        (np.array([[1, 2], [3, 4]]), np.array([2, 9]), False, False),
        (np.array([0.5, np.nan]), np.array([0.5]), True, True),
        (np.array(3), np.array([3]), False, False),
    ),
    "lexsort": literally(
        ((np.array([2, 1, 2]), np.array([1.0, 1.0, 0.5])), -1), ((np.array([[2, 1], [0, 3]]),), 0),
    ),
    "histogram": literally(
        (np.array([0.5, 1.0, 2.0]), None, None, None, 4, False),
        (np.array([[0, 3], [2, 1]]), np.array([[1, 2], [3, 4]]), 0, 3, 3, False),
        (np.array([0.5, 1.0, 2.0], "f4"), None, 0.0, 1.0, 2, True),
    ),
    "histogram_of_edges": literally(
        (np.array([0.5, 1.0, 2.0]), np.array([0.0, 1.0, 3.0]), None, False),
        (np.array([0, 3, 1]), np.array([0, 1, 4]), np.array([0.5, 1.0, 2.0]), True),
    ),
    "interp": literally(
        (0.5, np.array([0.0, 1.0]), np.array([2.0, 4.0]), None, None, None),
        (np.array([[-1.0, 0.25]]), np.array([0.0, 1.0]), np.array([2.0, 4.0]), None, -1.0, None),
        (np.array([-1.0, 0.25]), np.array([0.0, 1.0]), np.array([2.0, 4.0]), None, None, 1.5),
    ),
    **{
        name: literally(
            *((np.arange(n + 1.0), np.arange(m + 1), mode)
              for n in (0, 3, 5) for m in (1, 4) for mode in ("full", "same", "valid"))
        )
        for name in ("convolve", "correlate")
    },
    "bincount": literally(
        (np.array([1, 3, 1]), None, 4), (np.array([1, 0]), np.array([0.5, 1.0]), 3)
    ),
    "bincount_all": literally(
        (np.array([1, 3, 1]), None, "count", 9),
        (np.array([1, 0]), np.array([0.5, 1.0]), "count", 9),
    ),
    "fourier": literally(
        *((np.arange(12.0).reshape(3, 4) ** 2, kind, axis, norm, None)
          for kind in ("fft", "ifft", "rfft", "irfft") for axis in (0, -1)
          for norm in (None, "ortho")),
        *((np.arange(12.0).reshape(3, 4) ** 2, kind, axis, None, n)
          for kind in ("fft", "ifft", "rfft", "irfft") for axis in (0, -1) for n in (2, 3, 7, 8))
    ),
    "einsum": literally(
        ((np.arange(3.0), np.arange(3)), "i,i->"),
        ((np.arange(6.0).reshape(2, 3), np.arange(3.0)), "ij,j->i"),
        ((np.arange(6.0).reshape(2, 3), np.ones((3, 4))), "ij,jk->ik"),
    ),
}  # fmt: skip
