"""What branches join, loops carry and lists of the graph hold: a closed set of forms."""
