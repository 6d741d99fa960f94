"""Effects on Python objects: each happens once per call, in order, or the call is plain NumPy."""

import collections
import dataclasses
import functools
import importlib
import operator
import warnings
from typing import Any

import numpy as np
import pytest

import fxc
import fxc.compilations.decisions
from tests.outcomes import difference, run
from tests.worlds import World, compare, seen


def array() -> np.ndarray:
    return np.arange(1.0, 7.0)


class Sim:
    scale = 2.0
    shared: Any

    def __init__(self) -> None:
        self.u = array()
        self.t = 0.0
        self.n = 0
        self.history: list[Any] = []
        self.cache: dict[str, Any] = {}
        self.seen: set[Any] = set()

    def step(self, x):
        self.n += 1
        self.t += 0.5
        self.u += x
        self.history.append(self.u.copy())
        return self.u.sum()

    def replace(self, x):
        self.u = self.u + x
        return self.u[0]

    def reads_after_stores(self, x):
        self.n += 1
        self.t = self.t * 2 + self.n
        return x * self.n + self.t

    def caches(self, x):
        self.cache["u"] = x * 2
        self.cache["sum"] = self.cache["u"].sum()
        return self.cache["u"]

    @property
    def time(self):
        return self.t

    @time.setter
    def time(self, value):
        self.t = value
        self.n += 1

    @functools.cached_property
    def mesh(self):
        self.n += 100
        return np.linspace(0.0, 1.0, 6)


def on_sim(function: Any, calls: int = 4) -> Any:
    """A world in which a function is called with a Sim and an array."""

    def make() -> World:
        kind = type("Mine", (Sim,), {"shared": np.zeros(3)})
        sim = kind()
        watched = lambda: (vars(sim), kind.shared)  # noqa: E731
        return World(function, [(sim, array()) for _ in range(calls)], watched)

    return make


# ------------------------------------------------------------------ attributes


@pytest.mark.parametrize("method", ["step", "replace", "reads_after_stores", "caches"])
def test_methods_that_change_their_object(method):
    def make() -> World:
        sim = Sim()
        return World(getattr(sim, method), [(array(),)] * 5, lambda: vars(sim))

    assert compare(make).variants == 1


def new_attribute(sim, x):
    sim.fresh = x * 2
    sim.pair = (sim.fresh, x)
    return sim.fresh


def deletes(sim, x):
    sim.extra = 1
    del sim.extra
    sim.kept = 2
    return x + sim.kept


def through_a_property(sim, x):
    sim.time = sim.time + 1
    return x * sim.time


def one_array_twice(sim, x):
    sim.a = sim.b = x + 1
    sim.a[0] = 7
    return sim.b


def array_then_changed(sim, x):
    y = x * 2
    sim.history.append(y)
    y += 1
    x[0] = 5
    sim.history.append(x)


def stores_many_times(sim, x):
    for k in range(10):
        sim.t = sim.t + k
        sim.cache["t"] = sim.t
    return x


def by_setattr(sim, x):
    setattr(sim, "a" + "b", x + getattr(sim, "n", 0))
    delattr(sim, "scratch") if hasattr(sim, "scratch") else setattr(sim, "scratch", x)
    return hasattr(sim, "ab"), hasattr(sim, "never")


def lazily_made(sim, x):
    if not hasattr(sim, "_buffer"):
        sim._buffer = np.zeros(6)
    sim._buffer += x
    return sim._buffer.sum()


def cached(sim, x):
    return sim.mesh + x


def class_attribute(sim, x):
    sim.scale *= 3
    sim.shared += 1
    return sim.shared * sim.scale


def types_change(sim, x):
    sim.t = sim.t + x.sum()
    sim.n = sim.n + 0.5
    return sim.t


def returns_itself(sim, x):
    sim.u[0] = 9.0
    return sim, [sim], sim.history


@pytest.mark.parametrize(
    "function",
    [
        new_attribute,
        deletes,
        through_a_property,
        one_array_twice,
        array_then_changed,
        stores_many_times,
        by_setattr,
        lazily_made,
        cached,
        class_attribute,
        types_change,
        returns_itself,
    ],
)
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_stores_to_attributes(function, dynamic):
    compare(on_sim(function), dynamic=dynamic)


class Counts:
    calls, best, last = 0, None, 0.5

    def __init__(self, k):
        self.k = k

    def scaled(self, v):
        Counts.calls += 1
        return self.k * v

    def twice(self, v):
        type(self).calls += 2
        return self.scaled(v)

    @classmethod
    def counted(cls, by):
        cls.calls += by
        return cls.calls


class Inherits(Counts):
    own = 3


def counts_calls(x):
    Counts.calls += 1
    Counts.last = x * Counts.calls
    Counts.last += 1
    return Counts.last, Inherits.calls


def counts_in_a_loop(x):
    made, total, Counts.best = Counts(2.0), 0.0, None
    for v in x:
        total += made.scaled(v) + made.twice(v)
        if Counts.best is None or v < Counts.best:
            Counts.best = v
    return total, Counts.counted(3), getattr(Counts, "best")  # noqa: B009


def counts_by_condition(x):
    before = Counts.calls
    if x[0] > 0:
        setattr(Counts, "calls", Counts.calls + int(x.sum()))  # noqa: B010
    return before, Counts.calls


def counts_and_raises(x):
    Counts.calls += 1
    raise ValueError(Counts.calls)


def counts_and_asks_an_object(x):
    Counts.calls += 1
    return Counts(1.0).calls, Inherits(x).calls


def asks_an_object_and_counts(x):
    made = Inherits(x)
    before = made.calls
    Counts.calls += 1
    return before, made.calls, Inherits.calls


def counts_for_a_class_that_inherits(x):
    Inherits.calls = Counts.calls + 2
    return Inherits.calls, Counts.calls


def stores_a_function(x):
    Counts.best = lambda self: self.k
    return Counts(x).best()


def asks_for_all(x):
    Counts.calls += 1
    return Counts.__dict__["calls"]


def takes_away(x):
    Counts.calls = 7
    del Counts.calls
    return hasattr(Counts, "calls")


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    ("function", "is_whole"),
    [
        *((each, True) for each in (counts_calls, counts_in_a_loop, counts_by_condition)),
        *((each, False) for each in (counts_and_raises, counts_and_asks_an_object)),
        *((each, False) for each in (asks_an_object_and_counts, stores_a_function, asks_for_all)),
        *((each, False) for each in (counts_for_a_class_that_inherits, takes_away)),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_stores_to_classes(function, is_whole):
    def outcomes(called):
        Counts.calls, Counts.best, Counts.last = 0, None, 0.5
        if "calls" in vars(Inherits):
            del Inherits.calls
        for n in (6, 30, 7):
            found = run(called, (np.arange(1.0, n),))
            last = found.result[0] is Counts.last if type(found.result) is tuple else None
            calls = vars(Counts).get("calls", 0)
            yield found, (calls, Counts.last, last)
            Counts.calls = calls + n

    compiled = fxc.compile(function)
    for mine, plain in zip([*outcomes(compiled)], [*outcomes(function)], strict=True):
        assert not difference(plain[0], mine[0])
        assert repr(plain[1]) == repr(mine[1])
    assert not is_whole or compiled.cache_info().eager_calls == 0


def test_a_counter_compiles_once():
    info = compare(on_sim(Sim.step, 20))
    assert (info.variants, info.native_calls) == (1, 20)


def test_numbers_that_others_change_are_compiled_twice_at_most():
    sim = Sim()
    scaled = fxc.compile(fullgraph=True)(lambda x: x * sim.t + sim.n)
    for k in range(8):
        sim.t, sim.n = k / 4, k * 3
        assert (scaled(array()) == array() * (k / 4) + k * 3).all()
    assert scaled.cache_info().variants == 2


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 1.0
    trail: list[Any] = dataclasses.field(default_factory=list)

    def move(self, dx):
        self.x = self.x + dx
        self.trail.append(self.x)
        return self


@dataclasses.dataclass(slots=True)
class Slotted:
    x: Any
    y: Any = None


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: Any
    y: Any = 2.0


def test_dataclasses_are_changed_and_returned_as_themselves():
    def make() -> World:
        point, slotted = Point(array()), Slotted(array())

        def f(point, slotted):
            slotted.y = slotted.x + 1
            slotted.x += 1
            return point.move(1.0), slotted

        return World(f, [(point, slotted)] * 3)

    compare(make)


def test_a_frozen_dataclass_refuses_as_python_does():
    def f(point):
        point.x = 1

    compare(lambda: World(f, [(Frozen(array()),)]), eager=1)


def test_objects_made_inside_leave_with_what_they_hold():
    def f(sim, x):
        point = Point(x + 1)
        point.extra = x
        sim.points = [point, point, Frozen(x), Slotted(x)]
        sim.made = Sim()
        sim.made.u += 1
        return point, sim.made

    compare(on_sim(f))


def test_objects_are_told_apart():
    def f(a, b, x):
        a.n += 1
        b.n += 10
        return x * a.n

    def make() -> World:
        a, b = Sim(), Sim()
        return World(f, [(a, b, array()), (a, a, array()), (b, a, array()), (b, b, array())])

    assert compare(make).variants == 2


# ------------------------------------------------------------------ lists


def appends(items, x):
    items.append(x + 1)
    items.append(x)
    items.extend([1, 2.5])
    items += ["a"]


def counts(items, x):
    items[0] += 1
    items[1] -= x[0]
    return x * items[0]


def last(items, x):
    before = items[-1]
    items.append(before + x)
    return items[-1] * items[-2]


def rearranges(items, x):
    items.insert(1, x)
    items.pop()
    items.reverse()
    del items[0]
    items[0:1] = [x, x + 1, 5]
    return len(items), items.pop(0)


def removes(items, x):
    items.remove(3)
    items.sort()
    items *= 2
    return items[0] * x, list(items)


def clears(items, x):
    items.clear()
    items.append(x)
    return len(items), items[0]


def long(items, x):
    items.append(x)
    if len(items) > 2 and items:
        return x * len(items)
    return x


def nested(items, x):
    inner = [x]
    items.append(inner)
    inner.append(x * 2)
    items.append((inner, {"a": inner}))
    return inner


@pytest.mark.parametrize(
    "function, start, variants",
    [
        (appends, [], 1),
        (counts, [0, 1.0], 2),
        (last, [np.ones(6)], 1),
        (rearranges, [1, 2, 3, 4], 5),
        (removes, [5, 3, 4, 3, 3, 3, 3], None),
        (clears, [1], 2),
        (long, [], 2),
        (nested, [], 1),
    ],
)
def test_lists(function, start, variants):
    def make() -> World:
        items = list(start)
        return World(function, [(items, array())] * 5, lambda: items)

    info = compare(make)
    assert variants is None or info.variants <= variants


def settles(history, v, n):
    stall = 0
    for _ in range(n):
        v *= 0.5
        history.append(v)
        if len(history) > 1 and abs(history[-1] - history[-2]) < 1e-3:
            stall += 1
            if stall == 3:
                break
    return history, np.mean(history[-3:])


def begins_by_a_look(history, v, n):
    for _ in range(n):
        v = 0.5 * v + (history[-1] if history else 1.0)
        history.append(v)
    return len(history), sum(history)


def forgets(history, v, n):
    for k in range(n):
        history.append(k * v)
        if len(history) > 4:
            history.clear()


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("function", [settles, begins_by_a_look, forgets])
def test_lists_that_loops_append_to_and_look_at(function):
    compiled = fxc.compile(function)
    for given in ([], [2.0], [3.0, 1.5], [0.5] * 20):
        ours, theirs = (list(given), 8.0, 90), (list(given), 8.0, 90)
        assert difference(run(function, ours), run(compiled, theirs)) == ""
    if function is not forgets:
        for given in ([], [2.0]):
            fxc.compile(function, fullgraph=True)(given, 8.0, 3000)


def test_lists_are_told_apart():
    def f(a, b, x):
        a.append(x)
        return len(b)

    def make() -> World:
        a: list[Any] = []
        b: list[Any] = []
        return World(f, [(a, b, array()), (a, a, array()), (b, a, array())], lambda: (a, b))

    compare(make)


def test_an_element_out_of_range():
    def f(items, x):
        items.append(x)
        return items[5]

    def make() -> World:
        items: list[Any] = []
        return World(f, [(items, array())] * 7, lambda: items)

    compare(make, eager=5)


# ------------------------------------------------------------------ dicts and sets


def stores_items(table, x):
    table["u"] = x * 2
    table["n"] = table.get("n", 0) + 1
    table.setdefault("log", []).append(x)
    table.update(a=1, b=x)
    return table["u"] + table["n"]


def deletes_items(table, x):
    table["z"] = x
    del table["z"]
    table["z"] = 1
    return table.pop("z"), table.pop("y", None), "z" in table


def order_of_items(table, x):
    table["b"] = x
    del table["a"]
    table["a"] = x + 1
    return list(table), [v * 2 for v in table.values()]


def clears_items(table, x):
    table.clear()
    table[1, 2] = x
    table |= {3: 4}
    return dict(table), table.pop(3)


@pytest.mark.parametrize("kind", [dict, collections.OrderedDict])
@pytest.mark.parametrize("function", [stores_items, deletes_items, order_of_items, clears_items])
def test_dicts(function, kind):
    def make() -> World:
        table = kind(a=array(), b=2)
        return World(function, [(table, array())] * 3, lambda: table)

    compare(make)


def test_a_defaultdict_makes_what_is_missing():
    def f(table, x):
        table["log"].append(x)
        table["log"].append(len(table["log"]))
        return table["log"][0]

    def make() -> World:
        table: Any = collections.defaultdict(list)
        return World(f, [(table, array())] * 3, lambda: table)

    compare(make)


def test_ordered_dicts_move_items_and_give_the_first():
    def cached(d, key, x):
        if key in d:
            d.move_to_end(key)
            return d[key]
        d[key] = x * key
        if len(d) > 2:
            d.popitem(last=False)
        return d[key], len(d)

    def emptied(d, key, x):
        d.move_to_end(2)
        d[7] = x
        return d.popitem(last=False), d.popitem(), d.popitem(True), len(d), d.popitem()

    def start(kind):
        return kind({2: np.ones(2), 3: np.zeros(2)})

    for fn in (cached, emptied):
        compiled = fxc.compile(fn, fullgraph=True)
        for kind in (collections.OrderedDict, dict):  # a dict has no such methods
            expected, got = start(kind), start(kind)
            for key in (2, 5, 2, 3, 5):
                wanted = run(fn, (expected, key, array()))
                assert difference(wanted, run(compiled, (got, key, array()))) == ""
                assert repr(got) == repr(expected)


def test_sets():
    def f(items, x):
        items.add("a")
        items.add(3)
        items.discard(4)
        items.discard(99)
        items |= {1, 2}
        return x * 2 if 7 in items else x, 3 in items, len(items)

    def make() -> World:
        items = {4, 7}
        return World(f, [(items, array())] * 3, lambda: items)

    compare(make)


# ------------------------------------------------------------------ names

COUNT = 0
LOG: list[Any] = []
TABLE = {"n": 0}


def test_defaults_and_closures_hold_containers():
    def make() -> World:
        counter = [0]
        weights = np.zeros(6)

        def f(x, log=[], table={}):  # noqa: B006 (it is what is tested)
            counter[0] += 1
            weights[...] += x
            log.append(counter[0])
            table["w"] = weights
            return x * counter[0]

        return World(f, [(array(),)] * 4, lambda: (counter, weights, f.__defaults__))

    compare(make)


def test_function_attributes():
    def make() -> World:
        def f(x):
            f.calls = getattr(f, "calls", 0) + 1
            return x * f.calls

        return World(f, [(array(),)] * 4, lambda: vars(f))

    assert compare(make).variants == 2


# ------------------------------------------------------------------ once per call, or not at all


def test_what_raises_while_capturing_is_done_once():
    def f(sim, x):
        sim.n += 1
        sim.history.append(x)
        return x.reshape(4)

    compare(on_sim(f), eager=4)


def test_what_raises_in_native_code_is_done_once():
    def f(sim, x):
        sim.n += 1
        sim.history.append(1)
        power = x ** sim.u[:3]
        sim.n += 10
        return power

    def make() -> World:
        sim = Sim()
        sim.u = np.array([1, 2, 3])
        bad = np.array([-1, 2, 3])

        def spoil():
            sim.u = bad

        x = np.array([1, 2, 3])
        return World(f, [(sim, x), spoil, (sim, x), (sim, x)], lambda: vars(sim))

    info = compare(make, eager=2)
    assert info.native_calls == 1


def test_what_is_refused_is_done_once():
    calls: list[int] = []

    def f(x, log):
        log.append(len(log))
        calls.append(1)
        return x.dumps()

    log: list[int] = []
    compiled = fxc.compile(f)
    with pytest.warns(fxc.CaptureWarning, match=r"x\.dumps"):
        compiled(array(), log)
    compiled(array(), log)
    assert (log, len(calls), compiled.cache_info().eager_calls) == ([0, 1], 2, 2)


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_first_second_and_fallback_calls_have_each_effect_once(backend):
    def f(x, log):
        log.append(x.sum())
        x[1:] = x[:-1] * 2
        return log

    compiled = fxc.compile(f, backend=backend)
    log: list[Any] = []
    base = np.arange(10.0)
    for x in (base[:5].copy(), base[:5].copy(), base[::2].astype(object), base[:5].copy()):
        before = len(log)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert compiled(x, log) is log
        assert len(log) == before + 1
    assert compiled.cache_info().eager_calls == 1


def test_inspect_has_no_effect():
    sim = Sim()
    compiled = fxc.compile(Sim.step)
    before = seen(vars(sim))
    compiled.inspect(sim, array())
    assert seen(vars(sim)) == before


def draws(rng, x):
    return x + rng.random(6)


def shuffles(rng, x):
    rng.shuffle(x)
    return x * 2


def draws_from_the_module(rng, x):
    return x + np.random.rand(6)


@pytest.mark.parametrize("function", [draws, shuffles, draws_from_the_module])
def test_random_numbers_are_drawn_once_per_call(function):
    def make() -> World:
        rng = np.random.default_rng(3)
        np.random.seed(3)
        calls = [(rng, array()) for _ in range(3)]
        return World(function, calls, lambda: repr(rng.bit_generator.state))

    results = []
    for compiled in (False, True):
        world = make()
        run = fxc.compile(function) if compiled else function
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.append(seen([run(*call) for call in world.calls] + [world.watched()]))
    assert results[0] == results[1]


# ------------------------------------------------------------------ in fxc.cond and its like


def stores_in_an_arm(sim, x):
    def arm(y):
        sim.n += 5
        return y

    return fxc.cond(x.sum() > sim.n, arm, lambda y: y + 1, x)


def appends_in_a_body(sim, x):
    def body(i, y):
        sim.history.append(y[0])
        return y + 1

    return fxc.fori_loop(0, 6, body, x)


def stores_in_a_test(sim, x):
    def test(y):
        sim.n += 1
        return y.sum() < 90

    return fxc.while_loop(test, lambda y: y * 2 + 1, x)


@pytest.mark.parametrize("function", [stores_in_an_arm, appends_in_a_body, stores_in_a_test])
def test_functions_of_branches_and_loops(function):
    compare(on_sim(function))


# ------------------------------------------------------------------ refused


def to_the_class(sim, x):
    Sim.other = 3.0
    return x


def deletes_in_the_namespace(sim, x):
    del sim.__dict__["n"]
    return x


class Counting:
    kept = 5

    def __init__(self, **given):
        self.__dict__.update(given)

    def __getattr__(self, name):
        self.__dict__["misses"] = self.__dict__.get("misses", 0) + 1
        return name

    def __setattr__(self, name, value):
        self.__dict__[name.upper()] = value


def reads_its_namespace(o, x):
    vars(o)["n"] += 1
    held = vars(o)
    known = "kept" in held, o.kept, held.get("zz", 7), [*held], len(held), {**held}
    return (
        known,
        o.n,
        held is o.__dict__,
        held == {"n": 2},
        held | {"a": 1},
        {"a": 2} | vars(o),
        held,
    )


def stores_by_its_namespace(o, x):
    o.b = x.sum()
    o.__dict__.update(kept=x, n=o.kept)
    return o.missing, o.misses, o.kept, o.__dict__["kept"] is x, o.B, vars(o).copy()


def adds_up_in_its_namespace(o, x):
    for v in x:
        o.__dict__["n"] += v
    if x[0] > 0:
        o.__dict__["q"] = x[1]
    return o.n


class Bag:
    def __init__(self, **given):
        self.__dict__.update(given)


@pytest.mark.parametrize(
    "fn, kind",
    [
        (reads_its_namespace, Counting),
        (stores_by_its_namespace, Counting),
        (adds_up_in_its_namespace, Bag),
    ],
)
def test_a_namespace_is_read_and_stored(fn, kind):
    def seen_by(call, o, x):
        found = run(call, (o, x))
        return type(found)(found.result, found.error, (dict(vars(o)), x))

    compiled = fxc.compile(fn, fullgraph=True)
    for k in range(3):
        given = [(kind(n=k), np.linspace(1 - k, 2, 20)) for _ in range(2)]
        assert difference(seen_by(fn, *given[0]), seen_by(compiled, *given[1])) == ""
    assert compiled.cache_info().eager_calls == 0


def to_the_namespace_as_argument(space, sim, x):
    sim.n = 4
    space["n"] = 5
    return x * sim.n


def key_of_objects(table, x):
    table[object()] = x


@pytest.mark.parametrize(
    "function, args, message",
    [
        (to_the_class, (Sim(),), "an assignment to .other of a Sim cannot be captured"),
        (deletes_in_the_namespace, (Sim(),), "'del' of an item of sim.__dict__ cannot be captured"),
        (key_of_objects, ({},), "table has a key of type object"),
        (lambda d, x: d.insert(0, x), (collections.deque(),), "insert of a deque from outside"),
        (lambda b, x: b.append(1), (bytearray(2),), "a bytearray from outside cannot be captured"),
        (
            lambda d, x: d.move_to_end("a", False),
            (collections.OrderedDict(a=1),),
            "move_to_end() to",
        ),
        (lambda s, x: s.pop(), ({1},), "pop of a set from outside cannot be captured"),
    ],
)
def test_refused_before_it_happens(function, args, message):
    before = seen(args)
    with pytest.raises(fxc.CaptureError) as caught:
        fxc.compile(function, fullgraph=True)(*args, array())
    assert caught.value.text.startswith(message)
    assert seen(args) == before


def test_a_dict_that_is_a_namespace_is_refused():
    sim = Sim()
    with pytest.raises(fxc.CaptureError, match="which is the namespace of an object"):
        fxc.compile(to_the_namespace_as_argument, fullgraph=True)(vars(sim), sim, array())


def test_export_refuses_effects():
    with pytest.raises(fxc.CaptureError, match=r"a change to self cannot be captured here"):
        fxc.export(Sim.reads_after_stores, Sim(), array())


CHANGES = [
    (lambda: collections.OrderedDict(a=1, b=2), lambda d: d.move_to_end("a")),
    (lambda: {1, 2, 3}, lambda s: s.intersection_update({1, 9})),
    (lambda: {1, 2, 3}, lambda s: s.difference_update({1, 9})),
    (lambda: {1, 2, 3}, lambda s: s.symmetric_difference_update({1, 9})),
    (lambda: collections.deque([1, 2]), lambda d: d.extendleft([3, 4])),
    (lambda: [1, 2], lambda items: operator.iadd(items, [3])),
    (lambda: [1, 2], lambda items: operator.iconcat(items, [3])),
    (lambda: {1, 2}, lambda s: operator.ior(s, {3})),
    (lambda: {1: 2}, lambda d: operator.ior(d, {3: 4})),
    (lambda: collections.UserDict(a=1), lambda d: d.update(b=2)),
    (lambda: collections.UserDict(a=1), lambda d: operator.setitem(d, "b", 2)),
    (lambda: collections.UserDict(a=1), lambda d: d.pop("a")),
    (lambda: collections.UserList([1]), lambda items: operator.iadd(items, [2])),
    (lambda: collections.ChainMap({}, {"a": 1}), lambda d: d.setdefault("b", 2)),
]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("make, change", CHANGES)
def test_what_is_changed_under_a_condition(make, change):
    def once(x):
        held = make()
        if x[0] > 0:
            change(held)
        return held, x * 2

    compiled = fxc.compile(once)
    for x in (np.ones(2), -np.ones(2), np.ones(3)):
        assert repr(compiled(x)) == repr(once(x))


class Keeper:
    def __init__(self):
        self.items, self.seen, self.named = [1], {1}, {"a": 1}
        self.parts = {"l": [1], "s": {1}}

    def __getitem__(self, key):
        return self.parts[key]

    def __setitem__(self, key, value):
        self.parts[key] = value


def augmented_attributes(keeper, x):
    if x[0] > 0:
        keeper.items += [2]
        keeper.seen |= {2}
        keeper.named |= {"b": 2}


def augmented_items(keeper, x):
    rows = [keeper.items, keeper.items]
    if x[0] > 0:
        keeper.parts["l"] += [2]
        keeper.parts["s"] ^= {1}
        rows[1] *= 2


def augmented_by_methods(keeper, x):
    if x[0] > 0:
        keeper["l"] += [2]
        keeper["s"] -= {1}


_kept = [0]


def augmented_variables(keeper, x):
    global _kept
    kept, _kept = [1], keeper.items

    def more():
        nonlocal kept
        kept += [2]

    if x[0] > 0:
        _kept += [3]
        more()
    keeper.named["kept"] = kept


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "change", [augmented_attributes, augmented_items, augmented_by_methods, augmented_variables]
)
def test_augmented_assignments_under_a_condition(change):
    def once(x):
        keeper = Keeper()
        change(keeper, x)
        return vars(keeper), x * 2

    compiled = fxc.compile(once)
    for x in (np.ones(2), -np.ones(2), np.ones(3)):
        assert repr(compiled(x)) == repr(once(x))


def test_augmented_assignments_that_lists_grow_by():
    def grown(x):
        keeper, parts = Keeper(), {"l": []}
        for v in x:
            if v > 0:
                keeper.items += [v * 2]
            parts["l"] += [v]
        return keeper.items, parts

    compiled = fxc.compile(grown, fullgraph=True)
    for x in (np.array([1.0, -1.0, 2.0]), -np.ones(3), np.arange(30.0) - 4):
        assert repr(compiled(x)) == repr(grown(x))


def test_captures_that_do_not_pay_are_not_made(monkeypatch):
    monkeypatch.setattr(fxc.compilations.decisions, "_SAVED", 1.0)
    compiled = fxc.compile(lambda x, data: x + data.itemsize)
    for k in range(8 + 5 + 20):  # after five, twenty are not looked at
        assert (compiled(array(), np.dtype(f"V{k + 1}")) == array() + k + 1).all()
    info = compiled.cache_info()
    assert (info.variants, info.native_calls, info.eager_calls) == (8, 8, 25)
    for _ in range(8):  # the variants serve as many calls as there were captures
        compiled(array(), np.dtype("V4"))
    compiled(array(), np.dtype("V80"))
    assert compiled.cache_info().variants == 9
    with pytest.warns(fxc.CaptureWarning, match="compiled 9 times and is not compiled again"):
        sums = [compiled(array(), np.dtype(f"V{k}")) - array() for k in range(100, 234)]
    assert np.array_equal(sums, np.outer(range(100, 234), np.ones(len(array()))))
    assert (compiled(array(), np.dtype("V80")) == array() + 80).all()
    assert compiled.cache_info().variants == 1


def test_calls_that_raise_are_not_captured_for_ever(monkeypatch):
    module = importlib.import_module("fxc.capture.capture")
    captured, captures = module.capture, []
    monkeypatch.setattr(
        module, "capture", lambda fn, *a, **k: captures.append(fn) or captured(fn, *a, **k)
    )
    compiled = fxc.compile(lambda d, key: d[key])
    for k in range(100):
        with pytest.raises(KeyError, match=f"b{k}"):
            compiled({"a": array()}, f"b{k}")
    assert len(captures) == 8


def test_there_are_64_variants_at_most(monkeypatch):
    monkeypatch.setattr(fxc.compilations.decisions, "_SAVED", 1.0)
    compiled = fxc.compile(lambda x, data: x + data.itemsize)
    for k in range(64):
        for _ in range(4):
            compiled(array(), np.dtype(f"V{k + 1}"))
    with pytest.warns(fxc.CaptureWarning, match=r"compiled 64 times .* data: was dtype"):
        assert (compiled(array(), np.dtype("V65")) == array() + 65).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(array(), np.dtype("V66"))
        compiled(array(), np.dtype("V4"))
    info = compiled.cache_info()
    assert (info.variants, info.native_calls, info.eager_calls) == (64, 257, 2)
    strict = fxc.compile(lambda x, text: x, fullgraph=True)
    strict._state = compiled._state
    with pytest.raises(fxc.CaptureError, match="is not compiled again"):
        strict(array(), np.dtype("i4"))


def shown_shortly(x, digits):
    options = np.get_printoptions()
    np.set_printoptions(precision=digits)
    text = str(x + 0.125)
    np.set_printoptions(**options)
    return text


def shown_within(x, digits):
    with np.printoptions(precision=digits):
        return str(x / 3)


def leaves_options(x, digits):
    np.set_printoptions(precision=digits)
    return x * 2


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", [shown_shortly, shown_within, leaves_options])
def test_how_arrays_are_printed(program):
    """The options are those of the process: each call sets them."""
    before = np.get_printoptions()
    try:
        compiled = fxc.compile(program)
        for digits in (2, 3, 3, 5):
            outcomes = []
            for fn in (program, compiled):
                np.set_printoptions(**before)
                outcomes.append((repr(fn(np.arange(3.0) / 7, digits)), np.get_printoptions()))
            assert outcomes[0] == outcomes[1]
    finally:
        np.set_printoptions(**before)
