"""Reads from outside of a staged function: names and attributes.

See Note [The call door] and Note [Effects].
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    DynamicClassAttribute,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

from fxc.ir.error_kinds import KEYS_BY_CONDITION, OBJECT

from ..guards.program import Source
from ..guards.words import attribute_of
from ..outside import purity
from ..outside.containers import External, class_seen
from ..outside.inputs import Route
from ..outside.outside import Known, Outside
from ..session.locations import is_users
from ..session.refusing import refusal, refuse
from ..session.session import Session, label_of
from ..values.maybe_set import check_sure, given
from ..values.objects import (
    MISSING,
    class_attribute,
    has_by_class,
    has_own_get,
    has_python_method,
    is_data_descriptor,
    is_property,
    is_slot,
    is_watched,
    vars_of,
)
from ..values.operands import Traced, record_of
from ..values.shadows import class_of, is_compiled, is_shadow, real_class, seen_class
from .creations import Creations
from .imported_later import Differing, Record, WithLength
from .outer import DELETED, Outer, changed_attribute, guard_absent, guard_class_attribute


class Reads:
    """What one capture has read and stored; everything goes through ``Outside.admit``."""

    places: Creations

    # What classes above have of their own.
    call: Callable[..., Any]  # call a function through the door
    staged: Callable[[Any], Any]  # the staged form of a Python function in this capture
    store_attr: Callable[[object, str, object], None]
    store_outer: Callable[..., None]  # assign a variable from outside
    namespace: Callable[[object, Known], Any]  # ``owner.__dict__`` of an object from outside

    def __init__(self, session: Session, outside: Outside) -> None:
        self.session = session
        self.outside = outside
        # What the program sees now, by the owner's id (of its stand-in, of a namespace or a cell)
        # and name.
        self._attributes: dict[tuple[int, str], Any] = {}
        self._names: dict[tuple[int, str], Any] = {}
        # Whether an object has an attribute of its own, where the program has made it so.
        self._present: dict[tuple[int, str], Any] = {}
        self._unordered: set[int] = set()  # objects whose attributes come up in unknown order
        # Objects of whose namespace the program knows, by their ids and those of their namespaces.
        self._opened: set[int] = set()
        self._owners: dict[int, Any] = {}

    # -------------------------------------------------------- names

    def read(self, value: object, expression: str, text: str, name: str = "") -> Any:
        if isinstance(value, Traced):
            return value
        source = self.outside.guards.fetch(expression, text)
        return self.outside.admit(value, Route(source, label_of(name or text)))

    def read_global(self, function: FunctionType, name: str) -> object:
        """A name that is no local of ``function``: a global or Python's own."""
        variable = Outer(function.__globals__, name)
        if self.has_outer(variable) or variable.key in self._names:
            return self.outer_value(variable)
        builtins = getattr(function, "__builtins__")  # noqa: B009
        if name not in builtins:
            raise variable.unset()
        root = self.root_of(variable)
        self.outside.guards.check(f"{name!r} not in {root}", f"{name} is Python's own")
        self.see_outer(variable, builtins[name])
        return builtins[name]

    def read_cell(self, function: FunctionType, name: str) -> object:
        """A variable of an enclosing function of ``function``."""
        return self.outer_value(Outer.free(function, name))

    def root_of(self, variable: Outer) -> str:
        """What the guard program calls the namespace or the cell of a variable."""
        return self.outside.functions.holder(variable.holder, variable.stem)

    def outer_value(self, variable: Outer) -> object:
        """What the program sees of a variable that is there."""
        seen = self._names.get(variable.key, MISSING)
        if seen is MISSING and (value := variable.value()) is not DELETED:
            name, root = variable.label, self.root_of(variable)
            seen = self.read(value, f"{root}{variable.expression}", name, name)
            self.see_outer(variable, seen)
        if seen is MISSING or seen is DELETED:
            raise variable.unset()
        return seen

    def has_outer(self, variable: Outer) -> bool:
        """Whether a variable has a value."""
        return self._names.get(variable.key, variable.value()) is not DELETED

    def see_outer(self, variable: Outer, value: object) -> None:
        """Let the program see a variable, and nobody else."""
        self._names[variable.key] = value

    # -------------------------------------------------------- attributes

    def attr(self, owner: object, name: str) -> Any:
        """``owner.name``."""
        owner = record_of(owner)
        if isinstance(owner, Record):
            return owner.attribute(self, name)
        if isinstance(owner, WithLength) and is_users(sys._getframe(1)):
            owner.check_attribute(name)
        if isinstance(owner, Traced):
            return _traced_attr(owner, name)
        try:
            return self._attr(owner, name)
        except AttributeError:
            for statement in self.session.statements:
                statement.meets_unset(owner, name)
            raise

    def _attr(self, owner: Any, name: str) -> object:
        kind = type(owner)
        if kind is ModuleType:
            return self._module_attr(owner, name)
        if isinstance(owner, External):
            return owner.attribute(name)
        if isinstance(owner, type):
            return self._type_attr(owner, name)
        known = self.outside.object_of(owner)
        if known is not None:
            return self.object_attr(owner, name, known)
        if kind is super:
            return self._super_attr(owner, name)
        return self.own_attr(owner, class_of(owner), name)

    def own_attr(self, owner: object, kind: type, name: str) -> object:
        """An attribute of an object made inside; what its class has is from outside."""
        if name == "__class__":
            return seen_class(kind)
        self.places.check_not_replaced(owner)
        if name == "__dict__":
            self._open(owner)
        found = class_attribute(kind, name)
        plain = found is MISSING or (name in vars_of(owner) and not is_watched(found))
        if plain or kind.__module__ == "builtins" or kind in purity.PURE_CLASSES:
            return given(getattr(owner, name))
        if not hasattr(type(found), "__get__"):
            return self.attr(kind, name)
        if kind.__module__.partition(".")[0] == "numpy":
            return self.call(found.fget, owner) if type(found) is property else getattr(owner, name)
        if isinstance(found, _COMPUTED) or has_own_get(found) or is_compiled(found):
            return self._computed(owner, name, kind, found)
        return given(getattr(owner, name))

    def _open(self, owner: object) -> None:
        """Note that the program has the namespace of an object, and sees which names are there."""
        check_sure(vars_of(owner).values())
        if any(each.may_give(owner) for each in self.session.statements):
            raise refuse(
                KEYS_BY_CONDITION,
                "the __dict__ of an object, in a branch or loop that gives it new attributes,",
                "give them values before",
            )
        self._opened.add(id(owner))
        self._owners[id(vars_of(owner))] = owner

    def owner_of(self, x: object) -> object:
        """The object of which a dict is the namespace, as far as the program knows; or None."""
        owner = self._owners.get(id(x))
        return owner if type(x) is dict and vars_of(owner) is x else None

    def special(self, owner: object, name: str, *args: object, **kwargs: object) -> object:
        """Call a special method of an object. See Note [Special methods]."""
        kind = class_seen(owner)
        found = class_attribute(kind, name)
        self.guard_class_attribute(kind, name, found)
        return self.call(_bound(found, owner, kind), *args, **kwargs)

    def _super_attr(self, owner: Any, name: str) -> object:
        """``super().name``."""
        instance, start = owner.__self__, owner.__self_class__
        mro = [each for each in start.__mro__ if not is_shadow(each)]
        behind = mro[mro.index(owner.__thisclass__) + 1 :]
        place = next((n for n, each in enumerate(behind) if name in vars(each)), None)
        if place is None:
            return getattr(owner, name)
        each = behind[place]
        found = vars(each)[name]
        guard_absent(self.outside.guards, behind[:place], name)
        if each.__module__ == "builtins":
            is_dict = isinstance(instance, External)
            return External.attribute(instance, name) if is_dict else getattr(owner, name)
        self.guard_class_attribute(each, name, found)
        if is_property(found):
            return self.call(found.fget, instance)
        if isinstance(found, FunctionType | classmethod | staticmethod) or is_compiled(found):
            return _bound(found, instance, real_class(start))
        if hasattr(type(found), "__get__"):
            raise refusal(OBJECT, f"super().{name} is computed by a {type(found).__name__}")
        return self.attr(each, name)

    def _module_attr(self, module: ModuleType, name: str) -> object:
        if module.__name__.partition(".")[0] in purity.TRUSTED_MODULES:
            return getattr(module, name)
        space, text = vars(module), f"{module.__name__}.{name}"
        key = (id(space), name)
        if key not in self._names:
            root = self.outside.guards.constant(module)
            value = getattr(module, name)
            self._names[key] = self.read(value, attribute_of(root, name), text, text)
        if self._names[key] is DELETED:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        return self._names[key]

    def _plain_attr(self, owner: object, name: str, source: Source, value: object) -> object:
        """An attribute that is just there."""
        key = (id(owner), name)
        if key not in self._attributes:
            label = f"{source.text}.{name}"
            self._attributes[key] = self.read(value, attribute_of(source.var, name), label, label)
        return self._attributes[key]

    def _type_attr(self, owner: type, name: str) -> object:
        is_new = name == "_fields" and self.outside.guards.is_new_class(owner)
        if is_new or owner.__module__.partition(".")[0] in purity.TRUSTED_MODULES:
            return getattr(owner, name)
        found = class_attribute(owner, name)
        if isinstance(found, classmethod):
            self.guard_class_attribute(owner, name, found)
            return MethodType(found.__func__, owner)
        if name == "__dict__" or (has_own_get(found) and not isinstance(found, _OF_ENUMS)):
            how = f"is computed by a {type(found).__name__}"
            raise refusal(OBJECT, f"{owner.__name__}.{name} {how}")
        if is_property(found) or name in vars(type):
            return getattr(owner, name)
        variable = changed_attribute(self._names, self.outside.guards, owner, name)
        if variable is not None:
            return self.outer_value(variable)
        source = self.outside.root(owner, owner.__name__)
        return self._plain_attr(owner, name, source, getattr(owner, name))

    def guard_class_attribute(self, kind: type, name: str, found: object) -> None:
        guard_class_attribute(self.outside.guards, kind, name, found)

    def object_attr(self, owner: object, name: str, known: Known) -> Any:
        """An attribute of an object from outside; ``owner`` is what stands for it."""
        seen = self._attributes.get((id(owner), name), MISSING)
        if seen is DELETED:
            raise no_attribute(known.object, name)
        if seen is not MISSING:
            return given(seen)
        real, source = known.object, known.source
        kind = type(real)
        found, held = class_attribute(kind, name), vars_of(real)
        if name == "__class__":
            return kind
        if name == "__dict__" and hasattr(real, name):
            return self.namespace(owner, known)
        if name in held and not is_data_descriptor(found):
            return self._plain_attr(owner, name, source, held[name])
        if found is MISSING or (is_slot(found) and not hasattr(real, name)):
            if has_python_method(kind, "__getattr__"):
                if hasattr(real, "__dict__"):
                    self.outside.guards.check(
                        f"{name!r} not in {source.var}.__dict__",
                        f"{source.text} has no {name} of its own",
                    )
                return self.special(owner, "__getattr__", name)
            self.outside.guards.check(
                f"not hasattr({source.var}, {name!r})", f"{source.text} has no {name}"
            )
            raise no_attribute(real, name)
        if is_slot(found) or not hasattr(type(found), "__get__"):
            if changed_attribute(self._names, self.outside.guards, kind, name) is not None:
                raise refuse(OBJECT, f"{source.text}.{name}, which is changed by its class,")
            return self._plain_attr(owner, name, source, getattr(real, name))
        return self._described(owner, name, known, found)

    def _described(self, owner: object, name: str, known: Known, found: object) -> object:
        """An attribute that the class defines by a function or another descriptor."""
        kind, source = type(known.object), known.source
        if not (isinstance(found, _OF_PYTHON) or has_own_get(found) or is_compiled(found)):
            if isinstance(value := getattr(owner, name), _C_METHODS):  # of C: calls are checked
                return value
            raise refusal(OBJECT, f"{source.text}.{name} is computed by a {type(found).__name__}")
        if hasattr(known.object, "__dict__") and not is_data_descriptor(found):
            self.outside.guards.check(
                f"{name!r} not in {source.var}.__dict__", f"{source.text}.{name} is its class's"
            )
        return self._computed(owner, name, kind, found)

    def _computed(self, owner: object, name: str, kind: type, found: object) -> object:
        """An attribute that Python code of the class computes."""
        self.guard_class_attribute(kind, name, found)
        if is_property(found):
            if found.fget is None:
                raise no_attribute(owner, name)
            return self.call(found.fget, owner)
        root = self.outside.guards.constant(found)
        if isinstance(found, functools.cached_property):
            value = self.call(found.func, owner)
            self.store_attr(owner, name, value)
            return value
        if isinstance(found, functools.partialmethod):
            given = self.read(found.args, f"{root}.args", f"{name}.args")
            options = self.read(found.keywords, f"{root}.keywords", f"{name}.keywords")
            bound = _bound(found.func, owner, kind)
            if bound is found.func:  # an object that is called with the owner all the same
                return functools.partial(bound, owner, *given, **options)
            made = functools.partial(bound, *given, **options)
            if isinstance(bound, MethodType):
                vars(made)["__self__"] = bound.__self__
            return made
        if has_own_get(found):
            return self.special(
                self.read(found, root, f"{kind.__name__}.{name}"), "__get__", owner, kind
            )
        return _bound(found, owner, kind)


# ------------------------------------------------------------------ small questions

_C_METHODS = (BuiltinFunctionType, MethodType, MethodWrapperType)
_COMPUTED = (FunctionType, property, classmethod, functools.cached_property)
_OF_ENUMS = DynamicClassAttribute  # it gives what is fixed when the class is made
_OF_PYTHON = (*_COMPUTED, staticmethod, functools.partialmethod)


def _bound(found: Any, owner: object, kind: type) -> Any:
    """What reading a class attribute from an object gives."""
    if is_compiled(found):
        return MethodType(found.__fxc_original__, owner)
    match found:
        case FunctionType():
            return MethodType(found, owner)
        case classmethod():
            return MethodType(found.__func__, kind)
        case staticmethod():
            return found.__func__
        case _:
            return found


def _traced_attr(owner: Traced, name: str) -> object:
    if isinstance(owner, Differing):
        return owner.attribute(name)
    if name == "__class__":
        return seen_class(owner._class())
    check_not_ours(owner, name)
    try:
        return getattr(owner, name)
    except AttributeError:
        if class_attribute(owner.__class__, name) is not MISSING:  # what it stands for has it
            raise refuse(OBJECT, f"a {name} of a {owner.__class__.__name__}") from None
        raise


def check_not_ours(owner: Traced, name: str) -> None:
    """Raise for what a stand-in has for itself alone."""
    is_private = name.startswith("_") and not name.startswith("__")
    is_private = is_private and not hasattr(owner.__class__, name)
    if (is_private and hasattr(type(owner), name)) or has_by_class(owner, name) is False:
        raise owner._missing(name)


def name_of(owner: Any) -> str:
    """What a message calls an object."""
    named = isinstance(owner, type | ModuleType | FunctionType | BuiltinFunctionType)
    return str(owner.__name__ if named else class_of(owner).__name__)


def no_attribute(owner: object, name: str) -> AttributeError:
    """Python's error for an attribute that is not there."""
    text = f"{class_of(owner).__name__!r} object has no attribute {name!r}"
    return AttributeError(text, name=name, obj=owner)
