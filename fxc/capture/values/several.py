"""Variables that are ``None`` or a number, a number of several types, one string or another.

See Note [Several things].
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.types import PY_INT, ArrayType, ScalarType
from fxc.ops.metas.layout import is_c_ordered
from fxc.ops.metas.shapes import same_shape

from ..numpy_api.ufuncs import BINARY, COMPARISONS, UNARY
from ..session import current, refuse
from .alternatives import content_of, either
from .late import OF_TEXTS, Late, late
from .mixed import Kinds, Mixed, mixed_kinds, or_one
from .operands import Traced, TracedValue, operand, record, wrap
from .python_numbers import to_python
from .traced_int import TracedInt
from .traced_scalar import TracedScalar

# Note [Several things]
# After ``first = None`` and ``if x[i] > 0: first = i``, or ``best = max(best, 0.1)`` where best may
# be Python's int, the variable is one of several things: ``options``, each with a flag; one of
# these holds. An option is a constant (None, a string), a number of one type, or a tuple. Operators
# are recorded for each option; what no option but one can do (``first + 1``) is done with that one,
# and a call in which another's flag holds goes back to Python. NumPy's and Python's numbers of one
# value are a mixed number where that will do: Note [Mixed scalars].
#
# Where arrays are among them, see Note [Things that differ]: they are carried through loops in the
# same parts, by their elements.

# A record (Note [Records]) is an option as a tuple is: its number is the only item. So is a text of
# numbers that are not known (Note [Late effects]): the numbers are the items.

FLAG = ScalarType(np.dtype(bool))
_MOST = 6  # options
_LOOKS = "upper lower title strip lstrip rstrip startswith endswith replace isdigit isalpha count"
_LOOK = frozenset(_LOOKS.split())  # methods that only look at the text
_MOST_IN_LISTS = 12  # of the items of a list
_SAME_IN_PYTHON = frozenset(np.dtype(code) for code in "?qd")
_NUMBERS = (bool, int, float, TracedInt, TracedScalar)
Option = tuple[Any, Any]  # a flag and a value


class SeveralKinds(tuple[Any, ...]):
    """The types of the operands that stand for one of several things.

    ``options`` has, for each, a constant, a type, or the types of a tuple's items. The operands are
    a flag for each, and then what it consists of.
    """

    options: tuple[Any, ...]

    def __new__(cls, options: tuple[Any, ...]) -> SeveralKinds:
        parts: list[ScalarType | ArrayType] = []
        for each in options:
            parts.append(FLAG)
            if isinstance(each, ScalarType | ArrayType):
                parts.append(each)
            elif type(each) is Items:
                parts += [part for kinds in each for part in kinds]
        made = super().__new__(cls, parts)
        made.options = options
        return made

    @property
    def keys_in_order(self) -> list[Any]:
        """What tells the options apart."""
        return [_key_of(each) for each in self.options]

    @property
    def pools(self) -> list[Any]:
        """The pools of records among the options."""
        return [each.pool for each in self.options if _has_pool(each)]

    def as_numbers(self) -> SeveralKinds:
        """The same with the numbers of records in their place."""
        if sum(isinstance(each, ScalarType | Items) for each in self.options) > 1:
            raise refuse(
                "an attribute that is one of several things, two of them objects or numbers, "
                "cannot be captured as a result"
            )
        return SeveralKinds(tuple(PY_INT if _has_pool(x) else x for x in self.options))

    @property
    def keys(self) -> set[Any]:
        """The same as a set."""
        return set(self.keys_in_order)

    def __eq__(self, other: object) -> bool:
        return type(other) is SeveralKinds and self.options == other.options

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.options)


class Items(tuple[Any, ...]):
    """The types of the items of a tuple, of the number of a record (Note [Records]), or of the
    numbers of a text.
    """

    pool: Any
    template: Any

    def __new__(cls, kinds: Iterable[Any], pool: Any = None, template: Any = None) -> Items:
        made = super().__new__(cls, kinds)
        made.pool = pool
        made.template = template
        return made

    @property
    def key(self) -> Any:
        """What tells it apart from other options."""
        if self.template is not None:
            return "text", self.template, tuple(self)
        return ("tuple", len(self)) if self.pool is None else ("record", self.pool)

    def __eq__(self, other: object) -> bool:
        same = type(other) is Items and self.pool is other.pool and self.template == other.template
        return same and tuple(self) == tuple(other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.pool, self.template, tuple(self)))

    def of(self, items: Sequence[Any]) -> Any:
        """The option for these items."""
        maker = self.pool if self.template is None else self.template
        return tuple(items) if maker is None else maker.at(*items)


def _has_pool(kind: Any) -> bool:
    return type(kind) is Items and kind.pool is not None


def _items_in(x: Any) -> Sequence[Any]:
    """The items of an option that has some."""
    return x if type(x) is tuple else x._structure_items(x)


def _is_record(x: Any) -> bool:
    return isinstance(x, Traced) and x._in_pool


class Several(Traced):
    """One of several things."""

    __slots__ = ("options",)
    __array_priority__ = 1002.0

    def _holds(self) -> Iterable[Any]:
        return self.options

    def __init__(self, options: Sequence[Option]) -> None:
        self.options = tuple(options)

    def is_(self, constant: Any) -> Any:
        """Whether it is this constant, Python's bool."""
        flags = [flag for flag, x in self.options if x is constant]
        return to_python(_wrapped(_any(flags))) if flags else False

    def only(self, what: Callable[[Any], bool]) -> Any:
        """The options that ``what`` holds for, as one value; it is checked here that it is one."""
        kept = [option for option in self.options if what(option[1])]
        if not kept:
            raise refuse(f"{self.text}, where it is used as something else, cannot be captured")
        if len(kept) < len(self.options):
            holds = _any([flag for flag, _ in kept])
            current().record("try_demand", operand(holds))
        return united(kept)

    def record(self) -> Any:
        """The record that it is, see Note [Records]; itself, if it is none in any case."""
        return self.only(_is_record) if self.may_be_record else self

    @property
    def may_be_record(self) -> bool:
        """Whether an option is a record."""
        return any(_is_record(x) for _, x in self.options)

    def is_one(self, other: Any) -> Any:
        """``self is other``, of what may be records."""
        flags: list[Any] = []
        for flag, x in self.options:
            for one, y in options_in(other):
                if _is_record(x) and _is_record(y):
                    flags.append(_both(_both(flag, one), _wrapped(operand(x.is_(y)))))
                elif x is y is None:
                    flags.append(_both(flag, one))
        found = _any(flags)
        return found if type(found) is bool else to_python(_wrapped(found))

    @property
    def text(self) -> str:
        """What a message calls it."""
        names = [repr(x) if x is None or type(x) is str else "a value" for _, x in self.options]
        return f"a variable that is {' or '.join(dict.fromkeys(names))} by a condition"

    def _is_filled(self) -> Any:
        """Its truth."""
        from ..statements.structured import flag_of, going_on

        flags: list[Any] = []
        for flag, x in self.options:
            test = going_on(x) if isinstance(x, Traced) else bool(x)
            if test is True:
                flags.append(flag)
            elif test is not False:
                flags.append(_both(flag, _wrapped(flag_of(test))))
        return _any(flags)

    @property
    def is_text(self) -> bool:
        """Whether it is one text or another, all of them known."""
        return all(type(x) is str for _, x in self.options)

    @property
    def is_late(self) -> bool:
        """Whether it is one text or another, one of which is of numbers that are not known."""
        return not self.is_text and isinstance(self, str)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        is_text = all(type(x) in (str, Late) and isinstance(x, str) for _, x in self.options)
        return str if is_text else Several

    def _number(self) -> Any:
        return self.only(_is_number)

    def _operand(self) -> Operand:
        return operand(self._plain())

    def _plain(self) -> Any:
        found = self._number()
        if type(found) is Several:
            raise refuse(
                "a number that is of several types by conditions, in this operation, cannot be "
                "captured; make it one type, as by float(…)"
            )
        return found._plain() if isinstance(found, Traced) else found

    def _stored_as(self, dtype: np.dtype) -> Any:
        found = self._number()
        if type(found) is not Several:
            return found._stored_as(dtype) if isinstance(found, Traced) else found
        is_int = dtype == np.int64 and not any(_is_weak_float(x) for _, x in found.options)
        if dtype not in (np.float32, np.float64) and not is_int:
            raise refuse(f"an assignment of a number of several types to {dtype} is not captured")
        parts = [(flag, _as_scalar(x, dtype)) for flag, x in found.options]
        return united(parts)

    def _beside(self, other: Any) -> Any:
        return self._plain()

    def _run(self, name: str, inputs: tuple[Any, ...]) -> Any:
        from ..numpy_api.ufuncs import call_ufunc

        return for_each(lambda *xs: call_ufunc(name, *xs), inputs)

    def converted(self, function: Callable[[Any], Any]) -> Any:
        """``int(self)`` and its like."""
        return for_each(function, (self,))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from ..numpy_api.ufunc_methods import (
            array_ufunc,  # which runs the ufuncs of all traced values
        )

        return array_ufunc(ufunc, method, inputs, kwargs)

    def __bool__(self) -> bool:
        return bool(self._is_filled())

    def __index__(self) -> int:
        return self._plain().__index__()  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Any]:
        found = self.only(lambda x: type(x) is tuple)
        if type(found) is Several:
            raise self._unclear("the items, of tuples of several lengths,")
        return iter(found)

    def __getitem__(self, key: Any) -> Any:
        if self.is_text and not isinstance(key, Traced):
            return self.of_each(lambda x: x[key])
        found = self.only(lambda x: type(x) is tuple or _is_record(x))
        return found.of_each(lambda x: x[key]) if type(found) is Several else found[key]

    def of_each(self, function: Callable[[Any], Any]) -> Any:
        """What a function gives for each thing; where it raises, the call goes back to Python."""
        found: list[Option] = []
        for flag, x in self.options:
            try:
                found.append((flag, function(x)))
            except (IndexError, TypeError, ValueError):
                current().record("try_demand", _flag_operand(_not(flag)))
        if not found or any(_key(x) is None for _, x in found):
            raise refuse(f"an operation on {self.text} cannot be captured")
        return united(found)

    def _method(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What a method of texts gives for known arguments."""
        if any(isinstance(x, Traced) for x in (*args, *kwargs.values())):
            raise self._unclear(f"{name}()")
        return self.of_each(lambda x: getattr(x, name)(*args, **kwargs))

    def __setitem__(self, key: Any, value: Any) -> None:
        found = self.record()
        (self._plain() if found is self else found)[key] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.is_text and name in _LOOK:
            return partial(self._method, name)
        if self.is_late and name in ("startswith", "endswith"):
            return lambda *args: self.of_each(lambda x: getattr(x, name)(*args))
        if self.is_late and name in OF_TEXTS:
            return partial(late, str, getattr(str, name), self)
        return getattr(self._plain(), name)

    def __abs__(self) -> Any:
        return for_each(abs, (self,))

    def __round__(self, digits: int | None = None) -> Any:
        return for_each(lambda x: round(x, digits), (self,))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __len__(self) -> int:
        raise self._unclear("len()")

    def __hash__(self) -> int:
        raise self._unclear("a key, or hash(),")

    def __repr__(self) -> str:
        raise self._unclear("the text")

    def _unclear(self, what: str) -> Exception:
        return refuse(f"{what} of {self.text} cannot be captured")


def _is_number(x: Any) -> bool:
    return isinstance(x, np.generic) or type(x) in _NUMBERS


def is_of_several_types(x: Any) -> bool:
    """Whether this is one of several things, or a number whose bits depend on its type."""
    return type(x) is Several or (type(x) is Mixed and x.whole is not None)


def _is_weak_float(x: Any) -> bool:
    """Whether this is a float of Python's, which raises where it fits in no int, or complex."""
    kind = operand(x).type
    return kind.dtype.kind == "c" or bool(kind.weak and kind.dtype.kind == "f")  # type: ignore[union-attr]


def _is_array(x: Any) -> bool:
    return isinstance(x, TracedValue) and isinstance(x._value.type, ArrayType)


def arrays_of(x: Any) -> list[Value]:
    """The arrays that a variable holds, or may hold."""
    if type(x) is tuple:
        return [value for each in x for value in arrays_of(each)]
    return [value for each in sides_of(x) for value in arrays_of(each)] or (
        [x._value] if _is_array(x) else []
    )


def sides_of(x: Any) -> tuple[Any, ...]:
    """The two things that a variable is one of; nothing for one that no flag decides."""
    return x._sides if isinstance(x, Traced) else ()


# ------------------------------------------------------------------ flags


def _wrapped(x: Any) -> Any:
    if isinstance(x, Value):
        return wrap(x)
    return x.value if isinstance(x, Literal) else x


def _both(left: Any, right: Any) -> Any:
    for one, other in ((left, right), (right, left)):
        if type(one) in (bool, np.bool_):
            return other if one else False
    return record("logical_and", operand(left), operand(right))


def _any(flags: Sequence[Any]) -> Any:
    found: Any = False
    for flag in flags:
        if type(flag) in (bool, np.bool_):
            if flag:
                return True
        elif found is False:
            found = flag
        else:
            found = record("logical_or", operand(found), operand(flag))
    return found


def _not(flag: Any) -> Any:
    if type(flag) in (bool, np.bool_):
        return not flag
    return record("logical_not", operand(flag))


# ------------------------------------------------------------------ options


def options_in(x: Any) -> list[Option]:
    """What ``x`` may be."""
    if sides := sides_of(x):
        flags = x.flag, _not(x.flag)
        return [
            (_both(flag, each), y)
            for flag, side in zip(flags, sides, strict=True)
            for each, y in options_in(side)
        ]
    if type(x) is Several:
        return list(x.options)
    if type(x) is Mixed:
        other = x.whole
        if other is None:
            other = x.given.item() if isinstance(x.given, np.generic) else to_python(x.given)
        return [(x.flag, x.given), (_not(x.flag), other)]
    return [(True, x)]


def _key(x: Any) -> Any:
    """What two options have in common that are one option; None for what cannot be one."""
    if x is None or type(x) is str:
        return "constant", x
    if type(x) is TracedInt:
        return PY_INT
    if _is_number(x):
        kind = operand(x).type
        return None if kind.weak and kind.dtype.kind == "c" else kind  # type: ignore[union-attr]
    if _is_array(x):
        return "array", x._value.type.dtype.str, x._value.type.rank
    if _is_record(x):
        return "record", x.pool
    if type(x) is Late and x.has_template:
        kinds = _kinds_of_parts(x)
        return None if None in kinds else ("text", x.template, kinds)
    return ("tuple", len(x)) if type(x) is tuple and x else None


def _kinds_of_parts(x: Late) -> tuple[Any, ...]:
    """The types of the numbers in a text; None for what is none."""
    from ..statements.structured import joint_kinds  # which knows what differs

    kinds = [joint_kinds(part, part) for part in x.template.parts_of(x)]
    return tuple(None if each is None or _has_arrays(each) else each for each in kinds)


def _has_arrays(kinds: Iterable[Any]) -> bool:
    return any(isinstance(each, ArrayType) for each in kinds)


def keys_in(x: Any) -> set[Any]:
    """The keys of what ``x`` may be; None for what cannot be one of several things."""
    return set(map(_key, things_in(x)))


def options_for(
    keys: Iterable[Any], tuples: Mapping[int, Items] | None = None
) -> SeveralKinds | None:
    """The types of what is one of these numbers, constants and ``tuples`` by their lengths; None if
    that cannot be.
    """
    found: list[Any] = []
    known = tuples or {}
    for key in sorted(set(keys), key=repr):
        if isinstance(key, ScalarType):
            found.append(key)
        elif key is not None and key[0] == "constant":
            found.append(key[1])
        elif key is not None and key[0] == "record":
            found.append(Items([(PY_INT,)], key[1]))
        elif key is not None and key[0] == "text":
            found.append(Items(key[2], template=key[1]))
        elif key is not None and key[0] == "tuple" and key[1] in known:
            found.append(known[key[1]])
        else:
            return None
    return SeveralKinds(tuple(found)) if len(found) <= _MOST_IN_LISTS else None


def united(options: Sequence[Option]) -> Any:
    """One value for options with flags, of which one holds."""
    merged = list(_by_key(options).values())
    if len(merged) == 1:
        return merged[0][1]
    if len(merged) == 2:
        (flag, left), (other, right) = merged
        kinds = mixed_kinds(left, right)
        if kinds is not None and (len(kinds) == 3 or kinds[0].dtype in _SAME_IN_PYTHON):
            return _mixed(flag, left, other, right, kinds)
    return Several(merged)


def _by_key(options: Sequence[Option]) -> dict[Any, Option]:
    """One option of each kind."""
    found: dict[Any, list[Option]] = {}
    for flag, x in options:
        if type(flag) not in (bool, np.bool_) or flag:
            found.setdefault(_key(x), []).append((flag, x))
    return {key: _merged(key, alike) for key, alike in found.items()}


def _mixed(flag: Any, left: Any, other: Any, right: Any, kinds: Kinds) -> Any:
    """A mixed number of two numbers."""
    if _key(left) != kinds[0]:
        flag, left, right = other, right, left
    if len(kinds) == 3:
        return Mixed(left, flag, right)
    cast = current().record("astype", operand(right), kinds[0].dtype, casting="unsafe")
    number = record("where", operand(flag), operand(left), _scalar(cast))
    return Mixed(wrap(_scalar(number._value)), flag)


def _scalar(x: Any) -> Any:
    """A value of rank 0 as NumPy's scalar."""
    if isinstance(x, Value) and isinstance(x.type, ArrayType):
        return current().record("item", x)
    return x


def _merged(key: Any, alike: Sequence[Option]) -> Option:
    """One option for several of one kind."""
    flag, x = alike[0]
    for other, y in alike[1:]:
        if isinstance(key, ScalarType):
            x = _select(key, flag, x, y)
        elif key is None:
            raise refuse("a variable that is one array or another here cannot be captured")
        elif key[0] == "array":
            x = wrap(either(current(), _flag_operand(flag), x._value, y._value))
        elif key[0] in ("tuple", "record", "text"):
            both = zip(_items_in(x), _items_in(y), strict=True)
            items = [united([(flag, one), (_not(flag), two)]) for one, two in both]
            x = tuple(items) if key[0] == "tuple" else key[1].at(*items)
        flag = _any([flag, other])
    return flag, x


def _select(kind: ScalarType, flag: Any, left: Any, right: Any) -> Any:
    chosen = record("where", operand(flag), operand(left), operand(right))
    found = _scalar(current().record("astype", chosen._value, kind.dtype, casting="unsafe"))
    return to_python(wrap(found)) if kind.weak else wrap(found)


def _as_scalar(x: Any, dtype: np.dtype) -> Any:
    found = current().record("astype", operand(x), dtype, casting="unsafe")
    return wrap(_scalar(found))


# ------------------------------------------------------------------ of variables


def several_kinds(
    left: Any, right: Any, joint: Any, *, arrays: bool = False
) -> SeveralKinds | None:
    """The types of what is one of two values; None for what cannot be. ``joint`` gives those of two
    items of tuples. Arrays may be among them if asked for.
    """
    found: dict[Any, list[Any]] = {}
    for each in (*things_in(left), *things_in(right)):
        found.setdefault(_key(each), []).append(each)
    if all(type(x) is str for x in (left, right)):
        current().door.texts.ask()
    has_items = any(type(key) is tuple and key[0] in ("record", "text") for key in found)
    if None in found or not (has_items or len(found) > 1) or len(found) > _MOST:
        return None
    options: list[Any] = []
    for key in sorted(found, key=repr):
        if isinstance(key, ScalarType):
            options.append(key)
        elif key[0] == "constant":
            options.append(key[1])
        elif key[0] == "array":
            types = [each._value.type for each in found[key]]
            if not arrays or not _are_alike(types):
                return None
            options.append(types[0])
        elif key[0] == "text":
            options.append(Items(key[2], template=key[1]))
        else:
            first, last = found[key][0], found[key][-1]
            both = zip(_items_in(first), _items_in(last), strict=True)
            kinds = [joint(one, other) for one, other in both]
            if None in kinds or not (arrays or all(isinstance(x[0], ScalarType) for x in kinds)):
                return None
            options.append(Items(kinds, key[1] if key[0] == "record" else None))
    return SeveralKinds(tuple(options))


def _are_alike(kinds: Sequence[ArrayType]) -> bool:
    """Whether new arrays of these types are of one type."""
    first = kinds[0].shape
    varies = any(current().varies(dim) for kind in kinds for dim in kind.shape)
    plain = all(kind.rank and kind.writeable and is_c_ordered(kind) for kind in kinds)
    return not varies and plain and all(same_shape(first, kind.shape) for kind in kinds)


def things_in(x: Any) -> list[Any]:
    """What ``x`` may be, of which the types matter alone."""
    if sides := sides_of(x):
        return [each for side in sides for each in things_in(side)]
    return [x.given, x.kind(0)] if type(x) is Mixed else [each for _, each in options_in(x)]


def several_parts(x: Any, kinds: SeveralKinds, parts_of: Any) -> list[Operand]:
    """The operands that stand for one of several things, recorded here."""
    given = _by_key(options_in(x))
    parts: list[Operand] = []
    assert given.keys() <= set(map(_key_of, kinds.options))
    for kind in kinds.options:
        key = _key_of(kind)
        flag, value = given.get(key, (False, None))
        parts.append(_flag_operand(flag))
        if isinstance(kind, ScalarType):
            parts.append(operand(value) if key in given else Literal(kind.zero))
        elif isinstance(kind, ArrayType):
            parts.append(_elements_of(value._value) if key in given else _no_array(kind))
        elif type(kind) is Items:
            for place, item in enumerate(kind):
                if key in given:
                    parts += parts_of(_items_in(value)[place], item)
                else:
                    parts += [
                        Literal(part.zero) if isinstance(part, ScalarType) else _no_array(part)
                        for part in item
                    ]
    return parts


def _elements_of(value: Value) -> Value:
    """An array that holds what this one does, and that nobody else has."""
    session = current()
    is_ours = session.aliases.homes.get(value, 0) == session.region
    if is_ours and value not in session.alternatives and value not in session.aliases.bases:
        return value
    return content_of(session, value)


def _no_array(kind: ArrayType) -> Value:
    """An array that nobody reads."""
    made: Value = current().record("empty", kind.shape, kind.dtype, layout=None)
    return made


def _flag_operand(flag: Any) -> Operand:
    return Literal(np.bool_(flag)) if type(flag) in (bool, np.bool_) else operand(flag)


def _key_of(kind: Any) -> Any:
    if isinstance(kind, ScalarType):
        return kind
    if isinstance(kind, ArrayType):
        return "array", kind.dtype.str, kind.rank
    if type(kind) is not Items:
        return "constant", kind
    return kind.key


def several_of(parts: Sequence[Operand], kinds: SeveralKinds, of_parts: Any) -> Any:
    """The variable that operands stand for."""
    given = iter(parts)
    options: list[Option] = []
    for kind in kinds.options:
        flag = _wrapped(next(given))
        value: Any = kind
        if isinstance(kind, ScalarType | ArrayType):
            value = _wrapped(next(given))
        elif type(kind) is Items:
            value = kind.of([of_parts([next(given) for _ in item], item) for item in kind])
        options.append((flag, value))
    if len(options) == 1:
        return options[0][1]
    if _is_decided(options):
        return united(options)
    if not any(map(arrays_of, (x for _, x in options))):
        return Several(options)
    return one_by_flags(options)


def one_by_flags(options: Sequence[Option]) -> Any:
    """What is one of several things, of which some are arrays."""
    from ..statements.differing import Differing, reason_for  # which knows the forms of things

    *others, (_, found) = options
    for flag, x in reversed(others):
        found = Differing(flag, x, found, reason_for(x, found))
    return found


def _is_decided(options: Sequence[Option]) -> bool:
    return any(type(flag) in (bool, np.bool_) for flag, _ in options)


# ------------------------------------------------------------------ operators


def for_each(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """The function of what numbers may be."""
    if any(isinstance(x, TracedValue) and isinstance(x._value.type, ArrayType) for x in inputs):
        return function(*(x._plain() if type(x) is Several else x for x in inputs))
    found: list[tuple[Any, tuple[Any, ...]]] = [(True, ())]
    for x in inputs:
        x = x._number() if type(x) is Several and not x.is_text else x
        found = [(_both(one, flag), (*xs, y)) for one, xs in found for flag, y in options_in(x)]
    results: list[Option] = []
    for flag, xs in found:
        given = xs if function in _NEVER_RAISE else [or_one(flag, x) for x in xs]
        try:
            results.append((flag, function(*given)))
        except (ArithmeticError, TypeError, ValueError):
            current().record("try_demand", _flag_operand(_not(flag)))
    if not results:
        raise refuse("an operation that raises for each thing a variable may be is not captured")
    return _flattened(results)


# A part that holds no number now is a zero; what it comes to here does not matter.
_NEVER_RAISE = frozenset(
    {operator.add, operator.sub, operator.mul, operator.neg, operator.abs, abs}
    | {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
)


def _flattened(results: Sequence[Option]) -> Any:
    """The options of what may be mixed numbers."""
    return united([(_both(flag, each), y) for flag, x in results for each, y in options_in(x)])


def _gives_text(function: Callable[..., Any], one: Several, other: Any) -> bool:
    """Whether an operator gives a text that is to be made when numbers are known."""
    is_late = one.is_late or (type(other) is Several and other.is_late)
    return is_late and function in (operator.add, operator.mul, operator.mod)


def _ask_for_growing() -> None:
    """See Note [Texts of the graph]."""
    if current().region:
        current().door.texts.ask()


def _binary(function: Callable[..., Any]) -> Callable[[Several, Any], Any]:
    def run(self: Several, other: Any) -> Any:
        if _gives_text(function, self, other):
            return late(str, function, self, other)
        if function is operator.add and self.is_text:
            _ask_for_growing()
            if isinstance(other, Traced) and type(other) is not Several and isinstance(other, str):
                return NotImplemented
        return for_each(function, (self, other))

    return run


def _reflected(function: Callable[..., Any]) -> Callable[[Several, Any], Any]:
    def run(self: Several, other: Any) -> Any:
        if _gives_text(function, self, other):
            return late(str, function, other, self)
        if function is operator.add and self.is_text:
            _ask_for_growing()
        return for_each(function, (other, self))

    return run


def _equality(function: Callable[..., Any]) -> Callable[[Several, Any], Any]:
    def compare(self: Several, other: Any) -> Any:
        results: list[Option] = []
        for flag, x in self.options:
            for one, y in options_in(other):
                plain = not _is_number(x) or not _is_number(y)
                if plain and (type(x) is tuple or type(y) is tuple):
                    raise refuse("== of what may be a tuple cannot be captured; compare its items")
                results.append((_both(flag, one), function(x, y)))
        return _flattened(results)

    return compare


for _name in BINARY:
    if _name != "matmul":
        _function = getattr(operator, f"__{_name}__")
        setattr(Several, f"__{_name}__", _binary(_function))
        setattr(Several, f"__r{_name}__", _reflected(_function))
for _name in COMPARISONS:
    _function = getattr(operator, f"__{_name}__")
    _compare = _equality if _name in ("eq", "ne") else _binary
    setattr(Several, f"__{_name}__", _compare(_function))
for _name in UNARY:
    _function = getattr(operator, f"__{_name}__")
    setattr(Several, f"__{_name}__", lambda self, function=_function: for_each(function, (self,)))
