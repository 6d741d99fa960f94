"""Numbers that a module is asked for: whether they are sizes that the graph is for."""

from __future__ import annotations

import operator
from collections.abc import Mapping

from fxc.ir.error_kinds import ARGUMENT
from fxc.ir.errors import UsageError, UsageTypeError
from fxc.ir.evaluate import symbols_bound_by
from fxc.ir.graph import Graph, Value
from fxc.ir.size_functions import substitute
from fxc.ir.symbols import symbols_of
from fxc.ir.text import known_symbols


def checked_sizes(
    graph: Graph, sizes: Mapping[str, int], at_least: Mapping[str, int]
) -> dict[str, int]:
    """The numbers by symbol. Raises ``TypeError`` for what is no number by symbol, and
    ``ValueError`` for sizes that the graph has not, or is not for.

    ``at_least`` bounds inputs that are ints, beside the bounds that the graph has.
    """
    given: object = sizes
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise UsageTypeError(
            ARGUMENT, f'sizes are a dict of numbers, such as {{"u.0": 100}}, and no {kind}'
        )
    names = {name for value in graph.inputs for name in symbols_of_sizes(value)}
    lowest = {each.name: each.lower for each in known_symbols(graph) if each.lower is not None}
    found: dict[str, int] = {}
    for name, size in sizes.items():
        if name not in names:
            there = ", ".join(sorted(names)) or "none"
            raise UsageError(ARGUMENT, f"{graph.name} has no size {name!r}; its sizes are: {there}")
        low = max(lowest.get(name, 0), at_least.get(name, 0))
        found[name] = _whole(graph, name, size, low)
    for guard in graph.guards:
        known = (substitute(guard.left, found), substitute(guard.right, found))
        if all(isinstance(dim, int) for dim in known) and not guard.holds(found):
            asked = sorted({*symbols_of(guard.left), *symbols_of(guard.right)})
            given = ", ".join(f"{name} = {found[name]}" for name in asked)
            raise UsageError(
                ARGUMENT, f"{graph.name} is for sizes with {guard}, and not for {given}"
            )
    return found


def _whole(graph: Graph, name: str, size: object, low: int) -> int:
    """A size as an int of at least ``low``."""
    try:
        number = operator.index(size)  # type: ignore[arg-type]  # that is asked here
    except TypeError:
        number = None
    if number is None or isinstance(size, bool):
        raise UsageTypeError(
            ARGUMENT, f"the size {name} of {graph.name} must be an int, it is {size!r}"
        )
    if not low <= number < 2**63:
        bound = f"{low} or more" if number < low else "less than 2**63"
        raise UsageError(
            ARGUMENT, f"the size {name} of {graph.name} must be {bound}, it is {number}"
        )
    return number


def symbols_of_sizes(value: Value) -> set[str]:
    """The symbols of an input that can be sizes: not those of its layout."""
    dims = value.type.shape
    return symbols_bound_by(value) & {value.name, *(name for d in dims for name in symbols_of(d))}
