"""What a call plan is made of: arrays, steps in their order, results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fxc.ir.graph import Value
from fxc.ir.location import Site
from fxc.ir.records import frozen
from fxc.ir.signature import ResultLeaf, Signature, Slot, ViewLeaf, ViewStep
from fxc.ir.symbols import Dim
from fxc.ir.types import ScalarType

LARGE = 2**22  # bytes of an array whose memory is kept: NumPy takes huge pages from here on


@frozen
class NativeStep:
    """A call of native code on all slots.

    ``checks``: it gives back its first argument where NumPy would raise; or, if it ``calls`` NumPy,
    what that has raised. ``looks``: it may raise what a handler of a signal raises. ``binds`` are
    the symbols that have a value from then on.
    """

    function: Callable[..., Any]
    checks: bool
    looks: bool
    calls: bool
    binds: tuple[str, ...] = ()
    flags: bool = False  # it may give back its ``self``, see ``Flagged``


@frozen
class SlotArg:
    """An array slot as an argument of a NumPy kernel; ``kind`` is array, scalar or python.

    With ``steps`` it is a view of the slot.
    """

    name: str
    kind: str
    steps: tuple[ViewStep, ...] = ()


@frozen
class GivenArg:
    """A scalar input of the graph as an argument of a NumPy kernel."""

    input: int


@frozen
class NumpyStep:
    """A call of an eager NumPy kernel; its results are copied into slots.

    With a ``size`` they are listed in any case, and the size of the first is the value of that
    symbol, which goes into that slot. An array that a ``fresh`` one gives is new; in C order, or
    with gaps, it is the slot. Those that one ``may_give`` are what it gives if that turns out to be
    new. One that is ``into`` takes the slots as its ``out``; the first of them may be the memory of
    a slot that is read for the last time, ``reuses``.
    """

    op: str
    kernel: Callable[..., Any]
    args: tuple[Any, ...]
    outs: tuple[str, ...]
    size: tuple[str, str] | None = None
    fresh: bool = False
    may_give: tuple[str, ...] = ()
    into: bool = False
    reuses: str = ""
    site: Site | None = None


@frozen
class Recipe:
    """What a plan is made of.

    ``packed`` are the graph inputs that are scalars, or a part of one that is complex, with their
    ``struct`` codes; ``objects`` those given to native code as they are. ``results`` name the slot
    of each graph result, or one of ``returned``, which native code returns. ``large`` gives, by the
    name of NumPy's function, what makes an array whose memory is kept.
    """

    inputs: tuple[Value, ...]
    slots: tuple[Slot, ...]
    arena: Dim
    packed: tuple[tuple[int, str, str], ...]
    objects: tuple[int, ...]
    returned: tuple[str, ...]
    steps: tuple[NativeStep | NumpyStep, ...]
    results: tuple[str, ...]
    signature: Signature
    view_kernels: Mapping[str, Callable[..., Any]]
    large: Callable[[str], Callable[..., Any]]
    sizes: Mapping[str, str]  # of counted sizes, by symbol: the slots with their values


def unread_slots(recipe: Recipe) -> set[str]:
    """The slots for some of the results of a NumPy call that no later step reads, and no caller."""
    read, unread = {*recipe.results}, set[str]()
    for step in _steps_behind_native_code(recipe):
        if not step.into and (len(step.outs) > 1 or step.size is not None):
            unread |= {*step.outs, *(() if step.size is None else step.size[1:])} - read
        read |= {arg.name for arg in _slots_in(step.args)}
    return unread


def numbers_of(recipe: Recipe) -> dict[str, bool]:
    """The slots that hold a number which a NumPy call gives, and that are read as numbers of one
    kind, and by no native code; whether they are read as Python's.
    """
    read: dict[str, set[str]] = {}
    for leaf in recipe.signature.outputs:
        if isinstance(leaf, ResultLeaf):
            slot, kind = recipe.results[leaf.result], leaf.type
            is_number = isinstance(kind, ScalarType)
            found = ("python" if kind.weak else "scalar") if is_number else "array"
            read.setdefault(slot, set()).add(found)
        elif isinstance(leaf, ViewLeaf) and isinstance(leaf.base, ResultLeaf):
            read.setdefault(recipe.results[leaf.base.result], set()).add("array")
    numbers: dict[str, bool] = {}
    own = {slot.name for slot in recipe.slots if slot.input is None and slot.room is None}
    for step in _steps_behind_native_code(recipe):
        for out in () if step.into else step.outs:
            kinds = read.get(out, set())
            if out in own and len(kinds) == 1 and "array" not in kinds:
                numbers[out] = kinds == {"python"}
        for arg in _slots_in(step.args):
            read.setdefault(arg.name, set()).add("array" if arg.steps else arg.kind)
    return numbers


def _steps_behind_native_code(recipe: Recipe) -> Iterator[NumpyStep]:
    """The last steps, from the end."""
    for step in reversed(recipe.steps):
        if isinstance(step, NativeStep):
            return
        yield step


def _slots_in(arg: object) -> Iterator[SlotArg]:
    if isinstance(arg, SlotArg):
        yield arg
        for step in arg.steps:
            yield from _slots_in(step.args)
    elif isinstance(arg, tuple):
        for each in arg:
            yield from _slots_in(each)
