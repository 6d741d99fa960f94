"""How each contender compiles and runs a program. Each is imported only when it is asked for."""

from __future__ import annotations

import importlib.util
import inspect
import os
from collections.abc import Callable, MutableMapping
from types import FunctionType
from typing import Any

import numpy as np

from .suites.program import Arguments, Program

NUMBA = "numba"
PARALLEL = "numba-parallel"
CHECKED = "numba-checked"  # looks at each index, as NumPy and fxc do
PEERS = (NUMBA, PARALLEL, CHECKED, "numexpr", "jax")


class NotTaken(Exception):
    """The contender has no way to run this program."""


def installed(name: str) -> bool:
    return importlib.util.find_spec(name.partition("-")[0]) is not None


def one_thread(environment: MutableMapping[str, str]) -> None:
    """Have every contender run on one thread, and NumPy's BLAS, too.

    It has to be so before any of them is imported.
    """
    for name in ("FXC", "OPENBLAS", "OMP", "MKL", "NUMBA", "NUMEXPR"):
        environment[f"{name}_NUM_THREADS"] = "1"
    environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    environment["JAX_PLATFORMS"] = "cpu"


def use_one_thread() -> None:
    """Of this process, on one processor."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    one_thread(os.environ)


def compiled(
    name: str, function: Callable[..., Any], *, fullgraph: bool = True
) -> Callable[..., Any]:
    """`function` as the contender compiles it; fxc as a whole, or split if that cannot be."""
    match name:
        case "numpy":
            return function
        case "fxc":
            import fxc

            result: Callable[..., Any] = fxc.compile(function, fullgraph=fullgraph)
            return result
        case "numba" | "numba-parallel" | "numba-checked":
            import numba

            options = {"parallel": name == PARALLEL, "boundscheck": name == CHECKED or None}
            return numba.njit(**options)(with_compiled_helpers(function, numba.njit))
        case "jax":
            import jax

            jax.config.update("jax_enable_x64", True)
            return jax.jit(with_jax_numpy(function))
        case _:
            raise NotTaken(name)


def with_compiled_helpers(
    function: Callable[..., Any], compiler: Callable[..., Any]
) -> Callable[..., Any]:
    """The function, with all that it calls of its own module compiled, too."""
    return _rewritten(function, lambda helper: compiler(with_compiled_helpers(helper, compiler)))


def with_jax_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, and those of its own that it calls, with JAX's NumPy and its scipy.special."""
    import jax.numpy
    import jax.scipy

    found = _rewritten(function, with_jax_numpy)
    found.__globals__.update(np=jax.numpy, special=jax.scipy.special)
    return found


def _rewritten(function: Callable[..., Any], rewrite: Callable[..., Any]) -> FunctionType:
    """A copy whose globals are its own; functions among them, if it names them, are rewritten."""
    assert isinstance(function, FunctionType)
    space = {**function.__globals__}
    for name in function.__code__.co_names:
        if isinstance(space.get(name), FunctionType):
            space[name] = rewrite(space[name])
    made = FunctionType(function.__code__, space, function.__name__, function.__defaults__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


class Contestant:
    """A contender with a program: ``before()`` each call, and ``call()``.

    ``before`` is None where nothing has to be done. ``outcome()`` calls, and gives the result and
    what was written.
    """

    def __init__(self, name: str, program: Program, arguments: Arguments):
        taken = program.peers.get(name, program.function)
        if name == PARALLEL and NUMBA in program.peers and name not in program.peers:
            taken = program.peers[NUMBA]
        if taken is None or isinstance(taken, str) != (name == "numexpr"):
            raise NotTaken(program.name)
        self.before: Callable[[], None] | None = None
        self._program = program
        self._own = tuple(x.copy() if isinstance(x, np.ndarray) else x for x in arguments)
        self._functional = name == "jax"
        if isinstance(taken, str):
            self.call = self._numexpr(taken)
        elif self._functional:
            if program.writes and taken is program.function:
                raise NotTaken(program.name)
            self.call = self._jax(taken)
        else:
            self.call = self._plain(compiled(name, taken, fullgraph=False), arguments)

    def outcome(self) -> list[Any]:
        if self.before is not None:
            self.before()
        result = self.call()
        results = result if isinstance(result, tuple) else () if result is None else (result,)
        written = () if self._functional else (self._own[i].copy() for i in self._program.writes)
        return [*results, *written]

    def _plain(self, function: Callable[..., Any], arguments: Arguments) -> Callable[[], Any]:
        own = self._own
        if self._program.fresh:
            arrays = [(x, y) for x, y in zip(own, arguments, strict=True) if _is_array(x)]

            def before() -> None:
                for mine, original in arrays:
                    mine[...] = original

            self.before = before
        return lambda: function(*own)

    def _numexpr(self, expression: str) -> Callable[[], Any]:
        import numexpr

        names = inspect.signature(self._program.function).parameters
        arrays = dict(zip(names, self._own, strict=True))
        return lambda: numexpr.evaluate(expression, local_dict=arrays)

    def _jax(self, function: Callable[..., Any]) -> Callable[[], Any]:
        """JAX has no writes: the old value is given away, and its memory may hold the new one."""
        import jax

        jax.config.update("jax_enable_x64", True)
        program = self._program
        keeps = program.writes and not program.fresh
        static = [i for i, x in enumerate(self._own) if not _is_array(x)]
        given = program.writes if keeps else ()
        jitted = jax.jit(with_jax_numpy(function), static_argnums=static, donate_argnums=given)
        state = [jax.numpy.array(x) if _is_array(x) else x for x in self._own]
        if not keeps:
            return lambda: jax.block_until_ready(jitted(*state))

        def run() -> Any:
            new = jax.block_until_ready(jitted(*state))
            for i, x in zip(given, new if isinstance(new, tuple) else (new,), strict=True):
                state[i] = x
            return new

        return run


def _is_array(x: object) -> bool:
    return isinstance(x, np.ndarray)
