"""Arrays of records: their fields are views, which native code reads and writes."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.capture.guards.facts import has_aligned_fields
from fxc.ir.types import is_known
from tests.covering import pairs
from tests.read_back import everything_is_read_back
from tests.wild.seen import difference, watch

PLAIN = np.dtype([("x", "f8"), ("v", "f8"), ("n", "i8")])
OTHERS = np.dtype([("x", "f8"), ("n", "i4"), ("v", "f4")])
PACKED = np.dtype([("n", "i4"), ("x", "f8"), ("v", "f8"), ("t", "U3")])
FOREIGN = np.dtype([("x", ">f8"), ("v", "f2"), ("n", "i2"), ("d", "M8[s]")])
COMPLEX = np.dtype([("n", "i1"), ("x", "c16"), ("v", "c8")])


def records(dtype: np.dtype, size: int = 10, how: str = "") -> np.ndarray:
    rng = np.random.default_rng(size)
    p = np.zeros(2 * size, dtype)
    p["x"], p["v"] = rng.random(2 * size) * 9, rng.integers(-9, 9, 2 * size) / 2
    p["n"] = rng.integers(0, 9, 2 * size)
    match how:
        case "strided":
            return p[::2]
        case "reversed":
            return p[::-1][:size]
        case "off":
            memory = np.zeros(size * dtype.itemsize + 1, np.uint8)
            memory[1:].view(dtype)[...] = p[:size]
            return memory[1:].view(dtype)
    return p[:size].copy()


def assert_same(program: Callable[..., Any], make: Callable[[], Any], **options: Any) -> Any:
    compiled = fxc.compile(program, **options)
    for call in range(2):
        text = difference(watch(program, (make(),)), watch(compiled, (make(),)), 0.0)
        assert not text, f"call {call}: {text}"
    return compiled


def moves(p):
    p["x"] += 0.25 * p["v"]
    p["v"] *= 0.5
    return p["x"], p, p["x"].sum()


def masks(p):
    x = p["n"]
    m = x > x.mean()
    p["n"][m] = 7
    p["x"][1:] = p["x"][:-1]
    return np.where(m, x, -x), p["n"].max(), p[m]


def parts(p):
    q = p[::2].copy()
    q["x"] = 3
    q["n"] += 1
    p[1:4] = q[:3]
    r = p[::-1]
    r["v"][2] = 9
    return q, np.concatenate([p, q]), p["v"][2:5], np.zeros_like(p)["x"], p.reshape(2, -1)["n"]


def exchanges(p):
    p["x"], p["v"] = p["v"].copy(), p["x"].copy()
    p["x"][:] = p["v"] + p["n"]
    p["v"][::2] = p["x"][::2] * 0.5
    return p.T, p["x"].reshape(2, -1), p[None]["v"], p["v"][[3, 1]]


def loops(p):
    total = 0.0
    for i in range(len(p)):
        total += p["n"][i] * 0.5
        p["n"][i] += i
        if p["n"][i] > 4:
            p["v"][i] = -p["v"][i]
    return total


PROGRAMS = [moves, masks, parts, exchanges, loops]


@pytest.mark.parametrize(
    "program, dtype, how", pairs(PROGRAMS, [PLAIN, PACKED], ["", "strided", "off"])
)
def test_fields_are_read_and_written(program, dtype, how):
    compiled = assert_same(program, lambda: records(dtype, 10, how), fullgraph=True)
    assert compiled.cache_info().eager_calls == 0
    assert set(compiled.cache_info().fallbacks) <= {"sum", "max", "mean", "zeros"}


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("dtype", [OTHERS, FOREIGN, COMPLEX], ids=["others", "foreign", "complex"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_fields_of_any_dtype(program, dtype):
    assert_same(program, lambda: records(dtype))


@pytest.mark.parametrize("how", ["", "strided", "off"])
@pytest.mark.parametrize("dtype", [PLAIN, PACKED, OTHERS], ids=["plain", "packed", "others"])
def test_sums_are_added_up_as_numpy_does(dtype, how):
    """Of fields that are not aligned it copies the elements block by block."""

    def program(p):
        x = p["x"]
        return x.sum(), x[1:].mean(), p[1::2]["x"].sum(), np.cumsum(x)[-1], x @ x, x.std()

    assert_same(program, lambda: records(dtype, 20_001, how), fullgraph=True)


def test_nothing_is_copied():
    loops = str(fxc.compile(moves).inspect(records(PLAIN, 100)).loops)
    assert "copies 0" in loops
    assert loops.count("  for i") == 1  # the fields of a record are not waited for
    assert "numpy." not in loops


def test_a_field_of_a_field():
    dtype = np.dtype([("p", [("x", "f8"), ("y", "f8")]), ("m", "f8")])

    def program(a):
        a["p"]["x"] = a["m"] * 2
        a["p"]["y"][1:] += a["p"]["x"][:-1]
        q = a["p"].copy()
        return q, a["p"]["x"][::2], a[1:]["p"]["y"].sum()

    compiled = assert_same(program, lambda: np.ones(6, dtype), fullgraph=True)
    assert not compiled.cache_info().fallbacks


def interact(p):
    total = 0.0
    for i, a in enumerate(p):
        for b in p:
            if b["x"] != a["x"]:
                a["v"] += 0.25 / (b["x"] - a["x"])
        p[i]["x"] += 0.5 * a["v"]
        x, v, _ = a
        total += x * v + a[0]
    return total, sum(q["x"] for q in p if q["n"] > 3), [float(q["v"]) for q in p]


@pytest.mark.parametrize("how", ["", "strided", "reversed", "off"])
def test_loops_over_records_are_native(how):
    made = lambda: records(PLAIN, how=how)  # noqa: E731
    compiled = assert_same(interact, made, fullgraph=True)
    assert not compiled.cache_info().fallbacks


def shows(p):
    first, k = p[0], p["n"][1:].argmax()
    p["x"] += 1
    kept = p[2].copy()
    p[2], p[3] = p[3], p[2]  # they show the same memory
    p[4] = kept
    p[1] = (3, 2.5, True)
    p[k]["n"] -= 5
    first["v"] = first["x"] + p[-1]["n"]
    return first, first, p[k], kept, p[1].item(), len(first), type(first), p


def test_a_record_shows_the_memory_of_its_array():
    compiled = assert_same(shows, lambda: records(PLAIN), fullgraph=True)
    assert compiled.cache_info().eager_calls == 0
    p = records(PLAIN)
    compiled(p)[0]["x"] = 77.0
    assert p["x"][0] == 77.0


def test_an_index_stays_that_of_then():
    def program(p):
        k = np.array(3)
        q = p[k]
        k += 1
        p.shape = (5, 2)
        q["x"] = 8.0
        return q["n"], p

    assert_same(program, lambda: records(PLAIN), fullgraph=True)


def test_records_in_records():
    def program(a):
        for q in a:
            q["p"]["x"] += q["m"]
        a[1]["p"] = (5.0, 6.0)
        return a[2]["p"], a[0].item(), a

    dtype = np.dtype([("m", "f8"), ("p", [("x", "f8"), ("y", "f8")])])
    assert_same(program, lambda: np.ones(6, dtype), fullgraph=True)


BODIES = np.dtype([("at", "f8", (3,)), ("n", "i2"), ("k", [("u", "f4", (2,)), ("w", "i4")], (2,))])


def bodies(size: int = 7, step: int = 1) -> np.ndarray:
    b = np.zeros(size * abs(step), BODIES)
    b["at"] = np.arange(3 * len(b)).reshape(-1, 3) % 5
    b["n"], b["k"]["u"] = np.arange(len(b)) % 4, 0.5
    b["k"]["w"] = np.arange(2 * len(b)).reshape(-1, 2)
    return b[::step]


def of_several(b):
    b["at"][:, 0] += 1
    b["at"][1:, 2] -= b["at"][:-1, 1]
    b["k"]["u"][:, 0, 1] = b["n"]
    b["k"][:, 1]["w"] *= 2
    b["at"][b["n"] > 2] = 0
    at = b["at"]
    at[-1] = 9
    return at, b["k"]["u"].max(axis=2), np.linalg.norm(b["at"], axis=1), b[1:3]["k"]["w"]


def in_turn(b):
    total = np.zeros(3)
    for i in range(len(b)):
        for k in range(3):
            if b["at"][i, k] > 2:
                b[i]["at"][k] -= b["n"][i]
        b[i]["at"] *= 2
        total += b[i]["at"] * b[i]["n"]
    at, n, _ = b[0]
    at += n
    b[1]["at"] = 5
    b[2] = b[3]
    b[4:6] = b[0]
    return total, b


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("options", [{}, {"dynamic": True}])
@pytest.mark.parametrize("program", [of_several, in_turn])
def test_fields_of_several_elements(program, options, step):
    compiled = assert_same(program, lambda: bodies(7, step), fullgraph=True, **options)
    assert not compiled.cache_info().fallbacks


@pytest.mark.parametrize(
    "program, error",
    [(lambda b: b["at"][:, 3], IndexError), (lambda b: b[0].__setitem__("at", [1, 2]), ValueError),
     (lambda b: b.__setitem__("at", np.ones(2)), ValueError)],
    ids=["no such element", "too few for one", "too few for all"],
)  # fmt: skip
def test_what_numpy_raises_of_fields_of_several_elements(program, error):
    with pytest.raises(error):
        program(bodies())
    assert_same(program, bodies)


def chooses(p):
    best, total = p[0], 0.0
    if best["n"] > 3:
        best = p[-1]
    for q in p:
        near = q if q["x"] < best["x"] else best
        total += near["v"]
    found = best["n"], best
    best["x"] = 4
    return found, total, p


def follows(p):
    before, total = p[0], 0.0
    for i in range(len(p)):
        now = p[int(before["n"]) % len(p)]
        total += now["x"] - before["x"]
        before["v"] = i
        before = now
    return total, before["n"], p


def inserts(p):
    for i in range(1, len(p)):
        now, j = p[i].copy(), i
        while j > 0 and p[j - 1]["x"] > now["x"]:
            p[j] = p[j - 1]
            j -= 1
        p[j] = now
    return p


@pytest.mark.parametrize("program", [chooses, follows, inserts])
def test_records_that_variables_hold(program):
    for size in (1, 2, 40):
        assert_same(program, lambda size=size: records(OTHERS, size), fullgraph=True)


def is_the_same(p):
    first = p[0]
    best = p[1] if first["n"] > 3 else first
    best["x"] = 7
    return best is first, p


def are_returned(p):
    first, last = p[0], p[-1]
    if first["n"] > 3:
        first, last = last, first
    return first, last, p[2]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", [is_the_same, are_returned])
def test_which_of_two_records_it_is(program):
    for size in (5, 6, 7):
        assert_same(program, lambda size=size: records(OTHERS, size))
        found = fxc.compile(program)(p := records(OTHERS, size))
        assert (found[0] is found[1]) == (program(p)[0] is program(p)[1])
    with pytest.raises(fxc.CaptureError, match="which of two records it is"):
        fxc.compile(program, fullgraph=True)(records(OTHERS))


@pytest.mark.parametrize(
    "program",
    [lambda p: np.sort(p, order="n"), lambda p: np.argsort(p, order=["n", "x"]),
     lambda p: (p.sort(order="x"), p), lambda p: (p.partition(3, order="x"), p["x"][3])],
)  # fmt: skip
def test_sorted_by_fields(program):
    assert_same(program, lambda: records(OTHERS), fullgraph=True)


def test_sizes_may_change():
    compiled = fxc.compile(moves)
    for size in (5, 6, 9, 1, 0, 33):
        a, b = records(PLAIN, size), records(PLAIN, size)
        moves(a)
        compiled(b)
        assert (a == b).all()
    assert compiled.cache_info().eager_calls == 0
    assert compiled.cache_info().variants <= 5


@pytest.mark.parametrize(
    "program, error",
    [(lambda p: p["nope"], ValueError), (lambda p: p + 1, TypeError), (lambda p: p["x", 0], IndexError),
     (lambda p: p[99]["x"], IndexError), (lambda p: p[0][3], IndexError), (lambda p: hash(p[0]), TypeError)],
    ids=["no such field", "no such operator", "no such key", "no such record", "no such part", "no hash"],
)  # fmt: skip
def test_what_numpy_raises(program, error):
    with pytest.raises(error):
        program(records(PLAIN))
    assert_same(program, lambda: records(PLAIN))


def compares(p):
    q = p.copy()
    q["x"][::2] += 1
    q["v"][3:] = 0
    arrays = p == q, p != q, p == p[0], p[2] != q, p[p == q]
    return arrays, p[0] == q[0], p[1] == q[1], p[1] != p[2], q[3] == q[3], np.array_equal(p, q)


def counts_equal(p):
    p[3] = p[0]
    found = 0
    for i in range(len(p)):
        if p[i] == p[0]:
            found += 1
        elif p[i] != p[i - 1]:
            p[i] = p[0]
    return found, p


@pytest.mark.parametrize("how", ["", "strided", "off"])
@pytest.mark.parametrize("dtype", [PLAIN, PACKED, FOREIGN, COMPLEX])
@pytest.mark.parametrize("program", [compares, counts_equal])
def test_records_are_compared_field_by_field(program, dtype, how):
    assert_same(program, lambda: records(dtype, how=how), fullgraph=True)


def test_fields_of_several_elements_are_compared_as_a_whole():
    inner = np.dtype([("a", "i2"), ("b", "f8", (2, 2))])
    dtype = np.dtype([("at", "f4", (3,)), ("in", inner)])

    def program(p):
        q = p.copy()
        q["at"][0, 1] += 1
        q["in"]["b"][1, 0, 0] += 1
        whole = p == q, p != q, p == p[0], p[:, None] == q, p["in"] == q["in"]
        return whole, p[2] == q[2], p[0] != q[0], p["in"][1] == q["in"][1]

    assert_same(program, lambda: np.zeros(3, dtype), fullgraph=True)


# ------------------------------------------------------------------ several fields


def writes_several_fields(p):
    q = p[["x", "v"]]
    q["x"] += 1
    q[1] = (5.0, 6.0)
    q[3:5] = q[0:2]
    return q, q.copy(), q[::-1]["v"], q.dtype


def exchanges_fields(p):
    p[["x", "v"]] = p[["v", "x"]]
    p[["n"]] = 3
    p[2] = p[4]
    return p[["v", "n"]][::2], np.sort(p[["n", "x"]]), p[["x", "n"]] == p[["x", "n"]][::-1]


def loops_over_several_fields(p):
    q = p[["v", "n"]]
    for i in range(1, len(q)):
        if q[i]["n"] > 3:
            q[i] = q[i - 1]
        q["n"][i] += 1
    r = p[2][["v"]]
    r["v"] = 7
    return q[3], p[["x", "v"]][["v"]], np.concatenate([q, q])


@pytest.mark.parametrize(
    "program", [writes_several_fields, exchanges_fields, loops_over_several_fields]
)
@pytest.mark.parametrize(
    "dtype", [PLAIN, PACKED, FOREIGN, np.dtype(OTHERS.descr, align=True), COMPLEX]
)
@pytest.mark.parametrize("how", ["", "strided"])
def test_several_fields_are_a_view(program, dtype, how):
    assert_same(program, lambda: records(dtype, how=how), fullgraph=True)


@pytest.mark.parametrize("size", [7, 4000])
def test_bytes_between_the_fields_are_kept(size):
    """Nor may a loop that only copies become one copy of all bytes."""
    whole = [records(PLAIN, size), records(PLAIN, size)]

    def program(q, r):
        q[...] = r[::-1]
        q[1:3] = r[3]

    for p, run in zip(whole, (program, fxc.compile(program, fullgraph=True)), strict=True):
        run(p[["x", "n"]], p[::-1].copy()[["x", "n"]])
    assert whole[0].tobytes() == whole[1].tobytes()
    assert (whole[0]["v"] == records(PLAIN, size)["v"]).all()


def test_fields_that_overlap_are_not_known():
    dtype = np.dtype({"names": ["a", "b"], "formats": ["f8", "i4"], "offsets": [0, 4]})
    assert not is_known(dtype)
    assert is_known(PLAIN[["n", "x"]])
    assert is_known(np.dtype(OTHERS.descr, align=True))


# ------------------------------------------------------------------ records that loops carry


def best_or_none(p):
    best = None
    for q in p:
        if best is None or q["x"] > best["x"]:
            best = q
    best["n"] += 50
    return best


def of_one_of_two_arrays(p):
    q = p[::-1].copy()
    r = p[0] if p["x"].sum() > 3 else q[0]
    r["n"] = 40
    return p["n"].sum(), r["x"]


def of_two_arrays(p):
    best = p[0]
    for q, r in zip(p, p[::-1].copy(), strict=True):
        if r["x"] > best["x"]:
            best = r
        elif q["v"] > best["v"]:
            best = q
    return best["n"]


def first_above(p):
    found = None
    for i in range(len(p)):
        if p[i]["x"] > 8:
            found = p[i]
            break
    if found is None:
        return 0.0
    found["v"] = -1
    return found["x"]


def last_of_a_part(p):
    part = p[1:]
    best = part[0]
    for q in part:
        best = q if q["v"] >= best["v"] else best
    return best, best["n"]


def gathered(p):
    high, total = [], 0.0
    for q in p:
        if q["x"] > 4:
            high.append(q)
    for r in high:
        r["n"] += 1
        total += r["x"]
    return np.array(high), total, len(high)


def tuples_as_records(p):
    high = []
    for q in p:
        if q["x"] > 4:
            high.append((q["n"], q["x"]))
    known = np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")])
    given = np.array([(p["n"][0], p["x"].sum())] * 2, dtype=known.dtype)
    return np.array(high, dtype=[("a", "i4"), ("b", "f8")]), known, given


def operands(p):
    return (
        np.append(p, p[0]),
        np.array([p[2], p[1]]),
        np.concatenate([p[:1], p[[3]]]),
    )


@pytest.mark.parametrize(
    "program",
    [
        best_or_none,
        of_one_of_two_arrays,
        of_two_arrays,
        first_above,
        last_of_a_part,
        gathered,
        tuples_as_records,
        operands,
    ],
)
@pytest.mark.parametrize("size", [6, 3000])
def test_records_in_loops_and_lists(program, size):
    assert_same(program, lambda: records(PLAIN, size), fullgraph=True)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "program, says",
    [
        (lambda p: p[0] == 3, "leave it in an array"),
        (lambda p: 1 if p[0] else 2, "leave it in an array"),
        (lambda p: p[0].ndim, "ndim of a record"),
        (lambda p: p[0][True], "this key of a record"),
        (lambda p: [q for q in p if q["x"] > 4], "a list of records"),
        (lambda p: p[["x", "n"]].sort(), "gaps"),
        (lambda p: p[["x", "n"]].__setitem__([0, 7], p[[6, 2]][["x", "n"]]), "gaps"),
    ],
)
def test_what_is_refused(program, says):
    assert_same(program, lambda: records(PLAIN))
    with pytest.raises(fxc.CaptureError, match=says):
        fxc.compile(program, fullgraph=True)(records(PLAIN))


def _rows(rows, columns):
    made = []
    for r in range(rows):
        row = []
        for c in range(columns):
            row.append((r, c))
        made.append(row)
    return np.array(made, dtype="i, i")


def _pairs(n):
    made = []
    for k in range(n):
        made.append((k, 2.5 * k))
    return np.array(made, dtype=[("n", "i8"), ("x", "f8")])


def _filled(n):
    made = np.zeros(n, [("a", "f4"), ("b", "i4")])
    x = np.arange(n)
    made["a"], made["b"] = x * 2.5, x - 7
    return made


@pytest.mark.parametrize(
    "program, sizes",
    [(_rows, [(2, 3), (6, 2), (30, 40)]), (_pairs, [(3,), (70,)]), (_filled, [(70,), (33,)])],
)
def test_records_that_are_filled(program, sizes):
    compiled = fxc.compile(program, fullgraph=True)
    for size in sizes:
        assert difference(watch(program, size), watch(compiled, size), 0.0) == ""


@pytest.mark.parametrize(
    "dtype",
    [
        *(PACKED, FOREIGN, np.dtype([("x", "f8"), ("n", "i1")], align=True)),
        np.dtype({"names": ["x", "n"], "formats": ["f8", "i2"], "offsets": [4, 16]}),
        np.dtype([("x y", "f8"), ("it's", "i4"), ('"', "(2,3)f4")]),
    ],
    ids=str,
)
def test_the_text_of_their_loops_is_read_back(dtype, monkeypatch):
    everything_is_read_back(monkeypatch)
    first = dtype.names[0]

    def program(p):
        p[first] += 1
        return p[::-1].copy(), p[p[first] > 1]

    assert_same(program, lambda: np.ones(4, dtype), fullgraph=True)


Row = namedtuple("Row", "name age")


@pytest.mark.parametrize("rows", [[("ann", 3), ("bo", 1)], [Row("x", 2)], []])
def test_rows_from_outside_are_records(rows: list[Any]) -> None:
    """Rows of a caller's list, and named tuples, were taken for items of any dtype."""
    dtype = np.dtype([("name", "U5"), ("age", "i4")])
    compiled = fxc.compile(lambda rows: np.array(rows, dtype), fullgraph=True)
    assert compiled(rows).tolist() == np.array(rows, dtype).tolist()


def test_records_are_as_aligned_as_numpy_says_of_their_widest_field() -> None:
    memory = np.zeros(200, np.uint8)
    for kind in ("f8,i4", "i4,i4", "f8,u1", "g,u1"):
        for start, count in ((0, 5), (4, 5), (1, 1), (16, 1)):
            size = np.dtype(kind).itemsize * count
            records = memory[start : start + size].view(kind)
            assert has_aligned_fields(records) is records["f0"].flags.aligned, (kind, start, count)
