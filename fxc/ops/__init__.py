"""The operators: one table, and by operator name metas, eager NumPy kernels and composites."""
