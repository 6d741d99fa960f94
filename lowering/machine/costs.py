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
    lanes. A ``byte`` is one that is loaded or stored, in the caches; one of more than the nearest
    cache holds takes as long as a ``far_byte`` in addition, if it is stored and loaded again.
    """

    operation: int = 40
    byte: int = 25
    far_byte: int = 80

    # Threads. To take a chunk costs nothing beside what it takes: a thread does so in some ten
    # nanoseconds. In a loop that takes less than ``least`` there is nothing to gain from threads
    # that may have to be woken up. Chunks that run in lanes are multiples of so many iterations,
    # and so are long ones: whole cache lines.
    chunk: int = 12_000_000
    least: int = 24_000_000
    multiple: int = 64

    # Constants: bytes of one that does not stand in the LLVM text, which takes 50 ns for each.
    constant_bytes: int = 1 << 13

    # Stores of single elements in a block: LLVM looks, for each, at all that may be before it.
    # Behind so many begins code that they are not moved into.
    stores_together: int = 128

    # Fusion: how many nests one may be moved over to be fused with an earlier one, iterations of an
    # inner loop that pay for running it apart from its neighbours, and statements in one nest.
    fused_over: int = 12
    fused_apart: int = 16
    fused_statements: int = 400

    # Strips of rows: bytes of all rows from which on it pays, elements of a row that do (rows that
    # have no gaps between them could be one loop), how far a nest may be behind, their length, and
    # how far ahead of them memory is read.
    strips_bytes: int = 1 << 20
    strips_row: int = 64
    strips_behind: int = 16
    strips_rows: int = 1 << 12
    strips_ahead: int = 4096

    # Rows of memory that a processor follows at once by itself, and the work of an iteration from
    # which on it does not reach the next lines of any in time.
    streams: int = 6
    ahead_work: int = 20

    # Blocks of strips, for threads: how many for each, and how many times as many rows as are
    # computed once more.
    blocks_each: int = 4
    blocks_halo: int = 8

    # Steps inside of parts: bytes of all elements from which on it pays, steps that do not, and
    # iterations of a part.
    parts_bytes: int = 1 << 20
    parts_steps: int = 4
    parts_iterations: int = 1 << 12

    # Loops of the user's program over elements: iterations of an innermost one below which LLVM may
    # write them out.
    steps_short: int = 16

    # What iterations of the user's loops compute each for itself: iterations of a strip that has it
    # made ahead, and of a loop where that pays; the work from which on it does, in a shorter loop
    # that fills whole registers, too, with what each number takes to hand on, and each that is
    # gathered; and the work of one that is rather made twice.
    apart_strip: int = 128
    apart_steps: int = 32
    apart_work: int = 12
    apart_short_work: int = 50
    apart_number: int = 4
    apart_gathered: int = 4
    apart_few: int = 2

    # Loops that branch on their counters: pieces of one, statements that these have more, and
    # iterations of a piece whose inner loops may be in pieces, too.
    index_sets_pieces: int = 4
    index_sets_statements: int = 160
    index_sets_many: int = 8

    # Divisions: what one of a register takes for each byte of an element, in additions of those;
    # what a quotient by an inverse does, and the inverse of a number in front of a loop.
    division_byte: int = 4
    quotient: int = 12
    inverse: int = 200

    # Branches that become choices: the cost of an operation that may be made in vain, and from
    # which on it is made from other numbers where it is.
    choice_cost: int = 24
    choice_guarded: int = 5

    # Taps: how many may run inside of the loops over the elements that they add to.
    taps: int = 64

    # Remainders in indices: iterations inside of an outer loop that may keep them, and statements
    # of all pieces.
    wraps_inside: int = 64
    wraps_statements: int = 1600

    # Columns: rows of a block (as many streams as a processor follows), bytes of them that a thread
    # takes at least, how far ahead of them memory is read, bytes from one element of a column to
    # the next that make it worth it, and bytes of the array that do.
    columns_rows: int = 8
    columns_width: int = 4096
    columns_ahead: int = 512
    columns_step: int = 2048
    columns_bytes: int = 1 << 18

    # Products that grow with their loop: iterations that begin theirs together.
    growing_strip: int = 16

    # Products of vectors with one matrix: vectors of a strip, and bytes of their products.
    together_strip: int = 64
    together_bytes: int = 1 << 18

    # Products of small matrices: multiplications in one of float64 that native code makes itself
    # (of float32, of which BLAS makes twice as many at once, half as many), and additions of
    # vectors that are written down.
    small_products: int = 1 << 15
    small_whole: int = 128

    # Sums of products: rows that are made at once, enough to wait for no addition; rows of a copy
    # with a multiple of so many bytes would meet in a few places of the nearest cache.
    sums_rows: int = 4
    sums_meeting: int = 1 << 10

    # Rows that a loop updates again and again: bytes of one (of a longer one each step would meet a
    # page of its own), and times that an element is read where a copy that lies otherwise pays.
    updates_row: int = 1 << 15
    updates_often: int = 8

    # Checks before a branch: operations that may be made in vain, and the cost of one.
    vain_operations: int = 6
    vain_cost: int = 3

    # Numbers that stay the same in a loop: from what cost on they are made in front of it.
    fixed: int = 20

    # Such numbers of which a loop needs few, again and again: how often, if a table of them pays;
    # how often it comes by the branch that needs them; what sizes that vary are at least taken for.
    table_often: int = 8
    table_often_in_arm: int = 256
    table_size: int = 64

    # Values that are computed where they are read: operations that one expression may hold,
    # reshapes in it (each may multiply the length of indices), operations that are rather stored
    # than done again for each reader, and the cost of an element at a place that is computed.
    inline_weight: int = 64
    inline_reshapes: int = 3
    stored_weight: int = 4
    gather: int = 4

    # Equal parts of a join that have a nest each: these may merge with others.
    joined_apart: int = 4

    # Elements of a mask that are looked at together, and such blocks at least: a shorter mask is
    # gone through as it is.
    mask_block: int = 64
    mask_blocks: int = 4

    # Places of what a mask chooses: how many of 64 are stored without a branch, and in fewer than
    # how many those that are chosen are looked for, where no instruction compresses them.
    places_first: int = 4
    places_many: int = 16

    # Inputs that are stored to before a check: bytes of a smaller one, which is copied at once,
    # elements for which one look at what is stored is enough, and bytes that are copied to and fro
    # in the time that a look takes.
    undone_bytes: int = 4096
    undone_block: int = 64
    undone_look: int = 8

    # Stores in place that wait: iterations of a loop that registers can hold back, bytes of a
    # block of a row whose elements wait for longer, rows that may wait, how many times as many rows
    # or blocks there must be (else a temporary is as good), and elements of a row: loops over fewer
    # cost more than a temporary in one long loop.
    late_near: int = 16
    late_block: int = 8192
    late_rows: int = 4
    late_worth: int = 4
    late_row: int = 16

    # Numbers that native code draws into an array, by NumPy's functions or in quick ways: more are
    # NumPy's own.
    draws: int = 1 << 16
    quick_draws: int = 1 << 22

    # Lanes: how many a loop may have, vectors of totals at once (each waits for its last addition),
    # and iterations below which a loop gets no lanes if the loop around it can have them;
    # iterations of a loop inside that are written down each, and statements of them. Long
    # chains of operations wait for each other; several vectors at once fill the gaps. More code
    # takes longer to compile, so most of that is for loops that run long: from so many operations
    # on, and so many in the whole loop, which may have twice as many lanes as others if nearly all
    # it does is one chain. Running totals of a loop: how many lanes make up for their steps. Loads
    # from tables: the work beside each from which on lanes pay. Places in one register of which
    # each takes longer to be taken out than to be loaded once more.
    lanes: int = 32
    lanes_totals: int = 4
    lanes_running: int = 4
    lanes_short: int = 8
    lanes_unrolled: int = 16
    lanes_statements: int = 64
    lanes_work: int = 20
    lanes_much: int = 1 << 24
    lanes_looked_up: int = 5
    lanes_taken_out: int = 8

    # Short loops that are written down: iterations, of those inside of others together, and
    # statements of them all; columns of a temporary that are numbers in registers where another
    # nest meets them one by one.
    short_iterations: int = 16
    short_statements: int = 128
    short_columns: int = 4

    # Elements of a block of which the extreme is found before its position.
    extreme_block: int = 1024

    # Work of an iteration from which on lanes pay that hand on what is then done in turn.
    turns_work: int = 6

    # Powers that are asked of the C library behind a strip of iterations: of how many, how many
    # there must be, in multiples of which lanes, the work that may be done twice for one, and how
    # many of an iteration.
    powers_strip: int = 256
    powers_least: int = 64
    powers_lanes: int = 8
    powers_twice: int = 8
    powers_most: int = 8

    # Ends of loops in lanes: statements that may be written down for each end, vectors from which
    # on the place of the stores is looked at, and lanes that are better than none.
    ends_statements: int = 32
    ends_vectors: int = 8
    ends_lanes: int = 4

    # Vectors in two lines of the cache each: how many loads lose as much by that as one store.
    split_store: int = 2

    # Bytes that are copied by memcpy: more are copied past the caches, which is slower where memory
    # is new; fewer, if it has to be called, take longer than in a loop.
    moved: int = 1 << 20
    moved_least: int = 128

    # Loops whose iterations wait for each other: what is done besides in the time of an operation
    # that waits, operations that take the time of an element whose place is computed, and
    # iterations that may be written down each: that leaves no loop, and the loop around gains.
    chain_beside: int = 6
    chain_lookup: int = 4
    chain_brief: int = 128

    # Short loops of single numbers: copies of an iteration, and statements and work of one. Some
    # processors jump back in every other cycle at most, and do as much as that in the meantime.
    copies: int = 4
    copied: int = 24
    copied_work: int = 18

    # Elements whose loops end apart: registers of each number, how many elements there must be, and
    # iterations between two looks for signals, before which numbers leave their registers; the work
    # that makes up for an element that is looked up.
    abreast: int = 2
    abreast_steps: int = 16
    abreast_run: int = 32
    abreast_gathered: int = 32

    # A loop is minor if others do so many times its work.
    minor: int = 256

    # Statements of an iteration that may be written down once more, with the truth of its condition
    # known, or with checks that are known to pass; iterations in fewer of which better numbers are
    # not seldom.
    brief: int = 32
    twice: int = 48
    bests: int = 16

    # Looks for signals: the elements between two, well below a millisecond; those of a loop that
    # takes nothing, if their number is a guess in parts; a guess for what depends on what is
    # computed inside, and for the iterations of a ``while`` that is known to be brief; statements
    # of a short body, and elements of an iteration that can do with a look of its own.
    looks: int = 1 << 16
    looks_short: int = 1 << 10
    looks_unknown: int = 64
    looks_brief: int = 100
    looks_statements: int = 16
    looks_worth: int = 64
