"""Elements of arrays of texts of one character: Note [Characters as integers]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.wild.seen import difference, watch


def around(g, h):
    """Cells that have a wall above, and what becomes of a copy."""
    found, new = [], g.copy()
    for i in range(1, g.shape[0]):
        for j in range(g.shape[1]):
            if g[i, j] != "." and g[i - 1, j] == "#":
                found.append((i, j, g[i, j]))
            if g[i, j] == g[i - 1, j] or g[i, j] > h[i, j]:
                new[i, j] = "x"
            else:
                new[i, j] = g[i - 1, j]
    return found, new


def last(g, h):
    at, best, before, changes = None, g[0, 0], g[0, 0], 0
    for i, row in enumerate(g):
        for j, c in enumerate(row):
            changes += c != before
            best, before = c if c > best else best, c
            if c == "S":
                at = (i, j)
    return at, best, before, changes, g[0, 0], [g[1, 1], h[0, 1]], {"a": h[1, 0]}


def of_an_empty_one(g, h):
    n, codes = 0, []
    for c in h[0]:
        n += 10 * (c == "") + 7 * bool(c) + (c < "a") + 5 * (c != "SS") + 11 * isinstance(c, str)
        n += not c
        codes.append(ord(g[0, 0]) + len(g[1, 1]) + (g[1, 0] in "#.") + 3 * (g[2, 0] in ("S", "")))
    return n, codes, "".join(g[1]), g[1, 0] == 3, g[1, 0] != None, str(g[1, 1])  # noqa: E711


def keys(g, h):
    weights, counts, seen, total = {"#": 3, "S": 5}, {}, set(), 0
    for i in range(g.shape[0]):
        for j in range(g.shape[1]):
            total += weights.get(g[i, j], 100)
            counts[g[i, j]] = counts.get(g[i, j], 0) + 1
            seen.add(g[i, j])
    return total, counts, len(seen), "#" in seen


def methods(g, h):
    total, kept, text = 0, [], ""
    for c in g[2]:
        if c.isdigit():
            total += int(c)
        elif c.isalpha() or c.isspace():
            kept.append(c.upper())
        text += c
    return total, kept, text, g[2, 0][0], list(g[2, 1])


def whole(g, h):
    """Operators on whole arrays."""
    new = np.full(g.shape, "-")
    new[1, :] = "="
    new[2, 1:3] = g[0, 1:3]
    picked = g[g[0, 1] == g], np.where(g == "#", "L", h), np.where(g < h, "#", ".")
    places = np.argwhere(g == "S"), (g[1:] != h[:-1]).sum(axis=0), np.count_nonzero(h >= "S")
    return new, picked, places, h == "", g == h.T[:1].T, np.full_like(h, "é")


@pytest.mark.parametrize("program", [around, last, of_an_empty_one, keys, methods, whole])
def test_elements_are_characters_in_native_code(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True, dynamic=True)
    rng = np.random.default_rng(0)
    for shape in ((5, 12), (4, 14), (3, 10)):
        g, h = rng.choice(list("#.Sa7 "), (2, *shape))[:, ::-1, ::2]
        h[0, 1], h[2, 3] = "", "é"
        text = difference(watch(program, (g, h)), watch(compiled, (g, h)), 0.0)
        assert not text, text
    counts = compiled.cache_info()
    assert not counts.eager_calls
    assert not counts.fallbacks, counts.fallbacks


def test_what_characters_do_not_serve_is_numpys() -> None:
    """Digits and letters beyond ASCII, the code of an empty text, other dtypes."""

    def program(g, h):
        return ord(g[0, 0]), np.where(g == "#", "L", h), np.full_like(h, "q"), g == h

    def letters(g, h):
        return [c.upper() for c in g[0]], g[1, 0].isdigit()

    rng = np.random.default_rng(1)
    g = rng.choice(list("#.S"), (2, 3, 4))
    odd = np.array([list("ßa"), list("٣b")])
    empty = np.array([["", "a"], ["b", "c"]])
    for fn in (program, letters):
        compiled = fxc.compile(fn)
        for args in ((g[0], g[1]), (odd, odd), (empty, empty), (g[0].astype(">U1"), g[1])):
            for given in (args, args[::-1], (args[0], args[1].astype("U2"))):
                text = difference(watch(fn, given), watch(compiled, given), 0.0)
                assert not text, text


def test_texts_of_arrays_are_looked_at() -> None:
    """That of an array of characters failed in fxc; with more between them it is Python's."""

    def program(a: Any) -> Any:
        return [i for i in range(len(a) - 2) if "".join(a[i : i + 3]) == "ATG"]

    def others(a: Any) -> Any:
        return "".join(a[a != "A"]) == "TGT", "".join(a).lower()[1:]

    def between(a: Any) -> Any:
        return "-".join(a) == "A-T", len("-".join(a))

    texts = [np.array(list(text)) for text in ("ATGATG", "GGATGT")]
    unusual = [np.array(["A", "", "T"]), texts[0].astype("U2"), texts[0].astype(">U1")]
    whole = fxc.compile(program, fullgraph=True)
    for given in texts:
        assert not difference(watch(program, (given,)), watch(whole, (given,)), 0.0)
    for fn in (program, others, between):
        for given in (*texts, *unusual):
            found = watch(fxc.compile(fn), (given,))
            text = difference(watch(fn, (given,)), found, 0.0)
            assert not text, text
            assert "please report" not in "".join(found.refusals)


def test_numbers_in_texts_are_read_in_native_code() -> None:
    """The value of a text that is no constant was refused."""

    def program(s: str, k: int) -> Any:
        return int(s[:k]), int(s[k:]), sum(int(c) for c in s if c.isdigit())

    compiled = fxc.compile(program, dynamic=True)
    texts = ("12-3", "-5123", "0071", "93-0", "123", "+1-3", "1_23", " 1-3", "3٣1", "1-", "9" * 30)
    for text in texts:
        args = (text, 2)
        found = difference(watch(program, args), watch(compiled, args), 0.0)
        assert not found, found
    assert compiled.cache_info().variants <= 2
