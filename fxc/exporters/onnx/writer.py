"""Writing the nodes of a model: names, constants, scopes of sub-graphs, sizes, and the flag."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fxc.ir.errors import ExportError
from fxc.ir.graph import Literal, Node, Operand, Value
from fxc.ir.records import field, mutable
from fxc.ir.symbols import Atom, Computed, Dim, Symbol, SymFunc, terms_of
from fxc.ir.types import ArrayType

from .kernels import BOOL, INT64, carrier
from .tensors import Number, OnnxCall, SubGraph, Tensor
from .zeros import has_unsigned_zeros

# Note [The flag of a model]
# ONNX has no exceptions. Where NumPy or Python would raise, a model goes on with some number, and
# its output ``valid`` is False: ``require`` collects the conditions, through branches and loops.
# Loops neither begin nor go on where one does not hold, for what they wait for may never come. A
# program that cannot raise has no such output. No index is out of bounds and no integer is divided
# by zero on the way: onnxruntime would stop, or the process would.


@mutable
class Scope:
    """A graph or sub-graph that is being written; tensors of outer ones may be used in it."""

    calls: list[OnnxCall] = field(default_factory=list)
    symbols: dict[str, Tensor] = field(default_factory=dict)
    known: dict[object, Tensor] = field(default_factory=dict)  # that has been computed in it
    valid: Tensor | None = None  # see Note [The flag of a model]


class ModelWriter:
    """Collects the nodes of one model. ``place`` is the line of the program they come from."""

    def __init__(self, emit: Callable[[ModelWriter, Node], tuple[Tensor, ...]]) -> None:
        self._emit = emit
        self.scopes = [Scope()]
        self.initializers: dict[str, np.ndarray] = {}
        self.values: dict[Value, Tensor] = {}
        self.place = ""
        self._constants: dict[tuple[object, ...], Tensor] = {}
        self._counts: dict[str, int] = {}
        self._taken: set[str] = set()

    # -- names and nodes

    def name(self, stem: str) -> str:
        """A name that nothing has, like ``stem`` where that is free."""
        found, count = stem, self._counts.get(stem, 0)
        while found in self._taken:
            count += 1
            found = f"{stem}_{count}"
        self._counts[stem] = count
        self._taken.add(found)
        return found

    def tensor(self, stem: str, dtype: np.dtype, *, is_number: bool = False) -> Tensor:
        """A tensor that no node makes so far; a number if it is said to be one."""
        return Tensor(self, self.name(stem), dtype, is_number)

    def calls(
        self,
        kind: str,
        inputs: Sequence[Tensor | None],
        dtypes: Sequence[np.dtype],
        **attributes: Any,
    ) -> tuple[Tensor, ...]:
        """A node, and its results."""
        outputs = tuple(self.tensor(kind.lower(), dtype) for dtype in dtypes)
        names = tuple("" if x is None else x.name for x in inputs)
        made = OnnxCall(kind, names, tuple(x.name for x in outputs), attributes, self.place)
        self.scopes[-1].calls.append(made)
        return outputs

    def op(
        self, kind: str, inputs: Sequence[Tensor | None], dtype: np.dtype, **attributes: Any
    ) -> Tensor:
        """A node with one result, of this dtype; nodes that are alike are one."""
        names = tuple("" if x is None else x.name for x in inputs)
        key = (kind, names, dtype, _frozen(attributes))
        for scope in self.scopes:
            if key in scope.known:
                return scope.known[key]
        (made,) = self.calls(kind, inputs, (dtype,), **attributes)
        made.unsigned_zeros |= has_unsigned_zeros(kind, inputs, attributes)
        self.scopes[-1].known[key] = made
        return made

    def copy(self, x: Tensor, into: Tensor) -> None:
        """Give a tensor that no node makes the content of another."""
        self.scopes[-1].calls.append(OnnxCall("Identity", (x.name,), (into.name,), {}, self.place))

    def same(self, kind: str, *inputs: Tensor, **attributes: Any) -> Tensor:
        """A node on operands of one dtype, which its result is of; see ``carrier``."""
        dtype = inputs[0].dtype
        working = carrier(kind, dtype)
        cast = [self.cast(x, working) for x in inputs]
        return self.cast(self.op(kind, cast, working, **attributes), dtype)

    def compare(self, kind: str, x: Tensor, y: Tensor) -> Tensor:
        """A comparison of operands of one dtype."""
        working = carrier(kind, x.dtype)
        return self.op(kind, (self.cast(x, working), self.cast(y, working)), BOOL)

    def choose(self, condition: Tensor, x: Tensor | Number, y: Tensor | Number) -> Tensor:
        """``where`` whose zeros may lose their sign."""
        like = x if isinstance(x, Tensor) else y
        assert isinstance(like, Tensor)
        x, y = (
            each if isinstance(each, Tensor) else self.constant(each, like.dtype) for each in (x, y)
        )
        working = carrier("Where", x.dtype)
        operands = (condition, self.cast(x, working), self.cast(y, working))
        return self.cast(self.op("Where", operands, working), x.dtype)

    def where(self, condition: Tensor, x: Tensor | Number, y: Tensor | Number) -> Tensor:
        """See Note [Zeros with a sign]."""
        like = x if isinstance(x, Tensor) else y
        assert isinstance(like, Tensor)
        x, y = (
            each if isinstance(each, Tensor) else self.constant(each, like.dtype) for each in (x, y)
        )
        found = self.choose(condition, x, y)
        if x.unsigned_zeros and y.unsigned_zeros:
            return found
        one = self.constant(1, x.dtype)
        side = self.choose(condition, one / x, one / y)  # of zeros an infinity of their sign
        lost = (side < 0) & (one / found > 0)
        return found * self.choose(lost, self.constant(-1, x.dtype), one)

    def cast(self, x: Tensor, dtype: np.dtype) -> Tensor:
        return x if x.dtype == dtype else self.op("Cast", (x,), dtype, to=dtype)

    def constant(self, value: object, dtype: np.dtype | None = None) -> Tensor:
        """An array or a number as a part of the model."""
        array = np.asarray(value, dtype)
        key = (array.dtype, array.shape, array.tobytes())
        if key not in self._constants:
            made = self._constants[key] = self.tensor("constant", array.dtype)
            self.initializers[made.name] = array
            made.unsigned_zeros = array.dtype.kind != "f" or not np.any(
                np.signbit(array[array == 0])
            )
        return self._constants[key]

    def ints(self, *numbers: int) -> Tensor:
        """A list of integers, as operators take axes."""
        return self.constant(np.array(numbers, np.int64))

    def value(self, operand: Operand) -> Tensor:
        """The tensor for a value of the graph, or for a number in it."""
        if isinstance(operand, Literal):
            return self.constant(operand.value, operand.type.dtype)
        return self.values[operand]

    # -- the nodes of a graph

    def write(self, nodes: Sequence[Node]) -> None:
        """Write nodes in order into the innermost scope."""
        for node in nodes:
            self.place = str(node.loc) if node.loc is not None else ""
            results = self._emit(self, node)
            self.values.update(zip(node.outputs, results, strict=True))
            if node.bound is not None:
                is_array = isinstance(node.outputs[0].type, ArrayType)
                self.bind(node.bound, self.size_of(results[0], 0) if is_array else results[0])

    # -- sub-graphs

    @contextmanager
    def body(self) -> Iterator[Scope]:
        """Write the nodes of a sub-graph inside the block."""
        scope = Scope()
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            self.scopes.pop()

    def finish(self, scope: Scope, inputs: Sequence[Tensor], results: Sequence[Tensor]) -> SubGraph:
        """The sub-graph of a scope: each result is that of a node of its own."""
        self.scopes.append(scope)
        outputs = tuple(self.calls("Identity", (x,), (x.dtype,))[0] for x in results)
        self.scopes.pop()
        return SubGraph(tuple(inputs), tuple(scope.calls), outputs)

    # -- the flag

    def require(self, condition: Tensor, rank: int = 0) -> None:
        """See Note [The flag of a model]; of an array all elements have to hold."""
        if rank:
            bad = self.cast(~condition, INT64)
            total = self.op("ReduceSum", (bad, None), INT64, keepdims=0)
            condition = total.equal(0)
        scope = self.scopes[-1]
        scope.valid = condition if scope.valid is None else scope.valid & condition

    def valid_so_far(self) -> Tensor | None:
        """Whether all that was required up to here holds; None if nothing was."""
        found: Tensor | None = None
        for scope in self.scopes:
            if scope.valid is not None:
                found = scope.valid if found is None else found & scope.valid
        return found

    # -- sizes

    def bind(self, name: str, size: Tensor) -> None:
        """Give a symbol its value in the innermost scope."""
        self.scopes[-1].symbols[name] = size

    def knows(self, name: str) -> bool:
        return any(name in scope.symbols for scope in self.scopes)

    def _symbol(self, name: str) -> Tensor:
        for scope in reversed(self.scopes):
            if name in scope.symbols:
                return scope.symbols[name]
        raise ExportError(f"the size {name} depends on how an array lies in memory")

    def size(self, dim: Dim) -> Tensor:
        """A dim as a number."""
        if isinstance(dim, int):
            return self.constant(dim, INT64)
        total: Tensor | None = None
        for monomial, coefficient in terms_of(dim):
            factors = [self._factor(atom) for atom in monomial]
            if coefficient != 1 or not factors:
                factors.append(self.constant(coefficient, INT64))
            term = factors[0]
            for factor in factors[1:]:
                term = term * factor
            total = term if total is None else total + term
        assert total is not None
        return total

    def _factor(self, atom: Atom) -> Tensor:
        match atom:
            case Symbol(name):
                return self._symbol(name)
            case Computed(name, _):
                return self._symbol(name)
            case SymFunc("floordiv" | "mod" as name, left, right):
                x, y = self.size(left), self.size(right)
                if not isinstance(right, int):
                    y = self.where(y.equal(0), 1, y)  # of arguments that the program is not for
                rest = self.same("Mod", x, y)
                return rest if name == "mod" else (x - rest) / y
            case SymFunc(name, left, right):
                kind = "Min" if name == "min" else "Max"
                return self.same(kind, self.size(left), self.size(right))

    def sizes(self, dims: Sequence[Dim]) -> Tensor:
        """Dims as a list of numbers."""
        if all(isinstance(dim, int) for dim in dims):
            return self.constant(np.array(dims, np.int64))
        return self.joined([self.listed(self.size(dim)) for dim in dims])

    def listed(self, number: Tensor) -> Tensor:
        """A number as a list of one."""
        return self.op("Unsqueeze", (number, self.ints(0)), number.dtype)

    def joined(self, lists: Sequence[Tensor], axis: int = 0) -> Tensor:
        return self.op("Concat", lists, lists[0].dtype, axis=axis)

    def size_of(self, x: Tensor, axis: int) -> Tensor:
        """The size of an axis at run time."""
        shape = self.op("Shape", (x,), INT64)
        return self.op("Gather", (shape, self.constant(axis, INT64)), INT64, axis=0)


def _frozen(attributes: Mapping[str, Any]) -> tuple[object, ...]:
    """Attributes as a part of a key."""
    return tuple(
        (
            name,
            (x.dtype, x.tobytes())
            if isinstance(x, np.ndarray)
            else tuple(x)
            if isinstance(x, list)
            else x,
        )
        for name, x in sorted(attributes.items())
    )
