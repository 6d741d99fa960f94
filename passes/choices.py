"""Choices between two numbers, by a flag, of which the first is the second where the flag is false.

::

    %6: f64, %7: bool = cond(%5, (), on_true={
      ()
      yield %2, bool(True)
    }, on_false={
      ()
      yield f64(0.0), bool(False)
    })
    %9: f64[] = where(%7, %6, 0)              →   %9: f64[] = broadcast_to_copy(%6, ())

Numbers that may be Python's int or a float are of this kind: ``max(0, x)``, or ``best`` behind
``best = 0`` and a loop; see Note [Mixed scalars]. What compares such a number need not look at its
flag.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fxc.ir.graph import Literal, Node, Operand, Region, Value, walk
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

from .unread import carried_params

# A flag, the number if it holds, and the number if not.
_Choice = tuple[Operand, Operand, Operand]

_MOST_STEPS = 500  # of one proof


def without_choices(region: Region) -> Region:
    """The region with such a number in the place of the choice.

    Requires: the region is functional, and all that it reads is made in it or a parameter.
    """
    choices = [node for node in walk(region) if _is_choice(node)]
    if not choices:
        return region
    origins = _Origins(region)
    decided = {node.output for node in choices if _Proof(origins, node).holds()}
    return _with_numbers(region, decided) if decided else region


def _is_choice(node: Node) -> bool:
    if node.op != "where":
        return False
    flag, number, other = node.args
    if not all(isinstance(x.type, ScalarType) for x in (flag, number, other)):
        return False
    kind = node.output.type
    is_flag = isinstance(flag, Value) and flag.type.dtype.kind == "b"
    return is_flag and isinstance(kind, ArrayType) and number.type.dtype == kind.dtype


def _with_numbers(region: Region, decided: set[Value]) -> Region:
    nodes = []
    for node in region.nodes:
        if node.outputs and node.outputs[0] in decided:
            schema = TABLE["broadcast_to_copy"].schema
            node = Node(schema, (node.args[1], ()), node.outputs, node.loc)
        elif node.regions:
            args = [_with_numbers(x, decided) if isinstance(x, Region) else x for x in node.args]
            node = Node(node.schema, tuple(args), node.outputs, node.loc)
        nodes.append(node)
    return Region(region.params, tuple(nodes), region.results)


class _Origins:
    """Where values come from: nodes, loops that carry them, operands of branches."""

    def __init__(self, body: Region) -> None:
        self.made_by: dict[Value, Node] = {}
        self.carried_by: dict[Value, Node] = {}
        self.operands: dict[Value, Operand] = {}
        self.loops: dict[Value, frozenset[int]] = {}  # around a value
        self._enter(body, frozenset())

    def _enter(self, region: Region, loops: frozenset[int]) -> None:
        self.loops.update(dict.fromkeys(region.params, loops))
        for node in region.nodes:
            self.made_by.update(dict.fromkeys(node.outputs, node))
            self.loops.update(dict.fromkeys(node.outputs, loops))
            is_loop = TABLE[node.op].tag is Tag.LOOP
            for inner in node.regions:
                self._enter(inner, loops | {id(node)} if is_loop else loops)
                if is_loop:
                    self.carried_by.update(dict.fromkeys(carried_params(node, inner), node))
                elif TABLE[node.op].tag is Tag.BRANCH:
                    self.operands.update(zip(inner.params, node.arg("operands"), strict=True))

    def bare(self, x: Operand) -> Operand:
        """The number where it was made, without what hands it on."""
        while isinstance(x, Value):
            if x in self.operands:
                x = self.operands[x]
                continue
            node = self.made_by.get(x)
            if node is None or node.op not in _HANDED_ON:
                return x
            given = node.args[0]
            if not isinstance(given, Value | Literal) or given.type.dtype != x.type.dtype:
                return x
            x = given
        return x


_HANDED_ON = frozenset({"item", "astype", "broadcast_to_copy"})


class _Proof:
    """That a choice is its number: by cases of branches, and by induction over loops."""

    def __init__(self, origins: _Origins, node: Node) -> None:
        self.origins = origins
        self.dtype = node.output.type.dtype
        flag, number, other = node.args
        self.choice: _Choice = flag, number, other
        self.assumed: set[tuple[object, ...]] = set()

    def holds(self, choice: _Choice | None = None) -> bool:
        flag, number, other = map(self.origins.bare, choice or self.choice)
        if (isinstance(flag, Literal) and flag.value) or self._are_same(number, other):
            return True
        told = tuple(x if isinstance(x, Value) else repr(x.value) for x in (flag, number, other))
        if told in self.assumed:  # of an iteration before: each case is of values made earlier
            return True
        if len(self.assumed) > _MOST_STEPS:
            return False
        cases = next(self._cases((flag, number, other)), None)
        if cases is None:
            return False
        self.assumed.add(told)
        return all(map(self.holds, cases))

    def _are_same(self, x: Operand, y: Operand) -> bool:
        if isinstance(x, Literal) and isinstance(y, Literal):
            one, two = (np.asarray(each.value).astype(self.dtype) for each in (x, y))
            return one.tobytes() == two.tobytes()
        return x is y

    def _cases(self, choice: _Choice) -> Iterator[list[_Choice]]:
        """Choices of which this one is one, in whatever way the program goes."""
        origins, made = self.origins, self.origins.made_by
        makers = [made[x] for x in choice if isinstance(x, Value) and x in made]
        for node in makers:
            if TABLE[node.op].tag is Tag.BRANCH:
                yield [
                    self._replaced(choice, dict(zip(node.outputs, arm.results, strict=True)))
                    for arm in node.regions
                ]
        for node in makers:
            if TABLE[node.op].tag is Tag.LOOP:
                yield self._carried(choice, node, node.outputs)
        for value in choice:
            if not isinstance(value, Value) or value not in origins.carried_by:
                continue
            loop = origins.carried_by[value]
            params = self._params_beside(value, loop)
            others = [x for x in choice if isinstance(x, Value) and x not in params]
            if all(id(loop) not in origins.loops[x] for x in others):
                yield self._carried(choice, loop, params)

    def _params_beside(self, value: Value, loop: Node) -> tuple[Value, ...]:
        regions = (carried_params(loop, region) for region in loop.regions)
        return next(params for params in regions if value in params)

    def _carried(self, choice: _Choice, loop: Node, values: tuple[Value, ...]) -> list[_Choice]:
        """Before the first iteration, and behind any one."""
        count = len(loop.outputs)
        ends = (tuple(loop.arg("init")), loop.arg("body").results[:count])
        return [self._replaced(choice, dict(zip(values, end, strict=True))) for end in ends]

    def _replaced(self, choice: _Choice, instead: dict[Value, Operand]) -> _Choice:
        flag, number, other = (instead.get(x, x) if isinstance(x, Value) else x for x in choice)
        return flag, number, other
