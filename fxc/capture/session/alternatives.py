"""Arrays that are one array or another, by a condition that is not known.

See Note [Conditional aliases].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from fxc.ir.error_kinds import EITHER_ARRAY
from fxc.ir.graph import Literal, Operand, Region, Value
from fxc.ir.later import import_later
from fxc.ir.types import ArrayType
from fxc.ops.metas.layout import is_c_ordered, is_f_ordered
from fxc.ops.operators import CONTROL, Operator, Tag
from fxc.ops.table import TABLE

from .recorder import Alternative, Recorder, options_of
from .refusing import refuse

# See Note [Rooms with one door].
note_class_of_either = import_later("fxc.capture.session.classes", "note_class_of_either")

# Note [Conditional aliases]
# After ``y = a if c else b``, y is a Value that no node makes: ``Recorder.alternatives`` says which
# condition decides, and between which two arrays. An operator on y is never recorded as such:
#
# - a view of y is one of a or one of b, which are recorded both;
# - a write through y becomes a ``cond`` with the write to a in one arm, to b in the other;
# - what y holds is read by ``where``, or by a ``cond`` with the operator in both arms, if the
#   operator does not read all of y or the layout of y would not be that of what ``where`` gives.
#
# So the graph has no notion of such arrays. The epilogue chooses the object to return. The two have
# the same type, layout included. If one was made in an arm of a branch, it is a result of the
# ``cond``, with a placeholder in the other arm. What an array is behind a loop that may have had no
# iteration is such an array if it, or what it was before, is written there (``BEHIND_LOOPS``).


def either(session: Recorder, test: Operand, left: Value, right: Value) -> Value:
    """The array that is ``left`` if ``test`` holds, else ``right``; they are of the same type."""
    if isinstance(test, Literal):
        return left if test.value else right
    options = options_of(session, left)
    if len(options) == 1 and left not in options_of(session, right):
        found = session.builder.value(left.type)
        session.alternatives[found] = Alternative(test, left, right)
        session.made_here([found])
        if session.classes:
            note_class_of_either(session, found, left, right)
        return found
    options = tuple(dict.fromkeys((*options, *options_of(session, right))))
    return one_of(
        session,
        [
            _combined(
                session, test, is_option(session, left, each), is_option(session, right, each)
            )
            for each in options[:-1]
        ],
        options,
    )


def one_of(session: Recorder, flags: Sequence[Operand], options: Sequence[Value]) -> Value:
    """The array among ``options`` whose flag holds; the last one if none does."""
    found = options[-1]
    for flag, option in reversed(list(zip(flags, options, strict=False))):
        if isinstance(flag, Literal):
            found = option if flag.value else found
        else:
            found = either(session, flag, option, found)
    return found


def may_be_any(session: Recorder, view: Value, others: Iterable[Value]) -> None:
    """Note that a view that a branch or a loop leaves may be one of these, the same object."""
    session.view_sources[view] = frozenset((view,)).union(*(_sources(session, x) for x in others))


def may_be_same(session: Recorder, left: Value, right: Value) -> bool:
    """Whether two views may be one object by what ``may_be_any`` has noted."""
    sources = session.view_sources
    if left not in sources and right not in sources:
        return False
    return not _sources(session, left).isdisjoint(_sources(session, right))


def _sources(session: Recorder, view: Value) -> frozenset[Value]:
    return session.view_sources.get(view) or frozenset((view,))


def is_option(session: Recorder, value: Value, option: Value) -> Operand:
    """Whether ``value`` is this array, as NumPy's bool."""
    found = session.alternatives.get(value)
    if found is None:
        return Literal(np.bool_(value is option))
    sides = (is_option(session, each, option) for each in (found.left, found.right))
    return _combined(session, found.test, *sides)


def _combined(session: Recorder, test: Value, left: Operand, right: Operand) -> Operand:
    """``left if test else right``, of bools."""
    if left == right:
        return left
    terms = [
        _both(session, test, left),
        _both(session, session.record("logical_not", test), right),
    ]
    known = [term for term in terms if isinstance(term, Literal)]
    found: Operand = terms[0] if terms[1] in known else terms[1]
    if not known:
        found = session.record("logical_or", *terms)
    return found


def _both(session: Recorder, test: Value, flag: Operand) -> Operand:
    """``test and flag``."""
    if isinstance(flag, Literal):
        return test if flag.value else flag
    return session.value("logical_and", test, flag)


def content_of(session: Recorder, value: Value) -> Value:
    """What ``value``, one array or another, holds: in an array of its own."""
    found, kind = session.alternatives.get(value), value.type
    held: Value
    if found is not None and isinstance(kind, ArrayType) and is_plain(kind):
        held = session.record("where", found.test, found.left, found.right)
    else:
        held = session.record("copy", value, order="K")
    return held


def is_plain(kind: ArrayType) -> bool:
    """Whether the result of an elementwise operator on an array has the array's own layout."""
    return kind.rank < 2 or is_c_ordered(kind) or is_f_ordered(kind)


def first_of(session: Recorder, args: Iterable[object]) -> Value | None:
    """The first argument that is one array or another."""
    return next((value for value in _values(args) if value in session.alternatives), None)


def _values(args: Iterable[object]) -> Iterator[Value]:
    for arg in args:
        if type(arg) is Value:
            yield arg
        elif type(arg) is tuple:
            yield from _values(arg)


def record_either(
    session: Recorder, value: Value, name: str, args: tuple[object, ...], kwargs: dict[str, object]
) -> object:
    """Record an operator one of whose arguments is ``value``, which is one array or another."""
    op, found = TABLE[name], session.alternatives[value]

    def recorded(array: Value) -> Any:
        named = zip(kwargs, _replaced(tuple(kwargs.values()), value, array), strict=True)
        return session.record(name, *_replaced(args, value, array), **dict(named))

    if op.schema.is_view:
        return either(session, found.test, recorded(found.left), recorded(found.right))
    if _is_read_whole(session, op, value, args, kwargs):
        return recorded(content_of(session, value))
    arms: list[Region] = []
    results: Any = None
    for array in (found.left, found.right):
        session.enter_region("arm", session.now)
        session.builder.open()
        results = recorded(array)
        given = () if results is None else results if type(results) is tuple else (results,)
        arms.append(Region((), session.builder.close(), given))
        session.leave_region()
    dtypes = [[each.type.dtype for each in arm.results] for arm in arms]
    if dtypes[0] != dtypes[1]:
        raise refuse(
            EITHER_ARRAY,
            f"{name} of an array that is one of two by the iterations of a loop, of "
            f"{dtypes[0][0]} in one case and of {dtypes[1][0]} in the other,",
            "use one dtype",
        )
    made = session.record("cond", found.test, (), on_true=arms[0], on_false=arms[1])
    return None if results is None else made if type(results) is tuple else made[0]


def _is_read_whole(
    session: Recorder,
    op: Operator,
    value: Value,
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> bool:
    """Whether an operator is to be given what ``value`` holds, in an array of its own."""
    written = [
        args[place] if place < len(args) else kwargs.get(param)
        for param, place in op.schema.index_of.items()
        if place in op.schema.written_params
    ]
    kind = value.type
    assert isinstance(kind, ArrayType)
    if value in written:
        return False
    if op.tag in CONTROL or kind.rank == 0:
        return True
    others = (each for each in _values((*args, *kwargs.values())) if each is not value)
    reads_all = TABLE[op.group].tag in (Tag.POINTWISE, Tag.JOIN) or op.group in ("copy", "copy_")
    # Arms for each of several such arrays would be as many as the products of their options.
    return (reads_all or any(each in session.alternatives for each in others)) and is_plain(kind)


def _replaced(args: tuple[object, ...], old: Value, new: Value) -> tuple[Any, ...]:
    return tuple(
        new if arg is old else _replaced(arg, old, new) if type(arg) is tuple else arg
        for arg in args
    )
