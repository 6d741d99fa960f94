"""The verifier: each thing that it checks, on a graph that breaks it."""

import dataclasses

import numpy as np
import pytest
from expecttest import TestCase

from fxc.ir.errors import InternalError, VerificationError
from fxc.ir.fitting import fits
from fxc.ir.graph import ArrayConstant, Graph, Literal, Node, Region, SliceSpec, Value
from fxc.ir.parse import parse_graph
from fxc.ir.same_dims import SameDims
from fxc.ir.schema import parse_schema
from fxc.ir.signature import ConstantLeaf, InputLeaf, Mutation, ResultLeaf, Signature, ViewLeaf
from fxc.ir.size_guards import Guard
from fxc.ir.symbols import symbol
from fxc.ir.types import array_type
from fxc.ir.verify import problems, verify
from fxc.ops.table import TABLE

F64 = np.dtype("f8")
ROW = array_type(F64, [3])
EMPTY = Signature()

GOOD = """
functional relax(%u: f64[n, m], %f: f64[n - 2, m - 2], %steps: py.int)
  symbols n = 4 (>= 2), m = 5 (>= 2)
  guards n >= 3
  %5: f64[n, m], %6: f64 = fori_loop(0, %steps, (%u, f64(0.0)), body={
    (%k: py.int, %a: f64[n, m], %e: f64)
    %0: f64[n - 2, m - 2] = slice_copy(%a, [1:n - 1:1, 1:m - 1:1])
    %1: f64[n - 2, m - 2] = multiply(0.25, %f)
    %2: f64[m] = select_copy(%u, 0, k)
    %3: f64 = max(%0, axis=None, keepdims=False)
    %4: f64[n, m] = slice_scatter(%a, %1, [1:n - 1:1, 1:m - 1:1])
    yield %4, %3
  }, stops=False)
  return %5, %6
  signature
    %u := result 0
    output 0 = result 1: f64
    output 1 = view 0 of input %u by select(0, steps)
    output 2 = dim n + steps
"""

CAPTURED = """
captured f(%x: f64[n], %r: f64[3] ro, %s: f64)
  %0: f64[n - 1] = slice(%x, [0:n - 1:1])
  copy_(%0, 1.0, casting='same_kind')
  add.out(%0, %0, out=%0)
  %1: f64[3], %2: f64[3] = modf(%r)
  return %0
"""


def schema_of(name):
    return TABLE[name].schema


def parsed(text):
    return parse_graph(text, schema_of)


def messages(graph, **options):
    return [str(p) for p in problems(graph, table=schema_of, **options)]


def function(*nodes, inputs=(), results=(), stage="functional", signature=EMPTY):
    return Graph("f", stage, Region(inputs, nodes, results), (), signature)


def test_good_graphs_have_no_problems():
    assert messages(parsed(GOOD)) == []
    assert messages(parsed(CAPTURED)) == []
    assert messages(parsed(GOOD.replace("functional", "decomposed"))) == []


@pytest.mark.parametrize(
    "old, new, message",
    [
        # symbols
        ("select_copy(%u, 0, k)", "select_copy(%u, 0, j)", "the symbol j is not defined here"),
        ("%2: f64[m]", "%2: f64[j]", "the symbol j is not defined here"),
        ("select(0, steps)", "select(0, k)", "the symbol k is not defined here"),
        ("dim n + steps", "dim j", "the symbol j is not defined here"),
        ("%f: f64[n - 2, m - 2]", "%f: f64[n - 2, i - 2]", "the symbol i is not defined here"),
        # regions
        ("yield %4, %3", "yield %4", "1 results, the node has 2"),
        ("yield %4, %3", "yield %0, %3", "%0 is f64[n - 2, m - 2], %5 is f64[n, m]"),
        ("yield %4, %3", "yield %4, 0.0", "0.0 is py.float, %6 is f64"),
        ("yield %4, %3", "yield %4, f32(0.0)", "f32(0.0) is f32, %6 is f64"),
        ("%6: f64 ", "%6: f64[] ", "%3 is f64, %6 is f64[]"),
        ("(%k: py.int, %a: f64[n, m], %e: f64)", "(%k: py.int, %a: f64[n, m], %e: f32)", "%e is f32, f64(0.0) is f64"),
        ("%e: f64)", "%e: f64, %z: f64)", "a region takes 4 values, (%u, f64(0.0)) are given"),
        # the signature
        ("%u := result 0", "%u := result 2", "there is no result number 2"),
        ("%u := result 0", "%f := result 0", "the new content is f64[n, m], the input f64[n - 2, m - 2]"),
        ("%u := result 0", "%u := result 1", "the new content is f64, the input f64[n, m]"),
        ("%u := result 0", "%steps := result 0", "only arrays can be updated"),
        ("%u := result 0", "%u := result 0\n%u := result 0", "the input is updated twice"),
        ("result 1: f64\n", "result 7: f64\n", "there is no result number 7"),
        ("result 1: f64\n", "result 1: f32\n", "result 1 is f64"),
        ("by select(", "by select_copy(", "select_copy does not give a view"),
        ("by select(0, steps)", "by transpose((1, 0))", None),
        ("output 2 = dim n + steps", "output 2 = view 0 of input %f", "view 0 is two different views"),
        ("output 2 = dim n + steps", "output 2 = view 0 of input %u by select(0, steps)", None),
        # the stage
        ("slice_copy(", "slice(", "slice gives a view, and the graph is functional"),
        ("%2: f64[m] = select_copy(%u, 0, k)", "absolute_(%u)", "absolute_ writes, and the graph is functional"),
    ],
)  # fmt: skip
def test_a_functional_graph_with_a_problem(old, new, message):
    assert old in GOOD
    found = messages(parsed(GOOD.replace(old, new)))
    assert (message in found) if message else found == []


@pytest.mark.parametrize(
    "old, new, found",
    [
        ("copy_(%0,", "copy_(%r,", ["%r is written, and it is read-only"]),
        ("copy_(%0,", "copy_(%s,", ["%s is written, and it is no array"]),
        ("copy_(%0,", "copy_(2.0,", ["2.0 is written, and it is no array"]),
        ("out=%0)", "out=%s)", ["%s is written, and it is no array"]),
        ("%1: f64[3], %2: f64[3] = modf", "%1: f64[3] = modf", ["1 results, the schema has 2"]),
    ],
)
def test_a_captured_graph_with_a_problem(old, new, found):
    assert messages(parsed(CAPTURED.replace(old, new))) == found


def test_order_scope_and_names():
    negative = schema_of("negative")
    x, y, other = Value("x", ROW), Value("y", ROW), Value("x", ROW)
    use_y = Node(negative, (y,), (Value("0", ROW),))
    make_y = Node(negative, (x,), (y,))
    assert messages(function(use_y, make_y, inputs=(x,))) == ["%y is not defined here"]
    assert messages(function(make_y, make_y, inputs=(x,))) == ["%y is defined twice"]
    assert messages(function(Node(negative, (x,), (other,)), inputs=(x,))) == [
        "two values are named %x"
    ]
    assert messages(function(Node(negative, (other,), (y,)), inputs=(x,))) == [
        "%x is not defined here; another value has its name"
    ]
    assert messages(function(inputs=(x,), results=(y,))) == ["%y is not defined here"]
    odd = Value("x[0]", ROW)
    assert messages(function(inputs=(odd,))) == ["'x[0]' is no name for a value"]


def test_a_value_of_a_region_is_not_seen_outside():
    graph = parsed(GOOD)
    (loop,) = graph.nodes
    inner = loop.regions[0].nodes[0].output
    body = dataclasses.replace(graph.body, results=(graph.outputs[0], inner))
    assert "%0 is not defined here" in messages(graph.with_body(body))


def test_two_regions_may_not_share_names():
    arm = "(%a: f64[3])\nyield %a\n}"
    text = f"functional f(%p: bool, %x: f64[3])\n%0: f64[3] = cond(%p, (%x,), on_true={{\n{arm}, on_false={{\n{arm.replace('%a', '%b')})\nreturn %0\nsignature"
    graph = parsed(text)
    assert messages(graph) == []
    (node,) = graph.nodes
    yes = node.arg("on_true")
    twice = Node(node.schema, (*node.args[:3], yes), node.outputs)
    assert messages(graph.with_body(dataclasses.replace(graph.body, nodes=(twice,)))) == [
        "%a is defined twice"
    ]
    renamed = Value("a", ROW)
    no = Region((renamed,), (), (renamed,))
    shadow = Node(node.schema, (*node.args[:3], no), node.outputs)
    assert messages(graph.with_body(dataclasses.replace(graph.body, nodes=(shadow,)))) == [
        "two values are named %a"
    ]


def test_the_schema_is_the_tables():
    x = Value("x", ROW)
    unknown = parse_schema("frobnicate(Array x) -> Array")
    assert messages(function(Node(unknown, (x,), (Value("0", ROW),)), inputs=(x,))) == [
        "there is no operator 'frobnicate'"
    ]
    other = parse_schema("negative(Array y) -> Array")
    assert messages(function(Node(other, (x,), (Value("0", ROW),)), inputs=(x,))) == [
        "the schema of negative is not the table's: negative(Array x) -> Array"
    ]


def test_the_number_of_arguments():
    x = Value("x", ROW)
    node = Node(schema_of("add"), (x,), (Value("0", ROW),))
    assert messages(function(node, inputs=(x,))) == ["1 arguments for 2 parameters"]


def test_an_argument_of_the_wrong_kind():
    x = Value("x", ROW)
    node = Node(schema_of("sum"), (x, 1.5, False, None), (Value("0", ROW),))
    assert messages(function(node, inputs=(x,))) == ["1.5 cannot be the argument 'int[]? axis'"]


def test_view_steps_have_the_right_arguments():
    graph = parsed(GOOD)
    view = graph.signature.outputs[1]
    for args in [(0,), (0, 1.5)]:
        step = dataclasses.replace(view.steps[0], args=args)
        leaf = ViewLeaf(view.base, (step,), 0)
        assert len(messages(dataclasses.replace(graph, signature=Signature((), (leaf,))))) == 1
    step = dataclasses.replace(view.steps[0], op="frobnicate")
    leaf = ViewLeaf(view.base, (step,), 0)
    assert messages(dataclasses.replace(graph, signature=Signature((), (leaf,)))) == [
        "there is no operator 'frobnicate'"
    ]


X, N = Value("x", ROW), symbol("n")
CONSTANT = ArrayConstant.of(np.zeros(2))
ARGUMENTS = [X, Literal(1), 1, N, True, "a", F64, SliceSpec(0, N, 1), CONSTANT, Region((), (), ())]
FITTING = {
    "Array": [X, Literal(1)],
    "int": [1],
    "bool": [True],
    "str": ["a"],
    "DType": [F64],
    "Sym": [1, N],
    "Slice": [SliceSpec(0, N, 1)],
    "Constant": [CONSTANT],
    "Region": [ARGUMENTS[-1]],
}


@pytest.mark.parametrize("kind", FITTING)
@pytest.mark.parametrize("suffix", ["", "?", "[]", "[]?"])
def test_the_kinds_of_arguments(kind, suffix):
    param = parse_schema(f"op({kind}{suffix} x) -> Array").params[0]
    single = [] if "[]" in suffix else FITTING[kind]
    assert [arg for arg in ARGUMENTS if fits(param, arg)] == single
    pairs = FITTING[kind] if "[]" in suffix else []
    assert [arg for arg in ARGUMENTS if fits(param, (arg, arg))] == pairs
    assert fits(param, ()) == ("[]" in suffix)
    assert fits(param, None) == ("?" in suffix)
    assert not fits(param, np.int64(3))
    assert not fits(param, (FITTING[kind][0], None))


def test_signature_numbers():
    x = Value("x", ROW)
    for signature in [Signature((Mutation(1, 0),)), Signature((), (InputLeaf(-1),))]:
        (found,) = messages(function(inputs=(x,), results=(x,), signature=signature))
        assert "there is no input number" in found
    assert messages(function(signature=Signature((), (ConstantLeaf(None),)))) == []
    (found,) = messages(function(signature=Signature((), (ResultLeaf(0, ROW),))))
    assert found == "there is no result number 0"


def test_a_functional_graph_has_a_signature():
    assert messages(function(signature=None, stage="captured")) == []
    assert messages(function(signature=None)) == [
        "a functional graph has a signature, this has none"
    ]
    assert messages(function(stage="lowered")) == ["there is no stage 'lowered'"]


# Types against metas


def shapes(*types):
    return lambda node: types


def test_types_agree_with_the_meta():
    text = "captured f(%x: f64[n], %y: f64[n])\n  symbols n = 3\n  %0: f64[n] = add(%x, %y)\n  return %0"
    graph = parsed(text)
    (n,) = graph.inputs[0].type.shape
    right = array_type(F64, [n])
    assert messages(graph, meta=shapes(right)) == []
    for wrong, shown in [
        (array_type(np.dtype("f4"), [n]), "f32[n]"),
        (array_type(F64, [n + 1]), "f64[n + 1]"),
        (array_type(F64, [n, 1]), "f64[n, 1]"),
        (array_type(F64, [n], [16]), "f64[n]{16}"),
        (dataclasses.replace(right, writeable=False), "f64[n] ro"),
    ]:
        assert messages(graph, meta=shapes(wrong)) == [f"%0 is f64[n], its meta says {shown}"]
    assert messages(graph, meta=shapes(right, right)) == ["1 results, its meta gives 2"]


def test_layout_counts_only_in_captured_graphs():
    graph = parsed("functional f(%x: f64[3])\n  %0: f64[3] = negative(%x)\n  return %0\nsignature")
    assert messages(graph, meta=shapes(array_type(F64, [3], [16]))) == []


def test_a_meta_that_raises_is_a_problem():
    def meta(node):
        raise ValueError("operands could not be broadcast")

    graph = parsed("captured f()\n  %0: f64[3] = negative(1.0)\n  return")
    assert messages(graph, meta=meta) == [
        "its meta raises ValueError: operands could not be broadcast"
    ]


def test_a_meta_is_not_asked_about_a_broken_node():
    def meta(node):
        raise AssertionError

    x = Value("x", ROW)
    node = Node(schema_of("add"), (x,), (Value("0", ROW),))
    assert messages(function(node, inputs=(x,)), meta=meta) == ["1 arguments for 2 parameters"]


def test_dims_are_equal_by_guards():
    n, m, p, q = map(symbol, "nmpq")
    same = SameDims([Guard(n, "==", m + 2), Guard(p, "==", n), Guard(q, ">=", n)])
    assert same(n - 2, m)
    assert same(p * 2, m * 2 + 4)
    assert same(3, 3)
    assert not same(q, n)
    assert not same(n, m)
    assert SameDims([Guard(n * n, "==", m)])(m, n * n)
    assert SameDims([Guard(2 * n, "==", 4)])(n, n)


class TestErrors(TestCase):
    def test_the_error_shows_problems_where_they_are(self):
        text = GOOD.replace("slice_copy(", "slice(").replace("yield %4, %3", "yield %0, %3")
        text = text.replace("result 0", "result 4").replace("functional", "decomposed")
        with pytest.raises(VerificationError) as caught:
            verify(parsed(text), table=schema_of, after="fold_constants")
        self.assertExpectedInline(
            str(caught.value),
            """\
FXC0902: the graph has 3 problems after fold_constants:
decomposed relax(%u: f64[n, m], %f: f64[n - 2, m - 2], %steps: py.int)
  symbols n = 4 (>= 2), m = 5 (>= 2)
  guards n >= 3
  %5: f64[n, m], %6: f64 = fori_loop(0, %steps, (%u, f64(0.0)), body={
    (%k: py.int, %a: f64[n, m], %e: f64)
    %0: f64[n - 2, m - 2] = slice(%a, [1:n - 1:1, 1:m - 1:1])
    ^ slice gives a view, and the graph is decomposed
    %1: f64[n - 2, m - 2] = multiply(0.25, %f)
    %2: f64[m] = select_copy(%u, 0, k)
    %3: f64 = max(%0, axis=None, keepdims=False)
    %4: f64[n, m] = slice_scatter(%a, %1, [1:n - 1:1, 1:m - 1:1])
    yield %0, %3
    ^ %0 is f64[n - 2, m - 2], %5 is f64[n, m]
  }, stops=False)
  return %5, %6
  signature
    %u := result 4
    ^ there is no result number 4
    output 0 = result 1: f64
    output 1 = view 0 of input %u by select(0, steps)
    output 2 = dim n + steps""",
        )

    def test_one_problem(self):
        with pytest.raises(InternalError) as caught:
            verify(function(signature=None), table=schema_of)
        self.assertExpectedInline(
            str(caught.value),
            """\
FXC0902: the graph has a problem:
functional f()
^ a functional graph has a signature, this has none
  return""",
        )

    def test_a_good_graph_passes(self):
        verify(parsed(GOOD), table=schema_of, after="anything")


def test_nodes_that_were_right_are_asked_for_what_they_read():
    """Of a graph after a pass those that it shares with the graph before, which has been verified."""
    before = parsed(GOOD)
    loop, u, f, steps = before.nodes[0], *before.inputs
    for params, lost in (((u, steps), "%f"), ((u, f), "%steps")):
        after = before.with_body(dataclasses.replace(before.body, params=params))
        found = problems(after, table=schema_of, before=before)
        assert f"{lost} is not defined here" in map(str, found)
    step = loop.regions[0]
    shorter = dataclasses.replace(step, nodes=step.nodes[1:])
    args = tuple(shorter if arg is step else arg for arg in loop.args)
    body = dataclasses.replace(before.body, nodes=(dataclasses.replace(loop, args=args),))
    found = problems(before.with_body(body), table=schema_of, before=before)
    assert [str(each) for each in found] == ["%0 is not defined here"]


def test_nodes_that_were_right_are_asked_for_their_symbols():
    before = parsed(
        """
functional f(%x: f64[4], %m: bool[4])
  symbols c1 = 2 (>= 0, <= 4)
  %0: py.int = bind_size(2, symbol='c1', most=4)
  %1: f64[c1] = zeros((c1), f64, layout=None)
  return %1
  signature
    output 0 = result 0: f64[c1]
"""
    )
    after = before.with_body(dataclasses.replace(before.body, nodes=before.nodes[1:]))
    found = problems(after, table=schema_of, before=before)
    assert "the symbol c1 is not defined here" in {str(each) for each in found}
