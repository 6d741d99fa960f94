"""Views and writes against NumPy, in every layout: the cells of ``docs/semantics.md``."""

from __future__ import annotations

import inspect
import itertools
import re
from typing import Any

import numpy as np
import pytest

import fxc
from tests.covering import pairs, some
from tests.numpys_bugs import READS_INDEX_WHILE_IT_WRITES
from tests.outcomes import ASPECTS, Outcome, differences, leaf_difference, leaves, run
from tests.scenarios import SCENARIOS as EVERY
from tests.scenarios.boundary import effects
from tests.scenarios.layouts import arguments, program
from tests.scenarios.model import LAYOUTS, Absent, Refused, Scenario
from tests.scenarios.page import PAGE, as_numpy, page, protected, writes

SCENARIOS = [
    each for each in EVERY if each.name != "index_is_the_target" or not READS_INDEX_WHILE_IT_WRITES
]


def cells(scenario: Scenario) -> list[Any]:
    """The layouts that there are of a scenario."""
    return [
        pytest.param(scenario, layout, id=f"{scenario.name}-{layout}")
        for layout in LAYOUTS
        if not isinstance(scenario.expected(layout), Absent)
    ]


def looked_at(number: int, scenario: Scenario) -> list[Any]:
    """C order, what the scenario says of its own, and some of the other layouts: others for each."""
    first, *others = cells(scenario)
    odd = [each for each in others if scenario.expected(each.values[1]) is not None]
    return [first, *odd, *some([each for each in others if each not in odd], 2, number)]


CELLS = [each for number, scenario in enumerate(SCENARIOS) for each in looked_at(number, scenario)]
CALLS = 2
# NumPy says so of the flags of what np.broadcast_arrays gives.
pytestmark = pytest.mark.filterwarnings("ignore:future versions will not create a writeable array")


@pytest.mark.parametrize("scenario, layout", CELLS)
def test_scenario(scenario: Scenario, layout: str) -> None:
    expected = as_numpy(scenario, layout)
    fn = program(scenario, layout)
    how = scenario.expected(layout)
    if isinstance(how, Refused) and expected.error is None:
        with pytest.raises(fxc.CaptureError, match=re.escape(how.says)):
            fxc.compile(fn, fullgraph=True)(*arguments(scenario, layout))
    compiled = fxc.compile(fn, fullgraph=not isinstance(how, Refused))
    found = [run(compiled, arguments(scenario, layout)) for _ in range(CALLS)]
    for outcome in found:
        assert_same(expected, outcome)
    assert not shared_by_calls(*found)
    plain = how is not None or expected.error is not None
    assert compiled.cache_info().eager_calls == (CALLS if plain else 0), f"expected: {how}"


COMPILED = [
    pytest.param(scenario, layout, options, id=f"{scenario.name}-{layout}-{options}")
    for scenario, layout, options in pairs(
        SCENARIOS, ("strided", "overlapping"), ({"backend": "numpy"}, {"dynamic": True})
    )
    if scenario.expected(layout) is None
]


@pytest.mark.parametrize("scenario, layout, options", COMPILED)
def test_otherwise_compiled(scenario: Scenario, layout: str, options: dict[str, Any]) -> None:
    expected = as_numpy(scenario, layout)
    compiled = fxc.compile(program(scenario, layout), fullgraph=True, **options)
    assert_same(expected, run(compiled, arguments(scenario, layout)))
    assert compiled.cache_info().eager_calls == (expected.error is not None)


# Without an epilogue nobody makes a memmap again.
CLASSES = ("memory_mapped", "subclass")  # which functionalize refuses
PURE = [
    each
    for each in SCENARIOS
    if each.expected("C") is None and each.group != effects.title and each.name not in CLASSES
]


@pytest.mark.parametrize("scenario", PURE, ids=lambda scenario: scenario.name)
def test_functionalized(scenario: Scenario) -> None:
    """The pure function leaves its arguments alone, and gives what they would have become."""
    expected = as_numpy(scenario, "C")
    if expected.error is not None:
        return
    before, given = (arguments(scenario, "C") for _ in range(2))
    result, changed = fxc.functionalize(scenario.program)(*given)
    assert not differences(Outcome(None, None, before), Outcome(None, None, given))
    wrong = differences(
        Outcome(expected.result, None, ()), Outcome(result, None, ()), strides=False
    )
    assert "value" not in wrong, wrong
    names = inspect.signature(scenario.program).bind(*expected.inputs).arguments
    for name, array in changed.items():
        assert not leaf_difference(eval(name, {}, names), array, strides=False)
    assert bool(changed) == writes(scenario, "C")


WRITING = [
    cell
    for number, scenario in enumerate(SCENARIOS)
    for cell in some(cells(scenario), 3, number)
    if writes(*cell.values)
]


@pytest.mark.parametrize("scenario, layout", WRITING)
def test_read_only_arguments(scenario: Scenario, layout: str) -> None:
    expected = as_numpy(scenario, layout, read_only=True)
    compiled = fxc.compile(program(scenario, layout))
    for _ in range(CALLS):
        assert_same(expected, run(compiled, protected(arguments(scenario, layout))))


def assert_same(expected: Outcome, found: Outcome) -> None:
    """Fails with what differs, aspect by aspect."""
    wrong = differences(expected, found)
    assert not wrong, "\n".join(f"{aspect}: {wrong.get(aspect, 'same')}" for aspect in ASPECTS)


def shared_by_calls(first: Outcome, second: Outcome) -> bool:
    """Whether a result of one call shares memory with a result of the other."""
    arrays = [
        [x for _, x in leaves(each.result, "result") if isinstance(x, np.ndarray)]
        for each in (first, second)
    ]
    return any(np.may_share_memory(x, y) for x, y in itertools.product(*arrays))


@pytest.mark.skipif(len(SCENARIOS) < len(EVERY), reason="what this NumPy gets wrong is left out")
def test_the_page_says_what_the_tests_say() -> None:
    assert PAGE.read_text() == page(SCENARIOS), "run `make semantics`"


def test_names_are_unique() -> None:
    names: list[Any] = [scenario.name for scenario in SCENARIOS]
    assert len(set(names)) == len(names)
