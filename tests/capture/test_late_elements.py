"""Elements of arrays of texts: shown, returned, listed, compared, and looked for in dicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

NAMES = np.array(["bob", "ann", "", "cy"] * 20)
X = np.arange(80.0)


def shown(n, x):
    best = n[x.argmax()]
    print(f"{best:>5}|{n[1]!r}", n[0], "%s" % n[3])  # noqa: UP031
    return best, n[1].upper() + "!", "<" + n[0] * 2, n[3].replace("c", "k")[:1], str(n[0])


def as_they_were(n, x):
    first, listed = n[0], n.tolist()
    n[0] = "zzz"
    return first, [first, first], listed[:2], n[0], n.item(1), n[:1].tolist()


def compared(n, x):
    last, runs = n[0], 0
    for s in n:
        if s != last:
            runs += 1
        last = s
    match n[1]:
        case "ann":
            kind = 1
        case _:
            kind = 2
    found = n[0] == "bob", n[0] == "bob\0", n[0] < n[1], n[2] == None, n[0] == 3  # noqa: E711
    return runs, last, kind, found, not n[2], "full" if n[3] else "empty"


def looked_for(n, x):
    prices = {"ann": 2.0, "bob": 3.0, "cy": 4.0}
    total = sum(prices[s] * v for s, v in zip(n, x, strict=True) if s)
    codes = np.array([{"": 3, "ann": 0, "bob": 1, "cy": 2}[s] for s in n.tolist()])
    places = [s in ("ann", "cy") for s in n[:5]], n[0] in {"ann"}, "ann" in n, "zz" in n
    return total, prices.get(n[2], -1), [prices.get(s, 0) for s in n], places, np.bincount(codes)


def listed(n, x):
    large = [(s, float(v)) for s, v in zip(n, x, strict=True) if v > 3]
    texts = [f"<{s}>" for s in n if s != "cy"]
    return large, texts, n[np.argsort(-x)].tolist(), list(n), n.reshape(2, -1)[:, :3].tolist()


def beside_arrays(n, x):
    means = [(g, x[n == g].mean()) for g in np.unique(n)]
    rest = np.where(n != n[0])[0], n[0] == n, n[n > n[1]].size, n[:1].reshape(()) == n[0]
    for k in range(len(n) - 1):
        if n[k] > n[k + 1]:
            n[k], n[k + 1] = n[k + 1], n[k]
    few = np.empty(4, "U2")
    few[1:3] = n[-1]
    few[0] = n[-2]
    return means, rest, few


def chosen(n, x):
    label = n[1] if x[3] > 2 else "none"
    either = n[1] if x[4] > 2 else n[0]
    labels = [s if v > 3 else "low" for s, v in zip(n, x, strict=True)]
    best, most = None, -1.0
    for s, v in zip(n, x, strict=True):
        if v > most:
            best, most = s, v
    full = n[0] or "none", n[2] or "none", n[2] and 1
    return label, f"{either}!", either == "ann", labels, best, full, any(s == "cy" for s in n)


PROGRAMS = [beside_arrays, chosen, shown, as_they_were, compared, looked_for, listed]


@pytest.mark.parametrize("program", PROGRAMS)
def test_elements_of_texts(program: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for names in (NAMES, NAMES, NAMES[:-4], NAMES.astype("U5"), NAMES[4:28]):
        given = names, X[: len(names)]
        expected = run(program, (names.copy(), given[1])), capsys.readouterr().out
        found = run(compiled, (names.copy(), given[1])), capsys.readouterr().out
        assert difference(expected[0], found[0]) == ""
        assert expected[1] == found[1]
    assert compiled.cache_info().eager_calls == 0


ROWS = np.array([("ann", 3, 1.5), ("bo", 1, 2.5)], [("name", "U5"), ("age", "i4"), ("score", "f8")])


def of_records(a):
    for r in a:
        print(f"{r['name']:>6} {r['age']:3d}")
    return a["name"].tolist(), [(r["name"], r["score"]) for r in a if r["age"] > 1]


def test_fields_that_are_texts(capsys: pytest.CaptureFixture[str]) -> None:
    compiled = fxc.compile(of_records, fullgraph=True)
    for rows in (ROWS, ROWS.repeat(20)):
        expected = run(of_records, (rows,)), capsys.readouterr().out
        assert difference(expected[0], run(compiled, (rows,))) == ""
        assert capsys.readouterr().out == expected[1]
    assert compiled.cache_info().eager_calls == 0


def missing(n, x):
    return {"zz": 1}[n[0]]


def grown(n, x):
    return n.tolist() + [f"{x[0]:.1f}"]  # noqa: RUF005 - the sum is what is looked at


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("program", [missing, grown])
def test_what_is_left_to_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program)
    for _ in range(2):
        assert difference(run(program, (NAMES, X)), run(compiled, (NAMES, X))) == ""


class Group:
    def __init__(self, name):
        self.name = name

    def total(self, n, x):
        return x[n == self.name].sum()


def by_a_name(n, x, name, group, names):
    print(f"<{name:>4}>", name)
    prices = {"ann": 2.0, "bob": 3.0}
    n[0] = name
    sums = [x[n == each].sum() for each in names]
    return name, [name], prices.get(name, 0.0), name in ("cy", ""), group.total(n, x), sums


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_elements_from_outside(capsys: pytest.CaptureFixture[str]) -> None:
    """An ``np.str_`` that is an argument, or in one, left the function to Python."""
    compiled = fxc.compile(by_a_name)
    for text in ("bob", "ann", "", "a name of more than sixteen characters", "bob\0", "cy"):
        name = np.str_(text)
        given = X, name, Group(name), [name, np.str_("ann")]
        expected = run(by_a_name, (NAMES.copy(), *given)), capsys.readouterr().out
        found = run(compiled, (NAMES.copy(), *given))
        assert difference(expected[0], found) == ""
        assert capsys.readouterr().out == expected[1]
        assert found.result[0] is found.result[1][0] is name
    assert compiled.cache_info().eager_calls == 1  # of the NUL
    assert compiled.cache_info().variants == 2


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
def test_which_object_an_element_from_outside_is() -> None:
    def is_it(x: Any, name: Any, group: Any) -> Any:
        return x.sum(), group.name is name, name is group.name, name == group.name

    compiled, name = fxc.compile(is_it), np.str_("bob")
    for group in (Group(name), Group(np.str_("bob"))):
        assert compiled(X, name, group) == is_it(X, name, group)
