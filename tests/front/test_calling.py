"""Calling conventions: arguments, containers, callables and Python statements, as Python has them."""

import collections
import contextlib
import copy
import dataclasses
import doctest
import enum
import functools
import inspect
import itertools
import math
import pickle
import sys
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import fxc
from tests.worlds import World, compare


def array() -> np.ndarray:
    return np.arange(1.0, 7.0)


def world(function: Callable[..., Any], *calls: tuple[Any, ...]) -> Callable[[], World]:
    """A world whose calls get arrays of their own for those given."""
    return lambda: World(function, [copy.deepcopy(call) for call in calls])


# ------------------------------------------------------------------ parameters


def stars(*args, **kwargs):
    return args[0] * kwargs["k"], len(args), list(kwargs)


def only(a, /, b, *, c=2.0, **rest):
    return a * b + c + rest.get("d", 0)


def defaults(x, k=2.5, flag=True, name="n", pair=(1, 2.0)):
    return x * k if flag else x + pair[1], name, pair


X = array()


@pytest.mark.parametrize(
    "function, calls, variants",
    [
        (stars, [(X, 1, {"k": 2.0}), (X, {"k": 3.0, "j": 1}), (X, {"k": 4.0, "j": 1})], 2),
        (only, [(X, 2.0), (X, {"b": 3.0}), (X, 2.0, {"c": 1.0, "d": 5}), (X, 4.0)], 3),
        (defaults, [(X,), (X, 3.0), (X, 4.0), (X, {"flag": False}), (X, {"pair": (5, 6.0)})], 4),
    ],
)
def test_parameters(function, calls, variants):
    assert compare(world(function, *calls)).variants == variants


def test_wrong_arguments_are_pythons_errors():
    calls = [(X,), (X, 1.0, 2.0), (X, {"q": 1}), (X, {"a": 1})]
    assert compare(world(only, *calls), eager=4).variants == 0


def test_default_arrays_are_inputs():
    def make() -> World:
        def f(x, total=np.zeros(6), *, steps=np.zeros(1, int)):  # noqa: B008 (as users do)
            total += x
            steps += 1
            return total * 2

        return World(f, [(array(),)] * 3, lambda: (f.__defaults__, f.__kwdefaults__))

    compare(make)


# ------------------------------------------------------------------ containers


class Pair(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Node:
    value: Any
    child: Any = None
    notes: list[Any] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    value: Any
    scale: float = 2.0


@dataclasses.dataclass
class Derived:
    a: Any
    seed: dataclasses.InitVar[Any] = 3.0
    b: Any = dataclasses.field(init=False)
    kind: Any = "k"

    def __post_init__(self, seed):
        self.b = self.a * seed


class Base:
    def __init__(self, x):
        self.x = x
        self.log = [x]


class Child(Base):
    def __init__(self, x, y):
        super().__init__(x)
        self.y = y


def keys(table):
    return {key: value * 2 for key, value in table.items()}


def named(pair):
    return Pair(pair.y, pair.x + 1), pair.x, pair


def nodes(node):
    return Node(node.value + 1, Node(node.child.value, None, [node.value])), node.child


def fixed(x):
    return Fixed(x), dataclasses.replace(Fixed(x, 3.0), value=x + 1)


def derived(x):
    return Derived(x), Derived(x, 4.0).b, Derived(x, kind=1)


def classes(x):
    return Child(x + 1, [x])


def nothing(x, y=None):
    return (None, [x + 1, None], {"a": None}) if y is None else x + y


def others(x):
    table = collections.defaultdict(list, {"a": x})
    table["b"].append(x + 1)
    queue = collections.deque([x, 1], maxlen=2)
    queue.append(x * 2)
    ordered = collections.OrderedDict(b=x, a=1)
    return table, queue, ordered, collections.Counter("abca"), {1, "a"}, frozenset((1, 2))


def twice(x):
    part = [x + 1]
    pair = (part, x)
    return part, part, {"l": part, "p": pair}, pair


def keys_of_ints(x, n):
    return {n: x, n + 1: x * n}


@pytest.mark.parametrize(
    "function, call",
    [
        (keys, ({"b": X, "a": X + 1, 3: X, (1, 2): X, None: X, 2.5: X},)),
        (keys, (collections.OrderedDict(b=X, a=X),)),
        (named, (Pair(X, X + 1),)),
        (nodes, (Node(X, Node(X + 1)),)),
        (fixed, (X,)),
        (derived, (X,)),
        (classes, (X,)),
        (nothing, (X,)),
        (nothing, (X, None)),
        (nothing, (X, X)),
        (others, (X,)),
        (twice, (X,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_containers(function, call):
    compare(world(function, call, call))


def identity(*values):
    return values


def first(values):
    return values[0], values


@pytest.mark.parametrize(
    "value",
    [[X], {"a": X}, (X, 1), Pair(X, 2), Node(X), Base(X), [], (), {1}, [[X], (X,)], Fixed(X)],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("function", [identity, lambda v: [v, v], lambda v: {"k": (v,)}])
def test_what_comes_from_outside_is_returned_itself(function, value):
    compare(world(function, (value, {}), (value, {})))


def test_parts_of_containers_are_returned_themselves():
    compare(world(first, ([[X], X],), (([X], X),)))


def test_containers_that_are_one_object_are_told_from_two():
    def f(a, b):
        return a is b, a is not b, a == b, a

    one, other = [1.0], [1.0]
    make = lambda: World(f, [(one, other), (one, one), (other, one)])  # noqa: E731
    compare(make)
    pair, another = (X, 1), (X, 1)
    compare(lambda: World(lambda a, b: a is b, [(pair, another), (pair, pair)]))


def test_a_container_that_holds_itself_is_refused():
    def f(x):
        part = [x]
        part.append(part)
        return part

    with pytest.raises(fxc.CaptureError, match="a container that holds itself"):
        fxc.compile(f, fullgraph=True)(X)


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda x: lambda: x, "a function in the result cannot be captured"),
        (lambda x: (y for y in [x]), "a generator in the result cannot be captured"),
        (lambda x: zip([x], [x]), "a zip in the result cannot be captured"),  # noqa: B905
        (lambda x: ValueError("a"), "a ValueError in the result cannot be captured"),
        (lambda x: [x].append, "a builtin_function_or_method in the result cannot be captured"),
        (lambda x, n=5: {x.shape[0]: x, n: x}, None),
    ],
)
def test_what_may_leave(function, message):
    if message is None:
        compare(world(function, (X,)))
        return
    with pytest.raises(fxc.CaptureError) as caught:
        fxc.compile(function, fullgraph=True)(X)
    assert caught.value.text.startswith(message)


class Bindings:
    @fxc.compile
    def compiled(self, x):
        return x * self.by

    def plain(self, x):
        return x + self.by

    def __init__(self, by, held=None):
        self.by, self.held = by, held


def bindings(owner, x):
    if x is None:
        return NotImplemented
    made = Bindings(x * 2)
    owner.last = made.compiled
    twice = functools.partial(made.plain, x=x + 1)
    return owner.held, owner.plain, owner.compiled, made.plain, made, twice, twice


def test_methods_and_partial_functions_leave():
    compiled = fxc.compile(bindings, fullgraph=True)
    for by in (2, 3):
        owner = Bindings(by, Bindings(1).plain)
        held, plain, method, of_made, made, twice, again = compiled(owner, X)
        assert held is owner.held
        assert twice is again
        assert (plain, method) == (owner.plain, owner.compiled)
        assert (of_made, owner.last) == (made.plain, made.compiled)
        assert type(owner.last.__func__) is fxc.Compiled
        np.testing.assert_array_equal(twice(), X * 3 + 1)
    assert compiled(owner, None) is NotImplemented
    assert compiled.cache_info().eager_calls == 0


def test_slices_of_numbers_that_vary_leave():
    def f(x, n):
        rows = slice(n, x.shape[0] - n)
        return rows, slice(None, n), (slice(2), rows), x[rows]

    compiled = fxc.compile(f, fullgraph=True, dynamic=True)
    for size, n in ((9, 2), (8, 3), (12, 5)):
        x = np.arange(float(size))
        found, expected = compiled(x, n), f(x, n)
        assert found[:3] == expected[:3]
        np.testing.assert_array_equal(found[3], expected[3])
    assert compiled.cache_info().variants == 1


def class_patterns(table):
    match table:
        case collections.OrderedDict():
            found = "ordered"
        case collections.defaultdict():
            found = "default"
        case dict():
            found = "plain"
    kinds = dict, collections.OrderedDict, collections.defaultdict
    return found, [isinstance(table, each) for each in kinds], table.__class__


def test_dicts_from_outside_are_of_their_class():
    compiled = fxc.compile(class_patterns, fullgraph=True)
    for kind in (dict, collections.OrderedDict, lambda **x: collections.defaultdict(list, x)):
        assert compiled(kind(a=X)) == class_patterns(kind(a=X))


def with_another(table, other):
    made = collections.OrderedDict(other)
    joined = table | other, other | table, {"z": 1} | table
    same = table == other, table != other, made == table, [table] == [other]
    return joined, same, table.copy()


def test_dicts_from_outside_are_compared_and_joined_as_their_class():
    def of(kind, **items):
        return collections.defaultdict(int, items) if kind is None else kind(**items)

    compiled = fxc.compile(with_another, fullgraph=True)
    for kind, other in itertools.product((dict, collections.OrderedDict, None), repeat=2):
        args = of(kind, a=1, b=2), of(other, b=2, a=1)
        assert repr(compiled(*args)) == repr(with_another(*args))


def test_types_of_containers_are_pythons():
    def f(items, table, seen):
        kinds = [type(each) for each in (items, table, seen)]
        return (
            kinds == [list, dict, set],
            type(items) is list,
            items.__class__ is list,
            isinstance(table, dict),
            [1] + items,  # noqa: RUF005 (the operator is what is tested)
            items + [1],  # noqa: RUF005
            items * 2,
            items == [5.0],
            items == [5.0],
            items < [6.0],
            {**table, "z": 1},
            table | {"q": 2},
            {"q": 2} | table,
            [*items, *table, *sorted(seen)],
            dict(table),
            list(items),
            set(items),
            f"{items} {table}",
            str(items),
            max(items),
            sum(items),
            len(seen),
            3 in seen,
            seen | {9},
            {9} | seen,
            sorted(seen & {3, 4}),
            set(seen),
            items[::-1],
            items.count(5.0),
            items.index(5.0),
            list(reversed(items)),
            list(zip(items, table, strict=True)),
            dict(zip(table, items, strict=True)),
            "".join(table),
            "%s" % items,  # noqa: UP031
        )

    compare(lambda: World(f, [([5.0], {"a": 1}, {3, 4})] * 2))


# ------------------------------------------------------------------ callables


class Model:
    gain = 3.0

    def __init__(self):
        self.u = array()

    def method(self, x):
        return self.u * x

    @classmethod
    def of_class(cls, x):
        return x * cls.gain

    @staticmethod
    def static(x):
        return x * 2

    def __call__(self, x):
        self.u += x
        return self.u

    def plus(self, k, x):
        return x + k

    plus_one = functools.partialmethod(plus, 1.0)

    @fxc.compile
    def compiled(self, x):
        self.u += 1
        return self.u * x

    @property
    @fxc.compile
    def norm(self):
        return np.sqrt((self.u * self.u).sum())

    @classmethod
    @fxc.compile
    def compiled_of_class(cls, x):
        return x * cls.gain

    @staticmethod
    @fxc.compile
    def compiled_static(x):
        return x * 4


class Heir(Model):
    gain = 5.0

    def method(self, x):
        return super().method(x) + 1

    @fxc.compile
    def compiled(self, x):
        return super().compiled(x) + 1


MODEL = Model()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Model().method,
        lambda: Heir().method,
        lambda: Model.of_class,
        lambda: Heir.of_class,
        lambda: Heir().of_class,
        lambda: Model.static,
        lambda: Model(),
        lambda: Model().plus_one,
        lambda: functools.partial(Model().plus, 2.0),
        lambda: functools.partial(functools.partial(stars, k=2.0), X, j=1),
        lambda: functools.partial(np.multiply, 2.0),
        lambda: np.sin,
        lambda: np.sum,
        lambda: lambda x: x + 1,
        lambda: fxc.compile(lambda x: x + 1),
    ],
)
def test_callables(make):
    compare(lambda: World(make(), [(array(),), (array(),)]))


def calls_it(function, x):
    return function(x), function(x)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Model().method,
        lambda: Model(),
        lambda: Model.of_class,
        lambda: functools.partial(Model().plus, 2.0),
        lambda: fxc.compile(lambda x: x * 2),
        lambda: Model().compiled,
        lambda: np.cos,
        lambda: [].append,
    ],
)
def test_callables_as_arguments(make):
    def world() -> World:
        function = make()
        return World(calls_it, [(function, array()), (function, array())])

    compare(world)


def test_partials_differ_by_their_numbers_at_run_time():
    compiled = fxc.compile(calls_it, fullgraph=True)
    for k in (2.0, 3.0, 4.0):
        assert (compiled(functools.partial(np.multiply, k), X)[0] == X * k).all()
    assert compiled.cache_info().variants == 1


def test_compiled_methods():
    for kind in (Model, Heir):
        model, other = kind(), kind()
        expected = kind.compiled.__wrapped__
        assert (model.compiled(X) == expected(other, X)).all()
        assert (model.u == other.u).all()
    assert model.norm == np.sqrt((model.u * model.u).sum())
    assert (Heir.compiled_of_class(X) == X * 5).all()
    assert (model.compiled_static(X) == X * 4).all()
    assert isinstance(model.compiled, types.MethodType)
    assert Model.__dict__["compiled"].cache_info().eager_calls == 0


def decorated_by(gain):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) * gain

        return wrapper

    return decorate


@decorated_by(2.0)
@decorated_by(3.0)
def decorated(x):
    return x + 1


inner = fxc.compile(lambda x: x * 2)


@functools.wraps(inner)
def around(x):
    return inner(x) + 1


def decorates_inside(x):
    @fxc.compile
    def f(y):
        return y * 2

    @decorated_by(2.0)
    @functools.wraps(f)
    def g(y):
        return f(y) + 1

    return g(x)


def factorial(x, n):
    return x if n == 0 else factorial(x * n, n - 1)


def even(x, n):
    return x if n == 0 else odd(x + 1, n - 1)


def odd(x, n):
    return x * 2 if n == 0 else even(x * 3, n - 1)


def recursion_inside(x):
    def g(y, n):
        return y if n == 0 else g(y * 2, n - 1)

    return g(x, 3)


def generators(x):
    def parts(k):
        for i in range(k):
            got = yield x * i
            assert got is None

    def all_parts():
        yield from parts(2)
        yield x

    return sum(all_parts()), [y + 1 for y in parts(2)], sum(y for y in helper_generator(x))


def helper_generator(x):
    yield x
    yield x + 1


def counter(x):
    n = 0

    def up():
        nonlocal n
        n += 1
        return n

    return x * (up() + up()), n


@pytest.mark.parametrize(
    "function, call",
    [
        (decorated, (X,)),
        (around, (X,)),
        (decorates_inside, (X,)),
        (factorial, (X, 5)),
        (even, (X, 5)),
        (recursion_inside, (X,)),
        (generators, (X,)),
        (counter, (X,)),
        (lambda x: sorted([x, x + 1], key=lambda y: -len(y)), (X,)),
        (lambda x: list(map(around, [x, x])), (X,)),
        (lambda x: functools.reduce(np.add, [x, x, x]), (X,)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_functions(function, call):
    compare(world(function, call, call))


def generator_function(x):
    yield x


async def coroutine(x):
    return x


async def async_generator(x):
    yield x


@pytest.mark.parametrize("function", [generator_function, coroutine, async_generator])
def test_functions_whose_body_waits_are_refused(function):
    with pytest.raises(fxc.CaptureError, match=f"{function.__name__} is a generator or a corouti"):
        fxc.compile(function, fullgraph=True)(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", fxc.CaptureWarning)
        result = fxc.compile(function)(X)
    assert not caught  # they are split where they wait
    assert type(result) is type(function(X))
    for each in (result, function(X)):
        if inspect.iscoroutine(each):
            each.close()


def test_a_cached_function_runs_once():
    calls = []

    @functools.lru_cache
    def cached(k):
        calls.append(k)
        return np.arange(float(k))

    compiled = fxc.compile(lambda x: x * cached(6), fullgraph=True)
    for _ in range(2):
        assert (compiled(X) == X * np.arange(6.0)).all()
    assert calls == [6]


# ------------------------------------------------------------------ statements


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def unpacking(*arrays):
    a, *rest, b = arrays
    (c, d), e = (a, b), [*rest, a]
    return a + b, rest, {**{"e": e, "c": c}}, (lambda *p, **q: p[0] * q["w"])(*arrays, **{"w": d})


def walrus(x):
    if (n := len(x)) > 2:
        return [y := x * n, y + 1, n]
    return x


def formats(x, n, name):
    return x, f"{n}:{n:04d} {name!r:>6} {x.shape} {n * 2}", f"{n} {n}", f"{n} {name}"


def matches(x, k):
    match k:
        case 1 | 2:
            return x + 1
        case Color.RED:
            return x - 1
        case {"a": v, **rest}:
            return x * v, rest
        case Pair(x=a, y=1):
            return a
        case [p, *q] if p > 1:
            return x * p, q
        case str(text):
            return text
        case float() | bool():
            return x * k
        case Model():
            return k.u
        case None:
            return None
        case _:
            return x


MATCHED = (1, 2, 3, Color.RED, Color.BLUE, {"a": 3.0, "b": X}, Pair(X, 1), Pair(3.0, 2), [2.0, X])
MATCHED += ([0.5], "text", 2.5, True, None, Model())


def rebinds(x, k):
    """Names that patterns and handlers bind, with another value."""
    match k:
        case int(n):
            n += 1
        case [first, *rest]:
            first, rest = first * 2, len(rest)
            n = first + rest
        case {"a": n, **rest}:
            rest = len(rest)
            n *= rest
    try:
        if len(x) > 2:
            raise ValueError("long")
    except ValueError as error:
        error = str(error)
        return x * n, len(error)
    return x + n


def takes_arrays(x, m):
    """Patterns of sequences, which take arrays from NumPy 2.5 on."""
    found = []
    for part in (x, m, m[:1], x[:0], x[0], m.sum()):
        match part:
            case []:
                found.append(0)
            case [[a, *_]]:
                found.append(a)
            case [[a, *_], [*_, b]]:
                found.append(a * 10 + b)
            case [a, *rest, b]:
                found.append((a - b, len(rest)))
            case _:
                found.append(part)
    match m:
        case [row, other]:
            row += other
    return found, m


def tries(x, table, k):
    out = []
    try:
        out.append(x * table["a"])
    except KeyError as error:
        out.append(str(error))
    else:
        out.append("else")
    finally:
        out.append(x)
    try:
        if k > 3:
            raise ValueError("big", k)
        out.append(1 // (k - 2))
    except (ValueError, ZeroDivisionError) as error:
        out.append((type(error).__name__, error.args))
    try:
        try:
            [].pop()
        except IndexError:
            raise RuntimeError("outer") from None
    except RuntimeError:
        out.append("caught")
    for item in (1, 0, 2):
        try:
            if item == 0:
                continue
            out.append(10 / item)
        finally:
            out.append(item)
    return out


def deletes(x):
    y, table, items = x + 1, {"a": x, "b": x + 1}, [1, 2, 3]
    del table["a"], items[0], y
    return table, items


def comprehensions(x):
    return (
        [x * i for i in range(6) if i % 2 if i > 1],
        dict.fromkeys(range(2), x),
        {i % 2 for i in range(5)},
        sum(x * i for i in range(3)),
        [(i, j) for i in range(3) for j in range(i)],
        [[x[i] for i in range(2)] for _ in range(2)],
    )


def loops(x, n):
    while n > 0:
        x = x * 2
        n -= 1
        if n == 100:
            break
    else:
        x = x + 1
    for i in range(3):
        if i == 1:
            continue
        x = x + i
    else:
        x = x - 1
    return x


def questions(x, k):
    return (
        isinstance(x, np.ndarray),
        isinstance(k, int | float),
        hasattr(x, "shape"),
        hasattr(x, "nope"),
        hasattr(k, "nope"),
        getattr(x, "ndim", 0),
        getattr(k, "nope", "default"),
        callable(k),
        type(k) is float,
        issubclass(type(x), np.ndarray),
        [a * b for a, b in zip([k, 2], [x, x + 1], strict=True)],
        sorted([3, 1, 2], key=lambda v: -v, reverse=True),
        min(3, 1),
        max([1, 5]),
        min([1, 2], key=lambda v: -v),
        any([False, True]),
        divmod(7, 2),
        round(2.567, 1),
        math.floor(2.7),
    )


def asserts(x):
    assert x.ndim == 1, "flat"
    assert len(x) > 2
    return x


def chooses(x, a, b):
    return x if a == b else x * 2, a != b, a is b, not a


class Manager:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enter")
        return 3.0

    def __exit__(self, kind, error, traceback):
        self.log.append("exit" if kind is None else kind.__name__)
        return kind is KeyError


@contextlib.contextmanager
def scaled(k):
    yield k * 2


def manages(x):
    log = []
    with Manager(log) as k, scaled(k) as j:
        y = x * k * j
    with Manager(log):
        {}["missing"]
    with contextlib.suppress(ZeroDivisionError), contextlib.nullcontext(2.0) as two:
        log.append(1 / 0)
    with np.errstate(divide="ignore"):
        y = y / 0
    return y, log, two


def imports(x):
    import math as m
    from collections import OrderedDict
    from math import pi as p

    return x * m.e * p, OrderedDict(a=x)


STATEMENTS: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (unpacking, [(X, X + 1, X + 2)]),
    (walrus, [(X,)]),
    (formats, [(X, 7, "a"), (X, 8, "b")]),
    (matches, [(X, k, {}) for k in MATCHED]),
    (rebinds, [(X, 3), (X, [4, X]), (X, {"a": 2.0, "b": 1}, {})]),
    (takes_arrays, [(X, np.arange(6.0).reshape(2, 3))]),
    (tries, [(X, {"a": 2.0}, 2), (X, {"b": 1}, 3), (X, {}, 5)]),
    (deletes, [(X,)]),
    (comprehensions, [(X,)]),
    (loops, [(X, 3), (X, 0), (X, 102)]),
    (questions, [(X, 2.5), (X, 2)]),
    (asserts, [(X,)]),
    (chooses, [(X, 1, 1), (X, 1, 2), (X, "a", "a"), (X, None, None), (X, 3.0, 3)]),
    (chooses, [(X, Fixed(1), Fixed(1)), (X, Fixed(1), Fixed(2)), (X, Color.RED, Color.RED)]),
    (manages, [(X,)]),
    (imports, [(X,)]),
]


@pytest.mark.parametrize("function, calls", STATEMENTS, ids=lambda v: getattr(v, "__name__", ""))
def test_statements(function, calls):
    compare(world(function, *calls, *calls))


class Problem(Exception):
    def __str__(self):
        return f"problem {self.args}"


def raises(x, k):
    x += 1
    if k == 1:
        raise Problem("one", k)
    if k == 2:
        assert x.ndim == 2, "not two"
    if k == 3:
        try:
            {}["a"]
        except KeyError as error:
            raise ValueError("from") from error
    if k == 4:
        return [a for a, b in zip([1, 2], [x], strict=True)]
    return x


def test_what_the_program_raises_is_raised_once():
    calls = [(X, k) for k in (1, 2, 3, 4, 0, 1)]
    info = compare(world(raises, *calls), eager=5)
    assert info.native_calls == 1


def handles_at_run_time(x, log):
    try:
        log.append("try")
        y = x ** x[:1]
    except ValueError:
        log.append("handled")
        return x
    return y


def test_a_handler_of_what_numpy_raises_at_run_time():
    def make() -> World:
        log: list[str] = []
        good, bad = np.array([2, 3]), np.array([-2, 3])
        return World(handles_at_run_time, [(good, log), (bad, log), (good, log)], lambda: log)

    info = compare(make, eager=1)
    assert info.native_calls == 2


def swallows_refusals(x):
    try:
        return np.trim_zeros(x + 1)
    except Exception:
        return x


def swallows_shapes(x):
    try:
        return x.reshape(4)
    except ValueError:
        return x


def swallows_in_finally(x):
    for _ in range(1):
        try:
            x = np.trim_zeros(x + 1)
        finally:
            break  # noqa: B012 (it hides the exception)
    return x


def swallows_everything(x, k):
    try:
        return x * int(k)
    except:  # noqa: E722
        return x


@pytest.mark.parametrize("function", [swallows_refusals, swallows_in_finally])
def test_a_handler_hides_nothing(function):
    compare(world(function, (X,), (X,)), eager=2)


def test_what_numpy_refuses_for_its_size_is_handled():
    compare(world(swallows_shapes, (X,), (X,)))


def test_a_bare_handler_does_not_stop_a_capture_that_starts_again():
    compare(world(swallows_everything, (X, 2.5), (X, 3.5)))


# ------------------------------------------------------------------ globals

GLOBAL = 0
TOTAL = np.zeros(6)
CONFIG = types.SimpleNamespace(dt=0.5)


def counts_globally(x):
    global GLOBAL, MADE
    GLOBAL += 1
    MADE = x * GLOBAL
    return MADE + reads_global()


def reads_global():
    return GLOBAL * 10


def deletes_global(x):
    global MADE
    MADE = x
    del MADE
    return x


def test_globals_are_stored_and_read():
    global GLOBAL
    for function in (counts_globally, deletes_global):
        results = []
        for run in (function, fxc.compile(function, fullgraph=True)):
            GLOBAL = 0
            globals().pop("MADE", None)
            outcome = [run(array()).tolist() for _ in range(4)]
            results.append((outcome, GLOBAL, np.asarray(globals().get("MADE")).tolist()))
        assert results[0] == results[1]
    globals().pop("MADE", None)


def test_enclosing_variables_are_stored_and_read():
    def make() -> World:
        n, last = 0, None

        def f(x):
            nonlocal n, last
            n += 1
            last = x * n
            return last + inner()

        def inner():
            return n

        return World(f, [(array(),)] * 4, lambda: (n, last))

    assert compare(make).variants == 1


def test_attributes_of_modules_are_stored_and_read():
    def make() -> World:
        module = types.ModuleType("settings")
        module.n = 0  # type: ignore[attr-defined]

        def f(module, x):
            module.n += 1
            module.last = x
            return x * module.n

        return World(f, [(module, array())] * 3, lambda: (module.n, module.last))

    compare(make)


# ------------------------------------------------------------------ numbers


KINDS = (1, True, 1.0, 1 + 0j, 0, False, 0.0, -0.0, math.nan, 2, 3, -1)
KINDS += (np.float64(1), np.float32(1), np.int64(1), np.int8(1), np.bool_(True), np.float64(-0.0))
KINDS += (np.array(1.0), np.array(1), np.array(1.0, "f4"), np.complex64(1), np.uint8(200))


def arithmetic(x, k):
    return x + k, k - x, x * k, np.maximum(x, k) if not isinstance(k, complex) else 0


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1", "?"])
def test_promotion_of_scalar_arguments(dtype):
    x = np.array([0, 1, 1], dtype)
    calls = [(x, k) for k in KINDS if dtype != "?" or not isinstance(k, bool)]
    plain = [outcome(arithmetic, call) for call in calls]
    compiled = fxc.compile(arithmetic)
    assert [outcome(compiled, call) for call in calls] == plain
    assert [outcome(compiled, call) for call in calls] == plain


def outcome(function, call):
    from tests.worlds import seen

    with np.errstate(all="ignore"):
        try:
            return seen(function(*call))
        except Exception as error:
            return repr(error)


def test_promotion_of_scalars_from_outside():
    held = types.SimpleNamespace(k=0)
    x = np.array([0, 1, 2], "f4")
    for read in (lambda x: arithmetic(x, held.k), lambda x: arithmetic(x, [held.k][0])):
        compiled = fxc.compile(read, fullgraph=True)
        for _ in range(2):
            for held.k in KINDS:
                assert outcome(compiled, (x,)) == outcome(read, (x,)), held.k
        assert compiled.cache_info().eager_calls <= 4


def test_ints_beyond_64_bits_do_not_wrap():
    for n in (2**20, 2**31, 2**40):
        call = (np.arange(3), n)
        function = lambda x, n: (x * 1.0 * (n * n), x + (n * n * n) // (n * n))  # noqa: E731
        compiled = fxc.compile(function)
        compiled(np.arange(3), 7)
        assert outcome(compiled, call) == outcome(function, call)


# ------------------------------------------------------------------ the decorated function


@fxc.compile
def documented(x, scale=2.0):
    """Scale.

    >>> import numpy as np
    >>> documented(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return x * scale


def test_it_looks_like_the_function():
    assert documented.__name__ == "documented"
    assert documented.__module__ == __name__
    assert documented.__doc__.startswith("Scale.")
    assert documented.__wrapped__.__code__.co_name == "documented"
    assert str(inspect.signature(documented)) == "(x, scale=2.0)"
    assert inspect.getsource(documented).startswith("@fxc.compile\ndef documented")
    assert inspect.unwrap(documented) is documented.__wrapped__


def test_doctest_finds_its_examples():
    found = doctest.DocTestFinder().find(sys.modules[__name__], __name__)
    (examples,) = [test for test in found if test.name == f"{__name__}.documented"]
    assert doctest.DocTestRunner(verbose=False).run(examples).attempted == 2


def test_help_shows_the_function(capsys):
    help(documented)
    assert "documented(x, scale=2.0)" in capsys.readouterr().out


def test_it_is_pickled_and_copied_by_name():
    for each in (documented, Model.__dict__["compiled"]):
        assert pickle.loads(pickle.dumps(each)) is each
        assert copy.copy(each) is each
        assert copy.deepcopy(each) is each
    bound = pickle.loads(pickle.dumps(MODEL.compiled))
    assert bound.__func__ is Model.__dict__["compiled"]


under_another_name = fxc.compile(fullgraph=True)(stars)


def test_under_another_name_it_is_pickled_with_its_function():
    again = pickle.loads(pickle.dumps(fxc.compile(stars, fullgraph=True, dynamic=True)))
    assert again.__wrapped__ is stars
    assert again._options.dynamic
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(fxc.compile(lambda x: x))


def test_it_is_an_object_like_a_function():
    compiled = fxc.compile(stars)
    compiled.note = 1
    assert vars(compiled)["note"] == 1
    assert weakref.ref(compiled)() is compiled
    assert {compiled: 1}[compiled] == 1
    assert compiled != fxc.compile(stars)
    assert callable(compiled)


def test_static_and_class_methods_go_outside():
    with pytest.raises(TypeError, match=r"put @staticmethod above @fxc\.compile"):
        fxc.compile(staticmethod(stars))
    with pytest.raises(TypeError, match=r"put @classmethod above @fxc\.compile"):
        fxc.compile(classmethod(stars))


def test_what_python_makes_class_methods_by_itself():
    scales = np.zeros(2)

    class Shape:
        gain = 2.0

        @fxc.compile
        def __init_subclass__(cls, scale):
            scales[:] += cls.gain * scale

        @fxc.compile
        def __class_getitem__(cls, k):
            return scales * cls.gain + k

    class Square(Shape, scale=2.0):
        gain = 3.0

    assert scales.tolist() == [6.0, 6.0]
    assert Square[1].tolist() == [19.0, 19.0]
    assert Shape[1].tolist() == [13.0, 13.0]


def test_what_does_not_bind_stays_unbound():
    class Holder:
        partial = fxc.compile(functools.partial(np.multiply, 2.0))
        ufunc = fxc.compile(np.sin)
        model = fxc.compile(Model())

    holder = Holder()
    assert (holder.partial(X) == X * 2).all()
    assert (holder.ufunc(X) == np.sin(X)).all()
    assert (holder.model(X) == array() + X).all()


def test_what_raises_in_a_branch_is_the_programs_if_it_comes_to_that() -> None:
    """Nothing is warned of, and nothing cut: a call that goes another way is compiled."""

    def program(x, k):
        y = x * x + x * 2.0
        for i in range(len(k)):
            if k[i] > 0:
                x[i] = x @ np.ones(3) + y[i]
        return y * 2.0 + x

    compiled = fxc.compile(program)
    with warnings.catch_warnings():
        warnings.simplefilter("error", fxc.CaptureWarning)
        with pytest.raises(ValueError, match="mismatch in its core dimension"):
            compiled(np.ones(4), np.ones(4))
        assert compiled(np.ones(4), np.zeros(4)).tolist() == [7.0] * 4
    assert compiled.cache_info().parts == 0
    assert compiled.cache_info().native_calls == 1
