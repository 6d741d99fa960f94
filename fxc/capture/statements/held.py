"""What a variable holds in a loop that exchanges arrays: one of those from outside, or one that an
iteration made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fxc.ir.graph import Operand, Value
from fxc.ir.records import frozen
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.metas.shapes import same_shape

from ..forms.form import FLAG
from ..forms.variables import placeholder
from ..regions.recording import Recording
from ..session.alternatives import content_of, is_option, one_of, options_of
from ..session.session import Session
from ..values.operands import kind_of, wrap

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
        """Whether the variable may also be ``start``: an array of the options' dtype and shape."""
        kind = kind_of(start)
        known = map(kind_of, self.options)
        return all(
            each.dtype == kind.dtype and same_shape(each.shape, kind.shape) for each in known
        )

    def begun_with(self, session: Session, start: Value) -> Held:
        """The same for a loop before which the variable is ``start``, which is alike."""
        others = options_of(session, start) if self.options else ()
        kind = None if self.kind is None else kind_of(start)
        return Held(tuple(dict.fromkeys((*self.options, *others))), kind)

    def variable(self, session: Session, parts: Sequence[Operand]) -> Any:
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
        if self.kind is None:
            return flags
        made = self.made_in(session, x)
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
