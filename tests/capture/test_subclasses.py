"""Arrays of subclasses of the user's: what computes as arrays do is compiled.

See Note [Classes of arrays].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc


class Measured(np.ndarray):
    """Has a unit, as NumPy's documentation makes one."""

    def __new__(cls, values: Any, unit: str = "m") -> Measured:
        made = np.array(values, dtype=float).view(cls)
        made.unit = unit
        return made

    def __array_finalize__(self, obj: Any) -> None:
        if obj is None:
            return
        self.unit = getattr(obj, "unit", None)

    def doubled(self) -> Any:
        return self * 2


class Plain(np.ndarray):
    pass


class Longer(Measured):
    def __array_finalize__(self, obj):
        super().__array_finalize__(obj)
        self.note: Any = "new" if isinstance(obj, np.ndarray) else None


def measured() -> Measured:
    return Measured(np.arange(24.0).reshape(6, 4) % 5 + 1, "kg")


def seen(x: Any) -> Any:
    if isinstance(x, tuple | list):
        return [seen(each) for each in x]
    if not isinstance(x, np.ndarray):
        return type(x), repr(x)
    return type(x), x.dtype, x.strides, np.asarray(x).tolist(), getattr(x, "__dict__", None)


def assert_same(program: Callable[..., Any], make: Callable[[], Any], **options: Any) -> Any:
    compiled = fxc.compile(program, **options)
    for _ in range(3):
        given = [make() for _ in range(2)]
        expected, found = program(given[0]), compiled(given[1])
        assert seen(found) == seen(expected)
        assert seen(given[1]) == seen(given[0])
        assert (found is given[1]) == (expected is given[0])
    return compiled


def relaxes(a):
    a[1:-1] = 0.5 * (a[2:] + a[:-2])
    a *= 2
    for i in range(1, len(a)):
        for j in range(a.shape[1]):
            if a[i, j] > a[i - 1, j]:
                a[i, j] -= 0.25 * a[i - 1, j]
    return a


def elements(a):
    total = 0.0
    for i in range(len(a)):
        total += a[i, 0] * a[i, 1]
    out = np.zeros(a.shape)
    out += a * 2
    out[0] = a[1]
    kinds = type(a).__name__, isinstance(a, Measured), isinstance(a, np.ndarray)
    return total, a[1, 2], (a * 2)[1, 1], float(a[0, 0]), out, a[0].tolist(), kinds


def plain(a):
    x = np.asarray(a)
    x += 1
    return x, x.sum(), x * 2, np.array(a), np.where(a > 2, a, 0.0), a.view(np.ndarray)


@pytest.mark.parametrize("program", [relaxes, elements, plain])
@pytest.mark.parametrize("kind", [Measured, Longer])
def test_what_leaves_is_known(program, kind):
    compiled = assert_same(program, lambda: measured().view(kind), fullgraph=True)
    assert compiled.cache_info().eager_calls == 0


def ufuncs(a):
    r = a * 2
    r += 1
    r[0] = a[1]
    x = np.asarray(a) + 1
    parts = a[1:] + x[1:], x + a.T.T, -a, a > x, np.add(a, x, subok=False)
    return r, r, np.sqrt(a * a + r), divmod(a, 2), parts, [a * k for k in range(2)]


@pytest.mark.parametrize("kind", [Measured, Plain])
def test_what_ufuncs_make_is_wrapped_as_numpy_does(kind):
    compiled = assert_same(ufuncs, lambda: measured().view(kind), fullgraph=True)
    assert compiled.cache_info().eager_calls == 0
    a = measured().view(kind)
    first, second, *_ = compiled(a)
    assert first is second
    assert type(first.base) is np.ndarray


def based(x: Any, *given: Any) -> Any:
    """What a result is a view of, and how else it is seen."""
    if isinstance(x, tuple | list):
        return [based(each, *given) for each in x]
    if not isinstance(x, np.ndarray):
        return seen(x)
    places = [k for k, each in enumerate(given) if x.base is each or x is each]
    return seen(x), type(x.base), places, x.flags.owndata, x.flags.writeable


def parts(a, b):
    a[0] = 7
    first = a[1:]
    first[0] += 1
    return (
        first,
        a.T[:, ::2],
        a[::-1],
        a.reshape(4, -1),
        a[2],
        a[1:][1:, 1],
        (b, b[:1]),
        a[2:2].size,
    )


def copies(a, b):
    picked = a[[3, 1]], a[a > 2], np.asarray(b)[a > 2], a.take([1, 2], axis=0)
    made = a.copy(), a.copy("F"), np.sort(a, axis=0), np.zeros_like(a), b.astype("f4"), a.flatten()
    return picked, made, a.sum(axis=0), b.mean(axis=1), a.cumsum(axis=1), np.diff(a), a.clip(1, 2)


def of_two(a, b):
    x = np.ones(a.shape)
    more = a.copy() * b, np.hypot(b, a), np.concatenate([a, b]), np.where(a > b, a, b)
    b -= a
    return a + b, b * x - a, x + b, 2 / a - b, divmod(b, a), a < b, more


def in_arms(a, b):
    if b[0, 0] > 2:
        y = a * 2
    else:
        y = a - b
    z = a - 1 if a[0, 0] > 9 else a + 1
    return {"y": y, "n": [y, a[0]]}, z, y


@pytest.mark.parametrize("owns", [False, True])
@pytest.mark.parametrize("kind", [Measured, Plain])
@pytest.mark.parametrize("program", [parts, copies, of_two, in_arms])
def test_parts_and_copies_have_the_class_and_base_of_numpys(program, kind, owns):
    def make() -> Any:
        a, b = measured().view(kind), (measured() * 2 - 3).view(kind)
        a, b = (a.copy(), b.copy()) if owns else (a, b)
        if kind is Measured:
            b.unit = "s"
        return a, b

    compiled = fxc.compile(program, fullgraph=True)
    for _ in range(2):
        plain, ours = make(), make()
        expected, found = program(*plain), compiled(*ours)
        if isinstance(found[0], dict):
            expected, found = (tuple(x[0].values()) + x[1:] for x in (expected, found))
        assert based(found, *ours) == based(expected, *plain)
        assert based(ours, *ours) == based(plain, *plain)
    assert compiled.cache_info().eager_calls == 0


class Numbered(np.ndarray):
    """Attributes that are others each time."""

    def __array_finalize__(self, obj):
        self.last = getattr(obj, "unit", 0)
        self.unit = getattr(obj, "last", 1)


class Behind(Measured):
    __array_priority__ = -1.0


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("kind", [Numbered, Behind, Longer])
def test_what_is_not_simply_kept_is_made_by_python(kind):
    assert_same(ufuncs, lambda: measured().view(kind))
    with pytest.raises(fxc.CaptureError, match="an array of a subclass"):
        fxc.compile(lambda a: a * 2, fullgraph=True)(measured().view(kind))


def test_a_guard_asks_any_object():
    compiled = fxc.compile(lambda a: a * 2, fullgraph=True)
    for given in (measured(), 3, 2.5, np.ones(2), measured()):
        assert seen(compiled(given)) == seen(given * 2)


PROGRAMS: dict[str, Callable[..., Any]] = {
    "an array of a subclass": lambda a: (a * 2)[1:],
    "a number of an array": lambda a: (a.sum(), a.max() * 2),
    "a number of an array.*subclass": lambda a: np.median(a) * 2,
    "an array of rank 0": lambda a: a[0, 1, ...] * 2,
    "x.unit of a subclass": lambda a: a.unit,
    "x.doubled of a subclass": lambda a: a.doubled(),
    "the class of what may be": lambda a: type(np.tile(a, 2)),
    "x.base of a subclass": lambda a: a.base is None,
}


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("says", PROGRAMS)
def test_what_has_attributes_is_made_by_python(says):
    assert_same(PROGRAMS[says], measured)
    with pytest.raises(fxc.CaptureError, match=says):
        fxc.compile(PROGRAMS[says], fullgraph=True)(measured())


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_arrays_that_loops_replace():
    def carried(a):
        b = a
        for _ in range(9):
            b = b * 0.5
        return b, b.sum()

    def added(a):
        total = np.zeros(4)
        for row in a:
            total = total + row
        return total, total.max()

    assert_same(carried, measured)
    assert_same(added, measured)


class Wrapping(np.ndarray):
    def __array_wrap__(self, *args):
        return super().__array_wrap__(*args)


class Counting(np.ndarray):
    def __array_finalize__(self, obj):
        MADE.append(obj)


class Summing(np.ndarray):
    def sum(self, *args, **kwargs):
        return 3.0


class Raising(np.ndarray):
    def __array_finalize__(self, obj):
        self.unit = None if obj is None else obj.unit + 1


class Setting(np.ndarray):
    def __array_finalize__(self, obj):
        self.unit = None

    @property
    def unit(self):
        return None

    @unit.setter
    def unit(self, value):
        MADE.append(value)


class Lacking(np.ndarray):
    def __array_finalize__(self, obj):
        self.unit = self.missing if type(obj) is Lacking else None


class Asking(np.ndarray):
    def __array_finalize__(self, obj):
        self.unit = None if obj is None else getattr(obj, "unit")  # noqa: B009


class Clearing(np.ndarray):
    def __array_finalize__(self, obj):
        self.real = 0


class Hiding(np.ndarray):
    def __array_finalize__(self, obj):
        self.sort = getattr(obj, "sort", None)


MADE: list[Any] = []
_OWN = [Wrapping, Counting, Summing, Raising, Setting, Lacking, Asking, Clearing, Hiding]


@pytest.mark.parametrize("kind", _OWN)
def test_classes_with_operations_of_their_own(kind):
    a = np.ndarray.__new__(kind, 3)
    vars(a).clear()
    with pytest.raises(fxc.CaptureError, match=f"x is a {kind.__name__}, a subclass of arrays"):
        fxc.compile(lambda x: x[0] * 2, fullgraph=True)(a)


def test_an_attribute_in_the_place_of_a_method():
    def program(a):
        a.sort()
        return a[0] * 2

    compiled = fxc.compile(program, fullgraph=True)
    assert compiled(measured()[1]) == program(measured()[1])
    a = measured()[1]
    a.sort = lambda: MADE.append("sorted")  # type: ignore[method-assign]
    with pytest.raises(fxc.CaptureError, match="a is a Measured"):
        compiled(a)


class Private(np.ndarray):
    """Attributes with names that stand-ins have, too."""

    _place: Any = "here"

    def __array_finalize__(self, obj):
        self._type = getattr(obj, "_type", "kind")

    @property
    def _object(self):
        return "object"


def puts(a):
    a._place = a._value = 4
    return a * 1


_READS: list[Callable[[Any], Any]] = [
    lambda a: a._type,
    lambda a: (a * 2)._type,
    lambda a: a._object,
    lambda a: (hasattr(a, "_value"), getattr(np.asarray(a), "_type", 5)),
    puts,
]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", _READS)
def test_attributes_with_names_that_stand_ins_have(program):
    assert_same(program, lambda: measured().view(Private))


class First(np.ndarray):
    __array_priority__ = 10.0


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("kind", [Measured, First, Behind])
def test_classes_that_numpy_chooses_by_priority(kind):
    def program(a):
        return np.concatenate([a, a]), np.stack([np.ones(4), a[0]]), np.block([[a, a]])

    assert_same(program, lambda: measured().view(kind))


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_what_vectorize_gives_is_of_the_class():
    assert_same(lambda a: np.vectorize(lambda x: x + 1)(a), measured)


def test_a_class_that_is_changed():
    class Changed(np.ndarray):
        pass

    compiled = fxc.compile(lambda a: (a[0, 0], a * 2), fullgraph=True)
    a = measured().view(Changed)
    assert seen(compiled(a)) == seen((a[0, 0], a * 2))
    Changed.__array_finalize__ = lambda self, obj: MADE.append(obj)  # type: ignore[method-assign]
    with pytest.raises(fxc.CaptureError, match="a is a Changed"):
        compiled(a)


def chosen(a, b):
    y = a if b[0, 0] > 1 else b
    for i in range(int(b[0, 1])):
        y = b if i else a
    return y


def classes_of_chosen(a, b):
    y = chosen(a, b)
    held = {"y": b}
    if b[0, 0] > 1:
        held["y"] = a
    return type(y).__name__, isinstance(y, Measured), hasattr(held["y"], "unit")


def made_of_chosen(a, b):
    y = chosen(a, b)
    return np.exp(y), np.zeros_like(y), y[y > 2], [type(each).__name__ for each in (y, y[1:], -y)]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", [chosen, classes_of_chosen, made_of_chosen])
def test_one_of_two_arrays_of_which_one_is_of_a_subclass(program):
    compiled = fxc.compile(program)
    for first, count in [(0.0, 0.0), (2.0, 0.0), (0.0, 1.0), (0.0, 2.0), (2.0, 2.0)]:
        b = np.ones((6, 4))
        b[0, :2] = first, count
        assert seen(compiled(measured(), b)) == seen(program(measured(), b))
