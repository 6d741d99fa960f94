"""Arguments of an exported program: whether the program is for them, and what messages call them.

See Note [Arguments of an exported program].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fxc.capture.guards.facts import same_value
from fxc.ir.error_kinds import PROGRAM_ARGUMENT
from fxc.ir.errors import UsageError, UsageTypeError
from fxc.ir.graph import Value
from fxc.ir.objects import is_writeable
from fxc.ir.size_functions import evaluate
from fxc.ir.symbols import Dim
from fxc.ir.tree import LEAF, NONE, TreeSpec, registration
from fxc.ir.types import ArrayType, normal_strides
from fxc.package.arguments import brief, kind_of

_INT64 = range(-(2**63), 2**63)

BY_VALUE = (bool, int, float, complex, str, bytes, range, slice, type(...), np.generic, np.dtype)


def check_fixed(value: object, known: object, name: str) -> None:
    if value is known or (isinstance(known, BY_VALUE) and same_value(value, known)):
        return
    same_kind = type(value) is type(known)
    text = f"{name} is {brief(known)} in this program, and cannot be {brief(value)}"
    raise (
        UsageError(PROGRAM_ARGUMENT, text) if same_kind else UsageTypeError(PROGRAM_ARGUMENT, text)
    )


def check_kind(given: object, value: Value, at_least: int | None, name: str) -> None:
    """Compare what was given for an input with the input's type, except for sizes."""
    kind = value.type
    if isinstance(kind, ArrayType):
        _check_array(given, kind, name)
    elif not kind.weak:
        if not isinstance(given, np.generic) or given.dtype != kind.dtype:
            expected = f"a NumPy scalar of dtype {kind.dtype}"
            raise UsageTypeError(
                PROGRAM_ARGUMENT, f"{name} must be {expected}, it is {kind_of(given)}"
            )
    elif type(given) is not kind.python_type:
        raise UsageTypeError(
            PROGRAM_ARGUMENT,
            f"{name} must be of type {kind.python_type.__name__}, it is {kind_of(given)}",
        )
    elif isinstance(given, int) and given not in _INT64:
        raise UsageError(PROGRAM_ARGUMENT, f"{name} must fit in 64 bits, it is {given}")
    elif isinstance(given, int) and at_least is not None and given < at_least:
        raise UsageError(
            PROGRAM_ARGUMENT, f"{name} must be {at_least} or more in this program, it is {given}"
        )


def _check_array(given: object, kind: ArrayType, name: str) -> None:
    if type(given) is not np.ndarray:
        raise UsageTypeError(PROGRAM_ARGUMENT, f"{name} must be an array, it is {kind_of(given)}")
    if given.dtype != kind.dtype:
        raise UsageTypeError(
            PROGRAM_ARGUMENT, f"{name} must have the dtype {kind.dtype}, it has {given.dtype}"
        )
    if given.ndim != kind.rank:
        raise UsageError(
            PROGRAM_ARGUMENT, f"{name} must have {kind.rank} dimensions, it has {given.ndim}"
        )
    if not given.flags.aligned:
        raise UsageError(
            PROGRAM_ARGUMENT, f"{name} must be aligned in memory, it is not; pass a copy"
        )
    if is_writeable(given) != kind.writeable:
        words = ("read-only", "writeable")
        wanted, found = words[kind.writeable], words[is_writeable(given)]
        raise UsageError(
            PROGRAM_ARGUMENT, f"{name} must be {wanted}, as when it was exported; it is {found}"
        )


def dims_with_names(kind: ArrayType, array: np.ndarray | None) -> Iterator[tuple[Dim, int, str]]:
    """Each dim and stride of a type, its value in an array, and how people write it."""
    sizes = (0,) * kind.rank if array is None else array.shape
    steps = sizes
    if array is not None:
        steps = tuple(
            evaluate(step, {}) for step in normal_strides(sizes, array.strides, array.itemsize)
        )
    for word, dims, values in (("shape", kind.shape, sizes), ("strides", kind.strides, steps)):
        for axis, (dim, size) in enumerate(zip(dims, values, strict=True)):
            yield dim, size, f"{word}[{axis}]"


def differences(wanted: TreeSpec, found: TreeSpec, name: str) -> Iterator[tuple[str, str, str]]:
    """Where two pytrees differ: the place, what is expected, what is given."""
    if wanted == found:
        return
    same = wanted.container is found.container and wanted.keys == found.keys
    if not same or len(wanted.children) != len(found.children):
        yield name, _describe(wanted), _describe(found)
    else:
        pairs = zip(wanted.children, found.children, strict=True)
        for place, (left, right) in enumerate(pairs):
            yield from differences(left, right, part_name(wanted, place, name))


def _describe(spec: TreeSpec) -> str:
    if spec == LEAF:
        return "an array or a number"
    if spec == NONE:
        return "None"
    assert spec.container is not None
    kind = spec.container.__name__
    if spec.container is dict:
        return f"a dict with the keys {list(spec.keys)}"
    return f"a {kind}" if spec.keys else f"a {kind} of {len(spec.children)}"


def leaf_names(in_spec: TreeSpec, parameters: Sequence[str]) -> list[str]:
    """What messages call the leaves of ``(args, kwargs)``: ``x``, ``pair[0]``, ``opts['tol']``."""
    positional, keywords = in_spec.children
    names: list[str] = []
    for spec, name in zip(positional.children, parameters, strict=True):
        names += names_below(spec, name)
    for spec, key in zip(keywords.children, keywords.keys, strict=True):
        names += names_below(spec, str(key))
    return names


def names_below(spec: TreeSpec, name: str) -> Iterator[str]:
    """What messages call the leaves of a pytree that is called ``name``."""
    if spec == LEAF:
        yield name
    for place, child in enumerate(spec.children):
        yield from names_below(child, part_name(spec, place, name))


def part_name(spec: TreeSpec, place: int, name: str) -> str:
    if len(spec.keys) != len(spec.children) or registration(spec.container) is not None:
        return f"{name}[{place}]"
    key = spec.keys[place]
    return f"{name}[{key!r}]" if spec.container is dict else f"{name}.{key}"
