"""Operators of the user's own: what is registered of them, and what holds for what they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fxc.ir.error_kinds import CUSTOM_OPERATOR
from fxc.ir.errors import CaptureError, FxcError, a_kind, uncapturable
from fxc.ir.forking import table_lock
from fxc.ir.graph import Literal
from fxc.ir.later import import_later
from fxc.ir.records import field, frozen, mutable, replace
from fxc.ir.schema import Schema
from fxc.ir.symbols import SymExpr
from fxc.ir.types import ArrayType, ScalarType, Type, is_known

from .epochs import Epoch
from .foreign_calls import ForeignCall, Hole
from .foreign_results import Unlearnable
from .operators import Operator

# See Note [Rooms with one door].
check_types = import_later("fxc.ops.custom_trials", "check_types")
check_values = import_later("fxc.ops.custom_trials", "check_values")
learnt = import_later("fxc.ops.foreign_learning", "learnt")
looks_of = import_later("fxc.ops.foreign_learning", "looks_of")

# Note [Custom operators]
# An operator of the user's is a row of the table like others, with the tag CUSTOM; what follows
# from it by rule has no views and no writes (``operators_of``). What it does is the user's word:
# ``impl`` on real arrays, ``meta`` on types, decompositions. A word that is wrong must not give
# wrong results. So each call of ``impl`` by compiled code compares what it gives with the meta; the
# first one for each combination of types also looks whether arguments have changed that the schema
# does not let it write (custom_kernels). Where something differs, that call is run again by Python,
# which calls ``impl`` alone, and from then on captures refuse the operator, for that reason.
# Where ``impl`` may never be called, as there is native code or a decomposition, samples are tried
# at capture (custom_trials): the meta, and what decompositions give. What native code gives, only
# ``fxc.testing.check_op`` compares.
# What has been compiled with an operator relies on all that is registered at that time. The guard
# ``holds`` of the ``Epoch`` says whether that is still so: an epoch ends whenever something about
# an operator that has been used is registered, removed or found to be wrong.


class NotLearnt(CaptureError):
    """An operator has no meta, and what it gives for sizes that are symbols cannot be learnt."""

    kind = CUSTOM_OPERATOR


@frozen
class Lowering:
    """Native code of an operator: see ``fxc.lowering.building.context.NativeKernel``."""

    build: Callable[..., None]
    covers: Callable[..., bool]
    checks: bool


@mutable
class Definition:
    """What is registered of one operator.

    ``traced`` give the types that its decompositions give, ``calls`` are the custom operators that
    these name; ``learnt`` and ``known`` is what calls have shown.
    """

    schema: Schema
    impl: Callable[..., Any]
    has_impl: bool  # or its decomposition stands there
    owner: Any
    meta: Callable[..., Any] | None = None
    lowering: Lowering | None = None
    derivative: Callable[..., Any] | None = None
    traced: list[Callable[..., tuple[Type, ...]]] = field(default_factory=list)
    calls: list[frozenset[str]] = field(default_factory=list)
    mistake: str = ""
    is_used: bool = False
    learnt: list[Learnt] = field(default_factory=list)
    known: dict[Any, Any] = field(default_factory=dict)
    tried: dict[Any, str] = field(default_factory=dict)  # what samples have shown to be wrong

    @property
    def name(self) -> str:
        return self.schema.name

    def renew(self) -> None:
        """Forget what calls have shown, as something else is registered now."""
        self.mistake = ""
        self.learnt.clear()
        self.known.clear()
        self.tried.clear()


@frozen
class Learnt:
    """What an operator without a meta has given for samples: operands alike in all but the sizes
    that varied, and equal other arguments.
    """

    likeness: object
    kinds: tuple[Type, ...]
    call: ForeignCall

    def serves(self, likeness: object, kinds: Sequence[Type]) -> bool:
        """Whether it tells what the operator gives for these types."""
        if likeness != self.likeness or any(map(_differ_in_rank, self.kinds, kinds)):
            return False
        dims = [
            (a, b)
            for mine, other in zip(self.kinds, kinds, strict=True)
            for a, b in zip(mine.shape, other.shape, strict=True)
        ]
        return all(not isinstance(mine, int) or mine == other for mine, other in dims)


def _differ_in_rank(one: Type, other: Type) -> bool:
    return one.rank != other.rank


_lock = table_lock()
_definitions: dict[str, Definition] = {}
_epoch = Epoch()


def definition_of(name: str) -> Definition:
    """What is registered of the operator of that name. Raises ``KeyError`` if there is none."""
    return _definitions[name]


def current_epoch() -> Epoch:
    """The epoch, on which what is compiled now relies."""
    return _epoch


def definitions() -> Mapping[str, Definition]:
    """All that is registered, by name."""
    return _definitions


def define(definition: Definition) -> None:
    """Let an operator have a definition."""
    _definitions[definition.name] = definition


def forget(definition: Definition) -> None:
    """Let it have none."""
    if _definitions.get(definition.name) is definition:
        del _definitions[definition.name]
    changed(definition)


def changed(definition: Definition) -> None:
    """Note that something about an operator is different from now on."""
    global _epoch
    with _lock:
        if definition.is_used:
            _epoch.holds = False
            _epoch = Epoch()


def mistaken(definition: Definition, text: str) -> str:
    """Note that something registered of an operator is wrong, and say what; what was learnt is so
    for the types that it was learnt for.
    """
    found = f"{definition.name} {text}"
    if definition.learnt and definition.meta is None:
        for each in definition.learnt:
            each.call.holds = False
        definition.learnt.clear()
        definition.known.clear()
    else:
        definition.mistake = found
    changed(definition)
    return found


# ------------------------------------------------------------------ what it gives


def types_given(definition: Definition, args: Sequence[Any]) -> tuple[Type, ...]:
    """The types of an operator's results, for the types of its operands and other arguments.

    Raises ``CaptureError`` if nothing says what they are.
    """
    definition.is_used = True
    if definition.mistake:
        raise uncapturable(CUSTOM_OPERATOR, definition.mistake)
    schema = definition.schema
    given = [_type(x) if p.is_value else x for p, x in zip(schema.params, args, strict=True)]
    if definition.meta is not None or definition.traced:
        return _checked(definition, given)
    if not schema.returns:
        return ()
    if not definition.has_impl or schema.writes or schema.is_view:
        raise uncapturable(
            CUSTOM_OPERATOR,
            f"{schema.name} has no meta, which says of what types its results are; give it one by "
            "register_meta",
        )
    return _learnt(definition, given)


def _checked(definition: Definition, given: Sequence[Any]) -> tuple[Type, ...]:
    """What the meta or the decomposition says, if samples agree where ``impl`` may never run."""

    def say(*kinds: Any) -> tuple[Type, ...]:
        if definition.meta is not None:
            return _said(definition, kinds)
        return definition.traced[-1](*kinds)

    types = say(*given)
    if definition.lowering is not None or definition.traced:
        check_types(definition, given, say)
    return types


def _type(x: object) -> Any:
    if isinstance(x, tuple):
        return tuple(map(_type, x))
    return x.type if isinstance(x, Literal) else x


def _said(definition: Definition, given: Sequence[Any]) -> tuple[Type, ...]:
    """What the user's meta says."""
    name, returns = definition.name, definition.schema.returns
    assert definition.meta is not None
    try:
        found = definition.meta(*given)
    except FxcError:
        raise
    except Exception as error:
        raise uncapturable(CUSTOM_OPERATOR, f"the meta of {name} raises {error!r}") from error
    results = (() if found is None else found) if len(returns) != 1 else (found,)
    if not isinstance(results, tuple) or len(results) != len(returns):
        shown = "a tuple of types" if len(returns) > 1 else "nothing"
        raise uncapturable(
            CUSTOM_OPERATOR, f"the meta of {name} must give {shown} for {len(returns)} results"
        )
    for each in results:
        if not isinstance(each, ArrayType | ScalarType):
            raise uncapturable(
                CUSTOM_OPERATOR,
                f"the meta of {name} gives {a_kind(each)}, which is no type of an array "
                "or a scalar; see ArrayType.new",
            )
        if not is_known(each.dtype):
            raise uncapturable(CUSTOM_OPERATOR, f"the meta of {name} gives the dtype {each.dtype}")
    if definition.schema.is_view:
        return results
    return tuple(replace(x, writeable=True) if isinstance(x, ArrayType) else x for x in results)


def _learnt(definition: Definition, given: Sequence[Any]) -> tuple[Type, ...]:
    """What ``impl`` gives for samples."""
    kinds: list[Type] = []

    def hole(x: object) -> object:
        if isinstance(x, tuple):
            return tuple(map(hole, x))
        if isinstance(x, SymExpr):
            raise uncapturable(
                CUSTOM_OPERATOR,
                f"{definition.name} has no meta, and takes a size that is not known; give it one "
                "by register_meta",
            )
        if not isinstance(x, ArrayType | ScalarType):
            return x
        kinds.append(x)
        return Hole(len(kinds) - 1)

    args, name = tuple(map(hole, given)), definition.name
    likeness = looks_of(args, {}, kinds)
    call = next((x.call for x in definition.learnt if x.serves(likeness, kinds)), None)
    if call is None:
        try:
            call = learnt(definition.impl, args, {}, kinds)
        except Unlearnable as reason:
            text = f"{name} has no meta, and what it gives cannot be learnt: {reason}"
            raise NotLearnt(f"{text}; give it one by register_meta") from None
        if len(call.varying) != len(definition.schema.returns):
            wanted = len(definition.schema.returns)
            raise uncapturable(
                CUSTOM_OPERATOR,
                f"{name} gives {len(call.results)} results, its schema says {wanted}",
            )
        definition.learnt.append(Learnt(likeness, tuple(kinds), call))
    return tuple(result.type(kinds) for result in call.varying)


def partner_types(op: Operator, args: Sequence[Any]) -> tuple[Type, ...]:
    """What the operator gives that follows from one that writes: what is written, then the rest."""
    definition = definition_of(op.group)
    written = [_type(args[place]) for place in definition.schema.written_params]
    return (*(replace(each, writeable=True) for each in written), *types_given(definition, args))


def array_operands(args: Sequence[Any]) -> list[np.ndarray]:
    """The arrays among arguments."""
    found: list[np.ndarray] = []
    for x in args:
        if isinstance(x, tuple):
            found += array_operands(x)
        elif isinstance(x, np.ndarray):
            found.append(x)
    return found
