"""Each mechanism of dispatch is on the way of a program: without it, that program differs.

A row takes one mechanism away and names a program. With the mechanism the program gives NumPy's
bits and calls NumPy for nothing; without it, it fails, or calls NumPy.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.dispatch import default, dispatcher, trace
from fxc.dispatch.backend import BackendIndex
from fxc.dispatch.default import make_dispatcher
from fxc.dispatch.dispatcher import Dispatcher
from fxc.dispatch.keys import AliasKey, DispatchKey
from fxc.ir.errors import CaptureError, InternalError
from fxc.passes import decompose, functional_column, functionalize

Patch = pytest.MonkeyPatch


@contextmanager
def nothing(keys: int) -> Iterator[None]:
    yield


# ---------------------------------------------------------------- programs


def filled(x: Any) -> Any:
    """Makes an array and writes it: what makes it has no argument with a key."""
    y = np.zeros(x.size)
    y[1:] += x[1:]
    return y


def in_degrees(x: Any) -> Any:
    """Has an operator that is another one in all graphs."""
    return np.degrees(x)


def average(x: Any) -> Any:
    return x.mean()


def spaced(x: Any) -> Any:
    """Has a composite that writes, and no other, of a size that is a symbol."""
    return x + np.linspace(0.0, 1.0, x.size)


def complex_variance(x: Any) -> Any:
    """Has a composite that declines."""
    return (x + 1j).var()


# ---------------------------------------------------------------- mechanisms


@dataclass(frozen=True)
class Mechanism:
    name: str
    program: Callable[[Any], Any]
    remove: Callable[[Patch], None]
    backend: str = "llvm"


def _without_source(key: DispatchKey) -> Callable[[Patch], None]:
    original = Dispatcher.source

    def source(self: Any, column: DispatchKey, found: Any) -> Any:
        return None if column is key else original(self, column, found)

    return lambda patch: patch.setattr(Dispatcher, "source", source)


def _without_alias(key: AliasKey) -> Callable[[Patch], None]:
    original = Dispatcher.impl_composite

    def impl_composite(self: Any, name: str, alias: AliasKey, function: Any) -> Any:
        return None if alias is key else original(self, name, alias, function)

    return lambda patch: patch.setattr(Dispatcher, "impl_composite", impl_composite)


def _without_keys_of_arguments(patch: Patch) -> None:
    patch.setattr(dispatcher, "_BITS_OF_CLASS", defaultdict(int))
    patch.setattr(dispatcher, "_bits_of", lambda arg: 0)


def _without_redispatch(patch: Patch) -> None:
    """The highest key of the arguments decides once more."""

    def redispatch(self: Any, key: DispatchKey, name: str, args: tuple[Any, ...]) -> Any:
        return self.call(name, *args)

    patch.setattr(Dispatcher, "redispatch", redispatch)


def _with_writes(function: Callable[..., Any], args: Any, dispatcher: Any) -> Any:
    return function(*args)


MECHANISMS = [
    Mechanism("arguments bring keys", filled, _without_keys_of_arguments),
    Mechanism("Trace is included", filled, lambda p: p.setattr(trace, "including", nothing)),
    Mechanism(
        "Functionalize is included",
        spaced,
        lambda p: p.setattr(functionalize, "including", nothing),
    ),
    Mechanism(
        "Functionalize is excluded",
        spaced,
        lambda p: p.setattr(functional_column, "excluding", nothing),
    ),
    Mechanism(
        "fallthrough", spaced, lambda p: p.setattr(Dispatcher, "fallthrough", lambda *args: None)
    ),
    Mechanism("redispatch", filled, _without_redispatch),
    Mechanism("the CPU column", complex_variance, _without_source(DispatchKey.CPU), "numpy"),
    Mechanism("the Meta column", filled, _without_source(DispatchKey.META)),
    Mechanism("the Functionalize column", filled, _without_source(DispatchKey.FUNCTIONALIZE)),
    Mechanism(
        "the kernels of an index",
        filled,
        lambda p: p.setattr(BackendIndex, "get_kernel", lambda self, op: None),
    ),
    Mechanism("implicit composites", in_degrees, _without_alias(AliasKey.IMPLICIT)),
    Mechanism("explicit composites", average, _without_alias(AliasKey.EXPLICIT)),
    Mechanism("composites that write", spaced, _without_alias(AliasKey.NON_FUNCTIONAL)),
    Mechanism(
        "composites are functionalized",
        spaced,
        lambda p: p.setattr(decompose, "functionalized", _with_writes),
    ),
]


def outcome(mechanism: Mechanism) -> object:
    """The bits of the result, and what NumPy was called for; or the exception's type."""
    compiled = fxc.compile(
        mechanism.program, backend=mechanism.backend, fullgraph=True, dynamic=True
    )
    try:
        found = np.asarray(compiled(np.array([0.5, 2.0, -1.25, 3.0])))
    except (CaptureError, InternalError) as error:
        return type(error)
    return found.dtype, found.tobytes(), sorted(compiled.cache_info().fallbacks)


def expected(program: Callable[[Any], Any]) -> object:
    found = np.asarray(program(np.array([0.5, 2.0, -1.25, 3.0])))
    return found.dtype, found.tobytes(), []


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: each.name)
def test_a_program_breaks_without(mechanism: Mechanism, monkeypatch: Patch) -> None:
    monkeypatch.setattr(default, "_default", None)
    assert outcome(mechanism) == expected(mechanism.program)
    mechanism.remove(monkeypatch)
    monkeypatch.setattr(default, "_default", make_dispatcher())
    assert outcome(mechanism) != expected(mechanism.program)
