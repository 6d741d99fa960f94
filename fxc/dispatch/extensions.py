"""Backends, passes and exporters of others: registered by name, or found in installed packages.

A package offers them by entry points: ``[project.entry-points."fxc.backends"]``, ``"fxc.passes"``,
``"fxc.exporters"``, and ``"fxc.operators"`` by the namespace of custom operators. Entry points are
looked for only when a name is asked for that nothing else is known of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import ARGUMENT
from fxc.ir.errors import ExtensionError, UsageError, UsageTypeError, a_kind
from fxc.ir.forking import table_lock
from fxc.ir.records import frozen
from fxc.ir.settings import OWN_BACKENDS
from fxc.ir.tracebacks import folded

from .dispatcher import Registration

if TYPE_CHECKING:
    from fxc.ir.graph import Graph
    from fxc.ir.types import Type
    from fxc.ops.kernels.making import Kernel

    from .backend import BackendIndex

    Pass = Callable[[Graph], Graph]
    # A backend of one's own: functional graph, index, types of the inputs → function from the
    # inputs to the graph's results.
    Backend = Callable[
        [Graph, BackendIndex[Kernel], tuple[Type, ...]], Callable[..., Sequence[Any]]
    ]

_backends: dict[str, Any] = {}
_found: dict[tuple[str, str], Any] = {}  # in installed packages, by group and name
_lock = table_lock()


@folded
def register_backend(name: str, backend: Backend | BackendIndex[Any], /) -> Registration:
    """Let ``fxc.compile(backend=name)`` use a backend; a handle whose ``remove()`` undoes that.

    It is a function that is given the functional graph, an index of NumPy's kernels and the types
    of the inputs, and gives a function from the inputs to the graph's results; or a
    ``BackendIndex``, whose kernels run the graph operator by operator. What has been compiled stays
    as it is.

    Raises ``ValueError`` if the name is taken, and ``TypeError`` for what is neither.

    >>> import numpy as np, fxc
    >>> from fxc.ir.evaluate import evaluate
    >>> from fxc.ops.kernels import kernel_of
    >>> def plain(graph, index, types):
    ...     return lambda *inputs: evaluate(graph, inputs, kernel_of)
    >>> handle = register_backend("plain", plain)
    >>> fxc.compile(np.hypot, backend="plain")(np.array([3.0]), np.array([4.0]))
    array([5.])
    >>> handle.remove()
    """
    _check_backend(name, backend)
    with _lock:
        if name in OWN_BACKENDS or name in _backends:
            raise UsageError(ARGUMENT, f"there is a backend {name!r} already")
        _backends[name] = backend

    def undo() -> None:
        with _lock:
            if _backends.get(name) is backend:
                del _backends[name]

    return Registration(undo)


def _is_backend(backend: object) -> bool:
    from .backend import BackendIndex

    return callable(backend) or isinstance(backend, BackendIndex)


def _check_backend(name: str, backend: object) -> None:
    if not isinstance(name, str):
        raise UsageTypeError(ARGUMENT, f"the name of a backend is a str, not {a_kind(name)}")
    if not _is_backend(backend):
        kind = a_kind(backend)
        raise UsageTypeError(
            ARGUMENT, f"the backend {name!r} must be a function or a BackendIndex, not {kind}"
        )


def backend_of(backend: str | Backend | BackendIndex[Any]) -> Any:
    """The backend of a name that is none of fxc's own; another backend itself.

    Raises ``ValueError`` if nobody offers one of that name.
    """
    if not isinstance(backend, str):
        if not _is_backend(backend):
            raise UsageError(
                ARGUMENT, f"backend must be a callable or one of {OWN_BACKENDS}, not {backend!r}"
            )
        return backend
    if backend in OWN_BACKENDS:
        return backend
    found = _backends.get(backend)
    if found is None:
        found = _from_packages("backends", backend)
        if found is not None:
            _check_backend(backend, found)
    if found is None:
        known = tuple(dict.fromkeys((*OWN_BACKENDS, *_backends, *_offered("backends"))))
        raise UsageError(ARGUMENT, f"backend must be a callable or one of {known}, not {backend!r}")
    return found


@frozen
class NamedPass:
    """A pass, by the name that errors call it."""

    name: str
    function: Pass

    def __call__(self, graph: Graph) -> Graph:
        return self.function(graph)


def passes_of(passes: Sequence[Pass | str]) -> tuple[NamedPass, ...]:
    """The passes that these are or name.

    Raises ``ValueError`` if nobody offers one of a name, ``TypeError`` for what is neither.
    """
    return tuple(map(_pass_of, passes))


def _pass_of(each: Pass | str) -> NamedPass:
    if isinstance(each, str):
        function = _from_packages("passes", each)
        if function is None:
            raise UsageError(ARGUMENT, f"there is no pass {each!r}; {_known('passes')}")
        return NamedPass(each, function)
    if not callable(each):
        raise UsageTypeError(
            ARGUMENT, f"a pass is a function from Graph to Graph, not {a_kind(each)}"
        )
    return NamedPass(getattr(each, "__name__", repr(each)), each)


def exporter_of(name: str) -> Callable[..., Any]:
    """The exporter of that name.

    Raises ``ValueError`` if nobody offers one.
    """
    found = _from_packages("exporters", name)
    if found is None:
        raise UsageError(ARGUMENT, f"there is no exporter {name!r}; {_known('exporters')}")
    return found  # type: ignore[no-any-return]


def find_operators(name: str) -> bool:
    """Import the package that offers custom operators of the namespace; whether there is one."""
    return _from_packages("operators", name.partition("::")[0]) is not None


def _from_packages(group: str, name: str) -> Any:
    """What an installed package offers by that name; None if none does."""
    known = _found.get((group, name))
    if known is not None:
        return known
    from importlib.metadata import entry_points

    offered = sorted(entry_points(group=f"fxc.{group}", name=name), key=lambda each: each.value)
    if not offered:
        return None
    if len({each.value for each in offered}) > 1:
        shown = " and ".join(each.value for each in offered)
        raise ExtensionError(f"several packages offer {name!r} among fxc.{group}: {shown}")
    try:
        found = offered[0].load()
    except Exception as error:
        text = f"{name!r} of fxc.{group} ({offered[0].value}) cannot be loaded: {error!r}"
        raise ExtensionError(text) from error
    return _found.setdefault((group, name), found)


def _offered(group: str) -> list[str]:
    from importlib.metadata import entry_points

    return sorted({each.name for each in entry_points(group=f"fxc.{group}")})


def _known(group: str) -> str:
    """What installed packages offer, in words."""
    found = _offered(group)
    return f"there are {tuple(found)}" if found else f"no installed package offers any {group}"
