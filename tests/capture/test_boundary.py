"""What goes into a compiled call and what comes out: odd arrays, layouts, owners, exceptions."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import fxc
import fxc.pipeline.assemble
import fxc.pipeline.stages
from fxc.capture.numbers.traced_int import TracedInt
from fxc.capture.session.exceptions import check_no_bug
from fxc.capture.session.locations import OURS
from fxc.capture.staging import comprehensions
from fxc.ir.errors import InternalError
from fxc.ir.symbols import symbol
from fxc.ops.kernels import kernel_of
from tests.bodies import check_body
from tests.outcomes import Outcome, difference, leaves, run


def matrix(dtype: Any = "f8") -> np.ndarray:
    return (np.arange(12) + 1).reshape(4, 3).astype(dtype)


def bytes_of(x: np.ndarray) -> np.ndarray:
    return np.frombuffer(bytearray(x.tobytes()), "u1")


class Marked(np.ndarray):
    """A subclass with an operation of its own."""

    def __getitem__(self, key):
        return super().__getitem__(key)


def mapped() -> np.ndarray:
    with tempfile.TemporaryFile() as file:
        found = np.memmap(file, "f8", "w+", shape=(4, 3))
    found[...] = matrix()
    return found


def read_only() -> np.ndarray:
    x = matrix()
    x.flags.writeable = False
    return x


def field() -> np.ndarray:
    records = np.zeros((4, 3), [("a", "f8"), ("b", "i4")])
    records["a"] = matrix()
    return records["a"]


# Arrays that are compiled.
NATIVE: dict[str, Callable[[], np.ndarray]] = {
    "C": matrix,
    "F": lambda: np.asfortranarray(matrix()),
    "strided": lambda: np.repeat(np.repeat(matrix(), 2, 0), 3, 1)[::2, ::3],
    "reversed": lambda: matrix()[::-1, ::-1],
    "repeated": lambda: np.broadcast_to(matrix()[0], (4, 3)),
    "read-only": read_only,
    "of a buffer": lambda: bytes_of(matrix()).view("f8").reshape(4, 3),
    "of bytes": lambda: np.frombuffer(matrix().tobytes()).reshape(4, 3),
    "a view of views": lambda: np.arange(48.0).reshape(2, 8, 3)[1][::2][...],
    "one row": lambda: matrix()[1:2],
    "one column": lambda: matrix()[:, 1:2],
    "one element": lambda: matrix()[1:2, 2:0:-5],
    "odd strides of size 1": lambda: as_strided(matrix(), (1, 1), (1 << 40, -(1 << 41))),
    "no rows": lambda: matrix()[2:2],
    "no columns": lambda: matrix()[:, 3:],
    "empty, odd strides": lambda: as_strided(matrix(), (0, 3), (-16, 800)),
    "empty, F": lambda: np.zeros((4, 0), order="F"),
    "small integers": lambda: matrix("i1")[:, ::2],
    "single": lambda: matrix("f4").T,
    "bytes off alignment": lambda: bytes_of(matrix("i1"))[3:9].reshape(2, 3),
    "3 axes, turned": lambda: np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2),
    "16 axes": lambda: np.arange(4.0).reshape((1,) * 14 + (2, 2)),
    "64 axes, turned": lambda: np.arange(6.0).reshape((2,) + (1,) * 62 + (3,)).T,
    "10 axes, turned": lambda: np.arange(1024.0).reshape((2,) * 10).T,
}
# Arrays that run as plain NumPy, and what the warning says.
FOREIGN: dict[str, tuple[Callable[[], Any], str]] = {
    "matrix": (lambda: np.matrix(matrix()), "x is a matrix, a subclass of arrays"),
    "masked": (lambda: np.ma.masked_array(matrix(), matrix() > 5), "x is a MaskedArray"),
    "subclass": (lambda: matrix().view(Marked), "x is a Marked, a subclass of arrays"),
    "recarray": (lambda: np.rec.fromarrays([matrix()], names="a"), "x is a recarray"),
    "not aligned": (
        lambda: bytes_of(np.append(matrix(), 0.0))[1:97].view("f8").reshape(4, 3),
        "x is not aligned in memory",
    ),
    "a packed field": (field, "x is not aligned in memory"),
    "objects": (lambda: matrix(object), "x has dtype object"),
    "records with titles": (
        lambda: np.zeros((4, 3), np.dtype([(("title", "a"), "f8")])),
        "x has dtype .*'a'",
    ),
}


def increments(x):
    x += 1


def shifts(x):
    x[1:] = x[:-1]
    return x


def computes(x):
    y = x * 2.5
    copies = x.copy(), x.copy("K"), x.astype("f8"), x.astype("f4", order="C"), np.zeros_like(x)
    return x + x, -x, y, y.T, y[...], y, np.ones(x.shape), x.shape, *copies


def views(x):
    flat = x.reshape(-1), x.ravel(), x.flatten(), x.reshape((1, *x.shape)), np.squeeze(x)
    return x, x[...], x.T, x[::-1], x[None], x[:, None], np.expand_dims(x, 0), x[1:], *flat


def reduces(x):
    return x.sum(), x.max(axis=-1, initial=0), x.sum(axis=-1, keepdims=True), np.cumsum(x)


def joins(x):
    return np.concatenate([x, x]), np.stack([x, x], axis=1), x.shape and np.vstack([x, x])


def fills(x):
    x[...] = 3
    return x[0]


PROGRAMS = [increments, shifts, computes, views, reduces, joins, fills]


def owners(tree: Any) -> Iterator[tuple[Any, ...]]:
    """What ``.base`` and ``.flags`` say of each array in a result."""
    for _, x in leaves(tree, "result"):
        if isinstance(x, np.ndarray):
            yield x.flags.owndata, x.flags.writeable, x.flags.aligned, type(x.base)


# Also those of axes of size 1, which differ in results of reductions and in other orders than C.
def strides(tree: Any) -> list[tuple[int, ...]]:
    return [x.strides for _, x in leaves(tree, "result") if isinstance(x, np.ndarray)]


@pytest.mark.parametrize("array", NATIVE)
@pytest.mark.parametrize("fn", PROGRAMS)
def test_arrays_of_every_layout(fn, array):
    make = NATIVE[array]
    expected = run(fn, (make(),))
    program = fxc.compile(fn, fullgraph=True)
    for _ in range(2):
        found = run(program, (make(),))
        assert difference(expected, found) == ""
        assert list(owners(expected.result)) == list(owners(found.result))
        if fn is not reduces and "turned" not in array:
            assert strides(expected.result) == strides(found.result)
    assert program.cache_info().eager_calls == (2 if expected.error else 0)


@pytest.mark.parametrize("array", FOREIGN)
def test_foreign_arrays_run_as_plain_numpy_with_one_warning(array):
    make, says = FOREIGN[array]
    for fn in (increments, computes, views):
        program = fxc.compile(fn)
        found = []
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
            warnings.simplefilter("always", fxc.CaptureWarning)
            for _ in range(3):
                x = make()
                try:
                    found.append(Outcome(program(x), None, (x,)))
                except Exception as error:
                    found.append(Outcome(None, error, (x,)))
        (warning,) = [w for w in caught if w.category is fxc.CaptureWarning]
        assert warning.filename == __file__
        with pytest.raises(fxc.CaptureError, match=says):
            fxc.compile(fn, fullgraph=True)(make())
        expected = run(fn, (make(),))
        for outcome in found:
            assert _same(expected, outcome)
        assert program.cache_info().eager_calls == 3


def _same(expected: Outcome, found: Outcome) -> bool:
    """As ``difference``, for dtypes of which it does not know the bits."""
    if expected.error is not None or found.error is not None:
        return repr(expected.error) == repr(found.error)
    left = [x for _, x in leaves((expected.result, *expected.inputs), "")]
    right = [x for _, x in leaves((found.result, *found.inputs), "")]
    return all(type(x) is type(y) and repr(x) == repr(y) for x, y in zip(left, right, strict=True))


def test_a_variant_for_arrays_is_not_for_subclasses():
    program = fxc.compile(lambda x: x * 2)
    assert program(np.ones((2, 2))).tolist() == [[2, 2], [2, 2]]
    with pytest.warns(fxc.CaptureWarning, match="x is a matrix"):
        assert type(program(np.matrix([[1.0, 2.0], [3.0, 4.0]]))) is np.matrix
    assert type(program(np.ones((2, 2)))) is np.ndarray
    assert program.cache_info().native_calls == 2


def holding(x):
    return x["a"][0] * 2 if isinstance(x, dict) else x[0] * 2


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: {"a": (x,)}])
@pytest.mark.parametrize("odd", ["matrix", "not aligned"])
def test_one_odd_array_does_not_keep_others_from_being_compiled(wrap, odd):
    program = fxc.compile(holding)
    with pytest.warns(fxc.CaptureWarning):
        program(wrap(FOREIGN[odd][0]()))
    program(wrap(matrix()))
    program(wrap(matrix()))
    assert program.cache_info().native_calls == 2


def test_attributes_of_the_users_objects_are_not_read_to_remember_a_refusal():
    class Counted:
        reads = 0

        @property
        def dtype(self):
            Counted.reads += 1
            return "mine"

        def __array_ufunc__(self, *args, **kwargs):
            return np.ones(1)

        def __add__(self, other):
            return other

    program = fxc.compile(lambda x, y: x + y)
    with pytest.warns(fxc.CaptureWarning):
        assert program(Counted(), 2) == 2
    assert program(Counted(), 2) == 2
    assert Counted.reads == 0


# ------------------------------------------------------------------ scalars that results are

METHODS = """
    x.reshape(-1); x.reshape(()); x.reshape(1, 1); x.reshape(2); x.ravel(); x.flatten(); x.squeeze()
    x.transpose(); x.swapaxes(0, 0); x.clip(0, 2); x.cumsum(); x.argmin(); x.diagonal(); x.copy("F")
    x.astype("f4", order="C", copy=False); x.astype("i8", casting="safe"); x.round(1); x.T; x[None]
    x.mean(keepdims=True); x[()]; x[...]; x.any(); x.sum(axis=0)
"""
SCALARS = ["x.sum()", "x[0]", "x.max() * 2"]


@pytest.mark.parametrize("method", [m.strip() for m in METHODS.replace("\n", ";").split(";") if m])
@pytest.mark.parametrize("scalar", SCALARS)
def test_methods_of_numpy_scalars(scalar, method):
    check_body(f"x = {scalar}; return {method or None}", 1)


# ------------------------------------------------------------------ results


def everything(x, lists):
    y = x + 1
    constant = np.array([1.0, 2.0])
    return [
        *(y, y[1:], y.T, y, x, x[::2], x.reshape(-1), x.sum(), x.sum(keepdims=True), constant),
        *(constant[:1], np.zeros(3), np.zeros(3), x.copy(), x.copy(), np.arange(4), lists[0]),
        *(x[0, 0], x[0, ..., 0], np.float64(2.0), {"y": y}, (y,), x * 0, x.max(axis=0)),
    ]


def test_results_share_memory_where_numpys_do_and_calls_never():
    x, inner = matrix(), np.ones(2)
    program = fxc.compile(everything, fullgraph=True)
    expected = Outcome(everything(x, [inner]), None, (x, inner))
    calls = [Outcome(program(x, [inner]), None, (x, inner)) for _ in range(3)]
    for found in calls:
        assert difference(expected, found) == ""
        assert list(owners(expected.result)) == list(owners(found.result))
    fresh = [
        [a for _, a in leaves(c.result, "") if isinstance(a, np.ndarray) and not _of(a, x, inner)]
        for c in calls
    ]
    for left, right in itertools.combinations(fresh, 2):
        assert not any(np.may_share_memory(a, b) for a in left for b in right)
    for array in fresh[0]:
        array[...] = -1
    assert difference(expected, Outcome(program(x, [inner]), None, (x, inner))) == ""


def _of(array: np.ndarray, *inputs: np.ndarray) -> bool:
    return any(np.may_share_memory(array, each) for each in inputs)


# ------------------------------------------------------------------ what is written


def in_parts(x):
    x[1:3] += 1
    order = np.sort(
        x[:4], kind="stable"
    )  # NumPy runs it: nothing is written to the argument before
    x[::4] = order[::2]
    x.reshape(2, 4)[1, 2:] -= order[0]


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_only_the_parts_that_are_written_are_stored(monkeypatch, backend):
    """What somebody else stores next to them while the call runs stays."""
    x, others = np.arange(8.0)[::-1].copy(), [3, 5]

    def meddling(name):
        kernel = kernel_of(name)

        def sort(*args):
            result = kernel(*args)
            x[others] = -7
            return result

        return sort if name == "sort" else kernel

    monkeypatch.setattr(fxc.pipeline.assemble, "compiled_kernel_of", meddling)
    monkeypatch.setattr(fxc.pipeline.stages, "_kernels_of", lambda index: meddling)
    expected = x.copy()
    in_parts(expected)
    expected[others] = -7
    program = fxc.compile(in_parts, fullgraph=True, backend=backend)
    program(x)
    assert np.array_equal(x, expected)
    assert program.cache_info().eager_calls == 0


# ------------------------------------------------------------------ exceptions


def written_then_a_bad_shape(x, y):
    x += 1
    y[0] = 5
    return x.reshape(7, 7)


def written_then_read_only(x, y):
    x *= 2
    y.T[...] = 1


def written_then_a_negative_power(x, y):
    x[1:] -= 1
    z = np.arange(3) ** (y[0].astype("i8") - 100)
    y += z
    return z


def written_then_singular(x, y):
    x[:3] = 0
    inverse = np.linalg.inv(x[:3])
    y += 1
    return inverse


def written_then_out_of_range(x, y):
    y -= 1
    return x[np.array([0, 9])]


def appended_then_raised(x, y):
    found = []
    for row in x:
        row += y[0]
        found.append(row)
    raise KeyError(len(found))


def written_in_part(x, y):
    z = np.zeros(4)
    x[0] = 7
    np.put(z, [0, 1, 9], 7)
    y[0] = 8


RAISING = [
    *(written_then_a_bad_shape, written_then_a_negative_power, written_then_singular),
    *(written_then_out_of_range, appended_then_raised, written_in_part),
]
PAIRS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "apart": lambda: (matrix(), matrix() * 2),
    "same": lambda: (lambda b: (b, b))(matrix()),
    "overlapping": lambda: (lambda b: (b[:4], b[1:]))(np.arange(15.0).reshape(5, 3)),
    "reversed": lambda: (lambda b: (b, b[::-1]))(matrix()),
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("fn", RAISING)
def test_exceptions_and_what_was_written_before_them_are_numpys(fn, pair):
    make = PAIRS[pair]
    expected = run(fn, make())
    assert expected.error is not None
    program = fxc.compile(fn)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            given = make()
            with pytest.raises(type(expected.error)) as raised:
                program(*given)
            assert difference(expected, Outcome(None, raised.value, given)) == ""
            assert "fxc" not in {frame.name for frame in raised.traceback}
    assert not any("report" in str(w.message) for w in caught)
    assert program.cache_info().eager_calls == 3


def test_read_only_arguments_raise_before_they_are_written():
    x, y = matrix(), read_only()
    program = fxc.compile(written_then_read_only)
    for _ in range(2):
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            program(x, y)
    assert np.array_equal(x, matrix() * 4)
    assert np.array_equal(y, matrix())


# ------------------------------------------------------------------ warnings


def test_warnings_are_said_once_and_point_to_the_call(monkeypatch):
    program = fxc.compile(lambda x: x + 1)
    x = matrix()
    assert program(x) is not None

    def broken(*inputs):
        raise OSError("no such code")

    (variant,) = program._state.variants
    monkeypatch.setattr(variant, "call", variant.captured.guards.call(broken, None, variant))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            line = inspect.currentframe().f_lineno + 1
            program(x)
    (warning,) = caught
    assert "fxc failed where NumPy did not: OSError('no such code')" in str(warning.message)
    assert (warning.filename, warning.lineno) == (__file__, line)


@pytest.mark.parametrize("where", [f"{OURS}/made.py", "<of the user>"])
def test_private_attributes_that_fxc_itself_reads_in_vain_are_bugs(where: str) -> None:
    read = compile("n._value", where, "eval")
    with pytest.raises(AttributeError) as caught:
        eval(read, {"n": TracedInt(symbol("n"))})
    found = pytest.raises(InternalError) if where.startswith(OURS) else contextlib.nullcontext()
    with found:
        check_no_bug(caught.value)


def test_what_fails_in_the_reading_of_sources_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception of ours was taken for the program's own, whose handler may have caught it."""

    @fxc.compile(fullgraph=True)
    def program(x):
        try:
            return sum([v * 2 for v in x])
        except AttributeError:
            return None

    broken = compile("lambda node: node.id", comprehensions.__file__, "eval")
    monkeypatch.setattr(comprehensions, "_is_flat", eval(broken))
    with pytest.raises(InternalError, match="has no attribute 'id'"):
        program(np.arange(3.0))
