"""When a capture may be used again: hits and misses of its guards, constants, relations."""

import warnings
from collections import defaultdict

import numpy as np
import pytest

import fxc
from fxc.capture.capture import Terms, capture
from fxc.capture.guards.relations import strongest
from fxc.capture.session.refusing import constants
from fxc.ir.errors import CaptureError
from fxc.ir.size_guards import Guard, guard, recording
from fxc.ir.symbols import symbol
from tests.capture.test_staging import Model
from tests.capturing import array, run_captured

SCALE = 2.0
SIZES = [1, 2]
BIAS = np.ones(3)
FLAGS = {1, 2}


def helper(x):
    return x * SCALE


def other_helper(x):
    return x


def hits(fn, args, others, *, dynamic=False, **kwargs):
    """Whether the capture for ``args`` serves each of ``others``."""
    captured = capture(fn, args, kwargs, Terms(dynamic))
    check = captured.guards.check
    assert check(args, kwargs) is not None, captured.guards.why(args, kwargs)
    found = [check(other, kwargs) is not None for other in others]
    for other, hit in zip(others, found, strict=True):
        assert (captured.guards.why(other, kwargs) == "") == hit
    return found


def add(x, y):
    return x + y


def unaligned(size):
    raw = np.zeros(8 * size + 1, np.uint8)
    return raw[1:].view(np.float64)


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def test_arrays_in_static_mode():
    x, y = array(2, 3), array(2, 3)
    others = [
        (array(2, 3) + 1, array(2, 3)),
        (array(3, 2), array(3, 2)),
        (array(2, 3, dtype=np.float32), y),
        (array(2, 3, order="F"), y),
        (array(4, 3)[::2], y),
        (read_only(x), y),
        (array(2, 3).view(np.matrix), y),
        (array(2, 3).astype(">f8"), y),
        (array(2, 3).tolist(), y),
        (1.0, y),
        (x,),
        (x, y, y),
    ]
    assert hits(add, (x, y), others) == [True] + [False] * 11


def test_strided_arrays_in_static_mode():
    x = array(4, 6)[:, ::2]
    others = [(array(4, 6)[:, ::2],), (array(4, 3),), (array(4, 9)[:, ::3],)]
    assert hits(lambda x: x + 1, (x,), others) == [True, False, False]


def test_sizes_in_dynamic_mode():
    others = [
        (array(7, 4), array(7, 4)),
        (array(2, 3), array(7, 4)),
        (array(1, 3), array(1, 3)),
        (array(0, 3), array(0, 3)),
        (array(2, 3, order="F"), array(2, 3)),
        (array(6), array(6)),
    ]
    found = hits(add, (array(2, 3), array(2, 3)), others, dynamic=True)
    assert found == [True] + [False] * 5


def test_strides_in_dynamic_mode():
    x = array(4, 6)[:, ::2]
    others = [(array(9, 8)[:, ::2],), (array(4, 3),), (array(4, 9)[:, ::3],), (x[::-1],)]
    assert hits(lambda x: x + 1, (x,), others, dynamic=True) == [True, True, True, False]


def test_numbers_are_inputs():
    others = [(array(3), 7.5), (array(3), -0.0), (array(3), 1), (array(3), True), (array(3), None)]
    assert hits(add, (array(3), 2.0), others) == [True, True, False, False, False]


def test_ints_are_inputs_but_for_0():
    others = [(array(3), 9), (array(3), 0), (array(3), 2.0), (array(3), True), (array(3), 2**70)]
    assert hits(add, (array(3), 4), others) == [True, False, False, False, False]
    assert hits(add, (array(3), 1), [(array(3), 1), (array(3), 2), (array(3), True)]) == [
        True,
        True,
        False,
    ]
    assert hits(add, (array(3), -4), [(array(3), -9)]) == [True]


def test_ints_must_fit_the_arrays_dtype():
    small = array(3, dtype=np.uint8)
    assert hits(add, (small, 4), [(small, 200), (small, 256)]) == [True, False]


def test_numpy_scalars_bools_and_strings():
    x = array(3)
    assert hits(add, (x, np.float32(2)), [(x, np.float32(9)), (x, np.float64(2)), (x, 2.0)]) == [
        True,
        False,
        False,
    ]

    def choose(x, sign, name="a"):
        return x + 1 if sign and name == "a" else x

    others = [(x, True), (x, False), (x, 1), (x, True, "b")]
    assert hits(choose, (x, True), others) == [True, False, False, False]
    assert hits(choose, (x, True, "a"), [(x, True, "a"), (x, True, "b")]) == [True, False]


def test_a_number_becomes_a_constant_where_python_needs_it():
    def f(x, dt, n):
        if dt > 0.5:
            x = x + 1
        return x * n

    captured = capture(f, (array(3), 0.75, 3.0), {})
    assert captured.requests == constants({"dt"})
    check = captured.guards.check
    assert check((array(3), 0.75, 4.0), {}) is not None
    assert check((array(3), 0.8, 3.0), {}) is None
    assert "dt: was 0.75, is 0.8" in captured.guards.why((array(3), 0.8, 3.0), {})


def test_constants_tell_signed_zeros_nans_and_types_apart():
    def f(x, dt):
        return x + 1 if dt != 5 else x

    x = array(3)
    assert hits(f, (x, 0.0), [(x, 0.0), (x, -0.0), (x, 0)]) == [True, False, False]
    assert hits(f, (x, float("nan")), [(x, float("nan")), (x, 1.0)]) == [True, False]


def test_the_value_of_an_int_is_guarded_where_it_is_used():
    def f(x, n):
        return x + [1, 2, 3, 4][n]

    assert hits(f, (array(3), 3), [(array(3), 3), (array(3), 2)]) == [True, False]


def test_comparisons_of_ints_are_guarded_as_relations():
    def f(x, n):
        return x[:n] if n < x.shape[0] else x

    captured = capture(f, (array(9), 4), {}, Terms(dynamic=True))
    assert [str(g) for g in captured.graph.guards] == ["n < x.0"]
    check = captured.guards.check
    assert [
        check((array(size), n), {}) is not None for size, n in [(20, 19), (20, 20), (2, 5)]
    ] == [
        True,
        False,
        False,
    ]


def test_containers_and_keywords():
    def f(state, *, scale):
        return state["a"][0] * scale

    x = array(3)
    captured = capture(f, ({"a": [x, 2.0]},), {"scale": 2.0})
    check = captured.guards.check
    assert check(({"a": [x, 5.0]},), {"scale": 3.0}) is not None
    assert check(({"a": (x, 2.0)},), {"scale": 2.0}) is None
    assert check(({"a": []},), {"scale": 2.0}) is None
    assert check(({"b": [x, 2.0]},), {"scale": 2.0}) is None
    assert check(({"a": [x, 2.0]}, 1.0), {}) is None
    assert "keywords ['scale']" in captured.guards.why(({"a": [x, 2.0]}, 1.0), {})


def outside(x):
    return helper(x) + sum(SIZES) + BIAS + len(FLAGS)


@pytest.mark.parametrize(
    "name, value, hit",
    [
        ("SCALE", 2.0, True),
        ("SCALE", 3.0, False),
        ("SCALE", np.float64(2), False),
        ("helper", other_helper, False),
        ("SIZES", [1, 2], True),
        ("SIZES", [1, 3], False),
        ("SIZES", (1, 2), False),
        ("SIZES", [1, 2.0], False),
        ("BIAS", np.zeros(3), True),
        ("BIAS", np.zeros(4), False),
        ("BIAS", 1.0, False),
        ("FLAGS", {1, 2}, True),
        ("FLAGS", {1, 3}, False),
        ("sum", max, False),
        ("np", None, True),
    ],
)
def test_globals(monkeypatch, name, value, hit):
    captured = capture(outside, (array(3),), {})
    monkeypatch.setitem(globals(), name, value)
    assert (captured.guards.check((array(3),), {}) is not None) == hit


def test_hidden_inputs_are_read_anew(monkeypatch):
    captured = capture(outside, (array(3),), {})
    monkeypatch.setitem(globals(), "BIAS", np.full(3, 9.0))
    assert (run_captured(captured, (array(3),), {}) == outside(array(3))).all()


def test_closures_defaults_and_missing_names(monkeypatch):
    level = 1.0

    def f(x, k=3.0):
        return x * level + k + SCALE

    captured = capture(f, (array(3),), {})
    assert captured.guards.check((array(3),), {}) is not None
    level = 2.0
    assert captured.guards.check((array(3),), {}) is None
    level = 1.0
    f.__defaults__ = (4.0,)
    assert captured.guards.check((array(3),), {}) is None
    f.__defaults__ = (3.0,)
    monkeypatch.delitem(globals(), "SCALE")
    assert captured.guards.check((array(3),), {}) is None
    assert "is not there any more (KeyError)" in captured.guards.why((array(3),), {})


def test_attributes(monkeypatch):
    captured = capture(Model.step, (Model(3), array(3)), {})

    def hit(model):
        return captured.guards.check((model, array(3)), {}) is not None

    assert hit(Model(3))
    assert not hit(Model(4))
    changed = Model(3)
    changed.dt = 0.25
    assert not hit(changed)
    assert "self.dt: was 0.5, is " in captured.guards.why((changed, array(3)), {})
    monkeypatch.setattr(Model, "gain", 4.0)
    assert not hit(Model(3))
    monkeypatch.setattr(Model, "gain", 3.0)
    assert hit(Model(3))
    monkeypatch.setattr(Model, "clipped", staticmethod(lambda x: x))
    assert not hit(Model(3))


def test_the_same_array_by_two_ways():
    def f(x):
        return x + BIAS

    captured = capture(f, (BIAS,), {})
    assert len(captured.inputs) == 1
    assert captured.guards.check((BIAS,), {}) is not None
    assert captured.guards.check((BIAS.copy(),), {}) is None


@pytest.mark.parametrize(
    "value, reason",
    [
        (
            np.ones((1, 1)).view(np.matrix),
            "x is a matrix, a subclass of arrays, which runs as plain NumPy",
        ),
        (np.ma.masked_array([1.0]), "x is a MaskedArray, a subclass of arrays, which runs as"),
        (np.array([None]), "x has dtype object, which runs as plain NumPy"),
        (unaligned(2), "x is not aligned in memory, which runs as plain NumPy"),
        (2**63, "x = 9223372036854775808 does not fit in 64 bits and cannot be captured"),
        ({object()}, "x holds objects, which runs as plain NumPy"),
    ],
)
def test_arguments_that_run_as_plain_numpy(value, reason):
    with pytest.raises(CaptureError) as caught:
        capture(lambda x: x, (value,), {})
    assert caught.value.text.startswith(reason)


# ------------------------------------------------------------------ relations


def relations(take):
    n, m = symbol("n", hint=8, lower=2), symbol("m", hint=8, lower=2)
    taken = {}
    with recording(taken):
        take(n, m)
    return [str(each) for each in strongest(taken)]


def test_the_strongest_bound_is_kept():
    def take(n, m):
        guard(n - 2, ">", 0)
        guard(n, ">=", 5)
        guard(2 * n, ">", 9)
        guard(n, "<", 20)
        guard(n - 3, "<=", 15)

    assert relations(take) == ["n >= 5", "n <= 18"]


def test_equal_symbols_share_their_bounds():
    def take(n, m):
        guard(n - 2, "==", m - 2)
        guard(m, ">=", 4)
        guard(n, ">=", 3)
        guard(n * m, "!=", 0)

    assert relations(take) == ["n == m", "m >= 4"]


def test_exclusions_move_bounds():
    def take(n, m):
        guard(n - 2, "!=", 1)
        guard(n, ">=", 3)
        guard(n, "!=", 4)
        guard(n, "!=", 30)

    assert relations(take) == ["n >= 5", "n != 30"]


def test_other_relations_stay():
    assert relations(lambda n, m: guard(n * m, ">", 10 * m)) == ["m*n <= 10*m"]


# ------------------------------------------------------------------ cost


def test_the_program_is_readable_and_short():
    captured = capture(add, (array(2, 3), array(2, 3)), {})
    assert len(captured.guards.source.splitlines()) == 10
    assert "# x is f64[2, 3] of this layout" in captured.guards.source


def test_the_log_says_what_was_and_what_is(caplog):
    """Of the compilation that fits best."""

    def scaled(x, n, mode="a"):
        return x * n if mode == "a" else x / n

    compiled = fxc.compile(scaled)
    with caplog.at_level("INFO", logger="fxc.recompiles"):
        for args in [(array(9), 3), (array(20), 3), (array(5).astype("f4"), 3), (array(7), 3, "b")]:
            compiled(*args)
        compiled(array(9)[::2], 3)
        compiled(array(9), 2.5)
    said = [text for text in caplog.messages if "compiled again" in text]
    assert [text.splitlines()[-1].partition(": ")[2] for text in said] == [
        "compiled again: x: shape was (9,), is (20,)",
        "x: dtype was float64, is float32",
        "the call: was with 2 positional arguments, is with 3 positional arguments",
        "the call: was with 3 positional arguments, is with 2 positional arguments",
        "n: was an int, 1 or more, is 2.5",
    ]
    assert "variant 2: x: strides were (8,), are (16,)\n" in said[3]
    made = [text for text in caplog.messages if "is made" in text]
    assert made[0].endswith("ms, for x: f64[9], n: py.int")
    assert made[1].endswith("ms, for x: f64[x.0], n: py.int with x.0 >= 2")
    assert len(made) == 6


@pytest.mark.parametrize("dynamic", [False, True])
def test_what_differs_of_an_array_is_said_in_words(dynamic):
    program = capture(add, (array(8), array(8)), {}, Terms(dynamic=dynamic)).guards
    frozen = array(8)
    frozen.flags.writeable = False
    said = {
        "x: had 1 dimension, has 2": array(2, 4),
        "x: strides were (8,), are (-8,)": array(8)[::-1],
        "x: was writeable, is read-only": frozen,
        "x: dtype was float64, is int64; was writeable, is read-only": None,
        "x: was an array, f64[8], is a list": [1.0],
        "x: was an array, f64[8], is 2.0": 2.0,
    }
    other = array(8).astype(int)
    other.flags.writeable = False
    for text, given in said.items():
        assert program.why((other if given is None else given, array(8)), {}) == text
    assert ("shape" in program.why((array(9), array(8)), {})) != dynamic


def test_of_what_was_broadcast_numpy_is_not_asked_with_a_warning():
    """It warns where somebody reads by name whether such an array can be written."""
    guards = capture(add, (array(2, 4), array(4)), {}, Terms(dynamic=False)).guards
    whole, spread = np.broadcast_arrays(array(2, 4), array(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert guards.why((whole, array(4)), {}) == ""
        assert guards.why((spread, array(4)), {}) == "x: strides were (32, 8), are (0, 8)"


def test_looking_for_what_differs_divides_by_zero_without_a_warning():
    """`np.pad` divides sizes of NumPy's by what is zero at size 1; no guard comes so far."""

    @fxc.compile
    def padded(x):
        return np.pad(x, 2, mode="reflect")

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for shape in [(14, 12), (15, 12), (1, 12)]:
            x = array(*shape)
            assert np.array_equal(padded(x), np.pad(x, 2, mode="reflect"))
    assert not seen


def test_of_a_function_that_is_another_one_it_is_said_which():
    def program(x, f):
        return f(x) + 1

    def first(x):
        return x * 2

    def second(x):
        return x * 3

    guards = capture(program, (array(8), first), {}).guards
    line = second.__code__.co_firstlineno
    assert guards.why((array(8), second), {}).endswith(
        f"is another function, {second.__qualname__} of test_guards.py:{line}"
    )


def test_what_later_stages_rely_on_is_a_guard_too():
    captured = capture(lambda x: x + 1, (array(8),), {}, Terms(dynamic=True))
    (size,) = captured.graph.inputs[0].type.shape
    taken = {}
    with recording(taken):
        assert guard(size - 2, "!=", 1)
    program = captured.guards.demanding(taken)
    assert captured.guards.check((array(3),), {}) is not None
    assert program.check((array(9),), {}) is not None
    assert program.check((array(3),), {}) is None
    assert "x.0 - 2 != 1" in program.why((array(3),), {})


def test_guards_do_not_make_what_a_defaultdict_has_not():
    def add(found, v):
        found[int(v)] += v

    expected, found = defaultdict(float), defaultdict(float)
    compiled = fxc.compile(add)
    for v in (0.5, 1.5, 1.25, 0.25, -1.5, 0.75, -1.25, 2.5, 1.75):
        add(expected, v)
        compiled(found, v)
    for v in (0.5, -0.5, 1.5):
        other, plain = defaultdict(float), defaultdict(float)
        compiled(other, v)
        add(plain, v)
        assert list(other.items()) == list(plain.items())
    assert list(found.items()) == list(expected.items())


def test_a_fact_is_checked_once():
    def step(model, x):
        model.w += x
        model.w *= 2
        model.w -= x

    class Held:
        def __init__(self):
            self.w = array(3)

    source = capture(step, (Held(), array(3)), {}).guards.source
    assert source.count("has its own w") == 1


def test_a_dict_that_has_grown_is_told_by_its_keys():
    def counted(x, seen):
        seen[len(seen)] = x.sum()

    guards = capture(counted, (array(3), {}), {}).guards
    assert "now a dict with 1 key" in guards.why((array(3), {"k": 1}), {})
    assert "now a dict with 2 keys" in guards.why((array(3), {"k": 1, "l": 2}), {})


@pytest.mark.parametrize("key", ["a{b}", "{0}", "{"])
def test_keys_with_braces(key):
    def chosen(x, found):
        return x * 2 if key in found else x + 1

    compiled = fxc.compile(chosen, fullgraph=True)
    for found in {"k": 1}, {key: 1}, {"k": 1}:
        assert np.array_equal(compiled(array(4), found), chosen(array(4), found))


@pytest.mark.parametrize("name", ["{w}", "class", "a b", "a\nb"])
def test_attributes_whose_names_are_no_identifiers(name):
    class Held:
        pass

    def scaled(x, held):
        inner = getattr(held, name)
        setattr(inner, name, getattr(inner, name) + 1)
        return x * getattr(inner, name) + inner.weights

    def made():
        held, inner = Held(), Held()
        setattr(held, name, inner)
        setattr(inner, name, 1.5)
        inner.weights = array(4)
        return held

    held, expected = made(), made()
    compiled = fxc.compile(scaled, fullgraph=True)
    for _ in range(3):
        assert np.array_equal(compiled(array(4), held), scaled(array(4), expected))
    assert getattr(getattr(held, name), name) == getattr(getattr(expected, name), name)


def _total(x, xs):
    for each in xs:
        x = x + each
    return x


def _total_held(x, held):
    return _total(x, held["xs"])


def _chosen(x, table):
    return x + table["k"] if "k" in table else x


def _chosen_held(x, held):
    return _chosen(x, held["xs"])


@pytest.mark.parametrize("program", [_total, _total_held])
def test_looking_for_what_has_changed_uses_up_no_iterator(program):
    compiled = fxc.compile(program)
    given = [{1, 2}, (k for k in (3, 4)), {1, 2, 3}, iter([1, 2]), map(float, [1, 2])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        held = [{"xs": each} for each in given] if program is _total_held else given
        assert [compiled(np.zeros(1), each)[0] for each in held] == [3, 7, 6, 3, 3]


@pytest.mark.parametrize("program", [_chosen, _chosen_held])
def test_looking_for_what_has_changed_gives_no_dict_a_key(program):
    compiled, found = fxc.compile(program), defaultdict(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        for table in ({"k": 1}, found, {"k": 3.0}, found, {"k": 2}):
            given = {"xs": table} if program is _chosen_held else table
            assert compiled(np.zeros(1), given)[0] == (table["k"] if table is not found else 0)
    assert not found


def test_a_class_in_place_of_an_array():
    """A class of numbers has a ``shape`` of its own, which is no tuple."""
    compiled = fxc.compile(lambda x, scale: x * 2 if scale is float else scale, fullgraph=True)
    for scale in (array(3), np.float64, array(4), np.float64, float):
        found, expected = compiled(array(4), scale), scale if scale is not float else array(4) * 2
        assert found is expected or np.array_equal(found, expected)


def test_what_is_compiled_in_a_capture_leaves_no_guards_there():
    def moment(x, order):
        orders = [order]
        while order > 2:
            order = (order - 1) / 2 if order % 2 else order / 2
            orders.append(order)
        s = x.copy() if orders[-1] == 1 else x**2
        for n in orders[-2::-1]:
            s = s**2
            if n % 2:
                s *= x
        return s

    taken: dict[Guard, None] = {}
    compiled = fxc.compile(moment, fullgraph=True)
    with recording(taken):
        for order in (3, 4, 5):
            x = np.linspace(1.0, 2.0, 5)
            assert np.array_equal(compiled(x, order), moment(x, order))
    assert not taken
