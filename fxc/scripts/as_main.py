"""A script as ``__main__``, as `python SCRIPT` and `python -m MODULE` run it."""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
import traceback
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from fxc.ir.records import frozen

NOT_PASSED = "nothing can be passed to it; options of fxc's stand before it"


class NoScript(Exception):
    """There is no such script, or it is not written in Python."""


@frozen(eq=False)
class Script:
    """A script, compiled, with the module that it is to run as."""

    code: CodeType
    module: ModuleType
    argv: list[str]

    def run(self) -> None:
        """Run it; what it raises is raised."""
        sys.argv[:] = self.argv
        sys.modules["__main__"] = self.module
        exec(self.code, vars(self.module))


def script(path: str, arguments: Sequence[str]) -> Script:
    """The script at a path. Raises ``NoScript``."""
    try:
        source = Path(path).read_bytes()
    except OSError as error:
        raise NoScript(f"{path} cannot be read: {error.strerror or error}") from None
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    loader = SourceFileLoader("__main__", path)
    names = {"__file__": path, "__loader__": loader, "__cached__": None}
    return Script(_compiled(source, path), _main(names), [path, *arguments])


def module(name: str, arguments: Sequence[str]) -> Script:
    """The module of a name, or the ``__main__`` of a package. Raises ``NoScript``."""
    sys.path[0] = os.getcwd()
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, AttributeError, ValueError) as error:
        raise NoScript(f"there is no module {name}: {error}") from None
    if spec is None or spec.origin is None or not isinstance(spec.loader, SourceFileLoader):
        raise NoScript(f"there is no module {name} in Python")
    names = {
        "__file__": spec.origin,
        "__loader__": spec.loader,
        "__spec__": spec,
        "__cached__": spec.cached,
        "__package__": spec.parent,
    }
    code = spec.loader.get_code(spec.name)
    if code is None:
        raise NoScript(f"there is no source of {name}")
    return Script(code, _main(names), [spec.origin, *arguments])


def _main(names: dict[str, object]) -> ModuleType:
    made = ModuleType("__main__")
    given = {"__builtins__": builtins, "__spec__": None, "__package__": None, **names}
    vars(made).update(given)
    return made


def _compiled(source: bytes, path: str) -> CodeType:
    return compile(source, path, "exec", dont_inherit=True)


def print_error(error: BaseException, path: str) -> None:
    """Show what a script has raised as Python would: without frames of ours."""
    shown = error.__traceback__
    while shown is not None and shown.tb_frame.f_code.co_filename != path:
        shown = shown.tb_next
    traceback.print_exception(type(error), error, shown)
