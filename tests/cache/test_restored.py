"""What was restored, later: stages, guards that fail, native calls, leaves, other processes."""

import io
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.cache.by_reference import ReferenceReader, ReferenceWriter
from fxc.calling.compiling import captures_begun
from fxc.ops.kernels import making
from fxc.ops.table import TABLE as OPERATORS
from fxc.runtime.taking import Taken
from tests.exporters.corpus import EXAMPLES, Example
from tests.outcomes import difference, run

pytestmark = pytest.mark.usefixtures("cache")

# They call functions that fxc has learnt about by calls, or that are replaced by ones in C.
NOT_KEPT = {
    "columns.book_risk",
    "finance.greeks",
    "particles.lbm_cavity",
    "physics.heat_implicit",
    "simulations.queue_sim",
}


def restored(function: Any, *args: Any) -> Any:
    """The function in a process that finds what was compiled for such a call."""
    before = captures_begun()
    run(fxc.compile(function), list(args))
    assert captures_begun() > before
    again = fxc.compile(function)
    before = captures_begun()
    run(again, list(args))
    assert captures_begun() == before
    return again


def test_calls_of_numpy_that_are_made_for_operators():
    def averages(x):
        known = x[x > 0]
        return known.mean(), known.sum(), known.max()

    x = np.linspace(-1.0, 1.0, 9)
    assert restored(averages, x)(x) == averages(x)


def test_each_kernel_is_found_again() -> None:
    def root(x):
        return x

    for operator in OPERATORS:
        for maker in (making.kernel_of, making.compiled_kernel_of):
            try:
                kernel = maker(operator.name)
            except KeyError:
                continue
            file = io.BytesIO()
            ReferenceWriter(file, root, []).dump(kernel)
            found = ReferenceReader(io.BytesIO(file.getvalue()), root).load()
            assert found is kernel or found.__fxc_made_by__ == kernel.__fxc_made_by__


def test_what_takes_the_results_of_numpys_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is machine code again. See Note [Taken results]."""

    def program(z):
        return np.unique(z, return_counts=True), np.linalg.eig(z[:, None] * z), np.nanmedian(z)

    z = np.array([1j, 2, 1j])
    found = restored(program, z)
    (variant,) = found._state.variants
    constants = variant.compilation.assembled.plan.constants.values()
    assert sum(isinstance(value, Taken) for value in constants) == 3
    monkeypatch.setattr(Taken, "__call__", lambda self, *found: pytest.fail("Python looks"))
    assert difference(run(program, [z]), run(found, [z])) == ""


@pytest.mark.parametrize("example", EXAMPLES[::3], ids=lambda each: each.name)
def test_programs(example: Example) -> None:
    first, second = fxc.compile(example.function), fxc.compile(example.function)
    before = captures_begun()
    expected = run(first, example.arguments(0))
    captured, before = captures_begun() - before, captures_begun()
    found = run(second, example.arguments(0))
    assert difference(expected, found) == ""
    assert captures_begun() - before == (captured if example.name in NOT_KEPT else 0)


def smooth(u, k):
    for _ in range(3):
        u[1:-1] += k * (u[2:] + u[:-2])
    return np.sqrt(u), u[::2]


def test_all_stages_are_there() -> None:
    args = np.arange(1.0, 9.0), 0.5
    expected = fxc.compile(smooth).inspect(*args)
    found = restored(smooth, *args).inspect(*args)
    for name in ("captured", "functional", "decomposed", "loops", "llvm", "asm", "plan"):
        assert str(getattr(found, name)) == str(getattr(expected, name)), name


def test_other_sizes_and_flags_get_other_compilations() -> None:
    def f(x, flag):
        return x * 2 if flag else x + 1

    compiled = fxc.compile(f)
    calls = [(np.ones(3), True), (np.ones(3), False), (np.ones(5), True), (np.ones(7), False)]
    for call in calls:
        compiled(*call)
    again, before = fxc.compile(f), captures_begun()
    for call in [*calls[::-1], *calls]:
        assert np.array_equal(again(*call), f(*call))
    assert captures_begun() == before
    again(np.ones(3, np.float32), True)
    assert captures_begun() > before


def test_why_guards_do_not_hold() -> None:
    compiled = restored(smooth, np.ones(5), 0.5)
    (variant,) = compiled._state.variants
    assert variant.captured.guards.why((np.ones(5), 0.5), {}) == ""
    why = variant.captured.guards.why((np.ones(5, np.float32), 0.5), {})
    assert why == "u: dtype was float64, is float32"


def test_the_logs_tell_of_what_comes_from_disk(caplog: pytest.LogCaptureFixture) -> None:
    def f(x):
        return x[::-1] * 2

    compiled = fxc.compile(f)
    for dtype in (np.float64, np.float32):
        compiled(np.ones(3, dtype))
    again, before = fxc.compile(f), captures_begun()
    with fxc.config.override(logs="recompiles"):
        for dtype in (np.float64, np.float32):
            again(np.ones(3, dtype))
    assert captures_begun() == before
    assert caplog.messages == [
        "f: variant 1 comes from the disk cache, for x: f64[3]",
        "f: compiled again: x: dtype was float64, is float32",
        "f: variant 2 comes from the disk cache, for x: f32[3]",
    ]


@pytest.mark.parametrize("axes", [(1, 0, 2), (2, 1, 0), (1, 2, 0)])
def test_results_lie_in_memory_as_they_do_with_numpy(axes: tuple[int, ...]) -> None:
    def f(x):
        return x * 2 + 1

    x = np.arange(24.0).reshape(2, 3, 4).transpose(axes)
    assert difference(run(f, [x]), run(restored(f, x), [x])) == ""


def test_native_calls() -> None:
    def f(x, y):
        return x * y + 1

    args = np.arange(8.0), np.arange(8.0)
    compiled = restored(f, *args)
    for _ in range(3000):
        found = compiled(*args)
    assert np.array_equal(found, f(*args))
    assert compiled._state.variants[0].native is not None


def test_flags_are_told_as_numpy_does() -> None:
    def f(x):
        return np.log(x) / x

    compiled = restored(f, np.ones(4))
    with pytest.warns(RuntimeWarning) as expected:
        f(np.array([0.0, 1.0, -1.0, 2.0]))
    with pytest.warns(RuntimeWarning) as found:
        compiled(np.array([0.0, 1.0, -1.0, 2.0]))
    assert [str(each.message) for each in found] == [str(each.message) for each in expected]


def test_what_numpy_raises() -> None:
    def f(x, n):
        return x[n] + x[0]

    compiled = restored(f, np.arange(4.0), 2)
    assert difference(run(f, [np.arange(4.0), 7]), run(compiled, [np.arange(4.0), 7])) == ""


def test_it_is_pickled_with_its_compilations() -> None:
    compiled = restored(smooth, np.ones(5), 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stored = compiled._stored()
    assert stored
    other, before = fxc.compile(smooth), captures_begun()
    with fxc.config.override(cache=False):
        other._take_over(stored)
        other(np.ones(5), 0.5)
    assert captures_begun() == before
    assert pickle.dumps(stored)


UNSET: Any = object()


def with_a_sentinel(x, how=UNSET):
    return (x[0] if how is UNSET else how), UNSET


def texts_of_items(x):
    return [str(v) for v in x[x > 0]], [f"{v:.2f}" for v in x]


@pytest.mark.parametrize("function", [with_a_sentinel, texts_of_items])
def test_objects_that_stand_for_something_are_themselves(function: Any) -> None:
    """Pickle makes copies of them."""
    x = np.array([1.5, -2.0, 3.0])
    compiled = restored(function, x)
    for _ in range(2):
        assert compiled(x) == function(x)


def test_a_sentinel_that_no_module_has_is_not_kept() -> None:
    unset = object()

    def f(x):
        return x + 1, unset

    for _ in range(2):
        before = captures_begun()
        assert fxc.compile(f)(np.ones(3))[1] is unset
        assert captures_begun() > before


def test_closures_share_code_not_values() -> None:
    def make(k):
        def f(x):
            return x * k

        return f

    x = np.arange(3.0)
    assert np.array_equal(fxc.compile(make(2.0))(x), x * 2)
    assert np.array_equal(fxc.compile(make(3.0))(x), x * 3)
    before = captures_begun()
    for k in (3.0, 2.0):
        assert np.array_equal(fxc.compile(make(k))(x), x * k)
    assert captures_begun() == before


def test_sets_and_hashes_are_not_kept() -> None:
    def f(x):
        total = x * 0
        for name in {"a", "b", "c"}:
            total = total + x * hash(name)
        return total

    x = np.ones(2)
    for _ in range(2):
        before = captures_begun()
        fxc.compile(f)(x)
        assert captures_begun() > before


MAKING, TABLE = hash, {"a": 1.0, "b": 2.0}


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + next(len(name) for name in {"a", "bb", "ccc"}),
        lambda x: x + sum(TABLE[name] for name in TABLE.keys() - ["a"]),
        lambda x: x + TABLE[max(TABLE, key=MAKING)],
    ],
)
def test_nor_are_those_that_do_not_name_them(function: Any) -> None:
    for _ in range(2):
        before = captures_begun()
        fxc.compile(function)(np.ones(2))
        assert captures_begun() > before


def test_what_looks_into_sets_is_kept() -> None:
    def f(x):
        total = x * 0
        for name, value in TABLE.items():
            total = total + x * value if name in {"a", "c"} else total
        return total + len(TABLE.keys()), sorted(TABLE.items())

    restored(f, np.ones(2))


def test_a_function_of_a_file_that_has_changed_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fxc.cache import entries

    monkeypatch.setattr(entries, "_begun", 0.0)
    for _ in range(2):
        before = captures_begun()
        fxc.compile(smooth)(np.ones(5), 0.5)
        assert captures_begun() > before


def test_options_have_their_own() -> None:
    def f(x):
        return np.exp(x) + x

    x = np.linspace(0, 1, 9)
    fxc.compile(f)(x)
    before = captures_begun()
    assert np.array_equal(fxc.compile(f, math="exact")(x), f(x))
    assert captures_begun() > before


def test_custom_operators_are_not_kept() -> None:
    @fxc.custom_op("cache_tests::twice(Array x) -> Array")
    def twice(x):
        return x * 2

    def f(x):
        return twice(x) + 1

    for _ in range(2):
        before = captures_begun()
        fxc.compile(f)(np.ones(3))
        assert captures_begun() > before


def test_a_bug_of_the_cache_costs_time_only(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    from fxc.cache import entries

    def f(x):
        return x - 1

    caplog.set_level("INFO", "fxc")
    monkeypatch.setattr(entries, "stored", lambda *_: 1 / 0)
    assert fxc.compile(f)(2.0) == 1.0
    monkeypatch.setattr(entries, "_read", lambda *_: 1 / 0)
    assert fxc.compile(f)(2.0) == 1.0
    assert caplog.text.count("the cache is not used: ZeroDivisionError") == 3


def below(x):
    return np.tri(90, 120) * x


def far_below(x):
    return np.tri(700, 800) * x


def test_tables_are_read_with_the_compilation() -> None:
    x = np.ones((90, 120))
    found = restored(below, x)
    for _ in range(5):
        assert np.array_equal(found(x), below(x))


def test_what_has_very_large_tables_is_made_anew(cache: Path) -> None:
    x, before = np.ones((700, 800)), captures_begun()
    for _ in range(2):
        assert np.array_equal(fxc.compile(far_below)(x), far_below(x))
    assert captures_begun() == before + 2
    assert sum(each.stat().st_size for each in cache.rglob("*") if each.is_file()) < 1 << 20
