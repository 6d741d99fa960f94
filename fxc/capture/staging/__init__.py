"""Rewriting a function's source so that its statements and calls go through the door."""
