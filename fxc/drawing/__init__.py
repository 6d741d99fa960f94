"""Drawings of graphs, as SVG."""
