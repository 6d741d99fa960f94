"""Branches and loops: regions read what stands outside of them by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fxc.ir.graph import Node, Region, Value

from .builder import BOOL, I64, Val
from .casts import cast
from .emission import Emission
from .text import identifier

Body = Callable[[Region], list[Val]]


def cond(e: Emission, node: Node, run: Body) -> list[Val]:
    pred = e.reshape(e.truth(e.read(node.arg("pred"))), [])
    operands = node.arg("operands")

    def arm(region: Region) -> list[Val]:
        for param, operand in zip(region.params, operands, strict=True):
            e.bind(param, e.read(operand), _range_of(e, param, operand))
        return _results(e, node, run(region))

    on_true, on_false = node.arg("on_true"), node.arg("on_false")
    return e.b.branch(pred, lambda: arm(on_true), lambda: arm(on_false))


def _range_of(e: Emission, param: Value, operand: object) -> tuple[int, int | None] | None:
    if param.type.dtype.kind != "i" or param.type.rank:
        return None
    return e.range_of(operand)  # type: ignore[arg-type]


def _results(e: Emission, node: Node, found: Sequence[Val]) -> list[Val]:
    """What a region gives, in the types of the node's results."""
    return [
        e.fitted(e.reshape(cast(e, x, value.type.dtype), x.shape), e.held(value.type))
        for x, value in zip(found, node.outputs, strict=True)
    ]


def fori_loop(e: Emission, node: Node, run: Body) -> list[Val]:
    """A counter, what is carried, and whether to go on where the body may stop."""
    body, stops = node.arg("body"), node.arg("stops")
    low, high = cast(e, e.read(node.arg("lo")), I64), cast(e, e.read(node.arg("hi")), I64)
    first, last = e.range_of(node.arg("lo"))[0], e.range_of(node.arg("hi"))[1]
    within = (first, None if last is None else max(last - 1, first))
    carried = [e.read(each) for each in node.arg("init")]
    init = [low, *carried, *([e.b.scalar(True, BOOL)] if stops else [])]
    names: list[str | None] = [identifier(param.name) for param in body.params]
    one = e.b.scalar(1, I64)

    def test(counter: Val, *state: Val) -> Val:
        more = e.b.compare("LT", counter, high)
        return e.b.same("and", more, state[-1]) if stops else more

    def step(counter: Val, *state: Val) -> list[Val]:
        e.bind(body.params[0], counter, within)
        for param, value in zip(body.params[1:], state, strict=False):
            e.bind(param, value, _unknown(param))
        found = run(body)
        kept = _results(e, node, found[: len(node.outputs)])
        left = [e.b.same("not", e.truth(found[-1]))] if stops else []
        return [e.b.same("add", counter, one), *kept, *left]

    results = e.b.loop(init, test, step, [*names, *([None] if stops else [])])
    return results[1 : 1 + len(carried)]


def _unknown(param: Value) -> tuple[int, int | None] | None:
    """Python ints that a loop carries may be anything."""
    if param.type.dtype.kind != "i" or param.type.rank:
        return None
    return (-(2**62), None)


def while_loop(e: Emission, node: Node, run: Body) -> list[Val]:
    test, body = node.arg("test"), node.arg("body")
    init = [e.read(each) for each in node.arg("init")]

    def bound(region: Region, state: Sequence[Val]) -> list[Val]:
        for param, value in zip(region.params, state, strict=True):
            e.bind(param, value, _unknown(param))
        return run(region)

    names = [identifier(param.name) for param in body.params]
    return e.b.loop(
        init,
        lambda *state: e.truth(bound(test, state)[0]),
        lambda *state: _results(e, node, bound(body, state)),
        names,
    )


CONTROL = {"cond": cond, "fori_loop": fori_loop, "while_loop": while_loop}
