"""How an operator of fxc is written: what each module of this folder has for its operators."""

from __future__ import annotations

from collections.abc import Callable

from fxc.ir.graph import Node
from fxc.ir.records import frozen

from .tensors import Tensor
from .writer import ModelWriter

Write = Callable[[ModelWriter, Node], "Tensor | tuple[Tensor, ...]"]


@frozen
class OnnxEmitter:
    """Writes a node; ``problem`` says of one why it cannot. ``exact``: with NumPy's very bits."""

    write: Write
    exact: bool = True
    problem: Callable[[Node], str | None] = lambda node: None
