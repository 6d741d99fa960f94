"""Metas of control flow: typed from the results of the regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fxc.ir.graph import Region
from fxc.ir.types import ArrayType, Type

from .probing import Operand, type_of
from .shapes import same_shape


def cond(
    pred: Operand, operands: tuple[Operand, ...], on_true: Region, on_false: Region
) -> tuple[Type, ...]:
    """The results of the arms, which must agree.

    Raises ``TypeError`` if they do not, ``ValueError`` if the condition has more than one element.
    """
    if type_of(pred).rank != 0:
        raise TypeError(f"the condition of a branch must be a scalar, not {type_of(pred)}")
    given = tuple(type_of(operand) for operand in operands)
    for name, arm in (("true", on_true), ("false", on_false)):
        taken = tuple(param.type for param in arm.params)
        _agreed(f"the {name} arm of a branch takes", taken, "it is given", given)
    return _agreed(
        "the true arm of a branch gives",
        results_of(on_true),
        "the false arm",
        results_of(on_false),
    )


def fori_loop(
    lo: Operand, hi: Operand, init: tuple[Operand, ...], body: Region, stops: bool = False
) -> tuple[Type, ...]:
    """The results of the body, which must be of the types that the loop starts with.

    With ``stops`` it has one more, a bool that ends the loop.
    Raises ``TypeError`` if they are not, or if a bound is not an integer.
    """
    for bound in (type_of(lo), type_of(hi)):
        if bound.rank != 0 or bound.dtype.kind not in "iub":
            raise TypeError(f"'{bound}' object cannot be interpreted as an integer")
    found = results_of(body)
    if stops:
        _check_flag("the body of a loop that stops ends with", found[-1:])
        found = found[:-1]
    return _carried(init, [param.type for param in body.params[1:]], found)


def while_loop(init: tuple[Operand, ...], test: Region, body: Region) -> tuple[Type, ...]:
    """The results of the body, which must be of the types that the loop starts with.

    Raises ``TypeError`` if they are not, or if the test does not give one bool.
    """
    start = tuple(type_of(value) for value in init)
    taken = tuple(param.type for param in test.params)
    _agreed("the test of a loop takes", taken, "it is given", start)
    _check_flag("the test of a loop gives", results_of(test))
    return _carried(init, [param.type for param in body.params], results_of(body))


def _carried(
    init: tuple[Operand, ...], params: Sequence[Type], results: tuple[Type, ...]
) -> tuple[Type, ...]:
    start = tuple(type_of(value) for value in init)
    _agreed("the body of a loop takes", tuple(params), "it is given", start)
    return _agreed("a loop starts with", start, "its body gives", results)


def _check_flag(what: str, found: tuple[Type, ...]) -> None:
    if len(found) != 1 or found[0].rank != 0 or found[0].dtype.kind != "b":
        raise TypeError(f"{what} one bool, not {', '.join(map(str, found)) or 'nothing'}")


def results_of(region: Region) -> tuple[Type, ...]:
    """The types of the results of a region."""
    return tuple(result.type for result in region.results)


def _agreed(
    one: str, left: tuple[Type, ...], other: str, right: tuple[Type, ...]
) -> tuple[Type, ...]:
    if len(left) != len(right):
        raise TypeError(f"{one} {len(left)} values, {other} {len(right)}")
    return tuple(
        _joined(f"value {place}: {one} {a}, {other} {b}", a, b)
        for place, (a, b) in enumerate(zip(left, right, strict=True))
    )


def _joined(text: str, left: Type, right: Type) -> Type:
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        same = (
            left.dtype == right.dtype
            and same_shape(left.shape, right.shape)
            and same_shape(left.strides, right.strides)
        )
        if same:
            return left if right.writeable else right
    elif left == right:
        return left
    raise TypeError(text)


METAS: dict[str, Callable[..., Any]] = {
    "cond": cond,
    "fori_loop": fori_loop,
    "while_loop": while_loop,
}
