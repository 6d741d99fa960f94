"""fxc side by side with NumPy and, where installed, numba, numexpr and jax: `make bench`.

Not part of the tests: a time measured on a busy machine proves nothing, so none may fail a build.
"""
