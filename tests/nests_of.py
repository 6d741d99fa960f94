"""Loop nests of programs that do what NumPy does, in all that can be seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import fxc
from tests.bodies import function
from tests.compiling import same
from tests.scheduled import body


def nests_of(program: Callable[..., Any], *args: Any) -> str:
    """The nests of a program that returns for these arguments."""
    compiled = fxc.compile(program, fullgraph=True)
    assert same(program, compiled, args)
    return body(compiled.inspect(*args).loops)


def loops_of_lines(lines: str, **shapes: Any) -> str:
    """The loops of these lines, over arrays of random numbers of these names and shapes."""
    program = function(f"{', '.join(shapes)} = x\n{lines}")
    rng = np.random.default_rng(1)
    made = [rng.standard_normal(shape) for shape in shapes.values()]
    compiled = fxc.compile(program, fullgraph=True)
    assert same(program, compiled, (made,))
    return str(compiled.inspect(made).loops)
