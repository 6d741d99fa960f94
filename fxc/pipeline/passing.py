"""Passes of the user's on the functional graph; see ``fxc.compile(passes=…)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fxc.dispatch.extensions import NamedPass, passes_of
from fxc.ir.errors import ExtensionError, FxcError, VerificationError, a_kind
from fxc.ir.graph import Graph, walk
from fxc.ir.steps import done
from fxc.ir.verify import verify
from fxc.ops.metas import types_of
from fxc.ops.table import TABLE

if TYPE_CHECKING:
    from fxc.dispatch.extensions import Pass


def passed(graph: Graph, passes: Sequence[Pass | str]) -> Graph:
    """The graph behind all passes, in their order; what each gives is verified.

    Raises ``ExtensionError``, which names the pass, if one raises, or gives what is no graph of
    this function.
    """
    for each in passes_of(passes):
        graph = _verified(_passed(graph, each), each)
        done(f"the pass {each.name}", graph)
    return graph


def _verified(graph: Graph, each: NamedPass) -> Graph:
    try:
        verify(graph, table=TABLE.schema_of, meta=types_of, after=f"the pass {each.name}")
    except VerificationError as error:
        raise ExtensionError(error.text) from None
    except FxcError:
        raise
    except Exception as error:
        raise ExtensionError(f"the pass {each.name} gives a broken graph: {error!r}") from error
    return graph


def _passed(graph: Graph, each: NamedPass) -> Graph:
    try:
        found = each(graph)
    except FxcError:
        raise
    except Exception as error:
        raise ExtensionError(f"the pass {each.name} raises {error!r}") from error
    problem = _problem(graph, found)
    if problem:
        raise ExtensionError(f"the pass {each.name} {problem}")
    assert isinstance(found, Graph)
    return found


def _problem(before: Graph, found: object) -> str:
    """What is wrong with what a pass has given."""
    if not isinstance(found, Graph):
        return f"gives {a_kind(found)}, not a Graph"
    if found.inputs != before.inputs:
        return "gives a graph with other inputs"
    if found.stage != before.stage:
        return f"gives a {found.stage} graph"
    if found.signature != before.signature:
        return "gives a graph with another signature"
    if not set(before.guards) <= set(found.guards):
        return "gives a graph without guards that the other one has"
    impure = next((n.op for n in walk(found.body) if not n.schema.is_functional), None)
    if impure is not None:
        return f"uses {impure}, which writes or gives a view"
    return _problem_of_results(before, found)


def _problem_of_results(before: Graph, found: Graph) -> str:
    if len(found.outputs) != len(before.outputs):
        return f"gives {len(found.outputs)} results, not {len(before.outputs)}"
    for old, new in zip(before.outputs, found.outputs, strict=True):
        if (old.type.dtype, old.type.shape) != (new.type.dtype, new.type.shape):
            return f"gives a result of the type {new.type}, not {old.type}"
        if type(old.type) is not type(new.type) or old.type.weak != new.type.weak:
            return f"gives a result of the type {new.type}, not {old.type}"
    return ""
