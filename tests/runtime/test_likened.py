"""Bytes that are compressed by others of their kind."""

import random

import pytest

from fxc.runtime.kept_codes import Models


def texts(kind: int, count: int) -> list[bytes]:
    """Texts of one kind: long, and alike but for a few bytes."""
    common = random.Random(kind).randbytes(4000)
    return [common[:n] + b"%d" % n + common[n:] for n in range(count)]


@pytest.mark.parametrize("size", [0, 1, 40_000])
def test_bytes_are_as_they_were(size: int) -> None:
    models, content = Models(), random.Random(0).randbytes(size)
    given = [content, b"", content + b"a", content[::-1], content]
    assert [models.likened(each).content() for each in given] == given


def test_what_is_alike_is_small() -> None:
    models = Models()
    first, *others = (models.likened(each) for each in texts(0, 5))
    assert len(first._packed) > 3000
    assert all(len(each._packed) < 200 for each in others)


def test_another_kind_is_alike_after_some() -> None:
    models, given = Models(), texts(0, 3) + texts(1, 10)
    found = [models.likened(each) for each in given]
    assert len(found[-1]._packed) < 200
    assert [each.content() for each in found] == given
