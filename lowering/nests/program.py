"""What lowering makes of a graph: buffers, and the statements over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fxc.ir.records import field, frozen

from ..machine.target import SERIAL, Target
from .buffers import Buffer
from .statements import Bind, Boxed, Loop, Stmt, walk


@frozen
class Param:
    """A scalar that is given at run time: a Python or NumPy scalar among the inputs.

    Of a complex one native code gets ``part``, 'real' or 'imag'.
    """

    name: str
    dtype: np.dtype
    input: int
    part: str = ""


@frozen
class Program:
    """What lowering makes of a graph: buffers and statements.

    ``inputs`` and ``results`` name a buffer (or a Param) for each graph input and a buffer for each
    graph result. ``copies`` say why a copy had to be made. ``sizes`` name the buffers with the
    values of symbols that are bound outside of control flow. ``undone`` are the inputs to whose old
    content a check that fails returns. ``target`` is the machine that it is for.
    """

    name: str
    buffers: dict[str, Buffer]
    params: tuple[Param, ...]
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    body: tuple[Stmt, ...]
    copies: tuple[str, ...] = ()
    sizes: Mapping[str, str] = field(default_factory=dict)
    undone: frozenset[str] = frozenset()
    target: Target = SERIAL

    def __str__(self) -> str:
        return _print(self)

    @property
    def kernels(self) -> int:
        """How many loop nests there are."""
        return sum(isinstance(stmt, Loop) for stmt in walk(self.body, into_loops=False))


LEAST_PIECE = 128  # iterations of a piece of a pairwise sum: the tree halves what is longer

_print: Callable[[Program], str] = object.__repr__


def prints_programs(printer: Callable[[Program], str]) -> None:
    """Let this give the texts of programs; it needs what is defined here."""
    global _print
    _print = printer


def is_cut(stmt: Stmt) -> bool:
    """Whether a piece of native code ends: with a size that its caller has to know, or in front of
    a call of NumPy that the caller makes.
    """
    return (isinstance(stmt, Bind) and stmt.cuts) or (isinstance(stmt, Boxed) and not stmt.failed)
