"""Calls of the user's own operators, which become nodes of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from fxc.dispatch.bind import bind
from fxc.dispatch.custom_op import CustomOp
from fxc.ir.error_kinds import CUSTOM_OPERATOR
from fxc.ir.graph import Operand, Value
from fxc.ir.schema import Param
from fxc.ir.symbols import SymExpr
from fxc.ir.types import ArrayType, ScalarType
from fxc.ops.custom import NotLearnt, current_epoch, definitions
from fxc.ops.foreign_results import Unlearnable
from fxc.ops.table import TABLE

from ..arrays.dtypes import dtype_of
from ..numbers.dims import dim_of, known_int
from ..session.refusing import refusal
from ..session.session import Session, current
from ..values.objects import Args, Kwargs
from ..values.operands import Traced, constant, operand, type_of, wrap, wrap_all
from .foreign import with_sizes_as_now


def call_custom(op: CustomOp, args: Args, kwargs: Kwargs) -> object:
    """Record a call of an operator of the user's."""
    session = current()
    guards, epoch = session.door.outside.guards, current_epoch()
    guards.check(f"{guards.constant(epoch)}.holds is True", f"{op.__name__} is what it was")
    definition = definitions().get(op.schema.name)
    if definition is None or definition.owner is not op:
        raise refusal(CUSTOM_OPERATOR, f"the operator {op.__name__} is not registered any more")
    row = TABLE[op.schema.name]
    given = bind(row, args, kwargs)
    taken = [_argument(op, p, x) for p, x in zip(op.schema.params, given, strict=True)]
    for place in op.schema.written_params:
        _check_written(session, op, place, taken)
    try:
        found = session.record(op.schema.name, *taken)
    except NotLearnt as error:
        kinds = [type_of(x) for x in _operands(taken)]
        is_open = any(isinstance(dim, SymExpr) for kind in kinds for dim in kind.shape)
        raised = with_sizes_as_now(kinds) if is_open else error
        raise (
            refusal(CUSTOM_OPERATOR, error.text) if isinstance(raised, Unlearnable) else raised
        ) from None
    if found is None or not op.schema.returns:
        return None
    return wrap_all(found) if isinstance(found, tuple) else _wrapped(found)


def _wrapped(found: Operand) -> Any:
    return wrap(found) if isinstance(found, Value) else found.value


def _operands(taken: list[Any]) -> list[Operand]:
    found: list[Operand] = []
    for x in taken:
        if isinstance(x, tuple):
            found += _operands(list(x))
        elif hasattr(x, "type"):
            found.append(x)
    return found


def _argument(op: CustomOp, param: Param, x: Any) -> object:
    """The argument of the operator; raises ``TypeError`` for what does not fit."""
    if x is None and param.optional:
        return None
    if param.is_list:
        return tuple(_one(op, param, item) for item in x)
    return _one(op, param, x)


def _one(op: CustomOp, param: Param, x: object) -> object:
    match param.kind:
        case "Array" | "float":
            return _operand(op, param, x)
        case "int":
            return known_int(x, f"{param.name} of {op.__name__}")
        case "Sym":
            return dim_of(x)
        case "DType":
            return dtype_of(x)
    if isinstance(x, Traced):
        x = x._settled()
    if isinstance(x, Traced):
        found = operand(x)
        x = current().specialise(found, f"{param.name} of {op.__name__}")
    wanted: type = bool if param.kind == "bool" else str
    if not isinstance(x, wanted):
        raise refusal(CUSTOM_OPERATOR, f"{op.__name__}: {param.name} must be a {wanted.__name__}")
    return x


def _operand(op: CustomOp, param: Param, x: object) -> Operand:
    if isinstance(x, Traced):
        x = x._settled()
    if not isinstance(x, Traced | np.ndarray | np.generic | bool | int | float | complex):
        raise refusal(
            CUSTOM_OPERATOR,
            f"{op.__name__} of a {type(x).__name__} cannot be captured: {param.name} is an "
            "array or a number",
        )
    found = constant(x) if type(x) is np.ndarray else operand(x)
    if param.kind == "float" and not isinstance(type_of(found), ScalarType):
        raise refusal(
            CUSTOM_OPERATOR, f"{op.__name__}: {param.name} must be a number, not an array"
        )
    return found


def _check_written(session: Session, op: CustomOp, place: int, taken: list[Any]) -> None:
    """Refuse to write what is no array, cannot be written, or shares memory with what is read."""
    target, name = taken[place], op.schema.params[place].name
    kind = type_of(target)
    if not isinstance(target, Value) or not isinstance(kind, ArrayType):
        raise refusal(CUSTOM_OPERATOR, f"{op.__name__} writes {name}, which is no array")
    if not kind.writeable:
        raise refusal(CUSTOM_OPERATOR, f"{op.__name__} writes {name}, which cannot be written")
    for other in _operands([*taken[:place], *taken[place + 1 :]]):
        if not isinstance(other, Value) or not isinstance(other.type, ArrayType):
            continue
        if session.aliases.may_share_memory(target, other):
            raise refusal(
                CUSTOM_OPERATOR,
                f"{op.__name__} writes {name}, which shares memory with another argument; pass a "
                "copy",
            )
