"""Branches and loops of Python as nodes with regions."""
