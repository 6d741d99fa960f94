"""Every way to make a view, or to write through one, against NumPy.

Each program runs on arrays in every layout, twice (see ``tests/bodies.py``).
"""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import fxc
from tests.bodies import check_body

Groups = dict[int, list[str]]

SPLIT = {
    0: ["np.split(x, 1)", "np.unstack(x)", "np.array_split(x, 2)"],
    1: [
        "np.split(x, 3)",
        "np.split(x, [2, 4])",
        "np.split(x, 4)",
        "np.array_split(x, 4)",
        "np.hsplit(x, 2)",
        "np.unstack(x)",
        "a, b = np.split(x, 2); a += b[::-1]; return b",
        "if x.size: a, *rest = x; return a, rest",
    ],
    2: [
        "np.split(x, 2)",
        "np.split(x, 3, axis=1)",
        "np.array_split(x, 4, axis=1)",
        "np.array_split(x, [1, 3])",
        "np.hsplit(x, 2)",
        "np.vsplit(x, 2)",
        "np.dsplit(x, 2)",
        "np.unstack(x)",
        "np.unstack(x, axis=1)",
        "np.split(x, 2)[0][...] = 3",
        "a, b = np.vsplit(x, 2); a += b",
        "for part in np.hsplit(x, 3): part *= 2",
    ],
    3: ["np.dsplit(x, 2)", "np.hsplit(x, 2)", "np.vsplit(x, 2)", "np.unstack(x, axis=-1)"],
}

TURNED = {
    0: ["np.rot90(x)", "np.flip(x)", "x.T", "x.T is x", "np.transpose(x)", "np.moveaxis(x, 0, 0)"],
    2: [
        "np.rot90(x)",
        "np.rot90(x, 2)",
        "np.rot90(x, 3)",
        "np.rot90(x, 4)",
        "np.rot90(x, -1)",
        "np.rot90(x, axes=(1, 0))",
        "np.rot90(x)[0] = 1",
        "np.flip(x)",
        "np.flip(x, 0)",
        "np.flip(x, (0, 1))",
        "np.flip(x, 5)",
        "np.flip(x)[0] = 1",
        "np.fliplr(x), np.flipud(x)",
        "np.matrix_transpose(x), np.linalg.matrix_transpose(x), x.mT",
        "np.permute_dims(x, (1, 0)), np.permute_dims(x)",
        "np.transpose(x, (0, 0))",
        "np.transpose(x, (0,))",
        "np.swapaxes(x, 0, 2)",
        "np.moveaxis(x, 0, 5)",
        "np.moveaxis(x, [0, 1], [1, 0])",
        "np.rollaxis(x, 1), np.rollaxis(x, 0, 2)",
        "np.rollaxis(x, 1, 3)",
        "np.rollaxis(x, 5)",
        "np.swapaxes(x, 0, 1)[0] -= 1",
        "np.moveaxis(x, 0, 1)[0] = 4",
    ],
    3: [
        "np.rot90(x)",
        "np.rot90(x, 1, (0, 2))",
        "np.rot90(x, 1, (1, 1))",
        "np.flip(x, 1)",
        "np.transpose(x, (2, 0, 1)), np.matrix_transpose(x), x.swapaxes(-1, 0)",
    ],
}

RANK = {
    0: [
        "np.atleast_1d(x), np.atleast_2d(x), np.atleast_3d(x)",
        "np.squeeze(x) is x",
        "np.squeeze(x, 0) is x",
        "np.expand_dims(x, 0)",
        "np.expand_dims(x, 1)",
        "x[None], x[...], x[()]",
        "np.broadcast_to(x, (3,)), np.broadcast_to(x, ())",
    ],
    1: [
        "np.atleast_3d(x), np.atleast_2d(x), np.atleast_1d(x, 3.0)",
        "np.atleast_1d(x) is x",
        "np.atleast_3d(x)[0, 0] = 3",
    ],
    2: [
        "np.atleast_2d(x) is x, np.atleast_3d(x)",
        "np.atleast_3d(x, x[0])",
        "np.atleast_3d(x)[0] = 3",
        "np.squeeze(x) is x",
        "np.squeeze(x, 0)",
        "np.squeeze(x[None]), np.squeeze(x[None], 0), np.squeeze(x[None], -3)",
        "np.squeeze(x[None], (0, 0))",
        "np.squeeze(x, 7)",
        "np.squeeze(x[None])[0] = 1",
        "np.expand_dims(x, (0, 3))",
        "np.expand_dims(x, (0, 0))",
        "np.expand_dims(x, 5)",
        "np.expand_dims(x, 1)[:, 0, 2] = 8",
    ],
    3: ["np.atleast_3d(x) is x", "np.squeeze(x[:, :1], 1)"],
}

FLAT_COPIES = {
    0: ["x.ravel(), x.ravel('K'), x.ravel('F'), x.flatten()", "x.reshape(()), x.reshape(1, 1)"],
    2: [
        "x.ravel()",
        "x.ravel('F')",
        "x.ravel('K')",
        "x.ravel('A')",
        "x.ravel('X')",
        "np.ravel(x, 'K')",
        "x.flatten('F'), x.flatten('K'), x.flatten('A'), x.flatten()",
        "x.T.ravel('K'), x.T.ravel('A'), x.T.ravel()",
        "y = x + 1; return y.ravel('K'), y.ravel()",
        "y = x.T + 1; return y.ravel('K'), y.ravel('A'), y.ravel()",
        "np.zeros_like(x).ravel('K')",
        "x.ravel()[0] = 5",
        "x.ravel('K')[:2] = 5",
        "x.T.ravel('F')[:2] = 5",
        "x[::2].ravel('K')",
        "x[:, ::-1].ravel('K')",
    ],
    3: [
        "x.ravel('K'), x.ravel('A')",
        "x.transpose(1, 0, 2).ravel('K')",
        "x.transpose(1, 2, 0).ravel('K')",
        "y = x.transpose(1, 2, 0) + 1; return y.ravel('K')",
        "x[:, ::2].ravel('K')",
        "x[:, :, :1].transpose(2, 1, 0).ravel('K')",
        "x.transpose(1, 0, 2).flatten('K')",
        "x.reshape(4, 12)",
        "x.reshape(4, 12, order='F'), x.reshape(4, 12, order='A'), x.reshape(-1, 2, order='F')",
        "x.reshape(2, 4, 6) is x",
        "x.reshape(4, 12, copy=False)",
        "x.reshape(4, 12, copy=True)",
        "np.reshape(x, (4, 12), order='F', copy=False)",
    ],
}

CONVERTED = {
    0: [
        "np.asarray(x) is x, np.array(x, copy=None) is x, x.astype(x.dtype, copy=False) is x",
        "np.ascontiguousarray(x), np.asfortranarray(x), np.require(x, requirements='C')",
        "np.array(x), np.copy(x), x.copy()",
    ],
    2: [
        "np.asarray(x) is x, np.asanyarray(x) is x, np.asarray(x, dtype=float) is x",
        "np.asarray(x, order='C') is x",
        "np.asarray(x, order='F') is x",
        "np.asarray(x, order='A') is x, np.asarray(x, order='K') is x",
        "np.asarray(x, order='F'), np.asarray(x, order='A')",
        "np.ascontiguousarray(x) is x",
        "np.ascontiguousarray(x)",
        "np.asfortranarray(x), np.asfortranarray(x) is x",
        "np.require(x) is x",
        "np.require(x, requirements='C'), np.require(x, np.float32, 'C')",
        "np.require(x, requirements=['F', 'W'])",
        "np.require(x, requirements=['F', 'C'])",
        "np.array(x, copy=False) is x, np.array(x, copy=None) is x",
        "np.array(x, copy=None, order='F')",
        "np.array(x, copy=False, order='F')",
        "np.array(x), np.array(x, order='A'), np.array(x, order='C'), np.array(x, subok=True)",
        "np.array(x, ndmin=3), np.array(x, ndmin=3, copy=None)",
        "np.array(x, dtype='f4', copy=False)",
        "np.asarray(x, copy=True), np.asarray(x, copy=True, order='F')",
        "x.astype(float, copy=False) is x",
        "x.astype(float, copy=False, order='C')",
        "x.astype(float, copy=False, order='F')",
        "x.astype(float, copy=False, order='A')",
        "x.astype(float, copy=False, order='F') is x",
        "x.astype(float, order='F'), x.astype(float, order='A'), x.astype('f4', order='F')",
        "x.astype('f4', copy=False)",
        "x.astype(int, casting='safe')",
        "np.astype(x, np.float32), np.astype(x, np.float64, copy=False) is x",
        "np.copy(x), np.copy(x, 'C'), np.copy(x, 'F'), np.copy(x, 'A')",
        "x.copy(), x.copy('K'), x.copy('A'), x.copy('F')",
        "x.copy(order='Z')",
        "np.asarray(x)[0] = 1",
        "np.ascontiguousarray(x)[0] = 1",
        "np.asfortranarray(x)[0] = 1",
        "x.astype(float, copy=False)[0] = 1",
    ],
    3: ["x.copy('K'), x.transpose(1, 2, 0).copy('K')", "x.transpose(2, 0, 1).astype('f4')"],
}

DIAGONALS = {
    0: ["x.diagonal()"],
    1: ["np.diag(x)", "np.diag(x, 2), np.diag(x, -1)", "x.diagonal()"],
    2: [
        "x.diagonal()",
        "np.diagonal(x, 1), np.diagonal(x, -1)",
        "np.diagonal(x, 9), np.diagonal(x, -9)",
        "x += 1; return np.diagonal(x, 2**40)",
        "np.diagonal(x, axis1=1, axis2=0), np.linalg.diagonal(x)",
        "np.diagonal(x, 0, 0, 0)",
        "np.diag(x), np.diag(x, 2)",
        "x.diagonal()[0] = 1",
        "x.diagonal().copy()",
        "np.diag(x)[0] = 1",
        "np.trace(x), x.trace(), x.trace(1)",
        "np.fill_diagonal(x, 3)",
        "np.fill_diagonal(x, [1, 2])",
        "np.fill_diagonal(x, 3, wrap=True)",
        "np.fill_diagonal(x.T, 3, wrap=True)",
        "np.fill_diagonal(x.T, 3)",
        "np.fill_diagonal(x, np.arange(20.0))",
        "np.fill_diagonal(x, x[0].copy())",
        "np.fill_diagonal(x[1:, 2:], x[0].sum())",
    ],
    3: [
        "np.diagonal(x, 0, 1, 2), np.diagonal(x, 1, 0, 2), np.linalg.diagonal(x)",
        "np.fill_diagonal(x[:, :2, :2], 7)",
        "np.fill_diagonal(x, 7)",
        "x.trace(0, 1, 2)",
    ],
}

BROADCAST = {
    0: ["np.broadcast_arrays(x, 1.0)"],
    2: [
        "np.broadcast_to(x, (2, 4, 6))",
        "np.broadcast_to(x, (4, 7))",
        "x += 1; return np.broadcast_to(x, (-1, *x.shape))",
        "np.broadcast_to(x, x.shape), np.broadcast_to(x, x.shape, subok=True)",
        "np.broadcast_to(x, 3)",
        "np.broadcast_to(x, (2, *x.shape))[0] = 1",
        "np.broadcast_arrays(x, x[:1])",
        "np.broadcast_arrays(x, 1.0)",
        "np.broadcast_arrays(x)[0] is x",
        "a, b = np.broadcast_arrays(x, x[:1].copy()); return a + b",
    ],
}

FLAT = {
    0: ["x.flat[0] = 3", "x.flat = 3", "x.flat[0]", "len(x.flat)", "list(x.flat)"],
    1: [
        "x.flat[2]",
        "x.flat[-1]",
        "x.flat[99]",
        "x.flat[1:3]",
        "x.flat[...]",
        "x.flat[()]",
        "x.flat[None]",
        "x.flat[1, 2]",
        "x.flat[2] = 7",
        "x.flat[-1] = 7",
        "x.flat[(1,)] = 7",
        "x.flat[99] = 1",
        "x.flat[2] = [7, 8]",
        *(["x.flat[()] = 7"] if np.lib.NumpyVersion(np.__version__) >= "2.4.0" else []),  # or crash
        "x.flat[None] = 7",
        "x.flat[::2] = 7",
        "x.flat[::-2] = [7, 8]",
        "x.flat = 7",
        "x.flat = [1, 2]",
        "x.flat = [[1, 2], [3, 4]]",
        "x.flat = []",
        "x.flat = 1j",
        "x.flat[...] = 3",
        "x.flat[1:4] = [9, 8]",
        "x.flat[1:1] = [9, 8]",
        "x.flat[:] = x[::-1].copy()",
        "[v for v in x.flat]",
        "len(x.flat)",
        "x.flat.copy()",
        "x.flat[2] += 3",
        "x.flat[::2] += 1",
        "x.flat += 1",
        "x.flat + 1",
        "np.add(x.flat, 1), x.flat == x, np.sum(x.flat)",
        "x.flat == None, x.flat != 'text'",
        "x.flat.base is x",
        "x.flat.nonsense",
        "next(x.flat)",
        "for i, v in enumerate(x.flat): x.flat[i] = v * 2",
        "for v in x.flat: x[...] = v + 1",
    ],
    2: [
        "x.flat[3] = 1",
        "x.flat[::3] = [1, 2]",
        "x.flat[2:7]",
        "x.flat = np.arange(3)",
        "x.flat[5]",
        "x.T.flat = range(24)",
        "x.T.flat[3] = 1",
        "x.T.flat[1:4] = [10, 11]",
        "x.T.flat[1:4]",
        "list(x.flat)",
        "x.flat[x.shape[1] :: x.shape[1] + 1] = 1",
        "x.flat = 3.7; x += 1",
        "x.flat[1:3] = x.flat[3:5]",
        "x.flat[0:0] = []",
        "x[1:, ::2].flat[::2] = 5",
        "y = x.T + 1; y.flat[::5] = 0; return y",
        "x.flat[np.abs(x - 1).argmin()], x.T.flat[x.argmax()], x[:, ::2].flat[-np.argmin(x[0])]",
        "x.flat[x.argmin()] = 7; x.T.flat[x.argmax()] = 8; x[::2].flat[np.argmax(x[1])] += 1",
        "x.flat[x.argmax() + 99]",
        "x.T.flat[x.argmin() - 99] = 1",
    ],
}

COMPUTED = {
    1: [
        "np.diff(x), np.diff(x, 2), np.diff(x, 0), np.diff(x, prepend=0)",
        "np.ediff1d(x), np.ediff1d(x, 0, [1, 2])",
        "np.inner(x, x)",
        "np.append(x, 1.0)",
        "np.insert(x, 1, 5.0)",
        "np.delete(x, 1)",
        "np.pad(x, 2), np.pad(x, (1, 0), constant_values=3)",
        "np.pad(x, 1, mode='wrap')",
        "np.resize(x, 9), np.resize(x, (2, 2))",
        "np.kron(x, x[:2])",
        "np.isclose(x, x + 1e-9), np.isclose(x, 0.5, equal_nan=True)",
        "np.average(x)",
        "np.select([x > 0, x > -2], [x, -x], 7.0)",
        "np.nansum(x), np.polyval([1, 2], x), np.vander(x)",
        "np.repeat(x, 2), np.tile(x, 2), np.tile(x, (2, 2)), np.repeat(x, 0)",
        "np.repeat(x, -1)",
        "np.linalg.norm(x), np.linalg.norm(x, 1)",
        "np.trapezoid(x)",
        "np.full(6, x) if x.size else 0",
    ],
    2: [
        "np.tril(x), np.triu(x), np.triu(x, 1), np.tri(4)",
        "np.tile(x, 2), np.tile(x, (2, 1)), np.tile(x, (2, 1, 1)), np.tile(x, 1)",
        "np.repeat(x, 2), np.repeat(x, 2, axis=0), x.repeat(2, 1), x.repeat(3)",
        "np.append(x, x, axis=0)",
        "np.insert(x, 1, 5.0, axis=0)",
        "np.insert(x, 1, 5.0, axis=1)",
        "np.delete(x, 1, axis=0)",
        "np.delete(x, slice(0, 2), axis=1)",
        "np.pad(x, 1), np.pad(x, ((1, 2), (0, 1))), np.pad(x, 1, constant_values=3)",
        "np.pad(x, 1, mode='edge')",
        "np.pad(x, 1, mode='reflect')",
        "np.diff(x), np.diff(x, axis=0), np.diff(x, append=1.0, axis=0)",
        "np.resize(x, (3, 3)), np.resize(x, (7, 8))",
        "np.inner(x, x), np.tensordot(x, x, ([1], [1]))",
        "np.kron(x, x[:2, :2])",
        "np.cross(x[:, :3], x[:, 3:])",
        "np.cross(x[0, :3], x[1, :3])",
        "np.block([[x, x], [x, x]]), np.dstack([x, x])",
        "np.average(x, 0)",
        "np.linalg.norm(x), np.linalg.norm(x, axis=1)",
    ],
}


def _cases(groups: Groups) -> list[tuple[int, str]]:
    return [(rank, text) for rank, texts in groups.items() for text in texts]


@pytest.mark.parametrize(("rank", "text"), _cases(SPLIT))
def test_split(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.parametrize(("rank", "text"), _cases(TURNED))
def test_turned(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.parametrize(("rank", "text"), _cases(RANK))
def test_axes_of_size_one(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.parametrize(("rank", "text"), _cases(FLAT_COPIES))
def test_views_or_copies_in_another_shape(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.parametrize(("rank", "text"), _cases(CONVERTED))
def test_conversions_and_copies(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.parametrize(("rank", "text"), _cases(DIAGONALS))
def test_diagonals(rank: int, text: str) -> None:
    check_body(text, rank)


# NumPy says so of the flags of what np.broadcast_arrays gives.
@pytest.mark.filterwarnings("ignore:future versions will not create a writeable array")
@pytest.mark.parametrize(("rank", "text"), _cases(BROADCAST))
def test_broadcast(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.parametrize(("rank", "text"), _cases(FLAT))
def test_flat(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.parametrize(("rank", "text"), _cases(COMPUTED))
def test_functions_that_numpy_writes_in_python(rank: int, text: str) -> None:
    check_body(text, rank)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="no device=, no copy=")
def test_from_dlpack_shows_the_same_memory() -> None:
    def program(x):
        y, z = np.from_dlpack(x), np.from_dlpack(x.T, copy=True)
        y[1] += 1
        z[0] = 7
        return y, z, y is x, y.strides, np.shares_memory(x, y), np.shares_memory(x, z)

    def of_no_cpu(x):
        return np.from_dlpack(x, device="gpu")

    def of_dates(x):
        return np.from_dlpack(x.astype("M8[s]"))

    def of_a_field(x):
        return np.from_dlpack(x["a"])

    for x in (np.arange(6.0), np.arange(12).reshape(3, 4), np.zeros((4, 6), order="F")[::2]):
        mine, numpys = x.copy(order="K"), x.copy(order="K")
        found = fxc.compile(program, fullgraph=True)(mine)
        assert repr(found) == repr(program(numpys))
        assert np.shares_memory(found[0], mine)
        assert np.array_equal(mine, numpys)
    records = np.zeros(3, [("a", "f8"), ("b", "i4")])
    for wrong, x in ((of_no_cpu, np.ones(3)), (of_dates, np.ones(3)), (of_a_field, records)):
        with pytest.raises((ValueError, BufferError)) as expected:
            wrong(x)
        with pytest.raises(expected.type, match=re.escape(str(expected.value))):
            fxc.compile(wrong, fullgraph=True)(x)


def test_a_function_of_which_newer_versions_of_numpy_warn() -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        np.fix(1.5)
    if not warned:
        check_body("np.fix(x)", 1)
        return
    with pytest.raises(fxc.CaptureError, match=r"np\.fix cannot be captured: a warning"):
        fxc.compile(lambda x: np.fix(x), fullgraph=True)(np.ones(3))


def strides_of_made(x):
    more, few, none = x + 1, x[x > 9], x[:0] + 1
    yield x.strides, x.T[:1].strides, x[:, None].strides, x[:, :1].strides, x[:0].strides
    yield x[:, :0].strides, x[::-1, 1:2].T.strides, np.broadcast_to(x, (1, *x.shape)).strides
    yield more[:, None].strides, more[:0].strides, more.reshape(1, -1).strides
    yield few.strides, few[:, None].strides, np.concatenate([few, few]).strides
    yield np.argwhere(x > 9).strides, np.nonzero(x > 9)[0].strides, np.array([]).strides
    yield none.strides, (none + 1).strides, np.zeros((0, 3)).T.strides
    yield np.zeros((0, 3))[:, ::2].strides, np.zeros((0, 3)).reshape(0, 3, 1).strides


@pytest.mark.parametrize("dynamic", [None, True])
def test_strides_of_axes_of_size_1_and_of_no_elements(dynamic: bool | None) -> None:
    def all_of(x):
        return list(strides_of_made(x))

    program = fxc.compile(all_of, fullgraph=True, dynamic=dynamic)
    x = np.arange(6.0).reshape(2, 3)
    for each in (x, x + 20, np.asfortranarray(x), np.arange(12.0).reshape(4, 3)[::2], x):
        assert program(each) == all_of(each)


def test_strides_of_views_at_places_that_vary() -> None:
    def shown(x, i, places):
        found = 0
        for k in range(len(x)):
            found += x[k : k + 1].T.strides[0] + (x + 1)[k, None].strides[0]
        return x[i : i + 1].strides, x[places[0] : places[0] + 1].strides, x[i, None].strides, found

    program, x = fxc.compile(shown, fullgraph=True), np.zeros((40, 3))
    for i in (2, 3, 4, 5):
        for each in (x, np.zeros((80, 6))[::2, ::2]):
            assert program(each, i, np.array([i])) == shown(each, i, np.array([i]))
    assert program.cache_info().variants <= 3


@pytest.mark.parametrize("dynamic", [None, True])
def test_strides_of_arguments_with_axes_of_size_1(dynamic: bool | None) -> None:
    def shown(x):
        return x.strides, x.T.strides, x[:, None].strides

    program, whole = fxc.compile(shown, fullgraph=True, dynamic=dynamic), np.zeros((5, 6))
    arrays = [whole[:, :1], np.zeros((5, 1)), whole[:, 1:2], whole[:1], whole[::5, ::2]]
    arrays += [whole[:0], np.zeros((0, 6)), np.zeros((1, 6)), np.zeros((1, 8)), whole[:, :1]]
    for each in arrays:
        assert program(each) == shown(each)
