"""Expensive numbers of which loops of the program need few, again and again, come from a table.

::

                                           t1 = (2*n + 1)
                                           loop k in 0:t1
                                             table[k] = try_power(u, astype((k - n)))
    loop i in 0:n                          loop i in 0:n
      loop j in 0:n                          loop j in 0:n
        t3 = try_power(u, astype((i - j)))     t3 = table[i - j + n]
        raise if try_power fails(…, t3)    →   raise if try_power fails(…, t3)

A table has a place for each value of the integer that a number is made of, or for each of the
counters. Some of them may be made in vain, and fail: whether a number has is asked where it stood.
So are those that only an arm needs, where the loops around it have very many iterations.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from fxc.ir.records import frozen, replace
from fxc.ir.size_functions import floordiv, hint_in_large, substitute
from fxc.ir.symbols import Dim, computed_in, plain_symbol, symbol, symbols_of
from fxc.ir.types import c_strides

from ..nests.accesses import Block, renamed
from ..nests.addressing import step_of
from ..nests.bounds import Range, bounds, counter_bounds, ranges_within, trips
from ..nests.buffers import I64, Buffer, Const
from ..nests.program import Program
from ..nests.rewriting import outermost_first
from ..nests.statements import Compute, For, If, Index, Load, Stmt, Store, blocks_of, with_blocks
from ..operators.python_rules import SCALAR_RULES
from .fixed_numbers import is_made_anywhere, names_inside

_Number = Compute | Index


def tabulated(program: Program) -> Program:
    """The program with tables of such numbers of Python's, which set no flag that NumPy would tell
    of.

    Requires: numbers that stay the same in a loop are in front of it. Ensures: the same results,
    bit for bit.
    """
    tables = _Tables(program)
    body = outermost_first(program.body, tables.change)
    return replace(program, body=body, buffers=tables.buffers)


@frozen
class _Inside:
    """What there is around a number: the numbers that were made before it in this iteration, and
    the bounds of the counters.
    """

    numbers: Mapping[str, _Number]
    counters: Mapping[str, Range]
    in_arm: bool = False


@frozen
class _Key:
    """An axis of a table: it has a place for every value of ``dim`` from ``least`` on, each by
    ``step`` more.
    """

    dim: Dim
    step: int
    least: Dim
    count: Dim

    def of_leaf(self, value: Dim, place: Dim) -> Dim:
        """What a value that is made of this key alone, or of its counter, is at a place."""
        here = self.least + self.step * place
        counter = plain_symbol(self.dim)
        if value == self.dim or counter is None:
            return here if value == self.dim else value
        return substitute(value, {counter: here})


class _Tables:
    def __init__(self, program: Program) -> None:
        self.target = program.target
        self.buffers = dict(program.buffers)
        self.counters = counter_bounds(program)

    def change(self, loop: For) -> Sequence[Stmt] | None:
        """The loop behind the tables that it reads, if there are any."""
        reads: dict[str, Load] = {}
        made: list[Stmt] = []
        defined = names_inside(loop)
        for number, inside in self.expensive(loop, _Inside({}, {})):
            tree = _tree(number, inside.numbers, defined)
            keys = () if tree is None else _keys(tree, inside.counters, defined)
            if tree is not None and keys and self.pays(number, keys, inside):
                reads[number.name], filling = self.table(number, tree, keys)
                made += filling
        if not made:
            return None
        body = _with_reads(loop.body, reads)
        return [*made, replace(loop, body=outermost_first(body, self.change))]

    def expensive(self, loop: For, around: _Inside) -> Iterator[tuple[Compute, _Inside]]:
        """The expensive numbers of each iteration, and what is around them."""
        if loop.leave is not None or loop.var not in self.counters:
            return
        counters = {**around.counters, loop.var: self.counters[loop.var]}
        yield from self.in_block(loop.body, replace(around, counters=counters))

    def in_block(self, block: Block, around: _Inside) -> Iterator[tuple[Compute, _Inside]]:
        numbers = dict(around.numbers)
        inside = replace(around, numbers=numbers)
        for stmt in block:
            if isinstance(stmt, For):
                yield from self.expensive(stmt, inside)
            elif isinstance(stmt, If):
                for arm in blocks_of(stmt):
                    yield from self.in_block(arm, replace(inside, in_arm=True))
            elif isinstance(stmt, Index):
                numbers[stmt.name] = stmt
            elif isinstance(stmt, Compute) and is_made_anywhere(stmt):
                numbers[stmt.name] = stmt
                if SCALAR_RULES[stmt.op].cost >= self.target.costs.fixed:
                    yield stmt, inside

    def pays(self, number: Compute, keys: Sequence[_Key], inside: _Inside) -> bool:
        """Whether the loop needs each number of the table often: sizes that vary may be larger in
        the next call. A table of which two axes grow with them could outgrow the memory.
        """
        costs, ranges = self.target.costs, ranges_within(inside.counters)
        spans = [bounds(last - first, ranges)[1] for first, last in inside.counters.values()]
        lengths = [hint_in_large(each, costs.table_size) for each in spans]
        count = math.prod(max(hint_in_large(key.count, costs.table_size), 1) for key in keys)
        often = costs.table_often_in_arm if inside.in_arm else costs.table_often
        return (
            math.prod(lengths) >= often * count
            and min(lengths) > 0
            and sum(not isinstance(key.count, int) for key in keys) <= 1
            and count * number.dtype.itemsize <= self.target.cache
        )

    def table(self, number: Compute, tree: Block, keys: Sequence[_Key]) -> tuple[Load, list[Stmt]]:
        """What reads a number from its table, and what fills that."""
        name = f"{number.name}.table"
        shape = tuple(key.count for key in keys)
        strides = c_strides(shape, number.dtype.itemsize)
        self.buffers[name] = Buffer(name, number.dtype, shape, strides, "temp", name)
        counters = [f"{name}.i{axis}" for axis in range(len(keys))]
        places = tuple(symbol(each, hint=0, lower=0) for each in counters)
        new = {stmt.name: f"{stmt.name}.of.{name}" for stmt in tree if isinstance(stmt, _Number)}

        def at_place(value: Dim) -> Dim:
            for key, place in zip(keys, places, strict=True):
                value = key.of_leaf(value, place)
            return value

        body: Block = (
            *(renamed(stmt, new, at_place) for stmt in tree),
            Store(name, places, new[number.name], number.dtype),
        )
        for counter, key in reversed([*zip(counters, keys, strict=True)]):
            if isinstance(key.count, int):
                body = (For(counter, Const(0, I64), Const(key.count, I64), body),)
            else:
                size = f"{counter}.size"
                body = (Index(size, I64, key.count), For(counter, Const(0, I64), size, body))
        index = tuple(floordiv(key.dim - key.least, key.step) for key in keys)
        return Load(number.name, number.dtype, name, index), [*body]


def _tree(
    number: Compute, numbers: Mapping[str, _Number], defined: Collection[str]
) -> Block | None:
    """What a number is made by, in order, from what there is in front of the loop and its counters;
    None if it is made of other things, too.
    """
    found: dict[str, _Number] = {}

    def visit(stmt: _Number) -> bool:
        if stmt.name in found:
            return True
        for arg in stmt.args if isinstance(stmt, Compute) else ():
            if isinstance(arg, Const) or arg not in defined:
                continue
            if arg not in numbers or not visit(numbers[arg]):
                return False
        found[stmt.name] = stmt
        return True

    return tuple(found.values()) if visit(number) else None


def _keys(tree: Block, counters: Mapping[str, Range], defined: Set[str]) -> list[_Key]:
    """The axes of a table for what the statements make; none if it can have none."""
    ranges = ranges_within(counters)
    values = dict.fromkeys(stmt.value for stmt in tree if isinstance(stmt, Index))
    moving = [value for value in values if not counters.keys().isdisjoint(symbols_of(value))]
    ends = [end for each in counters.values() for end in each]
    names = {name for dim in (*values, *ends) for name in symbols_of(dim)}
    if any(map(computed_in, (*values, *ends))) or not names.isdisjoint(defined - counters.keys()):
        return []  # of sizes that are counted in the loop
    if not all(_is_linear(end, counters) for end in ends):
        return []
    if len(moving) != 1 or not _is_linear(moving[0], counters):
        names = {name for value in moving for name in symbols_of(value)}
        moving = [symbol(name, hint=0) for name in counters if name in names]
    return [_key(value, counters, ranges) for value in moving]


def _key(value: Dim, counters: Collection[str], ranges: Mapping[str, Range]) -> _Key:
    steps = [step_of(value, counter) for counter in counters]
    step = math.gcd(*(each for each in steps if isinstance(each, int)))
    least, most = bounds(value, ranges)
    return _Key(value, step, least, trips((0, floordiv(most - least, step) + 1), ranges))


def _is_linear(dim: Dim, counters: Collection[str]) -> bool:
    """Whether a dim moves with each counter by a number of which the sign is known."""
    return all(isinstance(step_of(dim, counter), int) for counter in counters)


def _with_reads(block: Block, reads: Mapping[str, Load]) -> Block:
    """The statements in which numbers are read."""
    body: list[Stmt] = []
    for stmt in block:
        if isinstance(stmt, Compute):
            stmt = reads.get(stmt.name, stmt)
        if isinstance(stmt, For | If):
            stmt = with_blocks(stmt, tuple(_with_reads(each, reads) for each in blocks_of(stmt)))
        body.append(stmt)
    return tuple(body)
