"""Metas say what NumPy does: dtypes, shapes, strides, kinds, writeability and errors.

NumPy itself is the oracle: each operator runs on real arrays of many dtypes and layouts, and its
meta on their types. The same metas run a second time with symbols for all sizes; what comes out,
evaluated at the sizes at hand, must be the same, under guards that hold.
"""

import itertools
import random
import warnings

import numpy as np
import pytest

from fxc.ir.graph import ArrayConstant, Literal, Region, SliceSpec, Value
from fxc.ir.size_functions import evaluate
from fxc.ir.size_guards import recording
from fxc.ir.symbols import symbol, symbols_of
from fxc.ir.types import (
    DTYPE_NAMES,
    ArrayType,
    ScalarType,
    array_type,
    is_known,
    normal_strides,
    scalar_type_of,
)
from fxc.ops import ufunc_methods
from fxc.ops.kernels import kernel_of
from fxc.ops.metas import meta_of
from fxc.ops.metas.layout import layout_of
from fxc.ops.metas.reshaping import reshape_strides, resolve_shape
from fxc.ops.metas.shapes import (
    broadcast_shapes,
    normalize_axes_tuple,
    normalize_axis,
    normalize_slice,
)
from fxc.ops.operators import CONTROL, Tag, row
from fxc.ops.samples import samples
from fxc.ops.table import TABLE
from tests.numpys_bugs import CRASHING_COMPARISONS

DTYPES = tuple(DTYPE_NAMES)
F8, I8, U1 = np.dtype("f8"), np.dtype("i8"), np.dtype("u1")
# Operators of NumPy whose rows have no callable, and those that need their arguments arranged.
FULL = slice(None)


def python_slice(spec):
    if spec.step < 0 and spec.start < 0:
        return slice(0, 0)
    if spec.step < 0 and spec.stop < 0:
        return slice(spec.start, None, spec.step)
    return slice(spec.start, spec.stop, spec.step)


def arange_of(start, step, length, dtype):
    return np.zeros(length, dtype)


def like_layout(make):
    def factory(*args):
        *rest, layout = args
        shape = rest[0]
        if layout is None:
            return make(*rest)
        moved = make(tuple(shape[axis] for axis in layout), *rest[1:])
        return moved.transpose([layout.index(axis) for axis in range(len(shape))])

    return factory


REAL = {
    "expand_dims": np.expand_dims,
    **ufunc_methods.KERNELS,
    "slice": lambda x, index: x[(*map(python_slice, index), ...)],
    "select": lambda x, axis, index: x[(*(FULL,) * axis, index, ...)],
    "dynamic_select": lambda x, index, axis: x[(*(FULL,) * axis, index, ...)],
    "reshape": lambda x, shape: np.reshape(x, shape),
    **{name: kernel_of(name) for name in ("broadcast", "as_strided", "array_field", "fields")},
    "field": lambda x, names: x[names[0]] if len(names) == 1 else x[names[0]][names[1]],
    "bitcast": lambda x, dtype: x.view(dtype),
    "regroup_bytes": lambda x, dtype: x.view(dtype),
    "astype": lambda x, dtype, casting, order: (
        x if isinstance(x, np.ndarray | np.generic) else np.asarray(x)[()]
    ).astype(dtype, casting=casting, order=order),
    "zeros": like_layout(np.zeros),
    "ones": like_layout(np.ones),
    "empty": like_layout(np.empty),
    "full": like_layout(np.full),
    "arange": arange_of,
    "constant": lambda value: value.array(),
    "int_value": int,
    "eye": lambda rows, columns, k, dtype: np.eye(rows, columns, k=k, dtype=dtype),
}


def call_numpy(name, args):
    op = TABLE[name]
    row_op = TABLE[op.group]
    if op.role == "inplace" and not isinstance(op.numpy, np.ufunc):
        return np.copyto(args[0], call_numpy(op.group, args), casting="same_kind")
    if op.role == "out" and (op.group in NO_OUT or row_op.name in REAL):
        return np.copyto(args[-1], call_numpy(op.group, args[:-1]), casting="same_kind")
    if op.role == "inplace":
        op.numpy(*args, out=args[0])
        return None
    if name == "copy_":
        x, y, casting = args
        if casting == "unsafe":
            x[...] = y
        else:
            np.copyto(x, y, casting=casting)
        return None
    if name in REAL:
        return REAL[name](*args)
    count = op.schema.positional
    names = [param.name for param in op.schema.params[count:]]
    result = op.numpy(*args[:count], **dict(zip(names, args[count:], strict=True)))
    return None if op.role == "out" else result


NO_OUT = {
    "where",
    "astype",
    "copy",
    "item",
    "sort",
    "argsort",
    "partition",
    "argpartition",
    "linspace",
    "eye",
    "ufunc_reduce",
    "ufunc_accumulate",
    "ufunc_reduceat",
} | {op.name for op in TABLE if op.name.startswith(("py_", "linalg_"))}

# ---------------------------------------------------------------- from real values to types


def typed(arg):
    if isinstance(arg, np.ndarray):
        strides = normal_strides(arg.shape, arg.strides, arg.itemsize)
        return ArrayType(arg.dtype, arg.shape, strides, arg.flags.writeable)
    if isinstance(arg, tuple):
        return tuple(map(typed, arg))
    return arg


def operand(arg):
    """As ``typed``; scalars become Literals."""
    if isinstance(arg, np.generic | bool | int | float | complex):
        return Literal(arg)
    return typed(arg)


def canonical(name, args):
    schema = TABLE[name].schema
    result = []
    for param, arg in zip(schema.params, args, strict=True):
        if param.is_value and param.is_list:
            result.append(tuple(map(operand, arg)))
        elif param.is_value:
            result.append(operand(arg))
        else:
            result.append(arg)
    return tuple(result)


def result_type(value):
    if value is None:
        return ()
    if isinstance(value, tuple):
        return tuple(map(result_type, value))
    if isinstance(value, np.ndarray):
        kind = typed(value)
        assert is_known(kind.dtype)
        return kind
    return scalar_type_of(value)


class Symbolic:
    """Types with a symbol for each dim that is at least 2."""

    def __init__(self, stride_symbols=False):
        self.values = {}
        self.stride_symbols = stride_symbols

    def symbol(self, value, lower=None):
        name = f"n{len(self.values)}"
        self.values[name] = value
        return symbol(name, hint=value, lower=lower)

    def convert(self, arg):
        if isinstance(arg, tuple) and arg and isinstance(arg[0], ArrayType | Literal):
            return tuple(map(self.convert, arg))
        if not isinstance(arg, ArrayType):
            return arg
        shape = tuple(self.symbol(n, 2) if n >= 2 else n for n in arg.shape)
        strides = [0] * arg.rank
        step, real = arg.dtype.itemsize, arg.dtype.itemsize
        for axis in sorted(range(arg.rank), key=lambda a: (abs(arg.strides[a]), -a)):
            stride = arg.strides[axis]
            if self.stride_symbols and arg.shape[axis] > 1:
                strides[axis] = self.symbol(stride)
                continue
            if stride == 0 or stride % real:
                strides[axis] = stride
                continue
            strides[axis] = step * (stride // real)
            if abs(stride) == real and arg.shape[axis]:
                step, real = step * shape[axis], real * arg.shape[axis]
        return (
            array_type(arg.dtype, shape, strides)
            if arg.writeable
            else ArrayType(
                arg.dtype, shape, normal_strides(shape, strides, arg.dtype.itemsize), False
            )
        )

    def evaluated(self, kind):
        if isinstance(kind, tuple):
            return tuple(map(self.evaluated, kind))
        if isinstance(kind, ArrayType):
            shape = tuple(evaluate(dim, self.values) for dim in kind.shape)
            strides = tuple(evaluate(stride, self.values) for stride in kind.strides)
            strides = normal_strides(shape, strides, kind.dtype.itemsize)
            return ArrayType(kind.dtype, shape, strides, kind.writeable)
        return kind


def quiet(function, *args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args)


def outcome(function, *args):
    """The result, or the exception; those of text and class both count."""
    try:
        return quiet(function, *args)
    except Exception as error:
        return error


def agree(name, args, *, text=True, symbolic=True):
    """The meta of ``name`` says what NumPy does with these real arguments."""
    __tracebackhide__ = True
    given = canonical(name, args)
    shown = f"{name}({', '.join(map(str, given))})"
    answer = outcome(meta_of(name), *given)
    truth = outcome(call_numpy, name, args)
    if isinstance(truth, Exception):
        assert isinstance(answer, Exception), f"{shown}: NumPy raises {truth!r}, not {answer}"
        assert type(answer) is type(truth), f"{shown}: {answer!r}, NumPy raises {truth!r}"
        if text:
            assert str(answer) == str(truth), shown
    else:
        if isinstance(answer, Exception):
            raise AssertionError(f"{shown}: NumPy gives {result_type(truth)}") from answer
        expected = result_type(truth)
        if isinstance(answer, ArrayType):
            answer = Symbolic().evaluated(answer)
        elif isinstance(answer, tuple):
            answer = tuple(map(Symbolic().evaluated, answer))
        assert answer == expected, f"{shown}: {answer}, NumPy gives {expected}"
    if symbolic:
        for stride_symbols in (False, True):
            agree_with_symbols(name, given, answer, shown, stride_symbols)


def agree_with_symbols(name, given, answer, shown, stride_symbols):
    __tracebackhide__ = True
    symbols, guards = Symbolic(stride_symbols), {}
    arguments = tuple(map(symbols.convert, given))
    with recording(guards):
        found = outcome(meta_of(name), *arguments)
    if isinstance(answer, Exception):
        assert type(found) is type(answer), f"{shown} with symbols: {found!r}"
        assert str(found) == str(answer), shown
    else:
        if isinstance(found, Exception):
            raise AssertionError(f"{shown} with symbols") from found
        assert symbols.evaluated(found) == answer, f"{shown} with symbols: {found}"
    for relation in guards:
        assert relation.holds(symbols.values), f"{shown}: {relation}"


# ---------------------------------------------------------------- random arrays


def laid_out(rng, shape, dtype, *, broadcast=True):
    """An array of ones in a random layout: axes permuted, sliced, reversed, repeated."""
    if 0 in shape:
        return np.ones(shape, dtype)  # types do not keep the strides of empty arrays
    order = list(range(len(shape)))
    if rng.random() < 0.7:
        rng.shuffle(order)
    steps = [rng.choice((1, 1, 1, 2, -1, -2)) for _ in shape]
    repeated = [broadcast and rng.random() < 0.12 for _ in shape]
    sizes = [
        1
        if repeated[axis]
        else shape[axis] * abs(steps[axis]) + rng.choice((0, 0, 0, 1)) * (abs(steps[axis]) > 1)
        for axis in order
    ]
    base = np.ones(sizes, dtype)
    view = base.transpose([order.index(axis) for axis in range(len(shape))])
    index = tuple(
        FULL if again else slice(None, None, step)
        for again, step in zip(repeated, steps, strict=True)
    )
    view = view[(*index, ...)]
    view = view[tuple(slice(0, n) for n in view.shape)]
    view = view[(*(slice(0, n) for n in shape), ...)] if shape else view
    strides = [0 if again else s for again, s in zip(repeated, view.strides, strict=True)]
    result = np.lib.stride_tricks.as_strided(view, shape, strides)
    if rng.random() < 0.1:
        result.flags.writeable = False
    return result


def random_shape(rng, rank=None):
    rank = rng.choice((0, 1, 2, 2, 3, 3, 4)) if rank is None else rank
    return tuple(rng.choice((1, 2, 3, 4, 2, 3, 4, 1, 5, 0)) for _ in range(rank))


def part_of(rng, shape):
    """A shape that broadcasts to ``shape``."""
    start = rng.choice((0, 0, 0, rng.randint(0, len(shape))))
    return tuple(1 if rng.random() < 0.2 else n for n in shape[start:])


def random_array(rng, shape=None, dtype=None, **options):
    dtype = rng.choice(DTYPES) if dtype is None else dtype
    return laid_out(rng, random_shape(rng) if shape is None else shape, dtype, **options)


def random_operand(rng, shape, dtypes=DTYPES):
    chance = rng.random()
    if chance < 0.08:
        return rng.choice((True, 1, 2, 300, -1, 2**40, 1.5, 1j))
    dtype = rng.choice(dtypes)
    if chance < 0.14:
        return dtype.type(1)
    if chance < 0.2:
        return np.ones((), dtype)
    return laid_out(rng, part_of(rng, shape), dtype)


def random_operands(rng, count, dtypes=DTYPES):
    shape = random_shape(rng)
    operands = [random_operand(rng, shape, dtypes) for _ in range(count)]
    if rng.random() < 0.1:
        operands[-1] = random_array(rng)
    return operands


# ---------------------------------------------------------------- pointwise

POINTWISE = [
    op.name
    for op in TABLE
    if op.role == "" and isinstance(op.numpy, np.ufunc) and op.name != "matmul"
]
KINDS = (lambda d: np.ones(3, d), lambda d: np.ones((), d), lambda d: d.type(1))
PYTHON = (True, 1, 1.0, 1j)


@pytest.mark.parametrize("name", POINTWISE)
def test_dtypes_and_kinds_of_ufuncs(name):
    count = len(TABLE[name].schema.params)
    arguments = [(np.ones(3, d),) for d in DTYPES] + [(np.ones((), d),) for d in DTYPES]
    arguments += [(d.type(1),) for d in DTYPES] + [(value,) for value in PYTHON]
    if count == 2:
        arguments = [(np.ones(3, a), np.ones(3, b)) for a in DTYPES for b in DTYPES]
        for make, d, value in itertools.product(KINDS, DTYPES, (*PYTHON, 300, -1, -200)):
            arguments += [(make(d), value), (value, make(d))]
        for one, two in itertools.permutations(KINDS, 2):
            arguments += [(one(d), two(F8)) for d in DTYPES]
        arguments += list(itertools.product(PYTHON, PYTHON))
    for args in arguments:
        if TABLE[name].raises and any(type(a) is int and a < 0 for a in args):
            continue  # NumPy raises for the value, when it runs
        agree(name, args, symbolic=False)


@pytest.mark.parametrize("seed", range(3))
def test_layouts_of_ufuncs(seed):
    rng = random.Random(seed)
    for _ in range(700):
        if rng.random() < 0.1:
            agree("negative", random_operands(rng, 1, DTYPES[1:]))
        else:
            args = random_operands(rng, 2, (F8, I8, np.dtype("c16"), np.dtype("f4")))
            agree(rng.choice(("add", "less", "multiply")), args)


@pytest.mark.parametrize("name", ["where", "clip", "modf", "divmod"])
def test_other_pointwise_operators(name):
    rng = random.Random(name)
    for _ in range(250):
        args = random_operands(rng, len(TABLE[name].schema.params))
        if name == "clip":
            args = [args[0], *(None if rng.random() < 0.2 else a for a in args[1:])]
        agree(name, args)


@pytest.mark.parametrize("name", [op.name for op in TABLE if op.name.startswith("py_")])
def test_python_arithmetic(name):
    if TABLE[name].role:
        with pytest.raises(TypeError):
            meta_of(name)(*(Literal(1.0) for _ in TABLE[name].schema.params))
        return
    for args in itertools.product(PYTHON, repeat=len(TABLE[name].schema.params)):
        agree(name, args)


def test_casts_and_copies():
    rng = random.Random(0)
    for _ in range(500):
        x = random_operand(rng, random_shape(rng))
        agree("copy", (x, rng.choice("KCFA")))
        casting = rng.choice(("no", "equiv", "safe", "same_kind", "unsafe"))
        agree("astype", (x, rng.choice(DTYPES), casting, rng.choice("KCFA")))


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_item_is_a_scalar(dtype):
    agree("item", (np.ones((), dtype),))


def test_a_new_pointwise_operator_needs_no_meta():
    def half(x, y):
        return np.asarray(x) * np.float32(0.5) + y

    TABLE.add(row("half_sum(Array x, Array y) -> Array", Tag.POINTWISE, half))
    try:
        agree("half_sum", (np.ones((3, 4), "f4").T, np.ones(3, "i8")))
    finally:
        TABLE.remove("half_sum")
    with pytest.raises(KeyError):
        meta_of("half_sum")


# ---------------------------------------------------------------- views


def random_axes(rng, rank, count=None):
    count = rng.randint(0, rank) if count is None else count
    axes = rng.sample(range(rank), count)
    return tuple(a - rank if rng.random() < 0.3 else a for a in axes)


def random_index(rng, shape):
    specs = []
    for size in shape[: rng.randint(0, len(shape))]:
        ends = [rng.choice((None, rng.randint(-6, 6))) for _ in range(2)]
        step = rng.choice((None, 1, 2, 3, -1, -2))
        specs.append(SliceSpec(*slice(*ends, step).indices(size)))
    return tuple(specs)


def factored(rng, size):
    shape = []
    while rng.random() < 0.75:
        factors = [n for n in range(1, size + 1) if size % n == 0] if size else [0, 1, 2]
        factor = rng.choice(factors)
        shape.append(factor)
        size = size // factor if factor else rng.choice((0, 1, 2))
    return (*shape, size)


def view_arguments(rng, name):
    x = random_array(rng)
    rank = x.ndim
    match name:
        case "slice":
            return (x, random_index(rng, x.shape))
        case "select":
            axis = rng.randrange(rank) if rank else 0
            size = x.shape[axis] if rank else 1
            return (x, axis, rng.randint(-size - 1, size)) if rank else None
        case "dynamic_select":
            places = [axis for axis in range(rank) if x.shape[axis]]
            axis = rng.choice(places) if places else None
            return None if axis is None else (x, np.int64(rng.randrange(x.shape[axis])), axis)
        case "transpose":
            axes = random_axes(rng, rank, rank)
            return (x, axes if rng.random() < 0.9 else axes[:1] * rng.randint(0, 3))
        case "reshape":
            shape = list(factored(rng, x.size))
            if rng.random() < 0.3:
                shape[rng.randrange(len(shape))] = rng.choice((-1, -1, 3))
            return (x, tuple(shape))
        case "expand_dims":
            count = rng.randint(0, 3)
            axes = random_axes(rng, rank + count, count)
            return (x, axes if rng.random() < 0.9 else (*axes, rng.randint(-7, 6)))
        case "squeeze":
            ones = tuple(a for a in range(rank) if x.shape[a] == 1)
            return (x, ones if rng.random() < 0.8 else random_axes(rng, rank + 1))
        case "broadcast_to" | "broadcast":
            shape = random_shape(rng)
            if rng.random() < 0.7:
                x = laid_out(rng, part_of(rng, shape), F8)
            return (x, shape)
        case "diagonal":
            axes = [rng.randint(-rank, rank - 1) if rank else 0 for _ in range(2)]
            return (x, rng.randint(-4, 4), *axes)
        case "real" | "imag":
            return (laid_out(rng, x.shape, rng.choice(COMPLEX)),)
        case "field":
            names = rng.choice([("x",), ("p", "z"), ("p", "n")])
            return (laid_out(rng, x.shape, RECORDS), names) if rank else None
        case "fields":
            names = rng.choice([("x",), ("p", "x"), ("p",)])
            return (laid_out(rng, x.shape, RECORDS), names) if rank else None
        case "array_field":
            names = rng.choice([("a",), ("p", "z"), ("p", "n")])
            return (laid_out(rng, x.shape, OF_SEVERAL), names) if rank else None
        case "bitcast" | "regroup_bytes":
            same = name == "bitcast"
            fitting = [t for t in RECAST if (t.itemsize == x.itemsize) == same]
            return (x, rng.choice(fitting))
        case "as_strided":
            return windows(rng, x) if rank and x.size else None
    raise AssertionError(name)


def windows(rng, x):
    """Windows that slide along the last axis, as arguments of ``as_strided``."""
    size = rng.randint(1, x.shape[-1])
    shape = (*x.shape[:-1], x.shape[-1] - size + 1, size)
    rows = np.eye(x.ndim, x.ndim + 1, dtype=int)
    rows[-1, -1] = 1
    return (x, shape, tuple(map(int, rows.ravel())), rng.random() < 0.5)


RECAST = tuple(map(np.dtype, ("i1", "u1", "i2", "u2", "i4", "f4", "i8", "u8", "f8", "c8", "c16")))
RECORDS = np.dtype([("x", "f8"), ("p", [("n", "i8"), ("z", "c16")])])
OF_SEVERAL = np.dtype([("a", "f8", (2, 3)), ("p", [("n", "i8", (3,)), ("z", "c8")], (2,))])
COMPLEX = (np.dtype("c8"), np.dtype("c16"))
VIEWS = [op.name for op in TABLE if op.tag is Tag.VIEW and op.role == ""]


@pytest.mark.parametrize("name", VIEWS)
def test_views(name):
    rng = random.Random(name)
    for _ in range(250):
        args = view_arguments(rng, name)
        if args is None:
            continue
        x = args[0]
        truth = outcome(call_numpy, name, args)
        is_copy = isinstance(truth, np.ndarray) and x.size and not np.shares_memory(x, truth)
        if name == "reshape" and is_copy:
            agree_on_a_copying_reshape(*args)
            continue
        agree(name, args)
        if isinstance(truth, Exception):
            continue
        kind = meta_of(name)(*canonical(name, args))
        copied = meta_of(f"{name}_copy")(*canonical(name, args))
        assert copied == array_type(kind.dtype, kind.shape, kind.strides)
        scattered = meta_of(f"{name}_scatter")(typed(x), kind, *canonical(name, args)[1:])
        assert scattered == typed(x)


def agree_on_a_copying_reshape(x, shape):
    wanted = resolve_shape(typed(x), shape)
    assert wanted == x.reshape(shape).shape
    assert reshape_strides(typed(x), wanted) is None
    assert meta_of("reshape_copy")(typed(x), shape) == array_type(x.dtype, wanted)
    symbols = Symbolic()
    kind = symbols.convert(typed(x))
    guards = {}
    with recording(guards):
        assert reshape_strides(kind, wanted) is None
    assert all(relation.holds(symbols.values) for relation in guards)


@pytest.mark.parametrize("name", ["transpose", "squeeze", "reshape", "expand_dims", "broadcast_to"])
@pytest.mark.parametrize("value", [np.float32(1), 1.5, 1, True])
def test_views_of_scalars(name, value):
    agree(name, (value, ()))
    if name in ("reshape", "broadcast_to"):
        agree(name, (value, (1, 1)))
    if name == "expand_dims":
        agree(name, (value, (0, -1)))


def test_symbolic_reshapes_need_no_guards():
    n, m = symbol("n", hint=4, lower=2), symbol("m", hint=5, lower=2)
    guards = {}
    with recording(guards):
        kind = array_type(F8, (n, m))
        assert reshape_strides(kind, (n * m,)) == (8,)
        assert resolve_shape(kind, (-1,)) == (n * m,)
        assert resolve_shape(kind, (m, -1)) == (m, n)
        flipped = meta_of("transpose")(kind, (1, 0))
        assert reshape_strides(flipped, (m, n, 1)) == (8, 8 * m, 8)
        assert str(meta_of("add")(flipped, flipped)) == "f64[m, n]{8, 8*m}"
    assert not guards
    with recording(guards):
        assert reshape_strides(flipped, (n * m,)) is None
        assert resolve_shape(kind, (2, -1))[0] == 2
    assert [str(g) for g in guards] == ["mod(m*n, 2) == 0"]


# ---------------------------------------------------------------- reductions, scans, sorts

REDUCTIONS = [
    op.name
    for op in TABLE
    if op.role == "" and op.numpy is not None and "keepdims" in op.schema.index_of
]


def reduction_arguments(rng, name):
    x = random_operand(rng, random_shape(rng)) if rng.random() < 0.2 else random_array(rng)
    rank = np.ndim(x)
    if name.startswith("arg"):
        axis = rng.choice((None, rng.randint(-rank - 1, rank)))
    else:
        axis = rng.choice((None, random_axes(rng, rank), (rng.randint(-rank - 1, rank),)))
        if axis and rng.random() < 0.05:
            axis = axis[:1] * 2
    rest = []
    for param in TABLE[name].schema.params[3:]:
        if param.name == "dtype":
            rest.append(rng.choice((None, None, *DTYPES)))
        elif param.name == "ddof":
            rest.append(rng.choice((0, 1)))
    return (x, axis, rng.choice((True, False)), *rest)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    rng = random.Random(name)
    for _ in range(220):
        agree(name, reduction_arguments(rng, name))


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "sort", "argsort"])
def test_scans_and_sorts(name):
    rng = random.Random(name)
    for _ in range(200):
        x = random_operand(rng, random_shape(rng))
        rank = np.ndim(x)
        axis = rng.choice((None, rng.randint(-rank - 1, rank)))
        rest = (None, None, *DTYPES) if name.startswith("cum") else (None, "stable", "heapsort")
        agree(name, (x, axis, rng.choice(rest)))


@pytest.mark.parametrize("name", ["partition", "argpartition"])
def test_partitions(name):
    rng = random.Random(name)
    for _ in range(200):
        x = random_operand(rng, random_shape(rng))
        rank = np.ndim(x)
        axis = rng.choice((None, rng.randint(-rank - 1, rank)))
        agree(name, (x, tuple(rng.randint(-3, 3) for _ in range(rng.randint(1, 2))), axis))


UFUNCS = ("add", "subtract", "multiply", "maximum", "logical_or", "hypot", "bitwise_xor")


def test_reductions_by_ufuncs():
    rng = random.Random(0)
    for _ in range(400):
        x = random_operand(rng, random_shape(rng))
        shape, rank = np.shape(x), np.ndim(x)
        axis = rng.choice((None, random_axes(rng, rank), (rng.randint(-rank - 1, rank),)))
        start = rng.choice((None, 1, 2.5, np.float32(1)))
        mask = rng.choice((None, True, laid_out(rng, shape, np.dtype(bool), broadcast=True)))
        dtypes = (rng.choice((None, None, *DTYPES)), rng.choice((None, None, *DTYPES)))
        agree(
            "ufunc_reduce", (x, start, mask, rng.choice(UFUNCS), axis, rng.random() < 0.5, *dtypes)
        )


def test_scans_by_ufuncs():
    rng = random.Random(0)
    for _ in range(300):
        x = random_array(rng, random_shape(rng))
        axis, dtype = rng.randint(-x.ndim - 1, x.ndim), rng.choice((None, None, *DTYPES))
        agree("ufunc_accumulate", (x, rng.choice(UFUNCS), axis, dtype, None))
        places = np.zeros(rng.randint(0, 3) if x.size else 0, int)
        agree("ufunc_reduceat", (x, places, rng.choice(UFUNCS), axis, dtype))


# ---------------------------------------------------------------- factories


def test_factories():
    rng = random.Random(0)
    for _ in range(150):
        shape, dtype = random_shape(rng), rng.choice(DTYPES)
        layout = rng.choice((None, tuple(rng.sample(range(len(shape)), len(shape)))))
        for name in ("zeros", "ones", "empty"):
            agree(name, (shape, dtype, layout))
        if layout is None:
            agree("full", (shape, random_operand(rng, shape), dtype, None))
        agree("eye", (rng.randint(0, 4), rng.randint(0, 4), rng.randint(-3, 3), dtype))
        ends = random_operands(rng, 2, DTYPES[1:])
        agree("linspace", (*ends, rng.randint(-1, 4), rng.choice((True, False)), dtype))
    agree("zeros", ((2, -1), F8, None))
    agree("arange", (1, 2, 7, I8))
    agree("constant", (ArrayConstant.of(np.ones((3, 4), "f4")),))
    agree("int_value", (7,))
    n = symbol("n", hint=3, lower=2)
    assert meta_of("int_value")(n) == ScalarType(I8, weak=True)
    assert str(meta_of("zeros")((n, n + 1), F8, (1, 0))) == "f64[n, n + 1]{8, 8*n}"


# ---------------------------------------------------------------- joins, contractions


def test_joins():
    rng = random.Random(0)
    for _ in range(500):
        shape = random_shape(rng)
        count = rng.randint(1, 3)
        xs = []
        for _ in range(count):
            mine = list(shape)
            if shape and rng.random() < 0.3:
                mine[0] = rng.randint(1, 4)
            if shape and rng.random() < 0.05:
                mine = mine[1:]
            if 0 in mine:
                mine = [n or 2 for n in mine]
            xs.append(random_array(rng, tuple(mine)))
        axis = rng.choice((None, 0, 0, rng.randint(-len(shape) - 1, len(shape))))
        agree("concatenate", (tuple(xs), axis))
        agree("stack", (tuple(xs), axis or 0))
    agree("concatenate", ((), 0))
    agree("stack", ((), 0))
    agree("concatenate", ((np.uint8(3), 1, 2.5), None))
    agree("stack", ((np.uint8(3), 300), 0))


def test_contractions():
    rng = random.Random(0)
    for _ in range(500):
        n, k, m = rng.randint(0, 3), rng.randint(1, 3), rng.randint(1, 3)
        batch = random_shape(rng, rng.randint(0, 2))
        x = rng.choice(((k,), (n, k), (n, k), (*part_of(rng, batch), n, k), random_shape(rng)))
        y = rng.choice(((k,), (k, m), (k, m), (*part_of(rng, batch), k, m), random_shape(rng)))
        pair = (random_array(rng, x), random_array(rng, y))
        agree("matmul", pair)
        agree("dot", pair)
        agree("outer", pair)
    for value in (2.0, 2, np.float32(1), np.ones(())):
        for name in ("matmul", "dot", "outer"):
            for other in (3.0, random_array(rng, (2, 3), F8), random_array(rng, (2, 2, 3), I8)):
                agree(name, (value, other))
                agree(name, (other, value))


def test_linear_algebra():
    rng = random.Random(0)
    for _ in range(150):
        n = rng.randint(1, 3)
        batch = random_shape(rng, rng.randint(0, 2))
        x = random_array(rng, (*part_of(rng, batch), n, rng.choice((n, n, n, 2))))
        x = (x + 3 * np.eye(*x.shape[-2:])).astype(x.dtype)
        if x.dtype == bool:
            continue
        agree("linalg_inv", (x,))
        y = random_array(rng, rng.choice(((n,), (n, 2), (*part_of(rng, batch), n, 2), (4,))))
        agree("linalg_solve", (x, y))


# ---------------------------------------------------------------- writes


def test_assignments():
    rng = random.Random(0)
    for _ in range(500):
        x = random_array(rng)
        y = random_operand(rng, x.shape)
        if rng.random() < 0.1:
            y = random_array(rng)
        casting = rng.choice(("unsafe", "unsafe", "same_kind", "safe", "no", "equiv"))
        agree("copy_", (x, y, casting))


@pytest.mark.parametrize("name", POINTWISE)
def test_dtypes_of_ufuncs_in_place(name):
    count = len(TABLE[name].schema.params)
    if f"{name}_" not in {op.name for op in TABLE}:
        return
    for dtype in DTYPES:
        if count == 1:
            agree(f"{name}_", (np.ones(3, dtype),), symbolic=False)
            for out in DTYPES:
                agree(f"{name}.out", (np.ones(3, dtype), np.ones(3, out)), symbolic=False)
            continue
        for other in DTYPES:
            agree(f"{name}_", (np.ones(3, dtype), np.ones(3, other)), symbolic=False)
            args = (np.ones(3, I8), np.ones(3, other), np.ones(3, dtype))
            agree(f"{name}.out", args, symbolic=False)
        for value in (1, 1.5, 1j) if name in CRASHING_COMPARISONS else (1, 300, 1.5, 1j):
            agree(f"{name}_", (np.ones(3, dtype), value), symbolic=False)


def test_shapes_of_writers():
    rng = random.Random(0)
    for _ in range(400):
        x, y = random_operands(rng, 2, (F8,))
        if isinstance(x, np.ndarray):
            agree("add_", (x, y))
        agree("add.out", (x, y, random_array(rng, np.broadcast_shapes(np.shape(x)), F8)))
        shape = outcome(np.broadcast_shapes, np.shape(x), np.shape(y))
        if isinstance(shape, tuple):
            agree("add.out", (x, y, random_array(rng, shape)))
            condition = np.ones(shape, bool)
            agree("where.out", (condition, x, y, random_array(rng, shape)))
            agree("clip.out", (np.ones(shape), x, y, random_array(rng, shape)))


def test_readonly_operands():
    frozen = np.ones(3)
    frozen.flags.writeable = False
    agree("add_", (frozen, 1))
    agree("add.out", (1, 2, frozen))
    agree("copy_", (frozen, 1, "unsafe"))
    agree("copy_", (frozen, 1, "same_kind"))
    agree("sum.out", (np.ones((3, 4)), (1,), False, None, frozen))
    agree("cumsum.out", (np.ones(3), 0, None, frozen))
    agree("dot.out", (np.ones((3, 2)), np.ones(2), frozen))


WITH_OUT = [
    *REDUCTIONS,
    *("cumsum", "cumprod", "matmul", "dot", "outer", "sort", "argsort"),
]


@pytest.mark.parametrize("name", WITH_OUT)
def test_writers_of_other_operators(name):
    rng = random.Random(name)
    for _ in range(120):
        if name in REDUCTIONS:
            args = reduction_arguments(rng, name)
        elif name in ("cumsum", "cumprod"):
            x = random_array(rng)
            args = (x, rng.randrange(x.ndim) if x.ndim else 0, rng.choice((None, F8)))
        elif name in ("sort", "argsort"):
            args = (random_array(rng, random_shape(rng, 2)), 0, None)
        else:
            args = (random_array(rng, (2, 3)), random_array(rng, (3, 2)))
        result = outcome(call_numpy, name, args)
        if isinstance(result, Exception):
            continue
        shape = np.shape(result) if rng.random() < 0.8 else random_shape(rng)
        dtype = result.dtype if rng.random() < 0.7 else rng.choice(DTYPES)
        out = laid_out(rng, shape, dtype, broadcast=False)
        if name.startswith("cum") and not shape:
            continue  # NumPy 2.4 crashes
        if name == "dot":
            out = np.ones(shape, dtype)
        agree(f"{name}.out", (*args, out))


# ---------------------------------------------------------------- control flow


def region(params, results):
    return Region(tuple(Value("x", t) for t in params), (), tuple(Value("y", t) for t in results))


def test_branches():
    x, y = array_type(F8, (3,)), ScalarType(F8)
    flag = ScalarType(np.dtype(bool))
    arms = region([x], [x, y]), region([x], [x, y])
    assert meta_of("cond")(flag, (x,), *arms) == (x, y)
    with pytest.raises(TypeError, match="value 0: the true arm of a branch gives f64"):
        meta_of("cond")(flag, (), region([], [x]), region([], [y]))
    with pytest.raises(TypeError, match="gives 1 values, the false arm 0"):
        meta_of("cond")(flag, (), region([], [x]), region([], []))
    with pytest.raises(TypeError, match="must be a scalar"):
        meta_of("cond")(x, (), region([], []), region([], []))


def test_loops():
    x, i = array_type(F8, (3,)), ScalarType(I8, weak=True)
    assert meta_of("fori_loop")(Literal(0), i, (x,), region([i, x], [x])) == (x,)
    with pytest.raises(TypeError, match="its body gives f32"):
        meta_of("fori_loop")(i, i, (x,), region([i, x], [array_type(np.dtype("f4"), (3,))]))
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        meta_of("fori_loop")(Literal(0.5), i, (x,), region([i, x], [x]))
    flag = ScalarType(np.dtype(bool))
    assert meta_of("fori_loop")(i, i, (x,), region([i, x], [x, flag]), True) == (x,)
    assert meta_of("while_loop")((x,), region([x], [flag]), region([x], [x])) == (x,)
    with pytest.raises(TypeError, match="the test of a loop gives one bool, not f64"):
        meta_of("while_loop")((x,), region([x], [x]), region([x], [x]))
    with pytest.raises(TypeError, match="a loop that stops ends with one bool, not f64"):
        meta_of("fori_loop")(i, i, (x,), region([i, x], [x, x]), True)
    with pytest.raises(TypeError, match="the test of a loop takes 0 values, it is given 1"):
        meta_of("while_loop")((x,), region([], [flag]), region([x], [x]))


# ---------------------------------------------------------------- the helpers


def test_slices_are_normalised_as_by_python():
    ends = (None, -7, -3, -1, 0, 1, 3, 5, 9)
    for size, start, stop, step in itertools.product(range(7), ends, ends, (None, 1, 2, -1, -3)):
        expected = SliceSpec(*slice(start, stop, step).indices(size))
        assert normalize_slice(start, stop, step, size) == expected
        if size < 2:
            continue
        guards = {}
        with recording(guards):
            found = normalize_slice(start, stop, step, symbol("n", hint=size, lower=2))
        values = {"n": size}
        parts = (found.start, found.stop, found.step)
        assert SliceSpec(*(evaluate(part, values) for part in parts)) == expected
        assert all(relation.holds(values) for relation in guards)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        normalize_slice(None, None, 0, 3)


def test_an_interior_slice_of_a_symbolic_dim():
    n, guards = symbol("n", hint=9, lower=2), {}
    with recording(guards):
        assert str(normalize_slice(1, -1, None, n)) == "1:n - 1:1"
    assert not guards


def test_axes():
    assert normalize_axis(-1, 3) == 2
    assert normalize_axes_tuple((-1, 0), 3) == (2, 0)
    with pytest.raises(np.exceptions.AxisError, match="axis 3 is out of bounds"):
        normalize_axis(3, 3)
    with pytest.raises(ValueError, match="duplicate value in 'axis'"):
        normalize_axes_tuple((0, -3), 3)


def test_broadcasting_takes_the_guards_it_needs():
    n, m = symbol("n", hint=4, lower=2), symbol("m", hint=4, lower=2)
    guards = {}
    with recording(guards):
        assert broadcast_shapes((n, 1), (m,)) == (n, m)
        assert broadcast_shapes((n, m), (n, m), ()) == (n, m)
        assert not guards
        assert broadcast_shapes((n,), (m,)) == (n,)
        assert broadcast_shapes((n,), (4,)) == (4,)
        assert broadcast_shapes((n - 3,), (5,)) == (5,)
    assert [str(g) for g in guards] == ["m == n", "4 == n", "n - 3 == 1"]


def test_layout_of_like_arrays():
    rng = random.Random(0)
    for _ in range(400):
        x = random_array(rng, dtype=F8)
        assert meta_of("zeros")(x.shape, F8, layout_of(typed(x))) == typed(np.zeros_like(x))


def test_a_symbol_without_a_hint_is_an_index_checked_when_it_runs():
    x = array_type(F8, (symbol("n", hint=4, lower=2), 3))
    assert str(meta_of("select")(x, 0, symbol("i", lower=0))) == "f64[3]"


# ---------------------------------------------------------------- all operators


def test_nothing_is_kept_of_the_symbols_of_another_capture():
    for value in (4, 7):
        x = array_type(F8, (symbol("n", hint=value, lower=2), symbol("m", hint=9, lower=2)))
        for kind in (meta_of("add")(x, x), meta_of("zeros")(x.shape, F8, (1, 0))):
            known = [s.hint for d in (*kind.shape, *kind.strides) for s in symbols_of(d).values()]
            assert set(known) == {value, 9}, kind


def test_copies_of_views_of_scalars_are_arrays():
    assert meta_of("transpose_copy")(ScalarType(F8), ()) == array_type(F8, ())


def test_every_operator_has_a_meta():
    assert [op.name for op in TABLE if not callable(meta_of(op.name))] == []


@pytest.mark.parametrize("name", [op.name for op in TABLE if op.tag not in CONTROL])
def test_metas_and_kernels_agree_on_the_samples(name):
    count = 0
    for found in samples(TABLE[name]):
        given = canonical(name, found.args)
        truth = result_type(quiet(kernel_of(name), *found.args))
        answer = quiet(meta_of(name), *given)
        known = Symbolic()
        if name in ("unique", "bincount_all"):  # the size that it counts
            known.values["count"] = truth[0].shape[0]
        assert known.evaluated(answer) == truth, f"{name}({', '.join(map(str, given))})"
        count += 1
    assert count
