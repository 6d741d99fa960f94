"""What NumPy and Python warn of in each call: found by doing it once.

``np.log(np.zeros(3))`` warns each time. A compiler computes it once, and no processor would set a
flag where the code runs.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Container, Iterable
from typing import Any

import numpy as np

from fxc.ir.error_kinds import WARNS
from fxc.ir.graph import Arg, Literal, Node, Region, Value, walk
from fxc.ir.types import ArrayType
from fxc.ops.kernels import kernel_of
from fxc.ops.operators import COMPUTING, Tag
from fxc.ops.table import TABLE

from .locations import OURS, are_ignored
from .refusing import refusal
from .session import current


def warning_of(doing: Callable[[], object]) -> Warning | None:
    """The first warning of what is done here; None if there is none."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        doing()
    found = warned[0].message if warned else None
    assert not isinstance(found, str)
    return found


def warn_again(warning: Warning | None) -> None:
    """Record a warning at the program's line, but in a graph without effects."""
    session = current()
    if warning is not None and session.door.outside.derives:
        session.door.warn(str(warning), type(warning))


def run_now(f: Callable[..., Any], args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
    """What a pure function gives of values that are known. Each call warns again of what code of C
    warns of, unless that may depend on how NumPy is set; then, and of Python code, it is refused.
    """
    with warnings.catch_warnings(record=True) as warned:  # no errors: other threads warn, too
        warnings.simplefilter("always")
        found = f(*args, **kwargs)
    for each in warned:
        if are_ignored(each.category):
            continue
        if issubclass(each.category, RuntimeWarning) or not each.filename.startswith(OURS):
            what = f"an operation of which NumPy warns ({each.message}), on known values,"
            raise refusal(WARNS, f"{what} is not captured")
        assert isinstance(each.message, Warning)
        warn_again(each.message)
    return found


# ------------------------------------------------------------------ of constants


_MODES = ("divide", "over", "invalid")
_MOST = 4096  # elements of an array that is looked at


def check_constants(body: Region) -> None:
    """Refuse what sets floating-point flags for the constants that the program computes with."""
    made: dict[Value, Node] = {}
    for node in body.nodes:
        if len(node.outputs) == 1 and _is_of_constants(node, made):
            made[node.outputs[0]] = node
    if not any(TABLE[node.op].tag in COMPUTING for node in made.values()):
        return
    computing = {node for node in body.nodes if TABLE[node.op].tag in COMPUTING}
    # Arrays that others see may be written.
    seen = {value for node in walk(body) if node not in computing for value in node.inputs}
    known: dict[Value, Any] = {}
    state: Any = np.geterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # which NumPy's Python code gives
        for value, node in made.items():
            if all(each in known for each in node.inputs):
                found = _computed(node, known, state)
                if found is not None and value not in seen:
                    known[value] = found


def _is_of_constants(node: Node, made: Container[Value]) -> bool:
    tag = TABLE[node.op].tag
    if not node.inputs:
        return tag is Tag.FACTORY and node.op != "empty"  # which has what was in memory
    return tag in COMPUTING and all(value in made for value in node.inputs)


def _computed(node: Node, known: dict[Value, Any], state: dict[str, str]) -> object:
    """What a node gives; None if that is not known, or large."""
    if not _is_small(node.outputs[0]):
        return None
    quiet = {mode for mode in _MODES if mode in node.quiet or state[mode] == "ignore"}
    modes: Any = {mode: "ignore" if mode in quiet else "raise" for mode in _MODES}
    try:
        with np.errstate(under="ignore", **modes):
            return kernel_of(node.op)(*(_argument(arg, known) for arg in node.args))
    except (FloatingPointError, RuntimeWarning) as error:
        raise refusal(WARNS, f"NumPy says {error} of constants in each call", node.loc) from None
    except Exception:  # it has sizes that are not known, or raises in each call
        return None


def _is_small(value: Value) -> bool:
    kind = value.type
    sizes = kind.shape if isinstance(kind, ArrayType) else ()
    known = [size for size in sizes if isinstance(size, int)]
    return len(known) == len(sizes) and math.prod(known) <= _MOST


def _argument(arg: Arg, known: dict[Value, Any]) -> object:
    match arg:
        case Value():
            return known[arg]
        case Literal(value):
            return value
        case tuple():
            return tuple(_argument(item, known) for item in arg)
        case _:
            return arg
