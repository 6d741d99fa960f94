"""The machine that code is made for, and what pays on it."""
