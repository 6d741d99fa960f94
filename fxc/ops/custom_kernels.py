"""What calls the user's operators, and looks whether they give what is said of them.

See Note [Custom operators].
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fxc.ir.asynchronous import NUMPYS_ERRORS, hand_on
from fxc.ir.errors import WouldRaise, a_kind
from fxc.ir.types import ArrayType, Type, array_type, normal_strides, scalar_type_of

from .custom import Definition, array_operands, definition_of, mistaken, types_given
from .operators import Operator

Kernel = Callable[..., Any]
# What is looked at of a result: of an array dtype, shape and strides, of a scalar its class.
Look = tuple[Any, ...] | type

_MOST_KNOWN = 4096  # combinations of types of arguments, before all are forgotten


def kernel_for(op: Operator, unshared: Callable[[np.ndarray], np.ndarray]) -> Kernel:
    """The kernel of an operator of the user's; ``unshared`` makes copies to be written."""
    definition = definition_of(op.group)
    if op.role == "functional":
        return _Checked(definition, unshared).kernel()
    return definition.impl if op.schema.writes else _Checked(definition, unshared).kernel()


class _Checked:
    """An operator whose results are compared with its meta; what it writes are copies, which it
    gives before its results.
    """

    def __init__(
        self, definition: Definition, unshared: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        self.definition = definition
        self.unshared = unshared
        self.schema = definition.schema
        self.known: dict[Any, tuple[Look, ...]] = definition.known

    def kernel(self) -> Kernel:
        """The kernel as Python code: loops over arguments would take as long as short calls."""
        params, written = self.schema.params, self.schema.written_params
        names = [f"v{place}" for place in range(len(params))]
        looks = [
            (f"tuple(map(look, {name}))" if param.is_list else _LOOK.format(name))
            if param.is_value
            else name
            for name, param in zip(names, params, strict=True)
        ]
        given = ", ".join(f"w{p}" if p in written else v for p, v in enumerate(names))
        copies = [_COPY.format(place) for place in written]
        lines = [
            f"def run({', '.join(names)}):",
            f"    want = known.get(({''.join(f'{each}, ' for each in looks)}))",
            f"    if want is None: return first(({', '.join(names)},))",
            *copies,
            f"    try: found = impl({given})",
            "    except numpys: raise",
            "    except Exception as error: raise would_raise(error) from error",
            *self._results(given),
        ]
        gives = [*(f"w{p}" for p in written), *(f"p{p}" for p in range(len(self.schema.returns)))]
        lines.append(f"    return {', '.join(gives)}")
        names_of: dict[str, Any] = {
            "ndarray": np.ndarray,
            "known": self.known,
            "first": self.first,
            "impl": self.definition.impl,
            "numpys": NUMPYS_ERRORS,
            "would_raise": self.would_raise,
            "differs": self.refuse_container,
            "settled": self.settled,
            "unshared": self.unshared,
            "refs": sys.getrefcount,
            "look": _look,
        }
        exec("\n".join(lines), names_of)
        made: Kernel = names_of["run"]
        made.gives_new = True  # type: ignore[attr-defined]
        return made

    def _results(self, given: str) -> Iterator[str]:
        """The code that compares what has been found."""
        parts = [f"p{place}" for place in range(len(self.schema.returns))]
        if not parts:
            yield "    if found is not None: differs(found)"
        elif len(parts) == 1:
            yield "    p0 = found"
        else:
            several = f"type(found) is not tuple or len(found) != {len(parts)}"
            yield f"    if {several}: differs(found)"
            yield f"    {', '.join(parts)} = found"
        yield "    found = None"
        for place, part in enumerate(parts):
            is_new = f"{part}.base is None and refs({part}) <= {_IN_LOCAL}"
            is_as_said = f"({part}.dtype, {part}.shape, {part}.strides) == want[{place}]"
            yield (
                f"    if type({part}) is not ndarray or not ({is_new} and {is_as_said}): "
                f"{part} = settled({part}, want[{place}], ({given},))"
            )

    def first(self, args: tuple[Any, ...]) -> object:
        """The first call for arguments of these types."""
        want, written = self.expected(args), self.schema.written_params
        given = list(args)
        for place in written:
            given[place] = self.unshared(args[place])
        args = tuple(given)
        found = self.called(args)
        if len(want) == 1:
            parts: tuple[object, ...] = (self.settled(found, want[0], args),)
        else:
            results = () if found is None and not want else found
            if type(results) is not tuple or len(results) != len(want):
                self.refuse_container(found)
            parts = tuple(map(self.settled, results, want, (args,) * len(want)))
        self.known[self.key(args)] = want
        gives = (*(args[place] for place in written), *parts)
        return gives[0] if len(gives) == 1 else gives

    def called(self, args: tuple[Any, ...]) -> Any:
        """What the function gives, which may change the arguments alone that it is to write."""
        written = self.schema.written_params
        arrays = array_operands([x for place, x in enumerate(args) if place not in written])
        before = [x.tobytes() for x in arrays]
        try:
            found = self.definition.impl(*args)
        except NUMPYS_ERRORS:
            raise
        except Exception as error:
            raise self.would_raise(error) from error
        for array, content in zip(arrays, before, strict=True):
            if array.tobytes() != content:
                array[...] = np.frombuffer(content, array.dtype).reshape(array.shape)
                raise self.refuse("writes an argument that its schema does not let it write")
        return found

    def key(self, args: tuple[Any, ...]) -> object:
        """What is looked at of arguments."""
        return self._of_operands(_look, args)

    def expected(self, args: tuple[Any, ...]) -> tuple[Look, ...]:
        """What results have to look like for these arguments."""
        if len(self.known) > _MOST_KNOWN:
            self.known.clear()
        given = self._of_operands(type_of_operand, args)
        return tuple(map(_look_of, types_given(self.definition, given)))

    def _of_operands(self, of: Callable[[Any], Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            (tuple(map(of, x)) if type(x) is tuple else of(x)) if param.is_value else x
            for param, x in zip(self.schema.params, args, strict=True)
        )

    def settled(self, found: object, want: Look, args: tuple[Any, ...]) -> object:
        """A result that is what the meta says, and an array that nobody else has."""
        if not _is_like(found, want):
            raise self.refuse(f"gives {_shown(found)}, its meta says {_shown_look(want)}")
        if type(found) is not np.ndarray:
            return found
        operands = array_operands(args)
        if self.schema.is_view:
            if found.size and not np.may_share_memory(found, operands[0]):
                raise self.refuse("gives an array of its own, its schema says that it is a view")
            return found
        if any(np.may_share_memory(found, x) for x in operands):
            raise self.refuse("gives an array that shares memory, its schema does not say so")
        return found if sys.getrefcount(found) <= _IN_ARGUMENT and _owns(found) else found.copy("K")

    def refuse(self, text: str) -> WouldRaise:
        return WouldRaise(mistaken(self.definition, text))

    def refuse_container(self, found: object) -> None:
        count = len(self.schema.returns)
        wanted = f"a tuple of {count}" if count else "nothing"
        raise self.refuse(f"gives {_shown(found)}, its schema says {wanted}")

    def would_raise(self, error: Exception) -> WouldRaise:
        """Of an exception of a class of its own, see ``NUMPYS_ERRORS``."""
        hand_on(error)
        return WouldRaise(f"{self.definition.name} raises {error!r}")


def _count_of_local() -> int:
    found = np.empty(0)
    return sys.getrefcount(found)


def _count_of_argument(found: np.ndarray) -> int:
    return sys.getrefcount(found)


def _count_in_argument() -> int:
    found = np.empty(0)
    return _count_of_argument(found)


# How many references there are to an array that is a variable, and to one that is also an argument
# where this is asked, if nobody else has it.
_IN_LOCAL, _IN_ARGUMENT = _count_of_local(), _count_in_argument()
_OF_BASE = sys.getrefcount(np.empty(2)[:1].base)


def _owns(found: np.ndarray) -> bool:
    """Whether the memory of an array is its own, or only it has the array whose memory it shows."""
    base = found.base
    if base is None:
        return True
    del base
    return (
        type(found.base) is np.ndarray
        and found.base.base is None
        and sys.getrefcount(found.base) <= _OF_BASE
    )


# ------------------------------------------------------------------ looks

_COPY = "    w{0} = v{0}.copy() if v{0}.flags.c_contiguous else unshared(v{0})"
_LOOK = "(({0}.dtype, {0}.shape, {0}.strides) if type({0}) is ndarray else type({0}))"


def _look(x: object) -> Look:
    return (x.dtype, x.shape, x.strides) if type(x) is np.ndarray else type(x)


def _look_of(kind: Type) -> Look:
    if isinstance(kind, ArrayType):
        return kind.dtype, kind.shape, kind.strides
    return kind.python_type if kind.weak else kind.dtype.type


def type_of_operand(x: object) -> Type | None:
    """The type of an operand; None where there is none."""
    if isinstance(x, np.ndarray):
        return array_type(x.dtype, x.shape, x.strides)
    return None if x is None else scalar_type_of(x)


def _is_like(found: object, want: Look) -> bool:
    if type(want) is not tuple:
        return type(found) is want
    if type(found) is not np.ndarray:
        return False
    dtype, shape, strides = want
    if (found.dtype, found.shape) != (dtype, shape):
        return False
    return normal_strides(shape, found.strides, dtype.itemsize) == normal_strides(
        shape, strides, dtype.itemsize
    )


def _shown(found: object) -> str:
    if isinstance(found, np.ndarray):
        return _shown_look((found.dtype, found.shape, found.strides))
    return a_kind(found)


def _shown_look(look: Look) -> str:
    if not isinstance(look, tuple):
        return f"a {look.__name__}"
    dtype, shape, strides = look
    return f"an array {dtype}{list(shape)} with strides {strides}"
