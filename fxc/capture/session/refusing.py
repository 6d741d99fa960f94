"""How a capture ends before the program does: refused, or to begin again with other requests."""

from __future__ import annotations

import sys
from _thread import _local
from collections.abc import Iterable
from enum import Enum
from typing import Any

from fxc.ir.error_kinds import ELEMENT_NEEDED, WARNS, Kind
from fxc.ir.errors import CaptureError
from fxc.ir.location import SourceLocation
from fxc.ir.records import frozen

from .locations import line_text, user_columns, user_location

# Note [Requests]
# Where an attempt to capture a call fails, the next one is made with what was asked for before and
# with these requests, the first that are new; without any the call is refused, for the first reason
# that there was. None is taken back: another one (``BY_PYTHON`` and its like) says that it failed.
# But where nothing helps, and Python runs a loop, there is one more start: with the requests from
# before the first loop was unrolled, without those to have lists in the graph (``IN_ARRAYS``).
# 1. Places to carry, and lists that branches and loops lengthen, to be of the graph, whatever has
#    gone wrong: it may follow from these. An attempt that has found one goes on as if it had been
#    asked for, up to the end of the statement, to find the others. Where the same was asked for of
#    objects before, as many others that come next are asked for, too: each would take an attempt.
# 2. What ``Respecialise`` was raised with: the program could not go on there.
# 3. Of what is refused, or raises in a branch or loop of the graph (``_try_otherwise``):
#    the numbers that vary by which it decides, as constants, unless a list is to be of the graph;
#    to decide as in another iteration of the loops around; what the innermost branch or loop that
#    can asks for: its first iteration apart, or, if no list is in question, a constant, or Python;
#    the lists that a region has changed, of the graph; those of a size, Python's; those of arrays.
# 4. Of what is refused nevertheless, all that may help: ``Session.retries``, ``MadeLists.sized``.
# 5. Without those to handle exceptions in the graph (``HANDLED``), which are taken back.
# In any case the next attempt lets those numbers vary that the program has been seen to store to.


class How(Enum):
    """How something is to be captured. The value is put behind what that is."""

    CONSTANT = "as a constant"  # an input, a size, a stride or a text is guarded by its value
    CARRIED = "carried"  # a place is a variable of the branches and loops that assign it
    WRITTEN = "written in loops"  # nothing relies on the elements of an array
    APART = "apart"  # objects are not joined
    UNROLLED = "unrolled"  # Python runs a loop
    FIRST_APART = "first"  # the first iteration, or item, is computed before the loop
    AS_A_WHOLE = "as a whole"  # a loop of few iterations is one of the graph
    FEW_ITERATIONS = "by its few iterations"  # Python runs one around loops in loops
    BY_LENGTH = "by its length"  # there are as many iterations behind the last round as now
    BY_FIRST = "by its first"  # a loop decides as in its first iteration
    WITH_REST = "with what follows"  # each arm of a branch has a copy of what follows it
    LEFT_FIRST = "left before what it returns"  # a loop is left, then its result is computed
    WITHOUT_ONE = "without an iteration"  # what loops of a function assign has flags
    DRIVEN = "driven"  # the body of a loop is a function, which a generator calls
    ENDED = "ended"  # an arm of a branch ends where it raises an exception
    HANDLED = "handled"  # what a line raises is handled in the graph
    HOLDS = "holds"  # the test of a branch, else the call is Python's
    FAILS = "fails"  # the same of its opposite
    AS_LOOPS = "as loops"  # a comprehension with several ``for`` is loops of the graph
    AS_LOOP = "as a loop"  # a comprehension of few items is a loop of the graph
    MANY_OPERATIONS = "with many operations"  # the same, since its items come to too much
    ITEM_BY_ITEM = "item by item"  # Python runs a comprehension
    BY_ELEMENTS = "by elements"  # a comprehension with a condition makes a list of counted length
    IN_GRAPH = "in the graph"  # a list, dict, record or text is one of the graph
    BY_PYTHON = "by Python"  # it is Python's even so
    AS_ROWS = "of rows"  # a list of lists of numbers is an array of the graph
    ROWS_BY_PYTHON = "of rows by Python"  # it is Python's even so
    OF_KINDS = "of so many kinds"  # it has room for so many kinds of numbers
    IN_POOL = "in a pool"  # lists that are made at a place are in a pool
    POOL_BY_PYTHON = "in a pool by Python"  # they are Python's even so
    ONE_POOL = "in one pool with"  # they are in one with those of another place
    BY_ITEMS = "by its items"  # a list from outside is read item by item
    GROWS = "grows"  # a list from outside is appended to, and not looked at
    SEEN = "seen"  # it is looked at, too
    OPEN = "with keys by a condition"  # a dict may have a key or not
    ONE_OF_TWO = "one of two"  # arrays behind loops that may have had no iteration
    BY_SIZES = "by counted sizes"  # checks say of which sizes they are
    HOLED = "with holes"  # items of a dict or a set are taken out
    OF_TEXTS = "with texts as keys"  # keys of a dict that are characters are texts


IN_ARRAYS = frozenset({How.IN_GRAPH, How.IN_POOL, How.ONE_POOL, How.AS_ROWS})


@frozen
class Request:
    """To capture something, by the label that all attempts give it, in another way."""

    about: str
    how: How
    which: str | int = ""  # the other place, the line or the number

    def __str__(self) -> str:
        return f"{self.about} {self.how.value} {self.which}".rstrip()


Requests = frozenset[Request]
VIEWS_BY_PYTHON = Request("views in lists", How.BY_PYTHON)
VIEWS_BY_SIZES = Request("views by reshape", How.BY_SIZES)
ROWS_BY_PYTHON = Request("rows of lists", How.BY_PYTHON)
BEHIND_LOOPS = Request("arrays behind loops", How.ONE_OF_TWO)
UPDATES_BY_PYTHON = Request("what C code writes", How.BY_PYTHON)  # unless that is known
HANDLED_BY_PYTHON = Request("exceptions", How.BY_PYTHON)  # that depend on data
OBJECTS_APART = Request("objects", How.APART)
RECORDS_APART = Request("records of several arrays", How.APART)


def constants(labels: Iterable[str]) -> Requests:
    """The requests to have these inputs, sizes or texts as constants."""
    return frozenset(Request(label, How.CONSTANT) for label in labels)


_FEW = 4  # items of a list that are asked for one by one


def next_items(labels: Iterable[str], asked: Requests) -> Requests:
    """The requests to have the next items of lists as constants, of which some have become so one
    after the other: as many as so far. Each key of a dict would else take an attempt.
    """
    found: set[str] = set()
    for label in labels:
        owner, _, place = label.rpartition("_")
        items = (x for x in asked if x.how is How.CONSTANT and x.about.startswith(f"{owner}_"))
        count = sum(each.about[len(owner) + 1 :].isdigit() for each in items)
        if place.isdigit() and count >= _FEW:
            found.update(f"{owner}_{int(place) + ahead}" for ahead in range(1, count + 1))
    return constants(found)


class Respecialise(BaseException):
    """Start the capture again with these requests, see Note [Requests].

    Not an Exception, so that a handler in the user's program does not stop it.
    """

    def __init__(self, *requests: Request, error: CaptureError | None = None) -> None:
        super().__init__(*requests)
        self.requests = frozenset(requests)
        self.error = error  # why a loop or branch is not captured as a whole


class LeftToPython(BaseException):
    """The capture has come to an operator that is to be refused, see Note [Leaves].

    Not an Exception: no other way to capture the program leads around it.
    """


def hand_on(error: BaseException) -> None:
    """Raise again what ends the capture, in whose place an exception of a ``finally`` has come."""
    around = error.__context__
    while around is not None:
        if isinstance(around, Respecialise | LeftToPython):
            raise around
        around = around.__context__


class _Thread(_local):
    session: Any = None  # of the capture that the thread is in


thread = _Thread()


class _RefusedAtTheEnd(CaptureError, GeneratorExit):
    """A refusal in a generator that is closed: of other exceptions Python tells the user there."""


def refuse(kind: Kind, what: str, instead: str = "") -> CaptureError:
    """A CaptureError at the user's line that says what cannot be captured, to be raised."""
    return refusal(kind, f"{what} cannot be captured{instead and '; '}{instead}")


def refusal(kind: Kind, message: str, location: SourceLocation | None = None) -> CaptureError:
    """The same with a message that says it in other words.

    The session remembers the first, in case a handler in the user's program catches it.
    """
    is_closing = isinstance(sys.exception(), GeneratorExit)
    error = (_RefusedAtTheEnd if is_closing else CaptureError)(message)
    error.kind = kind
    columns = user_columns() if location is None else None
    location = location or user_location()
    vars(error)["location"] = location
    if location is not None:
        error.add_note(line_text(location, columns))
    session = thread.session
    if session is not None and session.error is None:
        session.error = error
    return error


def element_needed(what: str) -> CaptureError:
    """What to raise where an operation needs an element that is not known."""
    return refusal(
        ELEMENT_NEEDED,
        f"{what} needs the value of an array's element while the program is being captured; "
        "use fxc.cond, np.where or array operations, or compute it outside",
    )


def refuse_known(kind: str, flag: int) -> None:
    """Refuse an operation on known numbers, which is done now: NumPy warns of it at each call."""
    place = user_location()
    if place is None or not any(kind.startswith(each) for each in place.quiet):
        raise refuse(WARNS, f"an operation on known numbers, of which NumPy warns ({kind}),")
