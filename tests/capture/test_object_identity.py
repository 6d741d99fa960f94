"""Copies, identities, and whose memory an array shows."""

import collections
import copy
import dataclasses
import warnings
from typing import ClassVar

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run
from tests.worlds import World, compare


def x8():
    return np.arange(1.0, 9.0)


class State:
    def __init__(self, u, k=0):
        self.u, self.k = u, k
        self.parts = [u, {"u": u}]
        self.me = None

    def step(self, dt):
        new = copy.deepcopy(self)
        new.u += dt
        new.k += 1
        return new


class Own:
    def __init__(self, x):
        self.x = x

    def __copy__(self):
        return Own(self.x * 2)

    def __deepcopy__(self, memo):
        made = Own(copy.deepcopy(self.x, memo))
        memo[id(self)] = made
        return made


class Slots:
    __slots__ = ("a", "b", "c")

    def __init__(self, a, b):
        self.a, self.b = a, b


@dataclasses.dataclass
class Pair:
    a: object
    b: object


Row = collections.namedtuple("Row", "a b")


def changes_a_copy(s):
    t = copy.copy(s)
    t.u = t.u + 1
    t.parts.append(3)
    t.new = 5
    return t, s


def copies_what_it_changed(s, x):
    s.k = 7
    s.more = x
    return copy.copy(s), copy.deepcopy(s)


def in_a_loop(x, n):
    best = copy.deepcopy(x)
    for i in range(n):
        new = copy.copy(x)
        new[i % 8] += i
        if new.sum() > best.sum():
            best = new.copy()
    return best


def made_here(x):
    s = State(x)
    t = copy.deepcopy(s)
    s.u += 1
    return s, t, t.parts[0] is t.u


COPIES = {
    "array": (lambda x: [copy.copy(x), copy.deepcopy(x)], lambda: (x8(),)),
    "order": (lambda x: (copy.copy(x.T), copy.deepcopy(x)), lambda: (np.ones((2, 3)).T,)),
    "view": (lambda x: copy.copy(x[::2]), lambda: (x8(),)),
    "number": (lambda x: (copy.copy(x[0]), copy.deepcopy(x.sum()), copy.copy(2)), lambda: (x8(),)),
    "list": (lambda q: (copy.copy(q), copy.deepcopy(q), q), lambda: ([x := x8(), x, [x, 1]],)),
    "dict": (lambda d: (copy.copy(d), copy.deepcopy(d), d), lambda: ({"a": x8(), 2: [1, x8()]},)),
    "tuple": (lambda t: (copy.copy(t), copy.deepcopy(t)), lambda: ((x8(), (1, "a"), [2]),)),
    "named": (lambda r: (copy.copy(r), copy.deepcopy(r)), lambda: (Row(x8(), [1]),)),
    "set": (lambda s, x: (copy.copy(s), copy.deepcopy(s), x), lambda: ({1, 2}, x8())),
    "shared": (lambda x, f: (copy.deepcopy([x, x, f, f]), f), lambda: (x8(), len)),
    "object": (lambda s: (copy.copy(s), copy.deepcopy(s)), lambda: (State(x8()),)),
    "changed copy": (changes_a_copy, lambda: (State(x8()),)),
    "copy of what changed": (copies_what_it_changed, lambda: (State(x8()), x8())),
    "made": (made_here, lambda: (x8(),)),
    "slots": (lambda s: (copy.copy(s), copy.deepcopy(s)), lambda: (Slots(x8(), 1),)),
    "dataclass": (lambda p: (copy.copy(p), copy.deepcopy(p)), lambda: (Pair(x8(), [x8()]),)),
    "replace": (lambda p, x: dataclasses.replace(p, a=x), lambda: (Pair(x8(), [x8()]), x8())),
    "asdict": (
        lambda p: (dataclasses.asdict(p), dataclasses.astuple(p)),
        lambda: (Pair(x8(), [x8()]),),
    ),
    "asdict of made": (lambda x: dataclasses.asdict(Pair(x, {"k": x})), lambda: (x8(),)),
    "fields": (
        lambda p: [f.name for f in dataclasses.fields(p) if f.default is dataclasses.MISSING],
        lambda: (Pair(1, x8()),),
    ),
    "own": (lambda o: (copy.copy(o), copy.deepcopy([o, o])), lambda: (Own(x8()),)),
    "step": (lambda s: s.step(0.5).step(0.25), lambda: (State(x8()),)),
    "loop": (in_a_loop, lambda: (x8(), 100)),
}


@pytest.mark.parametrize("name", COPIES)
def test_copies(name):
    program, make = COPIES[name]

    def world():
        args = make()
        return World(program, [args, args, make()], lambda: args)

    compare(world)


def test_another_attribute_is_copied_too():
    def world():
        s = State(x8())
        return World(lambda s: copy.copy(s), [(s,), lambda: setattr(s, "more", 1.5), (s,)])

    compare(world)


def looked_at(x, y):
    z = x + 1
    view = z[2:5]
    return (
        [np.shares_memory(x, y), np.may_share_memory(x, y), np.shares_memory(x, x)],
        [np.shares_memory(x, z), np.shares_memory(z, view), np.shares_memory(view, z[5:])],
        [np.may_share_memory(z[::2], z[1::2]), np.shares_memory(z[::2], z[1::2])],
        [np.shares_memory(x[:3], x[2:]), np.shares_memory(x[:0], x), x.base is None],
        [view.base is z, z.base is None, view[1:].base is z, x[1:].base is x, x.base is y],
        [x.flags.owndata, z.flags.owndata, view.flags.owndata],
        [id(x) == id(x), id(x) != id(z), len({id(x), id(z), id(x)}), id(x) == id(y)],
    )


class Registry:
    __known__: ClassVar = {"first": 0}


def test_what_a_class_holds_under_a_special_name_is_read_anew():
    @fxc.compile(fullgraph=True)
    def register(x):
        Registry.__known__["first"] += 1
        return x * Registry.__known__["first"], Registry.__known__ is Registry().__known__

    for expected in (1.0, 2.0, 3.0):
        found, same = register(np.ones(2))
        assert found.tolist() == [expected] * 2
        assert same
    assert Registry.__known__ == {"first": 3}


def test_questions_about_memory():
    a, b = x8(), x8()
    compare(lambda: World(looked_at, [(a, b), (a, a), (a[1:], b), (a[2:], a), (a[::2], a[1::2])]))


def identities_as_keys(x, y):
    found = {id(x): 1}
    found[id(y)] = 2
    return found[id(x)], len({id(x), id(y)})


def test_identities_that_are_keys():
    a, b = x8(), x8()
    compare(lambda: World(identities_as_keys, [(a, b), (a, a), (b, a)]))


def is_true(x):
    both, last = bool(x[0] > 0 and x[1] > 2), False
    for v in x:
        if v > 3:
            last = v > 5
    if both is True:
        x = x + 1
    known = (last is True, last is False, last is not False, (x[0] > 0) is True, both is x)
    return x, both is False, both is bool(x[2] > 0), both is None, known


def test_bools():
    compiled = fxc.compile(is_true, fullgraph=True)
    for x in (x8(), -x8(), x8() / 8, x8() + 3):
        expected = is_true(x)
        for one, other in zip(expected, compiled(x), strict=True):
            assert type(one) is type(other)
            np.testing.assert_array_equal(one, other)
    assert compiled.cache_info().eager_calls == 0


def freezes(x):
    y = x * 2
    y.flags.writeable = False
    return y, y[1:], y.flags.writeable, y.sum()


def freezes_the_argument(x):
    view = x[1:]
    x.setflags(write=False)
    view += 1
    return x.sum(), x.flags["WRITEABLE"], x[2:]


def thaws(x):
    y = x + 1
    y.flags.writeable = False
    z = y[0]
    y.flags["W"] = True
    y += z
    return y


def writes_what_is_frozen(x):
    y = x + 1
    x += 1
    y.flags.writeable = False
    y += 1
    return y


def handles_what_is_frozen(x):
    y = x + 1
    y.flags.writeable = False
    try:
        y[0] = 1
    except ValueError as error:
        return y, str(error)
    return y


class Frozen:
    def __init__(self, x):
        self.x = x.copy()
        self.x.flags.writeable = False


@pytest.mark.parametrize(
    "program", [freezes, freezes_the_argument, thaws, handles_what_is_frozen, lambda x: Frozen(x)]
)
def test_flags(program):
    compare(lambda: World(program, [(x8(),), (x8(),), (x8() * 2,)]))


def test_a_write_to_what_is_frozen():
    compare(lambda: World(writes_what_is_frozen, [(x8(),)]), eager=1)


@pytest.mark.parametrize(
    "program, message",
    [
        (lambda x: id(x) + 1, "the number that id"),
        (lambda x: id(x), "the number that id"),
        (lambda x: f"{id(x)}", "the number that id"),
        (lambda x: np.broadcast_to(x, (2, 8)).base, "x.base of a view by strides"),
        (lambda x: setattr(np.broadcast_to(x, (2, 8)).flags, "writeable", True), "setting"),
    ],
)
def test_refused(program, message):
    compiled = fxc.compile(program, fullgraph=True)
    with pytest.raises(fxc.CaptureError, match=message):
        compiled(x8())


def first_of_found(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append((x[i], i))
    best = found[0]
    return best is found[0], best is found[-1], best


def kept_by_a_loop(x):
    best = start = (x[0], 0)
    for i in range(len(x)):
        if x[i] > best[0] + 5:
            best = (x[i], i)
    return best is start, best is not None, best


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", [first_of_found, kept_by_a_loop])
def test_tuples_that_may_be_one(program):
    compiled = fxc.compile(program)
    for x in (np.array([1.0, 3.0, 2.0]), np.array([-1.0, 3.0]), np.array([1.0, 9.0, 2.0, 30.0])):
        assert difference(run(program, (x,)), run(compiled, (x,))) == ""


# Python warns of these comparisons where the source is compiled.
WITH_LITERALS = """
def small(x, n, c):
    found = [n is 3, 3 is n, n is not 3, len(x) is 3, c is 3, (n > 2) is 1, x[0] is 3, None is x]
    for i in range(n):
        if i is 2:
            x[i] = 9.0
        elif x[i] > 0 and i + n is not 4:
            x[i] = -1.0
    return found, x


def large(x, n):
    return x + 1 if n is 1000 else x
"""


@pytest.fixture
def with_literals(tmp_path):
    path = tmp_path / "literals.py"
    path.write_text(WITH_LITERALS, encoding="utf-8")
    space = {}
    with warnings.catch_warnings(action="ignore"):
        exec(compile(WITH_LITERALS, str(path), "exec"), space)
    return space


@pytest.mark.parametrize("dynamic", [False, True])
def test_small_ints_are_one_object(with_literals, dynamic):
    """CPython has one object of each int from -5 to 256."""

    def make():
        calls = [(x8(), 3, 3.0), (x8()[:3], 8 // 2 - 1, 1.0), (x8(), 4, 3)]
        return World(with_literals["small"], calls)

    compare(make, dynamic=dynamic)


def test_whether_a_large_int_is_one_object_is_not_known(with_literals):
    with pytest.raises(fxc.CaptureError, match="'is' of two equal ints cannot be captured"):
        fxc.compile(with_literals["large"], fullgraph=True)(x8(), 10**3)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_lists_at_places_that_depend_on_data_are_those_of_the_list():
    """Rows of one length are read of an array, where they have no identity."""

    def made(v, n, rows):
        r = [list(row) for row in rows]
        return r[0] is r[int(v[0]) % n], r[int(v[0])] is r[v[0] - 1]

    def given(v, n, rows):
        return rows[int(v[0]) % n] is rows[0], rows[int(v[0]) % n] is not rows[1]

    for fn in (made, given):
        compiled = fxc.compile(fn)
        for v, n in ((0, 2), (1, 2), (1, 1)):
            args = np.array([v]), n, [[1, 2], [3, 4]]
            assert run(fn, args).result == run(compiled, args).result
