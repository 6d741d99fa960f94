"""Functions of NumPy's on one argument of each kind: what they take, and what they raise.

With ``--thorough`` all functions get all kinds.
"""

from __future__ import annotations

import copy
import warnings
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import fxc
from tests.covering import some
from tests.outcomes import Outcome, difference, run

NAMES = """
    all amax angle any append argmax argpartition argsort argwhere array_equal array_split around
    asarray atleast_1d atleast_2d average bincount broadcast_arrays clip column_stack concatenate
    conj convolve copy corrcoef correlate count_nonzero cov cross cumprod cumsum delete diag
    diagflat diagonal diff digitize dot ediff1d expand_dims extract fft.fft fft.fftshift
    fft.ifftshift fix flatnonzero flip full_like geomspace gradient histogram hstack imag inner
    insert interp intersect1d isclose iscomplexobj isin isrealobj isscalar ix_ kron lexsort
    linalg.cond linalg.det linalg.diagonal linalg.inv linalg.matrix_rank linalg.norm linalg.pinv
    linalg.svdvals linalg.trace linspace logspace max mean median meshgrid min moveaxis nan_to_num
    nanargmax nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanstd nansum nanvar
    ndim nonzero ones_like outer packbits pad partition percentile place prod ptp quantile ravel
    ravel_multi_index real repeat reshape resize roll rot90 round searchsorted select setdiff1d
    shape sinc size sort split squeeze stack std sum swapaxes take tensordot tile trace transpose
    trapezoid tri tril trim_zeros triu union1d unique unpackbits unravel_index unwrap vander var
    vdot vstack where zeros_like
"""
KINDS: dict[str, Any] = {
    "a float": 0.5,
    "an int": 3,
    "a bool": True,
    "a complex": 1 + 2j,
    "a scalar of NumPy's": np.float32(2.5),
    "an array without axes": np.array(2.0),
    "an empty array": np.array([]),
    "an empty list": [],
    "a list": [3.0, 1.0, 2.0],
    "a list of lists": [[1.0, 2.0], [3.0, 4.0]],
    "a tuple": (1, 2, 3),
    "a range": range(4),
    "a set": {1, 2},
    "ints": np.array([3, 1, 2]),
    "bools": np.array([True, False]),
    "nans": [np.nan, 1.0],
    "float16": np.arange(3, dtype=np.float16),
    "longdouble": np.arange(3, dtype=np.longdouble),
    "objects": np.array([1, None], object),
    "texts": np.array(["a", "b"]),
    "days": np.array(["2020-01-01"], "M8[D]"),
    "records": np.zeros(2, [("a", int)]),
    "a read-only view": np.broadcast_to(1.0, (2, 2)),
    "None": None,
    "a text": "text",
    "a negative int": -1,
    "a large int": 2**70,
}
# NumPy makes an array as long as the number is large.
NOT_OF: dict[str, tuple[str, ...]] = {
    "tri": ("a large int",), "diagflat": ("a large int",), "vander": ("a large int",),
}  # fmt: skip


def outcome(fn: Callable[[Any], Any], value: Any) -> tuple[str, Any, list[str]]:
    """The result or the exception, and what was warned of."""
    value = copy.deepcopy(value)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        try:
            found: Any = fn(value)
            raised = ""
        except Exception as error:
            found, raised = None, f"{type(error).__name__}: {error}"
    told = [f"{each.category.__name__}: {each.message}" for each in shown]
    return raised, found, [text for text in told if "runs as plain NumPy" not in text]


def alike(a: Any, b: Any) -> bool:
    """Whether two results are equal in type, dtype and shape, and nearly in numbers."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(alike, a, b))
    is_number = isinstance(a, np.ndarray | np.generic | float | complex)
    if not is_number or np.asarray(a).dtype.kind not in "fc":
        return repr(a) == repr(b)
    x, y = np.asarray(a), np.asarray(b)
    same = x.dtype == y.dtype and x.shape == y.shape
    return same and np.allclose(x, y, rtol=16 * np.finfo(x.dtype).eps, atol=0, equal_nan=True)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("name", NAMES.split())
def test_one_argument(name: str) -> None:
    function: Any = np
    for part in name.split("."):
        function = getattr(function, part)
    for kind in some(list(KINDS), 6, zlib.crc32(name.encode())):
        if kind in NOT_OF.get(name, ()):
            continue
        expected = outcome(function, KINDS[kind])
        found = outcome(fxc.compile(lambda value: function(value)), KINDS[kind])
        assert (expected[0], expected[2]) == (found[0], found[2]), kind
        assert alike(expected[1], found[1]), f"{kind}: {found[1]!r} for {expected[1]!r}"


@pytest.mark.parametrize("value", [[2, 1.5, True], [np.float32(1), 2], [[1, 2.0], [3, 4]]])
def test_lists_of_several_kinds_of_numbers(value: Any) -> None:
    """NumPy's code hands them on, of what is traced too, to functions of C."""
    for function in (np.ptp, np.isrealobj, np.nanmax, np.average, np.min_scalar_type):
        expected, found = (outcome(f, value) for f in (function, fxc.compile(function)))
        assert alike(expected[1], found[1]), function


ARGUMENTS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda x: np.arctan2.accumulate(x, axis=None), (np.arange(3.0),)),
    (lambda x: np.add.accumulate(x, axis=None), (np.ones((2, 3)),)),
    (lambda x: np.add.accumulate(x, axis=0), (3.0,)),
    (lambda x: np.add.reduceat(x, [1, 0], axis=(-1,)), (np.arange(4),)),
    (lambda x: np.add.reduceat(x, [1, 0], axis=None), (np.arange(4),)),
    (lambda x: np.argmin(x, axis=np.int64(0)), (3,)),
    (lambda x: x.sum(axis=True), (np.ones((2, 3)),)),
    (lambda x: np.median(x, axis=True), (np.ones((2, 3)),)),
    (lambda x, y: (np.bitwise_and.reduce(x, out=y), y), (np.arange(3), np.arange(3))),
    (lambda x, y: np.hypot.reduce(x, out=y), (np.ones((3, 1)), np.ones(2))),
    (lambda x, y: np.maximum.accumulate(x, out=y), (np.arange(3), np.zeros((1, 3), int))),
    (lambda x, y: np.logaddexp.accumulate(x, out=y), (np.arange(3), np.zeros((3, 3), int))),
    (lambda x, y: x.cumsum(out=y), (np.arange(3), np.zeros(0, int))),
    (lambda n: np.arctan(n, casting="equiv"), (7,)),
    (lambda x, y: x.conjugate(y), (np.ones(3) * 1j, np.zeros(3, complex))),
    (lambda x: np.matmul.at(x, 0, x), (np.ones((2, 2)),)),
    (lambda x, n: np.multiply.at(x, 0, n), (np.array(["ab", "c"]), np.uint8(2))),
    (lambda x, n: np.logical_and(x, n), (np.array([5, 0], np.uint64), -2)),
    (lambda x, n: np.logical_or(n, x), (np.array([5, 0], np.int8), 300)),
    (lambda x, n: np.repeat(x, n), (np.arange(3), np.float64(2))),
    (lambda x: np.repeat(x, 2.0), (np.arange(3),)),
    (lambda x, i: np.put(x, [i], 7), (np.arange(4), np.array([1.0, 2.0]))),
    (lambda x: (x.any(dtype=bool), x.sum().all(None, bool)), (np.arange(3),)),
    (lambda x: (x.any(0, None, None, True), x.all(dtype=float)), (np.arange(3),)),
    (lambda x: np.add.at(x, [], None), (np.arange(3),)),
    (lambda x: np.add.at(x, [], {}), (np.arange(3),)),
    (lambda x, m: np.copyto(x, x, where=m), (np.ones(1), np.zeros(0, bool))),
    (lambda x, m: np.copyto(x, x[:], where=m), (np.ones(3), np.ones(2, bool))),
    (lambda x, m: np.copyto(x, 7, where=m), (np.ones(3), np.ones(3))),
    (lambda x: np.copyto(x, 7, where=[1.0, 0, 2]), (np.ones(3),)),
    (lambda x: np.nan_to_num(x.sum(), copy=False), (np.ones(3),)),
    (lambda x: np.array([x.sum(), 2.0], copy=False), (np.ones(3),)),
    (lambda x: np.asarray(2.0, copy=False), (np.ones(3),)),
    (lambda x: np.arange(x[1, ...]), (np.arange(4.0),)),
    (lambda x: np.arange(x), (np.array(3, np.int8),)),
    (lambda x: np.arange(2.5 if x.sum() > 1 else x[1, ...]), (np.arange(4.0),)),
    (lambda x: np.random.default_rng(3).permutation(x), (True,)),
    (lambda x: np.random.default_rng(3).normal(x, 1.0), ([np.ones(2, np.longdouble)],)),
]


@pytest.mark.parametrize("place", range(len(ARGUMENTS)))
def test_what_few_programs_give(place: int) -> None:
    """A result or an exception of NumPy's, and no error of ours on the way."""
    program, given = ARGUMENTS[place]
    expected, found = (copy.deepcopy(given) for _ in range(2))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        outcomes = run(program, expected), _kept(fxc.compile(program), found)
    assert difference(*outcomes) == ""
    assert not [each for each in told if "FXC0901" in str(each.message)]


def _kept(fn: Callable[..., Any], inputs: Sequence[Any]) -> Outcome:
    """As ``run``, with warnings."""
    try:
        return Outcome(fn(*inputs), None, tuple(inputs))
    except Exception as error:
        return Outcome(None, error, tuple(inputs))
