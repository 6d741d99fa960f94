"""What stands for a value and can do no more than its class says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from .operands import Traced


def refuse_methods(kind: type, words: Mapping[str, str]) -> None:
    """Give a class methods that raise its ``refused(what)``: by their names, what they would do."""

    def refusing(what: str) -> Callable[..., NoReturn]:
        def method(self: Any, *_: object) -> NoReturn:
            raise self.refused(what)

        return method

    for name, what in words.items():
        setattr(kind, name, refusing(what))


class Limited(Traced):
    """What can do no more than its class says: Python's other operators are refused."""

    __slots__ = ()
    refused: Callable[[str], BaseException]  # what to raise for a use of it


_REFUSED = {
    "_operand": "this operation",
    "__setitem__": "an assignment to an item",
    "__delitem__": "del",
    "__eq__": "==",
    "__ne__": "!=",
    "__hash__": "hash()",
    "__repr__": "the text",
    **dict.fromkeys(("__lt__", "__le__", "__gt__", "__ge__"), "an order"),
}
refuse_methods(Limited, _REFUSED)
# What is done with lists by operators: to one in place, or to make a new one.
IN_PLACE = dict.fromkeys(("__iadd__", "__imul__"), "a change")
OF_LISTS = dict.fromkeys(("__add__", "__radd__", "__mul__", "__rmul__"), "+ or *") | IN_PLACE
