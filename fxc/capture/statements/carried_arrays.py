"""How a loop carries arrays: one of several after each iteration, or of another shape."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from fxc.ir.bounds import decide
from fxc.ir.graph import Literal, Operand, SliceSpec, Value
from fxc.ir.records import frozen
from fxc.ir.size_functions import floordiv, hint, maximum
from fxc.ir.symbols import MOST_MEASURED, Dim, product
from fxc.ir.types import PY_INT, ArrayType, ScalarType, array_type
from fxc.ops.metas.layout import is_c_ordered
from fxc.ops.metas.shapes import same_shape

from ..arrays.counting import bound_size
from ..forms.form import FLAG
from ..forms.sized import filled, most_of
from ..forms.variables import placeholder
from ..numbers.traced_int import wrap_dim
from ..regions.recording import Recording
from ..session.alternatives import content_of, is_option, one_of
from ..session.recorder import options_of
from ..session.session import Session
from ..values.operands import kind_of, operand, wrap

# Note [Arrays that loops exchange]
# A variable that is another array after an iteration is carried as flags and an array. The flags
# say which of the arrays from outside it is, ``options``, if it is one of them. If it is none, it
# is an array that an iteration made: the loop carries that as a value, of the type ``kind``. Before
# the first iteration there is none, unless there are no options: then the array before the loop is
# carried as if an iteration had made it, and the two may be one. Behind a loop that may have no
# iteration the epilogue returns the one or the other (``Aliases.replaced``), if it can tell.
# A variable that takes over what another one was (``last, x = x, x + dx``) is, after the first
# iteration and no other, the array that this was before the loop: its flag says whether that
# iteration is the first, where iterations are counted.
# If what such variables are cannot be told behind the loop, the program is captured again with the
# first iteration before the loop (``Session.retries``): behind that one they are new arrays.
# Where two variables may hold one array of an iteration, one of them carries a copy: see
# ``Aliases.may_be_one``.


@frozen
class Held:
    """See Note [Arrays that loops exchange]."""

    options: tuple[Value, ...]
    kind: ArrayType | None

    @property
    def flagged(self) -> tuple[Value, ...]:
        """The options for which there is a flag."""
        return self.options if self.kind is not None else self.options[:-1]

    @property
    def kinds(self) -> tuple[ArrayType | ScalarType, ...]:
        """The types of what is carried."""
        own = () if self.kind is None else (self.kind,)
        return (*[FLAG] * len(self.flagged), *own)

    def is_alike(self, start: Value) -> bool:
        """Whether the variable may also be ``start``: an array of the options' type."""
        kind = kind_of(start)
        known = map(kind_of, self.options)
        return all(
            each.dtype == kind.dtype
            and same_shape(each.shape, kind.shape)
            and same_shape(each.strides, kind.strides)
            for each in known
        )

    def begun_with(self, session: Session, start: Value) -> Held:
        """The same for a loop before which the variable is ``start``, which is alike."""
        others = options_of(session, start) if self.options else ()
        kind = None if self.kind is None else kind_of(start)
        return Held(tuple(dict.fromkeys((*self.options, *others))), kind)

    def behind(self, session: Session, parts: Sequence[Operand]) -> Any:
        """The variable that is carried in these parts."""
        count = len(self.flagged)
        own = [part for part in parts[count:] if isinstance(part, Value)]
        return wrap(one_of(session, parts[:count], [*self.options, *own]))

    def first_parts(self, session: Session, start: Value) -> list[Operand]:
        """What is carried into the first iteration."""
        if not self.options:
            return [start]
        flags = [is_option(session, start, each) for each in self.flagged]
        return flags if self.kind is None else [*flags, placeholder(session, self.kind)]

    def made_in(self, session: Session, x: Value) -> list[Value]:
        """The arrays that ``x`` may be which iterations made."""
        return [each for each in options_of(session, x) if each not in self.options]

    def next_parts(
        self, region: Recording, x: Value, params: Sequence[Value], taken: Sequence[Operand]
    ) -> list[Operand] | None:
        """What is carried on from an iteration after which the variable is ``x``, recorded in its
        region; None if that cannot be. ``taken`` are results of the region already.
        """
        session = region.session
        flags = [is_option(session, x, each) for each in self.flagged]
        made = self.made_in(session, x)
        if self.kind is None:
            return None if made else flags
        if not all(map(region.is_fresh, made)):
            return None
        if not made:
            return [*flags, params[-1] if params else placeholder(session, self.kind)]
        if len(made) > 1:
            which = [is_option(session, x, each) for each in made[:-1]]
            return [*flags, content_of(session, one_of(session, which, made))]
        (found,) = made
        return [*flags, session.record("copy", found, order="K") if found in taken else found]


def held(
    session: Session, number: int, before: Held | None, start: Value | None, after: Value
) -> Held:
    """How to carry a variable that is ``start`` before a loop and ``after`` behind its body, which
    is recorded in the region of that ``number``. ``before`` is how it has been carried.
    """
    options = options_of(session, after)
    outer = [each for each in options if session.made_in(each) < number]
    known = before.options if before is not None else ()
    kind = before.kind if before is not None else None
    if len(outer) < len(options):
        kind = kind or kind_of(after)
    if outer and start is not None and not known:
        known = options_of(session, start)
    return Held(tuple(dict.fromkeys((*known, *outer))), kind)


# ------------------------------------------------------------------ arrays that change their shape


# Note [Arrays that change their shape]
# A variable that is an array of another shape after an iteration, in C order, or a view of a new
# array (``np.stack(…).reshape(n)``), is carried as its
# sizes along the axes that change and as a flat array with room for the largest one, of which it is
# the first elements. The body binds the sizes to symbols (Note [Measured sizes]). There is room for
# as many elements as there are before the loop, and as there can be after any iteration, if a mask
# of a size that stays the same counts them; in a loop over a range, for those too that come in
# by the same number each time. A check sends the call back to NumPy when that is not enough. What
# two lists of counted length choose along two axes may have more elements than memory holds: there
# is room for so many at most.
_MOST_ROOM = 1 << 22


@frozen
class Resized:
    """An array that changes its shape: the sizes that stay as they are, and the room for it."""

    kept: tuple[Dim | None, ...]
    room: Dim
    growth: Dim  # in an iteration
    by_most: bool  # it grows, to what a mask can count at most
    is_new: bool  # an iteration makes it, it is no view of what was before
    flat: ArrayType

    @property
    def kinds(self) -> tuple[ArrayType | ScalarType, ...]:
        """The types of what is carried."""
        return (*[PY_INT] * self.kept.count(None), self.flat)

    @property
    def _known(self) -> list[Dim]:
        return [dim for dim in self.kept if dim is not None]

    def first_parts(self, session: Session, start: Value) -> list[Operand]:
        """What is carried into the first iteration."""
        kind = kind_of(start)
        empty = session.record("empty", (self.room,), kind.dtype, layout=None)
        return [*self._sizes(kind), filled(session, empty, start)]

    def next_parts(
        self, session: Session, after: Value, params: Sequence[Operand]
    ) -> list[Operand]:
        """What is carried on from an iteration after which the array is this one."""
        kind = kind_of(after)
        if decide(kind.size, "<=", self.room) is not True:
            sides = (operand(wrap_dim(dim)) for dim in (kind.size, self.room))
            session.record("try_demand", session.record("py_less_equal", *sides))
        return [*self._sizes(kind), filled(session, params[-1], after)]

    def _sizes(self, kind: ArrayType) -> list[Operand]:
        dims = zip(kind.shape, self.kept, strict=True)
        return [operand(wrap_dim(dim)) for dim, kept in dims if kept is None]

    def inside(self, session: Session, parts: Sequence[Value]) -> Any:
        """The array in an iteration."""
        most: Dim = MOST_MEASURED
        if len(parts) == 2 and decide(rest := product(self._known), ">", 0):
            most = floordiv(self.room, rest)
        sizes = [bound_size(size, most) for size in parts[:-1]]
        return wrap(self._view(session, parts[-1], sizes))

    def behind(self, session: Session, parts: Sequence[Any]) -> Any:
        """The array behind the loop, a new one; it has no more elements than there is room for."""
        *numbers, flat = parts
        sizes = _bound_together(session, numbers, self.room) if numbers else []
        return wrap(session.value("copy", self._view(session, flat, sizes), order="C"))

    def _view(self, session: Session, flat: Value, sizes: Sequence[Dim]) -> Value:
        changing = iter(sizes)
        shape = tuple(next(changing) if kept is None else kept for kept in self.kept)
        part = session.record("slice", flat, (SliceSpec(0, product(shape), 1),))
        return session.value("reshape", part, shape)


def _bound_together(session: Session, numbers: Sequence[Value], room: Dim) -> list[Dim]:
    """The sizes that numbers are, of which all have a bound: so has their product."""
    total = numbers[0]
    for number in numbers[1:]:
        total = session.record("py_multiply", total, number)
    first = [bound_size(number, room) for number in numbers[:-1]]
    count = bound_size(total, room)
    for number in numbers[:-1]:
        one = session.record("py_greater_equal", number, Literal(1))
        session.record("try_demand", one)
    return [*first, floordiv(count, product(first))]


def resized(
    region: Recording,
    params: Container[Value],
    known: Resized | None,
    seen: Value,
    after: Value,
    count: Dim | None,
) -> Resized | None:
    """How to carry an array that is ``seen`` before an iteration and ``after`` behind it, which is
    recorded in this region with these parameters; None if it cannot be so.

    ``known`` is how it has been carried, ``count`` the number of iterations, if that is known.
    """
    session, before, kind = region.session, kind_of(seen), kind_of(after)
    if (before.dtype, before.rank) != (kind.dtype, kind.rank) or after in session.alternatives:
        return None
    root = session.aliases.root(after)
    if session.made_in(root) < region.number:
        return None
    is_new = root not in params
    if not (is_c_ordered(before) and is_c_ordered(kind)):
        return None
    old = before.shape if known is None else known.kept
    kept = tuple(x if x == y else None for x, y in zip(old, kind.shape, strict=True))
    growth, most = kind.size - before.size, _most_room(most_of(session, kind.size))
    if known is not None:
        fits = not known.by_most or (most is not None and decide(most, "<=", known.room) is True)
        agrees = fits and known.growth in (0, growth)
        is_new = is_new and known.is_new
        flat, by_most = known.flat, known.by_most
        return Resized(kept, known.room, known.growth, by_most, is_new, flat) if agrees else None
    room, by_most = before.size, False
    if hint(growth) > 0 and count is not None and not session.varies(growth):
        room = room + growth * count
    else:
        by_most = hint(growth) > 0
        if by_most and most is None:
            return None
        growth = 0
        room = room if most is None else maximum(room, most)
    flat = array_type(before.dtype, (room,), (before.dtype.itemsize,))
    return Resized(kept, room, growth, by_most, is_new, flat)


def _most_room(most: Dim | None) -> Dim | None:
    return min(most, _MOST_ROOM) if isinstance(most, int) else most
