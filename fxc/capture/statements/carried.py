"""How a loop carries its variables from one iteration to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from fxc.ir.error_kinds import LOOP_VARIABLE
from fxc.ir.graph import Operand, Value
from fxc.ir.symbols import Dim
from fxc.ops.metas.layout import is_c_ordered

from ..forms.carrying import enter, pack
from ..forms.form import Form, Union, types_of
from ..forms.joining import carried_form, joint_form
from ..forms.options import arrays_of, sides_of
from ..forms.variables import is_number, placeholder
from ..regions.cells import is_flag
from ..regions.given import give, refuse_kept
from ..regions.recording import Recording
from ..regions.structured import Variables
from ..session.refusing import refusal
from ..session.session import Session
from ..values.operands import array_of, kind_of, wrap
from .carried_arrays import Held, Resized, held, resized
from .views import CarriedView, CarriedWindow, Sliding, carried_view, carried_window

# How a variable is carried: as one array or another, as one that changes its shape, as a window of
# one, as a view that the last iteration leaves behind, or as operands of its form; not at all, if
# it slides.
Part = Resized | CarriedWindow | CarriedView
Parts = Held | Part | Form
Way = Parts | Sliding
W = TypeVar("W", Held, Resized, CarriedWindow, Sliding)


class Carried:
    """How the variables of a loop are carried: by name, as far as the passes through the body have
    shown. What is carried is one parameter of the region or several.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        # How those are carried that an iteration makes another thing: arrays, and what becomes a
        # mixed number, or one of several things.
        self.ways: dict[str, Way] = {}
        self.gifts: dict[str, Any] = {}  # lists that have taken over what is carried
        self.lent: set[str] = set()  # what is carried and lists may show
        # What a list has taken over in this pass that has to be another array after an iteration.
        self.awaited: list[Value] = []
        self.given: dict[str, Value] = {}  # what a copy in another layout is carried for
        self._known_gifts = frozenset[str]()  # at the start of this pass
        self.params: dict[str, list[Value]] = {}  # of this pass
        self.now: dict[str, Parts] = {}  # how each is carried in this pass

    def begin(self) -> None:
        """Begin another pass."""
        self.params, self.now, self.awaited = {}, {}, []
        self._known_gifts = frozenset(self.gifts)

    def forget_first(self) -> None:
        """Forget what has been seen: there is another iteration before the loop."""
        self.ways = {name: way for name, way in self.ways.items() if isinstance(way, Held)}

    def of(self, kind: type[W]) -> dict[str, W]:
        """The variables that are carried in a way of this kind."""
        return {name: way for name, way in self.ways.items() if isinstance(way, kind)}

    @property
    def has_new_gifts(self) -> bool:
        """Whether lists have taken over more than at the start of this pass."""
        return self._known_gifts != frozenset(self.gifts)

    @property
    def differs_at_first(self) -> bool:
        """Whether a variable may be another thing before the loop than behind an iteration."""
        return len(self.ways) > len(self.of(Sliding))

    def is_pure(self, name: str) -> bool:
        """Whether a variable is carried as an array alone."""
        way = self.ways.get(name)
        return isinstance(way, Held) and not way.options

    def takes(self, name: str, start: object) -> bool:
        """Whether a variable that is ``start`` before the loop is carried into an iteration."""
        if is_flag(name) and start is True:
            return False  # it stays so
        if sides_of(start):
            return self.is_widened(name) or carried_form(start, start) is not None
        return is_number(start) or name in self.ways

    def is_widened(self, name: str) -> bool:
        """Whether a variable is carried as one of several things, or as a mixed number."""
        return isinstance(self.ways.get(name), Form)

    def is_open(self, name: str, x: object) -> bool:
        """Whether a variable is carried by elements that may be those of one array or another."""
        return array_of(x) is None or isinstance(self.now.get(name), Union)

    # -------------------------------------------------------- in the body

    def enter(self, region: Recording, name: str, start: object) -> object:
        """Make the parameters for a variable that begins as ``start``; what it is inside."""
        known, before = self.ways.get(name), array_of(start)
        way: Held | Form | None
        if isinstance(known, Held) and before is not None and known.is_alike(before):
            self.ways[name] = way = known.begun_with(self._session, before)
        elif isinstance(known, Form):
            way = known
        else:
            self.ways.pop(name, None)
            way = carried_form(start, start)
        if way is None:
            raise refusal(LOOP_VARIABLE, f"{name} is one of several things that no loop carries")
        params = self.add(region, name, way, name)
        if name in self.gifts:
            give(self._session, self.gifts[name], params[-1])
        return self.variable(name, params)

    def add(self, region: Recording, name: str, way: Parts, text: str | None = None) -> list[Value]:
        """Make the parameters for a variable that is carried in this way, one with a name."""
        kinds = types_of(way) if isinstance(way, Form) else way.kinds
        names = [text, *[None] * len(kinds)][: len(kinds)]
        if isinstance(way, Held | Resized):
            names.reverse()  # the array comes last
        self.now[name] = way
        self.params[name] = region.params(kinds, names)
        if name in self.lent:
            self._session.aliases.lent.update(self.params[name])
        return self.params[name]

    def enter_part(self, region: Recording, name: str, way: Part) -> object:
        """The same for a part of an array outside of the loop, or one that changes its shape."""
        if isinstance(way, Resized) and name in self.gifts:
            raise refuse_kept()
        text = None if isinstance(way, CarriedWindow) else name
        return way.inside(self._session, self.add(region, name, way, text))

    def variable(self, name: str, parts: Sequence[Operand]) -> object:
        """The variable that is carried in these parts."""
        way = self.now[name]
        return enter(way, parts) if isinstance(way, Form) else way.behind(self._session, parts)

    # -------------------------------------------------------- behind the body

    def exchange(self, region: Recording, name: str, start: Value, after: Value) -> None:
        """Take note of a variable that is another array than before."""
        known = self.ways.get(name)
        before = known if isinstance(known, Held) else None
        self.ways[name] = held(self._session, region.number, before, start, after)

    def slide(self, name: str, found: Sliding | None) -> None:
        """Take note of how a variable slides; of its not sliding if it does so otherwise."""
        known = self.ways.get(name)
        if isinstance(known, Sliding) and known != found:
            del self.ways[name]
        elif found is not None and not isinstance(known, CarriedWindow):
            self.ways[name] = found

    def stop_sliding(self) -> None:
        """Forget what slides."""
        self.ways = {name: way for name, way in self.ways.items() if not isinstance(way, Sliding)}

    def cuts(self, name: str, start: Value, after: Value) -> bool:
        """Take note of a variable that is a window of what it was before the loop, if it is."""
        way = self.ways.get(name)
        known = way if isinstance(way, CarriedWindow) else None
        found = carried_window(self._session, start, after, known)
        if found is not None:
            self.ways[name] = found
        elif known is not None:
            del self.ways[name]
        return found is not None

    def is_no_view(self, name: str) -> None:
        """Take note of a variable that is no part of an array after all."""
        if isinstance(self.ways.get(name), CarriedView | CarriedWindow | Sliding):
            del self.ways[name]

    def lends(self, name: str, after: object) -> bool:
        """Take note of a variable whose memory a list shows after an iteration; whether that is
        new: nobody writes to it in the next one.
        """
        aliases = self._session.aliases
        roots = {root for value in arrays_of(after) for root in aliases.roots(value)}
        if name in self.lent or not any(map(aliases.is_lent, roots)):
            return False
        self.lent.add(name)
        return True

    def moves(self, name: str, start: Value, after: Value) -> None:
        """Take note of a variable that is a part of an array, in each iteration another one; of its
        not being one if it is otherwise.
        """
        way = self.ways.get(name)
        known = way if isinstance(way, CarriedView) else carried_view(self._session, after)
        if known is not None and all(known.shows(self._session, x) for x in (start, after)):
            self.ways[name] = known
        else:
            self.is_no_view(name)

    def resizes(
        self, region: Recording, name: str, seen: object, after: Value, count: Dim | None
    ) -> bool:
        """Take note of a variable that is an array of another shape than it was, or a view of a new
        one, if it is one. ``count`` is the number of iterations, if that is known.
        """
        before, way = array_of(seen), self.ways.get(name)
        known = way if isinstance(way, Resized) else None
        if known is not None:
            del self.ways[name]
        if before is None:
            return False
        is_alike = joint_form(seen, wrap(after)) is not None
        if known is None and is_alike and after not in self._session.aliases.bases:
            return False
        params = {param for each in self.params.values() for param in each}
        found = resized(region, params, known, before, after, count)
        if found is None:
            return False
        self.ways[name] = found
        return True

    def lay_out(
        self, starts: Mapping[str, object], after: Mapping[str, object]
    ) -> dict[str, Any] | None:
        """Carry arrays that differ in their layout alone as copies in the layout that they have
        after an iteration: nobody may write to them, or return them, as they may be what they were.
        Gives the copies of the first ones; None if that cannot be.
        """
        copies, given = Variables(), dict[str, Value]()
        for name, start in starts.items():
            before, value = array_of(start), array_of(after[name])
            if before is None or value is None or not self.is_pure(name) or name in self.given:
                return None
            given[name] = before
            order = "C" if is_c_ordered(kind_of(value)) else "F"
            copies[name] = wrap(self._session.record("copy", before, order=order))
            if joint_form(copies[name], after[name]) is None:
                return None
        self.given |= given
        return copies

    # -------------------------------------------------------- behind the loop

    def first_parts(self, name: str, start: object, is_entered: bool) -> list[Operand]:
        """What is carried into the first iteration; ``is_entered`` if the body has the variable."""
        before, way = array_of(start), self.now[name]
        if isinstance(way, CarriedWindow):
            return way.parts(self._session, way.base)
        if isinstance(way, CarriedView) and before is not None and is_entered:
            places = way.numbers_of(self._session, before)
            assert places is not None
            return places
        if isinstance(way, Held | Resized) and before is not None:
            return way.first_parts(self._session, before)
        if is_entered and isinstance(way, Form):
            return pack(way, start)
        return [placeholder(self._session, param.type) for param in self.params[name]]
