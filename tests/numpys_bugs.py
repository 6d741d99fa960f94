"""What versions of NumPy get wrong, or crash with, themselves: tests leave that out there."""

from __future__ import annotations

import numpy as np


def _reads_index_while_it_writes() -> bool:
    """Whether ``i[i] = v`` reads places that it has written already: of any number, beyond the end
    of the array, too. Here they are in it.
    """
    i = np.array([1, 2, 0])
    i[i] = 1
    return i.tolist() != [1, 1, 1]


READS_INDEX_WHILE_IT_WRITES = _reads_index_while_it_writes()

# NumPy 2.0 crashes where it compares with an int that the dtype does not hold, into an array of
# anything but bools. To try it would be to crash.
CRASHING_COMPARISONS = frozenset(
    {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
    if np.lib.NumpyVersion(np.__version__) < "2.3.0"
    else ()
)


def _negates_gaps_wrongly() -> bool:
    """Whether ``np.negative(x, out=x)`` takes other elements, with 16 bytes between those of x."""
    x = np.arange(1, 33, dtype="f4")[::4]
    wanted = -x
    return not np.array_equal(np.negative(x, out=x), wanted)


NEGATES_GAPS_WRONGLY = _negates_gaps_wrongly()
