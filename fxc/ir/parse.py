"""Reading the text form of graphs back; see ``fxc.ir.text`` for what it looks like.

The reader goes by the schemas: the kind of a parameter says what may stand there. Only line ends
matter, indentation does not; a comment that ends in ``file:line`` is the location of the node
that begins on its line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .atoms import AtomParser
from .graph import (
    STAGES,
    Arg,
    Graph,
    Literal,
    Node,
    Operand,
    Region,
    SliceSpec,
    Value,
)
from .schema import Param, Schema
from .signature import (
    ConstantLeaf,
    DimLeaf,
    InputLeaf,
    Mutation,
    OutputLeaf,
    ResultLeaf,
    Signature,
    ViewLeaf,
    ViewStep,
)
from .size_guards import Guard
from .symbols import symbol

SchemaOf = Callable[[str], Schema]

_RELATIONS = ("==", "!=", "<", "<=", ">", ">=")


def parse_graph(text: str, schema_of: SchemaOf) -> Graph:
    """The graph whose text form this is.

    ``schema_of`` gives the schema of an operator by name, and raises ``KeyError`` for an unknown
    one. Raises ``ParseError``, which shows the place, for text that is not well formed.
    """
    return _Parser(text, schema_of).graph()


class _Parser(AtomParser):
    """A recursive-descent parser; one method a construct of the text form."""

    def __init__(self, text: str, schema_of: SchemaOf) -> None:
        super().__init__(text)
        self.schema_of = schema_of
        self.values: dict[str, Value] = {}  # those that may be read here
        self.taken: set[str] = set()

    # The whole

    def graph(self) -> Graph:
        if self.next.kind == "line":
            self.at += 1
        self.known_symbols()
        token = self.next
        stage = next((s for s in STAGES if token.kind == "name" and token.text == s), None)
        if stage is None:
            self.fail("'captured', 'functional' or 'decomposed'")
        self.at += 1
        name = self.string() if self.next.kind == "string" else self.take("name", "a name").text
        self.expect("(")
        params = self.params()
        self.end_line()
        if self.accept("symbols"):  # read by known_symbols
            while self.next.kind != "line":
                self.at += 1
            self.end_line()
        guards = self.guards() if self.accept("guards") else ()
        body = Region(params, *self.body("return"))
        signature = self.signature(params) if self.accept("signature") else None
        self.take("end", "the end of the text")
        return Graph(name, stage, body, guards, signature)

    def known_symbols(self) -> None:
        """Read the ``symbols`` line ahead: the line before it uses the symbols."""
        begin = self.at
        while self.next.kind not in ("line", "end"):
            self.at += 1
        if self.next.kind == "line":
            self.at += 1
        if self.accept("symbols"):
            self.symbol_entry()
            while self.accept(","):
                self.symbol_entry()
            self.end_line()
        self.at = begin

    def symbol_entry(self) -> None:
        name = self.take("name", "a symbol").text
        value = lower = most = None
        if self.expect("=", ">=") == ">=":
            lower = self.integer()
        else:
            value = self.integer()
            if self.accept("("):
                self.expect(">=")
                lower = self.integer()
                if self.accept(","):
                    self.expect("<=")
                    most = self.dim()
                self.expect(")")
        self.symbols[name] = symbol(name, hint=value, lower=lower, most=most)

    def guards(self) -> tuple[Guard, ...]:
        found: list[Guard] = []
        while not found or self.accept(","):
            left = self.dim()
            relation = self.expect(*_RELATIONS)
            found.append(Guard(left, relation, self.dim()))
        self.end_line()
        return tuple(found)

    # Values, nodes, regions

    def params(self) -> tuple[Value, ...]:
        found = tuple(self.declaration() for _ in self.listed(")"))
        self.define(found)
        return found

    def define(self, values: Sequence[Value]) -> None:
        self.values.update((value.name, value) for value in values)

    def declaration(self) -> Value:
        token = self.take("value", "a value")
        name = token.text[1:]
        self.expect(":")
        value = Value(name, self.type())
        if name in self.taken:
            self.refuse(token, f"{token.text} is defined twice")
        self.taken.add(name)
        return value

    def body(self, end: str) -> tuple[tuple[Node, ...], tuple[Operand, ...]]:
        nodes: list[Node] = []
        while not self.accept(end):
            if self.next.kind not in ("value", "name"):
                self.fail(f"a node or {end!r}")
            nodes.append(self.node())
        results: list[Operand] = []
        while self.next.kind != "line":
            results.append(self.operand())
            if not self.accept(","):
                break
        self.end_line()
        return tuple(nodes), tuple(results)

    def node(self) -> Node:
        location = self.locations.get(self.next.line)
        outputs = self.declarations() if self.next.kind == "value" else ()
        schema = self.operator()
        args = self.arguments(schema.params)
        into = self.defined() if self.accept("into") else None
        self.end_line()
        self.define(outputs)
        return Node(schema, args, outputs, location, into)

    def declarations(self) -> tuple[Value, ...]:
        found = [self.declaration()]
        while self.accept(","):
            found.append(self.declaration())
        self.expect("=")
        return tuple(found)

    def operator(self) -> Schema:
        token = self.take("name", "an operator")
        try:
            return self.schema_of(token.text)
        except KeyError:
            self.refuse(token, f"there is no operator {token.text!r}")

    def region(self) -> Region:
        self.expect("{")
        self.end_line()
        self.expect("(")
        outer, self.values = self.values, dict(self.values)
        params = self.params()
        self.end_line()
        nodes, results = self.body("yield")
        self.values = outer
        self.expect("}")
        return Region(params, nodes, results)

    # Arguments

    def arguments(self, params: Sequence[Param]) -> tuple[Arg, ...]:
        args = []
        self.expect("(")
        for place, param in enumerate(params):
            if place:
                self.expect(",")
            args.append(self.argument(param))
        self.expect(")")
        return tuple(args)

    def argument(self, param: Param) -> Arg:
        if param.keyword:
            self.expect(param.name)
            self.expect("=")
        if param.optional and self.accept("None"):
            return None
        if not param.is_list:
            return self.item(param.kind)
        close = ")"
        if param.kind == "Slice" and self.accept("["):
            close = "]"
        else:
            self.expect("(")
        return tuple(self.item(param.kind) for _ in self.listed(close))

    def operand(self) -> Operand:
        if self.next.kind != "value":
            return Literal(self.scalar())
        return self.defined()

    def defined(self) -> Value:
        token = self.take("value", "a value")
        value = self.values.get(token.text[1:])
        if value is None:
            self.refuse(token, f"{token.text} is not defined here")
        return value

    def item(self, kind: str) -> Arg:
        match kind:
            case "Array" | "float":
                return self.operand()
            case "Sym":
                return self.dim()
            case "int":
                return self.integer()
            case "bool":
                return self.expect("True", "False") == "True"
            case "str":
                return self.string()
            case "DType":
                return self.dtype()
            case "Slice":
                return self.slice()
            case "Constant":
                return self.constant()
            case _:
                return self.region()

    def slice(self) -> SliceSpec:
        start = self.dim()
        self.expect(":")
        stop = self.dim()
        self.expect(":")
        return SliceSpec(start, stop, self.dim())

    # The boundary

    def signature(self, inputs: tuple[Value, ...]) -> Signature:
        self.end_line()
        numbers = {value.name: number for number, value in enumerate(inputs)}
        mutations: list[Mutation] = []
        outputs: list[OutputLeaf] = []
        while self.next.kind == "value":
            number = self.input(numbers)
            self.expect(":=")
            self.expect("result")
            mutations.append(Mutation(number, self.integer(), self.regions()))
            self.end_line()
        while self.accept("output"):
            token = self.next
            if self.integer() != len(outputs):
                self.refuse(token, f"expected output {len(outputs)}")
            self.expect("=")
            outputs.append(self.leaf(numbers))
            self.end_line()
        return Signature(tuple(mutations), tuple(outputs))

    def regions(self) -> tuple[tuple[ViewStep, ...], ...]:
        found: list[tuple[ViewStep, ...]] = []
        while self.accept("in"):
            found.append(self.steps())
        return tuple(found)

    def input(self, numbers: dict[str, int]) -> int:
        token = self.take("value", "an input")
        if token.text[1:] not in numbers:
            self.refuse(token, f"{token.text} is not an input")
        return numbers[token.text[1:]]

    def leaf(self, numbers: dict[str, int]) -> OutputLeaf:
        match self.expect("result", "input", "view", "dim", "constant"):
            case "result":
                return self.result_leaf()
            case "input":
                return InputLeaf(self.input(numbers))
            case "view":
                identity = self.integer()
                self.expect("of")
                kind = self.expect("input", "result")
                base = InputLeaf(self.input(numbers)) if kind == "input" else self.result_leaf()
                steps = self.steps() if self.accept("by") else ()
                return ViewLeaf(base, steps, identity)
            case "dim":
                return DimLeaf(self.dim())
            case _:
                return ConstantLeaf(self.plain_object())

    def result_leaf(self) -> ResultLeaf:
        number = self.integer()
        self.expect(":")
        return ResultLeaf(number, self.type())

    def steps(self) -> tuple[ViewStep, ...]:
        found: list[ViewStep] = []
        while not found or self.accept(","):
            schema = self.operator()
            found.append(ViewStep(schema.name, self.arguments(schema.params[1:])))
        return tuple(found)

    def plain_object(self) -> Any:
        if self.next.kind == "string":
            return self.string()
        if self.next.text == "<":
            self.refuse(self.next, "an object cannot be read from text")
        return None if self.accept("None") else self.scalar()
