"""What a caller sees of a call, and how two calls differ.

``run`` calls a function and keeps all that can be seen afterwards; ``difference`` compares two
such outcomes and says in words what differs first. Everything is compared: the containers and
Python types of results, dtype, shape, strides, writeability and every bit of every array, which
results and inputs are the same object or share memory, the inputs afterwards, and the exception.

A nan is a nan: its sign and payload are left open, as NumPy itself leaves them (they depend on
the order of operands that the compiler chose for its loops).
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

import fxc
from fxc.verifying.bits import agreement, same_bits, ulps_apart


@dataclass(frozen=True)
class Outcome:
    """The result or the exception of a call, and its arguments after it."""

    result: Any
    error: BaseException | None
    inputs: tuple[Any, ...]


def run(fn: Callable[..., Any], inputs: Sequence[Any]) -> Outcome:
    """Call ``fn(*inputs)``; floating-point warnings are not looked at."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return Outcome(fn(*inputs), None, tuple(inputs))
        except Exception as error:
            return Outcome(None, error, tuple(inputs))


def warnings_of(fn: Callable[..., Any], *inputs: Any) -> list[tuple[Any, ...]]:
    """What is warned of in a call, and where, but by fxc; at each call anew."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", fxc.CaptureWarning)
        fn(*inputs)
    return [(each.category, str(each.message), each.filename, each.lineno) for each in told]


_OF_TOO_FEW = ("Mean of empty slice", "Degrees of freedom <= 0 for slice", "All-NaN slice")


def is_left_to_python(fn: Callable[..., Any], inputs: Sequence[Any]) -> bool:
    """Whether NumPy warns in a call of an average of too few elements: Python runs those calls."""
    with warnings.catch_warnings(record=True) as told, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            fn(*inputs)
        except Exception:
            return False
    return any(str(each.message).startswith(_OF_TOO_FEW) for each in told)


# How far apart two floats may be, in ulps, and perhaps the parts of two complex numbers (else they
# have to agree); by the place of the array in the result.
Ulps = float | tuple[float, float]
Tolerance = Callable[[str], Ulps]


def exact(where: str) -> float:
    return 0.0


def difference(
    expected: Outcome, found: Outcome, ulps: Tolerance = exact, *, strides: bool = True
) -> str:
    """What the caller of ``found`` sees otherwise than the caller of ``expected``, or ''."""
    return next(iter(differences(expected, found, ulps, strides=strides).values()), "")


ASPECTS = ("exception", "value", "input mutation", "aliasing")


def differences(
    expected: Outcome, found: Outcome, ulps: Tolerance = exact, *, strides: bool = True
) -> dict[str, str]:
    """The first difference in each of the ``ASPECTS`` that have one."""
    texts: dict[str, str] = {}
    errors = [(type(each.error), str(each.error)) for each in (expected, found)]
    if errors[0] != errors[1]:
        texts["exception"] = f"raises {found.error!r}, NumPy {expected.error!r}"
    results = [list(leaves(each.result, "result")) for each in (expected, found)]
    inputs = [
        [leaf for k, x in enumerate(each.inputs) for leaf in leaves(x, f"argument {k}")]
        for each in (expected, found)
    ]
    for aspect, (left, right) in (("value", results), ("input mutation", inputs)):
        text = _first_difference(left, right, ulps, strides)
        if text:
            texts[aspect] = text
    if not texts:
        left, right = (result + given for result, given in zip(results, inputs, strict=True))
        text = _relations([x for _, x in left], [y for _, y in right], [where for where, _ in left])
        if text:
            texts["aliasing"] = text
    return texts


Leaf = tuple[str, Any]  # and its place


def _first_difference(left: list[Leaf], right: list[Leaf], ulps: Tolerance, strides: bool) -> str:
    if [where for where, _ in left] != [where for where, _ in right]:
        return f"gives {_skeleton(right)}, NumPy {_skeleton(left)}"
    for (where, x), (_, y) in zip(left, right, strict=True):
        text = leaf_difference(x, y, ulps(where), strides=strides)
        if text:
            return f"{where}: {text}"
        text = _around(x, y, ulps(where)) if where.startswith("argument") else ""
        if text:
            return f"memory around {where}: {text}"
    return ""


def _around(x: Any, y: Any, ulps: Ulps) -> str:
    """How the arrays that ``x`` and ``y`` are views of differ, if their elements are the same."""
    bases = getattr(x, "base", None), getattr(y, "base", None)
    if not all(type(base) is np.ndarray and base.dtype == x.dtype for base in bases):
        return ""
    return leaf_difference(*bases, ulps)


def leaves(tree: Any, where: str) -> Iterator[Leaf]:
    """The leaves of a result or argument by their place, which names the containers around them."""
    if isinstance(tree, tuple | list):
        for place, item in enumerate(tree):
            yield from leaves(item, f"{where}.{type(tree).__name__}[{place}]")
        if not tree:
            yield f"{where}.{type(tree).__name__}", None
    elif isinstance(tree, dict):
        for key, item in tree.items():
            yield from leaves(item, f"{where}[{key!r}]")
    elif is_dataclass(tree) or isinstance(tree, SimpleNamespace):
        for name, item in vars(tree).items():
            yield from leaves(item, f"{where}.{name}")
    elif isinstance(tree, np.random.Generator):
        yield f"{where}.state", repr(tree.bit_generator.state)
    elif isinstance(tree, np.random.RandomState):
        yield f"{where}.state", repr(tree.get_state(legacy=False))
    elif isinstance(tree, random.Random):
        yield f"{where}.state", repr(tree.getstate())
    elif isinstance(tree, FunctionType):  # each run makes one of its own
        yield f"{where}.__code__", tree.__code__
    else:
        yield where, tree


def _skeleton(found: list[Leaf]) -> str:
    return ", ".join(where for where, _ in found) or "nothing"


def leaf_difference(x: Any, y: Any, ulps: Ulps = 0.0, *, strides: bool = True) -> str:
    """How ``y`` differs from what NumPy gave, or ''."""
    if type(x) is not type(y):
        return f"a {type(y).__name__} {y!r}, NumPy gives a {type(x).__name__} {x!r}"
    if not isinstance(x, np.ndarray | np.generic):
        same = (
            same_bits(np.asarray(x), np.asarray(y))
            if isinstance(x, float | complex)
            else bool(x == y)
        )
        return "" if same else f"{y!r}, NumPy gives {x!r}"
    for what in ("dtype", "shape"):
        if getattr(x, what) != getattr(y, what):
            return f"{what} {getattr(y, what)}, NumPy gives {getattr(x, what)}"
    if isinstance(x, np.ndarray):
        if strides and _strides(x) != _strides(y):
            return f"strides {y.strides}, NumPy gives {x.strides}, shape {x.shape}"
        if x.flags.writeable != y.flags.writeable:
            return f"writeable is {y.flags.writeable}, with NumPy {x.flags.writeable}"
    a, b = np.asarray(x), np.asarray(y)
    if same_bits(a, b):
        return ""
    floats, complexes = ulps if isinstance(ulps, tuple) else (ulps, 0.0)
    allowed = {"f": floats, "c": complexes}.get(a.dtype.kind, 0.0)
    if allowed and ulps_apart(a, b) <= allowed:
        return ""
    return _values(a, b)


def _strides(x: np.ndarray) -> tuple[int, ...]:
    """The strides that matter: not those of axes with one element."""
    if x.size == 0:
        return ()
    return tuple(step for size, step in zip(x.shape, x.strides, strict=True) if size > 1)


def _values(a: np.ndarray, b: np.ndarray) -> str:
    """The first elements that differ."""
    wrong = np.argwhere(~agreement(a, b))
    at = tuple(wrong[0])
    text = f"{len(wrong)} of {a.size} elements differ, first at {tuple(map(int, at))}: "
    text += f"{b[at]!r}, NumPy gives {a[at]!r}"
    if a.size <= 24:
        text += f"\n  NumPy: {a.tolist()}\n  fxc:   {b.tolist()}"
    return text


def _is_of_windows(x: np.ndarray) -> bool:
    """Whether the base is a helper object of as_strided's, see ``.base`` in docs/numerics.md."""
    return x.base is not None and not isinstance(x.base, np.ndarray)


def _relations(left: list[Any], right: list[Any], names: list[str]) -> str:
    """Which objects are the same, which share memory and from where on, and who is whose base."""
    arrays = [k for k, x in enumerate(left) if isinstance(x, np.ndarray)]
    related = _near([left[k] for k in arrays]) | _near([right[k] for k in arrays])
    for a, b in np.argwhere(np.triu(related, 1)):
        i, j = arrays[a], arrays[b]
        pair = f"{names[i]} and {names[j]}"
        if (left[i] is left[j]) != (right[i] is right[j]):
            return f"{pair}: one object is {right[i] is right[j]}, with NumPy {left[i] is left[j]}"
        if _share(left[i], left[j]) != _share(right[i], right[j]):
            return f"{pair}: sharing memory is {_share(right[i], right[j])}, NumPy's opposite"
        if _share(left[i], left[j]) and _offset(left[i], left[j]) != _offset(right[i], right[j]):
            return f"{pair}: {_offset(right[i], right[j])} bytes apart, NumPy's otherwise"
        for x, y in ((i, j), (j, i)):
            if _is_of_windows(left[y]):
                continue
            if (left[x].base is left[y]) != (right[x].base is right[y]):
                base = f"{names[y]} is the base of {names[x]}"
                return f"{base}: {right[x].base is right[y]}, with NumPy {left[x].base is left[y]}"
    return ""


def _near(arrays: list[np.ndarray]) -> np.ndarray:
    """Which two of them may have something in common: that is asked of these alone, for there are
    many pairs. Their memory may be the same, or they are one object, or the base of the other.
    """
    low, high = np.array([byte_bounds(x) for x in arrays]).reshape(-1, 2).T
    objects = np.array([id(x) for x in arrays])
    bases = np.array([id(x.base) for x in arrays])
    found: np.ndarray = (low[:, None] < high) & (low < high[:, None])
    found |= objects[:, None] == objects
    based = bases[:, None] == objects
    return found | based | based.T


def _share(a: np.ndarray, b: np.ndarray) -> bool:
    try:
        return np.shares_memory(a, b, max_work=20000)
    except np.exceptions.TooHardError:
        return np.may_share_memory(a, b)


def _offset(a: np.ndarray, b: np.ndarray) -> int:
    """From the first element of one to that of the other."""
    return int(b.__array_interface__["data"][0] - a.__array_interface__["data"][0])
