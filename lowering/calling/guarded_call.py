"""The native function that checks guards, calls a plan, and makes the result of its leaves.

See Note [Native calls].
"""

from __future__ import annotations

from collections.abc import Sequence

from fxc.ir.behind import Behind, Listening
from fxc.ir.errors import MISSED

from ..emission.call_parts import CALL_DECLARES, RAISED
from ..emission.object_code import MISS
from .finish import Finish
from .guarded_function import FAILED, CallText, GuardedFunction, Spent, Steps


def emit_guarded_call(
    steps: Steps, behind: Behind, finish: Finish | None, leaves: int, spent: Spent | None = None
) -> CallText:
    """The native function that checks the guards and calls the plan, which gives so many leaves.

    Raises ``Untranslated``.
    """
    return GuardedCall(steps, spent, finish).emit(behind, steps.inputs, leaves)


class GuardedCall(GuardedFunction):
    """A native function that calls a plan."""

    def emit(self, behind: Behind, inputs: Sequence[str], leaves: int) -> CallText:
        code, listening, finish = self.code, behind.listening, self.finish
        given = self.pointers(inputs)
        taken = self.pointers(() if finish is None else finish.objects)
        if listening is None:
            listed = code.hold(code.vectorcall(code.known(behind.run), given))
        else:
            listed = self._listening(listening, behind, given)
        self._look_for_errors(listed, behind)
        if listening is not None:
            self._look_for_flags(listening)
        self.count()
        code.failing = FAILED
        if finish is not None and finish.plain is None:
            return self.end(self.finished(listed, taken))
        at = [(f"ptr {listed}", f"i64 {place}") for place in range(leaves)]
        found = [code.call("ptr", "PyList_GetItem", *each) for each in at]
        return self.end(self.result(found, taken))

    def end(self, result: str) -> CallText:
        ended = super().end(result)
        return CallText(f"{ended.text}\n{RAISED}", ended.objects)

    def _listening(self, listening: Listening, behind: Behind, given: Sequence[str]) -> str:
        """The list of the leaves, or null. As in ``Watch.listening``."""
        code = self.code
        variable = code.known(listening.variable)
        put = f"ptr {variable}", f"ptr {code.known(listening.hears)}"
        token = code.hold(code.present(code.call("ptr", "PyContextVar_Set", *put)))
        listed = code.hold(code.vectorcall(code.known(behind.run), given))
        code.call("i32", "PyContextVar_Reset", f"ptr {variable}", f"ptr {token}")
        return listed

    def _look_for_errors(self, listed: str, behind: Behind) -> None:
        """Go on where there are leaves."""
        code = self.code
        raised, on = code.f.new_label("raised"), code.f.new_label("on")
        code.branch(code.op(f"icmp eq ptr {listed}, null"), raised, on)
        code.f.start(raised)
        for line in CALL_DECLARES:
            self.text.declare(line)
        error = code.hold(code.op('call ptr @"fxc.raised"()'))
        found = code.hold(code.vectorcall(code.known(behind.failed), [error]))
        missed = code.op(f"icmp eq ptr {found}, {code.known(MISSED)}")
        code.branch(missed, MISS, FAILED)
        code.f.start(on)

    def _look_for_flags(self, listening: Listening) -> None:
        """Go on where NumPy has said nothing for which the call is replayed."""
        code = self.code
        asks, on = code.f.new_label("asks"), code.f.new_label("on")
        count = code.call("i64", "PyDict_Size", f"ptr {code.known(listening.heard)}")
        code.branch(code.op(f"icmp eq i64 {count}, 0"), on, asks)
        code.f.start(asks)
        said = code.hold(code.present(code.vectorcall(code.known(listening.told), []), FAILED))
        code.branch(code.op(f"icmp eq ptr {said}, {code.known(True)}"), MISS, on)
        code.f.start(on)
