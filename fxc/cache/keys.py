"""Keys of the cache: by content, the same in every process that does the same."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from fxc.compilations import trials
from fxc.compilations.state import Options
from fxc.ir.digesting import digest
from fxc.runtime.thread_numbers import most_threads

from .digests import digest_of
from .environment import environment


def key_of_function(function: FunctionType, options: Options) -> bytes:
    """That of all compilations of a function."""
    told = (options.fullgraph, options.dynamic, options.math, most_threads(), trials.are_held())
    parts = (environment(), digest_of(function), function.__module__, function.__qualname__, told)
    return digest(repr(parts).encode())


def key_of_calls(function: bytes, kinds: object) -> bytes:
    """That of the compilations for calls of one kind, see ``kinds_of``."""
    return digest(function + _shown(kinds).encode())


def key_of_code(source: bytes) -> bytes:
    """That of machine code, by a digest of its source."""
    return digest(environment() + b"code" + source)


def _shown(kinds: Any) -> str:
    """Kinds as text that is the same in every process."""
    match kinds:
        case tuple():
            return f"({','.join(map(_shown, kinds))})"
        case frozenset():
            return f"{{{','.join(sorted(map(_shown, kinds)))}}}"
        case np.dtype():
            return f"{kinds!r}{kinds.str}"
        case type():
            return f"{kinds.__module__}.{kinds.__qualname__}"
        case _:
            return repr(kinds)
