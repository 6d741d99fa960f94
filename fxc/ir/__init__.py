"""The intermediate representation: types, symbolic dims, schemas, graphs and their text form.

Imports nothing else of fxc. Everything here is an immutable value; passes build new graphs.
"""

from . import size_functions as size_functions  # it says what ``//`` does between dims
from .graph import print_by
from .later import import_later

print_by(import_later("fxc.ir.text", "print_graph"))
