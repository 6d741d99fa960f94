"""Dicts and sets of the graph, and items at places and keys that are not known."""
