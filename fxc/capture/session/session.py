"""One capture while it runs: the graph being built, and what must hold for it.

The thread's current session is found by ``current()``; traced values belong to it.
"""

from __future__ import annotations

import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fxc.dispatch.default import default_dispatcher
from fxc.dispatch.dispatcher import Dispatcher
from fxc.dispatch.trace import recording_into
from fxc.ir.error_kinds import NO_RESULT, OPERAND, TOO_LARGE
from fxc.ir.errors import CaptureError, uncapturable
from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.later import import_later
from fxc.ir.location import Site
from fxc.ir.records import field, mutable
from fxc.ir.size_guards import Guard, assuming, recording
from fxc.ir.symbols import Dim, SymExpr, symbols_of
from fxc.ir.types import ScalarType, is_known
from fxc.ops.operators import CONTROL, Tag
from fxc.ops.python_numbers import PYTHON_OPERATORS
from fxc.ops.table import TABLE

from .aliases import Aliases
from .dropped_parts import CASTS, of_real_parts
from .locations import outermost_line, user_location
from .recorder import Call
from .refusing import (
    LeftToPython,
    Request,
    Requests,
    Respecialise,
    constants,
    element_needed,
    next_items,
    refusal,
    refuse,
    thread,
)
from .sizes import CountedSizes

# Note [The budget]
# A capture that does not end is worse than none. All attempts to capture a program together have
# so many operations, each of them an operator that is recorded; a statement, or an item that is
# read from a container of the caller's and guarded, counts for several. That is the same on every
# machine. What takes long in other ways ends by the processor time of the thread. Either is refused
# at the line that the capture has come to. That may be any, where attempts before have spent most:
# so a loop in which most of the work was done is cut out of the function (``Refusal.work``).
MOST_NODES = 20_000
MOST_SECONDS = 2
_MANY = 300  # operations of an attempt that had better not copy them for each character of a text
_BETWEEN_LOOKS = 50  # operations, or calls, between looks at the clock
ITEM = 5  # operations that an item of a container, or an array, counts for: its guards, its input
RESULT = 10  # and a result
# Of a loop that Python runs instead, or of a function that calls itself: about a second to compile.
MOST_UNROLLED = 2_000
_CONTROL = 10  # operations that a loop or branch counts for: what it takes to compile one
MOST_AXES = 64  # of NumPy 2


@mutable
class Budget:
    """What all attempts to capture a program have spent together: Note [The budget]."""

    seconds: float
    deadline: float  # by the clock of the thread
    operations: int = 0
    lines: Counter[int] = field(default_factory=Counter)  # of the function, at the looks so far

    @staticmethod
    def of(seconds: float, operations: int = 0) -> Budget:
        return Budget(seconds, time.thread_time() + seconds, operations)

    @property
    def spent(self) -> float:
        """How many seconds all attempts have taken so far."""
        return time.thread_time() - self.deadline + self.seconds

    @property
    def is_over(self) -> bool:
        """Whether the time is."""
        return time.thread_time() > self.deadline


# See Note [Rooms with one door].
first_of = import_later("fxc.capture.session.alternatives", "first_of")
record_either = import_later("fxc.capture.session.alternatives", "record_either")
note_classes = import_later("fxc.capture.session.classes", "note_classes")


class Session(CountedSizes):
    """The state of one capture."""

    def __init__(
        self,
        dispatcher: Dispatcher | None = None,
        demanded: frozenset[Guard] = frozenset(),
        outer: dict[str, object] | None = None,
        budget: Budget | None = None,
        left: Site | None = None,
    ) -> None:
        super().__init__(demanded)
        self.dispatcher = dispatcher or default_dispatcher()
        self.guards: dict[Guard, None] = {}
        self.error: CaptureError | None = None
        self.left = left  # an operator that is refused
        # Whether a call raises, found without running it; None where that is being found out.
        self.would_raise: Callable[..., bool] | None = None
        # Those that the program has made: by which function, of which arguments.
        self.generators = weakref.WeakKeyDictionary[Any, Any]()
        # Cells and namespaces that the program stores to, by their texts: of all attempts.
        self.outer: dict[str, Any] = {} if outer is None else outer
        self.statements: list[Any] = []  # those being captured, see structured.py
        self.decided: list[Any] = []  # branches whose tests are known, and that are being run
        self.has_guessed = False  # what C code writes, see Note [Foreign updates]
        self.has_differing = False  # whether a variable is of one type or another
        self.expressions = 0  # regions being recorded that are of no statement
        self.retries = Requests()  # what to try if the capture is refused, see Note [Requests]
        self.run_by_python = set[Request]()  # to drive generators that Python runs
        # Requests to write choices as branches, by why they give no one value.
        self.choices: dict[str, Request] = {}
        self.folds: list[Any] = []  # comprehensions being computed, see folds.py
        self.open_numbers: frozenset[str] = frozenset()  # see ``leaves_open``
        self.sources = 0  # functions of NumPy's whose own code runs, see numpy_source.py
        self.careful = 0  # those of them that ask for elements for what they raise, or warn of
        self.handles = False  # the program has handlers of exceptions
        self.labels: dict[str, str] = {}  # of inputs that are symbols, by the symbol's name
        # Which inputs a scalar follows from; scalars that depend on elements of arrays have none.
        self.origins: dict[Value, frozenset[str]] = {}
        self.ints: set[str] = set()  # those of them that are ints
        self.aliases = Aliases(self)
        # What comparisons of the counters of loops say, see Note [Python scalars].
        self.relations: dict[Value, tuple[Dim, str, Dim]] = {}
        self.joined: dict[Value, tuple[bool, Operand, Operand]] = {}  # by ``and``, or ``or``
        # Arrays whose shape the program has set, by what the caller's object is; see memory.py.
        self.reshaped: dict[Value, Any] = {}
        self.discarded: list[Any] = []  # values that nobody reads, computed for what NumPy says
        # Arrays whose flag has been set, what they read before, and the flag; see sharing.py.
        self.flagged: dict[Value, tuple[Any, Value, bool]] = {}
        self.budget = Budget.of(MOST_SECONDS) if budget is None else budget
        self.operations = self.budget.operations  # the work of compiling them
        self._next_look, self._calls = self.operations, 0
        self.results: dict[Value, int] = {}  # those of nodes with several: when they were made

    def record(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call an operator on operands; returns Values. See ``wrap``."""
        operands = (*args, *kwargs.values())
        if self._made_in or self.aliases.given_up:
            self._check_operands(operands)
        if self.alternatives and (either := first_of(self, operands)) is not None:
            return record_either(self, either, name, args, kwargs)
        if self._is_left(name):
            raise LeftToPython
        if name in CASTS:
            args = of_real_parts(self, name, args, kwargs.get("casting", ""))
        op = TABLE[name]
        schema = op.schema
        self._count += 1
        self.spend(_CONTROL if op.tag in CONTROL else 1)
        if op.tag in _CONVERTING and any(map(_is_weak_int, args)):
            args = self._fitted(name, args)
        if schema.writes:
            self.aliases.before_write(schema.index_of, schema.written_params, args, kwargs)
        for each in (*args, *kwargs.values()):
            if isinstance(each, np.dtype) and not is_known(each):
                raise refuse(OPERAND, f"an array of dtype {each}")
        try:
            result = self.dispatcher.call(name, *args, **kwargs)
        except CaptureError as error:
            if type(error) is not CaptureError or "location" in vars(error):
                raise
            raise refusal(error.kind, error.text) from None  # a meta's, which knows no lines
        if type(result) is Value and result.type.rank > MOST_AXES:
            raise ValueError(f"number of dimensions must be within [0, {MOST_AXES}]")
        if self.region and result is not None:
            self.made_here([result] if type(result) is Value else result)
        if self.classes:
            note_classes(self, name, operands, result)
        if type(result) is Value:
            if type(result.type) is ScalarType:
                self._follow_origins(result, args)
            elif schema.is_view:
                self.aliases.bases[result] = args[0]
            elif name == "constant":
                self.origins[result] = frozenset()
            elif self.region:
                self.aliases.homes[result] = self.region
            self.made[result] = Call(self._count, name, args, kwargs)
        elif result is not None:
            self.results |= dict.fromkeys(result, self._count)
            if self.region:
                self.aliases.homes.update((each, self.region) for each in result)
        return result

    def _check_operands(self, args: tuple[object, ...]) -> None:
        """Refuse to read what is gone, and what may be wrong."""
        for arg in args:
            for each in arg if isinstance(arg, tuple) else (arg,):
                if isinstance(each, Value):
                    self.check_alive(each)
                    self.aliases.check_given_up(each)
                    if self.region:
                        self.read[each] = self._count

    def _is_left(self, name: str) -> bool:
        """Whether an operator is the one that is refused."""
        left = self.left
        return left is not None and left.op in (name, "") and left.is_at(user_location())

    def spend(self, work: int) -> None:
        """Note so many operations; refuse more of them, or of time, than Note [The budget] says."""
        self.operations += work
        if self.operations > MOST_NODES:
            raise self._all_spent(
                f"a program of more than {MOST_NODES} operations is not captured; use "
                "fxc.fori_loop for long loops"
            )
        if self.operations >= self._next_look:
            self._look()

    def note_call(self) -> None:
        """Take note of a call, which need not record anything."""
        self._calls += 1
        if self._calls % _BETWEEN_LOOKS == 0:
            self._look()

    def _look(self) -> None:
        """Refuse what has taken more time than a capture may."""
        self._next_look = self.operations + _BETWEEN_LOOKS
        self.budget.lines[outermost_line("_attempt")] += 1
        is_long = self.operations - self.budget.operations > _MANY
        if is_long and self.door.outside.let_texts_vary():  # see Note [Texts of the graph]
            raise Respecialise
        if self.budget.is_over:
            raise self._all_spent(
                f"a program that takes more than {self.budget.seconds:.2g} seconds to capture is "
                "not captured; use arrays for lists, and loops for repeated statements"
            )

    def _all_spent(self, text: str) -> CaptureError:
        error = refusal(TOO_LARGE, text)
        error.work = dict(self.budget.lines)
        return error

    def _fitted(self, name: str, args: tuple[object, ...]) -> tuple[Any, ...]:
        """The arguments of an operator of NumPy's, whose dtype must hold Python ints among them.

        Those that are dims have been guarded already.
        """
        if name in PYTHON_OPERATORS:
            return args
        strong = [
            x if isinstance(x, np.dtype) else x.type.dtype
            for x in args
            if isinstance(x, np.dtype) or (isinstance(x, Value | Literal) and not x.type.weak)
        ]
        dtype = np.result_type(*strong) if strong else _INT64
        if dtype.kind not in "iu" or dtype == _INT64:
            return args
        low, high = (int(bound) for bound in (np.iinfo(dtype).min, np.iinfo(dtype).max))
        high = min(high, 2**63 - 1)
        return tuple(
            self.record("try_fit", x, Literal(low), Literal(high))
            if _is_weak_int(x) and not (x in self.made and self.made[x].name == "int_value")
            else x
            for x in args
        )

    def is_size(self, name: str) -> bool:
        """Whether a symbol is the size or the stride of an axis of an input."""
        source = self.door.outside.symbols.get(name) if self.door is not None else None
        return source is not None and source.kind != "value"

    def leaves_open(self, origins: frozenset[str]) -> bool:
        """Whether a decision by these numbers is one of the graph: some of them have changed."""
        outside = self.door.outside
        if origins.isdisjoint(outside.varying):
            return False
        self.open_numbers |= origins
        return True

    def stays_open(self, number: Value) -> bool:
        """Whether a scalar is one of the graph: it follows from elements, or from what changes."""
        origins = self.origins.get(number)
        return not origins or self.leaves_open(origins)

    def _follow_origins(self, result: Value, args: tuple[object, ...]) -> None:
        origins: frozenset[str] = frozenset()
        for arg in args:
            if isinstance(arg, Value):
                found = self.origins.get(arg)
                if found is None:
                    return
                origins |= found
            elif isinstance(arg, SymExpr):
                if self.varies(arg):
                    return
                labels = self.labels_of(symbols_of(arg))
                origins |= labels
                self.ints |= labels
            elif isinstance(arg, tuple):
                return
        self.origins[result] = origins

    def labels_of(self, symbols: Iterable[str]) -> frozenset[str]:
        """What inputs that are symbols are called in requests."""
        return frozenset(self.labels.get(name, name) for name in symbols)

    def specialise(self, operand: Operand, what: str) -> Any:
        """Make known what ``operand`` is, or refuse: ``what`` says what needs to know it."""
        if isinstance(operand, Literal):
            return operand.value
        origins = self.origins.get(operand)
        if origins:
            if self.sources:
                found = self.door.outside.known_result(operand)
                if found is not None:
                    return found
            raise Respecialise(*constants(origins), *next_items(origins, self.requests))
        raise element_needed(what)

    def expected(self, test: Value) -> bool | None:
        """What a condition is for a function of NumPy's that would raise or warn otherwise: of
        ``all`` that it holds, of others that it does not. NumPy runs a call in which it is
        otherwise. None if no such function asks.
        """
        if not self.careful:
            return None
        made = self.made.get(test)
        holds = made is not None and made.name == "all"
        self.record("try_demand", self.record("py_bool" if holds else "py_not", test))
        return holds

    def said_by(self, test: Operand, holds: bool) -> Iterator[Guard]:
        """What a condition says of the counters of loops where it holds, or does not."""
        if isinstance(test, Value) and test in self.relations:
            found = Guard(*self.relations[test])
            yield found if holds else found.negated
        elif isinstance(test, Value) and test in self.joined:
            wanted, *tests = self.joined[test]
            for each in tests if wanted is holds else ():
                yield from self.said_by(each, holds)

    @contextmanager
    def active(self) -> Iterator[Session]:
        """Make this the thread's session inside the block."""
        before = thread.session
        thread.session = self
        try:
            with (
                recording_into(self.builder, user_location),
                recording(self.guards),
                assuming(self.assume),
            ):
                yield self
        finally:
            thread.session = before


def label_of(text: str) -> str:
    """A text as the name of an input or a value."""
    return "".join(c if c.isalnum() or c in "._" else "_" for c in text)


_INT64 = np.dtype(np.int64)
# Operators that take a Python int as a number of their dtype.
_CONVERTING = frozenset({Tag.POINTWISE, Tag.WRITE, Tag.FACTORY, Tag.COMPOSITE})


def _is_weak_int(x: object) -> bool:
    return type(x) is Value and x.type.weak and x.type.dtype.kind == "i"


def current_or_none() -> Session | None:
    """The capture that this thread is in, if any."""
    session: Session | None = thread.session
    return session


def current() -> Session:
    """The capture that this thread is in.

    Raises ``CaptureError`` outside of one: a traced array has outlived its capture.
    """
    session: Session | None = thread.session
    if session is None:
        raise uncapturable(NO_RESULT, "an array of a finished capture was used")
    return session
