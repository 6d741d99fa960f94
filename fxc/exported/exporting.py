"""``fxc.export``: from a call to a program of its own.

See Note [Arguments of an exported program].
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any

import numpy as np

from fxc.capture.capture import Terms, capture
from fxc.capture.captured import Captured
from fxc.ir.error_kinds import EXPORT_CALL, FIXED_SIZES
from fxc.ir.errors import CaptureWarning, numbered, uncapturable
from fxc.ir.graph import Graph
from fxc.ir.tracebacks import folded
from fxc.ir.tree import TreeSpec, flatten, unflatten
from fxc.ir.types import ArrayType
from fxc.pipeline.step_logs import logging_steps

from .arguments import BY_VALUE, leaf_names
from .file import ArgumentLeaf, Fixed, GivenInput, SavedProgram, Unread
from .objects import NAMED
from .program import ExportedProgram


@folded
def export(
    fn: Callable[..., Any], /, *args: object, dynamic: bool = False, **kwargs: object
) -> ExportedProgram:
    """The call ``fn(*args, **kwargs)`` as a program for all arguments of these types.

    Nothing is run and no argument is changed. Arrays, floats and ints are inputs of the program.
    What decided how the function ran is part of it: flags, strings, the ints 0 and 1, numbers that
    an ``if`` asked for, and the values of globals that are numbers. ``dynamic`` makes the sizes of
    arrays symbols; otherwise they are part of the program, too. Sizes that decide how the function
    runs stay numbers, and a ``CaptureWarning`` names them.

    Raises ``CaptureError`` if the function cannot be captured as a whole, or reads arrays that are
    no arguments.

    >>> import numpy as np
    >>> def smooth(u, weight):
    ...     u[1:-1] += weight * (u[:-2] - 2 * u[1:-1] + u[2:])
    >>> program = export(smooth, np.zeros(4), 0.5, dynamic=True)
    >>> u = np.array([0.0, 0.0, 8.0, 0.0, 0.0, 0.0])
    >>> program(u, 0.25)
    >>> u
    array([0., 2., 4., 2., 0., 0.])
    """
    fn = _original(fn)
    leaves, in_spec = flatten((args, kwargs))
    own_args, own_kwargs = unflatten(in_spec, _own_views(leaves))
    captured = capture(fn, own_args, own_kwargs, Terms(dynamic, effects=False))
    if captured.overlaps.inputs:
        texts = (captured.inputs[place].text for place in captured.overlaps.inputs.values())
        raise uncapturable(
            EXPORT_CALL,
            f"{' and '.join(texts)} share memory and one of them is written, which cannot be "
            "exported; pass arrays that do not overlap",
        )
    parameters = _parameters(fn, len(args))
    names = leaf_names(in_spec, parameters)
    places = _places(captured, in_spec, leaves)
    kept = tuple(
        _argument_leaf(leaf, place, name)
        for leaf, place, name in zip(leaves, places, names, strict=True)
    )
    with logging_steps(captured.graph.name):
        graph = _functional(captured)
    if dynamic:
        _warn_of_fixed_sizes(graph, kept, names)
    return ExportedProgram(SavedProgram(graph, in_spec, captured.out_spec, parameters, kept))


def _warn_of_fixed_sizes(graph: Graph, kept: Sequence[ArgumentLeaf], names: Sequence[str]) -> None:
    """Sizes 0 and 1 are numbers in any case, see Note [Guards on symbols]."""
    fixed = []
    for leaf, name in zip(kept, names, strict=True):
        kind = graph.inputs[leaf.input].type if isinstance(leaf, GivenInput) else None
        if isinstance(kind, ArrayType):
            sizes = enumerate(kind.shape)
            fixed += [
                f"{name}.shape[{axis}] = {n}" for axis, n in sizes if type(n) is int and n > 1
            ]
    if fixed:
        why = "it decides by these sizes or layouts"
        text = f"{graph.name} is exported for {', '.join(fixed)} alone: {why}"
        warnings.warn(CaptureWarning(numbered(FIXED_SIZES, text)), stacklevel=3)


def _original(fn: object) -> Any:
    """The function behind what ``fxc.compile`` made."""
    if isinstance(fn, MethodType) and hasattr(fn.__func__, "__fxc_original__"):
        return MethodType(fn.__func__.__fxc_original__, fn.__self__)
    return getattr(fn, "__fxc_original__", fn)


def _own_views(leaves: Sequence[Any]) -> list[Any]:
    """The leaves with a new array object for each array.

    An array that the function reads from outside is thereby not taken for an argument, although
    it was passed as one in this call.
    """
    views: dict[int, np.ndarray] = {}
    return [
        views.setdefault(id(leaf), leaf.view()) if type(leaf) is np.ndarray else leaf
        for leaf in leaves
    ]


def _parameters(fn: Any, count: int) -> tuple[str, ...]:
    """The names of the first positional parameters."""
    try:
        declared = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):  # many builtins have none
        declared = []
    names = [p.name for p in declared if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in declared if p.kind is p.VAR_POSITIONAL), "args")
    names = names[:count]
    return (*names, *(f"{rest}[{place}]" for place in range(count - len(names))))


def _places(captured: Captured, in_spec: TreeSpec, leaves: Sequence[Any]) -> list[int | None]:
    """For each leaf the input that it is given to, if there is one."""
    marks = [object() for _ in range(in_spec.leaf_count)]
    number = {id(mark): place for place, mark in enumerate(marks)}
    args, kwargs = unflatten(in_spec, marks)
    found: list[int | None] = [None] * len(marks)
    for place, mark in enumerate(captured.guards.fetched(args, kwargs)):
        if id(mark) not in number:
            what = captured.inputs[place].text
            raise uncapturable(
                EXPORT_CALL,
                f"{captured.graph.name} reads {what} from outside, which cannot be exported; "
                "pass it as an argument",
            )
        found[number[id(mark)]] = place
    first = {
        id(leaf): place for leaf, place in zip(leaves, found, strict=True) if place is not None
    }
    return [
        first.get(id(leaf), place) if type(leaf) is np.ndarray else place
        for leaf, place in zip(leaves, found, strict=True)
    ]


def _argument_leaf(value: object, place: int | None, name: str) -> ArgumentLeaf:
    if place is not None:
        return GivenInput(place, 2 if type(value) is int and value >= 2 else None)
    if isinstance(value, np.ndarray):
        return Unread()
    if isinstance(value, (*NAMED, *BY_VALUE)):
        return Fixed(value)
    kind = type(value).__name__
    raise uncapturable(
        EXPORT_CALL,
        f"{name} is a {kind}, which cannot be exported; pass the arrays and numbers it holds",
    )


def _functional(captured: Captured) -> Graph:
    from fxc.pipeline.stages import functional_graph

    return functional_graph(captured)
