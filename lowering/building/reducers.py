"""Which reductions and scans have loop nests, and how they combine elements."""

from __future__ import annotations

from fxc.ir.records import frozen


@frozen
class Reducer:
    """How a reduction combines elements."""

    combine: str
    tests: bool = False  # elements are taken as truth values
    position: bool = False  # the result is where the extreme stands
    by_parts: bool = False  # of complex numbers, each part of the total depends on that part alone


REDUCERS = {
    "sum": Reducer("add", by_parts=True),
    "prod": Reducer("multiply"),
    "min": Reducer("minimum"),
    "max": Reducer("maximum"),
    "any": Reducer("logical_or", tests=True, by_parts=True),
    "all": Reducer("logical_and", tests=True, by_parts=True),
    "argmin": Reducer("minimum", position=True),
    "argmax": Reducer("maximum", position=True),
}
SCANS = {"cumsum": Reducer("add", by_parts=True), "cumprod": Reducer("multiply")}
