"""Everything that can be seen of a call: results, arguments, output, warnings, random streams.

``watch`` calls a function and keeps it; ``difference`` says in words what two such calls do not
have in common. Objects are taken apart into their attributes; what was met before is named by its
first place, so that two names of one object are part of the comparison.
"""

from __future__ import annotations

import collections
import contextlib
import enum
import functools
import io
import logging
import random
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import fxc
from tests.outcomes import _relations, agreement, leaf_difference
from tests.wild.registry import WildProgram

HERE = Path(__file__).parent
OURS = ("seen", "__main__", "registry", "programs")

Leaf = tuple[str, Any]


@dataclass(frozen=True)
class Seen:
    """A call: ``leaves`` are of its result and of its arguments after it."""

    leaves: list[Leaf]
    error: str
    printed: str
    logged: list[tuple[Any, ...]]
    warned: list[tuple[Any, ...]]
    streams: str
    refusals: tuple[str, ...]


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.seen: list[tuple[Any, ...]] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.name != "fxc":
            self.seen.append((record.name, record.levelname, record.getMessage(), record.lineno))


def watch(fn: Callable[..., Any], args: tuple[Any, ...]) -> Seen:
    """Call ``fn(*args)`` and keep what can be seen; the seeds of global streams are set before."""
    np.random.seed(1234)
    random.seed(1234)
    records, printed, result, error = _Records(), io.StringIO(), None, ""
    root = logging.getLogger()
    level = root.level
    root.addHandler(records)
    root.setLevel(logging.DEBUG)
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            contextlib.redirect_stdout(printed),
        ):
            warnings.simplefilter("always")
            try:
                result = fn(*args)
            except Exception as raised:
                error = f"{type(raised).__name__}: {raised}"
    finally:
        root.removeHandler(records)
        root.setLevel(level)
    return Seen(
        list(_leaves(("result", result), ("argument", args))),
        error,
        printed.getvalue(),
        records.seen,
        [_warning(each) for each in caught if each.category is not fxc.CaptureWarning],
        repr((random.getstate(), *map(_state, np.random.get_state()))),
        tuple(str(each.message) for each in caught if each.category is fxc.CaptureWarning),
    )


def _state(part: Any) -> Any:
    """Part of the state of a stream; to print an array takes longer than most programs."""
    return part.tobytes() if isinstance(part, np.ndarray) else part


def _warning(warning: warnings.WarningMessage) -> tuple[Any, ...]:
    """Its text, and its place if that is in a program: a caller of the program is one of ours."""
    path = Path(warning.filename)
    inside = path.parent == HERE and path.stem not in OURS
    place = (path.name, warning.lineno) if inside else ()
    return (warning.category.__name__, str(warning.message), *place)


def differs(
    program: WildProgram, compiled: Callable[..., Any], size: int, *, resized: bool = True
) -> str:
    """How three calls of the compiled program differ from NumPy's, or ''.

    The second is of the same objects, as the first left them; the third is of others, of another
    size, if they are to be ``resized``.
    """
    worlds = [program.arguments(0, size) for _ in range(2)]
    for k, seed in enumerate((0, 0, 1) if resized else (0, 0)):
        if seed:
            worlds = [program.arguments(seed, size + 1) for _ in range(2)]
        expected, found = watch(program.function, worlds[0]), watch(compiled, worlds[1])
        text = difference(expected, found, program.rtol)
        if text:
            return f"call {k}: {text}"
    return ""


def difference(expected: Seen, found: Seen, rtol: float) -> str:
    """The first difference, or ''."""
    for what in ("error", "printed", "logged", "warned", "streams"):
        left, right = getattr(expected, what), getattr(found, what)
        if left != right:
            return f"{what}: {right!r}, NumPy {left!r}"
    left, right = expected.leaves, found.leaves
    if [place for place, _ in left] != [place for place, _ in right]:
        odd = set(place for place, _ in left) ^ set(place for place, _ in right)
        return f"other parts: {sorted(odd)[:6]}"
    for (place, x), (_, y) in zip(left, right, strict=True):
        text = "" if _close(x, y, rtol) else leaf_difference(x, y)
        if text:
            return f"{place}: {text}"
    arrays = [
        (place, x, y)
        for (place, x), (_, y) in zip(left, right, strict=True)
        if isinstance(x, np.ndarray)
    ][:40]
    return _relations([x for _, x, _ in arrays], [y for _, _, y in arrays], [p for p, *_ in arrays])


def _close(x: Any, y: Any, rtol: float) -> bool:
    """Whether two floats, or arrays of them, are as near as elementary functions let them be."""
    if type(x) is not type(y) or not rtol:
        return False
    if isinstance(x, np.ndarray) and (x.shape != y.shape or x.strides != y.strides):
        return False
    a, b = np.atleast_1d(x), np.atleast_1d(y)
    if a.dtype != b.dtype or a.dtype.kind not in "fc":
        return False
    near = agreement(a, b)
    finite = np.isfinite(a) & np.isfinite(b)
    largest = np.abs(a[finite]).max(initial=0.0)
    near[finite] |= np.abs(a[finite] - b[finite]) <= rtol * largest
    return bool(near.all())


_PLAIN = (
    int, float, complex, str, bytes, bool, type(None), np.ndarray, np.generic, np.dtype, type, slice,
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, np.ufunc,
    range, type(...), enum.Enum, logging.Logger,
)  # fmt: skip


def _leaves(*trees: Leaf) -> Iterator[Leaf]:
    """The leaves of some trees, by place; an object that was met before is named by its place."""
    met: dict[int, str] = {}
    keep = []
    todo = collections.deque(trees)
    while todo:
        place, value = todo.popleft()
        if isinstance(value, _PLAIN):
            yield place, _plain(value)
            continue
        if id(value) in met:
            yield place, f"the same as {met[id(value)]}"
            continue
        met[id(value)] = place
        keep.append(value)
        yield f"{place}: {type(value).__name__}", None
        todo.extend(_parts(place, value))


def _plain(value: Any) -> Any:
    return value.__name__ if isinstance(value, types.MethodType) else value


def _parts(place: str, value: Any) -> list[Leaf]:
    """What an object holds, by place."""
    if isinstance(value, np.random.Generator):
        return [(f"{place}.state", repr(value.bit_generator.state))]
    if isinstance(value, np.random.RandomState):
        return [(f"{place}.state", repr([repr(each) for each in value.get_state()]))]
    if isinstance(value, random.Random):
        return [(f"{place}.state", repr(value.getstate()))]
    if isinstance(value, functools.partial):
        return [(f"{place}.args", value.args), (f"{place}.keywords", value.keywords)]
    parts: list[Leaf] = []
    if isinstance(value, dict):
        parts += [(f"{place}[{key!r}]", item) for key, item in value.items()]
    elif isinstance(value, set | frozenset):
        parts += [(f"{place}{{}}", tuple(sorted(map(repr, value))))]
    elif isinstance(value, list | tuple | collections.deque):
        parts += [(f"{place}[{k}]", item) for k, item in enumerate(value)]
    names = dict.fromkeys(getattr(value, "__dict__", ()))
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        names |= dict.fromkeys((slots,) if isinstance(slots, str) else slots)
    parts += [
        (f"{place}.{name}", getattr(value, name))
        for name in names
        if name not in ("__dict__", "__weakref__") and hasattr(value, name)
    ]
    return parts
