"""The evaluator and the boundary, on graphs in text form with plain functions as kernels."""

import numpy as np
import pytest

from fxc.ir.errors import InternalError
from fxc.ir.evaluate import bind_symbols, call, evaluate
from fxc.ir.graph import ArrayConstant, Graph
from fxc.ir.parse import parse_graph
from fxc.ops.table import TABLE


def sliced(x, index):
    return x[tuple(slice(s.start, None if s.stop < 0 else s.stop, s.step) for s in index)]


def scattered(x, source, index):
    result = x.copy()
    sliced(result, index)[...] = source
    return result


def looped(lo, hi, init, body, stops):
    state = init
    for k in range(lo, hi):
        state = body((k, *state))
    return state


KERNELS = {
    "add": np.add,
    "py_add": lambda x, y: x + y,
    "multiply": np.multiply,
    "negative": np.negative,
    "max": lambda x, axis, keepdims: np.max(x, axis=axis, keepdims=keepdims),
    "modf": np.modf,
    "copy_": lambda x, y, casting: np.copyto(x, y, casting=casting),
    "slice": sliced,
    "slice_copy": lambda x, index: sliced(x, index).copy(),
    "slice_scatter": scattered,
    "select": lambda x, axis, index: np.moveaxis(x, axis, 0)[index, ...],
    "select_copy": lambda x, axis, index: np.moveaxis(x, axis, 0)[index].copy(),
    "transpose": np.transpose,
    "zeros": lambda shape, dtype, layout: np.zeros(shape, dtype),
    "constant": ArrayConstant.array,
    "int_value": int,
    "concatenate": lambda xs, axis: np.concatenate(xs, axis),
    "cond": lambda pred, operands, yes, no: yes(operands) if pred else no(operands),
    "fori_loop": looped,
}  # fmt: skip


def graph_of(text: str) -> Graph:
    return parse_graph(text, lambda name: TABLE[name].schema)


def run(text, *args, check=True):
    return evaluate(graph_of(text), args, KERNELS.__getitem__, check=check)


def leaves(text, *args):
    return call(graph_of(text), args, KERNELS.__getitem__, check=True)


def array(*shape, dtype=float):
    return np.arange(1, 1 + np.prod(shape), dtype=dtype).reshape(shape)


# Nodes and arguments


def test_results_of_nodes_and_literals():
    (total, half, same) = run(
        """
        functional f(%x: f64[3])
          %0: f64[3] = add(%x, 1)
          return %0, f32(0.5), %x
        """,
        x := array(3),
    )
    assert total.tolist() == [2, 3, 4]
    assert type(half) is np.float32
    assert half == 0.5
    assert same is x


def test_several_results_and_tuples_of_values():
    (joined,) = run(
        """
        functional f(%x: f64[n])
          %0: f64[n], %1: f64[n] = modf(%x)
          %2: f64[2*n] = concatenate((%0, %1), axis=0)
          return %2
        """,
        np.array([1.5, 2.25]),
    )
    assert joined.tolist() == [0.5, 0.25, 1, 2]


def test_dims_are_numbers_in_static_arguments():
    zeros, part, count = run(
        """
        functional f(%x: f64[n, m], %k: py.int)
          %0: i8[n + k, m] = zeros((n + k, m), i8, layout=None)
          %1: f64[n - 1, floordiv(m, 2)] = slice_copy(%x, [1:n:1, 0:m:2])
          %2: py.int = int_value(n*m + k)
          return %0, %1, %2
        """,
        x := array(3, 4),
        5,
    )
    assert zeros.shape == (8, 4)
    assert zeros.dtype == np.int8
    assert part.tolist() == x[1:, ::2].tolist()
    assert count == 17


def test_constants():
    (found,) = run(
        """
        functional f()
          %0: c64[2] = constant(c64[2] [(1.0, 2.0), (0.0, -1.0)])
          return %0
        """
    )
    assert found.tolist() == [1 + 2j, -1j]


def test_views_and_writes_of_a_captured_graph():
    x = array(4)
    (view,) = run(
        """
        captured f(%x: f64[n])
          %0: f64[n - 2] = slice(%x, [1:n - 1:1])
          copy_(%0, 0.5, casting='same_kind')
          return %0
        """,
        x,
    )
    assert x.tolist() == [1, 0.5, 0.5, 4]
    assert np.shares_memory(view, x)


# Regions


def test_a_loop_binds_its_counter_and_reads_outer_values():
    text = """
        functional f(%x: f64[n], %steps: py.int)
          %0: f64[n], %1: f64 = fori_loop(1, %steps, (%x, f64(0.0)), body={
            (%k: py.int, %a: f64[n], %e: f64)
            %2: f64 = select_copy(%x, 0, k)
            %3: f64[n] = add(%a, %2)
            %4: f64 = max(%3, axis=None, keepdims=False)
            yield %3, %4
          }, stops=False)
          return %0, %1
    """
    x = array(5)
    total, top = run(text, x, 4)
    assert total.tolist() == (x + 2 + 3 + 4).tolist()
    assert top == total.max()
    same, start = run(text, x, 1)
    assert same is x
    assert start == 0


def test_nested_regions():
    (found,) = run(
        """
        functional f(%x: f64[n], %p: bool)
          %0: f64[n] = fori_loop(0, 3, (%x,), body={
            (%i: py.int, %a: f64[n])
            %1: f64[n] = fori_loop(0, 2, (%a,), body={
              (%j: py.int, %b: f64[n])
              %2: py.int = int_value(10*i + j)
              %3: f64[n] = cond(%p, (%b,), on_true={
                (%c: f64[n])
                %4: f64[n] = add(%c, %2)
                yield %4
              }, on_false={
                (%d: f64[n])
                yield %d
              })
              yield %3
            }, stops=False)
            yield %1
          }, stops=False)
          return %0
        """,
        array(2),
        np.True_,
    )
    assert found.tolist() == [1 + 63, 2 + 63]


def test_a_region_binds_the_sizes_of_what_it_is_given():
    (found,) = run(
        """
        functional f(%x: f64[n], %p: bool)
          %0: py.int = cond(%p, (%x,), on_true={
            (%c: f64[m])
            %1: py.int = int_value(m + n)
            yield %1
          }, on_false={
            (%d: f64[n])
            yield 0
          })
          return %0
        """,
        array(4),
        np.True_,
    )
    assert found == 8


def test_deep_graphs_do_not_recurse():
    lines = ["functional f(%x: f64[2])", "%0: f64[2] = add(%x, 1.0)"]
    lines += [f"%{i + 1}: f64[2] = add(%{i}, 1.0)" for i in range(5000)]
    (found,) = run("\n".join([*lines, "return %5000"]), array(2))
    assert found.tolist() == [5002, 5003]


# Symbols


def inputs_of(*types):
    declared = ", ".join(f"%x{i}: {kind}" for i, kind in enumerate(types))
    return graph_of(f"functional f({declared})\nreturn").inputs


def test_binding_symbols():
    inputs = inputs_of("f64[n, m]{s, t}", "py.int", "f64[n - 1]", "py.bool", "f64[]")
    args = [array(4, 3).T, 7, array(2), True, np.array(1.0)]
    assert bind_symbols(inputs, args) == {"n": 3, "m": 4, "s": 8, "t": 24, "x1": 7}


def test_strides_without_meaning_are_normalised():
    x = np.lib.stride_tricks.as_strided(np.zeros(4), (1, 4), (800, 8))
    assert bind_symbols(inputs_of("f64[1, n]{s, t}"), [x]) == {"n": 4, "s": 32, "t": 8}


@pytest.mark.parametrize(
    "types, args, message",
    [
        (["f64[n]"], [array(3, 2)], "%x0 is an array float64[3, 2], its type says f64[n]"),
        (["f64[n]"], [3.0], "%x0 is a float, its type says f64[n]"),
        (["f64[n, n]"], [array(3, 2)], "%x0 is an array float64[3, 2], its type says f64[n, n] where n = 3"),
        (["f64[n]", "f64[n - 1]"], [array(3), array(3)], "%x1 is an array float64[3], its type says f64[n - 1] where n = 3"),
        (["f64[4]"], [array(3)], "%x0 is an array float64[3], its type says f64[4]"),
        (["f64[n + 1]"], [array(3)], "n + 1 is not known"),
        (["f64[n]"], [], "0 arguments for 1 inputs"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(types, args, message):
    with pytest.raises(InternalError) as caught:
        bind_symbols(inputs_of(*types), args)
    assert message in str(caught.value)


# Checks


@pytest.mark.parametrize(
    "claimed, message",
    [
        ("f32[n]", "its type says f32[n]"),
        ("f64[n - 1]", "its type says f64[n - 1]"),
        ("f64", "its type says f64"),
        ("py.float", "its type says py.float"),
    ],
)
def test_a_result_that_differs_from_its_type(claimed, message):
    text = f"functional f(%x: f64[n])\n%0: {claimed} = negative(%x)  # heat.py:12\nreturn %0"
    with pytest.raises(InternalError) as caught:
        run(text, array(3))
    assert caught.value.text == f"negative (heat.py:12): %0 is an array float64[3], {message}"
    assert len(run(text, array(3), check=False)) == 1


@pytest.mark.parametrize(
    "claimed, value, right",
    [
        ("f64", 1.0, False),
        ("f64", np.float64(1), True),
        ("f32", np.float64(1), False),
        ("py.float", np.float64(1), False),
        ("py.float", 1.0, True),
        ("py.int", True, False),
        ("py.bool", True, True),
        ("f64", np.array(1.0), False),
        ("f64[]", np.array(1.0), True),
        ("f64[]", np.float64(1), False),
        ("bool", np.True_, True),
    ],
)
def test_scalars_and_arrays_are_told_apart(claimed, value, right):
    text = f"functional f(%x: {claimed})\nreturn"
    if right:
        run(text, value)
    else:
        with pytest.raises(InternalError, match="%x is"):
            run(text, value)


def test_python_scalars_stay_python_scalars():
    (found,) = run("functional f(%x: py.float)\n%0: py.float = py_add(%x, 0.5)\nreturn %0", 1.0)
    assert type(found) is float


def test_a_kernel_with_too_few_results():
    text = "functional f(%x: f64[3])\n%0: f64[3], %1: f64[3] = modf(%x)\nreturn"
    with pytest.raises(InternalError, match="modf gave 1 results, the graph has 2"):
        evaluate(graph_of(text), [array(3)], lambda name: lambda x: (x,))


def test_exceptions_of_kernels_are_not_touched():
    with pytest.raises(ValueError, match="could not be broadcast"):
        run(
            "functional f(%x: f64[n], %y: f64[m])\n%0: f64[n] = add(%x, %y)\nreturn",
            array(2),
            array(3),
        )


# The boundary


def test_inputs_are_updated_and_views_are_views_of_them():
    x = array(3, 2)
    total, row, again, itself, size, word = leaves(
        """
        functional f(%x: f64[n, m])
          %0: f64[n, m] = multiply(%x, 2.0)
          %1: f64 = max(%0, axis=None, keepdims=False)
          return %0, %1
          signature
            %x := result 0
            output 0 = result 1: f64
            output 1 = view 0 of input %x by transpose((1, 0)), select(0, m - 1)
            output 2 = view 0 of input %x by transpose((1, 0)), select(0, m - 1)
            output 3 = input %x
            output 4 = dim n*m
            output 5 = constant 'done'
        """,
        x,
    )
    assert x.tolist() == [[2, 4], [6, 8], [10, 12]]
    assert type(total) is np.float64
    assert total == 12
    assert row.tolist() == [4, 8, 12]
    assert np.shares_memory(row, x)
    assert row is again
    assert itself is x
    assert (size, word) == (6, "done")


def test_two_inputs_are_swapped():
    x, y = array(3), -array(3)
    leaves(
        """
        functional f(%x: f64[n], %y: f64[n])
          return %x, %y
          signature
            %x := result 1
            %y := result 0
        """,
        x,
        y,
    )
    assert (x.tolist(), y.tolist()) == ([-1, -2, -3], [1, 2, 3])


def test_a_result_that_is_an_input_is_a_copy_from_before_the_write():
    x = array(3)
    old, new, part = leaves(
        """
        functional f(%x: f64[n])
          %0: f64[n] = negative(%x)
          return %x, %0
          signature
            %x := result 1
            output 0 = result 0: f64[n]
            output 1 = result 1: f64[n]
            output 2 = view 0 of result 1: f64[n] by select(0, 0)
        """,
        x,
    )
    assert (old.tolist(), new.tolist(), x.tolist()) == ([1, 2, 3], [-1, -2, -3], [-1, -2, -3])
    assert not np.shares_memory(old, x)
    assert not np.shares_memory(new, x)
    assert np.shares_memory(part, new)


def test_equal_results_are_one_object_and_different_ones_share_nothing():
    a, b, c = leaves(
        """
        functional f(%x: f64[n])
          %0: f64[n] = negative(%x)
          return %0, %0
          signature
            output 0 = result 0: f64[n]
            output 1 = result 0: f64[n]
            output 2 = result 1: f64[n]
        """,
        array(3),
    )
    assert a is b
    assert a.tolist() == c.tolist()
    assert not np.shares_memory(a, c)


def test_fresh_results_have_the_layout_that_is_claimed():
    c_order, f_order = leaves(
        """
        functional f(%x: f64[n, m])
          %0: f64[n, m] = negative(%x)
          return %0, %0
          signature
            output 0 = result 0: f64[n, m]
            output 1 = result 1: f64[n, m]{8, 8*n}
        """,
        array(3, 2),
    )
    assert c_order.flags.c_contiguous
    assert f_order.strides == (8, 24)
    assert f_order.tolist() == c_order.tolist()
    assert f_order.flags.writeable


def test_a_read_only_input_cannot_be_updated():
    x = array(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        leaves("functional f(%x: f64[n])\nreturn %x\nsignature\n%x := result 0", x)


def test_a_call_needs_a_signature():
    with pytest.raises(InternalError, match="f has no signature"):
        leaves("captured f()\nreturn")
