"""Settings of all tests.

Every graph is verified after every pass. Hypothesis: no deadlines (the first call of a function
compiles it), the same examples at every run in CI, and a failing example printed so that it can be
pasted back. ``make fuzz`` ends with a table of the planted bugs. Nothing is left to Python because that is
faster: tests look at compiled code, but for those that use ``as_users``. No capture is refused for
its time, which depends on the machine: ``test_budget`` sets the limit that users have. The
collector of garbage runs seldom: a process that holds all tests has much for it to look at. Machine
code that an earlier run has made is taken from files, see ``tests/machine_code.py``. ``--thorough``
runs each product of cases whole, see ``tests/covering.py``; ``--threads`` has all loops parallel, see
``tests/parallel_loops.py``.
"""

import gc
import math
import os
from collections import Counter
from collections.abc import Iterator

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

import fxc.compilations.decisions
import fxc.compilations.trials
from fxc.capture import capture as capturing
from tests import covering, machine_code, parallel_loops

settings.register_profile("here", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
os.environ["FXC_CACHE"] = "0"  # tests of the cache turn it on
os.environ.setdefault(
    "FXC_VERIFY_GRAPHS", "1"
)  # make fuzz, which runs many, verifies the last alone
settings.load_profile("ci" if os.environ.get("CI") else "here")

fxc.compilations.trials.ENABLED = False
BUDGET, capturing.MOST_SECONDS = capturing.MOST_SECONDS, 60
gc.set_threshold(100_000, 50, 100)

MOST_COMPILED = 75  # programs, or variants of them, in one test

FOUND_BY = "found by program"  # a property of the tests of planted bugs
REFUSED = "refused, and compared in parts"  # one of the tests of random programs: numbers by reason


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="whole products of cases, not pairs")
    parser.addoption("--threads", action="store_true", help="loops of any size are parallel")
    parser.addoption("--turn", type=int, help="every third case of each test: 0 or 1")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    turn = config.getoption("turn")
    if turn is not None and not config.getoption("thorough"):
        items[:] = _in_turn(items, turn)


def _in_turn(items: list[pytest.Item], turn: int) -> list[pytest.Item]:
    """Every third case of each test, or every second where it has no three; other ones at the other turn."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    chosen = []
    for number, each in enumerate(cases.values()):
        step = 3 if len(each) > 2 else 2
        chosen += each[(turn + number) % step :: step]
    return chosen


def pytest_configure(config: pytest.Config) -> None:
    covering.thorough = config.getoption("thorough")
    if config.getoption("threads"):
        parallel_loops.everywhere(pytest.MonkeyPatch())
    else:
        parallel_loops.for_two(pytest.MonkeyPatch())
    if not hasattr(config, "workerinput"):  # once for all workers
        machine_code.forget_old()
    if "FXC_FUZZ_PROGRAMS" not in os.environ:
        machine_code.take_from_files()


_ASKED = pytest.StashKey[int]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_ASKED] = machine_code.asked()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test that compiles more is to be several, or to say by ``tests/covering.py`` what is enough.

    No fixture: to set one up and to take it down takes longer than many a test.
    """
    yield
    if not covering.thorough:
        assert machine_code.asked() - item.stash[_ASKED] <= MOST_COMPILED


@pytest.fixture
def as_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls are timed by both ways, as outside of tests: see Note [Trials]."""
    monkeypatch.setattr(fxc.compilations.trials, "ENABLED", True)
    for name in ("_FREE", "_WARY"):  # tests do little but capture
        monkeypatch.setattr(fxc.compilations.decisions, name, math.inf)


@pytest.fixture
def within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Captures may take as long as outside of tests: see Note [The budget]."""
    monkeypatch.setattr(capturing, "MOST_SECONDS", BUDGET)


@pytest.fixture(autouse=True, scope="module")
def _what_is_there_stays() -> None:
    """Nobody looks for garbage among what was collected, and what the tests of other files have left:
    a test that has all garbage removed would take a third of a second more for each time.
    """
    gc.collect()
    gc.freeze()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Workers tell of calls, of what has not passed, and of what takes long: of six messages for each test
    the process that hears of them makes little, in a tenth of the time of one worker.
    """
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration > 0.01:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if "FXC_FUZZ_PROGRAMS" not in os.environ:
        return
    told = [
        (report.nodeid.partition("[")[2].rstrip("]"), name, value)
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
    ]
    found_by = {program: number for program, name, number in told if name == FOUND_BY}
    refused: Counter[str] = Counter()
    for _, name, numbers in told:
        refused.update(numbers if name == REFUSED else {})
    for title, rows in ((f"planted bugs: {FOUND_BY}", found_by), (f"programs: {REFUSED}", refused)):
        if rows:
            terminalreporter.section(title)
        for name, value in sorted(rows.items()):
            terminalreporter.write_line(f"{value:5}  {name.replace('_', ' ')}")
