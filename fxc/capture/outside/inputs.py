"""The inputs of the graph: arrays and numbers from outside, with what the guards check of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from fxc.ir.boxed_dtypes import element_dtype
from fxc.ir.error_kinds import ARGUMENT_KIND
from fxc.ir.graph import Value
from fxc.ir.later import import_later
from fxc.ir.objects import is_writeable
from fxc.ir.records import frozen, replace
from fxc.ir.symbols import Dim, symbol
from fxc.ir.types import (
    PY_INT,
    ArrayType,
    array_type,
    c_strides,
    dtype_name,
    is_known,
    known_dtype,
    scalar_type_of,
)

from ..arrays.traced_array import TracedArray
from ..arrays.traced_scalar import TracedScalar
from ..guards.builder import GuardBuilder, flags_of
from ..guards.facts import as_array, has_aligned_fields
from ..guards.program import Fetch, Source
from ..numbers.traced_int import TracedInt
from ..session.refusing import How, Request, refusal
from ..session.session import Session

# See Note [Rooms with one door].
class_of_memmap = import_later("fxc.capture.session.classes", "class_of_memmap")
_C_CONTIGUOUS, _F_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x2, 0x100, 0x400


@frozen
class GraphInput:
    """One input of the graph, and the text of where it comes from."""

    value: Value
    text: str


@frozen
class Route:
    """How a value comes in from outside, and by what name the inputs go that it becomes."""

    source: Source
    name: str
    argument: bool = False
    varies: bool = False  # from call to call, see Note [Numbers from outside]
    container: str = ""  # the name of what it is an item of


@frozen
class SymbolSource:
    """What a symbol is: the size or stride of an axis of an input, or an int input itself."""

    input: int
    kind: str  # "size", "stride" or "value"
    axis: int = 0


# Note [Numbers from outside]
# A number that is no argument is a constant of the capture, guarded by its value: most of them
# never change, and constants make better code. One that changes is a run-time input, like an
# argument: if the program itself stores to it the capture starts again, if its guard fails the next
# capture has it so. Each such number, the length of a list too, has a label that is the same in
# every attempt; ``varying`` holds those of the run-time inputs.
# So are the sizes of an array: constants at first, then symbols. But an axis of two to four (the
# coordinates of points, colours) is a constant until it has another size itself: code that knows
# it has no loop for it, and may be ten times as fast. A text is a constant at first, too, see Note
# [Texts of the graph].

_SHORT = 4
_OF_OPTIONS = 8  # characters that a program may read of a text that says how it is to work


def without_sizes(varying: frozenset[str]) -> frozenset[str]:
    """The labels of what varies beside the sizes of arrays."""
    return frozenset(each for each in varying if ".shape" not in each)


class Inputs:
    """The inputs of the graph of one capture."""

    def __init__(self, session: Session, dynamic: bool | None, varying: frozenset[str]) -> None:
        self.session = session
        self.dynamic = dynamic
        self.varying = varying
        self.guards = GuardBuilder()
        self.inputs: list[GraphInput] = []
        self.input_sources: list[Source] = []
        self.arrays = session.aliases.input_arrays
        # Lists of arrays that are read as copies, and the requests not to.
        self.stacked: list[tuple[Sequence[np.ndarray], Source, Request]] = []
        self.numbers: dict[Value, tuple[str, Any]] = {}  # inputs: in the guard program, and now
        self.with_flags: set[str] = set()  # variables of the guards, of arrays from outside
        self.symbols: dict[str, SymbolSource] = {}
        self._derived: dict[str, Any] = {}
        self._labels: set[str] = set()
        self._constants: set[str] = set()
        self._stored: set[str] = set()
        self._texts: dict[int, str] = {}  # labels of texts that are constants, by their ids
        self._characters: Counter[str] = Counter()  # that the program has read of them

    # -------------------------------------------------------- labels

    def is_constant(self, label: str) -> bool:
        """Whether an input is a constant even if it may vary: Python needs its value."""
        return How.CONSTANT in self.session.asked(label)

    def _label(self, name: str) -> str:
        """A label for a number that no other number has. See Note [Numbers from outside]."""
        label, count = name, 1
        while label in self._labels:
            count += 1
            label = f"{name}_{count}"
        self._labels.add(label)
        return label

    def stored(self, *names: str) -> None:
        """Note that the program stores to places of these names."""
        self._stored.update(names)

    @property
    def changing(self) -> frozenset[str]:
        """The labels of numbers that must vary, since the program stores to them."""
        found = (self._stored & self._constants) - self.varying
        return frozenset(each for each in found if not self.is_constant(each))

    def note_characters(self, text: object, count: int) -> None:
        """Note that the program reads so many characters of a text."""
        self._characters[self._texts.get(id(text), "")] += count

    def let_vary(self, text: object) -> None:
        """Have an array of a text, or of bytes, if it is from outside."""
        if label := self._texts.get(id(text)):
            self.stored(label)

    def let_texts_vary(self) -> bool:
        """Take texts of which much is read for what is stored to; whether there are any."""
        found = {label for label, count in self._characters.items() if count > _OF_OPTIONS}
        self.stored(*found)
        return not found.isdisjoint(self.changing)

    def check_constant(self, condition: str, text: str, label: str) -> None:
        """Demand a fact that may change from call to call; ``label`` names it."""
        self._constants.add(label)
        self.guards.check(condition, text, label)

    # -------------------------------------------------------- numbers

    def add_input(self, kind: Any, source: Source, name: str) -> Value:
        """A new input of the graph."""
        value = self.session.builder.value(kind, name)
        self.inputs.append(GraphInput(value, source.text))
        self.input_sources.append(source)
        return value

    def _check_type(self, source: Source, kind: type) -> None:
        is_kind = f"type({source.var}) is {self.guards.constant(kind)}"
        self.guards.check(is_kind, f"{source.text} is a {kind.__name__}")

    def _int(
        self, value: int, source: Source, name: str, free: bool, container: str = ""
    ) -> object:
        """An int as a symbol, positive if it is so now; ``free`` for any int. In the next capture
        all ints of the container are free if one of this is not positive any more.
        """
        if not -(2**63) <= value < 2**63:
            raise refusal(
                ARGUMENT_KIND,
                f"{source.text} = {value} does not fit in 64 bits and cannot be captured",
            )
        low = 1 if value >= 1 and not free else None
        text = f"{source.text} is an int" + (", 1 or more" if low else "")
        bound = "1" if low else "-9223372036854775808"
        self.guards.check(
            f"type({source.var}) is int and {bound} <= {source.var} < 9223372036854775808",
            text,
            container if low else "",
        )
        graph_value = self.add_input(PY_INT, source, name)
        self.session.labels[graph_value.name] = name
        dim = symbol(graph_value.name, hint=value, lower=low)
        self.guards.symbols[graph_value.name] = source.var
        self.symbols[graph_value.name] = SymbolSource(len(self.inputs) - 1, "value")
        return TracedInt(dim)

    def _scalar(self, value: object, source: Source, name: str) -> TracedScalar:
        self.guards.check(
            f"type({source.var}) is {type(value).__name__}",
            f"{source.text} is a {type(value).__name__}",
        )
        return self._input_scalar(value, source, name)

    def _input_scalar(self, value: object, source: Source, label: str) -> TracedScalar:
        graph_value = self.add_input(scalar_type_of(value), source, label)
        self.numbers[graph_value] = source.var, value
        self.session.origins[graph_value] = frozenset((label,))
        return TracedScalar(graph_value)

    def _numpy_scalar(self, value: np.generic, route: Route) -> object:
        source, argument = route.source, route.argument
        if not is_known(value.dtype) or element_dtype(value.dtype) is None:
            raise refusal(ARGUMENT_KIND, f"{source.text} is a {type(value).__name__}, {EAGER}")
        label = self._label(route.name)
        varies = argument or route.varies or label in self.varying
        if not varies or self.is_constant(label):
            self._constants.add(label)
            stays = argument and value.dtype.kind == "b"
            self.guards.check_value(source, value, "" if stays else label)
            return value
        self._check_type(source, type(value))
        if value.dtype.kind in "mM":  # the dtypes of one type have units
            known = self.guards.constant(value.dtype)
            self.guards.check(f"{source.var}.dtype == {known}", f"{source.text} has this unit")
        return self._input_scalar(value, source, label)

    def derived(self, expression: str, number: int, text: str) -> object:
        """An int that the guard program computes; see Note [Derived ints]."""
        found = self._derived.get(expression)
        if found is None:
            source, label = self.guards.fetch(expression, text), self._label("int")
            if self.dynamic is False or self.is_constant(label):
                self.guards.check_value(source, number)
                found = number
            else:
                found = self._int(number, source, label, free=True)
            self._derived[expression] = found
        return found

    def demand(self, expression: str, number: object, text: str) -> None:
        """Rely on what the guard program computes."""
        if expression not in self._derived:
            self._derived[expression] = number
            self.guards.check_value(self.guards.fetch(expression, text), number)

    # -------------------------------------------------------- arrays

    def _array(self, array: np.ndarray, route: Route) -> TracedArray:
        source = route.source
        if not is_known(array.dtype):
            raise refusal(ARGUMENT_KIND, f"{source.text} has dtype {array.dtype}, {EAGER}")
        if not array.flags.aligned:
            raise refusal(ARGUMENT_KIND, f"{source.text} is not aligned in memory, {EAGER}")
        kind = array_type(array.dtype, ())
        value = self.add_input(kind, source, route.name)
        value.type = self._array_type(array, source, value.name)
        self.arrays[value] = array
        return TracedArray(value)

    def _memmap(self, array: Any, route: Route) -> object:
        """The memory of a memmap. See Note [Classes of arrays]."""
        source, is_mapped = route.source, array._mmap is not None
        kind = self.guards.constant(np.memmap)
        whose = "is not None" if is_mapped else "is None"
        self.guards.check(
            f"type({source.var}) is {kind} and {source.var}._mmap {whose}",
            f"{source.text} is a memmap{' of a file' if is_mapped else ''}",
        )
        memory = self.guards.fetch(f"as_array({source.var})", source.text)
        made = self._array(as_array(array), replace(route, source=memory))
        self.session.classes[made._value] = class_of_memmap(source, is_mapped)
        return made

    def _of_subclass(self, array: np.ndarray, known: object, route: Route) -> TracedArray:
        """The memory of an array of a subclass. See Note [Classes of arrays]."""
        source = route.source
        self._check_type(source, type(array))
        memory = self.guards.fetch(f"as_array({source.var})", source.text)
        made = self._array(as_array(array), replace(route, source=memory))
        self.session.classes[made._value] = known
        return made

    def _array_type(self, array: np.ndarray, source: Source, name: str) -> ArrayType:
        flags, var, guards = array.flags, source.var, self.guards
        mask, wanted = _ALIGNED | _WRITEABLE, _ALIGNED | (flags.num & _WRITEABLE)
        if flags.c_contiguous:
            mask, wanted = mask | _C_CONTIGUOUS, wanted | _C_CONTIGUOUS
        elif flags.f_contiguous:
            mask, wanted = mask | _F_CONTIGUOUS, wanted | _F_CONTIGUOUS
        kind = known_dtype(array.dtype)  # an unpickled array has an object of its own
        dtype = guards.constant(kind)
        checks = [
            f"type({var}) is ndarray",
            f"({var}.dtype is {dtype} or same_value({var}.dtype, {dtype}))",
        ]
        aligned = array.dtype.names is None or has_aligned_fields(array)
        if array.dtype.names is not None:
            checks.append(f"has_aligned_fields({var}) is {aligned}")
        label = f"{name}.shape"
        dynamic = label in self.varying if self.dynamic is None else self.dynamic
        if dynamic:
            checks.append(f"{var}.ndim == {array.ndim}")
        self.with_flags.add(var)
        # By number, for NumPy warns where one reads by name that what was broadcast is writeable.
        checks.append(f"({flags_of(source)} := {var}.flags).num & {mask} == {wanted}")
        packed = flags.c_contiguous or flags.f_contiguous
        sizes = ":" * array.ndim if dynamic else map(str, array.shape)
        shown = f"{dtype_name(array.dtype)}[{', '.join(sizes)}]"
        text = f"{source.text} is {shown} of this layout"
        was = ArrayType(array.dtype, array.shape, array.strides, is_writeable(array))
        if dynamic:
            guards.check_array(checks, text, was)
        else:
            same_shape = f"{var}.shape == {array.shape}"
            checks += [same_shape, *([] if packed else [f"{var}.strides == {array.strides}"])]
            guards.check_array(checks, text, was, label, same_shape)
        if 0 in array.shape:  # programs have branches for that: a refusal may be there alone
            guards.check(f"{var}.size == 0", f"{source.text} has no elements", is_of_value=True)
        shape = self._dims(array, source, name) if dynamic else array.shape
        strides = self._strides(array, shape, source, name, dynamic)
        made = array_type(kind, shape, strides)
        return ArrayType(made.dtype, made.shape, made.strides, is_writeable(array), aligned)

    def _dims(self, array: np.ndarray, source: Source, name: str) -> tuple[Dim, ...]:
        """A symbol for each size of 2 or more that is not short, or has varied; others are guarded.

        See Note [Numbers from outside].
        """
        if not array.ndim:
            return ()
        names = [self.guards.name("n") for _ in array.shape]
        self.guards.steps.append(_unpack(names, f"{source.var}.shape"))
        dims: list[Dim] = []
        for axis, (size, var) in enumerate(zip(array.shape, names, strict=True)):
            text, label = f"{name}.{axis}", f"{name}.shape.{axis}"
            is_short = self.dynamic is None and array.ndim > 1 and size <= _SHORT
            may_vary = not is_short or label in self.varying
            if size < 2 or not may_vary or self.is_constant(text):
                shown = f"size {axis} of {source.text} is {size}"
                self.guards.check(f"{var} == {size}", shown, "" if may_vary else label)
                dims.append(size)
                continue
            self.guards.check(f"{var} >= 2", f"size {axis} of {source.text} is 2 or more")
            self.guards.symbols[text] = var
            self.symbols[text] = SymbolSource(len(self.inputs) - 1, "size", axis)
            dims.append(symbol(text, hint=size, lower=2))
        return tuple(dims)

    def _strides(
        self, array: np.ndarray, shape: tuple[Dim, ...], source: Source, name: str, dynamic: bool
    ) -> tuple[Dim, ...]:
        itemsize = array.dtype.itemsize
        if array.flags.c_contiguous:
            return c_strides(shape, itemsize)
        if array.flags.f_contiguous:
            return tuple(reversed(c_strides(shape[::-1], itemsize)))
        if not dynamic:
            return array.strides
        names = [self.guards.name("s") for _ in shape]
        self.guards.steps.append(_unpack(names, f"{source.var}.strides"))
        strides: list[Dim] = []
        for axis, (stride, var) in enumerate(zip(array.strides, names, strict=True)):
            if shape[axis] == 1 or shape[axis] == 0:
                strides.append(stride)
            elif abs(stride) <= itemsize or self.is_constant(f"{name}.s{axis}"):
                self.guards.check(f"{var} == {stride}", f"stride {axis} of {source.text}")
                strides.append(stride)
            else:
                text = f"{name}.s{axis}"
                self.guards.symbols[text] = var
                self.symbols[text] = SymbolSource(len(self.inputs) - 1, "stride", axis)
                low = itemsize if stride > 0 else None
                if low is not None:
                    self.guards.check(f"{var} >= {low}", f"stride {axis} of {source.text}")
                strides.append(symbol(text, hint=stride, lower=low))
        return tuple(strides)

    def array_of_list(self, items: Any, source: Source, name: str, beside: Any = None) -> object:
        """The array that guards make of a list: of any length, or of that of ``beside``."""
        self.guards.check(f"type({source.var}) is ndarray", f"{source.text} holds such numbers")
        value = self.add_input(array_type(items.dtype, ()), source, f"{name}.items")
        rows = () if beside is None else beside._type.shape[:1]
        dims = rows if rows and items.ndim == 1 else self._dims(items, source, value.name)
        value.type = array_type(items.dtype, (*rows, *dims[len(rows) :]))
        self.arrays[value] = items
        return TracedArray(value)

    def length_of(self, items: Sequence[object], source: Source, name: str) -> Any:
        """The length of a list of this name as a run-time input."""
        length = self.guards.fetch(f"len({source.var})", f"len({source.text})")
        return self._int(len(items), length, self._label(f"{name}.len"), free=True)


EAGER = "which runs as plain NumPy"


def _unpack(names: list[str], expression: str) -> Fetch:
    return Fetch("".join(f"{name}, " for name in names).rstrip(), expression)
