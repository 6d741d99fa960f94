"""Functions of the program that call themselves.

Each call is captured, as deep as it goes. Where the arrays get smaller with each, as in a fast
Fourier transform, their size says how deep: another size is another program, and so sizes are
constants. As symbols they would serve the one size alone, and take twice as long to compile.
Where nothing but elements of arrays says how deep, there is no end to it: in each call all that is
known of the arguments is what was known in the one before, and both arms of a branch are captured.
So there is none where each arm makes a call, as of a search by halves.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import CodeType
from typing import Any

from fxc.ir.error_kinds import TOO_LARGE
from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, counted_in, symbols_of
from fxc.ir.types import ArrayType

from ..arrays.traced_array import TracedArray
from ..numbers.traced_int import TracedInt
from ..outside.containers import PLAIN
from ..session.refusing import Respecialise, constants, refusal
from ..session.session import MOST_UNROLLED, Session
from ..values.operands import Traced, TracedValue

_MOST_ALIKE = 8  # calls inside one another of which the same is known
_MOST_IN_BRANCHES = 64  # calls in all: of two in the arms of each branch there is soon no end


@frozen
class _Begun:
    """A call that has not ended: operations and branches before it, and what is known of its
    arguments: the sizes of arrays, and all of it.
    """

    operations: int
    branches: int
    sizes: tuple[tuple[Dim, ...], ...]
    known: tuple[object, ...]


class Recursion:
    """Which functions of the program are running."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._begun: dict[CodeType, list[_Begun]] = {}
        self._in_branches = 0

    def begins(self, code: CodeType, args: Sequence[object]) -> None:
        """A call, which then has to end; refuse it if the function calls itself and that comes to
        too much.
        """
        session, begun = self._session, self._begun.setdefault(code, [])
        branches = len(session.statements) + session.expressions
        call = _Begun(session.operations, branches, _sizes(args), tuple(map(_known_of, args)))
        if begun:
            self._called_again(begun, call)
        begun.append(call)

    def ends(self, code: CodeType) -> None:
        """The call that has begun last has ended."""
        self._begun[code].pop()

    def _called_again(self, begun: Sequence[_Begun], call: _Begun) -> None:
        session, outermost = self._session, begun[0]
        if call.operations - outermost.operations > MOST_UNROLLED:
            raise refusal(
                TOO_LARGE,
                f"a function that calls itself, and comes to more than {MOST_UNROLLED} operations "
                "in all, is not captured; use a loop",
            )
        alike = sum(each.known == call.known for each in begun)
        in_branch = call.branches > outermost.branches
        self._in_branches += in_branch
        if in_branch and (alike >= _MOST_ALIKE or self._in_branches > _MOST_IN_BRANCHES):
            raise refusal(
                TOO_LARGE,
                "a function that calls itself as deep as the elements of arrays say is not "
                "captured; use a loop",
            )
        changed = [
            name
            for dims in zip(outermost.sizes, call.sizes, strict=False)
            if dims[0] != dims[1]
            for dim in itertools.chain(*dims)
            for name in symbols_of(dim)
            if session.is_size(name)
        ]
        if changed:
            raise Respecialise(*constants(session.labels_of(changed)))


def _sizes(args: Sequence[object]) -> tuple[tuple[Dim, ...], ...]:
    """The shapes of the arrays among the arguments."""
    arrays = (each for each in args if isinstance(each, TracedArray) and each._later is None)
    return tuple(each._type.shape for each in arrays)


def _known_of(arg: object) -> object:
    """What is known of an argument, to be compared; sizes that are counted at run time are not."""
    match arg:
        case TracedValue() if arg._later is None:
            kind = arg._value.type
            dims = kind.shape if isinstance(kind, ArrayType) else ()
            return kind.dtype, tuple(None if counted_in(dim) else dim for dim in dims)
        case Traced() if arg._is_chosen:
            chosen: Any = arg
            return chosen.dtype, (None,)
        case TracedInt():
            return arg._dim
        case _ if type(arg) is tuple:
            return tuple(map(_known_of, arg))
        case _:
            return (type(arg), arg) if type(arg) in PLAIN else id(arg)
