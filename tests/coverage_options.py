"""Calls for ``docs/coverage.md`` with keywords that take arguments of their own, by function."""

from __future__ import annotations

from typing import Any

import numpy as np

_R = np.random.default_rng(1)
_X = _R.random(6) * 3
_A = _R.random((4, 4))
_S = _A @ _A.T + 4 * np.eye(4)
_I = np.array([3, 1, 2, 0, 1, 2])
_B = np.array([True, False, True, True, False, True])
_BYTES = np.arange(6, dtype=np.uint8)
_DAYS = np.array(["2020-01-01", "2020-03-05", "NaT"], "M8[D]")
_PAIRS = np.array([(2, 0.5), (1, 1.5), (2, 0.25)], [("a", "i8"), ("b", "f8")])
_WORKDAYS = np.busdaycalendar("1111100", ["2020-01-01"])

# Arguments of functions that take no numbers.
OF_OTHERS: dict[str, tuple[Any, ...]] = {
    **{
        "busday_count": (_DAYS[:2], _DAYS[1::-1].copy()),
        "busday_offset": (_DAYS[:2], 3, "forward"),
    },
    **{"is_busday": (_DAYS[:2],), "isnat": (_DAYS,), "datetime_as_string": (_DAYS,)},
    **{"datetime_data": (_DAYS.dtype,), "isdtype": (np.float64, "real floating")},
    **{"issubdtype": (np.float64, np.floating), "promote_types": ("f4", "i8"), "typename": ("d",)},
    "to_device": (_X, "cpu"),
}

Call = tuple[tuple[Any, ...], dict[str, Any]]


def _of(*args: Any, **kwargs: Any) -> Call:
    return args, kwargs


_BUSY = (
    _of(_DAYS[:2], weekmask="1111000"),
    _of(_DAYS[:2], holidays=["2020-01-01"]),
    _of(_DAYS[:2], busdaycal=_WORKDAYS),
)
_OF_SPANS = tuple(((_DAYS[:2], _DAYS[1::-1].copy()), options) for _, options in _BUSY)
_SIDES = {"stat_length": 2}

OPTIONS: dict[str, tuple[Call, ...]] = {
    "argpartition": (_of(_X, 2, kind="introselect"), _of(_PAIRS, 2, order="b")),
    "argsort": (_of(_PAIRS, order="b"), _of(_X, descending=True)),
    "arange": (_of(0, stop=10, step=2),),
    "array2string": (_of(_X, precision=3, separator=", "),),
    "as_strided": (
        _of(_X, shape=(2, 3), strides=(8, 8), writeable=False),
        _of(_X, (2, 3), (8, 8), check_bounds=True),
    ),
    "base_repr": (_of(5, base=3, padding=2),),
    "bitwise_count": (_of(_I, dtype=np.uint8),),
    "bincount": (_of(_I, weights=_X),),
    "binary_repr": (_of(5, width=8),),
    "busday_count": (*_OF_SPANS, _of(_DAYS[:2], _DAYS[:2], out=np.zeros(2, np.int64))),
    "busday_offset": (
        *(_of(days[0], 1, "forward", **options) for days, options in _BUSY),
        _of(_DAYS[:2], 3, roll="forward"),
        _of(_DAYS[:2], 3, "forward", out=_DAYS[:2].copy()),
    ),
    "cholesky": (_of(_S, upper=True),),
    "clip": (_of(_X, a_min=0.5, a_max=1.0),),
    "compress": (_of(_B[:4], _A, axis=1), _of(_B, _X, out=np.zeros(4))),
    "cond": (_of(_S, p=1), _of(_S, p="fro")),
    "copyto": (_of(_X, _X[::-1].copy(), where=_B), _of(_X, _X[::-1].copy(), casting="unsafe")),
    "corrcoef": (_of(_X, y=_X[::-1].copy()),),
    "cov": (_of(_X, y=_X[::-1].copy()), _of(_X, fweights=_I), _of(_X, aweights=_X.copy())),
    "cross": (_of(_A[:3], _S[:3], axisa=0, axisb=0, axisc=0),),
    "datetime_as_string": (
        _of(_DAYS, unit="s"),
        _of(_DAYS, timezone="naive"),
        _of(_DAYS, casting="unsafe", unit="D"),
    ),
    "divmod": (_of(_X, 0.5, out=(np.zeros(6), np.zeros(6))),),
    "dot": (_of(_A, _S, out=np.zeros((4, 4))),),
    "einsum": (
        _of("ij,jk", _A, _S, out=np.zeros((4, 4))),
        _of("ij,jk", _A, _S, optimize="optimal"),
        _of("ij,jk", _A, _S, dtype=np.float32, casting="unsafe"),
        _of("ij,jk", _A, _S, order="F"),
    ),
    "empty_like": (_of(_X, shape=(2, 3)),),
    "eye": (_of(3, M=4),),
    "fftfreq": (_of(5, d=0.1),),
    **{name: (_of(_A, s=(3, 3), axes=(0, 1)),) for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    "fill_diagonal": (_of(np.zeros((7, 3)), 1.0, wrap=True),),
    "format_float_positional": (
        _of(0.5, precision=3, unique=False, fractional=False, trim="k", sign=True),
        _of(0.5, pad_left=3, pad_right=3, min_digits=2),
    ),
    "format_float_scientific": (
        _of(0.5, precision=3, unique=False, trim="k", sign=True, pad_left=3, exp_digits=3),
        _of(0.5, min_digits=2),
    ),
    "frombuffer": (_of(_X, dtype=np.float64, count=2, offset=8),),
    "frexp": (_of(_X, out=(np.zeros(6), np.zeros(6, np.intc))), _of(_X, signature="d->di")),
    "fromiter": (_of([1, 2, 3], float, count=2),),
    "full_like": (_of(_X, 2.0, shape=(2, 3)),),
    "geomspace": (_of(1.0, 10.0, num=4),),
    "histogram": (_of(_X, bins="auto"),),
    "histogram2d": (
        _of(_X, _X[::-1].copy(), bins=(4, 3)),
        _of(_X, _X[::-1].copy(), range=((0, 1), (0, 2))),
    ),
    "histogramdd": (
        _of(_A, bins=3),
        _of(_A, 3, range=((0, 1),) * 4),
        _of(_A, 3, weights=_X[:4].copy()),
    ),
    "insert": (_of(_A, 1, 5.0, axis=1),),
    "intersect1d": (_of(_I, _I[:3].copy(), return_indices=True),),
    "is_busday": _BUSY,
    "isin": (_of(_I, _I[:2].copy(), kind="sort"),),
    "ldexp": (_of(_X, _I, signature="dl->d"),),
    "linspace": (_of(0.0, 1.0, num=7), _of(_X, _X + 1, num=5, axis=1)),
    "logspace": (_of(0.0, 1.0, base=2.0),),
    "matmul": (_of(_A, _S, axes=[(0, 1), (0, 1), (0, 1)]), _of(_A, _S, signature="dd->d")),
    "matvec": (_of(_A, _X[:4], axes=[(0, 1), 0, 0]),),
    "modf": (_of(_X, out=(np.zeros(6), np.zeros(6))),),
    "mintypecode": (_of("fd", typeset="GDFgdf", default="d"),),
    "multi_dot": (_of([_A, _S, _A], out=np.zeros((4, 4))),),
    "nan_to_num": (_of(_X, copy=False),),
    **{
        name: (
            _of(_X, 0.5, weights=_X.copy(), method="inverted_cdf"),
            _of(_X, 0.5, out=np.zeros(())),
            _of(_X, 0.5, interpolation="lower"),  # of older versions
        )
        for name in ("percentile", "quantile", "nanpercentile", "nanquantile")
    },
    **{
        name: (_of(_A, axis=0, mean=_A.mean(0, keepdims=True)),)
        for name in ("std", "var", "nanstd", "nanvar")
    },
    **{name: (_of(_X, where=_B, initial=0.0),) for name in ("max", "min", "amax", "amin")},
    **{name: (_of(_X, where=_B, initial=0.0),) for name in ("nanmax", "nanmin")},
    "ones_like": (_of(_X, shape=(2, 3)),),
    "partition": (_of(_X, 2, kind="introselect"), _of(_PAIRS, 2, order="b")),
    "pad": (_of(_X, 2, mode="edge"), _of(_X, 2, mode="maximum", **_SIDES)),
    "piecewise": (_of(_X, [_X > 1], [1.0, 2.0]),),
    "polyder": (_of(_X, m=2),),
    "polyfit": (
        _of(_X, _X**2, 2, full=True),
        _of(_X, _X**2, 2, w=_X.copy()),
        _of(_X, _X**2, 2, cov=True),
    ),
    "polyint": (_of(_X, m=2),),
    "qr": (_of(_A, mode="complete"), _of(_A, mode="r"), _of(_A, mode="raw")),
    "require": (_of(_X, requirements=["C", "W"]),),
    "reshape": (_of(_X, newshape=(2, 3)),),  # of older versions
    "resize": (_of(_X, (3, 4), refcheck=False),),
    "rfftfreq": (_of(5, d=0.1),),
    "roll": (_of(_A, (1, 2), axis=(0, 1)),),
    "rollaxis": (_of(_A, 1, start=0),),
    "rot90": (_of(_A, k=2, axes=(1, 0)),),
    "searchsorted": (_of(_X, 1.0, sorter=np.argsort(_X)),),
    "select": (_of([_X > 1, _X > 2], [_X, -_X], default=7.0),),
    "setflags": (_of(_X, align=True, uic=False),),
    "sliding_window_view": (_of(_X, 3, writeable=True),),
    "sort": (_of(_PAIRS, order="b"), _of(_X, descending=True)),
    "squeeze": (_of(_X[None], axis=0),),
    "take": (_of(_X, _I, out=np.zeros(6)),),
    "tensordot": (_of(_A, _S, axes=1),),
    "tensorinv": (_of(np.eye(4).reshape(4, 2, 2), ind=1),),
    "tri": (_of(3, M=4),),
    "tril_indices": (_of(3, m=4),),
    "triu_indices": (_of(3, m=4),),
    "trim_zeros": (_of(_X, trim="f"), _of(_A, axis=0)),
    "unique": (_of(_I, sorted=False),),
    "unpackbits": (_of(_BYTES, count=10),),
    "vecdot": (_of(_A, _S, axes=[0, 0, ()]), _of(_A, _S, axis=0, keepdims=True)),
    "vecmat": (_of(_X[:4], _A, axes=[0, (0, 1), 0]),),
    "where": (_of(_B, _X, -_X),),
    "zeros_like": (_of(_X, shape=(2, 3)),),
    # functions that draw
    "choice": (
        _of(_X, size=3, replace=False),
        _of(_X, 3, p=_I / _I.sum()),
        _of(_A, 3, axis=1),
        _of(_X, 3, shuffle=False, replace=False),
    ),
    "multivariate_hypergeometric": (_of([5, 6], 4, 5, method="count"),),
    "multivariate_normal": (
        _of(np.zeros(2), np.eye(2), 5, check_valid="ignore", tol=1e-6),
        _of(np.zeros(2), np.eye(2), 5, method="eigh"),
    ),
    **{
        name: (_of(size=3), _of(3, dtype=np.float32), _of(out=np.zeros(3)))
        for name in ("random", "standard_normal")
    },
    "standard_exponential": (
        _of(size=3),
        _of(3, dtype=np.float32, method="inv"),
        _of(out=np.zeros(3)),
    ),
    "standard_gamma": (_of(2.0, size=3, dtype=np.float32), _of(2.0, out=np.zeros(3))),
    **{name: (_of(0, 9, 5, dtype=np.int32),) for name in ("integers", "randint")},
    "permutation": (_of(_A, axis=1),),
    "permuted": (_of(_A, axis=1), _of(_X, out=np.zeros(6))),
    "shuffle": (_of(_A, axis=1),),
}
