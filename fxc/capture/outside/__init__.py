"""What a captured function sees of the objects around it, and how it changes them."""
