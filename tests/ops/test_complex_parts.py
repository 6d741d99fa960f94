"""``.real`` and ``.imag``: views of complex arrays that can be written, as NumPy's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run, warnings_of

LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "c": np.ascontiguousarray,
    "f": np.asfortranarray,
    "strided": lambda x: np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3],
    "negative": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "transposed": lambda x: x.T.copy().T,
    "zero_size": lambda x: x[:0],
    "rank_0": lambda x: np.array(x[1, 2]),
}


def like_numpy(fn: Callable[..., Any], make: Callable[[], list[Any]], eager: int = 0) -> None:
    """``fn`` compiled does what ``fn`` does, at the first call and at the second; natively, but for
    so many calls, or all that raise.
    """
    compiled = fxc.compile(fn, fullgraph=True)
    for _ in range(2):
        expected = run(fn, make())
        text = difference(expected, run(compiled, make()))
        assert not text, text
    assert compiled.cache_info().eager_calls == (2 if expected.error else eager)


def numbers(dtype: Any) -> np.ndarray:
    values = np.arange(20.0).reshape(4, 5) - 7
    return (values + 1j * values[::-1] ** 2).astype(dtype)


def complex_arguments(layout: str, dtype: Any) -> Callable[[], list[Any]]:
    return lambda: [LAYOUTS[layout](numbers(dtype))]


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("layout", LAYOUTS)
class TestViews:
    def test_are_returned_as_views(self, layout: str, dtype: str) -> None:
        def parts(z: Any) -> Any:
            made = z + 1
            return z.real, z.imag, np.real(z), np.imag(z.T), made.imag, made, z[..., None].real

        like_numpy(parts, complex_arguments(layout, dtype))

    def test_are_written(self, layout: str, dtype: str) -> None:
        def write(z: Any) -> Any:
            z.real += 1
            z.imag *= z.real
            z.imag = z.real - 2
            z.real[...] = z.imag
            np.add(z.real, z.imag, out=z.imag)
            z *= 1j
            return z.imag + z.real, abs(z.real)

        like_numpy(write, complex_arguments(layout, dtype))

    def test_views_of_views_are_written(self, layout: str, dtype: str) -> None:
        def write(z: Any) -> Any:
            part = z[1:] if z.ndim else z[...]
            part.T.imag[...] = part.T.real + 3
            swapped = part.real.T
            part.real += 1
            part.imag[...].real -= 2
            return swapped, part.imag

        like_numpy(write, complex_arguments(layout, dtype))

    def test_read_what_was_written_elsewhere(self, layout: str, dtype: str) -> None:
        def write(z: Any) -> Any:
            real, imag = z.real, z.imag
            z[...] = z * 2 - 1j
            imag -= real
            return real + 0, z + 0

        like_numpy(write, complex_arguments(layout, dtype))


@pytest.mark.parametrize("dtype", ["?", "i4", "u1", "f4", "f8"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_of_real_arrays(layout: str, dtype: str) -> None:
    """The array itself, and new zeros that cannot be written."""

    def parts(x: Any) -> Any:
        x.real = x.real.T.T * 2
        zeros = x.imag
        return x.real, zeros, x.imag, np.imag(x.T), x.real is x, np.real(x) is x, zeros.real

    like_numpy(parts, lambda: [LAYOUTS[layout](numbers("c16").real.astype(dtype))])


FAILING: dict[str, tuple[Callable[..., Any], Callable[[], list[Any]]]] = {
    "imag_of_real": (lambda x: setattr(x, "imag", 1), lambda: [np.arange(3.0)]),
    "add_to_imag_of_real": (lambda x: np.add(x.imag, 1, out=x.imag), lambda: [np.arange(3.0)]),
    "shape": (lambda z: setattr(z, "real", np.zeros((2, 4))), lambda: [np.zeros(4, complex)]),
    "read_only": (lambda z: setattr(z, "imag", 1), lambda: [np.broadcast_to(1j, (3,))]),
    "complex_item": (lambda z: z.real.__setitem__(0, 1j), lambda: [np.zeros(3, complex)]),
    "complex_added": (lambda z: z.imag.__iadd__(1j), lambda: [np.zeros(3, complex)]),
    "complex_added_to_real": (lambda x: x.__iadd__(1j), lambda: [np.arange(3.0)]),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
def test_what_numpy_refuses(name: str) -> None:
    fn, make = FAILING[name]
    assert run(fn, make()).error is not None
    like_numpy(fn, make, eager=2)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("source", [3, 2.5, True, 1 + 2j, np.float32(0.1), np.complex64(3 - 1j)])
def test_assigned_scalars(dtype: str, source: Any) -> None:
    """The cast is that of an array: nothing is checked, an imaginary part is dropped. From NumPy
    2.5 on it is that of an element.
    """

    def assign(z: Any, value: Any) -> None:
        z.real = value
        z[1:].imag = source
        z.imag[0] = 300

    like_numpy(assign, lambda: [np.zeros(4, dtype), source])


@pytest.mark.parametrize(
    "dtype", [np.dtype("i1"), np.dtype("u1"), np.dtype("f4"), np.dtype("?")], ids=str
)
def test_assigned_parts_of_real_arrays_wrap(dtype: np.dtype) -> None:
    def assign(x: Any, value: Any) -> None:
        x[:2].real = 300
        x[2:].real = value

    like_numpy(assign, lambda: [np.zeros(4, dtype), 260])


def test_dropping_an_imaginary_part_warns() -> None:
    def assign(z: Any, w: Any) -> None:
        z.real = w

    compiled = fxc.compile(assign, fullgraph=True)
    for _ in range(2):
        z = np.zeros(3, complex)
        with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
            compiled(z, z + 1j)


MASKED: dict[str, Callable[[Any, Any], None]] = {
    "by_itself": lambda x, m: x.__setitem__(m, x[m] * 1j),
    "by_another": lambda x, m: x.__setitem__(m, (1j * x)[np.abs(x) > 1.5]),
    "of_length_one": lambda x, m: x.__setitem__(m, np.ones(1) * 1j),
    "a_number": lambda x, m: x.__setitem__(m, x.sum().astype(complex)),
    "a_constant": lambda x, m: x.__setitem__(m, np.complex128(1j)),
    "rows": lambda x, m: np.stack([x, x], 1).__setitem__(m, np.ones(2) * 1j),
}


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_writes_by_a_mask_warn_of_parts_of_elements_that_are_chosen(name: str, dtype: str) -> None:
    def program(x: Any) -> Any:
        MASKED[name](x, np.abs(x) > 1.5)
        return x

    compiled = fxc.compile(program, fullgraph=True)
    for x in ([0, 1, 1], [0, 2, -3], [1, 0, 0], []):
        values = np.array(x, dtype)
        warned = warnings_of(program, values.copy())
        assert warnings_of(compiled, values.copy()) == warned
        assert not difference(run(program, [values.copy()]), run(compiled, [values.copy()]))
    assert compiled.cache_info().eager_calls == 0


STORES = [
    "v[0] = z[1]",
    "v[1:3] = z[1:3]",
    "v[1] = np.complex128(3 + 1j)",
    "v[np.array([0, 2])] = z[1]",
    "v[v == 0] = z[2]",
    "v.fill(z[1])",
    "for i in range(3): v[i] = z[i] + 1.0",
]


@pytest.mark.parametrize("kind", ["i8", "u4", "f8", "?"])
@pytest.mark.parametrize("statement", STORES)
def test_complex_elements_stored_as_real_ones_warn(statement: str, kind: str) -> None:
    """As often as in NumPy, which makes Python's ints of some and casts others."""
    space: dict[str, Any] = {"np": np}
    exec(f"def f(z, v):\n    {statement}", space)
    compiled = fxc.compile(space["f"], fullgraph=True)
    found = []
    for function in (space["f"], compiled, compiled):
        v = np.zeros(4, kind)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(np.arange(4) * (1 + 2j), v)
        found.append(([str(each.message) for each in caught], v.tolist()))
    assert found[1:] == [found[0]] * 2


NUMBERS = [1 + 2j, complex(-0.0, np.nan), np.complex64(2 - 1j), np.complex128(3), 1.5, 7, True]
NUMBERS += [np.float32(2.5), np.int8(-3), np.bool_(True)]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_parts_of_scalars(number: Any) -> None:
    """A scalar of the same kind: Python's stays Python's, and weak."""

    def parts(x: Any, k: Any) -> Any:
        real, imag = k.real, k.imag
        return real, imag, np.real(k), np.imag(k), x * real, x + imag, np.isreal(k), np.iscomplex(k)

    like_numpy(parts, lambda: [np.arange(3, dtype="f4"), number])
    like_numpy(parts, lambda: [np.arange(3) + 1j, number])


def test_parts_of_elements() -> None:
    def parts(z: Any) -> Any:
        return z[0].real, z[1].imag, z.sum().imag, z[2, ...].imag, z[0].conj(), z.real[1]

    like_numpy(parts, lambda: [numbers("c8")[1]])
    like_numpy(parts, lambda: [numbers("c16")[1]])


@pytest.mark.parametrize("dtype", ["c8", "c16", "f4", "i8", "?"])
def test_functions_of_parts(dtype: str) -> None:
    def functions(x: Any) -> Any:
        results = [np.isreal(x), np.iscomplex(x), np.iscomplexobj(x), np.isrealobj(x)]
        results += [np.isreal(x[0]), np.iscomplex(x[0, 0]), np.iscomplex(x[1, 1, ...])]
        results += [np.real([x[0], x[1]]), np.imag([x[0, 0], 2j]), np.isrealobj([1, 2j])]
        return results, np.angle(x), np.angle(x[0, 0]), np.angle(x, deg=True)

    def make() -> list[Any]:
        # Of these numbers fxc and NumPy agree to the last bit.
        corners = np.array([[1, -1, 0], [1j, -1j, 0], [-0.0, np.inf, np.nan]], complex)
        return [(corners if np.dtype(dtype).kind == "c" else corners.real > 0).astype(dtype)]

    like_numpy(functions, make)


def test_lists_from_outside_have_complex_parts() -> None:
    def functions(x: Any) -> Any:
        return np.isreal(x), np.iscomplex(x), np.iscomplexobj(x), np.isrealobj(x), np.real(x)

    for x in ([3, 1 + 2j], [1.5, 2], [[1, 2], [3, 4j]], [np.float32(1), np.complex64(2)]):
        like_numpy(functions, lambda x=x: [x])  # type: ignore[misc]


def test_conjugates() -> None:
    def conjugates(z: Any, x: Any) -> Any:
        return z.conj(), np.conj(z), np.conjugate(z.T), x.conj() is x, z.conj().imag

    like_numpy(conjugates, lambda: [numbers("c8"), numbers("c16").real])
