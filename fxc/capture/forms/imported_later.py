"""What forms ask modules that few programs need. See Note [Rooms with one door]."""

from __future__ import annotations

from fxc.ir.later import import_later

items_as_array = import_later("fxc.capture.arrays.sequences", "array_of")
key = import_later("fxc.capture.forms.joining", "key")
one_of_two = import_later("fxc.capture.forms.joining", "one_of_two")
as_number_of = import_later("fxc.capture.forms.one_dtype", "as_number_of")
is_weak_float = import_later("fxc.capture.forms.one_dtype", "is_weak_float")
stored = import_later("fxc.capture.forms.one_dtype", "stored")
demand = import_later("fxc.capture.forms.truths", "demand")
