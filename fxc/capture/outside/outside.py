"""What comes from outside of the captured function: arguments, globals, attributes.

Everything that the program reads from outside passes ``Outside.admit`` once (admission.py): arrays
and numbers become inputs of the graph, plain values are guarded. In place of containers and objects
the program sees stand-ins (containers.py, objects.py), whose parts come here when they are read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxc.ir.graph import Value
from fxc.ir.handles import HANDLE, handle
from fxc.ir.later import import_later
from fxc.ir.records import frozen

from ..arrays.traced_array import TracedArray
from ..guards.program import Source
from ..session.refusing import Requests
from ..session.session import Session
from ..values.operands import Traced
from .effects import Effects
from .functions import Functions
from .inputs import Inputs, Route

# See Note [Rooms with one door].
known_result = import_later("fxc.capture.numbers.derived", "known_result")


@frozen
class Known:
    """An object from outside, kept alive, with what the program sees in its place."""

    object: Any
    seen: Any
    source: Source
    is_object: bool  # its attributes are read through the door
    is_fixed: bool = False  # guarded by identity


class Outside(Inputs):
    """All that one capture has read from outside."""

    admit: Callable[[object, Route], Any]  # what the program sees for a value, see admission.py

    def __init__(
        self,
        session: Session,
        dynamic: bool | None,
        varying: frozenset[str] = frozenset(),
        derives: bool = True,
        of_part: bool = False,
    ) -> None:
        super().__init__(session, dynamic, varying)
        self.derives = derives  # see Note [Derived ints]
        self.of_part = of_part  # whether a part of a function is captured
        self.effects = Effects(session)
        self.functions = Functions(self.guards)
        # Views that are returned, see Note [Views behind loops].
        self.placed: dict[Value, Value] = {}
        self.known: dict[int, Known] = {}  # by the object from outside
        self.shown: dict[int, Known] = {}  # by what the program sees in its place
        self.drawn: dict[int, Any] = {}  # by the input that is the handle
        self._keeper: Value | None = None
        self.keeper_source: Source
        self.notes: Any = None  # see Note [Late effects]
        self.being_admitted = ""  # the name of an argument
        self.refuses_data = False  # what is refused is something from outside
        self.texts = Requests()  # to have texts that vary as constants
        self.given: dict[int, tuple[object, str]] = {}  # texts and methods, with variables

    def forget(self) -> None:
        """Let go of what the caller has, at the end."""
        for each in (self.known, self.shown, self.arrays, self.numbers, self.stacked):
            each.clear()

    def guard_distinct(self, a: object, b: object) -> None:
        """Rely on two objects from outside being different ones, if both are from outside."""
        left, right = self.source_of(a), self.source_of(b)
        if left is not None and right is not None:
            self.guards.check(f"{left.var} is not {right.var}", f"{left.text} is not {right.text}")

    def real(self, x: object) -> Any:
        """The object from outside that something stands for; another one itself."""
        known = self.shown.get(id(x))
        return x if known is None else known.object

    def is_stand_in(self, x: object) -> bool:
        """See Note [Stand-ins]."""
        known = self.object_of(x)
        return known is not None and not known.is_fixed

    def object_of(self, x: object) -> Known | None:
        """The object from outside for which something stands, or which it is; None for others."""
        known = self.shown.get(id(x))
        return known if known is not None and known.is_object else None

    def source_of(self, x: object) -> Source | None:
        """How a call gets at something from outside; None for what is not."""
        if isinstance(x, TracedArray):
            classed = self.session.classes.get(x._value)
            for each, source in zip(self.inputs, self.input_sources, strict=True):
                if x._value is each.value:
                    return source if classed is None else classed.source
        known = self.shown.get(id(x))
        return None if known is None else known.source

    def remember(self, known: Known) -> None:
        """Note what stands for an object from outside."""
        self.known[id(known.object)] = known
        if not isinstance(known.seen, Traced):
            self.shown[id(known.seen)] = known

    def known_result(self, x: Value) -> object:
        """What a scalar is in this call, from here on a constant; None if guards cannot say."""
        return known_result(x)

    # -------------------------------------------------------- the way in, see admission.py

    def generator(self, value: object) -> Any:
        """What the program sees for a random generator that it has by a method of it."""
        known = self.known.get(id(value))
        if known is not None:
            return known.seen
        return self.admit(value, Route(self.root(value, type(value).__name__), "generator"))

    @property
    def keeps(self) -> bool:
        """Whether the program makes generators, or shows something in a loop."""
        return self._keeper is not None or self.notes is not None

    def keeper(self) -> Value:
        """The handle of a list, new at each call, that keeps what the program makes."""
        if self._keeper is None:
            made = f"{self.guards.constant(handle, 'handle')}([])"
            self.keeper_source = self.guards.fetch(made, "what the program makes")
            self._keeper = self.add_input(HANDLE, self.keeper_source, "made")
        return self._keeper

    def root(self, value: object, text: str) -> Source:
        """The source of an object that the program itself keeps: a module, a namespace."""
        return Source(self.guards.constant(value), text)
