"""What a compilation depends on that has no name: functions in dicts or in closures, local classes.

It is found where its guards find it: by the arguments of a call, step by step. See Note [Restored
compilations].
"""

from __future__ import annotations

import io
import pickle
import re
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from fxc.capture.epilogue.finishing import Epilogue
from fxc.capture.guards.program import Fetch, GuardProgram

from .by_reference import NotStored, ReferenceReader, ReferenceWriter
from .digests import digest_of

_COMPARED = re.compile(r"(?!.*\b(?:and|or|if|not)\b)(.+) is (\w+)")  # a check, and its constant
_NAME = re.compile(r"\b[a-z]+_\d+\b")

Known = tuple[FunctionType, list[FunctionType]]  # the root, and other functions


def nameless(guards: GuardProgram, known: Known) -> dict[int, str]:
    """The constants of the guards that have to be found by way of them: their names, by address."""
    found: dict[int, str] = {}
    compared = {name for _, name in filter(None, map(_compared, guards.steps))}
    for name, value in guards.constants.items():
        try:
            _text_of(value, known, found)
        except NotStored:
            if name not in compared or not isinstance(value, FunctionType | type):
                raise
            found[id(value)] = name
    return found


def check_constants(epilogue: Epilogue | None, known: Known, found: Mapping[int, str]) -> None:
    """Raise ``NotStored`` for an epilogue that makes what another process would make otherwise."""
    for value in () if epilogue is None else epilogue.constants.values():
        _text_of(value, known, found)


def outside(guards: GuardProgram, known: Known, found: Mapping[int, str]) -> bytes:
    """What is needed to find them."""
    texts = {name: _text_of(value, known, found) for name, value in guards.constants.items()}
    digests = {name: _digest(guards.constants[name]) for name in found.values()}
    return pickle.dumps((guards.steps, texts, digests))


def found_outside(
    data: bytes, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, object] | None:
    """The objects by name, as the guards find them for these arguments; None if they do not hold.

    Raises ``NotStored`` if an object is another one than what was stored.
    """
    steps, texts, digests = pickle.loads(data)
    found: dict[str, object] = {}
    namespace = {**GuardProgram((), {}, ()).namespace, "args": args, "kwargs": kwargs}
    for step in steps:
        expression = step.expression if isinstance(step, Fetch) else step.condition
        for name in _NAME.findall(expression):
            if name in texts and name not in namespace and name not in digests:
                reader = ReferenceReader(io.BytesIO(texts[name]), function, found)
                namespace[name] = reader.load()
        if isinstance(step, Fetch):
            exec(f"{step.var} = {step.expression}", namespace)
            continue
        compared = _compared(step)
        if compared is not None and compared[1] in digests.keys() - found.keys():
            value = eval(compared[0], namespace)
            if _digest(value) != digests[compared[1]]:
                raise NotStored(f"{step.text} does not hold")
            found[compared[1]] = namespace[compared[1]] = value
        elif not eval(expression, namespace):
            return None
    return found


def _compared(step: object) -> tuple[str, str] | None:
    """What a check compares by identity, and the name of the constant."""
    match = _COMPARED.fullmatch(getattr(step, "condition", ""))
    return None if match is None else (match[1], match[2])


def _digest(value: object) -> bytes:
    return digest_of(value) if isinstance(value, FunctionType | type) else b""


class _ConstantWriter(ReferenceWriter):
    """Writes no sets: their order is another one in another process."""

    def persistent_id(self, value: object) -> Any:
        if type(value) in (set, frozenset):
            raise NotStored("it depends on a set")
        return super().persistent_id(value)


def _text_of(value: object, known: Known, found: Mapping[int, str]) -> bytes:
    file = io.BytesIO()
    try:
        _ConstantWriter(file, *known, found).dump(value)
    except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
        raise NotStored(str(error)) from error
    return file.getvalue()
