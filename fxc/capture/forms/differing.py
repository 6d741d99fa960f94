"""What a variable holds that is one thing by a condition and another thing otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.error_kinds import SEVERAL_KINDS
from fxc.ir.graph import Operand
from fxc.ir.later import import_later

from ..arrays.ufuncs import call_ufunc
from ..numbers.python_numbers import logical_not, to_bool
from ..session.refusing import refusal
from ..session.session import current
from ..values.above import above
from ..values.objects import class_attribute
from ..values.operands import Traced, TracedValue, operand
from ..values.operator_methods import BINARY, COMPARISONS, UNARY, give_methods, operator_of
from ..values.protocols import TakesFunctions
from ..values.shadows import class_of
from .options import Option, both_hold, holds_not, options_in, things_in
from .structures import item_structure

# See Note [Rooms with one door].
flag_of = import_later("fxc.capture.forms.truths", "flag_of")
truth = import_later("fxc.capture.forms.truths", "truth")

# Note [Things that differ]
# After ``if x[0] > 0: y = y[:3]``, or ``total = 0`` and ``if hit: total = total + row``, a variable
# is of one type, dtype or size if a condition held, else of another. It is both of them and the
# flag. Nothing is copied: they are the arrays themselves, so that writes, views and ``is`` mean
# what they mean of these. An operator, a call of NumPy's functions or builtins, an attribute and an
# item are recorded twice, in the arms of a ``cond`` by the flag (``each_way``): the two results are
# one value again if they are of one type, else they differ as well. What one of the two cannot do
# (``None + 1``) sends a call with that one back to Python; the other does it without a ``cond``.
# Functions of the program's own are called once, with the thing that differs.
#
# The outermost function may return it: the epilogue makes both and gives one.


class Differing(TakesFunctions, Traced):
    """``left`` if ``flag`` holds, else ``right``; ``reason`` says how they differ."""

    __slots__ = ("flag", "left", "reason", "right")
    _written_by = "_differing"
    __array_priority__ = 1003.0
    _is_number = True

    def __init__(self, flag: object, left: object, right: object, reason: str) -> None:
        self.flag = flag
        self.left = left
        self.right = right
        self.reason = reason
        current().has_differing = True

    def _operand(self) -> Operand:
        return operand(self._plain())

    def _plain(self) -> Any:
        """The only thing but None that it may be; it is checked here that it is."""

        if self.left is not None and self.right is not None:
            raise refusal(SEVERAL_KINDS, self.reason)
        demand(self.flag, self.right is None)
        found = self.left if self.right is None else self.right
        return found._plain() if isinstance(found, Traced) else found

    def _counted(self) -> object:
        return above().counted(self._plain())

    @property
    def _sides(self) -> tuple[Any, ...]:
        return self.left, self.right

    def _options(self) -> Sequence[Option]:
        flags = self.flag, holds_not(self.flag)
        return [
            (both_hold(flag, each), x)
            for flag, side in zip(flags, self._sides, strict=True)
            for each, x in options_in(side)
        ]

    def _things(self) -> Sequence[Any]:
        return *things_in(self.left), *things_in(self.right)

    def _parts(self) -> tuple[Any, ...]:
        return self.flag, self.left, self.right

    def _with_parts(self, parts: Sequence[object]) -> Differing:
        flag, left, right = parts
        return Differing(flag, left, right, self.reason)

    def _item_keys(self) -> tuple[Any, ...] | None:
        """Of two things that lists may hold: the structures of both."""
        structures = item_structure(self.left), item_structure(self.right)
        return None if None in structures else (*structures, self.reason)

    @classmethod
    def _of_structure(cls, keys: tuple[Any, ...], items: Any) -> Differing:
        flag, left, right = items
        return cls(flag, left, right, keys[-1])

    @staticmethod
    def _structure_items(x: Any) -> tuple[Any, ...]:
        return x.flag, x.left, x.right

    def _run(self, name: str, inputs: tuple[object, ...]) -> object:
        return each_way(lambda *xs: call_ufunc(name, *xs), *inputs)

    def _is_filled(self) -> object:
        """Its truth."""

        def filled(x: object) -> Any:
            test = truth(x)
            return test if type(test) is bool else to_bool(test)

        return each_way(filled, self)

    def is_(self, other: object) -> object:
        """Whether it is this object."""
        return each_way(lambda x: current().door.same(x, other), self)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object
    ) -> object:
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        return current().door.call(function, *inputs, **kwargs)

    def __array_function__(self, function: object, types: object, args: Any, kwargs: Any) -> object:
        return current().door.call(function, *args, **kwargs)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):  # somebody asks which protocols it knows
            raise AttributeError(name)
        return self.attribute(name)

    def attribute(self, name: str) -> object:
        """``self.name`` in the program."""
        door = current().door
        if any(_is_method(x, name) for x in leaves_of(self)):
            return lambda *args, **kwargs: each_way(
                lambda x, *given: door.call(door.attr(x, name), *given[:-1], **given[-1]),
                *(self, *args, kwargs),
            )
        return each_way(lambda x: door.attr(x, name), self)

    def __setattr__(self, name: str, value: object) -> None:
        if name in Differing.__slots__:
            object.__setattr__(self, name, value)
        else:
            each_way(lambda x, given: current().door.store_attr(x, name, given), self, value)

    def __getitem__(self, key: object) -> Any:
        return each_way(lambda x, k: current().door.indexed(x)[k], self, key)

    def __setitem__(self, key: object, value: object) -> None:
        each_way(_store, self, key, value)

    def __iter__(self) -> Iterator[Any]:
        found = each_way(_items_of, self)
        if type(found) is not tuple:
            raise refusal(SEVERAL_KINDS, self.reason)
        return iter(found)

    def __bool__(self) -> bool:
        return bool(self._is_filled())

    def __round__(self, digits: int | None = None) -> object:
        return each_way(lambda x: round(x, digits), self)

    def _refused(self) -> Any:
        raise refusal(SEVERAL_KINDS, self.reason)

    __index__ = __len__ = __hash__ = __repr__ = _refused


def _store(x: object, key: object, value: object) -> None:
    owner = current().door.stored(x)
    owner[key] = value


def _items_of(x: Any) -> object:
    if x is None or isinstance(x, np.generic):
        raise TypeError(f"cannot unpack non-iterable {class_of(x).__name__} object")
    return tuple(x) if type(x) in (tuple, list) else tuple(current().door.iterable(x))


def _is_method(x: object, name: str) -> bool:
    """Whether an attribute is called."""
    kind: type = np.ndarray if isinstance(x, TracedValue) else class_of(x)
    return callable(class_attribute(kind, name)) or callable(getattr(kind, name, None))


def leaves_of(x: object) -> list[Any]:
    """What a variable may hold."""
    return [*leaves_of(x.left), *leaves_of(x.right)] if type(x) is Differing else [x]


# ------------------------------------------------------------------ both ways


def differing_in(x: Any) -> Differing | None:
    """The first thing that differs among these, in tuples, lists and dicts."""
    if type(x) is Differing:
        return x
    if type(x) in (tuple, list):
        return next((found for each in x if (found := differing_in(each)) is not None), None)
    if type(x) is dict:
        return differing_in(tuple(x.values()))
    if type(x) is slice:
        return differing_in((x.start, x.stop, x.step))
    return None


def _with(x: Any, old: Differing, new: object) -> Any:
    """The same with another thing in place of one that differs."""
    if x is old:
        return new
    if type(x) is Differing or differing_in(x) is None:
        return x
    if type(x) is dict:
        return {key: _with(each, old, new) for key, each in x.items()}
    if type(x) is slice:
        return slice(*(_with(each, old, new) for each in (x.start, x.stop, x.step)))
    return type(x)([_with(each, old, new) for each in x])


def each_way(function: Callable[..., object], *inputs: object) -> Any:
    """What a function gives for inputs among which something differs."""
    found = differing_in(inputs)
    if found is None:
        return function(*inputs)

    def given(side: object) -> Callable[[], Any]:
        return lambda: each_way(function, *_with(inputs, found, side))

    return above().one_way(current().door, found, given(found.left), given(found.right))


def _changed(name: str) -> Callable[[Differing, Any], Any]:
    """The method of an augmented assignment."""
    function = operator_of(f"i{name}")

    def changed(x: object, other: object) -> Any:
        current().door.changing(x)
        return function(x, other)

    return lambda self, other: each_way(changed, self, other)


def _compute(name: str, *xs: object) -> object:
    return each_way(operator_of(name), *xs)


give_methods(Differing, _compute, BINARY | COMPARISONS | UNARY)
for _name in BINARY:
    setattr(Differing, f"__i{_name}__", _changed(_name))


def demand(flag: object, holds: bool) -> None:
    """Send a call in which a flag is otherwise back to Python."""
    current().record("try_demand", flag_of(flag if holds else logical_not(flag)))
