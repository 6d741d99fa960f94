"""Pytrees."""

import dataclasses
import sys
from collections import OrderedDict, namedtuple
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fxc
from fxc.ir.tree import LEAF, NONE, TreeSpec, flatten, unflatten

Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class State:
    u: Any
    v: Any = None


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    inner: Any


@dataclasses.dataclass
class Checked:
    x: Any

    def __post_init__(self):
        raise AssertionError("the checks of the user's class are not run on other leaves")


# All of Unicode, which makes no difference to a tree, takes Hypothesis a second to set up.
texts = st.text("ab_é", max_size=3)
trees = st.recursive(
    st.one_of(st.none(), st.integers(), texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.integers(), texts), inner, max_size=3),
        st.builds(Point, inner, inner),
        st.builds(State, inner, inner),
        st.builds(Frozen, inner),
    ),
    max_leaves=12,
)


@given(trees)
def test_trees_are_rebuilt(tree):
    leaves, spec = flatten(tree)
    again = unflatten(spec, leaves)
    assert again == tree
    assert type(again) is type(tree)
    assert flatten(again) == (leaves, spec)
    assert spec.leaf_count == len(leaves)
    assert hash(spec) == hash(flatten(again)[1])


@given(trees)
def test_other_leaves_take_their_places(tree):
    leaves, spec = flatten(tree)
    others = [f"leaf {place}" for place in range(len(leaves))]
    assert flatten(unflatten(spec, others)) == (others, spec)


@pytest.mark.parametrize(
    "tree, leaves, count",
    [
        (5, [5], 1),
        (None, [], 0),
        ((), [], 0),
        ([1, (2, [3])], [1, 2, 3], 3),
        ({"b": 1, "a": 2}, [1, 2], 2),
        (Point(1, Point(2, 3)), [1, 2, 3], 3),
        (State([1], {"k": 2}), [1, 2], 2),
        (Frozen((1, None, 2)), [1, 2], 2),
    ],
    ids=str,
)
def test_leaves_come_in_order(tree, leaves, count):
    found, spec = flatten(tree)
    assert found == leaves
    assert spec.leaf_count == count


class OwnList(list):
    pass


@pytest.mark.parametrize(
    "leaf",
    [
        np.zeros(3),
        "text",
        {1, 2},
        OwnList([1]),
        OrderedDict(a=1),
        State,
        range(3),
    ],
    ids=lambda leaf: type(leaf).__name__,
)
def test_other_objects_are_leaves(leaf):
    (found,), spec = flatten(leaf)
    assert found is leaf
    assert spec == LEAF


def test_specs_tell_trees_apart():
    specs = [
        flatten(tree)[1]
        for tree in [1, None, (1,), [1], {"a": 1}, {"b": 1}, Frozen(1), (1, 2), (1, None), ((1,),)]
    ]
    assert len(set(specs)) == len(specs)
    assert flatten({"a": 1, "b": 2})[1] != flatten({"b": 1, "a": 2})[1]
    assert (specs[0], specs[1]) == (LEAF, NONE)
    assert specs[2] == TreeSpec(tuple, (), (LEAF,))


def test_new_containers_are_made():
    inner = [1]
    leaves, spec = flatten((inner,))
    (again,) = unflatten(spec, leaves)
    assert again is not inner


def test_dataclasses_are_rebuilt_without_their_init():
    made = object.__new__(Checked)
    made.x = 1
    leaves, spec = flatten(made)
    assert unflatten(spec, [7]).x == 7
    assert leaves == [1]


def test_too_few_leaves():
    _, spec = flatten([1, 2])
    with pytest.raises((StopIteration, RuntimeError)):
        unflatten(spec, [1])


# ------------------------------------------------------------------ registered types


class Box:
    def __init__(self, items, name):
        self.items, self.name = items, name

    def scaled(self, k):
        return Box([item * k for item in self.items], self.name)


class Stack(tuple):
    __slots__ = ()


fxc.register_pytree_node(
    Box, lambda box: (box.items, box.name), lambda name, items: Box(list(items), name)
)
fxc.register_pytree_node(Stack, lambda s: (tuple(s), None), lambda _, items: Stack(items))


def test_registered_types_are_containers():
    leaves, spec = flatten({"b": Box([1, Stack((2, 3))], "n")})
    assert leaves == [1, 2, 3]
    again = unflatten(spec, leaves)["b"]
    assert (again.name, again.items, type(again.items[1])) == ("n", [1, (2, 3)], Stack)
    assert flatten(Box([1, 2], "n"))[1] != flatten(Box([1, 2], "m"))[1]


def test_registering_twice_is_an_error():
    for kind in (Box, list, dict, tuple):
        with pytest.raises(ValueError, match=f"{kind.__name__} is a pytree node already"):
            fxc.register_pytree_node(kind, lambda x: ((), None), lambda _, items: None)


def test_registered_types_are_carried_and_chosen():
    def f(box, x):
        carried = fxc.fori_loop(0, x.sum().astype(int), lambda i, b: b.scaled(2.0), box)
        chosen = fxc.cond(x.sum() > 0, lambda b: b.scaled(3.0), lambda b: b, box)
        return carried, chosen, Box([x], "new")

    x = np.array([1.0, 1.0])
    box = Box([x + 1, np.float64(2)], "b")
    for result, expected in zip(fxc.compile(f, fullgraph=True)(box, x), f(box, x), strict=True):
        assert (type(result), result.name) == (Box, expected.name)
        assert [np.asarray(i).tolist() for i in result.items] == [
            np.asarray(i).tolist() for i in expected.items
        ]


def test_registered_types_are_exported(tmp_path):
    program = fxc.export(lambda box: box.scaled(2.0), Box([np.ones(2), 3.0], "b"))
    result = program(Box([np.arange(2.0), 3.0], "b"))
    assert (result.items[0].tolist(), result.items[1], result.name) == ([0.0, 2.0], 6.0, "b")
    with pytest.raises(TypeError, match="box must be a Box"):
        program(Box([np.arange(2.0), 3.0], "c"))
    with pytest.raises(ValueError, match=r"box\[1\] is 3.0 in this program"):
        program(Box([np.arange(2.0), 4.0], "b"))
    with pytest.raises(ValueError, match="Box is a registered pytree node, which cannot be saved"):
        program.save(tmp_path / "box.fxc")


def test_types_that_optree_knows_are_containers(monkeypatch):
    """By what optree documents; optree itself is not among the requirements of the tests."""

    class Entry:
        flatten_func = staticmethod(lambda pair: ((pair.a, pair.b), None, ("a", "b")))
        unflatten_func = staticmethod(lambda _, parts: Pair(*parts))

    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    known = {Pair: Entry}
    node = SimpleNamespace(get=lambda kind: known.get(kind))
    monkeypatch.setitem(sys.modules, "optree", SimpleNamespace(register_pytree_node=node))
    leaves, spec = flatten([Pair(1, (2, 3))])
    assert leaves == [1, 2, 3]
    assert unflatten(spec, leaves)[0].b == (2, 3)
