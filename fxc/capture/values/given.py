"""Arrays that a list of counted length has taken over.

A list of the graph holds copies: where Python's list has the array itself, nobody may be able to
tell. See Note [Given arrays].
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fxc.ir.graph import Value
from fxc.ir.types import ArrayType
from fxc.ops.metas.layout import is_c_ordered

from ..session import Session, refuse
from .several import arrays_of

# Note [Given arrays]
# What ``found.append(x.copy())`` appends is stored as a row of the list's array, and an item that
# is read is a copy of its row. Python has one object in all these places. So an array that is
# appended must have been made since the innermost loop began, be no view, and no longer change:
# from there on nobody writes to it (``Aliases.given``), nor to an item that has been read, hands it
# on out of a branch, asks whether it is another one, or returns it beside the list.
# The items that a list begins with may be the caller's arrays: nobody writes to them from there on
# (``Aliases.lent``), and a list that is returned begins with these arrays themselves.


def give(session: Session, items: Any, value: Value) -> None:
    """Note that a list holds an array, or that an array is one of its items."""
    session.aliases.given[value] = items


def lend(session: Session, items: Any, value: Value) -> bool:
    """Have a list begin with an array of the caller's; whether it is one."""
    root = session.aliases.root(value)
    if root not in session.aliases.input_arrays or session.in_loop(0):
        return False
    _check_layout(session, value)
    session.aliases.lent.add(root)
    session.aliases.borrowers.append(items)
    return True


def check_gift(session: Session, value: Value) -> None:
    """Refuse an array that a list cannot take over."""
    made = value in session.made and value not in session.aliases.bases
    if not made or value in session.alternatives or session.in_loop(session.made_in(value)):
        raise refuse(
            "an array that is no new one, in a list whose length depends on data, cannot be "
            "captured; append a copy"
        )
    if value in session.aliases.given:
        raise refuse("one array at two places of such lists cannot be captured; append a copy")
    kind = value.type
    assert isinstance(kind, ArrayType)
    if not kind.writeable:
        raise refuse("a read-only array in a list whose length depends on data cannot be captured")
    _check_layout(session, value)


def _check_layout(session: Session, value: Value) -> None:
    kind = value.type
    assert isinstance(kind, ArrayType)
    if not kind.rank or not is_c_ordered(kind):
        raise refuse(
            "an array that is not in C order, or has no axis, in a list whose length depends on "
            "data, cannot be captured; append a copy"
        )
    if any(map(session.varies, kind.shape)):
        raise refuse(
            "arrays of sizes that vary, in a list whose length depends on data, cannot be captured"
        )


def check_kept(session: Session, region: int, variables: Iterable[Any]) -> None:
    """Refuse variables that hand on what has been given, or read, in this region."""
    for x in variables:
        if type(x) is tuple:
            check_kept(session, region, x)
        for value in arrays_of(x):
            if any(
                root in session.aliases.given and session.made_in(root) >= region
                for root in session.aliases.roots(value)
            ):
                raise refuse_kept()


def refuse_kept() -> Exception:
    """The refusal to hand on what a list has taken over."""
    return refuse(
        "an array that is in a list whose length depends on data, and is kept by a branch or a "
        "loop, cannot be captured; append or keep a copy"
    )
