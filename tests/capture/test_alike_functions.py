"""Functions whose bytecode is alike, on one line, or without source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fxc
from tests.compiling import check


class Holder:
    a, b = 1, 2

    def __repr__(self) -> str:
        return "repr"

    def __format__(self, spec: str) -> str:
        return "format"


HELD = Holder()
PAIRS: list[tuple[Callable[..., Any], ...]] = [
    (lambda x, y: x and y, lambda x, y: x or y),
    (lambda x, y: HELD.a - HELD.b - HELD.a + x, lambda x, y: HELD.a - HELD.b - HELD.b + x),
    (lambda x, y: (f"{HELD}", x), lambda x, y: (f"{HELD!r}", x)),
]
OF_ONE_LINE = {"and": lambda x, y: x and y, "or": lambda x, y: x or y, "and not": lambda x, y: x}


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("pair", PAIRS)
def test_each_function_of_a_line_is_itself(pair: Any, place: int) -> None:
    check(pair[place], (0, 3), (2, 5))


@pytest.mark.parametrize("name", OF_ONE_LINE)
def test_functions_in_a_dict_of_one_line(name: str) -> None:
    check(OF_ONE_LINE[name], (0, 3), (2, 5))


def test_what_is_an_attribute_of_the_module_builtins_is_no_name() -> None:
    program = eval("lambda held, x: (held.__class__.__name__, held.size + x)")
    compiled, held = fxc.compile(program, fullgraph=True), np.zeros(1)
    assert compiled(held, 2) == compiled(held, 3)[:1] + (3,) == ("ndarray", 3)  # noqa: RUF005
