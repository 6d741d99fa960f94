"""Functions that the table lists and NumPy itself runs: they are called as their schemas say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.schema import Param
from fxc.ops.operators import Operator

from ..numbers.dims import axis_number
from ..session.refusing import refuse
from ..values.operands import operand, record
from ..values.protocols import parameters_of


def listed(op: Operator) -> Callable[..., Any]:
    """What records an operator for a call of NumPy's function that it means.

    NumPy's parameters are those of the schema: the first ones in their order, the others by name.
    What the schema does not know must be left out.
    """
    params, function = op.schema.params, op.numpy
    count = op.schema.positional

    def call(*args: object, **kwargs: object) -> Any:
        parameters = parameters_of(function)
        given = {**dict(zip(parameters, args, strict=False)), **kwargs}
        names = [*list(parameters)[:count], *(each.name for each in params[count:])]
        for name, value in given.items():
            is_left_out = value is parameters[name].default or value is None or value is False
            if name not in names and not is_left_out:
                raise refuse(NUMPY_OPTION, f"{_text(function)} with {name}=")
        taken = [
            _argument(function, param, given.get(name, parameters[name].default))
            for param, name in zip(params, names, strict=True)
        ]
        options = dict(zip(names[count:], taken[count:], strict=True))
        return record(op.name, *taken[:count], **options)

    return call


def _argument(function: object, param: Param, x: object) -> object:
    """The argument of an operator."""
    if x is None and param.optional:
        return None
    match param.kind:
        case "Array":
            return operand(x)
        case "bool":
            return bool(x)
        case "int":
            if isinstance(x, tuple):
                text = f"{_text(function)} over several axes"
                raise refuse(NUMPY_OPTION, f"{text}", "reshape before")
            return axis_number(x)
        case _:
            return x


def _text(function: Any) -> str:
    return f"{function.__module__.replace('numpy', 'np', 1)}.{function.__name__}"
