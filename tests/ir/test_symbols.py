"""Symbolic dims against Python's ints."""

import operator
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from fxc.ir.atoms import AtomParser
from fxc.ir.bounds import decide
from fxc.ir.errors import CaptureError, InternalError
from fxc.ir.size_functions import (
    apply_function,
    counted_size,
    evaluate,
    floordiv,
    hint,
    maximum,
    minimum,
    mod,
    rename_computed,
    substitute,
)
from fxc.ir.size_guards import Guard, guard, recording
from fxc.ir.symbols import SymExpr, computed, computed_in, product, symbol, symbols_of
from fxc.ops.metas.shapes import normalize_slice, slice_length

LOWER = {"n": 2, "m": 2, "k": 0, "z": None}
SYMBOLS = {name: symbol(name, lower=lower) for name, lower in LOWER.items()}
RELATIONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SYMBOLIC = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "floordiv": floordiv,
    "mod": mod,
    "min": minimum,
    "max": maximum,
}
PLAIN = SYMBOLIC | {"floordiv": operator.floordiv, "mod": operator.mod, "min": min, "max": max}


@dataclass(frozen=True)
class Tree:
    """An expression before it is put in normal form."""

    head: Any
    left: Any = None
    right: Any = None

    def build(self, operations, leaves):
        if self.left is None:
            return leaves.get(self.head, self.head)
        left, right = self.left.build(operations, leaves), self.right.build(operations, leaves)
        return operations[self.head](left, right)


leaf_trees = st.one_of(st.sampled_from([*LOWER]), st.integers(-4, 4)).map(Tree)
trees = st.recursive(
    leaf_trees,
    lambda inner: st.builds(Tree, st.sampled_from([*SYMBOLIC]), inner, inner),
    max_leaves=8,
)
ring_trees = st.recursive(
    leaf_trees,
    lambda inner: st.builds(Tree, st.sampled_from("+-*"), inner, inner),
    max_leaves=6,
)
values = st.fixed_dictionaries(
    {name: st.integers(-6 if low is None else low, 12) for name, low in LOWER.items()}
)


def or_skip(function, *args):
    """The function's value; examples that divide by zero are skipped."""
    try:
        return function(*args)
    except ZeroDivisionError:
        reject()


dims = trees.map(lambda tree: or_skip(tree.build, SYMBOLIC, SYMBOLS))


@given(trees, values)
def test_expressions_are_what_ints_give(tree, numbers):
    expected = or_skip(tree.build, PLAIN, numbers)
    assert evaluate(tree.build(SYMBOLIC, SYMBOLS), numbers) == expected


@given(dims, values, values)
def test_substitution_in_two_steps(dim, numbers, others):
    expected = or_skip(evaluate, dim, numbers)
    first = {name: numbers[name] for name in ("n", "z")}
    assert evaluate(substitute(dim, first), numbers | {"n": 99, "z": 99}) == expected


@given(dims, dims, values)
def test_substitution_of_expressions(dim, inner, numbers):
    changed = numbers | {"z": or_skip(evaluate, inner, numbers)}
    expected = or_skip(evaluate, dim, changed)
    assert evaluate(substitute(dim, {"z": inner}), numbers) == expected


@given(ring_trees, ring_trees, ring_trees)
def test_equal_polynomials_are_equal_however_they_were_built(x, y, z):
    a, b, c = (tree.build(SYMBOLIC, SYMBOLS) for tree in (x, y, z))
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert (a + b) * c == a * c + b * c
    assert a - a == 0
    assert hash(a + b) == hash(b + a)


@given(dims)
def test_a_constant_is_an_int(dim):
    assert isinstance(dim, int) == (not symbols_of(dim))


@given(dims, st.sampled_from([*RELATIONS]), dims, values)
def test_what_is_decided_is_true_for_all_values(left, relation, right, numbers):
    known = decide(left, relation, right)
    if known is not None:
        holds = RELATIONS[relation](
            or_skip(evaluate, left, numbers), or_skip(evaluate, right, numbers)
        )
        assert known == holds


@given(dims)
def test_text_reads_back(dim):
    parser = AtomParser(str(dim))
    parser.symbols.update(SYMBOLS)
    assert parser.dim() == dim


@given(dims, st.sampled_from([*RELATIONS]), dims, values)
def test_a_guard_says_what_the_hints_say_and_keeps_it(left, relation, right, numbers):
    hinted = {n: symbol(n, hint=v, lower=LOWER[n]) for n, v in numbers.items()}
    expected = RELATIONS[relation](
        or_skip(evaluate, left, numbers), or_skip(evaluate, right, numbers)
    )
    left, right = or_skip(substitute, left, hinted), or_skip(substitute, right, hinted)
    with recording({}) as taken:
        assert guard(left, relation, right) == expected
    assert all(each.holds(numbers) for each in taken)
    assert len(taken) == (decide(left, relation, right) is None)


# Examples

N, M = symbol("n", hint=4, lower=2), symbol("m", hint=5, lower=2)


@pytest.mark.parametrize(
    "dim, text",
    [
        (N, "n"),
        (-N, "-n"),
        (3 - N, "-n + 3"),
        (N - 2, "n - 2"),
        (2 * N * M + N * N - 1, "2*m*n + n*n - 1"),
        (M + N, "m + n"),
        (N // 2, "floordiv(n, 2)"),
        ((N + 1) % M, "mod(n + 1, m)"),
        (7 // N, "floordiv(7, n)"),
        ((N * M + N - 1) // N, "m"),
        ((M * maximum(1, 20 // N) + maximum(1, 20 // N) - 1) // maximum(1, 20 // N), "m"),
        (7 % N, "mod(7, n)"),
        ((N // 2) // symbol("z"), "floordiv(floordiv(n, 2), z)"),  # z may be negative
        (minimum(N, M), "min(m, n)"),
        (minimum(M, N), "min(m, n)"),
        (maximum(N - 3, 0) * M, "m*max(0, n - 3)"),
    ],
)
def test_normal_form(dim, text):
    assert str(dim) == text


@pytest.mark.parametrize(
    "dim, folded",
    [
        ((N * M) // M, N),
        ((6 * N + 4) // 2, 3 * N + 2),
        ((6 * N + 4) % 2, 0),
        ((6 * N * M) % (3 * M), 0),
        (N // 1, N),
        (N // -1, -N),
        ((N // 2) // M, N // (2 * M)),
        (N % 1, 0),
        (0 // N, 0),
        (0 % N, 0),
        (floordiv(-7, 2), -4),
        (mod(-7, 2), 1),
        (minimum(N, 2), 2),
        (maximum(N, 2), N),
        (maximum(N, N + 1), N + 1),
        (minimum(3, 4), 3),
        (maximum(3, 4), 4),
        (product([N, 2, M]), 2 * N * M),
        (product(()), 1),
        (apply_function("max", N, 1), N),
    ],
)
def test_folding(dim, folded):
    assert dim == folded
    assert type(dim) is type(folded)


def test_a_symbolic_divisor_of_zero_fails_when_it_is_known():
    with pytest.raises(ZeroDivisionError):
        evaluate(floordiv(N, M - 3), {"n": 4, "m": 3})
    with pytest.raises(ZeroDivisionError):
        evaluate(mod(N, 0), {"n": 4})


def test_there_is_no_order_on_expressions():
    with pytest.raises(TypeError):
        N < M  # type: ignore[operator]  # noqa: B015


def test_symbols_are_equal_by_name():
    assert symbol("n", hint=7) == N
    assert symbols_of(floordiv(N * M, maximum(N, 7)))["m"].hint == 5


def test_hints():
    assert hint(N * M // 3) == 6
    assert hint(3) == 3
    with pytest.raises(InternalError, match="symbol q has no hint"):
        hint(symbol("q") + N)


def test_evaluation_needs_all_symbols():
    with pytest.raises(InternalError, match=r"n \+ m|m \+ n"):
        evaluate(N + M, {"n": 3})


def test_the_relation_that_is_recorded_is_the_one_that_holds():
    with recording({}) as taken:
        assert not guard(N, "==", M)
        assert not guard(N, ">", M)
        assert guard(N, "<=", M)
        assert guard(N, ">=", 2)
        assert not guard(N, "<", N - 1)
        assert guard(3, "<", 4)
    assert [str(each) for each in taken] == ["n != m", "n <= m"]


def test_the_innermost_recorder_gets_the_guard():
    with recording({}) as outer:
        with recording({}) as inner:
            guard(N, "==", 4)
        guard(M, "==", 5)
    assert [list(map(str, taken)) for taken in (outer, inner)] == [["m == 5"], ["n == 4"]]


def test_recorders_belong_to_a_thread():
    with recording({}) as taken:
        thread = threading.Thread(target=guard, args=(N, "==", 4))
        thread.start()
        thread.join()
    assert not taken


def test_guards_hold_or_do_not():
    kept = Guard(N, "==", M + 2)
    assert kept.holds({"n": 5, "m": 3})
    assert not kept.holds({"n": 5, "m": 4})
    assert str(kept) == "n == m + 2"


@pytest.mark.parametrize("call", [decide, guard])
def test_an_unknown_relation(call):
    for left in (3, N):
        with pytest.raises(ValueError, match="~"):
            call(left, "~", 2)


def test_expressions_do_not_change():
    dim = N + 1
    assert isinstance(dim, SymExpr)
    dim += 1
    assert str(dim) == "n + 2"
    assert str(N) == "n"


def test_a_computed_integer_depends_on_its_dims_and_is_known_by_its_name():
    i, j = symbol("i"), symbol("j")
    place = computed("t1", (i,))
    index = 3 * place + i
    assert str(index) == "i + 3*t1"
    assert set(symbols_of(index)) == {"i"}
    assert set(computed_in(floordiv(index, 4))) == {"t1"}
    assert not computed_in(computed("t2", (place,))).keys() & {"t1"}
    assert substitute(index, {"i": j}) == 3 * computed("t1", (j,)) + j
    assert place - computed("t1", (i,)) == 0
    assert decide(place, ">=", 0) is None
    assert decide(place, "!=", place + 1) is True


def test_a_computed_integer_is_renamed_and_replaced_by_what_is_known():
    i = symbol("i")
    index = mod(computed("t1", (i,)), symbol("n")) + computed("t2", (i,))
    renamed = rename_computed(index, {"t1": "t5", "t2": 4})
    assert renamed == mod(computed("t5", (i,)), symbol("n")) + 4
    assert rename_computed(7, {"t1": 1}) == 7


def test_quotients_by_sums():
    """Found by division of the polynomials, where the rest is a number that is known to be small."""
    c, d = symbol("c", hint=3, lower=0), symbol("d", hint=9, lower=0)
    width = c + 1
    length = floordiv(c + d, width)
    assert floordiv(width * d, width) == d
    assert floordiv(width * length + c, width) == length
    assert floordiv(width * d - 1, width) == d - 1
    assert str(floordiv(width * d + 1, width)) == "floordiv(c*d + d + 1, c + 1)"  # c may be 0
    for values in ({"c": 0, "d": 7}, {"c": 4, "d": 11}):
        for dim in (width * d + 5, width * d - 3, c * d + 2 * c, d):
            plain = evaluate(dim, values) // evaluate(width, values)
            assert evaluate(floordiv(dim, width), values) == plain


@pytest.mark.parametrize(
    "cut", [slice(1, None), slice(None, -1), slice(3, None), slice(-2, None, -1)]
)
def test_slices_of_slices_are_as_long_as_one(cut):
    """Of a counted size: the formula doubled with each, and nobody could wait for the thirtieth."""
    sizes = [counted_size("n", 100)]
    for _ in range(40):
        sizes.append(slice_length(normalize_slice(cut.start, cut.stop, cut.step, sizes[-1])))
    assert len(str(sizes[-1])) < 20
    for n in (0, 1, 2, 50, 99, 100):
        rest = range(n)
        for size in sizes:
            assert evaluate(size, {"n": n}) == len(rest)
            rest = rest[cut]


def test_a_formula_has_a_longest_form():
    def thirtieth(size):
        for _ in range(30):
            size = slice_length(normalize_slice(1, -1, None, size))

    with pytest.raises(CaptureError, match="its formula is too long"):
        thirtieth(counted_size("n", 100))


def test_a_remainder_of_what_is_negative_is_natural() -> None:
    turned = mod(-SYMBOLS["z"], SYMBOLS["n"])
    assert decide(turned, ">=", 0) is True
    assert decide(turned, "<", SYMBOLS["n"]) is True
    assert decide(mod(SYMBOLS["z"], SYMBOLS["k"]), ">=", 0) is None  # that may be no divisor
