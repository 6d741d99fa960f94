"""Calls of ``logging`` that make records, as they are shown. See ``shows``."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from fxc.ir.error_kinds import TEXT

from ..session.locations import user_frame
from ..session.refusing import refuse
from ..values.objects import Args, Kwargs
from ..values.snapshots import Held
from .formats import Formats
from .shows import show

_LEVELS = {name.lower(): level for name, level in logging.getLevelNamesMapping().items()}


def is_logging(f: FunctionType) -> bool:
    """Whether a function of ``logging`` is one that makes a record."""
    if f.__name__ not in (*_LEVELS, "log"):
        return False
    return f in (getattr(logging.Logger, f.__name__, None), getattr(logging, f.__name__, None))


def show_log(door: Formats, f: FunctionType, args: Args, kwargs: Kwargs) -> None:
    """``logger.info(…)`` and its kin, and the functions of ``logging``."""
    of_module = getattr(logging, f.__name__, None) is f
    logger: Any = logging.root if of_module else args[0]
    guards = door.outside.guards
    if of_module:
        var, real = guards.constant(logging.root), logging.root
    else:
        known = door.outside.shown.get(id(logger))
        if known is None or type(known.object) not in (logging.Logger, logging.RootLogger):
            raise refuse(TEXT, "a logger of a class of its own")
        var, real = known.source.var, known.object
        args = args[1:]
    level: Any = _LEVELS.get(f.__name__)
    if level is None:
        level, *rest = args
        args = tuple(rest)
    if type(level) is not int or not args or kwargs.keys() - {"extra"}:
        raise refuse(TEXT, f"logging.{f.__name__} with these arguments")
    enabled = real.isEnabledFor(level)
    text = f"{real.name} logs level {level}: {enabled}"
    guards.check(f"{var}.isEnabledFor({level}) is {enabled}", text)
    if not enabled:
        return
    message, *values = args
    frame = user_frame()
    assert frame is not None
    where = frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
    extra = kwargs.get("extra")
    door.check_text((message, *values, extra))
    function = _log_root if of_module else _log
    show(door, "logging", function, Held(logger), level, Held(where), message, tuple(values), extra)


def _log(
    logger: logging.Logger,
    level: int,
    where: tuple[str, int, str],
    message: object,
    args: Args,
    extra: Mapping[str, object] | None,
) -> None:
    if logger.isEnabledFor(level):
        path, line, name = where
        record = logger.makeRecord(
            logger.name, level, path, line, message, args, None, name, extra, None
        )
        logger.handle(record)


def _log_root(logger: object, *more: Any) -> None:
    if not logging.root.handlers:
        logging.basicConfig()
    _log(logging.root, *more)
