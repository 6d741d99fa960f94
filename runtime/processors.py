"""How many processors this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path


def usable_processors(root: Path = Path("/")) -> int:
    """Those that it may run on, or fewer if a control group gives it less time than they have."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    quota = _quota(root)
    return count if quota is None else max(1, min(count, math.ceil(quota)))


def _quota(root: Path) -> float | None:
    """The least share of processors that a control group around this process allows."""
    found = [*_of_unified_groups(root), *_of_old_groups(root)]
    return min(found, default=None)


def _of_unified_groups(root: Path) -> list[float]:
    """Control groups, version 2: ``cpu.max`` has the time and the period that it is of."""
    base = root / "sys/fs/cgroup"
    found = []
    for line in _lines(root / "proc/self/cgroup"):
        if line.startswith("0::"):
            folder = base / line.removeprefix("0::").strip().lstrip("/")
            for group in (folder, *folder.parents):
                found += _share(*_lines(group / "cpu.max")[:1])
                if group == base:
                    break
    return found


def _of_old_groups(root: Path) -> list[float]:
    """Control groups, version 1: time and period are two files, as a container sees its own."""
    base = root / "sys/fs/cgroup/cpu"
    time, period = (_lines(base / f"cpu.cfs_{name}_us")[:1] for name in ("quota", "period"))
    return _share(" ".join((*time, *period)))


def _share(line: str = "") -> list[float]:
    match line.split():
        case [time, period] if time.isdecimal() and period.isdecimal() and int(period) > 0:
            return [int(time) / int(period)]
    return []


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []
