"""Times between changes of what the user registers of operators."""


class Epoch:
    """A time in which nothing about the operators that have been used is changed."""

    holds = True
