"""Pytrees."""

import dataclasses
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


trees = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.integers(), st.text(max_size=2)), inner, max_size=3),
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
