"""The text form of graphs: what it looks like, and that it reads back as the same graph."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from expecttest import TestCase
from hypothesis import given
from hypothesis import strategies as st

from fxc.ir.builder import GraphBuilder
from fxc.ir.errors import ParseError
from fxc.ir.graph import ArrayConstant, Graph, Literal, Node, Region, SliceSpec, Value
from fxc.ir.location import SourceLocation
from fxc.ir.parse import parse_graph
from fxc.ir.schema import Schema, parse_schema
from fxc.ir.signature import (
    ConstantLeaf,
    DimLeaf,
    InputLeaf,
    Mutation,
    ResultLeaf,
    Signature,
    ViewLeaf,
    ViewStep,
)
from fxc.ir.size_functions import floordiv, maximum, minimum, mod, substitute
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import symbol, symbols_of
from fxc.ir.text import dims_of
from fxc.ir.types import DTYPE_NAMES, ArrayType, ScalarType, array_type
from fxc.ops.table import TABLE

F64 = np.dtype("f8")
PY_INT = ScalarType(np.dtype("i8"), weak=True)
ODD = parse_schema("odd(Slice one, Slice[]? many, Sym? dim, Array? x, Array[] xs) -> ()")


def schema_of(name: str) -> Schema:
    return ODD if name == "odd" else TABLE[name].schema


def key(part: Any) -> Any:
    """A graph as nested tuples that are equal for equal graphs: names, types, hints, places."""
    match part:
        case Value(name=name, type=kind):
            return ("value", name, kind)
        case Node():
            place = None if part.loc is None else str(part.loc)
            return (part.schema, key(part.args), key(part.outputs), place)
        case Region():
            return (key(part.params), key(part.nodes), key(part.results))
        case Graph():
            symbols = {s for dim in dims_of(part) for s in symbols_of(dim).values()}
            known = {(s.name, s.hint, s.lower) for s in symbols}
            head = (part.name, part.stage, part.guards, frozenset(known))
            return (*head, key(part.body), key(part.signature))
        case tuple():
            return tuple(map(key, part))
        case Signature(mutations, outputs):
            return (mutations, tuple(map(key, outputs)))
        case ConstantLeaf(value):
            return ("constant", type(value), repr(value))
        case int() | str() | np.dtype() | None | Literal() | SliceSpec() | ArrayConstant():
            return (type(part).__name__, part)
        case _:
            return part


def graphs_equal(left: Graph, right: Graph) -> bool:
    return key(left) == key(right)


def assert_reads_back(graph: Graph) -> Graph:
    text = str(graph)
    again = parse_graph(text, schema_of)
    assert str(again) == text
    assert graphs_equal(again, graph)
    return again


class Draft:
    """A builder that takes operators by name."""

    def __init__(self) -> None:
        self.builder = GraphBuilder()
        self.inputs: list[Value] = []

    def input(self, name, kind):
        self.inputs.append(self.builder.value(kind, name))
        return self.inputs[-1]

    def op(self, name, *args, types=(), line=0):
        place = SourceLocation("src/heat.py", line, "relax") if line else None
        found = self.builder.add(schema_of(name), args, types, place)
        return found[0] if len(found) == 1 else found

    def region(self, params, body, first=()):
        with self.builder.region():
            values = [self.builder.value(kind, name) for name, kind in params]
            return self.builder.finish(values, body(*values))

    def graph(self, *results, stage="functional", guards=(), signature=None, name="f"):
        body = Region(tuple(self.inputs), self.builder.nodes, results)
        return Graph(name, stage, body, guards, signature)


def relax() -> Graph:
    """The functional graph of the walkthrough, more or less."""
    n, m = symbol("n", hint=4, lower=2), symbol("m", hint=5, lower=2)
    whole, inner = array_type(F64, [n, m]), array_type(F64, [n - 2, m - 2])
    d = Draft()
    u, f = d.input("u", whole), d.input("f", inner)
    steps = d.input("steps", PY_INT)

    def body(k, a, e):
        at = (SliceSpec(1, n - 1, 1), SliceSpec(1, m - 1, 1))
        view = d.op("slice_copy", a, at, types=[inner], line=5)
        new = d.op("multiply", Literal(0.25), f, types=[inner], line=6)
        gap = d.op("subtract", new, view, types=[inner], line=7)
        err = d.op("max", gap, None, False, types=[ScalarType(F64)], line=7)
        return d.op("slice_scatter", a, new, at, types=[whole], line=8), err

    start = Literal(np.float64(0.0))
    region = d.region([("k", PY_INT), ("a", whole), ("e", start.type)], body)
    u1, err = d.op(
        "fori_loop",
        Literal(0),
        steps,
        (u, start),
        region,
        False,
        types=[whole, ScalarType(F64)],
        line=4,
    )
    signature = Signature(
        (Mutation(0, 0),),
        (
            ResultLeaf(1, ScalarType(F64)),
            ViewLeaf(InputLeaf(0), (ViewStep("select", (0, 0)),), 0),
        ),
    )
    guards = (Guard(n, ">=", 3),)
    return d.graph(u1, err, guards=guards, signature=signature, name="relax")


class TestText(TestCase):
    def test_a_functional_graph(self):
        self.assertExpectedInline(
            str(relax()),
            """\
functional relax(%u: f64[n, m], %f: f64[n - 2, m - 2], %steps: py.int)
  symbols n = 4 (>= 2), m = 5 (>= 2)
  guards n >= 3
  %5: f64[n, m], %6: f64 = fori_loop(0, %steps, (%u, f64(0.0)), body={          # heat.py:4
    (%k: py.int, %a: f64[n, m], %e: f64)
    %0: f64[n - 2, m - 2] = slice_copy(%a, [1:n - 1:1, 1:m - 1:1])              # heat.py:5
    %1: f64[n - 2, m - 2] = multiply(0.25, %f)                                  # heat.py:6
    %2: f64[n - 2, m - 2] = subtract(%1, %0)                                    # heat.py:7
    %3: f64 = max(%2, axis=None, keepdims=False)                                # heat.py:7
    %4: f64[n, m] = slice_scatter(%a, %1, [1:n - 1:1, 1:m - 1:1])               # heat.py:8
    yield %4, %3
  }, stops=False)
  return %5, %6
  signature
    %u := result 0
    output 0 = result 1: f64
    output 1 = view 0 of input %u by select(0, 0)""",
        )

    def test_a_captured_graph(self):
        n, s = symbol("x.0", hint=9, lower=2), symbol("x.s0", hint=16)
        d = Draft()
        x = d.input("x", ArrayType(F64, (n,), (s,)))
        y = d.input("y", dataclasses.replace(array_type(np.dtype("f4"), [2 * n]), writeable=False))
        view = d.op(
            "slice",
            x,
            (SliceSpec(n - 1, -1, -2),),
            types=[ArrayType(F64, (floordiv(n + 1, 2),), (-2 * s,))],
        )
        d.op("copy_", view, Literal(1), "same_kind", line=3)
        d.op("add.out", x, y, x)
        self.assertExpectedInline(
            str(d.graph(stage="captured", name="<lambda>")),
            """\
captured '<lambda>'(%x: f64[x.0]{x.s0}, %y: f32[2*x.0] ro)
  symbols x.0 = 9 (>= 2), x.s0 = 16
  %0: f64[floordiv(x.0 + 1, 2)]{-2*x.s0} = slice(%x, [x.0 - 1:-1:-2])
  copy_(%0, 1, casting='same_kind')                                             # heat.py:3
  add.out(%x, %y, out=%x)
  return""",
        )

    def test_both_arms_of_a_condition(self):
        kind = array_type(F64, [3])
        d = Draft()
        x, p = d.input("x", kind), d.input("p", ScalarType(np.dtype(bool)))
        yes = d.region([("a", kind)], lambda a: [d.op("negative", a, types=[kind], line=3)])
        no = d.region([("b", kind)], lambda b: [b])
        y = d.op("cond", p, (x,), yes, no, types=[kind], line=2)
        self.assertExpectedInline(
            str(assert_reads_back(d.graph(y))),
            """\
functional f(%x: f64[3], %p: bool)
  %1: f64[3] = cond(%p, (%x,), on_true={                                        # heat.py:2
    (%a: f64[3])
    %0: f64[3] = negative(%a)                                                   # heat.py:3
    yield %0
  }, on_false={
    (%b: f64[3])
    yield %b
  })
  return %1""",
        )

    def test_an_error_shows_the_place(self):
        text = "functional f(%x: f64[3])\n  %0: f64[3] = negative(%y)\n  return %0\n"
        with pytest.raises(ParseError) as caught:
            parse_graph(text, schema_of)
        self.assertExpectedInline(
            str(caught.value),
            """\
FXC0204: line 2, column 25: %y is not defined here
  %0: f64[3] = negative(%y)
                        ^""",
        )

    def test_large_constants(self):
        d = Draft()
        data = np.arange(20, dtype="i2")
        y = d.op("constant", ArrayConstant.of(data), types=[array_type(data.dtype, [20])])
        self.assertExpectedInline(
            str(assert_reads_back(d.graph(y))),
            """\
functional f()
  %0: i16[20] = constant(i16[20] base64 'AAABAAIAAwAEAAUABgAHAAgACQAKAAsADAANAA4ADwAQABEAEgATAA==')
  return %0""",
        )


def test_the_walkthrough_reads_back():
    again = assert_reads_back(relax())
    (loop,) = again.nodes
    assert loop.loc == SourceLocation("heat.py", 4, "")
    (symbol_n,) = symbols_of(again.inputs[0].type.shape[0]).values()
    assert (symbol_n.hint, symbol_n.lower) == (4, 2)


def test_equality_is_exact():
    graph = relax()
    assert graphs_equal(graph, relax())
    for old, new in [
        ("n = 4", "n = 5"),
        ("m = 5 (>= 2)", "m = 5"),
        ("heat.py:5", "heat.py:6"),
        ("0.25", "0.5"),
        ("%f", "%g"),
        ("n - 1:1", "n - 1:2"),
        ("select(0, 0)", "select(0, 1)"),
        ("functional", "decomposed"),
    ]:
        assert old in str(graph)
        assert not graphs_equal(graph, parse_graph(str(graph).replace(old, new), schema_of)), old


def test_static_arguments_read_back():
    n = symbol("n", hint=7)
    d = Draft()
    x = d.input("x", array_type(F64, [n, 1]))
    axis = SliceSpec(0, n, 1)
    d.op("odd", axis, (axis, SliceSpec(n - 1, -1, -1)), n * n - 3, None, (), line=1)
    d.op("odd", axis, (), None, x, (x,))
    d.op("odd", axis, None, -1, Literal(2), (x, Literal(True), x))
    d.op("zeros", (n, 2), F64, None, types=[array_type(F64, [n, 2])])
    d.op("zeros", (), np.dtype(bool), (), types=[array_type(np.dtype(bool), [])])
    d.op(
        "zeros", (mod(n, 3),), np.dtype("c8"), (0,), types=[array_type(np.dtype("c8"), [mod(n, 3)])]
    )
    d.op("linspace", Literal(0), Literal(1), 5, False, F64, types=[array_type(F64, [5])])
    d.op("modf", x, types=[x.type, x.type])
    d.op("astype", x, F64, 'it\'s "#" \\ \n%x', "K", types=[x.type])
    assert_reads_back(d.graph())


def test_types_read_back():
    n = symbol("n", hint=7, lower=2)
    kinds = [ScalarType(dtype) for dtype in DTYPE_NAMES]
    kinds += [ScalarType(np.dtype(code), weak=True) for code in ("?", "i8", "f8", "c16")]
    kinds += [array_type(dtype, [2, n]) for dtype in DTYPE_NAMES]
    kinds += [
        array_type(F64, []),
        array_type(F64, [0, n]),
        ArrayType(F64, (n, 3), (8, 8 * n), writeable=False),
        ArrayType(F64, (n, 3), (0, -8)),
        array_type(F64, [n + floordiv(n, 2), minimum(n, symbol("k")), maximum(n - 5, 0)]),
    ]
    d = Draft()
    for number, kind in enumerate(kinds):
        d.input(f"x{number}", kind)
    assert_reads_back(d.graph())


def test_boundaries_read_back():
    n = symbol("n", hint=7)
    kind = array_type(F64, [n])
    d = Draft()
    x, _ = d.input("x", kind), d.input("output", kind)
    step = ViewStep("slice", ((SliceSpec(0, n - 1, 1),),))
    leaves = (
        ResultLeaf(0, kind),
        ResultLeaf(0, ArrayType(F64, (n,), (8,), writeable=False)),
        InputLeaf(1),
        ViewLeaf(InputLeaf(0), (step, ViewStep("select", (0, n - 2))), 0),
        ViewLeaf(ResultLeaf(0, kind), (step,), 1),
        ViewLeaf(InputLeaf(1), (ViewStep("slice", ((),)),), 2),
        ViewLeaf(InputLeaf(1), (), 3),
        DimLeaf(n * 2),
        DimLeaf(3),
        *map(ConstantLeaf, [None, "a'b\n", True, -3, 0.1, 1j, np.float32(0.1), float("nan")]),
    )
    signature = Signature((Mutation(1, 0), Mutation(0, 0)), leaves)
    assert_reads_back(d.graph(x, signature=signature))
    assert_reads_back(d.graph(x, signature=Signature()))


def test_an_object_that_is_returned_is_shown_but_not_read():
    d = Draft()
    graph = d.graph(signature=Signature((), (ConstantLeaf(np),)))
    assert "output 0 = constant <module>" in str(graph)
    with pytest.raises(ParseError, match="an object cannot be read from text"):
        parse_graph(str(graph), schema_of)


@pytest.mark.parametrize(
    "stem, text",
    [
        ("int", "0"),
        ("int", "-12"),
        ("bool", "False"),
        ("float", "0.1"),
        ("float", "-inf"),
        ("float", "nan"),
        ("float", "nan(0xfff8000000000000)"),
        ("float", "1e-300"),
        ("complex", "complex(-0.0, nan)"),
        ("bool", "bool(True)"),
        ("int8", "i8(-128)"),
        ("uint64", "u64(18446744073709551615)"),
        ("float16", "f16(nan(0x7e01))"),
        ("float32", "f32(0.1)"),
        ("float32", "f32(1.0e+20)"),
        ("complex64", "c64(1.0, -inf)"),
    ],
)
def test_scalars_as_text(stem, text):
    head = "functional f()\n  return "
    graph = parse_graph(head + text, schema_of)
    assert str(graph) == head + text
    (literal,) = graph.outputs
    assert type(literal.value).__name__ == stem


def literals_of(dtype: np.dtype) -> st.SearchStrategy[Literal]:
    raw = st.binary(min_size=dtype.itemsize, max_size=dtype.itemsize)
    if dtype.kind == "b":
        raw = st.sampled_from([b"\0", b"\1"])
    return raw.map(lambda bits: Literal(np.frombuffer(bits, dtype)[0]))


@given(
    st.one_of(
        *map(literals_of, DTYPE_NAMES),
        st.builds(
            Literal, st.one_of(st.booleans(), st.integers(), st.floats(), st.complex_numbers())
        ),
    )
)
def test_scalars_keep_their_bits(literal):
    again = assert_reads_back(Draft().graph(literal))
    assert again.outputs == (literal,)


@pytest.mark.parametrize("dtype", DTYPE_NAMES, ids=DTYPE_NAMES.get)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (0, 2), (2, 0), (40,)], ids=str)
def test_constants_keep_their_bits(dtype, shape):
    rng = np.random.default_rng(1)
    count = int(np.prod(shape))
    data = rng.integers(0, 2 if dtype.kind == "b" else 256, count * dtype.itemsize, np.uint8)
    constant = ArrayConstant(dtype, shape, data.tobytes())
    d = Draft()
    d.op("constant", constant, types=[array_type(dtype, shape)])
    assert_reads_back(d.graph())


def test_odd_booleans_keep_their_bits():
    d = Draft()
    constant = ArrayConstant(np.dtype(bool), (2,), b"\2\1")
    d.op("constant", constant, types=[array_type(constant.dtype, [2])])
    assert_reads_back(d.graph())


def test_layout_of_the_text_does_not_matter():
    text = str(relax())
    lines = [line.strip() for line in text.splitlines()]
    assert str(parse_graph("\n\n" + "\n# a remark\n\n".join(lines), schema_of)) == text


def test_a_long_graph_reads_back():
    d = Draft()
    x = d.input("x", array_type(F64, [3]))
    for _ in range(3000):
        x = d.op("negative", x, types=[x.type])
    assert_reads_back(d.graph(x))


def test_a_broken_graph_prints():
    kind = ScalarType(np.dtype("U3"))
    node = Node(TABLE["negative"].schema, (1.5, [2]), (Value("0", kind),))
    leaf = InputLeaf(7)
    graph = Graph(
        "f", "functional", Region((), (node,), ()), (), Signature((Mutation(3, 9),), (leaf,))
    )
    assert "%0: '<U3' = negative(1.5, [2])" in str(graph)
    assert "<3> := result 9" in str(graph)
    assert "output 0 = input <7>" in str(graph)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "line 1, column 1: expected 'captured', 'functional' or 'decomposed', found the end of the text"),
        ("pure f()\n return", "line 1, column 1: expected 'captured', 'functional' or 'decomposed', found 'pure'"),
        ("functional f(", "line 1, column 14: expected a value, found the end of the line"),
        ("functional f(%x: f63)", "line 1, column 18: expected a dtype, found 'f63'"),
        ("functional f(%x: py.str)", "line 1, column 18: expected a type, found 'py.str'"),
        ("functional f(%x: f64[n m])", "line 1, column 24: expected ']', found 'm'"),
        ("functional f(%x: f64[3]{8, 8})", "line 1, column 24: 2 strides for 1 dims"),
        ("functional f(%x: f64[abs(n, 1)])", "expected floordiv, mod, min, max, found 'abs'"),
        ("functional f(%x: f64, %x: f64)", "line 1, column 23: %x is defined twice"),
        ("functional f()\nguards n ! 3", "line 2, column 10: unexpected character '!'"),
        ("functional f()\nguards n + 3", "expected '==' or '!=' or '<' or '<=' or '>' or '>=', found the end of the line"),
        ("functional f()\nsymbols n = m", "line 2, column 13: expected an int, found m"),
        ("functional f()\n(", "line 2, column 1: expected a node or 'return', found '('"),
        ("functional f()\n%0: f64 = frob()\nreturn", "line 2, column 11: there is no operator 'frob'"),
        ("functional f()\nreturn %0", "line 2, column 8: %0 is not defined here"),
        ("functional f()\n%0: f64 = negative(%0)\nreturn", "line 2, column 20: %0 is not defined here"),
        ("functional f()\n%0: f64 = add(1.0)\nreturn", "line 2, column 18: expected ',', found ')'"),
        ("functional f()\n%0: f64 = add(1.0, foo)\nreturn", "expected an operand or a number, found 'foo'"),
        ("functional f()\n%0: f64 = sum(1.0, None)\nreturn", "line 2, column 20: expected 'axis', found 'None'"),
        ("functional f()\n%0: f64 = sum(1.0, axis=n)\nreturn", "line 2, column 25: expected '(', found 'n'"),
        ("functional f()\n%0: f64 = transpose(1.0, (n,))\nreturn", "line 2, column 27: expected an int, found n"),
        ("functional f()\n%0: f64 = negative(1.0", "line 2, column 23: expected ')', found the end of the line"),
        ("functional f()\n%0: f64 = slice(1.0, [1:2])\nreturn", "line 2, column 26: expected ':', found ']'"),
        ("functional f()\n%0: i8 = negative(i8(300))\nreturn", "line 2, column 22: 300 does not fit"),
        ("functional f()\n%0: f64 = negative(nan(0x12345678123456789))", "expected the bits of a NaN"),
        ("functional f()\n%0: i8 = constant(i8[3] [1, 2])\nreturn", "line 2, column 25: these are 2 bytes"),
        ("functional f()\n%0: i8 = constant(i8[3] base64 'x')\nreturn", "not base64"),
        ("functional f()\nreturn\nreturn", "line 3, column 1: expected the end of the text, found 'return'"),
        ("functional f()\nreturn\nsignature\n%x := result 0", "line 4, column 1: %x is not an input"),
        ("functional f()\nreturn\nsignature\noutput 1 = dim 3", "line 4, column 8: expected output 0"),
    ],
)  # fmt: skip
def test_malformed_text(text, message):
    with pytest.raises(ParseError) as caught:
        parse_graph(text, schema_of)
    assert message in str(caught.value)


def test_a_value_of_a_region_is_not_read_outside_it():
    lines = str(relax()).splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("  return"))
    lines[place] = "  return %a"
    with pytest.raises(ParseError, match="%a is not defined here"):
        parse_graph("\n".join(lines), schema_of)


def test_substituted_dims_print_in_normal_form():
    n, m = symbol("n"), symbol("m")
    dim = substitute(floordiv(n * m + 1, 2), {"n": m})
    assert str(dim) == "floordiv(m*m + 1, 2)"
