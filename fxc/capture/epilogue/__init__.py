"""What leaves the function, and the Python source that makes it."""
