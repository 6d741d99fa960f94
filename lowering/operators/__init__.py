"""What lowering knows of operators before it builds or writes anything."""
