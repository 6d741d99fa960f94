"""What a staged function knows as ``__fxc__``."""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

from ..outside.objects import is_namedtuple
from ..session import refuse
from ..statements import choices
from ..statements.branches import Branch, raises
from ..statements.folds import filtered, fold, listed, mapped, row, taking
from ..statements.for_loops import ForLoop
from ..statements.loops import bound
from ..statements.nests import nest, nested
from ..statements.unpacking import starred
from ..statements.while_loops import WhileLoop
from ..values.unbound import UNBOUND
from .by_places import at_place, has_place, list_to_change
from .ordering import compared
from .stores import Names, Stores


class Scope:
    """What a staged function knows as ``__fxc__``: the door, and the function's own names."""

    def __init__(self, door: Stores, function: FunctionType) -> None:
        self._function = function
        self._door = door
        self.call = door.call
        self.attr = door.attr
        self.indexed = door.indexed
        self.stored = door.stored
        self.owned = door.owned
        self.iterable = door.iterable
        self.made = door.made
        self.fold = functools.partial(fold, door)
        self.nest = functools.partial(nest, door)
        self.nested = functools.partial(nested, door)
        self.taking = taking
        self.list_to_change = functools.partial(list_to_change, door)
        self.has_place = functools.partial(has_place, door)
        self.at_place = functools.partial(at_place, door)
        self.filtered = functools.partial(filtered, door)
        self.mapped = functools.partial(mapped, door)
        self.row = functools.partial(row, door)
        self.listed = listed
        self.list = list
        self.starred = functools.partial(starred, door)
        self.changing = door.changing
        self.context = door.context
        self.same = door.same
        self.equal = door.equal
        self.unequal = door.unequal
        self.compared = functools.partial(compared, door)
        self.text = door.text
        self.percent = door.percent
        self.settled = door.settled
        self.trying = door.trying
        self.caught = door.caught
        self.raising = door.raising
        self.rebinding = door.rebinding
        self.sharing = door.sharing
        self.made_list = door.lists.made
        self.growing = door.texts.made
        self.item_list = door.item_list
        self.held_list = door.held_list
        self.new_item = door.new_item
        self.bound = functools.partial(bound, door)
        self.raises = functools.partial(raises, door)
        self.importing = door.importing
        self.patterns = Patterns(self)
        self.branch = functools.partial(Branch, door)
        self.loop = functools.partial(ForLoop, door)
        self.while_loop = functools.partial(WhileLoop, door)
        self.both = functools.partial(choices.both, door)
        self.either = functools.partial(choices.either, door)
        self.both_true = functools.partial(choices.both_true, door)
        self.either_true = functools.partial(choices.either_true, door)
        self.negated = functools.partial(choices.negated, door)
        self.contained = functools.partial(choices.contained, door)
        self.chosen = functools.partial(choices.chosen, door)
        self.locals = locals
        self.dict = dict
        self.set = set
        self.set_of = door.set_of
        self.UNBOUND = UNBOUND
        space = function.__globals__
        self.globals = Names(
            self.outer,
            functools.partial(door.store_global, space),
            functools.partial(door.delete_global, space),
        )
        self.cells = Names(
            self.free, functools.partial(door.store_cell, function), self._delete_cell
        )

    def outer(self, name: str) -> Any:
        """A global or builtin, as the function sees it."""
        return self._door.read_global(self._function, name)

    def free(self, name: str) -> Any:
        """A variable of an enclosing function."""
        return self._door.read_cell(self._function, name)

    def imported(self, module: str, level: int, name: str) -> Any:
        """``name`` in ``from module import name``."""
        package = self._function.__globals__.get("__package__") or ""
        return self._door.imported(f"{'.' * level}{module}", package, name)

    def dotted(self, place: str, names: str) -> Any:
        """What a dotted name means; ``place`` says where the first part is found."""
        first, *rest = names.split(".")
        found = self.free(first) if place == "free" else self.outer(first)
        for name in rest:
            found = self._door.attr(found, name)
        return found

    def _delete_cell(self, name: str) -> None:
        raise refuse(f"'del {name}', of a variable of an enclosing function, cannot be captured")


class Patterns:
    """Gives the names in ``match`` patterns: ``use:place:dotted.name``."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def __getattr__(self, asked: str) -> Any:
        use, place, names = asked.split(":")
        found = self._scope.dotted(place, names)
        if use == "parts" and found.__module__ != "builtins" and not is_namedtuple(found):
            raise refuse(
                f"a pattern with the attributes of a {found.__name__} cannot be captured; use "
                "isinstance and read the attributes"
            )
        return found
