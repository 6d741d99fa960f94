"""Many modules are imported without collections of garbage; the program's own are as they were."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from threading import Thread

import pytest

from fxc.ir.later import uncollected


@pytest.fixture(autouse=True)
def collections() -> Iterator[list[int]]:
    """The generations of all collections that have begun."""
    found: list[int] = []

    def note(phase: str, told: dict[str, int]) -> None:
        if phase == "start":
            found.append(told["generation"])

    gc.unfreeze()  # what tests/conftest.py has frozen
    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)
    gc.enable()
    gc.freeze()


def many() -> list[list[int]]:
    return [[] for _ in range(10 * gc.get_threshold()[0])]


def test_what_is_made_is_old_and_collections_go_on(collections: list[int]) -> None:
    gc.collect()
    collections.clear()
    with uncollected():
        kept = many()
        assert not gc.isenabled()
    assert (collections, gc.isenabled(), gc.get_freeze_count()) == ([], True, 0)
    old = gc.get_objects(generation=2)
    assert any(each is kept[-1] for each in old)
    kept = many()
    assert collections


def test_what_the_program_has_said_stays() -> None:
    gc.disable()
    with uncollected():
        pass
    assert not gc.isenabled()
    gc.enable()
    gc.freeze()
    frozen = gc.get_freeze_count()
    with uncollected():
        assert gc.isenabled()
    assert gc.get_freeze_count() == frozen > 0


def test_other_threads_change_nothing() -> None:
    states: list[bool] = []

    def run() -> None:
        with uncollected():
            states.append(gc.isenabled())

    thread = Thread(target=run)
    thread.start()
    thread.join()
    assert states == [True]


FIRST = """
import gc, numpy as np, fxc
def f(x): return x + 1
compiled, x = fxc.compile(f), np.ones(3)
began = []
gc.callbacks.append(lambda phase, told: phase == "start" and began.append(told["generation"]))
compiled(x)
assert len(began) < 40 and 2 not in began, began
"""


def test_a_first_call_has_few_collections() -> None:
    """There are 70 without: half of what it makes are modules."""
    subprocess.run([sys.executable, "-c", FIRST], check=True, env={"FXC_CACHE": "0"})
