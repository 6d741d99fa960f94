"""What indices of arrays, and elements, take. See Note [Rooms with one door]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fxc.ir.later import import_class_later, import_later

if TYPE_CHECKING:
    from .indexing import IndexArrays as IndexArrays
    from .indexing import Place as Place
else:
    IndexArrays = import_class_later("fxc.capture.arrays.indexing", "IndexArrays")
    Place = import_class_later("fxc.capture.arrays.indexing", "Place")

apply_steps = import_later("fxc.capture.arrays.indexing", "apply_steps")
are_names = import_later("fxc.capture.arrays.indexing", "are_names")
assign = import_later("fxc.capture.arrays.indexing", "assign")
assign_element = import_later("fxc.capture.arrays.indexing", "assign_element")
checked = import_later("fxc.capture.arrays.indexing", "checked")
late_element = import_later("fxc.capture.arrays.late_elements", "late_element")
locate = import_later("fxc.capture.arrays.indexing", "locate")
