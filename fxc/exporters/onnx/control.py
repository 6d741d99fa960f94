"""Branches and loops: ``If`` and ``Loop``, with the flag carried through."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fxc.ir.evaluate import symbols_bound_by
from fxc.ir.graph import Node, Operand, Region, Value
from fxc.ir.symbols import plain_symbol
from fxc.ir.types import ArrayType

from .arithmetic import truth
from .emitter import OnnxEmitter
from .kernels import BOOL, INT64
from .pointwise import given
from .tensors import Tensor
from .writer import ModelWriter, Scope


def enter(w: ModelWriter, params: Sequence[Value], tensors: Sequence[Tensor]) -> None:
    """Let tensors be the parameters of a region in the innermost scope, and bind their symbols."""
    for value, x in zip(params, tensors, strict=True):
        w.values[value] = x
        if not isinstance(value.type, ArrayType):
            for name in symbols_bound_by(value):
                w.bind(name, x)
            continue
        for axis, dim in enumerate(value.type.shape):
            plain = plain_symbol(dim)
            if plain is not None and not w.knows(plain):
                w.bind(plain, w.size_of(x, axis))


def run(w: ModelWriter, region: Region, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Write the nodes of a region into the innermost scope; its results."""
    enter(w, region.params, tensors)
    w.write(region.nodes)
    return [w.value(x) for x in region.results]


def _cond(w: ModelWriter, node: Node) -> tuple[Tensor, ...]:
    operands = [w.value(x) for x in node.arg("operands")]
    dtypes = [value.type.dtype for value in node.outputs]
    arms: list[tuple[Scope, list[Tensor]]] = []
    for region in (node.arg("on_true"), node.arg("on_false")):
        with w.body() as scope:
            found = run(w, region, operands)
            found = [w.cast(x, dtype) for x, dtype in zip(found, dtypes, strict=True)]
        arms.append((scope, found))
    flagged = any(scope.valid is not None for scope, _ in arms)
    if flagged:
        dtypes.append(BOOL)
        for scope, found in arms:
            found.append(w.constant(True) if scope.valid is None else scope.valid)
    if not dtypes:
        return ()
    bodies = [w.finish(scope, (), found) for scope, found in arms]
    results = w.calls(
        "If",
        (truth(w.value(node.arg("pred"))),),
        dtypes,
        then_branch=bodies[0],
        else_branch=bodies[1],
    )
    if flagged:
        w.require(results[-1])
    return results[: len(node.outputs)]


def _carried(w: ModelWriter, params: Sequence[Value], init: Sequence[Operand]) -> list[Tensor]:
    """What a loop starts with, in the dtypes of the parameters of its body."""
    return [given(w, x, p.type.dtype) for p, x in zip(params, init, strict=True)]


Turn = Callable[[Tensor, list[Tensor]], "tuple[list[Tensor], Tensor | None]"]


def _loop(
    w: ModelWriter, count: Tensor | None, going: Tensor | None, start: Sequence[Tensor], write: Turn
) -> list[Tensor]:
    """A loop; ``write`` gives for the number of a turn and the state the next state, and whether
    to go on.
    """
    so_far = w.valid_so_far()
    if so_far is not None:
        going = so_far if going is None else going & so_far
    turn = w.tensor("turn", INT64, is_number=True)
    before = w.tensor("going", BOOL, is_number=True)
    state = [w.tensor("state", x.dtype) for x in start]
    valid = w.tensor("valid_before", BOOL)
    with w.body() as scope:
        new, goes_on = write(turn, state)
        after = [w.cast(x, old.dtype) for x, old in zip(new, state, strict=True)]
        if scope.valid is not None:
            goes_on = scope.valid if goes_on is None else goes_on & scope.valid
            after.append(valid & scope.valid)
    initial = list(start)
    if scope.valid is not None:
        initial.append(w.constant(True))
        state.append(valid)
    body = w.finish(scope, (turn, before, *state), (goes_on or w.constant(True), *after))
    dtypes = [x.dtype for x in state]
    found = list(w.calls("Loop", (count, going, *initial), dtypes, body=body))
    if scope.valid is not None:
        w.require(found.pop())
    return found


def _fori_loop(w: ModelWriter, node: Node) -> tuple[Tensor, ...]:
    body, stops = node.arg("body"), node.arg("stops")
    low, high = (given(w, node.arg(name), INT64) for name in ("lo", "hi"))
    start = _carried(w, body.params[1:], node.arg("init"))
    count = w.same("Max", high - low, w.constant(0, INT64))

    def write(turn: Tensor, state: list[Tensor]) -> tuple[list[Tensor], Tensor | None]:
        found = run(w, body, (low + turn, *state))
        if stops:
            return found[:-1], ~found[-1]
        return found, None

    return tuple(_loop(w, count, None, start, write))


def _while_loop(w: ModelWriter, node: Node) -> tuple[Tensor, ...]:
    test, body = node.arg("test"), node.arg("body")
    start = _carried(w, body.params, node.arg("init"))

    def write(turn: Tensor, state: list[Tensor]) -> tuple[list[Tensor], Tensor]:
        found = run(w, body, state)
        (goes_on,) = run(w, test, found)
        return found, truth(goes_on)

    outer = dict(w.scopes[-1].symbols)
    (first,) = run(w, test, start)
    w.scopes[-1].symbols = outer  # those of the region's parameters are others in each turn
    return tuple(_loop(w, None, truth(first), start, write))


EMITTERS: dict[str, OnnxEmitter] = {
    "cond": OnnxEmitter(_cond),
    "fori_loop": OnnxEmitter(_fori_loop),
    "while_loop": OnnxEmitter(_while_loop),
}
