"""Questions about dims, and the guards that keep their answers true."""

from __future__ import annotations

from _thread import _local
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from .bounds import compare, decide
from .later import import_later
from .records import frozen
from .size_functions import evaluate, hint, substitute
from .symbols import Dim, Symbol, counted_in

# See Note [Rooms with one door].
is_monotonic = import_later("fxc.ir.monotonic", "is_monotonic")

# Note [Guards on symbols]
# A decision that depends on a symbol is made by its hint (the value it had in the call being
# captured) and is true for other calls only while the relation holds. ``guard`` is the one door
# for such decisions: it answers without a record what follows from the form of the expressions
# and the lower bounds of symbols (a symbolic dim is at least 2: 0 and 1 are specialised), and
# otherwise records a Guard with whoever is listening (``recording``). All recorded guards of a
# capture are checked at each later call before its code is used.

# Note [Counted sizes]
# The length of ``x[mask]`` is known at run time only, when the node ``bind_size`` has run. It is a
# symbol with ``most``, a dim that it never exceeds (the size of the mask), and no guard on inputs
# can speak of it. ``guard`` answers what follows from its range, 0 to ``most``, by guards on the
# ends. What does not is assumed, always in the same way (``_assumed``), and told to whoever listens
# (``assuming``): capture then records a check at that place, which sends the call back to NumPy
# where the assumption does not hold. Later stages may assume again what capture has. If one assumes
# something else (``Unchecked``), the call is captured again with that to check, too.

_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@frozen
class Guard:
    """A relation between dims that held while capturing and that later calls must keep."""

    left: Dim
    relation: str
    right: Dim

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether the relation holds for these values of the symbols."""
        return compare(evaluate(self.left, values), self.relation, evaluate(self.right, values))

    def holds_now(self) -> bool:
        """Whether the relation holds in the call being captured."""
        return compare(hint(self.left), self.relation, hint(self.right))

    @property
    def negated(self) -> Guard:
        """The relation that holds where this one does not."""
        return Guard(self.left, _NEGATED[self.relation], self.right)

    @property
    def normal(self) -> tuple[Dim, str]:
        """A difference and how it compares with 0: of ``i < n`` and ``n > i`` the same."""
        difference = self.left - self.right
        if self.relation in (">", ">="):
            return -difference, self.relation.replace(">", "<")
        if self.relation in ("==", "!="):
            return max(difference, -difference, key=str), self.relation
        return difference, self.relation

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


class _Recorders(_local):
    def __init__(self) -> None:
        self.stack: list[dict[Guard, None]] = []


_recorders = _Recorders()


@contextmanager
def recording(guards: dict[Guard, None]) -> Iterator[dict[Guard, None]]:
    """Collect the guards that are taken inside the block (a dict keeps their order)."""
    depth = len(_recorders.stack)
    _recorders.stack.append(guards)
    try:
        yield guards
    finally:
        del _recorders.stack[depth:]


def recorders() -> list[dict[Guard, None]]:
    """Who listens on this thread, the last one alone: for recordings that are no block."""
    return _recorders.stack


def guard(left: Dim, relation: str, right: Dim) -> bool:
    """Whether ``left relation right`` holds; recorded if it depends on the values of symbols.

    >>> from .symbols import symbol
    >>> taken = {}
    >>> n, m = symbol("n", hint=4, lower=2), symbol("m", hint=4, lower=2)
    >>> with recording(taken):
    ...     guard(n, "==", m), guard(n, ">=", 1)
    (True, True)
    >>> [str(g) for g in taken]
    ['n == m']
    """
    if isinstance(left, int) and isinstance(right, int):
        return compare(left, relation, right)
    known = decide(left, relation, right)
    if known is not None:
        return known
    sizes = counted_in(left - right)
    if sizes:
        return _guard_of_counted(left, relation, right, sizes[-1])
    holds = compare(hint(left), relation, hint(right))
    if _recorders.stack:
        kept = relation if holds else _NEGATED[relation]
        _recorders.stack[-1].setdefault(Guard(left, kept, right))
    return holds


# Counted sizes


class _Listener(_local):
    def __init__(self) -> None:
        self.assume: Callable[[Guard], None] | None = None


_listener = _Listener()


@contextmanager
def assuming(listener: Callable[[Guard], None]) -> Iterator[None]:
    """Tell ``listener`` what is assumed of counted sizes inside the block."""
    before, _listener.assume = _listener.assume, listener
    try:
        yield
    finally:
        _listener.assume = before


@contextmanager
def unheard() -> Iterator[None]:
    """Keep from who listens on this thread what is taken and assumed inside the block: of a program
    that is compiled while another is captured, which has called it as it is.
    """
    before = _recorders.stack, _listener.assume
    _recorders.stack, _listener.assume = [], None
    try:
        yield
    finally:
        _recorders.stack, _listener.assume = before


def _guard_of_counted(left: Dim, relation: str, right: Dim, size: Symbol) -> bool:
    """See Note [Counted sizes]."""
    difference = left - right
    if size.most is not None and is_monotonic(difference, size.name):
        ends = [substitute(difference, {size.name: end}) for end in (0, size.most)]
        # Whether two counted sizes are equal is not for their hints to say.
        apart = () if any(map(counted_in, ends)) else (">", "<")
        for asked, answer in ((relation, True), (_NEGATED[relation], False)):
            for each in apart if asked == "!=" else (asked,):
                if asked != "==" and all(Guard(end, each, 0).holds_now() for end in ends):
                    for end in ends:
                        guard(end, each, 0)
                    return answer
    assumed = _assumed(left, relation, right)
    if _listener.assume is not None:
        _listener.assume(assumed)
    return assumed.relation == relation


def _assumed(left: Dim, relation: str, right: Dim) -> Guard:
    """What is taken to hold: that dims are equal, or different, if that is asked; else as the hints
    say. The hints also say whether a dim is a multiple's equal, as 0, 1 and ``n`` are of 0, ``n``
    and ``n * m``: those are the odd cases of an algorithm, or of a layout.
    """
    is_odd = _is_multiple(left, right) or _is_multiple(right, left)
    is_meeting = relation in ("==", "!=") and not is_odd
    holds = is_meeting or Guard(left, relation, right).holds_now()
    return Guard(left, relation if holds else _NEGATED[relation], right)


def _is_multiple(dim: Dim, of: Dim) -> bool:
    """Whether a dim is another one times a dim, by their forms."""
    return of != 0 and dim // of * of == dim
