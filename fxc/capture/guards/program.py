"""The guard program: what a capture relies on outside of its graph, checked at each call.

Steps fetch things (arguments, globals, attributes) into variables and check facts about them. From
the same steps two Python functions are made: ``check(args, kwargs)``, which gives the graph's
inputs or None, and ``why(args, kwargs)``, which says what does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import CodeType, MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fxc.ir.asynchronous import NUMPYS_ERRORS, hand_on
from fxc.ir.errors import MISSED, Flagged, Interrupted, RunFailed
from fxc.ir.later import import_later
from fxc.ir.made_functions import code_of, function_of
from fxc.ir.records import computed_once, frozen
from fxc.ops.epochs import Epoch

from .facts import (
    all_apart,
    apart,
    array_of_bytes,
    as_array,
    codes_of,
    distinct,
    has_aligned_fields,
    of_other_files,
    overlaps_itself,
    same_items,
    same_keys,
    same_value,
    tell_no_errors,
)

if TYPE_CHECKING:
    from fxc.ir.size_guards import Guard
    from fxc.ir.types import ArrayType

# For programs that are made, and for those that do not hold. See Note [Rooms with one door].
expression_of = import_later("fxc.capture.guards.words", "expression_of")
difference = import_later("fxc.capture.guards.words", "difference")
label_of_place = import_later("fxc.capture.guards.words", "label_of_place")
Fact = import_later("fxc.capture.guards.changes", "Fact")
changed_labels = import_later("fxc.capture.guards.changes", "changed_labels")
other_values = import_later("fxc.capture.guards.changes", "other_values")

Inputs = tuple[Any, ...]


class Count(Protocol):
    """Something that counts calls."""

    calls: int


@frozen
class Source:
    """How to get at something from outside at a call: a variable of the program, and for people."""

    var: str
    text: str


@frozen
class Fetch:
    """``var = expression``; ``var`` may be several names."""

    var: str
    expression: str


@frozen
class Check:
    """A condition that must hold; ``text`` says what it is about.

    ``label`` names a constant that may change: see Note [Numbers from outside]. It has if ``part``
    of the condition does not hold any more. ``value_of`` is what has to have a certain value, or
    to be a certain object, as the program calls it. ``array`` is what an array was like.
    """

    condition: str
    text: str
    label: str = ""
    part: str = ""
    is_of_value: bool = False
    value_of: str = ""
    array: ArrayType | None = None


_VARIABLE = r"\b[nsv]\d+\b"  # the names that ``GuardBuilder.name`` gives
_KIND = rf"type\(({_VARIABLE})\) is \w+"
Step = Fetch | Check


def _part(step: Check) -> str:
    """What is looked at of a check of what has a label or a certain value; '' for others."""
    return (step.part or step.condition) if step.label or step.value_of else ""


@frozen
class Failure:
    """The number of a step that does not hold, and what to say of it: what held, what is now."""

    place: int
    text: str


class GuardProgram:
    """The steps, the constants they mention, which variables are the graph's inputs, which objects
    the epilogue takes, and which variables hold the values of symbols.
    """

    def __init__(
        self,
        steps: Iterable[Step],
        constants: Mapping[str, object],
        inputs: Iterable[str],
        objects: Iterable[str] = (),
        symbols: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.steps = tuple(steps)
        self.constants = dict(constants)
        self.inputs = tuple(inputs)
        self.objects = tuple(objects)
        self.symbols = dict(symbols)
        self.codes: dict[str, CodeType] = {}  # of its functions, by name, once they are compiled

    def demanding(self, relations: Iterable[Guard]) -> GuardProgram:
        """The program with more relations between symbols."""
        steps = (*self.steps, *(relation_check(each, self.symbols) for each in relations))
        return GuardProgram(steps, self.constants, self.inputs, self.objects, self.symbols)

    def deciding(self) -> GuardProgram | None:
        """What of the program is about values, which decide where the program goes, with what that
        takes; None if there is nothing.
        """
        steps = self._needed(lambda step: step.condition if step.is_of_value else "")
        return GuardProgram(steps, self.constants, ()) if steps else None

    def _needed(self, part: Callable[[Check], str]) -> list[Step]:
        """The checks of which there is a ``part`` to look at, what is fetched for these, and of
        which kind that is: a look at another kind may change it, as an iterator is used up.
        """
        wanted: set[str] = set()
        steps: list[Step] = []
        for step in reversed(self.steps):
            if isinstance(step, Check):
                kind = re.match(_KIND, step.condition)
                if part(step):
                    wanted.update(re.findall(_VARIABLE, part(step)))
                elif kind is not None and kind[1] in wanted:
                    step = Check(kind[0], step.text)
                else:
                    continue
            elif wanted.isdisjoint(re.findall(_VARIABLE, step.var)):
                continue
            else:
                wanted.update(re.findall(_VARIABLE, step.expression))
            steps.append(step)
        return steps[::-1]

    @property
    def size(self) -> int:
        return len(self.steps)

    @property
    def is_outdated(self) -> bool:
        """Whether something about the user's operators has changed since, for all calls."""
        return any(isinstance(x, Epoch) and not x.holds for x in self.constants.values())

    @property
    def namespace(self) -> dict[str, Any]:
        """What the steps mention, by name."""
        return {**_NAMESPACE, **self.constants}

    @computed_once
    def source(self) -> str:
        """The Python source of ``check``."""
        lines = ["def check(args, kwargs):", "    try:", *self._steps_or("None")]
        lines.append(
            f"        return ({''.join(f'{var}, ' for var in (*self.inputs, *self.objects))})"
        )
        lines.append("    except Exception as error: hand_on(error); return None")
        return "\n".join(lines)

    def _steps_or(self, otherwise: str) -> Iterator[str]:
        """The steps, two levels deep; where one does not hold, ``otherwise`` is returned."""
        for step in self.steps:
            if isinstance(step, Fetch):
                yield f"        {step.var} = {step.expression}"
            else:
                yield f"        if not ({step.condition}): return {otherwise}  # {step.text}"

    def call(
        self,
        run: Callable[..., Sequence[object]],
        finish: Callable[..., object] | None,
        count: Count,
    ) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
        """``check`` and what comes after it, as one function of the arguments.

        ``run`` gives leaves for the inputs, ``finish`` the result for those and the objects;
        without it the only leaf is the result. ``MISSED`` stands for a call that this capture is
        not for.
        Raises ``RunFailed`` from what ``run`` raises.
        """

        def source() -> str:
            lines = [
                "def call(args, kwargs):",
                "    try:",
                *self._steps_or("MISSED"),
                "    except Exception as error: hand_on(error); return MISSED",
                *self._behind(finish),
            ]
            return "\n".join(lines)

        more = {"run": run, "finish": finish, "count": count}
        return self._compiled(source, "call", more)

    def _behind(self, finish: Callable[..., object] | None) -> Iterator[str]:
        """What is to be done when all guards hold."""
        objects = "".join(f", {var}" for var in self.objects)
        yield "    try:"
        yield f"        leaves = run({', '.join(self.inputs)})"
        yield "    except TimeoutError: raise"
        yield "    except Flagged as error: raise RunFailed from error"
        yield "    except NUMPYS_ERRORS as error: hand_on(error); raise RunFailed from error"
        yield "    except Interrupted as interrupt: raise interrupt.__cause__ from None"
        yield "    count.calls += 1"
        yield "    return leaves[0]" if finish is None else f"    return finish(leaves{objects})"

    @computed_once
    def check(self) -> Callable[[tuple[Any, ...], dict[str, Any]], Inputs | None]:
        """The graph's inputs for these arguments, and the objects for the epilogue after them; None
        if this capture is not for them.
        """
        return self._compiled(lambda: self.source, "check")

    def code(self, name: str) -> CodeType:
        """The code of ``check``, or of ``call`` once that was made."""
        if name == "check" and name not in self.codes:
            self.codes[name] = _code(self.source, name, self.constants)
        return self.codes[name]

    @np.errstate(all="ignore")  # the program warns of what it divides by
    def failure(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Failure | None:
        """The first step that does not hold for these arguments."""
        namespace = {**self.namespace, "args": args, "kwargs": kwargs}
        fetched = {"args", "kwargs"}
        for place, step in enumerate(self.steps):
            try:
                if isinstance(step, Fetch):
                    exec(f"{step.var} = {step.expression}", namespace)
                    fetched.update(name.strip() for name in step.var.split(","))
                elif not eval(step.condition, namespace):
                    names = compile(step.condition, "<fxc guard>", "eval").co_names
                    now = [namespace[name] for name in dict.fromkeys(names) if name in fetched]
                    return Failure(place, difference(step.text, now, step.array, not step.part))
            except Exception as error:
                if isinstance(step, Check):
                    return Failure(place, f"{step.text}: this could not be checked: {error}")
                gone = f"is not there any more ({type(error).__name__})"
                return Failure(place, f"{step.expression} {gone}")
        return None

    def why(self, args: tuple[object, ...], kwargs: dict[str, object]) -> str:
        """What does not hold for these arguments; empty if all does."""
        found = self.failure(args, kwargs)
        return "" if found is None else found.text

    def fetched(self, args: tuple[object, ...], kwargs: dict[str, object]) -> list[Any]:
        """What the graph's inputs are fetched from these arguments, with nothing checked.

        None stands for what cannot be fetched, or does not come from the arguments.
        """
        namespace = {**self.namespace, "args": args, "kwargs": kwargs}
        for step in self.steps:
            if isinstance(step, Fetch):
                with suppress(Exception), np.errstate(all="ignore"):  # marks have no shape
                    exec(f"{step.var} = {step.expression}", namespace)
        return [namespace.get(var) for var in self.inputs]

    def changed(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Iterator[str]:
        """The labels of constants that are others for these arguments."""
        namespace = {**self.namespace, "args": args, "kwargs": kwargs}
        labels: Iterator[str] = changed_labels(self._facts, namespace)
        return labels

    def other_values(self, args: tuple[object, ...], kwargs: dict[str, object]) -> set[str]:
        """What has another value for these arguments, as the program calls it."""
        known: set[str] = other_values(
            self._facts, {**self.namespace, "args": args, "kwargs": kwargs}
        )
        return known

    @computed_once
    def _facts(self) -> list[Any]:
        """The checks of what has a label or a certain value, and what is fetched for these."""
        found = []
        for step in self._needed(_part):
            if isinstance(step, Fetch):
                source, mode, wanted = f"{step.var} = {step.expression}", "exec", False
                binds = re.findall(_VARIABLE, step.var)
            else:
                source, mode, wanted = _part(step) or step.condition, "eval", bool(_part(step))
                binds = []
            code, names = compile(source, "<fxc guard>", mode), re.findall(_VARIABLE, source)
            found.append(Fact(code, names, binds, step, wanted))
        return found

    def _compiled(
        self,
        source: Callable[[], str],
        name: str,
        more: Mapping[str, object] = MappingProxyType({}),
    ) -> Callable[..., Any]:
        constants = {**self.constants, **more}
        code = self.codes.get(name)
        if code is None:
            code = self.codes[name] = _code(source(), name, constants)
        return function_of(code, constants, _NAMESPACE)

    def __str__(self) -> str:
        return self.source

    def __reduce__(self) -> tuple[Any, ...]:
        """What is made from the steps is made again."""
        return GuardProgram, (self.steps, self.constants, self.inputs, self.objects, self.symbols)


def relation_check(guard: Guard, variables: Mapping[str, str]) -> Check:
    """The check of a relation between symbols, whose values are these variables."""
    left, right = expression_of(guard.left, variables), expression_of(guard.right, variables)
    return Check(f"{left} {guard.relation} {right}", str(guard), label_of_place(guard))


def _code(source: str, name: str, constants: Iterable[str]) -> CodeType:
    return code_of(source, f"<fxc guards: {name}>", constants)


_NAMESPACE: dict[str, Any] = {
    "array_of_bytes": array_of_bytes,
    "codes_of": codes_of,
    "MISSED": MISSED,
    "RunFailed": RunFailed,
    "Interrupted": Interrupted,
    "Flagged": Flagged,
    "NUMPYS_ERRORS": NUMPYS_ERRORS,
    "hand_on": hand_on,
    "distinct": distinct,
    "ndarray": np.ndarray,
    "may_share": getattr(np.may_share_memory, "_implementation", np.may_share_memory),
    "apart": apart,
    "as_array": as_array,
    "all_apart": all_apart,
    "of_other_files": of_other_files,
    "overlaps_itself": overlaps_itself,
    "has_aligned_fields": has_aligned_fields,
    "same_value": same_value,
    "same_items": same_items,
    "same_keys": same_keys,
    "tell_no_errors": tell_no_errors,
}
