"""The head of a function: its parameters, and the checks of what is passed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from fxc.ir.graph import Graph
from fxc.ir.records import frozen
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import Dim, counted_in, plain_symbol, symbols_of
from fxc.ir.types import ArrayType, is_c_contiguous

from .body import SourceBody
from .code import ADD, Code, dim_code, dtype_name, number
from .lines import WIDTH
from .views import tuple_text

# A guard as people write it, and its symbols.
GuardTexts = Callable[[Guard], tuple[str, dict[str, str]]]

CHECK_ARRAY = '''\
def _check_array(name, array, dtype, shape, strides=None):
    """Refuse an array that the function is not for; None is any size, or C order."""
    if type(array) is not np.ndarray:
        kind = type(array).__name__
        raise TypeError(f"{name} must be an array, it is of type {kind}")
    if array.dtype != dtype:
        dtype = np.dtype(dtype)
        raise TypeError(f"{name} must have the dtype {dtype}, it has {array.dtype}")
    if array.ndim != len(shape):
        rank = len(shape)
        raise ValueError(f"{name} must have {rank} dimensions, it has {array.ndim}")
    shape = tuple(n if m is None else m for n, m in zip(array.shape, shape))
    if array.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, it has {array.shape}")
    strides = np.empty(shape, dtype).strides if strides is None else strides
    strides = tuple(n if m is None else m for n, m in zip(array.strides, strides))
    others = np.not_equal(array.strides, strides) & np.greater(shape, 1)
    if array.size and others.any():
        raise ValueError(
            f"{name} must lie in memory with the strides {strides}, it has {array.strides};"
            " pass a copy"
        )'''

CHECK_NUMBER = '''\
def _check_number(name, number, kind):
    """Refuse a number of another type than the function is for."""
    if type(number) is not kind:
        raise TypeError(
            f"{name} must be of type {kind.__name__}, it is of type {type(number).__name__}"
        )'''

CHECK_WRITTEN = '''\
def _check_written(name, written, *others):
    """Refuse an array to write that is read-only or shares memory with others."""
    if not written.flags.writeable:
        raise ValueError(
            f"{name} must be writeable, as when it was exported; it is read-only"
        )
    if any(np.shares_memory(written, other) for other in others):
        raise ValueError(f"{name} shares memory with another argument, and is written")'''


@frozen
class Argument:
    """A leaf of the arguments: how it is reached from the parameters, what becomes of it.

    ``input`` is the input of the graph that it is given to; ``at_least`` bounds a Python int. A
    ``fixed`` value is a part of the program.
    """

    path: str
    input: int | None = None
    at_least: int | None = None
    is_fixed: bool = False
    fixed: Any = None


class Head:
    """Writes what stands in front of the body of a function."""

    def __init__(
        self, body: SourceBody, arguments: Sequence[Argument], guard_texts: GuardTexts
    ) -> None:
        self.body = body
        self.guard_texts = guard_texts
        self.graph: Graph = body.graph
        self.arguments = arguments
        self.used: dict[str, str] = {}  # the checks that the module needs

    def write(self) -> None:
        body = self.body
        for argument in self.arguments:
            if argument.input is not None:
                self.name(argument)
        for argument in self.arguments:
            if argument.is_fixed:
                self.check_fixed(argument)
        first: set[int] = set()
        for argument in self.arguments:
            place = argument.input
            if place is None:
                continue
            text = body.code_of[self.graph.inputs[place]].text
            if place in first:
                message = f"{argument.path} must be the same array as {text}"
                self.raise_if(f"{argument.path} is not {text}", message)
            else:
                first.add(place)
                self.check(argument, text)
        self.check_guards()
        self.check_written()

    def name(self, argument: Argument) -> None:
        """The variable of an input."""
        body, value = self.body, self.graph.inputs[argument.input or 0]
        if value in body.code_of:
            return
        if argument.path.isidentifier():
            body.hold(value, argument.path)
        else:
            name = body.names.free(value.name)
            body.statement(f"{name} = ", Code(_quoted(argument.path)), None)
            body.hold(value, name)
        if not isinstance(value.type, ArrayType) and value.type.weak:
            body.symbols[value.name] = body.code_of[value]

    def raise_if(self, condition: str, message: str, given: str = "") -> None:
        """Raise a message; behind it stands what was ``given``, the text of an f-string."""
        braced = message.replace("{", "{{").replace("}", "}}") if given else message
        shown = ("f" if given else "") + '"' + f"{braced}{given}".replace('"', "'") + '"'
        lines = [f"    if {condition}:", f"        raise ValueError({shown})"]
        if len(lines[1]) > WIDTH:
            lines[1:] = ["        raise ValueError(", f"            {shown}", "        )"]
        self.body.emit(lines, None)

    def check_fixed(self, argument: Argument) -> None:
        value, path = argument.fixed, _quoted(argument.path)
        if value is None or isinstance(value, bool):
            condition = f"{path} is not {value!r}"
        elif type(value) in (int, float, str):
            text = (
                f'"{value}"'
                if isinstance(value, str)
                and value.isprintable()
                and '"' not in value
                and "\\" not in value
                else number(value).text
                if not isinstance(value, str)
                else repr(value)
            )
            condition = f"{path} != {text}"
        else:
            return
        message = f"{argument.path} is {value!r} in this program"
        given = "" if "\\" in path else f", and cannot be {{{path}!r}}"
        self.raise_if(condition, message, given)

    def check(self, argument: Argument, text: str) -> None:
        body, value = self.body, self.graph.inputs[argument.input or 0]
        kind, path = value.type, argument.path.replace('"', "'")
        if not isinstance(kind, ArrayType):
            self.used["_check_number"] = CHECK_NUMBER
            wanted = kind.python_type.__name__ if kind.weak else dtype_name(kind.dtype)
            body.emit([f'    _check_number("{path}", {text}, {wanted})'], None)
            if argument.at_least is not None:
                message = f"{path} must be {argument.at_least} or more"
                self.raise_if(f"{text} < {argument.at_least}", message, f", it is {{{text}}}")
            return
        unknown = self.check_array(path, text, kind)
        self.bind(text, "shape", kind.shape)
        self.bind(text, "strides", kind.strides)
        if len({plain_symbol(dim) for dim in unknown} - {None}) != len(unknown):
            self.check_array(path, text, kind)  # sizes made of others that it tells

    def check_array(self, path: str, text: str, kind: ArrayType) -> list[Dim]:
        """Check an array against its type, except for the dims returned: nothing tells them yet."""
        body = self.body
        self.used["_check_array"] = CHECK_ARRAY
        unknown: list[Dim] = []

        def shown(dims: Sequence[Dim]) -> str:
            texts = []
            for dim in dims:
                missing = symbols_of(dim).keys() - body.symbols.keys()
                if missing:
                    unknown.append(dim)
                texts.append("None" if missing else dim_code(dim, body.known).text)
            return tuple_text(texts) if texts else "()"

        given = [f'"{path}"', text, dtype_name(kind.dtype), shown(kind.shape)]
        if not is_c_contiguous(kind):
            given.append(shown(kind.strides))
        code = Code(f"_check_array({', '.join(given)})", parts=("_check_array(", tuple(given), ")"))
        body.statement("", code, None)
        return unknown

    def bind(self, text: str, word: str, dims: Sequence[Dim]) -> None:
        """Variables for the sizes that an argument tells."""
        body = self.body
        new = []
        for axis, dim in enumerate(dims):
            name = plain_symbol(dim)
            if name is not None and name not in body.symbols:
                words = (
                    _AXES[len(dims)][axis] if word == "shape" and len(dims) < 3 else f"{word}{axis}"
                )
                variable = body.names.free(f"{text}_{words}")
                body.symbols[name] = Code(variable)
                new.append((axis, name, variable, symbols_of(dim)[name].lower))
        for axis, _, variable, _ in new:
            body.emit([f"    {variable} = {text}.{word}[{axis}]"], None)
        for axis, _, variable, lower in new:
            if lower is not None and lower > 0:
                message = f"{text}.{word}[{axis}] must be {lower} or more"
                self.raise_if(f"{variable} < {lower}", message, f", it is {{{variable}}}")

    def check_guards(self) -> None:
        body = self.body
        for guard in self.graph.guards:
            if counted_in(guard.left - guard.right):
                continue
            left, right = (dim_code(side, body.known) for side in (guard.left, guard.right))
            least = {a.path: a.at_least for a in self.arguments if a.at_least is not None}
            if guard.relation == ">=" and least.get(left.text) == guard.right:
                continue  # checked already
            if guard.relation == "<=" and isinstance(guard.right, int) and guard.right >= 2**53:
                continue  # of numbers that native code computes with
            negated = _NEGATED[guard.relation]
            condition = f"{left.within(ADD)} {negated} {right.within(ADD)}"
            text, names = self.guard_texts(guard)
            has = [f"{shown} = {{{body.known(name).text}}}" for name, shown in names.items()]
            message = f"{self.graph.name}() is for calls with {text}"
            self.raise_if(condition, message, f", this has {', '.join(has)}")

    def check_written(self) -> None:
        assert self.graph.signature is not None
        written = sorted(self.graph.signature.mutated_inputs)
        arrays = [n for n, v in enumerate(self.graph.inputs) if isinstance(v.type, ArrayType)]
        pairs: dict[int, list[int]] = {one: [] for one in written}
        for left, right in combinations(arrays, 2):
            if left in written:
                pairs[left].append(right)
            elif right in written:
                pairs[right].append(left)
        for one, others in pairs.items():
            self.used["_check_written"] = CHECK_WRITTEN
            names = [self.body.code_of[self.graph.inputs[n]].text for n in (one, *others)]
            items = (f'"{names[0]}"', *names)
            text = f"_check_written({', '.join(items)})"
            self.body.statement("", Code(text, parts=("_check_written(", items, ")")), None)


_AXES = {1: ("size",), 2: ("rows", "columns")}
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _quoted(path: str) -> str:
    return path.replace("'", '"') if '"' not in path else path
