"""Functions of which a statement cannot be captured: a driver in Python around compiled parts."""
