"""Objects whose operators and other special methods are Python code."""

import dataclasses
import enum
import functools
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pytest

import fxc
from tests.worlds import World, compare


class Vec:
    __array_ufunc__ = None

    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        if isinstance(other, Vec):
            return type(self)(self.v + other.v)
        return type(self)(self.v + other) if np.ndim(other) < 2 else NotImplemented

    def __radd__(self, other):
        return Vec(other + self.v)

    def __iadd__(self, other):
        self.v += other
        return self

    def __sub__(self, other):
        return Vec(self.v - other.v) if isinstance(other, Vec) else NotImplemented

    def __rsub__(self, other):
        return Vec(other - self.v)

    def __mul__(self, k):
        return self.__class__(self.v * k)

    __rmul__ = __mul__

    def __matmul__(self, other):
        return self.v @ other.v

    def __neg__(self):
        return Vec(-self.v)

    def __abs__(self):
        return np.sqrt((self.v**2).sum())

    def __eq__(self, other):
        return isinstance(other, Vec) and bool((self.v == other.v).all())

    def __hash__(self):
        return 17

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __getitem__(self, place):
        return self.v[place]

    def __setitem__(self, place, value):
        self.v[place] = value

    def __delitem__(self, place):
        self.v[place] = 0.0

    def __len__(self):
        return len(self.v)

    def __iter__(self):
        return iter(self.v)

    def __contains__(self, x):
        return x in self.v

    def __call__(self, k):
        return self.v * k


class Loud(Vec):
    """Its reflected operators go before those of Vec."""

    def __radd__(self, other):
        return "loud", other + self.v if isinstance(other, np.ndarray) else other.v * self.v


class Quiet(Vec):
    """Inherits all: no operator of its own goes before those of Vec."""


class Ranked:
    __array_priority__ = 10.0

    def __init__(self, k):
        self.k = k

    def __rmul__(self, x):
        return "ranked", x * self.k

    def __rsub__(self, x):
        return NotImplemented

    def __gt__(self, x):
        return x < self.k


class Plain:
    """NumPy's scalars hand it their number as Python's."""

    def __init__(self, k):
        self.k = k

    def __rmul__(self, x):
        return type(x), x * self.k

    def __ge__(self, x):
        return type(x)


class Grid:
    def __init__(self, n):
        self.data = np.arange(float(n * n)).reshape(n, n)
        self.reads = 0

    def __getitem__(self, place):
        i, j = place
        self.reads += 1
        return self.data[i % 3, j]

    def __setitem__(self, place, value):
        i, j = place
        self.data[i % 3, j] = value


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


class Pairs:
    """Python iterates over it by its items."""

    def __init__(self, x):
        self.x = x

    def __getitem__(self, i):
        if i >= 3:
            raise IndexError(i)
        return self.x[i], self.x[-i - 1]


class Switch:
    def __init__(self, x):
        self.x = x

    def __bool__(self):
        return bool(self.x[0] > 0)


class Open:
    """Its truth is that of an element."""

    def __init__(self, x):
        self.x = x

    def __len__(self):
        return 2 if self.x.shape[0] > 3 else 0


class Fallback:
    def __init__(self, **given):
        self.given = given

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.given[name]
        except KeyError:
            raise AttributeError(name) from None


class Wrapper:
    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)


class Watched:
    def __init__(self, k):
        self.k = k
        self.count = 0

    def __setattr__(self, name, value):
        if name == "k":
            value = value * 2
        super().__setattr__(name, value)


class Logged:
    def __init__(self):
        object.__setattr__(self, "names", [])

    def __setattr__(self, name, value):
        self.names.append(name)
        object.__setattr__(self, name, value)


class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, owner, kind=None):
        return self if owner is None else getattr(owner, self.name) + 1

    def __set__(self, owner, value):
        setattr(owner, self.name, value * 2)


class Described:
    w = Positive()

    def __init__(self, w):
        self.w = w

    @property
    def twice(self):
        return self.w * 2

    @functools.cached_property
    def once(self):
        return self.w * 3

    @classmethod
    def make(cls, w):
        return cls(w)


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Slotted(self.x + other.x, self.y + other.y)


class Registered:
    seen: ClassVar[list[str]] = []

    def __init_subclass__(cls):
        Registered.seen.append(cls.__name__)

    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return self.x + other


@dataclasses.dataclass
class Point:
    x: Any
    y: Any

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __iter__(self):
        yield self.x
        yield self.y


class Named:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"<{self.name}>"


class Base:
    def __add__(self, other):
        return ("base", other * 2)


class Derived(Base):
    def __add__(self, other):
        return ("derived", super().__add__(other), other)


def x8():
    return np.arange(1.0, 9.0)


def m2():
    return np.ones((2, 8))


def loops(v, x):
    for i in range(40):
        x = x + v[i % 8] * 0.5
    return x


def stores_in_loops(g):
    total = 0.0
    for i in range(30):
        g[i, 1] = g[i, 0] + 1
        total += g[i, 1]
    return total


def under_a_branch(v, x):
    if x[0] > 0.5:
        y = (v * 2 + x).v
    else:
        y = (v + 1).v
    return y


def item_in_place(v, x):
    v[1:3] += x[:2]
    v[0] *= 3
    del v[4]
    v += 1
    return v[0], v


def by_builtins(vs):
    return sum(vs, 0), [abs(v) for v in vs], list(map(len, vs)), next(reversed(vs))[1]


def keys(v, x):
    table = {v: x}
    table[v] = x + 1
    return len(table), table[v] * 2, v in table


def rebinds(v, x):
    for _ in range(3):
        v = v + x
    return v


def swallows(v):
    v -= 3
    return v


def chained(v, w):
    return v < w < v


class Method(enum.Enum):
    EULER = "euler"
    RK4 = "rk4"


PROGRAMS = {
    "add": (lambda v, x: (v + x).v, lambda: (Vec(x8()), x8())),
    "two": (lambda v, w: (v + w * 3 - v).v, lambda: (Vec(x8()), Vec(x8() * 2))),
    "reflected": (lambda v, x: [(x + v).v, (x - v).v, (2 * v).v], lambda: (Vec(x8()), x8())),
    "same": (lambda v: (v + v) * 2, lambda: (Vec(x8()),)),
    "returned": (lambda v, x: (v, v + x, type(v), v.__class__), lambda: (Vec(x8()), x8())),
    "not implemented": (lambda v, x: v - x, lambda: (Vec(x8()), x8())),
    "an array refuses": (lambda v, x: v + x, lambda: (Vec(x8()), m2())),
    "reflected of a subclass": (lambda v, w: v + w, lambda: (Vec(x8()), Loud(x8()))),
    "inherited by a subclass": (lambda v, w: (v + w, w + v), lambda: (Vec(x8()), Quiet(x8()))),
    "array and subclass": (lambda w, x: x + w, lambda: (Loud(x8()), x8())),
    "unary": (lambda v: ((-v).v, abs(v)), lambda: (Vec(x8()),)),
    "no unary": (lambda v: +v, lambda: (Vec(x8()),)),
    "matmul": (lambda v, w: v @ w, lambda: (Vec(x8()), Vec(x8()))),
    "in place": (item_in_place, lambda: (Vec(x8()), x8())),
    "in place of none": (swallows, lambda: (Vec(x8()),)),
    "items": (lambda v: (v[0], v[1:3], v[-1], v[v.v > 3]), lambda: (Vec(x8()),)),
    "index error": (lambda v: v[20], lambda: (Vec(x8()),)),
    "iterates": (lambda v: [e * 2 for e in v], lambda: (Vec(x8()),)),
    "unpacks": (lambda v: next(iter(v)) + len([*v]), lambda: (Vec(x8()),)),
    "list": (lambda v: list(v), lambda: (Vec(x8()),)),
    "enumerates": (lambda v: [i * e for i, e in enumerate(v)], lambda: (Vec(x8()),)),
    "contains": (lambda v: (3.0 in v, 10.0 in v, 3.0 not in v), lambda: (Vec(x8()),)),
    "truth by len": (lambda v: 1 if v else 2, lambda: (Vec(x8()),)),
    "not": (lambda v: not v, lambda: (Vec(x8()[:0]),)),
    "len": (lambda v: np.zeros(len(v)), lambda: (Vec(x8()),)),
    "call": (lambda v: v(3), lambda: (Vec(x8()),)),
    "compares": (lambda v, w: (v == w, v != w, v < w, v > w), lambda: (Vec(x8()), Vec(x8() * 2))),
    "chained": (chained, lambda: (Vec(x8()), Vec(x8() * 2))),
    "builtins": (by_builtins, lambda: ([Vec(x8()), Vec(x8() / 2)],)),
    "keys": (keys, lambda: (Vec(x8()), x8())),
    "loop": (loops, lambda: (Vec(x8()), x8())),
    "loop that stores": (stores_in_loops, lambda: (Grid(4),)),
    "branch": (under_a_branch, lambda: (Vec(x8()), x8())),
    "rebinds": (rebinds, lambda: (Vec(x8()), x8())),
    "ranked": (lambda o, x: (x * o, x < o, x[0] * o, x[1] < o), lambda: (Ranked(3.0), x8())),
    "ranked refuses": (lambda o, x: x - o, lambda: (Ranked(3.0), x8())),
    "number of NumPy's": (lambda o, x: (x[0] * o, 2.0 * o), lambda: (Plain(3.0), x8())),
    "ints of NumPy's": (lambda o, x: x[0] * o, lambda: (Plain(3), np.arange(3))),
    "iterator": (lambda c, x: [x[i] for i in c], lambda: (Countdown(3), x8())),
    "next": (lambda c, x: (next(c), next(c), x), lambda: (Countdown(3), x8())),
    "made iterator": (lambda x: sum(x[i] for i in Countdown(3)), lambda: (x8(),)),
    "by items": (lambda x: [a - b for a, b in Pairs(x)], lambda: (x8(),)),
    "bool": (lambda x: (1 if Switch(x) else 2, bool(Switch(-x))), lambda: (x8(),)),
    "bool by len": (lambda o: (1 if o else 2, len(o)), lambda: (Open(x8()),)),
    "fallback": (lambda f, x: f.a * x + getattr(f, "c", 7), lambda: (Fallback(a=2.0), x8())),
    "fallback made": (lambda x: Fallback(a=x).a + 1, lambda: (x8(),)),
    "fallback of none": (lambda f: f.nothing, lambda: (Fallback(a=2.0),)),
    "wrapper": (
        lambda w, x: w.v + w(2) if callable(w) else w.v + x,
        lambda: (Wrapper(Vec(x8())), x8()),
    ),
    "slots": (lambda s, x: s + Slotted(x, 1.0), lambda: (Slotted(x8(), 2.0), x8())),
    "dataclass": (lambda p, x: (p + Point(x, x), [*p], p == p), lambda: (Point(1.0, 2.0), x8())),
    "text": (lambda n, x: (x + 1, f"{n!r}", str(n)), lambda: (Named("a"), x8())),
    "super": (lambda d, x: d + x, lambda: (Derived(), x8())),
    "explicit": (lambda v, x: (Vec.__add__(v, x).v, v.__len__()), lambda: (Vec(x8()), x8())),
    "isinstance": (
        lambda v: (isinstance(v, Vec), type(v) is Vec, type(v).__name__, issubclass(type(v), Vec)),
        lambda: (Quiet(x8()),),
    ),
    "held": (lambda v, x: {"a": [v, v + x], "b": (v,)}, lambda: (Vec(x8()), x8())),
    "enum": (
        lambda m, x: (Method(m), Method(m) is Method.RK4, Method["EULER"].value, x),
        lambda: ("rk4", x8()),
    ),
    "enum of none": (lambda m, x: Method(m), lambda: ("rk5", x8())),
    "enum as keys": (
        lambda m, x: {Method.RK4: x, Method.EULER: -x}[Method(m)] * len(Method),
        lambda: ("rk4", x8()),
    ),
    "described": (lambda d, x: (d.w + x, d.twice, d.once, d.once), lambda: (Described(1.5), x8())),
    "described made": (lambda x: [d := Described.make(x), d.twice, d.once], lambda: (x8(),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_python(name):
    program, make = PROGRAMS[name]

    def world():
        args = make()
        return World(program, [args, make(), args] if twice else [args], lambda: args)

    twice = name != "next"
    plain = world()
    try:
        plain.function(*plain.calls[0])
    except Exception:
        compare(
            world, eager=len(world().calls)
        )  # what raises runs as plain NumPy, with the same exception
    else:
        compare(world)


def stores(w, x):
    w.k = 3.0
    w.count += 1
    return x * w.k


def stores_logged(x):
    o = Logged()
    o.a = x
    o.b = x + 1
    return o, o.a


def stores_described(d, x):
    d.w = x
    return d.w


@pytest.mark.parametrize(
    "program, make",
    [
        (stores, lambda: (Watched(2.0), x8())),
        (stores_logged, lambda: (x8(),)),
        (stores_described, lambda: (Described(1.0), x8())),
        (lambda x: Watched(x), lambda: (x8(),)),
        (lambda o, x: setattr(o, "a", x), lambda: (Logged(), x8())),
    ],
)
def test_watched_stores(program, make):
    def world():
        args = make()
        return World(program, [args, args], lambda: args)

    compare(world)


class OfClasses(property):
    """A property that classes have, too, and that counts how often it is asked."""

    asked = 0

    def __get__(self, owner, kind=None):
        OfClasses.asked += 1
        return self.fget(kind)

    def __set__(self, owner, value):
        vars(owner)["x"] = value * 2


UNITS = {"m": Described(1.0), "s": Described(2.0)}


class Known:
    @OfClasses
    def units(self):
        return UNITS

    @classmethod
    def of(cls, name, x):
        return cls.units[name], x * 2


class More(Known):
    @property
    def units(self):
        return super().units["s"]


def test_properties_of_a_class_of_its_own_are_read_and_set_as_that_says():
    """Its getter ran in the capture, and the caller got copies of the objects behind it."""
    of_a_class, of_super = fxc.compile(Known.of), fxc.compile(lambda x: (More().units, x * 2))
    stored = fxc.compile(lambda known, x: setattr(known, "units", x))
    for times in (1, 2, 3):
        OfClasses.asked = 0
        assert of_a_class("m", np.ones(2))[0] is UNITS["m"]
        assert of_super(np.ones(2))[0] is UNITS["s"]
        assert OfClasses.asked == 2
        known = Known()
        stored(known, np.full(2, times))
        np.testing.assert_array_equal(known.x, [2 * times] * 2)


class Kept:
    def __init__(self):
        self.x = np.zeros(2)


@pytest.mark.parametrize(
    "make", [lambda kept: kept.__setattr__, lambda kept: kept.__dict__.__setitem__]
)
def test_methods_of_c_from_outside_store_for_their_owners(make):
    """They are slots of a class that are bound to an object: its capture stores nothing in it."""

    def program(store, x):
        store("x", x * 2)

    kept, others = Kept(), Kept()
    compiled = fxc.compile(program)
    for each, x in ((kept, np.ones(2)), (others, np.arange(2.0)), (kept, np.full(2, 3.0))):
        compiled(make(each), x)
        np.testing.assert_array_equal(each.x, x * 2)
    np.testing.assert_array_equal(others.x, [0.0, 2.0])


def test_the_class_is_told_of_no_subclass():
    Registered.seen.clear()
    compiled = fxc.compile(lambda o, x: o + x, fullgraph=True)
    assert compiled(Registered(x8()), 1.0)[0] == 2.0
    assert Registered.seen == []


def test_another_method_is_another_capture():
    class Own:
        def __init__(self, x):
            self.x = x

        def __mul__(self, k):
            return self.x * k

    compiled = fxc.compile(lambda o, k: o * k, fullgraph=True)
    own = Own(x8())
    np.testing.assert_array_equal(compiled(own, 2.0), x8() * 2.0)
    Own.__mul__ = lambda self, k: self.x - k
    np.testing.assert_array_equal(compiled(own, 2.0), x8() - 2.0)


class AsArray:
    k = 2.0

    def __array__(self, dtype=None, copy=None):
        return np.full(3, self.k)

    def __radd__(self, other):
        return other * self.k


class Deleted:
    def __init__(self, x):
        self.x = x

    def __del__(self):
        Registered.seen.append("deleted")


REFUSED = {
    "an operator of an array and a Plain": (lambda o, x: x * o, lambda: (Plain(2.0), x8())),
    "an operator of an array and a NoneType": (lambda o, x: x[:0] * o, lambda: (None, x8())),
    "an operator of an array and a slice": (lambda o, x: x[:0] - o, lambda: (slice(2), x8())),
    "a function of NumPy's of a Vec": (lambda o, x: np.add(o, x), lambda: (Vec(x8()), x8())),
    "AsArray, with which NumPy": (lambda o, x: x + o, lambda: (AsArray(), x8())),
    "AsArray, which NumPy takes for": (lambda o, x: x[0] + o, lambda: (AsArray(), x8())),
    "AsArray defines __array__": (lambda o, x: np.asarray(o) + x[:3], lambda: (AsArray(), x8())),
    "Deleted defines __del__": (lambda o, x: Deleted(x).x, lambda: (None, x8())),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message):
    program, make = REFUSED[message]
    with pytest.raises(fxc.CaptureError, match=message):
        fxc.compile(program, fullgraph=True)(*make())


def test_objects_that_numpy_may_take_for_arrays_are_objects():
    def program(o, x):
        o.k = 3.0 + o.k
        return 2.0 + o, x * o.k, AsArray().k, np.isscalar(o)

    for fullgraph in (True, False):
        compiled, one, other = fxc.compile(program, fullgraph=fullgraph), AsArray(), AsArray()
        for _ in range(2):
            assert repr(compiled(one, x8())) == repr(program(other, x8()))
            assert one.k == other.k


def test_what_stands_for_an_object_is_not_deleted_as_one():
    Registered.seen.clear()
    held = Deleted(x8())
    compiled = fxc.compile(lambda o: o.x + 1, fullgraph=True)
    np.testing.assert_array_equal(compiled(held), x8() + 1)
    assert Registered.seen == []


class _Secretive:
    __scale = 3.0

    def __init__(self, k):
        self.__k = k

    def __times(self, __x, *, __by=2.0):
        __y = __x * self.__k
        for __i in range(20):
            __y = __y + __i * self.__scale
        return __y * __by

    def whole(self, x):
        def __inner(v, __by):
            return self.__times(v * __by)

        self.__k += 1
        return [__inner(__v, 3.0) for __v in (x, 2 * x)]

    def __add__(self, x):
        return self.__times(x)

    def with_a_class(self, x):
        class Held:
            __size: int = 3

            def of(self, *, __by: float = 2.0):
                return self.__size * __by

        __y = self.__times(x)
        repr(object())  # Python runs this
        __held = Held()
        return (
            __y * __held.of(),
            Held.__annotations__,
            Held.of.__annotations__,
            vars(Held).keys(),
        )


class Open_(_Secretive):
    def of_another(self, x):
        return self.whole(x), self._Secretive__k


class Outer:
    class __Inner:
        def __init__(self, x):
            self.__x = x

        def x(self):
            return self.__x

    def make(self, x):
        return self.__Inner(x).x()


@pytest.mark.parametrize(
    "program",
    [
        lambda o, x: o.whole(x),
        lambda o, x: o + x,
        lambda o, x: (_Secretive(4.0), _Secretive(x).whole(x)),
        lambda o, x: Outer().make(x),
    ],
)
def test_private_names(program):
    def world():
        o = Open_(2.0)
        return World(program, [(o, x8()), (o, x8())], lambda: o)

    compare(world)


@pytest.mark.filterwarnings("ignore:.*run.* as plain NumPy")
def test_a_class_inside_has_private_names_of_its_own():
    compiled = fxc.compile(_Secretive.with_a_class)
    for _ in range(2):
        expected = _Secretive(2.0).with_a_class(x8())
        assert repr(compiled(_Secretive(2.0), x8())) == repr(expected)
    assert compiled.cache_info().part_calls > 0


class Ring:
    """A buffer of the last numbers."""

    def __init__(self, size):
        self.x = np.zeros(size)
        self.n = self.place = 0

    def push(self, v):
        self.x[self.place] = v
        self.place = (self.place + 1) % len(self.x)
        self.n = min(self.n + 1, len(self.x))

    def __len__(self):
        return self.n


def _kept(ring, x):
    total = 0.0
    for v in x:
        ring.push(v)
        if len(ring) >= 3:
            total += ring.x[: len(ring)].sum()
    return total, len(ring)


def test_a_length_that_loops_change() -> None:
    compiled = fxc.compile(_kept, fullgraph=True)
    for size in (3, 5, 8, 9):
        rings = Ring(4), Ring(4)
        x = np.arange(float(size))
        assert _kept(rings[0], x) == compiled(rings[1], x)
        assert vars(rings[0]).keys() == vars(rings[1]).keys()
        assert (rings[0].x == rings[1].x).all()
        assert (rings[0].n, rings[0].place) == (rings[1].n, rings[1].place)
    assert compiled.cache_info().variants <= 3


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_a_number_of_numpys_compared_with_an_object() -> None:
    """What the object says is the result, but in NumPy 2.0, which makes a bool of it."""

    def program(o, x):
        return x[0] <= o, x[1] <= o

    compiled = fxc.compile(program)
    for _ in range(2):
        expected, found = (each(Plain(3.0), x8()) for each in (program, compiled))
        assert list(map(type, found)) == list(map(type, expected))
        assert str(found) == str(expected)


class Shown:
    def __init__(self, v):
        self.v = v

    def __str__(self):
        return "s%d" % self.v  # noqa: UP031

    def __repr__(self):
        return f"r{self.v}"

    def __format__(self, spec):
        return f"f{self.v:{spec}}"


@pytest.mark.parametrize(
    "program",
    [
        lambda o: "%s" % o,  # noqa: UP031
        lambda o: format(o),
        lambda o: format(o, "5.1f"),
        lambda o: str([o]),
        lambda o: f"{[o, (o,)]}",
        lambda o: "{} {!r}".format(o, o),  # noqa: UP032
    ],
)
def test_texts_that_methods_make_of_numbers(program):
    compiled = fxc.compile(program, fullgraph=True)
    for v in (3.5, 4.5, 7.0, 3.5):
        assert compiled(Shown(v)) == program(Shown(v))


class Asked:
    names: ClassVar[list[str]] = []

    def __index__(self):
        return 1

    def __getattr__(self, name):
        self.names.append(name)
        return 2


def test_an_object_is_asked_for_nothing_of_ours():
    compiled = fxc.compile(lambda o, x: (x[o:], x.reshape(o, -1)), fullgraph=True)
    Asked.names.clear()
    np.testing.assert_array_equal(compiled(Asked(), x8())[0], x8()[1:])
    assert Asked.names == []


@pytest.mark.parametrize(
    "program", [lambda x, n: (1 + n) ** x, lambda x, n: x * n, lambda x, n: x < n]
)
def test_numbers_that_no_graph_knows_are_left_to_numpy(program):
    x, n = np.arange(3), Decimal("0.5")
    with pytest.warns(fxc.CaptureWarning, match="an operator of an array and a Decimal"):
        assert fxc.compile(program)(x, n).tolist() == program(x, n).tolist()


class Alternating:
    def __init__(self):
        self.asked = 0

    def __bool__(self):
        self.asked += 1
        return self.asked % 3 != 0


class Shrinking:
    def __init__(self):
        self.asked = 0

    def __len__(self):
        self.asked += 1
        return self.asked % 2


def test_what_tells_its_truth_may_change_it() -> None:
    def asked(x):
        alternating, shrinking, total = Alternating(), Shrinking(), 0.0
        for v in x:
            if alternating:
                total += v
            total += 1.0 if shrinking else 2.0
            if not alternating or v > 0.5:
                total *= 2
        return total, alternating.asked, shrinking.asked

    compiled = fxc.compile(asked, fullgraph=True)
    for n in (3, 24, 40):
        x = np.random.default_rng(n).random(n)
        assert compiled(x) == asked(x)


factor = 2.0


class Copied:
    def __init__(self, v):
        self.v = v

    def copy(self):
        made = self.__new__(type(self))
        made.v = self.v.copy()
        return made

    def __imul__(self, k):
        self.v *= k * factor
        return self

    def __mul__(self, k):
        return object.__new__(Copied).filled(self.v * k - factor)

    def filled(self, v):
        self.v = v
        return self


class CopiedFurther(Copied):
    __slots__ = ("parts",)

    def copy(self):
        made = super().copy()
        made.parts = [Copied(self.v + 1)]
        return made

    def __imul__(self, k):
        super(type(self), self).__imul__(k)
        for each in self.parts:
            each *= k
        return self


@pytest.mark.parametrize("kind", [Copied, CopiedFurther])
def test_operators_of_objects_that_new_makes_are_captured(kind, monkeypatch):
    """They were run as they are, so that what they read was neither guarded nor followed."""

    @fxc.compile(fullgraph=True)
    def program(x, k):
        made = x.copy()
        made *= k
        return made, (made * k).v

    for number in (2.0, 3.0, 2.0):
        monkeypatch.setitem(globals(), "factor", number)
        x = kind(np.arange(4.0))
        made, v = program(x, 1.5)
        expected, w = program.__wrapped__(x, 1.5)
        assert type(made) is kind
        np.testing.assert_array_equal(made.v, expected.v)
        np.testing.assert_array_equal(v, w)
        for one, other in zip(
            getattr(made, "parts", ()), getattr(expected, "parts", ()), strict=True
        ):
            np.testing.assert_array_equal(one.v, other.v)


def test_compiled_operators_of_objects_that_new_makes_are_captured():
    class Doubled(Copied):
        @fxc.compile
        def __imul__(self, k):
            self.v *= k * 2
            return self

    def program(x, k):
        made = x.copy()
        made *= k
        return made.v

    compiled = fxc.compile(program, fullgraph=True)
    x = Doubled(np.arange(4.0))
    np.testing.assert_array_equal(compiled(x, 1.5), program(x, 1.5))
    np.testing.assert_array_equal(compiled(x, 2.5), program(x, 2.5))


class Given:
    def __init__(self, a, b):
        self.a, self.b = a, b
        for name in ("a", "b"):
            if self.__getattribute__(name) is not None:
                self.__setattr__(name, np.copy(self.__getattribute__(name)))

    def total(self):
        return sum(self.__getattribute__(name).sum() for name in ("a", "b"))


class Answering(Given):
    def __getattr__(self, name):
        return np.ones(2)


def test_attributes_by_the_method_that_all_objects_have() -> None:
    def totals(x, given):
        mine = Given(x, x * 2)
        return mine.total(), given.total(), object.__getattribute__(given, "b") + 1, mine

    def missing(given):
        return given.__getattribute__("c")

    x = np.arange(3.0)
    compiled = fxc.compile(totals, fullgraph=True)
    for expected, found in zip(totals(x, Given(x, x)), compiled(x, Given(x, x)), strict=True):
        assert np.array_equal(getattr(expected, "a", expected), getattr(found, "a", found))
    with pytest.raises(AttributeError, match="'Given' object has no attribute 'c'"):
        fxc.compile(missing)(Given(x, x))
    with pytest.raises(fxc.CaptureError, match="__getattribute__"):
        fxc.compile(missing, fullgraph=True)(Answering(x, x))
