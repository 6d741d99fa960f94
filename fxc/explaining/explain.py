"""``fxc.explain``."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, ParamSpec

from fxc.compiled import Compiled
from fxc.ir.error_kinds import ARGUMENT
from fxc.ir.errors import CaptureError, UsageTypeError, a_kind, notes_of
from fxc.ir.tracebacks import folded
from fxc.lowering.machine.target import SERIAL

from .facts import PythonsShare, facts_of, variant_facts
from .machine import roof
from .page import Explanation

if TYPE_CHECKING:
    from fxc.compilations.state import State
    from fxc.split.splits import Split

P = ParamSpec("P")


@folded
def explain(fn: Callable[P, Any], /) -> Callable[P, Explanation]:
    """What becomes of a call of a function, on one page: ``print(fxc.explain(fn)(*args))``.

    The function is captured and compiled for these arguments, if it was not yet. It is not run,
    and nothing changes but that ``fn``, if it is compiled by fxc, has one compilation more. Of a
    function that is split, the parts are told of that calls have compiled so far. What the function
    itself raises for these arguments is raised.

    >>> import numpy as np, fxc
    >>> def smooth(u):
    ...     u[1:-1] = 0.5 * (u[:-2] + u[2:])
    >>> page = str(fxc.explain(smooth)(np.arange(8.0)))
    >>> print(page.split("kernels")[0])
    smooth, in ...
      for u: f64[8]
    <BLANKLINE>
    captured   all of it: 6 operators, of line 2
    writes     u[1:7]
    returns    nothing
    <BLANKLINE>
    <BLANKLINE>
    """
    if not callable(fn):
        raise UsageTypeError(ARGUMENT, f"fxc.explain takes a function, not {a_kind(fn)}")
    from fxc.compiled import compile

    function: Any = getattr(fn, "__func__", fn)
    of: tuple[Any, ...] = ()
    if isinstance(fn, MethodType) and isinstance(function, Compiled):
        of = (fn.__self__,)
    compiled: Any = function if of else fn if isinstance(fn, Compiled) else compile(fn)

    @folded
    def explained(*args: P.args, **kwargs: P.kwargs) -> Explanation:
        return _explanation(compiled, (*of, *args), kwargs)

    return explained


def _explanation(compiled: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
    from fxc.calling.called_functions import parts_of

    state = compiled._state
    python: PythonsShare | None = None
    used: list[Any] = []
    try:
        variant = compiled._find(args, kwargs)
        if variant is None and state.split is not None:
            used = [each for part in parts_of(state.split) for each in part._state.variants]
            python = _share(state.split, _reasons(state), False)
        else:
            used = [variant or compiled._compile(args, kwargs)]
    except CaptureError as error:
        python = _planned(compiled.__fxc_original__, compiled._options, error)
    facts = tuple(map(facts_of, used))
    modules = [each.compilation.assembled for each in used]
    targets = [each.module.program.target for each in modules if each is not None]
    return Explanation(
        compiled.__name__,
        _place(compiled.__fxc_original__),
        facts,
        python,
        tuple(map(variant_facts, state.variants)),
        roof(targets[0] if targets else SERIAL) if any(each.kernels for each in facts) else None,
    )


def _place(function: Any) -> str:
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    return f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"


def _planned(function: Any, options: Any, error: CaptureError) -> PythonsShare:
    """How the first call will be split, by a splitting of its own."""
    text = "\n".join([error.text, *notes_of(error)])
    plain = getattr(function, "__func__", function)
    split = Compiled(plain, options)._new_split(plain) if type(plain) is FunctionType else None
    if split is None or options.fullgraph:
        return PythonsShare(0, 0, (), (text,), True)
    split.refused(error, split.plan.body)
    return _share(split, (text,), True)


def _reasons(state: State) -> tuple[str, ...]:
    """What was said of a function that is split, or else of the functions that it calls."""
    asked, level = {id(state)}, [state]
    while level and not any(each.warned for each in level):
        called = [one._state for each in level if each.split for one in each.split.called]
        level = [each for each in called if id(each) not in asked]
        asked.update(map(id, level))
    return tuple(sorted({text for each in level for text in each.warned}))


def _share(split: Split, reasons: tuple[str, ...], is_planned: bool) -> PythonsShare:
    compiled, count = split.in_parts
    cuts = (*split.cuts.statements, *split.cuts.calling)
    lines = tuple(sorted({first for first, *_ in cuts}))
    return PythonsShare(count - compiled, count, lines, reasons, is_planned)
