"""From a Python call to a captured graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

import numpy as np

from fxc.dispatch.dispatcher import Dispatcher
from fxc.ir.errors import CaptureError, OverlapError
from fxc.ir.graph import Graph, Operand, Region, Value
from fxc.ir.records import frozen
from fxc.ir.signature import ConstantLeaf, DimLeaf
from fxc.ir.tree import TreeSpec, flatten
from fxc.ir.types import ArrayType

from .assignments import OrderedAssignment, ordered_assignments
from .door import Door
from .guards import GuardProgram
from .operands import Traced, TracedValue, constant
from .outside import ExternalDict, ExternalList, GraphInput, Outside, SymbolSource
from .overlaps import Overlaps, SizesNeeded, settle_overlaps
from .relations import strongest
from .session import Respecialise, Session, refuse
from .traced_int import TracedInt


@frozen
class ArrayLeaf:
    """An array in the result. Leaves with the same Value are the same object.

    A Value that is an input of the graph is the input's own object; one that a view operator made
    is a view.
    """

    value: Value


@frozen
class ScalarLeaf:
    """A Python or NumPy scalar in the result, by the operand's type."""

    operand: Operand


CapturedLeaf = ArrayLeaf | ScalarLeaf | DimLeaf | ConstantLeaf


@frozen
class Captured:
    """A captured call: the graph, what the caller gets, and when it may be used again.

    ``outputs`` are the leaves of the result in the order of ``out_spec``; the graph's results are
    the operands of its ArrayLeafs and ScalarLeafs, in order. ``guards.check(args, kwargs)`` gives
    the graph's inputs (arrays, scalars and ints, in the order of ``inputs``) or None.
    ``overlaps`` says what became of inputs that share memory. ``static`` names the inputs that
    had to become constants.
    """

    graph: Graph
    inputs: tuple[GraphInput, ...]
    outputs: tuple[CapturedLeaf, ...]
    out_spec: TreeSpec
    guards: GuardProgram
    symbols: Mapping[str, SymbolSource]
    overlaps: Overlaps
    static: frozenset[str]


_MOST_ATTEMPTS = 40


def capture(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    dynamic: bool = False,
    static: frozenset[str] = frozenset(),
    dispatcher: Dispatcher | None = None,
) -> Captured:
    """Capture the call ``fn(*args, **kwargs)``; nothing of the user's is touched.

    ``dynamic`` makes the sizes of arrays symbols, unless arrays overlap. ``static`` names inputs
    that are constants.

    Raises ``CaptureError`` for what cannot be captured; what the program itself raises, NumPy's
    errors included, comes through as it is.
    """
    for _ in range(_MOST_ATTEMPTS):
        try:
            return _attempt(fn, args, kwargs, dynamic, static, dispatcher)
        except Respecialise as request:
            if request.names <= static:
                raise RuntimeError(f"{request.names} are constants already") from None
            static |= request.names
        except SizesNeeded:
            dynamic = False
    raise CaptureError("too many numbers had to become constants")


def _attempt(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic: bool,
    static: frozenset[str],
    dispatcher: Dispatcher | None,
) -> Captured:
    session = Session(dispatcher)
    outside = Outside(session, dynamic, static)
    session.door = Door(session, outside)
    with session.active():
        call_args, call_kwargs = _admit_arguments(outside, fn, args, kwargs)
        callee, bound = _admit_callee(outside, fn)
        try:
            result = session.door.call(callee, *bound, *call_args, **call_kwargs)
        except CaptureError:
            raise
        except Exception:
            if session.error is not None:
                raise session.error from None
            raise
        if session.error is not None:  # a handler in the program swallowed it
            raise session.error
        leaves, out_spec = flatten(result)
        _check_containers(result, set())
        outputs = tuple(_output_leaf(outside, leaf) for leaf in leaves)
    relations = strongest(session.guards)
    for relation in relations:
        outside.guards.check_relation(relation)
    overlaps = settle_overlaps(outside)
    results = tuple(
        leaf.value if isinstance(leaf, ArrayLeaf) else leaf.operand
        for leaf in outputs
        if isinstance(leaf, ArrayLeaf | ScalarLeaf)
    )
    params = tuple(each.value for each in outside.inputs)
    body = Region(params, (*overlaps.nodes, *session.builder.nodes), results)
    for assignment in ordered_assignments(body):
        _refuse_assignment(assignment, outside, overlaps)
    name = getattr(fn, "__name__", type(fn).__name__)
    name = name if name.isidentifier() else "function"
    return Captured(
        graph=Graph(name, "captured", body, relations),
        inputs=tuple(outside.inputs),
        outputs=outputs,
        out_spec=out_spec,
        guards=outside.guards.program(outside.input_sources),
        symbols=outside.symbols,
        overlaps=overlaps,
        static=static,
    )


def _refuse_assignment(
    assignment: OrderedAssignment, outside: Outside, overlaps: Overlaps
) -> NoReturn:
    """Say that NumPy's order shows; first make sure of it. See Note [Assignments in order]."""
    if not assignment.symbols <= outside.static:
        raise Respecialise(assignment.symbols)
    reason = (
        "an assignment from an overlapping part of the array with another step depends on the "
        "order of elements and cannot be captured; copy the source first"
    )
    place = next((p for p, x in enumerate(outside.inputs) if x.value is assignment.root), None)
    if place in overlaps.parts:
        raise OverlapError(reason, outside.guards.program(()).check)
    raise refuse(reason, assignment.node.loc)


def _admit_callee(outside: Outside, fn: Any) -> tuple[Any, tuple[Any, ...]]:
    """What to call, and with which first arguments: an object that is bound into the callee, or is
    the callee, comes from outside like an argument.
    """
    if isinstance(fn, FunctionType | BuiltinFunctionType | type | np.ufunc):
        return fn, ()
    owner = fn.__self__ if isinstance(fn, MethodType) else fn
    source = outside.guards.fetch(outside.guards.constant(owner), "the object it is bound to")
    seen = outside.admit(owner, source, "self")
    return (fn.__func__, (seen,)) if isinstance(fn, MethodType) else (seen, ())


def _admit_arguments(
    outside: Outside, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    guards = outside.guards
    names = _parameter_names(fn, len(args))
    shape = f"len(args) == {len(args)}"
    if kwargs:
        shape += f" and {guards.same_keys('kwargs', tuple(kwargs))}"
    else:
        shape += " and not kwargs"
    guards.check(shape, f"{len(args)} positional arguments, keywords {list(kwargs)}")
    call_args = []
    for place, (value, name) in enumerate(zip(args, names, strict=True)):
        source = guards.fetch(f"args[{place}]", name)
        call_args.append(outside.admit(value, source, name, argument=True))
    call_kwargs = {}
    for name, value in kwargs.items():
        source = guards.fetch(f"kwargs[{name!r}]", name)
        call_kwargs[name] = outside.admit(value, source, name, argument=True)
    return call_args, call_kwargs


def _parameter_names(fn: Any, count: int) -> list[str]:
    skipped = 0
    if isinstance(fn, MethodType):
        fn, skipped = fn.__func__, 1
    code = fn.__code__ if isinstance(fn, FunctionType) else None
    names = list(code.co_varnames[skipped : code.co_argcount]) if code is not None else []
    names = names[:count]
    return names + [f"arg{place}" for place in range(len(names), count)]


# ------------------------------------------------------------------ results


def _check_containers(tree: Any, seen: set[int]) -> None:
    """Refuse a mutable container that occurs twice: the copies would be two objects."""
    if isinstance(tree, list | dict):
        if id(tree) in seen:
            raise refuse("a result that holds one list or dict twice cannot be captured")
        seen.add(id(tree))
    if isinstance(tree, list | tuple):
        for item in tree:
            _check_containers(item, seen)
    elif isinstance(tree, dict):
        for item in tree.values():
            _check_containers(item, seen)


_CONSTANTS = (str, bytes, int, float, complex, range, slice, np.generic, np.dtype)
_IDENTIFIED = (FunctionType, BuiltinFunctionType, ModuleType, type, np.ufunc)


def _output_leaf(outside: Outside, leaf: Any) -> CapturedLeaf:
    if isinstance(leaf, TracedInt):
        return DimLeaf(leaf._dim)
    if isinstance(leaf, TracedValue):
        value = leaf._value
        outside.session.check_alive(value)
        for index in outside.session.dynamic_indices(value):
            outside.session.specialise(index, "the place of a view that is returned")
        return ArrayLeaf(value) if isinstance(value.type, ArrayType) else ScalarLeaf(value)
    if isinstance(leaf, Traced):
        leaf._operand()  # says why there is none
    if isinstance(leaf, np.ndarray):
        return ArrayLeaf(constant(leaf))
    if leaf is Ellipsis or isinstance(leaf, _CONSTANTS):
        return ConstantLeaf(leaf)
    if isinstance(leaf, ExternalList | ExternalDict):
        raise refuse(
            "a list or dict from outside of the compiled function is returned, which cannot be "
            "captured; return its elements"
        )
    known = outside.known.get(id(leaf))
    if isinstance(leaf, _IDENTIFIED) or (known is not None and known.is_fixed):
        return ConstantLeaf(leaf)
    raise refuse(f"a {type(leaf).__name__} in the result cannot be captured; return arrays")
