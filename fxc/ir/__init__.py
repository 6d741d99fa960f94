"""The intermediate representation: types, symbolic dims, schemas, graphs and their text form.

Imports nothing else of fxc. Everything here is an immutable value; passes build new graphs.
"""

# They say what ``//`` does between dims, and what the text of a graph is.
from . import size_functions as size_functions
from . import text as text
