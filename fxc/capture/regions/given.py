"""Arrays that a list of counted length has taken over.

A list of the graph holds copies: where Python's list has the array itself, nobody may be able to
tell. See Note [Given arrays].
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from fxc.ir.error_kinds import COUNTED_LIST
from fxc.ir.graph import Value
from fxc.ir.types import ArrayType
from fxc.ops.metas.layout import is_c_ordered

from ..forms.options import arrays_of
from ..session.recorder import options_of
from ..session.refusing import VIEWS_BY_PYTHON, refuse
from ..session.session import Session, current

# Note [Given arrays]
# What ``found.append(x.copy())`` appends is stored as a row of the list's array, and an item that
# is read is a copy of its row. Python has one object in all these places. So an array that is
# appended must have been made since the innermost loop began, be no view, and no longer change:
# from there on nobody writes to it (``Aliases.given``), nor to an item that has been read, hands it
# on out of a branch, asks whether it is another one, or returns it beside the list.
# A variable that a loop carries may be appended before an iteration assigns it anew.
# The items that a list begins with may be the caller's arrays: nobody writes to them from there on
# (``Aliases.lent``), and a list that is returned begins with these arrays themselves.
# So may a view be that is appended (``rows.append(m[i])``): nobody writes to the array that it
# shows, and neither the list nor an item that has been read of it is returned (a new array that
# was appended is: ``Aliases.own``). Likewise of an array from before the loop, of one array or
# another (``if f(y) < f(x): x = y``, ``path.append(x)``), of a new one that a branch hands on, of
# one that is appended twice, or is an item of a list (``path.append(stack[-1])``). What branches
# and loops make of such an array may be its memory, and is lent, too: so is the variable of a loop
# that is one after an iteration (``Carried.lends``).
# The arrays in a part of a list, in a sorted one or in a sum, are given to the list that it is made
# of, its ``keeper``: so one of the two is returned, and its items are not told apart from the
# other's. Lists that have one array have one keeper.


def give(session: Session, items: object, value: Value) -> None:
    """Note that a list holds an array, or that an array is one of its items."""
    session.aliases.given[value] = items


def lend(session: Session, value: Value) -> bool:
    """Have a list begin with an array of the caller's; whether it is one."""
    root = session.aliases.root(value)
    if root not in session.aliases.input_arrays or session.in_loop(0):
        return False
    _check_layout(session, value)
    session.aliases.lent.add(root)
    return True


def is_lent(value: Value) -> bool:
    """Whether this is an array of the caller's that a list has."""
    aliases = current().aliases
    return aliases.root(value) in aliases.lent


def _take_from_before(session: Session, items: object, value: Value) -> bool:
    """Have a list take over what a variable of the innermost loop is before an iteration: what the
    one before has made, or the array before the loop. Whether it is such a variable.
    """
    loops = (each for each in reversed(session.statements) if hasattr(each, "start_of"))
    loop = next(loops, None)
    if loop is None or loop.recording is None or session.in_loop(loop.recording.number):
        return False
    start = loop.start_of(value)
    if start is None:
        return False
    aliases, root = session.aliases, session.aliases.root(start)
    began = next(each.began for each in session.regions if each.kind == "loop")
    twins = (each for each in aliases.twins.get(root, ()) if each is not value)
    if aliases.changed.get(root, -1) >= began or any(map(session.is_alive, twins)):
        return False
    if aliases.given.get(root, items) is not items:
        return False
    if root in aliases.input_arrays:
        aliases.lent.add(root)
        items.borrow(())
    elif start is root and start in session.made and start not in session.alternatives:
        give(session, items, start)
    else:
        return False
    return True


def _share(session: Session, items: Any, value: Value) -> None:
    """Have a list hold an array that is in a list. The lists are not returned."""
    if VIEWS_BY_PYTHON in session.requests or items.leaves:
        raise refuse_twice()
    aliases = session.aliases
    aliases.has_lent_views = True
    other = aliases.given[value]
    other.borrow(())
    items.share(other)


def _borrow(session: Session, items: object, value: Value) -> bool:
    """Have a list hold a view, or an array from before the loop, if nobody has written to what it
    shows since the loops began that the list outlives; whether that is so. The list is not
    returned.
    """
    aliases, root = session.aliases, session.aliases.root(value)
    is_known = _is_made(session, value) or value in aliases.input_arrays
    if not is_known or not session.alternatives.keys().isdisjoint((value, root)):
        return False
    if VIEWS_BY_PYTHON in session.requests or not _rests(session, items, root):
        return False
    _hold(session, items, {root})
    return True


def _borrow_one_of(session: Session, items: object, value: Value) -> bool:
    """Likewise of what is one array or another: ``if f(y) < f(x): x = y``, ``path.append(x)``."""
    roots = session.aliases.roots(value)
    if value not in session.alternatives or VIEWS_BY_PYTHON in session.requests:
        return False
    if not all(_rests(session, items, root) for root in roots):
        return False
    _hold(session, items, roots)
    return True


def _hold(session: Session, items: Any, roots: Collection[Value]) -> None:
    """Note that a list shows memory that others have, too."""
    session.aliases.lent.update(roots)
    session.aliases.has_lent_views = True
    items.borrow(())


def _rests(session: Session, items: Any, root: Value) -> bool:
    """Whether nobody has written to an array since the loops began that the list outlives, if it
    was made before.
    """
    aliases = session.aliases
    for each in (root, *aliases.twins.get(root, ())):
        home = max(items.home, session.made_in(each))
        loops = (x for x in session.regions if x.kind == "loop" and x.number > home)
        if any(aliases.changed.get(each, -1) >= x.began for x in loops):
            return False
    return True


def take_over(session: Session, items: Any, value: Value) -> None:
    """Have a list hold an array, or refuse it."""
    aliases, options = session.aliases, options_of(session, value)
    own = [each for each in options if each not in aliases.given]
    for each in options:
        if each in aliases.given and not _has_other_arm(session, items, each):
            _share(session, items, each)
    is_new = all(_is_new(session, each) for each in options)
    may_be_older = not items.leaves
    is_taken = is_new or (may_be_older and _take_from_before(session, items, value))
    is_shown = is_taken or (
        may_be_older and (_borrow(session, items, value) or _borrow_one_of(session, items, value))
    )
    if not is_shown:
        raise refuse(
            COUNTED_LIST,
            "an array that is no new one, in a list whose length depends on data,",
            "append a copy",
        )
    kind = value.type
    assert isinstance(kind, ArrayType)
    if not kind.writeable:
        raise refuse(COUNTED_LIST, "a read-only array in a list whose length depends on data")
    _check_layout(session, value)
    for each in options if is_taken else ():
        give(session, items.keeper, each)
        if is_new:
            aliases.appended.setdefault(each, []).append(tuple(session.regions))
    if is_new:
        aliases.own.update(own)


def _is_new(session: Session, value: Value) -> bool:
    """Whether an array has been made since the innermost loop began, and is no view."""
    if value in session.aliases.bases or not _is_made(session, value):
        return False
    return not session.in_loop(session.made_in(value))


def _has_other_arm(session: Session, items: Any, value: Value) -> bool:
    """Whether a list has taken over a new array in the other arms of branches alone."""
    aliases = session.aliases
    where = aliases.appended.get(value, ())
    is_its = aliases.given[value].keeper is items.keeper
    return is_its and bool(where) and all(map(session.is_other_arm, where))


def _is_made(session: Session, value: Value) -> bool:
    """Whether an operator has made an array, or each arm of a branch one of its own."""
    aliases = session.aliases
    is_joined = value in aliases.joined and value not in aliases.twins
    return value in session.made or (is_joined and not aliases.is_lent(value))


def _check_layout(session: Session, value: Value) -> None:
    kind = value.type
    assert isinstance(kind, ArrayType)
    if not kind.rank or not is_c_ordered(kind):
        raise refuse(
            COUNTED_LIST,
            "an array that is not in C order, or has no axis, in a list whose length depends on "
            "data,",
            "append a copy",
        )
    if any(map(session.varies, kind.shape)):
        raise refuse(
            COUNTED_LIST, "arrays of sizes that vary, in a list whose length depends on data,"
        )


def check_kept(session: Session, region: int, variables: Iterable[object]) -> None:
    """Have a list no more than show a new array that variables hand on out of this region: it is
    not returned. Refuse to hand on what has been read of a list.
    """
    given = session.aliases.given
    for x in variables:
        if type(x) is tuple:
            check_kept(session, region, x)
        for root in {root for value in arrays_of(x) for root in session.aliases.roots(value)}:
            if root in given and session.made_in(root) >= region:
                is_new = root in session.aliases.appended and not given[root].leaves
                if VIEWS_BY_PYTHON in session.requests or not is_new:
                    raise refuse_kept()
                session.aliases.kept.append(given[root])
                _hold(session, given.pop(root), {root})


def hand_on(session: Session, given: Iterable[object], found: object) -> None:
    """Note that what is one of some things may be an array of a list that is among them."""
    aliases = session.aliases
    roots = {root for x in given for value in arrays_of(x) for root in aliases.roots(value)}
    if any(map(aliases.is_lent, roots)):
        aliases.lent.update(root for value in arrays_of(found) for root in aliases.roots(value))
    lists = [aliases.given[root] for root in roots if root in aliases.given]
    for other in lists[1:]:
        lists[0].share(other)
    for value in arrays_of(found) if lists else ():
        for each in {value, *options_of(session, value)} - roots:
            give(session, lists[0], each)


def refuse_twice() -> Exception:
    """The refusal to have one array at two places."""
    return refuse(COUNTED_LIST, "one array at two places of such lists", "append a copy")


def refuse_kept() -> Exception:
    """The refusal to hand on what a list has taken over."""
    return refuse(
        COUNTED_LIST,
        "an array that is in a list whose length depends on data, and is kept by a branch or a "
        "loop,",
        "append or keep a copy",
    )
