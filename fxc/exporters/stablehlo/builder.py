"""Writing operations: a value with a type for each result, names when all is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any

import numpy as np

from fxc.ir.location import SourceLocation
from fxc.ir.symbols import Dim

from .text import dense, location, tensor_type

BOOL, I32, I64, F32, F64 = (np.dtype(code) for code in ("?", "i4", "i8", "f4", "f8"))

# How comparisons call what they compare.
_COMPARED = {"f": "FLOAT", "i": "SIGNED", "u": "UNSIGNED", "b": "UNSIGNED", "c": "FLOAT"}


class Val:
    """A value of the module: its name may come later. ``shape`` are the sizes of its tensor.

    ``known`` is the number that all of its elements are, if that is known.
    """

    __slots__ = ("dtype", "known", "name", "shape")

    def __init__(self, dtype: np.dtype, shape: Sequence[Dim], name: str | None = None) -> None:
        self.dtype = dtype
        self.shape = tuple(shape)
        self.name = name
        self.known: Any = None

    @property
    def type(self) -> str:
        return tensor_type(self.dtype, self.shape)

    @property
    def rank(self) -> int:
        return len(self.shape)


class Block:
    """The operations of a region, in order. ``params`` are those that its own first line names."""

    def __init__(self, params: Sequence[Val] = ()) -> None:
        self.params = tuple(params)
        self.results: tuple[Val, ...] = ()
        self.lines: list[tuple[tuple[Any, ...], SourceLocation | None]] = []
        self.sizes: dict[Dim, Val] = {}  # what sizes that are no numbers are, see ``sizes``
        self.constants: dict[str, Val] = {}


class Builder:
    """Appends operations to the innermost open block."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.loc: SourceLocation | None = None

    # ------------------------------------------------------------ blocks

    @contextmanager
    def block(self, params: Sequence[Val] = ()) -> Iterator[Block]:
        """What is written inside of ``with`` is in a new block."""
        made = Block(params)
        self.blocks.append(made)
        try:
            yield made
        finally:
            self.blocks.pop()

    def line(self, *pieces: Any) -> None:
        """One operation: text, values and blocks."""
        self.blocks[-1].lines.append((pieces, self.loc))

    def give(self, results: Sequence[Val], word: str = "stablehlo.return") -> None:
        """End a block."""
        self.blocks[-1].results = tuple(results)
        if results:
            types = ", ".join(value.type for value in results)
            self.line(f"{word} ", *separated(results), f" : {types}")
        else:
            self.line(word)

    # ------------------------------------------------------------ operations

    def op(
        self,
        name: str,
        operands: Sequence[Val],
        dtype: np.dtype,
        shape: Sequence[Dim],
        rest: Any = "",
    ) -> Val:
        """``%r = stablehlo.name %x, %y, rest : (…) -> …``."""
        result = Val(dtype, shape)
        between = ", " if rest and operands else ""
        start = f" = stablehlo.{name} "
        pieces = (result, start, *separated(operands), f"{between}{rest} : ")
        self.line(*pieces, signature_of(operands, [result]))
        return result

    def same(self, name: str, *operands: Val, rest: str = "") -> Val:
        """An operation whose result has the type of its operands."""
        first = operands[0]
        result = Val(first.dtype, first.shape)
        tail = f", {rest} : {first.type}" if rest else f" : {first.type}"
        self.line(result, f" = stablehlo.{name} ", *separated(operands), tail)
        return result

    def compare(self, direction: str, x: Val, y: Val) -> Val:
        """A comparison by the order of the operands' dtype."""
        rest = f"{x.type}, {y.type}"
        result = Val(BOOL, x.shape)
        kind = _COMPARED[x.dtype.kind]
        self.line(
            result, f" = stablehlo.compare {direction}, ", x, ", ", y, f", {kind} : ({rest}) -> ",
            result.type,
        )  # fmt: skip
        return result

    def select(self, where: Val, x: Val, y: Val) -> Val:
        """``x`` where the condition holds, else ``y``."""
        result = Val(x.dtype, x.shape)
        self.line(
            result, " = stablehlo.select ", where, ", ", x, ", ", y, f" : {where.type}, {x.type}"
        )
        return result

    def convert(self, x: Val, dtype: np.dtype) -> Val:
        """StableHLO's own conversion."""
        return x if x.dtype == dtype else self.op("convert", [x], dtype, x.shape)

    def bits(self, x: Val, dtype: np.dtype) -> Val:
        """The bits of each element as another dtype of the same size."""
        return x if x.dtype == dtype else self.op("bitcast_convert", [x], dtype, x.shape)

    def constant(self, array: np.ndarray) -> Val:
        """An array that is known."""
        result = Val(array.dtype, array.shape)
        text = f"{dense(array)} : {result.type}"
        for block in reversed(self.blocks):
            if text in block.constants:
                return block.constants[text]
            if block.params:  # which reads nothing from outside
                break
        if array.size and array.tobytes() == array.reshape(-1)[:1].tobytes() * array.size:
            result.known = array.reshape(-1)[0]
        self.line(result, f" = stablehlo.constant {text}")
        self.blocks[-1].constants[text] = result
        return result

    def scalar(self, value: Any, dtype: np.dtype) -> Val:
        """A number of rank 0."""
        return self.constant(np.asarray(value).astype(dtype))

    def reduce(self, x: Val, start: Val, name: str, axes: Sequence[int]) -> Val:
        """What an operation makes of the elements along ``axes``."""
        shape = [size for axis, size in enumerate(x.shape) if axis not in axes]
        result = Val(x.dtype, shape)
        self.line(
            result, " = stablehlo.reduce(", x, " init: ", start, f") applies stablehlo.{name} ",
            f"across dimensions = {list(axes)} : ({x.type}, {start.type}) -> {result.type}",
        )  # fmt: skip
        return result

    # ------------------------------------------------------------ regions

    def region(self, params: Sequence[Val], body: Callable[..., Sequence[Val]]) -> Block:
        """A block whose results ``body`` gives."""
        with self.block(params) as made:
            self.give(body(*params))
        return made

    def body(self, params: Sequence[Val], body: Callable[..., Sequence[Val]]) -> Block:
        """A block whose parameters stand elsewhere."""
        with self.block() as made:
            self.give(body(*params))
        return made

    def loop(
        self,
        init: Sequence[Val],
        test: Callable[..., Val],
        body: Callable[..., Sequence[Val]],
        names: Sequence[str | None] = (),
    ) -> list[Val]:
        """``stablehlo.while``: ``body`` on what is carried as long as ``test`` of it holds."""
        names = names or [None] * len(init)
        carried = [Val(v.dtype, v.shape, name) for v, name in zip(init, names, strict=True)]
        results = [Val(v.dtype, v.shape) for v in init]
        tested = self.body(carried, lambda *state: [test(*state)])
        done = self.body(carried, body)
        pairs = [(param, " = ", value) for param, value in zip(carried, init, strict=True)]
        heads = [piece for pair in separated(pairs) for piece in (pair if pair != ", " else [pair])]
        types = ", ".join(value.type for value in init)
        self.line(
            *separated(results), " = stablehlo.while(", *heads, f") : {types} cond ", tested,
            " do ", done,
        )  # fmt: skip
        return results

    def branch(
        self, condition: Val, on_true: Callable[[], Sequence[Val]], on_false: Callable[[], Any]
    ) -> list[Val]:
        """``stablehlo.if``."""
        arms = [self.region([], on_true), self.region([], on_false)]
        given = arms[0].results
        results = [Val(value.dtype, value.shape) for value in given]
        if not results:
            return []
        self.line(
            *separated(results), ' = "stablehlo.if"(', condition, ") (", arms[0], ", ", arms[1],
            f") : ({condition.type}) -> ({', '.join(value.type for value in results)})",
        )  # fmt: skip
        return results


def signature_of(operands: Sequence[Val], results: Sequence[Val]) -> str:
    """``(tensor<3xf64>, tensor<f64>) -> tensor<3xf64>``; of no operands the result alone."""
    given = ", ".join(value.type for value in results)
    if not operands:
        return given
    given = given if len(results) == 1 else f"({given})"
    return f"({', '.join(value.type for value in operands)}) -> {given}"


def separated(items: Sequence[Any]) -> list[Any]:
    """The items with commas between them."""
    found: list[Any] = []
    for item in items:
        found += [", ", item] if found else [item]
    return found


# ---------------------------------------------------------------- text


class Namer:
    """Gives names to values that have none: ``%t.1``, ``%t.2``, … as they appear."""

    def __init__(self, taken: Set[str]) -> None:
        self.count = 0
        self.taken = taken

    def name(self, value: Val) -> str:
        if value.name is None:
            self.count += 1
            while f"t.{self.count}" in self.taken:
                self.count += 1
            value.name = f"t.{self.count}"
        return f"%{value.name}"


def pruned(block: Block, used: set[Val]) -> None:
    """Drop operations that nobody reads; ``used`` takes what the others read."""
    kept = []
    for pieces, loc in reversed(block.lines):
        results = _results_in(pieces)
        if results and used.isdisjoint(results):
            continue
        kept.append((pieces, loc))
        for piece in pieces:
            if isinstance(piece, Block):
                pruned(piece, used)
        used.update(p for p in pieces if isinstance(p, Val) and p not in results)
    block.lines = kept[::-1]


def _results_in(pieces: Sequence[Any]) -> list[Val]:
    """The values that an operation makes: those before its name."""
    results: list[Val] = []
    for piece in pieces:
        if isinstance(piece, Val):
            results.append(piece)
        elif piece != ", ":
            return results if " = " in piece[:3] else []
    return []


def written(block: Block, namer: Namer, depth: int) -> Iterator[str]:
    """The lines of a block and of those inside."""
    indent = "  " * depth
    for pieces, loc in block.lines:
        text = ""
        for piece in pieces:
            if isinstance(piece, Block):
                yield f"{indent}{text}{{"
                if piece.params:
                    params = ", ".join(f"{namer.name(v)}: {v.type}" for v in piece.params)
                    yield f"{indent}^bb0({params}):"
                yield from written(piece, namer, depth + 1)
                text = "}"
            else:
                text += namer.name(piece) if isinstance(piece, Val) else piece
        yield f"{indent}{text}{location(loc)}"
