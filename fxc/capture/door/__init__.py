"""What a staged function may call, read and store, and what that does."""
