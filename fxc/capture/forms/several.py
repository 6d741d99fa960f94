"""Variables that are ``None`` or a number, a number of several types, one string or another.

See Note [Several things].
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from fxc.ir.error_kinds import EXCEPTION, SEVERAL_KINDS
from fxc.ir.graph import Operand

from ..arrays.deferring import computes, left_to
from ..arrays.ufuncs import call_ufunc
from ..numbers.python_numbers import as_scalar, to_python
from ..session.refusing import refusal, refuse
from ..session.session import current
from ..values.late import OF_TEXTS, Late, late
from ..values.limited import refuse_methods
from ..values.operands import Traced, array_of, operand, wrap
from ..values.operator_methods import BINARY, COMPARISONS, UNARY, give_methods, operator_of
from ..values.protocols import TakesUfuncs
from .form import Key, MixedNumber
from .imported_later import as_number_of, is_weak_float, items_as_array, key, one_of_two, stored
from .mixed import Mixed, beside_strong, mixed_form, or_one
from .options import (
    Option,
    both_hold,
    flag_operand,
    flags_of_one,
    graph_type,
    has_keys,
    has_truth,
    holds_not,
    is_instance,
    is_member,
    is_named,
    is_number,
    is_of_one_type,
    is_record,
    is_row,
    may_be_numpys,
    number_of_member,
    numpys_number,
    one_holds,
    one_is,
    options_in,
)
from .truths import going_on, true_one

# Note [Several things]
# After ``first = None`` and ``if x[i] > 0: first = i``, or ``best = max(best, 0.1)`` where best may
# be Python's int, the variable is one of several things: ``options``, each with a flag; one of
# these holds. An option is a constant (None, a string), a number of one type, or a tuple. Operators
# are recorded for each option; what no option but one can do (``first + 1``) is done with that one,
# and a call in which another's flag holds goes back to Python. NumPy's and Python's numbers of one
# value are a mixed number where that will do: Note [Mixed scalars].
# Where arrays are among them, see Note [Things that differ]. A record (Note [Records]) is an option
# as a tuple is: its number is the only item. So is a text of numbers that are not known (Note
# [Late effects]): the numbers are the items.

_F64 = np.dtype(float)
_SAME_IN_PYTHON = frozenset(np.dtype(code) for code in "?qd")


class Several(TakesUfuncs, Traced):
    """One of several things."""

    __slots__ = ("options",)
    _written_by = "_several"
    __array_priority__ = 1002.0
    _is_number = True

    def __init__(self, options: Sequence[Option]) -> None:
        self.options = tuple(options)

    def _options(self) -> Sequence[Option]:
        return self.options

    def _parts(self) -> Sequence[Any]:
        return [part for option in self.options for part in option]

    def _with_parts(self, parts: Sequence[object]) -> object:
        return Several(list(zip(parts[::2], parts[1::2], strict=True)))

    def is_(self, constant: object) -> object:
        """Whether it is this constant, Python's bool."""
        return one_is(self.options, lambda x: x is constant)

    def only(self, what: Callable[[Any], bool]) -> Any:
        """The options that ``what`` holds for, as one value; it is checked here that it is one."""
        kept = [option for option in self.options if what(option[1])]
        if not kept:
            raise refuse(SEVERAL_KINDS, f"{self.text}, where it is used as something else,")
        if len(kept) < len(self.options):
            holds = one_holds([flag for flag, _ in kept])
            current().record("try_demand", operand(holds))
        return united(kept)

    def _record(self) -> Any:
        """The record that it is, see Note [Records]; itself, if it is none in any case."""
        return self.only(is_record) if self.may_be_record else self

    def _tuple(self, what: Callable[[Any], bool]) -> Any:
        if type(found := self.only(what)) is Several:
            raise self.refused("the items, of tuples of several lengths,")
        return found

    @property
    def may_be_record(self) -> bool:
        """Whether an option is a record."""
        return any(is_record(x) for _, x in self.options)

    def is_one(self, other: object) -> Any:
        """``self is other``, of what may be records, or constants of one object each."""
        found = one_holds([*flags_of_one(self.options, options_in(other))])
        return found if type(found) is bool else to_python(found)

    @property
    def text(self) -> str:
        """What a message calls it."""
        names = [repr(x) if is_named(x) else "a value" for _, x in self.options]
        return f"a variable that is {' or '.join(dict.fromkeys(names))} by a condition"

    def _is_filled(self) -> object:
        """Its truth."""
        if not all(has_truth(x) for _, x in self.options):
            return going_on(self.only(has_truth))
        return true_one(self.options)

    @property
    def is_text(self) -> bool:
        """Whether it is one text or another, all of them known."""
        return all(type(x) is str for _, x in self.options)

    @property
    def is_known(self) -> bool:
        """Whether it is one known text or another, or one member of an enum or another."""
        return self.is_text or all(is_member(x) for _, x in self.options)

    @property
    def is_late(self) -> bool:
        """Whether it is one text or another, one of which is of numbers that are not known."""
        return not self.is_text and isinstance(self, str)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        is_text = all(type(x) in (str, Late) and isinstance(x, str) for _, x in self.options)
        return str if is_text else Several

    def _class(self) -> type:
        raise refuse(SEVERAL_KINDS, "type() of one of several things")

    def _is_instance(self, kinds: object) -> Any:
        return one_is(self.options, lambda x: is_instance(x, kinds))

    def _number(self) -> Any:
        plain = Several([(flag, number_of_member(x)) for flag, x in self.options])
        return plain.only(is_of_one_type)

    def _operand(self) -> Operand:
        return operand(self._beside())

    def _plain(self) -> Any:
        found = _one_number(self._number())
        return found._plain() if isinstance(found, Traced) else found

    def _as_places(self) -> object:
        """The tuple of numbers that it is, where no option is a number: a key, or a row."""
        numbers = [number_of_member(x) for _, x in self.options]
        return self if any(map(is_of_one_type, numbers)) else self._tuple(is_row)

    def _stored_as(self, dtype: np.dtype) -> Any:
        if type(row := self._as_places()) is tuple:
            return items_as_array(row, dtype)
        if type(found := self._number()) is not Several:
            return found._stored_as(dtype) if isinstance(found, Traced) else found
        is_int = dtype == np.int64 and not any(is_weak_float(x) for _, x in found.options)
        if dtype not in (np.float32, np.float64, np.complex128) and not is_int:
            raise self.refused(f"an assignment to {dtype}")
        return united([(flag, stored(flag, x, dtype)) for flag, x in found.options])

    def _beside(self, *others: object) -> object:
        """As it is beside others: of float64, if it is real and all arrays among them are."""
        arrays = {value.type.dtype for value in map(array_of, others) if value is not None}
        found = Several([(flag, numpys_number(x)) for flag, x in self.options]).only(is_of_one_type)
        options = found.options if type(found) is Several and arrays == {_F64} else ()
        kinds = [operand(x).type.dtype for _, x in options]
        if kinds and all(x.kind in "biuf" and x.itemsize <= 8 for x in kinds):
            return found._stored_as(_F64)
        return beside_strong(_one_number(found), others)

    def _run(self, name: str, inputs: tuple[object, ...]) -> object:
        return for_each(partial(call_ufunc, name), inputs)

    def converted(self, function: Callable[[object], object]) -> object:
        return for_each(function, (self,))

    def __bool__(self) -> bool:
        return bool(self._is_filled())

    def __index__(self) -> int:
        return self._plain().__index__()  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._tuple(lambda x: type(x) is tuple))

    def _counted(self) -> Any:
        found = self._record()
        return None if type(found) is Several else found._counted()

    def __getitem__(self, key: object) -> Any:
        if self.is_text and not isinstance(key, Traced):
            return self.of_each(lambda x: x[key])
        if self.is_text and len({len(x) for _, x in self.options}) == 1:
            indexed = current().door.indexed
            return _flattened([(flag, indexed(x)[key]) for flag, x in self.options])
        found = self.only(lambda x: type(x) is tuple or has_keys(x))
        return found.of_each(lambda x: x[key]) if type(found) is Several else found[key]

    def of_each(self, function: Callable[[Any], Any]) -> Any:
        """What a function gives for each thing; where it raises, the call goes back to Python."""
        found: list[Option] = []
        for flag, x in self.options:
            try:
                found.append((flag, function(x)))
            except (AttributeError, IndexError, TypeError, ValueError):
                current().record("try_demand", flag_operand(holds_not(flag)))
        if not found or any(key(x) is None for _, x in found):
            raise refuse(SEVERAL_KINDS, f"an operation on {self.text}")
        return united(found)

    def _method(self, name: str, *args: object, **kwargs: object) -> object:
        """What a method of texts gives for known arguments."""
        if any(isinstance(x, Traced) for x in (*args, *kwargs.values())):
            raise self.refused(f"{name}()")
        return self.of_each(lambda x: getattr(x, name)(*args, **kwargs))

    def __setitem__(self, key: object, value: object) -> None:
        has_items = any(has_keys(x) for _, x in self.options)
        if type(found := self.only(has_keys) if has_items else self._plain()) is Several:
            raise self.refused("a store to an item")
        found[key] = value

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.is_text and hasattr(str, name):
            return partial(self._method, name)
        if any(is_member(x) for _, x in self.options):
            return self.of_each(lambda x: current().door.attr(x, name))
        if self.is_late and name in ("startswith", "endswith"):
            return lambda *args: self.of_each(lambda x: getattr(x, name)(*args))
        if self.is_late and name in OF_TEXTS:
            return partial(late, str, getattr(str, name), self)
        return getattr(self._plain(), name)

    def __round__(self, digits: int | None = None) -> object:
        return for_each(lambda x: round(x, digits), (self,))

    def refused(self, what: str) -> Exception:
        return refuse(SEVERAL_KINDS, f"{what} of {self.text}")


def _one_number(found: object) -> object:
    """A number that is of one type, or of Python's and NumPy's."""
    if type(found) is Several:
        what = "a number that is of several types by conditions, in this operation,"
        raise refuse(SEVERAL_KINDS, what, "make it one type, as by float(…)")
    return found


def is_of_several_types(x: object) -> bool:
    """Whether this is one of several things, or a number whose bits depend on its type."""
    return type(x) is Several or (type(x) is Mixed and x.whole is not None)


# ------------------------------------------------------------------ options


def united(options: Sequence[Option]) -> object:
    """One value for options with flags, of which one holds."""
    merged = list(options_by_key(options).values())
    if len(merged) == 1:
        return merged[0][1]
    if len(merged) == 2:
        (flag, left), (other, right) = merged
        form = mixed_form(left, right)
        if form is not None and (form.has_whole or form.given.dtype in _SAME_IN_PYTHON):
            return _mixed(flag, left, other, right, form)
    return Several(merged)


def options_by_key(options: Sequence[Option]) -> dict[Key | None, Option]:
    """One option of each kind."""
    found: dict[Key | None, list[Option]] = {}
    for flag, x in options:
        if type(flag) not in (bool, np.bool_) or flag:
            found.setdefault(key(x), []).append((flag, x))
    return {what: _merged(what, alike) for what, alike in found.items()}


def _mixed(flag: object, left: object, other: object, right: object, form: MixedNumber) -> object:
    """A mixed number of two numbers."""
    if graph_type(left) != form.given:
        flag, left, right = other, right, left
    if form.has_whole:
        return Mixed(left, flag, right)
    cast = as_number_of(right, form.given.dtype)
    number = current().value("where", operand(flag), operand(left), operand(cast))
    return Mixed(wrap(as_scalar(number)), flag)


def _merged(what: Key | None, alike: Sequence[Option]) -> Option:
    """One option for several with one key."""
    flag, x = alike[0]
    for other, y in alike[1:]:
        x = one_of_two(what, flag, x, y, united)
        flag = one_holds([flag, other])
    return flag, x


# ------------------------------------------------------------------ operators


def for_each(function: Callable[..., object], inputs: Sequence[object]) -> object:
    """The function of what numbers may be."""
    if any(array_of(x) is not None for x in inputs):
        return function(*(x._beside(*inputs) if type(x) is Several else x for x in inputs))
    found: list[tuple[Any, tuple[Any, ...]]] = [(True, ())]
    for x in inputs:
        x = x.only(is_number) if type(x) is Several and not x.is_known else x
        found = [(both_hold(one, flag), (*xs, y)) for one, xs in found for flag, y in options_in(x)]
    results: list[Option] = []
    for flag, xs in found:
        given = xs if function in _NEVER_RAISE else [or_one(flag, x) for x in xs]
        try:
            results.append((flag, function(*given)))
        except (ArithmeticError, TypeError, ValueError):
            current().record("try_demand", flag_operand(holds_not(flag)))
    if not results:
        text = "an operation that raises for each thing a variable may be is not captured"
        raise refusal(EXCEPTION, text)
    return _flattened(results)


# A part that holds no number now is a zero; what it comes to here does not matter.
_NEVER_RAISE = frozenset(
    {operator.add, operator.sub, operator.mul, operator.neg, operator.abs}
    | {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
)


def _flattened(results: Sequence[Option]) -> object:
    """The options of what may be mixed numbers."""
    return united([(both_hold(flag, each), y) for flag, x in results for each, y in options_in(x)])


def _compute(name: str, *xs: object) -> object:
    """What an operator gives for each thing that its operands may be."""
    function = operator_of(name)
    several = [x for x in xs if type(x) is Several]
    for x in xs:
        if computes(x, name):
            return left_to(x) if may_be_numpys(several[0]) else NotImplemented
    if name in ("add", "mul", "mod") and any(x.is_late for x in several):
        return late(str, function, *xs)
    if name == "add" and several[0].is_text:
        if current().region:
            current().door.texts.ask()  # see Note [Texts of the graph]
        *_, other = xs
        if isinstance(other, Traced) and type(other) is not Several and isinstance(other, str):
            return NotImplemented
    return for_each(function, xs)


def _equality(name: str, left: Several, right: object) -> object:
    if computes(right, name):
        return left_to(right) if may_be_numpys(left) else NotImplemented
    results: list[Option] = []
    for flag, x in left.options:
        for one, y in options_in(right):
            plain = not is_of_one_type(x) or not is_of_one_type(y)
            if plain and (type(x) is tuple or type(y) is tuple):
                raise refuse(SEVERAL_KINDS, "== of what may be a tuple", "compare its items")
            results.append((both_hold(flag, one), operator_of(name)(x, y)))
    return _flattened(results)


_EQUALITIES = ("eq", "ne")
give_methods(Several, _compute, (BINARY | COMPARISONS | UNARY).keys() - {"matmul", *_EQUALITIES})
give_methods(Several, _equality, _EQUALITIES)
refuse_methods(
    Several, {"__len__": "len()", "__hash__": "a key, or hash(),", "__repr__": "the text"}
)
