"""The loggers of fxc, one for each name of ``fxc.config.logs``.

They are loggers of Python's ``logging``, ``fxc.recompiles`` and so on, and silent unless someone
sets their level, or that of ``fxc``: a program that logs all it can is not told of each graph.
``fxc.config.logs`` sets it, and shows what they say on the standard error where the program has set
up no logging of its own. Texts of whole stages are of the level DEBUG, all else is INFO. Nothing is
formatted, and no text is made, for a logger that is silent. Nor is ``logging`` imported, which
takes a fifth of the time that importing fxc does: where nobody has imported it nobody listens.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from .settings import LOGS, Config, config

if TYPE_CHECKING:
    import logging

DEBUG, INFO = 10, 20  # as they are in logging


@cache
def _logger(name: str) -> logging.Logger:
    """Python's logger of a name, ``fxc`` or below it."""
    import logging

    root = logging.getLogger("fxc")
    if root.level == logging.NOTSET:
        root.setLevel(logging.WARNING)
    return logging.getLogger(name)


class QuietLogger:
    """A logger of Python's, which is made as soon as somebody may listen."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def isEnabledFor(self, level: int) -> bool:  # as logging calls it
        return "logging" in sys.modules and _logger(self._name).isEnabledFor(level)

    def info(self, text: str, *values: object) -> None:
        self._say(INFO, text, values)

    def debug(self, text: str, *values: object) -> None:
        self._say(DEBUG, text, values)

    def _say(self, level: int, text: str, values: tuple[object, ...]) -> None:
        if self.isEnabledFor(level):
            _logger(self._name).log(level, text, *values, stacklevel=3)


ROOT = QuietLogger("fxc")
RECOMPILES, SPLITS, GRAPH, PASSES, LOOPS, LLVM, PERF = (QuietLogger(f"fxc.{name}") for name in LOGS)


@cache
def _handler() -> logging.Handler:
    """What shows records where nothing else would, on the standard error."""
    import logging

    class ToStandardError(logging.StreamHandler):  # type: ignore[type-arg]  # not subscriptable
        def emit(self, record: logging.LogRecord) -> None:
            if not logging.root.handlers:
                self.stream = sys.stderr
                super().emit(record)

    made = ToStandardError()
    made.setFormatter(logging.Formatter("[%(name)s] %(message)s"))
    return made


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
        _logger(f"fxc.{name}").setLevel(DEBUG if name in names else 0)
    if names:
        _logger("fxc").addHandler(_handler())
    elif _shown:
        _logger("fxc").removeHandler(_handler())
    _shown.clear()
    _shown.update(names)


Config.logs.watch(_show)
with suppress(ValueError):  # which is told where a function is compiled
    if config.logs:
        _show()
