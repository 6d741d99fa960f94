"""Arrays whose size depends on the data: ``x[mask]``, ``nonzero`` and what is computed from them.

All that a caller can see, against NumPy: for masks that choose some, no, one and all elements, with
sizes of inputs that are constants and that are symbols.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.errors import CaptureError
from fxc.ir.evaluate import evaluate
from fxc.ir.parse import parse_graph
from fxc.ops.kernels import kernel_of
from fxc.ops.table import TABLE
from tests.capturing import array
from tests.ops.test_advanced_indexing import fresh
from tests.outcomes import difference, run

V, X = np.random.default_rng(1).normal(size=57), np.random.default_rng(2).normal(size=(7, 9))
F = np.asfortranarray(X)
EXAMPLES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "some": lambda x: x,
    "none": lambda x: -np.abs(x) - 1,
    "all": lambda x: np.abs(x) + 1,
    "one": lambda x: np.where(np.arange(x.size).reshape(x.shape) == 2, 1.5, -1.0),
}


def agree(
    program: Callable[..., Any],
    args: tuple[Any, ...],
    native: tuple[str, ...] = tuple(EXAMPLES),
    **options: Any,
) -> Any:
    """Run for each of the examples, ``native`` ones without NumPy; gives the compiled function."""
    compiled = fxc.compile(program, fullgraph=True, **options)
    for name, made in EXAMPLES.items():
        given = tuple(made(x) if isinstance(x, np.ndarray) else x for x in args)
        expected, found = run(program, fresh(given)), run(compiled, fresh(given))
        assert difference(expected, found) == "", name
        for x, y in zip(*(_arrays(each.result) for each in (expected, found)), strict=True):
            assert (x.base is None) == (y.base is None), name
        eager = compiled.cache_info().eager_calls
        assert (eager == 0) == (name in native), name
        compiled = fxc.compile(program, fullgraph=True, **options) if eager else compiled
    return compiled


def _arrays(result: Any) -> list[np.ndarray]:
    found = result if isinstance(result, tuple | list) else (result,)
    return [x for x in found if isinstance(x, np.ndarray)]


# ------------------------------------------------------------------ what is read


def _sizes(x):
    y = x[x > 0.5]
    z = y * 2 + 1
    return z, len(y), y.size, y.shape[0], y.nbytes, len(y) / len(x), y.size * 2 - 1


def _sieve(x):
    for k in (0.1, 0.2, 0.3):
        x = x[x > k]
    return x


def _stored(x):
    y = x[x > 0]
    out = np.zeros(x.size)
    out[: y.size] = y * 2
    out[y.size :] = -1
    return out


def _made_alike(x):
    y = x[x > 0]
    return np.zeros_like(y), np.ones(len(y)), np.full(y.shape, 2.0), np.arange(y.size) * 0.5


def _written(x):
    y = x[x > 0]
    y[:] = 3
    y *= 2
    y[1:] += y[:-1]
    return y


def _by_value(x):
    values, inverse, counts = np.unique(x.astype(int), return_inverse=True, return_counts=True)
    totals = np.zeros(len(values))
    for k in range(x.size):
        totals[inverse[k]] += x[k]
    return values, totals, counts / counts.sum(), totals[counts > 1]


def _in_its_order(x):
    y = x[:, x[0] > 0]
    z = y * 2
    z -= y
    return z.copy(), (y + 1).T


def _updated(x):
    k = np.flatnonzero(x > 0)
    x[k] += 1
    x[k] *= 2
    return x[k]


def _other_elements(x):
    x[x > 0] = x[x < 100.0]
    return x


READS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda x: x[x > 0], (V,)),
    (lambda x: (x[x > 0], x[x > 0].T), (F,)),
    (lambda x: (x[x[:, 0] > 0], x[:, x[0] > 0], x[x[:, 0] > 0, 1:]), (X,)),
    (lambda x: (x[x[:, 0] > 0], x[:, x[0] > 0]), (F,)),
    (lambda x: (x[x > 0].sum(), np.sum(x[x > 0] * 2), x[x > 0].prod()), (V,)),
    (lambda x: (x[x > 0].sum(), x[x[:, 0] > 0].sum(axis=0), x[x[:, 0] > 0].sum(axis=1)), (X,)),
    (lambda x: (x[x > 0].cumsum(), x[x > 0].any(), np.sort(x[x > 0])), (V,)),
    (lambda x: np.sqrt(x[x > 0]) + x[x > 0], (V,)),
    (lambda x, y: x[x > 0] + y[y > 0], (V, V)),
    (lambda x: (x[x > 0][1:], x[x > 0][:-1], x[x > 0][::2], x[x > 0][::-1], x[x > 0][:3]), (V,)),
    (lambda x: np.concatenate([x[x > 0], x[x <= 0]]), (V,)),
    (lambda x: (np.dot(x[x > 0], x[x > 0]), x[x > 0][:, None] * x[x > 0]), (V,)),
    (lambda x: (x * 2)[x > 0][x[x > 0] > 1.2], (V,)),
    (lambda i: (i > 0)[i > 0].sum() + (i > 2)[i > 0].sum(), (V,)),
    (lambda x: (x.astype(np.complex64)[x > 0] * 1j, x.astype("i2")[x > 0] ** x.astype("i2")[x > 0]),
     (V,)),
    (_sizes, (V,)), (_sieve, (V,)), (_stored, (V,)), (_made_alike, (V,)),
    (_updated, (V,)), (_by_value, (V,)),
    # functions
    (lambda x: (np.nonzero(x > 0), x.nonzero()), (V,)),
    (lambda x: (np.nonzero(x > 0), np.where(x > 0), np.argwhere(x > 0)), (X,)),
    (lambda x: np.flatnonzero(x > 0), (F,)),
    (lambda x: (np.count_nonzero(x > 0), np.zeros((x > 0).sum()), np.arange((x > 0).sum())), (X,)),
    (lambda x: (np.compress(x[:, 0] > 0, x, axis=0), np.compress(x[0] > 0, x, axis=1)), (X,)),
    (lambda x: (x.compress(x[0] > 0), np.extract(x > 0, x)), (X,)),
    (lambda x: np.diff(np.flatnonzero(x > 0)), (V,)),
    (lambda x: np.unique(x.astype(int)), (X,)),
    (lambda x: np.unique(x.astype(int), return_inverse=True, return_counts=True), (X,)),
    (lambda x: np.unique(np.where(x > 0, -0.0, 0.0), return_counts=True), (V,)),
    (lambda x: np.unique(np.where(x > 0, x, np.nan)), (V,)),
    (lambda x: np.unique(np.where(x > 0, x, np.nan), equal_nan=False), (V,)),
    (lambda x: np.unique(x > 0, return_index=True, return_inverse=True), (X,)),
    (lambda x: np.unique(x[x > 0] + 0j, return_inverse=True), (V,)),
    (lambda x: sum(len(np.unique(row.astype(int))) for row in x), (X,)),
    (lambda x: np.unique(x.astype(int), return_index=True, return_counts=True), (V,)),
    (lambda x: (np.unique(x > 0).size, len(np.unique(x[x > 0])), np.unique(x[x > 0])[:2] * 2), (V,)),
    (lambda x: x[np.ix_(x[:, 0] > 0, [0, 2])], (X,)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(READS)))
def test_reads(number: int) -> None:
    program, args = READS[number]
    agree(program, args)
    agree(program, args, dynamic=True)


LEFT = [
    (lambda x: (x[x > 0].max(), x[x > 0].argmin()), ("some", "one", "all")),
    (lambda x: (x[x > 0].mean(), x[x > 0].std()), ("some", "one", "all")),
    (lambda x: np.median(x[x > 0]), ("some", "one", "all")),
    (lambda x: (x[x > 0][0], x[x > 0][-1]), ("some", "one", "all")),
    (lambda x: x[x > 0] + x[x < 0], ()),
    (lambda x: x[x > 0] + x[:57], ("all",)),
    (_other_elements, ("all",)),
    (_written, ("some", "all", "none", "one")),
    (_in_its_order, ("some", "all", "none")),
    (lambda x: (np.roll(x[x > 0], -2), np.roll(x[x > 0], 1)), ("some", "all")),
]


@pytest.mark.parametrize("number", range(len(LEFT)))
def test_what_a_size_decides_is_left_to_numpy(number: int) -> None:
    program, native = LEFT[number]
    agree(program, (X if program is _in_its_order else V,), native)


@pytest.mark.parametrize("size", [256, 257, 319, 1000])
@pytest.mark.parametrize("dynamic", [None, True])
def test_places_in_blocks(size: int, dynamic: bool | None) -> None:
    compiled = fxc.compile(lambda m: np.nonzero(m), fullgraph=True, dynamic=dynamic)
    rng = np.random.default_rng(size)
    for density in (0.0, 0.004, 0.5, 1.0):
        for m in (rng.random(size) < density, rng.random((3, size)) < density):
            assert difference(run(np.nonzero, (m,)), run(compiled, (m,))) == ""
    assert compiled.cache_info().eager_calls == 0


def test_bits_of_sums() -> None:
    """In NumPy's order for an array without gaps, at sizes around the blocks of its sums."""
    compiled = fxc.compile(lambda x, m: (x[m].sum(), (x[m] * x[m]).mean()), fullgraph=True)
    rng = np.random.default_rng(3)
    x = rng.normal(size=20_000)
    for count in (1, 7, 8, 9, 127, 128, 129, 1000, 8191, 8193, 20_000):
        m = np.zeros(x.size, bool)
        m[rng.permutation(x.size)[:count]] = True
        found, y = compiled(x, m), x[m]
        assert found == (y.sum(), (y * y).mean())
    assert compiled.cache_info().eager_calls == 0


# ------------------------------------------------------------------ control flow


def _decided(x):
    y = x[x > 0]
    total = 0.0
    if y.size > 10:
        total = y.sum()
    elif len(y) == 1:
        total = 2 * y[0]
    return total


def _summed_one_by_one(x):
    total = 0.0
    for k in np.flatnonzero(x > 0):
        total += x[k]
    return total


def _by_place(x):
    y = x[x > 0]
    total = 0.0
    for k in range(len(y)):
        total += y[k] * k
    return total


def _in_a_loop(x):
    total = 0.0
    for i in range(50):
        y = x[x > x[i]]
        total += y.sum() + len(y)
    return total


def _until(x):
    y = x[x > 0]
    n = 0
    while n < len(y) and y[n] < 1:
        n += 1
    return n


def _before_a_loop(x):
    y = x[x > 0]
    out = np.zeros(10)
    for i in range(10):
        out[i] = y.sum() * i
    return out, y.size


def _in_an_expression(x):
    best = (0.0, None)
    for t in x:
        low, high = x[x <= t], x[x > t]
        if len(low) == 0 or len(high) == 0:
            continue
        gain = len(x) - np.ptp(low) * len(low) - np.ptp(high) * len(high)
        if gain > best[0]:
            best = (gain, t)
    return best


def _written_behind_an_expression(x):
    y = x.copy()
    found = y[y > 0]
    many = y[0] > 0 and len(found) > 3
    y[...] = 5
    return many, found, len(found)


def _stored_at_the_front(x):
    y = np.array([v * 2 for v in x if v > 0])
    x[: len(y)] = y
    x[: y.size] += y[::-1]
    return x


def _returned(x: np.ndarray) -> Any:
    for k in range(6):
        chosen = x[x > k] * 2
        if chosen.sum() < 1:
            return chosen
    return x


@pytest.mark.parametrize(
    "program",
    [
        _stored_at_the_front,
        *(_decided, _summed_one_by_one, _by_place, _in_a_loop, _until, _before_a_loop),
        *(_in_an_expression, _written_behind_an_expression, _returned),
    ],
)
def test_control_flow(program: Callable[..., Any]) -> None:
    agree(program, (V,))


# ------------------------------------------------------------------ stages


def test_one_compilation_serves_all_sizes() -> None:
    compiled = fxc.compile(lambda x: x[x > 0].sum(), fullgraph=True)
    for size in range(2, 100):
        x = np.random.default_rng(size).normal(size=size)
        assert compiled(x) == x[x > 0].sum()
    assert compiled.cache_info().variants == 2


def test_text_and_evaluation() -> None:
    compiled = fxc.compile(lambda x: x[x > 0][:3] + 1, fullgraph=True, dynamic=True)
    graph = compiled.inspect(V).functional
    text = str(graph)
    assert "bind_size(" in text
    assert "(>= 0, <= x.0)" in text
    parsed = parse_graph(text, TABLE.schema_of)
    assert str(parsed) == text
    (found,) = evaluate(parsed, (V,), kernel_of, check=True)
    assert np.array_equal(found, V[V > 0][:3] + 1)


def test_loops() -> None:
    text = str(fxc.compile(lambda x: x[x > 0] * 2, fullgraph=True).inspect(V).loops)
    assert "size count = " in text
    assert "numpy." not in text


@pytest.mark.parametrize("number", range(0, len(READS), 3))
def test_other_ways_to_run(number: int) -> None:
    program, args = READS[number]
    expected = run(program, fresh(args))
    by_numpy, functional = fxc.compile(program, backend="numpy"), fxc.functionalize(program)
    assert difference(expected, run(by_numpy, fresh(args))) == ""
    assert by_numpy.cache_info().eager_calls == 0
    assert difference(expected, run(lambda *xs: functional(*xs)[0], fresh(args))) == ""


def test_export(tmp_path: Any) -> None:
    def program(x):
        y = x[x > 0]
        return y, y.max(), y.size, np.nonzero(x > 1)[0]

    fxc.export(program, V, dynamic=True).save(tmp_path / "program.fxc")
    loaded = fxc.load(tmp_path / "program.fxc")
    for x in (V, V[:20], np.abs(V)):
        assert difference(run(program, [x]), run(loaded, [x])) == ""
    with pytest.raises(ArithmeticError):
        loaded(-np.abs(V))


def test_results_own_their_memory() -> None:
    compiled = fxc.compile(lambda x: x[x > 0], fullgraph=True)
    first, second = compiled(V), compiled(V)
    assert first.flags.owndata
    assert first.flags.writeable
    assert not np.shares_memory(first, second)


def test_array_by_a_mask_that_an_arm_leaves() -> None:
    def program(x, y):
        if x[0] > 0.5:
            chosen = y[y > 0]
            chosen += 1
        return y

    agree(program, (V, V))


def test_python_over_what_is_counted() -> None:
    def arrays(x, g):
        keys = np.unique(g)
        sums = np.array([x[g == k].sum() for k in keys])
        p = x[x > 0]
        return sums, np.array([p[max(0, i - 1) : i + 2].mean() for i in range(len(p))])

    agree(arrays, (V, V.round()))
    agree(arrays, (V, V.round()), dynamic=True)

    def lists(x):
        p, found = x[x > 0], []
        for v in p:
            found.append(v * 2)
        made = [float(v) for v in p]
        return found, made, sum(made), p.tolist(), list(np.flatnonzero(x > 0))

    agree(lists, (V,))
    agree(lists, (V,), dynamic=True)

    def positions(x):
        return np.array([[k, k + 1] for k in np.flatnonzero(x > 0)])

    agree(positions, (V,), native=("some", "all", "one"))


@pytest.mark.parametrize("first", [1, 2])
def test_loops_over_few_that_are_counted(first: int) -> None:
    """The count was taken for half of the elements, and the loop to have no iteration."""

    def program(x):
        p, s = x[np.abs(x) < 1], 0.0
        for i in range(first, len(p)):
            s += abs(p[i] - p[i - first])
        return s, len(p)

    for x in ([0.5, 0.2], [0.5, 3.0], [0.1, 2.0, 0.4], [0.3, 0.1, 0.2], [0.5]):
        compiled = fxc.compile(program, fullgraph=True)
        for y in (x, [2 * v for v in x]):
            args = (np.array(y),)
            assert difference(run(program, args), run(compiled, args)) == ""
        assert compiled.cache_info().eager_calls == 0


@pytest.mark.parametrize("x", [V, X, F, X[::-2, 1:], 3 * V], ids=["1", "2", "f", "part", "large"])
def test_the_last_of_a_loop(x: np.ndarray) -> None:
    """The largest size of what a mask chooses is known: it has room in an array of that size."""

    def until_few(x):
        for k in range(6):
            chosen = x[x > k] * 2
            if chosen.sum() < 1:
                break
        return chosen

    def of_each(x, n):
        chosen, sizes = x[x > 0], []
        for k in range(n):
            sizes.append(len(chosen))
            chosen = x[x > k / 4]
        return chosen, len(chosen), sizes

    def of_itself(x):
        chosen = x[x > 0]
        while chosen.size > 2:
            chosen = chosen[chosen > chosen.mean()]
        return chosen

    agree(until_few, (x,))
    agree(of_itself, (x,))
    for n in (0, 1, 2, 9):
        agree(of_each, (x, n))


def _kept(x: np.ndarray) -> Any:
    if x[0, 0] > 0:
        chosen = x[0, x[0] > 0]
    return chosen.sum() if x[0, 0] > 0 else 0.0


def _counts(x: np.ndarray) -> Any:
    for k in range(6):
        chosen = np.arange(int(x[0, 0]) + k) * 2
        if chosen.sum() < 1:
            break
    return chosen


def _empty_by_steps_of_data(x: np.ndarray) -> Any:
    return np.copy(x[-1 : -1 : int(x[1, 1])] if x[0, 0] < 1 else x[1:])


@pytest.mark.parametrize(
    "program, message",
    [
        (_empty_by_steps_of_data, "an array whose size is counted in a branch or a loop"),
        (_kept, "an array whose size is counted in a branch or a loop"),
        (_counts, "an array whose size is counted in a branch or a loop"),
        (
            lambda x: max(0.0, *x[x > 0]),
            "the size of an array that depends on the dat",
        ),
        (lambda x: x[x[:, 0] > 0, [0]], "a mask whose elements are not known beside another index"),
    ],
)
def test_refused(program: Callable[..., Any], message: str) -> None:
    with pytest.raises(CaptureError, match=message):
        fxc.compile(program, fullgraph=True)(array(3, 4))


def test_masked_forms_need_no_size() -> None:
    def program(x, y):
        m = x > 0
        x[m] += 1
        x[m] = np.sqrt(y[m]) * 2
        return x

    graph = fxc.compile(program, fullgraph=True).inspect(V.copy(), np.abs(V)).functional
    assert all(node.op not in ("bind_size", "nonzero", "gather") for node in graph.nodes)


def _least(x: np.ndarray) -> np.ndarray:
    return x[np.where(x == x.min())[0]]


def _scaled(x: np.ndarray) -> np.ndarray:
    while _least(x) < 5:
        x = x * 2
    return x


@pytest.mark.parametrize(
    "program",
    [
        lambda x: 1 if _least(x) > 0 else 2,
        lambda x: not _least(x)[:, None],
        lambda x: bool(_least(x)),
        lambda x: _least(x).item() + 1,
        lambda x: _least(x) > 0 and _least(x) < 3,
        _scaled,
    ],
)
def test_the_only_element(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for x in (np.array([3.0, 1, 2]), np.array([3.0, 2, 4, 7])):
        assert difference(run(program, [x]), run(compiled, [x])) == ""
    assert compiled.cache_info().eager_calls == 0
    for x in (np.array([2.0, 1, 1]), np.array([])):  # two of them, none
        assert difference(run(program, [x]), run(compiled, [x])) == ""


def test_the_only_element_needed_now() -> None:
    with pytest.raises(CaptureError, match="a decision"):
        fxc.compile(lambda x: max(_least(x), 2.0), fullgraph=True)(np.array([3.0, 1, 2]))


# ------------------------------------------------------------------ written by functions


def _into_what_a_mask_chose(x):
    y = x[x > 0]
    same = np.multiply(y, 2, out=y)
    np.subtract(y, 1, out=y, where=y > 1)
    np.copyto(y, 0.5, where=y == 2)
    same += 1
    return y, same


def _into_what_is_unique(x):
    y = np.unique(x)
    np.copyto(y, 0.5, where=y != 2)
    np.cumsum(y, out=y)
    return y


@pytest.mark.parametrize("program", [_into_what_a_mask_chose, _into_what_is_unique])
def test_functions_write_into_arrays_of_a_counted_size(program: Callable[..., Any]) -> None:
    agree(program, (V,))


def test_columns_are_taken_to_have_gaps() -> None:
    """Whether rows of a matrix have one element each is an odd case of its layout."""

    def program(x):
        n, total, step = len(x), 0.0, 0
        while n > 2 and step < 20:
            part = x[:n, :n] * 2.0
            for k in range(n - 1):
                column = part[k:, k]
                total += column.dot(column) + np.linalg.norm(column) + column.ravel("K")[0]
            step += 1
            if step % 3 == 0:
                n -= 1
        return total

    compiled = fxc.compile(program, fullgraph=True)
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=(7, 7))
        assert difference(run(program, (x,)), run(compiled, (x,))) == ""
    assert compiled.cache_info().eager_calls == 0
