# ruff: noqa: UP031
"""Texts of numbers that are not known, chosen by conditions, carried by loops, kept in lists."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run


def by_percent(x):
    print("converged in %d\n" % int(x.sum()) if x[0] > 0 else "did not\n")
    sys.stdout.write("yes\n" if x[1] > 0 else "no\n")
    return x * 2


def a_part_by_a_condition(x):
    return f"{len(x)} picks" + (f", first at {x[0]:.2f}" if x[0] > 0 else "")


def two_branches(x):
    status = "ok"
    if x[0] > 2:
        status = f"bad {x[0]}"
    elif x[1] > 0:
        status = f"worse {x[1]:.1f} {x[2]}"
    return {"status": status, "is": status == "ok", "in": status in ("ok", "fine")}


def to_other_bases(x):
    k = int(10 * x[0])
    texts = [hex(int(v)) for v in 10 * x]
    return (
        hex(k),
        bin(k)[2:].zfill(9),
        f"{oct(k)}",
        bin(k).count("1"),
        np.int8(k).bit_count(),
        texts,
    )


def behind_a_loop(x):
    best, last = None, ""
    for i in range(len(x)):
        if x[i] > 2:
            best = f"{i}: {x[i]:.2f}"
        last = f"{i} of {x[i]}"
    return best, last


def behind_a_while(x):
    i, message = 0, ""
    while i < 5 and x[i] < 3:
        message = f"step {i}: {x[i]}"
        i += 1
    return message, i


def lines_of_a_loop(x):
    lines = ["head"]
    for i in range(len(x)):
        if x[i] > 0:
            lines.append("%3d %5.2f %s" % (i, x[i], "big" if x[i] > 2 else "small"))
    lines.append("-" * 3)
    lines.append(f"sum {x.sum()}")
    return "\n".join(lines), lines


def by_a_comprehension(x):
    names = ["up" if v > 0 else "down" for v in x]
    return " ".join([f"{v:.2f}" if v > 0 else "-" for v in x]), names, names.count("up")


def by_maps(x):
    """Iterators that are joined by nothing: those of texts, and those of characters."""
    signs = "".join(map(str, (x > 0).astype(int)))
    letters = "".join(map(chr, np.abs(x).astype(int) % 26 + 65))
    return signs, letters, "".join(map("{:.1f}".format, x[x > 1])), ",".join(map(str, x))


def of_mapped(x):
    numbers = map(str, x[::-1])
    return "".join(numbers), " ".join(map(str, x)), "".join(f"{v}" for v in x)


def joined_in_items(x):
    """What takes up a generator inside of an item is a method here: that was an AttributeError."""
    grid = x[:6].reshape(2, 3) > 0
    print("\n".join("".join("#" if c else "." for c in row) for row in grid))
    return len(grid)


def fields(x):
    rows, report = [], []
    for i in range(len(x)):
        rows.append((i, f"{x[i]:.2f}" if x[i] > 1 else "low", x[i]))
        report.append({"i": i, "name": f"n{i}", "text": f"{x[i]}" if x[i] > 1 else f"low {i}"})
    return rows, report


def methods(x):
    s = f"a{x[0]:.1f}" if x[0] > 0 else "none"
    if s:
        s = s.ljust(8) + "|" + s.upper() + s * 2
    return [s, "%s" % s, f"{s:>30}", s + s], {"s": s}


def of_arrays(x):
    if x[0] > 0:
        s = f"{x}"
    else:
        s = "none"
    x[0] = 99
    return s


def adds_up(x):
    s = ""
    for v in x:
        s += f"{v:.1f}," if v > 0 else "-"
    return s


def bars(x):
    """How often a text stands in another says a number that is not known."""
    lines = []
    for i, v in enumerate(x):
        bar = "#" * round(float(2 * abs(v))) if v > -2 else ""
        lines.append(f"{v:6.2f} {bar}|" + " " * i + "ab" * (i % 3) * 2)
    print("=" * int(abs(x[0])), x.argmax() * "-")
    return "\n".join(lines), ["*" * int(v) for v in x], "-" * (len(x) - 9)


def all_ways(x):
    """Texts in a list of the graph are made by functions of their numbers, in the same order."""
    out = []
    for i, v in enumerate(x):
        text = f"{v!r:>10}{i!s}{'{}é'}{v:{i + 5}.2f}{[v, (i,), {'k': v}]}" + "%s|%5.2f%%" % (i, v)
        text += "{1}{0}{k:{w}}".format(i, v, k=v, w=9)
        out.append(text.ljust(40, "*") + ",".join([f"{v}", "a", str(i)]) + f"{v}"[:3] + "{}\n")
    return out


def of_items(x):
    """A format may take items of an array itself."""
    pairs = np.stack([x, -x], axis=1)
    texts = ["{0[0]:.1f} {0[1]}".format(pair) for pair in pairs]  # noqa: UP032
    return texts, "{x[6]}{0.size}".format(x, x=x)  # noqa: UP032


PROGRAMS: list[Callable[..., Any]] = [
    *(by_percent, a_part_by_a_condition, two_branches, behind_a_loop, behind_a_while, fields),
    *(lines_of_a_loop, by_a_comprehension, by_maps, bars, all_ways, methods, of_arrays),
    *(adds_up, to_other_bases, of_mapped, joined_in_items, of_items),
]
VALUES = [np.arange(7.0) - k for k in (0, 2, 3, 9)]


@pytest.mark.parametrize("fn", PROGRAMS, ids=[fn.__name__ for fn in PROGRAMS])
def test_as_python(fn: Callable[..., Any], capsys: pytest.CaptureFixture[str]) -> None:
    compiled = fxc.compile(fn, fullgraph=True)
    for x in VALUES:
        expected = run(fn, (x.copy(),)), capsys.readouterr().out
        found = run(compiled, (x.copy(),)), capsys.readouterr().out
        assert not difference(expected[0], found[0])
        assert found[1] == expected[1]
    info = compiled.cache_info()
    assert (info.eager_calls, info.variants) == (0, 1)


def test_only_the_text_that_is_chosen_is_made() -> None:
    def of_one(x: Any) -> str:
        return "%d" % x[0] if x[0] == x[0] else "nan"

    compiled = fxc.compile(of_one, fullgraph=True)
    for v in (1.5, np.nan):
        assert compiled(np.array([v])) == of_one(np.array([v]))
    assert compiled.cache_info().eager_calls == 0


def rules(x, n):
    """One compilation serves all numbers of characters where a text is shown only."""
    return "-" * n, f"{'=' * n}|" + "ab" * len(x), x * n


def looked_at(x, n):
    s = "ab" * n
    return len(s), s[:3], s == "abab", list(s), {s: x[0]}, np.array([s, "c"]), x * 2


def of_elements(x, n):
    return len("ab" * int(x[0])), np.array([f"{x[0]:.2f}", "b"]), x * 2


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize(("fn", "most"), [(rules, 2), (looked_at, 9), (of_elements, 9)])
def test_repeated_texts(fn: Callable[..., Any], most: int) -> None:
    compiled = fxc.compile(fn)
    for n in (3, 4, 5, 6, 7, 2):
        x = np.arange(n + 1.0) + 1
        assert difference(run(fn, (x, n)), run(compiled, (x, n))) == ""
    assert compiled.cache_info().variants <= most


def test_functions_in_lists_stay_themselves() -> None:
    def keeps(x: Any) -> Any:
        def more(y: Any) -> Any:
            return y + 1

        steps = []
        steps.append(more)
        return steps[0] is more, steps[0](x), [each.__name__ for each in steps]

    x = np.arange(3.0)
    assert not difference(run(keeps, (x,)), run(fxc.compile(keeps, fullgraph=True), (x,)))


def of_what_changes_later(x):
    found, pairs, rows = [], [], []
    for i in range(len(x)):
        if x[i] > 1:
            found.append(f"{x[i]}")
            pairs.append((i, x[i]))
            rows.append(x * i)
    y = x if x[0] > 0 else x[:3]
    texts = ",".join(found), f"{pairs}", "%s" % (rows,), f"{y}", str(found)
    print(pairs, y)
    x[1] = 99
    found.append("more")
    for i in range(len(x)):
        if x[i] > 1:
            pairs.append((i, x[i]))
            rows.append(x + 1)
    return texts, found, pairs, rows


def test_lists_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """A list of the graph, and what is one array or another, that change after their text is made."""
    test_as_python(of_what_changes_later, capsys)


def that_show(x):
    n = int(x.sum())
    shown = ["%d" % n, "%s of %d" % (n, n), f"{n:.0f}", f"{n!s}", f"n{n!s:.0}"]
    return [1 if each else 2 for each in shown]


def by_percent_that_show_nothing(x):
    return 1 if "%.0s" % int(x.sum()) else 2


def parts_that_show_nothing(x):
    return 1 if f"{int(x.sum())!s:.0}" else 2


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("fn", [that_show, by_percent_that_show_nothing, parts_that_show_nothing])
def test_the_truth_of_a_text(fn: Callable[..., Any]) -> None:
    compiled = fxc.compile(fn)
    for x in VALUES:
        assert compiled(x) == fn(x)
    assert bool(compiled.cache_info().native_calls) == (fn is that_show)


def parts_of_texts(x):
    s = f"{x[0]:.3f} and more"
    words = ["a", s if x[0] > 0 else "down"]
    memory = x.tobytes()[3:19]
    print(memory[::2], len(words))
    return memory, s[:4], s[::-1], s[2 : int(x[2]) + 20], s[-3:].upper(), ",".join(words)[:9]


def test_parts_of_texts(capsys: pytest.CaptureFixture[str]) -> None:
    """To slice a text that joins others, which conditions choose, raised an ``InternalError``."""
    test_as_python(parts_of_texts, capsys)


def bytes_made(x):
    y = (x * 10).astype(np.uint8) % 100
    b = y.tobytes()
    text = y.tobytes().decode()
    y[0] = 7
    turned = x.reshape(2, -1).T.tobytes()
    return b, text, len(text), x.tobytes(), x[::2].tobytes(), turned, b + b"a", b * 2, {"k": [b]}, y


def texts_of_bytes(x):
    b = x.tobytes()
    text = str(b)
    return text, repr(b), f"{b}", str(b[:2], "latin-1"), str(f"{x[0]}"), b


def joined_bytes(x):
    y = (x * 10).astype(np.uint8) % 100
    rows = [each.tobytes() for each in y.reshape(-1, 2)]
    header = b"%d rows of %s: " % (len(rows), b"two")
    return header + b"".join(rows), b"-".join([b"a", y.tobytes()]), b"%b!" % y.tobytes()


def decoded_beyond_ascii(x):
    y = (x * 100).astype(np.uint8)
    try:
        text = y.tobytes().decode()
    except UnicodeDecodeError as error:
        text = str(error)
    y[:] = 0
    return text, y


def test_bytes_of_arrays() -> None:
    made = ((bytes_made, 0), (texts_of_bytes, 0), (joined_bytes, 0), (decoded_beyond_ascii, 1))
    for fn, eager in made:
        compiled = fxc.compile(fn, fullgraph=True)
        for x in (np.linspace(0, 1, 8), np.linspace(0, 1.2, 10), np.linspace(0, 2.4, 12)):
            assert difference(run(fn, (x.copy(),)), run(compiled, (x.copy(),))) == ""
        assert compiled.cache_info().eager_calls == eager


def test_bytes_that_are_sought_are_refused() -> None:
    with pytest.raises(fxc.CaptureError, match="bytes of an array that are looked at"):
        fxc.compile(lambda x: x.tobytes() in b"abc", fullgraph=True)(np.zeros(2, np.uint8))


def sets_from_outside(x, s):
    print(s, x[0])
    return str(s), repr(s), f"{s} {x[0]}", "%s" % (s,), f"{[s]}", x * 2


def loose_set():
    """What was taken out shows in its order: a copy of it has another one."""
    left = set(range(100))
    for each in range(100):
        if each not in (33, 40):
            left.discard(each)
    return left


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("made", [lambda: {1, 2}, set, loose_set], ids=["usual", "empty", "loose"])
def test_texts_of_sets_from_outside(made: Any, capsys: pytest.CaptureFixture[str]) -> None:
    compiled, x = fxc.compile(sets_from_outside), np.ones(2)
    expected = run(sets_from_outside, (x, made())), capsys.readouterr().out
    for _ in range(2):
        assert not difference(expected[0], run(compiled, (x, made())))
        assert capsys.readouterr().out == expected[1]
    assert bool(compiled.cache_info().eager_calls) == (made is loose_set)


def of_numbers(x):
    found = {int(v) * 17 % 23 for v in x if v > 0}
    text = str(found)
    found.add(100)
    return text, f"{found!r}", found


def test_texts_of_sets_of_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    test_as_python(of_numbers, capsys)


SHOWN = [deque([1, 2], 3), iter("ab"), zip("ab"), map(int, "12"), bytearray(b"a")]


@pytest.mark.filterwarnings("ignore::fxc.CaptureWarning")
@pytest.mark.parametrize("thing", SHOWN, ids=[type(each).__name__ for each in SHOWN])
def test_what_has_no_text_in_a_graph_is_left_to_python(
    thing: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def shows(x: Any, thing: Any) -> Any:
        print(thing)
        return x * 2

    assert fxc.compile(shows)(np.ones(1), thing)[0] == 2.0
    assert capsys.readouterr().out == f"{thing}\n"


def test_texts_of_lists_that_python_knows() -> None:
    """A text without numbers was carried by a loop as if it had one."""

    def program(x):
        words = []
        words.append(",".join(words)[:20])
        text, rounds = words[-1], 0
        while text in words:
            rounds += 1
            if rounds > 9:
                break
            for text in words:  # noqa: B007 - what stays behind is looked at
                x += 1.0
            words.sort()
        return words, text

    compiled = fxc.compile(program, fullgraph=True)
    assert compiled(np.ones(3)) == program(np.ones(3))


@dataclass
class Line:
    text: str
    value: float = 0.0


class Title:
    def __init__(self, text):
        self.text = text.upper()


class Pair(NamedTuple):
    text: str
    value: float


def in_objects(x):
    lines = [Line(f"{v:.1f}", float(v)) for v in x if v > 0]
    line, pair = Line(f"v={x[0]:.2f}"), Pair(f"<{x[1]}>", x[1])
    line.text += "!"
    return line, line.text, lines, pair, Title(f"a{x[0]}").text, [Pair(f"{v}", v) for v in x]


def test_texts_in_objects() -> None:
    """A text that was given to a class was looked at, which needs the numbers in it."""
    compiled = fxc.compile(in_objects, fullgraph=True)
    for x in (np.linspace(-1.0, 2.0, 8), np.linspace(0.5, 9.0, 8)):
        assert repr(compiled(x)) == repr(in_objects(x))
    assert compiled.cache_info().eager_calls == 0
