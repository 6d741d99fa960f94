"""Object code ahead of time: a folder that runs with NumPy alone, and from C.

The room ``fxc/package`` is what a package is loaded with: its modules are copied as they are, and
import nothing of fxc.
"""
