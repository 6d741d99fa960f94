"""What goes in and comes out of a call: identities, overlaps, foreign arrays, effects, errors."""

from __future__ import annotations

import tempfile
from types import SimpleNamespace

import numpy as np

from .model import EVERYWHERE, Absent, Group, Refused

results = Group("Results")


@results("`return x`: the object itself")
def returned_input(x):
    x += 1
    return x


@results("`return x, x`, `[x, (x,)]`: one object")
def returned_twice(x):
    y = x + 1
    return x, x, [y, (y,), {"y": y}]


@results("a view of the input, and a view of that view")
def returned_views(x):
    v = x[1:]
    w = v[:, ::2]
    w -= 1
    return v, w, w.T


@results("a write through the returned input or view stays visible", empty=(4, 0))
def written_after(x):
    y = x[::-1]
    y *= 2
    x[0] += 1
    return x, y


@results("two results from one value share memory")
def results_that_share(x):
    t = x * 2
    return t, t[1:], t.T, t.reshape(-1)


@results("equal results do not share memory")
def results_that_do_not(x, y):
    return x + y, x + y, np.zeros(3), np.zeros(3), x.copy(), x.copy()


@results("constants are new at every call")
def constants(x):
    t = np.array([1.0, 2.0])
    t[0] = 3
    return t, np.arange(4), np.ones(x.shape)


@results("scalars: `x.sum()`, `x[0, 0]`, `x.max() + 1`")
def scalars(x):
    return x.sum(), x[0, 0], x.max() + 1, x.mean(keepdims=True), x.size, x.shape


@results("arrays of rank 0: views, `out=`, `np.where`, `cumsum`")
def arrays_of_rank_0(x):
    out = np.zeros(())
    return np.add(1, 2.0, out=out), out[...], np.where(True, 1.0, 2.0), x[..., 0].sum(axis=0)


@results("layout of results: `x + y`, `x.T + y.T`, `x * y[0]`", empty=(4, 0))
def result_layouts(x, y):
    return x + y, x.T + y.T, x * y[0], np.sqrt(np.abs(x)), x.copy("K"), np.zeros_like(x)


@results("containers: tuples, lists, dicts, `None`")
def containers(x):
    return {"view": x[1:], "all": [x, x + 1, None], "pair": (x, "text", 3)}


IN_EVERY_COLUMN = {"overlapping": Absent("the arguments overlap in every column")}
NO_PARTS = IN_EVERY_COLUMN | {"rank-0": Absent("an array of rank 0 has no parts")}

shared = Group("Arguments that share memory", differs=NO_PARTS)


@shared("the same array twice", arguments=lambda x: (x, x), differs=IN_EVERY_COLUMN)
def same_array(a, b):
    a += 1
    b *= 2
    a[1:] -= b[:-1]
    return a, b


@shared(
    "an array and a view of all of it", arguments=lambda x: (x, x[...]), differs=IN_EVERY_COLUMN
)
def array_and_view(a, b):
    a += 1
    b *= a
    return a, b


@shared("one contains the other", arguments=lambda x: (x, x[1:-1]))
def contained(a, b):
    a *= 2
    b += a[:2]
    return b, a.sum()


@shared("shifted by one", arguments=lambda x: (x[1:], x[:-1]))
def shifted_arguments(a, b):
    a += b
    b -= a
    return a, b[0]


@shared("interleaved", arguments=lambda x: (x[::2], x[1::2]))
def interleaved(a, b):
    a += b
    b *= a
    return a, b


@shared(
    "transposed",
    shape=(4, 4),
    arguments=lambda x: (x, x.T),
    differs=IN_EVERY_COLUMN | {"negative": Refused("depends on the order of elements")},
)
def transposed_arguments(a, b):
    a += b
    b[0] = a[1]
    return a, b


@shared("reversed", arguments=lambda x: (x, x[::-1, ::-1]))
def reversed_arguments(a, b):
    a -= b
    b[1] *= 3
    return b, a


@shared("columns apart: the halves of one array", arguments=lambda x: (x[:, :3], x[:, 3:]))
def halves(a, b):
    a += b
    b -= 1
    return a, b


@shared("three arrays", arguments=lambda x: (x[:2], x[1:3], x[2:]))
def three(a, b, c):
    a += b
    b *= c
    c -= a
    return a, b, c


@shared(
    "of two dtypes",
    arguments=lambda x: (x, x.view(np.int64)),
    differs=IN_EVERY_COLUMN
    | {EVERYWHERE: Refused("they are not views of one array"), "zero-size": None},
)
def two_dtypes(a, b):
    a *= 2
    b ^= 1 << 52
    return a, b


@shared("shared, only read", arguments=lambda x: (x, x[::-1]))
def only_read(a, b):
    return a + b, a * 2, b


@shared(
    "written one is a view of the array that is read", arguments=lambda x: (x, x[1]), empty=(4, 0)
)
def row_of_the_other(a, row):
    row += a[0]
    return a * row


def unaligned(x: np.ndarray) -> np.ndarray:
    memory = np.zeros(x.nbytes + 1, np.uint8)
    found = memory[1:].view(x.dtype).reshape(x.shape)
    found[...] = x
    return found


def mapped(x: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryFile() as file:
        file.write(b"\0")  # NumPy 2.0 maps no empty file
        file.flush()
        found = np.memmap(file, x.dtype, "w+", shape=x.shape)
    found[...] = x
    return found


class Marked(np.ndarray):
    """A subclass that does nothing of its own."""


foreign = Group("Other arrays as arguments", differs={EVERYWHERE: Refused("runs as plain NumPy")})


@foreign(
    "strides of zero, `np.broadcast_to`",
    arguments=lambda x: (np.broadcast_to(x, (3, *x.shape)),),
    differs={},
)
def stretched(x):
    return x + 1, x[1:], x.sum(axis=0)


@foreign(
    "read-only: a write raises before anything is written",
    differs={EVERYWHERE: Refused("an assignment to x.flags.writeable")},
)
def read_only(x):
    y = x * 2
    x.flags.writeable = False
    y += 1
    x += 1


@foreign(
    "not aligned",
    arguments=lambda x: (unaligned(x),),
    differs={EVERYWHERE: Refused("is not aligned in memory"), "zero-size": None},
)
def not_aligned(x):
    x += 1
    return x[1:], x * 2


@foreign("byte-swapped", arguments=lambda x: (x.astype(">f8"),), differs={})
def byte_swapped(x):
    x += 1
    return x[1:], x * 2


@foreign(
    "`np.memmap`",
    arguments=lambda x: (mapped(x),),
    differs={"zero-size": Refused("an empty part of a memmap")},
)
def memory_mapped(x):
    x += 1
    return x[1:], x * 2


@foreign(
    "a subclass of ndarray",
    arguments=lambda x: (x.view(Marked),),
    differs={
        EVERYWHERE: Refused("an array of a subclass"),
        **dict.fromkeys(("C", "F", "overlapping")),
    },
)
def subclass(x):
    x += 1
    return x[1:], x * 2


@foreign("`np.matrix`", arguments=lambda x: (np.asmatrix(x),))
def matrix(x):
    x += 1
    return x[0], x * x.T


@foreign("masked arrays", arguments=lambda x: (np.ma.masked_array(x, x > 1),))
def masked_array(x):
    x += 1
    return x[1:], x * 2


@foreign("object arrays", arguments=lambda x: (x.astype(object),))
def object_array(x):
    x += 1
    return x[1:], x * 2


@foreign("datetime arrays", arguments=lambda x: (x.astype("datetime64[s]"),), differs={})
def datetime_array(x):
    x += np.timedelta64(1, "s")
    return x[1:]


@foreign("structured arrays", arguments=lambda x: (np.rec.fromarrays([x, x], names="a,b"),))
def structured(x):
    x["a"] += 1
    return x["b"]


effects = Group("Effects on Python objects, and exceptions")


@effects(
    "arrays in a list, written",
    arguments=lambda x: ([x, x + 1],),
)
def arrays_in_a_list(arrays):
    for a in arrays:
        a *= 2
    arrays[0] += arrays[1]
    return arrays[1]


@effects(
    "arrays in a dict of tuples, written",
    arguments=lambda x: ({"state": (x, x[1:])},),
    differs=NO_PARTS,
)
def arrays_in_a_dict(tree):
    u, v = tree["state"]
    v += 1
    u *= 2
    return tree["state"][0]


@effects("arrays in attributes, written", arguments=lambda x: (SimpleNamespace(u=x),))
def arrays_in_attributes(model):
    model.u[1:] -= model.u[:-1]
    model.u *= 2
    return model.u.sum()


@effects("a list is made, appended to and returned")
def list_made_here(x):
    steps = []
    for k in range(3):
        x += k
        steps.append(x.copy())
    return steps


@effects(
    "an argument list is appended to",
    arguments=lambda x: (x, []),
)
def list_appended_to(x, log):
    x += 1
    log.append(x * 2)
    log.append(x)


@effects(
    "an entry of an argument dict is replaced",
    arguments=lambda x: (x, {"old": 1}),
)
def entry_replaced(x, table):
    table["old"] = x + 1
    x *= 2


@effects("`x.shape = …` of an argument")
def shape_assigned(x):
    x.shape = (-1, 2)
    x += 1
    return x[1:]


@effects(
    "an attribute is replaced: `model.u = …`",
    arguments=lambda x: (SimpleNamespace(u=x, n=0),),
)
def attribute_replaced(model):
    model.u = model.u * 2
    model.n += 1


@effects(
    "random numbers: `rng.random`, `rng.shuffle(x)`",
    arguments=lambda x: (x, np.random.default_rng(7)),
)
def random_numbers(x, rng):
    x += rng.random(x.shape)
    rng.shuffle(x)


@effects("writes before an exception of NumPy's stay")
def exception_after_a_write(x):
    x += 1
    x[0] = x.reshape(-1, 7)[0, 0]


@effects("`raise` after a write")
def raised_by_the_function(x):
    x += 1
    if x.ndim > 1:
        raise ValueError("not today")


@effects("`try` … `except` around plain values")
def handled(x):
    try:
        k = {"a": 1}["b"]
    except KeyError:
        k = 2
    finally:
        x *= 3
    x += k
    return x


@effects(
    "`try` … `except` of what NumPy raises",
)
def caught(x):
    x += 1
    try:
        x += np.ones(99)
    except ValueError:
        x *= 2
    return x
