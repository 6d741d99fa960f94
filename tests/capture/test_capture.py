"""What is captured: graphs of small functions, and that a captured graph does what NumPy does."""

from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from expecttest import TestCase

import fxc
from fxc.capture.capture import Terms, capture
from tests.capturing import array, graph_of, text, through_capture
from tests.outcomes import difference, run

Pair = namedtuple("Pair", ["left", "right"])


class TestGraphs(TestCase):
    """The text of captured graphs. Run with EXPECTTEST_ACCEPT=1 to rewrite."""

    def test_views_and_writes(self):
        def f(x):
            y = x[1:-1]
            y[::2] = x[0]
            return x[::-1]

        self.assertExpectedInline(
            graph_of(f, array(6)),
            """\
captured f(%x: f64[6])
  %0: f64[4] = slice(%x, [1:5:1])
  %1: f64[] = select(%x, 0, 0)
  %2: f64 = item(%1)
  %3: f64[2]{16} = slice(%0, [0:4:2])
  copy_(%3, %2, casting='unsafe')
  %4: f64[6]{-8} = slice(%x, [5:-1:-1])
  return %4""",
        )

    def test_augmented_assignment_of_an_item(self):
        def f(x):
            x[1:] += x[:-1]
            x[0] *= 2.0

        self.assertExpectedInline(
            graph_of(f, array(3, 4)),
            """\
captured f(%x: f64[3, 4])
  %0: f64[2, 4] = slice(%x, [1:3:1, 0:4:1])
  %1: f64[2, 4] = slice(%x, [0:2:1, 0:4:1])
  add_(%0, %1)
  %2: f64[4] = select(%x, 0, 0)
  multiply_(%2, 2.0)
  return""",
        )

    def test_an_element_of_a_vector_is_a_scalar(self):
        def f(x):
            x /= x[1]
            return x[0, ...]

        self.assertExpectedInline(
            graph_of(f, array(4)),
            """\
captured f(%x: f64[4])
  %0: f64[] = select(%x, 0, 1)
  %1: f64 = item(%0)
  divide_(%x, %1)
  %2: f64[] = select(%x, 0, 0)
  return %2""",
        )

    def test_out_and_where(self):
        def f(x, y, mask):
            np.add(x, y, out=x)
            np.multiply(x, 2.0, out=y, where=mask)
            x.sum(axis=0, out=y[0])

        self.assertExpectedInline(
            graph_of(f, array(2, 3), array(2, 3), np.ones((2, 3), bool)),
            """\
captured f(%x: f64[2, 3], %y: f64[2, 3], %mask: bool[2, 3])
  add.out(%x, %y, out=%x)
  %0: f64[2, 3] = where(%mask, %x, f64(1.0))
  %1: f64[2, 3] = multiply(%0, 2.0)
  %2: f64[2, 3] = where(%mask, %1, %y)
  copy_(%y, %2, casting='same_kind')
  %3: f64[3] = select(%y, 0, 0)
  sum.out(%x, axis=(0,), keepdims=False, dtype=None, out=%3)
  return""",
        )

    def test_masked_store(self):
        def f(x):
            x[x > 2] = 0

        self.assertExpectedInline(
            graph_of(f, array(4, dtype=np.int32)),
            """\
captured f(%x: i32[4])
  %0: bool[4] = greater(%x, 2)
  %1: i32[4] = where(%0, i32(0), %x)
  copy_(%x, %1, casting='unsafe')
  return""",
        )

    def test_python_numbers(self):
        def f(x, dt, n):
            half = 0.5 * dt
            return x * half + n, n + 1, dt

        self.assertExpectedInline(
            graph_of(f, array(3), 0.25, 7),
            """\
captured f(%x: f64[3], %dt: py.float, %n: py.int)
  symbols n = 7 (>= 1)
  %0: py.float = py_multiply(0.5, %dt)
  %1: f64[3] = multiply(%x, %0)
  %2: py.int = int_value(n)
  %3: f64[3] = add(%1, %2)
  return %3, %dt""",
        )

    def test_reshape_is_a_view_or_a_copy(self):
        def f(x):
            return x.reshape(6), x.T.reshape(6), x.T.ravel("F")

        self.assertExpectedInline(
            graph_of(f, array(2, 3)),
            """\
captured f(%x: f64[2, 3])
  %0: f64[6] = reshape(%x, (6,))
  %1: f64[3, 2]{8, 24} = transpose(%x, (1, 0))
  %2: f64[3, 2] = copy(%1, order='C')
  %3: f64[6] = reshape(%2, (6,))
  %4: f64[3, 2]{8, 24} = transpose(%x, (1, 0))
  %5: f64[2, 3] = transpose(%4, (1, 0))
  %6: f64[6] = reshape(%5, (6,))
  return %0, %3, %6""",
        )

    def test_functions_of_arrays(self):
        def f(x):
            y = np.stack([x, np.flip(x)], axis=1)
            z = np.concatenate((x, x[:1]))
            return y.mean(axis=0), np.where(z > 0, z, 0.0), np.clip(x, None, 1)

        self.assertExpectedInline(
            graph_of(f, array(3)),
            """\
captured f(%x: f64[3])
  %0: f64[3]{-8} = slice(%x, [2:-1:-1])
  %1: f64[3, 2] = stack((%x, %0), axis=1)
  %2: f64[1] = slice(%x, [0:1:1])
  %3: f64[4] = concatenate((%x, %2), axis=0)
  %4: f64[2] = mean(%1, axis=(0,), keepdims=False, dtype=None)
  %5: bool[4] = greater(%3, 0)
  %6: f64[4] = where(%5, %3, 0.0)
  %7: f64[3] = clip(%x, None, 1)
  return %4, %6, %7""",
        )

    def test_creation(self):
        def f(x):
            a = np.zeros_like(x)
            b = np.arange(3.0)
            c = np.eye(2)
            d = np.array([1.5, 2.5])
            return a, b, c, d, np.linspace(0, 1, 3), np.full(2, x[0, 0])

        self.assertExpectedInline(
            graph_of(f, array(2, 2, order="F")),
            """\
captured f(%x: f64[2, 2]{8, 16})
  %0: f64[2, 2]{8, 16} = zeros((2, 2), f64, layout=(1, 0))
  %1: f64[3] = arange(0, 1, length=3, dtype=f64)
  %2: f64[2, 2] = eye(2, 2, k=0, dtype=f64)
  %3: f64[2] = constant(f64[2] [1.5, 2.5])
  %4: f64[3] = linspace(0, 1, num=3, endpoint=True, dtype=f64)
  %5: f64[2] = select(%x, 1, 0)
  %6: f64[] = select(%5, 0, 0)
  %7: f64 = item(%6)
  %8: f64[2] = full((2,), %7, f64, layout=None)
  return %0, %1, %2, %3, %4, %8""",
        )

    def test_symbolic_sizes(self):
        def f(x, y):
            n = x.shape[0]
            return x[1:] + y, np.zeros((n // 2, 3)), n * x.shape[1]

        captured = capture(f, (array(4, 3), array(3, 3)), {}, Terms(dynamic=True))
        self.assertExpectedInline(
            text(captured),
            """\
captured f(%x: f64[x.0, x.1], %y: f64[y.0, y.1])
  symbols x.0 = 4 (>= 2), x.1 = 3 (>= 2), y.0 = 3 (>= 2), y.1 = 3 (>= 2)
  guards y.1 == x.1, x.0 - y.0 == 1
  %0: f64[x.0 - 1, x.1] = slice(%x, [1:x.0:1, 0:x.1:1])
  %1: f64[x.0 - 1, x.1] = add(%0, %y)
  %2: f64[floordiv(x.0, 2), 3] = zeros((floordiv(x.0, 2), 3), f64, layout=None)
  return %1, %2""",
        )

    def test_cond(self):
        def f(x):
            return fxc.cond(x.sum() > 0, lambda a: a + 1, lambda a: -a, x)

        self.assertExpectedInline(
            graph_of(f, array(3)),
            """\
captured f(%x: f64[3])
  %0: f64 = sum(%x, axis=None, keepdims=False, dtype=None)
  %1: bool = greater(%0, 0)
  %6: f64[3] = cond(%1, (), on_true={
    ()
    %2: f64[3] = add(%x, 1)
    %3: f64[3] = copy(%2, order='C')
    yield %3
  }, on_false={
    ()
    %4: f64[3] = negative(%x)
    %5: f64[3] = copy(%4, order='C')
    yield %5
  })
  return %6""",
        )

    def test_fori_loop(self):
        def body(k, state):
            total, x = state
            x += 1
            return total + x[k], x * k

        def f(x, n):
            return fxc.fori_loop(0, n, body, (np.float64(0), x))

        self.assertExpectedInline(
            graph_of(f, array(6), 4),
            """\
captured f(%x: f64[6], %n: py.int)
  symbols n = 4 (>= 1), i_1 = 2 (>= 0)
  guards n <= 6
  %0: f64[6] = copy(%x, order='C')
  %13: py.int = int_value(n)
  %14: f64, %15: f64[6] = fori_loop(0, %13, (f64(0.0), %0), body={
    (%i_1: py.int, %state.0_1: f64, %state.1: f64[6])
    add_(%state.1, 1)
    %7: f64[] = select(%state.1, 0, i_1)
    %8: f64 = item(%7)
    %9: f64 = add(%state.0_1, %8)
    %10: py.int = int_value(i_1)
    %11: f64[6] = multiply(%state.1, %10)
    %12: f64[6] = copy(%11, order='C')
    yield %9, %12
  }, stops=False)
  return %14, %15""",
        )

    def test_float_of_an_int(self):
        def f(x, n):
            return x / (n / 3), x + float(n)

        self.assertExpectedInline(
            graph_of(f, array(3), 4),
            """\
captured f(%x: f64[3], %n: py.int)
  symbols n = 4 (>= 1)
  guards n <= 9007199254740992
  %0: py.int = int_value(n)
  %1: py.float = py_divide(%0, 3)
  %2: f64[3] = divide(%x, %1)
  %3: py.int = int_value(n)
  %4: py.float = py_float(%3)
  %5: f64[3] = add(%x, %4)
  return %2, %5""",
        )


# ------------------------------------------------------------------ the graph does what NumPy does

A, B, V, W = array(4, 5), array(4, 5) + 0.25, array(5), array(4)
I8, U8, B1 = array(4, 5, dtype=np.int64), array(4, 5, dtype=np.uint8), array(4, 5) > 0


def assigned_rows(x, y):
    x[0], x[1] = x[1], x[0]
    y[:, 0], y[:, 1] = y[:, 1].copy(), y[:, 0].copy()


def item_chain(x):
    x[1:][0][2:] += 1
    x[..., -1] = 0
    x[None, 1, ::-2][0, 0] = 7
    x[-1, -1] -= 3


def shape_methods(x):
    return (
        x.T,
        x.transpose(1, 0),
        x.swapaxes(0, -1),
        x[:, None].squeeze(),
        x.reshape(2, -1),
        x.ravel(),
        x.flatten(),
        x.diagonal(1),
        x.mT,
        x[:1].squeeze(0),
    )


def numpy_shapes(x, v):
    return [
        np.moveaxis(x[None], 0, -1),
        np.rollaxis(x[None], 2),
        np.expand_dims(v, (0, 2)),
        np.broadcast_to(v, (3, 5)),
        np.fliplr(x),
        np.flipud(x),
        np.atleast_2d(v),
        np.atleast_1d(v[0]),
        np.diag(x),
        np.roll(x, 2, axis=1),
        np.roll(v, -1),
        np.shape(x),
        np.size(x, 1),
        np.ndim(v),
        np.reshape(x, (5, 4), order="F"),
        np.ravel(x, "F"),
    ]


def reductions(x, i):
    return {
        "sum": x.sum(),
        "rows": np.sum(x, axis=1, keepdims=True),
        "prod": i.prod(axis=0),
        "ends": (x.min(), np.max(x, axis=-1)),
        "mean": np.mean(i),
        "var": x.var(axis=0, ddof=1),
        "std": np.std(x),
        "any": ((x > 0).any(), np.all(x > 0, axis=0)),
        "where": (np.argmin(x), x.argmax(axis=1)),
        "scan": (np.cumsum(x, axis=0), x[0].cumprod()),
        "reduce": (np.add.reduce(x), np.maximum.reduce(x, axis=None), np.add.accumulate(x[0])),
        "ptp": np.ptp(x, axis=0),
        "trace": np.trace(x),
        "nonzero": np.count_nonzero(i, axis=1),
    }


def products(x, v, w):
    return (
        x @ v,
        np.dot(x.T, w),
        v.dot(v),
        np.outer(w, v),
        np.multiply.outer(w, v),
        w @ x,
        np.vdot(v, v),
        np.matmul(x, x.T),
    )


def joins(x, v):
    return (
        np.concatenate([x, x], axis=1),
        np.vstack([x, v]),
        np.hstack((v, v)),
        np.column_stack([v, v]),
        np.stack([v, v], axis=-1),
        np.meshgrid(v, v[:2]),
        np.array([v[0], 1.5, v[1] + 1]),
        np.array([[v[0], v[1]], [0.0, 1.0]]),
    )


def conversions(x, i):
    y = np.asarray(x)
    z = np.array(x)
    return (
        y is x,
        z,
        np.ascontiguousarray(x.T),
        x.astype(np.float32),
        x.astype(float, copy=False) is x,
        np.asarray(x, dtype=np.float32),
        np.float32(x[0, 0]),
        i.astype(np.uint8),
        np.copy(x.T),
        x.real is x,
        x.copy("F"),
        np.asfortranarray(x),
        np.array(x[0], ndmin=3),
    )


def creations(x):
    n = x.shape[0]
    return (
        np.zeros(n),
        np.ones((n, 2), np.int32),
        np.full((2, n), 3),
        np.full_like(x.T, 2),
        np.ones_like(x, dtype=int),
        np.zeros_like(x, shape=(2, 2)),
        np.arange(n),
        np.arange(1, 10, 3),
        np.arange(0.0, 1.0, 0.25),
        np.linspace(0, 1, 5),
        np.linspace(x[0, 0], 2.0, 4, endpoint=False),
        np.eye(3, k=1),
        np.identity(2),
        np.empty(0),
    )


def scalars(x, dt, k, s):
    total = x.sum() * dt
    total += 1
    return (
        total,
        x.max() - s,
        dt * 2 + 1,
        1 / dt,
        -dt,
        abs(dt),
        dt + k,
        k / 2,
        k * 3 - 1,
        k // 2,
        k % 3,
        s * dt,
        s + 1,
        x[0, 0] / k,
        np.sqrt(dt),
        np.sqrt(k),
        total.dtype,
        total.shape,
        float(dt) is dt,
        min(k, 3),
        max(k, x.shape[0]),
        round(x.sum()) if False else None,
    )


def masks(x, i):
    x[x > 1] = 1
    x[i[:, 0] > 0] = -1.5
    i[i < 0] = 9.7
    np.copyto(x, 5, where=i > 2)
    return np.where(x > 0, x, i)


def fills(x, i):
    x.fill(2)
    i[...] = 1.5
    i[0] = [1, 2, 3, 4, 5]
    x[:, :1] = x[:, 1:2] + 1
    x[1, :] = np.ones((1, 5))
    np.copyto(x[2], i[2])


def overlapping(x, v):
    v[:] = v[::-1]
    v[1:] += v[:-1]
    x -= x[0]
    x[:] = x[::-1]
    v[1:] = v[:-1]


def logic(x, b):
    y = b & (x > 0)
    y |= ~b
    return y, x > 1, (x == x).all(), np.logical_and.reduce(b), np.isnan(x), b ^ y


def integers(i, u):
    return (
        i // 3,
        i % -4,
        i << 2,
        u + 100,
        -u,
        i**2,
        divmod(i, 3),
        abs(i),
        np.add(i, 1, dtype=np.int32, casting="unsafe"),
        u >> 1,
    )


def rounding(x):
    return np.round(x), x.round(), np.rint(x), x.clip(-1, 1), x.clip(max=2), np.nan_to_num(x / 0.0)


def same_object_twice(x):
    y = x + 1
    return y, (y, x), x


def control(x, n):
    big = fxc.cond(x.sum() > 100, lambda a: a * 0, lambda a: a, x)
    y = fxc.fori_loop(0, n, lambda i, a: a[::-1] + i, x)
    z, last = fxc.fori_loop(1, x.shape[0], shifted, (x, x[0, 0]))
    return big, y, z, last


def shifted(i, state):
    a, _ = state
    a[i] += a[i - 1]
    return a, a[i, 0]


def python_things(x, n):
    parts = []
    for row in x:
        parts.append(row * len(parts))
    table = {"a": parts[0]}
    table["b"] = sum(parts)
    first, *rest = parts
    best = [p for p in parts if p.shape[0] > 2]
    return table, first, len(rest), [*map(np.sin, best)][1], sorted([3, n])[0]


PROGRAMS: dict[Any, tuple[Any, ...]] = {
    assigned_rows: (A, B),
    item_chain: (A,),
    shape_methods: (A,),
    numpy_shapes: (A, V),
    reductions: (A, I8),
    products: (A, V, W),
    joins: (A, V),
    conversions: (A, I8),
    creations: (A,),
    scalars: (A, 0.75, 5, np.float32(1.5)),
    masks: (A, I8),
    fills: (A, I8),
    overlapping: (A, V),
    logic: (A, B1),
    integers: (I8, U8),
    rounding: (A,),
    same_object_twice: (A,),
    control: (A, 3),
    python_things: (A, 4),
}


def copies(args):
    return [x.copy(order="K") if isinstance(x, np.ndarray) else x for x in args]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_the_graph_does_what_numpy_does(program, dynamic):
    args = PROGRAMS[program]
    expected = run(program, copies(args))
    found = run(through_capture(program, dynamic=dynamic), copies(args))
    assert difference(expected, found) == ""


def test_fortran_ordered_and_strided_inputs():
    def f(x, y):
        return x + y, x.ravel(), y.copy("K"), x.reshape(-1), y.T.reshape(2, -1)

    for dynamic in (False, True):
        args = (array(4, 6, order="F"), array(8, 6)[::2])
        captured = run(through_capture(f, dynamic=dynamic), [*copies(args)[:1], args[1]])
        assert difference(run(f, args), captured) == ""


def test_capture_touches_nothing():
    x = array(4)
    before = x.copy()

    def f(x):
        x += 1
        x[0] = 5
        np.sin(x, out=x)
        return x

    capture(f, (x,), {})
    assert (x == before).all()


def test_numpy_is_not_patched():
    names = ("zeros", "sum", "sin", "ndarray", "concatenate", "where")
    before = [getattr(np, name) for name in names]

    def f(x):
        assert np.zeros is before[0]
        return np.zeros(3) + x.sum()

    capture(f, (array(3),), {})
    assert all(getattr(np, name) is known for name, known in zip(names, before, strict=True))


def test_pytrees_in_and_out():
    def f(state, *, scale):
        a, b = state["pair"]
        return Pair(a * scale, [b, None, {"shape": a.shape}])

    state = {"pair": Pair(array(3), array(3) + 1)}
    result = through_capture(f)(state, scale=2.0)
    assert isinstance(result, Pair)
    assert (result.left == state["pair"].left * 2).all()
    assert result.right[0] is state["pair"].right
    assert result.right[1:] == [None, {"shape": (3,)}]


def test_the_same_array_passed_twice_is_one_input():
    x = array(3)
    captured = capture(lambda a, b: a + b, (x, x), {})
    assert len(captured.inputs) == 1
    assert captured.guards.check((x, x), {}) is not None
    assert captured.guards.check((x, x.copy()), {}) is None


def test_node_locations_are_the_users_lines():
    def helper(x):
        return np.sin(x)  # line + 1

    def f(x):
        y = helper(x)
        y += 1
        return y

    graph = capture(f, (array(3),), {}).graph
    first = helper.__code__.co_firstlineno
    assert [(n.loc.line - first, n.loc.function) for n in graph.nodes if n.loc] == [
        (1, "helper"),
        (5, "f"),
    ]


@pytest.mark.parametrize(
    "program, args",
    [
        (lambda x, y: x + y, (array(3), array(4))),
        (lambda x: x.sum(axis=2), (array(3, 3),)),
        (lambda x: x[5], (array(3),)),
        (lambda x: x[1, 2, 3], (array(3, 3),)),
        (lambda x: x.reshape(4, 5), (array(3, 3),)),
        (lambda x: x["a"], (array(3),)),
        (lambda x: np.concatenate([x, x[None]]), (array(3),)),
        (lambda x: x.transpose(0, 0), (array(3, 3),)),
        (lambda x: bool(x), (array(3),)),
        (lambda x: len(x[0, ...]), (array(3),)),
        (lambda x: x.nothing, (array(3),)),
        (lambda x: np.add(x, 1.5, out=x), (array(3, dtype=int),)),
        (lambda x: x.diagonal().__setitem__(0, 1), (array(3, 3),)),
        (lambda x: x.__setitem__(0, 300), (array(3, dtype=np.uint8),)),
        (lambda x: x.__setitem__(slice(None), [1, 2]), (array(3),)),
        (lambda x: x + 300, (array(3, dtype=np.uint8),)),
        (lambda x, n: x + n, (array(3, dtype=np.uint8), 300)),
        (lambda x: np.squeeze(x, 0), (array(3),)),
        (lambda x: x.astype(int, casting="safe"), (array(3),)),
        (lambda x: iter(x[0, ...]), (array(3),)),
        (lambda x, n: 1 // (n - 4), (array(3), 4)),
    ],
)
def test_numpys_own_exceptions(program, args):
    expected, found = run(program, copies(args)), run(through_capture(program), copies(args))
    assert expected.error is not None
    assert type(found.error) is type(expected.error)
    assert str(found.error) == str(expected.error)
