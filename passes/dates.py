"""Operators on dates, durations and characters, in terms of those on integers, for native code.

::

    %0: '<m8[s]'[5] = subtract(%a, %b)      %1: i64[5] = reinterpret(%a, i64)
                                            %2: bool[5] = equal(%1, -9223372036854775808)
                                         →  …
                                            %6: i64[5] = subtract(%1, %3)
                                            %7: i64[5] = where(%5, -9223372036854775808, %6)
                                            %0: '<m8[s]'[5] = reinterpret(%7, '<m8[s]')
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from fxc.dispatch.dispatcher import Dispatcher
from fxc.ir.boxed_dtypes import is_character, is_date
from fxc.ir.graph import Graph, Node, Value, operands_of, walk
from fxc.ir.later import import_later
from fxc.ir.size_guards import Guard, recording

from .expansion import Expansion

_rule_of_dates = import_later("fxc.ops.dates", "rule_for")
_rule_of_characters = import_later("fxc.ops.characters", "rule_for")


def in_integers(graph: Graph, dispatcher: Dispatcher) -> Graph:
    """Compute with dates as with int64, and with characters as with their codes.

    See Notes [Dates as integers] and [Characters as integers].

    Requires: the graph is functional.
    Ensures: results have the same bits, and nothing warns that did not. What no rule serves stays.
    """
    if not any(_is_integer(value.type.dtype) for value in _values(graph)):
        return graph
    taken: dict[Guard, None] = dict.fromkeys(graph.guards)
    with recording(taken):
        body = _InIntegers(graph, dispatcher).region(graph.body)
    return graph.with_body(body, guards=tuple(taken))


def _values(graph: Graph) -> Iterator[Value]:
    yield from graph.inputs
    for node in walk(graph.body):
        yield from node.outputs


class _InIntegers(Expansion):
    def expanded(self, node: Node) -> tuple[Node, ...] | None:
        """What a rule records in place of the node."""
        rule = _rule(node)
        if rule is None:
            return None
        run = partial(rule, self.dispatcher.ops, node.output.type, *node.args)
        try:
            made, results = self.recorded(node, run)
        except (TypeError, ValueError, OverflowError):
            return None  # NumPy casts, raises or promotes otherwise than the rules
        if results is NotImplemented:
            return None
        self.adopt(node, made, results)
        return made


def _is_integer(dtype: np.dtype) -> bool:
    return is_date(dtype) or is_character(dtype)


def _rule(node: Node) -> Callable[..., object] | None:
    """The rule for an operator on dates or characters; None for others."""
    operands = [operand for arg in node.args for operand in operands_of(arg)]
    dtypes = [each.type.dtype for each in (*operands, *node.outputs)]
    if any(map(is_date, dtypes)):
        found: Callable[..., object] | None = _rule_of_dates(node.op)
        return found
    return _rule_of_characters(node.op) if any(map(is_character, dtypes)) else None
