"""What a capture has recorded: the graph, and when and in which region each value was made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from typing import Literal as OneOf

from fxc.ir.builder import GraphBuilder
from fxc.ir.error_kinds import ARRAY_MEMORY, CHANGE_IN_LOOP
from fxc.ir.graph import Value
from fxc.ir.records import frozen

from .refusing import How, Requests, refusal, refuse

RegionKind = OneOf["arm", "loop"]


@frozen
class OpenRegion:
    """A region that is being captured. Those inside of it have higher numbers."""

    number: int
    kind: RegionKind
    began: int  # on the clock ``Session.now``


@frozen
class Call:
    """A recorded call, and when it was."""

    at: int
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@frozen
class Alternative:
    """``left`` if ``test`` holds, else ``right``."""

    test: Value
    left: Value
    right: Value


class Recorder:
    """What records operators: ``Session``, of which this is what modules below it know."""

    record: Callable[..., Any]  # call an operator on operands; gives Values, see ``wrap``

    def __init__(self) -> None:
        self.builder = GraphBuilder()
        self.door: Any = None  # the Door of this capture, see door.py
        self.requests = Requests()  # of earlier attempts, see Note [Requests]
        self.made: dict[Value, Call] = {}  # by what recorded it, on the clock ``now``
        self.alternatives: dict[Value, Alternative] = {}  # see Note [Conditional aliases]
        self.view_sources: dict[Value, frozenset[Value]] = {}  # see ``may_be_any``
        # Of arrays that are, or may be, no ``ndarray`` as always: see Note [Classes of arrays].
        self.classes: dict[Value, Any] = {}
        self.region = 0
        self._region_count = 0
        self.regions: list[OpenRegion] = []  # from the outermost to the innermost
        self._open = {0}
        self._made_in: dict[Value, int] = {}
        self._count = 0
        self.read: dict[Value, int] = {}  # in regions, and when last, on the clock ``now``

    def value(self, name: str, *args: object, **kwargs: object) -> Value:
        """What an operator gives on operands that gives one value."""
        found: Value = self.record(name, *args, **kwargs)
        return found

    def enter_region(self, kind: RegionKind, began: int) -> None:
        """Begin a region inside of the current one, of a loop or branch that began at that time."""
        self._region_count += 1
        self.region = self._region_count
        self.regions.append(OpenRegion(self.region, kind, began))
        self._open.add(self.region)

    def reenter_region(self, region: OpenRegion) -> None:
        """Go on with a region that was left."""
        self.region = region.number
        self.regions.append(region)
        self._open.add(region.number)

    @property
    def innermost(self) -> OpenRegion:
        """The current region, of those that are not the outermost."""
        return self.regions[-1]

    def leave_region(self) -> None:
        """End the region: its values are gone."""
        self._open.discard(self.regions.pop().number)
        self.region = self.regions[-1].number if self.regions else 0

    def is_open(self, region: int) -> bool:
        """Whether a region is being recorded."""
        return region in self._open

    def in_loop(self, home: int) -> bool:
        """Whether a loop is being recorded that has begun inside of that region."""
        return self.outermost_loop(home) is not None

    def outermost_loop(self, home: int) -> OpenRegion | None:
        """The outermost loop being recorded that has begun inside of that region."""
        loops = (each for each in self.regions if each.kind == "loop" and each.number > home)
        return next(loops, None)

    def is_other_arm(self, regions: Sequence[OpenRegion]) -> bool:
        """Whether an arm is being recorded of a branch whose other arm these regions are of."""
        pairs = zip(regions, self.regions, strict=False)
        one, other = next(((x, y) for x, y in pairs if x.number != y.number), (None, None))
        if one is None or other is None:
            return False
        return one.kind == other.kind == "arm" and one.began == other.began

    def made_here(self, values: Iterable[Value]) -> None:
        """Note that values belong to the current region."""
        for value in values:
            self._made_in[value] = self.region

    def is_alive(self, value: Value) -> bool:
        """Whether the region that a value was made in has not ended."""
        return self._made_in.get(value, 0) in self._open

    def check_alive(self, value: Value) -> None:
        """Refuse a value that was made in a region which has ended."""
        if not self.is_alive(value):
            raise refusal(
                CHANGE_IN_LOOP,
                "a value that was made inside a branch or a loop is used outside of it; return it "
                "from the branch or carry it through the loop",
            )

    def check_ndarray(self, value: Value, what: str) -> None:
        """Refuse ``what`` of what is, or may be, of a subclass. See Note [Classes of arrays]."""
        if value in self.classes:
            raise refuse(ARRAY_MEMORY, f"{what} of a subclass of arrays")

    def wants(self, about: str, how: How = How.IN_GRAPH) -> bool:
        """Whether this capture is to have it so."""
        asked = self.asked(about)
        return how in asked and How.BY_PYTHON not in asked

    def asked(self, label: str) -> set[How]:
        """In which ways earlier attempts have asked to capture what has this label."""
        return {each.how for each in self.requests if each.about == label}

    @property
    def open_regions(self) -> frozenset[int]:
        """The numbers of the regions that are being recorded, but for the outermost."""
        return frozenset(region.number for region in self.regions)

    @property
    def now(self) -> int:
        """The number of operators recorded so far."""
        return self._count

    def made_in(self, value: Value) -> int:
        """The number of the region that a value was made in; 0 is the outermost."""
        return self._made_in.get(value, 0)


def options_of(session: Recorder, value: Value) -> tuple[Value, ...]:
    """The arrays that ``value`` may be, each once."""
    found = session.alternatives.get(value)
    if found is None:
        return (value,)
    return (*options_of(session, found.left), *options_of(session, found.right))
