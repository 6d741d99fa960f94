"""The intermediate representation: types, symbolic dims, schemas, graphs and their text form.

Imports nothing else of fxc. Everything here is an immutable value; passes build new graphs.
"""
