"""Changes to Python objects from outside, recorded in order while the function is captured.

See Note [Effects].
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from fxc.ir.error_kinds import CHANGE_OUTSIDE
from fxc.ir.records import mutable

from ..guards.program import Source
from ..session.refusing import refuse
from ..session.session import Session

# Note [Effects]
# Capture changes nothing outside. A store into an object from outside (``self.t += dt``,
# ``history.append(x.copy())``, a global) is made in what the program sees of the object, so that
# later reads meet it, and recorded. The epilogue (epilogue.py) makes the recorded stores once per
# call, in order, after the compiled code has run: what can raise is behind it by then, so a call
# that is replayed as plain NumPy has had no effect yet. A store is only recorded where nobody can
# tell that it came late: into lists, dicts and sets, attributes that no code of the class watches,
# those that a class has, globals and variables of enclosing functions; all by exact type.
# Containers and objects that are distinct in the capture are guarded to be so in each call. Other
# effects are refused.


@mutable
class Effect:
    """One change: ``action`` (see epilogue.py) at ``key`` of the object at ``owner``, which happens
    if the ``flag`` holds, where there is one.
    """

    owner: Source
    action: str
    key: object
    value: object
    flag: object = None


_CHANGES_PLACES = frozenset({"delattr", "delitem", "insert", "replace", "clear", "reverse"})


class Effects:
    """The changes of one capture."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.entries: list[Effect] = []
        self._latest: dict[tuple[str, str, object], Effect] = {}
        self.constants: dict[str, object] = {}  # of what statements in regions show
        self.objects: dict[str, None] = {}

    def check_allowed(self, kind: str) -> None:
        """Refuse changes in regions: they would happen once, not as often as the region runs."""
        if self._session.region:
            raise refuse(
                CHANGE_OUTSIDE,
                f"a change to a {kind} in a branch or loop that becomes one of the graph",
                "use a variable, or return the new value",
            )

    def add(
        self,
        owner: Source,
        action: str,
        key: object = None,
        value: object = None,
        flag: object = None,
    ) -> None:
        if action in _CHANGES_PLACES:
            for place in [place for place in self._latest if place[0] == owner.var]:
                del self._latest[place]
        self.entries.append(Effect(owner, action, key, value, flag))

    def store(
        self, owner: Source, action: str, key: object, value: object, flag: object = None
    ) -> None:
        """Record that a place has a new value, if the ``flag`` holds where there is one; a later
        store to it takes the place of this one.
        """
        place = (owner.var, action, key)
        known = self._latest.get(place)
        if known is not None and known.flag is None and flag is None:
            known.value = value
            return
        self.add(owner, action, key, value, flag)
        self._latest[place] = self.entries[-1]


def show_notes(log: deque[Any], functions: Mapping[int, Callable[..., None]]) -> None:
    """Show what these statements have noted, up to the first note of another."""
    while log and log[0][0] in functions:
        number, *values = log.popleft()
        functions[number](*values)
