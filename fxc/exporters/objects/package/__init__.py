"""A program of fxc's, ahead of time: ``load()`` gives what can be called.

This folder is on its own. It needs NumPy, and nothing that compiles or links: see ``mapping``.
"""

from .program import LoadedProgram, load

__all__ = ["LoadedProgram", "load"]
