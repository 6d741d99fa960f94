"""Locks, and compilations, at the time of a fork.

A child has one thread, the one that forked. A lock that another one held is never released there,
and what that one was about to change stays half changed, LLVM's own memory included.
"""

from __future__ import annotations

import os
import time
from _thread import RLock, allocate_lock, get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_COARSE = 0.02  # seconds that the clocks of files, and of processes, may be behind


def _began() -> float:
    """When this process began, in seconds since the epoch; where nobody says, the time now."""
    age = 0.0
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        pass
    return time.time() - max(age, 0.0) - _COARSE


BEGAN = _began()  # of the process that this one was forked from, if it was forked after that

# Note [Forks]
# Whoever forks takes all locks of fxc's, and llvmlite's, before: no thread is inside of what they
# guard then. It also waits for the compilations of other threads to end (modules may be half
# imported, tables half filled), and new ones wait for it. Behind the fork parent and child release
# what was taken. Nobody waits for ever: what a program does while it is captured may itself wait
# for the thread that forks. A lock that could not be had after ``PATIENCE`` seconds is made anew in
# the child.
PATIENCE = 20.0
_STEP = 0.001  # seconds until somebody who waits looks again

# Outer locks first: whoever has one may wait for a later one.
_TABLES, LLVM, LLVMLITE, THREADS = range(4)


class _Forks:
    """What is held over forks, and who compiles."""

    def __init__(self) -> None:
        self.locks: list[tuple[int, Any]] = []
        self.taken: list[Any] = []
        self.lock = allocate_lock()
        self.compiling: dict[int, int] = {}  # by thread: how many compilations inside each other
        self.pending = 0
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self.before, after_in_parent=self.in_parent, after_in_child=self.in_child
            )

    def wait_for(self, holds: Callable[[], bool]) -> None:
        """Wait, without the lock, until something holds. Few wait, and not for long: to import what
        ``threading`` has for it would be a part of each first call.
        """
        end = time.monotonic() + PATIENCE
        while not holds() and time.monotonic() < end:
            self.lock.release()
            try:
                time.sleep(_STEP)
            finally:
                self.lock.acquire()

    def before(self) -> None:
        own = get_ident()
        with self.lock:
            self.pending += 1
            self.wait_for(lambda: not self.compiling.keys() - {own})
        taken = []
        for _, lock in sorted(self.locks, key=lambda each: each[0]):
            if lock.acquire(timeout=PATIENCE):
                taken.append(lock)
        self.lock.acquire()
        self.taken = taken  # nobody else forks meanwhile: the lock above is the last

    def in_parent(self) -> None:
        for lock in reversed(self.taken):
            lock.release()
        self.pending -= 1
        self.lock.release()

    def in_child(self) -> None:
        for _, lock in self.locks:
            if any(lock is each for each in self.taken):
                lock.release()
            else:
                lock._at_fork_reinit()
        own = get_ident()
        self.compiling = {own: self.compiling[own]} if own in self.compiling else {}
        self.pending = 0
        self.lock = allocate_lock()


_forks = _Forks()


def held_over_forks(lock: object, rank: int) -> Any:
    """The lock, which every fork takes from now on."""
    _forks.locks.append((rank, lock))
    return lock


def table_lock() -> Any:
    """A new lock for tables that threads share; see Note [Forks]."""
    return held_over_forks(RLock(), _TABLES)


@contextmanager
def compiling() -> Iterator[None]:
    """A compilation: forks wait for its end, and it for forks that have begun."""
    own = get_ident()
    forks = _forks
    with forks.lock:
        if own not in forks.compiling:
            forks.wait_for(lambda: not forks.pending)
        forks.compiling[own] = forks.compiling.get(own, 0) + 1
    try:
        yield
    finally:
        with forks.lock:
            forks.compiling[own] -= 1
            if not forks.compiling[own]:
                del forks.compiling[own]


@contextmanager
def one_at_a_time(lock: RLock) -> Iterator[None]:
    """Something that one thread does at a time, and that forks wait for."""
    with compiling(), lock:
        yield
