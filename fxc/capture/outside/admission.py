"""The way of a value into a capture: what the program sees in its place."""

from __future__ import annotations

import copy
import functools
import io
from collections import OrderedDict, defaultdict, deque
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType
from typing import TYPE_CHECKING, Any

import numpy as np

from fxc.ir.error_kinds import ARGUMENT_KIND, CHANGE_OUTSIDE
from fxc.ir.errors import CaptureError
from fxc.ir.later import import_class_later, import_later
from fxc.ir.records import replace
from fxc.ir.types import array_type

from ..guards.facts import array_of_bytes, cell_of, codes_of
from ..guards.program import Source
from ..session.refusing import constants, refusal, refuse
from ..values.above import above
from ..values.objects import (
    has_owner,
    is_by_identity,
    is_namedtuple,
    is_proxy,
    is_python_class,
    keeps_items,
    source_kind,
    stand_in,
)
from ..values.operands import Traced
from ..values.shadows import tuple_class
from .containers import PLAIN, External, ExternalIterator, Held, is_iterator, is_plain
from .functions import is_known_by_code, is_made_anew
from .inputs import EAGER, Route
from .outside import Known, Outside

if TYPE_CHECKING:
    from .dicts import ExternalDict
    from .files import TracedFile
    from .generators import TracedGenerator
else:
    ExternalDict = import_class_later("fxc.capture.outside.dicts", "ExternalDict")
    TracedFile = import_class_later("fxc.capture.outside.files", "TracedFile")
    TracedGenerator = import_class_later("fxc.capture.outside.generators", "TracedGenerator")

_NUMBERS = frozenset({int, float, complex})

# See Note [Rooms with one door].
check_apart = import_later("fxc.capture.outside.generators", "check_apart")
external_list = import_later("fxc.capture.outside.lists", "ExternalList")
external_deque = import_later("fxc.capture.outside.sets", "ExternalDeque")
external_set = import_later("fxc.capture.outside.sets", "ExternalSet")
vector_element = import_later("fxc.capture.arrays.late_elements", "vector_element")


class Admission(Outside):
    """What comes from outside, as it comes in: see ``admit``."""

    # -------------------------------------------------------- the one way in

    def admit(self, value: object, route: Route) -> object:
        kind, source = type(value), route.source
        if issubclass(kind, Traced):
            return value
        if kind in PLAIN:
            return self._plain(value, route)
        if is_proxy(kind):  # all that follows would ask it what it is
            raise refusal(
                ARGUMENT_KIND,
                f"{source.text} is a {kind.__name__}, which stands for another object",
            )
        if isinstance(value, np.str_) and not value.endswith("\0"):
            return self._text_of_numpy(value, route)
        if isinstance(value, np.generic):
            return self._numpy_scalar(value, route)
        known = self.known.get(id(value))
        if known is not None:
            self.guards.check(
                f"{source.var} is {known.source.var}", f"{source.text} is {known.source.text}"
            )
            return known.seen
        try:
            seen = self._admit_new(value, kind, route)
        except CaptureError:
            self.refuses_data = True
            raise
        if id(value) not in self.known:
            self.remember(Known(value, seen, source, False))
        return seen

    def _admit_new(self, value: Any, kind: type, route: Route) -> object:
        source = route.source
        if kind is np.ndarray:
            return self._array(value, route)
        if kind is np.memmap and self.derives:
            return self._memmap(value, route)
        if isinstance(value, np.ndarray):
            known = above().class_relied_on(self.guards, source, value) if self.derives else None
            if known is not None:
                return self._of_subclass(value, known, route)
            advice = "; pass np.asarray of it" if kind is np.memmap else ""
            raise refusal(
                ARGUMENT_KIND,
                f"{source.text} is a {kind.__name__}, a subclass of arrays, {EAGER}{advice}",
            )
        if isinstance(value, np.dtype):
            # The fields of a dtype can get other names, those of a copy do not.
            self.guards.check_value(source, value if value.names is None else copy.copy(value))
            return value
        if kind is tuple or is_namedtuple(kind):
            return self._tuple(value, kind, route)
        if kind is frozenset:
            return self._frozenset(value, source)
        if kind is slice:
            return self._slice(value, route)
        if kind in _CONTAINERS:
            return self._container(value, _CONTAINERS[kind], route)
        if keeps_items(kind) and value.__dict__ is not value:
            self.guards.check(f"{source.var}.__dict__ is not {source.var}", source.text)
            return self._container(value, ExternalDict, route)
        if kind is MethodType:
            return self._method(value, route)
        if kind is functools.partial:
            return self._partial(value, route)
        if kind in (BuiltinFunctionType, MethodWrapperType) and has_owner(value):
            return self._builtin_method(value, route)
        if source_kind(value) is not None:
            self._check_type(source, kind)
            return TracedGenerator(value, source, self)
        if kind is FunctionType and is_made_anew(value):
            return self._function(value, route)
        if isinstance(value, io.IOBase):
            self._check_type(source, kind)
            return TracedFile(value, source, self.session.door)
        if is_iterator(kind) and not is_python_class(kind):
            return self._container(value, ExternalIterator, route)
        return self._object(value, kind, source)

    def _plain(self, value: Any, route: Route) -> Any:
        kind, source, argument = type(value), route.source, route.argument
        if kind is bytes or (kind is str and argument):
            return self._text(value, source, self._label(route.name))
        if kind not in _NUMBERS:
            self.guards.check_value(source, value)
            return value
        label = self._label(route.name)
        varies = route.varies or label in self.varying
        if (argument or varies) and not self.is_constant(label):
            if kind is not int:
                return self._scalar(value, source, label)
            if varies or value not in (-1, 0):
                return self._int(value, source, label, varies, route.container)
        self._constants.add(label)
        if kind is int and argument:
            label = "" if self.is_constant(label) else route.container
        self.guards.check_value(source, value, label)
        return value

    def _text(self, value: str | bytes, source: Source, label: str) -> object:
        """A text or bytes; what has changed as an array. See Note [Texts of the graph]."""
        if label not in self.varying or self.is_constant(label) or self.dynamic is False:
            self._constants.add(label)
            self._texts[id(value)] = label
            self.guards.check_value(source, value, label)
            return value
        self.texts |= constants((label,))
        self.session.retries |= self.texts
        seen = self._array_of_text(value, source, label)
        self.given[id(seen)] = seen, source.var
        return seen

    def _array_of_text(self, value: str | bytes, source: Source, label: str) -> object:
        self._check_type(source, type(value))
        makes = "codes_of" if isinstance(value, str) else "array_of_bytes"
        made = self.guards.fetch(f"{makes}({source.var})", source.text)
        codes = codes_of(value) if isinstance(value, str) else array_of_bytes(value)
        array: Any = self.array_of_list(codes, made, label)
        array._value.type = replace(array._value.type, writeable=False)
        return (above().text_of if isinstance(value, str) else above().bytes_of)(array)

    def _text_of_numpy(self, value: np.str_, route: Route) -> object:
        """An ``np.str_`` as the element of a vector that the guard program makes."""
        source, cell = route.source, cell_of(value)
        self._check_type(source, np.str_)
        self.guards.check(f"{source.var}[-1:] != '\\0'", f"{source.text} ends with no NUL")
        makes = self.guards.constant(cell_of, "cell_of")
        made = self.guards.fetch(f"{makes}({source.var})", source.text)
        dtype = self.guards.constant(cell.dtype)
        self.guards.check(f"{made.var}.dtype == {dtype}", f"{source.text} has about this length")
        given = self.add_input(array_type(cell.dtype, (1,)), made, self._label(route.name))
        self.arrays[given] = cell
        seen = vector_element(given)
        self.given[id(seen)] = seen, source.var
        return seen

    # -------------------------------------------------------- containers

    def _container(self, value: object, made: Any, route: Route) -> object:
        """A list, dict or set, read and guarded as far as the program looks."""
        self._check_type(route.source, type(value))
        seen = made(Held(self, value, route.source, route.name, route.argument))
        self.remember(Known(value, seen, route.source, False))
        return seen

    def _tuple(self, value: tuple[Any, ...], kind: type, route: Route) -> object:
        source, name, argument = route.source, route.name, route.argument
        if kind is not tuple and getattr(value, "__dict__", None):
            raise refusal(
                ARGUMENT_KIND, f"{source.text} is a named tuple with other attributes, {EAGER}"
            )
        type_name, seen_kind = self.guards.constant(kind), tuple_class(kind)
        is_constant = not argument and seen_kind is kind and is_plain(value)
        if is_constant and name not in self.varying:
            self._constants.add(name)
            self.guards.check(
                f"type({source.var}) is {type_name} and "
                f"same_items({source.var}, {self.guards.constant(tuple(value))})",
                f"{source.text} holds the same values",
                name,
            )
            return value
        self.guards.check(
            f"type({source.var}) is {type_name} and len({source.var}) == {len(value)}",
            f"{source.text} is a {kind.__name__} of {len(value)}",
        )
        items = []
        varies = name in self.varying
        for place, item in enumerate(value):
            part = self.guards.fetch(f"{source.var}[{place}]", f"{source.text}[{place}]")
            items.append(self.admit(item, Route(part, f"{name}_{place}", argument, varies, name)))
        return tuple.__new__(seen_kind, items)

    def _slice(self, value: slice, route: Route) -> object:
        source = route.source
        self.guards.check(f"type({source.var}) is slice", f"{source.text} is a slice")
        return slice(*(self._part(value, part, route) for part in ("start", "stop", "step")))

    def _frozenset(self, value: frozenset[object], source: Source) -> object:
        """A set of plain values, or of classes of C; the order counts, too."""
        if not all(is_plain((x,)) or _is_class_of_c(x) for x in value):
            raise refusal(ARGUMENT_KIND, f"{source.text} holds objects, {EAGER}")
        items = self.guards.constant(tuple(value))
        self.guards.check(
            f"type({source.var}) is frozenset and same_items(tuple({source.var}), {items})",
            f"{source.text} holds the same values",
        )
        return value

    # -------------------------------------------------------- objects

    def _object(self, value: object, kind: type, source: Source) -> object:
        if is_by_identity(value):
            self.session.door.check_methods(kind)
            self.guards.check_identity(source, value)
            self.remember(Known(value, value, source, True, is_fixed=True))
            return value
        seen = stand_in(kind)
        self._check_type(source, kind)
        self.remember(Known(value, seen, source, True))
        return seen

    def _function(self, value: FunctionType, route: Route) -> FunctionType:
        """A function that was made in another one: see Note [Functions made anew]."""
        source, label = route.source, self._label(route.name)
        is_fixed = label not in self.varying or not is_known_by_code(value)
        if is_fixed:
            self.guards.check_identity(source, value, label)
        seen = value if is_fixed else self.functions.copied(value, source)
        self.remember(Known(value, seen, source, True, is_fixed=is_fixed))
        return seen

    def _method(self, value: MethodType, route: Route) -> object:
        source, route = route.source, replace(route, argument=False)
        self.guards.check(f"type({source.var}) is {self.guards.constant(MethodType)}", source.text)
        if source_kind(value.__self__) is not None:
            name = value.__name__
            self.guards.check(f"{source.var}.__name__ == {name!r}", f"{source.text} is {name}")
            return getattr(self._part(value, "__self__", replace(route, name=name)), name)
        seen = MethodType(*(self._part(value, part, route) for part in ("__func__", "__self__")))
        self.given[id(seen)] = seen, source.var
        return seen

    def _builtin_method(self, value: Any, route: Route) -> object:
        """``log.append`` or ``shape.__setattr__``, say: of what the program sees for the owner."""
        source, name = route.source, value.__name__
        self.guards.check(
            f"type({source.var}) is {self.guards.constant(type(value))} and "
            f"{source.var}.__name__ == {name!r}",
            f"{source.text} is a method {name}",
        )
        owner = self._part(value, "__self__", replace(route, argument=False))
        if isinstance(value, MethodWrapperType):
            kind = value.__objclass__
            self.guards.check(
                f"{source.var}.__objclass__ is {self.guards.constant(kind)}",
                f"{source.text} is a method of {kind.__name__}",
            )
            if isinstance(owner, kind) and not isinstance(owner, External):
                return vars(kind)[name].__get__(owner)
        return owner.attribute(name) if isinstance(owner, External) else getattr(owner, name)

    def _partial(self, value: object, route: Route) -> object:
        self._check_type(route.source, functools.partial)
        parts = (self._part(value, part, route) for part in ("func", "args", "keywords"))
        func, args, keywords = parts
        made = functools.partial(func, *args, **keywords)
        self.remember(Known(value, made, route.source, True))  # it may have attributes besides
        return made

    def _part(self, owner: object, part: str, route: Route) -> Any:
        """What the program sees for an attribute of what comes in by this route."""
        source, name = route.source, f"{route.name}.{part.strip('_')}"
        fetched = self.guards.fetch(f"{source.var}.{part}", f"{source.text}.{part}")
        return self.admit(getattr(owner, part), Route(fetched, name, route.argument))

    # -------------------------------------------------------- at the end

    def guard_identities(self) -> None:
        """Rely on containers and objects that are distinct now being so in each call."""
        kinds: dict[type, list[Source]] = {}
        for known in self.shown.values():
            if isinstance(known.seen, External) or (known.is_object and not known.is_fixed):
                kinds.setdefault(type(known.object), []).append(known.source)
        for kind, sources in kinds.items():
            if len(sources) > 1:
                variables = ", ".join(source.var for source in sources)
                self.guards.check(f"distinct({variables})", f"each {kind.__name__} is another one")
        if len(self.drawn) > 1:
            check_apart(self.drawn.values())
            states = ", ".join(each._expression for each in self.drawn.values())
            self.guards.check(f"distinct({states})", "each random generator is another one")
        if self.effects.entries:
            self._guard_namespaces()

    def _guard_namespaces(self) -> None:
        """Rely on no dict being the namespace of an object, where one of them is changed."""
        changed = {effect.owner.var for effect in self.effects.entries}
        dicts = [known for known in self.known.values() if isinstance(known.seen, ExternalDict)]
        spaces = [
            (f"{known.source.var}.__dict__", known.source.var, vars(known.object))
            for known in self.known.values()
            if (known.is_object or isinstance(known.seen, External))
            and hasattr(known.object, "__dict__")
        ]
        spaces += [
            (var, var, value) for var, value in self.guards.constants.items() if type(value) is dict
        ]
        for known in dicts:
            var = known.source.var
            for space, owner, value in spaces:
                if owner == var or not {owner, var} & changed:
                    continue
                if value is known.object:
                    raise refuse(
                        CHANGE_OUTSIDE,
                        f"a store to {known.source.text}, which is the namespace of an object,",
                    )
                self.guards.check(f"{space} is not {var}", f"{known.source.text} is no namespace")


_CONTAINERS: dict[type, Any] = {
    list: external_list,
    dict: ExternalDict,
    OrderedDict: ExternalDict,
    defaultdict: ExternalDict,
    set: external_set,
    deque: external_deque,
}


def _is_class_of_c(x: object) -> bool:
    """Whether it is a class that no stand-in has in its place."""
    return isinstance(x, type) and not x.__flags__ & _MADE_AT_RUN_TIME


_MADE_AT_RUN_TIME = 1 << 9  # Py_TPFLAGS_HEAPTYPE
