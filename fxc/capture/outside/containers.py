"""Lists, dicts and sets from outside, as the captured program sees them.

They are read as far as the program looks: an element that it reads is fetched and guarded, the
length only if it matters. What the program changes is seen by later reads, and recorded; the
container itself is left alone until the call is over. See Note [Effects].
"""

from __future__ import annotations

import operator
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, NoReturn

import numpy as np

from fxc.ir.error_kinds import ARGUMENT_KIND, KEYS_OF_DATA, TEXT
from fxc.ir.records import frozen

from ..guards.program import Source
from ..numbers.traced_int import TracedInt
from ..session.refusing import refusal, refuse
from ..session.session import ITEM
from ..values.maybe_set import MaybeSet, given
from ..values.objects import MISSING, class_attribute
from ..values.operands import Traced
from ..values.operator_methods import as_they_come, goes_first
from ..values.shadows import class_of
from .inputs import Route
from .outside import Outside

_SINGLE = (type(None), type(Ellipsis), type(np._NoValue))  # classes of one object
PLAIN = frozenset({*_SINGLE, bool, int, float, complex, str, bytes, range})


def is_plain(value: Any) -> bool:
    """Whether a sequence holds nothing but plain immutable values."""
    return all(type(item) in PLAIN or (type(item) is tuple and is_plain(item)) for item in value)


def is_key(value: Any) -> bool:
    """Whether a value can be looked up by what it is: it is plain or a data type, or it is a class
    or a member of an enum, whose hash and ``==`` are Python's.
    """
    kind = type(value)
    if kind is tuple:
        return all(map(is_key, value))
    if not issubclass(kind, Enum | type):
        return kind in PLAIN or issubclass(kind, np.dtype)
    methods = (class_attribute(kind, name) for name in ("__eq__", "__hash__"))
    return all(getattr(each, "__module__", "enum") == "enum" for each in methods)


def is_numpys_int(value: object) -> bool:
    """Whether this is an int of NumPy's, of which hash and ``==`` are those of the number."""
    return isinstance(value, np.integer) and value.dtype.kind in "iu"


@frozen
class Held:
    """A container from outside: the object, how a call gets at it, and the name of its parts."""

    outside: Outside
    real: Any
    source: Source
    name: str
    argument: bool

    def part(self, value: object, suffix: str, name: str, key: str | None = None) -> Any:
        """What the program sees of an element; ``suffix`` gets it from the container. For the
        ``key`` of a dict that makes what is missing the guards do not ask it.
        """
        self.outside.session.spend(ITEM)
        text = f"{self.source.text}{suffix}"
        expression = f"{self.source.var}{suffix}"
        if key is not None and hasattr(type(self.real), "__missing__"):
            self.check(f"{key} in {self.source.var}", f"has the key {key}")
            expression = f"{self.constant(dict.get)}({self.source.var}, {key})"
        source = self.outside.guards.fetch(expression, text)
        varies = self.name in self.outside.varying
        return self.outside.admit(value, Route(source, name, self.argument, varies, self.name))

    @property
    def door(self) -> Any:
        return self.outside.session.door

    def check(self, condition: str, text: str) -> None:
        """Demand something of the container."""
        self.outside.guards.check(condition, f"{self.source.text} {text}")

    def constant(self, value: object) -> str:
        return self.outside.guards.constant(value)

    def check_allowed(self) -> None:
        """Refuse a change here, if it has to be."""
        self.outside.effects.check_allowed(type(self.real).__name__)

    def change(self, action: str, key: object = None, value: object = None) -> None:
        self.outside.effects.add(self.source, action, key, value)

    def store(self, key: object, value: object, label: str, flag: object = None) -> None:
        """Record a new element; ``label`` is the name of the one before."""
        self.outside.stored(f"{self.name}{label}", self.name)
        self.outside.effects.store(self.source, "setitem", key, value, flag)


class External:
    """What containers from outside have in common."""

    _held: Held
    _whole = False  # whether all of it has been read
    settle: Callable[[], None]  # read all of it

    @property
    def kind(self) -> type:
        """The type that the program takes it for."""
        return type(self.original)

    @property
    def original(self) -> object:
        """What the program takes it for, as it was."""
        return self._held.real

    def _is_filled(self) -> object:
        """Whether there are items, where that is known at run time only; else None."""
        return None

    def attribute(self, name: str) -> object:
        """An attribute as the program asks for it."""
        if name == "__class__":
            return self.kind
        if class_attribute(self.kind, name) is MISSING:
            text = f"{self.kind.__name__!r} object has no attribute {name!r}"
            raise AttributeError(text, name=name, obj=self.original)
        if name == "__init__":  # that of a stand-in is another one
            if self.kind is defaultdict or not isinstance(self, ExternalMapping):
                raise refuse(ARGUMENT_KIND, f"__init__ of a {self.kind.__name__} from outside")
            return self.update
        ours = (each for each in type(self).__mro__ if issubclass(each, External))
        if not any(name in vars(each) for each in ours):
            raise refuse(ARGUMENT_KIND, f"{name} of a {self.kind.__name__} from outside")
        return getattr(self, name)

    def length(self) -> object:
        self.settle()
        return len(self)  # type: ignore[arg-type]

    def _changing(self) -> None:
        """Before a change, of more than one element."""
        self._held.check_allowed()

    def _change(self, action: str, key: object = None, value: object = None) -> None:
        """Record a change."""
        self._changing()
        self._held.change(action, key, value)


class ExternalIterator(External):
    """An iterator of C from outside: who looks at its items takes them away."""

    def __init__(self, held: Held) -> None:
        self._held = held

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.kind

    def settle(self) -> None:
        """There is nothing to read before somebody asks for an item."""

    def _items(self, *_: object) -> NoReturn:
        raise refuse(
            ARGUMENT_KIND,
            f"iterating over a {self.kind.__name__} from outside of the compiled function",
            "make it a list or a tuple",
        )

    __iter__ = __next__ = __contains__ = _items

    def __repr__(self) -> str:
        raise refuse(TEXT, f"the text of a {self.kind.__name__} from outside")


def is_iterator(kind: type) -> bool:
    """Whether the objects of a class of C are iterators and nothing else."""
    others = ("__call__", "__getitem__", "__len__")
    is_other = any(class_attribute(kind, each) is not MISSING for each in others)
    return hasattr(kind, "__next__") and not is_other


def class_seen(x: object) -> Any:
    """The class of something, stand-ins among them, as the program sees it."""
    if isinstance(x, Traced):
        return x._class()
    return x.kind if isinstance(x, External) else class_of(x)


def known_items(x: Any) -> Sequence[Any]:
    """The items of a list or tuple, those of one from outside as they are there."""
    if isinstance(x, External):
        x = x.original
    return x if type(x) in (list, tuple) else ()


def clear(self: Any) -> None:
    self._change("clear")
    self._whole = True
    _base(type(self)).clear(self)  # type: ignore[attr-defined]


class ExternalSequence(External):
    """Lists and deques from outside; ``_added`` has what was appended until all of one is read."""

    _added: list[Any]

    def _changing(self) -> None:
        super()._changing()
        self._held.outside.stored(self._held.name, f"{self._held.name}.len")

    def append(self, value: object, /) -> None:
        self._change("append", value=value)
        if self._whole:
            super().append(value)  # type: ignore[misc]
        else:
            self._added.append(value)

    def extend(self, values: Iterable[object], /) -> None:
        for value in as_they_come(values):
            self.append(value)

    def __iadd__(self, values: Any, /) -> Any:
        if goes_first(values):
            return NotImplemented
        self.extend(values)
        return self

    clear = clear


class ExternalMapping(External):
    """What dicts from outside and namespaces of objects have in common."""

    _find: Callable[[object], Any]  # what the program sees at a key, or MISSING

    def _when_missing(self, key: object) -> object:
        raise KeyError(key)

    def __getitem__(self, key: object) -> Any:
        value = given(self._find(key))
        return self._when_missing(key) if value is MISSING else value

    def get(self, key: object, default: object = None, /) -> Any:
        value = given(self._find(key))
        return default if value is MISSING else value

    def __contains__(self, key: object) -> bool:
        found = self._find(key)
        if type(found) is MaybeSet:
            raise found.unclear()
        return found is not MISSING

    def setdefault(self, key: object, default: object = None, /) -> object:
        value = given(self._find(key))
        if value is MISSING:
            self[key] = value = default  # type: ignore[index]
        return value

    def __eq__(self, other: object) -> bool:
        return bool(self.copied() == copied(other))

    def __ne__(self, other: object) -> bool:
        return bool(self.copied() != copied(other))

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: object) -> Any:
        return self.copied() | copied(other) if isinstance(other, dict) else NotImplemented

    def __ror__(self, other: object) -> Any:
        return other | self.copied() if isinstance(other, dict) else NotImplemented

    def copied(self) -> dict[Any, Any]:
        """One of the same class with these items, that the program has made."""
        self.settle()
        this: Any = self
        return dict(dict.items(this))

    def update(self, *others: object, **items: object) -> None:
        if len(others) == 1 and isinstance(others[0], Iterator):
            for pair in others[0]:
                self.update((pair,))
            others = ()
        for key, value in dict(*others, **items).items():
            self[key] = value  # type: ignore[index]

    def __ior__(self, other: object) -> Any:
        self.update(other)
        return self


def copied(x: object) -> Any:
    """``x``, or a dict of the program's in place of what stands for one."""
    return x.copied() if isinstance(x, ExternalMapping) else x


MAPPING_READS = "__iter__ __reversed__ __len__ __repr__ keys values items"


def settle_all(values: Iterable[object]) -> None:
    """Read all of the containers among these values: code of C looks into them directly."""
    for value in values:
        if isinstance(value, External):
            value.settle()


def settle_deeply(x: object) -> None:
    """Read all of the containers in a container: code of C looks into them, too."""
    if isinstance(x, External):
        x.settle()
    if isinstance(x, tuple | list):
        for item in x:
            settle_deeply(item)
    elif isinstance(x, dict):
        for item in x.values():
            settle_deeply(item)


def settled(base: type, name: str) -> Callable[..., Any]:
    """A method that looks at all of a container: it is read first."""
    method = getattr(base, name)

    def run(self: Any, *args: object, **kwargs: object) -> object:
        self.settle()
        settle_all(args)
        return method(self, *args, **kwargs)

    return run


def give_reads(kind: type, names: str) -> None:
    """Give a stand-in the methods of its class that look at all of it."""
    for name in names.split():
        setattr(kind, name, settled(_base(kind), name))


def _base(kind: type) -> type:
    (base,) = (each for each in (list, dict, set, deque) if issubclass(kind, each))
    return base


def refuse_others(kind: type, what: str) -> None:
    """Refuse the other methods of a stand-in that its class has, and a message calls so."""

    def refusing(name: str) -> Callable[..., Any]:
        def run(self: object, *args: object) -> object:
            raise refusal(ARGUMENT_KIND, f"{name} of {what}")

        return run

    ours = [each for each in kind.__mro__ if issubclass(each, External)]
    for name, method in vars(_base(kind)).items():
        known = hasattr(object, name) or any(name in vars(each) for each in ours)
        if callable(method) and not known:
            setattr(kind, name, refusing(name))


def is_number(value: object) -> bool:
    """Whether a value may be the same object and stand for another number."""
    return isinstance(value, bool | int | float | complex)


def plain_key(key: object) -> Any:
    """A key as a value of its own: the traced numbers in it are known from here on."""
    if type(key) is tuple:
        known = tuple(map(plain_key, key))
        return key if all(map(operator.is_, known, key)) else known
    if type(key) is TracedInt:
        return key._known()
    if isinstance(key, Traced):
        find = getattr(type(key), "_known", None)
        if find is None:
            raise refuse(KEYS_OF_DATA, "a key of a dict from outside that depends on data")
        return find(key, "a key")
    return key
