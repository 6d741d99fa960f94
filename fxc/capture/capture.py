"""The way into capture: one call, tried again on other terms where an attempt fails."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fxc.dispatch.dispatcher import Dispatcher
from fxc.ir.error_kinds import NUMPY_CALL, TOO_LARGE
from fxc.ir.errors import CaptureError, FxcError, InternalError, uncapturable
from fxc.ir.later import import_later
from fxc.ir.logs import PERF
from fxc.ir.records import replace

from .attempt import GivenCall, Terms, begun
from .captured import Captured
from .outside.overlaps import SizesNeeded
from .services import SERVICES
from .session.refusing import (
    HANDLED_BY_PYTHON,
    IN_ARRAYS,
    How,
    LeftToPython,
    Requests,
    Respecialise,
)
from .session.session import MOST_SECONDS, Budget, Session
from .values.above import serve

# See Note [Rooms with one door].
note_refusal = import_later("fxc.capture.refusals", "note_refusal")

_MOST_ATTEMPTS = 40
_USUAL = Terms()
serve(SERVICES)

__all__ = ["Terms", "capture"]


def capture(
    fn: Callable[..., object],
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    terms: Terms = _USUAL,
    dispatcher: Dispatcher | None = None,
) -> Captured:
    """Capture the call ``fn(*args, **kwargs)``; nothing of the user's is touched.

    Raises ``CaptureError`` for what cannot be captured; what the program itself raises, NumPy's
    errors included, comes through as it is.
    """
    attempts = _Attempts(GivenCall(fn, args, kwargs), terms)
    outer: dict[str, Any] = {}
    budget = Budget.of(min(MOST_SECONDS, terms.seconds))
    for _ in range(_MOST_ATTEMPTS):
        session = Session(dispatcher, terms.demanded, outer, budget, terms.left)
        session.would_raise = functools.partial(_would_raise, session)
        try:
            return begun(session, attempts.call, attempts.terms)
        except (CaptureError, Respecialise, SizesNeeded, LeftToPython) as ended:
            if not attempts.go_on(session, ended):
                raise attempts.refusal(budget.is_over) from None
        except Exception as error:
            vars(error)["__fxc_guards__"] = session.door.outside.guards.program(())
            raise
        finally:
            budget.operations = session.operations
            _end(session)
    raise uncapturable(TOO_LARGE, "too many numbers had to become constants")


class _Attempts:
    """On what terms the next attempt to capture a call is made."""

    def __init__(self, call: GivenCall, terms: Terms) -> None:
        self.call = call
        self.terms = terms
        self._first: CaptureError | None = None  # which is what the user is told
        self._with_lists: Requests | None = None  # in place of those when Python first ran a loop

    def change(self, requests: Requests = frozenset(), varying: Iterable[str] = ()) -> None:
        """Add these requests to the terms, and let these numbers vary."""
        terms = self.terms
        self.terms = replace(
            terms, requests=terms.requests | requests, varying=terms.varying.union(varying)
        )

    def go_on(
        self, session: Session, ended: CaptureError | Respecialise | SizesNeeded | LeftToPython
    ) -> bool:
        """Change the terms as an attempt that has ended so asks for; False if it is refused."""
        varying = session.door.outside.changing
        self.change(varying=varying)
        match ended:
            case Respecialise():
                if ended.requests <= self.terms.requests and not varying:
                    raise InternalError(f"{ended} has been asked for already") from None
                self._first = self._first or ended.error
                _tell(self.call, ended)
                self.change(ended.requests)
                self._note_unrolled(ended.requests)
            case SizesNeeded():
                self.terms = replace(self.terms, dynamic=False)
            case LeftToPython():
                assert self.terms.left is not None
                text = f"{self.terms.left.op} has left calls to NumPy at run time"
                self._first = uncapturable(NUMPY_CALL, text)
                self._first.__traceback__ = ended.__traceback__
                _note_refusal(session, self._first)
                return False
            case CaptureError():
                return self._goes_on_otherwise(session, ended)
        return True

    def _goes_on_otherwise(self, session: Session, error: CaptureError) -> bool:
        """Let loops be copied or begin apart, and Python make lists, if some are left."""
        first = self._first = self._first or error
        first.is_of_whole |= error.is_of_whole
        _note_refusal(session, error)
        otherwise = (session.retries | session.door.lists.sized) - self.terms.requests
        if not otherwise and self._with_lists:
            self.terms, self._with_lists = (
                replace(self.terms, requests=self._with_lists),
                frozenset(),
            )
            return True
        handled = {each for each in self.terms.requests if each.how is How.HANDLED}
        if not otherwise and handled:
            left = self.terms.requests - handled | {HANDLED_BY_PYTHON}
            self.terms = replace(self.terms, requests=left)
            return True
        if not otherwise:
            first.refusal = error.refusal
        self.change(otherwise)
        return bool(otherwise)

    def _note_unrolled(self, asked: Requests) -> None:
        """Note what is left to try where Python runs a loop: its indices are known there, and
        lists that are read at known places need not be of the graph.
        """
        if self._with_lists is None and any(each.how is How.UNROLLED for each in asked):
            left = frozenset(each for each in self.terms.requests if each.how not in IN_ARRAYS)
            self._with_lists = left if left != self.terms.requests else frozenset()

    def refusal(self, is_cut_short: bool) -> CaptureError:
        """The refusal to raise, once: its traceback holds the frame that does, which holds this."""
        found, self._first = self._first, None
        assert found is not None
        found.is_cut_short = is_cut_short
        return found


def _would_raise(
    around: Session, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> bool:
    """Whether a call raises, as far as that is found without running it."""
    budget = Budget.of(MOST_SECONDS / 10, around.operations)
    session = Session(around.dispatcher, budget=budget)
    try:
        begun(session, GivenCall(function, args, kwargs), _USUAL)
    except (FxcError, Respecialise, SizesNeeded):
        return False
    except Exception as error:
        error.__traceback__ = None  # it holds what the session does
        return True
    finally:
        _end(session)
    return False


def _end(session: Session) -> None:
    """Let go of what the caller has, and of the session's own: they lead back to the session, and
    would else be there until the garbage collector comes round, which would have much to look at.
    """
    session.door.outside.forget()
    vars(session.door).clear()
    vars(session).clear()


def _note_refusal(session: Session, error: CaptureError) -> None:
    outside = session.door.outside
    program = outside.guards.program(())
    note_refusal(
        error,
        session.door.staged_functions,
        outside.being_admitted,
        program,
        outside.refuses_data,
        session.budget.spent,
    )


def _tell(call: GivenCall, ended: Respecialise) -> None:
    """Log which loops are unrolled, and why."""
    for each in ended.requests:
        if each.how in (How.UNROLLED, How.BY_LENGTH):
            label = each.about if each.how is How.UNROLLED else each
            why = ended.error or "an iteration raises an exception, it seems"
            notes = "".join(f"; {note.strip()}" for note in getattr(why, "__notes__", ()))
            PERF.info("%s: the %s is unrolled: %s%s", call.name, label, why, notes)
