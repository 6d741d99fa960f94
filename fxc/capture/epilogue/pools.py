"""The statements by which an epilogue makes the records, or the lists, of a pool.

See Note [Records] and Note [Pools of lists].
"""

from __future__ import annotations

from typing import Any

from ..forms.form import Items
from ..lists.list_pools import ListPool
from ..lists.records import Pool, Record
from ..values.operands import wrap


def make_records(builder: Any, name: str, pool: Pool) -> None:
    """Make the records of a pool, with what they hold."""
    table, known = pool.table, _known_records(builder, pool)
    if known is not None:
        builder._lines.append(f"{name} = {known}")
        return
    if table.items is not None:
        table.make_room((), 0, None)
    form, arrays, count = table.contents()
    assert isinstance(form, Items)
    end = builder._place(count)
    names = iter([f"{builder.leaf(wrap(array))}[:{end}]" for array in arrays])
    builder._lines.append(f"{name} = {builder._listed(pool.form_of_fields(form), names)}")
    builder._outside.session.aliases.returned.append(table)
    for number, key, x in pool.of_callers():
        record = f"{name}[{number}]"
        held = record if pool.label.kind is dict else f"vars({record})"
        builder._lines.append(f"{held}[{key!r}] = {builder._place(x)}")
    for held, other in pool.links(form):
        linked = f"{builder._pool(other)}[{held}] if type({held}) is int else {held}"
        builder._lines.append(f"for x in {name}: {held} = {linked}")


def _known_records(builder: Any, pool: Pool) -> str | None:
    """The same of records whose fields Python knows, if none of them is a record."""
    items = pool.table.items
    if items is None or any(isinstance(x, Record) for fields in items for x in fields):
        return None
    keys = [repr(key) for key in pool.label.keys]
    of_class = "" if pool.label.kind is dict else f"rebuild({builder._constant(pool.label.kind)}, "
    made = []
    for fields in items:
        held = ", ".join(map(": ".join, zip(keys, map(builder._place, fields), strict=True)))
        made.append(f"{of_class}{{{held}}}{')' if of_class else ''}")
    return f"[{', '.join(made)}]"


def make_lists(builder: Any, name: str, pool: ListPool) -> None:
    """Make the lists of a pool; they are there before their items."""
    pool.check_ours("a result that is a part")
    heads, arena = pool.heads, pool.arena
    arena.check_owned()
    if heads.items is not None:
        heads.make_room((), 0, None)
    _, (begins, counts, _), number = heads.contents()
    end = builder._place(number)
    of_lists = [f"{builder.leaf(wrap(each))}[:{end}]" for each in (begins, counts)]
    builder._lines.append(f"{name} = [[] for _ in range({end})]")
    if arena.form is not None:
        builder._lines.append(f"{name}i = arena_places({', '.join(of_lists)})")
        names = iter([f"{builder.leaf(wrap(each))}[{name}i]" for each in arena.room.arrays])
        made = builder._listed(arena.form, names)
        builder._lines.append(f"share_out({name}, {of_lists[1]}, {made})")
    builder._outside.session.aliases.returned += [heads, arena]
