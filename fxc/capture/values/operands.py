"""Between the user's values and a graph's operands: what may stand where, and how it is wrapped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from fxc.ir.boxed_dtypes import element_dtype, is_boxed
from fxc.ir.error_kinds import OPERAND, TEXT
from fxc.ir.graph import ArrayConstant, Literal, Operand, Value
from fxc.ir.later import import_later
from fxc.ir.types import ArrayType, ScalarType, is_known
from fxc.ops.metas.layout import is_c_ordered
from fxc.ops.metas.probing import derived_decide

from ..session.refusing import refusal, refuse
from ..session.session import current
from .protocols import TakesFunctions


class Traced:
    """What the user's program holds in place of a value that is not known while capturing."""

    __slots__ = ()
    # How values that no operand stands for run ufuncs and reductions themselves.
    _run: ClassVar[Callable[..., Any] | None] = None
    _reduce: ClassVar[Callable[..., Any] | None] = None
    # A deep copy of a list, dict or set; None if an item may change. An argument says that of one.
    _copied_deeply: ClassVar[Callable[..., Any] | None] = None
    # What makes such a value of the only item of its structure, where lists may hold it.
    _of_item: ClassVar[Callable[..., Any] | None] = None
    # Which method of the epilogue's builder writes the expression of what this leaves as.
    _written_by: ClassVar[str] = ""
    _in_pool: ClassVar[bool] = False  # whether they are records: Note [Records]
    _is_row: ClassVar[bool] = False  # whether they may be tuples or lists of several lengths
    _is_object: ClassVar[bool] = False  # whether it stands for an object of the program's
    _grows: bool | None = None  # of Note [Arrays that grow]: whether it may become longer
    _otherwise: ClassVar[Callable[..., Any] | None] = None  # asked where no loop carries it
    _is_number: ClassVar[bool] = False  # whether it may be a number, which a node carries
    _held: ClassVar[tuple[str, ...]] = ()  # attributes by which the program can reach more
    _is_chosen: ClassVar[bool] = False  # whether it is what a mask chooses, which is not made yet
    # What stands for the items of an array, this one among them; None: the items do.
    _among: ClassVar[Callable[..., Any] | None] = None

    def __repr__(self) -> str:
        raise refusal(TEXT, "the text of a value that is not known yet cannot be captured here")

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def _operand(self) -> Operand:
        """The operand that stands for this value in a node."""
        raise NotImplementedError

    def _missing(self, name: str) -> AttributeError:
        """Python's error for an attribute that is not there."""
        return AttributeError(f"{self.__class__.__name__!r} object has no attribute {name!r}")

    def _settled(self) -> object:
        """What this is once it is known that no other form of it will do."""
        return self

    def _beside(self, *others: object) -> Any:
        """What stands for this value in arithmetic with others."""
        return self

    def _plain(self) -> Any:
        """What stands for this value where its number alone matters."""
        return self

    def _as_places(self) -> Any:
        """What stands for this value as an index, or as one of each axis."""
        return self

    def _is_filled(self) -> Any:
        """Whether this is a list that has items; None for what is no list."""
        return None

    def _counted(self) -> Any:
        """What a loop runs over if this is a list, see counted.py; None for what is none."""
        return None

    def _structure_keys(self) -> tuple[Any, ...] | None:
        """What tells the structures of such values apart that are joined item by item."""
        return None

    def _item_keys(self) -> tuple[Any, ...] | None:
        """The same of an item of a list of the graph; None for what can be none."""
        return self._structure_keys() if self._of_item is not None or self._in_pool else None

    @classmethod
    def _of_structure(cls, keys: tuple[object, ...], items: object) -> Any:
        """The value of this structure with these items."""
        raise NotImplementedError

    @staticmethod
    def _has_structure(x: object) -> bool:
        """Whether something else may stand for such a value."""
        return False

    @staticmethod
    def _structure_items(x: object) -> tuple[Any, ...]:
        """The items of such a value, or of what may stand for one."""
        raise NotImplementedError

    @classmethod
    def _items_by(cls, keys: tuple[object, ...], x: object) -> tuple[Any, ...]:
        """The same, of a structure with these keys."""
        return cls._structure_items(x)

    def _wider_keys(self) -> Any:
        """Keys of a structure that values with other keys have, too; None if there is none."""
        return None

    def _stored_as(self, dtype: np.dtype) -> Any:
        """What stands for this value where it is stored into an array."""
        return self

    @property
    def _sides(self) -> tuple[Any, ...]:
        """The two things that this is one of; nothing for what no flag decides."""
        return ()

    def _options(self) -> Sequence[tuple[Any, Any]]:
        """The things that this is one of, each with a flag."""
        return ((True, self),)

    def _things(self) -> Sequence[Any]:
        """The same of which the types matter alone; nothing is recorded."""
        return [each for _, each in self._options()]

    def _parts(self) -> Sequence[Any]:
        """What this is made of, if flags say what it is; else nothing."""
        return ()

    def _with_parts(self, parts: Sequence[object]) -> Any:
        """The same of other parts."""
        raise NotImplementedError

    def _is_same(self, other: Any) -> bool:
        """Whether this and another such value that have no parts cannot be told apart."""
        return False

    def _graph_type(self) -> ArrayType | ScalarType | None:
        """The type of the one operand that stands for this in any case; None if there is none."""
        return None

    def _kinds(self) -> frozenset[ScalarType] | None:
        """What this number may be; None for what is none, or cannot be mixed with others."""
        return None

    def _class(self) -> type:
        """``type(self)`` in the program."""
        return self.__class__

    def _is_instance(self, kinds: type | tuple[type, ...]) -> bool:
        """``isinstance(self, kinds)`` in the program; abstract classes look at ``type``, too."""
        return issubclass(self.__class__, kinds)

    def _record(self) -> Any:
        """The record that this is, if it is one of several things; else this."""
        return self

    def _has(self, x: object) -> Any:
        """``x in self``, of a list, a dict or a set whose items are in the graph."""
        return NotImplemented

    def _is_open(self) -> bool:
        """Whether data, or the iteration of a loop, say what this is as a place or a key."""
        return True

    def _snapshot(self, of: Callable[[object], object]) -> Any:
        """What it is now, whatever is changed later; ``of`` gives this for what it holds."""
        parts = self._parts()
        return self._with_parts(list(map(of, parts))) if parts else self

    def _holds(self) -> Iterable[Any]:
        """What the program can reach by this value: the lists that an iterator runs over, say."""
        return [*self._parts(), *(getattr(self, name) for name in self._held)]


def taken_for(kind: type) -> Any:
    """The ``__class__`` of what stands for things of a class."""
    return property(lambda self: kind)


class TracedValue(TakesFunctions, Traced):
    """A traced array or scalar: a Value of the graph."""

    __slots__ = ("_later", "_value")
    _wrappers: ClassVar[dict[type, type[TracedValue]]] = {}
    _value: Value
    _later: Any  # what is read when the Value is first asked for: a ListArray

    def __init__(self, value: Value) -> None:
        self._value = value
        self._later = None

    @classmethod
    def _later_read(cls, array: object) -> TracedValue:
        """The array of a list that a loop has filled."""
        made = cls.__new__(cls)
        made._later = array
        return made

    def _read(self) -> Value:
        """The Value, which is not known yet; a region's is not kept."""
        value: Value = self._later.read()
        if not current().region:
            self._value = value
            if isinstance(value.type, ArrayType):
                self._later = None  # it may be written from now on
        return value

    def _operand(self) -> Operand:
        return self._value

    def _is_same(self, other: TracedValue) -> bool:
        return self._value is other._value

    def _graph_type(self) -> ArrayType | ScalarType:
        return self._value.type

    @property
    def _object(self) -> Value:
        """What the caller would get for this."""
        return self._value

    def _show(self, value: Value) -> None:
        """Stand for another value from now on, as the same object of the caller's."""
        raise NotImplementedError


def record_of(x: object) -> Any:
    """The record that one of several things is; anything else itself."""
    return x._record() if isinstance(x, Traced) else x


def settled(x: object) -> Any:
    """``x``, or the array that it stands for: what is read by a mask is one when it is needed."""
    return x._settled() if isinstance(x, Traced) else x


def wrap(value: Value) -> Any:
    """The traced array or scalar for a Value of the graph."""
    return TracedValue._wrappers[type(value.type)](value)


def is_scalar(x: object) -> bool:
    return type(x) is TracedValue._wrappers[ScalarType]


def variable_of(part: Operand) -> Any:
    """What a variable that is an operand holds: a number, or a traced array or scalar."""
    return wrap(part) if isinstance(part, Value) else part.value


def wrap_all(result: Value | tuple[Value, ...]) -> Any:
    """What a recorded operator gives to the user: one traced value or a tuple of them."""
    return wrap(result) if isinstance(result, Value) else tuple(map(wrap, result))


def record(name: str, *args: object, **kwargs: object) -> Any:
    """Record an operator on operands and wrap what it gives."""
    result = current().record(name, *args, **kwargs)
    return None if result is None else wrap_all(result)


def has_traced(x: object) -> bool:
    """Whether ``x`` is a traced value or a container that holds one."""
    return _holds(x, lambda each: isinstance(each, Traced) or _is_of_numbers(each))


def has_boxed(x: object) -> bool:
    """Whether ``x`` is, or holds, an array or number of a dtype of Note [Boxed dtypes]."""
    return _holds(x, lambda y: isinstance(y, TracedValue) and is_boxed(y._value.type.dtype))


def _holds(x: object, is_it: Callable[[object], bool]) -> bool:
    if is_it(x):
        return True
    if isinstance(x, tuple | list | frozenset):
        return any(_holds(each, is_it) for each in x)
    if isinstance(x, dict):
        return any(_holds(each, is_it) for each in x.values())
    parts = (x.start, x.stop, x.step) if isinstance(x, slice) else ()
    return any(_holds(each, is_it) for each in parts)


_NUMBERS = frozenset({bool, int, float, complex})
_INT64 = range(-(2**63), 2**63)
_LARGE = 1 << 16  # bytes
by_rule = import_later("fxc.ops.kernels.regular", "by_rule")


def operand(x: Any) -> Operand:
    """The operand for a value in the user's program; lists become arrays, as in NumPy."""
    if isinstance(x, Traced):
        return x._operand()
    if type(x) in _NUMBERS:
        if type(x) is int and x not in _INT64:
            raise refusal(
                OPERAND, f"the Python integer {x} does not fit in 64 bits and cannot be captured"
            )
        return Literal(x)
    if isinstance(x, np.ndarray | str | bytes):
        return constant(np.asarray(x))
    if isinstance(x, np.generic):
        if is_known(x.dtype) and element_dtype(x.dtype) is not None:
            return Literal(x)
        raise refuse(OPERAND, f"a scalar of dtype {x.dtype}")
    if isinstance(x, tuple | list | range):
        return array_value(x)
    if is_derived(x):
        return operand(plain_number(x))
    raise refuse(OPERAND, f"a {type(x).__name__} among arrays", "use an array or a number")


def is_derived(x: object) -> bool:
    """Whether it is a number of a class that is derived from int or float, as enums are."""
    if type(x) in _NUMBERS or isinstance(x, np.generic | Traced):
        return False
    return isinstance(x, int | float)


def plain_number(x: int | float) -> Any:
    """Such a number as Python's operators see it."""
    return int(x) if isinstance(x, int) else float(x)


def numpys_operand(x: object) -> Operand:
    """The operand as NumPy takes it: a number of a derived class may be none of Python's there."""
    return operand(np.asarray(x)[()] if is_derived(x) and derived_decide() else x)


def constant(array: np.ndarray) -> Value:
    """The node that makes, at each call, a fresh array with these elements."""
    if not is_known(array.dtype):
        raise refuse(OPERAND, f"an array of dtype {array.dtype}")
    found = by_rule(array, current().record) if array.nbytes >= _LARGE else None
    return found or current().value("constant", ArrayConstant.of(array))


def of_list(x: Any) -> Any:
    """The array of an outer list of numbers; anything else itself. See Note [Lists of numbers]."""
    if not _is_of_numbers(x):
        return x
    made: TracedValue = x.as_array()
    return made


def _is_of_numbers(x: object) -> bool:
    asked = getattr(x, "is_of_numbers", None) if isinstance(x, list) else None
    return asked is not None and bool(asked())


def array_value(x: object) -> Value:
    """The Value of ``np.asarray(x)``: for scalars a rank-0 array, for lists a joined one."""
    x = of_list(x)
    if isinstance(x, tuple | list) and not isinstance(x, Traced) and has_traced(x):
        return joined(x)
    if not isinstance(x, Traced):
        return constant(np.asarray(x))
    value = x._operand()
    if isinstance(value, Value) and isinstance(value.type, ArrayType):
        return value
    return current().value("copy", value, order="K")


def joined(items: Any) -> Value:
    """A new array from a nested list that holds traced values: ``np.array([[a, b], [c, d]])``."""
    if not items:
        raise refuse(OPERAND, "an empty list among arrays", "use an array of its dtype")
    among = next((x._among for x in items if isinstance(x, Traced) and x._among is not None), None)
    parts = tuple(
        joined(item) if issubclass(type(item), tuple | list) else numpys_operand(item)
        for item in (items if among is None else among(items))
    )
    result = current().value("stack", parts, axis=0)
    return result if is_c_ordered(kind_of(result)) else current().value("copy", result, order="C")


def kind_of(value: Value) -> ArrayType:
    """The type of a Value that is an array."""
    kind = value.type
    assert isinstance(kind, ArrayType)
    return kind


def type_of(x: Operand) -> ArrayType | ScalarType:
    return x.type


def array_of(x: object) -> Value | None:
    """The value of the graph of a traced array; None for anything else."""
    if isinstance(x, TracedValue) and isinstance(x._value.type, ArrayType):
        return x._value
    return None
