"""Functions of which a statement cannot be captured: split, with the rest of them compiled."""

import contextlib
import dataclasses
import gc
import itertools
import traceback
import weakref

import numpy as np
import pytest

import fxc
from fxc.calling.serving import Serving
from fxc.capture.staging.staging import stage
from tests.splitting import SEEN, alike, compared, outcome, unknown


def vector():
    return (np.linspace(0.0, 1.0, 40), 5)


def straight(u, n):
    v = u * 2 + n
    unknown(v)
    w = v * v - u
    u += w
    return w, v


def in_a_loop(u, n):
    v = np.zeros_like(u) + 1
    for k in range(n):
        w = u * 0.5 + k
        u += w * 0.25
        unknown(k)
        v += w * w
    return v - u


def in_a_branch(u, n):
    v = u * 2 + 1
    if n > 3:
        v += u * u
        unknown(v)
        v *= u + 3
    else:
        v = v - 1 + u
    return v * 3 + u


def early_return(u, n):
    v = u * u + 1
    if n > 100:
        return v * 2 + u
    unknown(v)
    for k in range(n):
        v = v * 0.5 + u
        if k == 3:
            return v, k
        unknown(k)
    return v + u * 2


def jumps(u, n):
    total = 0.0
    for k in range(n):
        v = u * k + 1
        if k == 1:
            continue
        unknown(k)
        total += v.sum() * 2
        if k == 3:
            break
    else:
        total = -1.0
    return total


def returns_to_finally(u, n):
    v, w = u * 0, u
    for k in range(2):
        try:
            w = u * 2 + n + k
            if w[0] < 9:
                v += w * k
                if k:
                    v = v * 2 + w
                    return w * v + 1
        finally:
            u += unknown(w * 0.5 + v)
    return w


def bound_again_behind_finally(u, n):
    f = 1
    for _ in range(3):
        try:
            for a in range(n, 0, -1):
                f = a * 2
        finally:
            unknown(u)
        yield u * n + 1
        f = 1
    return f


def with_handlers(u, n):
    state = "begin"
    try:
        v = u * 2 + n
        state = "computed"
        unknown(v)
        w = v.reshape(7, -1) * 2 + 1
        state = "reshaped"
    except ValueError as error:
        w = v + len(str(error)) * u
    finally:
        u += 1.0 * n
    return state, w, u * 2 + 1


def with_handlers_of_groups(u, n):
    v, w = u * 2 + n, u
    try:
        try:
            unknown(v)
            raise ExceptionGroup("both", [ValueError("a"), KeyError("b"), TypeError("c")])
        except* ValueError as group:
            v = v + len(group.exceptions) * u
        except* KeyError:
            w = v * 2 + u
    except ExceptionGroup as left:
        return v, w * 2 + 1, str(left)
    return None


def with_a_context(u, n):
    with np.errstate(all="ignore"):
        v = u / 0.0 + n
        unknown(v)
        w = v * 0 + u
    return w, v * 2 + u


def unbound(u, n):
    if n > 100:
        late = u * 2 + 1
    unknown(u)
    return late * 2 + u


def deleted(u, n):
    v = u * 2 + 1
    del n
    unknown(v)
    w = v * 3 + u
    return w * n  # noqa: F821


def deleted_at_last(u, n):
    v = u * 2 + n
    unknown(v)
    try:
        if u[0] > 100:
            return u
    finally:
        del v
    return u * missing, (v * u).sum()  # noqa: F821


def bound_where_nothing_is_raised(u, n):
    with contextlib.suppress(IndexError):
        v = u[n + 100] * 2
    unknown(u)
    w = print(n) or u * 3
    return w + v


def sharing(u, n):
    count = 0

    def more(x):
        nonlocal count
        count += 1
        return x * count + n

    v = more(u) + 1
    unknown(v)
    v = more(v) * 2 + u
    return v, count


def steady_closure(u, n):
    scale = u.sum() + n

    def g(x, factor=2):
        return x * scale * factor

    h = lambda x: g(x) + n  # noqa: E731
    v = h(u) * 2 + 1
    unknown(v)
    return g(v) + h(u), unknown(3)


def generator(u, n):
    v = u * 2 + 1
    for k in range(n):
        v = v * 0.5 + u * k
        got = yield v.copy()
        v += 1.0 if got is None else got * 2 + 1
    yield v.sum() * 2 + 1


def delegating(u, n):
    w = u * 3 + 1
    yield from generator(w, n)
    w = w * 2 - u
    return w


def of_items(u, n):
    found = []
    table = {}
    for k in range(n):
        v = u * k + 1
        found.append(v.sum() * 2)
        unknown(k)
        table[k] = v * 2 - u
    return found, table


def with_match(u, n):
    match n:
        case 5:
            v = u * 2 + 1
            unknown(v)
            w = v * v + u
        case _:
            w = u
    return w * 2 + 1


def raises_behind(u, n):
    v = u * 2 + n
    u += v * 2
    unknown(v)
    u *= v + 1
    return np.ones((3, 4)) @ u + v


def several_unknown(u, n):
    a = u * 2 + 1
    unknown(a)
    b = a * a + u
    unknown(b)
    c = b * a - u
    unknown(c)
    u += c * 2
    return a, b, c


def views(u, n):
    left, right = u[: u.size // 2], u[u.size // 2 :]
    left += right * 2
    unknown(u)
    right -= left * 3
    view = u[::2]
    unknown(u)
    view *= 2.0 + n
    return left, view * 1


def all_variables(u, n):
    v = u * 2 + 1
    unknown(v)
    w = v * v + n
    return sorted(locals()), w * 2 + 1


def walrus(u, n):
    if (m := n * 2 + 1) > 3:
        u = u * m + 1
    unknown(m)
    return u * m + 1, m


def _shift(x, n):
    y = x * 2 + n
    unknown(y)
    return y * y - x


def in_a_helper(u, n):
    v = u * 3 + 1
    w = _shift(v, n)
    return w * 2 + v


NO_PARTS = (unbound, bound_where_nothing_is_raised, sharing, all_variables)
PROGRAMS = [
    straight,
    in_a_loop,
    in_a_branch,
    early_return,
    jumps,
    returns_to_finally,
    bound_again_behind_finally,
    with_handlers,
    with_handlers_of_groups,
    with_a_context,
    unbound,
    deleted,
    deleted_at_last,
    bound_where_nothing_is_raised,
    sharing,
    steady_closure,
    generator,
    delegating,
    of_items,
    with_match,
    raises_behind,
    several_unknown,
    views,
    all_variables,
    walrus,
    in_a_helper,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("n", [5, 2, 101])
def test_a_split_function_does_what_python_does(program, n):
    # Without the statement, or with what is read before it is bound, nothing is left to a part.
    whole = n != 5 and program in (in_a_branch, with_match, early_return)
    compared(
        program, lambda: (np.linspace(0.0, 1.0, 40), n), 4, program not in NO_PARTS and not whole
    )


def by_a_condition(u, n):
    kept = [unknown(n), (late := u + n) if n > 3 else 1.0]
    SEEN.append(kept)
    return u * late


def by_an_operator(u, n):
    kept = (unknown(n), n > 3 and (late := u + n) is not None)
    SEEN.append(kept)
    return u * late


def by_a_chain(u, n):
    kept = (unknown(n), 3 < n < (late := n + 5))
    SEEN.append(kept)
    return u * late


def by_items(u, n):
    kept = (unknown(n), [late := u + k for k in range(n - 3)])
    SEEN.append(kept)
    return u * late


def in_a_finally(u, n):
    try:
        kept = unknown(n)
    finally:
        if n > 3:
            late = u + n
    SEEN.append(kept)
    return u * late


def by_an_annotation(u, n):
    late: float
    kept = unknown(n)
    if n > 3:
        late = u + n
    SEEN.append(kept)
    return u * late


BOUND_PERHAPS = [
    by_a_condition,
    by_an_operator,
    by_a_chain,
    by_items,
    in_a_finally,
    by_an_annotation,
]


@pytest.mark.parametrize("program", BOUND_PERHAPS, ids=lambda each: each.__name__)
def test_what_a_statement_may_bind_is_missed_where_it_is_read(program):
    """The error came before the effect of the statement that goes before the read."""
    compiled = fxc.compile(program)
    for n in (5, 2, 5, 2, 3):
        args = np.linspace(0.0, 1.0, 40), n
        alike(outcome(program, *args), outcome(compiled, *args))


def test_a_body_in_a_python_loop_is_compiled_once():
    compiled = compared(in_a_loop, lambda: (np.linspace(0.0, 1.0, 40_000), 300))
    info = compiled.cache_info()
    assert info.variants == info.parts
    assert info.part_calls >= 4 * 2 * 299


@pytest.mark.usefixtures("as_users")
def test_a_part_that_does_not_pay_is_left_to_python(monkeypatch):
    monkeypatch.setattr(fxc.compilations.trials, "_HARDLY", 0.0)  # whatever the clock says

    def f(n):
        for k in range(n):
            m = k * 2 + 1
            unknown(m)
        return m

    compiled = fxc.compile(f)
    for _ in range(3):
        assert compiled(50) == f(50)
    trials = fxc.compilations.trials
    assert compiled.cache_info().part_calls <= trials.SETTLED + trials.CLOSE_CALLS + 1
    assert "__fxc_part" not in compiled.inspect(50).driver


def test_parts_keep_their_code_when_the_driver_is_written_again():
    compiled = compared(several_unknown, vector, calls=6)
    info = compiled.cache_info()
    assert info.variants == info.parts


def test_a_refusal_is_remembered_by_what_it_depended_on():
    def f(u, debug):
        if debug:
            unknown(u)
        return u * 2 + 1

    compiled = fxc.compile(f)
    for debug in (True, True, False, True, False, False):
        alike(f(np.ones(3), debug), compiled(np.ones(3), debug))
    info = compiled.cache_info()
    assert (info.native_calls, info.eager_calls) == (3, 3)


def test_the_warning_names_the_statement_and_what_is_compiled():
    compiled = fxc.compile(straight)
    with pytest.warns(fxc.CaptureWarning, match="straight: 1 of 5 statements run") as caught:
        compiled(*vector())
    (warning,) = caught
    assert "unknown(v)" in str(warning.message)
    assert warning.filename == __file__


def test_fullgraph_raises_instead():
    with pytest.raises(fxc.CaptureError):
        fxc.compile(straight, fullgraph=True)(*vector())


def test_methods_and_their_private_names():
    class Model:
        def __init__(self):
            self.__u = np.linspace(0.0, 1.0, 8)
            self.steps = 0

        @fxc.compile
        def step(self, n):
            self.__u += self.__u * n + 1
            unknown(self.__u)
            self.steps += 1
            return self.__twice() + self.__u * 3

        def __twice(self):
            return self.__u * 2

    class Better(Model):
        @fxc.compile
        def step(self, n):
            v = super().step(n) * 2 + 1
            unknown(v)
            return v * v + 1

    for kind in (Model, Better):
        one, other = kind(), kind()
        for n in range(1, 5):
            plain = getattr(kind.step, "__fxc_original__", None)
            alike(plain(one, n), other.step(n))
        alike(one._Model__u, other._Model__u)
        assert one.steps == other.steps


def test_variables_of_enclosing_functions():
    factor, count = np.arange(4.0), 0

    def f(u):
        nonlocal count, factor
        v = u * factor + 1
        count += 1
        unknown(v)
        factor = factor + v * 2
        return v * count + factor

    compiled = fxc.compile(f)
    for _ in range(4):
        factor, count = np.arange(4.0), 0
        expected = (f(np.ones(4)), factor, count)
        factor, count = np.arange(4.0), 0
        alike(expected, (compiled(np.ones(4)), factor, count))


def test_arguments_of_every_kind():
    def f(a, /, b, *rest, c=2.0, **named):
        v = a * b + c
        unknown(v)
        return v * 2 + sum(rest) + named["d"] * 3

    compiled = fxc.compile(f)
    for _ in range(3):
        args, named = (np.ones(3), 2.0, 3, 4.5), {"d": np.arange(3.0)}
        alike(f(*args, **named), compiled(*args, **named))
    with pytest.raises(TypeError, match="missing"):
        compiled()


def test_an_argument_that_no_graph_takes_is_left_to_python():
    def f(table, u):
        v = u * 2 + 1
        name = table["name"][0]
        return v * v + u, name

    table = np.array([(b"a", 1)], dtype=[("name", "S1"), ("n", "i4")])
    compiled = fxc.compile(f)
    for _ in range(3):
        alike(f(table, np.arange(3.0)), compiled(table, np.arange(3.0)))
    assert compiled.cache_info().part_calls >= 3


class Draws:
    def __init__(self):
        self.numbers, self.place = memoryview(bytearray(range(16))), 0

    def draw(self):
        drawn = self.numbers[self.place]
        self.numbers[self.place] = (drawn * 5 + 3) % 256
        self.place = 0 if self.place == 15 else self.place + 1
        return drawn / 256.0


def test_a_part_that_is_refused_takes_turns_in_a_loop_that_runs(monkeypatch):
    def count(draws, n):
        under = 0
        for _ in range(n):
            x = draws.draw()
            y = draws.draw()
            if x * x + y * y <= 1.0:
                under += 1
        return under

    misses = []
    missed = Serving._miss
    monkeypatch.setattr(
        Serving, "_miss", lambda self, *given: misses.append(self) or missed(self, *given)
    )
    expected = count(Draws(), 600)
    monkeypatch.setattr(Draws, "draw", fxc.compile(Draws.draw))
    assert fxc.compile(count)(Draws(), 600) == expected
    assert len(misses) < 100


def test_an_exception_shows_the_users_lines():
    compiled = fxc.compile(raises_behind)
    for _ in range(3):
        with pytest.raises(ValueError, match="matmul") as caught:
            compiled(*vector())
        lines = traceback.extract_tb(caught.value.__traceback__)
        assert lines[-1].filename == __file__
        assert lines[-1].name == "raises_behind"
        assert "@ u" in lines[-1].line


def test_nothing_keeps_arrays_alive():
    compiled = fxc.compile(straight)
    gc.disable()
    try:
        for _ in range(3):
            u = np.linspace(0.0, 1.0, 40)
            known = weakref.ref(u)
            compiled(u, 3)
            del u
            assert known() is None
    finally:
        gc.enable()


def test_a_generator_in_python_between_parts():
    plain, compiled = generator, fxc.compile(generator)
    for _ in range(3):
        one, other = plain(np.arange(4.0), 4), compiled(np.arange(4.0), 4)
        alike(next(one), next(other))
        alike(one.send(np.float64(2.0)), other.send(np.float64(2.0)))
        alike(one.send(3), other.send(3))
        for iterator in (one, other):
            with pytest.raises(KeyError):
                iterator.throw(KeyError("x"))
            assert list(iterator) == []


def test_sizes_and_kinds_that_change():
    compiled = fxc.compile(in_a_loop)
    for size, kind in itertools.product((4, 5, 6, 40), (np.float64, np.float32)):
        one, other = (np.linspace(0, 1, size).astype(kind) for _ in range(2))
        alike(outcome(in_a_loop, one, 4), outcome(compiled, other, 4))
    assert compiled.cache_info().variants <= 4 * compiled.cache_info().parts


def test_inspect_shows_driver_and_parts():
    compiled = fxc.compile(straight)
    compiled(*vector())
    shown = compiled.inspect(*vector())
    assert len(shown.parts) == 2
    assert "unknown(v)" in shown.driver
    assert "multiply" in str(shown.parts[0].functional)


def test_the_key_by_which_a_list_is_sorted_is_called_once():
    def sorts(u, kept):
        kept.append(u.sum() * 2)
        kept.sort(key=unknown)
        return u * 2 + kept[0]

    def make():
        return np.linspace(0.0, 1.0, 40), [3.0, -50.0]

    compared(sorts, make, parts=0)


def steps(u, n, raises):
    for k in range(n):
        w = np.sqrt(u * u + 1.0)
        unknown(k)
        u[1:] += 0.1 * (u[1:] - u[:-1]) / w[1:]
        if k == raises:
            u /= w[:-1]
    return u.sum()


def test_a_driver_calls_the_native_function_of_a_part(monkeypatch):
    monkeypatch.setattr(fxc.compilations.variants, "OFTEN", 60)
    x = np.linspace(0, 9, 3000)
    compiled = compared(steps, lambda: (x.copy(), 40, -1))
    driver = compiled._state.split.driver.function

    def called():
        own = zip(driver.__code__.co_freevars, driver.__closure__, strict=True)
        found = {name: cell.cell_contents for name, cell in own if name.startswith("__fxc_part")}
        return {type(each).__name__ for each in found.values()}

    assert called() == {"builtin_function_or_method"}
    for u in (x, x[:5], x.astype(np.float32), np.ones((3, 2)), x[:0]):
        for n, raises in ((30, -1), (30, 7), (3, 2)):
            alike(outcome(steps, *_copied(u, n, raises)), outcome(compiled, *_copied(u, n, raises)))
    for part in compiled._state.split.parts.values():
        part.cache_clear()
    assert called() <= {"Part", "method"}
    alike(outcome(steps, x.copy(), 9, -1), outcome(compiled, x.copy(), 9, -1))


def _copied(u, *others):
    return u.copy(), *others


@dataclasses.dataclass
class Named:
    name: str


def by_text(u, name):
    v = u * 2 + 1
    codes = np.frombuffer(name.encode(), dtype=np.uint8).copy()
    codes[codes > 49] -= 1
    return v.sum(), codes * 3 - codes.min()


def by_attribute(u, owner):
    u *= 2
    tag = int(owner.name) * 3
    v = u + 1
    return v * v, tag


def by_function(u, name):
    steps = [lambda t, k=k: t + k for k in range(3)]
    unknown(u)
    v = u * 2 + 1
    made = tuple(step(int(name)) for step in steps)
    return made, v - u


def by_two(u, name):
    v = u * 2 + 1
    other = name[::-1]
    both = {"n": name.encode()[0] + other.encode()[0], "k": len(other.encode() + name.encode())}
    return v.sum() * both["n"], both["k"], v - u


@pytest.mark.parametrize("fn", [by_text, by_attribute, by_function, by_two])
def test_values_that_vary_and_are_constants_are_left_to_python(fn):
    count = itertools.count(1000)

    def make():
        name = str(next(count) // 2)
        return np.linspace(0.0, 1.0, 40), Named(name) if fn is by_attribute else name

    compiled = compared(fn, make, calls=22)
    before = compiled.cache_info()
    for _ in range(4):
        compiled(*make())
    assert compiled.cache_info().variants == before.variants
    assert compiled.cache_info().part_calls > before.part_calls


def test_where_captures_are_dear_there_are_two_with_values_that_vary(monkeypatch):
    monkeypatch.setattr(fxc.compilations.decisions, "_DEAR", 0.0)
    count = itertools.count()
    compiled = compared(
        by_text, lambda: (np.linspace(0.0, 1.0, 40), str(next(count) // 2)), calls=5
    )
    (captures,) = compiled._state.captures.values()
    assert captures.count == 2
    floats = fxc.compile(lambda x, a: x * a)  # what is an input from then on is no such value
    for k in range(5):
        assert floats(np.ones(3), k + 0.5).tolist() == [k + 0.5] * 3
    assert floats.cache_info().eager_calls == 0


def test_a_statement_refused_for_other_values_is_no_reason_for_more_cuts():
    def by_values(u, name):
        v = u * 2 + len(name.encode())
        v -= v.mean()
        unknown(v)
        return v * v - u

    compiled = fxc.compile(by_values)
    for k in range(4):
        compiled(np.linspace(0.0, 1.0, 40), "n" * k)
    assert compiled._state.split.cuts.borders == set()


def with_iterator(u, n):
    v = np.sqrt(u * u + 1)
    w = v.mean() + u
    pairs = enumerate(u[:3], n)
    return [(unknown(a) * 2, b) for a, b in pairs], w - v


def with_keys(u, table):
    unknown(u)
    v = u * 2 + 1
    return v - v.mean(), len(table), sorted(table)


def with_own_names(u, text):
    v = u * u + 1
    w = eval(text, {"np": np, "u": u})
    z = v * w - v.mean()
    return z, dir(z)[0], sorted(vars(Named(text)))


@pytest.mark.parametrize("fn", [with_iterator, with_keys, with_own_names])
def test_what_makes_no_part_a_constant_or_small(fn):
    count = itertools.count(100)

    def make():
        k = next(count) // 2
        others = {with_iterator: k, with_keys: {str(k): 1}, with_own_names: "np.cos(u)"}
        return np.linspace(0.0, 1.0, 40), others[fn]

    compiled = compared(fn, make, calls=12)
    assert compiled._state.split.cuts.borders == set() or fn is with_iterator
    assert "__fxc_part1__(" in compiled._state.split.driver.text


def test_the_source_of_a_part_outlives_that_of_an_equal_one():
    args = np.linspace(0.0, 1.0, 40), 5
    first, second = fxc.compile(straight), fxc.compile(straight)
    first(*args)
    second(*args)
    del first
    gc.collect()
    parts = second._state.split.parts.values()
    assert parts
    assert all(stage(part.source.function) for part in parts)


def written_before_an_error(u, v):
    w = v * 2
    try:
        with np.errstate(divide="raise"):
            v[:] = v / (u - u)
            v[:] = 8
    except FloatingPointError as error:
        return str(error), w
    return 5, w


def overwritten_under_warnings(u, v):
    with np.errstate(divide="warn"):
        v[:] = v * u + 1
        v[:] = v * u
    return v


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_python_runs_what_may_raise_for_floats() -> None:
    """Nobody reads the quotient; it raises before the array is written."""
    compared(written_before_an_error, lambda: (np.ones(1), np.ones((1, 2))), parts=0)
    compared(overwritten_under_warnings, lambda: (np.ones(3), np.ones(3)))
