"""The benchmarks measure what they say; how fast anything is, no test asks."""

import os
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pytest

from benchmarks import compare
from benchmarks.contenders import Contestant, NotTaken
from benchmarks.measure import samples_of
from benchmarks.page import PAGE, PICTURES, goal, newest, page, pictures_of, shortfalls
from benchmarks.suites import SUITES, chosen
from benchmarks.suites.program import Goal, Program
from benchmarks.suites.results import Result, RunOfSuites, mean, read
from benchmarks.suites.worker import WrongResult, check, measured
from tests.sources import ROOT

PROGRAMS = [(suite, program) for suite, programs in SUITES.items() for program in programs]
ROW = Result(
    suite="calls",
    name="a",
    threads=1,
    seconds={"numpy": 6.0, "fxc": 2.0, "jax": 3.0, "numba": 4.0},
    least={"numpy": 5.0, "fxc": 1.0},
    first_call={"numpy": 6.0, "fxc": 7.0},
    left_out={"numexpr": "why"},
    elements=8,
    flops=16,
    bytes=24,
    goal={"times": 4.0, "seconds": None, "all": False},
)


def test_the_page_of_performance_is_made_from_the_newest_run() -> None:
    run = read(newest())
    assert PAGE.read_text(encoding="utf-8") == page(run, newest().name), (
        "run `python -m benchmarks.page`"
    )
    drawn = {path.stem: path.read_text(encoding="utf-8") for path in PICTURES.glob("*.svg")}
    assert drawn.keys() == pictures_of(run).keys()
    assert all(newest().name in text for text in drawn.values())
    names = {name: [row.name for row in rows] for name, rows in pictures_of(run).items()}
    assert all(escape(name) in drawn["one-thread"] for name in names["one-thread"])


def test_first_calls_find_nothing_on_disk(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.cold", "--child", "process"]
    environment = {**os.environ, "FXC_CACHE": "1", "FXC_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    assert not (tmp_path / "cache").exists()


def test_names_of_programs_are_their_own() -> None:
    names = [(suite, program.name) for suite, program in PROGRAMS]
    assert len(set(names)) == len(names) > 60


@pytest.mark.parametrize(
    "program", [p for _, p in PROGRAMS if p.elements <= 50_000], ids=lambda program: program.name
)
def test_programs_write_what_they_say(program: Program) -> None:
    before = program.arguments(np.random.default_rng(0))
    after = program.arguments(np.random.default_rng(0))
    with np.errstate(all="ignore"):
        program.function(*after)
    pairs = zip(before, after, strict=True)
    changed = {i for i, (x, y) in enumerate(pairs) if not np.array_equal(x, y, equal_nan=True)}
    assert changed == set(program.writes)


def test_programs_are_chosen_by_suite_and_by_the_beginning_of_their_names() -> None:
    assert chosen([]) == SUITES
    assert chosen(["calls"]) == {"calls": SUITES["calls"]}
    assert [p.name for p in chosen(["loops/thomas", "calls/unit"])["loops"]] == ["thomas, 20,000"]
    assert chosen(["call"]) == chosen(["calls/nothing"]) == {}


def add_to(y, x):
    y += x


ADD = Program("add", add_to, lambda r: (np.ones(2), np.ones(2)), 2, writes=(0,), fresh=True)


def test_a_program_that_has_to_is_given_fresh_arguments() -> None:
    for program, second in ((ADD, 2.0), (replace(ADD, fresh=False), 3.0)):
        arguments = program.arguments(np.random.default_rng(0))
        entrant = Contestant("fxc", program, arguments)
        assert entrant.outcome()[0].tolist() == [2.0, 2.0]
        assert entrant.outcome()[0].tolist() == [second, second]
        assert arguments[0].tolist() == [1.0, 1.0]


def test_contenders_take_what_they_can_be_given() -> None:
    arguments = ADD.arguments(np.random.default_rng(0))
    for name in ("numexpr", "jax"):
        with pytest.raises(NotTaken):
            Contestant(name, replace(ADD, peers={"jax": None}), arguments)


def test_what_is_done_before_a_call_is_not_counted() -> None:
    now = [0.0]

    def pass_by(seconds: float) -> None:
        now[0] += seconds

    samples = samples_of(
        {"short": lambda: pass_by(0.01), "long": lambda: pass_by(0.7)},
        5,
        lambda: now[0],
        {"short": lambda: pass_by(100.0)},
    )
    assert samples["short"] == pytest.approx([0.01] * 5)
    assert samples["long"] == pytest.approx([0.7] * 3)


def test_a_row_is_measured() -> None:
    (program,) = chosen(["calls/unit"])["calls"]
    row = measured("calls", program, {"peers": ["numexpr"], "repeats": 1, "all": False})
    assert row.seconds.keys() == row.least.keys() == row.first_call.keys() == {"numpy", "fxc"}
    assert (row.threads, row.goal, row.left_out) == (1, None, {})


@pytest.mark.parametrize(
    "found, message",
    [
        ([np.ones(2)], None),
        ([np.ones(2) + 1e-12], None),
        ([np.ones(2) + 1e-6], "values"),
        ([np.ones(2, np.float32)], "float32"),
        ([np.ones((2, 1))], "shape"),
        ([np.array([1.0, np.nan])], "values"),
        ([np.ones(2), np.ones(2)], "2 arrays"),
    ],
)
def test_wrong_results_are_not_timed(found, message) -> None:
    if message is None:
        check("fxc", found, [np.ones(2)])
    else:
        with pytest.raises(WrongResult, match=message):
            check("fxc", found, [np.ones(2)])


def test_a_run_is_written_and_read(tmp_path: Path) -> None:
    run = RunOfSuites({"date": "2026-01-01", "repeats": 7}, (ROW, replace(ROW, name="b")))
    run.write(tmp_path / "run.json")
    assert read(tmp_path / "run.json") == run


def test_ratios_of_a_row() -> None:
    assert (ROW.over_numpy(), ROW.best_peer(), ROW.over_best_peer()) == (3.0, "jax", 1.5)
    assert ROW.over_goal() == 0.75
    assert replace(ROW, goal={"times": None, "seconds": 1.0}).over_goal() == 0.5
    alone = replace(ROW, seconds={"numpy": 6.0, "fxc": 0.5}, goal=None)
    assert (alone.best_peer(), alone.over_best_peer(), alone.over_goal()) == (None, None, None)
    assert mean([ROW, alone], Result.over_numpy) == pytest.approx(6.0)
    assert mean([alone], Result.over_best_peer) is None


def test_what_falls_short_is_said() -> None:
    slow = replace(ROW, name="slow", seconds={"numpy": 1.0, "fxc": 2.0, "jax": 1.5})
    text = "\n".join(shortfalls(RunOfSuites({}, (ROW, slow))))
    below_numpy, rest = text.split("Below the goal")
    below_goal, below_peer = rest.split("Slower than the best")
    assert "| 0.50 | calls | slow | 1 | jax |" in below_numpy
    assert "| calls | a |" not in below_numpy
    assert "| 0.75 | calls | a | 1 | jax |" in below_goal
    assert "1 of 2 rows" in below_peer
    assert goal(ROW) == "4×"


def test_goals_are_of_the_threads_they_are_said_of() -> None:
    of_all = Program("p", add_to, ADD.arguments, 2, writes=(0,), goal=Goal(3, all=True))
    options = {"peers": [], "repeats": 1}
    assert measured("calls", of_all, {**options, "all": False}).goal is None
    row = measured("calls", of_all, {**options, "all": True})
    assert row.goal == {"times": 3, "seconds": None, "all": True}


@pytest.mark.parametrize("factor, code", [(1.0, 0), (1.05, 0), (1.3, 1)])
def test_a_slower_row_fails_the_comparison(factor, code, monkeypatch, capsys) -> None:
    """By the least times of all rounds, as part of NumPy's in the same tree."""
    slower = replace(ROW, least={"numpy": 10.0, "fxc": 2.0 * factor})
    worse = replace(ROW, least={"numpy": 11.0, "fxc": 9.0})
    rounds = {False: [ROW, worse], True: [worse, slower]}
    monkeypatch.setattr(compare, "run", lambda tree, _: (rounds[tree == compare.HERE].pop(),))
    monkeypatch.setattr(compare, "checked_out", lambda revision: nullcontext(Path(revision)))
    monkeypatch.setattr("sys.argv", ["compare", "HEAD", "calls", "--rounds", "2"])
    assert compare.main() == code
    assert f"{factor:6.3f}  1 thread   calls/a" in capsys.readouterr().out


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_an_old_tree_has_the_old_compiler_and_the_new_benchmarks() -> None:
    with compare.checked_out("HEAD") as tree:
        assert (tree / "fxc" / "lowering" / "__init__.py").resolve().is_file()
        assert not (tree / "fxc").resolve().is_relative_to(compare.HERE)
        assert (tree / "benchmarks").resolve() == compare.HERE / "benchmarks"
    assert not tree.exists()
