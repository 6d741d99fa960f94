"""What a loop's body relies on, for every iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fxc.ir.bounds import decide
from fxc.ir.error_kinds import LOOP_VARIABLE
from fxc.ir.graph import Literal, Node, Region, walk
from fxc.ir.later import import_later
from fxc.ir.size_functions import hint, substitute
from fxc.ir.size_guards import Guard, guard, recording
from fxc.ir.symbols import Dim, SymExpr, SymFunc, counted_in, symbols_of

from ..session.refusing import refusal

# See Note [Rooms with one door].
grows = import_later("fxc.ir.monotonic", "grows")
is_monotonic = import_later("fxc.ir.monotonic", "is_monotonic")
without_remainders = import_later("fxc.ir.monotonic", "without_remainders")

_ORDERS = ("<", "<=", ">", ">=")


def check_guards(
    taken: dict[Guard, None],
    name: str | None,
    low: Dim | None,
    high: Dim | None,
    varies: Callable[[Dim], bool],
) -> None:
    """What the body relied on must hold for each iteration, not for the first alone.

    What grows, or falls, with the loop's counter holds in between if it holds at both ends, or at
    that one where it is the largest, or the smallest.
    ``varies`` says which dims differ between the iterations of the loops around.
    """
    for each in taken:
        difference = each.left - each.right
        if name not in symbols_of(difference):
            guard(each.left, each.relation, each.right)
            continue
        relations = (">", "<") if each.relation == "!=" else (each.relation,)
        if (
            low is None
            or high is None
            or not any(
                _hold(difference, str(name), low, high, relation, varies) for relation in relations
            )
        ):
            raise refusal(
                LOOP_VARIABLE,
                f"the body of a loop relies on '{each}', which does not hold for every "
                f"{name}; use np.where for what differs between iterations",
            )


def without_counters(taken: Iterable[Guard], body: Region) -> tuple[Guard, ...]:
    """What must hold before a graph runs so that these relations, which stages after capture rely
    on, hold in each iteration of its loops. What they assume of counted sizes the graph checks.
    """
    found = dict.fromkeys(each for each in taken if not counted_in(each.left - each.right))
    loops = [node for node in walk(body) if node.op == "fori_loop"]
    counters = {_counter(node) for node in loops}

    def varies(dim: Dim) -> bool:
        return not counters.isdisjoint(symbols_of(dim))

    for node in reversed(loops):
        name = _counter(node)
        inside = {each: None for each in found if name in symbols_of(each.left - each.right)}
        if inside:
            with recording(found):
                low, high = (_dim_of(bound, body) for bound in node.args[:2])
                check_guards(inside, name, low, high, varies)
            found = {each: None for each in found if each not in inside}
    return tuple(found)


def _counter(loop: Node) -> str:
    name: str = loop.args[loop.schema.index_of["body"]].params[0].name
    return name


def _dim_of(bound: object, body: Region) -> Dim | None:
    """What a graph's operand is as a dim."""
    if isinstance(bound, Literal):
        return int(bound.value)  # type: ignore[arg-type]
    makers = (node for node in walk(body) if node.op == "int_value")
    return next((node.args[0] for node in makers if node.output is bound), None)


def _hold(
    difference: Dim, name: str, low: Any, high: Any, relation: str, varies: Callable[[Dim], bool]
) -> bool:
    """Whether ``difference relation 0`` in all iterations of a loop, by those at both ends.

    The smaller of two dims is above a bound where both are, the larger one where one of them is.
    """
    for every, sides in _sides(difference, relation):
        found = (_hold(side, name, low, high, relation, varies) for side in sides)
        return all(found) if every else any(found)
    if relation != "==":
        difference = without_remainders(difference, name, above=relation in ("<", "<="))
    if is_monotonic(difference, name):
        ends, upwards = [low, high - 1], grows(difference, name)
        if upwards is not None and relation in _ORDERS:
            ends = [high - 1 if upwards == (relation in ("<", "<=")) else low]
        values = [substitute(difference, {name: end}) for end in ends]
    elif (bound := _bound(difference, name, (low, high - 1), relation)) is not None:
        values = [bound]
    else:
        return False
    asked = [value for value in values if not _follows(value, relation, high - low, varies)]
    if not all(Guard(value, relation, 0).holds_now() for value in asked):
        return False
    return all(guard(value, relation, 0) for value in asked)


def _bound(difference: Dim, name: str, ends: tuple[Dim, Dim], relation: str) -> Dim | None:
    """What ``difference`` does not go beyond: the sum of what each of its terms comes to at most.

    (Or at least, as the relation says.) None if some term is not monotonic.
    """
    if relation not in _ORDERS:
        return None
    total: Dim = 0
    for monomial, factor in difference.terms if isinstance(difference, SymExpr) else ():
        part = SymExpr(((monomial, factor),))
        if name not in symbols_of(part):
            total = total + (part if monomial else factor)
            continue
        if not is_monotonic(part, name):
            return None
        first, last = (substitute(part, {name: end}) for end in ends)
        if (hint(first) < hint(last)) == (relation in ("<", "<=")):
            first, last = last, first
        guard(first, ">=" if relation in ("<", "<=") else "<=", last)
        total = total + first
    return total


def _sides(difference: Dim, relation: str) -> Iterator[tuple[bool, tuple[Dim, Dim]]]:
    """The two dims that one with ``min`` or ``max`` in it may be: whether both have to hold."""
    if isinstance(difference, int) or relation not in _ORDERS:
        return
    for monomial, factor in difference.terms:
        atom = monomial[0] if len(monomial) == 1 else None
        if isinstance(atom, SymFunc) and atom.name in ("min", "max"):
            rest = difference - factor * SymExpr(((monomial, 1),))
            is_least = (atom.name == "min") == (factor > 0)
            sides = rest + factor * atom.left, rest + factor * atom.right
            yield is_least == (relation in (">", ">=")), sides


def _follows(value: Dim, relation: str, count: Dim, varies: Callable[[Dim], bool]) -> bool:
    """Whether ``value relation 0`` for each positive ``count``.

    If it takes a guard to say so it is one on what does not change in the loops around, in some
    iterations of which ``count`` may be 0.
    """
    match relation:
        case ">":
            rest = value - count
        case ">=":
            rest = value + 1 - count
        case "<" | "<=":
            return _follows(-value, ">" if relation == "<" else ">=", count, varies)
        case _:
            return False
    if decide(rest, ">=", 0) is True:
        return True
    return varies(value) and not varies(rest) and hint(rest) >= 0 and guard(rest, ">=", 0)
