"""Arrays of dtypes that native code does not compute with. See Note [Boxed dtypes]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from fxc.ir.boxed_dtypes import boxed_dtype, boxed_name, is_boxed
from fxc.ir.parse import parse_graph
from fxc.ir.types import is_known
from fxc.ops.table import TABLE
from tests import outcomes
from tests.wild.seen import difference, watch

LONG = np.longdouble(0).itemsize > 8
SIZE = 8


def numbers(dtype: str, seed: int) -> np.ndarray:
    """Some elements of any of these dtypes."""
    rng, kind = np.random.default_rng(seed), np.dtype(dtype)
    if kind.kind in "mM":
        found = rng.integers(-(10**9), 10**9, SIZE).astype(kind)
        found[seed] = "NaT"
        return found
    if kind.kind in "SU":
        return np.array(rng.choice(["ab", "b", "", "xyz", "ab "], SIZE)).astype(kind)
    if kind.kind == "c":
        return (rng.integers(-9, 9, SIZE) / 4 + 1j).astype(kind)
    return (rng.integers(-20, 90, SIZE) / 4).astype(kind)


def assert_same(program: Callable[..., Any], *dtypes: str, fullgraph: bool = True) -> Any:
    """Compiled as a whole, the program shows what it shows as it is."""

    def make() -> tuple[np.ndarray, ...]:
        return tuple(numbers(dtype, seed) for seed, dtype in enumerate(dtypes))

    compiled = fxc.compile(program, fullgraph=fullgraph)
    for call in range(2):
        found = watch(compiled, make())
        text = difference(watch(program, make()), found, 0.0)
        assert not text, f"call {call}: {text}"
        assert "please report" not in "".join(found.refusals)
    if fullgraph:
        assert compiled.cache_info().eager_calls == 0
    return compiled


def views(a, b):
    joined = np.concatenate([a, b]), np.stack([a, b], axis=1)
    return a[::2], b[::-1].copy(), a.reshape(2, -1).T, a[[0, 3, 2]], a[None, 1:], joined


def writes(a, b):
    a[1:3] = b[:2]
    a[4:] = a[:-4]
    b[...] = a
    return a[::2], b


def beside(a, b):
    x = np.arange(len(a)) * 2.0
    x[a == b] = 7
    return np.sqrt(x) + np.cumsum(x), a[x > 3], np.zeros_like(a), np.empty_like(b).shape


def arithmetic(a, b):
    c = a * b + a
    d = c[1:] - c[:-1]
    a -= b
    a[::2] *= 2
    return d.sum(), d.max(), np.where(d == 0, d, -d), a.mean(), a.std(), c.cumsum(), a[0] - b[1]


def ordering(a, b):
    m = a < b
    return m, a[m], np.sort(a), np.argsort(b, kind="stable"), np.unique(a), a.min(), a.argmax()


def loops(a, b):
    total = a.copy()
    for i in range(1, len(a)):
        a[i] = a[i - 1] + b[i]
        total = total + a
    return a, total


def branches(a, b):
    if a[0] == b[0]:
        return a - b
    return b - a


def dates(a, b):
    d = a - b
    whole = a + d, a - np.timedelta64(3, "s"), a == b, (d > np.timedelta64(0, "s")).sum()
    a[2:4] = np.datetime64("NaT")
    scaled = d * 2, d // 2, d / np.timedelta64(1, "s"), abs(d), -d
    return whole, scaled, np.isnat(a), a.min(), a.argmin(), np.sort(a), a > b, d.sum()


def texts(a, b):
    return a == "ab", a != b, np.where(a == b, a, b), np.strings.upper(a), a + b, np.isin(a, b)


NUMBERS = [">f8", ">i4", ">c16", *(["g", "G"] if LONG else [])]
ALL = [*NUMBERS, "M8[s]", "m8[D]", ">M8[ms]", "U4", "S3"]


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("program", [views, writes, beside])
def test_arrays_are_passed_on_and_moved(program, dtype):
    assert_same(program, dtype, dtype)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("program", [arithmetic, ordering, loops, branches])
def test_numbers_are_numpys(program, dtype):
    assert_same(program, dtype, dtype)


def elements(a, b):
    ones = [a[k] for k in range(5)], (b[0], b[3], b[6])
    return ones, a[1].item(), b.tolist(), a.reshape(2, -1).tolist(), [x.item() for x in b[:3]]


@pytest.mark.skipif(not LONG, reason="long doubles have the bits of doubles")
@pytest.mark.parametrize("dtype", ["g", "G"])
def test_elements_of_long_doubles_keep_their_bits(dtype):
    """Python has no number of so many: ``x.item()`` is NumPy's. They lie at multiples of 16."""
    third = np.array([1, 2, 5], dtype)[np.arange(SIZE) % 3] / 3
    compiled = fxc.compile(elements, fullgraph=True)
    for _ in range(2):
        found, expected = (f(third.copy(), third[::-1].copy()) for f in (compiled, elements))
        assert found == expected
        assert {type(x) for x in found[2]} == {np.dtype(dtype).type}


@pytest.mark.parametrize("decimals", [0, 1, -1])
def test_rounded_numbers_keep_their_byte_order(decimals):
    def program(a, b):
        return np.round(a, decimals), b.round(decimals), np.round(a.reshape(2, -1).T, decimals)

    assert_same(program, ">f8", ">f4")


@pytest.mark.parametrize("program", [loops, branches])
def test_durations_are_numpys(program):
    assert_same(program, "m8[s]", "m8[s]")


@pytest.mark.parametrize("units", [("M8[s]", "M8[s]"), ("M8[D]", "M8[ms]"), (">M8[s]", "M8[D]")])
def test_dates_are_numpys(units):
    assert_same(dates, *units)


@pytest.mark.parametrize("dtype", ["U4", "S3"])
def test_texts_are_numpys(dtype):
    if dtype == "U4":
        assert_same(texts, dtype, "U2")
    assert_same(lambda a, b: (a == b, a[a == b], np.where(a != b, a, b)), dtype, dtype)


@pytest.mark.parametrize("name", ["f4", "i8", ">f8", "M8[s]", "m8[D]", "c8"])
@pytest.mark.parametrize("dtype", ["f8", ">f4", *(["g"] if LONG else [])])
def test_casts_are_numpys(dtype, name):
    assert_same(lambda a: (a.astype(name), a.astype(name).astype(dtype)), dtype)


def test_a_number_is_stored_in_the_byte_order_of_the_array():
    def program(a, b):
        a[...] = b.std()
        b[1:3] = a[0]
        return np.roll(a, 1), np.roll(b, -2)

    assert_same(program, ">i4", ">f8")


def test_units_are_guarded():
    compiled = fxc.compile(lambda t: t + 1)
    for unit in "sDsm":
        x = np.datetime64(5, unit)
        assert compiled(x) == x + 1
        assert compiled(x).dtype == x.dtype
        y = np.arange(3).astype(f"m8[{unit}]")
        assert compiled(y).dtype == y.dtype
    assert compiled.cache_info().variants == 6


def test_a_date_of_the_call_is_used_in_a_loop():
    def program(a, b):
        first = a[0]
        for i in range(len(a)):
            b[i] = first
        return b

    assert_same(program, "M8[s]", "M8[s]")
    compiled = fxc.compile(lambda a, t: [a[i] == t for i in range(3)], fullgraph=True)
    a = numbers("M8[s]", 0)
    assert compiled(a, a[1]) == [False, True, False]


def test_warnings_are_numpys():
    def program(x):
        return np.log(x), 1 / x

    if LONG:
        assert_same(program, "g", fullgraph=False)
    assert_same(program, ">f8", fullgraph=False)


def test_bytes_are_left_to_python():
    assert_same(lambda a: (a[0], a[1:]), "S3", fullgraph=False)
    with pytest.raises(fxc.CaptureError, match="leave it in an array"):
        fxc.compile(lambda a: a[0], fullgraph=True)(numbers("S3", 0))


@pytest.mark.parametrize("dtype", ["U4", "S3"])
def test_texts_that_a_mask_picks_are_compared(dtype):
    text: Any = "ab" if dtype == "U4" else b"ab"

    def program(a):
        some = np.arange(len(a)) != 2
        return a[some] == text, text != a[a != text], a[some][1:] == text, a.flat == text

    assert_same(program, dtype)


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(
    "program",
    [
        lambda a, b: (np.isreal(a), a == 0, a != 1.5),  # no loop compares them: all differ
        lambda a, b: (np.median(a), np.ptp(a), np.diff(a), np.clip(a, b[0], b[1])),
        lambda a, b: (np.nonzero(a), np.count_nonzero(a), np.round(a) if a.dtype.kind == "m" else 0),
        lambda a, b: (a == None, np.linspace(0, 1, 3)),  # noqa: E711
        lambda a, b: (np.interp(1.5, [1, 2], [3, 4]), np.searchsorted(np.sort(a), b), np.array_equal(a, b)),
        lambda a, b: np.corrcoef(a, b),
        lambda a, b: (np.arange(2) == ["x", "y"], a[:2] != ["x", "y"], b[:1] == (1,)),
        lambda a, b: (np.arange(8.0) == a, a != np.float64(2), np.float64(1) == a[1:][0]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["M8[s]", "m8[s]", "U4", ">f8"])
def test_what_is_made_for_numbers_is_left_to_numpy(program, dtype):
    """Nothing fails in fxc that does not fail in NumPy."""
    assert_same(program, dtype, dtype, fullgraph=False)


def test_the_rest_stays_compiled():
    def program(a, u):
        v = u * 2 + 1
        m = a > a[::-1]
        return v[m] * v[m].sum(), a[m]

    compiled = fxc.compile(program, fullgraph=True)
    a, u = numbers("M8[s]", 0), np.arange(float(SIZE))
    for found, expected in zip(compiled(a, u), program(a, u), strict=True):
        assert found.tolist() == expected.tolist()
    assert not compiled.cache_info().fallbacks


def test_exports_are_saved_and_read_but_not_for_machine_code(tmp_path):
    def program(t, p):
        p["n"] += 1
        return t - t[::-1], p

    def make():
        return numbers("M8[s]", 1), np.zeros(3, [("n", "i4"), ("x", "f8")])

    exported = fxc.export(program, *make())
    exported.save(tmp_path / "saved")
    for found, expected in zip(
        fxc.load(tmp_path / "saved")(*make()), program(*make()), strict=True
    ):
        assert found.tobytes() == expected.tobytes()
    for export in (
        exported.to_stablehlo,
        lambda: exported.to_object(tmp_path / "package"),
    ):
        with pytest.raises(fxc.ExportError, match=r"\n  t: .* has no dtype datetime64\[s\]\n  p: "):
            export()


# ------------------------------------------------------------------ which dtypes these are


@pytest.mark.parametrize(
    "dtype",
    [
        *ALL,
        "V3",
        [("x", "f8"), ("y", "<U3")],
        [("p", [("x", ">i2"), ("y", "f4")]), ("z", "c16", (2, 2))],
        np.dtype({"names": ["a", "b"], "formats": ["i4", "f8"], "offsets": [8, 0], "itemsize": 16}),
    ],
)
def test_their_text_reads_back(dtype):
    dtype = np.dtype(dtype)
    if dtype.names != ("a", "b"):  # in this order of the fields there is no text
        assert is_boxed(dtype)
        assert boxed_dtype(boxed_name(dtype)) == dtype
        text = f"functional f(%x: {boxed_name(dtype)!r}[3]{{-{dtype.itemsize}}} ro unaligned)"
        text += "\n  return %x"
        assert str(parse_graph(text, lambda name: TABLE[name].schema)) == text


@pytest.mark.parametrize(
    "dtype",
    [
        "O",
        "U",
        np.dtype("i4", metadata={"a": 1}),
        np.dtype([("x", "O")]),
        np.dtype([(("title", "x"), "f8")]),
        "longlong" if np.dtype("longlong").num != np.dtype("i8").num else "O",
        "U65",
    ],
)
def test_others_are_not_known(dtype):
    assert not is_known(np.dtype(dtype))


def test_records_that_are_declared_as_aligned_are_told_apart():
    fields = {"names": ["x", "y"], "formats": ["i1", "f8"], "offsets": [0, 8], "itemsize": 16}
    plain, aligned = np.dtype(fields), np.dtype([("x", "i1"), ("y", "f8")], align=True)
    assert plain == aligned
    compiled = fxc.compile(lambda a: a[1:])
    for dtype in (plain, aligned, plain):
        assert compiled(np.zeros(3, dtype)).dtype.isalignedstruct == dtype.isalignedstruct


@pytest.mark.parametrize("dtype", ["g", "G", "M8[s]", "m8[s]", "U3"])
def test_scalars_that_are_decided_by(dtype: str) -> None:
    def program(x):
        chosen = 1 if x[0] and x[1] else 2
        return chosen, any([x[0], 0]), all([x[1], 1]), any(each for each in x), not x[0]

    compiled = fxc.compile(program, fullgraph=True)
    for values in ([0, 0], [0, 3], [5, 7]):
        x = np.array(values).astype(dtype)
        assert outcomes.difference(outcomes.run(program, [x]), outcomes.run(compiled, [x])) == ""


@pytest.mark.parametrize("dtype", ["g", "m8[s]", "M8[D]"])
def test_parts_that_are_zero(dtype: str) -> None:
    def program(x):
        return x[0].real, x[0].imag

    x = np.array([5, 7]).astype(dtype)
    compiled = fxc.compile(program, fullgraph=True)
    assert outcomes.difference(outcomes.run(program, [x]), outcomes.run(compiled, [x])) == ""
