"""The expressions by which an epilogue makes containers and objects, and calls functions."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from types import SimpleNamespace
from typing import Any

from ..forms.expressions import ValueExpressions
from ..forms.form import plain_form
from ..refusing import refuse
from ..values.late import Held, Late
from ..values.maybe_set import MaybeSet
from ..values.open_dicts import OpenDict
from ..values.operands import Traced, has_traced, wrap
from ..values.rows import rows_in
from .containers import is_plain
from .objects import (
    Args,
    Kwargs,
    is_dict_class,
    is_made_by_object,
    is_namedtuple,
    is_python_class,
    slots_of,
    vars_of,
)
from .outside import Outside
from .shadows import class_of


class ExpressionBuilder(ValueExpressions):
    """Collects the expressions for containers, objects and calls, too."""

    def __init__(self, outside: Outside) -> None:
        super().__init__(outside)
        self._open: set[int] = set()
        self._dicts: list[Any] = []  # those that have keys by a condition

    def _object(self, x: object) -> str:
        """The expression for an object or a container, from outside or made anew."""
        door = self._outside.session.door
        door.places.check_not_replaced(x)
        door.places.check_returned(x, self._sealed)
        known = self._outside.shown.get(id(x))
        if known is not None and not known.is_fixed:
            return self._reference(known.source.var)
        if id(x) in self._made:
            return self._made[id(x)][0]
        if id(x) in self._open:
            raise refuse("a container that holds itself cannot be captured")
        self._open.add(id(x))
        owner = door.owner_of(x)
        if owner is not None and self._is_made_anew(owner):
            expression: str | None = f"vars({self._place(owner)})"
        else:
            expression = self._container(x, class_of(x))
        self._open.discard(id(x))
        return self._leaf(x) if expression is None else self._once(x, lambda: expression)

    def _container(self, x: Any, kind: type) -> str | None:
        """The expression that makes a container anew; None for what is none."""
        if kind is tuple:
            return f"({self._items(x)})"
        if kind is list:
            rows = rows_in(x)  # see Note [Lists that grow]
            if rows is None:
                return f"[{self._items(x)}]"
            return self._listed(plain_form(rows.kind), iter([self._leaf(wrap(rows.array))]))
        if is_namedtuple(kind):
            if vars_of(x):
                raise refuse(f"a {kind.__name__} with other attributes cannot be captured")
            return f"new_tuple({self._constant(kind)}, ({self._items(x)}))"
        if kind is dict:
            return self._dict(x)
        if kind is OpenDict:
            return self._dict(x.placed())
        if kind is OrderedDict or kind is Counter:
            return f"{kind.__name__}({self._dict(x)})"
        if kind is defaultdict:
            return f"defaultdict({self._place(x.default_factory)}, {self._dict(x)})"
        if kind is deque:
            return f"deque([{self._items(x)}], {x.maxlen})"
        if kind is set:
            if any(map(has_traced, x)):
                raise refuse("a set of numbers that vary cannot be captured; return a list")
            return f"{self._constant(x)}.copy()"
        if kind is SimpleNamespace:
            return f"SimpleNamespace(**{self._dict(vars(x))})"
        if is_dict_class(kind):
            items, held = dict(zip(dict.keys(x), dict.values(x), strict=True)), vars_of(x)
            attributes = "None" if held is x else self._dict(held)
            return f"dict_of({self._constant(kind)}, {self._dict(items)}, {attributes})"
        if self._is_own(x, kind):
            held, slots = dict(vars_of(x)), slots_of(x)
            parts = f"{self._constant(kind)}, {self._dict(held)}"
            return f"rebuild({parts}{f', {self._dict(slots)}' if slots else ''})"
        return None

    def _is_own(self, x: object, kind: type) -> bool:
        """Whether ``x`` is an object that the program made of a class of the user's."""
        return (
            id(x) not in self._outside.shown
            and is_made_by_object(kind)
            and is_python_class(kind)
            and not hasattr(kind, "__fxc_original__")
        )

    def _is_made_anew(self, x: object) -> bool:
        """Whether ``x`` is an object that the epilogue makes, of whatever class."""
        kind = class_of(x)
        return kind is SimpleNamespace or is_dict_class(kind) or self._is_own(x, kind)

    def _dict(self, items: dict[Any, Any]) -> str:
        if any(type(value) is MaybeSet for value in items.values()):
            return self._dict_if(items)
        parts = [f"{self._key(key)}: {self._place(value)}" for key, value in items.items()]
        return f"{{{', '.join(parts)}}}"

    def _dict_if(self, items: dict[object, object]) -> str:
        """The same of a dict that has some keys by a condition."""
        name = f"d{len(self._dicts)}"
        self._dicts.append(items)
        lines = [f"{name} = {{}}"]
        for key, x in items.items():
            found = x if type(x) is MaybeSet else MaybeSet(None, x)
            stored = f"{name}[{self._key(key)}] = {self._place(found.value)}"
            test = "" if found.flag is None else f"if {self._place(found.flag)}: "
            lines.append(f"{test}{stored}")
        self._lines += lines
        return name

    def _key(self, key: object) -> str:
        if type(key) is str:
            return repr(key)
        if type(key) is Late:
            return repr(key._known())
        if isinstance(key, Traced):
            raise refuse("a number that varies cannot be captured as a key; use a constant")
        return self._constant(key) if is_plain((key,)) else self._place(key)

    def _called(self, function: object, args: Args, kwargs: Kwargs) -> str:
        """The expression for a call."""
        parts = [self._part(x) for x in args]
        parts += [f"{name}={self._part(x)}" for name, x in kwargs.items()]
        return f"{self._constant(function)}({', '.join(parts)})"

    def _part(self, x: object) -> str:
        """The expression for a part of a call."""
        if type(x) in (int, str):
            return repr(x)
        if type(x) is Held:
            return self._place(x.seen)
        if type(x) is tuple:
            return f"({''.join(f'{self._part(item)}, ' for item in x)})"
        is_ours = type(x).__module__.startswith("fxc.") and not isinstance(x, Traced)
        return self._constant(x) if is_ours or (type(x) is dict and not x) else self._place(x)
