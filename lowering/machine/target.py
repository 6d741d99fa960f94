"""The machine that code is made for."""

from __future__ import annotations

from fxc.ir.records import frozen

from .costs import Costs


@frozen
class Target:
    """A machine, and when which way of running loops pays on it.

    There are so many ``threads``; a ``vector`` is a register of so many bytes, of which there are
    so many ``registers``; it converts float16, if it has ``halves``. Instructions of x86 permute
    the elements of registers of so many bytes (``permutes``: 64 of AVX-512, 32 of AVX2, or 0).
    Memory comes in ``line``s. The caches of a core, the ``nearest`` and the next, hold so many
    bytes; temporaries of up to ``frame`` bytes may lie in the stack frame. Where there is no
    ``plan``, native code itself makes the calls of NumPy.
    """

    threads: int = 1
    vector: int = 64
    registers: int = 32
    line: int = 64
    nearest: int = 1 << 15
    cache: int = 1 << 20
    frame: int = 1 << 13
    plan: bool = True
    halves: bool = False
    permutes: int = 0
    costs: Costs = Costs()

    @property
    def fuses(self) -> bool:
        """Whether an instruction multiplies and adds with one rounding. Of the least of processors,
        which have no more than vectors of 16 bytes, it is a function.
        """
        return self.vector > 16

    @property
    def inverts(self) -> bool:
        """Whether quotients are quicker by inverses: where registers of 64 bytes are compared as
        quickly as they are multiplied.
        """
        return self.permutes == self.vector == 64


SERIAL = Target()
