"""Variables of one type or size behind one arm of a branch, of another behind the other."""

import numpy as np
import pytest

import fxc
from tests.worlds import World, compare


def x8():
    return np.arange(1.0, 9.0)


def selects(p):
    if p.sum() > 3:
        p = p[p > 2]
    return p * 2


def selects_and_goes_on(p):
    q = p + 0
    if p.sum() > 3:
        q = q[q > 2]
    total = 0.0
    for v in q:
        total += v
    return total, q.sum(), len(q)


def every_second(p):
    q = p + 0
    if p.sum() > 3:
        q = q[::2]
    else:
        q = q * 3
    p[0] = 5
    return q + 1, q.sum(), len(q), p


def another_dtype(p):
    q = np.zeros(8, int)
    if p.sum() > 3:
        q = p * 2
    return q, q.dtype, q + 1


def several(p):
    q, r = 0, None
    if p[0] > 0:
        q = p[:3]
    elif p[1] > 0:
        r = p.astype(int)
    else:
        q = 1.5
    if r is None:
        return q * 2
    if p[2] < 0:
        return r
    return r[:2]


def in_a_loop(p):
    out = []
    for i in range(5):
        q = p + i
        if q[0] > 3:
            q = q[q > i]
        out.append(q.sum())
    return out


def in_a_long_loop(x, n):
    for i in range(n):
        if x[i % 8] > 5:
            y = x[:4]
        else:
            y = x.astype(int)
        x = x + y.sum() * 1e-3
    return x


def left_when_all_are_kept(x, most):
    total = 0.0
    for _ in range(most):
        keep = np.abs(x - x.mean()) <= 1.2 * x.std()
        if keep.all():
            total += 1
            break
        else:
            total += x[0]
        x = x[keep]
        total += x.sum()
    return x.mean(), total


def left_in_several_places(x, most):
    total = 0
    for _ in range(most):
        total += 2
        if x[0] < -50:
            x = -x
            continue
        keep = np.abs(x - x.mean()) <= 1.2 * x.std()
        for j in range(len(x)):
            if x[j] > 5:
                break
            total += j
        if keep.all():
            total += 100
            break
        x = x[keep]
        if len(x) < 4:
            continue
        total += 10000
    return x.sum(), total


def leaves_early(x):
    m = x
    if x[0] > 0:
        m = x[1:].astype(np.float32)
        if x[1] > 100:
            return m
        m = m * 2
    m = m + 1
    if m[0] > 4:
        raise ValueError("too much")
    return m.sum(), m


def helper(x):
    if x[0] > 0:
        x = x[2:]
    return float(x.sum()) + len(x)


def of_a_helper(x):
    return helper(x) + helper(-x)


def with_a_shadowed_name(x):
    range = 3.0
    if x[0] > 0:
        x = x[x > 2]
    return x * range


def in_a_branch_that_is_known(p, near):
    y = p[p > 0]
    if near > 0:
        chosen = np.nonzero(np.abs(y - near) < near)[0]
        top = np.argmax(y)
        if top not in chosen:
            chosen = np.append(top, chosen)
        y = y[chosen]
    if y.size == 0:
        return 0
    return y.sum()


def test_what_follows_a_branch_that_is_known():
    world = [(x8(), 2.0), (x8() * 100, 2.0), (x8() / 10, 2.0), (x8(), -1.0)]
    compare(lambda: World(in_a_branch_that_is_known, [(x.copy(), near) for x, near in world]))


class Model:
    def __init__(self):
        self.x = x8()
        self.n = 0

    def step(self, flag):
        c = np.zeros((8, 1), int)
        if np.any(self.x > flag):
            c = self.x[:, None] * 0.5
        self.n += 1
        self.x += c[:, 0]
        return c.sum(axis=0)


CALLS = [x8, lambda: -x8(), lambda: x8() * 100]
PROGRAMS = [
    *(selects, selects_and_goes_on, every_second, another_dtype, several, in_a_loop),
    *(of_a_helper,),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_differ(program):
    compare(lambda: World(program, [(make(),) for make in CALLS]))


def test_in_a_long_loop():
    compare(lambda: World(in_a_long_loop, [(make(), 50) for make in CALLS]))


@pytest.mark.parametrize("program", [left_when_all_are_kept, left_in_several_places])
def test_arms_that_leave_a_loop(program):
    compare(lambda: World(program, [(make(), 20) for make in CALLS] + [(-100 * x8(), 20)]))


def test_jumps():
    compare(lambda: World(leaves_early, [(-x8(),), (x8() * 100,), (x8() * 0 - 1,)]))
    compare(lambda: World(leaves_early, [(x8(),)]), eager=1)


def test_attributes():
    def world():
        m = Model()
        return World(m.step, [(0.5,), (100.0,), (2.0,)], lambda: m)

    compare(world)


def test_a_name_of_python_that_is_a_variable():
    compiled = fxc.compile(with_a_shadowed_name)
    for make in CALLS:
        np.testing.assert_array_equal(compiled(make()), with_a_shadowed_name(make()))


def many(x):
    for i in range(3):
        y = x if x[i] > 0 else x[:2]
    if x[0] > 0:
        y = x[:1]
    if x[1] > 0:
        z = y.astype(int)
    else:
        z = y
    if x[2] > 0:
        z = z[::2]
    if x[3] > 0:
        z = None
    return z


def test_one_behind_the_other():
    compiled = fxc.compile(many)
    for make in CALLS:
        expected, found = many(make()), compiled(make())
        assert type(found) is type(expected)
        np.testing.assert_array_equal(found, expected)


# ------------------------------------------------------------------ x if c else y, assigned


def stored(x, z):
    z[:] = (x - x.mean()) / x.std() if x.std() > 2 else 0
    return z


def added_in_a_loop(x, z):
    for k in range(len(x) - 2):
        w = x[k : k + 3]
        z[k : k + 3] += w / w.max() if z[k] > 2 else (0 if z[k] > 1 else w)
    return z


def used_later(x, z):
    for k in range(len(x) - 2):
        v = x[k : k + 3] if x[k] > 2 else 0.5
        z[k : k + 3] += 2 * v
    return z


def of_ranges(x, z):
    s = 0.0
    for v in x:
        cells = range(len(z)) if v > 2 else range(len(z) - 1, -1, -1)
        for i in cells:
            s = s * 0.5 + z[i] * v
    return s


def with_an_effect_in_the_test(x, z):
    items = [1, 2, 3]
    z[items[-1] :][:1] += x if items.pop() > x[0] else 1
    return z


@pytest.mark.parametrize("program", [stored, added_in_a_loop, used_later, of_ranges])
def test_choices_of_values_that_differ(program):
    compare(lambda: World(program, [(x8() % k, x8() % 3) for k in (3, 5, 8)]))


def test_a_choice_whose_test_has_an_effect():
    function = fxc.compile(with_an_effect_in_the_test)
    for k in (2, 4):
        x, z = x8()[:1] * k, x8()
        expected = with_an_effect_in_the_test(x, z.copy())
        np.testing.assert_array_equal(function(x, z), expected)
