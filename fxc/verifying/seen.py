"""What can be seen of a call: its result, and all that it was given, as they are at one moment.

``seen`` keeps that, ``difference`` says in words what differs first between two. Compared are the
containers and Python types, dtype, shape, strides, writeability and every bit of every array,
which of them are one object or share memory, and the exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from fxc.ir.objects import is_writeable
from fxc.ir.records import frozen

from .bits import agreement, same_bits, ulps_apart
from .parts import MOST_OBJECTS, generator_state, parts_of

_PLAIN = (
    np.generic,
    int,
    float,
    complex,
    str,
    bytes,
    bool,
    type(None),
    type,
    range,
    slice,
    np.dtype,
)
_LAYOUT = ("dtype", "shape", "strides", "writeable")
_SHARES_WORK: Any = 20_000  # steps of looking for a common element


@frozen(eq=False)
class SeenPart:
    """One object: its class, and what it is. ``same_as`` is the place where it was seen before."""

    kind: type
    value: object = None
    layout: tuple[object, ...] = ()  # of an array
    same_as: str = ""


@frozen(eq=False)
class Seen:
    """What is there, by place; and which arrays share memory, or are the base of another."""

    parts: Mapping[str, SeenPart]
    relations: Mapping[tuple[str, str], str]
    error: BaseException | None = None


Roots = Iterable[tuple[str, object]]
Accepts = Callable[[str, np.ndarray, np.ndarray], bool]
"""Whether an array is near enough, given its place, what NumPy has, and what fxc has."""


def seen(roots: Roots, error: BaseException | None = None) -> Seen:
    """What is there now. Arrays are copied."""
    parts: dict[str, SeenPart] = {}
    arrays: dict[str, np.ndarray] = {}
    kept: dict[int, tuple[str, object]] = {}  # by identity, the objects with their places
    waiting = [*roots][::-1]
    while waiting:
        where, x = waiting.pop()
        known = kept.get(id(x))
        if known is not None and not isinstance(x, (*_PLAIN, tuple, frozenset)):
            parts[where] = SeenPart(type(x), same_as=known[0])
            continue
        kept[id(x)] = where, x
        inside = None if isinstance(x, _PLAIN) or len(kept) > MOST_OBJECTS else parts_of(x)
        held = [] if inside is None else list(inside)
        parts[where] = _part(x, tuple(name for name, _ in held))
        if isinstance(x, np.ndarray):
            arrays[where] = x
        waiting += [(where + name, item) for name, item in reversed(held)]
    return Seen(parts, _relations(arrays), error)


def _part(x: object, names: tuple[str, ...]) -> SeenPart:
    kind = type(x)
    if isinstance(x, np.ndarray):
        layout = (x.dtype, x.shape, _strides(x), is_writeable(x))
        return SeenPart(kind, np.array(x, copy=True, subok=False), layout)
    if isinstance(x, np.generic):
        return SeenPart(kind, np.array(x), (x.dtype,))
    if isinstance(x, float | complex):
        return SeenPart(kind, np.array(x))
    if isinstance(x, _PLAIN):
        return SeenPart(kind, x)
    if isinstance(x, set | frozenset):
        return SeenPart(kind, frozenset(x))
    return SeenPart(kind, generator_state(x) or names)


def _strides(x: np.ndarray) -> tuple[int, ...]:
    """The strides that matter: not those of axes with one element."""
    if x.size == 0:
        return ()
    return tuple(step for size, step in zip(x.shape, x.strides, strict=True) if size > 1)


# ---------------------------------------------------------------- memory


_CAPSULE = "a capsule as a base"  # what `np.from_dlpack` gives; see docs/numerics.md


def _relations(arrays: Mapping[str, np.ndarray]) -> dict[tuple[str, str], str]:
    """Which arrays share elements, and how far their first ones are apart; who is whose base."""
    found: dict[tuple[str, str], str] = {}
    for one, other in _near(arrays):
        a, b = arrays[one], arrays[other]
        if _share(a, b):
            found[one, other] = f"share memory, the first elements {_offset(a, b)} bytes apart"
    by_identity = {id(x): where for where, x in arrays.items()}
    for where, x in arrays.items():
        base = by_identity.get(id(x.base)) if isinstance(x.base, np.ndarray) else None
        if base is not None and isinstance(arrays[base].base, np.ndarray | None):
            found[where, f"{base} as a base"] = "are so"
        if type(x.base).__name__ == "PyCapsule":
            found[where, _CAPSULE] = "are so"
    return found


def _near(arrays: Mapping[str, np.ndarray]) -> Iterator[tuple[str, str]]:
    """The pairs whose memory may have something in common, in the order in which they are seen."""
    order = {where: place for place, where in enumerate(arrays)}
    bounds = sorted((*byte_bounds(x), where) for where, x in arrays.items() if x.size)
    open_: list[tuple[int, str]] = []  # the ends of those that begin before
    for low, high, where in bounds:
        open_ = [each for each in open_ if each[0] > low]
        for _, other in open_:
            first, second = sorted((other, where), key=order.__getitem__)
            yield first, second
        open_.append((high, where))


def _share(a: np.ndarray, b: np.ndarray) -> bool:
    try:
        return np.shares_memory(a, b, max_work=_SHARES_WORK)
    except np.exceptions.TooHardError:
        return np.may_share_memory(a, b)


def _offset(a: np.ndarray, b: np.ndarray) -> int:
    """From the first element of one to that of the other."""
    return int(b.__array_interface__["data"][0] - a.__array_interface__["data"][0])


# ---------------------------------------------------------------- differences


def difference(
    expected: Seen, found: Seen, accepts: Accepts = lambda *_: False, *, aliases: bool = True
) -> str:
    """What is otherwise in ``found`` than in what NumPy gives, or ''."""
    errors = [(type(each.error), str(each.error)) for each in (expected, found)]
    if errors[0] != errors[1]:
        return f"{_raised(found.error, 'compiled code')}, {_raised(expected.error, 'NumPy')}"
    if not aliases:
        expected, found = (_without_aliases(each) for each in (expected, found))
    for where, x in expected.parts.items():
        y = found.parts.get(where)
        if y is None:
            return f"{where}: is not there; with NumPy it is {_shown(x)}"
        text = part_difference(where, x, y, accepts)
        if text:
            return f"{where}: {text}"
    for where, y in found.parts.items():
        if where not in expected.parts:
            return f"{where}: is {_shown(y)}; with NumPy it is not there"
    return _relation_difference(expected, found) if aliases else ""


def _raised(error: BaseException | None, who: str) -> str:
    return f"{who} raises nothing" if error is None else f"{who} raises {error!r}"


def _without_aliases(given: Seen) -> Seen:
    """All but how it lies in memory, with what was seen before once more in each place."""
    parts = {}
    for where, each in given.parts.items():
        each = given.parts.get(each.same_as, each)
        parts[where] = SeenPart(each.kind, each.value, each.layout[:2])
    return Seen(parts, {}, given.error)


def part_difference(where: str, x: SeenPart, y: SeenPart, accepts: Accepts) -> str:
    """How ``y`` is otherwise than ``x``, which is NumPy's, or ''."""
    if x.kind is not y.kind:
        return f"is {_shown(y)}; with NumPy {_shown(x)}"
    if x.same_as != y.same_as:
        return f"is {_object(y)}; with NumPy it is {_object(x)}"
    for name, a, b in zip(_LAYOUT, x.layout, y.layout, strict=False):
        if a != b:
            return f"{name} is {b}; with NumPy {a}"
    a, b = x.value, y.value
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return "" if a is b or _equal(a, b) else f"is {_shown(y)}; with NumPy {_shown(x)}"
    if same_bits(a, b) or accepts(where, a, b):
        return ""
    return elements_that_differ(a, b)


def _equal(a: object, b: object) -> bool:
    try:
        return bool(a == b)
    except Exception:  # the program's own, of items of a set, say
        return True


def elements_that_differ(a: np.ndarray, b: np.ndarray) -> str:
    """The first of the elements of ``b`` that are not those of NumPy's, and how many there are."""
    wrong = np.argwhere(~agreement(a, b))
    at = tuple(map(int, wrong[0]))
    text = f"{b[at]!r}; with NumPy {a[at]!r}"
    if a.ndim:
        text = f"is {b[at]!r} at {list(at)}; with NumPy {a[at]!r}"
    if a.dtype.kind in "fc":
        ulps = ulps_apart(np.asarray(a[at]), np.asarray(b[at]))
        text += f", {ulps:.3g} ulps apart"
    return text + (f"; {len(wrong)} of {a.size} elements differ" if a.size > 1 else "")


def _shown(x: SeenPart) -> str:
    if x.layout and isinstance(x.value, np.ndarray):
        return f"{x.kind.__name__} {x.value.dtype}{list(x.value.shape)}"
    if isinstance(x.value, np.ndarray):
        return repr(x.value.item())
    if x.kind in (int, str, bool, type(None), bytes):
        text = repr(x.value)
        return text if len(text) <= 60 else f"{text[:57]}..."
    size = f" of {len(x.value)}" if isinstance(x.value, tuple | frozenset) else ""
    return f"a {x.kind.__name__}{size}"


def _object(x: SeenPart) -> str:
    return f"the same object as {x.same_as}" if x.same_as else "an object of its own"


def _relation_difference(expected: Seen, found: Seen) -> str:
    for pair in (*expected.relations, *found.relations):
        if "base" in pair[1] and (pair[0], _CAPSULE) in expected.relations:
            continue
        before, now = (each.relations.get(pair, "") for each in (expected, found))
        if before != now:
            one, other = pair
            ours = now or "have no memory in common" if "base" not in other else now or "are not so"
            numpys = before or "do not"
            return f"{one} and {other}: {ours}; with NumPy they {numpys}"
    return ""


def arrays_in(given: Seen) -> dict[str, Any]:
    """The values of arrays and numbers by place."""
    return {where: x.value for where, x in given.parts.items() if isinstance(x.value, np.ndarray)}
