"""Schemas against the truth: what really shares memory, and what is really written.

Every operator's eager kernel runs on the operator's sample inputs.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fxc.ir.schema import Schema
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import Operator
from fxc.ops.samples import Sample, samples
from fxc.ops.table import TABLE

NAMES = sorted(op.name for op in TABLE)


def arrays_in(arg: Any) -> Iterator[np.ndarray]:
    if isinstance(arg, np.ndarray):
        yield arg
    elif isinstance(arg, tuple):
        for item in arg:
            yield from arrays_in(item)


def run(op: Operator, sample: Sample) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return kernel_of(op.name)(*sample.args)


def results_by_return(schema: Schema, found: Any) -> list[tuple[str | None, np.ndarray]]:
    """Each array of the result with the letter of its alias set."""
    if len(schema.returns) == 1:
        letter = schema.returns[0].alias
        return [(letter.letter if letter else None, array) for array in arrays_in(found)]
    return [
        (returned.alias.letter if returned.alias else None, array)
        for returned, item in zip(schema.returns, found, strict=True)
        for array in arrays_in(item)
    ]


def shares_memory_as_the_schema_says(op: Operator, sample: Sample, found: Any) -> None:
    if not op.schema.returns:
        assert found is None
        return
    for letter, result in results_by_return(op.schema, found):
        for param, arg in zip(op.schema.params, sample.args, strict=True):
            expected = letter is not None and param.alias is not None
            expected = expected and param.alias.letter == letter and result.size > 0
            for array in arrays_in(arg):
                assert np.shares_memory(result, array) == expected, (param.name, sample)


@pytest.mark.parametrize("name", NAMES)
def test_results_share_memory_and_arguments_are_written_as_the_schema_says(name: str) -> None:
    op = TABLE[name]
    changed: set[int] = set()
    count = 0
    for sample in samples(op):
        targets = [sample.args[place] for place in op.schema.written_params]
        before = [[a.tobytes() for a in arrays_in(arg)] for arg in sample.args]
        shares_memory_as_the_schema_says(op, sample, run(op, sample))
        count += 1
        for place, arg in enumerate(sample.args):
            after = [a.tobytes() for a in arrays_in(arg)]
            if after == before[place]:
                continue
            changed.add(place)
            assert any(np.shares_memory(a, t) for a in arrays_in(arg) for t in targets), sample
    assert count
    missing = set(op.schema.written_params) - changed
    if not _changes_nothing(op):
        assert not missing, f"{name}: {missing} never written"


def _changes_nothing(op: Operator) -> bool:
    """Whether the operator computes its operand, as positive does: in place, nobody sees it."""

    def is_computed(x: np.ndarray, *rest: object) -> bool:
        found = run(TABLE[op.group], Sample((x, *rest)))
        content = found[0] if isinstance(found, tuple) else found
        return np.array_equal(x, content, equal_nan=x.dtype.kind in "fc")

    return op.role == "inplace" and all(is_computed(*sample.args) for sample in samples(op))


def test_a_name_says_that_its_operator_writes() -> None:
    for name in NAMES:
        assert TABLE[name].schema.writes == name.endswith(("_", ".out")), name
