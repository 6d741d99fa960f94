"""What NumPy takes as dtypes, orders and arguments: what graphs know nothing of is NumPy's, and
what NumPy refuses is refused.
"""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run, warnings_of

A = np.arange(6.0).reshape(2, 3)
FIELDS = [("a", "i4"), ("b", "f8")]
WITH_METADATA = np.dtype("f8", metadata={"unit": "m"})
UNKNOWN = [object, FIELDS, "S8", ">f8", "g", "M8[s]", "q", WITH_METADATA]


def both(program, *args):
    """The outcomes of NumPy and of the compiled program, called twice."""
    compiled = fxc.compile(program)
    expected = run(program, [np.copy(x) if type(x) is np.ndarray else x for x in args])
    for _ in range(2):
        found = run(compiled, [np.copy(x) if type(x) is np.ndarray else x for x in args])
        text = difference(expected, found)
        assert not text, text
    return expected, compiled


@pytest.mark.parametrize("dtype", UNKNOWN, ids=str)
@pytest.mark.parametrize(
    "make",
    [
        lambda x, dtype: np.zeros(2, dtype=dtype),
        lambda x, dtype: np.zeros_like(x, dtype=dtype),
        lambda x, dtype: np.full(2, 1, dtype),
        lambda x, dtype: np.identity(2, dtype=dtype),
        lambda x, dtype: np.array(x, dtype=dtype),
        lambda x, dtype: np.asarray(x, dtype),
        lambda x, dtype: x.astype(dtype),
    ],
    ids=["zeros", "zeros_like", "full", "identity", "array", "asarray", "astype"],
)
def test_a_dtype_outside_of_the_table_is_left_to_numpy(make, dtype):
    def program(x):
        made = make(x, dtype)
        return made, made.dtype.str, made.dtype.char, made.dtype.metadata == {"unit": "m"}

    for x in (np.arange(2.0), np.float64(0.7)):
        both(program, x)


@pytest.mark.parametrize("number", [0.7, 0.7j, 7, np.float32(0.7), np.complex64(1j)])
def test_a_number_as_an_object_array_stays_itself(number):
    def program(x):
        made = np.array(x, dtype=object)
        return type(made.item()).__name__, made.item()

    both(program, number)


@pytest.mark.parametrize("first, by", [(0, 1), (1, 1), (0, 0.5), (3, -1)])
def test_ranges_of_bools(first, by):
    """NumPy makes none of more than two."""
    compiled = fxc.compile(lambda n: np.arange(first, first + n * by, by, dtype=bool))
    for n in (0, 1, 2, 3, 9):
        expected = run(lambda n: np.arange(first, first + n * by, by, dtype=bool), [n])
        assert not difference(expected, run(compiled, [n]))


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.add, np.divmod])
def test_outputs_by_place_of_which_newer_versions_of_numpy_warn(ufunc):
    def program(x):
        outs = tuple(np.empty(3) for _ in range(ufunc.nout))
        ufunc(x, x[::-1], *outs)
        return outs

    compiled = fxc.compile(program, fullgraph=True)
    for _ in range(2):
        assert warnings_of(compiled, A[0]) == warnings_of(program, A[0])
        assert not difference(run(program, [A[0]]), run(compiled, [A[0]]))


def sorted_downwards(x):
    y = x.copy()
    y.sort(axis=0, descending=True)
    return y, np.sort(x, descending=True), x.argsort(descending=True) + 1


def sorted_upwards(x):
    y = x.copy()
    y.sort(descending=False)
    return y, np.argsort(x, stable=True, descending=False)


def cast_by_value(x):
    return x.astype(np.int8, casting="same_value") + 1, x[0, 1].astype("f4", casting="same_value")


def averaged_by_methods(x):
    return x.mean(where=x > 0), x.var(mean=1.0), x.var(ddof=0.5)


def windows_within(x):
    return np.lib.stride_tricks.as_strided(x, (2, 2), (24, 8), check_bounds=True) * 2


OF_NEWER_VERSIONS = [sorted_downwards, sorted_upwards, cast_by_value, windows_within]


@pytest.mark.parametrize("program", [*OF_NEWER_VERSIONS, averaged_by_methods])
def test_parameters_that_only_numpy_knows(program):
    compiled = fxc.compile(program)
    for x in (A, A[::-1] * 3, A * 100, A):
        assert not difference(run(program, [x.copy()]), run(compiled, [x.copy()]))
    raised = sum(run(program, [x]).error is not None for x in (A, A, A, A * 100))
    assert compiled.cache_info().eager_calls == raised


def test_known_values_of_which_newer_versions_of_numpy_warn():
    def program(x):
        return x[np.triu_indices_from(x, 1.0)], np.tri(2, k=1.0) * x[0, 0]

    compiled = fxc.compile(program, fullgraph=True)
    for _ in range(2):
        assert warnings_of(compiled, A) == warnings_of(program, A)
    assert not difference(run(program, [A]), run(compiled, [A]))


def test_fields_can_be_written():
    def program(n):
        table = np.zeros(n, dtype=FIELDS)
        table["a"] = 3
        return table["a"] + 1

    both(program, 2)


def test_an_argument_with_metadata_is_no_argument_without():
    def program(x):
        return x[:1].dtype.metadata == {"unit": "m"}, x + 1

    compiled = fxc.compile(program)
    for x in (np.zeros(3), np.zeros(3, WITH_METADATA), np.zeros(3)):
        assert not difference(run(program, [x]), run(compiled, [x]))


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_metadata_that_the_program_makes_are_arrays():
    def program(x):
        sums = np.cumsum(x) * 2
        return np.dtype(x.dtype, metadata={"sums": sums}), sums

    compiled = fxc.compile(program)
    for _ in range(2):
        dtype, sums = compiled(A)
        assert dtype.metadata["sums"] is sums
        assert type(sums) is np.ndarray


def test_dtype_arguments_are_told_apart_by_their_metadata():
    def program(x, dtype):
        return np.zeros(2, dtype).dtype.metadata == {"unit": "m"}, x * 2

    compiled = fxc.compile(program)
    for dtype in (np.dtype("f8"), WITH_METADATA):
        assert not difference(run(program, [A, dtype]), run(compiled, [A, dtype]))


NUMBERS = [True, 1, 300, -1, 1.5, 2j, np.float32(1), np.uint8(3), np.float16(2), np.bool_(True)]
PARTS = [*NUMBERS, np.ones(2, np.uint8), np.ones(2, np.float32), [1, 2], [1.5]]


@pytest.mark.parametrize("left", PARTS, ids=repr)
def test_python_numbers_do_not_widen_what_is_joined_flat(left):
    compiled = fxc.compile(lambda a, b: np.concatenate([a, b], axis=None), fullgraph=True)
    for right in PARTS:
        expected = run(lambda a, b: np.concatenate([a, b], axis=None), (left, right))
        assert not difference(expected, run(compiled, (left, right)))


REFUSED_BY_NUMPY = {
    "std, both": lambda x: np.std(x, ddof=1, correction=1),
    "std of a method": lambda x: x.std(ddof=1, correction=1),
    "sum of a method": lambda x: x.sum(ddof=1),
    "searchsorted of a method": lambda x: x[0].searchsorted(3, "left", None, 4),
    "putmask": lambda x: np.putmask(x, x > 0, 3, foo=1),
    "where by keywords": lambda x: np.where(condition=x > 1, x=x, y=0),
    "where of two": lambda x: np.where(x > 1, x),
    "sort": lambda x: np.sort(x, foo=3),
    "ndmax": lambda x: np.array(x, ndmax=-1),
    "ndmax of a list": lambda x: np.array([x, x], ndmax=1),
    "ndmin": lambda x: np.array(x, ndmin=1.0),
    "reshape": lambda x: x.reshape(True, -1),
    "np.reshape": lambda x: np.reshape(x, (np.True_, -1)),
    "zeros": lambda x: np.zeros((True, 3)),
    "a comparison as a size": lambda x: np.zeros(x.size > 3),
    "order": lambda x: x.copy("X"),
    "order of zeros": lambda x: np.zeros(3, order="K"),
    "order by number": lambda x: np.array(x, order=3),
}


@pytest.mark.parametrize("program", REFUSED_BY_NUMPY.values(), ids=REFUSED_BY_NUMPY)
def test_what_numpy_refuses_is_refused(program):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*fxc failed where NumPy did not")
        expected, _ = both(program, A)
    assert isinstance(expected.error, TypeError | ValueError)


TAKEN = {
    "arange beside its signature": lambda x: np.arange(start=1, stop=3) * x[0, 0],
    "ndmin": lambda x: np.array(x, ndmin=True),
    "places in an array": lambda x: np.partition(x[0], np.array([0, 1])),
}


@pytest.mark.parametrize("program", TAKEN.values(), ids=TAKEN)
def test_what_numpy_takes_is_taken(program):
    both(program, A)


ORDERED = {
    "reshape": lambda x, order: x.reshape(3, 2, order=order),
    "ravel": lambda x, order: x.T.ravel(order),
    "flatten": lambda x, order: x.flatten(order),
    "copy": lambda x, order: x.T.copy(order),
    "np.copy": lambda x, order: np.copy(x.T, order=order),
    "asarray": lambda x, order: np.asarray(x.T, order=order),
    "astype": lambda x, order: x.T.astype(np.float64, order=order, copy=False),
    "zeros_like": lambda x, order: np.zeros_like(x.T, order=order),
}


@pytest.mark.parametrize("program", ORDERED.values(), ids=ORDERED)
@pytest.mark.parametrize("order", ["c", "f", "a", "k", "C", "F", "A", "K"])
def test_orders_are_of_either_case(program, order):
    expected, compiled = both(program, A, order)
    assert expected.error is not None or compiled.cache_info().eager_calls == 0


def views_written(x, y):
    a, b = np.broadcast_arrays(x, y)
    a[0, 0] = 7
    return a, b


def grids_written(x, y):
    a, b = np.meshgrid(x, y[:, 0], copy=False)
    a[0, 0] = 7
    b[:] = 3
    return a, b


def test_an_array_of_full_size_is_itself():
    """In NumPy 2.0 it is a view, of which that warns where it is written."""

    def program(x, y):
        a, b = np.broadcast_arrays(x, y)
        a[0, 0] = 7
        return b, a is x

    expected, compiled = both(program, A, A[:1])
    is_itself = expected.result[1]
    assert compiled.cache_info().eager_calls == (0 if is_itself else 2)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.bool_])
def test_an_array_as_a_scalar_of_its_dtype_is_itself(kind):
    def program(x):
        y = kind(x)
        y[0] = 1
        return y, y is x

    for x in (np.zeros(3), np.zeros((2, 2)).T, np.zeros(6)[::2], np.zeros(3, np.bool_)):
        text = difference(run(program, [x.copy()]), run(fxc.compile(program), [x.copy()]))
        assert not text, text


@pytest.mark.parametrize("program", [views_written, grids_written])
def test_a_write_of_which_numpy_warns(program):
    outcomes = []
    for fn in (program, fxc.compile(program)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", fxc.CaptureWarning)
            args = np.arange(3.0), np.arange(3.0)[:, None]
            outcomes.append((repr(fn(*args)), repr(args)))
            outcomes[-1] += tuple((x.category, str(x.message)) for x in caught)
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0]) > 2


def writes_of_views(x, y):
    a, b = np.broadcast_arrays(x, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        a += b
    return a, [str(each.message) for each in caught]


@pytest.mark.filterwarnings("ignore:.*run.* as plain NumPy")
def test_a_part_adds_no_warning():
    of_both = [
        fn(np.arange(3.0), A[:, :1]) for fn in (writes_of_views, fxc.compile(writes_of_views))
    ]
    assert repr(of_both[0]) == repr(of_both[1])


def test_python_ints_do_not_widen_what_is_selected():
    both(lambda x, n: np.select([x > 2], [x], n), A.astype("f4"), 7)
    both(lambda x, n: np.select([x > 2], [n], 7), A, 5)


STRUCTURE = [("a", "O"), ("b", [("c", "f8"), ("d", "i2")])]
OF_STRUCTURES = [
    lambda fields: np.dtype(fields),
    lambda fields: np.dtype((np.record, fields)),
    lambda fields: np.dtype({"names": ["a", "b"], "formats": [fields, "i4"]}),
    lambda fields: np.rec.fromrecords([(1, (2.0, 3)), (4, (5.0, 6))], dtype=fields),
]


@pytest.mark.filterwarnings("ignore:.*run.* as plain NumPy")
@pytest.mark.parametrize("program", OF_STRUCTURES)
def test_structures_are_read_to_the_end(program):
    compiled = fxc.compile(program)
    for _ in range(2):
        found, expected = compiled(STRUCTURE), program(STRUCTURE)
        assert repr(found) == repr(expected)


def test_a_scalar_made_of_two_arguments():
    both(lambda x: np.timedelta64(x.sum(), "s"), np.arange(3))


def of_dtypes_by_text(x, n):
    return x.astype(f"i{n}"), np.zeros(3, dtype=f"f{n}"), np.ones(2).astype("int%d" % (8 * n))  # noqa: UP031


def test_dtypes_that_a_text_of_numbers_names():
    compiled = fxc.compile(of_dtypes_by_text, fullgraph=True)
    for n in (4, 8, 2, 4):
        expected = run(of_dtypes_by_text, [A.copy(), n])
        assert not difference(expected, run(compiled, [A.copy(), n]))


def _filled(make):
    def program(x):
        made = make(x)
        made[...] = x
        return made

    return program


@pytest.mark.parametrize(
    "make",
    [
        lambda x: np.ndarray(x.shape),
        lambda x: np.ndarray(x.shape, np.float32, order="F"),
        lambda x: np.ndarray(shape=(2, x.shape[1]), dtype=int, order="f"),
        lambda x: np.ndarray(x.shape, order="K"),
        lambda x: np.ndarray(x.shape, order=None),
        lambda x: np.ndarray((4, *x.shape))[1],
    ],
)
def test_arrays_without_values_are_made_by_their_class(make):
    program = _filled(make)
    compiled = fxc.compile(program, fullgraph=True)
    for _ in range(2):
        assert not difference(run(program, [A]), run(compiled, [A]))


@pytest.mark.parametrize(
    "make",
    [
        lambda x: np.ndarray(x.shape, buffer=x),
        lambda x: np.ndarray((1, 3), float, x, 8),
        lambda x: np.ndarray((2, 3), buffer=x, strides=(8, 16)),
        lambda x: np.ndarray((-1, 3)),
        lambda x: np.ndarray(),
        lambda x: np.ndarray((2, 3), order="X"),
    ],
)
@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_views_made_by_their_class_are_numpys(make):
    both(lambda x: make(x) * 2, A)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x @ x,
        lambda x: np.dot(x, x[0]),
        lambda x: np.linalg.inv(x + 2 * np.eye(3)),
        lambda x: x.copy(),
        lambda x: x[[0, 1]],
        lambda x: np.zeros_like(x),
    ],
)
def test_dtypes_of_results_are_numpys_objects(program: Any) -> None:
    x, compiled = np.arange(9.0).reshape(3, 3), fxc.compile(program, fullgraph=True)
    unpickled = pickle.loads(pickle.dumps(x))
    assert unpickled.dtype is not x.dtype
    for given in (unpickled, x):
        found = compiled(given)
        assert found.dtype is np.dtype(float)
        assert np.asarray(found, float) is found
