"""``np.vectorize``: a loop that calls a function of the program's for each element.

NumPy does so by a ufunc of Python objects: the function is given Python's numbers, and its results
are stored in an array. What dtype that is of, a call before with NumPy's scalars says, unless
``otypes`` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.error_kinds import NUMPY_OPTION, SEVERAL_KINDS
from fxc.ir.size_guards import guard
from fxc.ir.symbols import Dim, product
from fxc.ir.types import Type
from fxc.ops.metas.layout import iteration_order
from fxc.ops.metas.shapes import broadcast_shapes

from ..arrays import creation, shaping
from ..arrays.traced_array import TracedArray
from ..forms.truths import demand
from ..regions.counted import Counted, Item
from ..regions.needed import StatementDoor
from ..regions.structured import recorded
from ..session.classes import is_of_subclass, refused
from ..session.refusing import refuse
from ..session.session import current
from ..statements.comprehensions import Each
from ..values.operands import operand

_KINDS = "?bhilqBHIfdD"  # of elements that Python's numbers hold, and of what they become


def vectorized(door: StatementDoor, self: object, *args: object, **kwargs: object) -> Any:
    """``np.vectorize(…)(*args, **kwargs)``: what its function gives of the elements."""
    function, excluded = door.attr(self, "pyfunc"), door.attr(self, "excluded")
    places = [place for place in range(len(args)) if place not in excluded]
    names = [name for name in kwargs if name not in excluded]

    def of_elements(*elements: object) -> Any:
        items = iter(elements)
        given = [next(items) if place in places else x for place, x in enumerate(args)]
        options = {name: next(items) if name in names else x for name, x in kwargs.items()}
        return door.call(function, *given, **options)

    over = [*(args[place] for place in places), *(kwargs[name] for name in names)]
    if door.attr(self, "signature") is not None:
        return door.call(door.attr(self, "_vectorize_call_with_signature"), of_elements, over)
    return _over_all(door, self, of_elements, over)


def _over_all(door: StatementDoor, self: object, func: Each, args: Sequence[object]) -> object:
    """What ``np.vectorize._vectorize_call`` does without a signature."""
    if not args:
        return func()
    classes = current().classes
    if any(is_of_subclass(classes.get(x._value)) for x in args if type(x) is TracedArray):
        raise refused("what np.vectorize makes of an array")
    arrays = [creation.asarray(x) for x in args]
    given = door.attr(self, "otypes")
    if door.attr(self, "cache"):
        raise refuse(NUMPY_OPTION, "np.vectorize(cache=True)")
    dtypes = _dtypes_of_first(func, arrays) if given is None else list(map(np.dtype, given))
    if not all(x.dtype.char in _KINDS for x in arrays) or not all(x.char in _KINDS for x in dtypes):
        raise refuse(NUMPY_OPTION, "np.vectorize of anything but numbers")
    shape = broadcast_shapes(*(x._type.shape for x in arrays))
    # The function may write to the arrays, of which NumPy has made objects before.
    copies = [x.copy(order="K") if x.ndim else x for x in arrays]
    order = iteration_order(len(shape), [x._type for x in copies])
    items = Counted(product(shape), _item_of(copies, shape, order), once=True)

    def each(item: tuple[object, ...]) -> list[Any]:
        return _results(func(*item), len(dtypes))

    sizes = shaping.wrap_dims(tuple(shape[axis] for axis in order))
    if guard(items.count, ">", 0):
        _, kinds = recorded(current(), lambda: list(map(_type_of, each(items.item(0)))))
        made = [creation.empty(sizes, kind.dtype) for kind in kinds]
        door.staged(_filled)(items, each, [x.reshape(-1) for x in made])
    else:
        made = [creation.empty(sizes, dtype) for dtype in dtypes]
    found = [_of_dtype(x, to) for x, to in zip(made, dtypes, strict=True)]
    if list(order) != sorted(order):
        back = [order.index(axis) for axis in range(len(order))]
        found = [x.transpose(back).copy(order="K") for x in found]
    return found[0] if len(found) == 1 else tuple(found)


def _dtypes_of_first(func: Each, arrays: Sequence[TracedArray]) -> list[np.dtype[Any]]:
    """The dtypes of what the function gives of the first elements, as NumPy's scalars."""
    if not all(guard(x._type.size, ">", 0) for x in arrays):
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    found = func(*(x[(0,) * x.ndim] for x in arrays))
    return [_type_of(x).dtype for x in (found if isinstance(found, tuple) else (found,))]


def _results(found: object, count: int) -> list[Any]:
    """What a call gives for each of so many arrays."""
    results = list(found) if count > 1 and type(found) is tuple else [found]
    if len(results) != count:
        raise refuse(NUMPY_OPTION, "results that are too many or too few")
    return results


def _type_of(x: object) -> Type:
    kind = operand(x).type
    if kind.rank:
        raise refuse(NUMPY_OPTION, "np.vectorize of a function that gives arrays")
    return kind


def _item_of(arrays: Sequence[TracedArray], shape: tuple[Dim, ...], order: Sequence[int]) -> Item:
    """What gives the elements at a place among all, in the order in which NumPy takes them."""
    sizes = shaping.wrap_dims(shape)
    rows = [
        shaping.broadcast_to(x, sizes).transpose(order).reshape(-1) if x.ndim else None
        for x in arrays
    ]
    numbers = [x.item() if row is None else None for x, row in zip(arrays, rows, strict=True)]

    def item(k: object) -> tuple[object, ...]:
        pairs = zip(numbers, rows, strict=True)
        return tuple(x if row is None else row[k].item() for x, row in pairs)

    return item


def _of_dtype(x: TracedArray, dtype: np.dtype[Any]) -> TracedArray:
    """The results as NumPy stores objects: ints that have no place among these raise there."""
    if x.dtype == dtype:
        return x
    if x.dtype.kind == "c" and dtype.kind in "iuf":
        raise refuse(NUMPY_OPTION, "complex numbers as results that are real")
    found: TracedArray = x.astype(dtype)
    if dtype.kind in "iu":
        whole = np.trunc(x) if x.dtype.kind == "f" else x
        demand(np.all(found == whole))
    return found


# ------------------------------------------------------------------ staged


def _filled(items: Any, each: Each, made: Sequence[Any]) -> None:
    for place, item in enumerate(items):
        store(made, place, each(item))


# ------------------------------------------------------------------ called by what is staged


def store(made: Sequence[Any], place: object, values: Sequence[object]) -> None:
    """Store the values at a place of arrays, each of which is of their dtype."""
    for array, value in zip(made, values, strict=True):
        if _type_of(value).dtype != array.dtype:
            raise refuse(SEVERAL_KINDS, "np.vectorize with results of different dtypes")
        array[place] = value
