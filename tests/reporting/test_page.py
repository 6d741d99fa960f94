"""The page: well-formed, with all that is to be seen, and nothing from elsewhere."""

import json
import random
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import fxc
from fxc.reporting.cards import size_of, time_of
from fxc.reporting.page import MOST_SHOWN, page
from fxc.reporting.reader import parsed, read
from tests.tracing_programs import relax, relax_arguments, traced_to

VOID = {"meta"}


class Checked(HTMLParser):
    """Elements, opened and closed in order; ids, references to ids, and texts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.refers, self.texts, self.elements = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []
        assert len(self.ids) == len(set(self.ids))
        assert set(self.refers) <= set(self.ids)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.elements.append((tag, given))
        self.ids += [given["id"]] if "id" in given else []
        self.refers += [given[a] for a in ("aria-controls", "aria-labelledby") if a in given]
        assert not {"src", "srcset", "action", "onclick"} & given.keys()
        if "href" in given:
            assert given["href"].startswith("#")
            self.refers.append(given["href"][1:])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))


def report(folder, function, *calls, **options):
    traced_to(folder, function, *calls, **options)
    return page(read(folder), "t")


def test_the_page_is_well_formed_and_needs_nothing_else(tmp_path):
    text = report(tmp_path, relax, relax_arguments(), relax_arguments(50))
    Checked(text)
    assert "http" not in re.sub(r"http://www.w3.org/2000/svg|http-equiv", "", text)
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_all_that_is_to_be_seen_is_there(tmp_path):
    found = Checked(report(tmp_path, relax, relax_arguments(), relax_arguments(50)))
    tabs = [given for tag, given in found.elements if given.get("role") == "tab"]
    assert len(tabs) == 2 * 7
    texts = [data for tag, data in found.texts]
    for heading in ("Loop nests", "Memory over time", "Time by step", "Guards"):
        assert texts.count(heading) == 2
    assert any(data.startswith("Compiled again: ") and "shape was (100,)" in data for data in texts)
    assert (
        sum(tag == "svg" and given.get("class") == "fxc-drawing" for tag, given in found.elements)
        == 4
    )


def test_a_line_of_the_program_has_the_number_of_what_it_became(tmp_path):
    found = Checked(report(tmp_path, relax, relax_arguments()))
    number = str(relax.__code__.co_firstlineno + 2)
    (of,) = [given["data-p"] for tag, given in found.elements if given.get("data-line") == number]
    lines = [tag for tag, given in found.elements if of in (given.get("data-p") or "").split()]
    assert lines.count("span") > 20  # of texts
    assert lines.count("g") == 10  # of drawings


def strange(x):
    text = "</script><script>alert(1)</script><!-- & ü ≤ \u2028 ]]>"
    return x + len(text)


def test_text_of_the_program_is_text(tmp_path):
    text = report(tmp_path, strange, (np.ones(3),))
    found = Checked(text)
    assert sum(tag == "script" for tag, _ in found.elements) == 1
    assert any("</script><script>alert(1)</script><!-- & ü ≤" in data for _, data in found.texts)


def test_a_name_of_a_function_is_text():
    event = {"event": "start", "compile": 1, "function": '"><img src=x>', "reason": "<b>&amp;</b>"}
    found = Checked(page(parsed("<t>", json.dumps(event).encode()), "</title>"))
    assert not any(tag in ("img", "b") for tag, _ in found.elements)


def test_a_failure_is_shown(tmp_path):
    def refused(x):
        return open(x)

    with pytest.raises(fxc.CaptureError):
        traced_to(tmp_path, refused, (np.ones(3),))
    found = Checked(page(read(tmp_path), "t"))
    assert any(data.startswith("Not compiled: CaptureError: ") for _, data in found.texts)
    assert ("strong", "not compiled") in found.texts
    place = next(place for place, each in enumerate(found.texts) if each == ("em", "  ← here"))
    assert found.texts[place - 1][1] == "        return open(x)"


def test_compilations_of_several_processes_are_told_apart(tmp_path):
    traced_to(tmp_path, lambda x: x + 1, (np.ones(3),))
    (file,) = tmp_path.iterdir()
    assert processes(tmp_path) == []
    (tmp_path / "other.jsonl").write_bytes(file.read_bytes())
    assert processes(tmp_path) == ["process 1", "process 2"]


def processes(folder):
    texts = Checked(page(read(folder), "t")).texts
    return [data for tag, data in texts if tag == "td" and "process" in data]


def test_nothing_compiled_is_said():
    assert "No compilation was traced." in page(parsed("t", b""), "t")


def test_so_many_compilations_are_shown_in_full(tmp_path):
    traced_to(tmp_path, lambda x: x + 1, (np.ones(3),))
    traced = read(tmp_path)
    traced.compilations *= MOST_SHOWN + 5
    found = Checked(page(traced, "t"))
    assert sum(given.get("class") == "compilation" for _, given in found.elements) == MOST_SHOWN
    assert sum(tag == "a" for tag, _ in found.elements) == MOST_SHOWN


def large(count):
    """The source of a program of so many operators."""
    r = random.Random(1)
    lines = ["def f(x, y):", "    v0 = x * 2", "    v1 = y[::-1] + 1"]
    for i in range(2, count // 2):
        a, b = (f"v{r.randrange(max(0, i - 9), i)}" for _ in "ab")
        lines.append(f"    v{i} = " + r.choice([f"{a} + 0.5 * {b}", f"{a} - 0.1 * {b}[::-1]"]))
    return "\n".join([*lines, f"    return v{count // 2 - 1}", ""])


def test_the_report_of_a_large_graph_is_small(tmp_path):
    file = tmp_path / "large.py"
    file.write_text(large(300))
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    folder = tmp_path / "trace"
    text = report(folder, names["f"], (np.ones(10), np.ones(10)))
    assert len(read(folder).compilations[0].stages["captured"].lines) > 300
    assert len(text.encode()) < 1_000_000
    assert text.count('class="box"') < 2 * 201
    Checked(text)


def test_sizes_and_times_are_for_people():
    assert [size_of(n) for n in (0, 999, 8000, 2_081_000, 3 * 10**9, 10**14)] == [
        "0 bytes",
        "999 bytes",
        "8 kB",
        "2.08 MB",
        "3 GB",
        "1e+05 GB",
    ]
    assert [time_of(t) for t in (0, 1.2e-5, 0.0034, 1.25)] == ["0 µs", "12 µs", "3.4 ms", "1.25 s"]
