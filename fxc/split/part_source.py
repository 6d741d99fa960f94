"""The functions of parts: runs of statements with what they read and what they bind."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from types import FunctionType

from fxc.capture.staging.binding import plain_names
from fxc.capture.staging.nodes import (
    UNSET_NAME,
    copied,
    dropped_if_unset,
    held_name,
    placed,
)
from fxc.capture.staging.staging import keep_source
from fxc.ir.records import frozen
from fxc.ir.replay import UNSET

from .driver_syntax import (
    ERROR_NAME,
    Returns,
    function_like,
    function_node,
    or_unset,
    positional,
    tagged,
    values_of,
)
from .flow import note_unbound
from .function_plan import FunctionPlan, Statement, always_leaves, live_before
from .spent import spent
from .statement_syntax import Names, Span


@frozen
class PartKey:
    """What makes a part: its first and last statement, its parameters and its results. Of the
    parameters ``unset`` may be ``UNSET``, of the results ``doubtful``.

    It ends in one of three ways: with the ``values`` of its results, as the function itself does
    (``tail``), or with either, after a 0 or a 1 (``either``).
    """

    first: Span
    last: Span
    inputs: tuple[str, ...]
    unset: tuple[str, ...]
    outputs: tuple[str, ...]
    doubtful: tuple[str, ...]
    ending: str
    spent: tuple[str, ...]  # see Note [Spent arrays]


@frozen(eq=False)
class PartSource:
    """The function of a part, and the statements that it consists of. ``counting`` are those of
    its parameters that change from one iteration of a loop around it to the next, ``inner`` the
    functions that it defines again.
    """

    key: PartKey
    statements: tuple[Statement, ...]
    function: FunctionType
    counting: Names
    inner: tuple[str, ...]


def unbound_behind(run: Sequence[Statement]) -> Names:
    """What may be without a value behind statements: what one of them may bind, or not."""
    nodes = [each.node for each in run]
    return note_unbound(nodes, run[0].unbound, {}) & run[-1].after


class PartWriter:
    """Writes the functions of parts of one function."""

    def __init__(self, function: FunctionType, plan: FunctionPlan) -> None:
        self.function = function
        self.plan = plan

    def part(self, run: Sequence[Statement], at_end: bool, counting: Names) -> PartSource:
        """The function of a run of statements; ``counting`` is what the loops around bind, behind
        those ``at_end`` the function ends.
        """
        binds = frozenset[str]().union(*(each.binds for each in run))
        returns = any(each.returns for each in run)
        is_tail = always_leaves(run) or (at_end and returns)
        outputs = tuple(sorted(binds & run[-1].after)) if not is_tail else ()
        ending = "tail" if is_tail else "either" if returns else "values"
        reads = self.reads(run)
        inputs = live = live_before([*reads, *run], frozenset(outputs))
        used = binds.union(*(each.reads for each in (*reads, *run)))
        inputs &= used & (self.plan.variables | self.plan.free)
        inputs -= self.plan.bound_later(run[0], inputs & binds)  # others are no variables there
        inner = self.inner(run)
        inputs -= set(inner)
        doubtful = unbound_behind(run)
        nodes = [self.plan.inner[name] for name in inner] + [each.node for each in run]
        key = PartKey(
            run[0].span,
            run[-1].span,
            tuple(sorted(inputs)),
            tuple(sorted(inputs & run[0].unbound & plain_names(nodes, inputs))),
            outputs,
            tuple(sorted(doubtful.intersection(outputs))),
            ending,
            spent(self.plan, run, outputs, live | doubtful),
        )
        return self.source(key, run, inner, counting)

    def inner(self, run: Sequence[Statement]) -> list[str]:
        """The inner functions that the statements call, and those that these call."""
        found: list[str] = []
        todo = sorted(frozenset[str]().union(*(each.reads for each in run)))
        definitions = {each.node: each for each in self.plan.statements()}
        while todo:
            name = todo.pop()
            if name in self.plan.inner and name not in found:
                found.append(name)
                todo += sorted(definitions[self.plan.inner[name]].reads)
        return sorted(found, key=lambda name: self.plan.inner[name].lineno)

    def reads(self, run: Sequence[Statement]) -> list[Statement]:
        """The definitions of the inner functions that the statements call."""
        nodes = {self.plan.inner[name] for name in self.inner(run)}
        return [each for each in self.plan.statements() if each.node in nodes]

    def source(
        self, key: PartKey, run: Sequence[Statement], inner: list[str], counting: Names
    ) -> PartSource:
        """The function of a part that is known, and the statements in it."""
        statements = [copied(each.node) for each in run]
        if key.ending == "either":
            statements = [Returns(_returned).visit(each) for each in statements]
        definitions = [copied(self.plan.inner[name]) for name in inner]
        declared = [copy.copy(each) for each in self.plan.declarations]
        if self.plan.free:  # no part binds variables of other functions
            declared = [each for each in declared if isinstance(each, ast.Global)]
        drops = [dropped_if_unset(run[0].node, name) for name in key.unset]
        body = [*drops, *declared, *definitions, *statements]
        held = Names()
        if key.ending != "tail":
            held = plain_names(body, frozenset(key.unset)).intersection(key.doubtful)
            value = values_of([held_name(x) if x in held else x for x in key.outputs])
            value = tagged(0, value) if key.ending == "either" else value
            takes = [or_unset(run[-1].node, x, held_name(x)) for x in sorted(held)]
            body += [*takes, placed(run[-1].node, ast.Return(value))]
        node = function_node(self.function, positional(key.inputs), body)
        made = function_like(self.function, node, {UNSET_NAME: UNSET, ERROR_NAME: NameError})
        # Capture has flags in place of what Python does about variables without a value.
        node.body = node.body[len(drops) : len(body) - 1 - len(held)] + node.body[-1:]
        vars(node)["unset"] = key.unset
        keep_source(made.__code__, node)
        counted = counting.intersection(key.inputs)
        return PartSource(key, tuple(run), made, counted, tuple(inner))


def _returned(node: ast.Return) -> ast.stmt:
    """A ``return`` of the function in a part that ends in either way."""
    node.value = placed(node, tagged(1, node.value or ast.Constant(None)))
    return node
