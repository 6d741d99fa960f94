"""How each contender runs a case. Each is imported only if it is installed, and only when asked."""

from __future__ import annotations

import importlib.util
import inspect
import os
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from . import measure
from .cases import Array, Case

Run = Callable[[], Any]
Inputs = tuple[Array, ...]


class NotTaken(Exception):
    """The contender has no way to run this case."""


def installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def use_one_thread() -> None:
    """Have every contender run on one thread, fxc, too. Call before importing any of them."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ["NUMEXPR_NUM_THREADS"] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["JAX_PLATFORMS"] = "cpu"


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
        case "numba":
            import numba

            return numba.njit(function)
        case measure.CHECKED:
            import numba

            return numba.njit(boundscheck=True)(function)
        case "jax":
            import jax

            jax.config.update("jax_enable_x64", True)
            return jax.jit(with_jax_numpy(function))
        case _:
            raise NotTaken(name)


def with_jax_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    import jax.numpy

    assert isinstance(function, FunctionType)
    return FunctionType(function.__code__, {**function.__globals__, "np": jax.numpy})


def prepare(name: str, case: Case, inputs: Inputs) -> Run:
    """A function of no arguments that runs the case once and returns when it is done."""
    match name:
        case "numexpr":
            return prepare_numexpr(case, inputs)
        case "jax":
            return prepare_jax(case, inputs)
        case _:
            program = compiled(name, case.function)
            if case.copied and any(isinstance(x, np.ndarray) for x in inputs):
                return lambda: program(*copied(inputs))
            return lambda: program(*inputs)


def copied(inputs: Inputs) -> Inputs:
    return tuple(x.copy() if isinstance(x, np.ndarray) else x for x in inputs)


def prepare_numexpr(case: Case, inputs: Inputs) -> Run:
    if case.expression is None:
        raise NotTaken(case.name)
    import numexpr

    names = inspect.signature(case.function).parameters
    arrays = dict(zip(names, inputs, strict=True))
    return lambda: numexpr.evaluate(case.expression, local_dict=arrays)


def prepare_jax(case: Case, inputs: Inputs) -> Run:
    if case.copied:  # JAX has neither writes nor loops over elements
        raise NotTaken(case.name)
    import jax

    function = compiled("jax", case.functional or case.function)
    if not case.in_place:
        arrays = [jax.numpy.asarray(array) for array in inputs]
        return lambda: function(*arrays).block_until_ready()
    # JAX has no writes: the old value is given away, and its memory may hold the new one.
    assert case.functional is not None
    donating = jax.jit(with_jax_numpy(case.functional), donate_argnums=0)
    state = [jax.numpy.array(array) for array in inputs]

    def run() -> Any:
        state[0] = donating(*state).block_until_ready()
        return state[0]

    return run
