"""Loop nests as data, and what holds of every program of them."""

from fxc.ir.later import import_later

from .program import prints_programs

prints_programs(import_later("fxc.lowering.nests.text", "print_program"))
