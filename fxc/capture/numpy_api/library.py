"""Functions that NumPy itself runs, on arguments of the usual kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION
from fxc.ir.graph import Value
from fxc.ir.size_functions import hint
from fxc.ir.symbols import counted_in
from fxc.ops.metas.shapes import normalize_axis

from ..arrays.counting import bound_size
from ..arrays.creation import arange
from ..arrays.reductions import demand_more
from ..arrays.ufuncs import call_ufunc
from ..numbers.dims import axis_number, dim_of
from ..numbers.python_numbers import to_int
from ..numbers.traced_int import wrap_dim
from ..session.refusing import refuse
from ..session.session import current
from ..session.sizes import CountedSize
from ..values.operands import array_value, kind_of, operand, record, wrap
from .joining import concatenate
from .numpy_source import run_source


def _refuse_options(name: str, **options: object) -> None:
    for option, value in options.items():
        if value is not None and value is not False:
            raise refuse(NUMPY_OPTION, f"np.{name} with {option}= cannot be captured")


def median(a: object, axis: object = None, *args: object, **kwargs: object) -> Any:
    """As ``np.median``: of integers by NumPy's own code, of short vectors by a sort, of others
    NumPy finds it.
    """
    value = array_value(a)
    is_plain = not args and not kwargs and not isinstance(axis, tuple)
    if is_plain and _is_short(value) and axis in (None, 0, -1):
        return _middle(value)
    by_numpy = value.type.dtype.kind == "f" or counted_in(kind_of(value).size)
    if is_plain and by_numpy and (axis is None or value.type.rank <= 2):
        place = None if axis is None else normalize_axis(axis_number(axis), value.type.rank)
        demand_more(kind_of(value), None if place is None else (place,), 0)
        return record("median", value, axis=place)
    return run_source(np.median, (a, axis, *args), kwargs)


_SHORT = 2048  # elements that are sorted in less time than NumPy takes to begin


def _is_short(value: Value) -> bool:
    """Whether an array is a vector of a few floats."""
    kind = kind_of(value)
    if kind.rank != 1 or kind.dtype not in (np.float32, np.float64) or counted_in(kind.size):
        return False
    return 0 < hint(kind.size) <= _SHORT and kind.size != 0


def _middle(value: Value) -> Any:
    """The mean of the one or two elements in the middle; nan if there is one among them.

    The mean begins to add at +0.0. Of nothing it warns: that is NumPy's.
    """
    ordered, size = wrap(record("sort", value, axis=-1, kind=None)._value), kind_of(value).size
    count: Any = size
    if not isinstance(size, int):
        count = record("int_value", size)
        record("try_demand", operand(count > 0))
    number = count if current().varies(size) else wrap_dim(size)  # where it varies, of the graph
    places = (number - 1) // 2, number // 2, number - 1
    lower, upper, last = (ordered[place] for place in places)
    one, two = upper + 0.0, (lower + 0.0 + upper) / 2
    if isinstance(size, int):
        found = one if size % 2 else two
    else:
        found = _one_of(count % 2 == 1, one, two)
    return _one_of(call_ufunc("isnan", last), last, found)


def _one_of(test: object, left: object, right: object) -> Any:
    """One of two scalars."""
    return record("item", record("where", operand(test), operand(left), operand(right))._value)


def lexsort(keys: object, axis: object = -1) -> Any:
    if not isinstance(keys, tuple | list):
        keys = tuple(wrap(array_value(keys)))
    values = tuple(array_value(key) for key in keys)
    return record("lexsort", values, axis=axis_number(axis))


def bincount(x: object, /, weights: object = None, minlength: object = 0) -> Any:
    """As ``np.bincount``: into ``minlength`` bins, or as many as it takes."""
    count, value = dim_of(minlength), array_value(x)
    if isinstance(x, tuple | list) and value.type.dtype.kind == "f":
        raise refuse(NUMPY_OPTION, "np.bincount of a list with floats cannot be captured; use ints")
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
    ) -> Any:
        _refuse_options(f"fft.{name}", out=out)
        size = None if n is None else dim_of(n)
        value = array_value(a)
        return record("fourier", value, kind=name, axis=axis_number(axis), norm=norm, n=size)

    return call


def fftfreq(n: Any, d: object = 1.0, device: object = None) -> Any:
    whole = concatenate([arange((n - 1) // 2 + 1), arange(-(n // 2), 0)])
    return whole * (1.0 / (n * d))


def einsum(
    *operands: object, out: object = None, optimize: object = False, **options: object
) -> Any:
    """As ``np.einsum`` with subscripts in a text."""
    _refuse_options("einsum", out=out, **options)
    subscripts, *xs = operands
    if not isinstance(subscripts, str) or "." in subscripts:
        raise refuse(
            NUMPY_OPTION,
            "np.einsum without subscripts for each axis, in a text, cannot be captured",
        )
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    if not arrow:
        output = "".join(sorted(each for each in set(inputs) - {","} if inputs.count(each) == 1))
    if inputs.count(",") + 1 != len(xs) or not set(output) <= set(inputs) - {","}:
        raise ValueError("the subscripts of einsum do not fit its operands")
    if len(xs) == 1 and set(output) == set(inputs):
        raise refuse(
            NUMPY_OPTION,
            "np.einsum that gives a view of its operand cannot be captured; use transpose",
        )
    values = tuple(array_value(x) for x in xs)
    return record("einsum", values, subscripts=f"{inputs}->{output}", optimize=bool(optimize))


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.median: median,
    np.lexsort: lexsort,
    np.bincount: bincount,
    np.einsum: einsum,
    np.fft.fftfreq: fftfreq,
    **{getattr(np.fft, name): _transform(name) for name in ("fft", "ifft", "rfft", "irfft")},
}
