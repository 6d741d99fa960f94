"""What all values of the program have in common: operands, classes, being there or not."""
