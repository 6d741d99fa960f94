"""Small programs that fxc once computed otherwise than NumPy, each by what was wrong."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ops.identities import power_takes_shortcuts
from tests.compiling import check
from tests.outcomes import difference, run


def numbers(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape)) * 7 % 23 - 8.0).reshape(shape) / 4 + 0.125


# ---------------------------------------------------------------- what a value computed late reads


def test_value_from_a_temporary_that_is_written_later() -> None:
    def program(a):
        v = a * 2
        u = v + 1
        v[0] = 5
        return u * v

    check(program, lambda: (numbers(8),))


def test_value_from_a_temporary_that_a_numpy_call_placed() -> None:
    def program(a):
        v = a * 2
        u = v + 1
        s = np.sort(v)
        v[0] = 5
        return u * 3, s, v

    check(program, lambda: (numbers(8),))


def test_copy_of_an_input_that_is_written_later() -> None:
    """The update of the copy, the last to read the input, took the input's memory."""

    def program(a):
        copied = np.empty_like(a)
        copied[...] = a
        a[2] = 1
        copied[0] -= 2
        return copied[7]

    check(program, lambda: (numbers(8),))


def test_updates_of_a_copy_between_those_of_the_input() -> None:
    def program(a):
        a[0] = 5
        copied = a.copy()
        a[2] = 1
        copied[1] = 7
        a[4:] += 1
        copied[3] = copied[5]
        return copied

    check(program, lambda: (numbers(8),))


def test_loop_from_a_copy_of_an_input_that_its_body_writes() -> None:
    """The copy, which the loop carries, took the input's memory, of which a part is stored."""

    def program(x):
        def body(i, y):
            x[1, 1:1] = 7
            y.fill(i)
            return y

        fxc.fori_loop(1, 3, body, x)
        return x

    check(program, lambda: (numbers(4, 3),))


def test_updates_of_a_copy_of_an_input_behind_loops_and_branches() -> None:
    def program(x, y):
        def body(i, part):
            x[i] += part[0]
            return part + 1

        def yes(z):
            x[1] = 4
            return z

        def no(z):
            z[2:] = 7
            return z

        part = fxc.fori_loop(1, 3, body, x[:2])
        copied = x.copy()
        x[4] = 1
        copied[0] -= 2
        chosen = fxc.cond(y[0] > 0, yes, no, y)
        y[3] = 8
        chosen[5] = 2
        return copied, part, chosen

    for sign in (1, -1):
        check(program, lambda sign=sign: (numbers(6), sign * numbers(6)))


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "f4", "f8", "c8"])
def test_loops_over_arrays_of_a_few_bytes(dtype: str) -> None:
    """What was no more than 16 bytes was taken for a number, wherever its elements lay."""

    def program(x):
        def body(state):
            i, y, z = state
            y += y[0]
            z[:2] = y[1:3]
            return i + 1, y, z

        start = (x[0] != 0) + np.int64(0), x, x[::-1]
        return fxc.while_loop(lambda state: state[0] < 3, body, start)[1:]

    check(program, lambda: (np.arange(6).astype(dtype)[1::2],))


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "u8"])
def test_bounds_of_a_loop_of_any_integer(dtype: str) -> None:
    def program(x, n):
        first = fxc.fori_loop(x[0], x[1], lambda i, y: y + 1, x)
        return first, fxc.fori_loop(n, x.sum(), lambda i, y: 2 * y, x)

    check(program, lambda: (np.array([1, 3, 2], dtype), np.dtype(dtype).type(2)))


@pytest.mark.parametrize("start", [7, 2**63 + 5])
def test_loop_that_carries_an_unsigned_number_beside_an_int(start: int) -> None:
    """Its range was looked for within those of int64."""

    def program(x, n):
        def body(state):
            i, t = state
            return i + 1, t * 3

        return fxc.while_loop(lambda state: state[0] < 6, body, (n, x[0]))

    check(program, lambda: (np.array([start], np.uint64), 2))


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_sum_of_what_was_written_from_another_layout(backend: Any) -> None:
    """NumPy, as a backend, added it up in the order of what was written."""

    def program(x, y):
        x[...] = x.copy("F") / 3
        y[...] = y.copy("C") / 3
        return x.sum(), y.sum()

    def make():
        return numbers(5, 6, 4)[:, ::-1, ::2], numbers(4, 1, 5, 3).T

    compiled = fxc.compile(program, fullgraph=True, backend=backend)
    assert not difference(run(program, make()), run(compiled, make()))


# ---------------------------------------------------------------- names in the user's function


def test_array_argument_called_like_a_buffer() -> None:
    def program(b1, v3):
        x = b1 * 2
        y = np.sort(x)
        b1[1:] = y[:-1]
        return x + y, v3[::-1].sum()

    check(program, lambda: (numbers(8), numbers(8)))


@pytest.mark.parametrize("dynamic", [False, True])
def test_int_argument_called_like_a_loop_variable(dynamic: bool) -> None:
    def program(a, i0, i1):
        a[i0:] += i1
        return a.reshape(2, 4) * i0

    check(program, lambda: (numbers(8), 3, 4), dynamic=dynamic)


def test_scalar_arguments_called_like_registers() -> None:
    def program(t1, t2, t3):
        return (t1 * t2 + t3) / t1 * t3

    check(program, lambda: (numbers(8), 3.0, np.float32(2)))


def test_int_argument_whose_name_starts_with_an_underscore() -> None:
    def program(_n, a, in_n):
        return a[_n:] * in_n, fxc.fori_loop(0, _n, lambda i0, x: x + a * i0, a)

    check(program, lambda: (3, numbers(8), 2.0))


def test_array_argument_called_like_a_buffer_of_column_sums() -> None:
    def program(acc3, acc4, i2, i3b):
        return (acc3.sum(axis=0) + acc4) * i2, (acc3 * 2.0).sum(axis=0) * i3b

    check(program, lambda: (numbers(300, 300), numbers(300), 3, 4))


# ---------------------------------------------------------------- loops


def test_loop_that_carries_one_value_twice() -> None:
    def program(a):
        v = a * 2 + 1
        return fxc.fori_loop(0, 3, lambda k, s: (s[0] + 1, s[1] * 2), (v, v))

    check(program, lambda: (numbers(8),))


def test_loop_whose_body_also_reads_the_initial_value() -> None:
    def program(a):
        v = a * 2 + 1
        w = v[::-1]
        return fxc.fori_loop(0, 3, lambda k, x: x + v, v) + fxc.fori_loop(
            0, 2, lambda k, x: x * w, v
        )

    check(program, lambda: (numbers(8),))


# ---------------------------------------------------------------- fusion


def test_argmax_beside_a_pairwise_sum() -> None:
    def program(x):
        place = np.argmax(x)
        total = x.sum()
        x -= place
        return total

    check(program, lambda: (numbers(40),))


# ---------------------------------------------------------------- operators


@pytest.mark.parametrize("dtype", ["u1", "i1", "i4", "u4", "u8", "i8", "?", "f4"])
def test_comparison_with_an_int_that_the_dtype_does_not_hold(dtype: str) -> None:
    def program(u):
        below = u > -1, u >= -1, u < -1, u <= -300, u == -(10**12), u != -300, u > -300
        above = u < 256, u <= 256, u > 256, u >= 2**40, u == 2**40, u != 300, u < 256
        return below, above, np.where(u < 256, u, 0), u[0] > -1

    check(program, lambda: (np.arange(4).astype(dtype),))


def test_clip_of_unsigned_ints_at_negative_bounds() -> None:
    def program(u):
        return np.clip(u, -1, 2), np.clip(u, 1, 300), np.clip(u, -5, 2**40), u.clip(-1, 9.5)

    check(program, lambda: (np.arange(5, dtype=np.uint8),))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "i4"])
def test_clip_of_what_equals_a_bound(dtype: str) -> None:
    """-0.0 with a bound of 0 stays -0.0, but not if the bounds are arrays."""

    def program(x, low, high):
        numbers = np.clip(x, 0, 2), np.clip(x, -0.0, 2), np.clip(x, -2, 0), np.clip(x, 2, -0.0)
        arrays = np.clip(x, low, high), np.clip(x, low, 1), np.clip(x, -1, high)
        elements = np.clip(x, low[0], high[0]), np.clip(x, low[0, ...], high[1, ...])
        return numbers, arrays, elements, np.clip(x[0], low, high), np.clip(x[0], low[0], 2)

    values = np.array([0.0, -0.0, 1, -1, 3]) if dtype == "i4" else np.array([0.0, -0.0, 1, np.nan])
    x, low = (
        np.repeat(values, len(values)).astype(dtype),
        np.tile(values, len(values)).astype(dtype),
    )
    check(program, lambda: (x, low, np.roll(low, 5)))


def test_an_int_and_a_complex_scalar_in_order() -> None:
    def program(x, n):
        return n > np.complex128(0.5), n <= np.complex64(2 + 1j), n == np.complex128(2), x * n

    check(program, lambda: (numbers(3), 2))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_an_int_and_a_complex_element_in_order(dtype: str) -> None:
    def program(z, n):
        v = z[0] - z[1]
        return n > v, n <= v, v < n, n == v, n != z[2]

    check(program, lambda: ((numbers(3) * (1 + 1j)).astype(dtype), 2))


def test_logic_of_complex_numbers_and_others() -> None:
    def program(z, x):
        return np.logical_and(z, x > 0), np.logical_or(x, z), np.logical_xor(z.imag, z)

    check(program, lambda: (numbers(3) * 1j, numbers(3)))


@pytest.mark.skipif(not power_takes_shortcuts(), reason="NumPy 2.0 takes them for any: refused")
def test_power_of_complex_numbers_to_a_scalar_of_numpy() -> None:
    """The operator's shortcuts are for Python's own numbers."""

    def program(z, x):
        z **= x[1]
        return z ** x[0, ...], z ** np.clip(x[0, ...], 0, 3)

    check(program, lambda: (numbers(3) * 1j, np.array([1.0, 2.0])))


@pytest.mark.parametrize("dtype", ["u1", "f8", "c8", "?"])
def test_copyto_of_a_python_complex(dtype: str) -> None:
    def program(x, z):
        np.copyto(x, z, casting="unsafe")
        return x

    check(program, lambda: (np.ones(3, dtype), 1 - 0.5j))


@pytest.mark.parametrize("dtype", ["u2", "i8", "f4", "c8"])
def test_copyto_of_a_python_int_by_a_mask(dtype: str) -> None:
    def program(x, n, m):
        np.copyto(x, n, where=m)
        np.copyto(x[:1], n, where=m[:1])
        return x

    check(program, lambda: (np.ones(3, dtype), 3, np.array([True, False, True])))


@pytest.mark.parametrize("flag", [np.True_, True])
def test_bool_scalar_argument(flag: Any) -> None:
    def program(x, p):
        return np.where(p, x, 2), x * p

    check(program, lambda: (numbers(8), flag))


@pytest.mark.parametrize("order", ["C", "F"])
def test_products_of_what_has_no_elements_reshaped(order: Any) -> None:
    def program(x):
        flat = x.reshape((0, 0), order="F")
        square = flat @ flat.mT, np.dot(x.reshape(5, 0), x.reshape(0, 2))
        return square, x.reshape(0, 2).T @ x.reshape(0, 4), x.reshape(3, 0, 2)[1:].sum(axis=1)

    check(program, lambda: (np.ones((2, 0, 3), order=order),))


# ---------------------------------------------------------------- compile time


def compile_calls(lines: str, *args: Any) -> int:
    """How many Python functions a compilation calls: its time, but the same at each run."""
    source = f"def program(x):\n{lines}    return x\n"
    linecache.cache[lines] = (len(source), None, source.splitlines(True), lines)
    space: dict[str, Any] = {"np": np}
    exec(compile(source, lines, "exec"), space)
    calls = 0

    def count(frame: Any, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        fxc.compile(space["program"], fullgraph=True).inspect(*args)
    finally:
        sys.setprofile(None)
    return calls


def test_long_chain_compiles_in_linear_time() -> None:
    lines = "    x = x * 0.5 + 1\n"
    compile_calls(lines, numbers(50))  # imports
    few, many = (compile_calls(lines * n, numbers(50)) for n in (100, 400))
    assert many < 6 * few


def test_reshapes_between_transposes_do_not_multiply() -> None:
    shapes = ((20, 50), (4, 250), (8, 125), (25, 40))
    lines = [f"    x = x.reshape({s}).T.reshape(10, 100) + 1\n" for s in shapes]
    compile_calls(lines[0], numbers(10, 100))  # imports
    few, many = (compile_calls("".join(lines * n), numbers(10, 100)) for n in (1, 4))
    assert many < 6 * few


def test_two_results_with_the_same_content_are_two_arrays() -> None:
    def program(a):
        w = a * 1.5
        r = np.empty_like(a)
        r[...] = w
        s = np.zeros((2, 3)).T
        s[...] = w
        return r, w, s, w[1:], r

    check(program, lambda: (numbers(3, 2),))


# ---------------------------------------------------------------- Python ints, bools, rank 0


@pytest.mark.parametrize(
    "make",
    [
        lambda u, k: np.full(4, k, u.dtype),
        lambda u, k: np.full_like(u, k),
        lambda u, k: np.clip(u, k, 3),
    ],
)
def test_python_int_that_the_dtype_cannot_hold(make: Callable[..., Any]) -> None:
    compiled = fxc.compile(make, fullgraph=True)
    u = np.arange(4, dtype=np.uint8)
    for k in (2, 300):
        assert not difference(run(make, (u, k)), run(compiled, (u, k)))


def test_bools_squared_by_the_operator() -> None:
    check(lambda b: (b**2, np.power(b, 2)), lambda: (np.array([True, False]),))


@pytest.mark.parametrize("axis", [0, -1])
def test_first_axis_of_an_array_without_axes(axis: int) -> None:
    def program(z):
        return np.sum(z, axis=axis), z.max(axis=axis), np.argmax(z, axis=axis), np.squeeze(z, axis)

    check(program, lambda: (np.array(2.5),))


class Oscillator:
    def __init__(self) -> None:
        self.step = 0.5

    def advance(self, x):
        return x * self.step


def test_what_a_bound_object_holds_is_read_anew() -> None:
    oscillator, x = Oscillator(), numbers(3)
    compiled = fxc.compile(oscillator.advance, fullgraph=True)
    for oscillator.step in (0.5, 0.25):
        assert (compiled(x) == oscillator.advance(x)).all()


def test_a_function_that_calls_itself() -> None:
    def power(x, n):
        return x if n == 1 else power(x, n - 1) * x

    check(power, lambda: (numbers(3), 4))


# ---------------------------------------------------------------- arguments of ufuncs by position


def test_ufunc_arguments_by_position() -> None:
    def program(x, y):
        total = np.empty_like(x)
        r = np.multiply(x, y, total)
        np.add(total, x, y)
        rows = np.add.reduce(x, 1)
        kept = np.maximum.reduce(x, 1, None, None, True)
        np.add.reduce(y, 0, None, x[0])
        return r, rows, kept, np.add.accumulate(x, 1)

    check(program, lambda: (numbers(3, 4), numbers(4, 3).T.copy()))


def test_ufunc_argument_by_position_and_by_name() -> None:
    def program(x):
        x += 1
        return np.add.reduce(x, 1, axis=1)

    compiled = fxc.compile(program)
    expected, found = run(program, (numbers(2, 3),)), run(compiled, (numbers(2, 3),))
    assert isinstance(expected.error, TypeError)
    assert not difference(expected, found)


# ---------------------------------------------------------------- out= of another dtype


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "cumsum", "cumprod"])
@pytest.mark.parametrize("source, target", [("f4", "f8"), ("f8", "f4"), ("i4", "f4"), ("u8", "i8")])
def test_a_reduction_runs_in_the_dtype_of_out(name: str, source: str, target: str) -> None:
    function = getattr(np, name)

    def program(x, out):
        function(x, axis=0, out=out)

    def arguments() -> tuple[Any, ...]:
        values = (np.arange(1, 7) * 0.7).astype(source)
        return values, np.zeros((6,) if "cum" in name else (), target)

    check(program, arguments)


def test_a_mean_is_rounded_in_the_dtype_of_out_on_the_way() -> None:
    def program(x, out):
        x.mean(out=out)

    with pytest.raises(fxc.CaptureError, match="an out= of another dtype"):
        fxc.compile(program, fullgraph=True)(numbers(3).astype("f4"), np.zeros(()))


# ---------------------------------------------------------------- temporaries, constants


@pytest.mark.parametrize("dynamic", [False, True])
def test_temporaries_whose_size_depends_on_the_counter(dynamic: bool) -> None:
    def program(x, k):
        def body(i, x):
            x[i:] *= x[0]
            x[::-1][i::2] -= x[1]

            def inner(j, y):
                y[j : i + j] *= y[i]
                y[j : i + j] -= y[0]
                return y

            return fxc.fori_loop(i, k, inner, x)

        return fxc.fori_loop(1, k, body, x)

    check(program, lambda: (numbers(18), 4), dynamic=dynamic)


def test_numpy_is_called_with_a_constant_of_the_program() -> None:
    check(lambda: np.sort(np.array([3, 1, 2])), lambda: ())
    check(lambda x: x + np.where(True, 1.5, 0.0), lambda: (numbers(3).astype("f2"),))


# ---------------------------------------------------------------- powers of one exponent


ONE_EXPONENT: dict[str, Callable[[float], Any]] = {
    "Python's float": float,
    "NumPy's float": np.float64,
    "rank 0": np.array,
    "one that is broadcast": lambda e: np.array([e]),
    "one of rank 2": lambda e: np.array([[e]]),
    "strides of zero": lambda e: np.broadcast_to(e, 6),
    "six": lambda e: np.full(6, e),
}


@pytest.mark.parametrize("kind", ONE_EXPONENT)
def test_exponents_known_at_run_time(kind: str) -> None:
    """An array to the power 0.5 is its square root only if there is one exponent."""

    def program(x, e):
        return x**e, np.power(x[:1], e), np.power(x.astype(np.float32), e)

    x = np.array([-np.inf, 4.0, 0.0, -0.0, 16.0, 0.25])
    for exponent in (0.5, -1.0, 2.0, 1.0, 0.0):
        check(program, lambda e=exponent: (x, ONE_EXPONENT[kind](e)))


# ---------------------------------------------------------------- arrays where a scalar may stand


@pytest.mark.parametrize("dynamic", [False, True])
def test_full_of_an_array_broadcasts_it(dynamic: bool) -> None:
    def program(x):
        return np.full((3, 4), x[0]), np.full_like(x, x[0], dtype=int), np.full((2, 2), [1, 2.5])

    check(program, lambda: (numbers(3, 4),), dynamic=dynamic)


def test_one_element_takes_no_array() -> None:
    def program(x, v):
        x[1] = v

    same_error = run(program, (numbers(3), numbers(1)))
    assert not difference(same_error, run(fxc.compile(program), (numbers(3), numbers(1))))


# ---------------------------------------------------------------- stores among what is loaded


def test_a_row_of_a_reshaped_array_is_scaled_by_its_own_element() -> None:
    def program(a):
        rows = np.fliplr(a).reshape((2, 20), order="A")
        rows[::2, ::-2] *= rows[-2, -5, ...] * 2.0
        return rows

    check(program, lambda: (numbers(2, 5, 4).T[:, ::-1],))


# ---------------------------------------------------------------- who is whose base


def test_a_flat_copy_is_no_view_of_another_array() -> None:
    def program(x):
        copies = x.flatten(), x.T.ravel(), x[:, ::2].ravel("F")
        return copies, [copied[1:] for copied in copies]

    check(program, lambda: (numbers(3, 4),))


def test_a_repeated_array_is_no_view_of_another_array() -> None:
    def program(x):
        flat, rows = np.repeat(x, 2), np.repeat(x.reshape(3, 1), 2, axis=0)
        return flat, flat[1:], rows, rows[-1, ...]

    check(program, lambda: (numbers(3),))


# ---------------------------------------------------------------- exceptions


def test_an_item_of_a_read_only_array_is_not_assigned_to_itself() -> None:
    def program(x):
        row = np.broadcast_to(x, (2, 3))
        row[0] = row[0]

    compiled = fxc.compile(program)
    expected, found = run(program, (numbers(3),)), run(compiled, (numbers(3),))
    assert isinstance(expected.error, ValueError)
    assert not difference(expected, found)


# ---------------------------------------------------------------- lists as arrays


LISTS: dict[str, Callable[[np.ndarray], Any]] = {
    "of ints": lambda z: [300, 1],
    "negative": lambda z: (-1, 2),
    "large": lambda z: [2**63, 1],
    "of an int and a float": lambda z: [2**53 + 1, 0.5],
    "of NumPy's scalars": lambda z: [np.float64(300.7), np.int64(1)],
    "nan": lambda z: [float("nan"), 1],
    "complex": lambda z: [1j, 1],
    "too deep": lambda z: [[1, 2]],
    "short": lambda z: [7],
    "of elements": lambda z: [z[1], 300],
    "of an element and a float": lambda z: [z[1], 1.5],
    "of views": lambda z: [z[0, ...], z[1, ...]],
    "of rows": lambda z: [z[:1], z[1:]],
}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32", "complex64", "bool"])
@pytest.mark.parametrize("kind", LISTS)
def test_assigned_lists_are_converted_item_by_item(kind: str, dtype: str) -> None:
    """[300, 1] wrapped around in an array of int8, where NumPy raises."""
    items = LISTS[kind]

    def program(z):
        z += z
        z[:] = items(z)
        return np.array(items(z), dtype=np.int8)

    compiled = fxc.compile(program)
    for _ in range(2):
        expected, found = (run(fn, (np.ones(2, dtype),)) for fn in (program, compiled))
        assert not difference(expected, found)


def test_index_known_from_the_program_beside_an_array() -> None:
    """It became an array of rank 0, as an operand of a view."""

    def program(a, i):
        known = np.ones((), np.int8) % 4
        return a[i, known], a[known, 1:], a[known, 0]

    check(program, lambda: (numbers(3, 4), np.array([2, 0])))


def test_matrix_product_in_place_takes_matrices() -> None:
    """Of two vectors, their product was stored in each element."""

    def program(x, y):
        x @= y
        return x

    shapes = [((3,), (3,)), ((2, 2), (2,)), ((2,), (2, 2)), ((3, 2, 2), (2, 2)), ((), (2, 2))]
    for left, right in shapes:
        check(program, lambda left=left, right=right: (np.ones(left), np.full(right, 2.0)))


# ---------------------------------------------------------------- scalars of Python and NumPy


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_a_python_complex_and_a_scalar_of_numpy(dtype: str) -> None:
    """``np.float64`` is a float to Python, whose complex then computes with it itself."""

    def program(x):
        z = 0.5 - 1j
        return z - x[0], x[0] - z, z * x.sum(), z / x[1], (z + x[0]) + x, 1.5 - x[0]

    check(program, lambda: (numbers(3).astype(dtype) + 1,))


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_a_scalar_to_a_scalar_by_the_operator(backend: Any) -> None:
    """Evaluated by NumPy it was np.power, which squares; the operator calls pow."""

    def program(x):
        return [x[k] ** 2 for k in range(4)] + [x[k] ** x[4] for k in range(4)]

    x = np.array([1.4037447976e51, 1.2e-3, 7.7e8, 5.1, 1.37])
    compiled = fxc.compile(program, fullgraph=True, backend=backend)
    for k in range(20):
        assert not difference(run(program, (x * 1.01**k,)), run(compiled, (x * 1.01**k,)))


def test_index_of_a_scalar_that_is_a_condition() -> None:
    """It was compared with the empty tuple, as an array."""

    def program(x):
        s = x.sum()
        return s[s > 2], s[...], s[()], s[None]

    for number in (0.5, 1.5):
        check(program, lambda number=number: (np.full(2, number),))


def test_a_constant_for_rows_with_gaps() -> None:
    """What fills a row was computed outside of the loop over rows, and the row by no call then."""

    def program(x, y):
        x.fill(False)
        y[:, :] = 0.0

    for step in (-1, 2):
        check(program, lambda step=step: (np.ones((4, 3), bool)[::step], numbers(4, 3)[::step]))
