"""What processes have in common that run the same code for the same key, as a digest."""

from __future__ import annotations

import marshal
import os
import platform
import sys
from functools import cache
from importlib.machinery import PathFinder

import numpy as np

from fxc.ir.digesting import digest
from fxc.ir.settings import features_taken
from fxc.ir.version import __version__

_FORMAT = 1
# They decide which of their kernels NumPy and its BLAS run, and so the last bits of results.
_VARIABLES = (
    *("NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES", "OPENBLAS_CORETYPE"),
    *("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"),
)
_PLAIN = 2  # the last form of marshal's in which equal values are equal bytes
# Folders of sources that no call depends on.
_NOT_ASKED = ("__pycache__", "cli", "drawing", "exporters", "reporting", "scripts", "tracing")


def environment() -> bytes:
    """A digest of this process as far as machine code and captures depend on it."""
    given = [os.environ.get(name) for name in _VARIABLES]
    return digest(repr((_fixed(), features_taken(), given)).encode())


@cache
def _fixed() -> bytes:
    """What does not change while a process runs."""
    known = (
        (_FORMAT, __version__, _sources(os.path.dirname(os.path.dirname(__file__)))),
        (np.__version__, _file("numpy._core._multiarray_umath")),
        (_file("llvmlite", "_version.py"), _file("llvmlite", "binding", "libllvmlite.so")),
        (sys.version, sys.flags.optimize, sys.byteorder),
        (platform.machine(), _processor()),
    )
    return digest(repr(known).encode())


def _sources(folder: str) -> bytes:
    """What is installed, or the sources as they are: a checkout has one version for all states."""
    try:
        name = os.path.join(os.path.dirname(folder), f"fxc-{__version__}.dist-info", "RECORD")
        with open(name, "rb") as file:  # has the digest of each file
            return digest(file.read())
    except OSError:
        return digest(marshal.dumps(sorted(_stamps(folder)), _PLAIN))


def _stamps(folder: str) -> list[tuple[object, ...]]:
    """Names, sizes and times of all sources in a folder, and in the folders in it."""
    found = list[tuple[object, ...]]()
    with os.scandir(folder) as entries:
        for each in entries:
            name = each.name
            if name.endswith(".py"):
                told = each.stat()
                found.append((name, told.st_size, told.st_mtime_ns))
            elif name not in _NOT_ASKED and each.is_dir():
                found.append((name, *sorted(_stamps(each.path))))
    return found


def _file(module: str, *rest: str) -> tuple[object, ...]:
    """Where a file of a module is, its size and time; the module is not imported."""
    found = sys.modules.get(module)
    path = found.__file__ if found is not None else None
    if path is None:
        spec = PathFinder.find_spec(module)
        path = None if spec is None else spec.origin
    if path is None:
        return ()
    path = os.path.join(os.path.dirname(path), *rest) if rest else path
    try:
        told = os.stat(path)
    except OSError:
        return (path,)
    return path, told.st_size, told.st_mtime_ns


_ENOUGH = 1 << 13  # bytes of what Linux says of its processors: of the first of them
_TOLD = (
    *("vendor_id", "cpu family", "model", "model name", "stepping", "flags"),
    *("CPU implementer", "CPU variant", "CPU part", "Features"),
)


def _processor() -> tuple[str, ...]:
    """Which processor this is, and what it can do."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            text = file.read(_ENOUGH).decode("utf-8", "replace")
    except OSError:
        return (platform.processor(),)
    lines = text.partition("\n\n")[0].splitlines()
    return tuple(line for line in lines if line.partition(":")[0].strip() in _TOLD)
