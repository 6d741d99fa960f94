"""Tasks, units and spectra: enums, ordered objects, and what NumPy warns of."""

import copy
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from itertools import groupby

import numpy as np

from .registry import program


class Mode(Enum):
    SUM = "sum"
    MEAN = "mean"
    MAX = "max"

    def __call__(self, x):
        return getattr(np, self.value)(x)


class Level(IntEnum):
    LOW = 1
    HIGH = 2


@program(lambda rng, n: (rng.normal(size=n).astype(np.float32), "mean", Level.HIGH), 5, 10_000)
def scaled_by_levels(x, name, level):
    """Members of enums that are numbers: NumPy takes them for int64."""
    mode = Mode(name)
    r = mode(x)
    if level is Level.HIGH:
        r = r * level
    table = {m: m(x) for m in Mode}
    return (
        r,
        mode.name,
        table[Mode.MAX],
        level + 1,
        x * level,
        Level(level - 1),
        np.clip(x, 0, level),
    )


@dataclass(order=True)
class Task:
    priority: int
    name: str = field(compare=False, default="")
    load: np.ndarray = field(compare=False, default=None, repr=False)

    def __post_init__(self):
        if self.load is None:
            self.load = np.zeros(2)


@program(lambda rng, n: (rng.integers(0, 5, n), rng.normal(size=(n, 2))), 6, 60)
def task_list(priorities, loads):
    """Objects that hold rows of an array, sorted, copied and written through."""
    tasks = [Task(int(p), f"t{k}", loads[k]) for k, p in enumerate(priorities)] + [Task(3)]
    tasks.sort()
    best = max(tasks)
    by = sorted(tasks, key=lambda t: (-t.priority, t.name))
    print([t.name for t in tasks][:4], best)
    shallow = copy.copy(tasks[0])
    shallow.load += 1
    deep = copy.deepcopy(tasks[1])
    deep.load += 1
    groups = {k: [t.name for t in g] for k, g in groupby(tasks, key=lambda t: t.priority)}
    return [t.name for t in by], groups, tasks[0].load, tasks[1].load, tasks[0] < tasks[-1]


@program(lambda rng, n: (rng.normal(size=n), 3), 12, 10_000, rtol=1e-9)
def real_spectrum(x, parts):
    """Inverse transforms put into a real array: NumPy warns at each."""
    f = np.fft.fft(x)
    out = np.zeros((parts, len(x)))
    edges = np.linspace(0, len(x), parts + 1).astype(int)
    for k in range(parts):
        band = np.zeros_like(f)
        band[edges[k] : edges[k + 1]] = f[edges[k] : edges[k + 1]]
        out[k] = np.fft.ifft(band)
    return out, out.sum(axis=0)


@program(lambda rng, n: (rng.normal(size=n),), 8, 10_000, rtol=1e-9)
def expanding_z_scores(x):
    """Means of what came before, of nothing at first."""
    z = np.zeros_like(x)
    for i in range(len(x)):
        z[i] = (x[i] - x[:i].mean()) / (x[:i].std() + 1e-9)
    return z
