"""Traces: what every compile of a process did and made, as lines of JSON."""
