"""What happens after the compiled code: the result is put together, and effects are made.

An epilogue is a Python function made once for each capture, as source text: ``finish(leaves,
objects…)`` takes the leaves that the call plan gives and the objects from outside that the guard
program has fetched. It makes the containers of the result, each as often as the program made it,
makes the recorded changes in order (see Note [Effects]), and returns the result. ::

    def finish(leaves, v3, v7):
        r0, r1, = leaves
        v3.append(r1)  # self.history
        v7.t = r0  # self.t
        return (r0, r1, )
"""

from __future__ import annotations

import keyword

import numpy as np

from fxc.ir.graph import Operand, Value

from ..outside.effects import Effect
from ..outside.outside import Outside
from ..values.objects import Args, Kwargs
from ..values.operands import Traced, operand, settled
from .expressions import ExpressionBuilder
from .finishing import Epilogue
from .leaves import ArrayLeaf

# Of ``x.shape = …`` NumPy warns from 2.5 on. The program's own warning is among its effects.
_SET_SHAPE = "{}._set_shape(({}))" if hasattr(np.ndarray, "_set_shape") else "{}.shape = ({})"


class EpilogueBuilder(ExpressionBuilder):
    """Collects the leaves and the text of one epilogue."""

    def build(self, result: object) -> Epilogue | None:
        """The epilogue that makes the recorded effects and gives ``result``; None if the result is
        the first leaf and there are no effects.
        """
        self._constants.update(self._outside.effects.constants)
        self.objects.update(self._outside.effects.objects)
        answer = self._place(result)
        effects = [self._change(each) for each in self._outside.effects.entries]
        shown = self._shown(effects)
        effects = [*self._shapes(), *effects]
        for value in self._outside.session.discarded:
            self.leaf(value)
        if answer == "r0" and len(self.leaves) == 1 and not effects and not self._lines:
            return None
        lines = [f"def finish({', '.join(('leaves', *self.objects))}):"]
        if self.leaves:
            lines.append(f"    {''.join(f'r{n}, ' for n in range(len(self.leaves)))}= leaves")
        notes = self._outside.notes
        for function in () if notes is None else notes.texts:
            lines += [f"    {line}" for line in function.splitlines()]
        lines += [f"    {line}" for line in (*self._lines, *effects)]
        lines.append(f"    return {answer}")
        return Epilogue("\n".join(lines), self._constants, shown)

    def _shown(self, effects: list[str]) -> tuple[str, ...]:
        """The names of the functions that show something."""
        notes, entries = self._outside.notes, self._outside.effects.entries
        calls = [] if notes is None else [text.splitlines()[-1] for text in notes.texts]
        calls += [
            text.rpartition(": ")[2] if each.flag is not None else text
            for each, text in zip(entries, effects, strict=True)
            if each.action == "call"
        ]
        return tuple(call.strip().partition("(")[0] for call in calls)

    # -------------------------------------------------------- effects

    def _shapes(self) -> list[str]:
        """The statements that set the shapes of arrays that the caller sees; see memory.py."""
        session = self._outside.session
        seen = {each.value for each in self._outside.inputs}
        seen.update(leaf.value for leaf in self.leaves if isinstance(leaf, ArrayLeaf))
        shapes = [
            _SET_SHAPE.format(self.leaf(array), self._items(array.shape))
            for value, array in session.reshaped.items()
            if value in seen
        ]
        flags = [
            f"{self.leaf(array)}.flags.writeable = {flag}"
            for value, (array, _, flag) in session.flagged.items()
            if value in seen
        ]
        return [*shapes, *flags]

    def _change(self, effect: Effect) -> str:
        """The statement that makes a change, where it is to be made."""
        made = self._statement(effect)
        return made if effect.flag is None else f"if {self._place(effect.flag)}: {made}"

    def _statement(self, effect: Effect) -> str:
        """The statement that makes a change; what makes its value stands before all changes."""
        key = effect.key
        owner = self.reference(effect.owner.var) if effect.owner.var else ""
        text = f"  # {' '.join(effect.owner.text.split())}"  # names of attributes may have lines
        match effect.action:
            case "setattr" if str(key).isidentifier() and not keyword.iskeyword(str(key)):
                return f"{owner}.{key} = {self._place(effect.value)}{text}"
            case "setattr":
                return f"setattr({owner}, {key!r}, {self._place(effect.value)}){text}"
            case "put":  # the class has a __setattr__, which has run
                return f"put({owner}, {key!r}, {self._place(effect.value)}){text}"
            case "delattr":
                return f"delattr({owner}, {key!r}){text}"
            case "setitem" | "replace":
                return f"{owner}[{self._index(key)}] = {self._place(effect.value)}{text}"
            case "delitem":
                return f"del {owner}[{self._index(key)}]{text}"
            case "insert":
                return f"{owner}.insert({key}, {self._place(effect.value)}){text}"
            case "call":
                assert isinstance(effect.value, tuple)
                return f"{self._called(effect.key, *effect.value)}{text}"
            case "notes":
                assert isinstance(key, int)
                marked = self._outside.notes.marks[key]
                names = ", ".join(f"{number}: n{number}" for number in sorted(marked))
                return f"show_notes({owner}, {{{names}}})"
            case "append" | "appendleft" | "extend" | "add" | "discard":
                return f"{owner}.{effect.action}({self._place(effect.value)}){text}"
            case action:
                return f"{owner}.{action}(){text}"

    def _index(self, key: object) -> str:
        return repr(key) if type(key) in (int, str) else self._constant(key)


class NoteBuilder(ExpressionBuilder):
    """Collects the text of a function that shows what a statement in a region has noted."""

    def __init__(self, outside: Outside) -> None:
        super().__init__(outside)
        self.operands: list[Operand] = []
        self.constants = self._constants
        self._prefix = ""

    def function(self, number: int, shows: object, args: Args, kwargs: Kwargs) -> str:
        """``def n3(x0, x1): print(x0, x1)``."""
        self._prefix = f"note{number}_"
        call = self._called(shows, args, kwargs)
        given = ", ".join(f"x{place}" for place in range(len(self.operands)))
        lines = [f"def n{number}({given}):", *(f"    {line}" for line in (*self._lines, call))]
        return "\n".join(lines)

    def array(self, value: Value) -> str:
        self._outside.session.check_ndarray(value, "what a branch or a loop shows")
        return super().array(value)

    def leaf(self, x: object) -> str:
        if not isinstance(x, Traced):
            return self._constant(x)
        self.operands.append(operand(settled(x)))
        return f"x{len(self.operands) - 1}"

    def _constant(self, value: object) -> str:
        name = f"{self._prefix}{len(self._constants)}"
        self._constants[name] = value
        return name
