"""The number of what the lines of a trace mean; see docs/trace.md."""

FORMAT = 1
