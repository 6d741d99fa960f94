"""``fxc.functionalize``: a function without effects on its arguments, run by NumPy."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from fxc.capture.capture import Terms, capture
from fxc.capture.captured import Captured
from fxc.ir.error_kinds import ARGUMENT
from fxc.ir.errors import UsageTypeError, a_kind
from fxc.ir.evaluate import call, viewed
from fxc.ir.graph import Graph
from fxc.ir.records import frozen
from fxc.ir.tree import unflatten
from fxc.ops.kernels import kernel_of

from .ir.tracebacks import folded
from .pipeline.stages import functional_graph
from .pipeline.step_logs import logging_steps

P = ParamSpec("P")
R = TypeVar("R")


@folded
def functionalize(fn: Callable[P, R]) -> Functionalized[P, R]:
    """``fn`` as a pure function: it changes no array, and gives the new content of those that
    ``fn`` would change.

    ``pure(*args)`` gives a pair: what ``fn(*args)`` returns, and a dict from the name of each array
    that it writes to a new array. Where ``fn`` returns such an array, or a view of it, the result
    is the new array or a view of that. The functional graph is run by NumPy, operator by operator;
    nothing is compiled. ``pure.graph(*args)`` is that graph.

    Raises ``CaptureError`` for a function that cannot be captured.

    >>> import numpy as np
    >>> def relax(u):
    ...     u[1:-1] = 0.5 * (u[:-2] + u[2:])
    ...     return u.max()
    >>> pure, u = functionalize(relax), np.array([0.0, 8.0, 4.0, 0.0])
    >>> pure(u)
    (np.float64(4.0), {'u': array([0., 2., 4., 0.])})
    >>> u
    array([0., 8., 4., 0.])
    """
    if not callable(fn):
        raise UsageTypeError(ARGUMENT, f"fxc.functionalize takes a function, not {a_kind(fn)}")
    return Functionalized(getattr(fn, "__fxc_original__", fn))


@frozen
class _Variant:
    captured: Captured
    graph: Graph


class Functionalized(Generic[P, R]):
    """A function that is captured when it is called; see ``fxc.functionalize``."""

    def __init__(self, fn: Callable[P, R]) -> None:
        functools.update_wrapper(self, fn)
        self.__fxc_original__ = fn
        self._variants: list[_Variant] = []
        self._lock = threading.Lock()

    @folded
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> tuple[R, dict[str, np.ndarray]]:
        """The result, and the new arrays by the names of those that ``fn`` writes."""
        variant, given = self._variant(args, kwargs)
        graph, captured = variant.graph, variant.captured
        assert graph.signature is not None
        inputs = list(given)
        for place in graph.signature.mutated_inputs:
            inputs[place] = np.copy(given[place], order="K")
        changed = set(graph.signature.mutated_inputs)
        for base, parts in captured.overlaps.parts.items():
            if base not in changed:
                continue
            changed.remove(base)
            for part in parts:  # of the new array as they are of the old
                inputs[part.input] = viewed(inputs[base], part.steps, {}, kernel_of)
            changed.update(part.input for part in parts if part.written)
        leaves = call(graph, inputs, kernel_of)
        news = {captured.inputs[place].text: inputs[place] for place in sorted(changed)}
        return unflatten(captured.out_spec, leaves), news

    @folded
    def graph(self, *args: P.args, **kwargs: P.kwargs) -> Graph:
        """The functional graph for these arguments; nothing is run."""
        return self._variant(args, kwargs)[0].graph

    def __repr__(self) -> str:
        return f"<fxc.Functionalized {getattr(self, '__qualname__', self.__fxc_original__)}>"

    def _variant(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[_Variant, tuple[Any, ...]]:
        with self._lock:
            for variant in self._variants:
                inputs = variant.captured.guards.check(args, kwargs)
                if inputs is not None:
                    return variant, inputs
            captured = capture(self.__fxc_original__, args, kwargs, Terms(effects=False))
            with logging_steps(captured.graph.name):
                self._variants.append(_Variant(captured, functional_graph(captured)))
            inputs = captured.guards.check(args, kwargs)
            assert inputs is not None
            return self._variants[-1], inputs
