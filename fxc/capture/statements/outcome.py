"""What comes out of a loop: the results of its region, and its variables behind it."""

from __future__ import annotations

import operator
from collections.abc import Container, Sequence
from typing import Any

from fxc.ir.error_kinds import LOOP_VARIABLE
from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.symbols import Dim

from ..forms.carrying import pack
from ..forms.form import Form, MixedNumber, Union
from ..forms.joining import carried_form
from ..forms.options import arrays_of
from ..forms.variables import described, is_same, kind_text
from ..regions.cells import is_flag
from ..regions.given import give, refuse_twice
from ..regions.recording import Recording
from ..regions.structured import Variables
from ..session.alternatives import either, may_be_any
from ..session.recorder import Alternative, options_of
from ..session.refusing import BEHIND_LOOPS, How, refusal, refuse
from ..staging.continuations import request_for
from ..staging.jumps import RESULT
from ..values.maybe_set import UNBOUND
from ..values.operands import array_of, kind_of, wrap
from .carried import Parts
from .carried_arrays import Held, Resized, held
from .loops import CapturedLoop
from .views import CarriedView, CarriedWindow, Sliding, carried_view


class Outcome:
    """What a loop hands on, of which an iteration makes ``after``; the region is left.

    ``init`` is carried into the first iteration, ``results`` on from one.
    """

    def __init__(self, loop: CapturedLoop, region: Recording, after: Variables) -> None:
        self._loop, self._session, self._region = loop, loop.session, region
        self._carried = loop.carried
        self._starts, self._after = loop.values, after
        if self._carried.awaited:
            raise refuse_twice()
        self._at_first: dict[str, Value] = {}  # see _taken_over
        self._names: list[str] = []
        # Variables that are read behind the loop and are one part of an array: the first one has
        # it carried, the others are one object with it.
        self._views: dict[Value | None, str] = {}
        self._same: dict[str, str] = {}
        self.init: list[Operand] = []
        self.results: list[Operand] = []
        for name, x in after.items():
            is_entered = name in self._carried.params
            if not is_entered and (name not in loop.behind or is_same(x, self._starts[name])):
                continue
            if not is_entered and (first := self._views.get(array_of(x))):
                self._same[name] = first
            elif not isinstance(self._carried.ways.get(name), Sliding):
                init, results = self._handed_on(name, x, is_entered)
                self._names.append(name)
                self.init += init
                self.results += results

    @property
    def params(self) -> list[Value]:
        """The parameters of the region that take what is carried."""
        return [each for name in self._names for each in self._carried.params[name]]

    def _handed_on(
        self, name: str, x: object, is_entered: bool
    ) -> tuple[list[Operand], list[Operand]]:
        """What is carried into the first iteration, and on from one, for a variable."""
        carried = self._carried
        way = carried.now[name] if is_entered else self._way_behind(name, x)
        with self._region:
            results = self._next_parts(name, way, x)
            if not is_entered:
                carried.add(self._region, name, way)
        return carried.first_parts(name, self._starts[name], is_entered), results

    def _way_behind(self, name: str, x: object) -> Parts:
        """How a variable is carried that is read behind the loop only."""
        value, known = array_of(x), self._carried.ways.get(name)
        if value is not None:
            view = carried_view(self._session, value)
            if view is not None:
                self._views[value] = name
                return view
            if known is None:
                known = self._carried.ways[name] = self._held_behind(name, value)
        way = known if isinstance(known, Held) else carried_form(x, x)
        if way is None:
            raise _no_form(name, x)
        return way

    def _held_behind(self, name: str, value: Value) -> Held:
        """How to carry an array that is read behind the loop only."""
        taken, before = self._taken_over(name, value), array_of(self._starts[name])
        if taken is None or self._session.region:
            return held(self._session, self._region.number, None, None, value)
        options = () if before is None else options_of(self._session, before)
        return Held(tuple(dict.fromkeys((*options, taken))), kind_of(value))

    def _taken_over(self, name: str, value: Value) -> Value | None:
        """The array that another variable is before the loop, if this one takes over the other's
        array in each iteration: it is that array after the first iteration, and after no other.
        """
        for other, params in self._carried.params.items():
            if other == name or not self._carried.is_pure(other) or params[-1] is not value:
                continue
            start = array_of(self._starts[other])
            changes = not self._loop.stays.get(other) and other not in self._carried.given
            # What is written is the parameter.
            is_read = params[-1] not in self._session.aliases.changed
            if start is not None and changes and is_read and self._loop.tells_first:
                return start
        return None

    def _next_parts(self, name: str, way: Parts, x: object) -> list[Operand]:
        """What an iteration gives for a variable carried in this way; the region is entered."""
        if isinstance(way, Form):
            return pack(way, x)
        if isinstance(way, CarriedView):
            return self._next_places(name, way, x)
        found, params = array_of(x), self._carried.params.get(name, ())
        if found is None:
            raise _no_form(name, x)
        if isinstance(way, Resized):
            return way.next_parts(self._session, found, params)
        if isinstance(way, CarriedWindow):
            return way.parts(self._session, found)
        parts = way.next_parts(self._region, found, params, self.results)
        if parts is None:
            raise refuse(
                LOOP_VARIABLE,
                f"{described(name)} is a part of another array after an iteration of this loop, "
                "which",
                "write to an array in place, or use .copy()",
            )
        start = self._taken_over(name, found)
        if start in way.flagged:
            parts[way.flagged.index(start)] = self._loop.is_first()
            self._at_first[name] = start
        return parts

    def _next_places(self, name: str, view: CarriedView, x: object) -> list[Operand]:
        """The numbers that say where a part of an array lies after an iteration."""
        found = array_of(x)
        if found is None:
            raise _no_form(name, x)
        if found is array_of(self._loop.seen(name)):
            return list(self._carried.params[name])
        places = view.numbers_of(self._session, found)
        assert places is not None
        return places

    # -------------------------------------------------------- behind the loop

    def finish(self, outputs: Sequence[Value], count: Dim | None) -> None:
        """The variables behind the loop, of ``count`` iterations, if they are counted."""
        loop, session = self._loop, self._session
        found, arrays = self._found(outputs, count)
        for name in self._starts:
            self._check_set(name, found)
            slides = isinstance(self._carried.ways.get(name), Sliding)
            if name in found and name in loop.behind and not slides:
                found[name] = self._follow(name, found[name], arrays.get(name))
        for one, other in loop.met:
            if one in arrays and other in arrays:
                session.aliases.may_be_one(arrays[one], arrays[other])
        loop.values = {**self._starts, **found}
        session.statements.remove(loop)

    def _found(
        self, outputs: Sequence[Value], count: Dim | None
    ) -> tuple[dict[str, Any], dict[str, Value]]:
        """What the variables become, and those arrays among them that iterations make."""
        carried, session = self._carried, self._session
        found: dict[str, Any] = {}
        arrays: dict[str, Value] = {}
        for name, slide in carried.of(Sliding).items():
            base = array_of(self._starts[name])
            if name in self._loop.behind and base is not None and count is not None:
                found[name] = wrap(slide.view(session, base, count))
        given = iter(zip(outputs, self.results, strict=True))
        for name in self._names:
            pairs, way = [next(given) for _ in carried.params[name]], carried.now[name]
            values = [output for output, _ in pairs]
            if self._stays(name, [result for _, result in pairs]):
                continue
            if is_flag(name) and self._loop.runs and self._after[name] is True:
                found[name] = True
                continue
            parts: list[Operand] = [*values]
            is_mixed = isinstance(way, MixedNumber) and not way.has_whole
            if self._loop.runs and is_mixed and isinstance(pairs[1][1], Literal):
                parts[1] = pairs[1][1]  # the same after each iteration
            found[name] = carried.variable(name, parts)
            if isinstance(way, Resized):
                arrays[name] = found[name]._value
                self._follow_resized(name, way, arrays[name])
            if isinstance(way, CarriedWindow):
                self._tell_whole(found[name]._value, way, array_of(self._after[name]))
            if isinstance(way, Union):
                for array in arrays_of(found[name]):
                    session.aliases.hand_on(array, arrays_of(self._after[name]))
            if isinstance(way, Held) and way.kind is not None:
                arrays[name] = values[-1]
                session.aliases.hand_on(values[-1], self._made(name))
                if name in carried.gifts:
                    give(session, carried.gifts[name], arrays[name])
        found |= {name: found[first] for name, first in self._same.items()}
        self._join_views(found)
        return found, arrays

    def _join_views(self, found: dict[str, Any]) -> None:
        """Variables that are one view after each iteration are one object behind the loop."""
        firsts: dict[Value | None, str] = {}
        for name, x in found.items():
            way, after = self._carried.now.get(name), array_of(self._after.get(name))
            if after is None or not isinstance(way, CarriedView | CarriedWindow):
                continue
            first = firsts.setdefault(after, name)
            if self._loop.runs or is_same(self._starts[name], self._starts[first]):
                found[name] = found[first]
            before = None if self._loop.runs else array_of(self._starts[name])
            sources = (
                (after,) if before is None or isinstance(way, CarriedWindow) else (after, before)
            )
            may_be_any(self._session, x._value, sources)

    def _stays(self, name: str, results: Sequence[Operand]) -> bool:
        """Whether a number, or several, are after each iteration what they were before."""
        carried = self._carried
        if not isinstance(carried.now[name], Form):
            return False
        params = carried.params[name]
        return len(params) == len(results) and all(map(operator.is_, params, results))

    def _made(self, name: str) -> list[Value]:
        """The arrays that a variable may be which an iteration made."""
        value = array_of(self._after[name])
        options = () if value is None else options_of(self._session, value)
        return [each for each in options if not self._session.is_alive(each)]

    def _follow_resized(self, name: str, change: Resized, found: Value) -> None:
        """Note what an array that changes its shape may be: what it, or another, began with."""
        others = () if self._loop.runs and change.is_new else (name,)
        for other in (*others, *self._loop.stays.get(name, ())):
            before = array_of(self._starts[other])
            if before is not None:
                self._session.aliases.may_be_one(found, before)

    def _tell_whole(self, found: Value, window: CarriedWindow, after: Value | None) -> None:
        """Note when a window is the array itself: if there was no iteration, unless one may leave
        it as it was.
        """
        aliases = self._session.aliases
        if after in aliases.wholes:
            return
        if self._loop.runs:
            del aliases.wholes[found]
        elif not self._session.region and isinstance(ran := self._loop.ran(), Value):
            aliases.replaced[found] = Alternative(ran, found, window.base)

    def _check_set(self, name: str, found: Container[str]) -> None:
        """Refuse a variable that has a value behind the loop only if there is an iteration."""
        loop = self._loop
        unset = self._starts[name] is UNBOUND and name in found and not loop.may_be_unbound(name)
        unset = unset or name.partition(".")[0] in loop.by_turns
        if unset and name in loop.behind and not loop.runs and not name.startswith(RESULT):
            why = (
                f"{name} has a value behind this loop only if there is an iteration; give it one "
                "before"
            )
            self._session.choices[why] = request_for(loop.line, How.WITHOUT_ONE)
            raise refusal(LOOP_VARIABLE, why)

    def _follow(self, name: str, found: object, array: Value | None) -> object:
        """Note what a variable may be: what another one began with, if it is an ``array`` that
        iterations make; without an iteration what it was itself. Gives the variable, which is
        one array or the other if that is asked for.
        """
        loop, aliases, behind = self._loop, self._session.aliases, array_of(found)
        if self._carried.is_open(name, found):
            loop.follow(name, found, self._starts[name])
        if array is not None and isinstance(self._carried.ways.get(name), Held):
            for other in loop.stays.get(name, ()):
                before = array_of(self._starts[other])
                if before is not None and before is not self._at_first.get(name):
                    aliases.may_be_one(array, before)
                    loop.retry_from_second()
        if loop.runs:
            return found
        before = self._carried.given.get(name, array_of(self._starts[name]))
        if before is None or behind is None or not self._carried.is_pure(name):
            return found
        ran = None if self._session.region or loop.stays.get(name) else loop.ran()
        if not isinstance(ran, Value) or before.type != behind.type:
            aliases.may_be_one(behind, before)
            if isinstance(ran, Value) and name in self._carried.given and name in loop.behind:
                self._session.record("try_demand", ran)  # else it has the layout that it had
            return found
        if BEHIND_LOOPS in self._session.requests:
            return wrap(either(self._session, ran, behind, before))
        aliases.may_be_one(behind, before)
        aliases.replaced[behind] = Alternative(ran, behind, before)
        return found


def _no_form(name: str, x: object) -> Exception:
    """Of a variable that no iteration can hand on."""
    return refuse(
        LOOP_VARIABLE,
        f"{described(name)} is {kind_text(x)} after an iteration of this loop, which",
        "use an array or a number",
    )
