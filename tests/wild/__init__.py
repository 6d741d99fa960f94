"""Programs as people write them, from many fields: what fxc makes of the long tail of NumPy code.

Each is of our own making, in the style of what was read in public projects: classes with state,
checks of arguments, output, random draws, exceptions, helpers from SciPy. ``python -m tests.wild``
prints what becomes of each.
"""
