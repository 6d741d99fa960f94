"""How many processors this process may use."""

from __future__ import annotations

import math
import os


def usable_processors(root: str | os.PathLike[str] = "/") -> int:
    """Those that it may run on, or fewer if a control group gives it less time than they have."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    quota = _quota(os.fspath(root))
    return count if quota is None else max(1, min(count, math.ceil(quota)))


def _quota(root: str) -> float | None:
    """The least share of processors that a control group around this process allows."""
    found = [*_of_unified_groups(root), *_of_old_groups(root)]
    return min(found, default=None)


def _of_unified_groups(root: str) -> list[float]:
    """Control groups, version 2: ``cpu.max`` has the time and the period that it is of."""
    base = os.path.join(root, "sys/fs/cgroup")
    found = []
    for line in _lines(os.path.join(root, "proc/self/cgroup")):
        if line.startswith("0::"):
            group = os.path.join(base, line.removeprefix("0::").strip().lstrip("/")).rstrip("/")
            while len(group) >= len(base):
                found += _share(*_lines(os.path.join(group, "cpu.max"))[:1])
                group = os.path.dirname(group)
    return found


def _of_old_groups(root: str) -> list[float]:
    """Control groups, version 1: time and period are two files, as a container sees its own."""
    base = os.path.join(root, "sys/fs/cgroup/cpu/cpu.cfs_")
    time, period = (_lines(f"{base}{name}_us")[:1] for name in ("quota", "period"))
    return _share(" ".join((*time, *period)))


def _share(line: str = "") -> list[float]:
    match line.split():
        case [time, period] if time.isdecimal() and period.isdecimal() and int(period) > 0:
            return [int(time) / int(period)]
    return []


def _lines(file: str) -> list[str]:
    try:
        with open(file) as text:
            return text.read().splitlines()
    except OSError:
        return []
