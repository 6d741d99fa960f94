"""Texts whose characters are known at run time only. See Note [Texts of the graph]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from fxc.ir.boxed_dtypes import is_character
from fxc.ir.error_kinds import TEXT
from fxc.ir.graph import Operand
from fxc.ir.later import import_later

from ..arrays.traced_array import TracedArray
from ..forms.several import Several, united
from ..numbers.python_numbers import logical_not, to_bool, to_int, to_python
from ..regions.counted import Bounded, Counted
from ..session.refusing import Respecialise, refuse
from ..session.session import current
from ..values.limited import refuse_methods
from ..values.operands import constant, operand, taken_for, wrap
from ..values.operator_methods import COMPARISONS
from .list_room import Int, WithLength
from .traced_lists import is_in_arrays, plain_list

# See Note [Rooms with one door].
codes_of_items = import_later("fxc.capture.forms.leaving", "codes_of_items")
demand = import_later("fxc.capture.forms.truths", "demand")

# Note [Texts of the graph]
# A text argument is a constant at first. When it changes from call to call, or the program comes
# to many operations and reads its characters, the guard program makes an array of its code
# points, whose size is a symbol: a ``Text``, one compilation for all texts.
# Its items, what ``chr`` gives and what loops run over are ``Char``: a code point, an int. That is
# what branches join, loops carry and lists of the graph hold; ``"".join`` of such a list is a Text.
# A text to which a loop adds (``s += c``) is ``Grown``: a number of code points of a buffer, which
# the next one has in common with it. That none has been added to it before is checked
# where one is (else Python runs the call). Such variables are found in the program's source
# (staging/changed_in_loops.py), and their texts made so when the capture has seen that it matters.
# Methods of a Char read tables of what they give of ASCII; other characters are Python's. An
# element of an array of texts of one character is a ``CharOfArray``, which may be empty.
# What else the program does with a Text or Char (a format, a method of a text) needs the
# characters: the capture starts again with the arguments as constants.

_LAST = 0x10FFFF


def is_char(x: object) -> bool:
    """Whether this is a character, known or not, or one of several that are known."""
    if type(x) is Several:
        return x.is_text and all(len(text) == 1 for _, text in x.options)
    return isinstance(x, Char) or (type(x) is str and len(x) == 1)


def code_of(x: Any) -> object:
    """The code point of a character."""
    if isinstance(x, Char):
        return x.code
    if type(x) is Several:
        return united([(flag, ord(text)) for flag, text in x.options])
    return ord(x)


def text_of(codes: np.ndarray) -> str:
    """The text of an array of code points."""
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def refused(what: str) -> Exception:
    """What to raise for what needs the characters."""
    outside = current().door.outside
    if wanted := outside.texts - outside.session.requests:
        raise Respecialise(*wanted)
    return refuse(TEXT, f"{what} of a text that is known at run time only")


class Characters(WithLength):
    """What texts, characters and bytes have in common that are known at run time only."""

    __slots__ = ()
    _of: ClassVar[type]  # whose methods they have
    _text: ClassVar[str]
    codes: Callable[[], TracedArray]
    refused = staticmethod(refused)

    def _known(self, what: str = "") -> NoReturn:
        raise refused(what or self._text)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(self._of, name):
            text = f"{self._of.__name__!r} object has no attribute {name!r}"
            raise AttributeError(text, name=name, obj=self._of())
        raise refused(f"{name}()")

    @classmethod
    def _of_structure(cls, keys: tuple[object, ...], items: Any) -> Self:
        return cls(*items)

    def _structure_keys(self) -> tuple[Any, ...]:
        return (0,)

    def length(self) -> Any:
        return self.codes().shape[0]

    def _is_filled(self) -> object:
        return self.length() != 0

    def __bool__(self) -> bool:
        return bool(self._is_filled())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._counted())

    def __contains__(self, x: object) -> bool:
        return bool(self._has(x))

    def __ne__(self, other: object) -> Any:
        same: Any = self.__eq__(other)
        if same is NotImplemented:
            return same
        return not same if type(same) is bool else logical_not(same)


class UnknownText(Characters):
    """What texts and characters have in common."""

    __slots__ = ()
    __class__ = taken_for(str)
    _of, _text = str, "a text"
    # Whether what is added at its start is best done by it.
    grows_at_begin = False

    def __add__(self, other: object) -> Any:
        if isinstance(other, UnknownText) and other.grows_at_begin:
            return NotImplemented
        return _joined(self, other)

    def __radd__(self, other: object) -> Any:
        return _joined(other, self)

    def _has(self, x: object) -> object:
        """``x in self``: whether the characters of ``x`` follow one another somewhere."""
        if type(x) is Several and not is_char(x):
            return x.of_each(self._has)
        if not isinstance(x, str):
            kind = x.__class__.__name__
            raise TypeError(f"'in <string>' requires string as left operand, not {kind}")
        if type(x) is not str and not is_char(x):
            raise refused("'in'")
        wanted = [code_of(x)] if is_char(x) else [*map(ord, x)]
        codes, places = self.codes(), self.length() - len(wanted) + 1
        fits = places >= 1 if len(wanted) > 1 else True
        if type(fits) is not bool:
            raise refused("'in'")
        if not wanted or not fits:
            return not wanted
        found = True
        for k, code in enumerate(wanted):
            found = found & (codes[k : places + k] == code)
        return to_bool(found.any())  # type: ignore[attr-defined]


def is_unknown_text(x: object) -> bool:
    """Whether this is a text, or a character, that is known at run time only."""
    return isinstance(x, UnknownText)


_REFUSED = {
    "_operand": "an array",  # but of a character
    "__hash__": "a key, or hash(),",
    **dict.fromkeys(("__repr__", "__str__"), "the text"),
    "__format__": "format()",
    **dict.fromkeys(("__mul__", "__rmul__", "__mod__", "__rmod__"), "an operator"),
    **dict.fromkeys(("__lt__", "__le__", "__gt__", "__ge__"), "an operator"),
}
refuse_methods(UnknownText, _REFUSED)


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    def compare(self: Char, other: object) -> Any:
        is_equality = name in ("__eq__", "__ne__")
        if type(other) is not Several and not isinstance(other, str):
            is_left = not is_equality or isinstance(other, np.ndarray)
            return NotImplemented if is_left else name == "__ne__"
        if is_char(other):
            left, right = self.codes_beside(other)
            return getattr(left, name)(right)
        if is_equality and type(other) is str:
            return self._is_text(name, other)
        raise refused("a comparison")

    return compare


class Char(UnknownText):
    """A text of one character."""

    __slots__ = _held = ("code",)
    _of_item: ClassVar[Callable[..., Any]] = chr
    _written_by = "_char"
    code: Any

    def __init__(self, code: object) -> None:
        self.code = code

    @staticmethod
    def _structure_items(x: object) -> tuple[Any, ...]:
        return (code_of(x),)

    @staticmethod
    def _has_structure(x: object) -> bool:
        return is_char(x)

    def _is_filled(self) -> object:
        return True

    def length(self) -> int:
        return 1

    def plain(self) -> Char:
        """As a text of Python's own."""
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter((self.plain(),))

    def __getitem__(self, key: object) -> Any:
        if type(key) is int and -1 <= key < 1:
            return self.plain()
        raise refused("an item")

    def __getattr__(self, name: str) -> object:
        found = None if name.startswith("_") else _of_each(name)
        if found is None:
            return super().__getattr__(name)

        def method() -> object:
            demand(self.code < len(found))
            made: Any = wrap(constant(found))[self.code]
            return to_bool(made) if found.dtype == bool else Char(to_int(made))

        return method

    def codes(self) -> TracedArray:
        return filled((1,), self.code)

    def _operand(self) -> Operand:
        """The array of rank 0 that NumPy makes of a text."""
        return filled((), self.code).view("U1")._operand()  # type: ignore[no-any-return]

    def codes_beside(self, other: object) -> tuple[Any, Any]:
        """Ints that compare as two characters do."""
        return self.code, code_of(other)

    def _is_text(self, name: str, text: str) -> object:
        """Whether it is, or is not, a text that has not one character."""
        return name == "__ne__"

    def is_one_of(self, texts: Iterable[object]) -> object:
        """Whether it is one of these characters."""
        codes = [code_of(each) for each in texts if is_char(each)]
        if not codes:
            return False
        same: Any = wrap(constant(np.array(codes))) == self.code
        return to_bool(same.any())

    def place_among(self, keys: Sequence[str]) -> tuple[object, object]:
        """Its place among these texts, of which there are some; whether it is there."""
        codes = [ord(each) if len(each) == 1 else -1 for each in keys]
        same: Any = wrap(constant(np.array(codes))) == self.code
        return to_python(same.argmax()), to_python(same.any())


for _name in COMPARISONS:
    setattr(Char, f"__{_name}__", _comparison(f"__{_name}__"))


def filled(shape: tuple[int, ...], code: object) -> TracedArray:
    """An array of one code."""
    made = current().record("full", shape, operand(code), np.dtype(np.int32), layout=None)
    return TracedArray(made)


@cache
def _of_each(name: str) -> np.ndarray | None:
    """What a method without arguments gives of each character of ASCII: bools, or codes."""
    try:
        found = [getattr(chr(code), name)() for code in range(128)]
    except (AttributeError, TypeError):
        return None
    if all(type(x) is bool for x in found):
        return np.array(found)
    is_text = all(type(x) is str and len(x) == 1 for x in found)
    return np.array(list(map(ord, found))) if is_text else None


class Text(UnknownText):
    """A text of any length: the code points stand in an array, which nobody writes."""

    __slots__ = ("_codes",)
    _held: ClassVar[tuple[str, ...]] = ("_codes",)
    _of_item = staticmethod(text_of)
    _written_by = "_text"

    def __init__(self, codes: TracedArray) -> None:
        self._codes = codes

    @staticmethod
    def _structure_items(x: Any) -> tuple[Any, ...]:
        return (x.codes(),)

    def codes(self) -> TracedArray:
        return self._codes

    def __getitem__(self, key: object) -> Any:
        try:
            found = self.codes()[key]
        except IndexError:
            raise IndexError("string index out of range") from None
        return Text(found) if isinstance(key, slice) else Char(to_int(found))

    def _counted(self) -> Counted | Bounded:
        codes = self.codes()
        return Counted(codes._type.shape[0], lambda k: Char(to_int(codes[k])), of=())

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, str):
            return False
        outside, codes = current().door.outside, codes_in(other)
        if codes is None or (type(other) is str and not outside.texts <= outside.session.requests):
            raise refused("==")
        return current().door.staged(are_equal)(self.codes(), codes, self.length(), codes.shape[0])

    __hash__ = UnknownText.__hash__


def are_equal(x: TracedArray, y: TracedArray, one: Int, other: object) -> Any:
    """Whether two arrays of these lengths are equal; it is staged like the user's own code."""
    return one == other and all(x[k] == y[k] for k in range(one))


# ------------------------------------------------------------------ what is made of texts


def char_of(code: Any) -> Char:
    demand(code >= 0)
    demand(code <= _LAST)
    return Char(code)


def codes_in(x: object) -> Any:
    """The code points of a text as an array; None for what is none."""
    if isinstance(x, Text | Char):
        return x.codes()
    if type(x) is str:
        return wrap(constant(np.array([ord(each) for each in x], np.int32)))
    return Char(code_of(x)).codes() if is_char(x) else None


def _joined(left: object, right: object) -> Any:
    """``left + right``."""
    if current().region:
        current().door.texts.ask()
    parts = [codes_in(x) for x in (left, right)]
    if any(part is None for part in parts):
        other = left if parts[0] is None else right
        if isinstance(other, str | Several):
            raise refused("'+'")
        raise TypeError(f'can only concatenate str (not "{type(other).__name__}") to str')
    return Text(together(parts))


def together(parts: Sequence[object]) -> Any:
    """One array after the other, as a new one."""
    found: Any = current().door.call(np.concatenate, tuple(parts))
    return found


def joined(items: Any) -> Any:
    """``"".join(items)``; None where Python does it."""
    if is_in_arrays(items):
        form, arrays = items.arrays()
        codes = codes_of_items(form, [wrap(array) for array in arrays])
        return None if codes is None else Text(codes)
    if isinstance(items, Text | Char):
        return items.plain() if isinstance(items, Char) else items
    if isinstance(items, TracedArray) and items.ndim == 1 and is_character(items.dtype):
        codes = items.copy().view(np.int32)
        demand((codes > 0).all())  # no text is empty
        return Text(codes)
    items = plain_list(items)
    if type(items) not in (list, tuple) or not any(isinstance(x, UnknownText) for x in items):
        return None
    parts = [codes_in(x) for x in items]
    return None if any(part is None for part in parts) else Text(together(parts))
