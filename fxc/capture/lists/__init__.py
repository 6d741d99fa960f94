"""Lists whose items the graph holds, with their length; records and texts are such lists."""
