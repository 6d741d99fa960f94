"""What becomes of variables that the two arms of a branch leave different."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.graph import Operand, Value
from fxc.ir.text import dims_of
from fxc.ir.types import PY_INT

from ..forms.carrying import enter, nothing, pack
from ..forms.differing import Differing
from ..forms.form import Array, Form, is_of_arrays, plain_form
from ..forms.options import arrays_of, things_in
from ..forms.structures import common_structure, items_of, names_of, parts_in, rebuilt
from ..forms.truths import flag_of
from ..forms.variables import is_same, kind_text, placeholder
from ..numbers.traced_int import TracedInt
from ..regions.needed import StatementDoor
from ..regions.recording import Recording, counted_inside
from ..regions.structured import Variables
from ..session.alternatives import either, may_be_any
from ..session.locations import user_location
from ..session.refusing import How
from ..session.session import Session, current
from ..staging.continuations import request_for
from ..values.maybe_set import UNBOUND
from ..values.operands import TracedValue, array_of, variable_of, wrap
from .views import CarriedView, CarriedWindow, carried_view

JointForm = Form | CarriedWindow | None  # None for what only differs
Either = tuple[JointForm, Any, Any, str]  # and the name of the variable
Arms = tuple[Recording, Recording]
Window = tuple[CarriedView, int, int]  # and where its numbers are among the results


def record_cond(
    session: Session, test: Operand, arms: Arms, values: Sequence[Either], reason: str = ""
) -> list[Any]:
    """The node for two arms that have been recorded; what each of the values becomes.

    A value is given by its form and what it is in either arm. Numbers, and arrays
    that both arms make, are results of the node. Another array is one or the other afterwards: see
    Note [Conditional aliases]. What has no form is one thing or the other, by ``reason``: see Note
    [Things that differ].
    """
    join = _Join(session, test, arms, reason)
    for each in values:
        join.add(*each)
    join.record()
    return [join.found(*each) for each in values]


def paired(
    left: object,
    right: object,
    forms: Callable[[Any, Any, str], JointForm],
    values: list[Either],
    name: str = "",
) -> Callable[[list[Any]], Any]:
    """What makes one value of the two that arms give, of what the node will give for ``values``.

    Tuples are joined item by item, and what else a variable of that ``name`` may hold of the kind.
    """
    if is_same(left, right):
        return lambda made: left
    structure = common_structure(left, right, name)
    if structure is not None:
        names = names_of(name, structure)
        if structure.joined:
            current().door.places.note_kin(left, right)
        both = [items_of(x, structure) for x in (left, right)]
        items = [
            paired(one, other, forms, values, item)
            for item, one, other in zip(names, *both, strict=True)
        ]
        return lambda made: structure.standing_for(left, right, [item(made) for item in items])
    place = len(values)
    values.append((forms(left, right, name), left, right, name))
    return lambda made: made[place]


def joined(
    left: Variables,
    right: Variables,
    used: Container[str],
    forms: Callable[[str, Any, Any, str], JointForm],
    values: list[Either],
) -> Callable[[list[Any]], Variables]:
    """What makes the ``used`` variables behind two arms of what the node gives for ``values``."""
    found = {
        name: paired(x, right[name], partial(forms, name), values, name)
        for name, x in left.items()
        if name in used
    }
    return lambda made: {name: found[name](made) if name in found else UNBOUND for name in left}


def may_differ(left: object, right: object, name: str) -> bool:
    """Whether a variable may be these two things by a flag. See Note [Things that differ]."""
    return all(map(_may_be_part, (*parts_in(left, name), *parts_in(right, name))))


def why_not_one(what: str, line: int, left: object, right: object) -> str:
    """Why what two arms of an expression give is no one value; where it stands at a line of its
    own, it may be written as a branch. See Note [What follows a branch].
    """
    found = (
        f"{what!r} gives {kind_text(left)} or {kind_text(right)}, which cannot be captured; "
        "make it the same kind of value in both cases"
    )
    place = user_location()
    if line and place is not None:
        request = request_for(f"{place.file}:{line}", How.WITH_REST)
        current().choices[found] = request
    return found


def ask_one_pool(door: StatementDoor, left: object, right: object) -> None:
    """Begin again with one pool for the lists of two arms, see Note [Pools of lists]. A list or a
    tuple (``[y, x] if steep else (x, y)``) is one of two things by their items instead.
    """
    found = (*things_in(left), *things_in(right))
    if not any(isinstance(x, tuple) for x in found):
        door.lists.ask_pool(*(x for x in found if isinstance(x, list)))


def _may_be_part(x: object) -> bool:
    """Whether a part stands for itself, or values of the graph for it."""
    if isinstance(x, TracedValue):
        if current().has_sizes(x._value.type):
            return True
        return not current().region and bool(carried_view(current(), x._value))
    if type(x) is TracedInt:
        return current().is_here(x._dim)
    if current().door.places.home_of(x) == 0:  # made before the branch: nothing in it is of an arm
        return type(x) is dict or hasattr(x, "__dict__")
    known = isinstance(x, np.generic | np.dtype | type)
    return x is None or known or type(x) in (str, bool, int, float)


class _Join:
    """The end of two arms: what is made in one and needed behind it is a result of the node."""

    def __init__(self, session: Session, test: Operand, arms: Arms, reason: str) -> None:
        self.reason = reason
        self._session = session
        self._test = test
        self._arms = arms
        self._results: tuple[list[Operand], list[Operand]] = ([], [])
        self._outputs: Sequence[Value] = ()
        self._places: tuple[dict[Value, int], dict[Value, int]] = ({}, {})  # of what an arm made
        self._windows: tuple[dict[Value, Window], dict[Value, Window]] = ({}, {})
        self._numbers: list[int] = []  # the first places of the numbers, in order
        self._new: set[int] = set()  # places of what is a new array in either arm
        self._behind: tuple[dict[Value, Value], dict[Value, Value]] = ({}, {})
        self._copies: tuple[dict[Value, list[Value]], ...] = ({}, {})  # of what an arm made
        self._either: dict[tuple[Value, Value], Value] = {}
        self._variables: dict[Value, Any] = {}
        self._flag: Operand | None = None

    # -- before the node is recorded

    def add(self, form: JointForm, left: Any, right: Any, name: str) -> None:
        """Find places for what a variable needs."""
        if form is None:
            for side, x in enumerate((left, right)):
                for part in parts_in(x, name):
                    self._add_part(side, part)
            return
        if isinstance(form, CarriedWindow):
            self._numbers.append(len(self._results[0]))
            for side, x in enumerate((left, right)):
                with self._arms[side]:
                    self._results[side].extend(form.parts(self._session, x._value))
            return
        if not isinstance(form, Array):
            self._numbers.append(len(self._results[0]))
            self._add_result(form, left, right)
            return
        sides = array_of(left), array_of(right)
        known = any(x in places for x, places in zip(sides, self._places, strict=True))
        if not known and all(
            x is None or (self._is_made(x) and not self._is_part(x)) for x in sides
        ):
            self._new.add(len(self._results[0]))
            self._add_result(form, left, right)
            return
        for side, value in enumerate(sides):
            if value is not None:
                self._add_needed(side, value)

    def _add_part(self, side: int, x: object) -> None:
        """Find a place for a part of a result that differs."""
        if isinstance(x, TracedValue):
            self._add_needed(side, x._value)

    def _add_needed(self, side: int, value: Value) -> None:
        """Find places for what an arm made of an array."""
        if self._is_window(value):
            self._add_window(side, value)
            return
        for each in self._needed(value):
            if each not in self._places[side]:
                self._places[side][each] = len(self._results[side])
                given = (wrap(each), UNBOUND) if side == 0 else (UNBOUND, wrap(each))
                self._add_result(plain_form(each.type), *given)

    def _is_window(self, value: Value) -> bool:
        """Whether a size counted in an arm says how large an array is, or where it lies."""
        if not self._is_made(value):
            return False
        dims = getattr(value.type, "shape", ())
        if value in self._session.aliases.bases:
            dims = *dims, *dims_of(self._session.made[value].args)
        return not all(map(self._session.is_bound, dims))

    def _add_window(self, side: int, value: Value) -> None:
        """Find places for the numbers that say where a view lies. See Note [Views behind loops]."""
        if value in self._windows[side]:
            return
        view = carried_view(self._session, value)
        if view is None:
            raise counted_inside()
        with self._arms[side]:
            numbers = view.numbers(self._session)
        self._windows[side][value] = view, len(self._results[side]), len(numbers)
        self._results[side].extend(numbers)
        nothing = placeholder(self._session, PY_INT)
        self._results[1 - side].extend([nothing] * len(numbers))

    def _add_result(self, form: Form, left: object, right: object) -> None:
        """What is left in one arm, and right in the other, is a result."""
        for side, x in enumerate((left, right)):
            value, results = array_of(x), self._results[side]
            if value is not None:
                self._places[side][value] = len(results)
            with self._arms[side]:
                results += nothing(form) if x is UNBOUND else pack(form, x)

    def _is_made(self, value: Value) -> bool:
        """Whether a value was made in an arm."""
        return not self._session.is_alive(value)

    def _is_part(self, value: Value) -> bool:
        """Whether an array is a view, or one array or another."""
        return value in self._session.aliases.bases or value in self._session.alternatives

    def _needed(self, value: Value) -> Iterator[Value]:
        """What an arm made, and is no view, of what an array is made of."""
        if not self._is_made(value):
            return
        if not self._is_part(value):
            yield value
            return
        for each in self._operands(value):
            if isinstance(each, Value):
                yield from self._needed(each)

    def _operands(self, value: Value) -> tuple[Any, ...]:
        """What a view, or one array or another, is made of."""
        session = self._session
        if value in session.alternatives:
            found = session.alternatives[value]
            return found.test, found.left, found.right
        return session.made[value].args

    # -- behind the node

    def record(self) -> None:
        """Record the node."""
        regions = [
            arm.finished((), given) for arm, given in zip(self._arms, self._results, strict=True)
        ]
        self._outputs = self._session.record(
            "cond", self._test, (), on_true=regions[0], on_false=regions[1]
        )

    def found(self, form: JointForm, left: Any, right: Any, name: str) -> Any:
        """What a variable is behind the node."""
        if form is None:
            parts = (
                iter([self._part_behind(side, part) for part in parts_in(x, name)])
                for side, x in enumerate((left, right))
            )
            both = zip((left, right), parts, strict=True)
            one, other = (rebuilt(x, part, name) for x, part in both)
            if one is UNBOUND or other is UNBOUND:  # then nobody asks
                return other if one is UNBOUND else one
            return Differing(variable_of(self._known_flag()), one, other, self.reason)
        if isinstance(form, CarriedWindow):
            return self._wrapped_window(form, left._value, right._value)
        if not isinstance(form, Array):
            made = enter(form, self._outputs[self._numbers.pop(0) :])
            if is_of_arrays(form):
                self._note_copies(made, (left, right))
            return made
        arrays = [
            self._made_behind(side, value)
            for side, value in enumerate((array_of(left), array_of(right)))
            if value is not None
        ]
        return self._wrapped(arrays[0] if len(arrays) == 1 else self._one_of(*arrays))

    def _note_copies(self, made: object, of_arms: Sequence[object]) -> None:
        """Note of what arrays ``made`` holds copies, which are the arrays themselves to NumPy."""
        aliases = self._session.aliases
        copies = [aliases.root(each) for each in arrays_of(made)]
        for side, x in enumerate(of_arms):
            for value in [root for each in arrays_of(x) for root in aliases.roots(each)]:
                others = self._copies[side].setdefault(value, [])
                if value in self._places[side]:
                    others.append(self._outputs[self._places[side][value]])
                for one in copies:
                    aliases.hand_on(one, (value, *others))
                others += copies

    def _wrapped_window(self, form: CarriedWindow, left: Value, right: Value) -> object:
        """One object for all variables that hold one in either arm."""
        made = self._window(form, left, right)
        if (left, right) not in self._either:
            self._either[left, right] = made
            may_be_any(self._session, made, (left, right))
        return self._wrapped(self._either[left, right])

    def _window(self, form: CarriedWindow, left: Value, right: Value) -> Value:
        parts = self._outputs[self._numbers.pop(0) :][: len(form.kinds)]
        made, wholes = form.view(self._session, parts), self._session.aliases.wholes
        if wholes.keys().isdisjoint((left, right)) and form.base not in (left, right):
            del wholes[made]
        return made

    def _wrapped(self, value: Value) -> Any:
        """Variables that hold one array in each arm do so behind the node."""
        if value not in self._variables:
            self._variables[value] = wrap(value)
        return self._variables[value]

    def _one_of(self, left: Value, right: Value) -> Value:
        if left is right:
            return left
        if (left, right) not in self._either:
            self._either[left, right] = either(self._session, self._known_flag(), left, right)
        return self._either[left, right]

    def _known_flag(self) -> Operand:
        """The condition as NumPy's bool."""
        if self._flag is None:
            self._flag = flag_of(variable_of(self._test))
        return self._flag

    def _part_behind(self, side: int, x: object) -> object:
        """What stands behind the node for a part of a result that differs."""
        return self._wrapped(self._made_behind(side, x._value)) if isinstance(x, TracedValue) else x

    def _made_behind(self, side: int, value: Value) -> Value:
        """What stands behind the node for a value of an arm."""
        if not self._is_made(value):
            return value
        if value in self._windows[side]:
            view, first, count = self._windows[side].pop(value)
            made = view.behind(self._session, self._outputs[first : first + count])._value
            self._behind[side][value] = made
        if value in self._places[side]:
            place = self._places[side][value]
            found, aliases = self._outputs[place], self._session.aliases
            if value in aliases.twins or aliases.is_lent(aliases.root(value)):
                aliases.hand_on(found, (value,))
            elif place in self._new:
                aliases.joined.add(found)
            return found
        if value not in self._behind[side]:
            parts = [
                self._made_behind(side, each) if isinstance(each, Value) else each
                for each in self._operands(value)
            ]
            if value in self._session.alternatives:
                made = either(self._session, *parts)
            else:
                call = self._session.made[value]
                made = self._session.record(call.name, *parts, **call.kwargs)
            self._behind[side][value] = made
        return self._behind[side][value]
