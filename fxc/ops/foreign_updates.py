"""Calls of C functions that write into arrays which they are given.

See Note [Foreign updates].
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.asynchronous import NUMPYS_ERRORS, hand_on
from fxc.ir.errors import WouldRaise
from fxc.ir.graph import Literal
from fxc.ir.types import ArrayType, Type, ordered_strides, stride_order

from .foreign_calls import ForeignCall, Hole, call_text, operator_for
from .foreign_learning import looks_of
from .foreign_results import Unlearnable
from .foreign_samples import bytes_of
from .operators import Operator

# Note [Foreign updates]
# SciPy's C code computes into arrays that it is given: ``csr_matvec(m, n, starts, columns, data,
# x, out)``. Such a call is an operator (Note [Foreign calls]) whose results are new versions of
# what is written: it calls the function with copies, and the graph writes the results back. So
# nothing has been done where it fails. The results have the types of operands, and no samples are
# needed; none would do, as by made-up places the code would read what is no memory of an array.
# Which arrays are written is guessed while the program is captured: the last one. The first call,
# with real values, looks whether that is so. Arrays that are not to be written are such as cannot
# be. A function that asks for that raises an exception before it does anything, where the guess is
# wrong. It has to raise one also where an array of the guess cannot be written: else it does not
# ask, and its calls are refused. The right guess are the arrays for each of which it raises where
# that one cannot be written; the call goes back to Python, and the next capture knows.
# It is guessed as well that the function returns None. A program that fails as it would with None,
# while nobody knows, is captured again without such calls (``UPDATES_BY_PYTHON``).


class ForeignUpdate(ForeignCall):
    """A function that writes into arrays as one that gives new ones in their place."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        written: tuple[int, ...],
    ) -> None:
        super().__init__(function, args, kwargs)
        self.written = written  # operands
        self.instead: ForeignUpdate | None = None  # what is right, if this has been wrong

    @property
    def is_known(self) -> bool:
        """Whether a call has shown that it writes what it is said to."""
        return self._run is not None

    @property
    def width(self) -> int:
        return len(self.written)

    def meta(self, *kinds: Type | Literal) -> Type | tuple[Type, ...]:
        found = tuple(kinds[place] for place in self.written)
        return found[0] if len(found) == 1 else found  # type: ignore[return-value]

    def __call__(self, *operands: Any) -> Any:
        run = self._run or self._prepared(operands)
        try:
            return run(*operands)
        except WouldRaise:
            raise
        except NUMPYS_ERRORS as error:
            hand_on(error)
            if self.holds and self._changed(operands, range(len(operands))) is not None:
                raise self.differs() from error  # nothing but what it must not write is wrong
            raise
        except Exception as error:
            raise self.raises(error) from error

    def kernel(self) -> Callable[..., Any]:
        return self

    def _prepared(self, operands: Sequence[Any]) -> Callable[..., Any]:
        """What calls the function; it is looked at what it does with the first operands."""
        run = self._code()
        if self._is_right(operands):
            self._run = run
        return run

    def differs(self) -> WouldRaise:
        self.holds = False
        return WouldRaise(f"{self.__name__} writes something else than was thought")

    def _code(self) -> Callable[..., Any]:
        """The function that copies what is written, and calls."""
        constants: dict[str, Any] = {"function": self.function, "call": self}
        lines = [f"def run({', '.join(f'v{place}' for place in range(len(self.takes_arrays)))}):"]
        for place, is_array in enumerate(self.takes_arrays):
            if place in self.written:
                lines.append(f"    v{place} = v{place}.copy('K')")
            elif is_array:
                lines += [f"    v{place} = v{place}[...]", f"    v{place}.setflags(False)"]
        lines += [
            f"    if {call_text(self, constants)} is not None: raise call.differs()",
            f"    return {', '.join(f'v{place}' for place in self.written)}",
        ]
        exec("\n".join(lines), constants)
        made: Callable[..., Any] = constants["run"]
        return made

    def _is_right(self, operands: Sequence[Any]) -> bool:
        """Whether the function writes what it is said to, and nothing else; False if it raises an
        exception, whatever can be written.
        """
        if self._writes(operands, self.written):
            return True
        arrays = [place for place, x in enumerate(operands) if type(x) is np.ndarray]
        began = time.perf_counter()
        if self._changed(operands, arrays) is None:
            return False
        if time.perf_counter() - began < _LONG:
            written = tuple(
                one for one in arrays if self._changed(operands, {*arrays} - {one}) is None
            )
            if written and self._writes(operands, written):
                self.instead = ForeignUpdate(self.function, self.args, self.kwargs, written)
        raise self.differs()

    def _writes(self, operands: Sequence[Any], written: Sequence[int]) -> bool:
        changed = self._changed(operands, written)
        return (
            changed is not None
            and changed <= {*written}
            and all(self._changed(operands, {*written} - {one}) is None for one in written)
        )

    def _changed(self, operands: Sequence[Any], written: Collection[int]) -> set[int] | None:
        """Which of the operands change in a call with copies of which only these can be written;
        None if the function raises an exception, and changes nothing.
        """
        copies = list(operands)
        for place, x in enumerate(operands):
            if type(x) is np.ndarray:
                copies[place] = x.copy("K")
                copies[place].setflags(write=place in written)
        failed = False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                if self.call(copies) is not None:
                    raise self.differs()
            except NUMPYS_ERRORS as error:
                hand_on(error)
                if not self.holds:
                    raise
                failed = True
        changed = {
            place
            for place, pair in enumerate(zip(copies, operands, strict=True))
            if bytes_of(pair[0]) != bytes_of(pair[1])
        }
        return None if failed and not changed else changed


_LONG = 0.1  # seconds: a call that takes longer is not made again to learn more

_lock = threading.Lock()
_known: dict[Any, ForeignUpdate] = {}


def update_of(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    kinds: Sequence[Type],
) -> tuple[Operator, ForeignUpdate]:
    """The operator that means a call.

    Raises ``Unlearnable``.
    """
    arrays = [place for place in _holes((args, *kwargs.values())) if _is_array(kinds[place])]
    if not arrays:
        raise Unlearnable("it is given no array to write into")
    key = (id(function), looks_of(args, kwargs, kinds))
    with _lock:
        call = _known.get(key)
        if call is None:
            call = _known[key] = ForeignUpdate(function, args, kwargs, (arrays[-1],))
        elif not call.holds and call.instead is not None:
            call = _known[key] = call.instead
    if not call.holds:
        raise Unlearnable("it is not known what it writes")
    for place in call.written:
        _check_written(kinds[place])
    return operator_for(call, kinds), call


def _is_array(kind: Type) -> bool:
    return isinstance(kind, ArrayType)


def _holes(given: object) -> Iterator[int]:
    """The operands among arguments, in their order."""
    if type(given) is Hole:
        yield given.operand
    elif type(given) is list:
        raise Unlearnable("it is given a list, into which it may write")
    elif type(given) is tuple:
        for x in given:
            yield from _holes(x)


def _check_written(kind: Type) -> None:
    assert isinstance(kind, ArrayType)
    if not kind.writeable:
        raise Unlearnable("it writes into an array that cannot be written")
    if kind.strides != ordered_strides(kind.shape, stride_order(kind), kind.dtype.itemsize):
        raise Unlearnable("it writes into an array with gaps in memory")
