"""What a staged function knows as ``__fxc__``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import CHANGE_IN_LOOP, STATEMENT
from fxc.ir.later import import_class_later, import_later
from fxc.ir.replay import UNSET
from fxc.ir.symbols import counted_in

from ..arrays.traced_array import TracedArray
from ..session.refusing import refusal, refuse
from ..values.maybe_set import UNBOUND
from ..values.objects import is_namedtuple
from ..values.operands import Traced, settled
from .imported_later import ExternalList
from .outer import Outer
from .stores import Names, Stores

if TYPE_CHECKING:
    from ..forms.several import Several
else:
    Several = import_class_later("fxc.capture.forms.several", "Several")

if TYPE_CHECKING:
    from ..lists.list_room import Int
    from ..lists.traced_lists import TracedList
else:
    TracedList = import_class_later("fxc.capture.lists.traced_lists", "TracedList")

is_in_arrays = import_later("fxc.capture.lists.traced_lists", "is_in_arrays")

# See Note [Rooms with one door].
demand = import_later("fxc.capture.forms.truths", "demand")
things_in = import_later("fxc.capture.forms.options", "things_in")


def made_list(door: Stores, items: object, place: str) -> object:
    """A list, or a deque, that the program makes at a place."""
    return door.lists.made(items, place)


def growing(door: Stores, text: str, place: int, front: bool) -> object:
    """A text that a variable begins with, which a loop may make longer."""
    return door.texts.made(text, place, front)


def list_to_change(door: Stores, x: object) -> object:
    """The list that is run over."""
    is_list = type(x) is list or isinstance(x, ExternalList)
    if is_list or (isinstance(x, TracedList) and x.of is list):
        return x
    raise refusal(
        CHANGE_IN_LOOP,
        "a change to something else than a list, while a loop runs over it, is not captured",
    )


def untested(door: Stores, function: object, test: object, items: object) -> tuple[Any, Any]:
    """``function(test, items)`` in a loop, by the name of ``filter``: what to run over, and the
    test of its items.
    """
    if function is not filter:
        return door.call(function, test, items), _holds
    return items, bool if test is None else test


def _holds(item: object) -> bool:
    return True


def has_place(door: Stores, items: object, place: object) -> object:
    return place < door.call(len, items)


def at_place(door: Stores, items: Any, place: Int) -> object:
    if is_in_arrays(items):
        return items.at(place)
    return door.indexed(items)[place]


def starred(door: Stores, x: Any, before: int, after: int) -> tuple[Any, ...]:
    """``first, *rest, last = x``: so many first items, a list of those between, and so many last
    ones. Raises ``ValueError`` as Python does.
    """
    found = settled(x)
    is_array = isinstance(found, TracedArray) and found.ndim > 0
    if is_array or is_in_arrays(found):
        size = door.call(len, found)
        if isinstance(size, int):
            _check_length(size, before + after)
            between = found[before : size - after]
            between = door.call(list, between) if is_array else between
            last = (found[k] for k in range(size - after, size))
            return (*(found[k] for k in range(before)), between, *last)
    items = [*x]
    _check_length(len(items), before + after)
    end = len(items) - after
    return (*items[:before], items[before:end], *items[end:])


def unpacked(door: Stores, x: object, count: int) -> object:
    """``x`` in ``a, b = x``, with so many targets: what has a length that depends on data has that
    one, or else the call is Python's, which raises.
    """
    found = settled(x)
    things: Sequence[Any] = found._things() if isinstance(found, Traced) else ()
    lengths = {len(each) if type(each) is tuple else -1 for each in things}
    if count in lengths and len(lengths) > 1 and -1 not in lengths:
        return Several(found._options()).only(lambda each: len(each) == count)
    is_array = isinstance(found, TracedArray) and found.ndim > 0
    if not (is_array and counted_in(found._type.shape[0])) and not is_in_arrays(found):
        return x
    is_so = door.call(len, found) == count
    if isinstance(is_so, Traced):
        demand(is_so)
    return tuple(found[k] for k in range(count)) if is_so is not False else x


def _check_length(count: int, least: int) -> None:
    if count < least:
        raise ValueError(f"not enough values to unpack (expected at least {least}, got {count})")


# What staged code finds by name: functions that are given the door first (these), others
# (``_PLAIN``), the methods of ``Scope``, and those of the door.
# See Note [Rooms with one door].
_FUNCTIONS: tuple[Callable[..., Any], ...] = (
    *(made_list, growing, untested, list_to_change, has_place, at_place, starred, unpacked),
    import_later("fxc.capture.lists.grown_arrays", "growing_alias"),
    import_later("fxc.capture.lists.grown_arrays", "growing_array"),
    import_later("fxc.capture.statements.driven", "driven"),
    import_later("fxc.capture.statements.folds", "fold"),
    import_later("fxc.capture.statements.nests", "nest"),
    import_later("fxc.capture.statements.nests", "nested"),
    import_later("fxc.capture.statements.comprehensions", "filtered"),
    import_later("fxc.capture.statements.comprehensions", "mapped"),
    import_later("fxc.capture.statements.folds", "row"),
    import_later("fxc.capture.statements.loops", "bound"),
    import_later("fxc.capture.statements.loops", "held"),
    import_later("fxc.capture.statements.branches", "raises"),
    import_later("fxc.capture.statements.raised", "checking"),
    import_later("fxc.capture.statements.raised", "checked"),
    import_later("fxc.capture.statements.raised", "has_raised"),
    import_later("fxc.capture.statements.raised", "leaves"),
    import_later("fxc.capture.statements.raised", "signals"),
    import_later("fxc.capture.statements.raised", "handed"),
    import_later("fxc.capture.statements.choices", "both"),
    import_later("fxc.capture.statements.choices", "either"),
    import_later("fxc.capture.statements.choices", "both_true"),
    import_later("fxc.capture.statements.choices", "either_true"),
    import_later("fxc.capture.statements.choices", "negated"),
    import_later("fxc.capture.statements.choices", "contained"),
    import_later("fxc.capture.statements.choices", "chosen"),
)
_FOR_DOOR: dict[str, Callable[..., Any]] = {
    **{function.__name__: function for function in _FUNCTIONS},
    "branch": import_later("fxc.capture.statements.branches", "Branch"),
    "loop": import_later("fxc.capture.statements.for_loops", "ForLoop"),
    "while_loop": import_later("fxc.capture.statements.while_loops", "WhileLoop"),
}
_PLAIN = {
    "taking": import_later("fxc.capture.statements.folds", "taking"),
    "comprehension": import_later("fxc.capture.statements.comprehensions", "Comprehension"),
    "listed": import_later("fxc.capture.statements.comprehensions", "listed"),
    "list": list,
    "locals": locals,
    "dict": dict,
    "set": set,
    "UNBOUND": UNBOUND,
    "is_set": lambda x: x is not UNSET,
}


class Scope:
    """What a staged function knows as ``__fxc__``: the door, and the function's own names.

    Nothing in it leads back to it: the collector of garbage would have to come for it.
    """

    def __init__(self, door: Stores, function: FunctionType) -> None:
        self._function = function
        self._door = door
        for name, made in _FOR_DOOR.items():
            setattr(self, name, partial(made, door))
        vars(self).update(_PLAIN)
        self.outer = outer = partial(door.read_global, function)
        self.free = free = partial(door.read_cell, function)
        self.patterns = Patterns(door, function)
        space = function.__globals__
        self.globals = Names(
            lambda name: door.to_change(outer(name)),
            lambda name, value: door.store_outer(Outer(space, name), value),
            partial(door.delete_global, space),
        )
        self.cells = Names(
            lambda name: door.to_change(free(name)),
            lambda name, value: door.store_outer(Outer.free(function, name), value),
            _delete_cell,
        )

    def __getattr__(self, name: str) -> object:
        found = vars(self)[name] = getattr(self._door, name)
        return found

    def imported(self, module: str, level: int, name: str) -> object:
        """``name`` in ``from module import name``."""
        package = self._function.__globals__.get("__package__") or ""
        return self._door.imported(f"{'.' * level}{module}", package, name)


def _delete_cell(name: str) -> None:
    raise refuse(STATEMENT, f"'del {name}', of a variable of an enclosing function,")


class _Looking(type):
    def __instancecheck__(cls, x: object) -> bool:
        for kind in {each.__class__ for each in things_in(x)}:
            if (type(x).__flags__ ^ kind.__flags__) & _MATCHED:
                raise refuse(STATEMENT, f"a pattern with the items of a {kind.__name__}")
        return True


_MATCHED = 1 << 5 | 1 << 6  # Py_TPFLAGS_SEQUENCE and Py_TPFLAGS_MAPPING


class _Known(list[Any], metaclass=_Looking):
    """Anything whose class shows whether patterns take it. It is a list, because ``list(pattern)``
    holds where the pattern does.
    """


class Patterns:
    """Gives the names in ``match`` patterns: ``use:place:dotted.name``."""

    known = _Known

    def __init__(self, door: Stores, function: FunctionType) -> None:
        self._door = door
        self._function = function

    def __getattr__(self, asked: str) -> object:
        use, place, names = asked.split(":")
        found = self._dotted(place, names)
        if use == "parts" and found.__module__ != "builtins" and not is_namedtuple(found):
            raise refuse(
                STATEMENT,
                f"a pattern with the attributes of a {found.__name__}",
                "use isinstance and read the attributes",
            )
        return found

    def _dotted(self, place: str, names: str) -> Any:
        """What a dotted name means; ``place`` says where the first part is found."""
        first, *rest = names.split(".")
        read = self._door.read_cell if place == "free" else self._door.read_global
        found = read(self._function, first)
        for name in rest:
            found = self._door.attr(found, name)
        return found
