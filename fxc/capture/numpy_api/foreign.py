"""Functions that only compute what they return: calls of them, as they are, in the graph.

See Note [Foreign calls].
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from fxc.ir.error_kinds import OPERAND
from fxc.ir.errors import CaptureError, FxcError
from fxc.ir.graph import Literal, Operand, Value
from fxc.ir.later import import_later
from fxc.ir.size_functions import hint
from fxc.ir.symbols import symbols_of
from fxc.ir.types import ArrayType, Type, array_type, is_known, stride_order
from fxc.ops.foreign_calls import ForeignCall, Hole
from fxc.ops.foreign_checks import check_of
from fxc.ops.foreign_learning import groups_of, learnt, operator_of
from fxc.ops.foreign_results import Unlearnable
from fxc.ops.foreign_samples import without_draws
from fxc.ops.foreign_updates import update_of
from fxc.ops.operators import Operator

from ..arrays.ufunc_options import single_out
from ..arrays.ufuncs import writable
from ..numbers.traced_int import TracedInt, known_ints
from ..session.refusing import UPDATES_BY_PYTHON, Respecialise, constants, refusal
from ..session.session import current
from ..values.objects import Args, Kwargs
from ..values.operands import Traced, TracedValue, constant, has_boxed, wrap
from ..values.snapshots import as_constants

assign = import_later("fxc.capture.arrays.indexing", "assign")
arrays_in = import_later("fxc.capture.forms.items", "arrays_in")

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


def raise_for_boxed(error: Exception, name: str, given: object) -> None:
    """Refuse a function of NumPy's that was done here in other terms than NumPy's, and raised, if
    there is a dtype of Note [Boxed dtypes]: they are right for numbers alone.
    """
    if not isinstance(error, FxcError) and has_boxed(given):
        text = f"np.{name} of such a dtype cannot be captured: {error}"
        raise refusal(OPERAND, text) from error


def call_foreign(function: Callable[..., object], args: Args, kwargs: Kwargs) -> object:
    """Record a call as one operator.

    Raises ``Unlearnable`` if it is not known what that gives.
    """
    session, operands = current(), list[Value]()
    given = tuple(_template(x, operands) for x in args)
    options = {name: _template(x, operands) for name, x in kwargs.items()}
    if not operands:
        raise Unlearnable("it has no operand that is traced")
    op, call = _operator(function, given, options, [value.type for value in operands])
    if session.region and any(result.strides for result in call.varying):
        raise Unlearnable("what it gives in a branch or a loop has gaps in memory")
    parts = _recorded(op, call, operands, "gives")
    session.aliases.with_gaps.update(
        part for part, result in zip(parts, call.varying, strict=True) if result.strides
    )
    return call.made([wrap(part) for part in parts])


def call_update(function: Callable[..., object], args: Args, kwargs: Kwargs) -> None:
    """Record a call of a function that writes into arrays: they become what it makes of them.

    Raises ``Unlearnable`` if it is not known which.
    """
    session, operands = current(), list[Value]()
    given = tuple(_template(_as_operand(x), operands) for x in args)
    options = {name: _template(_as_operand(x), operands) for name, x in kwargs.items()}
    op, call = update_of(function, given, options, [value.type for value in operands])
    if not call.is_known:
        if UPDATES_BY_PYTHON in session.requests:
            raise Unlearnable("it is not known what it writes")
        session.has_guessed = True
    targets = [operands[place] for place in call.written]
    for target, other in product(targets, operands):
        is_other = target is not other and isinstance(other.type, ArrayType)
        if is_other and session.aliases.may_share_memory(target, other):
            raise Unlearnable("what it writes shares memory with another argument")
    for target, part in zip(targets, _recorded(op, call, operands, "writes"), strict=True):
        assign(target, wrap(part), "same_kind")


def call_check(function: Callable[..., object], args: Args, kwargs: Kwargs) -> None:
    """Record a call of a function that may raise, and does nothing else.

    Raises ``Unlearnable`` if it is not known to be one.
    """
    operands = list[Value]()
    given = tuple(_template(_as_operand(x), operands) for x in args)
    options = {name: _template(_as_operand(x), operands) for name, x in kwargs.items()}
    op, call = check_of(function, given, options, [value.type for value in operands])
    _recorded(op, call, operands, "gives")


def _recorded(op: Operator, call: ForeignCall, operands: list[Value], does: str) -> Sequence[Value]:
    """The results of a call that does in each call of the program what it did on samples."""
    session = current()
    guards = session.door.outside.guards
    guards.check(f"{guards.constant(call)}.holds is True", f"{call.__name__} {does} what it did")
    found = session.record(op.name, *operands)
    return (found,) if type(found) is Value else found


def _as_operand(x: object) -> object:
    """An int that is computed from sizes as a number of the graph."""
    found = x._operand() if type(x) is TracedInt else x
    return wrap(found) if type(found) is Value else x


def _template(x: Any, operands: list[Value]) -> Any:
    """An argument with holes in place of what is traced, which goes to the operands."""
    if type(x) is TracedInt:
        return known_ints(x)
    if isinstance(x, Traced):
        if not isinstance(x, TracedValue):
            raise Unlearnable(f"one of its arguments is a {type(x).__name__}")
        found: Operand = x._operand()
        if isinstance(found, Literal):
            return found.value
        return _hole(found, operands)
    if type(x) is np.ndarray:
        return _hole(constant(x), operands)
    if type(x) in (tuple, list):
        return type(x)([_template(item, operands) for item in x])
    if type(x) in (*_PLAIN, range) or issubclass(type(x), np.generic | np.dtype):
        return x
    if type(x) is np.ufunc or (
        type(x) is type and issubclass(x, np.generic | complex | float | int)
    ):
        return x
    raise Unlearnable(f"one of its arguments is a {type(x).__name__}")


def _hole(value: Value, operands: list[Value]) -> Hole:
    """One that is given twice is one operand: a function may ask ``y is x``."""
    if value not in operands:
        operands.append(value)
    return Hole(operands.index(value))


def _operator(
    function: Callable[..., object],
    args: Args,
    kwargs: Kwargs,
    kinds: Sequence[Type],
) -> tuple[Operator, ForeignCall]:
    """The operator; sizes become constants if nothing else can be learnt."""
    try:
        return operator_of(function, args, kwargs, kinds)
    except Unlearnable:
        if not groups_of(kinds):
            raise
    learnt(function, args, kwargs, [_as_now(kind) for kind in kinds])  # raises, too
    raise with_sizes_as_now(kinds)


def with_sizes_as_now(kinds: Sequence[Type]) -> Unlearnable | Respecialise:
    """What is raised where what a call gives can be learnt for sizes as they are alone."""
    session = current()
    symbols = [name for kind in kinds for dim in kind.shape for name in symbols_of(dim)]
    if any(session.varies(dim) for kind in kinds for dim in kind.shape):
        return Unlearnable("it is not known what it gives for sizes that vary")
    return Respecialise(*constants(session.labels_of(symbols)))


def _as_now(kind: Type) -> Type:
    """A type with the sizes that it has in this call."""
    if not isinstance(kind, ArrayType):
        return kind
    return array_type(kind.dtype, tuple(map(hint, kind.shape)), tuple(map(hint, kind.strides)))


def call_known(function: Callable[..., object], args: Args, kwargs: Kwargs) -> Any:
    """What a call without traced arguments gives, now: its arrays are constants of the graph.

    Raises ``Unlearnable`` if it may give something else, or do something, at each call.
    """
    if not args and not kwargs:
        raise Unlearnable("without arguments it says something of the process")
    operands = list[Value]()
    given = _template(args, operands)
    options = {name: _template(x, operands) for name, x in kwargs.items()}
    if operands:
        raise Unlearnable("it has an operand that is traced")
    with without_draws(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = function(*given, **options)
    if warned:
        raise Unlearnable("it warns")
    if not _is_plain(found):
        raise Unlearnable(f"it gives a {type(found).__name__}")
    return as_constants(found)


def _is_plain(x: Any) -> bool:
    if type(x) in (tuple, list):
        return all(map(_is_plain, x))
    if type(x) in _PLAIN or isinstance(x, np.generic | np.dtype):
        return True
    return type(x) is np.ndarray and is_known(x.dtype)


def attempt(
    function: Callable[..., Any], args: Args, kwargs: Kwargs, error: CaptureError
) -> object:
    """The call of a function that cannot be captured otherwise, which ``error`` says.

    Raises ``error`` if it is not known what it gives.
    """
    session = current()
    try:
        found = call_foreign(function, args, kwargs)
    except Unlearnable:
        raise error from None
    if session.error is error:
        session.error = None
    return found


def into(
    args: Args, kwargs: Kwargs, call: Callable[[dict[str, Any]], Any], error: CaptureError
) -> object:
    """The array ``out=`` with what the call gives without it.

    Raises ``error`` where NumPy's steps may be others: what is given is of another type or order,
    or ``out`` shares memory with another argument. Halves, which NumPy may round once more, too.
    """
    session, out = current(), single_out(kwargs["out"])
    target = writable(out)
    rest = {name: x for name, x in kwargs.items() if name != "out"}
    found = call(rest)
    kind, wanted = found._value.type if isinstance(found, TracedValue) else None, target.type
    if kind is None or (kind.dtype, kind.shape) != (wanted.dtype, wanted.shape):
        raise error
    orders = {stride_order(each) for each in (kind, wanted) if isinstance(each, ArrayType)}
    is_shared = any(session.aliases.may_share_memory(target, x) for x in arrays_in((args, rest)))
    if is_shared or len(orders) > 1 or kind.dtype == np.float16:
        raise error
    if session.error is error:
        session.error = None
    assign(target, found)
    return out
