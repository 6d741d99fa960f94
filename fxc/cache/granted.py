"""What captures take for granted, as no guard looks at it: attributes of trusted modules.

Another process may have other ones there, from its beginning: ``np.sum = ...``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .by_reference import NotStored, is_itself

Granted = tuple[str, str, object]  # a module, a name in it, and what that stands for

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


def granted_by(codes: Iterable[CodeType]) -> Iterator[Granted]:
    """What the names in some codes stand for, in each trusted module that has them.

    Raises ``NotStored`` for what has come there in the place of the module's own.
    """
    from fxc.capture.outside.purity import TRUSTED_MODULES

    names = {name for code in codes for name in (*code.co_names, *code.co_consts) if _is_name(name)}
    modules = [sys.modules[name] for name in sorted(TRUSTED_MODULES - {"fxc"} & sys.modules.keys())]
    for module in modules:  # to which others are added
        for name in sorted(names & vars(module).keys()):
            value = vars(module)[name]
            if not isinstance(value, ModuleType):
                yield module.__name__, name, _mark(value, name)
            elif value.__name__ == f"{module.__name__}.{name}":
                modules.append(value)


def check_granted(granted: Iterable[Granted]) -> None:
    """Raise ``NotStored`` if something is another thing in this process."""
    for module, name, mark in granted:
        if _mark(getattr(import_module(module), name, None), name) != mark:
            raise NotStored(f"{module}.{name} is not what it was")


def _is_name(value: object) -> bool:
    return type(value) is str and value.isidentifier()


def _mark(value: Any, name: str) -> object:
    """What can be told of a value."""
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)
    if kind is FunctionType:
        home = value.__globals__.get("__name__", "").partition(".")[0]
        if home not in sys.stdlib_module_names and home != "numpy":
            raise NotStored(f"{name} has been replaced")
        code = value.__code__
        return code.co_filename, code.co_qualname, code.co_firstlineno
    module, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    is_of_typing = kind.__module__ == module == "typing"  # whose classes Python's code makes
    if module and own and not is_of_typing and not is_itself(value, module, own):
        raise NotStored(f"{name} has been replaced")
    return kind.__module__, kind.__qualname__, module, own
