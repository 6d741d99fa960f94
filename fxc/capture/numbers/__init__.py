"""Python's numbers that are not known while capturing: ints above all, and operators."""
