"""Which call runs what: compiled code, parts of a function, or Python."""
