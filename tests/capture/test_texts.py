"""Texts whose characters are known at run time only: Note [Texts of the graph]."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.outcomes import difference, run

# ------------------------------------------------------------------ arguments


def counted(x, s, t):
    found, codes = 0, np.zeros(len(s))
    for i, each in enumerate(s):
        if each in "AC" or each == t[0]:
            found += 1
        codes[i] = ord(each) - 60
    return found, codes, len(s), s[-1]


def distance(x, s, t):
    row = list(range(len(t) + 1))
    for i, a in enumerate(s, 1):
        new = [i]
        for j, b in enumerate(t, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (a != b)))
        row = new
    return row[-1]


def weighed(x, s, t):
    weights, total = {"A": 1.0, "C": 2.5, "G": 0.5, "T": 3.0}, 0.0
    for each in s:
        total += weights[each] * weights.get(each, 0.0)
    return total


def searched(x, s, t):
    places = np.array([["ACGT".index(each), "AACX".find(each)] for each in s])
    return places, sum("".find(each) + "ATACA".count(each) for each in t)


def searched_otherwise(x, s, t):
    return sum("ACGT".startswith(each) + "ACATA".rfind(each) + "ACA".find(each, 1) for each in s)


def chosen(x, s, t):
    best, kept = "-", []
    for i in range(len(s)):
        if s[i] > best:
            best = s[i]
        kept.append(s[i] if x[i] > 1 else "*")
    return best, kept, "".join(kept), "".join(reversed(kept))


def cut(x, s, t):
    return s[1:3], s[::-1] + "!", t[0] + s, s[1:] + t[:1]


def named(x, s, t):
    return x.sum() if s == "ACG" else s.lower()


# ------------------------------------------------------------------ made here


def of_numbers(x, s, t):
    return "".join(chr(65 + int(v) % 26) for v in x), "".join([chr(97 + int(v)) for v in x])


def added(x, s, t):
    found = "<"
    for v in x:
        if v > 2:
            found += "yes"
        elif v > 1:
            found = found + "n" + "o"
    return found + ">", len(found)


def at_both_ends(x, s, t):
    a, b, i = "", "", len(s) - 1
    while i >= 0:
        if x[i] > 1:
            a, b, i = s[i] + a, b + "-", i - 1
        else:
            a, b, i = "(" + "-" + a, b + s[i] + t[0], i - 1
    return a, b


def kept_meanwhile(x, s, t):
    found, before = "", ""
    for v in x:
        if v > 2:
            before = found
        found += "a"
    return found, before


def grown_from_two(x, s, t):
    found = ""
    for v in x:
        other = found + "z"
        found += "a" if v > 1 else "b"
    return found, other


def turned(x, s, t):
    found = ""
    for each in s:
        found = each + found
    return found == s, found


def shifted(x, s, t):
    found = ""
    for each in s:
        found += chr((ord(each) - 65 + len(t)) % 26 + 65)
    return found


PROGRAMS: list[Callable[..., Any]] = [
    *(
        counted,
        distance,
        weighed,
        searched,
        searched_otherwise,
        chosen,
        cut,
        named,
        of_numbers,
        added,
        at_both_ends,
    ),
    *(kept_meanwhile, grown_from_two, turned, shifted),
]
TEXTS = [("ACGT" * 9)[k : k + n] for k, n in ((0, 20), (1, 6), (2, 21), (1, 1))]
CALLS = [(np.arange(len(s) * 1.0) % 5, s, s[1:] + "TA") for s in (*TEXTS, "ACCACX")]


def seen(program: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        found = program(*args)
    except (LookupError, ValueError, UnboundLocalError) as error:
        return repr(error)
    return repr(found)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_as_python(program: Callable[..., Any]) -> None:
    compiled = fxc.compile(program, fullgraph=True)
    for args in CALLS:
        assert seen(compiled, args) == seen(program, args)


def test_one_compilation_for_all_texts() -> None:
    compiled = fxc.compile(shifted, fullgraph=True)
    for args in CALLS[:3]:
        compiled(*args)
    assert compiled.cache_info().variants == 2
    assert compiled.cache_info().eager_calls == 0


def edits(a, b, cost="symmetric"):
    """The distance of Levenshtein."""
    d = np.zeros((len(a) + 1, len(b) + 1), int)
    d[:, 0], d[0] = range(len(a) + 1), range(len(b) + 1)
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            changed = (1 if cost == "symmetric" else 2) * (x != y)
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + changed)
    return d[-1, -1]


def test_the_first_call_does_not_copy_a_loop_for_each_character() -> None:
    compiled = fxc.compile(edits, fullgraph=True)
    for texts in (("kitten" * 2, "sitting" * 2), ("Saturday", "Sunday"), ("ab" * 30, "ba" * 25)):
        assert compiled(*texts) == edits(*texts)
    assert compiled.cache_info().variants == 1
    assert compiled("kitten", "sitting", "other") == edits("kitten", "sitting", "other")
    assert compiled.cache_info().variants == 2  # what says how to work is a constant


def test_a_text_that_is_returned_is_the_callers() -> None:
    compiled = fxc.compile(lambda x, s: (x * 2, s, s if x[0] > 0 else "no"), fullgraph=True)
    for k in range(4):
        text = "abc" * (k + 3)
        _, same, chosen = compiled(np.arange(3.0) + k, text)
        assert same is text
        assert chosen == (text if k else "no")


def test_any_character() -> None:
    compiled = fxc.compile(cut, fullgraph=True)
    for text in ("ACGT", "aé\u20ac\U0001f600", "\ud800x\x00y"):
        assert compiled(None, text, "z") == cut(None, text, "z")


def test_chr_of_what_is_no_character_is_pythons() -> None:
    def of(x):
        return "".join([chr(int(v)) for v in x])

    compiled = fxc.compile(of, fullgraph=True)
    assert compiled(np.arange(20)) == of(np.arange(20))
    with pytest.raises(ValueError, match=r"chr\(\) arg not in range"):
        compiled(np.arange(20) - 3)


def test_what_needs_the_characters_makes_them_constants() -> None:
    def asked(x, s):
        return x * len(s.split("-")), s[0] is s[0], s < "b"

    compiled = fxc.compile(asked, fullgraph=True)
    for text in ("a-b", "c-d-e", "bcd"):
        found, (same, less) = compiled(2.0, text)[0], compiled(2.0, text)[1:]
        assert (found, same, less) == asked(2.0, text)
    assert compiled.cache_info().variants == 3


def contains(x, s):
    joined = "".join([chr(ord(each) + 1) for each in s if each != "b"])
    word = "ab" if x[0] > 0 else "b->"
    return (
        ("->" in s, "->" not in s, "-" in s, "" in s, s[:1] in s, word in s, "ab" in s[1:]),
        ("b" in joined, s[-1:] in "a->b", operator.contains(s, "->"), "ab" in s[0]),
    )


def test_a_text_contains_others() -> None:
    compiled = fxc.compile(contains, fullgraph=True)
    for text in ("a -> b", "ab", "b->", "->ab", "a", "x-y>b->"):
        for first in (1.0, -1.0):
            given = np.array([first]), text
            assert difference(run(contains, given), run(compiled, given)) == ""


def test_a_text_contains_others_by_one_compilation() -> None:
    compiled = fxc.compile(lambda x, s: x * ("->" in s) + ("-" in s), fullgraph=True)
    for text in ("a -> b", "abc", "b->", "->ab", "a-b->c"):
        assert compiled(2.0, text) == 2.0 * ("->" in text) + ("-" in text)
    assert compiled.cache_info().variants == 2


@pytest.mark.filterwarnings("error::fxc.CaptureWarning")
@pytest.mark.parametrize(
    ("program", "texts"),
    [
        (lambda x, s: x * int(s), ("10", "11", "12")),
        (lambda x, s: (x + float(s)) * complex(s), ("0.5", "1.5", "2")),
        (lambda x, s: (x * 2, format(s, "x" + s)), (">10", "<12", "^9")),
        (lambda x, s: (x * 2, f"{1.5:{s}}"), ("e", ".3f", "g")),
        (lambda x, s: (x * 2, "{:{}}".format(1.5, s)), ("e", ".3f", "g")),
        (lambda x, s: (x * 2, format(x[0], s)), ("e", ".3f", "g")),
        (lambda x, s: x * int(str(len(x))), ("a", "b", "c")),
    ],
)
def test_numbers_in_texts_and_formats_are_constants(program: Any, texts: tuple[str, ...]) -> None:
    compiled = fxc.compile(program)
    for text in texts:
        x = np.arange(1.0, 3 + len(text))
        assert difference(run(program, (x, text)), run(compiled, (x, text))) == ""


def test_many_characters_are_joined_in_a_loop() -> None:
    def many(x):
        letters = "".join(chr(97 + int(v) % 26) for v in x)
        return letters, "-".join([chr(65 + int(v) % 3) for v in x]), "".join(map(chr, x))

    compiled = fxc.compile(many, fullgraph=True)
    for n in (20, 3000, 4000):
        x = np.random.default_rng(n).integers(65, 90, n)
        assert compiled(x) == many(x)
    assert compiled.cache_info().eager_calls == 0


WORDS = re.compile(r"([a-z]+)=(\d+)")


def test_expressions_of_known_texts_are_matched_while_capturing() -> None:
    def parsed(x, text):
        found = {name: int(number) for name, number in WORDS.findall(text)}
        first = re.match(r"(\w)", text, re.IGNORECASE)
        swapped = re.sub("[aeiou]", "_", text)
        return x * len(found), found, first.group(1), re.split("[=;]", text), swapped

    compiled = fxc.compile(parsed, fullgraph=True)
    for text in ("a=1;bc=23", "dog=4", "x=7;y=8;z=9"):
        assert compiled(2.0, text) == parsed(2.0, text)
    assert compiled.cache_info().eager_calls == 0


def test_methods_of_known_texts_with_one_text_or_another() -> None:
    """A TypeError of ours was taken for the program's: an internal error, as NumPy ran without."""

    def program(x: Any) -> Any:
        found = []
        for i in x:
            t = "ab" if i > 2 else "c"
            places = "xabcx".index(t), "abcab".find("abz"[i % 3]), "abcab".count(t)
            found.append((*places, "abc".startswith(t), "abc".replace("a", t), "abc".replace(t, t)))
        return found

    def of_several(x: Any) -> Any:
        return ["abc".startswith(("ab" if i > 2 else "c", "z")) for i in x]

    compiled = fxc.compile(program, fullgraph=True)
    for x in (np.array([1, 4, 2, 3, 0]), np.array([5, 2])):
        assert difference(run(program, (x,)), run(compiled, (x,))) == ""
    with pytest.raises(fxc.CaptureError, match="startswith"):
        fxc.compile(of_several, fullgraph=True)(x)


def _cut_at_elements(text: str, places: Any) -> Any:
    pairs, at = [], 0
    while at < len(text):
        end = at
        while end < len(text) and text[end] == text[at]:
            end += 1
        pairs.append((text[at], len(text[at:end])))
        at = end
    return pairs, [text[a:b] for a, b in zip(places, places + 3, strict=True)]


def _cut_at_floats(text: str, places: Any) -> Any:
    return text[places[0] / 2 :]


def test_a_known_text_is_cut_where_the_data_say() -> None:
    args = "aabcccd", np.array([-9, 0, 2, 6, 40])
    compiled = fxc.compile(_cut_at_elements, fullgraph=True)
    assert difference(run(_cut_at_elements, args), run(compiled, args)) == ""
    assert compiled.cache_info().eager_calls == 0
    compiled = fxc.compile(_cut_at_floats)
    assert difference(run(_cut_at_floats, args), run(compiled, args)) == ""
