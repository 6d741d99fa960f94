"""The text of a function as it grows: variables, and expressions that wait for their readers."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from fxc.ir.bounds import decide
from fxc.ir.errors import ExportError
from fxc.ir.graph import ArrayConstant, Graph, Literal, Node, Operand, Region, Value
from fxc.ir.location import SourceLocation
from fxc.ir.records import computed_once
from fxc.ir.types import (
    ArrayType,
    ScalarType,
    Type,
    is_c_contiguous,
    ordered_strides,
    stride_order,
)
from fxc.ops.kernels import copies

from .code import ATOM, Code, call, number
from .constants import constant_code
from .helpers import Helpers
from .lines import INDENT, WIDTH, laid_out, with_comment
from .memory import Memory
from .naming import Names, wishes, word_for
from .operators import is_array
from .special import NodeExpressions
from .uses import Uses
from .views import View

_NOTHING = Code("")
_SHORT = 60  # characters of an expression that may stand inside of another


class Writer(ABC):
    """What is written so far, and what stands for values in it.

    ``code_of`` holds what stands for values: variables, mostly. ``pending`` are expressions that
    wait for the statement that reads them; before a statement changes what they read, they get
    variables.
    """

    def __init__(self, graph: Graph, memory: Memory, names: Names, helpers: Helpers) -> None:
        self.graph = graph
        self.memory = memory
        self.names = names
        self.helpers = helpers
        self.uses = Uses(graph, memory.stays)
        self.wishes = wishes(graph)
        self.expressions = NodeExpressions(self)
        self.code_of: dict[Operand, Code] = {}
        self.pending: dict[Value, Code] = {}
        self.views: dict[Operand, View] = {}  # pending ones
        self.sums: dict[Operand, tuple[Code, str, Code]] = {}  # of pending ``left sign right``
        self.fills: dict[Operand, Code] = {}  # what fills an array as pending ones do
        self.symbols: dict[str, Code] = {}
        self.tables: dict[ArrayConstant, str] = {}
        self.lines: list[str] = []
        self.level = 1
        self.held: dict[str, Value] = {}  # what variables hold now
        self.counters: set[str] = set()  # variables of loops that count
        self.counting: set[str] = set()  # those of the loops around
        self.done: set[Node | Region] = set()  # nodes whose readings are over
        self.shown: str | None = None  # the line of the user's that was told last

    # ------------------------------------------------------------ expressions

    def operand(self, operand: Operand) -> Code:
        """What stands for an operand here."""
        found = self.uses.resolve(operand)
        if isinstance(found, Literal):
            return number(found.value)
        if found in self.pending:
            return self.pending[found]
        return self.code_of[found]

    def known(self, symbol: str) -> Code:
        found = self.symbols.get(symbol)
        if found is None:
            raise ExportError(f"nothing tells the size {symbol}")
        return found

    def helper(self, node: Node) -> str:
        name = self.helpers.of_operator(node.op)
        if name is None:
            raise ExportError(f"NumPy has nothing for {node.op}")
        return name

    def taken(self, function: Callable[..., Any]) -> str:
        """The name of a function of fxc that the module takes along."""
        name = self.helpers.take(function)
        if name is None:
            raise ExportError(f"the source of {function.__name__} cannot be taken along")
        return name

    def constant(self, value: ArrayConstant) -> Code:
        return constant_code(value, self.tables, self.names)

    def is_variable(self, value: Operand) -> bool:
        return value in self.code_of and self.code_of[value].text.isidentifier()

    def is_truth(self, value: Operand) -> bool:
        """Whether a value only says yes or no."""
        return value in self.uses.truths

    @computed_once
    def input_names(self) -> set[str]:
        """The variables of arrays that the caller has: they keep them."""
        return {self.code_of[value].text for value in self.graph.inputs if is_array(value)}

    def symbol_is_read(self, name: str, node: Node | None = None) -> bool:
        """Whether sizes that others than ``node`` read are made of the variable."""
        return any(
            self.uses.symbols.get(symbol, 0) > 0
            or any(
                user is not node
                for value in self.uses.numbers[symbol]
                for user, _ in self.uses.uses[value]
            )
            for symbol, code in self.symbols.items()
            if re.search(rf"\b{name}\b", code.text)
        )

    # ------------------------------------------------------------ statements

    def emit(self, lines: list[str], loc: SourceLocation | None) -> None:
        """Add the lines of a statement, with the user's line if it is another than before."""
        in_file = loc is not None and not loc.file.startswith("<")
        comment = str(loc) if in_file and str(loc) != self.shown else None
        if comment is not None:
            self.shown = comment
        self.lines += with_comment(lines, comment)

    def statement(self, before: str, code: Code, loc: SourceLocation | None) -> None:
        self.emit(laid_out(self.level, before, code.parts, code.text), loc)

    def assign(self, value: Value, code: Code, loc: SourceLocation | None, wish: str) -> str:
        """A variable for a value."""
        name = self.name_for(value, wish)
        self.statement(f"{name} = ", code, loc)
        self.hold(value, name)
        return name

    def name_for(self, value: Value, wish: str) -> str:
        """A free name, or that of a variable whose value nobody reads any more."""
        word = self.wishes.get(value, wish)
        held = self.held.get(word)
        if held is None or value not in self.wishes or not self.is_over(held, value):
            return self.names.free(word)
        self.settle(lambda read: self.code_of.get(read, _NOTHING).text == word, [value])
        return word

    def is_over(self, held: Value, value: Value) -> bool:
        """Whether the variable of a value may hold another one from here on."""
        name = self.code_of[held].text
        if name in self.input_names or self.symbol_is_read(name):
            return False
        if self.uses.region_of[held] is not self.uses.region_of[value]:
            return False
        maker = self.uses.makers[value]
        return all(user is maker or user in self.done for user, _ in self.uses.uses[held])

    def hold(self, value: Value, name: str) -> None:
        self.code_of[value] = Code(name, reads=frozenset({value}))
        self.held[name] = value
        self.drop(value)
        kind = value.type
        if isinstance(kind, ScalarType) and kind.weak and kind.dtype.kind == "i":
            self.symbols.setdefault(value.name, self.code_of[value])

    def drop(self, value: Value) -> None:
        self.pending.pop(value, None)
        self.views.pop(value, None)
        self.sums.pop(value, None)
        self.fills.pop(value, None)

    def variable(self, operand: Operand, wish: str | None = None) -> str:
        """The name of a variable that holds the operand."""
        found = self.uses.resolve(operand)
        if isinstance(found, Value) and found in self.pending:
            maker = self.uses.makers[found]
            word = wish or word_for(maker)
            return self.assign(found, self.pending[found], maker.loc, word)
        return self.operand(found).text

    def settle(self, hurt: Callable[[Value], bool], kept: Iterable[Operand] = ()) -> None:
        """Give variables to pending expressions that read what a statement is about to change."""
        stays = {self.uses.resolve(each) for each in kept}
        for value in list(self.pending):
            waits = value in self.pending and value not in stays
            if waits and any(map(hurt, self.pending[value].reads)):
                self.variable(value)

    def fitted(
        self, make: Callable[[], Code | None], inputs: Iterable[Operand], room: int
    ) -> Code | None:
        """An expression in so many characters, if variables for its operands make it that short."""
        found = [self.uses.resolve(each) for each in inputs]
        values = [each for each in found if isinstance(each, Value)]
        while True:
            code = make()
            waiting = [v for v in values if v in self.pending and len(self.pending[v].text) > 9]
            if code is None or len(code.text) <= room or not waiting:
                return code
            self.variable(max(waiting, key=lambda v: len(self.pending[v].text)))

    def read_by(self, node: Node) -> list[Operand]:
        """What the text of a node reads."""
        mask = self.uses.masks.get(node)
        return [*node.inputs, *([mask] if mask is not None else [])]

    def consume(self, inputs: Iterable[Operand]) -> None:
        for each in inputs:
            found = self.uses.resolve(each)
            if isinstance(found, Value):
                self.drop(found)

    def may_wait(self, out: Value, code: Code) -> bool:
        """Whether an expression may stand where it is read."""
        if not self.uses.is_read_once(out) or self.uses.makers[out].bound is not None:
            return False
        user = self.uses.uses[out][0][0]
        if isinstance(user, Region) and user is not self.graph.body:  # it gets a variable there
            return len(code.text) <= WIDTH - 20 - len(INDENT) * self.level
        return out not in self.wishes and len(code.text) <= _SHORT

    def offer(self, node: Node, code: Code) -> None:
        """An expression for the only result of a node, now or where it is read."""
        if self.may_wait(node.output, code):
            self.pending[node.output] = code
        else:
            self.assign(node.output, code, node.loc, "result")

    def copied_code(self, code: Code, kind: Type) -> Code:
        """A copy that lies as the type says, gaps and all: see ``kernels.copies``."""
        assert isinstance(kind, ArrayType)
        lies_over_itself = any(
            step == 0 and dim != 1 for step, dim in zip(kind.strides, kind.shape, strict=True)
        )
        is_row = kind.rank == 1 and decide(kind.strides[0], ">", 0) is True
        if is_c_contiguous(kind) or is_row or lies_over_itself:
            return Code(f"{code.within(ATOM)}.copy()", reads=code.reads)
        order = stride_order(kind)
        if ordered_strides(kind.shape, order, kind.dtype.itemsize) == kind.strides:
            return Code(f'{code.within(ATOM)}.copy(order="K")', reads=code.reads)
        return call(self.taken(copies.strided_copy), [code])

    @abstractmethod
    def region(self, region: Region) -> None:
        """Write the statements of a region; expressions of its results may be pending."""

    @abstractmethod
    def gather(self, node: Node) -> Code | None:
        """Elements at computed places; None if NumPy has no index that gives them so."""
