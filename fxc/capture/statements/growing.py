"""Lists that a loop appends to, once in each iteration.

See Note [Lists that grow].
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fxc.ir.error_kinds import LOOP_VARIABLE, TOO_LARGE
from fxc.ir.graph import Value
from fxc.ir.size_functions import hint
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.layout import is_c_ordered

from ..forms.form import Array, Number
from ..forms.joining import form_of
from ..forms.options import arrays_of
from ..numbers.traced_int import wrap_dim
from ..regions.recording import Recording
from ..session.locations import user_frame
from ..session.refusing import Requests, refuse
from ..session.session import Session
from ..values.operands import Traced, TracedValue, wrap
from ..values.rows import Kind, Row, Rows

# Note [Lists that grow]
# ``out.append(x)`` as a statement of its own in the body of a captured loop, where the body does
# not mention ``out`` otherwise and nobody else has the list, is a store into row k of an array made
# before the loop. An array must be a new one that nobody else has: ``out.append(x.copy())``. Behind
# the loop the list has as many items as there were iterations, a number that becomes a constant. An
# item is read from the array when it is first needed;
# ``np.array(out)`` and the return of such a list take the array as it is. Where the number of
# iterations is no constant, or not small, the list is first tried as one of counted length, whose
# number of items stays open: see Note [Lists of counted length].

MOST_ITEMS = 100_000


def _lists_that_grow(
    session: Session, names: Iterable[tuple[str, bool]], env: Mapping[str, object]
) -> dict[str, list[Any]]:
    """The lists by these names that nobody can reach in another way."""
    if session.region:
        return {}
    found = {}
    for name, _ in names:
        held = env.get(name)
        if type(held) is list and not _is_shared(session, name, held):
            found[name] = held
    others = [id(x) for name, x in env.items() if name not in found]
    return {name: held for name, held in found.items() if id(held) not in others}


# Of a list that one variable of the program has: that, and what looks at the list here, which are
# the variables ``held`` above and below, and an argument.
_OWN = 4


def _is_shared(session: Session, name: str, held: list[object]) -> bool:
    """Whether something else may have the list than what the capture itself keeps: by the number of
    references, as what has it need not be known to the collector of garbage.
    """
    snapshots = {id(each): each for each in session.snapshots}.values()
    kept = [id(x) for each in snapshots for x in each.values()]
    kept += map(id, session.door.lists.known)
    own = _OWN + kept.count(id(held)) + session.door.places.keeps_alone(held)
    return not _is_in_frame(name) or sys.getrefcount(held) > own


def _is_in_frame(name: str) -> bool:
    """Whether the frame of the program itself has the variable, not a cell."""
    frame = user_frame()
    code = frame and frame.f_code
    return code is not None and name in code.co_varnames and name not in code.co_cellvars


def _kind_of_item(region: Recording, x: Any, *, anew: bool) -> Kind | None:
    """The type of what is appended; None for what no array holds.

    An array is one that this iteration has made, and if it is a result ``anew``.
    """
    form = form_of(x)
    if not isinstance(form, Number | Array):
        return None
    kind = form.kind
    if isinstance(kind, ScalarType) and kind.weak and kind.dtype.kind == "c":
        return None  # no operator makes Python's complex number of an element
    if isinstance(kind, ArrayType) and not (
        anew
        and region.is_fresh(x._value)
        and is_c_ordered(kind)
        and all(isinstance(dim, int) for dim in kind.shape)
    ):
        return None
    return kind


def _room_for(session: Session, kind: Kind, count: int) -> Rows:
    """An array with room for the items of ``count`` iterations."""
    if count > MOST_ITEMS:
        raise refuse(TOO_LARGE, f"a list of {count} items", "store into an array")
    array: Value = session.record("empty", (count, *kind.shape), kind.dtype, layout=None)
    return Rows(array, kind, count)


def _items_of(rows: Rows) -> list[TracedValue]:
    """The items for a list, each to be read when it is needed."""
    kind = TracedValue._wrappers[type(rows.kind)]
    return [kind._later_read(Row(rows, place)) for place in range(rows.count)]


class Growing:
    """The lists to which a loop appends in each iteration, as far as they are arrays in it."""

    def __init__(
        self, session: Session, names: Sequence[tuple[str, bool]], env: Mapping[str, object]
    ) -> None:
        self._session = session
        self._anew = {name for name, anew in names if anew}
        self._lists = _lists_that_grow(session, names, env)
        self._appended: dict[str, Kind] = {}  # in this pass
        self._rows: dict[str, Rows] = {}
        self._given_away: list[Value] = []

    def begin(self) -> None:
        """Begin another pass."""
        self._appended, self._given_away = {}, []

    def begin_apart(self) -> None:
        """Run an iteration before the loop: another one is the first."""
        self._rows.clear()

    def leave(self, lists: Iterable[object]) -> Requests:
        """Leave the lists to which iterations append, more than a few or as many as a size says, to
        the graph, if that has not failed; gives the requests not to do so.
        """
        made, requests = self._session.door.lists, self._session.requests
        known = self._lists.items()
        self._lists = {name: x for name, x in known if made.to_leave(x) <= requests}
        wanted = (made.to_leave(x) for x in lists if isinstance(x, Traced))
        found = Requests().union(*wanted) - requests
        made.sized |= found
        return found

    def takes(self, region: Recording, held: object, place: Dim, x: Any) -> bool:
        """Whether the iteration of this number may append ``x`` to a list."""
        name = next((name for name, each in self._lists.items() if each is held), None)
        if name is None:
            return False
        kind = _kind_of_item(region, x, anew=name in self._anew)
        if kind is None or name in self._appended:
            return False
        self._appended[name] = kind
        if isinstance(kind, ArrayType):
            self._given_away.append(x._value)
        rows = self._rows.get(name)
        if rows is not None and rows.kind == kind:
            wrap(rows.array)[wrap_dim(place)] = x
        return True

    def makes_room(self, variables: Iterable[object], count: Dim | None) -> bool:
        """Make arrays for what so many iterations append; whether there are new ones. ``variables``
        is what the program has at the end of one.
        """
        new = {
            name: kind
            for name, kind in self._appended.items()
            if name not in self._rows or self._rows[name].kind != kind
        }
        if any(each in self._given_away for x in variables for each in arrays_of(x)):
            raise refuse(
                LOOP_VARIABLE,
                "a loop that appends an array to a list and keeps it",
                "append a copy",
            )
        for name, kind in new.items():
            assert count is not None
            guard(count, "==", hint(count))
            self._rows[name] = _room_for(self._session, kind, hint(count))
        return bool(new)

    def end(self) -> None:
        """Give the lists their items, behind the loop."""
        for name in self._appended:
            self._lists[name].extend(_items_of(self._rows[name]))
