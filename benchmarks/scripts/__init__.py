"""Ten scripts as people write them, which know nothing of fxc: `python -m benchmarks.scripts`."""
