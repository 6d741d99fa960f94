"""Sizes and ints that few programs ask for. See Note [Rooms with one door]."""

from __future__ import annotations

from fxc.ir.later import import_later

derived = import_later("fxc.capture.numbers.derived", "derived")
dim_of = import_later("fxc.capture.numbers.dims", "dim_of")
dims_of = import_later("fxc.capture.numbers.dims", "dims_of")
no_int = import_later("fxc.capture.numbers.dims", "no_int")
known_size = import_later("fxc.capture.numbers.measured", "known_size")
length_of_range = import_later("fxc.capture.numbers.measured", "length_of_range")
size_from = import_later("fxc.capture.numbers.measured", "size_from")
size_of = import_later("fxc.capture.numbers.measured", "size_of")
