"""What NumPy tells the user: floating-point warnings, and ``np.errstate``, as plain NumPy has them.

Each case runs as plain NumPy and compiled, with all warnings let through. Texts, categories, lines and the
contents of the arguments have to be the same; where NumPy says nothing, native code has to serve.
"""
