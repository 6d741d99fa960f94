"""Operators of Python's ints of which ranges may prove something."""

# Comparisons: whether their operands are swapped, and whether they are strict.
ORDER = {
    "less": (False, True),
    "less_equal": (False, False),
    "greater": (True, True),
    "greater_equal": (True, False),
}
# Of ints that are not negative, quotients and remainders take fewer steps.
NATURAL = {"floor_divide": "natural_quotient", "remainder": "natural_remainder"}
COMPARISONS = {f"py_{name}": name for name in ORDER}
PROVABLE = (
    *("try_", "wrap_index", "math_sqrt"),
    *(f"py_{name}" for name in NATURAL),
    *COMPARISONS,
)
"""What their names begin with."""
