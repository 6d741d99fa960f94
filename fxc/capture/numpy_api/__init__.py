"""NumPy's functions on traced values, and calls of functions that only compute."""
