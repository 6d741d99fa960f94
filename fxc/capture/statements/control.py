"""Explicit control flow: ``fxc.cond``, ``fxc.fori_loop``, ``fxc.while_loop``, ``fxc.scan``.

On plain arrays they just run; inside a captured function, with a condition or bounds that are not
known, they become nodes with regions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fxc.ir.bounds import decide
from fxc.ir.error_kinds import MISFIT
from fxc.ir.errors import CaptureError
from fxc.ir.graph import Literal, Operand, Region, Value
from fxc.ir.size_functions import hint
from fxc.ir.size_guards import Guard, guard
from fxc.ir.symbols import Dim, symbol
from fxc.ir.tree import LEAF, TreeSpec, children_of, flatten, unflatten
from fxc.ir.types import PY_INT, ArrayType, ScalarType, Type
from fxc.ops.metas.layout import is_c_ordered
from fxc.ops.metas.shapes import same_shape

from ..numbers.python_numbers import flag
from ..numbers.traced_int import TracedInt, exact, int_dim
from ..outside.containers import External
from ..regions.loop_guards import check_guards
from ..regions.recording import Recording
from ..session.exceptions import perhaps_run
from ..session.locations import user_location
from ..session.recorder import RegionKind
from ..session.refusing import How, Request, Respecialise, refusal
from ..session.session import Session, current_or_none
from ..values.operands import Traced, TracedValue, has_traced, operand, wrap

# Note [Results of regions]
# What fxc.cond and the loops return are new arrays, in C order, that share memory with nothing
# else; the arrays that a loop carries are copies of the initial ones, which nobody outside sees
# written. Run on plain arrays, they copy likewise.

# Note [Region writes]
# A branch or a loop body may write any array that it sees; functionalization carries what is from
# outside of it through (Note [Carried bases]). The test of a while_loop writes only what it made
# itself. An array is at home in the region that made it; Session keeps the homes.
# What capture knows of the elements of an array (history.py) it knows for this iteration: a loop
# that relies on those of an array from outside, and then writes it, is refused.


def cond(
    pred: object, on_true: Callable[..., Any], on_false: Callable[..., Any], *xs: object
) -> Any:
    """``on_true(*xs) if pred else on_false(*xs)``, also where ``pred`` is not known in capture.

    Both functions return results of the same structure and types.

    >>> import numpy as np
    >>> cond(True, lambda x: x + 1, lambda x: x, np.array([1, 2]))
    array([2, 3])
    """
    session = current_or_none()
    if session is None or not isinstance(pred, TracedValue):
        chosen = on_true if pred else on_false
        return _fresh(_call(session, chosen, *xs))
    if pred._value.type.rank:
        raise ValueError("fxc.cond: the condition is an array with dimensions")
    return _record_cond(session, pred._value, on_true, on_false, xs)


def fori_loop(lo: Any, hi: Any, body: Callable[[Any, Any], Any], init: Any) -> Any:
    """``for i in range(lo, hi): init = body(i, init)``; gives the last ``init``.

    ``init`` is an array, a scalar or a container of them; ``body`` returns the same.

    >>> import numpy as np
    >>> fori_loop(0, 3, lambda i, x: 2 * x + i, np.array([1, 2]))
    array([12, 20])
    """
    session = current_or_none()
    if session is None or not (has_traced((lo, hi)) or has_traced(init)):
        state = _fresh(init)
        for i in range(lo, hi):
            state = _fresh(_call(session, body, i, state))
        return state
    return _record_loop(session, lo, hi, body, init)


def while_loop(test: Callable[[Any], Any], body: Callable[[Any], Any], init: object) -> Any:
    """``while test(init): init = body(init)``; gives the last ``init``.

    ``init`` is an array, a scalar or a container of them; ``body`` returns the same. ``test``
    returns a scalar.

    >>> import numpy as np
    >>> while_loop(lambda x: x.sum() < 40, lambda x: 2 * x, np.array([1, 2]))
    array([16, 32])
    """
    session = current_or_none()
    state = init
    while session is None or not has_traced(state):
        state = _fresh(state)
        going = _call(session, test, state)
        if session and isinstance(going, TracedValue):  # of an array that is not in the state
            break
        if not going:
            return state
        state = _call(session, body, state)
    return _record_while(session, test, body, state)


def scan(f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any) -> tuple[Any, Any]:
    """``init, y = f(init, x)`` for each ``x`` along the first axis of ``xs``, an array or a
    container of them; gives the last ``init``, and each ``y`` in arrays with one more axis.

    >>> import numpy as np
    >>> scan(lambda total, x: (total + x, 2 * x), np.float64(0), np.array([1.0, 2.0, 4.0]))
    (np.float64(7.0), array([2., 4., 8.]))
    """
    session = current_or_none()
    leaves, spec = flatten(xs if session is None else _own(session, xs))
    counts = [leaf.shape[0] for leaf in leaves]
    if not counts or counts[0] == 0 or any(count != counts[0] for count in counts):
        raise ValueError(f"fxc.scan: arrays of {counts} elements; all need the same, at least one")

    def step(i: object, carry: object) -> tuple[Any, Any]:
        carry, y = _call(session, f, carry, unflatten(spec, [leaf[i] for leaf in leaves]))
        return carry, flatten(y)

    carry, (ys, out_spec) = step(0, _fresh(init))
    outs = [_room(session, counts[0], y) for y in ys]

    def body(i: Any, state: Any) -> Any:
        carry, outs = state
        carry, (ys, found) = step(i, carry)
        if found != out_spec:
            raise ValueError("fxc.scan: the function returns results of different structure")
        for out, y in zip(outs, ys, strict=True):
            out[i] = y
        return carry, outs

    for out, y in zip(outs, ys, strict=True):
        out[0] = y
    if session is not None:
        carry, outs = fori_loop(1, counts[0], body, (carry, outs))
    else:
        for i in range(1, counts[0]):
            carry, _ = body(i, (_fresh(carry), outs))
        carry = _fresh(carry)
    return carry, unflatten(out_spec, outs)


def _room(session: Session | None, count: Any, y: Any) -> Any:
    """An array for so many of what is like ``y``."""
    if session is None:
        return np.empty((count, *np.shape(y)), np.asarray(y).dtype)
    kind = operand(y).type
    size = int_dim(count)
    return wrap(session.record("empty", (size, *kind.shape), kind.dtype, None))


def is_control(function: object) -> bool:
    return function in (cond, fori_loop, while_loop, scan)


def _call(session: Session | None, f: Callable[..., Any], *args: object) -> Any:
    """Call one of the user's functions through the call door."""
    is_ours = getattr(f, "__module__", None) == __name__
    if is_ours or session is None or session.door is None:
        return f(*args)
    return session.door.call(f, *args)


def _fresh(tree: object) -> Any:
    """The same results, with arrays copied. See Note [Results of regions]."""
    leaves, spec = flatten(tree)
    copies = [leaf.copy() if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]
    return unflatten(spec, copies)


def _own(session: Session, tree: object) -> Any:
    """A pytree in which nothing stands for a container or an object from outside."""
    if isinstance(tree, External):
        kind: Any = list if isinstance(tree, list) else dict
        return _own(session, kind(tree))
    found = session.door.parts_of(tree) if session.door is not None else children_of(tree)
    if found is None or tree is None:
        return tree
    keys, children = found
    spec = TreeSpec(type(tree), keys, (LEAF,) * len(children))
    return unflatten(spec, [_own(session, child) for child in children])


# ------------------------------------------------------------------ cond


def _record_cond(
    session: Session,
    pred: Value,
    on_true: Callable[..., Any],
    on_false: Callable[..., Any],
    xs: tuple[Any, ...],
) -> Any:
    arms: list[tuple[Region, TreeSpec]] = []
    for arm in (on_true, on_false):
        with Recording(session) as region, perhaps_run(session):
            result = _call(session, arm, *_own(session, xs))
            results, out_spec = _results(session, result, "fxc.cond")
        arms.append((region.finished((), results), out_spec))
    (true_region, true_spec), (false_region, false_spec) = arms
    if true_spec != false_spec:
        raise refusal(MISFIT, "fxc.cond: the two functions return results of different structure")
    pairs = zip(true_region.results, false_region.results, strict=True)
    for number, (left, right) in enumerate(pairs):
        if not _are_alike(left.type, right.type):
            raise refusal(
                MISFIT,
                f"fxc.cond: result {number} is {left.type} in one branch and {right.type} in the "
                "other; convert one of them",
            )
    outputs = session.record("cond", pred, (), on_true=true_region, on_false=false_region)
    return unflatten(true_spec, [wrap(value) for value in outputs])


def _results(session: Session, tree: object, what: str) -> tuple[list[Operand], TreeSpec]:
    """The results of a region: fresh arrays in C order, each once."""
    leaves, spec = flatten(_own(session, tree))
    results: list[Operand] = []
    for number, leaf in enumerate(leaves):
        if not isinstance(leaf, Traced | bool | int | float | complex | np.generic):
            raise refusal(MISFIT, f"{what}: result {number} is a {type(leaf).__name__}")
        results.append(_owned(session, operand(leaf), results))
    return results, spec


def _are_alike(left: Type, right: Type) -> bool:
    """Whether these are the same types; sizes that happen to agree are guarded to."""
    if not isinstance(left, ArrayType) or not isinstance(right, ArrayType):
        return left == right
    same = left.dtype == right.dtype and left.rank == right.rank
    return same and same_shape(left.shape, right.shape) and left.writeable == right.writeable


def _owned(session: Session, value: Operand, taken: list[Operand]) -> Operand:
    kind = value.type
    if not isinstance(value, Value) or not isinstance(kind, ArrayType):
        return value
    session.aliases.check_given_up(value)
    is_home = session.aliases.homes.get(value, 0) == session.region
    if is_home and value not in session.aliases.bases and value not in taken and is_c_ordered(kind):
        return value
    return session.value("copy", value, order="C")


# ------------------------------------------------------------------ fori_loop


def _record_loop(
    session: Session,
    lo: Any,
    hi: object,
    body: Callable[[Any, Any], Any],
    init: Any,
    peeled: bool = False,
) -> Any:
    low, high = _bound(lo), _bound(hi)
    leaves, spec = flatten(_own(session, init))
    runs = None if low is None or high is None else _runs(session, low, high)
    if runs is False:
        return unflatten(spec, [_initial_leaf(session, leaf) for leaf in leaves])
    what = "fxc.fori_loop"
    first = Request(f"{what} {user_location()}", How.FIRST_APART)
    if first in session.requests and not peeled:
        state = _fresh(_call(session, body, lo, _fresh(init)))
        return _record_loop(session, lo + 1, hi, body, state, True)
    start = [_carried(session, leaf, f"{what}: carried value {n}") for n, leaf in enumerate(leaves)]
    types = [value.type for value in start]
    taken: dict[Guard, None] = {}
    with Recording(session, "loop", guards=taken) as region, perhaps_run(session, not runs):
        params = region.params([PY_INT, *types], [_index_name(body), *[None] * len(types)])
        session.counts(params[0], low, high)
        index = symbol(params[0].name, hint=hint(low) if low is not None else 0, lower=_least(low))
        state = unflatten(spec, [wrap(param) for param in params[1:]])
        result = _call(session, body, TracedInt(index), state)
        results, out_spec = _results(session, result, what)
    try:
        _check_carried(what, results, types, out_spec == spec)
    except CaptureError as error:
        if runs and not peeled:  # the types may be those after one iteration from then on
            raise Respecialise(first, error=error) from None
        raise
    check_guards(taken, params[0].name, low, high, session.varies)
    bounds = [operand(lo), operand(hi)]
    outputs = session.record(
        "fori_loop", *bounds, tuple(start), body=region.finished(params, results)
    )
    return unflatten(spec, [wrap(value) for value in outputs])


def _runs(session: Session, low: Dim, high: Dim) -> bool | None:
    """Whether a loop has iterations, in any iteration of those around it; None: perhaps in some."""
    if session.varies(high - low):
        return decide(low, "<", high)
    return guard(low, "<", high)


def _check_carried(
    what: str, results: Sequence[Operand], types: Sequence[Type], same_structure: bool
) -> None:
    """Refuse a body whose results are of other types than what it carries."""
    if not same_structure:
        raise refusal(MISFIT, f"{what}: the body returns another structure than it is given")
    for number, (value, kind) in enumerate(zip(results, types, strict=True)):
        if not _are_alike(value.type, kind):
            raise refusal(
                MISFIT,
                f"{what}: carried value {number} is {kind} before the body and {value.type} after "
                "it; convert the initial value",
            )


def _bound(x: Any) -> Dim | None:
    """A bound as a dim; None if it depends on array data."""
    dim = int_dim(x := exact(x))
    if dim is None and isinstance(x, np.integer) and not isinstance(x, Traced):
        return int(x)
    if dim is None and not isinstance(x, TracedValue):
        raise TypeError(f"{type(x).__name__!r} object cannot be interpreted as an integer")
    return dim


def _least(low: Dim | None) -> int | None:
    return low if isinstance(low, int) and low >= 0 else None


def _index_name(body: object) -> str:
    code = getattr(body, "__code__", None)
    names = code.co_varnames[: code.co_argcount] if code is not None else ()
    names = [name for name in names if name != "self"]
    return names[0] if names and names[0].isidentifier() and names[0] != "_" else "i"


def _initial_leaf(session: Session, leaf: object) -> Any:
    if isinstance(leaf, TracedValue) and isinstance(leaf._value.type, ArrayType):
        return wrap(session.record("copy", leaf._value, order="C"))
    return leaf


def _carried(session: Session, leaf: object, what: str) -> Operand:
    """The initial value of a leaf; arrays are copied. See Note [Results of regions]."""
    if not isinstance(leaf, Traced | int | float | complex | np.generic):
        raise refusal(
            MISFIT,
            f"{what} is a {type(leaf).__name__}, which cannot be carried; use an array, or a NumPy "
            "scalar such as np.int64(0)",
        )
    value = operand(leaf)
    if isinstance(value, Literal) or isinstance(value.type, ScalarType):
        return value
    return session.value("copy", value, order="C")


# ------------------------------------------------------------------ while_loop


def _record_while(
    session: Session, test: Callable[[Any], Any], body: Callable[[Any], Any], init: object
) -> Any:
    what = "fxc.while_loop"
    leaves, spec = flatten(_own(session, init))
    start = [_carried(session, leaf, f"{what}: carried value {n}") for n, leaf in enumerate(leaves)]
    types = [value.type for value in start]
    regions: list[Region] = []
    began = session.now
    for function in (test, body):
        kind: RegionKind = "loop" if function is body else "test"
        with Recording(session, kind, began=began) as region:
            params = region.params(types, [None] * len(types))
            given = unflatten(spec, [wrap(param) for param in params])
            with perhaps_run(session):
                result = _call(session, function, given)
            if function is test:
                results: list[Operand] = [_flag(result, what)]
            else:
                results, out_spec = _results(session, result, what)
                _check_carried(what, results, types, out_spec == spec)
        regions.append(region.finished(params, results))
    outputs = session.record("while_loop", tuple(start), test=regions[0], body=regions[1])
    return unflatten(spec, [wrap(value) for value in outputs])


def _flag(x: object, what: str) -> Operand:
    """Whether a scalar counts as true."""
    if not isinstance(x, Traced | bool | int | float | complex | np.generic):
        raise refusal(MISFIT, f"{what}: the test returns a {type(x).__name__}")
    value = operand(x)
    if value.type.rank:
        raise ValueError(f"{what}: the test returns an array with dimensions")
    return value if value.type.dtype.kind == "b" else flag(value)
