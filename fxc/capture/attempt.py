"""One attempt to capture a call: the program is run on traced values, and becomes a graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NoReturn

import numpy as np

from fxc.ir.error_kinds import NO_RESULT, OBJECT, OVERLAPPING_WRITE, STATEMENT, TOO_LARGE
from fxc.ir.errors import CaptureError, InternalError, OverlapError
from fxc.ir.graph import Graph, Region, walk
from fxc.ir.location import Site, SourceLocation
from fxc.ir.records import field, frozen
from fxc.ir.replay import PART
from fxc.ir.size_guards import Guard
from fxc.ir.tree import LEAF, TreeSpec, flatten
from fxc.ops.python_numbers import may_leave
from fxc.ops.table import TABLE

from .arrays.assignments import OrderedAssignment, ordered_assignments
from .captured import Captured
from .door.door import Door
from .epilogue.epilogue import EpilogueBuilder
from .epilogue.finishing import Epilogue
from .epilogue.leaves import ArrayLeaf, CapturedLeaf, ScalarLeaf, output_leaf
from .guards.relations import strongest
from .guards.words import arguments_text
from .outside.admission import Admission
from .outside.containers import External
from .outside.inputs import Route
from .outside.outside import Outside
from .outside.overlaps import Overlaps, settle_overlaps
from .session.exceptions import check_no_bug, guess_no_more, raised_in_region
from .session.refusing import Requests, Respecialise, constants, refusal, refuse, refuse_known
from .session.session import Session
from .session.suspended import check_generators, close_generators
from .session.warned_of import check_constants
from .staging.continuations import written_otherwise
from .values.operands import Traced
from .values.shadows import real_class


@frozen
class GivenCall:
    """The call that is captured."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)


@frozen
class Terms:
    """On what terms a call is captured.

    ``dynamic`` makes the sizes of arrays symbols, unless arrays overlap; if it is None, those that
    ``varying`` names. ``requests`` are those of attempts made before, ``varying`` names numbers
    from outside that are no constants. ``demanded`` are relations of counted sizes to check in any
    case. With ``effects=False`` a function that changes Python objects is refused, and so is a
    result that is an object from outside, but for arrays. The operator ``left`` is refused. It may
    take so many ``seconds``, if that is less than usual.
    """

    dynamic: bool | None = None
    requests: Requests = frozenset()
    varying: frozenset[str] = frozenset()
    demanded: frozenset[Guard] = frozenset()
    effects: bool = True
    left: Site | None = None
    seconds: float = math.inf


def begun(session: Session, call: GivenCall, terms: Terms) -> Captured:
    """The capture. What has gone wrong may follow from places that were not carried."""
    try:
        return _attempt(session, call, terms)
    except InternalError:
        raise
    except (Exception, Respecialise):
        session.door.places.check_wanted()
        raise
    finally:
        close_generators(session)


def _attempt(session: Session, call: GivenCall, terms: Terms) -> Captured:
    of_part = hasattr(call.function, PART)
    outside = Admission(session, terms.dynamic, terms.varying, terms.effects, of_part)
    session.requests = terms.requests
    session.door = Door(session, outside)
    with session.active():
        _check_kind(call.function)
        call_args, call_kwargs = _admit_arguments(outside, call)
        callee, bound = _admit_callee(outside, call.function)
        result = _run(session, callee, (*bound, *call_args), call_kwargs)
        session.door.places.check_wanted()
        check_generators(session)
        if session.error is not None:  # a handler in the program swallowed it
            raise session.error
        if outside.changing:  # see Note [Numbers from outside]
            raise Respecialise
        made = _result_of(outside, result) if terms.effects else _plain_result(outside, result)
        arrays = {n: x.value for n, x in enumerate(made.outputs) if isinstance(x, ArrayLeaf)}
        inputs = (each.value for each in outside.inputs)
        session.aliases.check_results(arrays, inputs, made.apart)
    return _captured(outside, call, terms, made)


@frozen
class _Result:
    """What the program returns, and the objects that make it of the graph's results."""

    outputs: tuple[CapturedLeaf, ...]
    spec: TreeSpec = LEAF
    epilogue: Epilogue | None = None
    objects: Mapping[str, Any] = field(default_factory=dict)
    apart: Any = ()


def _result_of(outside: Admission, result: object) -> _Result:
    """The result with the epilogue that makes it, and the effects."""
    builder = EpilogueBuilder(outside)
    try:
        epilogue = builder.build(result)
    except CaptureError as error:
        error.is_of_result = not builder.is_located
        raise
    outside.guard_identities()
    return _Result(tuple(builder.leaves), LEAF, epilogue, builder.objects, builder.apart)


def _plain_result(outside: Outside, result: object) -> _Result:
    """The result by its leaves alone."""
    _check_plain(outside, result, set())
    result = _with_items(result)
    if outside.drawn:
        raise _without_effects("a random draw", "; draw before, and pass the numbers")
    if outside.keeps:
        raise _without_effects("what a loop prints, logs or calls")
    _keep_shapes(outside)
    leaves, shown = flatten(result)
    return _Result(tuple(output_leaf(outside, x) for x in leaves), _of_real_classes(shown))


def _captured(outside: Outside, call: GivenCall, terms: Terms, made: _Result) -> Captured:
    """The graph of what was recorded, and its guards."""
    session = outside.session
    relations = strongest(session.guards)
    for relation in relations:
        outside.guards.check_relation(relation)
    overlaps = settle_overlaps(outside)
    results = tuple(
        leaf.value if isinstance(leaf, ArrayLeaf) else leaf.operand
        for leaf in made.outputs
        if isinstance(leaf, ArrayLeaf | ScalarLeaf)
    )
    params = tuple(each.value for each in outside.inputs)
    body = Region(params, (*overlaps.nodes, *session.builder.nodes), results)
    check_constants(body)
    for assignment in ordered_assignments(body):
        _refuse_assignment(assignment, outside, overlaps)
    name = call.name if call.name.isidentifier() else "function"
    return Captured(
        graph=Graph(name, "captured", body, (*relations, *session.assumed)),
        inputs=tuple(outside.inputs),
        outputs=made.outputs,
        out_spec=made.spec,
        epilogue=made.epilogue,
        guards=outside.guards.program(outside.input_sources, made.objects),
        symbols=outside.symbols,
        overlaps=overlaps,
        requests=terms.requests,
        varying=terms.varying,
        need_not_raise=_need_not_raise(session, body),
        drawn=tuple(outside.drawn),
    )


def _run(
    session: Session, callee: object, args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    """What the program returns, while it is recorded."""
    outside = session.door.outside
    warned = [kind for kind, mode in np.geterr().items() if mode not in ("ignore", "raise")]
    try:
        with np.errstate(call=refuse_known, **dict.fromkeys(warned, "call")):  # type: ignore[arg-type]
            return session.door.call(callee, *args, **kwargs)
    except CaptureError as error:
        _try_otherwise(session, error)
        raise
    except RecursionError:
        raise refuse(TOO_LARGE, "a recursion this deep", "use a loop") from None
    except AttributeError as error:
        check_no_bug(error, session.door.raised)
        guess_no_more(session, error)
        if session.error is None and outside.is_stand_in(error.obj):
            raise refuse(
                OBJECT,
                f"code that fxc does not see reads .{error.name} of a {type(error.obj).__name__} "
                "from outside, which",
            ) from None
        _end_otherwise(session, error)
        _try_otherwise(session, session.error)
        in_region = raised_in_region(error) if session.statements else None
        raise session.error or in_region or error from None
    except Exception as error:
        check_no_bug(error, session.door.raised)
        guess_no_more(session, error)
        _end_otherwise(session, error)
        _try_otherwise(session, session.error)
        if session.error is not None or session.statements:
            raise session.error or raised_in_region(error) from None
        body = Region((), session.builder.nodes, ())
        vars(error)["__fxc_need_not_raise__"] = _need_not_raise(session, body)
        raise


def _need_not_raise(session: Session, body: Region) -> bool:
    """Whether Python may go on, or another way, where native code leaves a call to it."""
    return session.handles or any(
        may_leave(node.op) or not TABLE.lists(node.op) for node in walk(body)
    )


def _try_otherwise(session: Session, error: CaptureError | None) -> None:
    """Capture again with the first of the requests that may help here. See Note [Requests]."""
    asked, made = session.requests, session.door.lists
    otherwise = written_otherwise(session, error)
    if not otherwise <= asked:
        raise Respecialise(*otherwise, error=error) from None
    lists_first = bool(made.changed or made.sized - asked)
    apart_or_by_python = Requests()
    for statement in reversed(session.statements):
        apart_or_by_python = statement.fallback - asked
        if lists_first and apart_or_by_python != statement.first_apart:
            apart_or_by_python = Requests()
        if lists_first or apart_or_by_python:
            break
    for wanted, why in (
        (constants(() if made.changed else session.open_numbers), None),
        (Requests().union(*(each.elsewhere for each in session.statements)), None),
        (apart_or_by_python, None if lists_first else error),
        (made.changed, None),
        (made.sized - asked, error),
        (made.of_arrays, error),
    ):
        if not wanted <= asked:
            raise Respecialise(*wanted, error=why) from None


def _end_otherwise(session: Session, error: Exception) -> None:
    """Capture again with an arm that ends where it has raised. See Note [Arms that raise]."""
    wanted = session.statements[-1].ended if session.statements else frozenset()
    if session.error is None and not wanted <= session.requests:
        raise Respecialise(*wanted, error=raised_in_region(error)) from None


def _refuse_assignment(
    assignment: OrderedAssignment, outside: Outside, overlaps: Overlaps
) -> NoReturn:
    """Say that NumPy's order shows; first make sure of it. See Note [Assignments in order]."""
    if (sizes := constants(assignment.symbols)) - outside.session.requests:
        raise Respecialise(*sizes)
    reason = (
        "an assignment from an overlapping part of the array with another step depends on the "
        "order of elements and cannot be captured; copy the source first"
    )
    place = next((p for p, x in enumerate(outside.inputs) if x.value is assignment.root), None)
    if place in overlaps.parts:
        raise OverlapError(reason, outside.guards.program(()).check)
    raise refusal(OVERLAPPING_WRITE, reason, assignment.node.loc)


# ------------------------------------------------------------------ arguments


def _check_kind(fn: object) -> None:
    """Refuse a function whose body does not run when it is called."""
    code = getattr(getattr(fn, "__func__", fn), "__code__", None)
    if code is not None and code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
        raise refusal(
            STATEMENT,
            f"{code.co_name} is a generator or a coroutine and cannot be captured",
            SourceLocation(code.co_filename, code.co_firstlineno, code.co_name),
        )


def _admit_callee(outside: Outside, fn: object) -> tuple[Any, tuple[Any, ...]]:
    """What to call, and with which first arguments: an object that is bound into the callee, or is
    the callee, comes from outside like an argument.
    """
    if isinstance(fn, FunctionType | BuiltinFunctionType | type | np.ufunc):
        return fn, ()
    owner = fn.__self__ if isinstance(fn, MethodType) else fn
    source = outside.guards.fetch(outside.guards.constant(owner), "self")
    seen = outside.admit(owner, Route(source, "self"))
    return (fn.__func__, (seen,)) if isinstance(fn, MethodType) else (seen, ())


def _admit_arguments(outside: Outside, call: GivenCall) -> tuple[list[Any], dict[str, Any]]:
    guards, args, kwargs = outside.guards, call.args, call.kwargs
    names = _parameter_names(call.function, len(args))
    shape = f"len(args) == {len(args)}"
    if kwargs:
        shape += f" and {guards.same_keys('kwargs', tuple(kwargs))}"
    else:
        shape += " and not kwargs"
    guards.check(shape, f"the call is with {arguments_text(args, kwargs)}")
    call_args = []
    for place, (value, name) in enumerate(zip(args, names, strict=True)):
        outside.being_admitted = name
        source = guards.fetch(f"args[{place}]", name)
        call_args.append(outside.admit(value, Route(source, name, argument=True)))
    call_kwargs = {}
    for name, value in kwargs.items():
        outside.being_admitted = name
        source = guards.fetch(f"kwargs[{name!r}]", name)
        call_kwargs[name] = outside.admit(value, Route(source, name, argument=True))
    outside.being_admitted = ""
    return call_args, call_kwargs


def _parameter_names(fn: object, count: int) -> list[str]:
    skipped = 0
    if isinstance(fn, MethodType):
        fn, skipped = fn.__func__, 1
    code = fn.__code__ if isinstance(fn, FunctionType) else None
    names = list(code.co_varnames[skipped : code.co_argcount]) if code is not None else []
    names = names[:count]
    return names + [f"arg{place}" for place in range(len(names), count)]


# ------------------------------------------------------------------ results


def _of_real_classes(spec: TreeSpec) -> TreeSpec:
    """The shape of a result, with the classes that the program knows its objects by."""
    kind = None if spec.container is None else real_class(spec.container)
    return TreeSpec(kind, spec.keys, tuple(map(_of_real_classes, spec.children)))


def _keep_shapes(outside: Outside) -> None:
    """Without an epilogue, which would set it, the shape of an array is that of what it reads."""
    inputs = {each.value for each in outside.inputs}
    for value, array in outside.session.reshaped.items():
        if value in inputs:
            raise _without_effects("a change of the shape of an argument")
        array._original = array._value
    for value, (array, _, _) in outside.session.flagged.items():
        if value in inputs:
            raise _without_effects("a change of the flags of an argument")
        array._original = array._value


def _without_effects(what: str, instead: str = "") -> CaptureError:
    no_effect = "what fxc.export and fxc.functionalize make has no effect but writes to arrays"
    return refusal(NO_RESULT, f"{what} cannot be captured here: {no_effect}{instead}")


def _with_items(tree: Any) -> object:
    """A result with the items of lists of the graph, whose length becomes a constant."""
    if isinstance(tree, Traced):
        return [*tree] if isinstance(tree, list) else tree
    if type(tree) is dict:
        return {key: _with_items(x) for key, x in tree.items()}
    return type(tree)(map(_with_items, tree)) if type(tree) in (list, tuple) else tree


def _check_plain(outside: Outside, tree: object, seen: set[int]) -> None:
    """Refuse what a result is not made of if there is no epilogue."""
    for effect in outside.effects.entries:
        raise _without_effects(f"a change to {effect.owner.text}")
    known = outside.shown.get(id(tree))
    if isinstance(tree, External) or (known is not None and known.is_object and not known.is_fixed):
        raise refusal(
            NO_RESULT,
            "a container or an object from outside of the function is returned, which cannot be "
            "captured here; return its elements",
        )
    if isinstance(tree, list | dict):
        if id(tree) in seen:
            raise refusal(
                NO_RESULT, "a result that holds one list or dict twice cannot be captured here"
            )
        seen.add(id(tree))
    if isinstance(tree, list | tuple):
        for item in tree:
            _check_plain(outside, item, seen)
    elif isinstance(tree, dict):
        for item in tree.values():
            _check_plain(outside, item, seen)
