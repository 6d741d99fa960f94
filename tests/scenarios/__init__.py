"""Every way to make a view or to write through one, as small programs: see ``docs/semantics.md``.

The programs stand in ``views``, ``writes`` and ``boundary``, the layouts of memory that each is run
in, in ``layouts``. ``tests/ops/test_scenarios.py`` compares each with NumPy, ``python -m
tests.scenarios`` writes the page.
"""

from .boundary import effects, foreign, results, shared
from .views import basic, flipped, parts, turned
from .writes import functions, in_place, set_items, with_out

SCENARIOS = tuple(
    scenario
    for group in (
        *(basic, turned, parts, flipped),
        *(in_place, with_out, set_items, functions),
        *(results, shared, foreign, effects),
    )
    for scenario in group
)
