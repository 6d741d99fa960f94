"""Arrays and NumPy's scalars while they are captured: operators, methods, `x[key]`."""
