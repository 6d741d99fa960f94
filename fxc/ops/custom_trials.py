"""What is said of a user's operator beside what its function does, for samples of operands.

Compiled code that holds native code of an operator, or what it is made of, does not call its
function: nothing else would notice there that a meta or a decomposition is wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from fxc.ir.asynchronous import hand_on
from fxc.ir.error_kinds import CUSTOM_OPERATOR
from fxc.ir.errors import FxcError, a_kind, uncapturable
from fxc.ir.schema import Schema
from fxc.ir.size_functions import hint
from fxc.ir.symbols import SymExpr
from fxc.ir.types import (
    ArrayType,
    ScalarType,
    Type,
    array_type,
    is_known,
    normal_strides,
    scalar_type_of,
    stride_order,
)

from .foreign_learning import key_of
from .foreign_results import Unlearnable
from .foreign_samples import sample_of, without_draws


class OnSamples(Protocol):
    """What is registered of an operator, and what samples have shown to be wrong."""

    schema: Schema
    has_impl: bool
    tried: dict[Any, str]

    @property
    def impl(self) -> Callable[..., Any]:
        """What it does, on arrays."""


Say = Callable[..., Sequence[Any]]

_MOST_LONG = 16  # the sizes of samples, where those of the call are more
_MOST_KNOWN = 4096  # combinations of types, before all are forgotten


def check_types(definition: OnSamples, given: Sequence[Any], say: Say) -> None:
    """Raise ``CaptureError`` if ``say`` gives other types for samples of the types ``given`` than
    ``impl`` gives results; once for each combination of dtypes, ranks and orders of axes.
    """

    def problem(sample: tuple[Any, ...], found: tuple[Any, ...]) -> str:
        said = say(*_deep(type_of_operand, sample))
        results = found[len(definition.schema.written_params) :]
        for kind, each in zip(said, results, strict=True):
            if not _is_of(kind, each):
                return f"the meta says {kind}, the function gives {_shown(each)}"
        return ""

    _check(definition, "meta", given, problem)


def check_values(definition: OnSamples, given: Sequence[Any], compose: Say) -> None:
    """The same for a decomposition: ``compose`` gives what it writes into samples, then results.
    Values may differ as far as another order of roundings explains.
    """

    def problem(sample: tuple[Any, ...], found: tuple[Any, ...]) -> str:
        for mine, each in zip(compose(*sample), found, strict=True):
            if not _is_of_same_type(mine, each):
                return f"the decomposition gives {_shown(mine)}, the function {_shown(each)}"
            far = _first_far(mine, each, sample)
            if far is not None:
                return f"the decomposition gives {far[0]}, the function {far[1]}"
        return ""

    _check(definition, "decomposition", given, problem)


def _check(
    definition: OnSamples,
    what: str,
    given: Sequence[Any],
    problem: Callable[[tuple[Any, ...], tuple[Any, ...]], str],
) -> None:
    if not definition.has_impl:
        return
    key = (what, *_deep(_look, given))
    text = definition.tried.get(key)
    if text is None:
        if len(definition.tried) > _MOST_KNOWN:
            definition.tried.clear()
        definition.tried[key] = ""  # what asks for it while it is tried
        text = next(filter(None, _problems(definition, given, problem)), "")
        definition.tried[key] = text
    if text:
        raise uncapturable(CUSTOM_OPERATOR, f"{definition.schema.name}: {text}")


def _problems(
    definition: OnSamples,
    given: Sequence[Any],
    problem: Callable[[tuple[Any, ...], tuple[Any, ...]], str],
) -> Iterator[str]:
    """What is found for each sample; nothing where the function, or what is said, raises."""
    returns, written = definition.schema.returns, definition.schema.written_params
    for values in (_signed, _ones):
        for longer in (0, 1):
            try:
                sample = _deep(partial(_sample, values, longer), given)
                with without_draws(), warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    args = _deep(_copied, sample)
                    found = definition.impl(*args)
                    results = (found,) if len(returns) == 1 else found or ()
                    changed = tuple(args[place] for place in written)
                    text = problem(_deep(_copied, sample), (*changed, *results))
            except (Unlearnable, FxcError):
                continue
            except Exception as error:
                hand_on(error)
                continue
            yield text


def _deep(of: Callable[[Any], Any], args: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_deep(of, x) if isinstance(x, tuple) else of(x) for x in args)


def _look(x: object) -> object:
    if isinstance(x, ArrayType):
        return "array", x.dtype, stride_order(x)
    if isinstance(x, ScalarType):
        return "scalar", x.dtype, x.weak
    return "size" if isinstance(x, SymExpr) else key_of(x)


def _copied(x: Any) -> Any:
    return x.copy("K") if isinstance(x, np.ndarray) else x


def _sample(values: Callable[..., np.ndarray], longer: int, x: Any) -> Any:
    """A sample of a type; other arguments are as they are."""
    if isinstance(x, SymExpr):
        return hint(x)
    if not isinstance(x, ArrayType | ScalarType):
        return x
    shape = tuple(min(hint(dim), _MOST_LONG) + longer for dim in x.shape)
    order = stride_order(x) if isinstance(x, ArrayType) else ()
    return sample_of(x, shape, order, values)


def _signed(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Numbers of both signs, and no zero."""
    steps = np.arange(int(np.prod(shape))) + 2
    signed = np.where(steps % 2 == 0, steps, -steps) if dtype.kind in "ifc" else steps
    if dtype.kind == "b":
        signed = steps % 2
    return (signed / 4 if dtype.kind in "fc" else signed).astype(dtype).reshape(shape)


def _ones(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.ones(shape, dtype)


def type_of_operand(x: object) -> Any:
    """The type of an operand; other arguments are as they are."""
    if isinstance(x, np.ndarray):
        return array_type(x.dtype, x.shape, x.strides)
    return scalar_type_of(x) if isinstance(x, np.generic) else x


# ------------------------------------------------------------------ comparing


def _is_of(kind: Type, found: object) -> bool:
    if not isinstance(kind, ArrayType):
        return type(found) is (kind.python_type if kind.weak else kind.dtype.type)
    if type(found) is not np.ndarray or (found.dtype, found.shape) != (kind.dtype, kind.shape):
        return False
    size = found.itemsize
    mine = normal_strides(found.shape, found.strides, size)
    return mine == normal_strides(found.shape, kind.strides, size)


def _is_of_same_type(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return (one.dtype, one.shape) == (other.dtype, other.shape)
    return type(one) is type(other)


def _first_far(one: Any, other: Any, sample: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """The first numbers that differ by more than roundings of the coarsest dtype explain."""
    found, wanted = np.atleast_1d(one), np.atleast_1d(other)
    if found.dtype.kind in "fc":
        dtypes = [x.dtype for x in (found, *sample) if isinstance(x, np.ndarray | np.generic)]
        eps = max(float(np.finfo(x).eps) for x in dtypes if x.kind in "fc")
        finite = np.isfinite(found) & np.isfinite(wanted)
        found, wanted = found[finite], wanted[finite]
        far = np.abs(found - wanted) > np.sqrt(eps) * np.abs(wanted).max(initial=0.0)
    else:
        far = found != wanted
    return (found[far][0], wanted[far][0]) if far.any() else None


def _shown(found: object) -> str:
    if isinstance(found, np.ndarray):
        if is_known(found.dtype):
            return str(array_type(found.dtype, found.shape, found.strides))
        return f"an array of the dtype {found.dtype}"
    try:
        return str(scalar_type_of(found))
    except TypeError:
        return a_kind(found)
