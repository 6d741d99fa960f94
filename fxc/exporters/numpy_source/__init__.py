"""NumPy source: an exported program as a module of Python that needs NumPy alone.

From a functional graph back to what a person would have written: ``memory`` decides which values
are views, which updates happen in place, and what is copied; ``operators`` says a node as an
expression; ``body`` makes statements of nodes; ``module`` puts the checks of arguments in front,
and what the caller sees behind them.
"""
