"""What a backend of the user's gives, beside the types of the graph's results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.ir import size_functions
from fxc.ir.errors import ExtensionError, a_kind
from fxc.ir.evaluate import bind_symbols
from fxc.ir.graph import Graph
from fxc.ir.symbols import plain_symbol
from fxc.ir.types import DTYPE_NAMES, ArrayType, Type

Function = Callable[..., Sequence[Any]]


def checked(graph: Graph, inner: object, backend: str) -> Function:
    """What a backend has made of a graph, whose results are compared with those of the graph.

    Raises ``ExtensionError``, which names the backend, if it is no function; a call raises it for
    results that are others in number, dtype or shape.
    """
    if not callable(inner):
        raise ExtensionError(
            f"the backend {backend!r} gives {a_kind(inner)}, not a function from the graph's "
            "inputs to its results"
        )
    types = [operand.type for operand in graph.outputs]
    has_symbols = any(not isinstance(dim, int) for kind in types for dim in kind.shape)

    def run(*inputs: Any) -> Sequence[Any]:
        try:
            results = inner(*inputs)
        except Exception as error:  # which may be NumPy's, as of a singular matrix
            vars(error)["__fxc_backend__"] = backend
            raise
        if not isinstance(results, tuple | list) or len(results) != len(types):
            given = len(results) if isinstance(results, tuple | list) else _shown(results)
            raise ExtensionError(
                f"the backend {backend!r} must give a tuple or list of {len(types)} results, it "
                f"gives {given}"
            )
        known: dict[str, int] = bind_symbols(graph.inputs, inputs) if has_symbols else {}
        for place, (found, kind) in enumerate(zip(results, types, strict=True)):
            if not _is_like(found, kind, known):
                raise ExtensionError(
                    f"the backend {backend!r} gives {_shown(found)} as result {place}, the graph "
                    f"says {kind}"
                )
        return [_settled(found, kind) for found, kind in zip(results, types, strict=True)]

    return run


def _is_like(found: object, kind: Type, known: dict[str, int]) -> bool:
    """Whether a result has this dtype and shape; sizes that are counted become known by it."""
    if not isinstance(found, np.ndarray | np.generic):
        is_number = isinstance(found, bool | int | float | complex)
        return is_number and kind.rank == 0 and np.dtype(type(found)) == kind.dtype
    if (found.dtype, found.ndim) != (kind.dtype, kind.rank):
        return False
    for dim, size in zip(kind.shape, found.shape, strict=True):
        name = None if isinstance(dim, int) else plain_symbol(dim)
        if name is not None:
            known.setdefault(name, size)
        if not isinstance(dim, int) and any(each not in known for each in dim.symbols):
            continue  # counted, by a value that is no result
        if size_functions.evaluate(dim, known) != size:
            return False
    return True


def _settled(found: Any, kind: Type) -> Any:
    """The result as an array or a scalar, whichever the graph says."""
    if isinstance(kind, ArrayType):
        return found if isinstance(found, np.ndarray) else np.asarray(found)
    number = found[()] if isinstance(found, np.ndarray) else found
    return kind.python_type(number) if kind.weak else kind.dtype.type(number)


def _shown(found: object) -> str:
    if not isinstance(found, np.ndarray | np.generic):
        return a_kind(found) if found is not None else "None"
    name = DTYPE_NAMES.get(found.dtype, str(found.dtype))
    return f"{name}[{', '.join(map(str, found.shape))}]" if isinstance(found, np.ndarray) else name
