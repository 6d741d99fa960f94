"""Loop nests as data, and what holds of every program of them."""

from . import text as text  # the text of a loop program
