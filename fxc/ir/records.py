"""Dataclasses that cost nothing to define: ``@frozen`` and ``@mutable``.

``@frozen`` means ``@dataclass(frozen=True, slots=True)`` and ``@mutable`` means
``@dataclass(eq=False, slots=True)``, to type checkers and to ``dataclasses.replace`` too, which
takes twice as long as ``replace`` here.
``dataclass`` itself writes and compiles the source of every method, about a millisecond a class,
and the first call of a compiled function needs nearly a hundred classes. Here the methods are
shared, or closures; ``__init__`` is written when there are some objects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:
    from dataclasses import Field  # takes long to import

T = TypeVar("T")


class _Missing:
    """What stands for a default that there is none of."""


MISSING = _Missing()


class _Said:
    """What a class body says of a field."""

    __slots__ = ("compare", "default", "default_factory", "init")

    def __init__(self, default: object, default_factory: object, init: bool, compare: bool) -> None:
        self.default, self.default_factory = default, default_factory
        self.init, self.compare = init, compare


@overload
def field(*, default: T, init: bool = True, compare: bool = True) -> T: ...
@overload
def field(*, default_factory: Callable[[], T], init: bool = True, compare: bool = True) -> T: ...
@overload
def field(*, init: bool = True, compare: bool = True) -> Any: ...
def field(
    *,
    default: object = MISSING,
    default_factory: object = MISSING,
    init: bool = True,
    compare: bool = True,
) -> Any:
    """What there is to say of a field of a record, as ``dataclasses.field`` says it."""
    return _Said(default, default_factory, init, compare)


@overload
def frozen(cls: type[T], /) -> type[T]: ...
@overload
def frozen(*, eq: bool) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: object = None, /, *, eq: bool = True) -> Any:
    """Immutable objects, equal if of one class with equal fields (``eq=False``: by identity).

    Fields may have defaults or ``field(...)`` with default, default_factory, init and compare.

    >>> import dataclasses
    >>> @frozen
    ... class Range:
    ...     stop: int
    ...     step: int = 1
    >>> Range(8), Range(8) == Range(8, 1), dataclasses.replace(Range(8), step=2)
    (Range(stop=8, step=1), True, Range(stop=8, step=2))
    """
    if cls is None:
        return lambda cls: _with_methods(cls, frozen=True, eq=eq)
    return _with_methods(cls, frozen=True, eq=eq)


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def mutable(cls: type[T]) -> type[T]:
    """Objects whose fields may be assigned; compared by identity."""
    made: type[T] = _with_methods(cls, frozen=False, eq=False)
    return made


def replace(record: T, /, **changes: object) -> T:
    """The record with other values of these fields, as ``dataclasses.replace`` gives it."""
    cls: Any = type(record)
    content, places = _parts(cls)
    values = list(content(record))
    for name, value in changes.items():
        values[places[name]] = value
    made: T = cls(*values)
    return made


@functools.cache
def _parts(cls: Any) -> tuple[Callable[[Any], Any], dict[str, int]]:
    """What gives the values that a record is made of, and which field is where among them."""
    names = cls.__match_args__
    content = attrgetter(*names) if len(names) > 1 else lambda record: [getattr(record, names[0])]
    return content, {name: place for place, name in enumerate(names)}


class computed_once(cached_property[T]):
    """``cached_property`` without the lock that it takes up to Python 3.11: one of all objects,
    which the child of a fork may find taken.
    """

    if not TYPE_CHECKING:

        def __get__(self, record: Any, cls: type | None = None) -> Any:
            if record is None:
                return self
            found = record.__dict__[self.attrname] = self.func(record)
            return found


def _with_methods(cls: Any, *, frozen: bool, eq: bool) -> Any:
    """The class made once more, with slots for its fields and the methods it does not define."""
    members = dict(vars(cls))
    del members["__dict__"], members["__weakref__"]
    inherited = [member for base in cls.__mro__[:-1] for member in vars(base).values()]
    cached = any(isinstance(member, cached_property) for member in inherited)
    kinds = {name: kind for name, kind in cls.__annotations__.items() if not _is_of_class(kind)}
    said = {name: members.pop(name, MISSING) for name in kinds}
    taken = {name: each for name, each in said.items() if not _says(each, "init", False)}
    methods: dict[str, Any] = {"__repr__": _show, "__reduce__": _reduce}
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
    if eq:
        methods |= _comparison([name for name in said if not _says(said[name], "compare", False)])
    made = type(cls)(
        cls.__name__,
        cls.__bases__,
        {
            **methods,
            **members,
            "__qualname__": cls.__qualname__,
            "__slots__": (*said, "__dict__") if cached else tuple(said),
            "__match_args__": tuple(taken),
            "__dataclass_fields__": _Fields(kinds, said),
        },
    )
    made.__init__ = _initialiser(made, taken)
    return made


def _is_of_class(kind: object) -> bool:
    return str(kind).startswith(("ClassVar", "typing.ClassVar"))


def _says(said: object, what: str, value: object) -> bool:
    """Whether a class body says by ``field(...)`` that something of a field has this value."""
    return isinstance(said, _Said) and getattr(said, what) is value


def _default(said: Any) -> Any:
    """``MISSING`` if there is none, or if it is made for each object."""
    return said.default if isinstance(said, _Said) else said


def _factory(said: Any) -> Any:
    return said.default_factory if isinstance(said, _Said) else MISSING


class _Fields:
    """``__dataclass_fields__`` as it stands in a class until somebody asks for it: few do."""

    def __init__(self, kinds: dict[str, Any], said: dict[str, Any]) -> None:
        self._kinds, self._said = kinds, said

    def __set_name__(self, owner: Any, name: str) -> None:
        self._owner = owner

    def __get__(self, record: object, cls: type) -> dict[str, Field[Any]]:
        found = {name: self._field(name, each) for name, each in self._said.items()}
        self._owner.__dataclass_fields__ = found
        return found

    def _field(self, name: str, said: Any) -> Field[Any]:
        import dataclasses

        said = said if isinstance(said, _Said) else _Said(said, MISSING, True, True)
        told = {"default": said.default, "default_factory": said.default_factory}
        known = {name: value for name, value in told.items() if value is not MISSING}
        each: Any = dataclasses.field(**known, init=said.init, compare=said.compare)
        each.name, each.type, each._field_type = name, self._kinds[name], dataclasses._FIELD  # type: ignore[attr-defined]
        return each  # type: ignore[no-any-return]


_FEW = 4  # objects of most classes are all that a first call makes; to write a method takes as long


def _initialiser(cls: Any, fields: dict[str, Any]) -> Callable[..., None]:
    """The method as it is called first; it makes the one that is called when there are more.

    ``fields`` are the parameters, with what the class body says of each.
    """
    calls = 0

    def __init__(self: object, *args: object, **kwargs: object) -> None:
        nonlocal calls
        calls += 1
        if calls > _FEW or not _fill(self, cls, fields, args, kwargs):
            cls.__init__ = _written(cls, fields)
            cls.__init__(self, *args, **kwargs)

    return __init__


def _fill(
    self: object,
    cls: Any,
    fields: dict[str, Any],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> bool:
    """Set the fields of a new object; False if the arguments are not those of its class."""
    given = dict(zip(fields, args, strict=False))
    if len(args) > len(given) or not kwargs.keys() <= fields.keys() - given.keys():
        return False
    given |= kwargs
    for name, said in fields.items():
        if name not in given:
            if _factory(said) is not MISSING:
                given[name] = _factory(said)()
            elif _default(said) is not MISSING:
                given[name] = _default(said)
            else:
                return False
    for name in fields:
        vars(cls)[name].__set__(self, given[name])
    finish = getattr(cls, "__post_init__", None)
    if finish is not None:
        finish(self)
    return True


def _written(cls: Any, fields: dict[str, Any]) -> Callable[..., None]:
    """``__init__`` with the fields' names for its parameters."""
    factories = [_factory(said) for said in fields.values()]
    made = tuple(factory is not MISSING for factory in factories)
    finish = getattr(cls, "__post_init__", None)
    setters = [vars(cls)[name].__set__ for name in fields]
    method = _template(made, finish is not None)(MISSING, finish, *setters, *factories)
    method.__code__ = method.__code__.replace(co_varnames=("self", *fields))
    defaults = [
        _default(said)
        for said, is_made in zip(fields.values(), made, strict=True)
        if is_made or _default(said) is not MISSING
    ]
    method.__defaults__ = tuple(defaults)
    method.__qualname__ = f"{cls.__qualname__}.__init__"
    return method


@functools.cache
def _template(made: tuple[bool, ...], finishes: bool) -> Callable[..., FunctionType]:
    """Makes an ``__init__`` of so many fields from what sets them; those ``made`` have a factory.

    It is compiled once for all classes of that kind.
    """
    places = range(len(made))
    given = [f"set{k}" for k in places] + [f"make{k}" for k in places]
    lines = [
        f"def make(MISSING, finish, {', '.join(given)}):",
        f"  def __init__(self, {', '.join(f'x{k}' for k in places)}):",
    ]
    for k, is_made in enumerate(made):
        value = f"make{k}() if x{k} is MISSING else x{k}" if is_made else f"x{k}"
        lines.append(f"    set{k}(self, {value})")
    lines.append("    finish(self)" if finishes else "    return")
    lines.append("  return __init__")
    names: dict[str, Any] = {}
    exec(compile("\n".join(lines), f"{__file__} (made)", "exec"), names)
    found: Callable[..., FunctionType] = names["make"]
    return found


def _comparison(names: list[str]) -> dict[str, Any]:
    content: Callable[[Any], Any] = attrgetter(*names) if names else lambda record: ()

    def __eq__(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(content(self) == content(other))

    def __hash__(self: object) -> int:
        return hash(content(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _show(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({shown})"


def _reduce(self: Any) -> tuple[Any, ...]:
    return type(self), tuple(getattr(self, name) for name in self.__match_args__)


def _refuse(self: object, name: str, value: object = None) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"{type(self).__name__} is frozen: {name!r} cannot be changed")
