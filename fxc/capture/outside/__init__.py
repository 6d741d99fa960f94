"""What a captured function sees of the objects around it, and what it leaves there."""
