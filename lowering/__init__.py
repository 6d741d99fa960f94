"""Lowering: from a functional Graph to loop nests, to a schedule, to LLVM text.

A graph becomes loop nests (data with a text form: views are index maps, scatters are stores over a
region), nests are fused and scheduled, and LLVM IR is written straight from them. Vector math, the
elementary functions as polynomial code in IR, is in ``fxc.lowering.vector_math``.

May import: ``fxc.ops``, ``fxc.ir``. What runs the code is ``fxc.runtime``; neither imports the
other, the front modules of ``fxc`` hand the one's result to the other.
"""

# The folder stands at the top of the repository but is the package fxc.lowering (CONTRIBUTING.md,
# "Layout"). Under its bare name it would be a second copy of every class in it.
if __name__ != "fxc.lowering":
    raise ImportError(f"this folder is the package fxc.lowering; it was imported as {__name__!r}")
