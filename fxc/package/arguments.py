"""Arguments of a call: whether the program is for them. Raises as ``fxc.ExportedProgram`` does.

Needs only NumPy.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from .trees import LEAF, flatten, leaf_names
from .values import Size, size_of, sizes_of, value_of

_PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}
_INT64 = range(-(2**63), 2**63)
_COMPARED = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_MOST_WORK: Any = 100_000  # to find out whether arrays have an element in common


class ArrayInput:
    """An input that is an array; ``shown`` is its shape for messages."""

    def __init__(self, name: str, shown: Mapping[str, Any]) -> None:
        self.name = name
        self.dtype = np.dtype(shown["dtype"])
        self.shape: list[Size] = shown["shape"]
        self.strides: list[Size] = shown["strides"]
        self.writeable: bool = shown["writeable"]
        self.shown: str = shown["shown"]

    def check(self, given: Any) -> None:
        """Whether it is such an array, whatever its sizes are."""
        name = self.name
        if type(given) is not np.ndarray:
            raise TypeError(f"{name} must be an array, it is {kind_of(given)}")
        if given.dtype != self.dtype:
            raise TypeError(f"{name} must have the dtype {self.dtype}, it has {given.dtype}")
        if given.ndim != len(self.shape):
            wanted = f"{len(self.shape)} dimensions"
            raise ValueError(f"{name} must have {wanted}, it has {given.ndim}")
        flags = given.flags
        if not flags.aligned:
            raise ValueError(f"{name} must be aligned in memory, it is not; pass a copy")
        if flags.writeable != self.writeable:
            words = ("read-only", "writeable")
            wanted, found = words[self.writeable], words[flags.writeable]
            raise ValueError(f"{name} must be {wanted}, as when it was exported; it is {found}")


class NumberInput:
    """An input that is a number: of a type of Python's, or of a dtype."""

    def __init__(self, name: str, shown: Mapping[str, Any], at_least: int | None) -> None:
        self.name, self.at_least = name, at_least
        self.kind: type | None = _PYTHON[shown["kind"]] if "kind" in shown else None
        self.dtype = None if "kind" in shown else np.dtype(shown["dtype"])

    def check(self, given: Any) -> None:
        """Whether it is such a number."""
        name, number = self.name, given
        if self.kind is None:
            if not isinstance(given, np.generic) or given.dtype != self.dtype:
                expected = f"a NumPy scalar of dtype {self.dtype}"
                raise TypeError(f"{name} must be {expected}, it is {kind_of(given)}")
        elif type(given) is not self.kind:
            wanted = self.kind.__name__
            raise TypeError(f"{name} must be of type {wanted}, it is {kind_of(given)}")
        elif self.kind is int and given not in _INT64:
            raise ValueError(f"{name} must fit in 64 bits, it is {given}")
        elif self.at_least is not None and self.at_least > number:
            wanted = f"{self.at_least} or more"
            raise ValueError(f"{name} must be {wanted} in this program, it is {given}")


class Arguments:
    """What a program takes, as its manifest says."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self.name: str = manifest["name"]
        self._parameters: list[str] = manifest["parameters"]
        positional, keywords = manifest["arguments"]["tuple"]
        self._positional: list[Any] = positional["tuple"]
        self._keywords = {str(value_of(k, {})): s for k, s in _pairs(keywords)}
        self._specs = [*zip(self._positional, self._parameters, strict=True)]
        self._specs += [(spec, name) for name, spec in self._keywords.items()]
        names = [name for spec, first in self._specs for name in leaf_names(spec, first)]
        self._leaves = [*zip(manifest["leaves"], names, strict=True)]
        first: dict[int, tuple[str, Any]] = {}
        for leaf, name in self._leaves:
            if "input" in leaf:
                first.setdefault(leaf["input"], (name, leaf.get("at_least")))
        shown = manifest["inputs"]
        self.inputs = [_input(shown[place], *first[place]) for place in range(len(shown))]
        self.symbols: list[tuple[int, int | None, bool, str, int | None]] = [
            (place, axis, is_stride, symbol, low)
            for place, axis, is_stride, symbol, low in manifest["symbols"]
        ]
        self._guards = manifest["guards"]
        self.written: list[int] = manifest["written"]
        arrays = [p for p, x in enumerate(self.inputs) if isinstance(x, ArrayInput)]
        written = frozenset(self.written)
        self.pairs = [pair for pair in combinations(arrays, 2) if not written.isdisjoint(pair)]

    @property
    def is_plain(self) -> bool:
        """Whether the positional arguments are the inputs, in order, and there are no more."""
        places = [leaf.get("input") for leaf, _ in self._leaves]
        return (
            not self._keywords
            and all(spec == LEAF for spec in self._positional)
            and places == [*range(len(self.inputs))]
        )

    @property
    def guards(self) -> list[tuple[Size, str, Size]]:
        """The relations of sizes that have to hold."""
        return [(each["left"], each["relation"], each["right"]) for each in self._guards]

    def inputs_of(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], dict[str, int]]:
        """The inputs of the program and the values of its symbols.

        Raises for arguments that it is not for.
        """
        given = self._given(args, kwargs)
        inputs: list[Any] = [None] * len(self.inputs)
        seen: set[int] = set()
        for (leaf, name), value in zip(self._leaves, given, strict=True):
            if "input" in leaf:
                place = leaf["input"]
                if place in seen:
                    if inputs[place] is not value:
                        first = self.inputs[place].name
                        raise ValueError(f"{name} must be the same array as {first}, it is another")
                    continue
                self.inputs[place].check(value)
                inputs[place] = value
                seen.add(place)
            elif "fixed" in leaf:
                _check_fixed(value, value_of(leaf["fixed"], {}), name)
        known = self._known(inputs)
        self._check_sizes(inputs, known)
        self._refuse_overlap(inputs)
        return inputs, known

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The leaves of positional and keyword arguments."""
        parameters = self._parameters
        arranged: Sequence[Any] = args
        if kwargs or len(args) != len(parameters) or self._keywords:
            arranged = self._arranged(args, kwargs)
        leaves: list[Any] = []
        for (spec, name), value in zip(self._specs, arranged, strict=True):
            flatten(value, spec, name, leaves)
        return leaves

    def _arranged(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        name, parameters = self.name, self._parameters
        if len(args) > len(parameters):
            wanted = f"{len(parameters)} positional argument{'s' * (len(parameters) != 1)}"
            raise TypeError(f"{name}() takes {wanted}, {len(args)} were given")
        rest = dict(kwargs)
        missing = [p for p in parameters[len(args) :] if p not in rest]
        arranged = [*args]
        arranged += [rest.pop(p) for p in parameters[len(args) :] if p in rest]
        missing += [key for key in self._keywords if key not in rest]
        if missing:
            raise TypeError(f"{name}() is called without {', '.join(missing)}")
        extra = [key for key in rest if key not in self._keywords]
        if extra:
            raise TypeError(
                f"{name}() was exported without {', '.join(extra)}, and takes no such argument"
            )
        return [*arranged, *(rest[key] for key in self._keywords)]

    def _known(self, inputs: Sequence[Any]) -> dict[str, int]:
        """The value of each symbol."""
        known: dict[str, int] = {}
        for place, axis, is_stride, symbol, low in self.symbols:
            if axis is None:
                known[symbol] = inputs[place]
                continue
            array = inputs[place]
            size = normal_strides(array)[axis] if is_stride else array.shape[axis]
            known[symbol] = size
            if low is not None and size < low:
                what = f"{self.inputs[place].name}.{'strides' if is_stride else 'shape'}[{axis}]"
                raise ValueError(f"{what} must be {low} or more, it is {size}")
        return known

    def _check_sizes(self, inputs: Sequence[Any], known: Mapping[str, int]) -> None:
        pairs = [
            (each, given)
            for each, given in zip(self.inputs, inputs, strict=True)
            if isinstance(each, ArrayInput)
        ]
        for each, given in pairs:
            if given.shape != sizes_of(each.shape, known):
                raise ValueError(
                    f"{each.name} must have the shape {each.shown}, it has {given.shape}"
                )
        for guard in self._guards:
            left, right = size_of(guard["left"], known), size_of(guard["right"], known)
            if not _COMPARED[guard["relation"]](left, right):
                found = ", ".join(f"{text} = {known[name]}" for text, name in guard["given"])
                raise ValueError(
                    f"{self.name}() is for calls with {guard['text']}, this has {found}"
                )
        for each, given in pairs:
            strides = sizes_of(each.strides, known)
            if given.strides != strides and normal_strides(given) != strides:
                raise ValueError(
                    f"{each.name} must lie in memory with the strides {strides}, it has "
                    f"{given.strides}; export with an array of this layout, or pass a copy"
                )

    def _refuse_overlap(self, inputs: Sequence[Any]) -> None:
        """Raise if a written input has an element in common with another, or with itself."""
        for place in self.written:
            if _overlaps_itself(inputs[place]):
                raise ValueError(
                    f"several elements of {self.inputs[place].name} lie at one place in memory, "
                    f"and {self.name}() writes it; pass a copy"
                )
        for pair in self.pairs:
            left, right = inputs[pair[0]], inputs[pair[1]]
            if np.may_share_memory(left, right) and not _apart(left, right):
                names = [self.inputs[place].name for place in pair]
                raise ValueError(
                    f"{names[0]} and {names[1]} share memory and one of them is written; "
                    f"{self.name}() is for arrays that do not overlap"
                )


def _pairs(keywords: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    return [*zip(keywords["keys"], keywords["dict"], strict=True)]


def _input(shown: Mapping[str, Any], name: str, at_least: int | None) -> ArrayInput | NumberInput:
    return ArrayInput(name, shown) if "shape" in shown else NumberInput(name, shown, at_least)


def normal_strides(array: np.ndarray) -> tuple[int, ...]:
    """The strides of an array; those without meaning are as in C order."""
    shape, strides = array.shape, [*array.strides]
    step = array.itemsize
    empty = 0 in shape
    for axis in range(len(shape) - 1, -1, -1):
        if empty or shape[axis] == 1:
            strides[axis] = step
        if not empty or shape[axis] != 0:
            step = strides[axis] * shape[axis]
    return tuple(strides)


def _overlaps_itself(x: np.ndarray) -> bool:
    """Whether two elements of an array lie at one place in memory, or may."""
    reach = x.itemsize
    for step, size in sorted(zip(map(abs, x.strides), x.shape, strict=True)):
        if size > 1 and step < reach:
            return x.size > 0
        reach += (size - 1) * step
    return False


def _apart(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two arrays have no element in common; False where that is hard to know."""
    try:
        return not np.shares_memory(x, y, max_work=_MOST_WORK)
    except Exception:  # TooHardError, which older versions of NumPy have elsewhere
        return False


def _check_fixed(value: object, known: object, name: str) -> None:
    if value is known or _same(value, known):
        return
    text = f"{name} is {brief(known)} in this program, and cannot be {brief(value)}"
    raise ValueError(text) if type(value) is type(known) else TypeError(text)


def _same(x: Any, known: Any) -> bool:
    """Whether two plain values are of one type and of the same bits."""
    if type(x) is not type(known):
        return False
    if isinstance(known, float):
        if known != known:
            return bool(x != x)
        return bool(x == known) and math.copysign(1.0, x) == math.copysign(1.0, known)
    if isinstance(known, complex):
        return _same(x.real, known.real) and _same(x.imag, known.imag)
    if isinstance(known, np.generic):
        return bool(x.dtype == known.dtype) and x.tobytes() == known.tobytes()
    if isinstance(known, (tuple, list)):
        return len(x) == len(known) and all(map(_same, x, known))
    return bool(x == known)


def brief(value: object) -> str:
    """A value, as messages show it."""
    if isinstance(value, np.ndarray):
        return f"an array {value.dtype}{list(value.shape)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def kind_of(value: object) -> str:
    """What a value is, as messages call it."""
    if isinstance(value, np.ndarray):
        return "an array" if type(value) is np.ndarray else f"a {type(value).__name__}"
    if isinstance(value, np.generic):
        return f"a NumPy scalar of dtype {value.dtype}"
    name = type(value).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"
