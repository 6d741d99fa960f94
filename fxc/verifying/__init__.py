"""Compiled code beside NumPy: calls that are run by both and compared, and what is wrong, found."""
