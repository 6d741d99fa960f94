"""Exporters: what an exported program is for other runtimes.

Each target has a folder. A target is a backend as any other: it says which operators it has, the
rest is decomposed, and what no composite serves is refused by name before anything is written.
"""
