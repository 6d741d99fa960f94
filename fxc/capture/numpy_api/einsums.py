"""``np.einsum``: its subscripts in all their forms, the views that it gives, and ``out=``."""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.graph import Value
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim
from fxc.ops.metas.shapes import same_dim, same_shape

from ..arrays import shaping
from ..arrays.dtypes import dtype_of
from ..arrays.ufuncs import writable
from ..session.refusing import refuse
from ..session.session import current
from ..values.operands import array_value, kind_of, record, wrap
from .numpy_source import run_source

_LETTERS = string.ascii_uppercase + string.ascii_lowercase  # as NumPy counts numbers


def einsum(
    *operands: object,
    out: object = None,
    optimize: object = False,
    dtype: object = None,
    order: str = "K",
    casting: str = "safe",
) -> object:
    """As ``np.einsum``."""
    if optimize is not False:  # NumPy's code finds the order of contractions
        options = {"dtype": dtype, "order": order, "casting": casting}
        given = {name: value for name, value in options.items() if value != _DEFAULTS[name]}
        return run_source(np.einsum, operands, {"out": out, "optimize": optimize, **given})
    first, *xs = operands
    text = first.replace(" ", "") if isinstance(first, str) else ""
    if not isinstance(first, str):
        text, xs = _of_lists(operands)
    values = tuple(array_value(x) for x in xs)
    inputs, output = _labels(text, [value.type.rank for value in values])
    if len(values) == 1 and out is None and set(output) == set(inputs[0]):
        return _view(values[0], inputs[0], output)
    dtypes = {value.type.dtype for value in values}
    if order != "K" or (dtype is not None and dtypes != {dtype_of(dtype)}):
        raise refuse(NUMPY_OPTION, "np.einsum with order= or dtype=", "use copies")
    if casting not in ("safe", "same_kind", "unsafe") and len(dtypes) > 1:
        raise TypeError("einsum may not cast its operands")
    if out is not None:
        return _into(out, values, inputs, output)
    return record("einsum", values, subscripts=f"{','.join(inputs)}->{output}")


_DEFAULTS = {"dtype": None, "order": "K", "casting": "safe"}


def _into(out: Any, values: Sequence[Value], inputs: list[str], output: str) -> object:
    """``out``, which takes part in how NumPy walks its operands: as if there was none where it lies
    as the result would, but that axes are walked upwards along which all operands are reversed.
    """
    target = writable(out)
    summed = [label for label in dict.fromkeys("".join(inputs)) if label not in output]
    given = tuple(_turned(values, inputs, summed))
    subscripts = f"{','.join(inputs)}->{output}"
    found = current().dispatcher.meta("einsum", given, subscripts=subscripts)
    kind = kind_of(target)
    if found.dtype != kind.dtype or not same_shape(found.shape, kind.shape):
        raise refuse(NUMPY_OPTION, "np.einsum with out= of another dtype or shape")
    strides = found.strides if found.shape else ()
    sides = zip(kind.shape, kind.strides, strides, strict=True)
    if not all(size == 1 or same_dim(step, other) for size, step, other in sides):
        raise refuse(NUMPY_OPTION, "np.einsum with out= that lies otherwise than the result would")
    out[...] = record("einsum", given, subscripts=subscripts)
    return out


def _turned(values: Sequence[Value], inputs: list[str], summed: list[str]) -> Iterator[Value]:
    """The operands with all axes reversed along which all go downwards."""
    steps: dict[str, list[Dim]] = {label: [] for label in summed}
    for value, labels in zip(values, inputs, strict=True):
        kind = kind_of(value)
        for label in set(labels) & steps.keys():
            axes = [axis for axis, each in enumerate(labels) if each == label]
            if kind.shape[axes[0]] != 1:
                first, *others = (kind.strides[axis] for axis in axes)
                steps[label].append(sum(others, first))
    down = {label for label, each in steps.items() if all(guard(step, "<", 0) for step in each)}
    for value, labels in zip(values, inputs, strict=True):
        turned = tuple(axis for axis, label in enumerate(labels) if label in down)
        yield array_value(np.flip(wrap(value), turned)) if turned else value


def _of_lists(operands: Sequence[object]) -> tuple[str, list[object]]:
    """The subscripts of ``einsum(x, [0, 1], y, [1, 2], [0, 2])`` as a text, and the operands."""
    pairs = len(operands) // 2
    terms = [_term(each) for each in operands[1 : 2 * pairs : 2]]
    text = ",".join(terms)
    if len(operands) % 2:
        text += f"->{_term(operands[-1])}"
    return text, list(operands[: 2 * pairs : 2])


def _term(labels: object) -> str:
    if not isinstance(labels, list | tuple):
        raise TypeError("subscripts of einsum are texts or lists of numbers")
    if not all(label is Ellipsis or type(label) is int for label in labels):
        raise refuse(NUMPY_OPTION, "np.einsum with subscripts that are no numbers")
    if not all(label is Ellipsis or 0 <= label < len(_LETTERS) for label in labels):
        raise ValueError("subscript is not within the valid range [0, 52)")
    return "".join("..." if label is Ellipsis else _LETTERS[label] for label in labels)


def _labels(text: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The labels of each operand and of the result, with one for each axis of an ellipsis."""
    before, arrow, output = text.partition("->")
    terms = before.split(",")
    if len(terms) != len(ranks):
        raise ValueError("einsum takes subscripts for each operand")
    free = (letter for letter in _LETTERS if letter not in text)
    left_out = [
        rank - len(term) + 3 if "..." in term else 0
        for term, rank in zip(terms, ranks, strict=True)
    ]
    most = max(left_out)
    others = "".join(next(free, "") for _ in range(most))
    inputs = [
        term.replace("...", others[most - count :], 1)
        for term, count in zip(terms, left_out, strict=True)
    ]
    named = "".join(terms).replace("...", "")
    if not arrow:
        output = others + "".join(sorted(each for each in set(named) if named.count(each) == 1))
    else:
        output = output.replace("...", others, 1)
    is_whole = set(others) <= set(output) <= set("".join(inputs))
    letters = [*output, *"".join(inputs)]
    if min(left_out) < 0 or len(set(output)) < len(output) or not is_whole:
        raise ValueError("the subscripts of einsum do not fit its operands")
    if not set(letters) <= set(_LETTERS):
        raise ValueError("the subscripts of einsum are letters")
    return inputs, output


def _view(value: Value, labels: str, output: str) -> object:
    """The operand with its axes in another order; what has a label twice is a diagonal."""
    shape = kind_of(value).shape
    if len(labels) != len(shape):
        raise ValueError("the subscripts of einsum do not fit its operand")
    sizes = dict(zip(reversed(labels), reversed(shape), strict=True))
    if not all(same_dim(sizes[each], size) for each, size in zip(labels, shape, strict=True)):
        raise ValueError("einsum operands do not agree on the size of a diagonal")
    if len(labels) == len(output):
        found = shaping.transpose(wrap(value), [labels.index(label) for label in output])
        return found if labels else found[()]
    steps = tuple(int(label == each) for label in labels for each in output)
    return record("as_strided", value, tuple(map(sizes.get, output)), steps, writeable=True)
