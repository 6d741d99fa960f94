"""What a backend can run: an index from operators to its kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from fxc.ir.later import import_later
from fxc.ir.records import frozen
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import Operator, Tag
from fxc.ops.table import TABLE

from .keys import DispatchKey

if TYPE_CHECKING:
    from fxc.ops.kernels.making import Kernel

K = TypeVar("K")

definition_of = import_later("fxc.ops.custom", "definition_of")  # few define operators


@frozen
class BackendIndex(Generic[K]):
    """One backend. ``functional``: it wants neither views nor writes.

    ``kernels`` finds its kernel of an operator, or None: what that is, is the backend's own affair.
    The kernels of operators that it has none of are those of the column ``key``. Of a kernel that
    ``is_last`` composites come first.
    """

    name: str
    key: DispatchKey
    functional: bool
    kernels: Callable[[Operator], K | None]
    is_last: Callable[[K], bool] = lambda kernel: False

    def get_kernel(self, op: Operator) -> K | None:
        """How this backend runs ``op``, or None if it does not."""
        return self.kernels(op)

    def has_kernel(self, op: Operator) -> bool:
        """Whether this backend runs ``op`` itself, whatever composites there are."""
        kernel = self.get_kernel(op)
        return kernel is not None and not self.is_last(kernel)


def _numpy_kernel(op: Operator) -> Kernel | None:
    if TABLE[op.group].tag is Tag.COMPOSITE:
        return None
    if op.tag is Tag.CUSTOM and not definition_of(op.group).has_impl:
        return None
    try:
        return kernel_of(op.name)
    except KeyError:
        return None


def numpy_index() -> BackendIndex[Kernel]:
    """NumPy itself as a backend: runs everything that is no composite, with views and writes."""
    return BackendIndex("numpy", DispatchKey.CPU, functional=False, kernels=_numpy_kernel)
