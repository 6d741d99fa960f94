"""What a backend can run: an index from operators to its kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fxc.ir.records import frozen
from fxc.ops.kernels import kernel_of
from fxc.ops.table import TABLE, Operator, Tag

from .keys import DispatchKey


@frozen
class BackendMetadata:
    """How a backend runs one operator.

    ``kernel`` is the backend's own affair. ``structured`` says that it is given outputs that the
    meta function has described, and need not find out about shapes.
    """

    kernel: Any
    structured: bool = True


Lookup = Callable[[Operator], BackendMetadata | None]


@frozen
class BackendIndex:
    """One backend. ``functional``: it wants neither views nor writes. ``external``: not ours.

    ``kernels`` maps operator names to metadata, or is a function that finds an operator's.
    """

    name: str
    key: DispatchKey
    functional: bool
    kernels: Mapping[str, BackendMetadata] | Lookup
    external: bool = False

    def get_kernel(self, op: Operator) -> BackendMetadata | None:
        """How this backend runs ``op``, or None if it does not."""
        if callable(self.kernels):
            return self.kernels(op)
        return self.kernels.get(op.name)

    def has_kernel(self, op: Operator) -> bool:
        """Whether this backend runs ``op`` itself."""
        return self.get_kernel(op) is not None


def _numpy_kernel(op: Operator) -> BackendMetadata | None:
    if TABLE[op.group].tag is Tag.COMPOSITE:
        return None
    try:
        return BackendMetadata(kernel_of(op.name), structured=False)
    except KeyError:
        return None


def numpy_index() -> BackendIndex:
    """NumPy itself as a backend: runs everything that is no composite, with views and writes."""
    return BackendIndex("numpy", DispatchKey.CPU, functional=False, kernels=_numpy_kernel)
