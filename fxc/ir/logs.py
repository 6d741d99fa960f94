"""The loggers of fxc, one for each name of ``fxc.config.logs``.

They are loggers of Python's ``logging``, ``fxc.recompiles`` and so on, and silent unless someone
sets their level, or that of ``fxc``: a program that logs all it can is not told of each graph.
``fxc.config.logs`` sets it, and shows what they say on the standard error where the program has set
up no logging of its own. Texts of whole stages are of the level DEBUG, all else is INFO. Nothing is
formatted, and no text is made, for a logger that is silent.
"""

from __future__ import annotations

import logging
import sys
from contextlib import suppress

from .settings import LOGS, Config, config

ROOT = logging.getLogger("fxc")
if ROOT.level == logging.NOTSET:
    ROOT.setLevel(logging.WARNING)
RECOMPILES, SPLITS, GRAPH, PASSES, LOOPS, LLVM, PERF = (ROOT.getChild(name) for name in LOGS)


class _ToStandardError(logging.StreamHandler):  # type: ignore[type-arg]  # is not subscriptable
    """Shows records where nothing else would."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.root.handlers:
            self.stream = sys.stderr
            super().emit(record)


_handler = _ToStandardError()
_handler.setFormatter(logging.Formatter("[%(name)s] %(message)s"))
_shown: set[str] = set()  # the names of which the level is set here


def _show() -> None:
    """Let those loggers speak that ``fxc.config.logs`` names, and no other that did so by it."""
    names = set(config.logs.split(",")) - {""}
    if "help" in names:
        width = max(map(len, LOGS))
        lines = (f"  {name:{width}}  {text}" for name, text in LOGS.items())
        print("FXC_LOGS and fxc.config.logs take", *lines, sep="\n", file=sys.stderr)
        names.remove("help")
    for name in _shown | names:
        ROOT.getChild(name).setLevel(logging.DEBUG if name in names else logging.NOTSET)
    _shown.clear()
    _shown.update(names)
    ROOT.removeHandler(_handler)
    if names:
        ROOT.addHandler(_handler)


Config.logs.watch(_show)
with suppress(ValueError):  # which is told where a function is compiled
    if config.logs:
        _show()
