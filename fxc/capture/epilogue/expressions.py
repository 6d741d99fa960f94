"""The expressions by which an epilogue makes what leaves the function."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from types import MethodType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from fxc.ir.error_kinds import ITERATOR, KEYS_OF_DATA, NO_RESULT
from fxc.ir.errors import CaptureError
from fxc.ir.graph import Value
from fxc.ir.later import import_class_later, import_later

from ..arrays.array_facts import Flags
from ..outside.containers import is_plain
from ..outside.outside import Outside
from ..session.refusing import refusal, refuse
from ..values.maybe_set import MaybeSet
from ..values.objects import (
    Args,
    Kwargs,
    is_dict_class,
    is_made_by_object,
    is_namedtuple,
    is_python_class,
    slots_of,
    vars_of,
)
from ..values.operands import Traced, TracedValue, has_traced, settled, wrap
from ..values.shadows import class_of
from .parts import ExpressionParts

if TYPE_CHECKING:
    from ..arrays.elements import TracedVoid
    from ..dicts.made_dicts import OpenDict
    from ..dicts.traced_dicts import Keyed, TracedDict
    from ..dicts.traced_sets import TracedSet
    from ..forms.differing import Differing
    from ..forms.form import Form, Items
    from ..forms.mixed import Mixed
    from ..forms.several import Several
    from ..lists.byte_arrays import ByteArray
    from ..lists.byte_strings import Bytes
    from ..lists.counted_tuples import CountedTuple
    from ..lists.list_buffers import Buffer
    from ..lists.list_pools import ListPool, PooledList
    from ..lists.lists_of_lists import ListOfLists, ListRow
    from ..lists.records import Pool, Record
    from ..lists.texts import Char, Text
    from ..outside.files import TracedFile
    from ..outside.generators import TracedGenerator
    from ..regions.counted import Bounded, Counted
    from ..values.late import Late
    from ..values.snapshots import Held
    from .listed import Lists
else:
    OpenDict = import_class_later("fxc.capture.dicts.made_dicts", "OpenDict")
    TracedDict = import_class_later("fxc.capture.dicts.traced_dicts", "TracedDict")
    TracedSet = import_class_later("fxc.capture.dicts.traced_sets", "TracedSet")
    Items = import_class_later("fxc.capture.forms.form", "Items")
    ListPool = import_class_later("fxc.capture.lists.list_pools", "ListPool")
    Record = import_class_later("fxc.capture.lists.records", "Record")
    Bounded = import_class_later("fxc.capture.regions.counted", "Bounded")
    Late = import_class_later("fxc.capture.values.late", "Late")
    Held = import_class_later("fxc.capture.values.snapshots", "Held")
    Lists = import_class_later("fxc.capture.epilogue.listed", "Lists")

# See Note [Rooms with one door].
check_rows = import_later("fxc.capture.epilogue.classed", "check_rows")
make_lists = import_later("fxc.capture.epilogue.pools", "make_lists")
make_records = import_later("fxc.capture.epilogue.pools", "make_records")
bound = import_later("fxc.capture.epilogue.bound", "bound")
classes_in = import_later("fxc.capture.forms.leaving", "classes_in")


class ExpressionBuilder(ExpressionParts):
    """Writes expressions, and the text of the statements that come before one."""

    def __init__(self, outside: Outside) -> None:
        super().__init__(outside)
        self.apart: set[tuple[int, int]] = set()  # leaves of which there is one
        self._open: set[int] = set()
        self._dicts: list[Any] = []  # those that have keys by a condition
        self._sealed: list[tuple[Any, type]] = []  # objects that are joined, of those that leave

    def _place(self, x: object) -> str:
        """The expression for something that leaves the function."""
        if x is None or x is True or x is False:
            return repr(x)
        if id(x) in self._outside.given:
            return self.reference(self._outside.given[id(x)][1])
        kind: Any = type(x)
        if issubclass(kind, Traced) and kind._written_by:
            made: str = getattr(self, kind._written_by)(x)
            return made
        if isinstance(x, Flags):
            return f"{self._place(x._array)}.flags"
        if isinstance(x, Bounded):
            return self._refuse_range(x)
        if isinstance(x, TracedValue):
            return self._of_value(x)
        if not isinstance(x, Traced):
            return self._object(x)
        found = settled(x)
        return self._of_value(found) if isinstance(found, TracedValue) else self.leaf(x)

    def _differing(self, x: Differing) -> str:
        return self._either(*(partial(self._place, each) for each in (x.left, x.flag, x.right)))

    def _several(self, x: Several) -> str:
        *options, (_, last) = x.options
        cases = [f"{self._place(value)} if {self._place(flag)} else " for flag, value in options]
        return f"({''.join(cases)}{self._place(last)})"

    def _mixed(self, x: Mixed) -> str:
        number = self.leaf(x.given)
        python = f"{number}.item()" if x.whole is None else self.leaf(x.whole)
        return f"({number} if {self.leaf(x.flag)} else {python})"

    def _char(self, x: Char) -> str:
        return f"{self._constant(x._of_item)}({self._place(*x._structure_items(x))})"

    def _text(self, x: Text) -> str:
        return f"text_of({self._place(x.codes())})"

    def _bytes(self, x: Bytes) -> str:
        return f"{self._place(x.codes())}.tobytes()"

    def _byte_array(self, x: ByteArray) -> str:
        return self.once(x, lambda: f"bytearray({self._place(x.as_bytes().codes())})")

    def _counted_tuple(self, x: CountedTuple) -> str:
        return self.once(x, lambda: f"tuple({self._place(x.held)})")

    def _late(self, x: Late) -> str:
        return self.once(x, lambda: self._called(x._function, x._args, x._kwargs))

    def _file(self, x: TracedFile) -> str:
        return self.reference(x._source.var)

    def _generator(self, x: TracedGenerator) -> str:
        return x._place(self)

    def _void(self, x: TracedVoid) -> str:
        return self.record(x, lambda: self._place(x._cell))

    def _refuse_range(self, x: Counted | Bounded) -> str:
        raise refuse(ITERATOR, "a range or an iterator as a result", "return a list")

    def _of_value(self, x: TracedValue) -> str:
        if x._later is not None:
            return self.once(x, lambda: self._list_array(x._later.array, x._later.asked))
        return self._traced(x._object)

    def _object(self, x: object) -> str:
        """The expression for an object or a container, from outside or made anew."""
        door = self._outside.session.door
        door.places.check_not_replaced(x)
        door.places.check_returned(x, self._sealed)
        known = self._outside.shown.get(id(x))
        if known is not None and not known.is_fixed:
            return self.reference(known.source.var)
        if id(x) in self._made:
            return self._made[id(x)][0]
        if id(x) in self._open:
            raise refuse(NO_RESULT, "a container that holds itself")
        self._open.add(id(x))
        owner = door.owner_of(x)
        if owner is not None and self._is_made_anew(owner):
            expression: str | None = f"vars({self._place(owner)})"
        else:
            expression = self._container(x, class_of(x))
        self._open.discard(id(x))
        return self.leaf(x) if expression is None else self.once(x, lambda: expression)

    def _keyed(self, x: Keyed) -> str:
        """The expression for a dict or a set of the graph."""
        return self.once(x, lambda: self._keyed_anew(x))

    def _keyed_anew(self, x: Keyed) -> str:
        if isinstance(x, TracedSet):
            x.check_added()
        items = self._buffer(x.table)
        made = f"{{key for key, in {items}}}" if x.of is set else f"dict({items})"
        if isinstance(x, TracedDict) and x.of is defaultdict:
            return f"defaultdict({self._place(x.factory)}, {made})"
        return f"{x.of.__name__}({made})" if x.of in (Counter, OrderedDict) else made

    def _buffer(self, x: Buffer) -> str:
        """The expression for a list of counted length, or one that Python knows."""
        if x.items is not None:
            return self._place(x.items)
        return self.once(x, lambda: self._counted_list(x))

    def _counted_list(self, x: Buffer) -> str:
        form, arrays, count = x.contents()
        first, begin = self._items(x.borrowed), len(x.borrowed)
        part = "" if x.is_exact and not begin else f"[{begin or ''}:{self._place(count)}]"
        names = iter([f"{self.leaf(wrap(array))}{part}" for array in arrays])
        made = self._listed(form, names)
        made = f"[{first}*{made}]" if first else made
        self._outside.session.door.places.check_returned_list(classes_in(form), self._sealed)
        self._outside.session.aliases.returned.append(x)
        return f"deque({made}, {x.maxlen})" if x.of is deque else made

    def _listed(self, form: Form, arrays: Iterator[str]) -> str:
        """The expression for the list of items of a form that stand in arrays of these names."""
        if self._outside.session.classes:
            check_rows(form)
        return Lists(self._constant, self._pool).of(form, arrays)

    def _rows(self, x: ListOfLists) -> str:
        """The expression for a list of lists of numbers that are all of one length."""
        return self.once(x, lambda: self._rows_anew(x))

    def _rows_anew(self, x: ListOfLists) -> str:
        leaves = [self.leaf(wrap(each)) for each in x.arrays]
        made = self._listed(x.form, iter([f"{leaf}.ravel()" for leaf in leaves]))
        return f"rows_of({made}, *{leaves[0]}.shape)"

    def _row(self, x: ListRow) -> str:
        return _part_of(self._place(x.whole), self._place(x.place))

    def _pooled(self, x: Record | PooledList) -> str:
        return _part_of(self._pool(x.pool), self._place(x.number))

    def _pool(self, pool: Pool | ListPool) -> str:
        """The list of all records of a pool, or of all its lists."""
        if id(pool) not in self._made:
            name = f"p{len(self._made)}"
            self._made[id(pool)] = name, pool
            if isinstance(pool, ListPool):
                make_lists(self, name, pool)
            else:
                make_records(self, name, pool)
        return self._made[id(pool)][0]

    def _list_array(self, given: Value, asked: object) -> str:
        """The expression for the array of a list, which may be empty, of the dtype asked."""
        array = self.leaf(wrap(given))
        dtype = "" if asked is None else f", {self._constant(asked)}"
        return f"{array} if len({array}) else empty(0{dtype})"

    def _traced(self, value: Value) -> str:
        """The expression for a traced value: see Note [Conditional aliases]."""
        session = self._outside.session
        replaced = session.aliases.replaced.get(value)
        if replaced is not None:
            session.aliases.told.add(value)
            new, before = self.array(value), self._traced(replaced.right)
            return f"({new} if {self._place(wrap(replaced.test))} else {before})"
        found = session.alternatives.get(value)
        if found is None:
            return self.array(value)
        return self._either(
            partial(self._traced, found.left),
            partial(self._place, wrap(found.test)),
            partial(self._traced, found.right),
        )

    def _either(
        self, left: Callable[[], str], test: Callable[[], str], right: Callable[[], str]
    ) -> str:
        """The expression for one thing or another: nobody gets both."""
        begin, sealed = len(self.leaves), len(self._sealed)
        one = left()
        middle, of_left = len(self.leaves), self._sealed[sealed:]
        del self._sealed[sealed:]
        other = right()
        self._sealed += of_left
        self.apart.update(product(range(begin, middle), range(middle, len(self.leaves))))
        return f"({one} if {test()} else {other})"

    def _container(self, x: Any, kind: type) -> str | None:
        """The expression that makes a container anew; None for what is none."""
        if kind is tuple:
            return f"({self._items(x)})"
        if kind is list:
            return f"[{self._items(x)}]"
        if is_namedtuple(kind):
            if vars_of(x):
                raise refuse(NO_RESULT, f"a {kind.__name__} with other attributes")
            return f"new_tuple({self._constant(kind)}, ({self._items(x)}))"
        if kind is dict:
            return self._dict(x)
        if isinstance(x, OpenDict):
            return self._dict(x.placed())
        if kind is OrderedDict or kind is Counter:
            return f"{kind.__name__}({self._dict(x)})"
        if kind is defaultdict:
            return f"defaultdict({self._place(x.default_factory)}, {self._dict(x)})"
        if kind is deque:
            return f"deque([{self._items(x)}], {x.maxlen})"
        if kind is set and any(map(has_traced, x)):
            raise self._refused(x, "a set of numbers that vary cannot be captured; return a list")
        if kind in (set, frozenset) and not is_plain(x):  # what stands for objects leaves as they
            return f"{kind.__name__}(({self._items(x)}))"
        if kind is SimpleNamespace:
            return f"SimpleNamespace(**{self._dict(vars(x))})"
        if kind in (MethodType, partial, slice, set):
            made: str | None = bound(self, x)
            return made
        if is_dict_class(kind):
            items, held = dict(zip(dict.keys(x), dict.values(x), strict=True)), vars_of(x)
            attributes = "None" if held is x else self._dict(held)
            return f"dict_of({self._constant(kind)}, {self._dict(items)}, {attributes})"
        if self._is_own(x, kind):
            held, slots = dict(vars_of(x)), slots_of(x)
            parts = f"{self._constant(kind)}, {self._dict(held)}"
            return f"rebuild({parts}{f', {self._dict(slots)}' if slots else ''})"
        return None

    def _is_own(self, x: object, kind: type) -> bool:
        """Whether ``x`` is an object that the program made of a class of the user's."""
        return (
            id(x) not in self._outside.shown
            and is_made_by_object(kind)
            and is_python_class(kind)
            and not (hasattr(kind, "__fxc_original__") or kind.__module__.startswith("fxc."))
        )

    def _is_made_anew(self, x: object) -> bool:
        """Whether ``x`` is an object that the epilogue makes, of whatever class."""
        kind = class_of(x)
        return kind is SimpleNamespace or is_dict_class(kind) or self._is_own(x, kind)

    def _items(self, items: Any) -> str:
        return "".join(f"{self._place(item)}, " for item in items)

    def _dict(self, items: dict[Any, Any]) -> str:
        if any(type(value) is MaybeSet for value in items.values()):
            return self._dict_if(items)
        parts = [f"{self._key(key, items)}: {self._place(x)}" for key, x in items.items()]
        return f"{{{', '.join(parts)}}}"

    def _dict_if(self, items: dict[object, object]) -> str:
        """The same of a dict that has some keys by a condition."""
        name = f"d{len(self._dicts)}"
        self._dicts.append(items)
        lines = [f"{name} = {{}}"]
        for key, x in items.items():
            found = x if type(x) is MaybeSet else MaybeSet(None, x)
            stored = f"{name}[{self._key(key, items)}] = {self._place(found.value)}"
            test = "" if found.flag is None else f"if {self._place(found.flag)}: "
            lines.append(f"{test}{stored}")
        self._lines += lines
        return name

    def _key(self, key: object, items: object) -> str:
        if type(key) is str:
            return repr(key)
        if isinstance(key, Late):
            return repr(key._known())
        if isinstance(key, Traced):
            raise self._refused(
                items, "a number that varies cannot be captured as a key; use a constant"
            )
        return self._constant(key) if is_plain((key,)) else self._place(key)

    def _refused(self, items: object, message: str) -> CaptureError:
        """The refusal of a dict or a set, where it was made."""
        return refusal(KEYS_OF_DATA, message, self._outside.session.door.dicts.place_of(items))

    def _called(self, function: object, args: Args, kwargs: Kwargs) -> str:
        parts = [self._part(x) for x in args]
        parts += [f"{name}={self._part(x)}" for name, x in kwargs.items()]
        return f"{self._constant(function)}({', '.join(parts)})"

    def _part(self, x: object) -> str:
        """The expression for a part of a call."""
        if type(x) in (int, str):
            return repr(x)
        if isinstance(x, Held):
            return self._place(x.seen)
        if type(x) is tuple:
            return f"({''.join(f'{self._part(item)}, ' for item in x)})"
        is_ours = type(x).__module__.startswith("fxc.") and not isinstance(x, Traced)
        return self._constant(x) if is_ours or (type(x) is dict and not x) else self._place(x)


def _part_of(whole: str, place: str) -> str:
    """One of some things. Where it is made for a branch that is not taken, there may be none."""
    return f"({whole} or (None,))[{place}]"
