"""Eager NumPy kernels: what each operator does on real arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fxc.ir.later import import_later

if TYPE_CHECKING:
    from collections.abc import Callable

    from .making import Kernel

# See Note [Rooms with one door].
kernel_of: Callable[[str], Kernel] = import_later("fxc.ops.kernels.making", "kernel_of")
compiled_kernel_of: Callable[[str], Kernel] = import_later(
    "fxc.ops.kernels.making", "compiled_kernel_of"
)
writing_kernel_of: Callable[[str], Kernel | None] = import_later(
    "fxc.ops.kernels.making", "writing_kernel_of"
)
called_by: Callable[[str], tuple[Kernel, tuple[str, ...]]] = import_later(
    "fxc.ops.kernels.making", "called_by"
)
