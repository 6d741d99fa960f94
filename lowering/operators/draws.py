"""Which draws of random numbers native code makes. See Note [Native draws]."""

from __future__ import annotations

import numpy as np

from fxc.ir.graph import Literal, Node, Value
from fxc.ir.size_functions import hint
from fxc.ir.symbols import product
from fxc.ir.types import ArrayType
from fxc.ops.draws import Form, Real, form_of

from ..machine.costs import Costs


def is_drawn(node: Node) -> bool:
    """Whether native code draws what a node does."""
    if node.op != "draw":
        return False
    form = _form(node)
    drawn, size = node.outputs[1].type, node.arg("size")
    if form is None or drawn.dtype.str[1:] != form[0].result:
        return False
    if isinstance(drawn, ArrayType) != (size is not None):
        return False
    return all(
        _is_taken(x, isinstance(each, Real))
        for each, x in zip(form[0].arguments, form[1], strict=True)
    )


def is_small(node: Node, costs: Costs) -> bool:
    """Whether a draw or a ufunc of NumPy's makes few numbers, as far as is known: arrays of more
    outside of loops are NumPy's own, without a copy.
    """
    drawn = node.outputs[-1].type
    if not isinstance(drawn, ArrayType):
        return True
    form = _form(node) if node.op == "draw" else None
    is_quick = form is not None and form[0].standard
    return hint(product(drawn.shape)) <= (costs.quick_draws if is_quick else costs.draws)


def _form(node: Node) -> tuple[Form, tuple[object, ...]] | None:
    """The form of a draw, and what it is drawn with."""
    return form_of(node.arg("source"), node.arg("call"), node.arg("xs"))


def _is_taken(x: object, is_real: bool) -> bool:
    """Whether a number becomes a double, or an int of 64 bits, as NumPy makes it one."""
    if isinstance(x, Literal | Value):
        if isinstance(x.type, ArrayType):
            return False
        dtype = x.type.dtype
    else:
        dtype = np.asarray(x).dtype  # a default
    if dtype.kind == "u" and dtype.itemsize == 8:
        return False
    return dtype.kind in ("fiub" if is_real else "iub") and dtype.str[1:] != "f2"
