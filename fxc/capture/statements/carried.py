"""How a loop carries its variables from one iteration to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fxc.ir.graph import Operand, Value
from fxc.ir.symbols import Dim
from fxc.ir.types import PY_INT

from ..forms.carrying import enter, pack
from ..forms.form import Form, types_of
from ..forms.joining import carried_form, joint_form
from ..session import Session
from ..values.given import give, refuse_kept
from ..values.operands import wrap
from ..values.several import sides_of
from ..values.variables import array_of, is_number, placeholder
from .carried_views import CarriedView
from .cells import is_flag
from .held import Held, held
from .resizing import Resized, resized
from .sliding import Sliding
from .structured import Recording

# How a variable is carried: as one array or another, as one that changes its shape, as a view that
# the last iteration leaves behind, or as operands of its form.
Way = Held | Resized | CarriedView | Form


class Carried:
    """How the variables of a loop are carried: by name, as far as the passes through the body have
    shown. What is carried is one parameter of the region or several.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.held: dict[str, Held] = {}  # see Note [Arrays that loops exchange]
        self.resized: dict[str, Resized] = {}  # see Note [Arrays that change their shape]
        self.sliding: dict[str, Sliding] = {}  # are not carried, see Note [Sliding views]
        self.mixed: dict[str, Form] = {}  # of what becomes a mixed number, or one of several things
        self.gifts: dict[str, Any] = {}  # lists that have taken over what is carried
        # What a list has taken over in this pass that has to be another array after an iteration.
        self.awaited: list[Value] = []
        self.given: dict[str, Value] = {}  # what a copy in another layout is carried for
        self._known_gifts = frozenset[str]()  # at the begin of this pass
        self.params: dict[str, list[Value]] = {}  # of this pass
        self.now: dict[str, Way] = {}  # how it is in this pass

    def begin(self) -> None:
        """Begin another pass."""
        self.params, self.now, self.awaited = {}, {}, []
        self._known_gifts = frozenset(self.gifts)

    def forget_first(self) -> None:
        """Forget what has been seen: there is another iteration before the loop."""
        self.mixed.clear()
        self.sliding.clear()
        self.resized.clear()

    @property
    def ways(self) -> tuple[Any, ...]:
        """What another pass depends on."""
        return dict(self.held), set(self.sliding), dict(self.resized)

    @property
    def has_new_gifts(self) -> bool:
        """Whether lists have taken over more than at the begin of this pass."""
        return self._known_gifts != frozenset(self.gifts)

    @property
    def differs_at_first(self) -> bool:
        """Whether a variable may be another thing before the loop than behind an iteration."""
        return bool(self.mixed or self.held or self.resized)

    def is_pure(self, name: str) -> bool:
        """Whether a variable is carried as an array alone."""
        return name in self.held and not self.held[name].options

    def takes(self, name: str, start: Any) -> bool:
        """Whether a variable that is ``start`` before the loop is carried into an iteration."""
        if is_flag(name) and start is True:
            return False  # it stays so
        if sides_of(start):
            return name in self.mixed or carried_form(start, start) is not None
        return is_number(start) or name in self.held or name in self.mixed

    # -------------------------------------------------------- in the body

    def enter(self, region: Recording, name: str, start: Any) -> Any:
        """Make the parameters for a variable that is ``start`` before the loop; what it is in the
        body.
        """
        before = array_of(start) if name not in self.mixed else None
        if before is not None:
            self.held[name] = self.held[name].begun_with(self._session, before)
            way: Held | Form | None = self.held[name]
        else:
            self.held.pop(name, None)
            way = self.mixed.get(name) or carried_form(start, start)
        assert way is not None
        params = self.add(region, name, way, name)
        if name in self.gifts:
            give(self._session, self.gifts[name], params[-1])
        return self.variable(name, params)

    def add(
        self, region: Recording, name: str, way: Held | Resized | Form, text: str | None = None
    ) -> list[Value]:
        """Make the parameters for a variable that is carried in this way, one with a name."""
        kinds = way.kinds if isinstance(way, Held | Resized) else types_of(way)
        names = [text, *[None] * len(kinds)][: len(kinds)]
        if isinstance(way, Held | Resized):
            names.reverse()  # the array comes last
        self.now[name] = way
        self.params[name] = region.params(kinds, names)
        return self.params[name]

    def enter_resized(self, region: Recording, name: str) -> Any:
        """The same for an array that changes its shape."""
        change = self.resized[name]
        if name in self.gifts:
            raise refuse_kept()
        return wrap(change.inside(self._session, self.add(region, name, change, name)))

    def variable(self, name: str, parts: Sequence[Operand]) -> Any:
        """The variable that is carried in these parts."""
        match self.now[name]:
            case Held() as way:
                return way.variable(self._session, parts)
            case CarriedView() as view:
                return view.behind(self._session, parts)
            case Resized():
                raise AssertionError("an array that changes its shape is handed on by itself")
            case form:
                return enter(form, parts)

    # -------------------------------------------------------- behind the body

    def exchange(self, region: Recording, name: str, start: Value, after: Value) -> None:
        """Take note of a variable that is another array than before."""
        known = self.held.get(name)
        self.held[name] = held(self._session, region.number, known, start, after)

    def slide(self, name: str, found: Sliding | None) -> None:
        """Take note of how a variable slides; of its not sliding if it does so otherwise."""
        if found is None:
            self.sliding.pop(name, None)
        elif self.sliding.setdefault(name, found) != found:
            del self.sliding[name]

    def resizes(
        self, region: Recording, name: str, seen: Any, after: Value, count: Dim | None
    ) -> bool:
        """Take note of a variable that is an array of another shape than it was, or a view of a new
        one, if it is one. ``count`` is the number of iterations, if that is known.
        """
        before, known = array_of(seen), self.resized.pop(name, None)
        if before is None:
            return False
        is_alike = joint_form(seen, wrap(after)) is not None
        if known is None and is_alike and after not in self._session.aliases.bases:
            return False
        params = {param for each in self.params.values() for param in each}
        found = resized(self._session, region.number, params, known, before, after, count)
        if found is None:
            return False
        self.held.pop(name, None)
        self.resized[name] = found
        return True

    def lay_out(self, starts: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any] | None:
        """Carry arrays that differ in their layout alone as copies in the layout that they have
        after an iteration: nobody may write to them, or return them, as they may be what they were.
        Gives the copies of the first ones; None if that cannot be.
        """
        copies, given = dict[str, Any](), dict[str, Value]()
        for name, start in starts.items():
            before, value = array_of(start), array_of(after[name])
            if before is None or value is None or not self.is_pure(name) or name in self.given:
                return None
            given[name] = before
            copies[name] = wrap(self._session.record("copy", before, order="C"))
            if joint_form(copies[name], after[name]) is None:
                return None
        self.given |= given
        return copies

    # -------------------------------------------------------- behind the loop

    def resized_parts(
        self, region: Recording, name: str, start: Value, after: Value
    ) -> tuple[list[Operand], list[Operand]]:
        """What is carried into the first iteration, and on from one, of an array that changes its
        shape; the region is left.
        """
        change = self.resized[name]
        with region:
            results = change.next_parts(self._session, after, self.params[name])
        return change.first_parts(self._session, start), results

    def view_parts(
        self, region: Recording, name: str, view: CarriedView
    ) -> tuple[list[Operand], list[Operand]]:
        """The same for a view that the last iteration leaves behind."""
        with region:
            numbers = view.numbers(self._session)
            kinds = (PY_INT,) * len(numbers)
            self.params[name] = region.params(kinds, [None] * len(kinds))
        self.now[name] = view
        return [placeholder(self._session, PY_INT)] * len(kinds), numbers

    def first_parts(self, name: str, start: Any, is_entered: bool) -> list[Operand]:
        """What is carried into the first iteration of an array that loops exchange, or a number;
        ``is_entered`` if the body has it.
        """
        before, way = array_of(start), self.now[name]
        if isinstance(way, Held) and before is not None:
            return way.first_parts(self._session, before)
        if is_entered and not isinstance(way, Held | Resized | CarriedView):
            return pack(way, start)
        return [placeholder(self._session, param.type) for param in self.params[name]]
