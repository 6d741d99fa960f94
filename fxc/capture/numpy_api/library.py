"""Functions that NumPy itself runs: those that are called as their schemas say, and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.later import import_later
from fxc.ir.schema import Param
from fxc.ir.symbols import counted_in
from fxc.ops.operators import Operator

from ..arrays.counting import bound_size
from ..arrays.creation import arange
from ..arrays.reductions import demand_more
from ..numbers.dims import axis_number, dim_of
from ..numbers.python_numbers import to_int
from ..session.refusing import refuse
from ..session.session import current
from ..session.sizes import CountedSize
from ..values.operands import array_value, kind_of, operand, record, wrap
from ..values.protocols import parameters_of
from .joining import concatenate


def listed(op: Operator) -> Callable[..., Any]:
    """What records an operator for a call of NumPy's function that it means.

    NumPy's parameters are those of the schema: the first ones in their order, the others by name.
    What the schema does not know must be left out.
    """
    params, function = op.schema.params, op.numpy
    count = op.schema.positional

    def call(*args: object, **kwargs: object) -> object:
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
                raise refuse(NUMPY_OPTION, text, "reshape before")
            return axis_number(x)
        case _:
            return x


def _text(function: Any) -> str:
    return f"{function.__module__.replace('numpy', 'np', 1)}.{function.__name__}"


# ------------------------------------------------------------------ on arguments of the usual kinds


def _refuse_options(name: str, **options: object) -> None:
    for option, value in options.items():
        if value is not None and value is not False:
            raise refuse(NUMPY_OPTION, f"np.{name} with {option}=")


def lexsort(keys: object, axis: object = -1) -> object:
    if not isinstance(keys, tuple | list):
        keys = tuple(wrap(array_value(keys)))
    values = tuple(array_value(key) for key in keys)
    return record("lexsort", values, axis=axis_number(axis))


def bincount(x: object, /, weights: object = None, minlength: object = 0) -> object:
    """As ``np.bincount``: into ``minlength`` bins, or as many as it takes."""
    count, value = dim_of(minlength), array_value(x)
    if isinstance(x, tuple | list) and value.type.dtype.kind == "f":
        raise refuse(NUMPY_OPTION, "np.bincount of a list with floats", "use ints")
    given = None if weights is None else array_value(weights)
    if given is not None and counted_in(kind_of(value).size):
        demand_more(kind_of(value), None, 0)  # of nothing there are numbers, not sums
    if type(count) is not int or count != 0:
        return record("bincount", value, given, minlength=count)
    session = current()
    name = session.new_size_name()
    most = kind_of(value).size + _MOST_BINS
    if session.region:  # native code calls NumPy for what has a size that is known before
        largest = to_int(wrap(value).max())
        bins = bound_size(operand(largest + 1), most)
        return record("bincount", value, given, minlength=bins)
    (found,) = session.record("bincount_all", value, given, symbol=name, most=most)
    session.counted(CountedSize(name, most, found))
    return wrap(found)


_MOST_BINS = 2**16  # beside one for each element


def _transform(name: str) -> Callable[..., Any]:
    def call(
        a: object, n: object = None, axis: object = -1, norm: object = None, out: object = None
    ) -> object:
        _refuse_options(f"fft.{name}", out=out)
        size = None if n is None else dim_of(n)
        value = array_value(a)
        return record("fourier", value, kind=name, axis=axis_number(axis), norm=norm, n=size)

    return call


def fftfreq(n: Any, d: object = 1.0, device: object = None) -> object:
    whole = concatenate([arange((n - 1) // 2 + 1), arange(-(n // 2), 0)])
    return whole * (1.0 / (n * d))


# See Note [Rooms with one door].
einsum = import_later("fxc.capture.numpy_api.einsums", "einsum")

TRANSFORMS: dict[Any, Callable[..., Any]] = {
    np.fft.fftfreq: fftfreq,
    **{getattr(np.fft, name): _transform(name) for name in ("fft", "ifft", "rfft", "irfft")},
}
