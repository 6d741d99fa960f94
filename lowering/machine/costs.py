"""From where on which way of running loops pays: all numbers that decide speed and tell nothing of
the program or of the machine.

They are found by measuring; what follows from the sizes of caches and the like is in ``target``.
"""

from __future__ import annotations

from fxc.ir.records import frozen


@frozen
class Costs:
    """What work takes, in picoseconds, and limits; a test may have some of its own.

    The times are rough, and need be no better: an estimate that is half of the truth makes chunks
    that take twice as long. An ``operation`` is one of the cost of an addition on eight bytes, in
    lanes. A ``byte`` is one that is loaded or stored, in the caches.
    """

    operation: int = 40
    byte: int = 25

    # Threads. To take a chunk costs nothing beside what it takes: a thread does so in some ten
    # nanoseconds. In a loop that takes less than ``least`` there is nothing to gain from threads
    # that may have to be woken up. Chunks that run in lanes are multiples of so many iterations,
    # and so are long ones: whole cache lines.
    chunk: int = 12_000_000
    least: int = 24_000_000
    multiple: int = 64

    # Fusion: how many nests one may be moved over to be fused with an earlier one, iterations of an
    # inner loop that pay for running it apart from its neighbours, and statements in one nest.
    fused_over: int = 12
    fused_apart: int = 16
    fused_statements: int = 400

    # Strips of rows: bytes of all rows from which on it pays, elements of a row that do (rows that
    # have no gaps between them could be one loop), how far a nest may be behind, and their length.
    strips_bytes: int = 1 << 20
    strips_row: int = 64
    strips_behind: int = 16
    strips_rows: int = 1 << 12

    # Steps inside of parts: bytes of all elements from which on it pays, steps that do not, and
    # iterations of a part.
    parts_bytes: int = 1 << 20
    parts_steps: int = 4
    parts_iterations: int = 1 << 12

    # Remainders in indices: iterations inside of an outer loop that may keep them, and statements
    # of all pieces.
    wraps_inside: int = 64
    wraps_statements: int = 1600

    # Columns: rows of a block (as many streams as a processor follows), bytes from one element of a
    # column to the next that make it worth it, and bytes of the array that do.
    columns_rows: int = 16
    columns_step: int = 2048
    columns_bytes: int = 1 << 18

    # Checks before a branch: operations that may be made in vain, and the cost of one.
    vain_operations: int = 6
    vain_cost: int = 3
