"""Functions that texts show and containers keep: they are the program's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fxc


def halved(y):
    return y / 2


def shown(f, y):
    text = "{} {x}".format(f, x=f)  # noqa: UP032
    text += "%s" % (f,)  # noqa: UP031
    return str(f), repr(f), ascii(f), format(f), text, f"{f!s:>9}", f(y)


def in_a_dict(f, y):
    d, e = dict(act=f), {}  # noqa: C408
    e.update(act=f, other=2)
    return d["act"] is f, d["act"].__name__, e["act"] is f, e.setdefault("new", f) is f, d["act"](y)


def in_a_set(f, y):
    known = set()
    known.add(f)
    known.add(f)
    return len(known), f in known, known == {f}, y + 1


def taken_out(f, y):
    d = {"f": f}
    return d.get("g", f) is f, d.pop("h", f) is f, [f].index(f), (f, f).count(f), y + 1


def called(f, y):
    items = [3, 1, 2]
    items.sort(key=lambda x: -f(x))
    return items, [*map(f, [y, y + 1])], sorted({f: 1}.items(), key=lambda x: x[1])[0][0] is f


@pytest.mark.parametrize("fn", [shown, in_a_dict, in_a_set, taken_out, called])
def test_functions_are_kept_as_they_are(fn: Any) -> None:
    compiled = fxc.compile(fn)
    for f in (halved, lambda y: y * 2):
        for y in (np.ones(3), np.ones(4)):
            assert repr(compiled(f, y)) == repr(fn(f, y))
    assert compiled.cache_info().variants


class Filter:
    def __init__(self, size):
        self.gain = np.eye(size) * 2
        self.inverse = np.linalg.inv


def test_attributes_hold_functions_of_numpys() -> None:
    kept = Filter(2)
    fxc.compile(Filter.__init__, fullgraph=True)(kept, 3)
    assert kept.inverse is np.linalg.inv
    assert np.array_equal(kept.inverse(kept.gain), np.eye(3) / 2)


def test_an_inner_function_has_its_docstring() -> None:
    def told(x):
        def inner(y, **options):
            """Of {}."""
            return y * options["by"]

        inner.__doc__ = inner.__doc__.format("x")
        return inner(x, by=2), inner.__doc__

    found, text = fxc.compile(told, fullgraph=True)(np.ones(3))
    assert (found.tolist(), text) == ([2.0] * 3, "Of x.")
