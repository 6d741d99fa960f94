"""fxc: compile the NumPy you already have – views, in-place writes and all.

>>> import numpy as np, fxc
>>> @fxc.compile
... def step(a, b):
...     b[1:-1] = 0.5 * (a[:-2] + a[2:])
...     a[...] = b
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fxc import testing as testing
    from fxc.capture.statements.control import cond as cond
    from fxc.capture.statements.control import fori_loop as fori_loop
    from fxc.capture.statements.control import scan as scan
    from fxc.capture.statements.control import while_loop as while_loop

    from .compiled import Compiled as Compiled
    from .compiled import compile as compile
    from .dispatch.custom_op import custom_op as custom_op
    from .dispatch.extensions import register_backend as register_backend
    from .drawing.draw import draw as draw
    from .explaining.explain import explain as explain
    from .exported.exporting import export as export
    from .exported.program import ExportedProgram as ExportedProgram
    from .exported.program import load as load
    from .functionalized import functionalize as functionalize
    from .ir.errors import CaptureError as CaptureError
    from .ir.errors import CaptureWarning as CaptureWarning
    from .ir.errors import ExportError as ExportError
    from .ir.errors import FxcError as FxcError
    from .ir.errors import InternalError as InternalError
    from .ir.settings import config as config
    from .ir.tree import register_pytree_node as register_pytree_node
    from .ir.version import __version__ as __version__
    from .native.large_arrays import get_kept_memory as get_kept_memory
    from .native.large_arrays import set_kept_memory as set_kept_memory
    from .pipeline.report import CacheInfo as CacheInfo
    from .runtime.pool import set_num_threads as set_num_threads
    from .runtime.thread_numbers import get_num_threads as get_num_threads

__all__ = [
    "CacheInfo",
    "CaptureError",
    "CaptureWarning",
    "Compiled",
    "ExportError",
    "ExportedProgram",
    "FxcError",
    "InternalError",
    "compile",
    "cond",
    "config",
    "custom_op",
    "draw",
    "explain",
    "export",
    "fori_loop",
    "functionalize",
    "get_kept_memory",
    "get_num_threads",
    "load",
    "register_backend",
    "register_pytree_node",
    "scan",
    "set_kept_memory",
    "set_num_threads",
    "while_loop",
]

# Imported when it is first asked for: not every program uses all of it, and some commands nothing.
_LATER = {
    "__version__": "fxc.ir.version",
    "compile": "fxc.compiled",
    "Compiled": "fxc.compiled",
    "CacheInfo": "fxc.pipeline.report",
    "CaptureError": "fxc.ir.errors",
    "CaptureWarning": "fxc.ir.errors",
    "ExportError": "fxc.ir.errors",
    "FxcError": "fxc.ir.errors",
    "InternalError": "fxc.ir.errors",
    "config": "fxc.ir.settings",
    "cond": "fxc.capture.statements.control",
    "fori_loop": "fxc.capture.statements.control",
    "scan": "fxc.capture.statements.control",
    "while_loop": "fxc.capture.statements.control",
    "custom_op": "fxc.dispatch.custom_op",
    "draw": "fxc.drawing.draw",
    "ExportedProgram": "fxc.exported.program",
    "explain": "fxc.explaining.explain",
    "export": "fxc.exported.exporting",
    "load": "fxc.exported.program",
    "functionalize": "fxc.functionalized",
    "get_kept_memory": "fxc.native.large_arrays",
    "set_kept_memory": "fxc.native.large_arrays",
    "get_num_threads": "fxc.runtime.thread_numbers",
    "set_num_threads": "fxc.runtime.pool",
    "register_backend": "fxc.dispatch.extensions",
    "register_pytree_node": "fxc.ir.tree",
    "testing": "fxc.testing",
}


def __dir__() -> list[str]:
    return sorted({*__all__, "testing", *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'fxc' has no attribute {name!r}")
    from importlib import import_module

    from fxc.cache.bytecode import import_from_one_file

    import_from_one_file(__name__, __path__[0])
    found = import_module(module)
    value = found if module == f"fxc.{name}" else getattr(found, name)
    globals()[name] = value
    return value
