"""Attributes and keys that loops and branches make: there in any case, or by a condition.

See Note [Places that are new].
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fxc


class Model:
    k = 7

    def __init__(self) -> None:
        self.u = np.arange(50.0)
        self.d: dict[str, Any] = {"a": 1.0}


class Slots:
    __slots__ = ("last", "twice", "u")

    def __init__(self) -> None:
        self.u = np.arange(50.0)


# ------------------------------------------------------------------ in loops


def in_a_loop(o, n, c):
    for i in range(n):
        o.mask = o.u > i
        o.last = i
    return 0


def read_behind(o, n, c):
    o.u += 1
    for i in range(n + 1):
        o.mask = o.u > i
    return o.mask


def read_in_the_next_iteration(o, n, c):
    for i in range(n):
        if i > 0:
            o.before = o.now
        o.now = o.u * i
    return 0


def moved_on(o, n, c):
    for _ in range(n):
        o.old = o.u
        o.u = o.u + 1
    return 0


def counted_while(o, n, c):
    t = 0.0
    while t < n:
        t += o.u[1] + 0.5
        o.t = t
    return t


def until_a_break(o, n, c):
    for i in range(n):
        o.a1 = i
        if o.u[i] > c:
            break
        o.a2 = i
    return 0


def in_two_loops(o, n, c):
    for i in range(n):
        for j in range(8):
            o.inner = o.u[j] + i
        o.outer = i
    return 0


def two_in_an_inner_loop(o, n, c):
    p = Model()
    for i in range(n):
        for j in range(n):
            p.low = o.u[j] + i
            p.high = p.low * 2
        o.u[0] += p.high
    return p


def by_turns(o, n, c):
    for i in range(n):
        if o.u[i] > c:
            o.zz = 1
        o.aa = 2
    return 0


def until_an_error(o, n, c):
    for i in range(n):
        o.w = i
        if o.u[i] > c:
            raise ValueError("too large")
    return 0


# ------------------------------------------------------------------ by a condition


def in_a_branch(o, n, c):
    if o.u[1] > c:
        o.z = 3.0
        o.a = o.u * 2
    o.b = 4
    return n


def in_both_arms(o, n, c):
    if o.u[1] > c:
        o.z = o.u + 1
        o.y = o.z
    else:
        o.z = o.u * 2
        o.y = o.u
    o.z += 1
    return o.y


def read_by_chance(o, n, c):
    if o.u[30] > c:
        o.z = o.u[1]
    return o.z


def asked_for(o, n, c):
    if o.u[1] > c:
        o.z = o.u[1]
    return 1 if hasattr(o, "z") else 2


def of_the_class_before(o, n, c):
    for i in range(n):
        if o.u[i] > c:
            o.k += 1
    return o.k


def found_in_a_loop(o, n, c):
    o.best = None
    for i in range(n):
        if o.u[i] > c:
            o.best = o.u[i]
            o.place = (i, "here")
    return 0


def one_name_more(o, n, c):
    if o.u[1] > c:
        o.p = o.u
    return 0


def a_text(o, n, c):
    if o.u[1] > c:
        o.state = "high"
    return 1


def again_later(o, n, c):
    if o.u[1] > c:
        o.x1 = 1
    o.y1 = 2
    o.x1 = 3
    return 0


def and_deleted(o, n, c):
    if o.u[30] > c:
        o.x1 = 1
    del o.x1
    return 0


def by_two_conditions(o, n, c):
    if o.u[1] > c:
        o.x1 = 1
    if o.u[2] > c:
        o.x1 = 2
        o.x2 = o.u[2]
    return 0


def in_any_order(o, n, c):
    if o.u[1] > c:
        o.aa = 1
    if o.u[2] > c:
        o.bb = 2
        o.d["bb"] = 1
    if o.u[40] > c:
        o.aa = 3
        o.d["aa"] = 3
    o.d["bb"] = 2
    return 0


def made_here(o, n, c):
    p = Model()
    for i in range(n):
        p.v = i
        if o.u[i] > c:
            p.w = o.u[i]
    return p


def in_slots(o, n, c):
    for i in range(n):
        o.last = i
        if o.u[i] > c:
            o.twice = o.u * 2
    return 0


# ------------------------------------------------------------------ several by one condition


def all_at_once(o, n, c):
    for i in range(n):
        o.u = o.u * 0.9
        if o.u[n] < c:
            o.zz = True
            o.aa = i
            o.best = o.u.max()
            break
    return getattr(o, "aa", -1) + hasattr(o, "best")


def all_at_once_in_a_new_object(o, n, c):
    p = Model()
    for i in range(n):
        if o.u[i] > c:
            p.zz, p.last = o.u[i], i
            if o.u[i] > c + 2:
                p.aa = i
                continue
            p.last = -i
    return p


def all_at_once_in_two_loops(o, n, c):
    p = Model()
    for i in range(n):
        for j in range(5):
            if o.u[i] + j > c:
                p.zz, p.aa = i, j
                break
        if o.u[i] > c + 3:
            p.zz, p.aa = -1, o.u[i]
    p.last = hasattr(p, "aa")
    return p


def with_more_in_one_arm(o, n, c):
    for i in range(n):
        if o.u[i] > c + 5:
            o.zz, o.aa = i, 1.5
        elif o.u[i] > c:
            o.zz = i
    return hasattr(o, "aa")


def again_in_a_while(o, n, c):
    for i in range(n):
        if o.u[i] > c:
            o.d["zz"], o.d["aa"] = i, o.u[i]
            break
    t = 0
    while t < n:
        t += 1
        if o.u[t] > 2 * c:
            o.d["zz"], o.d["aa"] = t, -1
            return o.d["aa"]
    return 0.5


def all_keys_at_once(o, n, c):
    found: dict[str, Any] = {"n": n}
    for i in range(n):
        if o.u[i] > c:
            found["zz"] = True
            found["aa"] = o.u * i
            break
    return found, len(found), found.get("zz", False)


# ------------------------------------------------------------------ keys


def keys_in_a_branch(o, n, c):
    if o.u[1] > c:
        o.d["tail"] = o.u.sum()
        o.d["all"] = o.u
    o.d["x"] = 1
    return 1


def a_key_asked_for(o, n, c):
    if o.u[1] > c:
        o.d["tail"] = o.u.sum()
    return 5 if "tail" in o.d else 6


def keys_in_a_loop(o, n, c):
    for i in range(n):
        o.d["z"] = o.u[i]
        o.d["b"] = i
    return o.d.get("missing", 1)


def keys_of_a_new_dict(o, n, c):
    found = {"first": 1}
    for i in range(n + 1):
        found["z"] = o.u[i]
        found["b"] = o.u * i
    found["last"] = 2
    return found


def known_while_they_come_up(o, n, c):
    found: dict[str, Any] = {"first": 1}
    t = 0
    for i in range(n):
        if "z" in found:
            t += 1
        t += 10 * len(found)
        found["z"] = o.u[i]
    return t


def in_a_new_dict(o, n, c):
    found = {"first": 1}
    t = 0
    for i in range(n):
        if o.u[i] > c:
            found["z"] = i
        t += len(found)
    return t


def reasons_to_stop(o, n, c):
    found: dict[str, Any] = {}
    if o.u[1] > c:
        found["tolx"] = 1e-11
    if o.u[3] > c:
        found.update(steps=n, u=o.u * 2)
    if found:
        o.u += 1
    return found, len(found), found.get("steps", -1), "tolx" in found


def after_an_early_return(o, n, c):
    found: dict[str, Any] = {"all": o.u.sum()}
    y = o.u[o.u > c]
    if len(y) < 1:
        return found
    found["tail"] = y[0]
    return found


def one_or_the_other_key(o, n, c):
    found: dict[str, Any] = {"s": 1}
    if o.u[1] > c:
        found["a"] = o.u * 2
    else:
        found["b"] = 5
    found["s"] = found.pop("s") + found.setdefault("d", 7)
    return found


def until_a_break_in_a_new_dict(o, n, c):
    found: dict[str, Any] = {}
    for i in range(n):
        found["last"] = i
        if o.u[i] > c:
            found["hit"] = o.u[i]
            break
    return found


def a_key_read_by_chance(o, n, c):
    found = {}
    if o.u[1] > c:
        found["k"] = 2
    return found["k"] + n


# ------------------------------------------------------------------ of objects that are made here


def with_a_default(o, n, c):
    p = Model()
    for i in range(n):
        p.before = getattr(p, "now", -1)
        p.now = i
    return p


def with_a_handler(o, n, c):
    p = Model()
    for _ in range(n):
        try:
            p.count += 1
        except AttributeError:
            p.count = 0
    return p


def once(o, n, c):
    p = Model()
    for i in range(n):
        if not hasattr(p, "first"):
            p.first = o.u[i]
        p.last = o.u[i]
    return p


def by_a_helper(o, n, c):
    def make(k):
        p = Model()
        if o.u[k] > c:
            p.z = o.u[k]
        return p

    one, other = make(1), make(2)
    t = 0.0
    for k in range(n):
        p = make(k)
        if hasattr(p, "z"):
            t += p.z
    one.t = t
    one.other = other
    return one


PROGRAMS: list[Callable[..., Any]] = [
    in_a_loop, read_behind, read_in_the_next_iteration, moved_on, counted_while, until_a_break,
    in_two_loops, two_in_an_inner_loop, by_turns, until_an_error, in_a_branch, in_both_arms, read_by_chance, asked_for,
    of_the_class_before, found_in_a_loop, one_name_more, a_text, again_later, and_deleted,
    by_two_conditions, in_any_order, made_here, in_slots, all_at_once, all_at_once_in_a_new_object,
    all_at_once_in_two_loops, with_more_in_one_arm, again_in_a_while, all_keys_at_once,
    keys_in_a_branch, a_key_asked_for, keys_in_a_loop,
    keys_of_a_new_dict, in_a_new_dict, reasons_to_stop, after_an_early_return, one_or_the_other_key,
    until_a_break_in_a_new_dict, a_key_read_by_chance, known_while_they_come_up, with_a_default, with_a_handler, once, by_a_helper,
]  # fmt: skip
RAISING = {until_an_error, read_by_chance, and_deleted, a_key_read_by_chance}


def shown(x: Any) -> Any:
    """All that can be seen of an object, a dict or a value: kinds, bits, order of names."""
    if isinstance(x, Slots):
        return [(name, shown(getattr(x, name))) for name in x.__slots__ if hasattr(x, name)]
    if isinstance(x, Model):
        return "Model", shown(vars(x))
    if isinstance(x, dict):
        return [(name, shown(value)) for name, value in x.items()]
    return type(x).__name__, str(getattr(x, "dtype", "")), repr(x)


def seen(program: Callable[..., Any], owner: Any, *args: Any) -> Any:
    """What a call gives or raises, what it leaves of an object, and which parts are one object."""
    kept = owner.u
    try:
        found: Any = program(owner, *args)
    except Exception as error:
        if isinstance(error, fxc.CaptureError):
            raise
        found = repr(error)
    names = [name for name in ("u", "old", "p", "y", "z", "mask") if hasattr(owner, name)]
    parts = [kept, found, *(getattr(owner, name) for name in names)]
    arrays = [x for x in parts if isinstance(x, np.ndarray)]
    return shown(found), shown(owner), [[x is y for y in arrays] for x in arrays]


CALLS = ((40, 0.5), (40, 30.5), (40, 90.0), (1, -1.0), (0, 0.5), (37, 3.5))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_as_python(program: Callable[..., Any]) -> None:
    kind = Slots if program is in_slots else Model
    compiled = fxc.compile(program, fullgraph=program not in RAISING)
    for args in CALLS:
        assert seen(compiled, kind(), *args) == seen(program, kind(), *args), args
    raised = sum(shown(seen(program, kind(), *args)[0])[2].startswith("'") for args in CALLS)
    if program not in RAISING:
        assert compiled.cache_info().eager_calls == 0
    assert compiled.cache_info().parts == 0
    assert raised == 0 or program in RAISING


@pytest.mark.parametrize("program", [all_at_once, with_more_in_one_arm, again_in_a_while])
def test_a_second_call_with_the_same_object(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for first in CALLS:
        one, other = Model(), Model()
        for args in (first, (39, 2.5), first):
            assert seen(compiled, one, *args) == seen(program, other, *args), (first, args)


def test_an_attribute_of_the_object_or_of_its_class() -> None:
    """An object with the attribute, behind one whose class has it."""

    def program(o, c):
        if o.u[1] > c:
            o.k = 3
        return o.k

    compiled = fxc.compile(program, fullgraph=True)
    for own, c in ((False, 0.5), (False, 9.0), (True, 0.5), (True, 9.0), (False, 9.0)):
        results = []
        for each in (program, compiled):
            o = Model()
            if own:
                o.k = 5
            results.append((each(o, c), list(vars(o)), o.k))
        assert results[0] == results[1]


class Table(dict[str, Any]):
    pass


def described(x: Any) -> Any:
    """The items and the attributes of a dict or an object."""
    items = shown(x) if isinstance(x, dict) else None
    return type(x).__name__, items, None if type(x) is dict else shown(vars(x))


@pytest.mark.parametrize("kind", [Model, SimpleNamespace, Table])
def test_a_namespace_and_its_object(kind: Any) -> None:
    """Both leave the function: a change to the one is seen in the other."""

    def returned(o, x):
        p = kind()
        p.v = x * 2
        return p.__dict__, p

    def behind(o, x):
        p = kind()
        names = p.__dict__
        names["v"] = x * 2
        return p, names

    def stored(o, x):
        p = kind()
        o.names, p.v = p.__dict__, x * 2
        o.owner = p
        return (p,)

    def alone(o, x):
        p = kind()
        p.v = x * 2
        return (p.__dict__,)

    def of_two(o, x):
        p, q = kind(), kind()
        p.v, q.v = x * 2, x * 3
        return q.__dict__, p, p.__dict__, q

    for program in (returned, behind, stored, alone, of_two):
        compiled = fxc.compile(program, fullgraph=True)
        for n in (3, 4, 1):
            ends = []
            for fn in (program, compiled):
                o = Model()
                parts = [*fn(o, np.arange(float(n)))]
                parts += [vars(o)[each] for each in ("names", "owner") if hasattr(o, each)]
                spaces = [x if type(x) is dict else vars(x) for x in parts]
                same = [[x is y for y in parts] for x in parts]
                one = [[x is y for y in spaces] for x in spaces]
                ends.append(([described(x) for x in parts], same, one))
            assert ends[0] == ends[1], program.__name__
        assert compiled.cache_info().eager_calls == 0


def test_a_namespace_that_is_one_no_more() -> None:
    def program(x):
        p = Table()
        names = p.__dict__
        names["v"] = x * 2
        p.__dict__ = p
        p.w = x
        return names, p

    names, table = fxc.compile(program, fullgraph=True)(np.ones(2))
    assert [shown(names), shown(table)] == [*map(shown, program(np.ones(2)))]
    assert vars(table) is table


def test_what_is_refused() -> None:
    def in_another_order(o, n, c):
        if o.u[1] > c:
            o.zz, o.aa = 1, 2
        else:
            o.aa = 3
            o.zz = 4

    def all_names(o, n, c):
        if o.u[1] > c:
            o.aa = 1
        import copy

        return copy.copy(o)

    def all_keys(o, n, c):
        if o.u[1] > c:
            o.d["aa"] = 1
        return len(o.d)

    def in_a_namespace(o, n, c):
        p = Model()
        names = p.__dict__
        t = 0
        for i in range(n):
            t += len(names)
            if o.u[i] > c:
                p.z = 1
        return t

    def new_keys_in_another_order(o, n, c):
        found = {}
        if o.u[1] > c:
            found["a"] = 1
        found["b"] = 2
        found["a"] = 3
        return found

    def compared(o, n, c):
        found = {}
        if o.u[1] > c:
            found["a"] = 1
        return found == {"a": 1}

    def run_over(o, n, c):
        found = {}
        if o.u[1] > c:
            found["a"] = 1
        return [*found], {**found}

    def first_or_last(o, n, c):
        p = Model()
        if o.u[1] > c:
            p.aa = 1
        if o.u[2] > c:
            p.bb = 2
        if o.u[40] > c:
            p.aa = 3
        return p

    def before_or_behind(o, n, c):
        p = Model()
        if o.u[1] > c:
            p.aa = 1
        p.bb = 2
        p.aa = 3
        return p

    def behind_another_one(o, n, c):
        p = Model()
        for i in range(n):
            if o.u[i] > c:
                p.aa, p.bb = i, 2
        p.bb = 3
        for i in range(n):
            if o.u[i] > c - 1:
                p.aa = i
        return p

    def by_turns_in_a_loop(o, n, c):
        p = Model()
        for i in range(n):
            if o.u[i] > c:
                p.aa, p.bb = i, 2
            elif o.u[i] > c - 1:
                p.bb = i
        return p

    def by_turns_in_an_arm(o, n, c):
        if o.u[40] > c:
            for i in range(n):
                if o.u[i] > c:
                    o.zz = 1
                o.aa = 2
        return 0

    def deleted_between(o, n, c):
        p = Model()
        p.aa = 1
        if o.u[1] > c:
            p.bb = 2
        del p.aa
        if o.u[2] > c + 30:
            p.aa = 3
        if o.u[40] > c:
            p.aa, p.bb = 4, 5
        return p

    def again_in_an_arm(o, n, c):
        if o.u[5] > c:
            if o.u[1] > c:
                o.d["z"] = 1
            o.d["y"] = 2
            o.d["z"] = 3
        return 0

    def gone(o, n, c):
        p = Model()
        if o.u[1] > c:
            p.k = 1
        del p.k
        return p

    programs = (
        *(in_another_order, all_names, all_keys, in_a_namespace),
        *(new_keys_in_another_order, compared, run_over),
        *(first_or_last, before_or_behind, again_in_an_arm, gone),
        *(behind_another_one, by_turns_in_a_loop, by_turns_in_an_arm, deleted_between),
    )
    for program in programs:
        with pytest.raises(fxc.CaptureError):
            fxc.compile(program, fullgraph=True)(Model(), 40, 0.5)
        compiled = fxc.compile(program)
        with pytest.warns(fxc.CaptureWarning):
            compiled(Model(), 40, 0.5)
        for args in (*CALLS[:3], (40, 1.5)):
            assert seen(compiled, Model(), *args) == seen(program, Model(), *args)
