"""The schema language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxc.ir.errors import ParseError
from fxc.ir.schema import KINDS, Alias, Param, Return, Schema, parse_schema
from fxc.ops.table import TABLE


def test_each_schema_of_the_table_reads_back():
    for op in TABLE:
        assert parse_schema(str(op.schema)) == op.schema


@st.composite
def schemas(draw):
    aliases = st.one_of(st.none(), st.builds(Alias, st.sampled_from("ab"), st.booleans()))
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), max_size=5))
    keywords = draw(st.integers(0, len(kinds)))
    params = [
        Param(
            f"x{place}",
            kind,
            draw(aliases) if kind == "Array" else None,
            draw(st.booleans()),
            draw(st.booleans()),
            place >= keywords,
        )
        for place, kind in enumerate(kinds)
    ]
    letters = sorted({param.alias.letter for param in params if param.alias})
    alias = st.one_of(st.none(), st.sampled_from(letters).map(Alias)) if letters else st.none()
    returns = draw(st.lists(st.builds(Return, alias, st.booleans()), max_size=3))
    writes = any(param.is_written for param in params)
    name = draw(st.sampled_from(["op_", "op.out"] if writes else ["op", "linalg_op2"]))
    return Schema(name, tuple(params), tuple(returns))


@given(schemas())
def test_schemas_read_back(schema):
    again = parse_schema(str(schema))
    assert again == schema
    assert str(again) == str(schema)


def test_what_a_schema_says():
    schema = parse_schema("add.out(Array x, Array? y, *, int[]? axis, Array(a!) out) -> ()")
    assert schema.name == "add.out"
    assert schema.writes
    assert not schema.is_view
    assert not schema.is_functional
    assert schema.written_params == (3,)
    assert schema.positional == 2
    assert schema.index_of == {"x": 0, "y": 1, "axis": 2, "out": 3}
    assert schema.params[2] == Param("axis", "int", None, True, True, True)
    assert schema.returns == ()


@pytest.mark.parametrize(
    "text, functional, view, writes",
    [
        ("f(Array x) -> Array", True, False, False),
        ("f() -> (Array, Array[])", True, False, False),
        ("f(Array(a) x) -> Array(a)", False, True, False),
        ("f_(Array(a!) x) -> ()", False, False, True),
        ("f_(Array(a!) x) -> Array(a)", False, False, True),
        ("f(Array(a) x) -> Array", True, False, False),
    ],
)
def test_functional_view_or_write(text, functional, view, writes):
    schema = parse_schema(text)
    assert (schema.is_functional, schema.is_view, schema.writes) == (functional, view, writes)
    assert str(schema) == text


@pytest.mark.parametrize(
    "text, message",
    [
        ("add", "not a schema: 'add'"),
        ("add(Array x)", "not a schema"),
        ("Add(Array x) -> Array", "not a schema"),
        ("add(Array x) -> Array ", "add: not a result: 'Array '"),
        ("add(Array x) -> int", "add: not a result: 'int'"),
        ("add(Array x) -> (Array,)", "add: not a result: 'Array,'"),
        ("add(Array  x) -> Array", "add: not a parameter: 'Array  x'"),
        ("add(Array) -> Array", "add: not a parameter: 'Array'"),
        ("add(Array x,Array y) -> Array", "add: not a parameter"),
        ("add(Array(a!!) x) -> Array", "add: not a parameter"),
        ("add(Array(A) x) -> Array", "add: not a parameter"),
        ("add(tensor x) -> Array", "unknown kind 'tensor' of parameter 'x'"),
        ("add(int(a) x) -> Array", "parameter 'x': only arrays can have an alias set"),
        ("add(Array x, Array x) -> Array", "add: a parameter name occurs twice"),
        ("add(Array(a!) x) -> ()", "add: it writes, or its name says that it does, but not both"),
        ("add_(Array x) -> Array", "add_: it writes, or its name says"),
        ("add.out(Array x) -> Array", "add.out: it writes, or its name says"),
        ("f(Array x) -> Array(a)", "f: a result aliases nothing that is given"),
    ],
)
def test_malformed_schemas(text, message):
    with pytest.raises(ParseError) as caught:
        parse_schema(text)
    assert message in str(caught.value)
