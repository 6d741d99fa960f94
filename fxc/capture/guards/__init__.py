"""What a capture relies on outside of its graph, and the program that checks it."""
