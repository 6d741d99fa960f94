"""Native functions for the calls of compilations, as texts. See Note [Native calls]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fxc.capture.guards.program import Fetch
from fxc.ir.objects import objects_are_as_known
from fxc.lowering.calling.finish import Finish
from fxc.lowering.calling.guard_things import Untranslated
from fxc.lowering.calling.guarded_call import emit_guarded_call
from fxc.lowering.calling.guarded_function import Spent, Steps
from fxc.lowering.calling.native_call import emit_call
from fxc.runtime.engine import Engine

from .native_calls import NativeCall, new_counter

if TYPE_CHECKING:
    from fxc.ir.behind import Behind

    from .variants import Variant


def native_call(variant: Variant, behind: Behind, spent: Spent | None = None) -> NativeCall:
    """The native function for calls of one compilation: all of a call, or all but what is behind
    the guards.

    Raises ``Untranslated``.
    """
    captured, made = variant.captured, variant.compilation
    drawn = captured.drawn and not (made.assembled and made.assembled.module.keeps_states)
    if made.assembled is None or drawn or not objects_are_as_known():
        raise Untranslated("no native code")
    program, epilogue = captured.guards, captured.epilogue
    finish = None if epilogue is None else epilogue.finish
    steps = Steps(
        tuple(
            (step.var, step.expression) if isinstance(step, Fetch) else ("", step.condition)
            for step in program.steps
        ),
        program.namespace,
        program.inputs,
    )
    end = None if epilogue is None else Finish(epilogue.source, finish, program.objects)
    try:
        emitted = emit_call(made.decomposed, made.assembled.module, steps, end, spent)
    except Untranslated:
        assert made.decomposed.signature is not None
        leaves = len(made.decomposed.signature.outputs)
        emitted = emit_guarded_call(steps, behind, end, leaves, spent)
    engine = Engine(emitted.text, b"", (), quick=True)
    entries = made.assembled.engine
    return NativeCall(emitted.text, engine, entries, emitted.objects, new_counter())
