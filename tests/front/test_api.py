"""``fxc.compile`` as a user meets it: what it keeps of a function, and that calls are NumPy's."""

from __future__ import annotations

import copy
import dataclasses
import functools
import gc
import inspect
import pickle
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import fxc
from tests.compiling import check
from tests.outcomes import difference, run


@fxc.compile
def module_level(x: np.ndarray, scale: float = 2.0) -> np.ndarray:
    """Scaled."""
    return x * scale


def compiled(fn: Callable[..., Any], **options: Any) -> Any:
    return fxc.compile(fn, fullgraph=True, **options)


# ------------------------------------------------------------------ decorating


def test_bare_with_options_and_as_a_call():
    def fn(x):
        return x + 1

    for program in (
        fxc.compile(fn),
        fxc.compile(fullgraph=True)(fn),
        fxc.compile(fn, dynamic=True),
    ):
        assert program(np.zeros(2)).tolist() == [1, 1]
        assert program.cache_info() == fxc.CacheInfo(1, 1, 0, {})


def test_what_functools_wraps_keeps():
    assert module_level.__name__ == "module_level"
    assert module_level.__qualname__ == "module_level"
    assert module_level.__module__ == __name__
    assert module_level.__doc__ == "Scaled."
    assert not isinstance(module_level.__wrapped__, fxc.Compiled)
    assert list(inspect.signature(module_level).parameters) == ["x", "scale"]
    assert repr(module_level) == "<fxc.Compiled module_level>"


def test_the_parts_of_a_function_are_there():
    """pytest looks into ``setup_module``, and others copy functions."""
    function = module_level.__wrapped__
    for name in ("__code__", "__globals__", "__closure__", "__defaults__", "__kwdefaults__"):
        assert getattr(module_level, name) is getattr(function, name)
    copied = types.FunctionType(module_level.__code__, module_level.__globals__)
    assert copied(np.ones(1), 4.0).tolist() == [4.0]
    assert not hasattr(fxc.compile(functools.partial(function)), "__code__")


def test_a_module_level_function_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(module_level)) is module_level
    assert copy.deepcopy(module_level) is module_level


class Model:
    scale = 3.0

    def __init__(self, offset: float) -> None:
        self.offset = offset

    @fxc.compile(fullgraph=True)
    def method(self, x):
        return x * self.scale + self.offset

    @classmethod
    @fxc.compile(fullgraph=True)
    def of_class(cls, x):
        return x * cls.scale

    @staticmethod
    @fxc.compile(fullgraph=True)
    def static(x):
        return x + 1


def test_methods_read_their_own_object():
    one, two = Model(1.0), Model(2.0)
    x = np.ones(2)
    assert one.method(x).tolist() == [4, 4]
    assert two.method(x).tolist() == [5, 5]
    one.offset = 10.0
    assert one.method(x).tolist() == [13, 13]
    assert Model.method(one, x).tolist() == [13, 13]
    assert Model.method.cache_info().eager_calls == 0


def test_class_methods_and_static_methods():
    class Other(Model):
        scale = 5.0

    x = np.ones(2)
    assert Model.of_class(x).tolist() == [3, 3]
    assert Other.of_class(x).tolist() == [5, 5]
    assert Model.static(x).tolist() == [2, 2]
    assert Model(0.0).static(x).tolist() == [2, 2]


def test_a_method_has_inspect_and_cache_info():
    model = Model(1.0)
    assert "add" in str(model.method.__func__.inspect(model, np.ones(2)).functional)


def test_options_that_do_not_exist():
    with pytest.raises(ValueError, match="backend must be a callable or one of"):
        fxc.compile(backend="fortran")
    with pytest.raises(TypeError, match="takes a function, not an int"):
        fxc.compile(3)
    with pytest.raises(TypeError):
        fxc.compile(fast=True)


# ------------------------------------------------------------------ counts and stages


def test_cache_info_counts_and_cache_clear_forgets():
    program = compiled(lambda x: x * 2)
    program(np.ones(2))
    program(np.ones(2))
    program(np.ones(3))
    assert program.cache_info() == fxc.CacheInfo(2, 3, 0, {})
    program.cache_clear()
    assert program.cache_info() == fxc.CacheInfo(0, 0, 0, {})
    assert program(np.ones(2)).tolist() == [2, 2]


def test_fallbacks_are_counted_by_operator():
    program = check(lambda x: x + x, (np.ones(2, "f2"),))
    assert program.cache_info() == fxc.CacheInfo(1, 2, 0, {"add": 2})


def test_every_stage_prints_and_inspect_runs_nothing():
    def fn(x):
        x += 1
        return x.sum()

    program = compiled(fn)
    x = np.zeros(3)
    stages = program.inspect(x)
    for name in ("captured", "functional", "decomposed", "loops", "llvm", "asm"):
        assert str(getattr(stages, name)).strip(), name
        assert f"== {name} ==" in str(stages)
    assert "define" in stages.llvm
    assert "def run" in stages.plan
    assert x.tolist() == [0, 0, 0]
    info = program.cache_info()
    assert (info.native_calls, info.eager_calls) == (0, 0)
    assert program(x) == 3
    assert program.cache_info().variants == 1


def test_inspect_of_other_backends_prints():
    assert "add" in str(fxc.compile(lambda x: x + 1, backend="numpy").inspect(np.ones(2)))


def test_inspect_raises_what_capture_raises():
    with pytest.raises(fxc.CaptureError):
        fxc.compile(lambda x: input(x)).inspect(np.ones(2))


# ------------------------------------------------------------------ what cannot be captured


def prints(x):
    y = x + 1
    exec('print("ran")')
    return y


def line_of(fn: Callable[..., Any], offset: int) -> str:
    return f"test_api.py:{fn.__code__.co_firstlineno + offset}"


def test_one_warning_with_line_and_reason_and_a_right_result(capsys):
    program = fxc.compile(prints)
    with pytest.warns(fxc.CaptureWarning) as caught:
        assert program(np.ones(2)).tolist() == [2, 2]
    (warning,) = caught
    text = str(warning.message)
    assert "prints runs as plain NumPy" in text
    assert line_of(prints, 2) in text
    assert "print" in text
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert program(np.ones(2)).tolist() == [2, 2]
        assert program(np.ones(3)).tolist() == [2, 2, 2]
    assert program.cache_info() == fxc.CacheInfo(0, 0, 3, {})
    assert capsys.readouterr().out == "ran\nran\nran\n"


def test_fullgraph_raises_with_the_line_and_without_effect(capsys):
    program = compiled(prints)
    for _ in range(2):
        with pytest.raises(fxc.CaptureError) as caught:
            program(np.ones(2))
        assert any(line_of(prints, 2) in note for note in caught.value.__notes__)
    assert capsys.readouterr().out == ""
    assert program.cache_info() == fxc.CacheInfo(0, 0, 0, {})


def test_a_call_that_can_be_captured_is_so_after_one_that_cannot():
    def fn(x, flag):
        if flag:
            exec("")
        return x + 1

    program = fxc.compile(fn)
    with pytest.warns(fxc.CaptureWarning):
        program(np.ones(2), "yes")
    assert program(np.ones(2), False).tolist() == [2, 2]
    assert program.cache_info().native_calls == 1


# ------------------------------------------------------------------ backends


def test_the_numpy_backend():
    def fn(x, y):
        x[1:] += y[:-1]
        return x, x.sum(), x[::2]

    check(fn, (np.arange(4.0), np.arange(4.0) ** 2), backend="numpy")


def test_a_backend_of_ones_own():
    seen = []

    def backend(graph, index, types):
        from fxc.ir.evaluate import evaluate
        from fxc.ops.kernels import kernel_of

        seen.append((graph.stage, index.name, [str(kind) for kind in types]))
        return lambda *inputs: evaluate(graph, inputs, kernel_of)

    def fn(x, k):
        x *= k
        return x[1:]

    check(fn, (np.arange(4.0), 3.0), backend=backend)
    assert seen == [("functional", "numpy", ["f64[4]", "py.float"])]


# ------------------------------------------------------------------ variants


def test_dynamic_compiles_once_for_all_sizes_of_two_or_more():
    program = compiled(lambda x: (x * 2).sum(axis=0), dynamic=True)
    for n in (2, 3, 5, 100):
        assert program(np.ones((n, 3))).tolist() == [2.0 * n] * 3
    assert program.cache_info().variants == 1


def test_short_axes_are_constants_until_they_vary():
    def distances(p, q):
        d = p[:, None] - q
        return (d * d).sum(axis=-1)

    compiled = fxc.compile(distances, fullgraph=True)
    shapes = [(8, 3), (9, 3), (11, 3), (9, 2), (7, 3), (9, 4), (3, 5), (9, 5)]
    variants = []
    for rows, columns in shapes:
        p, q = np.linspace(0.0, 1.0, rows * columns).reshape(rows, columns), np.ones(columns)
        np.testing.assert_array_equal(compiled(p, q), distances(p, q))
        variants.append(compiled.cache_info().variants)
    assert variants == [1, 2, 2, 3, 3, 3, 3, 3]
    first, *_ = compiled._state.variants[1].captured.graph.inputs
    assert str(first.type).endswith(", 3]"), first.type


def test_an_axis_varies_also_if_no_variant_has_all_sizes():
    def scaled(p):
        return p * 2.0 + p.sum(axis=-1, keepdims=True)

    compiled = fxc.compile(scaled, fullgraph=True)
    for shape in [(8, 3), (9, 3)]:
        compiled(np.ones(shape))
    del compiled._state.variants[0]
    variants = []
    for columns in (2, 4, 3, 5):
        p = np.linspace(0.0, 1.0, 9 * columns).reshape(9, columns)
        np.testing.assert_array_equal(compiled(p), scaled(p))
        variants.append(compiled.cache_info().variants)
    assert variants == [2, 2, 2, 2]


def test_sizes_of_zero_and_one_are_special():
    def fn(x, y):
        return x + y

    program = compiled(fn, dynamic=True)
    for n, m in [(4, 4), (5, 5), (1, 4), (4, 1), (1, 1), (0, 0), (0, 1), (7, 7)]:
        x, y = np.arange(float(n)), np.arange(float(m)) * 10
        assert difference(run(fn, (x, y)), run(program, (x, y))) == ""
    info = program.cache_info()
    assert info.eager_calls == 0
    assert info.variants == 6


def test_floats_are_run_time_inputs_and_ints_of_two_or_more():
    program = compiled(lambda x, a, n: x * a + n)
    assert program(np.ones(2), 2.0, 5).tolist() == [7, 7]
    assert program(np.ones(2), 3.5, 6).tolist() == [9.5, 9.5]
    assert program(np.ones(2), float("nan"), 6)[0] != 0
    assert program.cache_info().variants == 1


def test_bools_and_the_sign_of_ints_are_static():
    def fn(x, flag, n):
        return x + n if flag else x - n

    program = compiled(fn)
    for flag in (True, False):
        for n in (0, 1, 2, 3, -4):
            assert program(np.ones(2), flag, n).tolist() == fn(np.ones(2), flag, n).tolist()
    assert program.cache_info().variants == 6


def test_an_int_a_float_and_a_bool_are_not_confused():
    program = compiled(lambda x, k: x * k)
    x = np.arange(3)
    for k in (2, 2.0, True, np.float32(2), np.int8(2)):
        expected = x * k
        found = program(x, k)
        assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())
    assert program.cache_info() == fxc.CacheInfo(5, 5, 0, {})


@pytest.mark.parametrize("k", [2j, np.complex128(2j)])
def test_complex_numbers_are_inputs(k):
    program = check(lambda x, k: x * k, (np.arange(3), k))
    assert program.cache_info() == fxc.CacheInfo(1, 2, 0, {})


def test_a_number_that_python_asks_for_is_specialised():
    def fn(x, k):
        return x * 2 if k > 1.5 else x

    program = compiled(fn)
    for k in (1.0, 2.0, 3.0, 1.0):
        assert program(np.ones(1), k).tolist() == fn(np.ones(1), k).tolist()
    assert program.cache_info().eager_calls == 0


def test_keyword_and_default_arguments():
    def fn(x, y=1.5, *, n=2, **more):
        return x * y + n + sum(more.values())

    program = compiled(fn)
    x = np.ones(2)
    for kwargs in ({}, {"y": 2.5}, {"n": 7}, {"a": 3.0, "n": 3}, {"n": 3, "a": 3.0}):
        assert program(x, **kwargs).tolist() == fn(x, **kwargs).tolist()
    assert program(x, 4.0).tolist() == fn(x, 4.0).tolist()


def test_layouts_dtypes_and_writeability_have_variants():
    program = compiled(lambda x: x.T.reshape(-1))
    base = np.arange(12.0).reshape(3, 4)
    for x in (
        base,
        np.asfortranarray(base),
        base[::-1],
        base.astype("i4"),
        np.broadcast_to(1, (3, 4)),
    ):
        expected, found = x.T.reshape(-1), program(x)
        assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())
        assert np.shares_memory(found, x) == np.shares_memory(expected, x)
    assert program.cache_info().variants == 5


# ------------------------------------------------------------------ pytrees


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Body:
    position: np.ndarray
    mass: float


def test_containers_of_arrays_go_in():
    def fn(pair, items, table, point, body, nothing):
        total = pair[0] + items[1] + table["a"] + point.y + body.position * body.mass
        return total if nothing is None else None

    a = np.arange(3.0)
    program = compiled(fn)
    inputs = ((a, 1), [2, a], {"a": a, "b": a}, Point(a, a), Body(a, 2.0), None)
    assert program(*inputs).tolist() == fn(*inputs).tolist()
    assert program(*inputs[:-1], 1) is None
    assert program.cache_info().eager_calls == 0


def test_containers_of_arrays_come_out():
    def fn(x):
        y = x + 1
        return (y, [y, x], {"y": y, "none": None}, Point(x, 3), Body(y, 2.0), "text", 4, 2.5)

    x = np.ones(3)
    pair, items, table, point, body, *rest = compiled(fn)(x)
    assert items[0] is pair
    assert items[1] is x
    assert list(table) == ["y", "none"]
    assert table["y"] is pair
    assert table["none"] is None
    assert isinstance(point, Point)
    assert (point.x is x, point.y) == (True, 3)
    assert isinstance(body, Body)
    assert (body.position is pair, body.mass) == (True, 2.0)
    assert rest == ["text", 4, 2.5]


def test_lists_and_dicts_that_come_out_are_new():
    program = compiled(lambda x: [x, {}])
    x = np.ones(2)
    program(x).append(1)
    program(x)[1]["key"] = 1
    again = program(x)
    assert again[0] is x
    assert again[1:] == [{}]


# ------------------------------------------------------------------ the world outside

GLOBAL_ARRAY = np.zeros(3)
GLOBAL_NUMBER = 1.0


def uses_globals(x):
    GLOBAL_ARRAY[...] += x
    return GLOBAL_ARRAY * GLOBAL_NUMBER


def test_a_global_array_is_written_in_place(monkeypatch):
    array = np.zeros(3)
    monkeypatch.setitem(globals(), "GLOBAL_ARRAY", array)
    program = compiled(uses_globals)
    assert program(np.ones(3)).tolist() == [1, 1, 1]
    assert program(np.ones(3)).tolist() == [2, 2, 2]
    assert array.tolist() == [2, 2, 2]
    other = np.full(3, 10.0)
    monkeypatch.setitem(globals(), "GLOBAL_ARRAY", other)
    assert program(np.ones(3)).tolist() == [11, 11, 11]
    assert array.tolist() == [2, 2, 2]
    assert program.cache_info().eager_calls == 0


def test_a_changed_global_number_is_seen(monkeypatch):
    monkeypatch.setitem(globals(), "GLOBAL_ARRAY", np.zeros(3))
    program = compiled(uses_globals)
    assert program(np.ones(3)).tolist() == [1, 1, 1]
    monkeypatch.setitem(globals(), "GLOBAL_NUMBER", 5.0)
    assert program(np.ones(3)).tolist() == [10, 10, 10]


def test_closures_are_read_at_each_call():
    scale, offset = 2.0, np.ones(2)

    def fn(x):
        return x * scale + offset

    program = compiled(fn)
    assert program(np.ones(2)).tolist() == [3, 3]
    scale = 5.0
    offset = np.full(2, 10.0)
    assert program(np.ones(2)).tolist() == [15, 15]


def test_a_helper_that_is_replaced_is_seen():
    helper = np.sin

    def fn(x):
        return helper(x)

    program = compiled(fn)
    assert program(np.zeros(1)) == 0
    helper = np.cos
    assert program(np.zeros(1)) == 1


def test_compiled_functions_call_each_other():
    inner = fxc.compile(lambda x, k: x * k)

    def outer(x):
        y = inner(x, 2.0)
        y += inner(y, 3.0)
        return y

    program = compiled(outer)
    assert program(np.ones(2)).tolist() == [8, 8]
    assert inner.cache_info().variants == 0


def test_recursion_over_python_values():
    @fxc.compile(fullgraph=True)
    def power(x, n):
        if n == 0:
            return np.ones_like(x)
        half = power(x, n // 2)
        return half * half * x if n % 2 else half * half

    assert power(np.full(2, 2.0), 10).tolist() == [1024, 1024]
    assert power(np.full(2, 2.0), 7).tolist() == [128, 128]
    assert power.cache_info().eager_calls == 0


# ------------------------------------------------------------------ exceptions


def wrong_shapes(a, b):
    a += 1
    return a + b


def wrong_axis(a, b):
    return a.sum(axis=3)


def wrong_cast(a, b):
    a += 1
    a += b * 0.5
    return a


def read_only(a, b):
    b[...] = 1
    a[...] = b


def wrong_index(a, b):
    b[0] = 7
    return a[10]


def wrong_reshape(a, b):
    a += 1
    return a.reshape(3)


def own_error(a, b):
    a += 1
    raise RuntimeError("my own")


def wrong_matmul(a, b):
    b += 2
    return a @ b[:2]


def locked(*shape: int) -> np.ndarray:
    array = np.zeros(shape)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "fn, a, b",
    [
        (wrong_shapes, np.ones(4), np.ones(3)),
        (wrong_axis, np.ones(4), np.ones(4)),
        (wrong_cast, np.ones(4, int), np.ones(4)),
        (read_only, locked(4), np.ones(4)),
        (wrong_index, np.ones(4), np.ones(4)),
        (wrong_reshape, np.ones(4), np.ones(4)),
        (own_error, np.ones(4), np.ones(4)),
        (wrong_matmul, np.ones(4), np.ones(4)),
    ],
)
@pytest.mark.parametrize("dynamic", [False, True])
def test_exceptions_and_partial_writes_are_numpys(fn, a, b, dynamic):
    def inputs() -> tuple[np.ndarray, np.ndarray]:
        copies = (a.copy(), b.copy())
        copies[0].flags.writeable = a.flags.writeable
        return copies

    program = compiled(fn, dynamic=dynamic)
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error", fxc.CaptureWarning)
            expected, found = run(fn, inputs()), run(program, inputs())
        assert expected.error is not None
        assert difference(expected, found) == ""


def test_wrong_arguments_are_pythons_type_error():
    program = compiled(lambda x, y: x + y)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        program(np.ones(2))


# ------------------------------------------------------------------ overlapping inputs


def overlapping(name: str) -> tuple[np.ndarray, np.ndarray]:
    base = np.arange(8.0)
    return {
        "apart": (base, np.arange(8.0)),
        "same": (base, base),
        "view": (base, base[:]),
        "reversed": (base, base[::-1]),
        "partial": (base[:6], base[2:]),
        "part of base": (base, base[::2]),
        "interleaved": (base[::2], base[1::2]),
    }[name]


KINDS = ["apart", "same", "view", "reversed", "partial", "part of base", "interleaved"]


def ends(a, b):
    k = min(a.size, b.size)
    a[1:k] += b[: k - 1] * 2
    b *= 3
    return a, a.sum(), b[::2]


@pytest.mark.parametrize("first", ["apart", "same", "reversed"])
@pytest.mark.parametrize("kind", KINDS)
def test_overlapping_inputs(kind, first):
    program = fxc.compile(ends, fullgraph=True)
    run(program, overlapping(first))
    for _ in range(2):
        expected, found = run(ends, overlapping(kind)), run(program, overlapping(kind))
        assert difference(expected, found) == ""


def test_whether_two_arguments_are_one_object_is_guarded():
    def fn(a, b):
        return a + 1 if a is b else a - 1

    program = compiled(fn)
    x, y = np.ones(2), np.ones(2)
    assert program(x, y).tolist() == [0, 0]
    assert program(x, x).tolist() == [2, 2]


# ------------------------------------------------------------------ memory


def many(x):
    y = x * 2
    return (
        y,
        y[1:],
        y.T,
        np.zeros(3),
        x + 1,
        np.array([1.0, 2.0]),
        x.reshape(-1),
        x.sum(keepdims=True),
    )


def test_two_calls_never_share_memory():
    program = compiled(many)
    x = np.arange(4.0)
    first, second = program(x), program(x)
    for left in first:
        for right in second:
            if not np.shares_memory(left, x) or not np.shares_memory(right, x):
                assert not np.shares_memory(left, right)
    for result in first:
        result[...] = -1
    assert [r.tolist() for r in second[:3]] == [[0, 2, 4, 6], [2, 4, 6], [0, 2, 4, 6]]
    assert [r.tolist() for r in program(np.arange(4.0))] == [
        r.tolist() for r in many(np.arange(4.0))
    ]


def test_results_own_their_memory_where_numpys_do():
    x = np.arange(4.0)
    for left, right in zip(many(x), compiled(many)(x), strict=True):
        assert left.flags.owndata == right.flags.owndata
        assert left.flags.writeable == right.flags.writeable


def test_results_of_one_intermediate_share_memory():
    program = compiled(lambda x: (lambda y: (y, y[1:], y[::-1]))(x * 2))
    whole, tail, back = program(np.arange(4.0))
    whole[3] = 50
    assert (tail[2], back[0]) == (50, 50)
    again, _, _ = program(np.arange(4.0))
    assert again[3] == 6


@pytest.mark.parametrize(
    "make",
    [lambda: np.zeros(3), lambda: np.arange(3.0), lambda: np.array([1.0, 2.0]), lambda: np.eye(2)],
)
def test_a_returned_constant_is_not_kept(make):
    program = compiled(lambda: make())
    program()[:] = 9
    assert program().tolist() == make().tolist()


def test_results_outlive_the_function():
    program = compiled(lambda x: (x * 2)[1:])
    result = program(np.arange(1000.0))
    del program
    gc.collect()
    assert result.tolist() == (np.arange(1000.0) * 2)[1:].tolist()


def test_inputs_are_not_kept_alive():
    import weakref

    class Owner(np.ndarray):
        pass

    owner = np.ones(100).view(Owner)
    alive = weakref.ref(owner)
    program = compiled(lambda x: x + 1)
    program(np.asarray(owner))
    del owner
    gc.collect()
    assert alive() is None


# ------------------------------------------------------------------ the promises of the first slice


def reverse(x):
    x[:] = x[::-1]


def running(x):
    x[1:] += x[:-1]


def subtract_first(x):
    x -= x[0]


def through_views(x):
    x[1:][::2][:] = 7
    return x


def returned_view(x):
    return x[1:], x[::-1]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("fn", [reverse, running, subtract_first, through_views, returned_view])
def test_writes_that_overlap_their_sources(fn, dynamic):
    program = check(fn, (np.arange(2.0, 9.0),), dynamic=dynamic)
    check(fn, (np.arange(20.0).reshape(4, 5)[:, ::2],), dynamic=dynamic)
    text = str(program.inspect(np.arange(2.0, 9.0)).functional)
    assert "copy_(" not in text
    assert "out=" not in text


def test_a_mutated_input_that_is_returned_is_the_same_object():
    x = np.arange(4.0)
    assert compiled(through_views)(x) is x


def test_the_module_shows_what_users_call() -> None:
    assert {name for name in dir(fxc) if not name.startswith("_")} == {*fxc.__all__, "testing"}


def test_uses_with_types_run() -> None:
    """Type checkers look at this module."""
    from tests.typed_uses import Scaled

    assert (Scaled().twice(3), Scaled().times(3), Scaled.twice(Scaled(), 3)) == (6.0, 9.0, 6.0)


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    from fxc.cli.main import main

    assert main([]) == 0
    assert "usage: python -m fxc" in capsys.readouterr().out
