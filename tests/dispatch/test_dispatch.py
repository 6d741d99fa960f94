"""The dispatcher: precedence, keys, registration; the Trace column; backend indexes."""

import threading
from typing import Any

import numpy as np
import pytest

from fxc.dispatch.backend import numpy_index
from fxc.dispatch.bind import bind
from fxc.dispatch.default import default_dispatcher, make_dispatcher
from fxc.dispatch.dispatcher import Dispatcher
from fxc.dispatch.keys import ALL_KEYS, AliasKey, DispatchKey, KeySet, above, excluding, including
from fxc.dispatch.trace import recording_into
from fxc.ir.builder import GraphBuilder
from fxc.ir.errors import InternalError
from fxc.ir.graph import Literal, Value
from fxc.ir.location import SourceLocation
from fxc.ir.types import array_type
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import Tag, row
from fxc.ops.table import TABLE

CPU, META, TRACE, FUNCTIONALIZE = DispatchKey
F64 = np.dtype("f8")


class Labelled:
    """An operand of a key of its own."""

    def __init__(self, key: DispatchKey) -> None:
        self.dispatch_key = key


def said(text: str) -> Any:
    return lambda *args: text


# ---------------------------------------------------------------- keys


def test_key_set_is_a_bit_mask_with_a_highest_key() -> None:
    keys = KeySet.of(CPU, TRACE)
    assert keys.highest is TRACE
    assert list(keys) == [CPU, TRACE]
    assert META not in keys
    assert set(above(META)) == {TRACE, FUNCTIONALIZE}
    assert set(ALL_KEYS) == set(DispatchKey)


def test_included_and_excluded_keys_belong_to_the_thread() -> None:
    dispatcher = Dispatcher()
    for key in DispatchKey:
        dispatcher.impl("add", key, said(key.name))
    found: list[str] = []
    with including(KeySet.of(TRACE)):
        assert dispatcher.call("add", 1, 2) == "TRACE"
        with excluding(KeySet.of(TRACE)):
            assert dispatcher.call("add", 1, 2) == "CPU"
        thread = threading.Thread(target=lambda: found.append(dispatcher.call("add", 1, 2)))
        thread.start()
        thread.join()
    assert found == ["CPU"]
    assert dispatcher.call("add", 1, 2) == "CPU"


@pytest.mark.parametrize(
    "x, key",
    [
        (np.ones(2), CPU),
        (np.float64(1), CPU),
        (1, CPU),
        (Value("x", array_type(F64, (2,))), TRACE),
        (Labelled(FUNCTIONALIZE), FUNCTIONALIZE),
        ((np.ones(2), Labelled(TRACE)), TRACE),
    ],
    ids=[
        "array",
        "numpy-scalar",
        "number",
        "value",
        "labelled",
        "tuple",
    ],
)
def test_arguments_bring_their_keys(x: Any, key: DispatchKey) -> None:
    dispatcher = Dispatcher()
    for each in DispatchKey:
        dispatcher.impl("add", each, said(each.name))
    assert dispatcher.call("add", x, 1) == key.name
    assert dispatcher.call("add", 1, y=x) == key.name


# ---------------------------------------------------------------- precedence


def test_precedence_is_direct_nonfunctional_explicit_implicit_fallback() -> None:
    dispatcher = Dispatcher()
    registrations = [
        dispatcher.fallback(CPU, said("fallback")),
        dispatcher.impl_composite("mean", AliasKey.IMPLICIT, said("implicit")),
        dispatcher.impl_composite("mean", AliasKey.EXPLICIT, said("explicit")),
        dispatcher.impl_composite("mean", AliasKey.NON_FUNCTIONAL, said("nonfunctional")),
        dispatcher.source(CPU, lambda name: said("source")),
        dispatcher.impl("mean", CPU, said("direct")),
    ]
    heard = []
    while registrations:
        heard.append(dispatcher.call("mean", 1.0))
        registrations.pop().remove()
    assert heard == ["direct", "source", "nonfunctional", "explicit", "implicit", "fallback"]
    with pytest.raises(InternalError, match="'mean' has no kernel for CPU"):
        dispatcher.call("mean", 1.0)


def test_alias_keys_cover_their_columns_only() -> None:
    dispatcher = Dispatcher()
    for key in DispatchKey:
        dispatcher.fallback(key, said("fallback"))
    for alias in AliasKey:
        dispatcher.impl_composite(alias.name.lower()[:3] + "_op", alias, said("composite"))
    covered = {}
    for alias in AliasKey:
        with dispatcher.scratch_operator(
            row(f"{alias.name.lower()[:3]}_op(Array x) -> Array", Tag.OPAQUE)
        ):
            name = f"{alias.name.lower()[:3]}_op"
            covered[alias] = {
                key for key in DispatchKey if dispatcher.redispatch(key, name, (1,)) == "composite"
            }
    assert covered == {
        AliasKey.NON_FUNCTIONAL: {CPU},
        AliasKey.EXPLICIT: {CPU},
        AliasKey.IMPLICIT: set(DispatchKey),
    }


def test_order_of_registration_does_not_matter() -> None:
    dispatcher = Dispatcher()
    dispatcher.impl("mean", CPU, said("direct"))
    dispatcher.impl_composite("mean", AliasKey.EXPLICIT, said("explicit"))
    assert dispatcher.call("mean", 1.0) == "direct"


def test_registering_twice_is_refused_and_removing_twice_is_harmless() -> None:
    dispatcher = Dispatcher()
    first = dispatcher.impl("add", CPU, said("one"))
    with pytest.raises(ValueError, match="registered already"):
        dispatcher.impl("add", CPU, said("two"))
    first.remove()
    first.remove()
    dispatcher.impl("add", CPU, said("two"))
    assert dispatcher.call("add", 1, 2) == "two"


def test_a_composite_that_declines_leaves_it_to_the_next() -> None:
    dispatcher = Dispatcher()
    dispatcher.impl_composite("mean", AliasKey.NON_FUNCTIONAL, lambda ops, *args: NotImplemented)
    explicit = dispatcher.impl_composite("mean", AliasKey.EXPLICIT, said("explicit"))
    assert dispatcher.call("mean", 1.0) == "explicit"
    explicit.remove()
    with pytest.raises(InternalError, match="no kernel"):
        dispatcher.call("mean", 1.0)


def test_a_composite_below_stays_below() -> None:
    dispatcher = Dispatcher()
    dispatcher.impl("mean", TRACE, lambda *args: dispatcher.redispatch(CPU, "mean", args))
    dispatcher.impl("sum", TRACE, said("traced"))
    dispatcher.impl("sum", CPU, said("computed"))
    dispatcher.impl_composite("mean", AliasKey.EXPLICIT, lambda ops, x, *rest: ops.sum(x))
    with including(KeySet.of(TRACE)):
        assert dispatcher.call("mean", 1.0) == "computed"


def test_a_key_that_an_operator_falls_through_leaves_it_to_the_next() -> None:
    dispatcher = Dispatcher()
    for key in DispatchKey:
        dispatcher.fallback(key, said(key.name))
    falls = dispatcher.fallthrough(FUNCTIONALIZE, lambda op: op.name == "negative")
    with including(KeySet.of(FUNCTIONALIZE, TRACE)):
        assert dispatcher.call("negative", 1) == "TRACE"
        assert dispatcher.call("add", 1, 2) == "FUNCTIONALIZE"
        falls.remove()
        assert dispatcher.call("negative", 1) == "FUNCTIONALIZE"


def test_a_column_is_a_function_from_names_to_kernels() -> None:
    kernel_of = make_dispatcher().column(CPU)
    assert kernel_of("add") is default_dispatcher().column(CPU)("add")
    assert kernel_of("add")(1, 2) == 3
    with pytest.raises(InternalError, match="'add' has no kernel for FUNCTIONALIZE"):
        make_dispatcher().column(FUNCTIONALIZE)("add")


# ---------------------------------------------------------------- canonical arguments


@pytest.mark.parametrize(
    "name, args, kwargs, expected",
    [
        ("sum", ("x",), {}, ("x", None, False, None)),
        ("sum", ("x",), {"axis": 1, "dtype": "f4"}, ("x", (1,), False, np.dtype("f4"))),
        ("var", ("x",), {"axis": [0, 1]}, ("x", (0, 1), False, None, 0)),
        ("sort", ("x",), {}, ("x", -1, None)),
        ("concatenate", (["x", "y"],), {}, (("x", "y"), 0)),
        ("copy_", ("x", "y"), {}, ("x", "y", "same_kind")),
        ("astype", ("x", "i4"), {}, ("x", np.dtype("i4"), "unsafe", "K")),
        ("copy", ("x",), {}, ("x", "K")),
        ("add.out", ("x", "y"), {"out": "o"}, ("x", "y", "o")),
        ("linspace", (0, 1), {"dtype": F64}, (0, 1, 50, True, F64)),
    ],
)
def test_bind_fills_in_numpys_defaults(
    name: str, args: Any, kwargs: Any, expected: tuple[Any, ...]
) -> None:
    assert bind(TABLE[name], args, kwargs) == expected


@pytest.mark.parametrize(
    "args, kwargs, message",
    [
        ((), {}, "argument 'x' is missing"),
        ((1, 2, 3), {}, "3 arguments for 2 parameters"),
        ((1,), {"x": 2}, "argument 'x' is given twice"),
        ((1, 2), {"z": 2}, "argument 'z' is unknown"),
    ],
)
def test_bind_refuses_what_does_not_fit(args: Any, kwargs: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        bind(TABLE["add"], args, kwargs)


# ---------------------------------------------------------------- the default dispatcher


def test_cpu_calls_give_what_numpy_gives() -> None:
    call = default_dispatcher().call
    x = np.arange(6.0).reshape(2, 3)
    assert call("mean", x) == x.mean()
    assert isinstance(call("sum", x), np.float64)
    call("add_", x, 1)
    assert x[0, 0] == 1
    quotient, remainder = call("divmod", np.array([7, -7]), 2)
    assert (quotient.tolist(), remainder.tolist()) == ([3, -4], [1, 1])


def test_operators_added_later_are_there() -> None:
    dispatcher = default_dispatcher()
    with dispatcher.scratch_operator(
        row("twice(Array x) -> Array", Tag.POINTWISE, lambda x: np.add(x, x))
    ):
        assert dispatcher.call("twice", np.array([1.0, 2.0])).tolist() == [2, 4]
        x = np.array([1.0, 2.0])
        dispatcher.call("twice_", x)
        assert x.tolist() == [2, 4]
        out = np.zeros(2)
        dispatcher.call("twice.out", x, out=out)
        assert out.tolist() == [4, 8]
    with pytest.raises(KeyError):
        dispatcher.call("twice", 1)


# ---------------------------------------------------------------- trace


def traced_input(builder: GraphBuilder, *shape: int) -> Value:
    return builder.value(array_type(F64, shape), "x")


def test_a_traced_call_appends_a_node_with_types_and_location() -> None:
    builder = GraphBuilder()
    x = traced_input(builder, 2, 3)
    here = SourceLocation("model.py", 3, "step")
    with recording_into(builder, lambda: here):
        total = default_dispatcher().call("sum", x, axis=0)
    (node,) = builder.nodes
    assert (node.op, node.args, node.loc) == ("sum", (x, (0,), False, None), here)
    assert total is node.output
    assert total.type == array_type(F64, (3,))


def test_scalars_become_literals() -> None:
    builder = GraphBuilder()
    x = traced_input(builder, 3)
    with recording_into(builder):
        default_dispatcher().call("where", np.True_, x, 2)
    (node,) = builder.nodes
    assert node.args == (Literal(np.True_), x, Literal(2))


def test_factories_and_writers_are_traced_too() -> None:
    builder = GraphBuilder()
    call = default_dispatcher().call
    with recording_into(builder):
        x = call("zeros", (2,), F64, layout=None)
        assert call("copy_", x, 1.0) is None
        parts = call("modf", x)
    assert isinstance(parts, tuple)
    assert [node.op for node in builder.nodes] == ["zeros", "copy_", "modf"]
    assert builder.nodes[1].outputs == ()


def test_implicit_composites_never_reach_a_graph() -> None:
    builder = GraphBuilder()
    x = traced_input(builder, 2)
    with recording_into(builder):
        default_dispatcher().call("divmod", x, 2.0)
        default_dispatcher().call("degrees", x)
        default_dispatcher().call("mean", x)
    assert [n.op for n in builder.nodes] == ["floor_divide", "remainder", "rad2deg", "mean"]


def test_an_array_in_a_trace_is_a_bug_of_ours() -> None:
    builder = GraphBuilder()
    x = traced_input(builder, 2)
    with (
        recording_into(builder),
        pytest.raises(InternalError, match="a ndarray cannot be an operand"),
    ):
        default_dispatcher().call("add", x, np.ones(2))


def test_a_trace_without_a_builder_is_a_bug_of_ours() -> None:
    with pytest.raises(InternalError, match="nothing is recording"):
        default_dispatcher().call("negative", Value("x", array_type(F64, (2,))))


def test_numpys_own_exception_comes_out_of_a_trace() -> None:
    builder = GraphBuilder()
    x = traced_input(builder, 2, 3)
    with recording_into(builder), pytest.raises(ValueError, match="broadcast"):
        default_dispatcher().call("add", x, builder.value(array_type(F64, (2,)), "y"))
    assert builder.nodes == ()


# ---------------------------------------------------------------- backends


def test_numpy_as_a_backend_takes_views_and_writes_but_no_composites() -> None:
    index = numpy_index()
    assert not index.functional
    for name in ("add", "add_", "add.out", "slice", "copy_", "sum", "cond"):
        found = index.get_kernel(TABLE[name])
        assert found is kernel_of(name)
    assert not any(index.has_kernel(TABLE[name]) for name in ("mean", "clip", "eye", "stack"))
