"""Explicit control flow: ``fxc.cond``, ``fxc.fori_loop``, ``fxc.while_loop``, ``fxc.scan``.

They are staged like functions of the program: what they do in Python says what is captured.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from fxc.ir.tree import LEAF, TreeSpec, children_of, flatten, unflatten

from ..arrays.traced_array import TracedArray
from ..outside.containers import External
from ..session.locations import as_program
from ..session.session import Session, current_or_none

# Note [Results of regions]
# What fxc.cond and the loops return are new arrays, in C order, that share memory with nothing
# else; the arrays that a loop carries are copies of the initial ones, which nobody outside sees
# written.


@as_program
def cond(
    pred: object, on_true: Callable[..., Any], on_false: Callable[..., Any], *xs: object
) -> object:
    """``on_true(*xs) if pred else on_false(*xs)``, also where ``pred`` is not known in capture.

    >>> import numpy as np
    >>> cond(True, lambda x: x + 1, lambda x: x, np.array([1, 2]))
    array([2, 3])
    """
    if pred:
        results, spec = _fresh(on_true(*xs))
    else:
        results, spec = _fresh(on_false(*xs))
    return unflatten(spec, results)


@as_program
def fori_loop(lo: Any, hi: Any, body: Callable[[Any, Any], Any], init: object) -> object:
    """``for i in range(lo, hi): init = body(i, init)``; gives the last ``init``.

    ``init`` is an array, a scalar or a container of them; ``body`` returns the same.

    >>> import numpy as np
    >>> fori_loop(0, 3, lambda i, x: 2 * x + i, np.array([1, 2]))
    array([12, 20])
    """
    state, spec = _fresh(init)
    for i in range(lo, hi):
        state, spec = _fresh(body(i, unflatten(spec, state)), state)
    return unflatten(spec, state)


@as_program
def while_loop(test: Callable[[Any], Any], body: Callable[[Any], Any], init: object) -> object:
    """``while test(init): init = body(init)``; gives the last ``init``.

    ``init`` is an array, a scalar or a container of them; ``body`` returns the same. ``test``
    returns a scalar.

    >>> import numpy as np
    >>> while_loop(lambda x: x.sum() < 40, lambda x: 2 * x, np.array([1, 2]))
    array([16, 32])
    """
    state, spec = _fresh(init)
    while test(unflatten(spec, state)):
        state, spec = _fresh(body(unflatten(spec, state)), state)
    return unflatten(spec, state)


@as_program
def scan(f: Callable[[Any, Any], tuple[Any, Any]], init: object, xs: object) -> tuple[Any, Any]:
    """``init, y = f(init, x)`` for each ``x`` along the first axis of ``xs``, an array or a
    container of them; gives the last ``init``, and each ``y`` in arrays with one more axis.

    >>> import numpy as np
    >>> scan(lambda total, x: (total + x, 2 * x), np.float64(0), np.array([1.0, 2.0, 4.0]))
    (np.float64(7.0), array([2., 4., 8.]))
    """
    parts, spec_of_x = _leaves(xs)
    counts = [part.shape[0] for part in parts]
    if not counts or counts[0] == 0 or any(count != counts[0] for count in counts):
        raise ValueError(f"fxc.scan: arrays of {counts} elements; all need the same, at least one")
    state, spec = _fresh(init)
    carry, y = f(unflatten(spec, state), unflatten(spec_of_x, [part[0] for part in parts]))
    state, spec = _fresh(carry, state)
    ys, spec_of_y = _leaves(y)
    outs = [np.empty((counts[0], *np.shape(y)), np.asarray(y).dtype) for y in ys]
    _store(outs, spec_of_y, 0, y)
    for i in range(1, counts[0]):
        carry, y = f(unflatten(spec, state), unflatten(spec_of_x, [part[i] for part in parts]))
        state, spec = _fresh(carry, state)
        _store(outs, spec_of_y, i, y)
    return unflatten(spec, state), unflatten(spec_of_y, outs)


def _store(outs: list[Any], spec: TreeSpec, i: object, y: object) -> None:
    """Store what the function of a scan has returned for one element."""
    parts, found = _leaves(y)
    if found != spec:
        raise ValueError("fxc.scan: the function returns results of different structure")
    for out, part in zip(outs, parts, strict=True):
        out[i] = part


def _fresh(tree: object, before: Sequence[object] = ()) -> tuple[tuple[Any, ...], TreeSpec]:
    """The leaves, with arrays copied, but for those that a loop has had at the same place
    ``before``; and the spec. See Note [Results of regions].
    """
    leaves, spec = _leaves(tree)
    pairs = zip_longest(leaves, before[: len(leaves)])
    return tuple([x.copy("C") if _is_array(x) and x is not y else x for x, y in pairs]), spec


def _is_array(x: object) -> bool:
    return isinstance(x, np.ndarray | TracedArray)


def _leaves(tree: object) -> tuple[list[Any], TreeSpec]:
    """The leaves of a pytree and its spec: in a capture, the same one for all of its text."""
    session = current_or_none()
    if session is None:
        return flatten(tree)
    leaves, spec = flatten(_own(session, tree))
    return leaves, _same(spec, repr(spec))


@functools.lru_cache(maxsize=256)
def _same(spec: TreeSpec, _: str) -> TreeSpec:
    """One of equal specs for branches and loops, which tell objects by what they are; a key of 1
    is another than one of 1.0.
    """
    return spec


def _own(session: Session, tree: object) -> object:
    """A pytree in which nothing stands for a container or an object from outside."""
    if isinstance(tree, External):
        kind: Any = list if isinstance(tree, list) else dict
        return _own(session, kind(tree))
    found = session.door.parts_of(tree) if session.door is not None else children_of(tree)
    if found is None or tree is None:
        return tree
    keys, children = found
    spec = TreeSpec(type(tree), keys, (LEAF,) * len(children))
    return unflatten(spec, [_own(session, child) for child in children])
