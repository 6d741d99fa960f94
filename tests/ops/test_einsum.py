"""``np.einsum``: NumPy's bits, whichever way it walks its operands."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.lowering.machine.costs import Costs
from fxc.lowering.nests.parse import parse_loops
from fxc.lowering.nests.statements import Boxed, Matmul, walk
from fxc.lowering.nests.together import Sums
from fxc.lowering.operators.einsum_order import has_lanes
from fxc.pipeline import assemble
from fxc.verifying.loop_evaluator import evaluate
from tests.outcomes import difference, run
from tests.parallel_loops import compiled_for

Call = Callable[..., Any]
FLOATS = (np.float32, np.float64)
DTYPES = {3: (np.int64, np.int8, np.bool_, np.uint16), 4: (np.complex64, np.complex128)}


def einsum_of(subscripts: str) -> Call:
    return lambda *xs: np.einsum(subscripts, *xs)


def same(subscripts: str, *xs: Any) -> Any:
    """Compare with NumPy, bits, layout and class, and give what was compiled."""
    function = einsum_of(subscripts)
    compiled = fxc.compile(function, fullgraph=True)
    wanted, got = function(*xs), compiled(*xs)
    np.testing.assert_array_equal(got, wanted, err_msg=f"{subscripts} {[x.strides for x in xs]}")
    zeros = np.signbit(got) == np.signbit(wanted) if wanted.dtype.kind == "f" else True
    assert np.all(zeros), subscripts
    assert (got.dtype, type(got)) == (wanted.dtype, type(wanted))
    steps = [
        [step for step, size in zip(each.strides, each.shape, strict=True) if size > 1]
        for each in (got, wanted)
    ]
    assert wanted.size == 0 or steps[0] == steps[1], subscripts
    return compiled


def is_native(compiled: Any) -> bool:
    return not compiled.cache_info().fallbacks


class Family:
    """Random subscripts with operands for them."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def operand(self, shape: list[int], dtype: Any) -> np.ndarray:
        made = (self.rng.standard_normal(shape) * 4).astype(dtype)
        if made.dtype.kind == "c":
            made += (1j * self.rng.standard_normal(shape)).astype(dtype)
        match int(self.rng.integers(6)) if shape else 0:
            case 1:
                order = self.rng.permutation(made.ndim)
                return made.transpose(order).copy().transpose(np.argsort(order))
            case 2:
                return np.repeat(made, 2, axis=-1)[..., ::2]
            case 3:
                axis = int(self.rng.integers(made.ndim))
                return np.flip(np.flip(made, axis).copy(), axis)
            case 4:
                return np.pad(made, [(1, 2)] * made.ndim)[(slice(1, -2),) * made.ndim]
            case _:
                return made

    def case(self, dtypes: tuple[Any, ...], most: int) -> tuple[str, list[np.ndarray]]:
        letters = "abcdeB"[: self.rng.integers(2, 7)]
        sizes = {each: int(self.rng.choice([1, 2, 3, 5, 8, 13, 33])) for each in letters}
        terms = [
            "".join(self.rng.permutation(list(letters))[: self.rng.integers(1, 4)])
            for _ in range(self.rng.integers(1, most + 1))
        ]
        if self.rng.random() < 0.2:
            terms[0] += terms[0][0]
        used = sorted(set("".join(terms)))
        output = "".join(self.rng.permutation([each for each in used if self.rng.random() < 0.5]))
        dtype = dtypes[self.rng.integers(len(dtypes))]
        xs = [self.operand([sizes[each] for each in term], dtype) for term in terms]
        return f"{','.join(terms)}->{output}", xs


@pytest.mark.bits
@pytest.mark.parametrize("meeting", [8, Costs().sums_meeting])
@pytest.mark.parametrize("seed", range(5))
def test_random_subscripts_and_layouts(
    seed: int, meeting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = replace(assemble.target().costs, sums_meeting=meeting)  # where copies have gaps
    compiled_for(monkeypatch, replace(assemble.target(), costs=costs))
    family, native = Family(seed), 0
    dtypes = DTYPES.get(seed, FLOATS)
    for _ in range(16):
        subscripts, xs = family.case(dtypes, 3 if seed % 2 else 2)
        inputs, output = subscripts.split("->")
        if len(xs) > 1 or set(output) != set(inputs):  # no view
            native += is_native(same(subscripts, *xs))
    assert native >= 6


@pytest.mark.bits
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "subscripts, shapes",
    [
        ("bhqd,bhkd->bhqk", [(2, 3, 9, 29), (2, 3, 37, 29)]),
        ("bhqk,bhkd->bhqd", [(2, 3, 9, 37), (2, 3, 37, 29)]),
        ("ij,jk->ik", [(37, 70), (70, 35)]),
        ("ij,jk", [(1, 5), (5, 1)]),
        ("ij,kj->ki", [(6, 130), (19, 130)]),
        ("ij,ij->i", [(11, 63), (11, 63)]),
        ("ij,ij->j", [(11, 63), (11, 63)]),
        ("ij,j->i", [(50, 47), (47,)]),
        ("ij,i->j", [(50, 47), (50,)]),
        ("i,i->", [(8192,), (8192,)]),
        ("i,j->ij", [(5,), (70,)]),
        ("ii", [(12, 12)]),
        ("bii->b", [(5, 7, 7)]),
        ("ij->j", [(50, 47)]),
        ("ni,ij,nj->n", [(20, 16), (16, 16), (20, 16)]),
        ("i,ij,j", [(8,), (8, 9), (9,)]),
        ("ijk,jil->kl", [(5, 6, 7), (6, 5, 9)]),
        ("pqrs,sr->pq", [(4, 4, 5, 6), (6, 5)]),
        ("pqrs,sr->qp", [(4, 4, 5, 6), (6, 5)]),
        ("ijkl,il->jkl", [(2, 2, 128, 3), (2, 3)]),  # rows of two axes
        ("ij,jk->ik", [(0, 5), (5, 3)]),
        ("ij,jk->ik", [(4, 0), (0, 3)]),
        ("ij,ij->ij", [(4, 1), (4, 9)]),
    ],
)
def test_usual_forms_are_native(dtype: Any, subscripts: str, shapes: list[Any]) -> None:
    rng = np.random.default_rng(len(subscripts))
    assert is_native(same(subscripts, *(rng.standard_normal(s).astype(dtype) for s in shapes)))


@pytest.mark.bits
def test_operands_of_other_dtypes_are_cast_first() -> None:
    rng = np.random.default_rng(0)
    x, mask = rng.standard_normal((9, 63)), rng.random((9, 63)) < 0.5
    assert is_native(same("ij,ij->i", x, mask))
    assert is_native(same("ij,kj->ik", x.astype(np.float32), x))
    assert is_native(same("ij,jk->ik", x, np.arange(126).reshape(63, 2)))


def test_sizes_that_change() -> None:
    compiled = fxc.compile(lambda x, y: np.einsum("ij,kj->ik", x, y), fullgraph=True)
    rng = np.random.default_rng(0)
    for rows, inner, columns in ((4, 5, 6), (7, 30, 9), (40, 61, 33), (2, 9000, 3)):
        x, y = rng.standard_normal((rows, inner)), rng.standard_normal((columns, inner))
        np.testing.assert_array_equal(compiled(x, y), np.einsum("ij,kj->ik", x, y))
    assert compiled.cache_info().variants <= 2


def test_numbers_of_quadratic_forms_that_change() -> None:
    compiled = fxc.compile(lambda x, a: np.einsum("ni,ij,nj->n", x, a, x), fullgraph=True)
    rng = np.random.default_rng(0)
    for rows in (20, 30, 90, 7):
        x, a = rng.standard_normal((rows, 6)), rng.standard_normal((6, 6))
        np.testing.assert_array_equal(compiled(x, a), np.einsum("ni,ij,nj->n", x, a, x))
    info = compiled.cache_info()
    assert (info.variants, info.fallbacks) == (2, {})


def test_what_is_computed_goes_into_the_sum() -> None:
    def program(x: Any, y: Any) -> Any:
        return np.einsum("ij,jk->ik", x * 2, np.cos(y)) + np.einsum("ij,kj->ik", x + 1, y[::-1])

    x, y = np.random.default_rng(0).standard_normal((2, 7, 7))
    compiled = fxc.compile(program, fullgraph=True)
    np.testing.assert_allclose(compiled(x, y), program(x, y), rtol=1e-13, atol=1e-13)
    assert is_native(compiled)


def test_negative_zeros_are_added_to_zero() -> None:
    zero = np.full((3, 3), -0.0)
    for subscripts in ("ij,jk->ik", "ij,kj->ik", "i,j->ij", "ij,ij->ij"):
        xs = (zero[0], -zero[0]) if subscripts == "i,j->ij" else (zero, -zero)
        same(subscripts, *xs)


def test_nobody_is_told_of_overflows() -> None:
    x = np.full((5, 5), 1e200)
    compiled = fxc.compile(lambda x: np.einsum("ij,jk->ik", x, x), fullgraph=True)
    with np.errstate(all="raise"):
        assert np.isinf(compiled(x)).all()
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize("dtype", FLOATS)
def test_numpy_has_the_lanes_that_are_known(dtype: Any) -> None:
    assert has_lanes(np.dtype(dtype))


def test_sums_have_a_text_and_a_meaning() -> None:
    rng = np.random.default_rng(0)
    for subscripts, shapes in (
        ("ij,kj->ik", [(5, 70), (6, 70)]),
        ("ij,jk->ik", [(5, 70), (70, 6)]),
        ("pqrs,sr->pq", [(4, 3, 5, 6), (6, 5)]),
        ("ijk,jil->kl", [(5, 6, 7), (6, 5, 9)]),
    ):
        xs = [rng.standard_normal(shape) for shape in shapes]
        program = fxc.compile(einsum_of(subscripts), fullgraph=True).inspect(*xs).loops
        stmts = [stmt for stmt in walk(program.body) if isinstance(stmt, Matmul | Boxed)]
        assert [type(getattr(stmt, "sums", None)) for stmt in stmts] == [Sums]
        assert str(parse_loops(str(program))) == str(program)
        (got,) = evaluate(program, xs)
        np.testing.assert_array_equal(got, np.einsum(subscripts, *xs))


def diagonals_written(x: Any, b: Any) -> Any:
    d = np.einsum("ii->i", x)
    d[:] = 7.0
    d += np.arange(len(d))
    e = np.einsum("bii->ib", b)
    e *= 2
    return d + 0, e + 0, np.einsum("...ii->...i", b) + 0, np.einsum("ij->ji", x)


def ellipses(x: Any, b: Any) -> Any:
    return (
        np.einsum("...ij,...j->...i", b, b[0][:3]),
        np.einsum("...ij,...jk", b, x),
        np.einsum("i...->...", b),
        np.einsum(", ...", 3.0, b),
        np.einsum("i...i", b[0]),
    )


def lists(x: Any, b: Any) -> Any:
    return (
        np.einsum(x, [0, 1], b, [2, 1, 3]),
        np.einsum(x, [30, 1], x, [1, 2], [2, 30]),
        np.einsum(b, [..., 0, 0], [..., 0]) * 2,
        np.einsum(x, (0, 0)),
    )


def into_arrays(x: Any, b: Any) -> Any:
    whole, part, other = np.zeros((5, 5)), np.ones((7, 5, 5)), np.zeros((5, 5))
    np.einsum("ij,kj->ik", x[:, ::-1], x[:, ::-1], out=other)
    found = np.einsum("ij,jk->ik", x, x, out=whole)
    np.einsum("ij,bjk->bik", x, b, out=part[1 : 1 + len(b)])
    one = np.zeros(())
    np.einsum("ii", x, out=one)
    return found is whole, whole, part, other, one


def by_a_path(x: Any, b: Any) -> Any:
    return (
        np.einsum("ij,jk,kl->il", x, x, x, optimize=True),
        np.einsum("bij,bjk->bik", b, b, optimize="optimal"),
        np.einsum("ij,ij->i", x, x, optimize=True),
    )


@pytest.mark.parametrize(
    "program, turned",
    [
        (into_arrays, False),
        *itertools.product((diagonals_written, ellipses, lists, by_a_path), (False, True)),
    ],
)
def test_forms_of_a_call(program: Call, turned: bool) -> None:
    def given() -> list[Any]:
        x, b = (np.random.default_rng(len(s)).standard_normal(s) for s in ((5, 5), (3, 5, 5)))
        return [x.T, b[:, ::-1]] if turned else [x, b]

    compiled, wanted, got = fxc.compile(program, fullgraph=True), given(), given()
    for _ in range(2):
        assert difference(run(program, wanted), run(compiled, got)) == ""
    assert compiled.cache_info().eager_calls == 0


@pytest.mark.filterwarnings("ignore:.*run.* as plain NumPy")
@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.einsum("ii->i", x[:, :3]),
        lambda x: np.einsum("ij->k", x),
        lambda x: np.einsum("ijk->i", x),
        lambda x: np.einsum("ij,jk->ik", x),
        lambda x: np.einsum("i?->i", x),
        lambda x: np.einsum("ij->ii", x),
        lambda x: np.einsum("ij,kj->ik", x, x[:, :3]),
        lambda x: np.einsum("...i->i", x),
        lambda x: np.einsum(x, [0, 60]),
        lambda x: np.einsum("ij,jk->ik", x, x, out=np.zeros(3)),
    ],
)
def test_errors_are_numpys(program: Call) -> None:
    x = np.random.default_rng(0).standard_normal((4, 4))
    assert difference(run(program, [x]), run(fxc.compile(program), [x])) == ""


@pytest.mark.filterwarnings("ignore:.*run.* as plain NumPy")
def test_an_order_or_an_array_to_write_in_another_one_is_left_to_numpy() -> None:
    def program(x: Any) -> Any:
        out = np.zeros((6, 6)).T
        return (
            np.einsum("ij,kj->ik", x, x, out=out),
            np.einsum("ij,kj->ik", x, x, order="F"),
            np.einsum("ij,kj->ik", x, x, dtype=np.longdouble),
        )

    x = np.random.default_rng(0).standard_normal((6, 63))
    assert difference(run(program, [x]), run(fxc.compile(program), [x])) == ""


def test_what_numpy_remembers_is_of_numbers_alone():
    """Its own code keeps plans by sizes: those that are symbols of a capture must not be kept."""

    def fn(x, n):
        a = np.ones((n, n + 1)) * x
        return np.einsum("ij,kj,i->k", a, a + 1, a[:, 0], optimize=True)

    compiled = fxc.compile(fn)
    for n in (3, 4, 5):
        assert np.array_equal(compiled(2.0, n), fn(2.0, n))
