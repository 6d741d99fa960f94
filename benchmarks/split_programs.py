"""A simulation step as people write one: with a print, a log record, a draw, and a call of which
fxc knows nothing. The lines that end in a mark are left out of what it is compared with.
"""

from __future__ import annotations

import gc
import inspect
import io
import linecache
import logging
from collections.abc import Callable
from typing import Any

import numpy as np

log = logging.getLogger("benchmarks.water")
log.setLevel(logging.INFO)
log.propagate = False
log.addHandler(logging.StreamHandler(io.StringIO()))
out = io.StringIO()
rng = np.random.default_rng(3)

G, F0, BETA, RHO = 9.81, 1e-4, 2e-11, 1025.0


def water_step(h, u, v, c, b, wind_x, wind_y, f, sizes):
    """One step of shallow water on a C grid, with a tracer: all arrays are changed in place.

    It is as long as such steps are: how the parts of one long function are cut and compiled is what
    is measured. In helper functions it would be another program.
    """
    dx, dt, nu, kappa, drag = sizes
    # Depth at the corners and on the faces.
    depth = h - b
    depth_x = 0.5 * (depth[:, 1:] + depth[:, :-1])
    depth_y = 0.5 * (depth[1:, :] + depth[:-1, :])
    # Velocities at the centres.
    uc = np.zeros_like(h)
    vc = np.zeros_like(h)
    uc[:, 1:-1] = 0.5 * (u[:, 1:] + u[:, :-1])
    vc[1:-1, :] = 0.5 * (v[1:, :] + v[:-1, :])
    speed = np.sqrt(uc * uc + vc * vc)
    # Advection of momentum, upwind.
    du_dx = np.zeros_like(u)
    du_dy = np.zeros_like(u)
    du_dx[:, 1:-1] = np.where(u[:, 1:-1] > 0.0, u[:, 1:-1] - u[:, :-2], u[:, 2:] - u[:, 1:-1]) / dx
    v_at_u = 0.5 * (vc[:, 1:] + vc[:, :-1])
    du_dy[1:-1, :] = (
        np.where(v_at_u[1:-1, :] > 0.0, u[1:-1, :] - u[:-2, :], u[2:, :] - u[1:-1, :]) / dx
    )
    dv_dx = np.zeros_like(v)
    dv_dy = np.zeros_like(v)
    u_at_v = 0.5 * (uc[1:, :] + uc[:-1, :])
    dv_dx[:, 1:-1] = (
        np.where(u_at_v[:, 1:-1] > 0.0, v[:, 1:-1] - v[:, :-2], v[:, 2:] - v[:, 1:-1]) / dx
    )
    dv_dy[1:-1, :] = np.where(v[1:-1, :] > 0.0, v[1:-1, :] - v[:-2, :], v[2:, :] - v[1:-1, :]) / dx
    advection_u = u * du_dx + v_at_u * du_dy
    advection_v = u_at_v * dv_dx + v * dv_dy
    gc.get_count()  # in the middle
    # Viscosity.
    lap_u = np.zeros_like(u)
    lap_u[1:-1, 1:-1] = (
        u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
    ) / dx**2
    lap_v = np.zeros_like(v)
    lap_v[1:-1, 1:-1] = (
        v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - 4.0 * v[1:-1, 1:-1]
    ) / dx**2
    # Pressure, rotation, wind, drag.
    pressure_u = -G * (h[:, 1:] - h[:, :-1]) / dx
    pressure_v = -G * (h[1:, :] - h[:-1, :]) / dx
    f_u = 0.5 * (f[:, 1:] + f[:, :-1])
    f_v = 0.5 * (f[1:, :] + f[:-1, :])
    stress_u = 0.5 * (wind_x[:, 1:] + wind_x[:, :-1]) / (RHO * depth_x)
    stress_v = 0.5 * (wind_y[1:, :] + wind_y[:-1, :]) / (RHO * depth_y)
    speed_u = 0.5 * (speed[:, 1:] + speed[:, :-1])
    speed_v = 0.5 * (speed[1:, :] + speed[:-1, :])
    drag_u = drag * speed_u * u / depth_x
    drag_v = drag * speed_v * v / depth_y
    gust = 0.0
    gust = rng.standard_normal()  # strange
    new_u = u + dt * (
        -advection_u
        + f_u * v_at_u
        + pressure_u
        + nu * lap_u
        + stress_u * (1.0 + 1e-3 * gust)
        - drag_u
    )
    new_v = v + dt * (
        -advection_v
        - f_v * u_at_v
        + pressure_v
        + nu * lap_v
        + stress_v * (1.0 + 1e-3 * gust)
        - drag_v
    )
    # No flow through the walls.
    new_u[0, :] = new_u[1, :]
    new_u[-1, :] = new_u[-2, :]
    new_v[:, 0] = new_v[:, 1]
    new_v[:, -1] = new_v[:, -2]
    # Continuity, in flux form.
    flux_x = new_u * depth_x
    flux_y = new_v * depth_y
    divergence = np.zeros_like(h)
    divergence[:, 1:-1] += (flux_x[:, 1:] - flux_x[:, :-1]) / dx
    divergence[1:-1, :] += (flux_y[1:, :] - flux_y[:-1, :]) / dx
    divergence[:, 0] += flux_x[:, 0] / dx
    divergence[:, -1] -= flux_x[:, -1] / dx
    divergence[0, :] += flux_y[0, :] / dx
    divergence[-1, :] -= flux_y[-1, :] / dx
    h -= dt * divergence
    u[...] = new_u
    v[...] = new_v
    # The tracer: upwind fluxes and diffusion.
    c_x = np.where(u > 0.0, c[:, :-1], c[:, 1:])
    c_y = np.where(v > 0.0, c[:-1, :], c[1:, :])
    flux_c_x = u * c_x - kappa * (c[:, 1:] - c[:, :-1]) / dx
    flux_c_y = v * c_y - kappa * (c[1:, :] - c[:-1, :]) / dx
    change = np.zeros_like(c)
    change[:, 1:-1] -= (flux_c_x[:, 1:] - flux_c_x[:, :-1]) / dx
    change[1:-1, :] -= (flux_c_y[1:, :] - flux_c_y[:-1, :]) / dx
    c += dt * change
    np.clip(c, 0.0, 1.0, out=c)
    # Diagnostics.
    kinetic = 0.5 * RHO * (depth * (uc * uc + vc * vc)).sum() * dx**2
    potential = 0.5 * RHO * G * (h * h).sum() * dx**2
    vorticity = ((v[:, 1:] - v[:, :-1])[:, :] - (u[1:, :] - u[:-1, :])[:, :]) / dx
    enstrophy = 0.5 * (vorticity * vorticity).mean()
    fastest = np.abs(u).max() + np.sqrt(G * depth.max())
    courant = fastest * dt / dx
    gc.get_count()  # strange
    print("courant", courant, file=out)  # strange
    log.info("energy %s %s", kinetic, potential)  # strange
    if courant > 1e6:
        raise FloatingPointError("the step is too long")
    return kinetic, potential, enstrophy, courant


def water(n: int) -> tuple[Any, ...]:
    """Arguments of ``water_step`` on n by n cells."""
    random = np.random.default_rng(1)
    y, x = np.mgrid[0 : 1 : n * 1j, 0 : 1 : n * 1j]
    h = 0.1 * np.exp(-50.0 * ((x - 0.5) ** 2 + (y - 0.5) ** 2))
    bottom = -10.0 - 2.0 * random.random((n, n))
    flat = np.zeros((n, n))
    arrays = (h, flat[:, 1:].copy(), flat[1:, :].copy(), random.random((n, n)), bottom)
    return (*arrays, flat + 0.1, flat, F0 + BETA * y, (1e3, 1.0, 10.0, 5.0, 1e-3))


def loop_apart(u: Any, v: Any) -> Any:
    """A thousand steps, with a call in the middle of each that cannot be captured."""
    for _ in range(1000):
        w = np.sqrt(u * u + v * v + 1.0)
        gc.get_count()  # strange
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) / w[1:-1]
        v += 0.01 * (1.0 - v / w)
    return u.sum()


STRANGE, MIDDLE = "# strange", "# in the middle"


def without(function: Callable[..., Any], *marks: str) -> Callable[..., Any]:
    """The function without the lines that end in one of the marks."""
    lines = [x for x in inspect.getsourcelines(function)[0] if not x.rstrip().endswith(marks)]
    name = f"<{function.__name__} without {' and '.join(marks)}>"
    linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
    space = {**function.__globals__}
    exec(compile("".join(lines), name, "exec"), space)
    made: Callable[..., Any] = space[function.__name__]
    return made
