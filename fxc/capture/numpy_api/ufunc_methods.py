"""``__array_ufunc__``: ufuncs and their methods on traced values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_CALL, NUMPY_OPTION
from fxc.ir.later import import_later
from fxc.ops.foreign_results import Unlearnable
from fxc.ops.foreign_ufuncs import runs_python

from ..arrays import reductions
from ..arrays.ufunc_options import call_with_options, outer
from ..arrays.ufuncs import adopted, operator_name
from ..session.refusing import refusal, refuse
from ..session.session import current
from .foreign import call_foreign, into, raise_for_boxed
from .placing import at

# See Note [Rooms with one door].
of_ufunc = import_later("fxc.capture.numpy_api.sampled_classes", "of_ufunc")


def array_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[object, ...], kwargs: dict[str, Any]
) -> object:
    """``__array_ufunc__`` of all traced values."""
    try:
        found = _recorded(ufunc, method, inputs, dict(kwargs))
    except (TypeError, ValueError) as error:
        if method != "__call__":
            raise_for_boxed(error, f"{ufunc.__name__}.{method}", (inputs, kwargs))
        raise
    return of_ufunc(inputs, kwargs, found) if current().classes else found


def _recorded(
    ufunc: np.ufunc, method: str, inputs: tuple[object, ...], options: dict[str, Any]
) -> Any:
    match method:
        case "reduce":
            return reductions.ufunc_reduce(ufunc, *inputs, **options)
        case "accumulate":
            return reductions.ufunc_accumulate(ufunc, *inputs, **options)
        case "reduceat":
            options |= zip(("axis", "dtype", "out"), inputs[2:], strict=False)
            call = partial(reductions.ufunc_reduceat, ufunc)
            return _into_out(ufunc, call, inputs[:2], options)
    name = operator_name(ufunc)
    if name is None and ufunc.signature is not None and method == "__call__":
        return _with_core_dimensions(ufunc, inputs, options)
    name = name or adopted(ufunc)
    match method:
        case "__call__":
            return call_with_options(ufunc, name, inputs, options)
        case "outer":
            return outer(ufunc, name, inputs, options)
        case "at":
            return at(ufunc, name, *inputs, **options)
        case _:
            raise refuse(NUMPY_CALL, f"np.{ufunc.__name__}.{method}")


def _with_core_dimensions(
    ufunc: np.ufunc, inputs: tuple[object, ...], options: dict[str, object]
) -> object:
    """A ufunc of matrices and the like, which is called as it is."""
    if runs_python(ufunc):
        raise refuse(NUMPY_CALL, f"the ufunc {ufunc.__name__}, which runs Python code,")

    def call(*given: object, **chosen: object) -> object:
        try:
            return call_foreign(ufunc, given, chosen)
        except Unlearnable as reason:
            raise refusal(
                NUMPY_OPTION, f"np.{ufunc.__name__} cannot be captured here: {reason}"
            ) from None

    return _into_out(ufunc, call, inputs, options)


def _into_out(
    ufunc: np.ufunc, call: Callable[..., Any], inputs: tuple[object, ...], options: dict[str, Any]
) -> object:
    if options.get("out") is None:
        return call(*inputs, **options)
    error = refusal(NUMPY_OPTION, f"np.{ufunc.__name__} with such an out= cannot be captured")
    return into(inputs, options, lambda rest: call(*inputs, **rest), error)
