"""What is known of a function, and of each of its compilations."""
