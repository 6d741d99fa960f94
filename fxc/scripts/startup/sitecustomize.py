"""Python imports this by its name before a script, as `fxc run` has put its folder first.

Nothing of that is seen by the script: the path and the environment are as without it, and the
``sitecustomize`` that is installed, if there is one, is imported now. See Note [Unchanged scripts].
"""

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder


def _start() -> bool:
    """Begin; whether there is another ``sitecustomize``."""
    here, given = os.path.dirname(os.path.abspath(__file__)), os.environ
    sys.path[:] = [each for each in sys.path if os.path.abspath(each or ".") != here]
    path, package = given.pop("FXC_RUN_PATH", None), given.pop("FXC_RUN_PACKAGE", None)
    given.pop("PYTHONPATH", None)
    report = given.pop("FXC_RUN_REPORT", "")
    if path is not None:
        given["PYTHONPATH"] = path
    other = PathFinder.find_spec("sitecustomize")
    is_there = other is not None and other.loader is not None
    if other is not None and other.loader is not None:
        module = sys.modules["sitecustomize"] = importlib.util.module_from_spec(other)
        other.loader.exec_module(module)
    options = given.pop("FXC_RUN", None)
    if options is None or package is None:
        return is_there
    if importlib.util.find_spec("fxc") is None:
        sys.meta_path.append(_Here(package))
    # By its place: whatever else is of fxc is imported when there is something to compile.
    place = os.path.join(package, "scripts", "watching.py")
    spec = importlib.util.spec_from_file_location("fxc.scripts.watching", place)
    if spec is not None and spec.loader is not None:
        watching = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(watching)
        watching.watch(options, report)
    return is_there


class _Here:
    """Finds the package where it is, and nothing else."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """What is to be imported by this name."""
        if name != "fxc":
            return None
        init = os.path.join(self.package, "__init__.py")
        places = [self.package]
        return importlib.util.spec_from_file_location(
            "fxc", init, submodule_search_locations=places
        )


if not _start():  # it is looked for in vain, as without us
    raise ImportError("there is none", name="sitecustomize")
