"""Variables that hold one object or another, by a branch or a loop."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
import pytest

import fxc
from tests.worlds import World, compare


def x8():
    return np.arange(1.0, 9.0)


class V:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return V(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return V(self.x * k, self.y * k)


class Compared(V):
    def __eq__(self, other):
        return bool(self.x == other.x)

    def __hash__(self):
        return 3


class Plain:
    """Without special methods."""

    def __init__(self, x, more=None):
        self.x, self.more = x, more


class Ring:
    def __init__(self, x):
        self.x = x
        self.me = self


def sums(p, x):
    q = V(0.0, x)
    for i in range(6):
        if x[i] > 2:
            q = q + p
    return q.x, q.y


def steps(p, x, n=5):
    for i in range(n):
        p = p + V(x[i % 8], 1.0) * 0.5
    return p.x, p.y


def many_steps(p, x):
    return steps(p, x, 400)


def sometimes(p, x):
    q = p
    for i in range(300):
        if x[i % 8] > 2:
            q = q + V(x[i % 8], 1.0)
    return q.x


def returned(p, x):
    q = p + p if x[0] > 0 else p
    return q


def returned_beside(p, x):
    if x[0] > 0:
        q = p * 2.0
    else:
        q = p
    return q, p, [q]


def made_and_returned(p, x):
    r = V(x, 0.0)
    q = r
    if x[0] > 0:
        q = r * 2
    return q, r


def changed_later(p, x):
    if x[0] > 0:
        q = p + p
    else:
        q = p
    q.x = 3.0
    return q.x, p.x


def changed_other(p, x):
    if x[0] > 0:
        q = p + p
    else:
        q = p
    p.x = 5.0
    return q.x


def changed_array(p, x):
    p = V(x, 1.0)
    if x[0] > 0:
        q = p + p
    else:
        q = p
    p.x[0] = 50.0
    return q.x, p.x


def asked(p, x):
    if x[0] > 0:
        q = p + p
    else:
        q = p
    return q is p, q.x


def compared(p, x):
    if x[0] > 0:
        q = p + p
    else:
        q = p
    return q == p, q != p, q.x


def listed(p, x):
    if x[0] > 0:
        q = p + p
    else:
        q = p
    return [p, V(1.0, 1.0), q].index(q), q in [p], {p: 1}.get(q)


def plain(p, x):
    a = b = Plain(x[0], x)
    if x[1] > 0:
        a = Plain(x[1], x * 2)
    return a.x, a.more + b.more, a is b


def nested(p, x):
    h = Plain(V(x[0], 1.0), p)
    for i in range(50):
        if x[i % 8] > 3:
            h = Plain(h.x + V(1.0, x[i % 8]), h.more)
    return h.x.x, h.x.y, h.more.x


def stored(p, x):
    box = Plain(None)
    if x[0] > 0:
        q = p * 2.0
    else:
        q = p * 3.0
    box.more = q
    return box


def of_other_types(p, x):
    if x[0] > 0:
        q = V(x, 1)
    else:
        q = V(x[:3], 2.5)
    return q.x * 2, q.y


def of_other_classes(p, x):
    q = V(x, 1.0) if x[0] > 0 else Compared(x, 2.0)
    return q.x * 2, q.y, type(q).__name__


def of_other_attributes(p, x):
    q = Plain(x)
    if x[0] > 0:
        q = Plain(x * 2)
        q.extra = 5.0
    return q.x, getattr(q, "extra", 1.0)


PROGRAMS = [
    *(sums, steps, many_steps, sometimes),
    *(changed_later, changed_other, changed_array, asked, compared, listed, plain, nested, stored),
    *(of_other_types, of_other_classes, of_other_attributes, made_and_returned, returned),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(program):
    def world():
        p = V(1.0, 2.0)
        return World(program, [(p, x8()), (p, -x8()), (p, x8() * 0)], lambda: p)

    compare(world)


def test_refused():
    """The caller would see which of the objects it is."""
    with pytest.raises(fxc.CaptureError, match="cannot be captured"):
        fxc.compile(returned_beside, fullgraph=True)(V(1.0, 2.0), x8())


def test_an_equality_of_their_own():
    def world():
        p = Compared(1.0, 2.0)
        return World(compared, [(p, x8()), (p, -x8())], lambda: p)

    compare(world)


def ring(r, x):
    if x[0] > 0:
        r = Ring(x[1])
    return r.me.x


def test_what_holds_itself():
    compare(lambda: World(ring, [(Ring(2.0), x8()), (Ring(2.0), -x8())]))


@dataclass
class Track:
    times: list = field(default_factory=list)
    values: list = field(default_factory=lambda: [0.0])
    last: deque = field(default_factory=deque)

    def note(self, k, v):
        if v > 1:
            self.times.append(None if v > 5 else k)
            self.values.append(float(v))
        self.last.append(v)
        if len(self.last) > 3:
            self.last.popleft()


def tracked(x):
    tracks = [Track() for _ in range(2)]
    for k, v in enumerate(x):
        tracks[0].note(k, v)
        if v < 3:
            tracks[1].times.append(v)
    return tracks


def test_lists_that_fields_begin_with() -> None:
    """Loops and branches may append to them."""
    compiled = fxc.compile(tracked, fullgraph=True)
    for x in (np.arange(20.0) % 7, np.arange(9.0)):
        assert repr(compiled(x)) == repr(tracked(x))
    assert compiled.cache_info().eager_calls == 0
