"""The intermediate representation: types, symbolic dims, schemas, graphs and their text form.

Imports nothing else of fxc. Everything here is an immutable value; passes build new graphs.
"""

from .later import import_later
from .upward import UPWARD

UPWARD["//"] = import_later("fxc.ir.size_functions", "floordiv")
UPWARD["%"] = import_later("fxc.ir.size_functions", "mod")
UPWARD["str(graph)"] = import_later("fxc.ir.text", "print_graph")
