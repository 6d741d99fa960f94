"""``@frozen`` and ``@mutable`` make objects as dataclasses do, the first ones and the later ones."""

import dataclasses
from typing import Any

import pytest

from fxc.ir.records import _FEW, computed_once, field, frozen, mutable, replace


def kinds() -> tuple[Any, Any]:
    """A record and a dataclass of the same fields, both new."""

    def made(field: Any) -> Any:
        class Same:
            a: int
            b: int = 2
            c: list[int] = field(default_factory=list)
            d: int = field(init=False)
            e: int = field(default=4, compare=False)

            def __post_init__(self) -> None:
                object.__setattr__(self, "d", self.a + self.b)

        return Same

    usual = dataclasses.dataclass(frozen=True, slots=True)
    return frozen(made(field)), usual(made(dataclasses.field))


def outcome(kind: Any, args: tuple[int, ...], kwargs: dict[str, Any]) -> Any:
    try:
        made = kind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    return [getattr(made, each.name) for each in dataclasses.fields(made)]


@pytest.mark.parametrize("before", [0, _FEW])
@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((1,), {}),
        ((1, 5), {}),
        ((1, 5, [3]), {}),
        ((), {"a": 1}),
        ((1,), {"c": [4]}),
        ((), {"b": 1, "a": 7}),
        ((), {}),
        ((), {"b": 1}),
        ((1, 2, [3], 4), {}),
        ((1,), {"a": 1}),
        ((1,), {"d": 1}),
        ((1,), {"e": 1}),
        ((1,), {"f": 1}),
    ],
)
def test_objects_are_those_of_a_dataclass(
    before: int, args: tuple[int, ...], kwargs: dict[str, Any]
) -> None:
    record, plain = kinds()
    for _ in range(before):
        record(1)
    assert outcome(record, args, kwargs) == outcome(plain, args, kwargs)


def test_each_object_has_a_list_of_its_own() -> None:
    record, _ = kinds()
    made = [record(1) for _ in range(2 * _FEW)]
    assert len({id(each.c) for each in made}) == len(made)
    assert all(each == made[0] for each in made)


def test_few_objects_write_no_method() -> None:
    @mutable
    class Counter:
        count: int = 0

    first = Counter.__init__
    for _ in range(_FEW):
        Counter()
        assert Counter.__init__ is first
    Counter(count=3)
    assert Counter.__init__ is not first
    assert Counter(4).count == 4


def test_fields_are_told_as_those_of_a_dataclass() -> None:
    record, plain = kinds()
    told = ("name", "type", "default", "default_factory", "init", "compare", "repr")
    found, usual = (
        [[getattr(each, what) for what in told] for each in dataclasses.fields(kind)]
        for kind in (record, plain)
    )
    assert found == usual
    assert dataclasses.replace(record(1), b=5).d == 6
    assert record(1, e=2) == record(1)
    assert record(1) != record(2)


def test_replace_gives_what_that_of_dataclasses_does() -> None:
    for kind in kinds():
        old = kind(1, c=[7])
        for changes in ({}, {"b": 5}, {"a": 3, "e": 9}):
            made, expected = replace(old, **changes), dataclasses.replace(old, **changes)
            assert made == expected
            assert (made.c is old.c, made.d, made.e) == (True, expected.d, expected.e)

    @frozen
    class Single:
        a: int

    assert replace(Single(1), a=2) == Single(2)
    with pytest.raises(KeyError):
        replace(Single(1), b=2)


def test_properties_are_computed_once() -> None:
    asked = []

    @frozen
    class Doubled:
        a: int

        @computed_once
        def double(self) -> int:
            asked.append(self.a)
            return 2 * self.a

    record = Doubled(4)
    assert (record.double, record.double, asked) == (8, 8, [4])
    assert isinstance(Doubled.double, computed_once)
