"""Passes: functions from Graph to Graph, each of which leaves its input as it was.

Functionalize (views and writes become pure operators), decompose (what the target has no kernel
for), simplify, fills_apart (a fill for each update), reinplace (which updates may happen in place).
``fxc/pipeline/stages.py`` runs them in order. One pass is one module, named for what it achieves,
with *Requires* and *Ensures* in its docstring.

May import: ``fxc.dispatch``, ``fxc.ops``, ``fxc.ir``.
"""

# The folder stands at the top of the repository but is the package fxc.passes (CONTRIBUTING.md,
# "Layout"). Under its bare name it would be a second copy of every class in it.
if __name__ != "fxc.passes":
    raise ImportError(f"this folder is the package fxc.passes; it was imported as {__name__!r}")
