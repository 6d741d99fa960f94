"""The splitting of one function: its cuts, its parts, and the drivers around them.

See Note [Splitting].
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from fxc.capture.session.locations import is_in_library
from fxc.capture.staging.nodes import children, walk
from fxc.capture.staging.staging import source_of
from fxc.ir.error_kinds import UNKNOWN_CALL
from fxc.ir.errors import CaptureError, uncapturable
from fxc.ir.forking import one_at_a_time
from fxc.ir.records import replace

from .driver import Cuts, Driver, DriverWriter
from .function_plan import FunctionPlan, Statement
from .part_source import PartKey, PartSource
from .pieces import Pieces
from .program_calls import OF_PYTHON, calls_alike, own_places
from .statement_syntax import TAKEN, Span, body_of, own_reads, span_of
from .taking_apart import use_of

if TYPE_CHECKING:
    from fxc.capture.refusals import Refusal, SourcePlace


class CompiledPart(Protocol):
    """What a driver calls, by what is in a cell."""

    cell: CellType

    @property
    def source(self) -> PartSource: ...
    @property
    def is_compiled(self) -> bool: ...
    @property
    def may_save_much(self) -> bool: ...
    def replayed(self) -> None: ...


# How a function that is called is split: it warns of that, or leaves it to who calls it.
Helper = Literal["warns", "is silent"]
# Functions that are called by functions which are split, and are compiled or split themselves.
helpers: dict[FunctionType, Any] = {}
# Threads whose parts are refused cut the function that they share, and others that it calls.
_alone = one_at_a_time(threading.RLock())


class Split:
    """How a function is split so far; each refusal adds a cut."""

    def __init__(
        self,
        function: FunctionType,
        make_part: Callable[[Split, PartSource], CompiledPart],
        helper: Callable[[Refusal], Helper | None],
        helper_of: Callable[[Any], Any],
        calls: set[FunctionType],
        is_inner: bool = False,
    ) -> None:
        node = source_of(function)
        if node is None:
            raise uncapturable(UNKNOWN_CALL, f"the source of {function.__name__} is not available")
        if isinstance(node, ast.Lambda):
            made = ast.FunctionDef(function.__name__, node.args, body_of(node), [])
            node = ast.copy_location(made, node)
        self._code = function.__code__
        self._has_helpers = False  # whether it calls functions that are known to be split
        self._says_so = False  # whether somebody else warns of what was refused last
        self._pieces = Pieces(node, function.__code__ if is_inner else None)
        self.cuts = Cuts(set(), set(), set())
        self.parts: dict[PartKey, CompiledPart] = {}
        self._module = str(function.__module__).partition(".")[0]
        self._make_part = make_part
        self.calls = calls  # functions that it calls and that are compiled or split themselves
        self._helper = helper
        self._writer = DriverWriter(function, node, self._pieces, self.cuts, self._part, helper_of)
        self._whole: Driver | None = None
        self._of_parts: dict[PartKey, Driver | None] = {}
        self._unpaid: set[PartKey] = set()
        self._is_plain = False  # Python runs all of it
        self.is_tried = False  # its driver is on trial
        self.varying: set[str] = set()  # variables that Python makes of values which vary
        self.on_change: list[Callable[[], None]] = []
        if self.is_entered_again:
            self._pieces.take_waits_apart()

    @property
    def plan(self) -> FunctionPlan:
        """What is known of its statements, as they are now."""
        return self._pieces.plan

    # -------------------------------------------------------- drivers

    @property
    def driver(self) -> Driver:
        """The driver of the function, with all cuts so far."""
        return self._whole or self._write_whole()

    @_alone
    def _write_whole(self) -> Driver:
        if self._whole is None:
            self._whole = self._writer.whole()
        return self._whole

    @_alone
    def driver_of(self, part: PartSource) -> Driver | None:
        """The driver of a part that is split itself; None if it would be the statements as they
        are, a handler may read what they have bound when one raises, or they call inner functions,
        which are to be the driver's own.
        """
        if part.key not in self._of_parts:
            current = replace(part, statements=self._pieces.current(part.statements))
            self._of_parts[part.key] = self._written_of(current)
        return self._of_parts[part.key]

    def _written_of(self, part: PartSource) -> Driver | None:
        made = self._writer.of_part(part)
        binds = frozenset[str]().union(*(each.binds for each in part.statements))
        is_read = not binds.isdisjoint(part.statements[0].on_error)
        spans = {each.span for statement in part.statements for each in statement.inside()}
        if any(each.source.key == part.key for each in made.parts):
            return None
        differs = made.parts or not self.cuts.calling.isdisjoint(spans)
        return made if differs and not is_read and not part.inner else None

    @property
    def compiled(self) -> list[Any]:
        """The parts that have been compiled."""
        return [part for part in list(self.parts.values()) if part.is_compiled]

    @property
    def called(self) -> list[Any]:
        """What it calls: its parts, and functions that are compiled or split themselves."""
        return [*self.parts.values(), *(helpers[x] for x in list(self.calls) if x in helpers)]

    @property
    def captures(self) -> list[Any]:
        """What is known of the captures of what it calls."""
        return [found for each in self.called for found in each._state.captures.values()]

    @property
    def has_parts(self) -> bool:
        """Whether the driver calls parts that may pay."""
        return any(part.source.key not in self._unpaid for part in self.driver.parts)

    @property
    def is_driven(self) -> bool:
        """Whether the driver does anything that the function does not."""
        return self.has_parts or bool(self.cuts.calling)

    @property
    def is_measured(self) -> bool:
        """Whether Python is known not to take many times as long as the driver."""
        called = (helpers[each]._state for each in list(self.calls) if each in helpers)
        return not (self.may_save_much or any(each.may_save_much for each in called))

    @property
    def may_save_much(self) -> bool:
        """Whether Python may take several times as long as its parts, as far as is known."""
        return any(part.may_save_much for part in list(self.parts.values()))

    @property
    def is_entered_again(self) -> bool:
        """Whether it is a generator or a coroutine, which nobody can capture as a whole."""
        return bool(self._code.co_flags & _ENTERED_AGAIN)

    @property
    @_alone
    def in_parts(self) -> tuple[int, int]:
        """How many statements are in parts of the driver, and how many there are."""
        inside = (each for part in self.driver.parts for each in part.source.statements)
        compiled = {each.span for statement in inside for each in statement.inside()}
        found: dict[Span, bool] = {}
        for each in self.plan.statements():
            whole = self._pieces.chain(each.span)[-1]
            found[whole] = found.get(whole, True) and each.span in compiled
        return sum(found.values()), len(found)

    def _changed(self) -> None:
        self._whole = None
        self._of_parts.clear()
        self._forget()

    def _forget(self) -> None:
        for forget in self.on_change:
            forget()

    def _part(self, source: PartSource) -> CompiledPart | None:
        if self._is_plain or source.key in self._unpaid:
            return None
        found = self.parts.get(source.key)
        if found is None:
            found = self.parts[source.key] = self._make_part(self, source)
        return found

    @_alone
    def leaves_parts(self, refusal: Refusal) -> bool:
        """Cut at a refusal; whether anything is left to compile, here or in what it calls."""
        self._cut(refusal, self.plan.body)
        self._changed()
        return self.has_parts or self._has_helpers

    @_alone
    def give_up(self, part: PartSource) -> None:
        """Let Python run the statements of a part that does not pay: by a driver without it, once
        there is no trial of this one, for to write it takes a millisecond.
        """
        self._unpaid.add(part.key)
        if not self.is_driven:
            self._forget()
        elif not self.is_tried:
            self._changed()

    @_alone
    def without_given_up(self) -> bool:
        """Let the driver be one without what was given up; whether it is another one."""
        is_other = any(part.source.key in self._unpaid for part in self.driver.parts)
        if is_other:
            self._changed()
        return is_other

    # -------------------------------------------------------- cuts

    @_alone
    def refused(self, error: CaptureError, within: tuple[Statement, ...]) -> bool:
        """Cut where the capture of some statements was refused; whether that is worth a warning:
        a generator is split where it yields, and a function that is split itself says so itself.
        """
        if within is self.plan.body and self.is_entered_again:
            return False
        within = self._pieces.current(within)
        self._says_so = False
        self._is_plain |= error.is_of_whole
        refusal = error.refusal
        loop = None if refusal is None else self._busiest(refusal.work, within)
        if loop is not None:
            self._add(loop)
        elif refusal is None or not self._cut(refusal, within):
            self._halve(within)
        self._changed()
        return not self._says_so

    def _busiest(self, work: Mapping[int, int], within: tuple[Statement, ...]) -> Statement | None:
        """The outermost loop in which most of the work on a program was done that is too large."""
        for statement in within:
            for each in statement.inside():
                first, _, last, _ = each.span
                done = sum(count for line, count in work.items() if first <= line <= last)
                is_loop = isinstance(each.node, ast.For | ast.While) and not self._is_cut(each)
                if is_loop and 2 * done > sum(work.values()):
                    return each
        return None

    @_alone
    def varied(self, names: Iterable[str], within: tuple[Statement, ...]) -> None:
        """Cut where values are read of which a capture makes constants, and which vary."""
        is_cut = False
        for name in sorted({_INDICES.sub("", name) for name in names}):
            within = self._pieces.current(within)
            is_cut |= self._cut_uses(name, within)
            inside = (x for each in self._pieces.current(within) for x in each.inside())
            cut = [each for each in inside if self._is_cut(each) and name in each.reads]
            self.varying.update(*(each.binds for each in cut if not each.blocks))
        if is_cut:
            self._changed()

    @_alone
    def left(self, refusal: Refusal, within: tuple[Statement, ...]) -> None:
        """Cut at an operator that native code leaves to NumPy, see Note [Leaves]: first at the
        outermost loop around it, as most iterations may go on.
        """
        within = self._pieces.current(within)
        found = self._found(refusal.places, refusal.location, within)
        loop = None if found is None else self._loop_around(found, within)
        if loop is not None:
            self._add(loop)
        if loop is not None or self._cut(refusal, within):
            self._changed()

    def _loop_around(self, found: Statement, within: tuple[Statement, ...]) -> Statement | None:
        """The outermost loop that a statement stands in and that is not cut."""
        for statement in within:
            for each in statement.inside():
                is_loop = isinstance(each.node, ast.For | ast.While) and each is not found
                if is_loop and not self._is_cut(each) and found in each.inside():
                    return each
        return None

    def _cut(self, refusal: Refusal, within: tuple[Statement, ...]) -> bool:
        """Cut at the statement that was refused; whether it is known which one it was, and that it
        was in nothing that was cut there before.
        """
        if refusal.argument:
            # What was taken out of an expression has no name in the program.
            self._says_so = refusal.argument.startswith(TAKEN)
            return self._cut_uses(refusal.argument, within)
        found = self._found(refusal.places, refusal.location, within)
        if found is None:
            return False
        own, called = own_places(refusal.places)
        is_of_block = refusal.is_of_block and not called
        alike = list[Span]()
        if own and own[0].calls_itself and own[0].span is not None:
            alike = calls_alike((each.node for each in self.plan.body), own[0].span)
        for each in () if is_of_block else reversed(own):
            found = self._pieces.alone(found, each.span)
        if self._is_cut(found):  # as other values had it: of the function, or of an old part
            return within == self.plan.body
        inner = replace(refusal, places=called)
        function, helper = inner.places[0].function if inner.places else None, None
        if function is not None and self._may_be_split(inner):
            helper = self._helper(inner)
            if helper == "warns":
                self.calls.add(function)
        self._says_so = helper == "warns"
        self._has_helpers |= helper is not None
        self._add(found, bool(helper), function)
        self.cuts.statements.update(each.span for each in found.inside() if is_of_block)
        for place in alike:
            other = self.plan.innermost(place[0], place)
            if other is not None and not self._is_cut(other := self._pieces.alone(other, place)):
                self._add(other, bool(helper), function)
        return True

    def _add(
        self, statement: Statement, calls_helper: bool = False, plain: FunctionType | None = None
    ) -> None:
        """Cut at a statement, which may call functions that are split, but not ``plain``."""
        own = [each for each in children(statement.node) if isinstance(each, ast.expr)]
        calls = calls_helper or self._writer.calls.may_run(own, OF_PYTHON, plain)
        if not calls and not self.plan.seen_by:
            calls = any(
                isinstance(x, ast.Call) and self._writer.calls.hands_on(x) for x in walk(*own)
            )
        (self.cuts.calling if calls else self.cuts.statements).add(statement.span)

    def _is_cut(self, statement: Statement) -> bool:
        return statement.span in self.cuts.statements or statement.span in self.cuts.calling

    def _cut_uses(self, name: str, within: tuple[Statement, ...]) -> bool:
        """Cut where a variable is read, or a place such as ``self.name``; whether it is."""
        all_within = [each for statement in within for each in statement.inside()]
        variable = next(iter(_VARIABLE.findall(name)), "")
        todo = [each for each in all_within if variable in own_reads(each.node)]
        found = False
        while todo:
            statement = todo.pop()
            place = use_of(statement.node, name)
            if place is None and not name.isidentifier():
                continue
            found = True
            alone = statement if place is None else self._pieces.alone(statement, span_of(place))
            self._add(alone)
            if alone is not statement:
                made = self._pieces.made_of(statement.node)
                known = {each.node: each for each in self.plan.statements()}
                others = (known[node] for node in made if node is not alone.node)
                todo += [each for each in others if variable in each.reads]
        return found

    def _may_be_split(self, refusal: Refusal) -> bool:
        """Whether a function is another one of the same program, and no library's."""
        place = refusal.places[0]
        ours, its = self._module, str(place.function.__module__).partition(".")[0]
        return its == ours or not is_in_library(place.location.file)

    def _found(
        self, places: tuple[SourcePlace, ...], location: Any, within: tuple[Statement, ...]
    ) -> Statement | None:
        """The statement where the program was."""
        if places:
            line, place = places[0].line, places[0].span
        elif location is not None and location.file == self._code.co_filename:
            line, place = location.line, None
        else:
            return None
        found = self.plan.innermost(line, place)
        inside = {each.span for statement in within for each in statement.inside()}
        return found if found is not None and found.span in inside else None

    def _halve(self, within: tuple[Statement, ...]) -> None:
        """Let statements of which it is not known what is wrong with them be two parts."""
        if len(within) > 1:
            self.cuts.borders.add(within[len(within) // 2].span)
        else:
            self._add(within[0])


_VARIABLE = re.compile(r"\w+")
_INDICES = re.compile(r"(\[\d+\])+$")  # of items of lists and tuples
_ENTERED_AGAIN = 0x20 | 0x80 | 0x200  # generators and coroutines
