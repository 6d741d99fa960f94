"""Texts of values, and values as the leaves of a tree."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from fxc.ir.error_kinds import TEXT
from fxc.ir.tree import children_of, registration

from ..outside.containers import External, settle_all
from ..session.refusing import refuse
from ..values.objects import class_attribute
from ..values.operands import Traced
from ..values.shadows import class_of, has_method
from .catching import Catching
from .imported_later import ExternalSet
from .reads import name_of


class Formats(Catching):
    """What makes texts in one capture."""

    def text(self, *parts: object) -> Any:
        """An f-string of texts and of parts, each a value, a conversion and a format."""
        self.check_text(tuple(part[0] for part in parts if type(part) is tuple))
        from ..values.late import formatted, late

        return late(str, formatted, *map(self._formatted, parts))

    def _formatted(self, part: Any) -> object:
        if type(part) is str:
            return part
        value, conversion, spec = part
        if conversion == -1 and has_method(value, "__format__"):
            return self.special(value, "__format__", spec), -1, ""
        made = self.as_text(value, "__str__" if conversion in (-1, ord("s")) else "__repr__")
        return made, conversion if made is value else -1, spec

    def as_text(self, x: object, name: str = "__str__") -> object:
        """``x``, or the text of an object whose class makes it in Python."""
        for each in (name, "__repr__"):
            if has_method(x, each):
                return self.special(x, each)
        return x

    def percent(self, text: object, given: object) -> object:
        """``text % given`` of a text, or of bytes, that stand in the program."""
        self.check_text((given,))
        from ..values.late import late

        return late(text.__class__, operator.mod, text, given)

    def check_text(self, parts: Iterable[object]) -> None:
        """Refuse objects whose text is where they lie in memory, or code that we do not see."""
        if isinstance(parts, dict):
            parts = (*parts, *parts.values())
        for x in parts:
            if isinstance(x, External) and x.kind not in (list, dict, set):
                raise refuse(TEXT, f"the text of a {x.kind.__name__} from outside", "use its items")
            if isinstance(x, Traced | External):
                continue
            if any(has_method(x, name) for name in ("__repr__", "__str__", "__format__")):
                continue
            if self.outside.is_stand_in(x):
                raise refuse(TEXT, f"the text of a {name_of(x)} from outside")
            if isinstance(x, tuple | list | dict | set | frozenset):
                self.check_text(x)
            elif not isinstance(x, type) and type(x).__module__ != "builtins":
                if isinstance(x, Exception) and type(x).__module__.partition(".")[0] == "numpy":
                    continue
                texts = [class_attribute(class_of(x), name) for name in ("__repr__", "__str__")]
                if texts[0] is object.__repr__ or any(isinstance(t, FunctionType) for t in texts):
                    raise refuse(TEXT, f"the text of a {name_of(x)}")

    def parts_of(self, tree: object) -> tuple[tuple[Any, ...], list[Any]] | None:
        """Keys and children of a container of a pytree, read by the door; None for a leaf."""
        kind = class_of(tree)
        registered = registration(kind)
        if registered is not None:
            children, rest = self.call(registered[0], tree)[:2]
            return (rest,), list(children)
        if not dataclasses.is_dataclass(kind):
            return children_of(tree)
        names = tuple(field.name for field in dataclasses.fields(kind))
        return names, [self.attr(tree, name) for name in names]

    def settled(self, x: object) -> Any:
        """``x``, which code of C is about to look into."""
        settle_all((x,))
        return x

    def set_operand(self, x: object) -> object:
        """The second operand of ``&`` and its like: those of a frozenset do not ask a set."""
        return self.settled(x) if isinstance(x, ExternalSet) else x
