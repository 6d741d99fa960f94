"""NumPy's functions and methods on traced values."""
