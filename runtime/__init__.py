"""Runtime: what exists while compiled code runs.

The engine that turns LLVM text into machine code, the call plan, memory for results and
temporaries, BLAS, and calls of NumPy kernels from compiled code. It receives objects, data and
callables, and emits no code of its own.

May import: the data types of ``fxc.ir``. What emits the code is ``fxc.lowering``; neither imports
the other.
"""

# The folder stands at the top of the repository but is the package fxc.runtime (CONTRIBUTING.md,
# "Layout"). Under its bare name it would be a second copy of every class in it.
if __name__ != "fxc.runtime":
    raise ImportError(f"this folder is the package fxc.runtime; it was imported as {__name__!r}")
