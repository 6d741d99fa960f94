"""Programs whose compilations tests of traces and reports look at."""

import numpy as np

import fxc


def relax(u, f):
    v = u[1:-1]
    new = 0.5 * (u[:-2] + u[2:]) - f
    err = np.abs(new - v).mean()
    v += 0.5 * (new - v)
    return err, u[0]


def relax_arguments(size=100):
    return np.arange(float(size)) ** 2, np.ones(size - 2)


def traced_to(folder, function, *calls, **options):
    """Call a function of which each compilation is traced to a folder; the compiled function."""
    compiled = fxc.compile(function, fullgraph=True, **options)
    with fxc.config.override(trace=folder):
        for args in calls:
            compiled(*args)
    return compiled
