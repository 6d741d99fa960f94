"""The pool of threads that run the chunks of parallel loops.

See Note [Threads].
"""

from __future__ import annotations

import atexit
import ctypes
import signal
from functools import cache

from fxc.ir.forking import THREADS as THREADS_RANK
from fxc.ir.forking import held_over_forks
from fxc.ir.settings import Config, config

from .engine import Engine
from .pool_code import POOL
from .pool_layout import LEAST, MASKING, SIZE, WORKERS
from .thread_numbers import get_num_threads

# Note [Threads]
# A parallel loop is a function of native code that runs the iterations of a chunk,
# ``body(first, count, number of the thread, context)``, and a call of ``fxc.parallel``, which has
# it run for all chunks. Which chunks there are does not depend on the number of threads, and no
# result on the chunks: see Note [Parallel loops].
# - The thread that calls takes chunks like any other, one after the other, until there are none.
#   It waits for nobody who has no chunk, so a worker that gets no processor costs nothing; for
#   those in progress it spins for some microseconds, then it sleeps.
# - Workers are threads of the C library, unknown to Python: they run nothing but chunks, with all
#   signals blocked, and the control bits of the caller's floating-point unit. Its flags are
#   gathered for the caller: Note [Floating-point flags]. They spin for some ten microseconds after
#   the last chunk, then they sleep.
# - They are made by the first job. One job runs at a time: who comes meanwhile runs its loop alone.
# - Before a fork, when their number changes, and at the end of the process they are joined; the
#   next job makes new ones. So a child begins with an idle pool, see Note [Forks].
# - A long loop runs in strips, each of them a job of some milliseconds. Before each strip it is
#   looked for signals, and the interpreter lock is given up while they run: see Note [The
#   interpreter lock]. No job runs while a handler of a signal does, which may fork.
# - A thread of Python may be inside when the interpreter ends: pool and code are never freed.


class ThreadPool:
    """The pool's memory and functions. It is a lock, too: who has it knows that no job runs and
    that there are no workers.

    Workers that sleep are woken for jobs of at least so many chunks: to wake one takes about as
    long as a chunk, on a virtual machine.
    """

    def __init__(self, threads: int, least: int = 8) -> None:
        self._engine = Engine(POOL, b"", (), quick=True)
        self._memory = ctypes.create_string_buffer(SIZE + 64)
        self.state = -(-ctypes.addressof(self._memory) // 64) * 64
        self.run = self._engine.address("fxc.parallel")
        self._is_closed = False
        self._call("fxc.prepare")
        self._field(MASKING).value = int(getattr(signal, "SIG_SETMASK", 0))
        self._field(LEAST).value = least
        self.resize(threads)
        held_over_forks(self, THREADS_RANK)
        atexit.register(self.close)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))

    def _call(self, name: str, *given: int) -> None:
        """Call a function on the pool, without the interpreter lock."""
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *(ctypes.c_int64 for _ in given))
        kind(self._engine.address(name))(self.state, *given)

    def _field(self, offset: int) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self.state + offset)

    @property
    def workers(self) -> int:
        """How many threads there are now beside those that call."""
        return self._field(WORKERS).value

    def resize(self, threads: int) -> None:
        """Let the following jobs have so many threads."""
        if not self._is_closed:
            self._call("fxc.resize", threads)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Wait for the job that runs, and end the workers. Jobs end, so nobody waits for long."""
        if not self._is_closed:
            self._call("fxc.hold")
        return True

    def release(self) -> None:
        """Let there be jobs again."""
        if not self._is_closed:
            self._call("fxc.release")

    def close(self) -> None:
        """End the workers for good: from now on loops run serially."""
        self.acquire()
        self._is_closed = True

    def _at_fork_reinit(self) -> None:
        self._call("fxc.prepare")


@cache
def _pool() -> ThreadPool:
    return ThreadPool(get_num_threads())


def parallel() -> tuple[int, int]:
    """The addresses of the function that runs a parallel loop, and of the pool."""
    return _pool().run, _pool().state


def set_num_threads(n: int | None) -> None:
    """Let compiled loops use up to ``n`` threads, the one that calls included.

    Results do not depend on it, not in a single bit. With 1, everything runs in the calling thread;
    with None there is one for each processor. Raises ``ValueError`` unless ``n`` is from 1 to 256.

    >>> import fxc
    >>> before = fxc.get_num_threads()
    >>> fxc.set_num_threads(1)
    >>> fxc.get_num_threads()
    1
    >>> fxc.set_num_threads(before)
    """
    config.num_threads = n


def _resize() -> None:
    if _pool.cache_info().currsize:
        _pool().resize(get_num_threads())


Config.num_threads.watch(_resize)
