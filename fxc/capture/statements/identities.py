"""Which of a loop's variables may hold one and the same array, from one iteration to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from fxc.ir.bounds import decide
from fxc.ir.error_kinds import LOOP_VARIABLE
from fxc.ir.graph import Value
from fxc.ops.metas.layout import copied_strides, is_c_ordered
from fxc.ops.metas.shapes import same_shape

from ..forms.differing import Differing
from ..forms.options import arrays_of
from ..session.recorder import options_of
from ..session.refusing import refuse
from ..session.session import Session
from ..values.operands import array_of, kind_of

_MOST_NAMES = 4  # that go round


def rotation(
    before: Mapping[str, object], after: Mapping[str, object]
) -> tuple[int, frozenset[str]]:
    """After how many iterations the arrays that change their variables are back, and the names of
    those; 1 if there are none, or too many, or that is not all they do.
    """
    starts: dict[Value | None, str] = {}
    for name, x in before.items():
        starts.setdefault(array_of(x), name)
    values = ((name, array_of(x)) for name, x in after.items())
    source = {name: starts[x] for name, x in values if x is not None and x in starts}
    moved = {name: other for name, other in source.items() if name != other}
    if not moved or set(moved) != set(moved.values()):
        return 1, frozenset()
    order, now = 1, dict(moved)
    while any(name != other for name, other in now.items()):
        now = {name: moved[other] for name, other in now.items()}
        order += 1
    return (order, frozenset(moved)) if order <= _MOST_NAMES else (1, frozenset())


def is_private(session: Session, value: Value, since: int, others: Iterable[object]) -> bool:
    """Whether an array was made later than ``since``, and no other variable shows it."""
    made = session.made.get(value)
    if (session.results.get(value, -1) if made is None else made.at) < since:
        return False
    if value in session.aliases.bases or value in session.aliases.twins:
        return False
    arrays = (each for x in others for item in _leaves(x) for each in arrays_of(item))
    return all(value not in session.aliases.roots(each) for each in arrays)


def is_whole(session: Session, array: Value, view: Value) -> bool:
    """Whether a view shows all of an array in the shape that it has."""
    found = view
    while found is not array:
        call = session.made.get(found)
        if call is None or call.name != "reshape" or found not in session.aliases.bases:
            return False
        found = call.args[0]
    return same_shape(kind_of(array).shape, kind_of(view).shape)


def is_turned(session: Session, view: Value) -> bool:
    """Whether a view shows all of an array, with its axes in another order than C's."""
    root, kind = session.aliases.root(view), kind_of(view)
    if root is view or decide(kind_of(root).size, "==", kind.size) is not True:
        return False
    is_dense = copied_strides(kind, "K", kind.dtype.itemsize) == kind.strides
    return is_dense and not is_c_ordered(kind)


def _leaves(x: object) -> Iterator[Any]:
    """What a tuple holds, and anything else itself."""
    if type(x) is tuple:
        for item in x:
            yield from _leaves(item)
    else:
        yield x


def staying(
    session: Session,
    after: Mapping[str, object],
    carried: Mapping[str, Value],
    resized: Mapping[str, Sequence[Value]],
) -> dict[str, set[str]]:
    """For each variable, those whose array it may be, or show, after an iteration: it takes it
    over, or a part of it, or a loop inside has no iteration. Arrays begin an iteration as the
    parameters ``carried``, those that change their shape as ``resized``.
    """
    found: dict[str, set[str]] = {}
    for name, x in after.items():
        value = array_of(x)
        twins = {} if value is None else session.aliases.twins.get(value, {})
        options = () if value is None else options_of(session, value)
        root = None if value is None else session.aliases.root(value)
        found[name] = {
            other
            for other, param in carried.items()
            if param in twins or (other != name and (param in options or param is root))
        }
        of_root = {} if root is None else session.aliases.twins.get(root, {})
        found[name] |= {
            other
            for other, params in resized.items()
            if not of_root.keys().isdisjoint(params) or (other != name and root in params)
        }
    for between in found:
        for reached in found.values():
            if between in reached:
                reached |= found[between]
    return found


def sharing(session: Session, region: int, after: Mapping[str, object]) -> set[tuple[str, str]]:
    """The variables that may hold one array that was made in a region: two and two.

    Raises ``CaptureError`` if one of them may be None.
    """
    aliases = session.aliases
    found: dict[str, set[Value]] = {}
    for name, x in after.items():
        values = arrays_of(x)
        if not values:
            continue
        options = [each for value in values for each in options_of(session, value)]
        inside = [each for each in options if session.made_in(each) >= region]
        roots = {aliases.root(each) for each in inside}
        found[name] = roots.union(*(aliases.twins.get(root, ()) for root in roots))
    pairs = {(one, other) for one, other in combinations(found, 2) if found[one] & found[other]}
    several = {name for name, x in after.items() if type(x) is Differing}
    if any(not several.isdisjoint(pair) for pair in pairs):
        raise refuse(
            LOOP_VARIABLE,
            "a variable that is None or an array that another one holds, from one iteration to "
            "the next,",
            "keep a copy",
        )
    return pairs
