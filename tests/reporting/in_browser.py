"""The report in a real browser: `make test-browser`. Pictures go to FXC_PICTURES, if that is set."""

import os
import random
import time
from pathlib import Path

import numpy as np
import pytest

from fxc.cli.demo import PROGRAMS, load_example
from fxc.reporting.page import page
from fxc.reporting.reader import read
from tests.reporting.chromium import BROWSER, Page
from tests.tracing_programs import relax, relax_arguments, traced_to

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium")
SHOWN = ".compilation:not([hidden]) "


def written(folder, name="page"):
    path = folder / f"{name}.html"
    path.write_text(page(read(folder / "trace"), name), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    traced_to(folder / "trace", relax, relax_arguments(1000), relax_arguments(1200))
    return written(folder, "heat.py")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    for name in PROGRAMS:
        module = load_example(name)
        traced_to(folder / "trace", module.PROGRAM, module.make_inputs(module.QUICK_SIZE))
    return written(folder, "demo")


def marked(shown, kind="pin"):
    """How many elements are marked in each stage of the compilation that is shown."""
    panels = f"[...document.querySelectorAll('{SHOWN}[role=tabpanel]')]"
    return shown.value(f"{panels}.map(each => each.querySelectorAll('.{kind}').length)")


def line_of_program(shown, text):
    """The number, among the lines that can be chosen, of the one with this text."""
    lines = f"[...document.querySelectorAll('{SHOWN}.program .code > [data-p]')]"
    return shown.value(f"{lines}.findIndex(each => each.textContent.includes({text!r}))")


def test_a_line_of_the_program_marks_what_it_became(small):
    with Page(small) as shown:
        number = line_of_program(shown, "new = ")
        shown.click(f"{SHOWN}.program .code > [data-p]", number)
        stages = marked(shown)
        assert stages[:4] == [5, 5, 5, 3]
        assert all(each > 0 for each in stages)
        counts = shown.value(
            f"[...document.querySelectorAll('{SHOWN}.count')].map(each => Number(each.textContent))"
        )
        assert counts == stages
        assert "5 in Captured" in shown.value("document.querySelector('.spoken').textContent")
        shown.press("Escape")
        assert sum(marked(shown)) == 0
        assert shown.complaints() == []


def test_a_line_of_assembly_marks_its_line_of_the_program(small):
    with Page(small) as shown:
        shown.click(f"{SHOWN}[role=tab]", 5)
        shown.click(f"{SHOWN}[role=tabpanel]:not([hidden]) .code > [data-p]", 0)
        found = shown.value(f"document.querySelectorAll('{SHOWN}.program .pin').length")
        assert found == 1
        assert shown.complaints() == []


def test_a_pointer_over_a_line_marks_for_as_long_as_it_is_there(small):
    with Page(small) as shown:
        x, y = shown.value(
            f"(() => {{ const r = document.querySelector('{SHOWN}.program .code > [data-p]')"
            ".getBoundingClientRect(); return [r.left + 50, r.top + 5] })()"
        )
        shown.do("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        assert sum(marked(shown, "hot")) > 0
        shown.do("Input.dispatchMouseEvent", type="mouseMoved", x=2, y=2)
        assert sum(marked(shown, "hot")) == 0


def test_all_of_it_works_by_keys(small):
    with Page(small) as shown:
        assert shown.value("document.querySelectorAll('.compilation:not([hidden])').length") == 1
        seen = []
        for _ in range(40):
            shown.press("Tab")
            seen.append(shown.value("document.activeElement.closest('.program .code') !== null"))
            if seen[-1]:
                break
        assert seen[-1]
        shown.press("ArrowDown")
        shown.press("ArrowDown")
        assert sum(marked(shown, "hot")) > 0
        shown.press("Enter")
        assert marked(shown)[:2] == [5, 5]
        while shown.value("document.activeElement.getAttribute('role')") != "tab":
            shown.press("Tab")
        shown.press("ArrowRight")
        assert "Functional" in shown.value("document.activeElement.textContent")
        shown.press("End")
        assert "Drawing" in shown.value("document.activeElement.textContent")
        assert (
            shown.value(f"document.querySelectorAll('{SHOWN}[role=tabpanel]:not([hidden])').length")
            == 1
        )
        assert shown.complaints() == []


def test_another_compilation_is_shown_by_its_link(small):
    with Page(small) as shown:
        shown.click("nav a", 1)
        assert shown.value(f"document.querySelector('{SHOWN}').id") == "c2"
        assert shown.value("document.querySelector('nav .here a').hash") == "#c2"
        shown.value("history.back()")
        time.sleep(0.3)
        assert shown.value(f"document.querySelector('{SHOWN}').id") == "c1"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width, height", [(1280, 800), (390, 844)])
def test_it_fits_the_screen_in_light_and_dark(small, width, height, dark):
    with Page(small, width, height, dark) as shown:
        assert shown.value("document.documentElement.scrollWidth") <= width
        ink, paper = (
            sum(map(int, shown.value(f"getComputedStyle(document.body).{x}")[4:-1].split(",")))
            for x in ("color", "backgroundColor")
        )
        assert (ink > paper) is dark
        shown.click(f"{SHOWN}.program .code > [data-p]", line_of_program(shown, "new = "))
        shown.click(f"{SHOWN}[role=tab]", 3)
        assert shown.complaints() == []
        keep(shown, f"report-{width}-{'dark' if dark else 'light'}")


def keep(shown, name):
    folder = os.environ.get("FXC_PICTURES")
    if folder:
        shown.value("document.activeElement.blur(), scrollTo(0, 0)")
        shown.picture(Path(folder) / f"{name}.png")


def seconds_to_open(path):
    """From the start of the navigation until the page is laid out and its script has run; on a
    machine that does something else, too, what the browser takes of that.
    """
    with Page(path) as shown:
        milliseconds = shown.value(
            "new Promise(r => requestAnimationFrame(() => setTimeout(() => r(performance.now()))))"
        )
        assert shown.complaints() == []
        return min(milliseconds / 1000, shown.used())


def test_the_report_of_the_demo_opens_soon(demo):
    assert demo.stat().st_size < 2_000_000
    assert seconds_to_open(demo) < 2


def test_the_report_of_a_thousand_operators_opens_soon(tmp_path):
    lines = ["import numpy as np", "def f(x, y):", "    v0 = x * 2", "    v1 = y[::-1] + 1"]
    r = random.Random(1)
    for i in range(2, 340):
        a, b = (f"v{r.randrange(max(0, i - 9), i)}" for _ in "ab")
        lines.append(f"    v{i} = np.sin({a}) + 0.5 * {b}")
    file = tmp_path / "large.py"
    file.write_text("\n".join([*lines, "    return v339", ""]))
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    traced_to(tmp_path / "trace", names["f"], (np.ones(10), np.ones(10)))
    (made,) = read(tmp_path / "trace").compilations
    assert len(made.stages["captured"].lines) >= 1000
    assert seconds_to_open(written(tmp_path)) < 5
