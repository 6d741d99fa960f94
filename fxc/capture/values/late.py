"""Texts of numbers that are known at run time only.

See Note [Late effects].
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fxc.ir.error_kinds import TEXT
from fxc.ir.graph import Operand
from fxc.ir.later import import_later
from fxc.ir.types import ArrayType

from ..session.refusing import refusal, refuse
from ..session.warned_of import run_now
from .above import above
from .operands import Traced, TracedValue, operand
from .snapshots import Of, as_pythons, is_array, mapped, snapshot

# See Note [Rooms with one door].
maker_of = import_later("fxc.capture.values.text_makers", "maker_of")

_DEEPEST = 32  # texts in texts that branches join
_OF_TEXTS = r"%(\(.*?\))?[^a-zA-Z%]*[sra]"  # conversions that may show nothing


def _of_known(function: Callable[..., object]) -> Callable[..., Any]:
    """A method that needs the text itself, of the numbers of this call."""

    def method(self: Late, *others: object) -> object:
        return function(self._known(), *map(_known, others))

    return method


class Late(Traced):
    """What ``function(*args, **kwargs)`` will give: a text, or a number that says something of
    what is shown. The arguments are as they are now; see ``snapshot``.
    """

    __slots__ = ("_args", "_depth", "_function", "_kind", "_kwargs", "_template")
    _of_item, _written_by = str, "_late"

    def __init__(
        self, kind: type, function: Callable[..., object], args: Any, kwargs: dict[str, object]
    ) -> None:
        self._kind = kind
        self._function = function
        self._args = args
        self._kwargs = kwargs
        self._depth: int = 1 + max((x._depth for x in args if isinstance(x, Late)), default=0)
        self._template: Template | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self._kind

    @property
    def has_template(self) -> bool:
        """Whether this is not one text in another in another and so on."""
        return self._depth <= _DEEPEST

    @property
    def template(self) -> Template:
        """What it has in common with texts of other numbers."""
        self._template = found = self._template or Template(self)
        return found

    def _structure_keys(self) -> tuple[Any, ...] | None:
        if not self.has_template:
            return None
        return self.template, *range(1, len(self.template.parts_of(self)))

    @staticmethod
    def _structure_items(x: Any) -> tuple[Any, ...]:
        return tuple(x.template.parts_of(x))

    @classmethod
    def _of_structure(cls, keys: tuple[Any, ...], items: Any) -> Late:
        return keys[0].at(*items)  # type: ignore[no-any-return]

    def _operand(self) -> Operand:
        return operand(self._known())

    def _is_filled(self) -> object:
        """Its truth, where that is clear: the text of a number has characters."""
        shows = self._function is formatted and any(map(_shows, self._args))
        if self._function is operator.mod and type(self._args[0]) is str:
            shows = re.sub(_OF_TEXTS, "", self._args[0]) != ""
        return shows or bool(self._known())

    def _known(self, what: str = "a text") -> Any:
        """The object itself, of the numbers of this call."""
        args, kwargs = _known((self._args, self._kwargs))
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(f"{self._kind.__name__!r} object has no attribute {name!r}")
        method = getattr(self._kind, name)

        def call(*args: object, **kwargs: object) -> object:
            if name in OF_TEXTS:
                return late(self._kind, method, self, *used_up(args), **kwargs)
            if name == "count" and self._function is bin and args == ("1",):
                return self._args[0].bit_count()
            if name == "decode" and self._function is bytes_of and not (args or kwargs):
                return above().decoded(self._args[0])
            if name in ("startswith", "endswith") and len(args) == 1 and type(args[0]) is str:
                return self._has_end(name, args[0])
            return getattr(self._known(), name)(*args, **kwargs)

        vars(call)["__self__"] = self  # as methods have
        return call

    def __add__(self, other: object) -> Any:
        return late(self._kind, operator.add, self, _text(other, self._kind))

    def __radd__(self, other: object) -> Any:
        return late(self._kind, operator.add, _text(other, self._kind), self)

    def __mul__(self, count: object) -> Any:
        return late(self._kind, repeated, self, count)

    __rmul__ = __mul__

    def __mod__(self, args: object) -> Any:
        return late(self._kind, operator.mod, self, args)

    def __getitem__(self, key: object) -> Any:
        if isinstance(key, slice):
            return late(self._kind, _part, self, key.start, key.stop, key.step)
        return self._known()[key]

    def __eq__(self, other: object) -> Any:
        begin, end = self._ends()
        if type(other) is str and not (other.startswith(begin) and other.endswith(end)):
            return False
        return self._known() == of_this_call(other)

    def _ends(self) -> tuple[str, str]:
        """The text that it begins and the one that it ends with, before and after all numbers."""
        if self._function is operator.mod and type(self._args[0]) is str:
            return self._args[0].partition("%")[0], ""
        parts = self._args if self._function is formatted else ()
        begin, end = (x if type(x) is str else "" for x in (parts[:1] + parts[-1:]) or ("", ""))
        return begin, end

    def _has_end(self, name: str, text: str) -> bool:
        """``self.startswith(text)`` or ``self.endswith(text)``."""
        known = self._ends()[name == "endswith"]
        is_enough = len(known) >= len(text) or not getattr(text, name)(known)
        return bool(getattr(known if is_enough else self._known(), name)(text))

    def __ne__(self, other: object) -> Any:
        return not self == other

    __lt__, __le__ = _of_known(operator.lt), _of_known(operator.le)
    __gt__, __ge__ = _of_known(operator.gt), _of_known(operator.ge)
    __contains__, __len__, __iter__ = _of_known(operator.contains), _of_known(len), _of_known(iter)
    __hash__, __bool__ = _of_known(hash), _of_known(bool)
    __str__, __repr__, __format__ = _of_known(str), _of_known(repr), _of_known(format)


def _shows(part: object) -> bool:
    """Whether a part of an f-string has characters in any case."""
    if type(part) is not tuple:
        return type(part) is str and part != ""
    value, conversion, spec = part
    is_number = isinstance(value, TracedValue) and not is_array(value)
    return is_number and (conversion == -1 or spec == "")


class Template:
    """A text without the numbers in it."""

    def __init__(self, text: Late) -> None:
        self._type, self._kind, self._function = type(text), text._kind, text._function
        self._tree = _without_parts((text._args, text._kwargs), lambda _: None)
        self._key = self._kind, _key_of((self._function, self._tree))
        self._maker: Callable[..., Any] | None = None

    def __eq__(self, other: object) -> bool:
        return type(other) is Template and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        """The same in each run: the options of a union are in the order of their texts."""
        return f"Template({self._kind.__name__}, {self._function!r}, {self._tree!r})"

    def parts_of(self, text: Late) -> list[Any]:
        """The numbers in a text of this template."""
        parts: list[Any] = []
        _without_parts((text._args, text._kwargs), parts.append)
        return parts

    def at(self, *parts: object) -> Late:
        """The text with these numbers."""
        return self._at(iter(parts))

    def _at(self, parts: Iterator[object]) -> Late:
        def of(x: object) -> object:
            if type(x) is Template:
                return x._at(parts)
            return next(parts) if x is _HOLE else x

        return self._type(self._kind, self._function, *mapped(self._tree, of))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_maker": None}  # of source: it is made again

    def made(self, *parts: object) -> object:
        """The text itself, at run time."""
        self._maker = maker = self._maker or maker_of(self, _HOLE)
        return maker(*parts)

    def source(self, of: Callable[[object], str]) -> str:
        """The text as an expression of Python's, of those of the arguments, in their order."""
        args, kwargs = self._tree
        if self._function is formatted and all(type(x) in (str, tuple) for x in args):
            parts = [of(x) if type(x) is str else _formatted_source(x, of) for x in args]
            return f"{of(''.join)}(({''.join(f'{part}, ' for part in parts)}))"
        given = list(map(of, args))
        given += [f"**{{{of(name)}: {of(x)}}}" for name, x in kwargs.items()]
        return f"{of(self._function)}({', '.join(given)})"


_HOLE = object()  # stands for a number in a template


def _without_parts(x: object, take: Callable[[object], None]) -> Any:
    """A tree without what is not known, which is handed over."""

    def of(x: object) -> object:
        if isinstance(x, Late):
            _without_parts((x._args, x._kwargs), take)
            return x.template
        if not isinstance(x, Traced):
            return x
        take(x)
        return _HOLE

    return mapped(x, of)


def _key_of(x: Any) -> object:
    """What tells constants in trees apart."""
    kind = type(x)
    if kind in (tuple, list):
        return kind, tuple(map(_key_of, x))
    if kind is dict:
        return kind, tuple((key, _key_of(item)) for key, item in x.items())
    if kind in (str, bytes, int, bool, Template) or x is None:
        return kind, x
    return (kind, repr(x)) if kind in (float, complex) else (kind, id(x))


# Methods of texts that give texts, and look at nothing else.
OF_TEXTS = frozenset(
    (
        *("capitalize", "center", "ljust", "rjust", "lower", "upper", "title", "strip", "lstrip"),
        *("rstrip", "replace", "expandtabs", "zfill", "swapcase", "casefold", "format", "join"),
    )
)


def _text(x: object, kind: type) -> object:
    if isinstance(x, kind):
        return x
    if kind is str:
        raise TypeError(f'can only concatenate str (not "{type(x).__name__}") to str')
    raise TypeError(f"can't concat {type(x).__name__} to {kind.__name__}")


def bytes_of(x: Any) -> bytes:
    """``x.tobytes()``."""
    if isinstance(x, Traced):
        raise refuse(TEXT, "bytes of an array that are looked at", "use x.view(np.uint8)")
    return bytes(x.tobytes())


def _known(x: object) -> Any:
    """A tree without texts that are not known."""
    return mapped(x, _known_part)


def _known_part(x: object) -> object:
    if not isinstance(x, Late) and isinstance(x, Traced) and isinstance(x, str):
        raise refusal(
            TEXT, "a text of parts that conditions choose cannot be looked at while capturing"
        )
    if isinstance(x, TracedValue) and x._value.type.dtype.kind == "U":
        raise refusal(
            TEXT, "a text of the elements of an array cannot be looked at while capturing"
        )
    return of_this_call(x)


def known_text(x: object) -> Any:
    """A text as a constant of the capture; anything else itself."""
    return str(x) if isinstance(x, Traced) and isinstance(x, str) else x


def of_this_call(x: object) -> Any:
    """What a text of numbers is in this call; anything else itself."""
    return x._known() if isinstance(x, Late) else x


def repeated(text: Any, count: Any) -> object:
    """``text * count``; while capturing of the number that the count is in this call."""
    return text * (operator.index(count) if is_unknown(count) else count)


def _part(text: Any, start: object, stop: object, step: object) -> Any:
    return text[start:stop:step]


def formatted(*parts: Any) -> str:
    """An f-string."""
    return "".join(
        each if type(each) is str else format(_CONVERSIONS[each[1]](each[0]), each[2])
        for each in parts
    )


def _formatted_source(part: tuple[Any, Any, Any], of: Callable[[object], str]) -> str:
    value, conversion, spec = part
    shown = of(value) if conversion == -1 else f"{of(_CONVERSIONS[conversion])}({of(value)})"
    return f"{of(format)}({shown}, {of(spec)})"


_CONVERSIONS: dict[int, Of] = {-1: lambda x: x, ord("s"): str, ord("r"): repr, ord("a"): ascii}


def late(kind: type, function: Callable[..., object], /, *args: object, **kwargs: object) -> object:
    """What a pure function gives: at once where all arguments are known, a ``Late`` otherwise."""
    if not (is_unknown(args) or is_unknown(kwargs)):
        return run_now(function, args, kwargs)
    try:
        _run_on(_sample_of, function, args, kwargs)  # it raises now what it would raise later
    except _NoSample:
        pass
    except IndexError:  # it takes an item of an array, whose sizes become constants
        _run_on(_sized, function, args, kwargs)
    except ValueError:  # also where the sample of a text is no format
        mapped((args, kwargs), known_text)
        raise
    args, kwargs = snapshot(args), snapshot(kwargs)
    if not (is_unknown(args) or is_unknown(kwargs)):  # of a list of the graph that Python knows
        return run_now(function, args, kwargs)
    return Late(kind, function, args, kwargs)


class _NoSample(Exception):
    """There is no sample of something."""


def _run_on(sample: Of, function: Callable[..., object], args: object, kwargs: object) -> None:
    run_now(function, mapped(args, sample, as_pythons), mapped(kwargs, sample, as_pythons))


def _sample_of(x: object) -> object:
    """Another number of the same type."""
    if isinstance(x, Late):
        return "" if x._kind is str else x._kind()
    if not isinstance(x, Traced):
        return x
    if isinstance(x, str | int):
        return "a" if isinstance(x, str) else 1
    if not isinstance(x, TracedValue):
        raise _NoSample
    found = x._object.type
    return np.ones((1,) * found.rank, found.dtype) if isinstance(found, ArrayType) else found.one


def _sized(x: Any) -> object:
    found = _sample_of(x)
    return np.resize(found, [*map(int, x.shape)]) if isinstance(found, np.ndarray) else found


def used_up(args: tuple[object, ...]) -> tuple[Any, ...]:
    """Arguments of ``join``: lists of what iterators give, whose items may be unknown."""
    return tuple(list(x) if isinstance(x, Iterator) else x for x in args)


def is_unknown(x: object) -> bool:
    """Whether something has parts that are not known while capturing."""
    if isinstance(x, Traced):
        return True
    if isinstance(x, tuple | list):
        return any(map(is_unknown, x))
    return isinstance(x, dict) and any(map(is_unknown, x.values()))
