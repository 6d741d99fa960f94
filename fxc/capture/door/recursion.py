"""Functions of the program that call themselves.

Each call is captured, as deep as it goes. Where the arrays get smaller with each, as in a fast
Fourier transform, their size says how deep: another size is another program, and so sizes are
constants. As symbols they would serve the one size alone, and take twice as long to compile.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import CodeType

from fxc.ir.error_kinds import TOO_LARGE
from fxc.ir.records import frozen
from fxc.ir.symbols import Dim, symbols_of

from ..arrays.traced_array import TracedArray
from ..session.refusing import Respecialise, constants, refuse
from ..session.session import MOST_UNROLLED, Session


@frozen
class _Outermost:
    """The first call that has not ended: operations before it, and the sizes of its arguments."""

    operations: int
    sizes: tuple[tuple[Dim, ...], ...]


class Recursion:
    """Which functions of the program are running."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._outermost: dict[CodeType, _Outermost] = {}

    def begins(self, code: CodeType, args: Sequence[object]) -> bool:
        """Whether a call is the outermost one of a function, which then has to end; refuse it if
        the function calls itself and that comes to too much.
        """
        outermost = self._outermost.get(code)
        if outermost is None:
            self._outermost[code] = _Outermost(self._session.operations, _sizes(args))
        else:
            self._called_again(outermost, args)
        return outermost is None

    def ends(self, code: CodeType) -> None:
        """The outermost call of a function has ended."""
        del self._outermost[code]

    def _called_again(self, outermost: _Outermost, args: Sequence[object]) -> None:
        session = self._session
        if session.operations - outermost.operations > MOST_UNROLLED:
            raise refuse(
                TOO_LARGE,
                f"a function that calls itself, and comes to more than {MOST_UNROLLED} operations "
                "in all, is not captured; use a loop",
            )
        changed = [
            name
            for dims in zip(outermost.sizes, _sizes(args), strict=False)
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
