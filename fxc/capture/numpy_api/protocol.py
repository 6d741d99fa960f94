"""NumPy's functions on traced values: one table, function to function, same parameters.

``array_function`` serves the protocol of that name and the call door alike. A function that is
not in the table is refused by its name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.error_kinds import ARRAY_MEMORY, NUMPY_CALL, NUMPY_OPTION, WARNS
from fxc.ir.errors import CaptureError, FxcError
from fxc.ir.later import import_later
from fxc.ir.types import ArrayType
from fxc.ops.foreign_results import Unlearnable
from fxc.ops.operators import Tag
from fxc.ops.table import TABLE

from ..arrays import creation, dtypes, memory, shaping, sharing, sorting
from ..arrays.reductions import deviating, find, reducing, scan
from ..numbers.dims import axis_number
from ..numbers.traced_int import wrap_dim
from ..outside.purity import only_computes
from ..session.refusing import refuse
from ..session.session import current
from ..values.objects import Args, Kwargs
from ..values.operands import array_value
from ..values.protocols import check_call
from . import (
    by_function,
    elements,
    finding,
    joining,
    library,
    matrices,
    picking,
    placing,
    searching,
    statistics,
    tapers,
)
from .foreign import attempt, call_foreign, into, raise_for_boxed
from .library import listed
from .numpy_source import SOURCES, has_source, run_source, run_unlisted

# See Note [Rooms with one door].
with_class = import_later("fxc.capture.numpy_api.sampled_classes", "with_class")


def array_function(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> object:
    """Call the table's entry for ``function``; what there is no entry for is called as it is.

    Raises ``CaptureError`` where it is not known what that gives.
    """
    check_call(function, args, kwargs)
    return as_function(function, args, kwargs)


def as_function(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> object:
    """The same for arguments that are known to be right in kind and number."""
    found = _attempted(function, args, kwargs)
    return with_class(function, args, kwargs, found) if current().classes else found


def _attempted(function: Callable[..., Any], args: Args, kwargs: Kwargs) -> object:
    try:
        return _handled(function, args, kwargs)
    except CaptureError as error:
        # A warning would come from another line, and arrays of the graph lie in other memory.
        tells = error.kind in (WARNS, ARRAY_MEMORY)
        if type(error) is not CaptureError or tells or not only_computes(function):
            raise
        if kwargs.get("out") is None:
            return attempt(function, args, kwargs, error)
        return into(args, kwargs, partial(_attempted, function, args), error)
    except (TypeError, ValueError) as error:
        name = getattr(function, "__name__", repr(function))
        raise_for_boxed(error, name, (args, kwargs))
        raise


def is_listed(function: object) -> bool:
    return function in FUNCTIONS


def is_code_of_numpys(function: object) -> bool:
    """Whether a function of NumPy's that is not in the table is run by its own source."""
    return function in SOURCES or has_source(function)


def _handled(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
    handler = FUNCTIONS.get(function)
    if handler is not None:
        try:
            return handler(*args, **kwargs)
        except TypeError as error:
            if isinstance(error, FxcError) or _has_parameters_for(handler, args, kwargs):
                raise
            text = f"np.{function.__name__} with a parameter of this version of NumPy"
            raise refuse(NUMPY_OPTION, text) from error
    if function in SOURCES:
        return run_source(function, args, kwargs)
    if has_source(function):
        try:
            return call_foreign(function, args, kwargs)
        except Unlearnable:  # a predicate, for instance, whose code says what it depends on
            return run_unlisted(function, args, kwargs)
    name = getattr(function, "__name__", repr(function))
    module = getattr(function, "__module__", "numpy") or "numpy"
    raise refuse(NUMPY_CALL, f"{module.replace('numpy', 'np', 1)}.{name}")


def _has_parameters_for(handler: Callable[..., Any], args: Args, kwargs: Kwargs) -> bool:
    try:
        inspect.signature(handler).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


# ------------------------------------------------------------------ shapes


def shape_of(a: object) -> tuple[Any, ...]:
    """As ``np.shape``."""
    return shaping.wrap_dims(array_value(a).type.shape)


def size_of(a: object, axis: object = None) -> object:
    """As ``np.size``."""
    if isinstance(axis, tuple):  # from NumPy 2.4 on
        return run_source(np.size, (a, axis), {})
    kind = array_value(a).type
    if axis is not None:
        return wrap_dim(kind.shape[axis_number(axis)])
    return wrap_dim(kind.size) if isinstance(kind, ArrayType) else 1


def _named(module: object, names: str, numpys: object = np) -> dict[Any, Callable[..., Any]]:
    """Functions of a module of ours, by those of NumPy's of the same names."""
    return {getattr(numpys, name): getattr(module, name) for name in names.split()}


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{op.numpy: listed(op) for op in TABLE if op.tag is Tag.OPAQUE},
    **creation.CREATION,
    np.ndarray: creation.ndarray,  # a class: programs ask for it, too
    **_named(by_function, "apply_along_axis fromiter"),
    **_named(dtypes, "min_scalar_type result_type"),
    **_named(elements, "allclose array_equal array_equiv asarray_chkfinite clip copyto"),
    np.round: elements.round_array,
    np.around: elements.round_array,
    **_named(finding, "compress count_nonzero nonzero unique where"),
    **_named(joining, "concatenate repeat roll stack"),
    **_named(library, "bincount einsum lexsort"),
    **library.TRANSFORMS,
    **_named(matrices, "dot inner kron outer trace vdot"),
    **_named(matrices, "eig eigh eigvals lstsq qr slogdet svd", np.linalg),
    **_named(memory, "as_strided sliding_window_view", np.lib.stride_tricks),
    np.from_dlpack: memory.from_dlpack,
    **_named(picking, "choose ravel_multi_index take take_along_axis unravel_index"),
    **{
        function: picking.indices_from(function)
        for function in (np.tril_indices_from, np.triu_indices_from, np.diag_indices_from)
    },
    **_named(placing, "fill_diagonal place put put_along_axis putmask"),
    **{getattr(np, name): reducing(name) for name in ("sum", "prod", "min", "max", "any", "all")},
    **{getattr(np, alias): reducing(name) for alias, name in (("amin", "min"), ("amax", "max"))},
    **{getattr(np, name): partial(find, name) for name in ("argmin", "argmax")},
    **{getattr(np, name): partial(scan, name) for name in ("cumsum", "cumprod")},
    **_named(searching, "interp searchsorted"),
    **_named(shaping, "broadcast_arrays diagonal ravel reshape squeeze swapaxes transpose"),
    np.broadcast_to: lambda array, shape, subok=False: shaping.broadcast_to(array, shape),
    **_named(sharing, "may_share_memory shares_memory"),
    **_named(sorting, "argpartition argsort partition sort"),
    **_named(statistics, "average histogram median nanmedian nanstd"),
    np.mean: statistics.averaging("mean", reducing("mean")),
    np.var: statistics.averaging("var", deviating("var")),
    np.std: statistics.averaging("std", deviating("std")),
    **tapers.FUNCTIONS,
    np.shape: shape_of,
    np.ndim: lambda a: array_value(a).type.rank,
    np.size: size_of,
}
