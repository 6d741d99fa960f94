"""LLVM in memory by the time there is a text for it."""

from __future__ import annotations

import atexit
from _thread import LockType, allocate_lock, start_new_thread
from contextlib import suppress
from functools import cache

from fxc.ir.flag_bits import HAS_FLAGS
from fxc.lowering.emission.notice_code import NOTICE_CODE
from fxc.runtime.engine import (
    llvm_lock,
    load_llvm,
    make_support,
    optimisation_level,
    optimise,
    target_machine,
)
from fxc.runtime.llvm_library import binding
from fxc.runtime.processors import usable_processors

# Note [LLVM beside capture]
# To load LLVM, and to make code for the first time, takes as long as a small program's code, and
# needs nothing of the program. While the first program of a process is captured, another thread
# does it, if there is a processor for it, and makes the code that most programs call. That thread
# has LLVM's lock before this one goes on, and keeps it to its end. Who needs LLVM waits for it, and
# so do forks and the end of the process: that would take away a library that is being set up.
_TEXT = "define void @fxc.nothing() nounwind {\n  ret void\n}\n"


@cache
def load_beside() -> None:
    """Load LLVM beside what else the first compilation of a process begins with."""
    if usable_processors() == 1:
        return
    binding()  # here: ``threading`` takes who imports it for the main thread
    holds = allocate_lock()
    holds.acquire()
    with suppress(RuntimeError):  # no thread is to be had
        start_new_thread(_load, (holds,))
        atexit.register(_wait)
        with holds:
            pass


def _load(holds: LockType) -> None:
    with llvm_lock:
        holds.release()
        with suppress(Exception):  # who needs LLVM meets it, too
            module = load_llvm().parse_assembly(_TEXT)
            machine = target_machine(optimisation_level(0))  # the one of programs
            module.triple, module.data_layout = machine.triple, str(machine.target_data)
            optimise(machine, module, "none")
            machine.emit_object(module)
            if HAS_FLAGS:
                make_support(NOTICE_CODE)


def _wait() -> None:
    with llvm_lock:
        pass
