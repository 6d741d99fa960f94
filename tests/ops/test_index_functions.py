"""NumPy's functions that read and write by index arrays and masks, against NumPy itself.

As in ``test_advanced_indexing``: everything a caller can see, from one graph, with sizes that are
constants and with sizes that are symbols.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import CaptureError
from tests.capturing import array
from tests.covering import in_turns
from tests.ops.test_advanced_indexing import agree, fresh
from tests.outcomes import difference, run, warnings_of

X, F = array(3, 4), array(3, 4, order="F")
I = np.array([2, 0, -1, 2])  # noqa: E741
GRID = np.asfortranarray(np.array([[0, 1], [2, 2]]))
K = np.array([[0, 1], [2, 0], [-1, 3]])
SIX = np.arange(6)

READ_ONLY = array(3)
READ_ONLY.flags.writeable = False

Case = tuple[Callable[..., Any], tuple[Any, ...]]


def doing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A program that calls ``function`` for its effect on the first argument."""

    def program(x: Any, *rest: Any) -> Any:
        return function(x, *rest)

    return program


def _taken_into(x, i, out):
    return np.take(x, i, axis=1, out=out) is out


READS: list[Case] = [
    (lambda x, i: np.take(x, i), (X, I)),
    (lambda x, s: x.take(s * 0.7), (X, 2.0)),
    (lambda x, s: np.take(x, -s), (X, 1.7)),
    (lambda x, s: x.take(np.float32(2.9)) + np.take(x, -1.2) + s, (X, 1.7)),
    (lambda x, i: np.take(x, i, axis=0), (F, I)),
    (lambda x, i: x.take(i, 1), (X[::-1], I)),
    (lambda x, i: np.take(x, i, -1), (F, GRID)),
    (lambda x: (np.take(x, 3), np.take(x, np.array(3)), np.take(x, 3, axis=1)), (X,)),
    (lambda x: (np.take(x, []), np.take(x, [], axis=1), np.take(x, [1.0, True])), (X,)),
    (lambda x, i: np.take(x, i), (np.array(2.0), np.array([0, -1]))),
    (lambda x, i: np.take(x, i, axis=1, mode="wrap"), (X, np.array([7, -9, 2]))),
    (lambda x, i: np.take(x, i, axis=1, mode="clip"), (X, np.array([7, -9, 2]))),
    (lambda x, i: np.take(x, i, axis=1), (X[:0], np.array([9]))),  # of nothing: no check
    (_taken_into, (X, I, array(3, 4))),
    (_taken_into, (X, I, array(3, 4, dtype=np.float32, order="F"))),
    (lambda x, i: np.take_along_axis(x, i, 1), (X, K)),
    (lambda x, i: np.take_along_axis(x, i, axis=0), (F[:, :2], K % 3)),
    (lambda x, i: np.take_along_axis(x, i, None), (F, I)),
    (lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1), (X,)),
    (lambda a, x, y: np.choose(a, [x, y]), (GRID % 2, array(2), array(2, 1, order="F"))),
    (lambda a, x: a.choose(x, mode="clip"), (-GRID, array(2, 2))),
    (lambda a, x: np.choose(a, x, mode="wrap"), (GRID * 5, array(3, 2))),
    (lambda a, x: np.choose(a, (x, x[0])), (np.array(1), array(3, 2))),
    (lambda x: np.select([x > 3, x > 1], [x, x * 2]), (F,)),
    (lambda x: np.select([x > 3, x > 1], [np.float32(1), 2], 0), (X,)),
    (lambda x: np.select([x[0] > 3], [x], x[0]), (X,)),
    (lambda x: np.compress([True, False, True], x, axis=0), (X,)),
    (lambda x: x.compress([0, 1, 1]), (X,)),
    (lambda x, i: x[np.ix_(i[:2], [0, 3])], (X, I)),
    (lambda x, n: x[np.diag_indices(n)], (X, 3)),
    (lambda x: x[np.tril_indices(x.shape[0])], (X,)),
    (lambda x: (x[np.triu_indices_from(x)], x[np.tril_indices_from(x, -1)]), (X[:, 1:],)),
]


def _put(a, i, v):
    np.put(a, i, v)


def _mask(a, m, v):
    np.putmask(a, m, v)


def _place(a, m, v):
    np.place(a, m, v)


def _put_rows(a, i, v):
    np.put_along_axis(a, i, v, 1)


def _add_at(a, i, v):
    np.add.at(a, i, v)


def _add_at_and_sum(a, i, v):
    """The sum has lanes; what is added at one place twice must not."""
    np.add.at(a, i, v)
    v[::-1] *= np.sum(v)


def _scale_at(a, i, v):
    np.multiply.at(a, (slice(None), i), v)


def _negate_at(a, i):
    np.negative.at(a, i)


def _at_views(a, b):
    np.add.at(a, slice(0, 2), 0.1)
    np.subtract.at(a, 1, 0.5)
    np.add.at(a, a > 1, 0.1)
    np.add.at(b, ..., 300)
    np.maximum.at(b, [[0, 1], [1, 0]], [5, 7])


WRITES: list[Case] = [
    (_add_at_and_sum, (np.ones(9), np.array([3, 4, 3, 1, 6, 1, 8, 8, 1]), np.arange(9.0) + 0.1)),
    (_put, (SIX, I, np.array([7, 8, 9]))),  # values repeat
    (_put, (SIX, I, np.array([7, 8, 9, 10, 11]))),
    (_put, (SIX.reshape(2, 3).T, np.array([[0, 4], [-1, 0]]), np.array([7.9, -8.9]))),
    (_put, (SIX.astype("u1"), I, np.array(300))),
    (_put, (SIX[::-1], np.array([], int), np.array([1]))),
    (doing(lambda a: np.put(a, [0, -1], [1.5, 2.5])), (SIX,)),
    (doing(lambda a: np.put(a, a, [9, 8])), (SIX[::-1],)),
    (doing(lambda a: np.put(a, [0, 99], [])), (SIX,)),
    (doing(lambda a: a.put([7, -9], 3, mode="wrap")), (SIX,)),
    (doing(lambda a: np.put(a, [7, -9, 2], [3, 4, 5], mode="clip")), (X,)),
    (doing(lambda a: np.put(a, [0, 0], [3, 4])), (np.array(2.0),)),
    (doing(lambda a, i: np.put(a[0], i, 5)), (SIX, np.array([], int))),
    (doing(lambda a, i: np.put(a[0], i, 5)), (SIX, np.array([0, -1]))),
    (doing(lambda a, i: np.put(a[0], i, 5)), (SIX, np.array([1]))),
    (doing(lambda a, i: a[0].put(i, [5, 6], mode="wrap")), (SIX, np.array([7, 8]))),
    (_mask, (SIX, SIX > 2, np.array([7, 8]))),
    (_mask, (SIX.reshape(2, 3).T, SIX % 2, np.arange(4))),
    (doing(lambda a: np.putmask(a, a > 2, [1.5])), (SIX,)),
    (doing(lambda a: np.putmask(a, a > 2, a[::-1])), (SIX,)),
    (doing(lambda a: np.putmask(a, a > 2, [])), (SIX,)),
    (_place, (SIX, SIX > 2, np.array([7, 8]))),
    (_place, (SIX.reshape(2, 3).T, SIX % 2, np.arange(4))),
    (doing(lambda a: np.place(a, a > 2, 3)), (SIX,)),
    (_put_rows, (X, K, 5.0)),
    (_put_rows, (F, K, array(3, 1))),
    (_put_rows, (X, np.array([[1, 1], [2, 2], [0, 0]]), array(3, 2))),
    *(
        (doing(lambda a, v=v, w=w: np.fill_diagonal(a, v, w)), (np.zeros(shape, dtype, order),))
        for v in (9.5, [7, 8])
        for w in (False, True)
        for shape, dtype, order in (
            ((3, 4), float, "C"), ((7, 2), float, "F"), ((2, 2, 2), int, "C"), ((0, 2), int, "C"),
        )
    ),
    *(
        (_add_at, (np.ones(4, dtype), I, v))
        for dtype in (np.float64, np.float32, np.int64, np.uint8)
        for v in (1.5, 300, np.float32(0.1), array(4), array(2, 4)[:1, 0])
    ),
    (_add_at, (X, GRID, array(2, 2, 4))),
    (_add_at, (X.T, I, array(3))),
    (_scale_at, (X, I, array(3, 4))),
    (_negate_at, (X, I)),
    (doing(lambda a: np.add.at(a, [0, 0], a[::-1][:2])), (SIX,)),
    (_at_views, (np.arange(4, dtype="f4"), np.arange(3, dtype="u1"))),
]  # fmt: skip

ERRORS: list[tuple[Callable[..., Any], tuple[Any, ...], type[Exception], str]] = [
    (lambda x: np.take(x, [0, 4], 1), (X,), IndexError, "index 4 is out of bounds for axis 1"),
    (lambda x, i: np.take(x, i), (X, array(3)), TypeError, "Cannot cast array data"),
    (lambda x: np.take(x, [0], 1), (X[:, :0],), IndexError, "cannot do a non-empty take"),
    (lambda x: np.take(x, [0], 2), (X,), np.exceptions.AxisError, "axis 2 is out of bounds"),
    (lambda x: np.take(x[0, 0, ...], 0, 1), (X,), np.exceptions.AxisError, "axis 1 is out of"),
    (lambda x, i: np.choose(i, [1, 2.0]), (X, I), ValueError, "invalid entry in choice array"),
    (lambda x, i: np.take(x, i, mode="huh"), (X, I), ValueError, "clipmode must be one of"),
    (_taken_into, (X, I, array(4, 3)), ValueError, "output array does not match result"),
    (_taken_into, (X, np.array([0, 1, 2, 9]), array(3, 4)), IndexError, "index 9 is out of"),
    (_put, (SIX, np.array([0, 1, 9]), 7), IndexError, "index 9 is out of bounds"),  # writes two
    (_put, (SIX[:0], I, 7), IndexError, "cannot replace elements of an empty array"),
    (_mask, (SIX, SIX[1:], 7), ValueError, "putmask: mask and data must be the same size"),
    (_mask, (SIX, SIX, array(6)), TypeError, "Cannot cast array data from dtype('float64')"),
    (_place, (SIX, SIX[1:], 7), ValueError, "place: mask and data must be the same size"),
    (_put_rows, (X, K[:2], 1.0), IndexError, "shape mismatch"),
    (_put_rows, (X, K * 1.0, 1.0), IndexError, "`indices` must be an integer array"),
    (_put_rows, (X, K + 4, 1.0), IndexError, "index 4 is out of bounds for axis 1 with size 4"),
    (doing(lambda a: np.fill_diagonal(a, 1)), (SIX,), ValueError, "array must be at least 2-d"),
    (_add_at, (SIX, np.array([0, 9]), 1), IndexError, "index 9 is out of bounds"),
    (_add_at, (SIX, I, array(3, dtype=int)), ValueError, "array is not broadcastable to"),
    (_add_at, (SIX, I, array(1, 4, dtype=int)), ValueError, "array is not broadcastable to"),
    (lambda a, x: np.choose(a, [x, x]), (GRID, array(2)), ValueError, "invalid entry in choice"),
    (lambda a, x: np.choose(a, [x, x]), (-GRID, array(2)), ValueError, "invalid entry in choice"),
]


@pytest.mark.parametrize(("number", "dynamic"), in_turns(range(len(READS)), (False, True)))
def test_reads(number: int, dynamic: bool) -> None:
    agree(*READS[number], dynamic=dynamic)


@pytest.mark.parametrize(("number", "dynamic"), in_turns(range(len(WRITES)), (False, True)))
def test_writes(number: int, dynamic: bool) -> None:
    agree(*WRITES[number], dynamic=dynamic)


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number: int) -> None:
    program, args, kind, message = ERRORS[number]
    agree(program, args)
    with pytest.raises(kind, match=re.escape(message)):
        program(*fresh(args))


def _self_diagonal(a):
    np.fill_diagonal(a, a[::-1, 0])


REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (_self_diagonal, (X,), "np.fill_diagonal of an array with elements of its own cannot be"),
    (doing(lambda a: np.place(a, a > 2, a[::-1])), (SIX,), "a write by a mask to an array that sha"),
    (doing(lambda a: np.place(a, a > 1, [])), (X,), "np.place of no values cannot be captured"),
    (doing(lambda a: np.add.at(a, [0], 1)), (READ_ONLY,), "np.add.at of a read-only array cannot be"),
    (doing(lambda a, i: np.power.at(a, i, i)), (SIX, I), "np.power.at of integers cannot be capt"),
    (
        doing(lambda a, i: np.put_along_axis(a, i, 1.0, None)), (X, I),
        "np.put_along_axis without an axis, which may write a copy, cannot be captured; use np.put",
    ),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number: int) -> None:
    program, args, message = REFUSED[number]
    with pytest.raises(CaptureError) as caught:
        fxc.compile(program, fullgraph=True)(*args)
    assert caught.value.text.startswith(message)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("mode", ["raise", "clip"])
@pytest.mark.parametrize("kinds", ["f8 i8", "i8 u1", "i8 f8", "c16 f8", "f8 f4", "u1 i8", "? i8"])
def test_an_output_of_another_kind_of_which_some_versions_of_numpy_warn(kinds, mode):
    kind, other = kinds.split()

    def program(x, out):
        return np.take(x, [4, 0, 1], out=out, mode=mode) is out, out

    args = SIX.astype(kind), np.zeros(3, other)
    compiled = fxc.compile(program)
    for _ in range(2):
        expected, found = run(program, fresh(args)), run(compiled, fresh(args))
        assert not difference(expected, found)
        if expected.error is None:
            assert warnings_of(compiled, *fresh(args)) == warnings_of(program, *fresh(args))
