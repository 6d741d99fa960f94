"""fxc side by side with NumPy and, where installed, numba, numexpr and jax: `make bench`.

`benchmarks.suites` has programs of users; `benchmarks` itself times what fxc costs besides.

Not part of the tests: a time measured on a busy machine proves nothing, so none may fail a build.
"""

import os

# First calls are those that compile: none may find on disk what a run before has compiled.
# `benchmarks.warm` and rows of `benchmarks.cold` measure that, in folders of their own.
os.environ["FXC_CACHE"] = "0"
